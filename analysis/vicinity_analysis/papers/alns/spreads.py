"""Costs and times over repetitions, by instance: as Tables 1, 2 and B.3 to B.10 print them, and as measured here.

Costs are in the paper's unit of length, times in seconds, errors and gaps in percent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from vicinity_analysis.inputs.published import Observation
from vicinity_analysis.inputs.records import Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.quality import usable

SCALE = 1000  # units of a recorded cost in the paper's unit of length: distances are not rounded (errata A17, A31)
ROUNDING = 1e-5  # relative: the paper prints costs to 0.01, and ours are sums of distances in thousandths
SETTING = {"processes": 28, "calls": 0}  # the paper's: two processes a multiprocessor, until its stopping rule
# experiment -> how the names of its instances begin
SETS = {"alns/table1": "CMT", "alns/table2": "Li_", "alns/table_b9": "BHS"}
NAMES = {"gpu-alns": "GPU-ALNS", "pra": "PRA", "pra-8": "PRA-8"}
TOTAL = "total"
STATS = ("avg", "min", "max", "std")


@dataclass(frozen=True)
class Spread:
    """Over the repetitions of one instance."""

    mean: float
    least: float
    most: float
    deviation: float | None  # None: not printed (totals)
    sources: tuple[str, ...] = ()
    single: bool = False  # one repetition, or a total with an instance of one: a mean, and no spread

    def of(self, stat: str) -> float | None:
        if self.single and stat != "avg":
            return None
        return dict(zip(STATS, (self.mean, self.least, self.most, self.deviation), strict=True))[stat]


@cache
def instance_of(printed: str) -> str:
    """Name in the catalogue: CMT-3 is CMT3, and Li-1 to Li-12 are numbered 21 to 32 elsewhere."""
    name, _, number = printed.partition("-")
    return {"CMT": f"CMT{number}", "Li": f"Li_{20 + int(number or 0)}"}.get(name, printed) if number else TOTAL


@dataclass(frozen=True)
class Printed:
    """What the paper prints, found by place ("Table B.3"; "": any), instance, implementation, metric, statistic and
    baseline of a comparison."""

    observations: Sequence[Observation]
    _found: dict[tuple[str, ...], Observation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for o in self.observations:
            stat, baseline = o.params.get("stat", ""), o.params.get("baseline", "")
            for place in (o.place, ""):
                self._found.setdefault((place, instance_of(o.instance), o.implementation, o.metric, stat, baseline), o)

    def find(
        self, instance: str, implementation: str, metric: str, stat: str = "avg", baseline: str = "", place: str = ""
    ) -> Observation | None:
        if stat == "std" and not baseline:  # stands beside the mean
            return None
        if stat == "std":
            metric = "sd_difference"
        return self._found.get((place, instance, implementation, metric, stat, baseline))

    def best(self, instance: str) -> Observation | None:
        """BKS: the best known solution when the paper was written, in the most digits printed of it."""
        found = [o for o in self.observations if o.implementation == "bks" and instance_of(o.instance) == instance]
        return max(found, key=lambda o: len(o.text.partition(".")[2]), default=None)

    def requests(self, prefix: str) -> dict[str, int]:
        """Instance -> number of requests, in the printed order, of the set whose names begin with `prefix`."""
        named = ((instance_of(o.instance), o) for o in self.observations if "requests" in o.params)
        return {name: int(o.params["requests"]) for name, o in named if name.startswith(prefix)}

    def spread(self, instance: str, implementation: str, metric: str) -> Spread | None:
        found = [self.find(instance, implementation, metric, stat) for stat in STATS[:3]]
        if None in found:
            return None
        deviation = float(found[0].spread) if found[0].spread else None
        return Spread(*(o.value for o in found), deviation, tuple(o.source for o in found))


def printed_of(study: Study) -> Printed:
    return Printed(study.statements)


def searches(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Instance -> runs of the paper's setting, one a seed."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if usable(record) and all(record.case.get(axis) == value for axis, value in SETTING.items()):
            found.setdefault(record.case["instance"], []).append(record)
    return found


def cost(record: Record) -> float:
    return float(record.objective or 0) / SCALE


def spread_of(records: Sequence[Record], metric: str) -> Spread:
    """`metric`: cost or time. The deviation is that of the population."""
    values = np.array([cost(r) if metric == "cost" else r.typical() for r in records])
    sources = tuple(r.source for r in records)
    stats = (float(f(values)) for f in (np.mean, np.min, np.max, np.std))
    return Spread(*stats, sources, single=len(records) == 1)


def total(spreads: Iterable[Spread]) -> Spread:
    """As the paper's last lines: sums of the means, minima and maxima (errata A1)."""
    every = list(spreads)
    sums = (sum(values) for values in zip(*((one.mean, one.least, one.most) for one in every), strict=True))
    sources = tuple(source for spread in every for source in spread.sources)
    return Spread(*sums, None, sources, single=any(spread.single for spread in every))


def above(value: float, base: float) -> float:
    """Percent."""
    return 100 * (value / base - 1)
