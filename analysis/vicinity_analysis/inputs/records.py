"""Reading results folders: every record keeps the line it stands on, so that each number can be traced back."""

import heapq
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinity_analysis import stats
from vicinity_analysis.errors import InputError, printable
from vicinity_analysis.inputs.files import lines, parse, read_bytes, read_json, schema
from vicinity_analysis.inputs.schema import Fault

TOLD = 20  # damaged lines of a machine that are told one by one
PROFILES = ("full", "quick", "smoke")  # best first
SHARD = re.compile(r"\.shard-[0-9]+-of-[0-9]+\.jsonl$")  # the end of the name of a shard's file
SPECIAL = ("problem", "instance")  # members of a case that are not numbers swept
SENSES = ("minimise", "maximise")
PLACES = re.compile(r"(.+?):([0-9,-]+)(?: |$)")  # file and lines of each source; folders may have spaces
ALIKE = 0.05  # relative: seeds whose iterations and evaluations differ by no more repeat the same work


class RecordKey(NamedTuple):
    """What a record is of: the last line of the best profile counts for each."""

    experiment: str
    case_key: str
    implementation: str
    seed: int


@dataclass(frozen=True)
class TracePoint:
    """Where a run stood at an improvement or at the end of a kernel."""

    seconds: float
    iterations: int
    objective: float | None
    digest: str


@dataclass(frozen=True)
class Proof:
    """How a result was proved; kind "prefix": the first `iterations` iterations equal the reference's."""

    kind: str
    iterations: int


