"""Over ranks: the path of the reference for any number of them, ranks that die, limits in time, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, Program, environment
from solving import write_qap, write_vrp

RANKS = (1, 2, 3, 4, 7)
OVER_RANKS = (("lsm", "mpi-openmp"), ("lsm", "mpi-chains"), ("sa", "mpi-chains"), ("alns", "mpi-islands"))
OVER_GPUS = (("lsm", "mpi-gpu"), ("lsm", "mpi-gpu-chains"), ("sa", "mpi-gpu-chains"), ("alns", "mpi-gpu-islands"))
OVER_LSM = tuple(name for name in OVER_RANKS + OVER_GPUS if name[0] == "lsm")
DESCRIPTOR = """\
schema: 1
title: "Ranks"
paper: lsm
system: lsm
problem: ppp
axes: {m: [300], n: [300], neighborhood: [hamming2], iterations: [10], ranks: [1, 2, 3], restarts: [2]}
implementations: [cpu-serial, mpi-openmp, mpi-chains, mpi-gpu, mpi-gpu-chains]
protocol: {repetitions: 1, warmup: 0, time: wall}
check: {kind: identical, reference: cpu-serial}
profiles:
  smoke: {}
  quick: {}
  full: {axes: {m: [300], n: [300], neighborhood: [hamming2], iterations: [%d], ranks: [3], restarts: [2]}}
"""


def long_search(folder: Path, system: str, implementation: str) -> tuple[str, ...]:
    """Writes an instance, and says how to search for long on three ranks."""
    several = {"lsm": "restarts=4", "sa": "chains=4", "alns": "processes=6"}
    shared = several[system] if "openmp" not in implementation and implementation != "mpi-gpu" else "threads=1"
    if system == "alns":
        write_vrp(folder / "mine.vrp", 200)
    else:
        write_qap(folder / "mine.dat", 60)
    asked = ("--implementation", implementation, "--set", "ranks=3", "--set", shared)
    instance, work = ("mine.vrp", "--calls") if system == "alns" else ("mine.dat", "--iterations")
    asked += ("--set", "rounding=none") if system == "alns" else ()
    return "solve", system, "--instance", instance, *asked, work, "1e9"


def here(implementation: str) -> dict[str, str]:
    """The environment of a program: GPUs hidden unless they are what is asked for."""
    return environment() if "gpu" not in implementation else {**os.environ, "VICINITY_COMMIT": "0" * 40}


def absence(system: str, implementation: str) -> str:
    """Why it cannot run here; empty when it can."""
    listed = subprocess.run(
        [os.environ["VICINITY_BINARY"], "list", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (found,) = (one for one in json.loads(listed.stdout)["systems"] if one["name"] == system)
    known = [one for one in found["implementations"] if one["name"] == implementation]
    if not known:
        return "GPU code is not built"
    return "" if known[0]["runnable"] else known[0]["absence"] or "no GPU"


def for_each(*names: tuple[str, str]) -> pytest.MarkDecorator:
    """A test for each of these implementations, skipped where it cannot run."""
    whys = {name: absence(*name) for name in names}
    cases = [pytest.param(*name, marks=pytest.mark.skipif(bool(why), reason=why)) for name, why in whys.items()]
    return pytest.mark.parametrize(("system", "implementation"), cases)


needs_mpi = pytest.mark.skipif(bool(absence("lsm", "mpi-openmp")), reason=absence("lsm", "mpi-openmp"))


@needs_mpi
def test_a_rank_that_fails_ends_though_its_input_stays_open() -> None:
    rank = subprocess.Popen(
        [Path(os.environ["VICINITY_BUILD"]) / "lsm-ranks"],
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert rank.stdin and rank.stderr
    try:
        rank.stdin.write('{"do":"prepare","implementation":"none-such"}\n')
        rank.stdin.flush()
        assert rank.wait(60) != 0
        assert "rank 0: no ranks of none-such" in rank.stderr.read()
    finally:
        rank.kill()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(os.environ["VICINITY_BINARY"], tmp_path)


def run(program: Program, implementation: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command, folder = [program.binary, *arguments], program.folder
    return subprocess.run(
        command, cwd=folder, env=here(implementation), capture_output=True, text=True, timeout=280, check=False
    )


def ranks_of(parent: int) -> list[int]:
    """Ranks below a process, in the order of their numbers."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    below = {parent}
    for _ in rows:
        below |= {int(pid) for pid, above, _ in rows if int(above) in below}
    return sorted(
        int(pid) for pid, _, name in rows if int(pid) in below and name in ("lsm-ranks", "sa-ranks", "alns-ranks")
    )


