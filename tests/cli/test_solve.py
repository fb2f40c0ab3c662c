"""solve: the result and its file, progress, time limits and signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest
from conftest import ROOT, Program, environment, error_line, rest_of
from solving import MINE, assert_solves, cost, write_qap, write_vrp


def stop(
    program: Program, *arguments: str, sent: tuple[signal.Signals, ...] = (signal.SIGINT,)
) -> tuple[int, str, str]:
    """Starts a long search on a terminal and interrupts it when it tells how far it is; exit code, stdout, stderr."""
    ours, theirs = pty.openpty()
    command = [program.binary, *arguments]
    with subprocess.Popen(
        command, cwd=program.folder, env=environment(), stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        seen = b""
        while b" left, best " not in seen:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGSTOP)  # several signals arrive as one moment's
        for one in sent:
            process.send_signal(one)
        process.send_signal(signal.SIGCONT)
        seen += rest_of(ours)
        out, _ = process.communicate(timeout=60)
    return process.returncode, out, seen.decode()


def test_solves_a_file(mine: Program) -> None:
    result = mine("solve", *MINE, "--iterations", "2e5")
    assert result.returncode == 0, result.stderr
    stated = assert_solves(mine.folder / "mine.sln", 12)
    lines = {line[:16].strip(): line[16:] for line in result.stdout.splitlines()}
    assert list(lines) == ["instance", "implementation", "best found", "proposals", "time", "solution"]
    assert lines["instance"] == "mine.dat (12 facilities, asymmetric)"
    assert lines["best found"] == str(stated) and lines["proposals"] == "200000" and lines["solution"] == "mine.sln"
    start = cost(12, list(range(12)))
    assert stated < start


def test_json_is_all_of_stdout_and_repeats_itself(mine: Program) -> None:
    command = [
        "solve",
        "sa",
        "--instance",
        "mine.dat",
        "--iterations",
        "1e5",
        "--seed",
        "7",
        "--json",
        "--set",
        "chains=3",
    ]
    first, again = (json.loads(mine(*command, "--output", name).stdout) for name in ("a.sln", "b.sln"))
    assert first["objective"] == cost(12, first["solution"]) == assert_solves(mine.folder / "a.sln", 12)
    assert (
        first["asked"] == first["done"] == 300_000
        and first["iterations"] == 100_000
        and first["settings"] == {"chains": 3, "schedule": "acceptance"}
    )
    assert first["best_known"] is None and first["gap_percent"] is None
    assert first["feasible"] and not first["interrupted"] and first["stopped_by"] == "done"
    assert first["counters"]["accepted"] > 0 and first["per_second"] > 0
    for measured in ("implementation", "seconds", "per_second", "output"):
        first.pop(measured), again.pop(measured)
    assert first == again
    other = json.loads(mine("solve", *MINE, "--iterations", "1e5", "--seed", "8", "--json").stdout)
    assert other["digest"] != first["digest"]


def test_implementations_of_one_reference_find_the_same(mine: Program) -> None:
    (mine.folder / "experiments").mkdir()
    listing = json.loads(mine("list", "--json").stdout)
    (system,) = (s for s in listing["systems"] if s["name"] == "sa")
    found: dict[str, set] = {}
    for implementation in (i for i in system["implementations"] if i["runnable"]):
        result = mine(
            *("solve", *MINE, "--iterations", "1e4", "--json"),
            *("--implementation", implementation["name"]),
        )
        answer = json.loads(result.stdout)
        assert answer["implementation"] == implementation["name"]
        found.setdefault(implementation["reference"], set()).add((answer["digest"], answer["objective"]))
    assert len(found) == 2 and all(len(answers) == 1 for answers in found.values())  # the portfolio is its own


def test_catalogue_name_tells_the_gap(vicinity: Program) -> None:
    result = vicinity("solve", "sa", "--instance", "tai12a", "--iterations", "1e5", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["best_known"] == 224416 and answer["output"] == "tai12a.sln"
    assert answer["gap_percent"] == pytest.approx(100 * (answer["objective"] - 224416) / 224416)
    assert "(gap " in vicinity("solve", "sa", "--instance", "tai12a", "--iterations", "1e3").stdout


def test_local_search_takes_both_kinds_of_files(mine: Program) -> None:
    result = mine("solve", "lsm", *MINE[1:], "--iterations", "2000", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["objective"] == assert_solves(mine.folder / "mine.sln", 12)
    corners = "1 0 0\n2 30 40\n3 30 0\n4 0 40\n5 15 60\n"
    header = "NAME : house\nTYPE : TSP\nDIMENSION : 5\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
    (mine.folder / "house.tsp").write_text(header + corners + "EOF\n")
    result = mine("solve", "lsm", "--instance", "house.tsp", "--iterations", "50")
    assert result.returncode == 0, result.stderr
    assert "house.tsp (5 cities)" in result.stdout and "best found      160" in result.stdout
    assert "cpu-ils, seed 1" in result.stdout and "rounds          50" in result.stdout
    assert "COMMENT : length 160" in (mine.folder / "house.tour").read_text()
    again = mine("solve", "lsm", "--instance", "house.tsp", "--start", "house.tour", "--set", "method=hill", "--json")
    assert json.loads(again.stdout)["start_objective"] == 160
    assert json.loads(again.stdout)["implementation"] in ("cpu-openmp", "cpu-serial")  # a climb by swaps was asked for
    timed = mine("solve", "lsm", "--instance", "house.tsp", "--start", "house.tour", "--time", "0.3", "--json")
    answer = json.loads(timed.stdout)
    assert (answer["objective"], answer["unit"], answer["stopped_by"]) == (160, "rounds", "time")
    result = mine("solve", "lsm", "--instance", "house.tsp", "--implementation", "cpu-ils", "--set", "tenure=3")
    assert result.returncode == 3 and "has no tenure: that is of the searches by swaps" in result.stderr
    result = mine("solve", "lsm", "--instance", "house.tsp", "--set", "neighborhood=exchange3")
    assert result.returncode == 2 and "tsp: neighborhood = exchange3 is none of swap" in result.stderr


@pytest.mark.parametrize("weights", ["CEIL_2D", "ATT", "GEO", "EXPLICIT"])
def test_tours_under_every_kind_of_distance(mine: Program, weights: str) -> None:
    header = f"NAME : t\nTYPE : TSP\nDIMENSION : 6\nEDGE_WEIGHT_TYPE : {weights}\n"
    matrix = "EDGE_WEIGHT_FORMAT : UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 9 9 9 1\n1 9 9 9\n1 9 9\n1 9\n1\n"
    nodes = "NODE_COORD_SECTION\n1 0 0\n2 0 10\n3 0 20\n4 10 20\n5 10 10\n6 10 0\n"
    (mine.folder / "t.tsp").write_text(header + (matrix if weights == "EXPLICIT" else nodes) + "EOF\n")
    result = mine("solve", "lsm", "--instance", "t.tsp", "--iterations", "5", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    expected = {"CEIL_2D": 60, "ATT": 24, "EXPLICIT": 6}
    assert answer["objective"] == expected.get(weights, answer["objective"])
    assert sorted(answer["solution"]) == list(range(6))
    swaps = mine("solve", "lsm", "--instance", "t.tsp", "--implementation", "cpu-serial")
    assert swaps.returncode == 2 and f"take EUC_2D distances, not {weights}" in swaps.stderr


def test_a_tour_of_another_instance_is_said_and_kept(mine: Program) -> None:
    nodes = "NODE_COORD_SECTION\n1 0 0\n2 30 40\n3 30 0\n4 0 40\n5 15 60\nEOF\n"
    header = "NAME : house\nTYPE : TSP\nDIMENSION : 5\nEDGE_WEIGHT_TYPE : EUC_2D\n"
    (mine.folder / "house.TSP").write_text(header + nodes)
    crossed = "NAME : barn.opt.tour\nTYPE : TOUR\nTOUR_SECTION\n1 2 3 4 5\nEOF\n"
    (mine.folder / "barn.tour").write_text(crossed)
    command = ["solve", "lsm", "--instance", "house.TSP", "--iterations", "50"]
    result = mine(*command, "--start", "barn.tour")
    warning = "barn.tour:1: a tour of barn.opt.tour, not of house; the search begins with it all the same"
    assert result.returncode == 0 and f"vicinity: warning: --start: {warning}" in result.stderr.splitlines()
    assert "best found      160" in result.stdout
    result = mine(*command, "--start", "house.tour")
    assert result.returncode == 0 and "warning" not in result.stderr
    result = mine(*command, "--output", "barn.tour")
    assert result.returncode == 2 and result.stdout == ""
    assert error_line(result) == (
        "barn.tour: exists and is no solution of this instance; choose another --output, or --force "
        "(barn.tour:1: a tour of barn.opt.tour, not of house)"
    )
    assert (mine.folder / "barn.tour").read_text() == crossed
    assert mine(*command, "--output", "barn.tour", "--force").returncode == 0
    assert "NAME : house" in (mine.folder / "barn.tour").read_text()


def test_the_best_cost_in_the_first_line_of_an_instance_is_no_entry(mine: Program) -> None:
    command = ["solve", "sa", "--iterations", "1e4", "--json", "--instance"]
    plain = json.loads(mine(*command, "mine.dat").stdout)
    size, entries = (mine.folder / "mine.dat").read_text().split("\n", 1)
    (mine.folder / "stated.DAT").write_text(f"{size} 224416\n{entries}")
    result = mine(*command, "stated.DAT")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["objective"] == plain["objective"]


def test_start_is_where_the_search_begins(mine: Program) -> None:
    mine("solve", *MINE, "--iterations", "1e5")
    stated = assert_solves(mine.folder / "mine.sln", 12)
    command = ["solve", *MINE, "--start", "mine.sln", "--iterations", "1", "--seed", "99"]
    answer = json.loads(mine(*command, "--set", "t0=1e-3", "tf=1e-3", "--json", "--output", "b.sln").stdout)
    assert answer["start_objective"] == stated and answer["objective"] <= stated
    assert answer["settings"] == {"t0": 1e-3, "tf": 1e-3, "schedule": "acceptance"}
    text = mine(*command).stdout
    assert f"start           {stated} (mine.sln)" in text
    assert f"mine.sln keeps its own, which costs {stated}" in text


def test_worse_solution_does_not_replace_a_better_one(mine: Program) -> None:
    good = ["solve", *MINE, "--iterations", "1e5"]
    bad = ["solve", *MINE, "--iterations", "1", "--seed", "5"]
    mine(*bad)
    worse = assert_solves(mine.folder / "mine.sln", 12)
    mine(*good)
    better = assert_solves(mine.folder / "mine.sln", 12)
    assert better < worse
    result = mine(*bad)
    assert result.returncode == 0 and "keeps its own" in result.stdout
    assert assert_solves(mine.folder / "mine.sln", 12) == better
    kept = json.loads(mine(*bad, "--json").stdout)
    assert kept["output_kept"] and kept["objective"] == worse
    assert mine(*bad, "--force", "--quiet").stdout == ""
    assert assert_solves(mine.folder / "mine.sln", 12) == worse


def test_time_alone_chooses_the_work(mine: Program) -> None:
    result = mine("solve", *MINE, "--time", "2", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["iterations_chosen_by"] == "time" and answer["time_limit"] == 2
    assert f"about 2 s allow --iterations {answer['iterations']}" in result.stderr
    assert 10_000 < answer["done"] <= answer["asked"]
    assert_solves(mine.folder / "mine.sln", 12)


@pytest.mark.parametrize("n", [12, 100])  # of many legs and of one
def test_what_is_left_of_the_time_is_searched_from_the_best(mine: Program, n: int) -> None:
    write_qap(mine.folder / "mine.dat", n)
    searches = (mine("solve", *MINE, "--time", "2", "--json") for _ in range(10))  # others' work may use up the time
    result = next(one for one in searches if "then from the best" in one.stderr)
    answer = json.loads(result.stdout)
    first, *further = re.findall("--iterations .*", result.stderr)
    assert all((" t0=" in line) == (n == 100) for line in further)
    by = ["--implementation", answer["implementation"], "--output", "again.sln", "--json"]
    replays = [json.loads(mine("solve", *MINE, *by, *first.split()).stdout)]
    for line in further:
        replays.append(json.loads(mine("solve", *MINE, *by, "--start", "again.sln", *line.split()).stdout))
    assert [one["seed"] for one in replays] == list(range(1, 2 + len(further)))
    assert answer["asked"] == sum(one["asked"] for one in replays) >= answer["done"]
    if answer["stopped_by"] == "done":
        assert answer["done"] == answer["asked"]
        assert assert_solves(mine.folder / "again.sln", n) == answer["objective"]
    else:  # the last one was cut off
        assert replays[-2]["objective"] >= answer["objective"] >= assert_solves(mine.folder / "again.sln", n)


def test_further_searches_add_to_the_first(fake: Program) -> None:
    (fake.folder / "deer.txt").write_text("100000\n")
    result = fake("solve", "hunt", "--instance", "deer.txt", "--time", "2", "--set", "microseconds=1000", "--json")
    answer = json.loads(result.stdout)
    work = [int(steps) for steps in re.findall("--steps (\\d+)", result.stderr)]
    assert len(work) > 1 and re.findall("--seed (\\d+)", result.stderr) == [str(2 + k) for k in range(len(work) - 1)]
    assert (answer["steps"], answer["asked"]) == (work[0], sum(work))
    *whole, last = work
    done = [*whole, answer["done"] - sum(whole)]
    assert 0 < done[-1] <= last
    assert answer["objective"] == 100_000 - sum(steps // 10 for steps in done)


@pytest.mark.parametrize(("threads", "searches"), [(1, 24), (5, 25), (600, None)])
def test_time_suits_the_searches_of_a_round_to_the_threads(mine: Program, threads: int, searches: int | None) -> None:
    search = ["solve", *MINE, "--implementation", "cpu-portfolio", "--json"]
    timed = ["--time", "0.3", "--set", f"threads={threads}"]
    assert json.loads(mine(*search, *timed).stdout)["settings"].get("chains") == searches
    assert json.loads(mine(*search, *timed, "chains=7").stdout)["settings"]["chains"] == 7
    assert "chains" not in json.loads(mine(*search, "--iterations", "1e4").stdout)["settings"]


def test_a_tabu_search_goes_on_until_the_time_is_over(mine: Program) -> None:
    """Its moves do not depend on its length: no work is planned."""
    search = ["solve", "lsm", *MINE[1:], "--time", "0.5", "--json"]
    answer = json.loads(mine(*search).stdout)
    assert (answer["unit"], answer["stopped_by"], answer["asked"]) == ("moves", "time", None)
    assert answer["done"] > 0 and answer["objective"] == assert_solves(mine.folder / "mine.sln", 12)


def test_a_tabu_search_goes_on_from_the_best_of_several(mine: Program) -> None:
    """They share the time, by a plan. The one that then goes on alone takes what is left."""
    search = ["solve", "lsm", *MINE[1:], "--json", "--implementation", "cpu-serial"]
    two = ["--set", "restarts=2"]
    runs = (mine(*search, "--time", "1", *two) for _ in range(10))  # others' work may use up the time
    result = next(one for one in runs if "then from the best" in one.stderr)
    answer = json.loads(result.stdout)
    assert re.findall("then from the best.*", result.stderr) == ["then from the best --seed 2 --set restarts=1"]
    assert (answer["stopped_by"], answer["asked"], answer["iterations_chosen_by"]) == ("time", None, "time")
    moves = answer["iterations"]
    begun = json.loads(mine(*search, "--iterations", str(moves), *two, "--output", "again.sln").stdout)
    assert begun["done"] == 2 * moves < answer["done"]
    rest = str(answer["done"] - begun["done"])
    again = json.loads(mine(*search, "--start", "again.sln", "--iterations", rest, "--output", "again.sln").stdout)
    assert min(begun["objective"], again["objective"]) == answer["objective"]
    assert assert_solves(mine.folder / "mine.sln", 12) == answer["objective"]


def test_hill_climbings_need_no_plan(mine: Program) -> None:
    search = ["solve", "lsm", *MINE[1:], "--json", "--set", "method=hill", "restarts=3"]
    timed = mine(*search, "--time", "5")
    whole = mine(*search, "--iterations", "1e9", "--output", "again.sln")
    assert timed.stderr == "" and json.loads(timed.stdout)["digest"] == json.loads(whole.stdout)["digest"]


def test_time_ends_a_longer_search(mine: Program) -> None:
    result = mine("solve", *MINE, "--time", "0.5", "--iterations", "1e12")
    assert result.returncode == 0, result.stderr
    assert "of 1000000000000: stopped by --time" in result.stdout
    assert_solves(mine.folder / "mine.sln", 12)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (98, "20 of 50: reached --target"),
        (95, "50"),  # by the last step
        (94, "50: --target 94 not reached"),
    ],
)
def test_summary_says_whether_the_target_is_reached(fake: Program, target: int, said: str) -> None:
    (fake.folder / "deer.txt").write_text("100\n")
    result = fake("solve", "hunt", "--instance", "deer.txt", "--steps", "50", "--target", str(target))
    assert result.returncode == 0, result.stderr
    assert f"\nsteps           {said}\n" in result.stdout


@pytest.mark.parametrize(
    "search",
    [
        ["sa", "--instance", "mine.dat", "--iterations", "1e4"],
        ["sa", "--instance", "mine.dat", "--iterations", "1e4", "--implementation", "cpu-portfolio"],
        ["lsm", "--instance", "mine.dat", "--iterations", "50", "--set", "restarts=3"],
        ["alns", "--instance", "mine.vrp", "--calls", "3"],
        ["alns", "--instance", "mine.vrp", "--calls", "3", "--implementation", "cpu-openmp"],
    ],
)
def test_a_target_that_the_first_solution_reaches_ends_the_search(mine: Program, search: list[str]) -> None:
    write_vrp(mine.folder / "mine.vrp", 20)
    reached, missed, whole = (
        json.loads(mine("solve", *search, *target, "--json", "--force").stdout)
        for target in (["--target", "1e9"], ["--target", "1"], [])
    )
    assert reached["stopped_by"] == "target" and reached["objective"] < 1e9
    assert reached["done"] < 4  # none of the first search; of those beside it a step each
    assert missed["digest"] == whole["digest"] and missed["done"] == whole["done"]


def test_a_target_missed_in_time_is_said_in_the_unit_of_the_files(vicinity: Program) -> None:
    write_vrp(vicinity.folder / "mine.vrp", 20)
    search = ["solve", "alns", "--instance", "mine.vrp", "--set", "rounding=none"]
    result = vicinity(*search, "--time", "0.2", "--target", "1.5")
    assert result.returncode == 0, result.stderr
    assert ": stopped by --time, --target 1.50000 not reached\n" in result.stdout


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_writes_the_best_found(mine: Program, sent: signal.Signals) -> None:
    code, out, errors = stop(mine, "solve", *MINE, "--iterations", "1e12", "--json", sent=(sent,))
    assert code == 130 and "vicinity: stopping" in errors
    answer = json.loads(out)
    assert answer["interrupted"] and answer["stopped_by"] == "signal" and 0 < answer["done"] < answer["asked"]
    assert assert_solves(mine.folder / "mine.sln", 12) == answer["objective"]


def test_interrupted_between_chains(mine: Program) -> None:
    write_qap(mine.folder / "mine.dat", 3)
    result = mine("solve", *MINE, "--iterations", "20", "--set", "chains=60000", "--time", "1e-3")
    assert result.returncode == 0, result.stderr
    assert_solves(mine.folder / "mine.sln", 3)


def test_summary_says_interrupted(fake: Program) -> None:
    (fake.folder / "deer.txt").write_text("100000\n")
    command = ["solve", "hunt", "--instance", "deer.txt", "--steps", "1e6", "--set", "microseconds=1000"]
    code, out, _ = stop(fake, *command)
    assert code == 130 and "INTERRUPTED" in out
    assert int((fake.folder / "deer.caught").read_text()) < 100_000


def test_second_interrupt_ends_at_once(fake: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake.folder / "deer.txt").write_text("100000\n")
    begun = fake.folder / "begun"
    monkeypatch.setenv("FAKE_BEGUN", str(begun))
    # One step of 100 seconds: the first signal waits for its end.
    process = fake.start("solve", "hunt", "--instance", "deer.txt", "--steps", "1e6", "--set", "microseconds=1e8")
    while not begun.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.35)  # later than an echo
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "vicinity: stopping" in errors and "vicinity: interrupted" in errors
    assert not (fake.folder / "deer.caught").exists()


def test_timeout_signals_twice_at_once(mine: Program) -> None:
    # timeout(1) sends the same twice, of which the kernel may make one: here they differ, so that both arrive.
    code, _, _ = stop(mine, "solve", *MINE, "--iterations", "1e12", sent=(signal.SIGTERM, signal.SIGHUP))
    assert code == 130
    assert_solves(mine.folder / "mine.sln", 12)


def test_plain_progress_is_rare(fake: Program) -> None:
    (fake.folder / "deer.txt").write_text("1000\n")
    result = fake("solve", "hunt", "--instance", "deer.txt", "--steps", "100", "--set", "microseconds=1000")
    assert result.returncode == 0 and result.stderr == ""  # shorter than the interval


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_on_a_terminal(fake: Program, quiet: bool) -> None:
    (fake.folder / "deer.txt").write_text("1000\n")
    command = [fake.binary, "solve", "hunt", "--instance", "deer.txt", "--steps", "2000", "--set", "microseconds=1000"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command + ["--quiet"] * quiet, cwd=fake.folder, env=environment(), stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = rest_of(ours)
    assert process.returncode == 0
    assert (seen == b"") if quiet else (b" left, best 9" in seen and b"steps/s" in seen and b"(gap " in seen)


def test_infeasible_solution_is_not_written(fake: Program) -> None:
    (fake.folder / "deer.txt").write_text("100\n")
    command = ["solve", "hunt", "--instance", "deer.txt", "--implementation", "cpu-blind"]
    result = fake(*command)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == "vicinity: INVALID: cpu-blind found no solution: it got away; nothing is written\n"
    answer = json.loads(fake(*command, "--json").stdout)
    assert not answer["feasible"] and answer["solution"] is None and answer["output"] is None
    assert not (fake.folder / "deer.caught").exists()


def test_list_says_what_can_be_solved(vicinity: Program) -> None:
    (vicinity.folder / "experiments").mkdir()
    assert "vicinity solve sa --instance FILE --iterations N" in vicinity("list").stdout
    solvers = {s["name"]: s["solver"] for s in json.loads(vicinity("list", "--json").stdout)["systems"]}
    assert solvers["fang"] is None
    assert solvers["sa"]["work_axis"] == "iterations" and "t0" in solvers["sa"]["settings"]
    assert {"cpu-openmp", "cpu-serial"} <= set(solvers["sa"]["implementations"][0])
    assert solvers["lsm"]["implementations"][0] == ["cpu-ils"]


def test_work_axis_of_another_system(fake: Program) -> None:
    (fake.folder / "deer.txt").write_text("101\n")
    result = fake("solve", "hunt", "--instance", "deer.txt", "--steps", "1e2")
    assert result.returncode == 0, result.stderr
    assert "implementation  cpu-serial" in result.stdout and "steps           100" in result.stdout
    assert (fake.folder / "deer.caught").read_text() == "91\n"


EXAMPLE = re.compile(r"^\$ vicinity (solve .*--(?:iterations|calls|steps) .*)\n(instance (?:.*\n)+?)```", re.MULTILINE)
EXAMPLES = EXAMPLE.findall((ROOT / "docs" / "solving.md").read_text())


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_pages_examples_are_what_the_program_says(vicinity: Program, command: str, shown: str) -> None:
    result = vicinity(*command.split())
    if "not found in" in result.stderr:
        pytest.skip("its instance is not here")
    assert result.returncode == 0, result.stderr
    lines = zip(result.stdout.splitlines(), shown.splitlines(), strict=True)
    assert [a for a, b in lines if a != b and not b.endswith(" ...")] == []


def test_the_page_has_examples() -> None:
    assert {command.split()[1] for command, _ in EXAMPLES} == {"sa", "alns", "lns"}
