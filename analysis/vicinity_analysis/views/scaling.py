"""Experiments beyond the papers' tables: how time grows along each axis, and from where on the GPU is faster."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, ratio_value
from vicinity_analysis.study import Study, number, without
from vicinity_analysis.views.cells import Cell, Column, Table, plain, significant, with_unit
from vicinity_analysis.views.tables import MISSING

PANELS = 4  # settings of the other axes shown for each axis; of more, the smallest, the middle and the largest work


@dataclass(frozen=True)
class Line:
    """One implementation on one machine along an axis: value -> record, sorted."""

    machine: Machine
    implementation: str
    points: dict[float, Record]

    def seconds(self) -> dict[float, float]:
        return {at: record.typical() for at, record in self.points.items() if record.ok}

    def rates(self) -> dict[float, float]:
        """Iterations a second."""
        return {at: self.points[at].data["iterations"] / seconds for at, seconds in self.seconds().items()}


@dataclass(frozen=True)
class Panel:
    study: Study
    axis: str
    held: Key  # the other axes
    lines: list[Line]

    @property
    def title(self) -> str:
        return described(self.study, self.held) or "nothing else varies"


def described(study: Study, held: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{study.symbol(axis)} = {value}" for axis, value in held)


def in_common(found: list[Panel]) -> list[tuple[str, str]]:
    """What several panels hold at the same value, which need not stand above each."""
    if len(found) < 2:
        return []
    return [item for item in found[0].held if all(item in panel.held for panel in found)]


def shown(study: Study) -> list[tuple[Machine, str, dict[Key, Record]]]:
    """The report's own machine; an implementation it lacks is taken from the first other machine that has it."""
    found: dict[str, tuple[Machine, str, dict[Key, Record]]] = {}
    for machine in study.machines:
        for name, series in study.series(machine).items():
            found.setdefault(name, (machine, name, series))
    return list(found.values())


def varying_axes(study: Study) -> list[str]:
    """Axes with at least three numbers measured."""
    values: dict[str, set[float]] = {}
    for _, _, series in shown(study):
        for key in series:
            for axis, _ in key:
                value = number(key, axis)
                if value is not None:
                    values.setdefault(axis, set()).add(value)
    order = [axis for axis in study.descriptor.axes if axis in values]
    return [axis for axis in order + sorted(set(values) - set(order)) if len(values[axis]) >= 3]


def panels(study: Study, axis: str) -> list[Panel]:
    """Every setting of the other axes along which at least three points were measured, by growing work."""
    settings: dict[Key, dict[tuple[str, str], Line]] = {}
    for machine, name, series in shown(study):
        for key, record in series.items():
            value = number(key, axis)
            if value is None:
                continue
            lines = settings.setdefault(without(key, axis), {})
            lines.setdefault((machine.name, name), Line(machine, name, {})).points[value] = record
    found = []
    for held, lines in settings.items():
        ordered = [Line(x.machine, x.implementation, dict(sorted(x.points.items()))) for x in lines.values()]
        if max(len(line.seconds()) for line in ordered) >= 3:
            found.append(Panel(study, axis, held, ordered))
    return sorted(found, key=lambda panel: _size(panel.held))


def _size(held: Key) -> tuple[float, Key]:
    return (math.prod(number(held, axis) or 1.0 for axis, _ in held), held)


