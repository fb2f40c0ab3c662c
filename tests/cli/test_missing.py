"""An instance file that is not here: its rows say so and how to get it, everything else runs, and it is tried again."""

from __future__ import annotations

import pytest
from conftest import ROOT, Program, error_line

AXES = "  size: [404, 10]"
MESSAGE = "file of size 404 not found; make it"


def states(program: Program) -> list[tuple[int, str, str]]:
    return [(r["case"]["size"], r["implementation"], r["status"]) for r in program.records()]


def test_skipped_and_the_others_run(fake: Program) -> None:
    descriptor = fake.descriptor(**{"  size": AXES})
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(f"skipped: {MESSAGE}") == 2
    assert states(fake) == [
        (404, "cpu-serial", "skipped"),
        (404, "cpu-openmp", "skipped"),
        (10, "cpu-serial", "ok"),
        (10, "cpu-openmp", "ok"),
    ]
    assert [r["message"] for r in fake.records()[:2]] == [MESSAGE] * 2
    assert all(r["missing_input"] and r["samples"] == {} for r in fake.records()[:2])


def test_tried_again_without_a_second_line_until_it_is_there(fake: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = fake.descriptor(**{"  size": AXES})
    fake("run", descriptor, "--machine", "m")
    again = fake("run", descriptor, "--machine", "m")
    assert "2 of 4 to measure, 2 recorded" in again.stderr
    assert len(fake.records()) == 4
    monkeypatch.setenv("FAKE_HAS_FILE", "1")
    fake("run", descriptor, "--machine", "m")
    assert states(fake)[4:] == [(404, "cpu-serial", "ok"), (404, "cpu-openmp", "ok")]
    assert "0 of 4 to measure" in fake("run", descriptor, "--machine", "m").stderr


def test_verify_names_the_file_once(fake: Program) -> None:
    result = fake("verify", fake.descriptor(**{"  size": AXES}), "--profile", "quick")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(f"skipped problem=count;size=404: {MESSAGE}") == 1
    assert "2 cases, 2 comparisons, 0 failed, 2 skipped" in result.stdout


QAP = """\
schema: 1
title: "Two instances"
paper: none
system: sa
problem: qap
instances: [ghost, tai10a]
axes:
  iterations: [1000]
implementations: [cpu-traditional]
protocol: {repetitions: 1, warmup: 0, time: kernel}
check: {kind: identical, reference: cpu-traditional}
profiles:
  smoke: {}
  quick: {}
  full: {}
"""

GHOST = """\
  - {name: ghost, family: qaplib, file: qaplib/ghost.dat, format: qaplib, size: {facilities: 3}, source: nowhere,
     licence: none, sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}
"""


@pytest.fixture
def with_ghost(vicinity: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program with a catalogue that knows an instance nobody has."""
    folder = vicinity.folder / "data"
    folder.mkdir()
    (folder / "catalogue.yaml").write_text((ROOT / "data/catalogue.yaml").read_text() + GHOST)
    monkeypatch.setenv("VICINITY_DATA", str(folder))
    monkeypatch.setenv("VICINITY_INSTANCES", str(vicinity.folder))
    (vicinity.folder / "two.yaml").write_text(QAP)
    return vicinity


def test_qap_without_its_file(with_ghost: Program) -> None:
    result = with_ghost("run", "two.yaml", "--profile", "smoke", "--machine", "m")
    assert result.returncode == 0, result.stderr
    missing, there = with_ghost.records("sa/two")
    assert missing["status"] == "skipped" and there["status"] == "ok"
    assert missing["message"].startswith("instance file qaplib/ghost.dat not found in ")
    assert "get it with 'make fetch', 'apt-get install r-cran-qap', or from nowhere" in missing["message"]


def test_qap_with_a_wrong_file_stops(with_ghost: Program) -> None:
    (with_ghost.folder / "ghost.dat").write_text("3\n")
    result = with_ghost("run", "two.yaml", "--profile", "smoke", "--machine", "m")
    assert result.returncode == 2
    assert "ghost.dat: SHA-256 is" in error_line(result)


def test_an_experiment_without_its_files_is_skipped(vicinity: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICINITY_INSTANCES", str(vicinity.folder))
    descriptor = str(ROOT / "experiments/alns/table1.yaml")
    result = vicinity("run", descriptor, "--profile", "smoke", "--machine", "m")
    assert result.returncode == 0, result.stderr
    records = vicinity.records("alns/table1")
    assert records and all(record["missing_input"] and record["best_known"] is None for record in records)
