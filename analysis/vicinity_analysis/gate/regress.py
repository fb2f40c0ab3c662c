"""`regress`: is the candidate slower than the base? Interleaved fresh processes, an interval, and an exit status."""

import argparse
import json
import math
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinity_analysis.errors import InputError
from vicinity_analysis.gate import judging, verdicts
from vicinity_analysis.gate.judging import Judgement, Round
from vicinity_analysis.gate.processes import Command, Process, environment_of, execute, progress
from vicinity_analysis.gate.verdicts import PASS, Change, Verdict
from vicinity_analysis.inputs.records import PROFILES, RecordKey, load_machine
from vicinity_analysis.pages import compare

HELP = "the regression gate: base against candidate, with exit codes"
DESCRIPTION = """\
Runs two builds of vicinity in the order base, candidate, candidate, base, each in a fresh process, and compares the
times of every case and implementation. A regression is reported only when
  - the 95% interval of candidate / base lies beyond the threshold, which is the larger of 5% and three times the
    case's own A/A noise,
  - it survives Benjamini-Hochberg over all cases,
  - the control kernel, which no change touches, stayed put, and
  - it recurs in a second series of fresh processes.
Deterministic results (digest, objective, iterations, evaluations, counters) are compared exactly.
With --stored-baseline the candidate is held against recorded results instead; the verdict says what that is worth.

Exit status: 0 pass, 1 regression, 2 inconclusive, 3 harness error."""

SAMPLE_SECONDS = 0.01  # how long the samples of the shortest case of a process should take together ...
PROCESS_SECONDS = 2.0  # ... unless all samples of a process would then take longer than this
FEWEST_REPETITIONS, MOST_REPETITIONS = 5, 300
CALIBRATION = 20  # repetitions of the run that finds this out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("descriptors", nargs="*", type=Path, metavar="DESCRIPTOR", help="experiments/<system>/<name>.yaml")
    add("--experiments", nargs="+", action="extend", default=[], type=Path, metavar="DESCRIPTOR", help="the same")
    add("--base-binary", type=Path, metavar="PATH", help="vicinity of the base")
    add(
        "--base-root",
        type=Path,
        metavar="DIR",
        help="checkout of the base: it runs its own descriptors where it has them",
    )
    add("--candidate-binary", type=Path, required=True, metavar="PATH", help="vicinity of the candidate")
    add("--stored-baseline", type=Path, metavar="DIR", help="results/<machine> to use in place of a base binary")
    add("--profile", choices=PROFILES, default="smoke")
    add("--where", nargs="+", action="extend", default=[], metavar="AXIS=VALUE", help="only these cases")
    add("--implementation", nargs="+", action="extend", default=[], metavar="NAME", help="only these implementations")
    add("--rounds", type=int, default=6, help="rounds of four processes, at least 3 (default 6)")
    add("--max-rounds", type=int, help="rounds to add up to while a case is too noisy (default twice --rounds)")
    add("--repetitions", type=int, help="samples a process (default: found by a calibration run)")
    add("--timeout", type=float, default=600, metavar="SECONDS", help="for one process (default 600)")
    add("--base-args", default="", metavar="ARGS", help='passed to the base, e.g. --base-args="--where load=1"')
    add("--candidate-args", default="", metavar="ARGS", help="passed to the candidate")
    add("--json", type=Path, metavar="FILE", help="write the verdict with all numbers")
    add("--markdown", type=Path, metavar="FILE", help="write the summary there, too (it is always printed)")


@dataclass
class Sides:
    """The two ways of running, and how often."""

    base: Command
    candidate: Command
    rounds: int
    max_rounds: int


