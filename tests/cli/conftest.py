"""Drives the program as a user does: processes, files, signals, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from solving import write_qap

# Where it is ignored, as in a shell's background, the programs would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTOR = """\
schema: 1
title: "A fake table"
paper: none
system: fake
problem: count
axes:
  size: [10, 13]
implementations: [cpu-serial, cpu-openmp]
protocol: {repetitions: 5, warmup: 1, time: kernel}
check: {kind: identical, reference: cpu-serial}
profiles:
  smoke: {axes: {size: [2]}}
  quick: {}
  full: {}
"""


def environment() -> dict[str, str]:
    # No device: the same outcome on every machine.
    return {**os.environ, "CUDA_VISIBLE_DEVICES": "", "VICINITY_COMMIT": "0" * 40}


def rest_of(terminal: int) -> bytes:
    """Everything until the other end is closed."""
    seen = b""
    try:
        while block := os.read(terminal, 4096):
            seen += block
    except OSError:
        pass
    os.close(terminal)
    return seen


class Program:
    """One of the two programs, run in a folder of its own."""

    def __init__(self, binary: str, folder: Path) -> None:
        self.binary = binary
        self.folder = folder

    def __call__(
        self, *arguments: str, preexec_fn: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.binary, *arguments],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=preexec_fn,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.binary, *arguments],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def descriptor(self, name: str = "table", **changes: str) -> str:
        """Writes the fake descriptor with whole lines replaced: descriptor(axes="axes: {size: [1]}")."""
        text = DESCRIPTOR
        for old, new in changes.items():
            lines = [new if line.startswith(f"{old}:") else line for line in text.splitlines()]
            text = "\n".join(lines) + "\n"
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path.name

    def records(self, experiment: str = "fake/table", machine: str = "m") -> list[dict]:
        path = self.folder / "results" / machine / f"{experiment}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def binary(variable: str) -> str:
    path = os.environ.get(variable)
    if not path:
        pytest.fail(f"{variable} is not set: run these tests through ctest")
    return path


@pytest.fixture
def fake(tmp_path: Path) -> Program:
    return Program(binary("VICINITY_FAKE_BINARY"), tmp_path)


@pytest.fixture
def vicinity(tmp_path: Path) -> Program:
    return Program(binary("VICINITY_BINARY"), tmp_path)


@pytest.fixture
def mine(vicinity: Program) -> Program:
    """The real program in a folder with an instance of 12 facilities, mine.dat."""
    write_qap(vicinity.folder / "mine.dat", 12)
    return vicinity


def error_line(result: subprocess.CompletedProcess[str]) -> str:
    """The one error line; there must be exactly one."""
    lines = [line for line in result.stderr.splitlines() if "error" in line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("vicinity: error: ")
    return lines[0].removeprefix("vicinity: error: ")
