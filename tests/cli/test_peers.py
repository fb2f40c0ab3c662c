"""vicinity peer: what is asked of an adapter, what is made of its answer, and the adapters whose peers are here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Program, environment, error_line

DESCRIPTOR = """\
schema: 1
title: "A few customers"
paper: none
system: alns
problem: vrp
axes: {{size: [6], limit_percent: [{limit}], threads: [1], calls: [1000000]}}
implementations: [cpu-hybrid]
protocol: {{repetitions: 1, warmup: 0, time: wall, seeds: [3, 4]{budget}, trace: true}}
check: {{kind: prefix, iterations: 1, reference: cpu-hybrid}}
profiles: {{smoke: {{}}, quick: {{}}, full: {{}}}}
"""

# Answers --about, notes its arguments, then does what the test says.
ADAPTER = """\
import json, pathlib, sys, time
say = lambda **message: print(json.dumps(message), flush=True)
if "--about" in sys.argv:
    say(name="Fake", version="7", program="fake", reads="{reads}")
    sys.exit()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open("asked.jsonl", "a") as out:
    out.write(json.dumps(given) + "\\n")
solution = pathlib.Path(given["--solution"])
each_alone = "".join(f"Route #{{k}}: {{k}}\\n" for k in range(1, 7))
{action}
"""
GOOD = "solution.write_text(each_alone); say(seconds=0.25, iterations=9)"


@pytest.fixture
def fake_peer(vicinity: Program):
    def run(action: str = GOOD, *arguments: str, reads: str = "CVRPLIB .vrp", budget: bool = True, limit: int = 0):
        text = DESCRIPTOR.format(budget=", budget: {seconds: 0.5}" if budget else "", limit=limit)
        (vicinity.folder / "few.yaml").write_text(text)
        (vicinity.folder / "fake.py").write_text(ADAPTER.format(action=action, reads=reads))
        command = ["peer", "few.yaml", "--machine", "m", "--adapter", "python3 fake.py", *arguments]
        return vicinity(*command)

    run.program = vicinity
    return run


def records(vicinity: Program) -> list[dict]:
    return vicinity.records("alns/few")


def test_it_is_asked_and_recorded_once_a_seed(fake_peer):
    result = fake_peer()
    assert result.returncode == 0, result.stderr
    found = records(fake_peer.program)
    assert [r["seeds"] for r in found] == [[3], [4]]
    for record in found:
        assert record["system"] == "peer" and record["implementation"] == "Fake 7" and record["status"] == "ok"
        assert record["peer"] == {"name": "Fake", "version": "7", "program": "fake"}
        assert record["samples"] == {"wall": [0.25]} and record["iterations"] == 9 and record["verified"]
        assert record["trace"][-1]["objective"] == record["objective"] > 0
        assert "reference" not in record
    asked = [json.loads(line) for line in (fake_peer.program.folder / "asked.jsonl").read_text().splitlines()]
    assert [a["--seed"] for a in asked] == ["3", "4"]
    assert asked[0]["--threads"] == "1" and float(asked[0]["--seconds"]) == 0.5 and int(asked[0]["--scale"]) == 1000
    again = fake_peer()
    assert "0 of 2 to measure, 2 recorded" in again.stderr and len(records(fake_peer.program)) == 2
    assert len((fake_peer.program.folder / "asked.jsonl").read_text().splitlines()) == 2


def test_only_improvements_stay_in_the_trace(fake_peer):
    tell = "[say(seconds=s, objective=o) for s, o in ((0.1, 9e8), (0.2, 9.5e8), (0.2, 8e8))]; say(seconds=0.3)"
    result = fake_peer("solution.write_text(each_alone);" + tell)
    assert result.returncode == 1  # what it told last is not what it arrived at
    record = records(fake_peer.program)[0]
    assert record["message"].startswith("it tells an objective of 800000000, the oracle finds ")
    assert [p["objective"] for p in record["trace"]] == [900000000, 800000000]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("solution.write_text('Route #1: 1 2\\n'); say(seconds=1)", "the oracle rejects its solution: "),
        ("say(seconds=0.1, objective=5); say(seconds=1)", "it claims a solution and writes none"),
        ("say(error='no licence')", "no licence"),
        ("print('hello')", "'hello' is no message of an adapter"),
        ("sys.exit(4)", "the adapter ended with exit code 4"),
        ("pass", "the adapter did not say how long its search took"),
        ("say(seconds=2, objective=1); say(seconds=1, objective=1)", "is no message of an adapter"),
        ("say(seconds=1e300)", "is no message of an adapter"),
        ("say(seconds=0)", "is no message of an adapter"),
        ("say(seconds=2, objective=1); say(seconds=1)", "is no message of an adapter"),
    ],
)
def test_what_cannot_be_believed_is_invalid_and_asked_again(fake_peer, action, message):
    assert fake_peer(action).returncode == 1
    found = records(fake_peer.program)
    assert all(r["status"] == "invalid" and message in r["message"] and r["samples"] == {} for r in found), found
    assert fake_peer().returncode == 0
    assert [r["status"] for r in records(fake_peer.program)] == ["invalid"] * 2 + ["ok"] * 2


def test_a_route_limit_is_the_oracles(fake_peer):
    together = "solution.write_text('Route #1: 1 2 3 4 5 6\\n'); say(seconds=1)"
    assert fake_peer(together, limit=100).returncode == 1
    assert "the oracle rejects its solution" in records(fake_peer.program)[0]["message"]


def test_no_solution_in_time_is_a_result(fake_peer):
    assert fake_peer("say(seconds=0.5)").returncode == 0
    assert [(r["status"], r["message"]) for r in records(fake_peer.program)] == [
        ("skipped", "no solution within 0.5 s")
    ] * 2
    assert "0 of 2 to measure" in fake_peer().stderr


def test_who_reads_another_format_is_left_out(fake_peer):
    result = fake_peer(reads="FlatZinc .fzn")
    assert result.returncode == 0 and "0 of 0 to measure" in result.stderr


def test_an_experiment_without_a_time_limit_is_no_comparison(fake_peer):
    result = fake_peer(budget=False)
    assert result.returncode == 2
    assert error_line(result).startswith("few.yaml: peers are measured where a search has a budget in seconds")


def test_a_peer_that_is_not_there_is_said(vicinity):
    (vicinity.folder / "few.yaml").write_text(DESCRIPTOR.format(budget=", budget: {seconds: 1}", limit=0))
    result = vicinity("peer", "few.yaml", "--adapter", "/nowhere/adapter")
    assert result.returncode == 3 and "--adapter '/nowhere/adapter': " in result.stderr


def test_ctrl_c_ends_it_and_keeps_what_is_recorded(fake_peer):
    assert fake_peer(GOOD, "--where", "size=6").returncode == 0
    action = "(time.sleep(60) if given['--seed'] == '4' else None); " + GOOD
    (fake_peer.program.folder / "fake.py").write_text(ADAPTER.format(action=action, reads="CVRPLIB .vrp"))
    arguments = ("peer", "few.yaml", "--machine", "m", "--adapter", "python3 fake.py", "--fresh")
    process = fake_peer.program.start(*arguments)
    while len(records(fake_peer.program)) < 3:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    process.communicate()
    assert len(records(fake_peer.program)) == 3


def is_gone(note: Path) -> bool:
    """The process whose number the file has; perhaps nobody has asked for its exit code. It is given a moment."""
    stat = Path("/proc") / note.read_text() / "stat"
    for _ in range(500):
        try:
            if stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


CHILD = (
    "import subprocess; child = subprocess.Popen(['sleep', '1000']); pathlib.Path('pid').write_text(str(child.pid)); "
)


def test_what_an_adapter_leaves_behind_ends_with_it(fake_peer):
    """It has the adapter's output, too: its end is not waited for."""
    result = fake_peer(CHILD + GOOD)
    assert result.returncode == 0, result.stderr
    assert [r["status"] for r in records(fake_peer.program)] == ["ok", "ok"]
    assert is_gone(fake_peer.program.folder / "pid")