@dataclass(frozen=True)
class Record:
    """One line of a results file: one case, seed, implementation and process, with all its samples (seconds); or the
    lines of several seeds or processes together."""

    data: dict[str, Any]
    source: str  # "<machine>/<system>/<name>.jsonl:<line>"
    order: int  # position among the experiment's records, later ones replace earlier ones
    _estimates: dict[tuple[str | None, str | None], stats.Estimate] = field(default_factory=dict, compare=False)
    _typical: dict[tuple[str | None, str | None], float] = field(default_factory=dict, compare=False)
    # over_seeds of runs that begin with this one, by what they are, with these runs, which therefore stay what they are
    _over_seeds: dict[tuple[int, ...], tuple[list["Record"], "Record"]] = field(default_factory=dict, compare=False)

    @property
    def experiment(self) -> str:
        return self.data["experiment"]

    @property
    def implementation(self) -> str:
        return self.data["implementation"]

    @property
    def backend(self) -> str:
        return self.data.get("backend") or ("gpu" if self.implementation.startswith("gpu") else "cpu")

    @property
    def one_core(self) -> bool:
        return uses_one_core(self.implementation) and (self.threads or 1) == 1

    @property
    def case(self) -> dict[str, Any]:
        """Axis -> value, without the seed."""
        return self.data["case"]

    @property
    def case_key(self) -> str:
        return self.data["case_key"]

    @property
    def seed(self) -> int:
        return self.data["seeds"][0]

    @property
    def sources(self) -> list[str]:
        """The line it stands on; several where the samples of several seeds or processes are together."""
        return [f"{file}:{line}" for file, lines in _lines_of([self.source]).items() for line in sorted(lines)]

    @property
    def made_by(self) -> str | None:
        """The hash of the sources of its program; None where an older program did not say."""
        return self.data.get("sources")

    @property
    def given_seconds(self) -> float | None:
        """After so many its search was to end, if they were limited."""
        return (self.protocol.get("budget") or {}).get("seconds")

    @property
    def key(self) -> RecordKey:
        return RecordKey(self.experiment, self.case_key, self.implementation, self.seed)

    @property
    def counters(self) -> dict[str, int]:
        return self.data.get("counters") or {}

    @property
    def objective(self) -> float | None:
        return self.data.get("objective")

    @property
    def sense(self) -> str:
        """ "minimise" or "maximise": which objectives are better."""
        return self.data.get("objective_sense", SENSES[0])

    @property
    def maximises(self) -> bool:
        return self.sense == "maximise"

    @property
    def best_known(self) -> float | None:
        """The best objective known of the instance."""
        return self.data.get("best_known")

    @property
    def time_source(self) -> dict[str, str]:
        """part -> "device" or "host": whose clock it was read from; empty where the record does not say."""
        return self.data.get("time_source") or {}

    @cached_property
    def trace(self) -> tuple[TracePoint, ...]:
        points = self.data.get("trace") or ()
        return tuple(TracePoint(p["seconds"], p["iterations"], p.get("objective"), p["digest"]) for p in points)

    @property
    def proof(self) -> Proof | None:
        """None: the whole run was repeated by the reference, or nothing was proved (see `verified`)."""
        found = self.data.get("proof")
        return Proof(found["kind"], found["iterations"]) if found else None

    @property
    def threads(self) -> int | None:
        """On the CPU, as many as pay; None where the implementation does not say."""
        policy = self.data.get("policy") or {}
        each = policy.get("threads") if self.implementation.startswith("cpu-") else None
        return None if each is None else each * policy.get("restarts_at_a_time", 1)

    @property
    def profile(self) -> str:
        return self.data["profile"]

    @property
    def process_number(self) -> int:
        """Of the processes that the protocol asks for, counted from 1."""
        return (self.data.get("process") or {}).get("number", 1)

    @property
    def started(self) -> str:
        """When its process began, UTC."""
        return (self.data.get("process") or {}).get("start", "")

    @property
    def run(self) -> str:
        """Equal for records of one experiment as it was and of one program: those that differ in the process alone."""
        same = (self.data.get(name) for name in ("profile", "machine", "sources", "descriptor", "protocol"))
        return json.dumps(list(same), sort_keys=True)

    @property
    def protocol(self) -> dict[str, Any]:
        return self.data.get("protocol") or {}

    @property
    def ok(self) -> bool:
        return self.data["status"] == "ok" and bool(self.data.get("samples"))

    @property
    def whole(self) -> bool:
        """Has the time of a run of its full length, not one predicted from shorter runs."""
        return self.ok and not self.data.get("extrapolated")

    @cached_property
    def processes(self) -> list[str]:
        """Which process took each sample."""
        process = self.data.get("process") or {}
        own = " ".join(str(value) for value in (self.data.get("machine"), *map(process.get, ("host", "pid", "start"))))
        return self.data.get("sample_processes") or [own] * self._count

    @cached_property
    def _count(self) -> int:
        return max((len(values) for values in (self.data.get("samples") or {}).values()), default=0)

    @cached_property
    def contended(self) -> np.ndarray:
        """Of each sample: did other processes, the hypervisor or a quota take processor time from it?"""
        marks = self.data.get("contended") or []
        return np.asarray(marks if len(marks) == self._count else [bool(any(marks))] * self._count, dtype=bool)

    @cached_property
    def works(self) -> np.ndarray:
        """Of each sample, the seed that decides its work; where seeds do the same work, one for all."""
        return np.asarray(self.data.get("sample_works") or [self.seed] * self._count)

    @cached_property
    def kept(self) -> np.ndarray:
        """Which samples a value rests on: of those of the same work the ones that are not contended, if these are at
        least three, or half; else all, and the value itself is contended."""
        kept = np.zeros_like(self.contended)
        for work in set(self.works):
            own = self.works == work
            clean = own & ~self.contended
            kept |= clean if clean.sum() >= 3 or 2 * clean.sum() >= own.sum() else own
        return kept

    @property
    def rests_on_contended(self) -> bool:
        return bool((self.kept & self.contended).any())

    def counted(self, part: str | None = None) -> np.ndarray:
        """`times` of the samples that are kept."""
        return self.times(part)[self.kept]

    def by_process(self, part: str | None = None, statistic: str | None = None) -> stats.Groups:
        """process -> its samples that are kept. Where seeds do different work: the value of each, as samples of one
        process, so that all weigh the same."""
        times, found = self.times(part), dict[int, dict[str, list[float]]]()
        for position in np.flatnonzero(self.kept):
            own = found.setdefault(int(self.works[position]), {})
            own.setdefault(self.processes[position], []).append(times[position])
        each = [{process: np.asarray(values) for process, values in own.items()} for own in found.values()]
        if len(each) == 1:
            return each[0]
        return {"": np.asarray([stats.centre(groups, self._chosen(statistic)) for groups in each])}

    def _chosen(self, statistic: str | None) -> str:
        """By default the protocol's."""
        return statistic or self.protocol.get("statistic", "median")

    def of_seeds(self, seeds: Collection[int]) -> "Record":
        """Without the samples of other seeds, where these do different work."""
        own = np.isin(self.works, list(seeds))
        if own.all() or not own.any():
            return self
        data = self.data | {"seeds": [seed for seed in self.data["seeds"] if seed in seeds]}
        data["samples"] = {part: [*compress(values, own)] for part, values in self.data["samples"].items()}
        data["sample_processes"] = [*compress(self.processes, own)]
        data |= {"contended": self.contended[own].tolist(), "sample_works": self.works[own].tolist()}
        return Record(data, self.source, self.order)

    @cached_property
    def parts(self) -> list[str]:
        return [name for name in self.data.get("samples", {}) if name != "wall"]

    @property
    def timed(self) -> str:
        """The part that the protocol asks for."""
        return str(self.protocol.get("time", "kernel"))

    def times(self, part: str | None = None) -> np.ndarray:
        """Samples in seconds: of one part, of "wall", or of "total" (all parts added). Default: the protocol's."""
        part = part or self.timed
        samples = self.data["samples"]
        if part == "total":
            return np.sum([np.asarray(samples[name], dtype=float) for name in self.parts], axis=0)
        if part not in samples:
            raise InputError(f"{self.source}: no time '{part}'; there are: total, {', '.join(samples)}")
        return np.asarray(samples[part], dtype=float)

    def typical(self, part: str | None = None, statistic: str | None = None) -> float:
        """The value of `estimate`, without its interval: nothing is resampled."""
        if (part, statistic) not in self._typical:
            groups = self.by_process(part, statistic)
            self._typical[part, statistic] = stats.centre(groups, self._chosen(statistic))
        return self._typical[part, statistic]

    def estimate(self, part: str | None = None, statistic: str | None = None) -> stats.Estimate:
        """The paper's statistic (or `statistic`) of the samples with its bootstrap 95% interval, seconds."""
        if (part, statistic) not in self._estimates:
            groups = self.by_process(part, statistic)
            self._estimates[part, statistic] = stats.estimate(groups, self._chosen(statistic))
        return self._estimates[part, statistic]

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """What a reader must know of this value, in a fixed order; the legend of the report explains each."""
        if self.data["status"] != "ok":
            return (self.data["status"],)
        found = []
        if self.data.get("extrapolated"):
            found.append("extrapolated")
        if self.data.get("throttled"):
            found.append("throttled")
        if self.rests_on_contended:
            found.append("contended")
        if self.data.get("several_builds"):
            found.append("mixed")
        if not self.data.get("verified"):
            found.append("unverified")
        if self.profile == "smoke":
            found.append("smoke")
        return tuple(found)


