"""What a run records, what it does not run again, and what its exit code says."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess

import pytest
from conftest import Program, environment, error_line, rest_of


def test_records_every_case_and_implementation(fake: Program) -> None:
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 0, result.stderr
    records = fake.records()
    assert [(r["case"]["size"], r["implementation"]) for r in records] == [
        (10, "cpu-serial"),
        (10, "cpu-openmp"),
        (13, "cpu-serial"),
        (13, "cpu-openmp"),
    ]
    for record in records:
        assert record["status"] == "ok" and record["verified"]
        assert record["samples"]["kernel"] == [1e-3] * 5
        assert {len(samples) for samples in record["samples"].values()} == {5}
        assert record["commit"] == "0" * 40
    assert len(result.stdout.splitlines()) == 1 + len(records)
    environment = json.loads((fake.folder / "results/m/environment.json").read_text())
    assert environment["machine"] == "m" and environment["build"] == records[0]["build"]
    assert {len(record["sources"]) for record in records} == {16}


def test_resumes_and_runs_afresh(fake: Program) -> None:
    descriptor = fake.descriptor()
    fake("run", descriptor, "--machine", "m")
    again = fake("run", descriptor, "--machine", "m")
    assert again.returncode == 0 and "0 of 4 to measure, 4 recorded" in again.stderr
    assert len(fake.records()) == 4
    fake("run", descriptor, "--machine", "m", "--fresh", "--where", "size=10")
    assert len(fake.records()) == 6
    fake("run", descriptor, "--machine", "m", "--repetitions", "7", "--implementation", "cpu-openmp")
    assert [len(r["samples"]["wall"]) for r in fake.records()[6:]] == [7, 7]
    (fake.folder / descriptor).write_text((fake.folder / descriptor).read_text() + "# changed\n")
    fake("run", descriptor, "--machine", "m")
    assert len(fake.records()) == 12


def test_invalid_case_exits_1_and_the_others_run(fake: Program) -> None:
    descriptor = fake.descriptor(
        implementations="implementations: [cpu-wrong, cpu-late, cpu-infeasible, cpu-big, cpu-openmp]"
    )
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 1
    records = {(r["case"]["size"], r["implementation"]): r for r in fake.records()}
    assert len(records) == 10
    wrong = records[13, "cpu-wrong"]
    assert wrong["status"] == "invalid" and wrong["samples"] == {} and not wrong["verified"]
    assert wrong["message"].startswith("digest ") and wrong["digest"] != wrong["reference_digest"]
    assert records[10, "cpu-wrong"]["status"] == "ok"
    assert records[10, "cpu-late"]["status"] == "invalid" and records[10, "cpu-late"]["samples"] == {}
    assert records[10, "cpu-infeasible"]["status"] == "invalid"
    assert (
        records[10, "cpu-big"]["status"] == "skipped"
        and records[10, "cpu-big"]["message"] == "does not fit: needs 1 TB"
    )
    assert records[13, "cpu-openmp"]["status"] == "ok"
    again = fake("run", descriptor, "--machine", "m")
    assert again.returncode == 1 and "5 of 10 to measure, 5 recorded" in again.stderr  # invalid ones only


def test_extrapolation_is_marked(fake: Program) -> None:
    quick = "  quick: {extrapolate: {axis: size, at: [2, 4], implementations: [cpu-straight]}}"
    implementations = "implementations: [cpu-straight, cpu-openmp]"
    descriptor = fake.descriptor(**{"  quick": quick, "implementations": implementations})
    result = fake("run", descriptor, "--machine", "m")
    assert "extrapolated" in result.stdout
    scaled, whole = fake.records()[:2]
    line = scaled["extrapolated"]
    assert (line["axis"], line["at"], line["to"]) == ("size", [2, 3, 4], 10)
    assert [line[name] for name in ("fixed_seconds", "seconds_per_unit", "change")] == pytest.approx([2, 0.5, 0])
    assert scaled["case"]["size"] == 10 and scaled["samples"]["kernel"] == pytest.approx([7] * 5)
    assert scaled["evaluations"] == 1000 and scaled["verified"]
    assert whole["extrapolated"] is None and whole["evaluations"] == 1000


def test_one_repetition_is_too_few_to_scale_from(fake: Program) -> None:
    quick = "  quick: {extrapolate: {axis: size, at: [2, 4], implementations: [cpu-straight]}}"
    changes = {"implementations": "implementations: [cpu-straight, cpu-openmp]"}
    changes |= {"protocol": "protocol: {repetitions: 1, warmup: 0, time: kernel}", "  quick": quick}
    assert fake("run", fake.descriptor(**changes), "--machine", "m").returncode == 0
    scaled, whole = fake.records()[:2]
    assert scaled["extrapolated"] and len(scaled["samples"]["kernel"]) == 3
    assert not whole["extrapolated"] and len(whole["samples"]["kernel"]) == 1


def test_what_is_short_is_run_whole(fake: Program) -> None:
    """In the quick profile everything under a second, whatever the descriptor asks for."""
    descriptor = fake.descriptor(
        **{"  quick": "  quick: {extrapolate: {axis: size, at: [2, 4], implementations: [cpu-serial]}}"}
    )
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    for record in fake.records():
        assert record["extrapolated"] is None and record["samples"]["kernel"] == [1e-3] * 5


def test_what_can_be_neither_predicted_nor_run_whole_has_no_time(fake: Program) -> None:
    quick = "  quick: {extrapolate: {axis: size, at: [2, 4], implementations: [cpu-bent]}, most_seconds: 2}"
    descriptor = fake.descriptor(
        **{"  quick": quick, "implementations": "implementations: [cpu-bent]", "  size": "  size: [100]"}
    )
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 0 and "unmeasurable" in result.stdout
    (record,) = fake.records()
    assert record["status"] == "skipped" and record["samples"] == {} and record["extrapolated"] is None
    assert record["message"].startswith("unmeasurable: its time cannot be predicted from size = 2 to 4 (")


def test_an_implementation_asked_for_twice_is_measured_once(fake: Program) -> None:
    twice = ("--implementation", "cpu-serial", "cpu-serial")
    assert fake("run", fake.descriptor(), "--machine", "m", "--where", "size=10", *twice).returncode == 0
    assert len(fake.records()) == 1


def test_a_name_that_no_record_may_have_is_refused(fake: Program) -> None:
    for name in ("a table", "table.shard-1-of-2"):
        result = fake("run", fake.descriptor(name), "--machine", "m")
        assert result.returncode == 2 and error_line(result).endswith("; rename the file")
    assert not (fake.folder / "results").exists()


def test_gpu_rows_come_from_records(fake: Program) -> None:
    result = fake("run", fake.descriptor(implementations="implementations: [cpu-serial, gpu]"), "--machine", "m")
    assert result.returncode == 0
    assert (
        "gpu: no GPU here, rows come from recorded results" in result.stderr
        or "gpu: GPU code is not built" in result.stderr
    )
    assert [r["implementation"] for r in fake.records()] == ["cpu-serial", "cpu-serial"]


def test_one_process_an_experiment(fake: Program) -> None:
    crash = fake.descriptor("crash", implementations="implementations: [cpu-openmp, cpu-crash]")
    table = fake.descriptor("table")
    result = fake("run", crash, table, "--machine", "m")
    assert result.returncode == 3
    assert error_line(result).startswith("crash.yaml: its process was ended by signal 9")
    assert len(fake.records("fake/crash")) == 1
    assert len(fake.records("fake/table")) == 4
    pids = {r["process"]["pid"] for name in ("fake/crash", "fake/table") for r in fake.records(name)}
    assert len(pids) == 2


def test_each_part_of_a_run_says_where_it_stands(fake: Program) -> None:
    one, two = fake.descriptor("one"), fake.descriptor("two")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [fake.binary, "run", one, two, "--machine", "m"],
        cwd=fake.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    said = rest_of(ours).decode()
    assert process.wait(timeout=60) == 0
    assert "[1/2] fake/one [quick]: 4 of 4 to measure" in said and "[2/2] fake/two [quick]" in said
    assert re.search(r"\[2/2\] fake/two 3 of 4, 0:0\d elapsed, about 0:0\d left: ", said)
    alone = fake("run", one, "--machine", "m", "--fresh")
    assert alone.stderr.startswith("fake/one [quick]")


def test_options_reach_the_processes(fake: Program) -> None:
    one, two = fake.descriptor("one"), fake.descriptor("two")
    result = fake(
        "run",
        "--implementation",
        "cpu-openmp",
        "--where",
        "size=10",
        "--machine",
        "m",
        "--repetitions",
        "4",
        "--control",
        one,
        two,
    )
    assert result.returncode == 0, result.stderr
    for name in ("fake/one", "fake/two"):
        (record,) = fake.records(name)
        assert record["implementation"] == "cpu-openmp" and len(record["samples"]["wall"]) == 4
        assert len(record["control"]["cpu"]) == 2


def test_slowdown_is_recorded_and_never_reused(fake: Program) -> None:
    descriptor = fake.descriptor()
    fake("run", descriptor, "--machine", "m", "--where", "size=10", "--test-slowdown", "cpu-openmp=2")
    fake("run", descriptor, "--machine", "m", "--where", "size=10")
    first, slowed, normal = fake.records()
    assert slowed["protocol"]["test_slowdown"] == 2 and slowed["samples"]["kernel"] == [2e-3] * 5
    assert "test_slowdown" not in first["protocol"] and "test_slowdown" not in normal["protocol"]
    assert normal["implementation"] == "cpu-openmp" and normal["samples"]["kernel"] == [1e-3] * 5
