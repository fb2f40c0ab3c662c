"""Tables and sentences of Luong, Melab and Talbi's experiments beyond published beside measured values."""

from itertools import product

from vicinity_analysis.claims import span
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.papers.lsm.searches import (
    ALL_CORES,
    ONE_CORE,
    PARTS,
    PRINTED_PARTS,
    iteration_seconds,
    label,
    shares,
    smallest,
    whole,
)
from vicinity_analysis.study import Study
from vicinity_analysis.views import quality
from vicinity_analysis.views.cells import Cell, Column, Table, significant, with_unit
from vicinity_analysis.views.speedups import add_speedup
from vicinity_analysis.views.tables import (
    MISSING,
    baseline_name,
    device_label,
    gaps,
    measured,
    param_columns,
    params,
    provenance,
    provenances,
    reasons,
    rows_of,
    state_cell,
    tidy,
    value_cell,
)


def round_trips(study: Study) -> list[str]:
    """What an iteration costs where there is least to evaluate: `gpu`, whose host takes part, beside those without."""
    told = []
    for machine in study.machines:
        found = smallest(study, machine, "gpu")
        if found is None:
            continue
        key, record = found
        others = []
        for name in ("gpu-tuned", ONE_CORE, ALL_CORES):
            other = study.series(machine).get(name, {}).get(key)
            seconds = iteration_seconds(other) if other else None
            if seconds is not None:
                who = baseline_name(machine, name, [other]) if name.startswith("cpu-") else name
                others.append(f"{who}: {with_unit(seconds, 's')}")
        moves = record.data["evaluations"] / record.data["iterations"]
        cost = with_unit(iteration_seconds(record) or 0.0, "s")
        told.append(
            f"A round trip to the host, {machine.title}: at {label(key)} ({moves:,.0f} neighbours) an iteration of gpu "
            f"takes {cost}: a launch, the fitnesses back to the host, its choice, and the solution back to the device."
            + (f" Without it: {'; '.join(others)}." if others else "")
        )
    return told


def tenure_note(study: Study) -> list[str]:
    """Rows of tabu search in which nothing is ever free again once it was taken, since its tenure outlasts the
    search."""
    endless: dict[str, int] = {}
    for _, key in rows_of(study):
        records = (series[key] for _, _, series in measured(study) if key in series)
        tenure = next((found for record in records if (found := endless_tenure(record)) is not None), None)
        if tenure is not None:
            endless[label(key)] = tenure
    if not endless:
        return []
    rows = ", ".join(f"{name} ({tenure:,})" for name, tenure in endless.items())
    return [
        f"Tenure: an eighth of the neighbourhood unless given, which is as long as the whole search or longer at "
        f"{rows}. There no move that was taken becomes free again; only aspiration lets it be taken. Usual tenures: "
        "lsm/tenure_tsp."
    ]


def tenure_sentences(study: Study) -> list[str]:
    """Mean length over the seeds of each tenure against that of the default."""
    told = []
    found = [group for group in quality.groups([study]) if group.objectives]
    means = {(g.instance, int(g.value("tenure") or 0)): sum(g.objectives) / len(g.objectives) for g in found}
    for instance in dict.fromkeys(g.instance for g in found):
        mine = {tenure: mean for (name, tenure), mean in means.items() if name == instance}
        default = mine.get(0)
        others = {tenure: mean for tenure, mean in mine.items() if tenure}
        if default and others:
            best = min(others, key=lambda tenure: others[tenure])
            told.append(
                f"{instance}: tenure {best} ends at a mean length of {others[best]:,.0f}, an eighth of the "
                f"neighbourhood at {default:,.0f} ({100 * (others[best] / default - 1):+.1f} %)."
            )
    return told


