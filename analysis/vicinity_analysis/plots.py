"""Figures as SVG and PNG: same records, same bytes; colours and markers that colour-blind readers can tell apart."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from vicinity_analysis import scaling
from vicinity_analysis.published import UNITS
from vicinity_analysis.study import Study
from vicinity_analysis.tables import axis_label, device_label, rows_of, short, unit_of

INK = "#1c1e21"  # replaced by the page's text colour where a figure stands inside the report
# Okabe and Ito's palette, in an order that keeps neighbours apart also in grey; each with a marker of its own.
KNOWN = {
    "cpu-traditional": ("#8C8C8C", "h"),
    "cpu-serial": ("#D55E00", "s"),
    "cpu-delta": ("#CC79A7", "v"),
    "cpu-openmp": ("#E69F00", "D"),
    "gpu": ("#0072B2", "o"),
    "gpu-recompute": ("#56B4E9", "^"),
    "gpu-tuned": ("#009E73", "P"),
    "gpu-chains": ("#6A3D9A", "<"),
    "gpu-texture": ("#56B4E9", "^"),
    "gpu-readonly": ("#8C8C8C", "h"),
    "gpu-shared": ("#A6761D", ">"),
    "gpu-reduction": ("#CC79A7", "v"),
    "gpu-thread-control": ("#A6761D", ">"),
    "gpu-host-neighborhood": ("#7A6F00", "X"),
}
OTHERS = (("#CC79A7", "v"), ("#7A6F00", "X"), ("#8C8C8C", "h"), ("#6A3D9A", "<"), ("#A6761D", ">"))
PUBLISHED = {"gpu": ("v", "<", "1", "^", ">", "2", "p", "3", "8", "4"), "cpu": ("s", "D", "h")}
STYLE = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#9a9a9a",
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.markersize": 6,
    "figure.dpi": 100,
}


@dataclass(frozen=True)
class Drawing:
    name: str
    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def inline(self) -> str:
        """For the page: no XML head, ids of its own, ink in the page's colour."""
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r'(id="|href="#|url\(#)', rf"\1{self.name}-", body)
        body = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", body, count=1)
        body = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", body, count=1)
        width = re.search(r'viewBox="0 0 ([\d.]+)', body)
        if width:  # a narrow figure stays narrow
            body = body.replace("<svg ", f'<svg style="max-width:{1.75 * float(width[1]):.0f}px" ', 1)
        body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
        body = body.replace("<svg ", f'<svg role="img" aria-label="{_attribute(self.title)}" ', 1)
        return re.sub(INK, "currentColor", body, flags=re.IGNORECASE)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def look(implementation: str, all_names: list[str]) -> tuple[str, str]:
    """(colour, marker): fixed for the common names, next in line for variants."""
    if implementation in KNOWN:
        return KNOWN[implementation]
    others = [name for name in all_names if name not in KNOWN]
    return OTHERS[others.index(implementation) % len(OTHERS)] if implementation in others else OTHERS[0]


