"""solve ends soon after a signal or its time, whatever one step of it takes. What is awaited here would take hours."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Program, error_line
from solving import write_qap

ENDS = 60  # seconds: what does not end by itself is found by this limit alone

# Set-up that would take hours: sampled temperatures. Long steps: an iteration of tabu search, a call of alns.
SAMPLES = ("--set", "schedule=connolly", "samples=1e10")
SAMPLED = ("sa", "--instance", "mine.dat", "--iterations", "10", *SAMPLES)
LONG = {
    "samples": [*SAMPLED],
    "samples of chains": [*SAMPLED, "chains=4"],
    "annealing": ["sa", "--instance", "mine.dat", "--iterations", "1e12"],
    "tabu": ["lsm", "--instance", "large.dat", "--iterations", "1e8"],
    "alns": ["alns", "--instance", "large.vrp", "--calls", "1e6"],
    "lns": ["lns", "--instance", "pigeons.fzn", "--steps", "1e6"],
}
IMPLEMENTATIONS = {
    "sa": ["cpu-traditional", "cpu-delta-matrix", "cpu-serial", "cpu-delta", "cpu-openmp"],
    "lsm": ["cpu-serial", "cpu-openmp"],
    "alns": ["cpu-recompute", "cpu-serial", "cpu-openmp", "cpu-hybrid"],
    "lns": ["cpu-lns"],
}
SEARCHES = [(kind, implementation) for kind, words in LONG.items() for implementation in IMPLEMENTATIONS[words[0]]]


def write_vrp(path: Path, size: int) -> None:
    """Customers around a depot, as a spiral."""
    places = [(k * 37 % 1009, k * k * 17 % 997) for k in range(size + 1)]
    coordinates = "".join(f"{k} {x} {y}\n" for k, (x, y) in enumerate(places, start=1))
    demands = "".join(f"{k} {0 if k == 1 else 1 + k % 9}\n" for k in range(1, size + 2))
    path.write_text(
        f"NAME : spiral\nTYPE : CVRP\nDIMENSION : {size + 1}\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 100\n"
        f"NODE_COORD_SECTION\n{coordinates}DEMAND_SECTION\n{demands}DEPOT_SECTION\n1\n-1\nEOF\n"
    )


def write_pigeons(path: Path, holes: int) -> None:
    """One more pigeon than holes, disequality by disequality: no solution, which no search sees soon."""
    pigeons = [f"p{k}" for k in range(holes + 1)]
    path.write_text(
        "".join(f"var 1..{holes}: {p};\n" for p in pigeons)
        + "".join(f"constraint int_ne({p},{q});\n" for k, p in enumerate(pigeons) for q in pigeons[:k])
        + f"solve minimize {pigeons[0]};\n"
    )


@pytest.fixture
def work(mine: Program) -> Program:
    write_qap(mine.folder / "large.dat", 500)
    write_vrp(mine.folder / "large.vrp", 400)
    write_pigeons(mine.folder / "pigeons.fzn", 40)
    return mine


def begun(process: subprocess.Popen[str]) -> None:
    """Waits until the process takes signals as wishes: since then it ignores SIGPIPE."""
    pipe = 1 << (signal.SIGPIPE - 1)
    for _ in range(6000):
        status = Path(f"/proc/{process.pid}/status").read_text()
        ignored = next((line for line in status.splitlines() if line.startswith("SigIgn")), "SigIgn: 0")
        if int(ignored.split()[1], 16) & pipe:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    pytest.fail("the search did not begin")


@pytest.mark.parametrize(("kind", "implementation"), SEARCHES)
def test_a_signal_ends_it_within_a_step(work: Program, kind: str, implementation: str) -> None:
    system, *words = LONG[kind]
    process = work.start("solve", system, *words, "--implementation", implementation, "--output", "o", "--json")
    begun(process)
    time.sleep(0.3)  # into the long part
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=ENDS)
    assert process.returncode == 130, errors
    answer = json.loads(out)
    if answer["feasible"]:
        assert answer["stopped_by"] == "signal" and (work.folder / "o").exists()
    else:  # these make their first solutions themselves
        assert kind in {"alns", "lns"} and "before a first solution" in errors and not (work.folder / "o").exists()


@pytest.mark.parametrize(("kind", "implementation"), [one for one in SEARCHES if one[0] not in {"alns", "lns"}])
def test_its_time_ends_it_within_a_step(work: Program, kind: str, implementation: str) -> None:
    system, *words = LONG[kind]
    arguments = [
        "solve",
        system,
        *words,
        "--implementation",
        implementation,
        "--time",
        "0.5",
        "--output",
        "o",
        "--json",
    ]
    process = work.start(*arguments)
    out, errors = process.communicate(timeout=ENDS)
    assert process.returncode == 0, errors
    answer = json.loads(out)
    assert answer["feasible"] and answer["stopped_by"] == "time"


def test_its_time_alone_covers_the_planning(work: Program) -> None:
    words = ["--time", "0.5", "--output", "o", "--json"]
    out, errors = work.start("solve", "sa", "--instance", "mine.dat", *SAMPLES, *words).communicate(timeout=ENDS)
    assert json.loads(out)["feasible"], errors


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_ends_at_once(vicinity: Program, sent: signal.Signals) -> None:
    source = Path(__file__).resolve().parents[2] / "experiments/fang/table1.yaml"
    process = vicinity.start(
        "run", str(source), "--profile", "full", "--machine", "m", "--implementation", "cpu-serial"
    )
    path = vicinity.folder / "results/m/environment.json"
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(sent)
    _, errors = process.communicate(timeout=ENDS)
    assert process.returncode == 130
    assert "vicinity: interrupted" in errors


def test_time_that_is_over_while_the_instance_is_read(vicinity: Program) -> None:
    with (vicinity.folder / "endless.vrp").open("w") as file:
        for _ in range(12):
            file.write("COMMENT : x\n" * 1_000_000)
    result = vicinity("solve", "alns", "--instance", "endless.vrp", "--time", "1e-3", "--output", "o")
    assert result.returncode == 2
    assert error_line(result) == "--time is over before the search begins; give more"
    assert not (vicinity.folder / "o").exists()


def test_a_hang_up_or_ctrl_c_that_is_ignored_stays_ignored(work: Program) -> None:
    ignored = (signal.SIGHUP, signal.SIGINT)

    def nohup() -> None:
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)

    process = subprocess.Popen(
        [work.binary, "solve", *LONG["samples"], "--output", "o"],
        cwd=work.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=nohup,
    )
    begun(process)
    for one in ignored:
        process.send_signal(one)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=ENDS)
    assert process.returncode == 130 and errors.count("stopping") == 1


def test_a_terminal_that_is_closed_costs_no_solution(work: Program) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [work.binary, "solve", *LONG["annealing"], "--output", "o"], cwd=work.folder, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    assert os.read(ours, 1)
    os.close(ours)
    time.sleep(1.5)  # it tells how far it is twice a second
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=ENDS) in (3, 130)  # 3: nor can the summary be printed
    assert (work.folder / "o").exists()


@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"])
def test_progress_that_nobody_reads_ends_no_search(work: Program, errors: str) -> None:
    command = f"{work.binary} solve sa --instance mine.dat --time 1 --output o {errors}"
    subprocess.run(["bash", "-c", command], cwd=work.folder, check=True, timeout=ENDS)
    assert (work.folder / "o").exists()
