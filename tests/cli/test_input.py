"""Bad input: one clear line, exit code 2, nothing recorded."""

from __future__ import annotations

import pytest
from conftest import Program, error_line


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"system": "sistem: fake"}, "table.yaml:4: unknown key 'sistem' in the descriptor; did you mean 'system'?"),
        ({"system": "system: fang"}, "table.yaml:4: unknown system 'fang'; allowed: fake"),
        (
            {"axes": "axes: {sise: [1]}", "  size": ""},
            "table.yaml:6: unknown axis 'sise' of count; did you mean 'size'?",
        ),
        (
            {"implementations": "implementations: [cpu-seral]"},
            "table.yaml:8: unknown implementation 'cpu-seral' of fake; did you mean 'cpu-serial'?",
        ),
        ({"protocol": "protocol: {repetitions: -1}"}, "table.yaml:9: repetitions: '-1' is not a whole number"),
        (
            {"protocol": "protocol: {time: kernal}"},
            "table.yaml:9: time: cpu-serial does not report the part 'kernal'; did you mean 'kernel'?",
        ),
        ({"paper": "paper: [a"}, "table.yaml:"),
    ],
)
def test_broken_descriptor(fake: Program, changes: dict[str, str], expected: str) -> None:
    result = fake("run", fake.descriptor(**changes), "--machine", "m")
    assert result.returncode == 2
    assert error_line(result).startswith(expected)
    assert fake.records() == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "missing.yaml"], "missing.yaml: no such file or experiment; vicinity list tells them"),
        (["run", "."], ".: cannot be read"),
        (["run"], "EXPERIMENT is required; see vicinity run --help"),
        (["run", "table.yaml", "--profile", "quik"], "table.yaml: unknown profile 'quik'; did you mean 'quick'?"),
        (
            ["run", "table.yaml", "--implementation", "cpu-serail"],
            "--implementation: unknown implementation 'cpu-serail' of fake; did you mean",
        ),
        (
            ["run", "table.yaml", "--where", "sise=1"],
            "--where: unknown axis 'sise' of table.yaml; did you mean 'size'?",
        ),
        (
            ["run", "table.yaml", "--where", "size=1"],
            "--where: table.yaml has no case with size=1; this profile has 10, 13",
        ),
        (["run", "table.yaml", "--where", "size"], "--where: 'size' is not of the form axis=value"),
        (["run", "table.yaml", "--repetitions", "0"], "--repetitions: Value 0 not in range"),
        (["run", "table.yaml", "--test-slowdown", "x"], "--test-slowdown: 'x' is not IMPLEMENTATION=FACTOR"),
        (["run", "table.yaml", "missing.yaml"], "missing.yaml: no such file or experiment"),
        (["verify", "--system", "fang", "--random", "1"], "--system: unknown system 'fang'; allowed: fake"),
        (["verify", "--random", "1", "--seed", "-1"], "--seed: '-1' is not a whole number from 0 to 2^64 - 1"),
        (["rum"], "unknown command 'rum'; did you mean 'run'?"),
        (
            [],
            "a command is missing: list, run, peer, verify, solve, ceilings, environment, completion; see",
        ),
    ],
)
def test_wrong_usage(fake: Program, arguments: list[str], expected: str) -> None:
    fake.descriptor()
    result = fake(*arguments)
    assert result.returncode == 2
    assert error_line(result).startswith(expected)
    assert not (fake.folder / "results").exists()


def test_case_the_system_refuses(fake: Program) -> None:
    result = fake("run", fake.descriptor(**{"  size": "  size: [5, -1]"}), "--machine", "m")
    assert result.returncode == 2
    assert error_line(result).startswith(
        "table.yaml: case size=-1: count: size = -1 is not a whole number from 1 to 1000000"
    )
    assert fake.records() == []  # not even of size 5, which comes first


def test_help_names_the_exit_codes(fake: Program) -> None:
    result = fake("--help")
    assert result.returncode == 0
    for text in ("vicinity run SYSTEM/NAME", "verify", "ceilings", "130"):
        assert text in result.stdout
    for command in ("list", "run", "verify", "solve", "ceilings", "environment"):
        assert fake(command, "--help").returncode == 0
    assert "slowdown" not in fake("run", "--help").stdout
    assert fake("--version").stdout.startswith("vicinity ")
