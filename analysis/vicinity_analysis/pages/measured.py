"""`measured`: a Markdown page of numbers from the records, as the packages of papers declare them."""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vicinity_analysis import catalogue
from vicinity_analysis.catalogue import Catalogue
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Machine, Record, load_machine, of_different_work, over_seeds, shorten
from vicinity_analysis.pages.coverage import coverage_table
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import MARKS, STATES, Cell, Column, Table, markdown, markdown_text, significant
from vicinity_analysis.views.quality import MEAN_GAP, SEEDS, averaged
from vicinity_analysis.views.quantities import THREADS, MeasuredTable, Quantity, Row
from vicinity_analysis.views.tables import MISSING, baseline_name, marks_of, short, value_cell

HELP = "write the page of measured numbers"
DESCRIPTION = """\
Writes a Markdown page with the tables that the packages of papers declare (papers/<system>/measured.py): every number
from a record, with its machine; those scaled up from shorter runs are marked. The same records give the same bytes."""
INTRODUCTION = """\
# Measured numbers

Written by `.venv/bin/python -m vicinity_analysis measured --out docs/measured.md results/nvidia-*`; a test keeps it
true. Times are medians (or the statistic the paper states) of runs that were checked first. CPU columns are of the
processor beside the GPU that heads them; `cpu-openmp` takes as many of its cores as pay. The report of a machine has
every case with its interval."""
BY_SEED = (
    "The seed decides how much a run does: on a machine, a case is of the seeds that all its implementations have, "
    "as many as the column says, and each seed weighs the same."
)
VALUES = """\
## Values of each table

As `python -m vicinity_analysis coverage` counts them: rows times implementations. Version 0.2.0 measures
more than 0.1.0 did: the papers' own code as a baseline, whole runs, several processes. On fewer seeds: how many of the
whole values rest on fewer than the profile `full` asks for, and on how many of how many."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, nargs="+", help="results folders of machines, by column")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="page to write, e.g. docs/measured.md")
    catalogue.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    known = catalogue.open_catalogue(args.root, args.papers, args.experiments)
    text = page(known, [load_machine(folder) for folder in args.results])
    try:
        args.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{args.out}: {error.strerror or error}") from error
    print(args.out)
    return 0


def page(known: Catalogue, machines: list[Machine]) -> str:
    studies = {study.name: study for study in known.studies(machines)}
    blocks, marks = [INTRODUCTION, _legend(machines)], set()
    for paper in known.papers.values():
        found = [(declared, *_table(declared, studies, machines)) for declared in paper.measured]
        found = [one for one in found if one[1].rows]
        blocks += [f"## {paper.title}"] if found else []
        for declared, table, sources in found:
            marks |= set(table.marks())
            reasons = ["\n".join(f"- {markdown_text(note)}" for note in table.notes)] if table.notes else []
            blocks += [f"### {declared.title}", markdown(table), *reasons, f"Records: {shorten(sources)}."]
    blocks += _values(list(studies.values()), machines)
    told = [f"- <sup>{MARKS[mark][0]}</sup> {MARKS[mark][1]}" for mark in MARKS if mark in marks - set(STATES)]
    blocks += ["## Marks", "\n".join(told)] if told else []
    return "\n\n".join(blocks) + "\n"


def _values(studies: list[Study], machines: list[Machine]) -> list[str]:
    """How many values of each experiment there are on the machines that have any, and which experiments have none."""
    table = coverage_table(studies, empty=False)
    recorded = {(line["machine"], line["experiment"]) for line in table.tidy}
    none = [(m.title, [s.name for s in studies if (m.name, s.name) not in recorded]) for m in machines]
    lines = [f"- {title}: {', '.join(names)}" for title, names in none if names]
    return [VALUES, markdown(table), *(["Not recorded:", "\n".join(lines)] if lines else [])]


def _legend(machines: list[Machine]) -> str:
    rows = [f"| {machine.title} | {machine.cpu} | `results/{machine.folder.name}/` |" for machine in machines]
    return "\n".join(["| machine | CPU beside it | records |", "| :--- | :--- | :--- |", *rows])


def _table(declared: MeasuredTable, studies: dict[str, Study], machines: list[Machine]) -> tuple[Table, list[str]]:
    """With the sources of its numbers, and why one is missing; a machine that has none of its cases has no column."""
    machines = [m for m in machines if _measures(declared, studies, m)] or machines[:1]
    several = len(declared.quantities) > 1
    rows = [_runs_of_row(declared, studies, machines, row) for row in declared.rows]
    by_seed = SEEDS not in declared.quantities and any(
        of_different_work(_timed(runs), studies[row.experiment].apart)
        for row, every in zip(declared.rows, rows, strict=True)
        for runs in every.values()
    )
    table, sources = Table("measured", declared.title, _columns(declared, machines, by_seed), []), []
    table.notes += [BY_SEED] if by_seed else []
    runs_on = defaultdict[tuple[str, str], list[Record]](list)
    for row, every in zip(declared.rows, rows, strict=True):
        study = studies[row.experiment]
        seeds = {m.name: _common_seeds(every[m.name, name] for name in declared.implementations) for m in machines}
        if by_seed:
            every = {key: _of_seeds(runs, seeds[key[0]]) for key, runs in every.items()}
        found = {key: over_seeds(runs, apart=by_seed) if runs else None for key, runs in every.items()}
        known = [record for record in found.values() if record]
        sources += [source for record in known if record.ok for source in record.sources]
        for key, record in found.items():
            runs_on[key] += [record] if record and record.ok else []
        table.notes += [
            f"{', '.join(row.labels)}, {name} on {m.title}: {record.data['status']}: {record.data.get('message', '')}."
            for m in machines
            for name in declared.implementations
            if (record := found[m.name, name]) and not record.ok
        ]
        for names in [(name,) for name in declared.implementations] if several else [declared.implementations]:
            if not any(found[m.name, name] for m in machines for name in names):
                continue
            cells = [Cell(label) for label in row.labels] + ([Cell(f"`{names[0]}`")] if several else [])
            cells += [_fact(declared.fact, study, machines[0], known)] if declared.fact else []
            cells += [_published(study, known[0], device, declared.unit) for device in declared.published]
            for m in machines:
                own = [_cell(q, study, m, found[m.name, name]) for name in names for q in declared.quantities]
                if by_seed:
                    timed = any((record := found[m.name, name]) and record.ok for name in names)
                    own = _with_seeds(own, seeds[m.name] if timed else None)
                cells += own
            table.rows.append(cells)
    if THREADS not in declared.quantities:
        table.notes += [note for m in machines if (note := _ran_on(m, declared.implementations, runs_on))]
    return table, sources


def _ran_on(machine: Machine, names: Sequence[str], runs: Mapping[tuple[str, str], list[Record]]) -> str:
    """On how many cores, where these are not all of the machine's."""
    named = {name: baseline_name(machine, name, runs[machine.name, name]) for name in names if runs[machine.name, name]}
    others = [text for name, text in named.items() if text != baseline_name(machine, name)]
    return f"{machine.title}: {', '.join(others)}." if others else ""


