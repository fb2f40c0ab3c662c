"""Misspelt names: one line says what was meant. Experiments by name, lists of some, examples of each command."""

from __future__ import annotations

import json
import re

import pytest
from conftest import ROOT, Program, error_line
from solving import MINE, write_qap

SQUARE = """\
NAME: square
TYPE: TSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 3
4 4 0
EOF
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "fang/tabel1"], "fang/tabel1: no such file or experiment; did you mean 'fang/table1'?"),
        (["verify", "fagn/table1"], "fagn/table1: no such file or experiment; did you mean 'fang/table1'?"),
        (["run", "cores"], "cores: no such file or experiment; experiments of this name: fang/cores"),
        (["run", "mien.yaml"], "mien.yaml: no such file or experiment; did you mean 'mine.yaml'?"),
        (["run", "zzzzzz"], "zzzzzz: no such file or experiment; vicinity list tells them"),
        (
            ["run", "x", "--implementaton", "y"],
            "unknown option '--implementaton'; did you mean '--implementation'? see",
        ),
        (
            ["run", "x", "--tets-slowdown=1"],
            "unknown option '--tets-slowdown'; see vicinity run --help",
        ),  # not for users
        (
            ["solve", "--instnce", "mine.dat"],
            "unknown option '--instnce'; did you mean '--instance'? see vicinity solve",
        ),
        (["--vresion"], "unknown option '--vresion'; did you mean '--version'? see vicinity --help"),
        (["list", "--quiet"], "unknown option '--quiet'; see vicinity list --help"),
        (["list", "fagn"], "no system or experiment 'fagn'; did you mean 'fang'? systems: fang, "),
        (["list", "fang/tabel1"], "no system or experiment 'fang/tabel1'; did you mean 'fang/table1'? systems: "),
        (["completion", "fish"], "SHELL: fish not in {bash,zsh}"),
    ],
)
def test_what_was_meant(vicinity: Program, arguments: list[str], expected: str) -> None:
    (vicinity.folder / "mine.yaml").touch()
    result = vicinity(*arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert error_line(result).startswith(expected)


def test_a_system_names_its_experiments(vicinity: Program) -> None:
    own = sorted(f"fang/{path.stem}" for path in (ROOT / "experiments/fang").glob("*.yaml"))
    said = error_line(vicinity("run", "fang"))
    assert said == f"fang: no such file or experiment; experiments of this name: {', '.join(own)}"


def test_an_experiment_by_name(vicinity: Program) -> None:
    smoke = ("--profile", "smoke", "--machine", "m", "--implementation", "cpu-serial")
    result = vicinity("run", *smoke, "fang/table1")  # --implementation takes several; this is none
    assert result.returncode == 0, result.stderr
    assert [r["implementation"] for r in vicinity.records("fang/table1")] == ["cpu-serial"]
    by_file = vicinity("run", str(ROOT / "experiments/fang/table1.yaml"), *smoke)
    assert by_file.returncode == 0 and "0 of 1 to measure, 1 recorded" in by_file.stderr
    (vicinity.folder / "fang").mkdir()
    (vicinity.folder / "fang/table1").write_text("a file comes first")
    assert vicinity("run", "fang/table1", *smoke).returncode == 2


def test_a_misspelt_instance_of_an_experiment(vicinity: Program) -> None:
    said = error_line(vicinity("run", "sa/quality", "--where", "instance=nug3O"))
    assert re.search(r" has no case with instance=nug3O; did you mean '\w+'\? this profile has ", said)


def test_who_reads_the_instance(vicinity: Program) -> None:
    (vicinity.folder / "square.tsp").write_text(SQUARE)
    said = error_line(vicinity("solve", "sa", "--instance", "square.tsp"))
    assert said.startswith("square.tsp:1: ") and said.endswith(
        "; lsm reads it: vicinity solve lsm --instance square.tsp"
    )
    for name in ("berlin52", "berlin52.tsp", "elsewhere/berlin52.tsp"):
        said = error_line(vicinity("solve", "sa", "--instance", name))
        meant = "the catalogue has berlin52 for lsm: vicinity solve lsm --instance berlin52"
        assert said == f"{name}: no such file; {meant}"
    (vicinity.folder / "neither.tsp").write_text("NAME: x\n")
    assert "reads it" not in error_line(vicinity("solve", "sa", "--instance", "neither.tsp"))
    write_qap(vicinity.folder / "mine.dat", 4)
    assert error_line(vicinity("solve", "sa", "--instance", "mien.dat")).endswith("; did you mean 'mine.dat'?")
    assert error_line(vicinity("solve", *MINE, "--implementation", "cpu-seral")).startswith(
        "--implementation: unknown implementation 'cpu-seral' of sa; did you mean 'cpu-serial'?"
    )


def test_list_of_some(vicinity: Program) -> None:
    whole = json.loads(vicinity("list", "--json").stdout)
    names = [experiment["experiment"] for experiment in whole["experiments"]]
    assert vicinity("list", "--names").stdout.split() == names
    for asked in (["fang"], ["fang/table1"], ["sa", "fang/table1", "fang/cores"]):
        kept = [name for name in names if name in asked or name.split("/")[0] in asked]
        assert vicinity("list", *asked, "--names").stdout.split() == kept
        some = json.loads(vicinity("list", *asked, "--json").stdout)
        assert [experiment["experiment"] for experiment in some["experiments"]] == kept
        assert [s["name"] for s in some["systems"]] == [s["name"] for s in whole["systems"] if s["name"] in asked]
    text = vicinity("list", "fang").stdout
    assert text.startswith("fang: ") and "fang/table1" in text and "\nsa: " not in text and "GPU: " not in text
    assert vicinity("list", "fang/table1").stdout.startswith("experiments (vicinity run NAME")


def test_examples_are_the_command_s_own(vicinity: Program) -> None:
    """Each has some, of itself alone, and with options that it has."""
    commands = [
        line.split()[0] for line in vicinity("--help").stdout.split("Subcommands:")[1].split("\n\n")[0].split("\n")[1:]
    ]
    assert len(commands) == 8
    for command in commands:
        text = vicinity(command, "--help").stdout
        before, examples = text.split("Examples:\n")
        lines = [line for line in examples.splitlines() if "vicinity " in line]
        assert lines and "Exit codes" not in text
        for line in lines:
            called = line[line.index("vicinity ") :]
            assert called.split()[1] == command
            for option in re.findall(r"(?<!\w)--[a-z-]+", called.split("|")[0]):
                assert option in before
