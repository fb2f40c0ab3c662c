"""scripts/minizinc_tests.py: which of MiniZinc's solver tests count, and when their run is good enough."""

from __future__ import annotations

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from minizinc_tests import COUNTS, kind_of_flatzinc, summary


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("var 1..10: x:: output_var;", COUNTS),
        ("var -5..-3: x;\narray [1..2] of var bool: b:: output_array([1..2]) = [c,d];", COUNTS),
        ("predicate p(var float: a,var set of int: b);\narray [1..2] of float: par = [1.0,2.5];", COUNTS),
        ("var float: x;", "with floats"),
        ("var 1..2: y;\nvar 0.3..2.0: x;", "with floats"),
        ("var -1e+10..1e+10: x;", "with floats"),
        ("array [1..1] of var float: x = [X_INTRODUCED_0_];", "with floats"),
        ("var set of 1..3: s;\nvar -0.5..1.0: x;", "with floats"),
        ("var set of 1..3: s:: output_var;", "with sets"),
        ("array [1..0] of var set of int: empty = [];", "with sets"),
    ],
)
def test_kinds_are_told_by_the_variables(line: str, kind: str) -> None:
    assert kind_of_flatzinc(f"{line}\nsolve satisfy;\n") == kind


PASSES = [(f"p{number}", COUNTS, "") for number in range(95)]


@pytest.mark.parametrize(
    ("others", "enough"),
    [
        ([], True),
        ([(f"f{number}", COUNTS, "refused: no such predicate") for number in range(5)], True),
        ([(f"f{number}", COUNTS, "refused: no such predicate") for number in range(6)], False),
        ([(f"f{number}", "with sets", "refused: set variable") for number in range(50)], True),
        ([("f", "with sets", "wrong: UNSATISFIABLE")], False),
    ],
)
def test_a_share_of_those_that_count_and_no_wrong_answer(others: list, enough: bool) -> None:
    lines, good = summary(PASSES + others)
    assert good is enough
    counting = sum(kind == COUNTS for _, kind, _ in others)
    assert lines[-1].startswith(f"{COUNTS}: 95 of {95 + counting} pass, ")
    assert sum(line.startswith("failed") for line in lines) == len(others)


def test_nothing_run_is_not_enough() -> None:
    assert summary([])[1] is False
