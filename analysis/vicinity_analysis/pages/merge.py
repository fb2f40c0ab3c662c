"""`merge`: what was measured elsewhere joins a machine's records; what no longer counts goes."""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import lines, read_bytes
from vicinity_analysis.inputs.records import SHARD, Machine, Record, counting, load_machine, rank

HELP = "join records measured elsewhere to a machine's, and drop what no longer counts"
DESCRIPTION = """\
Joins results folders of one machine: what a pull request brings, or what several equal machines measured side by side.
Of each case, implementation and seed the lines stay that count: those of the best profile, then of the run that began
last. A run without a time, throttled or contended replaces none of the same sources that is sound. Shards become one
file. environment.json names all builds and keeps the ceilings; verification.json is the last folder's that has one.
Lines that stay are not changed. With a damaged line nothing is written."""


class Line(NamedTuple):
    record: Record
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("into", type=Path, metavar="INTO", help="results folder of the machine; written")
    parser.add_argument("sources", type=Path, nargs="+", metavar="FROM", help="folders with its new records; read only")
    parser.add_argument(
        "--one-build",
        action="store_true",
        help="of a case and implementation only seeds of the newest sources: no value is of two builds",
    )


def run(args: argparse.Namespace) -> int:
    machines = [load_machine(folder) for folder in (args.into, *args.sources)]
    for machine in machines:
        if machine.damaged:
            raise InputError(f"{machine.damaged[0]}; mend or remove the line, nothing is merged")
        if machine.name != machines[0].name:
            raise InputError(f"{machine.folder}: records of '{machine.name}', not of '{machines[0].name}'")
    files: dict[str, list[Line]] = {}
    for machine in machines:
        for name, line in lines_of(machine):
            files.setdefault(name, []).append(line)
    for name, known in sorted(files.items()):
        known.sort(key=lambda line: line.record.started)
        kept = lines_that_count(known, args.one_build)
        _write(args.into / name, "".join(line.text + "\n" for line in kept))
        print(f"{args.into / name}: {len(kept)} lines, {len(known) - len(kept)} counted no longer")
    for shard in args.into.glob("*/*.jsonl"):
        if SHARD.search(shard.name):
            shard.unlink()
    _write(args.into / "environment.json", json.dumps(environment(machines), indent=2, ensure_ascii=False) + "\n")
    for machine in machines[1:]:
        if (machine.folder / "verification.json").exists():
            _write(args.into / "verification.json", (machine.folder / "verification.json").read_text(encoding="utf-8"))
    return 0


def lines_of(machine: Machine) -> Iterator[tuple[str, Line]]:
    """ "<system>/<experiment>.jsonl", also of a shard's, and each of its lines as it stands."""
    texts: dict[str, dict[int, str]] = {}
    for record in machine.all_records:
        file, _, number = record.source.partition("/")[2].rpartition(":")
        if file not in texts:
            texts[file] = {at: text or "" for at, text, _ in lines(read_bytes(machine.folder / file))}
        yield SHARD.sub(".jsonl", file), Line(record, texts[file][int(number)])


def lines_that_count(known: list[Line], one_build: bool = False) -> list[Line]:
    """In the order of `known`, which is when they began."""
    found = counting((line.record for line in known), _replaces).values()
    last = sorted((records[-1] for records in found), key=lambda record: record.started)
    newest = {_case(record): record.made_by for record in last}
    staying = {
        id(record)
        for records in found
        for record in records
        if not one_build or record.made_by == newest[_case(record)]
    }
    return [line for line in known if id(line.record) in staying]


def _case(record: Record) -> tuple[str, str, str]:
    return record.key[:3]


def _replaces(new: Record, old: Record) -> bool:
    """Does a run that began later count instead?"""
    if new.profile != old.profile:
        return rank(new.profile) <= rank(old.profile)
    return new.made_by != old.made_by or _sound(new) or not _sound(old)


def _sound(record: Record) -> bool:
    return record.ok and not record.data.get("throttled") and not record.rests_on_contended


def environment(machines: list[Machine]) -> dict[str, Any]:
    """The newest, with the builds of all, and the newest ceilings that are some."""
    told = sorted((machine.environment for machine in machines), key=lambda one: one.get("time", ""))
    found = dict(told[-1])
    for name in ("builds", "ceilings"):
        if members := [one[name] for one in told if one.get(name)]:
            found[name] = {key: value for one in members for key, value in one.items()}
    return found


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
