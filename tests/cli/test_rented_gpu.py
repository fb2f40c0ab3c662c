"""docs/rented_gpu.ipynb: every cell in its order, from the clone to the archive, with the program built here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from conftest import ROOT, binary, environment

NOTEBOOK = ROOT / "docs/rented_gpu.ipynb"


def test_it_is_a_notebook() -> None:
    """The parts of nbformat 4.5 that a program which opens it relies on."""
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    for cell in notebook["cells"]:
        own = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"id", "cell_type", "metadata", "source"} | own
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert not cell.get("outputs") and cell.get("execution_count") is None


def origin_of(folder: Path) -> None:
    """A repository to clone: what a run needs of this one, with the program built already."""
    for name in ("scripts", "experiments", "data"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "instances"))
    shutil.copytree(ROOT / "docs/schema", folder / "docs/schema")
    for name in ("Makefile", "requirements.lock", "VERSION"):
        shutil.copy(ROOT / name, folder)
    (folder / "scripts/setup").write_text("#!/bin/sh\necho 'nothing to set up'\n")
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    (folder / "build/generated").mkdir(parents=True)
    (folder / "build/vicinity").symlink_to(binary("VICINITY_BINARY"))
    (folder / "build/generated/system_folders.txt").touch()
    for command in (["init", "-q"], ["add", "-Af", "."], ["commit", "-qm", "all"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@a", *command], cwd=folder, check=True)


@pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="no .venv here, with which reports are made")
def test_every_cell_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin_of(tmp_path / "origin")
    shown: list[Path] = []
    display = types.ModuleType("IPython.display")
    display.Image, display.display = Path, shown.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    for name in ("MACHINE", "VICINITY", "BUILD", "PRESET", "RESULTS", "SYSTEMS", "MAKEFLAGS"):
        monkeypatch.setenv(name, "")  # the cells may set it; undone at the end
        monkeypatch.delenv(name)
    told = {"PROFILE": "quick", "SOURCE": str(tmp_path / "origin"), "EXPERIMENTS": "fang/table2", "SKIP_BUILD": "1"}
    told |= {
        "PYTHONPATH": str(ROOT / "analysis"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }  # as Jupyter sets it
    for name, value in (environment() | told).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    said = ""
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        first, *rest = cell["source"]
        if first == "%%bash\n":
            run = subprocess.run(
                ["bash"], input="".join(rest), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250
            )
            said += run.stdout
            assert run.returncode == 0, run.stdout
        else:
            exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    clone = tmp_path / "vicinity"
    assert "nothing to set up" in said and "0 failed" in said and "claims that hold" in said
    (picture,) = shown
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.is_relative_to(clone / "results")
    assert (clone / f"{os.environ['MACHINE']}-records.tar.gz").stat().st_size > 0
