"""Running vicinity in fresh processes for the regression gate, and reading back what each recorded."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.records import Record, RecordKey, load_machine

MACHINE = "regress"
CHECK_FAILED = 1  # vicinity's exit status when a result was INVALID: the other cases still count


class HarnessError(InputError):
    """A process that could not do its work: no verdict is possible."""


@dataclass(frozen=True)
class Command:
    """One way of calling `vicinity run`."""

    binary: Path
    descriptors: tuple[Path, ...]
    profile: str
    where: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()
    repetitions: int | None = None
    extra: tuple[str, ...] = ()
    timeout: float | None = None

    def arguments(self, results: Path) -> list[str]:
        call = [str(self.binary), "run", *map(str, self.descriptors), "--profile", self.profile]
        call += ["--results", str(results), "--machine", MACHINE, "--fresh", "--control"]
        call += ["--repetitions", str(self.repetitions)] if self.repetitions else []
        call += [word for condition in self.where for word in ("--where", condition)]
        call += [word for name in self.implementations for word in ("--implementation", name)]
        return call + list(self.extra)

    def narrowed(self, keys: list[RecordKey]) -> "Command":
        """Only the experiments and implementations of these cases."""
        names = {f"{key.experiment}.yaml" for key in keys}
        kept = tuple(path for path in self.descriptors if f"{path.parent.name}/{path.name}" in names)
        implementations = tuple(sorted({key.implementation for key in keys}))
        return replace(self, descriptors=kept or self.descriptors, implementations=implementations)


@dataclass(frozen=True)
class Process:
    """What one process recorded."""

    records: dict[RecordKey, Record]
    control: dict[str, list[float]] = field(default_factory=dict)  # backend -> seconds of the control kernel


def execute(command: Command) -> Process:
    """Runs one fresh process with a results folder of its own."""
    with tempfile.TemporaryDirectory(prefix="vicinity-regress-") as folder:
        results = Path(folder)
        _call(command.arguments(results), command.timeout, allowed=(0, CHECK_FAILED))
        written = results / MACHINE
        if not written.is_dir():
            raise HarnessError(f"{command.binary}: recorded nothing (no case matches, or no implementation runs here)")
        records = load_machine(written).records
    control: dict[str, list[float]] = {}
    for record in records.values():
        for backend, seconds in (record.data.get("control") or {}).items():
            control.setdefault(backend, []).extend(seconds or [])
    if not records:
        raise HarnessError(f"{command.binary}: recorded nothing (no case matches, or no implementation runs here)")
    return Process(records, {backend: seconds for backend, seconds in control.items() if seconds})


def environment_of(binary: Path) -> dict[str, Any]:
    """`vicinity environment --json`."""
    return json.loads(_call([str(binary), "environment", "--json"], 120, allowed=(0,)))


def _call(arguments: list[str], timeout: float | None, allowed: tuple[int, ...]) -> str:
    shown = " ".join(arguments[:2])
    # Two threads that share a core spin against each other for whole time slices: bind them, on both sides alike.
    environment = {"OMP_PROC_BIND": "true", **os.environ}
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    except OSError as error:
        raise HarnessError(f"{shown}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{shown}: still running after {timeout:g} s, stopped") from error
    if done.returncode not in allowed:
        lines = (done.stderr or done.stdout).strip().splitlines()
        why = lines[-1] if lines else "no message"
        raise HarnessError(f"{shown} ended with status {done.returncode}: {why}")
    return done.stdout


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
