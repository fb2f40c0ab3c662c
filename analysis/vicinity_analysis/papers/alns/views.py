"""What the report shows of each experiment of vehicle routing."""

from vicinity_analysis.papers.alns import plots, tables
from vicinity_analysis.study import Study
from vicinity_analysis.views import quality
from vicinity_analysis.views.anytime import anytime
from vicinity_analysis.views.usual import MakeView, View, existing, shown_with


def _christofides(study: Study, _: list[Study]) -> View:
    """Table 1, Figure 4; Tables B.3 and B.4."""
    folded = [*tables.appendix_tables(study), quality.gap_table(study, [study])]
    return View([tables.comparison_table(study)], existing(folded), [plots.runtime_figure(study)])


def _li(study: Study, studies: list[Study]) -> View:
    """Table 2, Figures 5 and 6; Tables B.5 to B.8."""
    view = _christofides(study, studies)
    view.figures.append(plots.ratio_figure(study))
    return view


ANYTIME = "alns/anytime"
POOLS = {ANYTIME: ("alns/anytime_gpu", "alns/anytime_paper")}  # drawn in one figure

VIEWS: dict[str, MakeView] = {"alns/table1": _christofides, "alns/table2": _li, ANYTIME: anytime}
VIEWS |= {name: shown_with(ANYTIME) for name in POOLS[ANYTIME]}
