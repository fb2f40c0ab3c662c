"""action.yml: its own shell step, run as a workflow would, down to the verdict. Program and build are stand-ins."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from synthetic import REPOSITORY

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())

# Stands in for scripts/build: what it makes stands in for the program. Notes what it was asked for.
BUILD = """\
#!/usr/bin/env bash
folder=${{BUILD:-build}}
mkdir -p "$folder/generated"
printf '#!/bin/sh\\nexec {python} {program} "$@"\\n' >"$folder/vicinity"
chmod +x "$folder/vicinity"
: >"$folder/CMakeCache.txt"
printf '%s\\n' ${{SYSTEMS:-}} >"$folder/generated/system_folders.txt"
echo "$folder ${{SYSTEMS:-}}" >>{log}
"""


@dataclass
class Result:
    status: int
    log: str
    outputs: dict[str, str]
    summary: str
    built: list[str]


class Workflow:
    """A workspace and a runner; `tree` is the vicinity that the action comes with."""

    def __init__(self, tmp_path: Path) -> None:
        self.tree, self.workspace, self.runner = (tmp_path / name for name in ("vicinity", "workspace", "runner"))
        self.runner.mkdir()
        self.built = tmp_path / "built"
        self.make_tree(self.tree)

    def make_tree(self, folder: Path) -> None:
        shutil.copytree(REPOSITORY / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(REPOSITORY / "experiments", folder / "experiments")
        shutil.copy(REPOSITORY / "action.yml", folder)
        for name in (".venv", "data", "docs"):
            (folder / name).symlink_to(REPOSITORY / name)
        program = Path(__file__).parents[1] / "fake_vicinity.py"
        build = BUILD.format(python=sys.executable, program=program, log=self.built)
        (folder / "scripts/setup").write_text("#!/bin/sh\n")
        (folder / "scripts/build").write_text(build)

    def run(self, event: str = "", **inputs: str) -> Result:
        """The step with the gate; `event`: what github.event tells of a baseline."""
        (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
        given = {name: entry["default"] for name, entry in ACTION["inputs"].items()} | {"baseline": event} | inputs
        assert given.keys() == ACTION["inputs"].keys()
        filled = {
            key: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]] for key, value in step["env"].items()
        }
        files = {name: self.runner / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        github = {
            "GITHUB_ACTION_PATH": self.tree,
            "GITHUB_WORKSPACE": self.workspace,
            "RUNNER_TEMP": self.runner,
        } | files
        variables = os.environ | filled | {name: str(value) for name, value in github.items()}
        variables |= {"PYTHONPATH": str(REPOSITORY / "analysis"), "FAKE_STATE": str(self.runner / "state")}
        for ours in ("BUILD", "PRESET", "RESULTS", "SKIP_BUILD"):
            variables.pop(ours, None)
        command = [step["shell"], "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as GitHub calls it
        run = subprocess.run(
            command,
            cwd=self.workspace,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=250,
        )
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        built = self.built.read_text().splitlines() if self.built.exists() else []
        return Result(run.returncode, run.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text(), built)


def git(folder: Path, *arguments: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a"}
    settings = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=settings, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    """In a checkout of vicinity itself; `base` in it is a program."""
    workflow = Workflow(tmp_path)
    workflow.make_tree(workflow.workspace)
    base = {**os.environ, "BUILD": str(workflow.workspace / "base")}
    subprocess.run([workflow.workspace / "scripts/build"], cwd=workflow.workspace, env=base, check=True)
    workflow.built.unlink()
    return workflow


SMALL = {"baseline": "base/vicinity", "experiments": "fang/table1", "arguments": "--rounds 3"}


def test_pass(workflow: Workflow) -> None:
    result = workflow.run(**SMALL)
    assert (result.status, result.outputs["verdict"]) == (0, "pass"), result.log
    assert json.loads(Path(result.outputs["json"]).read_text())["verdict"] == "pass"
    assert result.summary.startswith("# Regression gate: pass") and "::" not in result.log


def test_regression(workflow: Workflow) -> None:
    slow = "--rounds 3 --candidate-args=--slow=cpu-openmp=1.1"
    result = workflow.run(**SMALL | {"arguments": slow})
    assert (result.status, result.outputs["verdict"]) == (1, "regression"), result.log
    assert "::error title=Regression gate::slower than " in result.log
    assert result.summary.startswith("# Regression gate: REGRESSION")
    assert workflow.run(**SMALL | {"arguments": slow}, threshold="20").status == 0


@pytest.mark.parametrize(("policy", "status"), [("pass", 0), ("fail", 2)])
def test_inconclusive(workflow: Workflow, policy: str, status: int) -> None:
    noisy = "--rounds 3 --max-rounds 3 --base-args=--noise=0.3 --candidate-args=--noise=0.3"
    result = workflow.run(**SMALL | {"arguments": noisy}, inconclusive=policy)
    assert (result.status, result.outputs["verdict"]) == (status, "inconclusive"), result.log
    assert "::warning title=Regression gate::inconclusive" in result.log and "inconclusive" in result.summary


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"arguments": "--rounds 3 --candidate-args=--crash=3"}, "the gate could not judge (status 3)"),
        ({"baseline": "nowhere"}, "the gate could not judge (status 3)"),
        ({"baseline": ""}, "baseline: none given"),
        ({"baseline": 40 * "0"}, "baseline: the push made this branch"),
        ({"inconclusive": "maybe"}, "inconclusive: 'maybe' is neither pass nor fail"),
        ({"systems": "mine yours"}, "systems: not all of these folders are here: mine yours"),
    ],
)
def test_error(workflow: Workflow, inputs: dict[str, str], message: str) -> None:
    result = workflow.run(**SMALL | inputs)
    assert (result.status, result.outputs["verdict"]) == (3, "error"), result.log
    assert f"::error title=Regression gate::{message}" in result.log and "error" in result.summary


def test_systems_of_one_s_own(tmp_path: Path) -> None:
    """A repository with nothing but a system: what varies is that; vicinity is the action's for both."""
    workflow = Workflow(tmp_path)
    mine = workflow.workspace / "mine"
    (mine / "experiments/fang").mkdir(parents=True)
    shutil.copy(REPOSITORY / "experiments/fang/table1.yaml", mine / "experiments/fang/own.yaml")
    git(workflow.workspace, "init", "-q")
    before = commit(workflow.workspace)
    (mine / "kernel.cu").write_text("// faster\n")
    commit(workflow.workspace)
    result = workflow.run(event=before, systems="mine", arguments="--rounds 3")
    assert (result.status, result.outputs["verdict"]) == (0, "pass"), result.log
    base, candidate = result.built
    assert base.split() == [str(workflow.runner / "build-baseline"), str(workflow.runner / "baseline/mine")]
    assert candidate.split() == ["build", str(mine)]
    assert not (workflow.runner / "baseline/mine/kernel.cu").exists()
    assert "| fang/own |" in result.summary and "fang/table1" not in result.summary
    nothing = workflow.run(event=before)
    assert nothing.status == 3 and "the repository is no checkout of vicinity" in nothing.log


