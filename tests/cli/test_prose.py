"""scripts/check_prose.py: what counts as a number that somebody measured, and how one that is none says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


def check(folder: Path, text: str, page: str = "docs/page.md") -> tuple[int, str]:
    (folder / page).parent.mkdir(parents=True, exist_ok=True)
    (folder / page).write_text(text)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/check_prose.py", folder], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("It takes 1.9 µs a variable.", "1.9 µs"),
        ("It takes 110ms on one core.", "110ms"),
        ("about 270 ns, or so", "270 ns"),
        ("done in 2 minutes", "2 minutes"),
        ("It is 12 times faster.", "12 times"),
        ("It is 1,200x faster.", "1,200x"),
        ("a speed-up of 3.5×.", "3.5×"),
        ("| pipe busy | 67 % | |", "67 %"),
        ("busy to 98%", "98%"),
        ("some 40 percent", "40 percent"),
        ("4.2e9 ratings/s at |R| = 1224", "4.2e9 ratings/s"),
        ("moves 3.0 TB/s", "3.0 TB/s"),
        ("1.9e11 against 7.9e10", "1.9e11"),
        ("<!-- number: published -->\nprinted: 3 ms\n\nours: 2 ms", "2 ms"),
        ("printed: 3 ms <!-- number: published -->\nours: 2 ms", "2 ms"),
        ("```\n3 ms\n```\nthen 4 ms", "4 ms"),
    ],
)
def test_a_measured_number_is_found(tmp_path: Path, line: str, found: str) -> None:
    status, output = check(tmp_path, f"# A page\n\n{line}\n")
    place = f"docs/page.md:{line.count(chr(10)) + 3}"
    assert status == 1
    assert output == f"{place}: a measured number? {found}\n1 lines have numbers that no record vouches for\n"


@pytest.mark.parametrize(
    "line",
    [
        "N = 100, I = 1e7, 16 cores, tai100a, sm_90, 64 bits, 3 steps, 2 million",
        "1000 × 1000 cells of a 99 x 99 window",
        "`--seconds 10 s` and `max_seconds: 12` are options",
        "```\nrun: 12.3 ms\n```",
        "at most 20 µs <!-- number: limit -->",
        "| a 95 % interval <!-- number: definition --> | |",
        "<!-- number: published -->\n| a | 3 ms |\n| b | 4 ms |",
    ],
)
def test_what_is_no_measurement_passes(tmp_path: Path, line: str) -> None:
    assert check(tmp_path, f"{line}\n") == (0, "0 lines have numbers that no record vouches for\n")


def test_a_mark_needs_a_known_kind(tmp_path: Path) -> None:
    status, output = check(tmp_path, "3 ms <!-- number: quick -->\n")
    assert status == 1 and "no such kind of number: quick (there are published, definition, limit)" in output


@pytest.mark.parametrize("page", ["docs/measured.md", "CHANGELOG.md", "results/m/report/report.md"])
def test_generated_pages_and_history_are_left_out(tmp_path: Path, page: str) -> None:
    assert check(tmp_path, "3 ms\n", page)[0] == 0


def test_every_page_of_this_repository_passes() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/check_prose.py"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
