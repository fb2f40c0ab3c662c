"""Workflows and action.yml: steps that a shell can read, targets, scripts and files that exist. CI runs actionlint."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule"}
if not WORKFLOWS:  # an image has none
    pytest.skip("no workflows here", allow_module_level=True)


def steps_of(path: Path) -> Iterator[dict[str, object]]:
    content = yaml.safe_load(path.read_text())
    for job in content.get("jobs", {}).values():
        yield from job["steps"]
    yield from content.get("runs", {}).get("steps", [])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_says_when_and_with_what_rights(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["name"] == path.stem
    assert workflow[True].keys() <= EVENTS  # YAML reads `on` as a truth value
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        assert "pull_request_target" not in str(workflow)
        assert job.get("needs", next(iter(workflow["jobs"]))) in workflow["jobs"]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.stem)
def test_every_step_can_run(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for step in steps_of(path):
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert step["uses"] == "./" or re.fullmatch(
                r"(actions/[\w-]+@v\d+|docker://[\w/]+:[\d.]+)", str(step["uses"])
            )
            continue
        script = re.sub(r"\$\{\{.*?\}\}", "expression", str(step["run"]))
        for target in re.findall(r"(?:^|\bvicinity |=\d+ )make ([a-z-]+)", script, re.MULTILINE):
            assert target in targets
        for name in re.findall(r"(?<![\w])((?:\.ci|scripts)/[\w.]+)", script):
            assert (ROOT / name).is_file(), name
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
        if shutil.which("shellcheck"):
            told = subprocess.run(
                ["shellcheck", "-s", "bash", "-"], input=script, capture_output=True, text=True, check=False
            )
            assert told.returncode == 0, told.stdout


def test_nothing_from_outside_is_pasted_into_a_shell() -> None:
    """A title or a branch's name is what anybody writes: expressions stand in env and with, never in run."""
    for path in [*WORKFLOWS, ROOT / "action.yml"]:
        assert [step for step in steps_of(path) if "${{" in str(step.get("run", ""))] == []


def test_the_action_hands_every_input_on() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (gate,) = (step for step in action["runs"]["steps"] if step.get("id") == "gate")
    assert set(gate["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    script = (ROOT / "scripts/regress_action").read_text()
    assert all(f"${name}" in script for name in gate["env"])
    page = (ROOT / "docs/regression_action.md").read_text()
    for name in (*action["inputs"], *action["outputs"]):
        assert f"`{name}`" in page


@pytest.mark.parametrize("arguments", [[], ["a", "b"]])
def test_the_site_asks_for_its_folder(arguments: list[str]) -> None:
    told = subprocess.run([ROOT / "scripts/site", *arguments], capture_output=True, text=True, check=False)
    assert told.returncode == 2 and told.stderr == "usage: scripts/site FOLDER\n"
