"""The tables of a report: a paper's rows with measured values beside them, ratios to the paper, speed-ups."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vicinity_analysis import stats
from vicinity_analysis.inputs.published import UNITS, Key
from vicinity_analysis.inputs.published import Column as Printed
from vicinity_analysis.inputs.records import Machine, Record, days_apart, of_several_builds, shorten, uses_one_core
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant

MISSING = Cell("—", "not measured", marks=("missing",), kind="state")
TOO_FEW = "few samples"  # the verdict where a side of a ratio has too few for an interval


def rows_of(study: Study) -> list[tuple[str, Key]]:
    """(row name, case) of the printed table, in its order; without one, every measured case."""
    if study.published:
        return list(study.published.rows.items())
    keys = {key for machine in study.records.values() for series in machine.values() for key in series}
    return [("", key) for key in sorted(keys, key=sortable)]


def sortable(key: Key) -> list[tuple[str, float, str]]:
    """Numbers as numbers, names as names, in which tai30a stands before tai100a."""

    def name(value: str) -> str:
        return re.sub(r"\d+", lambda digits: digits.group().zfill(9), value)

    return [(axis, float(value) if value.replace(".", "", 1).isdigit() else 0.0, name(value)) for axis, value in key]


def unit_of(study: Study) -> str:
    return study.published.unit if study.published and study.published.unit in UNITS else "ms"


def params(study: Study, key: Key) -> list[Cell]:
    values = dict(key)
    return [Cell(values.get(axis, ""), kind="param") for axis in axes_of(study)]


def axes_of(study: Study) -> list[str]:
    if study.published:
        return list(study.published.descriptor.mapping.values())
    found = {axis for _, key in rows_of(study) for axis, _ in key}
    return [axis for axis in study.descriptor.axes if axis in found] + sorted(found - set(study.descriptor.axes))


def param_columns(study: Study) -> list[Column]:
    return [Column(study.symbol(axis), kind="param") for axis in axes_of(study)]


def provenance(record: Record) -> str:
    """What the pointer shows over a number."""
    text = f"{record.source} ({record.profile}"
    if record.ok:
        text += f", {len(record.times())} samples" + (f" of {n} seeds" if (n := len(record.data["seeds"])) > 1 else "")
        text += f" in {n} processes" if (n := len(set(record.processes))) > 1 else ""
        left_out = "" if record.rests_on_contended else " and left out"
        text += f", {n} of them contended{left_out}" if (n := int(record.contended.sum())) else ""
    message = record.data.get("message")
    return text + ")" + (f": {message}" if message else "")


def marks_of(records: Iterable[Record]) -> tuple[str, ...]:
    """Of all of them, runs of one implementation, each once."""
    found = list(records)
    marks = dict.fromkeys(mark for record in found for mark in record.marks)
    return (*marks, *(["mixed"] if of_several_builds(found) and "mixed" not in marks else []))


def marks_of_results(records: Iterable[Record]) -> tuple[str, ...]:
    """Of what they found, where no clock ended the search: who had the processor, and its clock, change nothing."""
    return tuple(mark for mark in marks_of(records) if mark not in ("contended", "throttled"))


def provenances(records: Iterable[Record]) -> str:
    """Of the several records that a number rests on: the lines of each file once."""
    found = list(records)
    if len(found) == 1:
        return provenance(found[0])
    told = sorted({record.profile for record in found})
    samples = sum(len(record.times()) for record in found if record.ok)
    return f"{shorten(r.source for r in found)} ({', '.join(told)}, {samples} samples)" if found else ""


def quotient(slow: Record, fast: Record) -> str:
    """Where the two records of a ratio stand; a file that has both is named once."""
    files = [record.source.rpartition(":") for record in (slow, fast)]
    same = files[0][0] == files[1][0] and " " not in slow.source + fast.source
    return f"{slow.source} ÷ {'line ' + files[1][2] if same else fast.source}"


def state_cell(record: Record) -> Cell:
    status = record.data["status"]
    text = "INVALID" if status == "invalid" else status
    return Cell(text, provenance(record), marks=(status,), kind="state")


def absent(study: Study, implementation: str, key: Key) -> Cell:
    """For want of a record: with the descriptor's reason, where it has one."""
    reason = study.reason(implementation, key)
    return replace(MISSING, title=f"not run: {reason}") if reason else MISSING


