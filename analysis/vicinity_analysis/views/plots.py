"""The usual figures of an experiment: the rows of a printed table, and lines along each axis that varies."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Record
from vicinity_analysis.study import Study
from vicinity_analysis.views import scaling
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import INK, Drawing, fitting, handle, legend, log_axis, points, render, style_of
from vicinity_analysis.views.tables import dates_of, device_label, rows_of, unit_of

GREY = "#7d7d7d"


def table_figure(study: Study) -> Drawing | None:
    """Each row of a printed table on its own line: printed values (grey, hollow) and measured ones (coloured)."""
    machines = [machine for machine in study.machines if study.series(machine)]
    if not study.published or not machines:
        return None
    title = f"{study.descriptor.title}: published and measured"
    caption = "Each line is a row of the paper's table; further left is faster. Grey band: from the fastest to the "
    caption += (
        "slowest device printed in the paper, a tick for each. Hollow: extrapolated. Points are not joined: rows "
    )
    caption += "are different cases."

    def draw() -> Figure:
        rows, unit = rows_of(study), unit_of(study)
        names = list(dict.fromkeys(name for machine in machines for name in study.series(machine)))
        height = 0.27 * len(rows) + 1.7
        figure = Figure(figsize=(max(2.0 + 3.4 * len(machines), 7.6), height), layout="constrained")
        axes = figure.subplots(1, len(machines), sharey=True, sharex=True, squeeze=False)[0]
        for machine, plot in zip(machines, axes, strict=True):
            _printed_points(study, plot, unit)
            for name, series in study.series(machine).items():
                found = [(position, series.get(key)) for position, (_, key) in enumerate(rows)]
                shown = [(r.typical() / UNITS[unit], position, r) for position, r in found if r and r.ok]
                points(plot, shown, style_of(study, name, names), name, machine.title, zorder=3)
            plot.set_title(machine.title)
            log_axis(plot, "x", f"time, {unit}")
            plot.set_ylim(len(rows) - 0.4, -0.6)
            plot.grid(True, axis="both")
        varies = {axis for _, key in rows for axis, value in key if dict(rows[0][1]).get(axis) != value}
        labels = [" · ".join(f"{study.symbol(a)} {value}" for a, value in key if a in varies) for _, key in rows]
        axes[0].set_yticks(range(len(rows)), labels)
        handles = [_band_handle(study)] + [handle(*style_of(study, name, names), name) for name in names]
        columns = min(fitting(figure, handles), 2 + len(machines))
        figure.set_figheight(height + 0.2 * max(0, -(-len(handles) // columns) - 3))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        return figure

    return render(f"{study.slug}-times", title, caption, draw)


def _printed_points(study: Study, plot: Axes, unit: str) -> None:
    """A row's band from the least to the most printed time, and a tick for each device."""
    columns, cells = (study.published.columns, study.published.cells) if study.published else ([], {})
    label = _band_label(study)
    for position, (row, _) in enumerate(rows_of(study)):
        found = [(cells[row, column], device_label(column, columns)) for column in columns if (row, column) in cells]
        found.sort(key=lambda pair: pair[0].value)
        if not found:
            continue
        times = [observation.value / UNITS[unit] for observation, _ in found]
        band = plot.hlines(position, times[0], times[-1], color=GREY, linewidth=7, alpha=0.3, zorder=1)
        told(band, label)
        ticks = plot.plot(times, [position] * len(times), "|", color=GREY, markersize=7, zorder=2)
        notes = [f"{device}: {observation.text} {observation.unit} (published)" for observation, device in found]
        told(ticks, label, notes=notes)


def _band_label(study: Study) -> str:
    count = len({column.device for column in study.published.columns}) if study.published else 0
    return f"published: {count} device{'s' if count > 1 else ''}"


def _band_handle(study: Study) -> Line2D:
    return Line2D([], [], color=GREY, alpha=0.5, linewidth=7, marker="|", label=_band_label(study))