def wait_for_ranks(parent: int, count: int) -> list[int]:
    deadline = time.monotonic() + 60
    while len(found := ranks_of(parent)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("ranks", RANKS)
@for_each(*OVER_RANKS, *OVER_GPUS)
def test_the_path_of_the_reference(program: Program, ranks: int, system: str, implementation: str) -> None:
    """Random cases of all problems: uneven slices, more ranks than moves, several restarts, hill climbing."""
    asked = ("--system", system, "--implementation", implementation, "--set", f"ranks={ranks}")
    result = run(program, implementation, "verify", "--random", "12", *asked)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "12 comparisons, 0 failed, 0 skipped" in result.stdout, result.stdout


@needs_mpi
def test_records_have_the_share_of_communication(program: Program) -> None:
    (program.folder / "ranks.yaml").write_text(DESCRIPTOR % 10, encoding="utf-8")
    result = program("run", "ranks.yaml", "--profile", "quick", "--machine", "m")
    assert result.returncode == 0, result.stderr
    (file,) = program.folder.glob("results/m/**/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len({record["digest"] for record in records}) == 1
    for implementation in ("mpi-openmp", "mpi-chains"):
        ours = [record for record in records if record["implementation"] == implementation]
        assert [record["policy"]["ranks"] for record in ours] == [1, 2, 3]
        for record in ours:
            (wall,), (kernel,), (communication,) = (
                record["samples"][part] for part in ("wall", "kernel", "communication")
            )
            assert 0 < communication < wall and 0 < kernel < wall and kernel + communication <= wall


@for_each(*OVER_LSM)
def test_a_rank_that_dies(program: Program, system: str, implementation: str) -> None:
    """One line, exit code 3, and what was recorded before stays."""
    asked = ("run", "ranks.yaml", "--machine", "m", "--implementation", implementation)
    (program.folder / "ranks.yaml").write_text(DESCRIPTOR % 1_000_000, encoding="utf-8")
    assert run(program, implementation, *asked, "--profile", "quick").returncode == 0
    (file,) = program.folder.glob("results/m/**/*.jsonl")
    before = file.read_text(encoding="utf-8")
    assert before.count(f'"{implementation}"') >= 3
    command = [program.binary, *asked, "--profile", "full"]
    with subprocess.Popen(
        command, cwd=program.folder, env=here(implementation), stderr=subprocess.PIPE, text=True
    ) as process:
        victim = wait_for_ranks(process.pid, 3)[1]
        time.sleep(2)
        os.kill(victim, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    (line,) = (line for line in errors.splitlines() if "error" in line)
    assert line.startswith("vicinity: error: ") and f"{system}-ranks: its 3 ranks have ended" in line
    assert file.read_text(encoding="utf-8") == before


@for_each(*OVER_RANKS, *OVER_GPUS)
def test_a_limit_in_time_reaches_all_ranks(program: Program, system: str, implementation: str) -> None:
    # ``run`` has a time limit of its own, which a rank that goes on would exceed.
    result = run(program, implementation, *long_search(program.folder, system, implementation), "--time", "3", "--json")
    assert result.returncode == 0, result.stderr
    assert 0 < json.loads(result.stdout)["done"] < 1e9


@for_each(*OVER_RANKS, *OVER_GPUS)
def test_ctrl_c_keeps_the_best_and_ends_all_ranks(program: Program, system: str, implementation: str) -> None:
    command = [program.binary, *long_search(program.folder, system, implementation)]
    with subprocess.Popen(command, cwd=program.folder, env=here(implementation), stderr=subprocess.PIPE) as process:
        ranks = wait_for_ranks(process.pid, 3)
        time.sleep(5 if "gpu" in implementation else 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130 and any(file.suffix in (".sln", ".sol") for file in program.folder.glob("mine.*"))
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