def render(name: str, title: str, caption: str, draw: Callable[[], Figure]) -> Drawing:
    """Runs `draw` in our style and writes both formats without dates or random ids."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = draw()
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=160, facecolor="white", metadata={"Software": None})
    text = "\n".join(line.rstrip() for line in svg.getvalue().splitlines()) + "\n"
    return Drawing(name, title, caption, text, png.getvalue())


def table_figure(study: Study) -> Drawing | None:
    """Each row of a printed table on its own line: printed values (grey, hollow) and measured ones (coloured)."""
    machines = [machine for machine in study.machines if study.series(machine)]
    if not study.published or not machines:
        return None
    title = f"{study.descriptor.title}: published and measured"
    caption = "Each line is a row of the paper's table; further left is faster. Grey: printed in the paper. "
    caption += "Hollow coloured: extrapolated. Points are not joined: rows are different cases."

    def draw() -> Figure:
        rows, unit = rows_of(study), unit_of(study)
        names = list(dict.fromkeys(name for machine in machines for name in study.series(machine)))
        height = 0.27 * len(rows) + 1.7
        figure = Figure(figsize=(max(2.0 + 3.4 * len(machines), 7.6), height), layout="constrained")
        axes = figure.subplots(1, len(machines), sharey=True, sharex=True, squeeze=False)[0]
        for machine, plot in zip(machines, axes, strict=True):
            _printed_points(study, plot, unit)
            for name, series in study.series(machine).items():
                colour, marker = look(name, names)
                for position, (_, key) in enumerate(rows):
                    record = series.get(key)
                    if record and record.ok:
                        face = "none" if "extrapolated" in record.marks else colour
                        value = record.estimate().value / UNITS[unit]
                        plot.plot(value, position, marker, markeredgecolor=colour, markerfacecolor=face, zorder=3)
            plot.set_title(machine.title)
            log_axis(plot, "x", f"time, {unit}")
            plot.set_ylim(len(rows) - 0.4, -0.6)
            plot.grid(True, axis="both")
        varies = {axis for _, key in rows for axis, value in key if dict(rows[0][1]).get(axis) != value}
        labels = [" · ".join(f"{axis_label(a)} {value}" for a, value in key if a in varies) for _, key in rows]
        axes[0].set_yticks(range(len(rows)), labels)
        handles = _printed_handles(study) + [handle(*look(name, names), name) for name in names]
        columns = min(fitting(figure, handles), 2 + len(machines))
        figure.set_figheight(height + 0.2 * max(0, -(-len(handles) // columns) - 3))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        return figure

    return render(f"{study.slug}-times", title, caption, draw)


def _printed_marker(study: Study) -> dict[str, str]:
    columns = study.published.columns if study.published else []
    kinds = {kind: [c for c in columns if c.kind == kind] for kind in {c.kind for c in columns}}
    marks = {}
    for kind, members in kinds.items():
        pool = PUBLISHED.get(kind, ("h", "8", "p"))
        marks |= {c.device + c.implementation: pool[i % len(pool)] for i, c in enumerate(members)}
    return marks


def _printed_points(study: Study, plot: Axes, unit: str) -> None:
    markers = _printed_marker(study)
    for position, (row, _) in enumerate(rows_of(study)):
        for column in study.published.columns if study.published else []:
            observation = study.published.cells.get((row, column)) if study.published else None
            if observation:
                marker = markers[column.device + column.implementation]
                value = observation.value / UNITS[unit]
                plot.plot(value, position, marker, color="#7d7d7d", markerfacecolor="none", markersize=5, zorder=2)


def _printed_handles(study: Study) -> list[Line2D]:
    markers = _printed_marker(study)
    columns = study.published.columns if study.published else []
    labels = [f"{short(device_label(column, columns))} (published)" for column in columns]
    return [
        handle("#7d7d7d", markers[column.device + column.implementation], label, hollow=True)
        for column, label in zip(columns, labels, strict=True)
    ]


def handle(colour: str, marker: str, label: str, hollow: bool = False, line: str = "none") -> Line2D:
    face = "none" if hollow else colour
    return Line2D([], [], color=colour, marker=marker, markerfacecolor=face, linestyle=line, label=label)


def fitting(figure: Figure, handles: list[Line2D]) -> int:
    """Columns of a legend that fit the figure: 15 letters to an inch."""
    widest = max(len(entry.get_label()) for entry in handles)
    return max(1, min(len(handles), int(15 * figure.get_figwidth() / (widest + 6))))


def legend(figure: Figure, handles: list[Line2D]) -> None:
    """Below the panels."""
    figure.legend(handles=handles, loc="outside lower center", ncols=fitting(figure, handles))


def log_axis(plot: Axes, which: str, label: str, values: list[float] | None = None) -> None:
    """Logarithmic with plain numbers; ticks at the measured values when these are few."""
    getattr(plot, f"set_{which}scale")("log")
    getattr(plot, f"set_{which}label")(label)
    axis = getattr(plot, f"{which}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value < 1e6 else f"{value:.0e}"))
    axis.set_minor_formatter(NullFormatter())
    if values and len(values) <= 8:
        axis.set_major_locator(FixedLocator(values))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(base=10, numticks=8))


def scaling_figures(study: Study, rates: bool = False) -> list[Drawing]:
    """For each axis that varies: time along it (`rates`: iterations a second), and GPU over CPU along it."""
    what = "iterations a second" if rates else "time"
    drawings = []
    for axis in scaling.varying_axes(study):
        found = scaling.chosen(scaling.panels(study, axis))
        if not found:
            continue
        symbol = axis_label(axis)
        held = "the other axes are held at the values above each panel (least, middle and most work)"
        common = scaling.described(scaling.in_common(found))
        held += f", and everywhere {common}" if common else ""
        caption = f"{what.capitalize()} along {symbol}; {held}. Hollow: extrapolated. Gaps: skipped or invalid. "
        caption += "Both axes logarithmic."
        draw = _time_panels(study, axis, found, rates)
        title = f"{study.descriptor.title}: {what} against {symbol}"
        drawings.append(render(f"{study.slug}-{axis}", title, caption, draw))
        if any(scaling.speedups(panel) for panel in found):
            caption = f"Speed-up of the GPU along {symbol}; {held}. Above the line at 1 the GPU is faster. "
            caption += "Baseline: " + "; ".join(_bases(found)) + ". Each pair measured on one machine."
            draw = _speedup_panels(study, axis, found)
            title = f"{study.descriptor.title}: GPU over CPU against {symbol}"
            drawings.append(render(f"{study.slug}-{axis}-speedup", title, caption, draw))
    return drawings


def _bases(found: list[scaling.Panel]) -> list[str]:
    lines = [line for panel in found for line in panel.lines if line.implementation.startswith("gpu")]
    return list(dict.fromkeys(scaling.baseline(line.machine) for line in lines))


def _axes(found: list[scaling.Panel]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(max(1.0 + 3.3 * len(found), 7.0), 3.9), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    common = scaling.in_common(found)
    for panel, plot in zip(found, axes, strict=True):
        plot.set_title(scaling.described(item for item in panel.held if item not in common) or panel.title)
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
                colour, marker = look(line.implementation, names)
                own = line.machine.name == study.machines[0].name
                shown = line.rates() if rates else {at: s / UNITS[unit] for at, s in line.seconds().items()}
                heights = [shown.get(at, float("nan")) for at in line.points]
                plot.plot(list(line.points), heights, "-" if own else "--", color=colour, linewidth=1.2)
                for at, height in zip(line.points, heights, strict=True):
                    hollow = "extrapolated" in line.points[at].marks
                    plot.plot(at, height, marker, color=colour, markerfacecolor="none" if hollow else colour)
                label = line.implementation + ("" if own else f" ({line.machine.title})")
                handles.setdefault(label, handle(colour, marker, label, line="-" if own else "--"))
            log_axis(plot, "x", axis_label(axis), values)
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
                colour, marker = look(name, names)
                plot.plot(list(ratios), list(ratios.values()), "-", marker=marker, color=colour, linewidth=1.2)
                label = name if title == study.machines[0].title else f"{name} ({title})"
                handles.setdefault(label, handle(colour, marker, label, line="-"))
            plot.axhline(1, color=INK, linewidth=1)
            log_axis(plot, "x", axis_label(axis), values)
            log_axis(plot, "y", "fastest CPU ÷ GPU" if plot is axes[0] else "")
        legend(figure, list(handles.values()))
        return figure

    return draw