def value_cell(record: Record | None, text: Callable[[Record], str]) -> Cell:
    """What stands for a record: its value, its state, or that there is none."""
    if record is None:
        return MISSING
    return Cell(text(record), provenance(record), marks=record.marks) if record.ok else state_cell(record)


def measured(study: Study) -> list[tuple[Machine, str, dict[Key, Record]]]:
    """The report's own machine first; ours before the papers', the GPU before the CPU."""
    return [
        (machine, name, study.series(machine)[name])
        for machine in study.machines
        for name in by_interest(study.series(machine))
    ]


def by_interest(names: Iterable[str]) -> list[str]:
    """gpu-tuned, gpu and its variants, cpu-openmp, others; else in the order given."""
    first = ("gpu-tuned", "gpu", "cpu-openmp")

    def rank(name: str) -> tuple[int, int]:
        return (name.startswith("cpu-"), first.index(name) if name in first else len(first))

    return sorted(names, key=rank)


def tidy(study: Study, row: str, key: Key, **values: object) -> dict[str, Any]:
    return {"experiment": study.name, "row": row, **dict(key), **values}


def times_table(study: Study, part: str | None = None) -> Table:
    """Printed values of each device, then measured values by machine and implementation, all in the paper's unit;
    several seeds together. `part`: another time than the protocol's, e.g. "total"."""
    unit, printed = unit_of(study), study.published.columns if study.published else []
    best = {fastest(study, [c for c in printed if c.kind == kind]) for kind in ("gpu", "cpu")}
    columns = param_columns(study)
    columns += [Column(device_label(c, printed), f"published, {unit}", main=c in best) for c in printed]
    columns += [Column(name, f"{machine.title}, {unit}") for machine, name, _ in measured(study)]
    name, what = ("times", "") if part is None else (f"times-{part}", f", {part_name(study, part)}")
    title = f"{study.descriptor.title}: times in {unit}{what}"
    table = Table(
        f"{study.slug}-{name}",
        title,
        columns,
        [],
        notes=[] if part else gaps(study) + borrowed(study) + reasons([study]),
    )
    chosen = measured(study)
    held = [counterpart(study, next(iter(series.values()))) if series else None for _, _, series in chosen]
    why: dict[str, int] = {}
    for row, key in rows_of(study):
        cells = params(study, key)
        for column in printed:
            observation = study.published.cells.get((row, column)) if study.published else None
            if observation is None:
                cells.append(Cell("", "not in the paper", kind="published"))
                continue
            spread = f", ±{observation.spread}" if observation.spread else ""
            title = f"{observation.source}{spread} {observation.notes}".strip()
            cells.append(Cell(observation.text, title, kind="published"))
            source = {"origin": "published", "machine": column.device, "implementation": column.implementation}
            table.tidy.append(tidy(study, row, key, **source, value=observation.value / UNITS[unit], unit=unit))
            table.tidy[-1] |= {"record": observation.source}
        for (machine, name, series), against in zip(chosen, held, strict=True):
            record = series.get(key)
            cells.append(_time_cell(record, unit, part) if record else absent(study, name, key))
            if record and not part:
                faster = _times_faster(study, row, against, record)
                unlike = study.why_unlike(machine, name, key) if faster else ""
                cells[-1] = replace(cells[-1], beside=faster + (" other work" if unlike else ""))
                why[unlike] = why.get(unlike, 0) + 1
            if record:
                table.tidy.append(tidy(study, row, key, **_tidy_time(machine, name, record, unit, part)))
        table.rows.append(cells)
    table.notes += [f"Other work: {reason}." for reason in why if reason]
    return table


