"""pip install ./analysis: the command vicinity-analysis with all that it reads at run time."""

import shutil
import subprocess
import sys
import tomllib
from importlib import util

import pytest
import synthetic
from vicinity_analysis.__main__ import COMMANDS

ANALYSIS = synthetic.REPOSITORY / "analysis"
PROJECT = tomllib.loads((ANALYSIS / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_projects():
    assert PROJECT["version"] == (synthetic.REPOSITORY / "VERSION").read_text().strip()


def test_what_it_needs_is_what_the_lock_has():
    listed = set((synthetic.REPOSITORY / "requirements.txt").read_text().split("\n")[1:])
    assert set(PROJECT["dependencies"]) <= listed


@pytest.mark.skipif(util.find_spec("setuptools") is None, reason="no setuptools here to build it with")
def test_it_installs_and_runs_elsewhere(root, tmp_path):
    copy = tmp_path / "repository"
    shutil.copytree(ANALYSIS, copy / "analysis", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(synthetic.REPOSITORY / "docs" / "schema", copy / "docs" / "schema")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index"]
    place = tmp_path / "site"
    subprocess.run([*pip, "--no-build-isolation", "--target", place, copy / "analysis"], check=True)
    shutil.rmtree(copy)
    names = {path.name for path in place.rglob("*")}
    assert {"record.json", "report.js", "style.css", "paper.html.j2", "vicinity-analysis"} <= names
    script = [sys.executable, place / "bin" / "vicinity-analysis"]
    environment = {"PYTHONPATH": str(place), "PATH": "/usr/bin:/bin"}
    run = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True}
    told = subprocess.run([*script, "--help"], check=True, **run).stdout
    assert told.startswith("usage: vicinity-analysis ") and all(command in told for command in COMMANDS)
    asked = ["query", root / "results" / "gpu-a", "--experiment", "fang/table1", "--implementation", "gpu"]
    assert subprocess.run([*script, *asked], check=True, **run).stdout.count("\n") == 12
