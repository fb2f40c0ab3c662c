"""What the report shows of experiments that are more than a table or a sweep along axes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from vicinity_analysis import (
    annealing_plots,
    annealing_tables,
    local_search,
    local_search_tables,
    plots,
    quality,
    quality_plots,
    scaling,
    speedups,
    steady,
    tables,
)
from vicinity_analysis.cells import Table
from vicinity_analysis.plots import Drawing
from vicinity_analysis.study import Study

SA_QUALITY = ("sa/quality", "sa/quality_long", "sa/quality_times")  # measured apart, shown together
QAP_QUALITY = ("lsm/quality_qap", "lsm/quality_long")


@dataclass
class Parts:
    shown: list[Table] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)
    figures: list[Drawing] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


Make = Callable[[Study, list[Study]], Parts]


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


def _quality(*names: str) -> Make:
    def make(study: Study, studies: list[Study]) -> Parts:
        pool = sorted((other for other in studies if other.name in names), key=lambda other: names.index(other.name))
        return Parts(_there([quality.gap_table(study, pool)]), [], quality_plots.gap_figures(study, pool))

    return make


def _elsewhere(name: str) -> Make:
    def make(study: Study, _: list[Study]) -> Parts:
        return Parts(folded=[tables.times_table(study)], sentences=[f"Shown with {name}."])

    return make


def _temperatures(study: Study, _: list[Study]) -> Parts:
    return Parts(_there([quality.gap_table(study, [study])]))


def _steady(study: Study, _: list[Study]) -> Parts:
    return Parts(_there([steady.steady_table(study)]), [tables.times_table(study)])


def printed_table(study: Study) -> Parts:
    """A table of a paper: its rows with measured values beside them."""
    figure = plots.table_figure(study)
    shown = [tables.times_table(study), tables.ratio_table(study), speedups.speedup_table(study)]
    folded = [tables.times_table(study, "total")] if tables.has_parts(study) else []
    return Parts(_there(shown), folded, [figure] if figure else [])


def along_axes(study: Study, rates: bool = False) -> Parts:
    """An experiment beyond the papers: along each axis that varies."""
    axes = scaling.varying_axes(study)
    crossings = [scaling.crossover_table(study, axis) for axis in axes]
    sentences = [line for axis in axes for line in scaling.growth_sentences(study, axis)]
    folded = [*crossings, tables.times_table(study), speedups.speedup_table(study)]
    kept = [table for table in _there(folded) if table.rows]
    return Parts(_there([scaling.wins_table(study)]), kept, plots.scaling_figures(study, rates), sentences)


def _whole(study: Study) -> Parts:
    """Of whole searches, whose parts add up to the time that is compared."""
    parts = printed_table(study)
    parts.folded = []
    return parts


def _search(study: Study, _: list[Study]) -> Parts:
    """Tables 2 to 5."""
    parts = _whole(study)
    parts.sentences = local_search_tables.round_trips(study)
    parts.sentences += local_search_tables.gain_sentences(study, *TEXTURE)
    return parts


def _tours(study: Study, _: list[Study]) -> Parts:
    """Tables 6 and 7: the stand-ins after the instances of TSPLIB; in sight where any of those lacks a value."""
    found = local_search.pooled(study)
    parts, others = _whole(found), _whole(local_search.stand_ins(found))
    if local_search.lacking(found):
        parts.shown += others.shown
        parts.figures += others.figures
    else:
        parts.folded += others.shown
    parts.sentences = local_search_tables.round_trips(found)
    parts.sentences += local_search_tables.gain_sentences(study, *TEXTURE)
    parts.sentences += local_search_tables.gain_sentences(study, *CONTROL)
    return parts


def _generation(study: Study, _: list[Study]) -> Parts:
    found = local_search.pooled(study)
    parts = _whole(found)
    parts.shown = _there([parts.shown[0], local_search_tables.shares_table(found), *parts.shown[1:]])
    return parts


def _climbs_in_sequence(study: Study, _: list[Study]) -> Parts:
    return _whole(local_search.pooled(study))


def _placements(study: Study, _: list[Study]) -> Parts:
    table = local_search_tables.placement_table(study)
    return Parts(_there([table]), [tables.times_table(study)], [], local_search_tables.gain_sentences(study, *TEXTURE))


def _precision(study: Study, _: list[Study]) -> Parts:
    return Parts(_there([local_search_tables.precision_table(study)]), [tables.times_table(study)])


def _rates(study: Study, _: list[Study]) -> Parts:
    parts = along_axes(study, rates=True)
    return Parts(_there([local_search_tables.rate_table(study)]) + parts.shown, parts.folded, parts.figures, [])


def _climbing(study: Study, _: list[Study]) -> Parts:
    parts = along_axes(study)
    return Parts(_there([local_search_tables.climbing_table(study)]), parts.folded, parts.figures, parts.sentences)


TEXTURE = ("gpu-texture", "gpu", local_search_tables.CACHED)
CONTROL = ("gpu-thread-control", "gpu-texture", local_search_tables.TRIALS, True)

OWN: dict[str, Make] = {
    "sa/figure1": _figure1,
    "sa/figure2": _figure2,
    "sa/crossover": _crossover,
    "sa/quality": _quality(*SA_QUALITY),
    "sa/quality_long": _elsewhere("sa/quality"),
    "sa/quality_times": _elsewhere("sa/quality"),
    "sa/temperatures": _temperatures,
    "sa/steady": _steady,
    "lsm/table1": _placements,
    "lsm/table2": _search,
    "lsm/table3": _search,
    "lsm/table4": _search,
    "lsm/table5": _search,
    "lsm/table6": _tours,
    "lsm/table7": _tours,
    "lsm/table8": _generation,
    "lsm/table9": _climbs_in_sequence,
    "lsm/table9_small": _elsewhere("lsm/table9"),
    "lsm/precision": _precision,
    "lsm/quality_qap": _quality(*QAP_QUALITY),
    "lsm/quality_long": _elsewhere("lsm/quality_qap"),
    "lsm/quality_tsp": _quality("lsm/quality_tsp"),
    "lsm/scaling_qap": _rates,
    "lsm/scaling_tsp": _rates,
    "lsm/scaling_ppp": _rates,
    "lsm/climbing_qap": _climbing,
    "lsm/climbing_tsp": _climbing,
    "lsm/climbing_ppp": _climbing,
}


def parts_of(study: Study, studies: list[Study]) -> Parts:
    """An experiment's own, or the usual tables and figures. Where nothing is measured, the table of times says how to
    measure."""
    make = OWN.get(study.name)
    if make is None:
        return printed_table(study) if study.published else along_axes(study)
    parts = make(study, studies)
    if not parts.shown and not parts.figures and not any(study.series(machine) for machine in study.machines):
        parts.shown, parts.folded = [tables.times_table(study)], []
    return parts
