"""Anytime curves: the gap to the best known objective against time, ours and those of other programs (docs/peers.md).

From the traces of runs that a budget in seconds ended. A run's curve is a step function: its best so far. Over seeds
the median and the quartiles; a seed that has no solution yet counts as the worst."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vicinity_analysis.inputs.records import DAY, Machine, Record, shorten
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, plain, significant
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import Drawing, handle, label_outer, legend, log_axis, panels, render, style_of
from vicinity_analysis.views.quality import gap_percent, gap_text
from vicinity_analysis.views.quality_plots import gap_axis
from vicinity_analysis.views.tables import MISSING, marks_of, provenances
from vicinity_analysis.views.usual import View, existing

POINTS = 120  # of a curve
EARLY = 1.1  # times as long as a run took, from which on it was given more time than it had use for
SPREADS = 6  # places of a curve where its quartiles are drawn
PEERS = (("#555555", "s"), ("#999999", "D"), ("#7F3B3B", "^"), ("#3B5B7F", "v"), ("#6B7F3B", "o"))
MIDDLE, QUARTILES = 50, (25, 75)


@dataclass(frozen=True)
class Curve:
    """One implementation, or peer, on one instance."""

    instance: str
    name: str
    maximises: bool
    records: list[Record] = field(default_factory=list)  # one a seed

    @property
    def is_peer(self) -> bool:
        return bool(self.records[0].data.get("peer"))

    @property
    def first(self) -> float:
        """Seconds until any seed has a solution."""
        return min(point.seconds for record in self.records for point in record.trace if point.objective is not None)

    @property
    def end(self) -> float:
        """Seconds that every seed was given. One that ended before had nothing left to do, and keeps what it has."""
        return min(max(record.trace[-1].seconds, record.given_seconds or 0) for record in self.records)

    def gaps(self, seconds: float, best: float) -> np.ndarray:
        """Of all seeds at that time; infinite where there is no solution yet."""
        return np.array([_gap_at(record, seconds, best, self.maximises) for record in self.records])

    def seconds_to(self, objective: float) -> np.ndarray:
        """Of each seed, until it has a solution as good as this; infinite where it never has."""
        return np.array([_seconds_to(record, objective, self.maximises) for record in self.records])

    def percentile(self, seconds: float, best: float, percent: float) -> float:
        """Infinite where so many seeds have no solution."""
        return percentile(self.gaps(seconds, best), percent)


def percentile(values: np.ndarray, percent: float) -> float:
    """The median; others are one of the values, the next above, as some may be infinite."""
    return float(np.median(values) if percent == MIDDLE else np.percentile(values, percent, method="higher"))


def _gap_at(record: Record, seconds: float, best: float, maximises: bool) -> float:
    found = [p.objective for p in record.trace if p.seconds <= seconds and p.objective is not None]
    return gap_percent((max if maximises else min)(found), best, maximises) if found else np.inf


def _seconds_to(record: Record, objective: float, maximises: bool) -> float:
    sign = -1 if maximises else 1
    good = (p.seconds for p in record.trace if p.objective is not None and sign * p.objective <= sign * objective)
    return min(good, default=np.inf)


def curves(studies: Sequence[Study], machine: Machine) -> list[Curve]:
    """In the order of the instances, then of the implementations, peers last."""
    found: dict[tuple[str, str], Curve] = {}
    for record in (record for study in studies for record in study.all_runs(machine)):
        instance = record.case.get("instance")
        if instance and record.whole and any(point.objective is not None for point in record.trace):
            curve = found.setdefault(
                (instance, record.implementation), Curve(instance, record.implementation, record.maximises)
            )
            curve.records.append(record)
    order = list(dict.fromkeys(instance for instance, _ in found))
    return sorted(found.values(), key=lambda curve: (order.index(curve.instance), curve.is_peer))


def best_of(found: Sequence[Curve], instance: str) -> float | None:
    """The best known objective; where none is known, or 0, which nothing can be compared with, nothing."""
    known = [curve.records[0].best_known for curve in found if curve.instance == instance]
    return next((best for best in known if best), None)


def pool_of(study: Study, studies: Sequence[Study]) -> list[Study]:
    """This experiment and those that are drawn with it."""
    by_name = {other.name: other for other in studies}
    return [study, *(by_name[name] for name in study.pool if name in by_name)]


def anytime(study: Study, studies: Sequence[Study]) -> View:
    """Figures and tables of this experiment and its pool, instances in the order of the descriptor."""
    pool = pool_of(study, studies)
    place = {dict(key).get("instance"): i for i, key in enumerate(study.descriptor.cases)}
    machines = [(machine, [c for c in curves(pool, machine) if best_of([c], c.instance)]) for machine in study.machines]
    shown = [(m, sorted(found, key=lambda c: place.get(c.instance, len(place)))) for m, found in machines if found]
    tables = [_table(study, machine, found) for machine, found in shown]
    return View(existing(tables), [], [_figure(study, machine, found) for machine, found in shown])


def _figure(study: Study, machine: Machine, found: list[Curve]) -> Drawing:
    caption = (
        f"Gap to the best known objective against time on {machine.title} ({machine.cpu}), by instance; below and to "
        f"the left is better. {_lines(found)} Time logarithmic; gap linear below 0.1 %, "
        f"logarithmic above.{_threads(found)}{_dates(found)}"
    )
    title = f"{study.descriptor.title}, {machine.title}"
    return render(f"{study.slug}-{machine.name}", title, caption, _panels(study, machine, found))


def _lines(found: Sequence[Curve]) -> str:
    """What is drawn; a legend does not name a program that is alone."""
    names = list(dict.fromkeys(curve.name for curve in found))
    several = any(len(curve.records) > 1 for curve in found)
    told = "Lines: median over the seeds; bars: quartiles." if several else "Lines: one run, of one seed."
    if any(curve.is_peer for curve in found):
        told += " Solid: this project; dashed, hollow: programs of others, with their versions, on the same machine."
    return f"{names[0]} alone. {told}" if len(names) == 1 else told


def _threads(found: Sequence[Curve]) -> str:
    """Of the host, of those that run there; a GPU's policy has threads of a block."""
    hosted = [curve for curve in found if curve.records[0].backend != "gpu"]
    known = {curve.name: (curve.records[0].data.get("policy") or {}).get("threads") for curve in hosted}
    told = ", ".join(f"{name} {count}" for name, count in known.items() if count)
    return f" Threads: {told or 'not recorded'}." if hosted else ""


