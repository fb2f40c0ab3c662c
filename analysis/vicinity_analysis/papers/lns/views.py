"""What the report shows of each table."""

from vicinity_analysis.papers.lns.printed import BENCHMARKS, COLOURING, QAP
from vicinity_analysis.papers.lns.tables import quality_table, results_table
from vicinity_analysis.study import Study
from vicinity_analysis.views import quality
from vicinity_analysis.views.anytime import anytime
from vicinity_analysis.views.usual import MakeView, View, existing, printed_table, shown_with


def _colouring(study: Study, _: list[Study]) -> View:
    """Table 2: objectives, then times."""
    view = printed_table(study)
    view.shown.insert(0, quality_table(study))
    return view


def _results(study: Study, _: list[Study]) -> View:
    """Tables 3 and 4."""
    return View([results_table(study)], existing([quality.gap_table(study, [study])]))


POOLS = {  # drawn in one figure
    name: (f"{name}_gpu", f"{name}_paper") for name in ("lns/anytime", "lns/anytime_qap")
}

VIEWS: dict[str, MakeView] = {COLOURING: _colouring, BENCHMARKS: _results, QAP: _results}
for first, others in POOLS.items():
    VIEWS |= {first: anytime} | {name: shown_with(first) for name in others}
