"""Paul's Figures 1 and 2 as measured here, the acceptance rate, and the map of where the GPU wins."""

import math
from collections.abc import Callable

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vicinity_analysis.claims import Evidence, Series
from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.papers.sa import runs
from vicinity_analysis.study import Study
from vicinity_analysis.views import scaling
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import (
    INK,
    Drawing,
    decades,
    handle,
    label_outer,
    log_axis,
    panels,
    points,
    render,
    style_of,
)

# Sizes in the order of a rainbow, each also with a marker of its own: no colour alone tells them apart.
SIZES = (("#56B4E9", "o"), ("#0072B2", "s"), ("#009E73", "^"), ("#7A6F00", "D"), ("#E69F00", "v"), ("#D55E00", "P"))
SIZES += (("#CC79A7", "X"), ("#6A3D9A", "h"), ("#8C8C8C", "<"), ("#A6761D", ">"))


def styles_of(sizes: list[int]) -> dict[int, tuple[str, str]]:
    return {n: SIZES[index % len(SIZES)] for index, n in enumerate(sizes)}


def figure1(study: Study, studies: list[Study]) -> list[Drawing]:
    """Run time against I, a panel for each N: one figure a machine with a GPU; without one, the recorded GPU beside
    this CPU."""
    own = study.machines[0]
    evidence = {m.name: runs.pooled(study, studies, m) for m in study.machines}
    drawings = []
    for machine in study.machines:
        series = [(machine, s) for s in evidence[machine.name].series]
        if not series or (machine is not own and not evidence[machine.name].of("gpu")):
            continue
        if not evidence[machine.name].of("gpu"):
            other = next((m for m in study.machines if evidence[m.name].of("gpu")), None)
            series += [(other, s) for s in evidence[other.name].of("gpu")] if other else []
        borrowed = dict.fromkeys(m.title for m, _ in series if m is not machine)
        caption = (
            f"Run time of the whole search on {machine.title} ({machine.cpu}) against the proposed swaps I, by size N. "
        )
        caption += f"Dashed: {', '.join(borrowed)}. " if borrowed else ""
        caption += "Hollow: extrapolated. Both axes logarithmic. The paper's own points are not printed."
        title = f"{study.descriptor.title}, {machine.title}"
        drawings.append(render(f"{study.slug}-{machine.name}", title, caption, _times(study, machine, series)))
    return drawings


def _times(study: Study, own: Machine, series: list[tuple[Machine, Series]]) -> Callable[[], Figure]:
    grids = [(machine, s.implementation, runs.grid(s.records)) for machine, s in series]
    sizes = sorted({n for _, _, found in grids for n in found})
    names = [name for _, name, _ in grids]

    def draw() -> Figure:
        figure, axes = panels(len(sizes))
        handles: dict[str, Line2D] = {}
        for n, plot in zip(sizes, axes, strict=True):
            plot.set_title(f"N = {n}")
            for machine, name, found in grids:
                row = found.get(n, {})
                colour, marker = style_of(study, name, names)
                line = "-" if machine is own else "--"
                seconds = [r.typical() for r in row.values()]
                told(plot.plot(list(row), seconds, line, color=colour, linewidth=1.1), name, machine.title)
                places = [(i, at, record) for (i, record), at in zip(row.items(), seconds, strict=True)]
                points(plot, places, (colour, marker), name, machine.title, markersize=4)
                label = name if machine is own else f"{name} ({machine.title})"
                handles.setdefault(label, handle(colour, marker, label, line=line))
            decades(plot, "x")
            decades(plot, "y")
        label_outer(axes, study.explained("iterations"), "run time, s")
        figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=min(len(handles), 4))
        return figure

    return draw


def figure2(study: Study, studies: list[Study]) -> list[Drawing]:
    """P against I, a line for each N: for every machine with both sides."""
    drawings = []
    for machine in study.machines:
        found = runs.improvements(runs.pooled(study, studies, machine))
        if not found:
            continue
        caption = f"Improvement P = t(CPU) ÷ t(GPU) against I on {machine.title}, by size N; above the line at 1 the "
        caption += "GPU is faster. "
        caption += "Over the paper's own CPU code, and over stronger ones beside it. "
        caption += f"Hollow: extrapolated. {runs.baselines([machine])}"
        title = f"{study.descriptor.title}, {machine.title}"
        drawings.append(render(f"{study.slug}-{machine.name}", title, caption, _improvement(study, found)))
    return drawings


