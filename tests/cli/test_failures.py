"""Disks, locks, kills: one clear line, the right exit code, and no recorded sample lost or doubled."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Program, environment, error_line

SLOW = {
    "implementations": "implementations: [cpu-slow]",
    "  size": "  size: [1, 2, 3, 4, 5, 6, 7, 8]\n  milliseconds: [2]",
}


@pytest.fixture
def gate(fake: Program, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file exists, cpu-slow waits at the fifth size."""
    path = fake.folder / "gate"
    path.touch()
    monkeypatch.setenv("FAKE_GATE", str(path))
    return path


def results_file(program: Program) -> Path:
    return program.folder / "results/m/fake/table.jsonl"


def wait_for_lines(program: Program, process: subprocess.Popen[str], count: int) -> None:
    path = results_file(program)
    for _ in range(12_000):
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    pytest.fail("no results appeared")


def assert_each_case_once(program: Program) -> None:
    sizes = [record["case"]["size"] for record in program.records()]
    assert sorted(sizes) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(len(record["samples"]["wall"]) == 5 for record in program.records())


def test_results_folder_is_a_file(fake: Program) -> None:
    (fake.folder / "results").write_text("in the way")
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 3
    assert error_line(result).startswith("results/m/fake: cannot create the results folder: ")
    assert (fake.folder / "results").read_text() == "in the way"


def test_results_file_is_a_folder(fake: Program) -> None:
    results_file(fake).mkdir(parents=True)
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 3
    assert error_line(result) == "results/m/fake/table.jsonl: cannot be opened for writing: Is a directory"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_results_folder(fake: Program) -> None:
    (fake.folder / "results").mkdir(mode=0o555)
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 3
    assert "Permission denied" in error_line(result)


@pytest.mark.parametrize("room", [4000, 5000, 6000])
def test_full_disk_keeps_whole_lines(fake: Program, room: int) -> None:
    # A file-size limit is what a full disk looks like to one file; the environment file stays below it.
    descriptor = fake.descriptor(
        **{"  size": "  size: [1, 2, 3, 4, 5, 6, 7, 8]"}, implementations="implementations: [cpu-openmp]"
    )
    result = fake(
        "run", descriptor, "--machine", "m", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    )
    assert result.returncode == 3
    assert (
        error_line(result)
        == "results/m/fake/table.jsonl: cannot be written; the results before this one are kept: File too large"
    )
    kept = results_file(fake).read_bytes()
    assert 0 < len(kept) <= room and kept.endswith(b"\n")
    before = fake.records()
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    assert fake.records()[: len(before)] == before
    assert_each_case_once(fake)


def test_two_runs_on_one_file(fake: Program, gate: Path) -> None:
    descriptor = fake.descriptor(**SLOW)
    first = fake.start("run", descriptor, "--machine", "m")
    wait_for_lines(fake, first, 1)
    second = fake("run", descriptor, "--machine", "m")
    assert second.returncode == 3
    assert error_line(second) == "results/m/fake/table.jsonl: another run is writing this file; wait for it to end"
    gate.unlink()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert_each_case_once(fake)


