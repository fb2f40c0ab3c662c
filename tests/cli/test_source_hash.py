"""cmake/source_hash.cmake: the hash of a system changes with what its results depend on, and with nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

LAYERS = ("core", "data", "cpu_ref", "kernels", "systems")
LEFT_OUT = {"systems/list.hpp", "systems/file_extras.hpp"}


def cmake(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", *options, "-P", str(root / "cmake" / "source_hash.cmake")]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def hashes(root: Path) -> dict[str, str]:
    return dict(line.split() for line in cmake(root).stdout.splitlines())


def files_of(root: Path, system: str) -> set[str]:
    return {line.split()[0] for line in cmake(root, f"-DLIST={system}").stderr.splitlines() if line}


SYSTEMS = [name for name in hashes(ROOT) if name not in ("all", "shared")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for layer in LAYERS:
        keep = shutil.ignore_patterns("*.yaml", "*.csv", "*.fzn", "*.mzn", "*.dzn", "*.md")
        shutil.copytree(ROOT / layer, folder / layer, ignore=keep)
    shutil.copytree(ROOT / "cmake", folder / "cmake")
    return folder


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("core/util/rng.hpp", SYSTEMS),
        ("core/api/run.hpp", SYSTEMS),
        ("cpu_ref/run/search_run.hpp", SYSTEMS),
        ("kernels/cuda/runtime/stream.cuh", SYSTEMS),
        ("data/catalogue.cpp", SYSTEMS),
        ("kernels/sa/implementations.cu", ["sa"]),
        ("systems/lsm_solver.cpp", ["lsm"]),
        ("core/problems/vrp/delta.hpp", ["alns"]),
        ("core/problems/qap/qap.hpp", ["sa", "lsm", "lns"]),  # lns: Table 4 is a QAP
        ("data/formats/flatzinc.cpp", ["lns"]),
        ("data/tsps.cpp", ["lsm"]),  # without a header of its own
        ("systems/list.hpp", []),
        ("systems/file_extras.hpp", []),
    ],
)
def test_a_change_is_one_of_those_that_use_the_file(tree: Path, path: str, whose: list[str]) -> None:
    before = hashes(tree)
    text = (tree / path).read_text()
    (tree / path).write_text(text + "// changed\n")
    after = hashes(tree)
    (tree / path).write_text(text)
    assert [system for system in SYSTEMS if before[system] != after[system]] == whose
    assert before["all"] != after["all"]


def test_what_a_system_includes_is_in_its_hash() -> None:
    for system in SYSTEMS:
        files = files_of(ROOT, system)
        for file in files:
            if file.startswith("cpu_ref/run/"):  # sends the problems of all systems among ranks, each system its own
                continue
            for name in re.findall(r'^#include "([^"]+)"', (ROOT / file).read_text(), re.M):
                assert name in files or name in LEFT_OUT or not name.startswith(LAYERS), f"{system}: {file}"


def test_every_file_is_in_some_hash() -> None:
    found = set().union(*(files_of(ROOT, system) for system in SYSTEMS))
    patterns = ("*.hpp", "*.cpp", "*.cu", "*.cuh")
    files = {str(p.relative_to(ROOT)) for layer in LAYERS for one in patterns for p in (ROOT / layer).rglob(one)}
    assert files - found == LEFT_OUT
