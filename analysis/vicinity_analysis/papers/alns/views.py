"""What the report shows of each experiment of vehicle routing."""

from vicinity_analysis.papers.alns import plots, tables
from vicinity_analysis.papers.alns.calls import calls_table
from vicinity_analysis.study import Study
from vicinity_analysis.views import quality
from vicinity_analysis.views.anytime import anytime
from vicinity_analysis.views.usual import MakeView, View, along_axes, existing, over_ranks, shown_with


def _christofides(study: Study, studies: list[Study]) -> View:
    """Table 1, Figure 4; kernel calls; Tables B.3 and B.4."""
    folded = [calls_table(study), *tables.appendix_tables(study), quality.gap_table(study, [study])]
    return View([tables.comparison_table(study, studies)], existing(folded), [plots.runtime_figure(study)])


def _li(study: Study, studies: list[Study]) -> View:
    """Table 2, Figures 5 and 6; Tables B.5 to B.8."""
    view = _christofides(study, studies)
    view.figures.append(plots.ratio_figure(study))
    return view


def _like_bhs(study: Study, studies: list[Study]) -> View:
    """Tables B.9 and B.10, Figures 7 and 8."""
    smaller = [other for other in studies if other.name == "alns/table2"]
    figures = [plots.runtime_figure(study), plots.ratio_figure(study, smaller)]
    return View(tables.appendix_tables(study), existing([quality.gap_table(study, [study])]), figures)


def _anytime(study: Study, studies: list[Study]) -> View:
    """Gaps against time, and how soon the paper's mean quality is there."""
    view = anytime(study, studies)
    return View(existing([tables.quality_table(study, studies)]) + view.shown, view.folded, view.figures)


def _over_gpus(study: Study, _: list[Study]) -> View:
    """The same lines shared among GPUs, and more lines on more GPUs."""
    view = over_ranks(study)
    return View(view.shown + existing([tables.lines_table(study)]), view.folded, view.figures)


def _rates(study: Study, _: list[Study]) -> View:
    """Calls a second against the number of customers."""
    return along_axes(study, rates=True)


POOLS = {  # drawn in one figure
    "alns/anytime": ("alns/anytime_gpu", "alns/anytime_paper"),
    "alns/anytime_cmt": ("alns/anytime_cmt_gpu",),
    "alns/anytime_x": ("alns/anytime_x_gpu",),
}

VIEWS: dict[str, MakeView] = {"alns/table1": _christofides, "alns/table2": _li, "alns/table_b9": _like_bhs}
VIEWS |= {"alns/scaling": _rates, "alns/gpus": _over_gpus}
for first, others in POOLS.items():
    VIEWS |= {first: _anytime} | {name: shown_with(first) for name in others}
