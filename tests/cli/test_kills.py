"""Kills at random moments: no line lost or torn, no solution replaced by a worse one or by half of one."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Program
from solving import assert_solves, cost, solution

MOMENTS = 25  # for run, and as many for solve
SLOW = {
    "implementations": "implementations: [cpu-slow]",
    "  size": "  size: [1, 2, 3, 4, 6, 7, 8, 9]\n  milliseconds: [1]",
}


def kill_after(process: subprocess.Popen[str], seconds: float, how: signal.Signals) -> int:
    """The exit code; where it ended before, its own."""
    time.sleep(seconds)
    process.send_signal(how)
    process.communicate(timeout=60)  # ends when the last holder of the pipes has ended
    return process.returncode


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True) if path.exists() else []


@pytest.mark.parametrize("processes", [1, 2])
def test_run_killed_at_any_moment_goes_on(fake: Program, processes: int) -> None:
    draw = random.Random(20 + processes)
    arguments = ["run", fake.descriptor(**SLOW), "--machine", "m", "--processes", str(processes)]
    path, known = fake.folder / "results/m/fake/table.jsonl", list[str]()
    for moment in range(MOMENTS):
        how = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
        fresh = ["--fresh"] if moment % 5 == 4 else []
        code = kill_after(fake.start(*arguments, *fresh), draw.uniform(0, 0.2), how)
        assert code in (0, 130, -how), code
        now = lines(path)
        assert now[: len(known)] == known, "a line is lost"
        for line in now[:-1]:
            assert line.endswith("\n") and json.loads(line)["status"] == "ok", "a line is torn"
        known = now if not now or now[-1].endswith("\n") else now[:-1]
    result = fake(*arguments)
    assert result.returncode == 0, result.stderr
    assert lines(path)[: len(known)] == known
    done = {(one["case"]["size"], one["process"]["number"]) for one in fake.records()}
    assert done == {(size, number) for size in (1, 2, 3, 4, 6, 7, 8, 9) for number in range(1, processes + 1)}
    left = {p.name for p in path.parent.iterdir()} | {p.name for p in path.parent.parent.iterdir()}
    assert {name for name in left if not name.endswith(".tmp")} == {"table.jsonl", "environment.json", "fake"}


def test_solve_killed_at_any_moment_keeps_the_best(mine: Program) -> None:
    draw = random.Random(7)
    path, best = mine.folder / "o.sln", None
    for seed in range(MOMENTS):
        how = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        words = ["--iterations", draw.choice(["1000", "1e5", "1e12"]), "--seed", str(seed), "--output", "o.sln"]
        code = kill_after(
            mine.start("solve", "sa", "--instance", "mine.dat", *words, "--quiet"), draw.uniform(0, 0.25), how
        )
        assert code in (0, 130, -how), code
        if path.exists():
            now = assert_solves(path, 12)  # whole, and worth what it says
            assert best is None or now <= best, "a better solution is lost"
            best = now
    assert best is not None
    size, stated, permutation = solution(path)
    assert (size, stated) == (12, cost(12, permutation))
