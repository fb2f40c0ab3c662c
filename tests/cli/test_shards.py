"""Shards: whatever their order, number and interruptions, they record together what one run records, nothing twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import Program, error_line

SIZES = {"  size": "  size: [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]"}
SLOW = {
    "implementations": "implementations: [cpu-serial, cpu-slow]",
    "  size": "  size: [1, 2, 3, 4, 6, 7, 8, 9]\n  milliseconds: [1]",
}


def recorded(results: Path, experiment: str = "table") -> list[dict]:
    """All that readers take for the experiment's records."""
    found = sorted(results.glob(f"m/fake/{experiment}*.jsonl"))
    return [json.loads(line) for path in found for line in path.read_text().splitlines()]


def what(records: Iterable[dict]) -> Counter:
    """All of a record that is not time, place or number of a process."""
    same = (
        "experiment",
        "case_key",
        "implementation",
        "seeds",
        "status",
        "digest",
        "objective",
        "iterations",
        "verified",
    )
    return Counter(
        json.dumps([*(r[name] for name in same), r["process"]["number"], len(r["samples"]["kernel"])]) for r in records
    )


def whole(fake: Program, descriptor: str, *arguments: str) -> Counter:
    result = fake("run", descriptor, "--machine", "m", "--results", "whole", *arguments)
    assert result.returncode == 0, result.stderr
    return what(recorded(fake.folder / "whole"))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_shards_in_any_order_are_one_run(fake: Program, count: int) -> None:
    protocol = "protocol: {repetitions: 2, warmup: 0, time: kernel, processes: 2, seeds: {first: 1, count: 3}}"
    descriptor = fake.descriptor(**SIZES, protocol=protocol)
    expected = whole(fake, descriptor)
    assert len(expected) == 10 * 2 * 2 * 3 and set(expected.values()) == {1}
    order = list(range(1, count + 1))
    random.Random(count).shuffle(order)
    for number in order:
        result = fake("run", descriptor, "--machine", "m", "--shard", f"{number}/{count}")
        assert result.returncode == 0, result.stderr
    assert what(recorded(fake.folder / "results")) == expected
    pairs: dict[tuple[str, str], set[str]] = {}
    for path in (fake.folder / "results/m/fake").glob("table*.jsonl"):
        for record in map(json.loads, path.read_text().splitlines()):
            pairs.setdefault((record["case_key"], record["implementation"]), set()).add(path.name)
    assert all(len(files) == 1 for files in pairs.values()), "a pair stands in the files of two shards"
    if count == 2:
        assert {len(fake.records(f"fake/table.shard-{n}-of-2")) > 30 for n in (1, 2)} == {True}, "no even division"


def test_what_a_shard_recorded_no_other_division_runs_again(fake: Program) -> None:
    descriptor = fake.descriptor(**SIZES)
    expected = whole(fake, descriptor)
    for shard in ("1/3", "2/2", "3/5"):
        assert fake("run", descriptor, "--machine", "m", "--shard", shard).returncode == 0
    files = {path: path.read_text() for path in (fake.folder / "results/m/fake").iterdir()}
    assert fake("run", descriptor, "--machine", "m").returncode == 0
    assert what(recorded(fake.folder / "results")) == expected
    assert all(path.read_text() == text for path, text in files.items())
    again = fake("run", descriptor, "--machine", "m", "--shard", "1/2")
    assert again.returncode == 0 and ": 0 of " in again.stderr and "[quick, shard 1 of 2]" in again.stderr


def test_shards_killed_at_any_moment_go_on(fake: Program) -> None:
    """Both run at the same time; what was killed is called again."""
    draw, descriptor = random.Random(21), fake.descriptor(**SLOW)
    expected = whole(fake, descriptor)
    for _ in range(8):
        count = draw.choice([2, 3])
        at_work = [
            fake.start("run", descriptor, "--machine", "m", "--shard", f"{number}/{count}")
            for number in range(1, count + 1)
        ]
        for process in at_work:
            try:
                process.wait(draw.uniform(0, 0.15))
            except subprocess.TimeoutExpired:
                process.send_signal(draw.choice([signal.SIGKILL, signal.SIGTERM]))
        for process in at_work:
            assert process.wait(60) in (0, 130, -signal.SIGKILL, -signal.SIGTERM), process.communicate()
    for number in (1, 2):
        assert fake("run", descriptor, "--machine", "m", "--shard", f"{number}/2").returncode == 0
    assert what(recorded(fake.folder / "results")) == expected
    environment = json.loads((fake.folder / "results/m/environment.json").read_text())
    assert len(environment["builds"]) == 1