def _runs_of_row(
    declared: MeasuredTable, studies: dict[str, Study], machines: list[Machine], row: Row
) -> dict[tuple[str, str], list[Record]]:
    """(machine, implementation) -> its runs, by seed."""
    if row.experiment not in studies:
        raise InputError(f"table '{declared.title}': no experiment {row.experiment}")
    study = studies[row.experiment]
    return {(m.name, name): runs_of(study, m, name, row) for m in machines for name in declared.implementations}


def _timed(runs: Sequence[Record]) -> list[Record]:
    return [run for run in runs if run.ok]


def _common_seeds(every: Iterable[list[Record]]) -> set[int] | None:
    """Of the implementations that have a time. None: nothing has one."""
    seeds = [{run.seed for run in timed} for runs in every if (timed := _timed(runs))]
    return set.intersection(*seeds) if seeds else None


def _of_seeds(runs: list[Record], seeds: set[int] | None) -> list[Record]:
    """All, where no seed is common, or nothing has a time."""
    return [run for run in runs if run.seed in seeds] if seeds and _timed(runs) else runs


def _with_seeds(cells: list[Cell], seeds: set[int] | None) -> list[Cell]:
    """With how many seeds they are of."""
    if seeds is None:
        return [*cells, MISSING]
    if not seeds:
        cells = [cell if cell.kind == "state" else replace(cell, marks=(*cell.marks, "seeds")) for cell in cells]
    return [*cells, Cell(str(len(seeds))) if seeds else MISSING]


