"""The scoreboard outside the pages: as text for the terminal, and as a picture for sharing, 1200 by 630 pixels."""

import io
import math
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
from matplotlib.figure import Figure

from vicinity_analysis.views.figures import COMMON, INK, STYLE
from vicinity_analysis.views.headline import OURS, THEIRS, Headline

SOFT = "#5c6370"


class Line(NamedTuple):
    title: str
    headline: Headline
    holding: int
    judged: int
    open: int  # of these, not decided by any machine yet


def claims_told(holding: int, judged: int, open_: int) -> str:
    """What is said of a paper's claims; of none where no machine has decided any."""
    if not judged:
        return "no claims judged"
    if open_ == judged:
        return f"none of {judged} judged yet"
    return f"{holding} of {judged} claims hold" + (f", {open_} open" if open_ else "")


def share_of(value: float, top: float) -> float:
    """Percent of a bar's room, on a logarithmic scale from 1."""
    return max(0.0, min(100.0, 100 * math.log(max(value, 1.0)) / math.log(max(top, 2.0))))


def top_of(headlines: Sequence[Headline]) -> float:
    values = [bar.value for headline in headlines for bar in headline.bars if bar.value is not None]
    return max(values, default=10.0)


def text(title: str, lines: Sequence[Line]) -> str:
    """The same for a terminal, a line a paper, and what its ratios are over."""
    rows = [("", "the paper's", "ours", "claims that hold")]
    for line in lines:
        values = ["-" if bar.value is None else bar.text for bar in line.headline.bars]
        claims = claims_told(line.holding, line.judged, line.open).replace(" claims hold", "")
        rows.append((line.title.split(" (")[0], *[*values, "-", "-"][:2], claims))
    width = max(len(row[0]) for row in rows)
    told = [f"{row[0]:<{width}}  {row[1]:>11}  {row[2]:>8}  {row[3]}".rstrip() for row in rows]
    over = [
        f"  {line.title.split(' (')[0]}: {_where(line, title)}times as fast as {line.headline.over}"
        for line in lines
        if line.headline.over
    ]
    return "\n".join([f"vicinity on {title}", *told, *over]) + "\n"


def _where(line: Line, title: str) -> str:
    """Which machine a line is of, if it is not the one of the report: that has no records of the paper."""
    machine = line.headline.machine
    return f"on {machine.title}, " if machine and machine.title != title else ""


def picture(title: str, lines: Sequence[Line]) -> bytes:
    """A PNG; the same lines give the same bytes."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
        figure.text(0.04, 0.92, "vicinity", fontsize=26, weight="bold", color=INK, va="center")
        figure.text(
            0.04, 0.845, f"GPU local search of {len(lines)} papers, reproduced on {title}", fontsize=15, color=SOFT
        )
        room, top = 0.70 / max(1, len(lines)), top_of([line.headline for line in lines])
        for index, line in enumerate(lines):
            _line(figure, line, title, 0.77 - index * room, room, top)
        figure.text(
            0.04, 0.035, "blue: the paper's algorithm    green: ours    bars logarithmic", fontsize=11, color=SOFT
        )
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=100, metadata={"Software": None})
    return out.getvalue()


def _line(figure: Figure, line: Line, title: str, at: float, room: float, top: float) -> None:
    figure.text(0.04, at - 0.36 * room, _short(line.title), fontsize=13, color=INK, va="center")
    claims = claims_told(line.holding, line.judged, line.open)
    figure.text(0.96, at - 0.36 * room, claims, fontsize=13, color=INK, ha="right", va="center")
    for number, bar in enumerate(line.headline.bars):
        height = at - (0.16 + 0.3 * number) * room
        if bar.value is None:
            figure.text(0.40, height, bar.text, fontsize=10.5, color=SOFT, va="center", style="italic")
            continue
        width = 0.28 * share_of(bar.value, top) / 100
        colour = COMMON[(THEIRS, OURS)[number]][0]
        shape = matplotlib.patches.Rectangle((0.40, height - 0.12 * room), max(width, 0.002), 0.24 * room)
        shape.set(color=colour, transform=figure.transFigure)
        figure.add_artist(shape)
        figure.text(0.41 + width, height, bar.text, fontsize=13, color=INK, va="center")
    if line.headline.over:
        over = line.headline.over.split(" (")[0].split(", as published")[0]
        figure.text(
            0.40,
            at - 0.78 * room,
            f"{_where(line, title)}times as fast as {over}",
            fontsize=10,
            color=SOFT,
            va="center",
        )


def _short(title: str) -> str:
    """A title without its authors, in lines that fit beside the bars."""
    words, lines = title.split(" (")[0].split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 34:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)
