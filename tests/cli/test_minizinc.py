"""Models of MiniZinc through the compiler, our solver and back, each solution checked by the model itself."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

MINIZINC = shutil.which("minizinc")
pytestmark = pytest.mark.skipif(MINIZINC is None, reason="minizinc is not installed (apt-get install minizinc)")

QUEENS = """
include "alldifferent.mzn";
int: n = 8;
array[1..n] of var 1..n: q;
constraint alldifferent(q) /\\ alldifferent([q[i] + i | i in 1..n]) /\\ alldifferent([q[i] - i | i in 1..n]);
solve satisfy;
"""
GLOBALS = """
include "circuit.mzn"; include "inverse.mzn"; include "table.mzn";
include "cumulative.mzn"; include "global_cardinality.mzn";
array[2..6] of var 2..6: next;
array[2..6] of var 0..4: place;
array[0..4] of var 2..6: at;
array[1..5] of var 0..20: start;
array[1..5] of int: long = [3, 4, 2, 5, 1];
array[1..5] of int: use = [2, 3, 1, 2, 3];
var 0..30: end;
constraint circuit(next);
constraint inverse(place, at);
constraint table([next[2], next[3]], [| 3, 4 | 4, 5 | 5, 6 |]);
constraint cumulative(start, long, use, 4) /\\ forall(k in 1..5)(start[k] + long[k] <= end);
constraint global_cardinality([place[k] div 2 | k in 2..6], [0, 1, 2], [2, 2, 1]);
solve minimize end * 100 + sum(k in 2..6)(place[k] * next[k]);
"""
SETS = """
var set of 1..6: s;
var set of 1..6: t;
constraint card(s) = 3 /\\ s intersect t = {2} /\\ s union t = 1..6 /\\ 5 in t;
solve satisfy;
"""


@pytest.fixture
def run(tmp_path: Path):
    def call(model: str, *arguments: str, solver: str = "vicinity") -> str:
        file = tmp_path / "model.mzn"
        file.write_text(model)
        environment = {**os.environ, "MZN_SOLVER_PATH": f"{os.environ['VICINITY_BUILD']}/minizinc"}
        result = subprocess.run(
            [str(MINIZINC), "--solver", solver, *arguments, str(file)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return call


def test_all_solutions(run) -> None:
    text = run(QUEENS, "-a")
    assert text.count("----------") == 92
    assert text.endswith("==========\n")
    assert len({line for line in text.splitlines() if line.startswith("q")}) == 92


def test_the_same_without_propagators_for_globals(run) -> None:
    """The optimum with our propagators, and with MiniZinc's decompositions."""
    ours = run(GLOBALS, "--output-objective")
    decomposed = run(GLOBALS, "--output-objective", "-G", "std")
    objectives = [line for text in (ours, decomposed) for line in text.splitlines() if line.startswith("_objective")]
    assert len(set(objectives)) == 1 and len(objectives) == 2
    assert ours.endswith("==========\n")


TABLE_START = """
include "table.mzn";
array[0..2] of var 0..4: x;
array[1..5, 0..2] of int: t = array2d(1..5, 0..2, [1, 2, 3, 1, 3, 3, 2, 2, 2, 4, 0, 1, 4, 0, 1]);
"""
TABLE_END = "constraint table(x, t); solve satisfy;"


@pytest.mark.parametrize(
    ("fixed", "solutions"),
    [
        ("true", 4),
        ("x[0] = 1", 2),
        ("x[0] = 1 /\\ x[2] = 3", 2),
        ("x[0] = 4 /\\ x[1] = 0 /\\ x[2] = 1", 1),
        ("x[0] = 4 /\\ x[1] = 0 /\\ x[2] = 2", 0),
        ("x[1] = 1", 0),
    ],
)
def test_fixed_variables_leave_rows_of_a_table_out(run, fixed: str, solutions: int) -> None:
    """The table comes last: MiniZinc knows then which of its variables are fixed."""
    for solver_options in ([], ["-G", "std"]):
        text = run(f"{TABLE_START}constraint {fixed};{TABLE_END}", "-a", *solver_options)
        assert len({line for line in text.splitlines() if line.startswith("x =")}) == solutions