@pytest.mark.parametrize("lines", [0, 1, 3])
def test_killed_then_resumed(fake: Program, gate: Path, lines: int) -> None:
    descriptor = fake.descriptor(**SLOW)
    process = fake.start("run", descriptor, "--machine", "m")
    wait_for_lines(fake, process, lines)
    process.kill()
    process.communicate(timeout=60)
    before = fake.records()
    assert lines <= len(before) < 8
    gate.unlink()
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    assert fake.records()[: len(before)] == before
    assert_each_case_once(fake)


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_then_resumed(fake: Program, gate: Path, signal_sent: signal.Signals) -> None:
    descriptor = fake.descriptor(**SLOW)
    process = fake.start("run", descriptor, "--machine", "m")
    wait_for_lines(fake, process, 2)
    process.send_signal(signal_sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "vicinity: interrupted; finished results are recorded, the same command continues" in errors
    before = fake.records()
    assert 2 <= len(before) < 8
    gate.unlink()
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    assert fake.records()[: len(before)] == before
    assert_each_case_once(fake)


@pytest.mark.usefixtures("gate")
def test_interrupt_reaches_the_process_of_an_experiment(fake: Program) -> None:
    table, other = fake.descriptor(**SLOW), fake.descriptor("other")
    process = fake.start("run", table, other, "--machine", "m")
    wait_for_lines(fake, process, 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(fake.records()) < 8
    assert fake.records("fake/other") == []


def test_killed_parent_takes_the_experiment_along(fake: Program, gate: Path) -> None:
    table, other = fake.descriptor(**SLOW), fake.descriptor("other")
    process = fake.start("run", table, other, "--machine", "m")
    wait_for_lines(fake, process, 1)
    process.kill()
    process.communicate(timeout=60)  # ends when the last holder of the pipes has ended
    assert len(fake.records()) < 8
    gate.unlink()
    assert fake("run", table, other, "--machine", "m").returncode == 0
    assert_each_case_once(fake)


def test_a_damaged_line_is_said_once_and_stays(fake: Program) -> None:
    protocol = "protocol: {repetitions: 5, warmup: 1, time: kernel, processes: 3}"
    descriptor = fake.descriptor(**(SLOW | {"protocol": protocol}))
    path = results_file(fake)
    path.parent.mkdir(parents=True)
    damaged = ["not JSON at all\n", '{"schema":"1"}\n']
    path.write_text("".join(damaged))
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 0, result.stderr
    told = [line for line in result.stderr.splitlines() if "warning" in line]
    place, left = "vicinity: warning: results/m/fake/table.jsonl", "; the line is left out: mend or remove it"
    assert told == [f"{place}:1: not JSON: at character 2{left}", f"{place}:2: experiment: is missing{left}"]
    assert path.read_text().startswith("".join(damaged))
    assert path.read_text().count("\n") == 2 + 3 * 8


def test_of_many_damaged_lines_twenty_are_said(fake: Program) -> None:
    path = results_file(fake)
    path.parent.mkdir(parents=True)
    path.write_text("[]\n" * 50)
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert sum("[] is not of type object" in line for line in result.stderr.splitlines()) == 20
    assert "vicinity: warning: 30 more damaged lines are left out" in result.stderr


def test_a_damaged_environment_costs_the_command(fake: Program) -> None:
    path = fake.folder / "results/m/environment.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": 1,\n "cpu": {"cores": "many"}}')
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 3
    assert error_line(result) == (
        "results/m/environment.json:2: cpu.cores: 'many' is not of type integer or null; mend or remove the file"
    )


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("gate")
def test_polite_kills_reach_the_process_of_an_experiment(fake: Program, sent: signal.Signals) -> None:
    table, other = fake.descriptor(**SLOW), fake.descriptor("other")
    process = fake.start("run", table, other, "--machine", "m")
    wait_for_lines(fake, process, 1)
    process.send_signal(sent)
    process.communicate(timeout=60)  # ends when the last holder of the pipes has ended
    assert process.returncode == 130
    assert len(fake.records()) < 8 and fake.records("fake/other") == []


def test_torn_last_line_is_repaired(fake: Program) -> None:
    descriptor = fake.descriptor(**SLOW)
    fake("run", descriptor, "--machine", "m")
    path = results_file(fake)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][: len(lines[5]) // 2])
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    assert path.read_bytes().startswith(b"".join(lines[:5]))
    assert_each_case_once(fake)


def test_what_cannot_be_printed_is_said(fake: Program) -> None:
    """And what was recorded stays."""
    descriptor = fake.descriptor()
    commands = [
        ("run", descriptor, "--machine", "m"),
        ("run", descriptor, "--estimate"),
        ("verify", "--random", "2", "--implementation", "cpu-openmp"),
        ("environment",),
        ("completion", "bash"),
        ("--help",),
    ]
    for command in commands:
        with Path("/dev/full").open("w") as full:
            result = subprocess.run(
                [fake.binary, *command],
                cwd=fake.folder,
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        assert result.returncode == 3, command
        error_line(result)
    assert len(fake.records()) == 4


def test_records_that_lead_to_a_device(fake: Program) -> None:
    path = results_file(fake)
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/full")
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 3
    assert error_line(result) == "results/m/fake/table.jsonl: not an ordinary file"


def test_a_signal_reaches_an_experiment_that_ignores_ctrl_c(fake: Program, gate: Path) -> None:
    """As what a shell starts in the background does."""
    table, other = fake.descriptor(**SLOW), fake.descriptor("other")
    process = subprocess.Popen(
        [fake.binary, "run", table, other, "--machine", "m"],
        cwd=fake.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    wait_for_lines(fake, process, 4)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(fake.records()) == 4 and gate.exists()


def test_verification_file_on_a_full_disk(fake: Program) -> None:
    result = fake("verify", "--random", "2", "--implementation", "cpu-openmp", "--json", "/dev/full/x")
    assert result.returncode == 3
    error_line(result)