def test_ctrl_c_ends_an_adapter_that_does_not_listen(fake_peer):
    folder = fake_peer.program.folder
    fake_peer()  # writes the descriptor
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    text = ADAPTER.format(action=deaf + CHILD + "time.sleep(1000)", reads="CVRPLIB .vrp")
    (folder / "fake.py").write_text(text)
    process = fake_peer.program.start(
        "peer", "few.yaml", "--machine", "m", "--adapter", "python3 fake.py", "--results", "other"
    )
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    process.communicate()
    assert is_gone(folder / "pid")


def test_its_environment_is_that_of_our_runs_and_the_adapters_the_users(fake_peer, monkeypatch):
    ours = ("OMP_", "GOMP_", "VICINITY_THREAD", "VICINITY_PROC")
    for name in [name for name in os.environ if name.startswith(ours)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_DYNAMIC", "false")
    note = f"import os; pathlib.Path('seen').write_text(' '.join(n for n in os.environ if n.startswith({ours}))); "
    assert fake_peer(note + GOOD).returncode == 0
    folder = fake_peer.program.folder
    assert (folder / "seen").read_text() == "OMP_DYNAMIC"
    stored = json.loads((folder / "results/m/environment.json").read_text())["cpu"]
    assert stored == json.loads(fake_peer.program("environment", "--json").stdout)["cpu"]


# --- the adapters, where their peers are installed

PYTHON = Path(os.environ.get("VICINITY_PEERS_PYTHON", ROOT / "peers/.venv/bin/python"))


def adapter_command(name: str) -> str:
    if not PYTHON.exists():
        pytest.skip(f"no environment for peers: {PYTHON} (make peers makes it)")
    script, *rest = name.split()
    command = [str(PYTHON), str(ROOT / "peers" / f"{script}.py"), *rest]
    about = subprocess.run([*command, "--about"], capture_output=True, text=True, check=False)
    if about.returncode != 0:
        pytest.skip(f"{name}: {about.stdout.strip()}")
    return " ".join(command)


@pytest.mark.parametrize("name", ["cp_sat", "cuopt", "gecode", "hgs_cvrp", "py_vrp", "robust_tabu"])
def test_help_needs_no_package(name: str) -> None:
    command = [sys.executable, "-S", str(ROOT / f"peers/{name}.py"), "--help"]  # -S: none is seen
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stdout.startswith(f"usage: {name}.py"), result.stderr


@pytest.mark.parametrize("name", ["hgs_cvrp", "py_vrp"])
@pytest.mark.parametrize("limit", [0, 110])
def test_routing_adapters(vicinity: Program, name: str, limit: int) -> None:
    text = DESCRIPTOR.format(budget=", budget: {seconds: 2}", limit=limit)
    (vicinity.folder / "few.yaml").write_text(text.replace("size: [6]", "size: [60], service: [7]"))
    result = vicinity("peer", "few.yaml", "--machine", "m", "--adapter", adapter_command(name))
    assert result.returncode == 0, result.stdout + result.stderr
    for record in records(vicinity):
        assert record["status"] == "ok" and len(record["trace"]) > 1
        assert record["samples"]["wall"][0] > 1.9


MODEL = """\
schema: 1
title: "A knapsack"
paper: none
system: lns
problem: knapsack
axes: {items: [20], range: [50], threads: [1], steps: [1000000]}
implementations: [cpu-openmp]
protocol: {repetitions: 1, warmup: 0, time: wall, seeds: [1], budget: {seconds: 2}, trace: true}
check: {kind: prefix, iterations: 1, reference: cpu-openmp}
profiles: {smoke: {}, quick: {}, full: {}}
"""


@pytest.mark.parametrize("name", ["cp_sat", "gecode", "gecode --relax"])
def test_constraint_adapters_maximise(vicinity: Program, name: str) -> None:
    (vicinity.folder / "sack.yaml").write_text(MODEL)
    result = vicinity("peer", "sack.yaml", "--machine", "m", "--adapter", adapter_command(name))
    assert result.returncode == 0, result.stdout + result.stderr
    (record,) = vicinity.records("lns/sack")
    gains = [point["objective"] for point in record["trace"]]
    assert record["objective_sense"] == "maximise" and gains == sorted(gains)
    if name == "cp_sat":
        assert record["objective"] == record["best_known"]


def test_make_peers_says_who_is_absent() -> None:
    if not PYTHON.exists() or shutil.which("fzn-gecode") is None:
        pytest.skip("the peers are not installed")
    command = [str(PYTHON), str(ROOT / "peers/gecode.py"), "--about"]
    absent = subprocess.run(command, env={**environment(), "PATH": ""}, capture_output=True, text=True, check=False)
    assert absent.returncode == 1 and "fzn-gecode is not on the path (Debian: flatzinc)" in absent.stdout


# Prints what rots-qap of QAP-codes prints, and goes on until it is killed.
ROTS = """\
#!/usr/bin/env python3
import sys, time
seed = int(sys.argv[sys.argv.index("-s") + 1])
print("QAP infos:  size:3")
for k, cost in enumerate({costs}):
    print(f"iter: {{8 * k:8}}  cost: {{cost + seed:9}}  time:      0.00 sec *** IMPROVED ***")
    print("2 0 1 ")
{end}
"""


def robust_tabu(folder: Path, costs: list[int], end: str, threads: int = 1) -> tuple[int, list[dict]]:
    program = folder / "rots-qap"
    program.write_text(ROTS.format(costs=costs, end=end))
    program.chmod(0o755)
    command = ["python3", str(ROOT / "peers" / "robust_tabu.py"), "--instance", "any.dat", "--seconds", "1.5"]
    command += ["--solution", str(folder / "found.sln"), "--threads", str(threads), "--seed", "5"]
    env = {**environment(), "ROTS_QAP": str(program)}
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def test_robust_tabu_is_ended_and_its_best_is_told(tmp_path: Path) -> None:
    status, told = robust_tabu(tmp_path, [100, 70], "time.sleep(1000)", threads=2)  # seeds 10 and 11
    assert status == 0, told
    *improvements, end = told
    assert improvements[-1]["objective"] == 80 and improvements[-1]["iterations"] == 8
    objectives = [one["objective"] for one in improvements]
    assert objectives == sorted(set(objectives), reverse=True) and set(objectives) <= {110, 111, 81, 80}
    assert 1.5 <= end["seconds"] < 15 and end["iterations"] == 16
    assert (tmp_path / "found.sln").read_text() == "3 80\n3 1 2\n"


def test_robust_tabu_leaves_no_process_behind(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = tmp_path / "rots-qap"
    program.write_text(f"#!/bin/sh\necho $$ >{note}.new; mv {note}.new {note}; exec sleep 1000\n")
    program.chmod(0o755)
    command = ["python3", str(ROOT / "peers" / "robust_tabu.py"), "--instance", "any.dat", "--seconds", "100"]
    command += ["--solution", str(tmp_path / "found.sln")]
    run = subprocess.Popen(command, env={**environment(), "ROTS_QAP": str(program)}, start_new_session=True)
    while not note.exists():
        assert run.poll() is None
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_robust_tabu_that_fails_or_finds_nothing(tmp_path: Path) -> None:
    status, told = robust_tabu(tmp_path, [100], "sys.exit(4)")
    assert status == 1 and told[-1] == {"error": "RuntimeError: rots-qap ended with exit code 4"}
    status, of_two = robust_tabu(tmp_path, [100], "sys.exit(4)", threads=2)
    assert status == 1 and of_two[-1] == told[-1] and sorted(p.name for p in tmp_path.iterdir()) == ["rots-qap"]
    status, told = robust_tabu(tmp_path, [], "time.sleep(1000)")
    assert status == 0 and len(told) == 1 and not (tmp_path / "found.sln").exists()


# Three customers on a line, the depot at 0; the service at each takes 0.5.
LINE = """\
NAME : line
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 5
DISTANCE : 9.5
SERVICE_TIME : 0.5
NODE_COORD_SECTION
1 0 0
2 1 0
3 2 0
4 4 0
DEMAND_SECTION
1 0
2 2
3 3
4 1
DEPOT_SECTION
1
-1
EOF
"""

# Notes what cuopt_route is given, and says what it would.
CUOPT = """\
#!/usr/bin/env python3
import json, pathlib, struct, sys, time
if sys.argv[1:] == ["--version"]:
    print("7.0")
    sys.exit()
numbers = struct.unpack("<4if4i16f", sys.stdin.buffer.read())
pathlib.Path({note!r}).write_text(json.dumps([sys.argv[1:], numbers]))
print("[CUOPT] [info] a message", flush=True)
{end}
"""


def cuopt(folder: Path, end: str, *options: str) -> tuple[int, list[dict]]:
    if not PYTHON.exists():
        pytest.skip(f"no environment for peers: {PYTHON} (make peers makes it)")
    program = folder / "cuopt_route"
    program.write_text(CUOPT.format(note=str(folder / "note"), end=end))
    program.chmod(0o755)
    (folder / "line.vrp").write_text(LINE)
    command = [str(PYTHON), str(ROOT / "peers" / "cuopt.py"), "--instance", str(folder / "line.vrp"), *options]
    command += ["--solution", str(folder / "found.sol"), "--scale", "1000", "--seconds", "1.5", "--seed", "5"]
    env = {**environment(), "CUOPT_ROUTE": str(program)}
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def test_cuopt_is_given_durations_and_its_lengths_are_told(tmp_path: Path) -> None:
    end = "time.sleep(1.5); print('ready', flush=True); time.sleep(0.6); print('solved', flush=True); "
    end += "time.sleep(1.5); print('route 2 1'); print('route 3')"
    status, told = cuopt(tmp_path, end, "--fixed-costs")
    assert status == 0, told
    best, last = told
    assert best["objective"] == 4000 + 8000
    assert 0.3 < best["seconds"] == last["seconds"] < 2.0  # neither what it read nor what it wrote
    assert (tmp_path / "found.sol").read_text() == "Route #1: 2 1\nRoute #2: 3\n"
    arguments, (nodes, vehicles, fewest, capacity, limit, *rest) = json.loads((tmp_path / "note").read_text())
    assert arguments == ["1.5", "5", "fixed-costs"]
    assert (nodes, vehicles, fewest, capacity) == (4, 3, 2, 5) and rest[:4] == [0, 2, 3, 1]
    costs = [rest[k : k + 4] for k in range(4, 20, 4)]
    assert costs == [[0, 1.25, 2.25, 4.25], [1.25, 0, 1.5, 3.5], [2.25, 1.5, 0, 2.5], [4.25, 3.5, 2.5, 0]]
    assert 9.5 < limit < 9.501  # a route of 9.5 is one, a route of a thousandth more is none


def test_cuopt_that_finds_nothing_or_fails(tmp_path: Path) -> None:
    status, told = cuopt(tmp_path, "print('ready'); print('none')")
    assert status == 0 and len(told) == 1 and not (tmp_path / "found.sol").exists()
    status, told = cuopt(tmp_path, "print('failed no CUDA-capable device is detected'); sys.exit(1)")
    assert status == 1 and told == [{"error": "RuntimeError: no CUDA-capable device is detected"}]
    status, told = cuopt(tmp_path, "sys.exit(4)")
    assert status == 1 and told == [{"error": "RuntimeError: cuopt_route ended with exit code 4"}]


def test_cuopt_that_is_absent_or_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "peers" / "cuopt.py"), "--about"]
    program = tmp_path / "cuopt_route"
    env = {**environment(), "CUOPT_ROUTE": str(program)}
    absent = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert absent.returncode == 1 and "cannot be run: peers/build_cuopt builds it" in absent.stdout
    program.write_text("#!/bin/sh\necho no libcublas >&2; exit 127\n")
    program.chmod(0o755)
    broken = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert broken.returncode == 1 and "no libcublas" in broken.stdout


