"""What the report shows of experiments that are more than a table or a sweep along axes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from vicinity_analysis import annealing_plots, annealing_tables, quality, quality_plots, steady, tables
from vicinity_analysis.cells import Table
from vicinity_analysis.plots import Drawing
from vicinity_analysis.study import Study

QUALITY = ("sa/quality", "sa/quality_long", "sa/quality_times")  # measured apart, shown together


@dataclass
class Parts:
    shown: list[Table] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)
    figures: list[Drawing] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def _there(found: Iterable[Table | None]) -> list[Table]:
    return [table for table in found if table]


def _figure1(study: Study, studies: list[Study]) -> Parts:
    acceptance = annealing_plots.acceptance_figure(study, studies)
    return Parts(
        _there([annealing_tables.acceptance_table(study, studies)]),
        _there([annealing_tables.statements_table(study), tables.times_table(study)]),
        annealing_plots.figure1(study, studies) + ([acceptance] if acceptance else []),
        annealing_tables.growth_sentences(study, studies),
    )


def _figure2(study: Study, studies: list[Study]) -> Parts:
    return Parts(
        _there([annealing_tables.plateau_table(study, studies)]),
        _there([annealing_tables.improvement_table(study, studies), tables.times_table(study)]),
        annealing_plots.figure2(study, studies),
    )


def _crossover(study: Study, studies: list[Study]) -> Parts:
    return Parts(
        _there([annealing_tables.crossing_table(study, studies)]),
        [tables.times_table(study)],
        annealing_plots.crossover_map(study, studies),
    )


def _quality(study: Study, studies: list[Study]) -> Parts:
    pool = [other for other in studies if other.name in QUALITY]
    return Parts(_there([quality.gap_table(study, pool)]), [], quality_plots.gap_figures(study, pool))


def _elsewhere(study: Study, _: list[Study]) -> Parts:
    return Parts(folded=[tables.times_table(study)], sentences=[f"Shown with {QUALITY[0]}."])


def _temperatures(study: Study, _: list[Study]) -> Parts:
    return Parts(_there([quality.gap_table(study, [study])]))


def _steady(study: Study, _: list[Study]) -> Parts:
    return Parts(_there([steady.steady_table(study)]), [tables.times_table(study)])


OWN: dict[str, Callable[[Study, list[Study]], Parts]] = {
    "sa/figure1": _figure1,
    "sa/figure2": _figure2,
    "sa/crossover": _crossover,
    "sa/quality": _quality,
    "sa/quality_long": _elsewhere,
    "sa/quality_times": _elsewhere,
    "sa/temperatures": _temperatures,
    "sa/steady": _steady,
}


def own(study: Study, studies: list[Study]) -> Parts | None:
    """None: the report's usual tables and figures. Where nothing is measured, the table of times says how to
    measure."""
    make = OWN.get(study.name)
    if make is None:
        return None
    parts = make(study, studies)
    if not parts.shown and not parts.figures and not any(study.series(machine) for machine in study.machines):
        parts.shown, parts.folded = [tables.times_table(study)], []
    return parts