@pytest.mark.parametrize(
    ("constraint", "solutions"),
    [
        ("b <-> maximum(m, x)", 32),
        ("b <-> minimum(m, x)", 32),
        ("b <-> regular(x, 2, 2, [| 1, 2 | 2, 0 |], 1, {2})", 32),
    ],
)
def test_reified_globals(run, constraint: str, solutions: int) -> None:
    """b says of each assignment whether the constraint holds."""
    model = f"""
include "globals.mzn";
array[1..3] of var 0..1: y;
array[1..3] of var 1..2: x = [1 + y[i] | i in 1..3];
var bool: b;
var 1..4: m;
constraint {constraint};
solve satisfy;
output ["\\(y) \\(m) \\(b)\\n"];
"""
    found = set(run(model, "-a").splitlines()) - {"----------", "=========="}
    assert len(found) == solutions
    for line in found:
        y, m, b = line[1 : line.index("]")].split(", "), int(line.split()[-2]), line.endswith("true")
        x = [1 + int(one) for one in y]
        truth = {"max": m == max(x), "min": m == min(x), "reg": x.count(2) == 1}
        assert b == truth[constraint[6:9]]


@pytest.mark.parametrize(("states", "accepted"), [(3, "{3}"), (70, "2..70")])
def test_regular(run, states: int, accepted: str) -> None:
    """As tables of the transitions, of many states as elements: the solutions of MiniZinc's own decomposition."""
    model = f"""
include "regular.mzn";
int: Q = {states};
int: S = if Q > 9 then 60 else 3 endif;
array[3..7] of var 0..4: x;
array[1..Q, 1..S] of 0..Q: d = array2d(1..Q, 1..S, [(5 * q + 3 * s + q * s) mod (Q + 1) | q in 1..Q, s in 1..S]);
constraint regular(x, Q, S, d, 2, {accepted});
solve satisfy;
"""
    found = [
        {line for line in run(model, "-a", *library).splitlines() if line.startswith("x =")}
        for library in ([], ["-G", "std"])
    ]
    assert found[0] == found[1] != set()


COLORS = """
int: n = 40;
array[1..n] of var 1..8: color;
var 0..9999: cost = sum(i in 1..n)(color[i] * (1 + i mod 7));
constraint forall(i, j in 1..n where i < j /\\ (i * j) mod 5 = 1)(color[i] != color[j]);
constraint forall(i in 1..n - 2)(color[i] + color[i + 1] != color[i + 2]);
solve minimize cost;
"""
COLORS_CHECKER = """
int: n = 40;
array[1..n] of int: color;
int: cost;
output [if cost = sum(i in 1..n)(color[i] * (1 + i mod 7))
  /\\ forall(i, j in 1..n where i < j /\\ (i * j) mod 5 = 1)(color[i] != color[j])
  /\\ forall(i in 1..n - 2)(color[i] + color[i + 1] != color[i + 2]) then "CORRECT" else "INCORRECT" endif];
"""


def test_free_search_prints_solutions_that_a_checker_takes(run, tmp_path: Path) -> None:
    checker = tmp_path / "colors.mzc.mzn"
    checker.write_text(COLORS_CHECKER)
    text = run(COLORS, "-f", "-a", "-p", "2", "-t", "6000", str(checker))
    assert text.count("CORRECT") == text.count("----------") > 1
    assert "INCORRECT" not in text


@pytest.mark.parametrize("threads", ["1", "3"])
def test_free_search_proves_the_optimum(run, threads: str) -> None:
    text = run(GLOBALS, "-f", "-p", threads, "--output-objective")
    complete = run(GLOBALS, "--output-objective")
    assert text.endswith("==========\n")
    objectives = {line for part in (text, complete) for line in part.splitlines() if line.startswith("_objective")}
    assert len(objectives) == 1


