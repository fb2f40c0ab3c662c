"""solve: broken files, wrong usage and places that cannot be written: one clear line, and nothing searched or lost."""

from __future__ import annotations

import json
import os

import pytest
from conftest import Program, error_line
from solving import MINE, assert_solves, cost


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "mine.dat:1: "),
        ("x", "mine.dat:1: "),
        ("1\n0\n0\n", "mine.dat:1: size 1 is outside"),
        ("2\n0 1\n1 0\n\n0 1\n1\n", "mine.dat:6: the file ends after 3 of the 2 x 2 entries of B"),
        ("2\n0 1\n1 0\n\n0 1.5\n1 0\n", "mine.dat:5: expected a whole number, found '1.5'"),
        ("2\n0 1\n1 0\n0 1\n1 0\n7\n", "mine.dat:6: unexpected '7'"),
        ("2\n0 1\n99999999999 0\n0 1\n1 0\n", "mine.dat:3: 99999999999 does not fit 32 bits"),
        ("2\n0 2147483647\n1 0\n0 -2147483648\n1 0\n", "mine.dat:4: entries are so large"),
    ],
)
def test_broken_instance(vicinity: Program, text: str, expected: str) -> None:
    (vicinity.folder / "mine.dat").write_text(text)
    result = vicinity("solve", *MINE, "--iterations", "10")
    assert result.returncode == 2 and result.stdout == ""
    assert error_line(result).startswith(expected)
    assert not (vicinity.folder / "mine.sln").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "s.sln:1: the file is empty"),
        ("3 10\n1 2 3\n", "s.sln:1: a solution of size 3, but mine has size 12"),
        ("12 10\n1 2 3 4 5 6\n7 8 9 10 11 11\n", "s.sln:3: location 11 twice"),
        ("12 10\n1 2 3 4 5 6\n7 8 9 10 11 12\n", "s.sln:1: the stated cost is 10"),
    ],
)
def test_broken_start(mine: Program, text: str, expected: str) -> None:
    (mine.folder / "s.sln").write_text(text)
    result = mine("solve", *MINE, "--start", "s.sln")
    assert result.returncode == 2
    assert error_line(result).startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["saa", "--instance", "mine.dat"], "unknown system 'saa'; did you mean 'sa'?"),
        (["fang", "--instance", "mine.dat"], "system 'fang' does not search for a solution; allowed: sa"),
        (["sa"], "--instance is required; see vicinity solve --help"),
        (["--instance", "mine.dat"], "SYSTEM is required"),
        (["sa", "--instance", "main.dat"], "main.dat: no such file, and the catalogue has no instance of this name"),
        (
            ["sa", "--instance", "tai100A"],
            "tai100A: no such file, and the catalogue has no instance of this name; did you mean 'tai",
        ),
        (["sa", "--instance", "."], ".: "),
        (
            ["sa", "--instance", "mine.dat", "--iterations", "1.5"],
            "--iterations: '1.5' is not a whole number from 1 to",
        ),
        (
            ["sa", "--instance", "mine.dat", "--iterations", "1e13"],
            "--iterations: '1e13' is not a whole number from 1 to",
        ),
        ([*MINE, "--iteration", "1"], "unknown option '--iteration'; did you mean '--iterations'?"),
        ([*MINE, "--time", "0"], "--time: 0 is not a number of seconds above 0"),
        ([*MINE, "--time", "nan"], "--time: nan is not a number of seconds above 0"),
        ([*MINE, "--seed", "-1"], "--seed: '-1' is not a whole number from 0 to 2^64 - 1; see vicinity solve --help"),
        ([*MINE, "--seed", "18446744073709551616"], "--seed: '18446744073709551616' is not a whole number"),
        ([*MINE, "--seed", "7.5"], "--seed: '7.5' is not a whole number"),
        ([*MINE, "--set", "chain=2"], "--set: unknown axis 'chain'; did you mean 'chains'?"),
        ([*MINE, "--set", "size=2"], "--set: unknown axis 'size'; "),
        ([*MINE, "--set", "chains=0"], "qap: chains = 0 is not a whole number from 1 to"),
        ([*MINE, "--set", "t0=5"], "qap: t0 and tf come together"),
        (
            ["sa", "--instance", "mine.dat", "--implementation", "cpu-tradtional"],
            "--implementation: unknown implementation 'cpu-tradtional' of sa; did",
        ),
        ([*MINE, "--output", "mine.dat", "--force"], "--output: mine.dat is the instance"),
        (
            ["sa", "--instance", "mine.dat", "--output", "notes.txt"],
            "notes.txt: exists and is no solution of this instance",
        ),
        ([*MINE, "--start", "missing.sln"], "missing.sln: cannot be read: No such file or directory"),
    ],
)
def test_wrong_usage(mine: Program, arguments: list[str], expected: str) -> None:
    (mine.folder / "notes.txt").write_text("keep me\n")
    before = (mine.folder / "mine.dat").read_bytes()
    result = mine("solve", *arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert error_line(result).startswith(expected)
    assert sorted(path.name for path in mine.folder.iterdir()) == ["mine.dat", "notes.txt"]
    assert (mine.folder / "mine.dat").read_bytes() == before and (mine.folder / "notes.txt").read_text() == "keep me\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--output", "missing/x.sln"], "missing/x.sln: cannot be written: No such file or directory"),
        (["--output", "."], ".: cannot be written: Is a directory"),
        (["--implementation", "gpu-tuned"], "--implementation: gpu-tuned "),
    ],
)
def test_environment_is_checked_before_the_search(mine: Program, arguments: list[str], expected: str) -> None:
    result = mine("solve", *MINE, "--iterations", "1e12", *arguments)
    assert result.returncode == 3
    assert error_line(result).startswith(expected)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder(mine: Program) -> None:
    (mine.folder / "closed").mkdir(mode=0o555)
    result = mine("solve", *MINE, "--iterations", "1e12", "--output", "closed/x.sln")
    assert result.returncode == 3
    assert error_line(result) == "closed/x.sln: cannot be written: Permission denied"


def test_solution_that_cannot_be_written_is_printed(mine: Program) -> None:
    command = ["solve", *MINE, "--iterations", "1e4", "--output", "/dev/full"]
    result = mine(*command)
    assert result.returncode == 3
    assert (
        error_line(result) == "/dev/full: cannot be written: No space left on device; the solution is printed instead"
    )
    lines = result.stdout.splitlines()
    (mine.folder / "printed.sln").write_text("\n".join(lines[-2:]))
    assert_solves(mine.folder / "printed.sln", 12)
    answer = json.loads(mine(*command, "--json").stdout)
    assert answer["output"] is None and answer["objective"] == cost(12, answer["solution"])


def test_a_value_that_is_wrong_for_the_best_method_is_an_error(vicinity: Program) -> None:
    points = "".join(f"{k} {k * k % 7} {k}\n" for k in range(1, 8))
    text = f"NAME : seven\nTYPE : TSP\nDIMENSION : 7\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{points}EOF\n"
    (vicinity.folder / "seven.tsp").write_text(text)
    words = ("solve", "lsm", "--instance", "seven.tsp", "--iterations", "10")
    for value in ("100000", "many"):
        result = vicinity(*words, "--set", f"walkers={value}")
        assert result.returncode == 2 and result.stdout == ""
        assert error_line(result) == f"tsp: walkers = {value} is not a whole number from 0 to 65536"
    assert vicinity(*words, "--set", "walkers=100").returncode == 0
