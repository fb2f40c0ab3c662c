"""`regress`: is the candidate slower than the base? Interleaved fresh processes, an interval, and an exit status."""

import argparse
import json
import math
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from vicinity_analysis.errors import InputError
from vicinity_analysis.gate import judging, verdicts
from vicinity_analysis.gate.judging import Judgement, Round
from vicinity_analysis.gate.processes import Command, Process, Runner, Selection, environment_of, progress, usable
from vicinity_analysis.gate.verdicts import PASS, Change, Verdict
from vicinity_analysis.inputs.records import PROFILES, Machine, Record, RecordKey, load_machine
from vicinity_analysis.pages import compare

HELP = "the regression gate: base against candidate, with exit codes"
DESCRIPTION = """\
Runs two builds of vicinity in the order base, candidate, candidate, base, each in a fresh process, and compares the
times of every case and implementation. A regression is reported only when
  - the 95% interval of candidate / base lies beyond the threshold, which is the larger of the floor and three times
    the case's own A/A noise,
  - it survives Benjamini-Hochberg over all cases,
  - the control kernel of its backend, which no change touches, stayed put, and that of no backend moved, and
  - it recurs in a second series of fresh processes.
The gate passes only when the interval of every case ends below its threshold, and below 5%; what is neither is
inconclusive. Deterministic results (digest, objective, iterations, evaluations, counters) are compared exactly.
Cases that lack times on a side are named; one that is invalid in the candidate never passes.
With --stored-baseline the candidate is held against recorded results instead; the verdict says what that is worth.

Exit status: 0 pass, 1 regression, 2 inconclusive, 3 harness error."""

SAMPLE_SECONDS = 0.01  # how long the samples of the shortest case of a process should take together ...
PROCESS_SECONDS = 2.0  # ... unless all samples of a process would then take longer than this
FEWEST_REPETITIONS, MOST_REPETITIONS = 5, 300
CALIBRATION = 20  # repetitions of the run that finds this out
LONGEST = 1e6  # seconds that a process may be given
ROUNDS, LONGER = 6, 3  # rounds of a series, and how many times as many while a case is inconclusive


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
    add(
        "--floor",
        type=float,
        default=100 * judging.FLOOR,
        metavar="PERCENT",
        help="no threshold is below it (default 1)",
    )
    add("--rounds", type=int, default=6, help="rounds of four processes, at least 3 (default 6)")
    add(
        "--max-rounds", type=int, help="rounds to add up to while a case is inconclusive (default three times --rounds)"
    )
    add("--repetitions", type=int, help="samples a process (default: found by a calibration run)")
    add("--timeout", type=float, default=600, metavar="SECONDS", help="for one process (default 600)")
    add("--base-args", default="", metavar="ARGS", help='passed to the base, e.g. --base-args="--where load=1"')
    add("--candidate-args", default="", metavar="ARGS", help="passed to the candidate")
    add("--json", type=Path, metavar="FILE", help="write the verdict with all numbers")
    add("--markdown", type=Path, metavar="FILE", help="write the summary there, too (it is always printed)")


@dataclass
class Sides:
    """The two ways of running, how often, and the least threshold."""

    base: Runner
    candidate: Runner
    rounds: int
    max_rounds: int
    floor: float = judging.FLOOR


@dataclass
class Series:
    """All processes of an interleaved series of these cases, by side: two of each a round."""

    keys: list[RecordKey]
    floor: float
    base: list[Process] = field(default_factory=list)
    candidate: list[Process] = field(default_factory=list)

    def add_round(self, sides: Sides) -> None:
        first, one, two, last = (side.execute() for side in (sides.base, sides.candidate, sides.candidate, sides.base))
        self.base += [first, last]
        self.candidate += [one, two]

    def judge(self) -> list[Judgement]:
        """The cases that have times in every process."""
        judged = []
        for key in self.keys:
            part = self.base[0].part(key)  # a candidate whose descriptor times another one is compared by this
            base, candidate = ([process.level(key, part) for process in side] for side in (self.base, self.candidate))
            if None not in base + candidate:
                judged.append(judging.judge(key, _rounds(base, candidate), self.floor))
        return judging.decide(judged)

    def control(self) -> list[Judgement]:
        """The control kernels, judged like a case; a process counts for the shortest of its times."""
        judged = []
        for name in sorted(set.intersection(*(set(process.control) for process in self.base + self.candidate))):
            base, candidate = ([min(p.control[name]) for p in side] for side in (self.base, self.candidate))
            judged.append(judging.judge(RecordKey("control", name, name, 0), _rounds(base, candidate), self.floor))
        return judging.decide(judged)

    def settled(self) -> bool:
        witnesses = verdicts.vouching(self.control(), backends_of(self.base[0], self.keys))
        return not any(judgement.outcome == "inconclusive" for judgement in self.judge() + witnesses)


