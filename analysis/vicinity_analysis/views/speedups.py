"""Implementations against each other, each pair on one machine; the paper's own speed-ups beside them."""

from typing import Any

from vicinity_analysis.inputs.published import Published
from vicinity_analysis.inputs.records import Machine, Record, ratio
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table
from vicinity_analysis.views.tables import (
    MISSING,
    baseline_name,
    device_label,
    param_columns,
    params,
    provenance,
    ratio_cell,
    rows_of,
    state_cell,
    summary_rows,
    tidy,
    tidy_ratio,
)


def speedup_pairs(study: Study, machine: Machine) -> list[tuple[str, str]]:
    """(faster, baseline): everything on the GPU over all cores, all cores over one core. Where the paper prints
    speed-ups, which are over one core, everything on the GPU over one core comes first."""
    names = list(study.series(machine))
    gpus = [name for name in names if name.startswith("gpu")]
    pairs = [(name, "cpu-serial") for name in gpus if "cpu-serial" in names] if "speedup" in study.others else []
    pairs += [(name, "cpu-openmp") for name in gpus if "cpu-openmp" in names]
    if "cpu-serial" in names and "cpu-openmp" in names:
        pairs.append(("cpu-openmp", "cpu-serial"))
    return pairs


def speedup_table(study: Study) -> Table | None:
    chosen = [(machine, *pair) for machine in study.machines for pair in speedup_pairs(study, machine)]
    if not chosen:
        return None
    printed = study.others.get("speedup")
    devices = printed.columns if printed else []
    columns = param_columns(study) + [Column(device_label(c, devices), "published, over one core") for c in devices]
    columns += [Column(f"{name} over {base}", m.title) for m, name, base in chosen]
    table = Table(f"{study.slug}-speedups", f"{study.descriptor.title}: speed-ups on one machine", columns, [])
    baselines = {(m.title, base): baseline_name(m, base, study.series(m)[base].values()) for m, _, base in chosen}
    named = "; ".join(f"{title}: {name}" for (title, _), name in baselines.items())
    table.notes = [f"Baselines. {named}. Compiler and flags: environment section."]
    table.notes += _printed_baselines(printed) if printed else []
    collected: list[list[float]] = [[] for _ in (*devices, *chosen)]
    for row, key in rows_of(study):
        cells = params(study, key)
        for index, device in enumerate(devices):
            observation = printed.cells.get((row, device)) if printed else None
            if observation is None:
                cells.append(Cell("", "not in the paper", kind="published"))
                continue
            cells.append(Cell(f"{observation.text}×", f"{observation.source} {observation.notes}", kind="published"))
            collected[index].append(observation.value)
        for index, (machine, name, base) in enumerate(chosen, start=len(devices)):
            fast, slow = study.series(machine)[name].get(key), study.series(machine)[base].get(key)
            over = baseline_name(machine, base, [slow] if slow else [])
            values = {"machine": machine.name, "implementation": name, "baseline": over}
            value = add_speedup(cells, table, tidy(study, row, key, **values), fast, slow)
            collected[index] += [value] if value is not None else []
        table.rows.append(cells)
    table.footer = summary_rows(len(param_columns(study)), collected)
    return table


def add_speedup(
    cells: list[Cell], table: Table, row: dict[str, Any], fast: Record | None, slow: Record | None
) -> float | None:
    """One cell more, t(slow) / t(fast), and `row` with its records in the tidy table; None without a value."""
    if fast is None or slow is None:
        cells.append(MISSING)
        return None
    if not (fast.ok and slow.ok):
        cells.append(state_cell(slow if fast.ok else fast))
        return None
    found = ratio(slow, fast)
    marks = tuple(dict.fromkeys(fast.marks + slow.marks))
    cells.append(ratio_cell(found, f"{provenance(slow)} ÷ {provenance(fast)}", marks))
    table.tidy.append(row | tidy_ratio(found) | {"numerator": slow.source, "denominator": fast.source})
    return found.value


def _printed_baselines(printed: Published) -> list[str]:
    """Over which CPU each device's printed speed-ups are."""
    bases = dict.fromkeys((o.device, o.params.get("cpu_baseline", "a CPU")) for o in printed.observations)
    return ["Published: " + "; ".join(f"{device} over one core of a {cpu}" for device, cpu in bases) + "."]
