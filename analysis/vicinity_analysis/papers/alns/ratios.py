"""How much faster than the paper's GPU-ALNS: published mean times over ours, instance by instance."""

from collections.abc import Iterable

from vicinity_analysis.papers.alns.spreads import printed_of
from vicinity_analysis.papers.alns.tables import PLACES, measured_of
from vicinity_analysis.study import Study
from vicinity_analysis.views.headline import Ratio, counts

CARD = "GPU-ALNS on the paper's card, as published"


def published_over_ours(study: Study) -> Iterable[Ratio]:
    """Of the runs of the paper's setting; a ratio of two machines and two programs. Other instances than the paper's
    have none."""
    if study.name not in PLACES:
        return
    printed = printed_of(study)
    for one in measured_of(study):
        for instance, spread in one.of("time").items():
            theirs, records = printed.find(instance, "gpu-alns", "time"), one.runs[instance]
            if theirs:
                whole, key = all(map(counts, records)), study.key_of(records[0])
                value = theirs.value / spread.mean
                yield Ratio(study, one.machine, one.name, key, value, CARD, whole, records[0].source)
