"""Figures as SVG, PNG and data for the page: same records, same bytes; each is laid out once. Colours and markers that
colour-blind readers can tell apart."""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, Formatter, FuncFormatter, LogLocator, NullLocator

from vicinity_analysis.inputs.records import Record
from vicinity_analysis.study import Study
from vicinity_analysis.views import charts
from vicinity_analysis.views.cells import slug
from vicinity_analysis.views.charts import told

INK = "#1c1e21"
# Okabe and Ito's palette, in an order that keeps neighbours apart also in grey; each with a marker of its own.
COMMON = {
    "cpu-serial": ("#D55E00", "s"),
    "cpu-openmp": ("#E69F00", "D"),
    "gpu": ("#0072B2", "o"),
    "gpu-tuned": ("#009E73", "P"),
    "gpu-chains": ("#6A3D9A", "<"),
}
OTHERS = (("#CC79A7", "v"), ("#7A6F00", "X"), ("#8C8C8C", "h"), ("#6A3D9A", "<"), ("#A6761D", ">"))
STYLE = {
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "axes.titley": 1.0,  # no tick stands above a panel, so no place is searched for
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
COLUMNS = 4  # panels side by side
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Drawing:
    name: str
    title: str
    caption: str
    svg: str
    png: bytes
    chart: dict[str, Any]  # views.charts


def style_of(study: Study, implementation: str, names: list[str]) -> tuple[str, str]:
    """(colour, marker): the paper's or that of a common name; of `names`, others take the next in line."""
    fixed = {**COMMON, **study.notation.styles}
    if implementation in fixed:
        return fixed[implementation]
    others = [name for name in names if name not in fixed]
    return OTHERS[others.index(implementation) % len(OTHERS)] if implementation in others else OTHERS[0]


def render(name: str, title: str, caption: str, draw: Callable[[], Figure]) -> Drawing:
    """Runs `draw` in our style, and writes all formats of the one layout without dates or random ids."""
    name = slug(name)
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = draw()
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine(None)  # with an engine, each format would be drawn twice
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=160, facecolor="white", metadata={"Software": None})
    text = "\n".join(line.rstrip() for line in svg.getvalue().splitlines()) + "\n"
    return Drawing(name, title, caption, text, png.getvalue(), charts.chart_of(figure))


def handle(colour: str, marker: str, label: str, hollow: bool = False, line: str = "none") -> Line2D:
    face = "none" if hollow else colour
    return Line2D([], [], color=colour, marker=marker, markerfacecolor=face, linestyle=line, label=label)


Point = tuple[float, float, Record]


def points(plot: Axes, found: Sequence[Point], style: tuple[str, str], label: str, machine: str, **look: Any) -> None:  # noqa: ANN401
    """(x, y, record) of one implementation as markers, hollow where the value is extrapolated; the machine's
    folder need not stand in every note."""
    colour, marker = style
    for face in (colour, "none"):
        kept = [point for point in found if ("extrapolated" in point[2].marks) == (face == "none")]
        if kept:
            x, y, records = zip(*kept, strict=True)
            drawn = plot.plot(x, y, marker, color=colour, markerfacecolor=face, **look)
            told(drawn, label, machine, [record.source.partition("/")[2] for record in records])


def fitting(figure: Figure, handles: list[Line2D]) -> int:
    """Columns of a legend that fit the figure: 15 letters to an inch."""
    widest = max(len(entry.get_label()) for entry in handles)
    return max(1, min(len(handles), int(15 * figure.get_figwidth() / (widest + 6))))


def legend(figure: Figure, handles: list[Line2D]) -> None:
    """Below the panels."""
    figure.legend(handles=handles, loc="outside lower center", ncols=fitting(figure, handles))


class Numbers(Formatter):
    """One notation along an axis: 100,000 where all its numbers are short, else powers of ten."""

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        short = all(1e-3 <= value < 1e6 for value in values) or not all(map(_is_power, values))
        return [f"{value:,.10g}" if short else power(value) for value in values]

    def __call__(self, value: float, pos: int | None = None) -> str:
        return self.format_ticks([value])[0]


def _is_power(value: float) -> bool:
    return value > 0 and math.isclose(value, 10 ** round(math.log10(value)), rel_tol=1e-9)


def power(value: float) -> str:
    return f"10{f'{math.log10(value):.0f}'.translate(RAISED)}"


class Logarithmic(LogLocator):
    """Powers of ten; over less than two decades 2 and 5 of each, too, for one number alone says no scale."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        self.set_params(subs=(1.0, 2.0, 5.0) if vmin > 0 and vmax < 100 * vmin else (1.0,))
        return super().tick_values(vmin, vmax)


def log_axis(plot: Axes, which: str, label: str, values: list[float] | None = None) -> None:
    """Logarithmic with plain numbers; ticks at the measured values when these are few."""
    getattr(plot, f"set_{which}scale")("log")
    getattr(plot, f"set_{which}label")(label)
    axis = getattr(plot, f"{which}axis")
    axis.set_major_formatter(Numbers())
    axis.set_minor_locator(NullLocator())
    if values and len(values) <= 8:
        axis.set_major_locator(FixedLocator(values))
    else:
        axis.set_major_locator(Logarithmic(base=10, numticks=8))


def panels(count: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, at most COLUMNS side by side, that share both axes."""
    columns = min(count, COLUMNS)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(max(1.0 + 2.5 * columns, 7.0), 1.1 + height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    for spare in axes[count:]:
        spare.set_visible(False)
    for plot in axes:
        plot.grid(True)
    return figure, list(axes[:count])


def label_outer(axes: list[Axes], x: str, y: str) -> None:
    """Labels at the left and below only: the panels share their axes."""
    columns = min(len(axes), COLUMNS)
    for index, plot in enumerate(axes):
        plot.set_ylabel(y if index % columns == 0 else "")
        last = index + columns >= len(axes)
        plot.set_xlabel(x if last else "")
        plot.tick_params(labelbottom=last)


def decades(plot: Axes, which: str, label: str = "") -> None:
    """Logarithmic over many decades: powers of ten, as many as there is room for."""
    log_axis(plot, which, label)
    axis = getattr(plot, f"{which}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axis.set_major_locator(LogLocator(base=10, numticks=6))
