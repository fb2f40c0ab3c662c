"""A disk that is full: a small file system of its own, where mounting is allowed."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Program, error_line
from solving import assert_solves, write_qap

PAGES = 96  # KiB of it


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={PAGES}k", "vicinity-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, left: int) -> Path:
    """All but `left` KiB."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(1024)) == 1024:
            pass
    with filler.open("r+b") as file:
        file.truncate(max(0, filler.stat().st_size - 1024 * left))
    return filler


@pytest.mark.parametrize("left", [0, 4, 8, 16, 24])
def test_run_keeps_whole_lines_and_goes_on(fake: Program, small: Path, left: int) -> None:
    sizes = "  size: [" + ", ".join(map(str, range(2, 22))) + "]"
    arguments = ["run", fake.descriptor(**{"  size": sizes}), "--machine", "m", "--results", str(small / "results")]
    filler = fill(small, left)
    result = fake(*arguments)
    assert result.returncode == 3, result.stderr
    assert "No space left on device" in error_line(result)
    path = small / "results/m/fake/table.jsonl"
    before = path.read_text() if path.exists() else ""
    assert before == "" or before.endswith("\n")
    assert all(json.loads(line)["status"] in ("ok", "invalid") for line in before.splitlines())
    filler.unlink()
    assert fake(*arguments).returncode in (0, 1)  # cpu-openmp is wrong at one size
    assert path.read_text().startswith(before) and len(path.read_text().splitlines()) >= 20


def test_solve_prints_what_it_cannot_write(vicinity: Program, small: Path) -> None:
    write_qap(vicinity.folder / "mine.dat", 12)
    good = vicinity("solve", "sa", "--instance", "mine.dat", "--iterations", "1", "--output", str(small / "o.sln"))
    assert good.returncode == 0, good.stderr
    worst = assert_solves(small / "o.sln", 12)
    fill(small, 0)
    result = vicinity("solve", "sa", "--instance", "mine.dat", "--iterations", "1e5", "--output", str(small / "o.sln"))
    assert result.returncode == 3 and "No space left on device" in error_line(result)
    assert assert_solves(small / "o.sln", 12) == worst  # whole, as it was
    assert [path.name for path in small.iterdir() if path.name.endswith(".tmp")] == []