def _dates(found: Sequence[Curve]) -> str:
    """Of the measurements, ours and theirs, where these lie more than a day apart: a machine may have changed."""
    starts = [[r.started for c in found if c.is_peer is peer for r in c.records if r.started] for peer in (False, True)]
    if not all(starts):
        return ""
    every = [datetime.fromisoformat(start) for start in chain(*starts)]
    if max(every) - min(every) <= DAY:
        return ""
    ours, theirs = (" to ".join(dict.fromkeys((min(own)[:10], max(own)[:10]))) for own in starts)
    return f" Measured: ours {ours}; those of others {theirs}."


def _style(study: Study, curve: Curve, found: Sequence[Curve]) -> tuple[str, str]:
    peers = list(dict.fromkeys(c.name for c in found if c.is_peer))
    if curve.is_peer:
        return PEERS[peers.index(curve.name) % len(PEERS)]
    return style_of(study, curve.name, list(dict.fromkeys(c.name for c in found if not c.is_peer)))


def _panels(study: Study, machine: Machine, found: list[Curve]) -> Callable[[], Figure]:
    instances = list(dict.fromkeys(curve.instance for curve in found))

    def draw() -> Figure:
        figure, axes = panels(len(instances), 2.7)
        largest = 0.0
        for instance, plot in zip(instances, axes, strict=True):
            plot.set_title(instance)
            own = [curve for curve in found if curve.instance == instance]
            best = best_of(own, instance)
            for curve in own:
                largest = max(largest, _line(plot, machine, curve, best, _style(study, curve, found)))
        for plot in axes:
            log_axis(plot, "x", "")
            gap_axis(plot, largest)
        label_outer(axes, "time, s", "gap, %")
        entries = {
            curve.name: handle(*_style(study, curve, found), curve.name, hollow=curve.is_peer, line=_dash(curve))
            for curve in found
        }
        legend(figure, list(entries.values()))
        return figure

    return draw


def _dash(curve: Curve) -> str:
    return "--" if curve.is_peer else "-"


