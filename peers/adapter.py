"""What all adapters share: the command line, the clock, the lines of JSON that `vicinity peer` reads (docs/peers.md).

An adapter is a script that fills in one `Adapter` and hands it to `main`. Nothing of a peer is imported before a task
is there, so that an adapter can say that its peer is missing."""

import argparse
import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True)
class Task:
    """One search."""

    instance: Path
    solution: Path  # to be written; not written where none was found
    scale: int  # objectives are told in units of 1 / scale
    seconds: float
    seed: int
    threads: int


class Report:
    """Tells improvements as they come, each with the seconds since `begin`."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._waited = _waited()

    def begin(self) -> None:
        """The search starts: what is loaded and read before is not counted."""
        self.__init__()

    def seconds(self) -> float:
        return time.perf_counter() - self._begin

    def improvement(self, objective: float, iterations: int = 0) -> None:
        """In units of 1 / scale."""
        self.improvement_at(self.seconds(), objective, iterations)

    def improvement_at(self, seconds: float, objective: float, iterations: int = 0) -> None:
        _say({"seconds": seconds, "objective": objective, "iterations": iterations})

    def end(self, iterations: int = 0, own_process: bool = True) -> None:
        """`own_process`: did the search run in this process, whose waiting for processors is known?"""
        told: dict[str, Any] = {"seconds": self.seconds(), "iterations": iterations}
        if own_process and self._waited is not None:
            told["waited"] = (_waited() or 0.0) - self._waited
        _say(told)

    def end_of(self, ends: list[dict[str, Any]]) -> None:
        """Of searches side by side."""
        told = {"seconds": max(one["seconds"] for one in ends), "iterations": sum(one["iterations"] for one in ends)}
        if all("waited" in one for one in ends):
            told["waited"] = sum(one["waited"] for one in ends)
        _say(told)


@dataclass(frozen=True)
class Adapter:
    name: str
    reads: str  # the format of instance files, as `vicinity list --json` says it
    program: str  # what is called, and how
    version: Callable[[], str]  # raises ImportError or FileNotFoundError where the peer is not installed
    search: Callable[[Task, Report], None]  # calls report.begin() and report.end(), writes the solution
    one_thread: bool = False  # its search has one: of several threads each has a search, with a seed of its own


def outside_program(name: str, variable: str, advice: str, path: str | None = None) -> str:
    """What the environment's `variable` names, else the program on the path."""
    found = os.environ.get(variable) or shutil.which(name, path=path)
    if found is None or not os.access(found, os.X_OK):
        raise FileNotFoundError(f"{found or name} cannot be run: {advice}")
    return found


@contextlib.contextmanager
def running(command: list[str], **pipes: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block, and by Ctrl-C."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # by way of what ends the process
    process = subprocess.Popen(command, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def main(adapter: Adapter) -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends a peer in the middle of its own code
    options = _options(adapter)
    try:
        version = adapter.version()
        if options.about:
            _say({"name": adapter.name, "version": version, "program": adapter.program, "reads": adapter.reads})
        else:
            task = Task(**{name: getattr(options, name) for name in Task.__annotations__})
            (_several if adapter.one_thread and task.threads > 1 else adapter.search)(task, Report())
    except Exception as error:  # whatever a peer throws is told
        _say({"error": str(error) if isinstance(error, _ChildFailedError) else f"{type(error).__name__}: {error}"})
        return 1
    return 0


class Lines:
    """Of a pipe, as they come."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._rest = pipe, b""

    def read(self) -> list[bytes] | None:
        """What has come; None at the end."""
        text = os.read(self._pipe.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + text).split(b"\n")
        return lines if text else None


class _ChildFailedError(Exception):
    """Says itself what failed."""


class _Child:
    """This adapter again, with one thread."""

    def __init__(self, task: Task, number: int) -> None:
        self.task = replace(
            task,
            threads=1,
            seed=task.seed * task.threads + number,
            solution=task.solution.with_name(f"{task.solution.name}.{number}"),
        )
        options = [f"--{name}={value}" for name, value in vars(self.task).items()]
        self.process = subprocess.Popen([sys.executable, *sys.argv[:1], *options], stdout=subprocess.PIPE)
        self.lines = Lines(self.process.stdout)
        self.end: dict[str, Any] | None = None


def _several(task: Task, report: Report) -> None:
    """A search a thread, side by side. The best of all counts; times are those of the search that found it."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # by way of what ends the children
    children = [_Child(task, number) for number in range(task.threads)]
    best: tuple[float, _Child] | None = None
    last = 0.0
    try:
        with selectors.DefaultSelector() as ready:
            for child in children:
                ready.register(child.process.stdout, selectors.EVENT_READ, child)
            while ready.get_map():
                for child, lines in [(key.data, key.data.lines.read()) for key, _ in ready.select()]:
                    if lines is None:
                        ready.unregister(child.process.stdout)
                    for told in map(json.loads, lines or ()):
                        if "error" in told:
                            raise _ChildFailedError(told["error"])
                        if "objective" not in told:
                            child.end = told
                        elif best is None or told["objective"] < best[0]:
                            best, last = (told["objective"], child), max(last, told["seconds"])
                            report.improvement_at(last, told["objective"], told["iterations"])
    finally:
        for child in children:
            child.process.send_signal(signal.SIGINT)
        for child in children:
            child.process.wait()
    lost = [child.process.returncode for child in children if child.end is None]
    if lost:
        raise _ChildFailedError(f"a search ended with exit code {lost[0]}")
    report.end_of([child.end for child in children])
    if best and best[1].task.solution.exists():
        shutil.move(best[1].task.solution, task.solution)
    for child in children:
        child.task.solution.unlink(missing_ok=True)


def _options(adapter: Adapter) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Runs {adapter.name} for `vicinity peer` (docs/peers.md).")
    parser.add_argument("--about", action="store_true", help="say which version is here, and what it reads")
    parser.add_argument("--instance", type=Path)
    parser.add_argument("--solution", type=Path)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options, _ = parser.parse_known_args()  # the rest is the adapter's own
    if not options.about and None in (options.instance, options.solution, options.seconds):
        parser.error("--instance, --solution and --seconds are needed")
    return options


def _say(message: dict[str, Any]) -> None:
    sys.__stdout__.write(json.dumps(message) + "\n")  # whatever a peer does to sys.stdout
    sys.__stdout__.flush()


def _waited() -> float | None:
    """Seconds that the threads of this process were ready and had no processor; None where the kernel does not tell."""
    try:
        threads = [path.read_text().split() for path in Path("/proc/self/task").glob("*/schedstat")]
        return sum(int(fields[1]) for fields in threads) * 1e-9
    except (OSError, IndexError, ValueError):
        return None
