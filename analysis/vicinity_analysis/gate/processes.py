"""Running vicinity in fresh processes for the regression gate, and reading back what each recorded."""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from vicinity_analysis.errors import InputError, printable
from vicinity_analysis.gate import children, judging
from vicinity_analysis.inputs.files import parse, schema
from vicinity_analysis.inputs.published import read_yaml
from vicinity_analysis.inputs.records import Record, RecordKey, load_machine

MACHINE = "regress"
CHECK_FAILED = 1  # vicinity's exit status when a result was INVALID: the other cases still count
ENVIRONMENT_FAILED = 3  # ... when files, locks or CUDA failed: once may be chance
FEWEST_SAMPLES = 3  # a process of which fewer are usable (or not all, where it has fewer) says nothing


class HarnessError(InputError):
    """A process that could not do its work: no verdict is possible."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status  # of the process; None where it has none


@dataclass(frozen=True)
class Process:
    """What one process recorded."""

    records: dict[RecordKey, Record]
    control: dict[str, list[float]] = field(default_factory=dict)  # backend -> seconds of the control kernel
    failure: str = ""  # why it had to be started a second time
    _levels: dict[tuple[RecordKey, str], float | None] = field(default_factory=dict, compare=False)

    def part(self, key: RecordKey) -> str:
        """Of a run, which its descriptor times."""
        record = self.records.get(key)
        return record.timed if record else ""

    def level(self, key: RecordKey, part: str) -> float | None:
        """What it counts for in a case, seconds of that part; NaN: too few usable samples; None: no times."""
        if (key, part) not in self._levels:
            record = self.records.get(key)
            samples = usable(record, part) if record is not None and record.ok else None
            level = None if samples is None else judging.typical(samples) if len(samples) else math.nan
            self._levels[key, part] = level
        return self._levels[key, part]


def usable(record: Record, part: str) -> np.ndarray:
    """The samples taken neither while the device throttled nor beside other load; none where too few are, or where
    that part of a run was not timed."""
    if part not in ("total", *record.data["samples"]):
        return np.zeros(0)
    times = record.times(part)
    contended = np.asarray(record.data.get("contended") or np.zeros(len(times)), dtype=bool)
    if len(contended) != len(times):
        raise HarnessError(f"{record.source}: {len(contended)} marks of contention for {len(times)} samples")
    kept = times[~contended]
    enough = len(kept) >= min(FEWEST_SAMPLES, len(times)) and not record.data.get("throttled")
    return kept if enough else kept[:0]


class Runner(Protocol):
    """One side: a way to run the cases in a fresh process."""

    repetitions: int | None

    def execute(self) -> Process: ...

    def repeating(self, repetitions: int) -> "Runner": ...

    def narrowed(self, keys: Sequence[RecordKey]) -> "Runner": ...


@dataclass(frozen=True)
class Selection:
    """Descriptors, and which of their implementations to run; all where none is named."""

    descriptors: tuple[Path, ...]
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """One way of calling `vicinity run`, once for each selection."""

    binary: Path
    selections: tuple[Selection, ...]
    profile: str
    where: tuple[str, ...] = ()
    repetitions: int | None = None
    extra: tuple[str, ...] = ()
    timeout: float | None = None

    def arguments(self, selection: Selection, results: Path) -> list[str]:
        call = [str(self.binary), "run", *map(str, selection.descriptors), "--profile", self.profile]
        call += ["--results", str(results), "--machine", MACHINE, "--fresh", "--control"]
        call += ["--repetitions", str(self.repetitions)] if self.repetitions else []
        call += [word for condition in self.where for word in ("--where", condition)]
        call += [word for name in selection.implementations for word in ("--implementation", name)]
        return call + list(self.extra)

    def repeating(self, repetitions: int) -> "Command":
        return replace(self, repetitions=repetitions)

    def narrowed(self, keys: Sequence[RecordKey]) -> "Command":
        """Only the experiments and implementations of these cases. An implementation is named to the experiments that
        have such a case only: another system need not know it."""
        groups: dict[tuple[str, ...], list[Path]] = {}
        for path in (path for selection in self.selections for path in selection.descriptors):
            names = tuple(sorted({key.implementation for key in keys if key.experiment == experiment_of(path)}))
            if names:
                groups.setdefault(names, []).append(path)
        return replace(self, selections=tuple(Selection(tuple(paths), names) for names, paths in groups.items()))

    def execute(self) -> Process:
        """Runs one fresh process with a results folder of its own; once more if its environment failed it."""
        try:
            return self._execute()
        except HarnessError as error:
            if error.status != ENVIRONMENT_FAILED:
                raise
            progress(f"{error}; once more")
            return replace(self._execute(), failure=str(error))

    def _execute(self) -> Process:
        with tempfile.TemporaryDirectory(prefix="vicinity-regress-") as folder:
            results = Path(folder)
            for selection in self.selections:
                _call(self.arguments(selection, results), self.timeout, allowed=(0, CHECK_FAILED))
            written = results / MACHINE
            records = load_machine(written).records if written.is_dir() else {}
        if not records:
            raise HarnessError(f"{self.binary}: recorded nothing (no case matches, or no implementation runs here)")
        control: dict[str, list[float]] = {}
        for record in records.values():
            for backend, seconds in (record.data.get("control") or {}).items():
                control.setdefault(backend, []).extend(seconds or [])
        return Process(records, {backend: seconds for backend, seconds in control.items() if seconds})


def experiment_of(descriptor: Path) -> str:
    """What its records call it: <system>/<name>."""
    found = read_yaml(descriptor)
    if not isinstance(found, dict) or not isinstance(found.get("system"), str):
        raise InputError(f"{descriptor}: system: is missing")
    return f"{found['system']}/{descriptor.stem}"


def environment_of(binary: Path) -> dict[str, Any]:
    """`vicinity environment --json`."""
    try:
        found, fault = parse(_call([str(binary), "environment", "--json"], 120, allowed=(0,)), schema("environment"))
    except ValueError as error:
        raise HarnessError(f"{binary} environment --json: {error}") from error
    if fault is not None:
        raise HarnessError(f"{binary} environment --json: {fault}")
    return found


def _call(arguments: list[str], timeout: float | None, allowed: tuple[int, ...]) -> str:
    shown = " ".join(arguments[:2])
    # Two threads that share a core spin against each other for whole time slices: bind them, on both sides alike.
    environment = {"OMP_PROC_BIND": "true", **os.environ}
    try:
        done = children.run(arguments, timeout, environment)
    except OSError as error:
        raise HarnessError(f"{shown}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{shown}: still running after {timeout:g} s, stopped") from error
    if done.returncode not in allowed:
        lines = (done.stderr or done.stdout).strip().splitlines()
        why = lines[-1] if lines else "no message"
        raise HarnessError(f"{shown} ended with status {done.returncode}: {why}", done.returncode)
    return done.stdout


def progress(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)
