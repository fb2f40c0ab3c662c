"""mpi-openmp: the path of the reference over any number of ranks, ranks that die, limits in time, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, Program, environment
from solving import write_qap

RANKS = (1, 2, 3, 4, 7)
DESCRIPTOR = """\
schema: 1
title: "Ranks"
paper: lsm
system: lsm
problem: ppp
axes: {m: [300], n: [300], neighborhood: [hamming2], iterations: [10], ranks: [1, 2, 3]}
implementations: [cpu-serial, mpi-openmp]
protocol: {repetitions: 1, warmup: 0, time: wall}
check: {kind: identical, reference: cpu-serial}
profiles:
  smoke: {}
  quick: {}
  full: {axes: {m: [300], n: [300], neighborhood: [hamming2], iterations: [%d], ranks: [3]}}
"""

LONG_SEARCH = ("solve", "lsm", "--instance", "mine.dat", "--implementation", "mpi-openmp", "--set", "ranks=3")
LONG_SEARCH += ("--iterations", "1e9")


def absence() -> str:
    listed = subprocess.run(
        [os.environ["VICINITY_BINARY"], "list", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (lsm,) = (system for system in json.loads(listed.stdout)["systems"] if system["name"] == "lsm")
    return next(i["absence"] for i in lsm["implementations"] if i["name"] == "mpi-openmp")


needs_mpi = pytest.mark.skipif(bool(absence()), reason=absence())


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(os.environ["VICINITY_BINARY"], tmp_path)


def ranks_of(parent: int) -> list[int]:
    """Processes lsm-ranks below a process, in the order of their numbers."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    below = {parent}
    for _ in rows:
        below |= {int(pid) for pid, above, _ in rows if int(above) in below}
    return sorted(int(pid) for pid, _, name in rows if int(pid) in below and name == "lsm-ranks")


def wait_for_ranks(parent: int, count: int) -> list[int]:
    deadline = time.monotonic() + 60
    while len(found := ranks_of(parent)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@needs_mpi
@pytest.mark.parametrize("ranks", RANKS)
def test_the_path_of_the_reference(program: Program, ranks: int) -> None:
    """Random cases of all problems: uneven slices, more ranks than moves, several restarts, hill climbing."""
    result = program(
        "verify", "--random", "12", "--system", "lsm", "--implementation", "mpi-openmp", "--set", f"ranks={ranks}"
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "12 comparisons, 0 failed, 0 skipped" in result.stdout, result.stdout


@needs_mpi
def test_records_have_the_share_of_communication(program: Program) -> None:
    (program.folder / "ranks.yaml").write_text(DESCRIPTOR % 10, encoding="utf-8")
    result = program("run", "ranks.yaml", "--profile", "quick", "--machine", "m")
    assert result.returncode == 0, result.stderr
    (file,) = program.folder.glob("results/m/**/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    ours = [record for record in records if record["implementation"] == "mpi-openmp"]
    assert [record["policy"]["ranks"] for record in ours] == [1, 2, 3]
    assert len({record["digest"] for record in records}) == 1
    for record in ours:
        (wall,), (kernel,), (communication,) = (record["samples"][part] for part in ("wall", "kernel", "communication"))
        assert 0 < communication < wall and 0 < kernel < wall and kernel + communication <= wall


@needs_mpi
def test_a_rank_that_dies(program: Program) -> None:
    """One line, exit code 3, and what was recorded before stays."""
    (program.folder / "ranks.yaml").write_text(DESCRIPTOR % 1_000_000, encoding="utf-8")
    assert program("run", "ranks.yaml", "--profile", "quick", "--machine", "m").returncode == 0
    (file,) = program.folder.glob("results/m/**/*.jsonl")
    before = file.read_text(encoding="utf-8")
    command = [
        program.binary,
        "run",
        "ranks.yaml",
        "--profile",
        "full",
        "--machine",
        "m",
        "--implementation",
        "mpi-openmp",
    ]
    with subprocess.Popen(command, cwd=program.folder, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        victim = wait_for_ranks(process.pid, 3)[1]
        time.sleep(1)
        os.kill(victim, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    (line,) = (line for line in errors.splitlines() if "error" in line)
    assert line.startswith("vicinity: error: ") and "lsm-ranks: its 3 ranks have ended" in line
    assert file.read_text(encoding="utf-8") == before


@needs_mpi
def test_a_limit_in_time_reaches_all_ranks(program: Program) -> None:
    write_qap(program.folder / "mine.dat", 60)
    began = time.monotonic()
    result = program(*LONG_SEARCH, "--time", "3", "--json")
    assert result.returncode == 0, result.stderr
    assert time.monotonic() - began < 30  # starting ranks included
    assert json.loads(result.stdout)["seconds"] < 3.5


@needs_mpi
def test_ctrl_c_keeps_the_best_and_ends_all_ranks(program: Program) -> None:
    write_qap(program.folder / "mine.dat", 60)
    with subprocess.Popen(
        [program.binary, *LONG_SEARCH], cwd=program.folder, env=environment(), stderr=subprocess.PIPE
    ) as process:
        ranks = wait_for_ranks(process.pid, 3)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130 and (program.folder / "mine.sln").exists()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{rank}").exists() for rank in ranks):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_without_a_launcher_it_is_left_out_and_said_so(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICINITY_MPIEXEC", "no-such-launcher")
    (program.folder / "ranks.yaml").write_text(DESCRIPTOR % 10, encoding="utf-8")
    result = program("run", "ranks.yaml", "--profile", "quick", "--machine", "m", "--implementation", "mpi-openmp")
    assert result.returncode == 0
    assert any(line.startswith("mpi-openmp: ") for line in result.stderr.splitlines()), result.stderr
    assert not "".join(file.read_text(encoding="utf-8") for file in program.folder.glob("results/m/**/*.jsonl"))