def backends_of(process: Process, keys: Sequence[RecordKey]) -> list[str]:
    return sorted({process.records[key].backend for key in keys if key in process.records})


def _rounds(base: list[float], candidate: list[float]) -> list[Round]:
    """Rounds of which all four processes have usable samples."""
    pairs = zip(base[::2], candidate[::2], candidate[1::2], base[1::2], strict=True)
    return [Round(*levels) for levels in pairs if not any(map(math.isnan, levels))]


def run(args: argparse.Namespace) -> int:
    descriptors = tuple([*args.descriptors, *args.experiments])
    if not descriptors:
        raise InputError("regress: which experiments? Name at least one descriptor")
    if (args.base_binary is None) == (args.stored_baseline is None):
        raise InputError("regress: give either --base-binary or --stored-baseline")
    if args.rounds < 3:
        raise InputError("regress: at least 3 rounds are needed to see the noise")
    if not (math.isfinite(args.floor) and args.floor > 0):
        raise InputError("regress: the floor is a percentage above 0")
    if not 0 < args.timeout <= LONGEST:
        raise InputError(f"regress: --timeout is seconds above 0, at most {LONGEST:g}")
    if args.max_rounds is not None and args.max_rounds < args.rounds:
        raise InputError(f"regress: --max-rounds {args.max_rounds} is less than the {args.rounds} of --rounds")
    if args.repetitions is not None and args.repetitions < 1:
        raise InputError("regress: --repetitions is a whole number from 1 on")
    for path in [*descriptors, args.candidate_binary, *([args.base_binary] if args.base_binary else [])]:
        if not path.exists():
            raise InputError(f"{path}: no such file")
    for path in (args.json, args.markdown):  # before hours of measuring
        if path and (path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)):
            raise InputError(f"{path}: cannot be written; name a file in a folder that is there")
    implementations, floor = tuple(args.implementation), args.floor / 100

    def command(binary: Path, paths: tuple[Path, ...], extra: str) -> Command:
        selections = (Selection(paths, implementations),)
        where, words = tuple(args.where), tuple(shlex.split(extra))
        return Command(binary.resolve(), selections, args.profile, where, args.repetitions, words, args.timeout)

    candidate = command(args.candidate_binary, descriptors, args.candidate_args)
    if args.stored_baseline:
        verdict = against_stored(args.stored_baseline, candidate, 2 * args.rounds, floor)
    else:
        own = tuple(own_descriptor(path, args.base_root) for path in descriptors)
        base = command(args.base_binary, own, args.base_args)
        verdict = interleaved(Sides(base, candidate, args.rounds, args.max_rounds or 3 * args.rounds, floor))
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
    """All numbers as JSON has them: what a case without an interval has none of is null."""
    plain = {"schema": 1, "verdict": verdicts.NAMES[verdict.status], "exit": verdict.status, **asdict(verdict)}
    for name in ("cases", "control", "second", "second_control"):
        plain[name] = [_plain_case(judgement) for judgement in getattr(verdict, name)]
    return plain | {"confirmed": verdict.confirmed}


def _plain_case(judgement: Judgement) -> dict[str, Any]:
    plain = asdict(judgement) | {"threshold": judgement.threshold, "limit": judgement.limit}
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in plain.items()}


def calibrate(runner: Runner) -> tuple[Runner, Process]:
    """One run to warm up and to find how many repetitions make the samples of a process long enough."""
    progress("calibration: one process")
    if runner.repetitions:
        return runner, runner.execute()
    process = runner.repeating(CALIBRATION).execute()
    times = [judging.typical(record.times("wall")) for record in process.records.values() if record.ok]
    if not times:
        return runner.repeating(CALIBRATION), process
    wanted = math.ceil(SAMPLE_SECONDS / max(min(times), 1e-9))
    affordable = math.floor(PROCESS_SECONDS / max(sum(times), 1e-9))
    return runner.repeating(min(max(FEWEST_REPETITIONS, min(wanted, affordable)), MOST_REPETITIONS)), process


