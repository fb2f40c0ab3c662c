"""solve with constraint models, and the models of the repository through MiniZinc."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Program

MINIZINC = shutil.which("minizinc")
needs_minizinc = pytest.mark.skipif(MINIZINC is None, reason="minizinc is not installed (apt-get install minizinc)")
MODELS = ROOT / "data" / "models"
COMPILED = {
    "transportation.fzn": ["transportation.mzn"],
    "tsp_ulysses16.fzn": ["tsp.mzn", "ulysses16.dzn"],
    "knapsack_100.fzn": ["binary_knapsack.mzn", "knapsack_100.dzn"],
    "coins_grid.fzn": ["coins_grid.mzn"],
}
# A graph, flows, pairs: enough for each of the other models.
SMALL = {
    "csp.mzn": "n = 3; d = 3; m = 3; pair = [|1, 2|1, 3|2, 3|];",
    "mkcp.mzn": "n = 3; colours = 4; m = 1; edge = [|1, 2|]; order = [3, 1, 2];",
    "mkcp_permutation.mzn": "n = 3; m = 2; edge = [|1, 2|2, 3|];",
    "qap.mzn": "n = 3; flow = [|0, 2, 1|0, 0, 3|0, 0, 0|]; distance = [|0, 5, 2|4, 0, 1|3, 6, 0|];",
}
OBJECTIVES = {"csp.mzn": None, "mkcp.mzn": 6, "mkcp_permutation.mzn": 3, "qap.mzn": 15}
KNAPSACK = (
    "".join(f"var 0..1: x{k};\n" for k in range(1, 7))
    + "var 0..99: p :: output_var;\nconstraint int_lin_le([4,5,6,7,8,9],[x1,x2,x3,x4,x5,x6],20);\n"
    + "constraint int_lin_eq([6,7,9,11,13,13,-1],[x1,x2,x3,x4,x5,x6,p],0);\nsolve maximize p;\n"
)


def minizinc(*arguments: str) -> str:
    environment = {**os.environ, "MZN_SOLVER_PATH": f"{os.environ['VICINITY_BUILD']}/minizinc"}
    command = [str(MINIZINC), "--solver", "vicinity", *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@needs_minizinc
@pytest.mark.parametrize("name", COMPILED)
def test_the_flatzinc_is_what_minizinc_makes(name: str, tmp_path: Path) -> None:
    if "version 2.6.4" not in minizinc("--version"):
        pytest.skip("compiled with MiniZinc 2.6.4")
    made = tmp_path / name
    minizinc("-c", "--no-output-ozn", "--fzn", str(made), *(str(MODELS / part) for part in COMPILED[name]))
    assert made.read_text() == (MODELS / name).read_text()


@needs_minizinc
@pytest.mark.parametrize("name", SMALL)
def test_the_other_models_are_solved(name: str, tmp_path: Path) -> None:
    data = tmp_path / "small.dzn"
    data.write_text(SMALL[name])
    text = minizinc("--output-objective", str(MODELS / name), str(data))
    assert "----------" in text
    if OBJECTIVES[name] is not None:
        assert f"_objective = {OBJECTIVES[name]};" in text and text.endswith("==========\n")


@needs_minizinc
def test_the_directive_searches(tmp_path: Path) -> None:
    model = tmp_path / "model.mzn"
    model.write_text(
        'include "vicinity.mzn";\narray [1..8] of var 1..9: x;\n'
        "constraint forall(i in 1..7)(x[i] != x[i + 1]);\n"
        "solve :: lns(4, 60, icm(1), 5, 20, 0, 60) :: start_cp maximize sum(i in 1..7)(abs(x[i] - x[i + 1]));\n"
    )
    runs = [minizinc("--output-objective", "-r", "3", "-p", threads, str(model)) for threads in ("1", "2")]
    assert runs[0] == runs[1] and "_objective = 56;" in runs[0]
    assert "==========" not in runs[0]


def test_solves_a_model_and_goes_on_from_its_solution(vicinity: Program) -> None:
    (vicinity.folder / "k.fzn").write_text(KNAPSACK)
    first = vicinity("solve", "lns", "--instance", "k.fzn", "--steps", "1", "--set", "subsets=1", "starts=1", "--json")
    assert first.returncode == 0, first.stderr
    again = vicinity("solve", "lns", "--instance", "k.fzn", "--steps", "40", "--start", "k.sol", "--force", "--json")
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert told["objective"] == 31 and told["feasible"]
    assert told["start_objective"] == json.loads(first.stdout)["objective"]
    lines = dict(line.rstrip(";").split(" = ") for line in (vicinity.folder / "k.sol").read_text().splitlines())
    weights = {"x1": 4, "x2": 5, "x3": 6, "x4": 7, "x5": 8, "x6": 9}
    assert sum(weight * int(lines[name]) for name, weight in weights.items()) <= 20 and lines["p"] == "31"


def test_solves_a_model_of_the_catalogue(vicinity: Program) -> None:
    arguments = ["--instance", "transportation", "--steps", "200", "--set", "start=cp", "percent=50"]
    result = vicinity("solve", "lns", *arguments)
    assert result.returncode == 0, result.stderr
    lines = {line[:16].strip(): line[16:] for line in result.stdout.splitlines()}
    assert lines["instance"] == "transportation (13 variables, 12 free variables, 8 constraints)"
    assert lines["best found"] == "6600 (gap 0.00 %)" and lines["best known"] == "6600"


@pytest.mark.parametrize(
    ("model", "solution", "told"),
    [
        ("var 1..3 x;\n", "", "k.fzn:1: "),
        ("var 1..3: x;\nconstraint int_near(x,2);\nsolve minimize x;\n", "", "k.fzn:2: predicate 'int_near'"),
        (KNAPSACK, "p = 5;\n", "k.sol: no value of x1"),
        (KNAPSACK, "p = five;\n", "k.sol:1: five is no whole number"),
    ],
)
def test_bad_files_are_told_in_one_line(vicinity: Program, model: str, solution: str, told: str) -> None:
    (vicinity.folder / "k.fzn").write_text(model)
    start = []
    if solution:
        (vicinity.folder / "k.sol").write_text(solution)
        start = ["--start", "k.sol"]
    result = vicinity("solve", "lns", "--instance", "k.fzn", *start)
    assert result.returncode != 0 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert told in line


def test_a_model_without_a_solution_is_no_success(vicinity: Program) -> None:
    (vicinity.folder / "k.fzn").write_text("var 1..3: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n")
    for implementation, told in {
        "cpu-lns": "the model has no solution",
        "cpu-openmp": "CP search finds no first solution",
    }.items():
        result = vicinity("solve", "lns", "--instance", "k.fzn", "--implementation", implementation)
        assert result.returncode == 1
        assert told in result.stdout + result.stderr