def test_only_shards_of_one_number_are_at_work_together(fake: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = fake.folder / "gate"
    gate.touch()
    monkeypatch.setenv("FAKE_GATE", str(gate))
    slow = {**SLOW, "  size": "  size: [6, 7, 8, 9, 10, 11, 12, 14]\n  milliseconds: [1]"}
    descriptor = fake.descriptor(**slow)
    holder = fake.start("run", descriptor, "--machine", "m", "--shard", "1/2", "--implementation", "cpu-slow")
    path = fake.folder / "results/m/fake/table.shard-1-of-2.jsonl"
    try:
        while not path.exists():
            assert holder.poll() is None
        other = ["run", descriptor, "--machine", "m", "--implementation", "cpu-serial"]
        assert fake(*other, "--shard", "2/2").returncode == 0
        told = "results/m/fake/table.shard-1-of-2.jsonl: another run is writing this file"
        for division in ([], ["--shard", "3/3"]):
            result = fake(*other, *division)
            assert result.returncode == 3
            assert error_line(result) == f"{told}, and divides the experiment otherwise; wait for it to end"
        result = fake(*other, "--shard", "1/2")
        assert result.returncode == 3 and error_line(result) == f"{told}; wait for it to end"
    finally:
        gate.unlink()
        assert holder.wait(60) == 0
    assert fake(*other).returncode == 0


def test_a_line_that_another_shard_is_writing_is_left_to_it(fake: Program) -> None:
    descriptor = fake.descriptor(**SIZES)
    fake("run", descriptor, "--machine", "m", "--shard", "1/2")
    path = fake.folder / "results/m/fake/table.shard-1-of-2.jsonl"
    text = path.read_text()
    path.write_text(text[:-20])
    result = fake("run", descriptor, "--machine", "m", "--shard", "2/2")
    assert result.returncode == 0 and "warning" not in result.stderr and path.read_text() == text[:-20]
    path.write_text('{"schema": 2}\n' + text)
    result = fake("run", descriptor, "--machine", "m")
    assert result.returncode == 0 and "table.shard-1-of-2.jsonl:1: experiment: " in result.stderr


def test_hosts_of_one_name_and_other_hardware_are_told(fake: Program) -> None:
    descriptor = fake.descriptor(**SIZES)
    first = fake("run", descriptor, "--machine", "m", "--shard", "1/2")
    path = fake.folder / "results/m/environment.json"
    known = json.loads(path.read_text())
    path.write_text(json.dumps(known | {"cpu": known["cpu"] | {"model": "Another CPU"}}))
    second = fake("run", descriptor, "--machine", "m", "--shard", "2/2")
    assert first.returncode == second.returncode == 0 and "warning" not in first.stderr
    told = "results/m/environment.json: other hardware recorded here before (Another CPU; now "
    assert second.stderr.count("warning") == second.stderr.count(told) == 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/3", "1/", "/2", "-1/2", "1/2/3", "1/0", "1/100001", "1 /2"])
def test_no_shard(fake: Program, text: str) -> None:
    result = fake("run", fake.descriptor(), "--machine", "m", "--shard", text)
    assert result.returncode == 2
    assert error_line(result) == f"--shard: '{text}' is not I/N with 1 <= I <= N <= 100000"


def test_the_estimate_counts_what_cannot_run_here(fake: Program) -> None:
    protocol = "protocol: {repetitions: 5, warmup: 1, time: kernel, processes: 3, max_seconds: 8}"
    descriptor = fake.descriptor(protocol=protocol, implementations="implementations: [cpu-serial, gpu]")
    result = fake("run", descriptor, "--estimate")
    assert json.loads(result.stdout) == {"measurements": 12, "seconds": 120.0, "gpu": True}
    parts = [json.loads(fake("run", descriptor, "--estimate", "--shard", f"{n}/3").stdout) for n in (1, 2, 3)]
    assert sum(part["measurements"] for part in parts) == 12
    cpu = fake("run", descriptor, descriptor, "--estimate", "--implementation", "cpu-serial", "--where", "size=10")
    assert json.loads(cpu.stdout) == {"measurements": 6, "seconds": 60.0, "gpu": False}
    assert not (fake.folder / "results").exists()