def first_of(runs: Sequence[Record]) -> Record:
    """That has a time, if any has."""
    return next((run for run in runs if run.ok), runs[0])


def over_seeds(runs: Sequence[Record], apart: bool = False) -> Record:
    """Runs of one case as one record with the samples of all seeds; runs without a time are left out, if others have
    one. Result and counters are those of the first. `apart`: as of `of_different_work`. The same runs, asked for again,
    are the same record, with the estimates made of it."""
    kept = [run for run in runs if run.ok]
    if len(kept) <= 1:
        return first_of(runs)
    made, key = kept[0]._over_seeds, (*map(id, kept), apart)
    if key not in made:
        made[key] = (kept, _of_all_seeds(kept, apart))
    return made[key][1]


def _of_all_seeds(kept: Sequence[Record], apart: bool) -> Record:
    changes = {"seeds": [run.seed for run in kept]}
    if of_different_work(kept, apart):
        changes["sample_works"] = [run.seed for run in kept for _ in run.processes]
    return _together(kept, changes)


def of_different_work(runs: Sequence[Record], apart: bool = False) -> bool:
    """Does the seed decide how much is done, as where a search ends by a rule or at a target? `apart`: no seed repeats
    another's work, however alike their counts are."""
    if apart and len(runs) > 1:
        return True
    done = ([run.data.get(what) or 0 for run in runs] for what in ("iterations", "evaluations"))
    return any(max(counts, default=0) > (1 + ALIKE) * min(counts, default=0) for counts in done)


def over_processes(runs: Sequence[Record]) -> Record:
    """Records of one case and seed by several processes as one; without a time if one of them found the result
    invalid."""
    invalid = next((run for run in runs if run.data["status"] == "invalid"), None)
    kept = [run for run in runs if run.ok]
    return invalid or (first_of(runs) if len(kept) <= 1 else _together(kept, {}))


