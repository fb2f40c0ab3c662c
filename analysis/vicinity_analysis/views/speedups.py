"""Implementations against each other, each pair on one machine; the paper's own speed-ups beside them."""

from dataclasses import dataclass
from typing import Any

from vicinity_analysis.inputs.published import Published
from vicinity_analysis.inputs.records import Machine, Record, ratio
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Table, significant, with_unit
from vicinity_analysis.views.cells import Column as Heading
from vicinity_analysis.views.tables import (
    MISSING,
    absent,
    baseline_name,
    by_interest,
    dates_of,
    device_label,
    fastest,
    param_columns,
    params,
    provenance,
    quotient,
    ratio_cell,
    rows_of,
    state_cell,
    summary_rows,
    tidy,
    tidy_ratio,
)

ONE_CORE = "cpu-serial"


def speedup_pairs(study: Study, machine: Machine) -> list[tuple[str, str]]:
    """(faster, baseline): everything on the GPU over all cores, all cores over one core. Where the paper prints
    speed-ups, which are over one core, everything on the GPU over one core comes first."""
    names = by_interest(study.series(machine))
    gpus = [name for name in names if name.startswith("gpu")]
    pairs = [(name, ONE_CORE) for name in gpus if ONE_CORE in names] if "speedup" in study.others else []
    pairs += [(name, "cpu-openmp") for name in gpus if "cpu-openmp" in names]
    if ONE_CORE in names and "cpu-openmp" in names:
        pairs.append(("cpu-openmp", ONE_CORE))
    return pairs


@dataclass(frozen=True)
class PrintedCore:
    """The core that a paper's speed-ups are over, beside its fastest card."""

    cpu: str
    seconds: dict[str, float]  # row -> its time
    sources: dict[str, str]


def printed_core(study: Study) -> PrintedCore | None:
    """Its time as printed, or else the card's time by the card's speed-up; None where the paper names no core."""
    speedups = study.others.get("speedup")
    if speedups is None or study.published is None:
        return None
    card = fastest(study, [column for column in study.published.columns if column.kind == "gpu"])
    bases = {o.params.get("cpu_baseline", "") for o in speedups.observations if card and o.device == card.device}
    if card is None or len(bases) != 1 or "" in bases:
        return None
    core = PrintedCore(bases.pop(), {}, {})
    own = next((c for c in study.published.columns if c.kind == "cpu" and c.device == core.cpu), None)
    for row in study.published.rows:
        time = study.published.cells.get((row, own)) if own else None
        share, over = study.published.cells.get((row, card)), speedups.cells.get((row, card))
        if time:
            core.seconds[row], core.sources[row] = time.value, time.source
        elif share and over:
            core.seconds[row], core.sources[row] = share.value * over.value, f"{share.source} × {over.source}"
    return core if core.seconds else None


def core_cell(core: PrintedCore, row: str, record: Record | None) -> Cell:
    """How many times as long the paper's core took as ours."""
    if record is None or row not in core.seconds:
        return MISSING
    if not record.ok:
        return state_cell(record)
    printed, ratio = core.seconds[row], core.seconds[row] / record.typical()
    source = f"{with_unit(printed, 's')}, {core.sources[row]} ÷ {provenance(record)}"
    return Cell(f"{significant(ratio, 2)}×", source, marks=record.marks)


def speedup_table(study: Study) -> Table | None:
    chosen = [(machine, *pair) for machine in study.machines for pair in speedup_pairs(study, machine)]
    if not chosen:
        return None
    printed = study.others.get("speedup")
    devices = printed.columns if printed else []
    core = printed_core(study)
    cores = [m for m in study.machines if ONE_CORE in study.series(m)] if core else []
    columns = param_columns(study) + [Heading(device_label(c, devices), "published, over one core") for c in devices]
    columns += [Heading("the paper's core / our core", m.title) for m in cores]
    columns += [Heading(f"{name} over {base}", m.title) for m, name, base in chosen]
    table = Table(f"{study.slug}-speedups", f"{study.descriptor.title}: speed-ups on one machine", columns, [])
    baselines = {(m.title, base): baseline_name(m, base, study.series(m)[base].values()) for m, _, base in chosen}
    named = "; ".join(f"{title}: {name}" for (title, _), name in baselines.items())
    table.notes = [f"Baselines. {named}. Compiler and flags: environment section."]
    table.notes += _printed_baselines(printed) if printed else []
    if core and cores:
        table.notes.append(
            f"The paper's core is a {core.cpu}, beside its fastest card; where its time is not printed, it is the "
            "card's by the card's speed-up. Below 1 our core is slower than that one, and every ratio over it flatters "
            "the GPU."
        )
    collected: list[list[float]] = [[] for _ in (*devices, *chosen)]
    pairs: dict[str, list[tuple[Record, Record]]] = {}
    for row, key in rows_of(study):
        cells = params(study, key)
        for index, device in enumerate(devices):
            observation = printed.cells.get((row, device)) if printed else None
            if observation is None:
                cells.append(Cell("", "not in the paper", kind="published"))
                continue
            title = f"{observation.source} {observation.notes}".strip()
            cells.append(Cell(f"{observation.text}×", title, kind="published"))
            collected[index].append(observation.value)
        cells += [core_cell(core, row, study.series(m)[ONE_CORE].get(key)) for m in cores if core]
        for index, (machine, name, base) in enumerate(chosen, start=len(devices)):
            fast, slow = study.series(machine)[name].get(key), study.series(machine)[base].get(key)
            over = baseline_name(machine, base, [slow] if slow else [])
            values = {"machine": machine.name, "implementation": name, "baseline": over}
            value = add_speedup(cells, table, tidy(study, row, key, **values), fast, slow)
            if fast is None or slow is None:
                cells[-1] = absent(study, base if slow is None else name, key)
            elif fast.ok and slow.ok:
                pairs.setdefault(f"{machine.title}: {name} over {base}", []).append((slow, fast))
            collected[index] += [value] if value is not None else []
        table.rows.append(cells)
    table.notes += dates_of(pairs)
    table.footer = summary_rows(len(param_columns(study)), collected)
    for line in table.footer:
        line[len(param_columns(study)) + len(devices) : len(param_columns(study)) + len(devices)] = [Cell("")] * len(
            cores
        )
    return table


def add_speedup(
    cells: list[Cell], table: Table, row: dict[str, Any], fast: Record | None, slow: Record | None
) -> float | None:
    """One cell more, t(slow) / t(fast), and `row` with its records in the tidy table; None without a value of two whole
    runs."""
    if fast is None or slow is None:
        cells.append(MISSING)
        return None
    if not (fast.ok and slow.ok):
        cells.append(state_cell(slow if fast.ok else fast))
        return None
    found = ratio(slow, fast)
    marks = tuple(dict.fromkeys(fast.marks + slow.marks))
    cells.append(ratio_cell(found, quotient(slow, fast), marks))
    told = {"marks": " ".join(marks), "numerator": slow.source, "denominator": fast.source}
    table.tidy.append(row | tidy_ratio(found) | told)
    return found.value if fast.whole and slow.whole else None


def _printed_baselines(printed: Published) -> list[str]:
    """Over which CPU each device's printed speed-ups are."""
    bases = dict.fromkeys((o.device, o.params.get("cpu_baseline", "CPU")) for o in printed.observations)
    return ["Published: " + "; ".join(f"{device} over one core of a {cpu}" for device, cpu in bases) + "."]
