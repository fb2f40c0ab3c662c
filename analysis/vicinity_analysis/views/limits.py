"""Time over the speed of light: the least time the machine's measured ceilings allow for the work a case needs."""

from dataclasses import dataclass

import numpy as np

from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.tables import measured, param_columns, params, provenance, rows_of, tidy, unit_of

BEYOND = "Above 100 %: the stated work is more than this implementation does, and so is no limit for it."
CORE = {"cpu_integer": "cpu_integer_core"}  # what a single-core implementation is held against
OF_CORES = ("cpu_integer", "cpu_copy_bandwidth")  # of all cores that the machine had when they were measured
BARRIERS = ("block_barrier", "cluster_barrier", "grid_barrier")  # which one a search needs is up to its design
LATENCIES = {"launch", *BARRIERS}
CHAINS = (
    "No percentage stands where every evaluation is a step of its own that the one before decides, and the stated work "
    "counts no latency of a step: a throughput is no limit for such a chain."
)
MEETING = (
    "No percentage stands where a barrier takes the longest of what the work counts: another design may do with fewer, "
    "or with a cheaper one."
)
OTHER_CORES = (
    "No percentage stands where a CPU implementation ran on another number of cores than the machine has, and the "
    "ceiling does not say of how many it is."
)


@dataclass(frozen=True)
class Floor:
    """seconds = work / ceiling of the ceiling that binds."""

    seconds: float
    ceiling: str


def floor(record: Record, machine: Machine) -> Floor | None:
    """The largest work / ceiling; None when the record names no work, the ceiling was not measured, or a barrier is
    what binds: another design may do with a cheaper one."""
    found = None if without_latency(record) else binding(record, machine)
    return found if found and found.ceiling not in BARRIERS else None


def ceiling(record: Record, machine: Machine, name: str) -> float | None:
    """What the cores that a record ran on can do. A ceiling of all cores is of as many `threads` as it says; integer
    throughput is in proportion to them, bandwidth is not. One that does not say holds for as many as the machine has
    alone: hosts of one name differ, and `cpu` is of the last one."""
    value, ran = machine.ceiling(name), record.threads
    if value is None or name not in OF_CORES or ran is None:
        return value
    told = machine.environment["ceilings"][name].get("threads")
    measured_on = told or (machine.environment.get("cpu") or {}).get("threads") or ran
    if ran == measured_on:
        return value
    return value * ran / told if told and name in CORE else None


def on_other_cores(record: Record, machine: Machine) -> bool:
    """Does the record's work meet a ceiling that is not known for the cores it ran on?"""
    work = record.data.get("work") or {}
    return record.ok and any(machine.ceiling(name) and ceiling(record, machine, name) is None for name in work)


def binding(record: Record, machine: Machine) -> Floor | None:
    """The largest work / ceiling of all that the record counts, a limit or not."""
    floors = []
    for name, amount in (record.data.get("work") or {}).items():
        if record.one_core and CORE.get(name) in (machine.environment.get("ceilings") or {}):
            name = CORE[name]
        rate = ceiling(record, machine, name)
        if rate:
            # Ceilings that are latencies (launch, barriers) count seconds an event, the others events a second.
            latency = machine.environment["ceilings"][name].get("unit") == "s"
            floors.append(Floor(float(amount) * rate if latency else float(amount) / rate, name))
    return max(floors, key=lambda found: (found.seconds, found.ceiling)) if floors else None


def bound_by_barrier(record: Record, machine: Machine) -> bool:
    found = binding(record, machine) if record.ok else None
    return found is not None and found.ceiling in BARRIERS


def without_latency(record: Record) -> bool:
    """Is this a chain of single evaluations whose work counts operations alone?"""
    steps, work = record.data.get("iterations") or 0, record.data.get("work") or {}
    return bool(work) and steps > 1 and record.data.get("evaluations") == steps and not LATENCIES & work.keys()


def percent(record: Record, machine: Machine) -> float | None:
    """100 * floor / median time."""
    found = floor(record, machine) if record.ok else None
    return 100 * found.seconds / record.typical(statistic="median") if found else None


def percentage(value: float) -> str:
    """Two digits; what is next to nothing is not spelled out."""
    return significant(value, 2) if value >= 0.01 else "<0.01"


def limits_table(study: Study) -> Table | None:
    """Percentage of the speed of light, by case, machine and implementation; none for distributions of objectives."""
    if len(study.descriptor.seeds) > 1 and not study.published:
        return None
    keys = {key for _, key in rows_of(study)}  # a smoke run measures cases that no printed table has
    chosen = [
        (machine, name, series)
        for machine, name, series in measured(study)
        if any(percent(record, machine) is not None for key, record in series.items() if key in keys)
    ]
    if not chosen:
        return None
    unit = unit_of(study)
    columns = param_columns(study) + [Column(name, f"{machine.title}, % of limit") for machine, name, _ in chosen]
    table = Table(f"{study.slug}-limits", f"{study.descriptor.title}: percentage of the speed of light", columns, [])
    for row, key in rows_of(study):
        cells = params(study, key)
        for machine, name, series in chosen:
            record = series.get(key)
            found, reached = (floor(record, machine), percent(record, machine)) if record else (None, None)
            if record is None or found is None or reached is None:
                cells.append(Cell("", "no value"))
                continue
            least = found.seconds / UNITS[unit]
            title = f"limit {significant(least)} {unit} by {found.ceiling}; {provenance(record)}"
            cells.append(Cell(percentage(reached), title, marks=record.marks))
            values = {"machine": machine.name, "implementation": name, "limit": least, "unit": unit}
            values |= {"ceiling": found.ceiling, "percent": reached, "marks": " ".join(record.marks)}
            values |= {"record": record.source}
            table.tidy.append(tidy(study, row, key, **values))
        table.rows.append(cells)
    return table


def summary_table(studies: list[Study]) -> Table | None:
    """One line an experiment, machine and implementation: which ceiling binds and how much of it is reached."""
    columns = [Column(text, kind="text") for text in ("experiment", "machine", "implementation", "binding limit")]
    columns += [Column(label, "% of the limit") for label in ("least", "median", "most")] + [Column("cases")]
    table = Table("limits", "Speed of light: percentage of the limit reached", columns, [])
    chains = meeting = cores = False
    for study in studies:
        for machine, name, _ in measured(study):
            runs = [r for records in study.runs[machine.name][name].values() for r in records]
            chains = chains or any(without_latency(r) for r in runs)
            meeting = meeting or any(bound_by_barrier(r, machine) for r in runs)
            cores = cores or any(on_other_cores(r, machine) for r in runs)
            found = [(floor(r, machine), percent(r, machine)) for r in runs]
            values = [value for _, value in found if value is not None]
            if not values:
                continue
            names = sorted({limit.ceiling for limit, value in found if limit and value is not None})
            texts = [percentage(float(f(values))) for f in (np.min, np.median, np.max)]
            head = [Cell(study.name), Cell(machine.title), Cell(name), Cell(", ".join(names))]
            table.rows.append([*head, *map(Cell, texts), Cell(str(len(values)))])
            if max(values) > 100:
                table.notes = [BEYOND]
    table.notes += [CHAINS] * chains + [MEETING] * meeting + [OTHER_CORES] * cores
    return table if table.rows else None
