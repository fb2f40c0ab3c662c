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


def parts_of(system: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Files, and the implementations of the system that they concern."""
    lines = (ROOT / "systems" / f"{system}.parts").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return [(re.compile(files), re.compile(users)) for files, users in rows]


def names_of(system: str) -> set[str]:
    """All that its tables and ranks could call an implementation."""
    texts = [path.read_text() for path in (ROOT / "systems").glob(f"{system}*.cpp")]
    for layer in ("cpu_ref", "kernels"):
        texts += [path.read_text() for path in (ROOT / layer / system).rglob("implementations.c*")]
    return {name for text in texts for name in re.findall(r'"((?:cpu|gpu|mpi)[a-z-]*)"', text)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_who_includes_a_file_of_a_part_concerns_no_others(system: str) -> None:
    names, parts, files = names_of(system), parts_of(system), files_of(ROOT, system)
    assert {"cpu-serial", "gpu", "gpu-tuned"} <= names

    def users(file: str) -> set[str]:
        part = next((users for pattern, users in parts if pattern.search(file)), re.compile(".*"))
        return {name for name in names if part.fullmatch(name)}

    free = re.compile(r"^systems/|/implementations\.|/ranks\.hpp$")  # they list, or are compiled for each alone
    used = set()
    for file in files:
        used.update(pattern.pattern for pattern, _ in parts if pattern.search(file))
        stem = file.rpartition(".")[0]
        assert len({frozenset(users(f)) for f in files if f.rpartition(".")[0] == stem}) == 1, file
        for name in re.findall(r'^#include "([^"]+)"', (ROOT / file).read_text(), re.M):
            if name in files and not free.search(file) and not free.search(name):
                assert users(file) <= users(name), f"{file} includes {name}"
    assert {pattern.pattern for pattern, _ in parts} == used, "a part without files"


def test_a_change_of_one_implementation_leaves_the_others(tree: Path) -> None:
    def parts() -> dict[str, str]:
        found = re.findall(r'{"(\w+)", "(.*)", "(\w+)"}', cmake(tree, "-DPARTS=1").stderr)
        return {f"{system} {users}": digest for system, users, digest in found}

    before, path = parts(), tree / "kernels/lsm/tuned/qap/grid.cu"
    text = path.read_text()
    path.write_text(text + "// changed\n")
    after = parts()
    path.write_text(text)
    changed = [part for part in before if before[part] != after[part]]
    assert changed == ["lsm gpu-tuned|gpu-chains|mpi-gpu-chains|mpi-gpu"]


def test_every_file_is_in_some_hash() -> None:
    found = set().union(*(files_of(ROOT, system) for system in SYSTEMS))
    patterns = ("*.hpp", "*.cpp", "*.cu", "*.cuh")
    files = {str(p.relative_to(ROOT)) for layer in LAYERS for one in patterns for p in (ROOT / layer).rglob(one)}
    assert files - found == LEFT_OUT