@dataclass
class Series:
    """All processes of an interleaved series, by side: two of each a round."""

    base: list[Process] = field(default_factory=list)
    candidate: list[Process] = field(default_factory=list)

    def add_round(self, sides: Sides) -> None:
        first, one, two, last = (execute(c) for c in (sides.base, sides.candidate, sides.candidate, sides.base))
        self.base += [first, last]
        self.candidate += [one, two]

    def rounds(self, key: RecordKey) -> list[Round]:
        sides = [[_samples(process, key) for process in side] for side in (self.base, self.candidate)]
        if any(samples is None for side in sides for samples in side):
            return []
        base, candidate = sides
        return [Round(base[i : i + 2], candidate[i : i + 2]) for i in range(0, len(base), 2)]

    def judge(self, keys: list[RecordKey]) -> list[Judgement]:
        rounds = ((key, self.rounds(key)) for key in keys)
        return judging.decide([judging.judge(key, found) for key, found in rounds if found])

    def control(self) -> list[Judgement]:
        """The control kernels, judged like a case."""
        names = sorted(set.intersection(*(set(p.control) for p in self.base + self.candidate)))
        judged = []
        for name in names:
            base, candidate = ([np.array([min(p.control[name])]) for p in side] for side in (self.base, self.candidate))
            rounds = [Round(base[i : i + 2], candidate[i : i + 2]) for i in range(0, len(base), 2)]
            judged.append(judging.judge(RecordKey("control", name, name, 0), rounds))
        return judged


def _samples(process: Process, key: RecordKey) -> np.ndarray | None:
    record = process.records.get(key)
    return record.times() if record is not None and record.ok else None


def run(args: argparse.Namespace) -> int:
    descriptors = tuple([*args.descriptors, *args.experiments])
    if not descriptors:
        raise InputError("regress: which experiments? Name at least one descriptor")
    if (args.base_binary is None) == (args.stored_baseline is None):
        raise InputError("regress: give either --base-binary or --stored-baseline")
    if args.rounds < 3:
        raise InputError("regress: at least 3 rounds are needed to see the noise")
    for path in [*descriptors, args.candidate_binary, *([args.base_binary] if args.base_binary else [])]:
        if not path.exists():
            raise InputError(f"{path}: no such file")
    common = {"profile": args.profile, "where": tuple(args.where), "implementations": tuple(args.implementation)}
    common |= {"repetitions": args.repetitions, "timeout": args.timeout, "descriptors": descriptors}
    candidate = Command(args.candidate_binary.resolve(), extra=tuple(shlex.split(args.candidate_args)), **common)
    if args.stored_baseline:
        verdict = against_stored(args.stored_baseline, candidate, 2 * args.rounds)
    else:
        common["descriptors"] = tuple(own_descriptor(path, args.base_root) for path in descriptors)
        base = Command(args.base_binary.resolve(), extra=tuple(shlex.split(args.base_args)), **common)
        verdict = interleaved(Sides(base, candidate, args.rounds, args.max_rounds or 2 * args.rounds))
    return finish(verdict, args)


def own_descriptor(path: Path, root: Path | None) -> Path:
    """The descriptor of the same experiment in the checkout `root`, whose program may read another form of it."""
    own = root / "experiments" / path.parent.name / path.name if root else path
    return own if own.exists() else path


def finish(verdict: Verdict, args: argparse.Namespace) -> int:
    text = verdicts.describe(verdict)
    print(text, end="")
    try:
        if args.json:
            args.json.write_text(json.dumps(_plain(verdict), indent=1) + "\n", encoding="utf-8")
        if args.markdown:
            args.markdown.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(str(error)) from error
    return verdict.status


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {"schema": 1, "verdict": verdicts.NAMES[verdict.status], "exit": verdict.status, **asdict(verdict)}


def calibrate(command: Command) -> tuple[Command, Process]:
    """One run to warm up and to find how many repetitions make the samples of a process long enough."""
    progress("calibration: one process")
    if command.repetitions:
        return command, execute(command)
    process = execute(replace(command, repetitions=CALIBRATION))
    times = [judging.typical(record.times("wall")) for record in process.records.values() if record.ok]
    if not times:
        return replace(command, repetitions=CALIBRATION), process
    wanted = math.ceil(SAMPLE_SECONDS / max(min(times), 1e-9))
    affordable = math.floor(PROCESS_SECONDS / sum(times))
    repetitions = min(max(FEWEST_REPETITIONS, min(wanted, affordable)), MOST_REPETITIONS)
    return replace(command, repetitions=repetitions), process