def interleaved(sides: Sides) -> Verdict:
    base, first = calibrate(sides.base)
    repetitions = base.repetitions or CALIBRATION
    sides = replace(sides, base=base, candidate=sides.candidate.repeating(repetitions))
    every = [measure(sides, "first series", list(first.records))]
    notes = []
    if any(judgement.moved for judgement in every[-1].control()):
        notes.append("The control kernel moved between base and candidate; the series was repeated.")
        every.append(measure(sides, "repeated series", list(first.records)))
    series = every[-1]
    verdict = Verdict("interleaved", PASS, series.judge(), series.control(), [], notes, repetitions)
    verdict.rounds = len(series.base) // 2
    verdict.backends = backends_of(first, list(first.records))
    verdict.uncompared = verdicts.uncompared(series.base, series.candidate)
    verdict.worth = "Base and candidate ran interleaved on this machine."
    suspects = [judgement.key for judgement in verdict.cases if judgement.outcome == "slower"]
    if suspects and not any(judgement.moved for judgement in verdict.control):
        narrow = replace(sides, base=base.narrowed(suspects), candidate=sides.candidate.narrowed(suspects))
        again = measure(narrow, f"second series for {len(suspects)} suspects", suspects)
        every.append(again)
        verdict.second = again.judge()
        verdict.second_control = again.control()
    verdict.changes = exact(first, every)
    verdict.failures = [
        f"{side}: {process.failure}"
        for series in every
        for side, processes in (("base", series.base), ("candidate", series.candidate))
        for process in processes
        if process.failure
    ]
    return verdicts.conclude(verdict)


def measure(sides: Sides, name: str, keys: list[RecordKey]) -> Series:
    """Rounds until every case and the control kernel can be judged, or the most allowed."""
    series = Series(keys, sides.floor)
    for done in range(sides.max_rounds):
        progress(f"{name}: round {done + 1} of {max(sides.rounds, done + 1)}")
        series.add_round(sides)
        if done + 1 >= sides.rounds and series.settled():
            break
    return series


def exact(first: Process, every: Sequence[Series]) -> list[Change]:
    """What is deterministic must be the same in every process of both sides."""
    reference = {key: verdicts.facts(record) for key, record in first.records.items()}
    found: dict[tuple[RecordKey, str], Change] = {}
    for side in ("base", "candidate"):  # what the base does not reproduce is no fault of the candidate
        for series in every:
            asked = {key: reference[key] for key in series.keys}
            for change in verdicts.changes(asked, getattr(series, side), side):
                found.setdefault((change.key, change.what), change)
    return list(found.values())


def against_stored(folder: Path, candidate: Command, count: int, floor: float) -> Verdict:
    stored = load_machine(folder)
    here = replace(stored, environment=environment_of(candidate.binary), all_records=[])
    same = compare.same_machine(stored, here)
    candidate, first = calibrate(candidate)
    recorded = _recorded(stored, first, candidate)
    records = {key: record for key, record in recorded.items() if key in first.records}
    if not records:
        raise InputError(f"{folder}: has none of the cases of this run")
    processes = [first]
    while same and len(processes) < count:
        progress(f"candidate: process {len(processes) + 1} of {count}")
        processes.append(candidate.execute())
    judged = _judge_stored(records, processes, floor) if same else []
    reference = {key: verdicts.facts(record, portable=not same) for key, record in records.items() if record.ok}
    changes = verdicts.changes(reference, processes, "candidate")
    verdict = Verdict("stored", PASS, judged, [], changes, [], candidate.repetitions or 0)
    verdict.rounds = len(processes)
    verdict.uncompared = verdicts.uncompared([Process(recorded)], processes)
    suspects = [judgement.key for judgement in judged if judgement.outcome == "slower"]
    if suspects:
        narrow = candidate.narrowed(suspects)
        progress(f"second series for {len(suspects)} suspects")
        again = [narrow.execute() for _ in range(count)]
        verdict.second = _judge_stored({key: records[key] for key in suspects}, again, floor)
    verdict.worth = verdicts.stored_worth(stored, here, same)
    return verdicts.conclude(verdict)


def _recorded(stored: Machine, first: Process, candidate: Command) -> dict[RecordKey, Record]:
    """What was measured of the cases of this run, also by implementations that it might have run and did not."""
    cases = {(key.experiment, key.case_key, key.seed) for key in first.records}
    named = candidate.selections[0].implementations
    expected = {
        record.key
        for record in stored.all_records
        if record.data["profile"] == candidate.profile
        and "peer" not in record.data
        and (record.experiment, record.case_key, record.seed) in cases
        and (not named or record.implementation in named)
    }
    return {
        key: record
        for key, record in stored.records.items()
        if (key in first.records or key in expected) and not record.data.get("extrapolated")
    }


def _judge_stored(records: dict[RecordKey, Record], processes: list[Process], floor: float) -> list[Judgement]:
    judged = []
    for key, record in records.items():
        levels = [process.level(key, record.timed) for process in processes]
        if record.ok and None not in levels:
            kept = [level for level in levels if not math.isnan(level)]
            judged.append(judging.judge_stored(key, usable(record, record.timed), kept, floor))
    return judging.decide(judged)