def chosen(found: list[Panel]) -> list[Panel]:
    if len(found) <= PANELS:
        return found
    return [found[0], found[len(found) // 2], found[-1]]


def fastest_cpu(series: Iterable[tuple[str, dict[Any, Record]]]) -> dict[Any, Record]:
    """point -> the record with the least time of any CPU implementation (small cases are faster on one core); none
    where that is a scaled one."""
    found: dict[Any, list[Record]] = {}
    for name, points in series:
        if name.startswith("cpu-"):
            for at, record in points.items():
                if record.ok:
                    found.setdefault(at, []).append(record)
    least = {at: min(records, key=Record.typical) for at, records in found.items()}
    return {at: record for at, record in least.items() if record.whole}


def speedups(panel: Panel) -> dict[tuple[str, str], dict[float, float]]:
    """(machine title, gpu implementation) -> axis value -> fastest CPU / gpu, both on that machine."""
    return {name: {at: ratio_value(*pair) for at, pair in found.items()} for name, found in pairs(panel).items()}


def pairs(panel: Panel) -> dict[tuple[str, str], dict[float, tuple[Record, Record]]]:
    """(machine title, gpu implementation) -> axis value -> what its speed-up there is of, the CPU's record first."""
    result = {}
    for line in panel.lines:
        if line.implementation.startswith("gpu"):
            own = [(other.implementation, other.points) for other in panel.lines if other.machine == line.machine]
            slow, fast = fastest_cpu(own), {at: r for at, r in line.points.items() if r.whole}
            found = {at: (slow[at], fast[at]) for at in fast if at in slow}
            if found:
                result[(line.machine.title, line.implementation)] = found
    return result


def baseline(machine: Machine) -> str:
    """What the speed-ups here are over."""
    return f"the fastest CPU implementation of each case ({machine.cpu})"


@dataclass(frozen=True)
class Win:
    """From which value of the axis on the GPU is faster (None: not at the last), and where the two times are equal."""

    start: float | None
    crossing: float | None
    everywhere: bool
    best: float  # largest speed-up
    best_at: float
    last: float  # largest value of the axis


def win(ratios: dict[float, float]) -> Win:
    values = sorted(ratios)
    start = None
    for value in reversed(values):
        if ratios[value] <= 1:
            break
        start = value
    best_at = max(values, key=lambda value: ratios[value])
    best = ratios[best_at]
    if start is None or start == values[0]:
        return Win(start, None, start is not None, best, best_at, values[-1])
    before = values[values.index(start) - 1]
    # The ratio is a straight line between two points of a log-log plot, near enough.
    share = -math.log(ratios[before]) / (math.log(ratios[start]) - math.log(ratios[before]))
    return Win(start, before * (start / before) ** share, False, best, best_at, values[-1])


def where(found: Win) -> str:
    """From where on: "never" is ahead nowhere, "not at" ahead before the last value only."""
    if found.start is None:
        return "never" if found.best <= 1 else f"not at {plain(found.last)}"
    return "everywhere measured" if found.everywhere else f"from {plain(found.start)} on"


def describe(found: Win) -> str:
    near = "" if found.crossing is None else f" (equal near {significant(found.crossing, 2)})"
    return f"{where(found)}{near}; at best {significant(found.best)}× at {plain(found.best_at)}"


def exponent(seconds: dict[float, float]) -> float | None:
    """d log time / d log axis over the last two points: 1 means the time grows in proportion."""
    values = sorted(seconds)
    if len(values) < 2:
        return None
    low, high = values[-2:]
    return math.log(seconds[high] / seconds[low]) / math.log(high / low)


def crossover_table(study: Study, axis: str) -> Table | None:
    """Where each GPU implementation starts to win along `axis`, for every setting of the other axes."""
    found = [(panel, speedups(panel)) for panel in panels(study, axis)]
    names = list(dict.fromkeys(name for _, ratios in found for name in ratios))
    if not names:
        return None
    held = [name for name, _ in found[0][0].held]
    columns = [Column(study.symbol(name), kind="param") for name in held]
    columns += [Column(name, f"{title}, faster than the CPU along {study.symbol(axis)}") for title, name in names]
    title = f"{study.descriptor.title}: from which {study.symbol(axis)} on the GPU wins"
    table = Table(f"{study.slug}-crossover-{axis}", title, columns, [])
    machines = dict.fromkeys(line.machine.name for panel, _ in found for line in panel.lines)
    bases = [f"{m.title}: {baseline(m)}" for m in study.machines if m.name in machines]
    table.notes = [f"Baseline. {'; '.join(bases)}."]
    for panel, ratios in found:
        values = dict(panel.held)
        cells = [Cell(values.get(name, ""), kind="param") for name in held]
        for name in names:
            if name not in ratios:
                cells.append(MISSING)
                continue
            result = win(ratios[name])
            cells.append(Cell(describe(result), f"{len(ratios[name])} points"))
            row = {"experiment": study.name, "axis": axis, **values, "machine": name[0], "implementation": name[1]}
            row |= {"wins_from": result.start, "equal_near": result.crossing}
            row |= {"best": result.best, "best_at": result.best_at}
            table.tidy.append(row)
        table.rows.append(cells)
    return table


def wins_table(study: Study) -> Table | None:
    """From how much work on each GPU implementation wins, over all cases measured on the same machine."""
    labels = ("machine", "implementation", "faster than the CPU in", "smallest case won", "largest case lost")
    columns = [Column(label, kind="text") for label in (*labels, "always wins from", "largest speed-up")]
    table = Table(f"{study.slug}-wins", f"{study.descriptor.title}: from where on the GPU wins", columns, [])
    for machine in study.machines:
        series = study.series(machine)
        slow = fastest_cpu(series.items())
        for name, records in series.items():
            kept = [(key, r) for key, r in records.items() if r.whole and key in slow]
            pairs = [(record, ratio_value(slow[key], record)) for key, record in kept]
            if name.startswith("gpu") and pairs:
                table.rows.append([Cell(text) for text in (machine.title, name, *_wins(pairs))])
    bases = [f"{m.title}: {baseline(m)}" for m in study.machines if any(r[0].text == m.title for r in table.rows)]
    table.notes = [f"Sizes are evaluations (ratings or moves). Baseline. {'; '.join(bases)}."]
    return table if table.rows else None


def _wins(pairs: list[tuple[Record, float]]) -> list[str]:
    work = [(int(record.data.get("evaluations") or 0), ratio) for record, ratio in pairs]
    won = [amount for amount, ratio in work if ratio > 1]
    lost = [amount for amount, ratio in work if ratio <= 1]
    always = [amount for amount in won if not lost or amount > max(lost)]
    texts = [f"{len(won)} of {len(work)} cases"]
    texts += [with_unit(f(amounts), "") if amounts else "—" for f, amounts in ((min, won), (max, lost), (min, always))]
    return [*texts, f"{significant(max(ratio for _, ratio in work))}×"]


def growth_sentences(study: Study, axis: str) -> list[str]:
    """How time grows at the upper end of the axis, for the largest setting of the others."""
    found = panels(study, axis)
    if not found:
        return []
    panel, parts = found[-1], []
    for line in panel.lines:
        slope = exponent(line.seconds())
        if slope is not None:
            parts.append(f"{line.implementation} {slope:.2f}")
    symbol = study.symbol(axis)
    return [
        f"At {panel.title}, between the two largest {symbol}, time grows as {symbol} to the power: {', '.join(parts)}."
    ]
