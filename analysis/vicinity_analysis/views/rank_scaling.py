"""Experiments over ranks: the speed-up over one rank. A network beside it is a model."""

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Machine, Record, over_processes
from vicinity_analysis.study import OVER_RANKS, Study, without
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.charts import told
from vicinity_analysis.views.figures import Drawing, handle, legend, log_axis, panels, points, render, style_of
from vicinity_analysis.views.tables import (
    MISSING,
    by_interest,
    param_columns,
    params,
    provenance,
    rows_of,
    state_cell,
    tidy,
    unit_of,
    value_cell,
)

HOSTS = (1, 2, 4, 8, 16, 32, 64)
GREY = "#7d7d7d"
RATIOS = ("over one rank", "efficiency, %", "communication, %")


@dataclass(frozen=True)
class NetworkModel:
    """Hosts with a rank each, modelled: of implementations whose ranks meet in each iteration."""

    implementations: tuple[str, ...]
    meeting: Callable[[int], float]  # seconds that so many hosts take
    told: str  # of an iteration, for the caption


@dataclass(frozen=True)
class Line:
    """One implementation on one machine at any number of ranks, the rest of the case held."""

    machine: Machine
    implementation: str
    held: tuple[tuple[str, str], ...]
    points: dict[int, Record]  # ranks -> record
    network: NetworkModel | None = None

    @property
    def size(self) -> str:
        """What tells panels apart: all but the threads."""
        return ", ".join(f"{axis} = {value}" for axis, value in self.held if axis != "threads")

    @property
    def label(self) -> str:
        threads = dict(self.held).get("threads")
        return self.implementation + (f", {threads} thread{'' if threads == '1' else 's'}" if threads else "")

    @property
    def with_gpus(self) -> bool:
        """Has each rank a GPU of its own?"""
        policies = [record.data.get("policy") or {} for record in self.points.values() if record.ok]
        return bool(policies) and all(policy.get("devices", 0) == policy.get("ranks") for policy in policies)

    def speedups(self) -> dict[int, float]:
        """Over one rank, of those that the same sources made."""
        one = self.points.get(1)
        if one is None or not one.ok:
            return {}
        same = {ranks: record for ranks, record in self.points.items() if record.ok and record.made_by == one.made_by}
        return {ranks: one.typical() / record.typical() for ranks, record in same.items()}

    def modelled(self) -> dict[int, float]:
        """Speed-up over hosts with one such rank each: what one rank computes, divided, and a meeting an iteration."""
        one, network = self.points.get(1), self.network
        if network is None or self.implementation not in network.implementations:
            return {}
        if one is None or not one.ok or "kernel" not in one.parts:
            return {}
        alone, iterations = float(one.counted("kernel").mean()), one.data["iterations"]
        return {hosts: alone / (alone / hosts + iterations * network.meeting(hosts)) for hosts in HOSTS}


def communication(record: Record) -> float | None:
    """The share of the measured time that ranks spend in messages, waiting for others included."""
    if not record.ok or "communication" not in record.parts:
        return None
    parts = {part: float(record.counted(part).mean()) for part in ("kernel", "communication")}
    whole = sum(parts.values())
    return parts["communication"] / whole if whole > 0 else None


def lines(study: Study, network: NetworkModel | None = None) -> list[Line]:
    """Of the first machine that has any."""
    for machine in study.machines:
        runs = {name: of for name, of in study.series(machine).items() if name.startswith(OVER_RANKS)}
        cases = [record.case for of in runs.values() for record in of.values()]
        values = {axis: {str(case.get(axis)) for case in cases} for case in cases for axis in case}
        varying = sorted(axis for axis in values if len(values[axis]) > 1 and axis not in ("ranks", "iterations"))
        found: dict[tuple[str, tuple[tuple[str, str], ...]], dict[int, Record]] = {}
        for name, of in runs.items():
            for record in of.values():
                held = tuple((axis, str(record.case.get(axis))) for axis in varying)
                found.setdefault((name, held), {})[record.case["ranks"]] = record
        several = [Line(machine, *key, dict(sorted(of.items())), network) for key, of in found.items() if len(of) > 1]
        if any(line.speedups() for line in several):
            return several
    return []