def test_sets_are_compiled_away(run) -> None:
    text = run(SETS, "-a")
    assert text.count("----------") == 6  # two more of 1, 3, 4, 6 in s
    assert text.endswith("==========\n")


def test_floats_are_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "model.fzn"
    file.write_text("var 1..2: n;\nvar 0.5..1.5: width;\nsolve satisfy;\n")
    program = Path(os.environ["VICINITY_BUILD"]) / "fzn-vicinity"
    result = subprocess.run([str(program), str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"fzn-vicinity: {file}:2: float 'width': floats are not supported\n"


def test_a_model_may_come_through_a_pipe() -> None:
    program = Path(os.environ["VICINITY_BUILD"]) / "fzn-vicinity"
    for model, printed in (
        ("var 1..2: n :: output_var;\nsolve maximize n;\n", ("n = 2;\n----------\n==========\n", "")),
        ("var 1..2: n;\nsolve fast;\n", ("", "fzn-vicinity: standard input:2: ")),
    ):
        result = subprocess.run(
            [str(program), "-"], input=model, capture_output=True, text=True, timeout=60, check=False
        )
        assert result.stdout == printed[0]
        assert result.stderr.startswith(printed[1])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_what_cannot_be_written_is_an_error() -> None:
    program = Path(os.environ["VICINITY_BUILD"]) / "fzn-vicinity"
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [str(program), "-"],
            input="var 1..2: n :: output_var;\nsolve maximize n;\n",
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, "fzn-vicinity: what was printed could not be written\n")


@pytest.mark.parametrize("options", [[], ["-f"]])
def test_an_interrupt_prints_the_best(tmp_path: Path, options: list[str]) -> None:
    n = 100  # thirty limits: neither bounds nor a relaxation prove anything within a second
    draw = random.Random(1)
    file = tmp_path / "model.fzn"
    names = ",".join(f"x{k}" for k in range(n))
    limits = [",".join(str(draw.randint(1, 100)) for _ in range(n)) for _ in range(30)]
    profits = ",".join(str(draw.randint(1, 100)) for _ in range(n))
    file.write_text(
        "".join(f"var 0..1: x{k};\n" for k in range(n))
        + "var int: p :: output_var;\n"
        + "".join(f"constraint int_lin_le([{weights}],[{names}],2500);\n" for weights in limits)
        + f"constraint int_lin_eq([{profits},-1],[{names},p],0);\nsolve maximize p;\n"
    )
    program = Path(os.environ["VICINITY_BUILD"]) / "fzn-vicinity"
    process = subprocess.Popen([str(program), *options, str(file)], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.startswith("p = ") and out.endswith("----------\n")


def large_table(rows: int) -> str:
    """A model whose set-up takes seconds, and looks at no flag while it does."""
    names = [f"x{k}" for k in range(8)]
    draw = random.Random(1)
    table = ",".join(str(draw.randint(1, 1000)) for _ in range(8 * rows))
    return (
        "predicate fzn_table_int(array [int] of var int: x, array [int, int] of int: t);\n"
        + f"array [1..{8 * rows}] of int: t = [{table}];\n"
        + "".join(f"var 1..1000: {name};\n" for name in names)
        + "".join(f"constraint fzn_table_int([{','.join(names[k:] + names[:k])}],t);\n" for k in range(8))
        + "solve maximize x0;\n"
    )


@pytest.mark.parametrize("options", [[], ["-f"], ["-t", "300"], ["-f", "-t", "300"]])
def test_set_up_ends_at_the_limit_and_at_a_signal(tmp_path: Path, options: list[str]) -> None:
    file = tmp_path / "model.fzn"
    file.write_text(large_table(100_000))
    program = Path(os.environ["VICINITY_BUILD"]) / "fzn-vicinity"
    start = time.monotonic()
    process = subprocess.Popen([str(program), *options, str(file)], stdout=subprocess.PIPE, text=True)
    if "-t" not in options:
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "=====UNKNOWN=====\n")
    assert time.monotonic() - start < 1
