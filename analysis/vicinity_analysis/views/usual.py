"""What the report shows of an experiment: the usual tables and figures, and what several papers' views share."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from vicinity_analysis.study import Study
from vicinity_analysis.views import plots, quality, quality_plots, rank_scaling, scaling, speedups, tables
from vicinity_analysis.views.cells import Table
from vicinity_analysis.views.figures import Drawing


@dataclass
class View:
    shown: list[Table] = field(default_factory=list)  # in sight
    folded: list[Table] = field(default_factory=list)  # behind a click
    figures: list[Drawing] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


MakeView = Callable[[Study, list[Study]], View]  # of an experiment, from it and all studies of the report


def existing(found: Iterable[Table | None]) -> list[Table]:
    return [table for table in found if table]


def over_ranks(study: Study, network: rank_scaling.NetworkModel | None = None) -> View:
    """Ranks of one host: the speed-up over one; `network`: what joins hosts with a rank each."""
    figure = rank_scaling.scaling_figure(study, network)
    shown = existing([rank_scaling.scaling_table(study)])
    return View(shown, [tables.times_table(study)], [figure] if figure else [])


def independent_ranks(study: Study, _: list[Study]) -> View:
    """Of ranks that send nothing while they search."""
    return over_ranks(study)


def printed_table(study: Study, total: bool = True) -> View:
    """A table of a paper: its rows with measured values beside them. `total`: with the time of all parts, too."""
    figure = plots.table_figure(study)
    folded = [tables.ratio_table(study), speedups.speedup_table(study)]
    folded += [tables.times_table(study, "total")] if total and tables.has_parts(study) else []
    return View([tables.times_table(study)], existing(folded), [figure] if figure else [])


def along_axes(study: Study, rates: bool = False) -> View:
    """An experiment beyond the papers: along each axis that varies."""
    axes = scaling.varying_axes(study)
    crossings = [scaling.crossover_table(study, axis) for axis in axes]
    sentences = [line for axis in axes for line in scaling.growth_sentences(study, axis)]
    folded = [*crossings, tables.times_table(study), speedups.speedup_table(study)]
    kept = [table for table in existing(folded) if table.rows]
    return View(existing([scaling.wins_table(study)]), kept, plots.scaling_figures(study, rates), sentences)


def gaps_over_seeds(study: Study, studies: list[Study]) -> View:
    """Gaps to the best known objective, of this experiment and its pool, as a table and against time."""
    by_name = {other.name: other for other in studies}
    pool = [study, *(by_name[name] for name in study.pool if name in by_name)]
    return View(existing([quality.gap_table(study, pool)]), [], quality_plots.gap_figures(study, pool))


def gaps_alone(study: Study, _: list[Study]) -> View:
    return View(existing([quality.gap_table(study, [study])]))


def shown_with(name: str) -> MakeView:
    """For a member of the pool of `name`. Times that a budget gave say nothing."""

    def make(study: Study, _: list[Study]) -> View:
        table = tables.times_table(study)
        kept = [table] if table.rows and not _by_budget(study) else []
        return View([], kept, [], [f"Shown with {name}."] + ([] if kept else table.notes))

    return make


def _by_budget(study: Study) -> bool:
    """Whether all searches ended when the seconds they were given were over."""
    runs = [record for machine in study.machines for record in study.all_runs(machine)]
    return bool(runs) and all(record.given_seconds for record in runs)


def view_of(study: Study, studies: list[Study], own: Mapping[str, MakeView]) -> View:
    """The paper's own, or the usual tables and figures; beside the first table what the descriptor leaves out. Where
    nothing is measured, the table of times says how to measure."""
    view = _view_of(study, studies, own)
    lines = tables.left_out(study)
    if view.shown or view.folded:
        (view.shown + view.folded)[0].notes.extend(lines)
    else:
        view.sentences += lines
    return view


def _view_of(study: Study, studies: list[Study], own: Mapping[str, MakeView]) -> View:
    make = own.get(study.name)
    if make is None:
        view = printed_table(study) if study.published else along_axes(study)
        if len(study.descriptor.seeds) > 1:
            found = gaps_over_seeds(study, studies)
            view.shown[:0], view.figures[:0] = found.shown, found.figures
        return view
    view = make(study, studies)
    if not view.shown and not view.figures and not any(study.series(machine) for machine in study.machines):
        table = tables.times_table(study)
        view.shown, view.folded = [table] if table.rows else [], []
        view.sentences += [] if table.rows else [note for note in table.notes if note not in view.sentences]
    return view
