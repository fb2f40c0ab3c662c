"""A figure as data that a page draws with Plotly: what stands in a matplotlib figure, panel by panel.

Every figure of the report is drawn once, with matplotlib, and read here: its lines, markers, ticks and scales. `told`
adds to what is drawn the words that a reader sees under the pointer; where a figure does not use it, the legend's
label of the same colour and marker stands in. The JSON object:

    {"panels": [{"title", "x": axis, "y": axis, "series": [...], "rules": [{"axis", "at"}]}], "shared": "xy", "texts"}
    axis:   {"title", "log", "ticks": [[position, text], ...] or null, "range": [first, last]}
    series: {"label", "machine", "colour", "symbol", "dash", "width", "size", "hollow", "band", "x", "y", "notes"}

`notes` are positions in `texts`, where each text stands once. A band has none: it is told by the points on it.
Positions on an axis that is neither linear nor logarithmic are transformed as matplotlib does; its ticks have the
values as text."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

SYMBOLS = {"o": "circle", "s": "square", "D": "diamond", "P": "cross", "X": "x", "^": "triangle-up", "h": "hexagon"}
SYMBOLS |= {"v": "triangle-down", "<": "triangle-left", ">": "triangle-right", "p": "pentagon", "|": "line-ns-open"}
SYMBOLS |= {".": "circle", "*": "star", "1": "y-down", "2": "y-up", "3": "y-left", "4": "y-right", "8": "octagon"}
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
ATTRIBUTE = "_vicinity_told"


@dataclass(frozen=True)
class Told:
    """Of something drawn: the name that a reader filters by, the machine, and a line for each point."""

    label: str
    machine: str = ""
    notes: tuple[str, ...] = ()


def told(artists: Iterable[Artist] | Artist, label: str, machine: str = "", notes: Sequence[str] = ()) -> None:
    """Says what `artists` (what `plot.plot` and `plot.hlines` return) are."""
    for artist in [artists] if isinstance(artists, Artist) else artists:
        setattr(artist, ATTRIBUTE, Told(label, machine, tuple(notes)))


def chart_of(figure: Figure) -> dict[str, Any]:
    """Of a figure whose layout is done. Panels that are not visible are left out."""
    labels = _legend(figure)
    every = [axes for axes in figure.axes if axes.get_visible()]
    first = every[0] if every else None
    joined = "".join(
        which
        for which, group in (("x", first and first.get_shared_x_axes()), ("y", first and first.get_shared_y_axes()))
        if first and group and len(every) > 1 and all(group.joined(first, other) for other in every)
    )
    panels = [_panel(axes, labels) for axes in every]
    texts: dict[str, int] = {}
    for series in (one for panel in panels for one in panel["series"] if "notes" in one):
        series["notes"] = [texts.setdefault(note, len(texts)) for note in series["notes"]]
    return {"panels": panels, "shared": joined, "texts": list(texts)}


def _legend(figure: Figure) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for legend in figure.legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(handle, Line2D):
                found.setdefault((_colour(handle), str(handle.get_marker())), text.get_text())
                found.setdefault((_colour(handle), ""), text.get_text())
    return found


def _panel(axes: Axes, labels: dict[tuple[str, str], str]) -> dict[str, Any]:
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    rules = []
    for line in axes.lines:
        if line.get_transform() != axes.transData:  # axhline, axvline
            x, y = line.get_data()
            level = len({*map(float, y)}) == 1
            rules.append({"axis": "y" if level else "x", "at": _number(float((y if level else x)[0]))})
            continue
        _add(merged, _series(axes, line, labels))
    for lines in (found for found in axes.collections if isinstance(found, LineCollection)):
        for series in _segments(axes, lines, labels):
            _add(merged, series)
    panel = {"title": axes.get_title(), "x": _axis(axes.xaxis), "y": _axis(axes.yaxis)}
    return panel | {"series": list(merged.values()), "rules": rules}


def _add(merged: dict[tuple[Any, ...], dict[str, Any]], series: dict[str, Any]) -> None:
    """Single markers of one kind are one series; lines stay apart."""
    same = tuple((name, value) for name, value in series.items() if name not in ("x", "y", "notes"))
    found = merged.get(same)
    if found is None or (series["dash"] and not series["band"]):
        merged[(*same, len(merged)) if found else same] = series
        return
    if "notes" in found or "notes" in series:
        found["notes"] = [note for one in (found, series) for note in one.get("notes", [""] * len(one["x"]))]
    for name in ("x", "y"):
        found[name] += [None] * series["band"] + series[name]


def _series(axes: Axes, line: Line2D, labels: dict[tuple[str, str], str]) -> dict[str, Any]:
    said: Told | None = getattr(line, ATTRIBUTE, None)
    marker = str(line.get_marker())
    known = SYMBOLS.get(marker, "")
    label = said.label if said else labels.get((_colour(line), marker)) or labels.get((_colour(line), ""), "")
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    found: dict[str, Any] = {"label": label, "machine": said.machine if said else "", "colour": _colour(line)}
    found |= {
        "symbol": known,
        "dash": DASHES.get(str(line.get_linestyle()), ""),
        "width": _number(line.get_linewidth()),
    }
    found |= {"size": _number(line.get_markersize()), "hollow": line.get_markerfacecolor() == "none"}
    found |= {"band": False, "x": _places(axes.xaxis, x), "y": _places(axes.yaxis, y)}
    return found | ({"notes": list(said.notes)} if said and said.notes else {})


def _segments(axes: Axes, lines: LineCollection, labels: dict[tuple[str, str], str]) -> Iterable[dict[str, Any]]:
    said: Told | None = getattr(lines, ATTRIBUTE, None)
    colour = to_hex(lines.get_color()[0], keep_alpha=False)
    for segment in lines.get_segments():
        found: dict[str, Any] = {"label": said.label if said else labels.get((colour, ""), "")}
        found |= {"machine": said.machine if said else "", "colour": colour, "symbol": "", "dash": "solid"}
        found |= {"width": _number(float(lines.get_linewidth()[0])), "size": 0, "hollow": False, "band": True}
        yield found | {"x": _places(axes.xaxis, segment[:, 0]), "y": _places(axes.yaxis, segment[:, 1])}


def _colour(line: Line2D) -> str:
    return to_hex(line.get_color(), keep_alpha=False)


def _axis(axis: Axis) -> dict[str, Any]:
    log = axis.get_scale() == "log"
    known = axis.get_scale() in ("log", "linear") and not isinstance(axis.get_major_locator(), FixedLocator)
    low, high = axis.get_view_interval()
    ticks = None
    if not known:
        at = [tick for tick in axis.get_majorticklocs() if min(low, high) <= tick <= max(low, high)]
        texts = axis.get_major_formatter().format_ticks(at)
        ticks = [[place, text] for place, text in zip(_places(axis, np.asarray(at)), texts, strict=True)]
    ends = _places(axis, np.asarray([low, high], dtype=float))
    return {"title": axis.get_label().get_text(), "log": log, "ticks": ticks, "range": ends}


def _places(axis: Axis, values: np.ndarray) -> list[float | None]:
    if axis.get_scale() not in ("log", "linear"):
        values = axis.get_transform().transform(np.asarray(values, dtype=float))
    return [_number(float(value)) for value in values]


def _number(value: float) -> float | None:
    """Six digits are more than a screen shows; a gap is null."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