def _together(runs: Sequence[Record], changes: dict[str, Any]) -> Record:
    """The first with the samples of all, and their marks."""
    data = runs[0].data | changes
    parts = [part for part in runs[0].data["samples"] if all(part in run.data["samples"] for run in runs)]
    data["samples"] = {part: [value for run in runs for value in run.data["samples"][part]] for part in parts}
    data["sample_processes"] = [process for run in runs for process in run.processes]
    data["contended"] = [bool(mark) for run in runs for mark in run.contended]
    data["extrapolated"] = next((told for run in runs if (told := run.data.get("extrapolated"))), None)
    data["throttled"] = any(run.data.get("throttled") for run in runs)
    data["verified"] = all(run.data.get("verified") for run in runs)
    data["several_builds"] = of_several_builds(runs)
    return Record(data, shorten(source for run in runs for source in run.sources), runs[0].order)


def of_several_builds(runs: Iterable[Record]) -> bool:
    """Did programs of several sources run these?"""
    return len({run.made_by for run in runs}) > 1


def ratio(slow: Record, fast: Record) -> stats.Estimate:
    """t(slow) / t(fast) by the protocol's statistic, paired where the same processes measured both. Where seeds do
    different work, of those that both have."""
    slow, fast = of_common_seeds([slow, fast])
    return stats.ratio(slow.by_process(), fast.by_process(), fast.protocol.get("statistic", "median"))


def ratio_value(slow: Record, fast: Record) -> float:
    """The value of `ratio`, without its interval."""
    slow, fast = of_common_seeds([slow, fast])
    return stats.ratio_value(slow.by_process(), fast.by_process(), fast.protocol.get("statistic", "median"))


DAY = timedelta(days=1)


def days_apart(one: Record, two: Record) -> bool:
    """More than one; False where a record does not say when it ran."""
    starts = [datetime.fromisoformat(record.started) for record in (one, two) if record.started]
    return len(starts) == 2 and abs(starts[1] - starts[0]) > DAY


def of_common_seeds(records: Sequence[Record]) -> list[Record]:
    """To be compared: where seeds do different work, each without the seeds that another lacks. All as they are where
    no seed is common."""
    seeds = set.intersection(*(set(record.data["seeds"]) for record in records))
    return [record.of_seeds(seeds) for record in records]


def shorten(sources: Iterable[str]) -> str:
    """a.jsonl:1, a.jsonl:4, a.jsonl:5, b.jsonl:2 -> a.jsonl:1,4-5 b.jsonl:2; also of what is shortened already."""
    return " ".join(f"{file}:{_ranges(lines)}" for file, lines in sorted(_lines_of(sources).items()))


def _lines_of(sources: Iterable[str]) -> dict[str, set[int]]:
    """file -> its lines; of what `shorten` wrote, too."""
    files: dict[str, set[int]] = {}
    for file, told in (place for several in sources for place in PLACES.findall(several)):
        for first, _, last in (piece.partition("-") for piece in told.split(",")):
            files.setdefault(file, set()).update(range(int(first), int(last or first) + 1))
    return files


def _ranges(lines: set[int]) -> str:
    """1,4-6,9"""
    ends = [line for line in sorted(lines) if line + 1 not in lines]
    starts = [line for line in sorted(lines) if line - 1 not in lines]
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in zip(starts, ends, strict=True)
    )


