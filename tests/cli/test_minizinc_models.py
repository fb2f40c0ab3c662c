"""peers/minizinc_models.py: which models it takes, what it asks of solvers, who was better. The solvers are played."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

# Compiles by copying: the models of these tests are FlatZinc already, and say themselves what each solver finds.
MINIZINC = """\
#!/bin/sh
cp "$4" "$(echo "$*" | sed 's/.*--fzn \\([^ ]*\\).*/\\1/')"
echo "$2 $4 $5" >>"$PLAYED/compiled"
"""
SOLVER = """\
#!/bin/sh
for model; do :; done
case "$0 $(grep relax_and $model)" in *fzn-vicinity*) who=ours ;; *relax_and*) who=relax ;; *) who=gecode ;; esac
cp "$model" "$PLAYED/asked.$who"
sed -n "s/^% $who: //p" "$model" | tr '|' '\\n'
"""
MODEL = """\
% ours: {ours}
% gecode: {gecode}
% relax: {relax}
var 0..9: x :: output_var;
var 0..99: cost;
var bool: b;
array [1..1] of var int: xs = [x];
solve :: int_search(xs, input_order, indomain_min, complete) {goal} cost;
"""


@pytest.fixture
def stage(tmp_path: Path):
    for name, text in (("minizinc", MINIZINC), ("fzn-gecode", SOLVER), ("fzn-vicinity", SOLVER)):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def add(name: str, goal: str = "minimize", **found: str) -> None:
        folder = tmp_path / "models" / name
        folder.mkdir(parents=True)
        said = {who: found.get(who, "").replace(";", ";|----------|") for who in ("ours", "gecode", "relax")}
        (folder / f"{name}.mzn").write_text(MODEL.format(goal=goal, **said))
        for size in (3, 1, 2):
            (folder / f"{size}.dzn").write_text("%" * size)

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "peers" / "minizinc_models.py"), str(tmp_path / "models")]
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [*command, "--seconds", "1", "--build", str(tmp_path / "bin")],
            env={**os.environ, "PATH": path, "PLAYED": str(tmp_path)},
            capture_output=True,
            text=True,
        )

    run.add, run.folder = add, tmp_path
    return run


def test_the_last_value_counts_in_the_direction_of_the_goal(stage) -> None:
    stage.add("low", ours="cost = 9;cost = 4;==========", gecode="cost = 5;", relax="cost = 4;")
    stage.add("high", "maximize", ours="cost = 9;", gecode="cost = 11;")
    stage.add("nothing")
    (stage.folder / "models" / "nogoal").mkdir()
    (stage.folder / "models" / "nogoal" / "a.mzn").write_text("solve satisfy;")
    result = stage()
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line.split() for line in result.stdout.splitlines()[1:]]
    assert lines[:3] == [["high", "9", "11", "none"], ["low", "4*", "5", "4"], ["nothing", "none", "none", "none"]]
    assert "Beside Gecode: 1 better, 1 equal, 1 worse" in result.stdout
    assert "Beside Gecode relax: 1 better, 2 equal, 0 worse" in result.stdout


def test_everyone_gets_the_instance_of_middle_size_and_prints_the_objective(stage) -> None:
    stage.add("low", ours="cost = 4;", gecode="cost = 4;", relax="cost = 4;")
    stage()
    compiled = (stage.folder / "compiled").read_text().splitlines()
    assert [line.split()[0] for line in compiled] == ["vicinity", "gecode"]
    assert all(line.endswith("/2.dzn") for line in compiled)
    for who in ("ours", "gecode", "relax"):
        model = (stage.folder / f"asked.{who}").read_text()
        assert "var 0..99: cost :: output_var;" in model and "x :: output_var" not in model
        assert ("relax_and_reconstruct([x],80) :: restart_constant(200)" in model) == (who == "relax")


def test_a_value_better_than_a_proved_one_is_an_error(stage) -> None:
    stage.add("low", ours="cost = 4;", gecode="cost = 5;==========")
    result = stage()
    assert result.returncode == 1 and "a value better than a proved one" in result.stdout


def test_models_with_floats_are_left_out(stage) -> None:
    stage.add("real")
    model = stage.folder / "models" / "real" / "real.mzn"
    model.write_text("var float: y;\n" + model.read_text())
    assert "real                     left out: has floats" in stage().stdout


def test_a_folder_there_is_not_is_one_line(stage) -> None:
    result = stage()
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "models" in result.stderr
