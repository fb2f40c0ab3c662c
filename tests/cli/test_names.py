"""scripts/check_names.py: a line that names a system outside its own files is found, in a tree of a few files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TREE = {
    "systems/list.hpp": "System deer();\nSystem ox();\n",
    "systems/deer_solver.cpp": "// deer\n",
    "kernels/deer/tuned.cu": "// deer\n",
    "core/problems/deer_woods/tree.hpp": "namespace deer {}\n",
    "docs/page.html": "deer and ox\n",
    "tests/any_test.cpp": "// deer\n",
    "core/README.md": "deer\n",
    "scripts/run": "# reindeer, deers, deer_like\n",
    "analysis/vicinity_analysis/papers/elk/__init__.py": "ELK = 'elk'\n",
}


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("scripts/all", "run deer\n", "scripts/all:1: run deer"),
        ("kernels/deer/other.cu", "\n// as ox does\n", "kernels/deer/other.cu:2: // as ox does"),
        ("harness/page.cpp", "// the DEER paper\n", "harness/page.cpp:1: // the DEER paper"),
        ("Makefile", "# elk/table1\n", "Makefile:1: # elk/table1"),
        ("core/deers.hpp", "// deer\n", "core/deers.hpp:1: // deer"),
    ],
)
def test_a_planted_line_is_found(tmp_path: Path, path: str, text: str, found: str) -> None:
    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "scripts/check_names.py", tmp_path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for name, content in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    clean = check()
    assert clean.returncode == 0, clean.stderr
    assert clean.stdout == "0 lines name a system (deer, elk, ox) outside its own files\n"
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    planted = check()
    assert planted.returncode == 1 and planted.stderr == found + "\n"