def _improvement(study: Study, found: list[tuple[runs.Comparison, runs.Grid]]) -> Callable[[], Figure]:
    sizes = sorted({n for _, rows in found for n in rows})
    style = styles_of(sizes)

    def draw() -> Figure:
        figure, axes = panels(len(found), 3.0)
        for (comparison, rows), plot in zip(found, axes, strict=True):
            plot.set_title(comparison.title)
            plot.axhline(1, color=INK, linewidth=1)
            for n, row in rows.items():
                colour, marker = style[n]
                plot.plot(list(row), list(runs.values({n: row})[n].values()), "-", color=colour, linewidth=1.1)
                for i, pair in row.items():
                    face = "none" if "extrapolated" in pair.marks else colour
                    plot.plot(i, pair.value, marker, color=colour, markerfacecolor=face, markersize=4)
            decades(plot, "x")
            decades(plot, "y")
        label_outer(axes, study.explained("iterations"), "P, times faster")
        figure.legend(handles=_sizes(style, list(style)), loc="outside lower center", ncols=min(len(style), 10))
        return figure

    return draw


def _sizes(style: dict[int, tuple[str, str]], sizes: list[int]) -> list[Line2D]:
    return [handle(*style[n], f"N = {n}", line="-") for n in sizes]


def acceptance_figure(study: Study, studies: list[Study]) -> Drawing | None:
    found = runs.acceptances(study, studies)
    if not found:
        return None
    style = styles_of(list(found))

    def draw() -> Figure:
        figure, (plot,) = panels(1, 2.9)
        for n, row in found.items():
            colour, marker = style[n]
            rates = [100 * runs.acceptance(record) for record in row.values()]
            plot.plot(list(row), rates, "-", marker=marker, color=colour, linewidth=1.1, markersize=4)
        decades(plot, "x", study.explained("iterations"))
        log_axis(plot, "y", "accepted, % of the proposed swaps")
        figure.legend(handles=_sizes(style, list(found)), loc="outside right center")
        return figure

    caption = (
        "Acceptance rate a(I) of whole runs, from the recorded counters; the same on every implementation and machine. "
    )
    caption += "Both axes logarithmic."
    return render(f"{study.slug}-acceptance", f"{study.descriptor.title}: acceptance rate", caption, draw)


def crossover_map(study: Study, studies: list[Study]) -> list[Drawing]:
    """The I from which on a GPU implementation wins, against N; one figure a machine."""
    drawings = []
    for machine in study.machines:
        evidence = runs.pooled(study, studies, machine)
        found = runs.crossings(evidence)
        if not found:
            continue
        caption = f"The number of iterations I where {machine.title} becomes faster, against the size N: above a line "
        caption += "the GPU wins. "
        caption += "▼ it wins from the fewest iterations measured on, ▲ not at the most. "
        caption += "Solid: over the fastest CPU implementation of each case; dashed: over one core; dotted: over the "
        caption += "paper's CPU code. "
        caption += runs.baselines([machine])
        title = f"{study.descriptor.title}, {machine.title}"
        drawings.append(render(f"{study.slug}-{machine.name}", title, caption, _map(study, evidence, found)))
    return drawings


def _map(
    study: Study, evidence: Evidence, found: list[tuple[runs.Comparison, dict[int, scaling.Win]]]
) -> Callable[[], Figure]:
    names = [series.implementation for series in evidence.series]
    asked = {n: sorted(row) for s in evidence.of("gpu") for n, row in runs.grid(s.times).items()}

    def draw() -> Figure:
        figure, (plot,) = panels(1, 3.2)
        handles = []
        for index, (comparison, wins) in enumerate(found):
            aside = 1 + 0.03 * (index - (len(found) - 1) / 2)  # so that none hides another
            colour, marker = style_of(study, comparison.fast, names)
            line = {runs.PAPER: ":", runs.ONE_CORE: "--", runs.FASTEST: "-"}[comparison.slow]
            face = colour if comparison.slow == runs.FASTEST else "none"
            places = {n * aside: _height(win) for n, win in wins.items()}
            enclosed = [math.nan if sign else height for height, sign in places.values()]
            told(plot.plot(list(places), enclosed, line, color=colour, linewidth=1.1), comparison.title)
            for (at, (height, sign)), win in zip(places.items(), wins.values(), strict=True):
                point = plot.plot(at, height, sign or marker, color=colour, markerfacecolor=face)
                told(point, comparison.title, notes=[scaling.describe(win)])
            handles.append(handle(colour, marker, comparison.title, hollow=face == "none", line=line))
        log_axis(plot, "x", study.explained("size"), sorted(asked) if len(asked) <= 6 else None)
        decades(plot, "y", "I (iterations) where the times are equal")
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        return figure

    return draw


def _height(win: scaling.Win) -> tuple[float, str]:
    """(I, marker): "" where two measured points enclose the crossing."""
    if win.start is None:
        return win.last, "^"
    return win.crossing or win.start, "v" if win.everywhere else ""