def _line(plot: Axes, machine: Machine, curve: Curve, best: float, style: tuple[str, str]) -> float:
    """Returns the largest gap drawn."""
    colour, marker = style
    times = np.geomspace(max(curve.first, 1e-4), max(curve.end, curve.first, 1e-4), POINTS)
    middle = np.array([curve.percentile(time, best, MIDDLE) for time in times])
    shown = np.isfinite(middle)
    if not shown.any():
        return 0.0
    times, middle = times[shown], middle[shown]
    line = plot.plot(times, middle, _dash(curve), color=colour, linewidth=1.3)
    told(line, curve.name, machine.title)
    face = "none" if curve.is_peer else colour
    places = np.unique(np.linspace(0, len(times) - 1, SPREADS).astype(int))
    points = plot.plot(times[places], middle[places], marker, color=colour, markerfacecolor=face, markersize=4)
    told(points, curve.name, machine.title, [f"median of {len(curve.records)} seeds"] * len(places))
    low, high = (np.array([curve.percentile(times[i], best, q) for i in places]) for q in QUARTILES)
    spread = np.isfinite(high) & (high > low)
    if spread.any():
        bars = plot.vlines(times[places][spread], low[spread], high[spread], color=colour, linewidth=2, alpha=0.4)
        told(bars, curve.name, machine.title)
    return float(middle.max())


def _joules(curve: Curve) -> float | None:
    """Of a run, the median over the seeds; None where no record tells it."""
    told = [record.data for record in curve.records if record.data.get("gpu_joules")]
    found = [data["gpu_joules"] / len(data["samples"]["wall"]) for data in told]
    return float(np.median(found)) if found else None


def table_times(found: Sequence[Curve]) -> list[float]:
    """Powers of ten below the longest time that all were given, and that time."""
    end = max(curve.end for curve in found)
    decades = [10.0**power for power in range(-1, 7) if 10.0**power < 0.95 * end]
    return [*decades, float(f"{end:.2g}")]


def _table(study: Study, machine: Machine, found: list[Curve]) -> Table:
    """Median gaps at some times."""
    times = table_times(found)
    columns = [Column("instance", kind="param"), Column("program", kind="param"), Column("seeds")]
    columns += [Column(f"{plain(time)} s", "median gap, %") for time in times]
    energies = {id(curve): _joules(curve) for curve in found}
    if any(energies.values()):
        columns.append(Column("GPU energy, J"))
    title = f"{study.descriptor.title}: median gaps, {machine.title}"
    table = Table(f"{study.slug}-{machine.name}-medians", title, columns, [])
    for curve in found:
        best = best_of([curve], curve.instance)
        sources = provenances(curve.records)
        medians = [curve.percentile(time, best, MIDDLE) if time <= EARLY * curve.end else np.inf for time in times]
        cells = [Cell(curve.instance, kind="param"), Cell(curve.name, kind="param"), Cell(str(len(curve.records)))]
        marks = marks_of(curve.records)
        cells += [Cell(gap_text(study, gap), sources, marks=marks) if np.isfinite(gap) else MISSING for gap in medians]
        if any(energies.values()):
            joules = energies[id(curve)]
            title = f"{sources}; the board's, of a whole run, which was given {significant(curve.end)} s"
            cells.append(Cell(significant(joules), title, marks=marks) if joules else MISSING)
        table.rows.append(cells)
        for time, gap in zip(times, medians, strict=True):
            row = {"machine": machine.name, "instance": curve.instance, "implementation": curve.name, "seconds": time}
            row |= {"median_gap_percent": gap if np.isfinite(gap) else None, "seeds": len(curve.records)}
            table.tidy.append(row | {"marks": " ".join(marks), "record": shorten(r.source for r in curve.records)})
    table.notes.append("A dash: most seeds had no solution yet, or were not given so long.")
    if any(energies.values()) and len({significant(curve.end) for curve in found}) > 1:
        table.notes.append("Energy is that of a whole run, and programs were given different times.")
    table.notes += [told for curve in found if (told := _ended(curve))]
    return table


def _ended(curve: Curve) -> str:
    """Of runs that took less than they were given: what they had, and the energy they took, is of that time."""
    times = [record.times("wall").max() for record in curve.records]
    if not all((record.given_seconds or 0) > EARLY * time for record, time in zip(curve.records, times, strict=True)):
        return ""
    seconds = " to ".join(dict.fromkeys(significant(time) for time in (min(times), max(times))))
    return (
        f"{curve.instance}, {curve.name}: ended by itself after {seconds} s; later columns and the energy are of that."
    )