def _times_faster(study: Study, row: str, against: Printed | None, record: Record) -> str:
    """Than the printed column that the value is held against."""
    observation = study.published.cells.get((row, against)) if study.published and against else None
    if observation is None or not record.ok:
        return ""
    return ratio_cell(record.estimate().inverse_of(observation.value), "", ()).text


def device_label(column: Printed, columns: Iterable[Printed]) -> str:
    several = sum(other.device == column.device for other in columns) > 1
    return f"{column.device} {column.implementation}" if several else column.device


def short(device: str) -> str:
    """GTX 1080 Ti, i9 7940X: enough where the full name stands elsewhere."""
    for brand in ("GeForce ", "NVIDIA ", "AMD ", "Intel "):
        device = device.removeprefix(brand)
    return re.sub(r" \(\d+ cores\)", "", re.sub(r"^Core (?=i\d)", "", device))


def part_name(study: Study, part: str) -> str:
    """total -> clone + kernel."""
    records = [record for _, _, series in measured(study) for record in series.values() if record.ok]
    parts = sorted({name for record in records for name in record.parts})
    return " + ".join(parts) if part == "total" else part


def has_parts(study: Study) -> bool:
    return any(len(record.parts) > 1 for _, _, series in measured(study) for record in series.values() if record.ok)


def _time_cell(record: Record, unit: str, part: str | None) -> Cell:
    if not record.ok:
        return state_cell(record)
    found = record.estimate(part).scaled(1 / UNITS[unit])
    interval = f", 95% interval {significant(found.low, 4)} to {significant(found.high, 4)} {unit}"
    title = provenance(record) + (interval if found.interval else "")
    return Cell(significant(found.value), title, marks=record.marks)