FILE = Path(os.environ.get("VICINITY_INSTANCES", "")) / "qaplib" / "tai12a.dat"
QAP = """\
schema: 1
title: "A few facilities"
paper: none
system: sa
problem: qap
instances: [tai12a]
axes: {iterations: [1000000000], schedule: [acceptance], threads: [1]}
implementations: [cpu-openmp]
protocol: {repetitions: 1, warmup: 0, time: wall, seeds: [1], budget: {seconds: 0.5}, trace: true}
check: {kind: prefix, iterations: 1000, reference: cpu-serial}
profiles: {smoke: {}, quick: {}, full: {}}
"""


def as_it_is(vicinity: Program) -> subprocess.CompletedProcess[str]:
    """A peer that leaves the facilities where they are."""
    action = """\
numbers = [int(word) for word in open(given["--instance"]).read().split()]
n = numbers[0]
cost = sum(a * b for a, b in zip(numbers[1 : n * n + 1], numbers[n * n + 1 :]))
solution.write_text(f"{n} {cost}\\n" + " ".join(str(k + 1) for k in range(n)) + "\\n")
say(seconds=0.25, objective=cost, iterations=9); say(seconds=0.5, iterations=9)"""
    (vicinity.folder / "few.yaml").write_text(QAP)
    (vicinity.folder / "fake.py").write_text(ADAPTER.format(action=action, reads="QAPLIB .dat"))
    return vicinity("peer", "few.yaml", "--machine", "m", "--adapter", "python3 fake.py")


@pytest.mark.skipif(not FILE.is_file(), reason="VICINITY_INSTANCES has no qaplib/tai12a.dat")
def test_a_quadratic_assignment_goes_to_a_peer_as_its_file(vicinity: Program) -> None:
    result = as_it_is(vicinity)
    (record,) = vicinity.records("sa/few")
    assert result.returncode == 0 and record["status"] == "ok" and record["feasible"], record
    numbers = [int(word) for word in FILE.read_text().split()]
    assert record["objective"] == sum(a * b for a, b in zip(numbers[1:145], numbers[145:], strict=True))


def test_without_a_file_the_case_is_skipped(vicinity: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICINITY_INSTANCES", str(vicinity.folder))
    as_it_is(vicinity)
    (record,) = vicinity.records("sa/few")
    assert record["status"] == "skipped" and record["message"].endswith("there is no file of tai12a")