def endless_tenure(record: Record) -> int | None:
    """The tenure of a tabu search (core/methods/lsm/search.hpp) that is over before a move taken in its first
    iteration is free; None for others."""
    iterations, done = record.case.get("iterations"), record.data.get("iterations")
    if not record.ok or not iterations or not done or record.case.get("method") == "hill":
        return None
    tenure = record.case.get("tenure") or max(1, record.data["evaluations"] // done // 8)
    return tenure if tenure >= iterations - 1 else None


GROUPED = ("dimension", "iterations", "precision")
CACHED = "global memory is read through the same first-level cache as textures since Volta (2017)"
TRIALS = "its trials take some thousand iterations, and the size of a block matters to the kernel's share of one only"


def gain_sentences(study: Study, fast: str, slow: str, why: str) -> list[str]:
    """t(slow) / t(fast) over the rows where both were run whole, and what bears on it."""
    told = []
    for machine in study.machines:
        series = study.series(machine)
        ours, theirs = series.get(fast, {}), series.get(slow, {})
        common = [key for key in ours if key in theirs and whole(ours[key]) and whole(theirs[key])]
        if common:
            ratios = [theirs[key].typical() / ours[key].typical() for key in common]
            told.append(f"{fast} over {slow}, {machine.title}, where all iterations were run: {span(ratios)}; {why}.")
    return told


PLACEMENTS = (
    "Table 1 of the paper assigns structures to memories and has no times: inputs and solution in texture memory "
    "(gpu-texture), fitnesses in global memory. gpu, all in global memory, is what its Tables 2 to 6 compare that "
    "with. gpu-readonly and gpu-shared are placements of ours."
)


def placement_table(study: Study) -> Table | None:
    """Time an iteration of each placement, and how it compares with everything in global memory (`gpu`). The paper's
    Table 1 says which structure it puts in which memory, without times: inputs and solution in texture memory, which
    is `gpu-texture`. The others are ours."""
    chosen = [(machine, name, series) for machine, name, series in measured(study) if name.startswith("gpu")]
    if not chosen:
        return None
    columns = param_columns(study)
    columns += [Column(name, f"{machine.title}, µs an iteration") for machine, name, _ in chosen]
    compared = [(machine, name, series) for machine, name, series in chosen if name != "gpu"]
    columns += [Column(f"{name} over gpu", machine.title) for machine, name, _ in compared]
    title = f"{study.descriptor.title}: placements against global memory"
    table = Table(f"{study.slug}-placements", title, columns, [], notes=[PLACEMENTS, *gaps(study), *reasons([study])])
    for row, key in rows_of(study):
        cells = params(study, key)
        cells += [value_cell(series.get(key), _iteration_text) for _, _, series in chosen]
        for machine, name, series in compared:
            fast, slow = series.get(key), study.series(machine).get("gpu", {}).get(key)
            values = {"machine": machine.name, "implementation": name, "baseline": "gpu"}
            add_speedup(cells, table, tidy(study, row, key, **values), fast, slow)
        table.rows.append(cells)
    return table


def _iteration_text(record: Record) -> str:
    seconds = iteration_seconds(record)
    return significant(1e6 * seconds) if seconds is not None else ""


def shares_table(study: Study) -> Table | None:
    """Table 8: process, transfers and kernel in percent, as printed and as measured."""
    printed = study.others.get("share")
    devices = printed.columns if printed else []
    chosen = [(m, name, series) for m, name, series in measured(study) if any(map(shares, series.values()))]
    if not devices and not chosen:
        return None
    words = [PRINTED_PARTS[part] for part in PARTS]
    columns = param_columns(study)
    columns += [Column(word, f"published, {device_label(d, devices)}, %") for d in devices for word in words]
    columns += [Column(word, f"{machine.title}, {name}, %") for machine, name, _ in chosen for word in words]
    title = f"{study.descriptor.title}: where the time goes"
    table = Table(f"{study.slug}-shares", title, columns, [])
    observed = (
        {(printed.row(o), o.device, o.implementation, o.params["part"]): o for o in printed.observations}
        if printed
        else {}
    )
    for row, key in rows_of(study):
        cells = params(study, key)
        for device in devices:
            for word in words:
                observation = observed.get((row, device.device, device.implementation, word))
                text, source = (observation.text, observation.source) if observation else ("", "not in the paper")
                cells.append(Cell(text, source, kind="published"))
        for machine, name, series in chosen:
            cells += _shares(study, table, row, key, machine, name, series.get(key))
        table.rows.append(cells)
    table.notes = [
        "Process: the host's choice, its bookkeeping and, where it generates them, the neighbours. Transfers: copies "
        "both ways. Kernel: evaluation. Percent of the three together."
    ]
    return table


def _shares(
    study: Study, table: Table, row: str, key: Key, machine: Machine, name: str, record: Record | None
) -> list[Cell]:
    found = shares(record) if record else {}
    if record is None or not found:
        return [MISSING if record is None or record.ok else state_cell(record) for _ in PARTS]
    for part, value in found.items():
        values = {"machine": machine.name, "implementation": name, "part": PRINTED_PARTS[part], "percent": value}
        values["marks"] = " ".join(record.marks)
        table.tidy.append(tidy(study, row, key, **values, record=record.source))
    return [Cell(f"{found.get(part, 0):.1f}", provenance(record), marks=record.marks) for part in PARTS]


def rate_table(study: Study) -> Table | None:
    """Iterations and moves a second of each case."""
    chosen = [item for item in measured(study) if item[2]]
    if not chosen:
        return None
    whats = {"iterations": "iterations", "evaluations": "moves"}
    columns = [*param_columns(study), Column("neighbours")]
    columns += [Column(n, f"{m.title}, {what} a second") for what in whats.values() for m, n, _ in chosen]
    title = f"{study.descriptor.title}: rates"
    table = Table(f"{study.slug}-rates", title, columns, [], notes=reasons([study]))
    for row, key in rows_of(study):
        records = [(machine, name, series.get(key)) for machine, name, series in chosen]
        some = next((r for _, _, r in records if r and r.ok), None)
        moves = some.data["evaluations"] / some.data["iterations"] if some else None
        cells = [*params(study, key), Cell(f"{moves:,.0f}" if moves else "")]
        for what, (machine, name, record) in product(whats, records):
            cells.append(value_cell(record, lambda r, what=what: with_unit(_rate(r, what), "")))
            if record and record.ok:
                values = {"machine": machine.name, "implementation": name, "what": f"{what} a second"}
                values |= {"value": _rate(record, what), "marks": " ".join(record.marks), "record": record.source}
                table.tidy.append(tidy(study, row, key, **values))
        table.rows.append(cells)
    return table


def _rate(record: Record, what: str) -> float:
    return record.data[what] / record.typical()


def climbing_table(study: Study) -> Table | None:
    """Moves to a local optimum, and the time of one climb by each implementation: the whole time over the restarts."""
    chosen = [item for item in measured(study) if item[2]]
    if not chosen:
        return None
    columns = [*param_columns(study), Column("moves a climb"), Column("best objective")]
    columns += [Column(name, f"{machine.title}, time a climb") for machine, name, _ in chosen]
    table = Table(f"{study.slug}-climbs", f"{study.descriptor.title}: climbs", columns, [], notes=reasons([study]))
    for row, key in rows_of(study):
        records = [(machine, name, series.get(key)) for machine, name, series in chosen]
        run = next((r for _, _, r in records if r and whole(r)), None)
        climbs = int(dict(key).get("restarts", 1))
        moves = f"{run.data['iterations'] / climbs:,.0f}" if run else "—"
        best = f"{run.data['objective']:,}" if run else "—"
        cells = [*params(study, key), *(Cell(text, provenance(run) if run else "") for text in (moves, best))]
        for machine, name, record in records:
            cells.append(value_cell(record, lambda r, n=climbs: with_unit(r.typical() / n, "s")))
            if record and record.ok:
                values = {"machine": machine.name, "implementation": name}
                values |= {"seconds_a_climb": record.typical() / climbs}
                values |= {"marks": " ".join(record.marks), "record": record.source}
                table.tidy.append(tidy(study, row, key, **values))
        table.rows.append(cells)
    return table


def precision_table(study: Study) -> Table | None:
    """Mean objective over the seeds by dimension, iterations and precision; mean time of each implementation."""
    chosen = [item for item in measured(study) if item[2]]
    if not chosen:
        return None
    columns = [Column(study.symbol(axis), kind="param") for axis in GROUPED] + [
        Column("seeds"),
        Column("objective", "mean"),
    ]
    columns += [Column(name, f"{machine.title}, mean time") for machine, name, _ in chosen]
    table = Table(f"{study.slug}-objectives", f"{study.descriptor.title}: objectives", columns, [])
    for _, key in rows_of(study):
        values = tuple(dict(key)[axis] for axis in GROUPED)
        found = [study.runs[machine.name][name].get(key, []) for machine, name, _ in chosen]
        by_seed = {r.seed: r for records in found for r in records if quality.usable(r)}
        mean = sum(r.data["objective"] for r in by_seed.values()) / len(by_seed) * 1e-9 if by_seed else None
        sources = provenances(by_seed.values())
        cells = [*(Cell(value, kind="param") for value in values), Cell(str(len(by_seed)))]
        cells.append(Cell(f"{mean:.4f}" if mean is not None else "—", sources))
        for (machine, name, _), records in zip(chosen, found, strict=True):
            times = [record.typical() for record in records if record.ok]
            if not times:
                cells.append(MISSING)
                continue
            marks = tuple(dict.fromkeys(mark for record in records for mark in record.marks))
            seconds = sum(times) / len(times)
            cells.append(Cell(with_unit(seconds, "s"), provenances(records), marks=marks))
            row = dict(zip(GROUPED, values, strict=True)) | {"machine": machine.name, "implementation": name}
            table.tidy.append(row | {"objective": mean, "seconds": seconds, "marks": " ".join(marks)})
        table.rows.append(cells)
    table.notes = ["Objective: by the oracle, in double precision, whatever precision was searched with; minimised."]
    return table