@pytest.mark.parametrize("depth", [[], ["--depth", "1"]])
def test_a_push_that_makes_a_branch(tmp_path: Path, depth: list[str]) -> None:
    """github.event.before is all zeros: the base is where the branch left the default one."""
    workflow, origin = Workflow(tmp_path), tmp_path / "origin"
    (origin / "mine/experiments/fang").mkdir(parents=True)
    shutil.copy(REPOSITORY / "experiments/fang/table1.yaml", origin / "mine/experiments/fang/own.yaml")
    git(origin, "init", "-q", "-b", "main")
    before = commit(origin)
    git(origin, "checkout", "-q", "-b", "topic")
    for name in ("kernel.cu", "second.cu"):
        (origin / "mine" / name).write_text("// faster\n")
        commit(origin)
    git(origin, "checkout", "-q", "main")
    (origin / "mine/other.cu").write_text("// of somebody else\n")
    commit(origin)
    git(tmp_path, "clone", "-q", *depth, "--branch", "topic", origin.as_uri(), str(workflow.workspace))
    result = workflow.run(event=40 * "0", systems="mine", arguments="--rounds 3")
    assert (result.status, result.outputs["verdict"]) == (0, "pass"), result.log
    assert git(workflow.runner / "baseline", "rev-parse", "HEAD") == before


def test_a_path_that_the_build_cannot_take(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    workflow = Workflow(tmp_path / "a b")
    (workflow.workspace / "mine").mkdir(parents=True)
    result = workflow.run(event="HEAD", systems="mine")
    assert (result.status, result.built) == (3, []), result.log
    assert "::error title=Regression gate::systems: the build takes no path with blanks" in result.log