def scaling_figures(study: Study, rates: bool = False) -> list[Drawing]:
    """For each axis that varies: time along it (`rates`: iterations a second), and GPU over CPU along it."""
    what = "iterations a second" if rates else "time"
    drawings = []
    for axis in scaling.varying_axes(study):
        found = scaling.chosen(scaling.panels(study, axis))
        if not found:
            continue
        symbol = study.symbol(axis)
        held = "the other axes are held at the values above each panel (least, middle and most work)"
        common = scaling.described(study, scaling.in_common(found))
        held += f", and everywhere {common}" if common else ""
        caption = f"{what.capitalize()} along {symbol}; {held}. Hollow: extrapolated. Gaps: skipped or invalid. "
        caption += "Both axes logarithmic."
        draw = _time_panels(study, axis, found, rates)
        title = f"{study.descriptor.title}: {what} against {symbol}"
        drawings.append(render(f"{study.slug}-{axis}", title, caption, draw))
        if any(scaling.speedups(panel) for panel in found):
            caption = f"Speed-up of the GPU along {symbol}; {held}. Above the line at 1 the GPU is faster. "
            caption += "Baseline: " + "; ".join(_bases(found)) + ". Each pair measured on one machine."
            caption += "".join(f" {sentence}" for sentence in dates_of(_pairs(found)))
            draw = _speedup_panels(study, axis, found)
            title = f"{study.descriptor.title}: GPU over CPU against {symbol}"
            drawings.append(render(f"{study.slug}-{axis}-speedup", title, caption, draw))
    return drawings


def _pairs(found: list[scaling.Panel]) -> dict[str, list[tuple[Record, Record]]]:
    result: dict[str, list[tuple[Record, Record]]] = {}
    for panel in found:
        for (title, name), along in scaling.pairs(panel).items():
            result.setdefault(f"{title}: {name}", []).extend(along.values())
    return result


def _bases(found: list[scaling.Panel]) -> list[str]:
    lines = [line for panel in found for line in panel.lines if line.implementation.startswith("gpu")]
    return list(dict.fromkeys(scaling.baseline(line.machine) for line in lines))


def _axes(found: list[scaling.Panel]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(max(1.0 + 3.3 * len(found), 7.0), 3.9), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    common = scaling.in_common(found)
    for panel, plot in zip(found, axes, strict=True):
        plot.set_title(
            scaling.described(panel.study, [item for item in panel.held if item not in common]) or panel.title
        )
        plot.grid(True)
    return figure, list(axes)


def _time_panels(study: Study, axis: str, found: list[scaling.Panel], rates: bool) -> Callable[[], Figure]:
    def draw() -> Figure:
        figure, axes = _axes(found)
        names = [name for _, name, _ in scaling.shown(study)]
        unit = unit_of(study)
        handles: dict[str, Line2D] = {}
        for panel, plot in zip(found, axes, strict=True):
            values = sorted({at for line in panel.lines for at in line.points})
            for line in panel.lines:
                colour, marker = style_of(study, line.implementation, names)
                own = line.machine.name == study.machines[0].name
                shown = line.rates() if rates else {at: s / UNITS[unit] for at, s in line.seconds().items()}
                heights = [shown.get(at, float("nan")) for at in line.points]
                dash, where = "-" if own else "--", (line.implementation, line.machine.title)
                told(plot.plot(list(line.points), heights, dash, color=colour, linewidth=1.2), *where)
                places = [(at, height, line.points[at]) for at, height in zip(line.points, heights, strict=True)]
                points(plot, places, (colour, marker), *where)
                label = line.implementation + ("" if own else f" ({line.machine.title})")
                handles.setdefault(label, handle(colour, marker, label, line="-" if own else "--"))
            log_axis(plot, "x", study.explained(axis), values)
            log_axis(plot, "y", ("iterations a second" if rates else f"time, {unit}") if plot is axes[0] else "")
        legend(figure, list(handles.values()))
        return figure

    return draw


def _speedup_panels(study: Study, axis: str, found: list[scaling.Panel]) -> Callable[[], Figure]:
    def draw() -> Figure:
        figure, axes = _axes(found)
        names = [name for _, name, _ in scaling.shown(study)]
        handles: dict[str, Line2D] = {}
        for panel, plot in zip(found, axes, strict=True):
            values = sorted({at for line in panel.lines for at in line.points})
            for (title, name), ratios in scaling.speedups(panel).items():
                colour, marker = style_of(study, name, names)
                lines = plot.plot(list(ratios), list(ratios.values()), "-", marker=marker, color=colour, linewidth=1.2)
                told(lines, name, title)
                label = name if title == study.machines[0].title else f"{name} ({title})"
                handles.setdefault(label, handle(colour, marker, label, line="-"))
            plot.axhline(1, color=INK, linewidth=1)
            log_axis(plot, "x", study.explained(axis), values)
            log_axis(plot, "y", "fastest CPU ÷ GPU" if plot is axes[0] else "")
        legend(figure, list(handles.values()))
        return figure

    return draw
