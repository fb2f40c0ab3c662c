"""What the report shows of each experiment of simulated annealing."""

from vicinity_analysis.papers.sa import plots, steady, tables
from vicinity_analysis.study import Study
from vicinity_analysis.views import usual
from vicinity_analysis.views.anytime import anytime
from vicinity_analysis.views.tables import times_table
from vicinity_analysis.views.usual import MakeView, View, existing


def _figure1(study: Study, studies: list[Study]) -> View:
    acceptance = plots.acceptance_figure(study, studies)
    return View(
        existing([tables.acceptance_table(study, studies)]),
        existing([tables.statements_table(study), times_table(study)]),
        plots.figure1(study, studies) + ([acceptance] if acceptance else []),
        tables.growth_sentences(study, studies),
    )


def _figure2(study: Study, studies: list[Study]) -> View:
    return View(
        existing([tables.plateau_table(study, studies)]),
        existing([tables.improvement_table(study, studies), times_table(study)]),
        plots.figure2(study, studies),
    )


def _crossover(study: Study, studies: list[Study]) -> View:
    shown = existing([tables.crossing_table(study, studies)])
    return View(shown, [times_table(study)], plots.crossover_map(study, studies))


def _steady(study: Study, _: list[Study]) -> View:
    return View(existing([steady.steady_table(study)]), [times_table(study)])


VIEWS: dict[str, MakeView] = {
    "sa/figure1": _figure1,
    "sa/figure2": _figure2,
    "sa/crossover": _crossover,
    "sa/quality": usual.gaps_over_seeds,
    "sa/quality_long": usual.shown_with("sa/quality"),
    "sa/quality_times": usual.shown_with("sa/quality"),
    "sa/temperatures": usual.gaps_alone,
    "sa/schedules": usual.gaps_alone,
    "sa/schedules_families": usual.gaps_alone,
    "sa/steady": _steady,
    "sa/anytime": anytime,
    "sa/anytime_cores": usual.shown_with("sa/anytime_gpu"),
    "sa/anytime_gpu": anytime,
    "sa/anytime_gpu_long": anytime,
    "sa/ranks": usual.independent_ranks,
    "sa/gpus": usual.independent_ranks,
}