@dataclass(frozen=True)
class Machine:
    """A results folder: its environment, and the record that counts for each key."""

    folder: Path
    environment: dict[str, Any]
    all_records: list[Record] = field(repr=False)
    damaged: tuple[str, ...] = ()  # lines that are no records: "<file>:<line>: <field>: what is wrong"
    unfinished: tuple[str, ...] = ()  # last lines that a run was killed while writing: "<file>:<line>"

    @property
    def name(self) -> str:
        return self.environment.get("machine") or self.folder.name

    @cached_property
    def records(self) -> dict[RecordKey, Record]:
        """key -> the record that counts: best profile first, then the last line with those of its other processes."""
        return select(self.all_records)

    @property
    def measured(self) -> str:
        """When it last measured anything, UTC; without records, when its environment was written."""
        started = max((record.started for record in self.all_records), default="")
        return started or self.environment.get("time") or ""

    def of(self, experiment: str) -> list[Record]:
        return self._by_experiment.get(experiment, [])

    @cached_property
    def _by_experiment(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for key, record in self.records.items():
            found.setdefault(key.experiment, []).append(record)
        return found

    @property
    def cpu(self) -> str:
        """ "Model, n cores", to name a baseline."""
        cpu = self.environment.get("cpu") or {}
        cores = cpu.get("cores", "?")
        return f"{cpu.get('model', 'unknown CPU')}, {cores} core{'s' * (cores != 1)}"

    @property
    def title(self) -> str:
        """What stands in pages: its GPU or CPU, and what its name has behind that of the hardware ("-x2"): another
        host of the same kind must be told apart."""
        gpu = self.environment.get("gpu")
        hardware = gpu["name"] if gpu else (self.environment.get("cpu") or {}).get("model", self.name)
        usual = re.sub(r"[^a-z0-9]+", "-", hardware.lower()).strip("-")
        more = self.name.removeprefix(f"{usual}-")
        return hardware if more == self.name else f"{hardware} {more}"

    def build_of(self, record: Record) -> dict[str, Any] | None:
        """sources, version, compilers (with flags) and libraries that made a record. None: environment.json does not
        say. Where a record names no build, that of its sources, if there is one only; an older file knows one build."""
        environment = self.environment
        builds = environment.get("builds") or {None: environment}
        if "build" in record.data:
            return builds.get(record.data["build"])
        made = [build for build in builds.values() if build.get("sources") == record.made_by]
        return made[0] if len(made) == 1 and made[0].get("compilers") else None

    def ceiling(self, name: str) -> float | None:
        entry = (self.environment.get("ceilings") or {}).get(name)
        return float(entry["value"]) if entry else None


def uses_one_core(implementation: str) -> bool:
    """Of the CPU implementations, only cpu-openmp uses several cores; the others are baselines of the papers."""
    return implementation.startswith("cpu-") and implementation != "cpu-openmp"


def rank(profile: str) -> int:
    """Of a profile, 0 the best; those of others come last."""
    return PROFILES.index(profile) if profile in PROFILES else len(PROFILES)


def select(records: list[Record], profile: str | None = None) -> dict[RecordKey, Record]:
    """The record that counts for each key, of all processes together; `profile` restricts to one profile."""
    asked = [record for record in records if profile is None or record.profile == profile]
    return {key: over_processes(found) for key, found in counting(asked, _is_as_good).items()}


def _is_as_good(new: Record, old: Record) -> bool:
    return rank(new.profile) <= rank(old.profile)


def counting(records: Iterable[Record], replaces: Callable[[Record, Record], bool]) -> dict[RecordKey, list[Record]]:
    """key -> of each process, in the order of their numbers, the record of the run that counts: of two, the later one
    where it replaces the earlier one."""
    chosen: dict[RecordKey, Record] = {}
    by_run: dict[tuple[RecordKey, str], dict[int, Record]] = {}  # key, what was run -> process number -> its record
    for record in records:
        if record.key not in chosen or replaces(record, chosen[record.key]):
            chosen[record.key] = record
        processes, number = by_run.setdefault((record.key, record.run), {}), record.process_number
        if number not in processes or replaces(record, processes[number]):
            processes[number] = record
    return {key: [one for _, one in sorted(by_run[key, record.run].items())] for key, record in chosen.items()}


def load_machine(folder: Path) -> Machine:
    """Reads a results folder. An absent environment.json is allowed (then the machine is its folder's name). A damaged
    line costs that line, and is said."""
    folder = Path(folder)
    if not folder.is_dir():
        recorded = sorted(other.parent.name for other in folder.parent.glob("*/environment.json"))
        told = f"; recorded: {', '.join(recorded)}" if recorded else ""
        raise InputError(f"{folder}: no such results folder{told}")
    environment: dict[str, Any] = {"machine": folder.name}
    path = folder / "environment.json"
    if path.exists():
        environment = read_json(path, "environment")
    files, damaged, unfinished = sorted(folder.glob("*/*.jsonl")), list[str](), list[str]()
    together: dict[Path, list[list[Record]]] = {}
    for file in files:
        together.setdefault(file.with_name(SHARD.sub(".jsonl", file.name)), []).append(
            list(_read_lines(folder, file, damaged, unfinished))
        )
    records = [record for parts in together.values() for record in _merged(parts)]
    tell(damaged)
    if not records and not path.exists():
        told = "no line that is whole" if damaged else "neither environment.json nor any <system>/<experiment>.jsonl"
        raise InputError(f"{folder}: {told} in it")
    return Machine(folder, environment, records, tuple(damaged), tuple(unfinished))


def _merged(parts: list[list[Record]]) -> list[Record]:
    """The records of an experiment's files by when their processes began, so that the last one counts in whichever
    file it stands; those of one file stay in their order."""
    if len(parts) == 1:
        return parts[0]
    merged = heapq.merge(*parts, key=lambda record: record.started)
    return [replace(record, order=position) for position, record in enumerate(merged, start=1)]


def _read_lines(folder: Path, file: Path, damaged: list[str], unfinished: list[str]) -> Iterator[Record]:
    """What is damaged is left out and told."""
    relative = file.relative_to(folder).as_posix()
    for number, text, ended in lines(read_bytes(file)):
        try:
            data = _checked(text)
        except ValueError as error:
            if not ended:  # a run was killed while writing it
                unfinished.append(f"{file}:{number}")
                warn(f"{unfinished[-1]}: unfinished last line ignored")
            else:
                damaged.append(f"{file}:{number}: {error}")
            continue
        _normalise(data)
        yield Record(data, f"{folder.name}/{relative}:{number}", number)


def _checked(text: str | None) -> dict[str, Any]:
    """Raises ValueError with field and fault, for what is no record of docs/schema/record.json."""
    if text is None:
        raise ValueError("not UTF-8")
    data, fault = parse(text, _sound)
    if fault is not None:
        raise ValueError(str(fault))
    return data


def _sound(data: Any) -> Fault | None:  # noqa: ANN401
    return schema("record")(data) or _contradiction(data)


def _contradiction(data: dict[str, Any]) -> Fault | None:
    """What a schema cannot say (docs/schema/README.md): members that do not fit each other."""
    samples, compared = data.get("samples") or {}, (data.get("protocol") or {}).get("time", "kernel")
    count = 0
    for part, values in samples.items():
        count = count or len(values)
        if len(values) != count:
            return Fault(f"samples.{part}", f"{len(values)} samples beside {count} of another part")
    marks = data.get("contended") or ()
    if marks and len(marks) != count:
        return Fault("contended", f"{len(marks)} marks for {count} samples")
    if data["status"] != "ok":
        return None
    parts = [name for name in samples if name != "wall"] if compared == "total" else [compared]
    if not parts or any(part not in samples for part in parts):
        return Fault("protocol.time", f"'{compared}' has no samples")
    longest = samples[parts[0]] if len(parts) == 1 else list(map(max, *(samples[part] for part in parts)))
    return None if min(longest) > 0 else Fault(f"samples.{parts[0]}", "a time that is compared is 0")


def tell(damaged: Sequence[str]) -> None:
    """Each damaged line once; of very many the first, and how many more there are."""
    for place in damaged[:TOLD]:
        warn(f"{place}; the line is left out: mend or remove it")
    if len(damaged) > TOLD:
        warn(f"{len(damaged) - TOLD} more damaged lines are left out")


def warn(text: str) -> None:
    print(f"vicinity-analysis: warning: {printable(text)}", file=sys.stderr)


def _normalise(data: dict[str, Any]) -> None:
    """Older records have several seeds as an axis, counted from protocol.seed (a run's seed is the sum), and the best
    known objective among the counters."""
    data.setdefault("profile", "full")
    for made in ("sample_processes", "sample_works", "several_builds"):  # here, of several lines
        data.pop(made, None)
    best = (data.get("counters") or {}).pop("best_known", None)
    if best is not None:
        data["best_known"] = best
    first = (data.get("protocol") or {}).get("seed", 1)
    offset = data["case"].pop("seed", None)
    if offset is not None:
        data["seeds"] = [first + int(offset)]
        kept = [item for item in data["case_key"].split(";") if not item.startswith("seed=")]
        data["case_key"] = ";".join(kept)
    elif not data.get("seeds"):
        data["seeds"] = [first]


def find_root(root: Path | None) -> Path:
    """The repository: the given folder, or the one this package lies in, or the working directory."""
    if root is not None:
        if not Path(root).is_dir():
            raise InputError(f"{root}: no such folder")
        return Path(root)
    packaged = Path(__file__).resolve().parents[3]
    return packaged if (packaged / "experiments").is_dir() else Path.cwd()
