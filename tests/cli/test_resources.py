"""Inputs that would take all memory or all time are refused, or cost one case."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import ROOT, Program, error_line


@pytest.fixture
def pipe(vicinity: Program) -> Path:
    path = vicinity.folder / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("file", ["/dev/zero", "pipe"])
@pytest.mark.parametrize(
    ("system", "option"), [("sa", "--instance"), ("lsm", "--instance"), ("alns", "--instance"), ("sa", "--start")]
)
@pytest.mark.usefixtures("pipe")
def test_devices_and_pipes_are_no_inputs(mine: Program, file: str, system: str, option: str) -> None:
    words = ["--instance", "mine.dat", option, file] if option == "--start" else [option, file]
    result = mine("solve", system, *words, "--output", "o")
    assert result.returncode == 2
    assert error_line(result) == f"{file}: cannot be read: not a regular file"


@pytest.mark.parametrize("command", ["run", "verify"])
@pytest.mark.usefixtures("pipe")
def test_nor_descriptors(vicinity: Program, command: str) -> None:
    for file in ("/dev/zero", "pipe"):
        result = vicinity(command, file)
        assert result.returncode == 2
        assert error_line(result) == f"{file}: cannot be read: not a regular file"


def test_a_case_too_large_for_the_machine_is_skipped(vicinity: Program) -> None:
    """Matrices of 46340 facilities take 17 GB, those of a search as much again: whatever is missing costs the case."""
    text = (ROOT / "experiments/sa/crossover.yaml").read_text()
    text = text.replace("axes: {size: [10], iterations: [300, 3000]}", "axes: {size: [46340, 10], iterations: [300]}")
    (vicinity.folder / "crossover.yaml").write_text(text)

    def little_memory() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    arguments = ["run", "crossover.yaml", "--profile", "smoke", "--machine", "m", "--implementation", "cpu-delta"]
    result = vicinity(*arguments, preexec_fn=little_memory)
    assert result.returncode == 0, result.stderr
    records = [json.loads(line) for line in (vicinity.folder / "results/m/sa/crossover.jsonl").read_text().splitlines()]
    assert [(one["case"]["size"], one["status"]) for one in records] == [(46340, "skipped"), (10, "ok")]
    assert records[0]["message"].startswith("does not fit: ")


def test_millions_of_cases_are_counted_and_not_planned(fake: Program) -> None:
    values = ", ".join(map(str, range(1, 2001)))
    descriptor = fake.descriptor(**{"  size": f"  size: [{values}]\n  milliseconds: [{values}]"})
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 2
    assert (
        error_line(result) == "table.yaml: 4000000 cases; at most 100000 are planned at a time: choose some by --where"
    )
    assert fake("run", descriptor, "--machine", "m", "--where", "size=7", "milliseconds=3").returncode == 0
    assert {record["case"]["size"] for record in fake.records()} == {7}


def test_a_list_without_end_is_refused(fake: Program) -> None:
    values = ", ".join(map(str, range(1, 20_002)))
    result = fake("run", fake.descriptor(**{"  size": f"  size: [{values}]"}))
    assert result.returncode == 2
    assert error_line(result) == "table.yaml:7: size has 20001 elements; at most 10000"