def interleaved(sides: Sides) -> Verdict:
    base, first = calibrate(sides.base)
    sides = replace(sides, base=base, candidate=replace(sides.candidate, repetitions=base.repetitions))
    series, judged, control = measure(sides, "first series", None)
    notes = []
    if any(judgement.moved for judgement in control):
        notes.append("The control kernel moved between base and candidate; the series was repeated.")
        series, judged, control = measure(sides, "repeated series", None)
    verdict = Verdict("interleaved", PASS, judged, control, exact(series, first), notes, base.repetitions or 0)
    verdict.rounds = len(series.base) // 2
    verdict.worth = "Base and candidate ran interleaved on this machine."
    suspects = [judgement.key for judgement in judged if judgement.outcome == "slower"]
    steady = not any(judgement.moved for judgement in control)
    if suspects and steady:
        narrow = replace(sides, base=base.narrowed(suspects), candidate=sides.candidate.narrowed(suspects))
        _, again, control = measure(narrow, f"second series for {len(suspects)} suspects", suspects)
        steady = not any(judgement.moved for judgement in control)
        verdict.second = again
        verdict.second_control = control
        verdict.confirmed = [judgement.key for judgement in again if judgement.outcome == "slower"]
    return verdicts.conclude(verdict, steady)


def measure(sides: Sides, name: str, keys: list[RecordKey] | None) -> tuple[Series, list[Judgement], list[Judgement]]:
    """Rounds until every case can be judged, or the most allowed."""
    series = Series()
    while True:
        done = len(series.base) // 2
        if done >= sides.rounds:
            judged = series.judge(keys or list(series.base[0].records))
            if done >= sides.max_rounds or not any(j.outcome == "too noisy" for j in judged):
                return series, judged, series.control()
        progress(f"{name}: round {done + 1} of {max(sides.rounds, done + 1)}")
        series.add_round(sides)


def exact(series: Series, first: Process) -> list[Change]:
    """What is deterministic must be the same in every process of both sides."""
    found: dict[tuple[RecordKey, str], Change] = {}
    reference = {key: verdicts.facts(record) for key, record in first.records.items()}
    for change in verdicts.changes(reference, series.base, "base"):
        found.setdefault((change.key, change.what), change)
    unstable = set(found)
    for change in verdicts.changes(reference, series.candidate, "candidate"):
        if (change.key, change.what) not in unstable:
            found.setdefault((change.key, change.what), change)
    return list(found.values())


def against_stored(folder: Path, candidate: Command, count: int) -> Verdict:
    stored = load_machine(folder)
    here = replace(stored, environment=environment_of(candidate.binary), all_records=[])
    same = compare.same_machine(stored, here)
    candidate, first = calibrate(candidate)
    records = {key: stored.records[key] for key in first.records if key in stored.records}
    records = {key: record for key, record in records.items() if not record.data.get("extrapolated")}
    if not records:
        raise InputError(f"{folder}: has none of the cases of this run")
    processes = [first]
    while same and len(processes) < count:
        progress(f"candidate: process {len(processes) + 1} of {count}")
        processes.append(execute(candidate))
    judged = _judge_stored(records, processes) if same else []
    reference = {key: verdicts.facts(record, portable=not same) for key, record in records.items() if record.ok}
    changes = verdicts.changes(reference, processes, "candidate")
    verdict = Verdict("stored", PASS, judged, [], changes, [], candidate.repetitions or 0)
    verdict.rounds = len(processes)
    suspects = [judgement.key for judgement in judged if judgement.outcome == "slower"]
    if suspects:
        narrow = candidate.narrowed(suspects)
        progress(f"second series for {len(suspects)} suspects")
        again = [execute(narrow) for _ in range(count)]
        verdict.second = _judge_stored({key: records[key] for key in suspects}, again)
        verdict.confirmed = [judgement.key for judgement in verdict.second if judgement.outcome == "slower"]
    verdict.worth = verdicts.stored_worth(stored, here, same)
    return verdicts.conclude(verdict, steady=same)


def _judge_stored(records: dict[RecordKey, Any], processes: list[Process]) -> list[Judgement]:
    judged = []
    for key, record in records.items():
        samples = [_samples(process, key) for process in processes]
        if record.ok and all(values is not None for values in samples):
            judged.append(judging.judge_stored(key, record.times(), samples))
    return judging.decide(judged)