def scaling_table(study: Study) -> Table | None:
    """Each case that ranks measured: time, speed-up over one rank, efficiency, and the share of communication; beside
    the first of a size the implementations that no ranks share, once."""
    found = lines(study)
    if not found:
        return None
    machine = found[0].machine
    names = list(dict.fromkeys(line.implementation for line in found))
    series = study.series(machine)
    alone = [name for name in by_interest(series) if not name.startswith(OVER_RANKS)]
    columns, unit = param_columns(study), unit_of(study)
    for name in names:
        columns += [Column(what, f"{machine.title}, {name}") for what in (unit, *RATIOS)]
    columns += [Column(f"{name}, {unit}", f"{machine.title}, without ranks") for name in alone]
    table = Table(f"{study.slug}-over-ranks", f"{study.descriptor.title}: speed-up over one rank", columns, [])
    placed, lacking = set(), {}
    for row, key in rows_of(study):
        records = [series.get(name, {}).get(key) for name in names]
        if not any(record and record.ok for record in records):
            lacking |= {record.data.get("message", ""): None for record in records if record}
            continue
        cells = params(study, key)
        for name, record in zip(names, records, strict=True):
            values = {"machine": machine.name, "implementation": name}
            cells += _of_ranks(study, found, record, unit)
            if record and record.ok:
                values |= _numbers(found, record) | {"seconds": record.typical(), "marks": " ".join(record.marks)}
                table.tidy.append(tidy(study, row, key, **values, record=record.source))
        size = without(key, "ranks")
        for name in alone:
            runs = [record for at, record in series[name].items() if without(at, "ranks") == size]
            if size in placed or not runs:
                cells.append(Cell("", "as above: no ranks share it" if runs else "not measured"))
                continue
            one = over_processes(list({run.source: run for run in runs}.values()))  # one stands beside many ranks
            cells.append(value_cell(one, lambda record: significant(record.typical() / UNITS[unit])))
            if one.ok:
                values = {"machine": machine.name, "implementation": name, "seconds": one.typical()}
                values |= {"marks": " ".join(one.marks)}
                table.tidy.append(tidy(study, row, size, **values, record=one.source))
        placed.add(size)
        table.rows.append(cells)
    table.notes = [
        "Over one rank: the time of one rank with as many threads, by the time of the row; efficiency: of as many "
        "times as there are ranks. Communication: what ranks wait for each other and for messages, as rank 0 sees it, "
        "of computing and communication together."
    ]
    if alone:
        table.notes.append("Without ranks: the samples taken beside every number of ranks, together.")
    table.notes += [f"Left out: {message}." for message in lacking if message]
    return table


def _numbers(found: list[Line], record: Record) -> dict[str, float | None]:
    line = next((line for line in found if record in line.points.values()), None)
    ranks = record.case["ranks"]
    speedup = line.speedups().get(ranks) if line else None
    efficiency = speedup / ranks if speedup is not None else None
    return {"speedup": speedup, "efficiency": efficiency, "communication": communication(record)}


def _of_ranks(study: Study, found: list[Line], record: Record | None, unit: str) -> list[Cell]:
    if record is None or not record.ok:
        return [MISSING if record is None else state_cell(record)] * (1 + len(RATIOS))
    speedup, efficiency, share = _numbers(found, record).values()
    source, marks = provenance(record), record.marks
    times = Cell(significant(speedup), source, marks=marks) if speedup is not None else MISSING
    shares = [
        Cell(f"{100 * part:.1f}" if part is not None else "—", source, marks=marks) for part in (efficiency, share)
    ]
    return [Cell(significant(record.typical() / UNITS[unit]), source, marks=marks), times, *shares]


def scaling_figure(study: Study, network: NetworkModel | None = None) -> Drawing | None:
    """Speed-up over one rank along the ranks of a host; dotted a model of hosts with a rank each."""
    found = lines(study, network)
    if not found:
        return None
    sizes = list(dict.fromkeys(line.size for line in found))
    modelled = any(line.modelled() for line in found)
    caption = (
        f"Ranks of one host, {found[0].machine.title}, over one rank with as many threads. Grey: as many times as fast "
        "as there are ranks. Hollow: extrapolated. Both axes logarithmic."
    )
    gpus = all(line.with_gpus for line in found)
    caption += " Each rank has a GPU of its own." if gpus else ""
    if network and modelled:
        caption += (
            " Dotted, a model and not measured: hosts with one such rank each, of which each has its part of what one "
            f"rank computes, and for each iteration {network.told}."
        )

    def draw() -> Figure:
        figure, axes = panels(len(sizes), 3.0)
        labels = [line.label for line in found]
        handles: dict[str, Line2D] = {}
        for size, plot in zip(sizes, axes, strict=True):
            plot.set_title(size)
            own = [line for line in found if line.size == size]
            most = max((ranks for line in own for ranks in (*line.points, *line.modelled())), default=1)
            told(plot.plot([1, most], [1, most], color=GREY, linewidth=0.8), "as many times as fast")
            for line in own:
                colour, marker = style_of(study, line.label, labels)
                speedups, where = line.speedups(), (line.label, line.machine.title)
                told(plot.plot(list(speedups), list(speedups.values()), color=colour, linewidth=1.2), *where)
                points(
                    plot, [(ranks, y, line.points[ranks]) for ranks, y in speedups.items()], (colour, marker), *where
                )
                handles.setdefault(line.label, handle(colour, marker, line.label, line="-"))
                if model := line.modelled():
                    drawn = plot.plot(list(model), list(model.values()), ":", color=colour, linewidth=1.0)
                    told(drawn, f"{line.label}, model", line.machine.title)
            log_axis(
                plot, "x", "ranks, a GPU each" if gpus else "ranks", [float(hosts) for hosts in HOSTS if hosts <= most]
            )
            log_axis(plot, "y", "speed-up over one rank" if plot is axes[0] else "")
        if modelled:
            label = "hosts with a rank each, model"
            handles[label] = Line2D([], [], color=GREY, linestyle=":", label=label)
        legend(figure, list(handles.values()))
        return figure

    return render(f"{study.slug}-over-ranks", f"{study.descriptor.title}: speed-up over one rank", caption, draw)
