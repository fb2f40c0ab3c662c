"""Gap to the best known objective against time: the figure a user decides by."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.study import Study
from vicinity_analysis.views import quality
from vicinity_analysis.views.cells import plain
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import Drawing, handle, label_outer, log_axis, panels, render, style_of
from vicinity_analysis.views.quality import FEWEST, Group

LINEAR = 0.1  # percent: below this the axis of gaps is linear, so that 0 has a place


def gap_figures(study: Study, studies: Sequence[Study], line: str = "iterations") -> list[Drawing]:
    """A panel an instance; for every machine with records. Settings that differ in `line` only are joined."""
    found = [group for group in quality.groups(studies) if group.gaps]
    drawings = []
    for machine in study.machines:
        names = [name for m, name in quality.columns_of(studies) if m is machine]
        own = [group for group in found if any((machine.name, name) in group.records for name in names)]
        if not own:
            continue
        caption = (
            f"Gap to the best known cost against run time on {machine.title} ({machine.cpu}), by instance; below and "
            "to the left is better. Dots: one run each, its own time and gap. Bars: quartiles and median of the runs "
            f"of at least {FEWEST} seeds, at their median time, for implementations that ran every seed; others have "
            f"dots alone. {_order(own, line)}Time logarithmic; gap linear below 0.1 %, logarithmic above."
        )
        title = f"{study.descriptor.title}, {machine.title}"
        drawings.append(
            render(f"{study.slug}-{machine.name}", title, caption, _panels(study, machine, names, own, line))
        )
    return drawings


def _order(found: list[Group], axis: str) -> str:
    numbers = sorted({group.value(axis) for group in found if group.value(axis) is not None})
    return f"From left to right {axis} = {', '.join(plain(number) for number in numbers)}. " if numbers else ""


def _panels(study: Study, machine: Machine, names: list[str], found: list[Group], line: str) -> Callable[[], Figure]:
    instances = list(dict.fromkeys(group.instance for group in found))

    def draw() -> Figure:
        figure, axes = panels(len(instances), 2.7)
        for instance, plot in zip(instances, axes, strict=True):
            plot.set_title(instance)
            for name in names:
                groups = [g for g in found if g.instance == instance and (machine.name, name) in g.records]
                groups.sort(key=lambda group: group.value(line) or 0)
                _series(study, plot, machine, name, names, groups)
            log_axis(plot, "x", "")
            gap_axis(plot, max(gap for group in found for gap in group.gaps))
        label_outer(axes, "run time, s", "gap, %")
        handles: list[Line2D] = [handle(*style_of(study, name, names), name, line="-") for name in names]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6))
        return figure

    return draw


def _series(study: Study, plot: Axes, machine: Machine, name: str, names: list[str], groups: list[Group]) -> None:
    colour, marker = style_of(study, name, names)
    middles = []
    for group in groups:
        records = group.records[machine.name, name]
        gaps = {seed: gap for seed, record in records.items() if (gap := quality.gap_of(record)) is not None}
        times = {seed: records[seed].typical() for seed in gaps}
        setting = ", ".join(
            f"{study.symbol(axis)} = {plain(value)}" for axis, value in group.setting if value is not None
        )
        dots = plot.plot(list(times.values()), list(gaps.values()), ".", color=colour, markersize=3, alpha=0.6)
        told(dots, name, machine.title, [f"seed {seed}, {setting}" for seed in gaps])
        if len(gaps) < FEWEST or not group.complete(machine.name, name):
            continue
        low, middle, high = np.percentile(list(gaps.values()), [25, 50, 75])
        at = float(np.median(list(times.values())))
        bar = plot.plot([at, at], [low, high], "-", color=colour, linewidth=2.2, alpha=0.8, solid_capstyle="butt")
        told(bar, name, machine.title)
        point = plot.plot(at, middle, marker, color=colour, markersize=6, zorder=3)
        told(point, name, machine.title, [f"median of {len(gaps)} seeds, {setting}"])
        middles.append((at, float(middle)))
    joined = plot.plot([at for at, _ in middles], [gap for _, gap in middles], "-", color=colour, linewidth=0.9)
    told(joined, name, machine.title)


def gap_axis(plot: Axes, largest: float) -> None:
    """Linear below LINEAR, logarithmic above; up to `largest`."""
    plot.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    plot.set_ylim(-0.01, 1.4 * max(largest, LINEAR))
    plot.yaxis.set_major_locator(FixedLocator([0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]))
    plot.yaxis.set_minor_locator(NullLocator())
    plot.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