def _tidy_time(machine: Machine, name: str, record: Record, unit: str, part: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {"origin": "measured", "machine": machine.name, "implementation": name}
    if record.ok:
        found = record.estimate(part).scaled(1 / UNITS[unit])
        values |= {"value": found.value, "unit": unit, **bounds(found), "samples": found.samples}
        values |= {"statistic": record.protocol.get("statistic", "median"), "time": part or record.protocol.get("time")}
    marks = " ".join(record.marks)
    return values | {"profile": record.profile, "marks": marks, "record": record.source}


def left_out(study: Study) -> list[str]:
    """One line a reason of the descriptor, where a printed row lacks a value for it; without a printed table, every
    reason: what was not run has no row there."""
    lines = []
    rows = [key for _, key in rows_of(study)]
    for entry in study.descriptor.left_out:
        names = entry.implementations or study.descriptor.implementations
        lacking = any(
            entry.covers(name, key) and key not in study.series(machine).get(name, {})
            for machine in study.machines
            for name in names
            for key in rows
        )
        if lacking or not study.published:
            case = [f"{study.symbol(axis)} = {_listed(values)}" for axis, values in entry.where.items()]
            what = ", ".join([*case, *([_listed(entry.implementations)] if entry.implementations else [])])
            lines.append(f"{what}: not run: {entry.reason}.")
    return lines


def _listed(values: Sequence[str]) -> str:
    return " or ".join([", ".join(values[:-1]), values[-1]]) if len(values) > 1 else values[0]


def gaps(study: Study) -> list[str]:
    """One line a machine on what has no record, and how to get it; none of another machine that has nothing at all."""
    notes = []
    for machine in study.machines:
        names = study.missing(machine)
        if machine is not study.machines[0] and not study.series(machine):
            continue
        if not machine.environment.get("gpu"):
            absent = [name for name in names if name.startswith("gpu")]
            names = [name for name in names if name not in absent]
            if absent:
                notes.append(f"{machine.title} has no GPU: no rows for {', '.join(absent)}.")
        if names:
            chosen = [] if len(names) == len(study.descriptor.implementations) else names
            notes.append(f"Not measured on {machine.title}: {', '.join(names)}. To measure: {study.command(chosen)}")
    return notes


def borrowed(study: Study) -> list[str]:
    """One line a machine and experiment whose records stand in this table, with how many rows of each
    implementation."""
    lines = []
    for machine in study.machines:
        found: dict[str, Counter[str]] = {}
        for name, series in study.series(machine).items():
            for record in (series[key] for _, key in rows_of(study) if key in series and series[key].ok):
                if record.experiment != study.name:
                    found.setdefault(record.experiment, Counter())[name] += 1
        for other, names in found.items():
            told = ", ".join(f"{name} ({count})" for name, count in names.items())
            lines.append(
                f"From {other}, where its own are missing, contended or scaled, {machine.title}, by rows: {told}."
            )
    return lines


def reasons(studies: Iterable[Study]) -> list[str]:
    """Why a case has no value: one line a case and message; the implementations where others have one."""
    found: dict[tuple[str, str], list[str]] = {}
    for study in studies:
        for machine in study.machines:
            measured_cases = {key for series in study.series(machine).values() for key, r in series.items() if r.ok}
            for name, series in study.series(machine).items():
                for key, record in series.items():
                    if not record.ok:
                        status = f"{record.data['status']}: {record.data.get('message', '')}".strip(": ")
                        told = found.setdefault((f"{_case_name(study, key, record)} on {machine.title}", status), [])
                        told += [name] if key in measured_cases else []
    lines = []
    for (what, why), names in found.items():
        of = f" ({', '.join(dict.fromkeys(names))})" if names else ""
        lines.append(f"{what}{of}: {why}.")
    return lines


def _case_name(study: Study, key: Key, record: Record) -> str:
    return record.case.get("instance") or ", ".join(f"{study.symbol(axis)} = {value}" for axis, value in key)


def counterpart(study: Study, record: Record) -> Printed | None:
    """The printed column a measured value is held against: the paper's fastest device of the same kind; its own
    version of the implementation where it has one."""
    columns = [column for column in study.published.columns if column.kind == record.backend] if study.published else []
    for name in study.notation.counterparts.get(record.implementation, ()):
        own = [column for column in columns if column.implementation == name]
        if own:
            return fastest(study, own)
    return fastest(study, columns)


def fastest(study: Study, columns: list[Printed]) -> Printed | None:
    """Of the columns that print most rows, the one with the least product of times over the rows all of them print."""
    if not columns or not study.published:
        return None
    cells = study.published.cells
    printed = {column: {row for row in study.published.rows if (row, column) in cells} for column in columns}
    most = max(map(len, printed.values()))
    full = [column for column in columns if len(printed[column]) == most]
    common = set.intersection(*(printed[column] for column in full))
    return min(full, key=lambda column: sum(math.log(cells[row, column].value) for row in common))


def ratio_table(study: Study) -> Table | None:
    """Printed time over measured time: how many times faster than the paper's device. A ratio of two machines."""
    if not study.published:
        return None
    chosen = [(m, n, s, counterpart(study, next(iter(s.values())))) for m, n, s in measured(study) if s]
    chosen = [item for item in chosen if item[3] is not None]
    if not chosen:
        return None
    columns = param_columns(study)
    printed = study.published.columns
    columns += [Column(f"{name} vs {short(device_label(device, printed))}", m.title) for m, name, _, device in chosen]
    table = Table(f"{study.slug}-ratios", f"{study.descriptor.title}: times faster than published", columns, [])
    collected: list[list[float]] = [[] for _ in chosen]
    for row, key in rows_of(study):
        cells = params(study, key)
        for index, (machine, name, series, device) in enumerate(chosen):
            observation, record = study.published.cells.get((row, device)), series.get(key)
            if record is None:
                cells.append(absent(study, name, key))
            elif observation is None:
                cells.append(MISSING)
            elif not record.ok:
                cells.append(state_cell(record))
            else:
                ratio, unlike = record.estimate().inverse_of(observation.value), study.why_unlike(machine, name, key)
                collected[index] += [ratio.value] if record.whole and not unlike else []
                marks = (*record.marks, "unlike") if unlike else record.marks
                source = f"{observation.source} ÷ {record.source}" + (f"; {unlike}" if unlike else "")
                cells.append(ratio_cell(ratio, source, marks))
                values = {"machine": machine.name, "implementation": name, "against": device.device}
                values |= {"marks": " ".join(marks)}
                sources = {"numerator": observation.source, "denominator": record.source}
                table.tidy.append(tidy(study, row, key, **values, **tidy_ratio(ratio), **sources))
        table.rows.append(cells)
    table.footer = summary_rows(len(param_columns(study)), collected)
    return table


def dates_of(pairs: Mapping[str, Sequence[tuple[Record, Record]]]) -> list[str]:
    """A sentence on the pairs (baseline, measured) that ran more than a day apart, by what is compared."""
    told = []
    for name, records in pairs.items():
        apart = [pair for pair in records if days_apart(*pair)]
        dates = [[record.started[:10] for record in side] for side in zip(*apart, strict=True)]
        if dates:
            base, own = (" to ".join(dict.fromkeys((min(side), max(side)))) for side in dates)
            told.append(f"{name}, {len(apart)} of {len(records)} (baseline {base}, measured {own})")
    why = "Baseline and measured run are more than a day apart, between which a machine may change"
    return [f"{why}: {'; '.join(told)}."] if told else []


SIGNS = {"faster": ("▲ ", "better"), "slower": ("▼ ", "worse"), "no difference": ("≈ ", ""), TOO_FEW: ("", "")}


def ratio_cell(ratio: stats.Estimate, title: str, marks: tuple[str, ...]) -> Cell:
    """▲ 27.3× [27.1, 27.5], with an arrow when the interval excludes 1; 27.3× where a side has one sample."""
    arrow, kind = SIGNS[verdict_of(ratio)]
    interval = f"[{significant(ratio.low)}, {significant(ratio.high)}]" if ratio.interval else ""
    return Cell(f"{arrow}{significant(ratio.value)}×", title, interval, marks, kind)


def verdict_of(ratio: stats.Estimate) -> str:
    if ratio.interval is None:
        return TOO_FEW
    return "faster" if ratio.low > 1 else "slower" if ratio.high < 1 else "no difference"


def bounds(found: stats.Estimate) -> dict[str, float | None]:
    """The interval; one sample has none."""
    low, high = found.interval or (None, None)
    return {"low": low, "high": high}


def tidy_ratio(ratio: stats.Estimate) -> dict[str, Any]:
    return {"ratio": ratio.value, **bounds(ratio), "verdict": verdict_of(ratio)}


def summary_rows(width: int, collected: list[list[float]]) -> list[list[Cell]]:
    """Of ratios of whole runs: no headline rests on a scaled time."""
    rows = []
    for label, function in (("smallest", np.min), ("median", np.median), ("largest", np.max)):
        cells = [Cell(label if index == 0 else "", kind="param") for index in range(width)]
        cells += [Cell(f"{significant(float(function(v)))}×") if v else Cell("") for v in collected]
        rows.append(cells)
    return rows


def threads_of(records: Iterable[Record]) -> list[int]:
    """On how many these ran, ascending, each number once."""
    return sorted({threads for record in records if (threads := record.threads) is not None})


def ends_of(numbers: Sequence[int]) -> str:
    """ "8", or "8 to 16": the least and the most of what ascends."""
    return " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))


def baseline_name(machine: Machine, implementation: str, records: Iterable[Record] = ()) -> str:
    """A speed-up always says over what: implementation, cores (as many as `records` were run on), CPU model."""
    cpu = machine.environment.get("cpu") or {}
    total = cpu.get("cores", "?")
    used = threads_of(records)
    if uses_one_core(implementation):
        cores = "1 core"
    elif used in ([], [total]):
        cores = f"{total} cores"
    else:
        more = isinstance(total, int) and used[-1] > total  # hosts of one name differ; `cpu` is of one of them
        cores = f"{ends_of(used)} cores" if more else f"{ends_of(used)} of {total} cores"
    return f"{implementation} ({cores}, {cpu.get('model', 'unknown CPU')})"