def _measures(declared: MeasuredTable, studies: dict[str, Study], machine: Machine) -> bool:
    found = [(studies[row.experiment], row) for row in declared.rows if row.experiment in studies]
    return any(runs_of(study, machine, name, row) for study, row in found for name in declared.implementations)


def _columns(declared: MeasuredTable, machines: list[Machine], by_seed: bool) -> list[Column]:
    several = len(declared.quantities) > 1
    columns = [Column(label, kind="text") for label in declared.labels + ("implementation",) * several]
    columns += [Column(declared.fact.label)] if declared.fact else []
    columns += [Column(f"{short(device)}, {declared.unit}", "published") for device in declared.published]
    quantities = [f"time, {q.label}" if q.label in UNITS else q.label for q in declared.quantities]
    names = [f"`{name}`" for name in declared.implementations]
    own = (quantities if several else names) + [SEEDS.label] * by_seed
    return columns + [Column(label, short(m.title)) for m in machines for label in own]


def record_of(study: Study, machine: Machine, implementation: str, row: Row) -> Record | None:
    """Of all seeds."""
    runs = runs_of(study, machine, implementation, row)
    return over_seeds(runs) if runs else None


def runs_of(study: Study, machine: Machine, implementation: str, row: Row) -> list[Record]:
    """By seed; a program of others is named without its version. Raises InputError where the row means several
    cases."""
    named = study.runs[machine.name]
    implementation = next((name for name in named if name.startswith(f"{implementation} ")), implementation)
    cases = [
        key
        for key, runs in named.get(implementation, {}).items()
        if all(str(runs[0].case.get(axis)) == str(value) for axis, value in row.case.items())
    ]
    if len(cases) > 1:
        raise InputError(f"{study.name}: {dict(row.case)} means {len(cases)} cases: {cases[0]}, {cases[1]}, ...")
    return named[implementation][cases[0]] if cases else []


def _cell(quantity: Quantity, study: Study, machine: Machine, record: Record | None) -> Cell:
    value = quantity.of(study, machine, record) if record and record.ok else None
    cell = value_cell(record, lambda _: "—" if value is None else quantity.text(value))
    return cell if value is None else replace(cell, marks=_marks(quantity, study, machine, record))


def _marks(quantity: Quantity, study: Study, machine: Machine, record: Record) -> tuple[str, ...]:
    """Of what the value rests on; a number of seeds needs none."""
    if quantity is MEAN_GAP:
        return marks_of(averaged(study, machine, record))
    if quantity is SEEDS:
        return ()
    return record.marks + ("budget",) * _took_its_budget(record)


def _took_its_budget(record: Record) -> bool:
    """Did any of its runs take all the seconds of its budget?"""
    given = record.given_seconds
    return bool(given) and bool((record.times("wall") >= given).any())


def _fact(quantity: Quantity, study: Study, machine: Machine, records: list[Record]) -> Cell:
    """Of the first record that has it and was run whole."""
    whole = [record for record in records if record.whole]
    values = [value for record in whole if (value := quantity.of(study, machine, record)) is not None]
    return Cell(quantity.text(values[0])) if values else MISSING


def _published(study: Study, record: Record, device: str, unit: str) -> Cell:
    """The paper's fastest version on a device."""
    key, printed = study.key_of(record), study.published
    seen = [o for o in printed.observations if o.device == device and printed.key(o.params) == key] if printed else []
    return Cell(significant(min(o.value for o in seen) / UNITS[unit])) if seen else MISSING
