"""`coverage`: how many rows of each table have a value, by what that value rests on."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from vicinity_analysis import catalogue
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, load_machine
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, markdown
from vicinity_analysis.views.tables import ends_of

HELP = "count the rows of each table: whole, scaled, missing"
DESCRIPTION = """\
Prints a Markdown table: for each experiment and machine, how many values there are to be - a row of the printed table
(elsewhere: a case of the profile full) and an implementation of the descriptor each -, how many of them rest on whole
runs (of another experiment, where it has the same cases), how many are scaled from shorter ones, and how many are
missing, with a reason (in the descriptor, left_out, in the record, or that the machine has no GPU) and without one; how
many are contended; how many of the whole ones rest on fewer seeds than the profile full asks for, and on how many; and
which versions of vicinity measured them. Records of the smoke profile count as missing.

Exit status: 0; with --strict 1 where a value is missing without a reason."""


@dataclass(frozen=True)
class Coverage:
    """Of one experiment on one machine. Values: rows times implementations."""

    rows: int
    whole: int = 0
    scaled: int = 0
    explained: int = 0  # missing, and the descriptor or the record says why
    missing: int = 0  # without a reason
    contended: int = 0  # of the whole and scaled ones
    fewer_seeds: int = 0  # of the whole ones: on fewer seeds than are asked for
    seeds: str = ""  # of how many they are: "1 of 10 seeds"
    versions: str = ""  # that measured them

    @property
    def values(self) -> int:
        return self.whole + self.scaled + self.explained + self.missing

    @property
    def begun(self) -> bool:
        return self.whole + self.scaled > 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, nargs="+", help="results folders of machines")
    parser.add_argument("--strict", action="store_true", help="status 1 where a value is missing without a reason")
    catalogue.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    machines = [load_machine(folder) for folder in args.results]
    known = catalogue.open_catalogue(args.root, args.papers, args.experiments)
    studies = known.studies(machines)
    print(markdown(coverage_table(studies)))
    lacking = any(coverage_of(study, machine).missing for study in studies for machine in study.machines)
    return 1 if args.strict and lacking else 0


def coverage_of(study: Study, machine: Machine) -> Coverage:
    """Of the implementations that the descriptor names, and the rows that its paper prints or the profile full asks
    for."""
    rows = list(study.published.rows.values()) if study.published else list(study.descriptor.cases)
    series = study.series(machine)
    asked = [(name, key) for name in study.descriptor.implementations for key in rows]
    values = [series.get(name, {}).get(key) for name, key in asked]
    deviceless = not machine.environment.get("gpu")
    states = [_state(study, name, key, record, deviceless) for (name, key), record in zip(asked, values, strict=True)]
    counted = {state: states.count(state) for state in ("whole", "scaled", "explained", "missing")}
    measured = [record for record, state in zip(values, states, strict=True) if record and state in ("whole", "scaled")]
    contended = sum("contended" in record.marks for record in measured)
    whole = [pair for pair, state in zip(asked, states, strict=True) if state == "whole"]
    few = [(count, wanted) for count, wanted in (_seeds(study, machine, *pair) for pair in whole) if count < wanted]
    ends = [ends_of(sorted(numbers)) for numbers in zip(*few, strict=True)]  # recorded, asked for
    seeds = f"{' of '.join(ends)} seeds" if few else ""
    versions = ", ".join(sorted({str(record.data.get("version", "")) for record in measured}))
    return Coverage(len(rows), contended=contended, fewer_seeds=len(few), seeds=seeds, versions=versions, **counted)


def _seeds(study: Study, machine: Machine, implementation: str, key: Key) -> tuple[int, int]:
    """Recorded, and asked for of what takes so long."""
    runs, descriptor = study.runs[machine.name], study.descriptor
    own = [run for run in runs[implementation][key] if run.ok and run.profile != "smoke"]
    times = [_seconds(found) for found in (own, runs.get(descriptor.reference, {}).get(key, []))]
    return len({run.seed for run in own}), descriptor.spared.seeds_of(len(descriptor.seeds), *times)


def _seconds(runs: list[Record]) -> float:
    """Of the first seed."""
    return next((run.typical(statistic="median") for run in runs if run.ok), 0.0)


def _state(study: Study, implementation: str, key: Key, record: Record | None, deviceless: bool) -> str:
    counts = record is not None and record.profile != "smoke"
    if record and counts and record.ok:
        return "whole" if record.whole else "scaled"
    told = record.data["status"] == "skipped" and record.data.get("message") if record and counts else None
    no_gpu = deviceless and "gpu" in implementation.split("-")
    return "explained" if told or no_gpu or study.reason(implementation, key) else "missing"


def coverage_table(studies: list[Study], *, empty: bool = True) -> Table:
    """One line an experiment and machine that has a value of it; with `empty` every experiment of the first machine."""
    labels = ("rows", "values", "whole", "scaled", "missing, with a reason", "missing, without one", "contended")
    columns = [Column(label, kind="text") for label in ("experiment", "machine")] + [Column(label) for label in labels]
    columns += [Column("on fewer seeds", kind="text"), Column("by version", kind="text")]
    table = Table("coverage", "Values of each table: whole, scaled, missing", columns, [])
    for study in studies:
        for machine in study.machines:
            found = coverage_of(study, machine)
            if not found.begun and not (empty and machine is study.machines[0]):
                continue
            numbers = (
                found.rows,
                found.values,
                found.whole,
                found.scaled,
                found.explained,
                found.missing,
                found.contended,
            )
            few = f"{found.fewer_seeds}: {found.seeds}" if found.fewer_seeds else ""
            texts = (study.name, machine.title, *map(str, numbers), few, found.versions)
            table.rows.append([Cell(text) for text in texts])
            named = dict(zip(labels, numbers, strict=True))
            table.tidy.append({"experiment": study.name, "machine": machine.name} | named | {"on fewer seeds": few})
    return table
