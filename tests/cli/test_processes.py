"""Processes of a protocol, and the threads of each."""

from __future__ import annotations

import json
import os

import pytest
from conftest import Program

PROTOCOL = "protocol: {repetitions: 5, warmup: 1, time: kernel, processes: 3}"


def order(records: list[dict], number: int) -> list[tuple[int, str]]:
    return [(r["case"]["size"], r["implementation"]) for r in records if r["process"]["number"] == number]


def test_each_case_is_measured_in_every_process(fake: Program) -> None:
    result = fake("run", fake.descriptor(protocol=PROTOCOL), "--machine", "m")
    assert result.returncode == 0, result.stderr
    assert "process 2 of 3" in result.stderr
    records = fake.records()
    assert len(records) == 12
    assert len({r["process"]["pid"] for r in records}) == 3
    natural = [(10, "cpu-serial"), (10, "cpu-openmp"), (13, "cpu-serial"), (13, "cpu-openmp")]
    assert order(records, 1) == order(records, 3) == natural
    assert order(records, 2) == [(10, "cpu-openmp"), (10, "cpu-serial"), (13, "cpu-openmp"), (13, "cpu-serial")]
    assert {r["protocol"]["processes"] for r in records} == {3}


def test_what_a_process_lacks_is_measured(fake: Program) -> None:
    descriptor = fake.descriptor(protocol=PROTOCOL)
    fake("run", descriptor, "--machine", "m")
    path = fake.folder / "results/m/fake/table.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lost = json.loads(lines[6])
    path.write_text("".join(lines[:6] + lines[7:]))
    again = fake("run", descriptor, "--machine", "m")
    assert again.returncode == 0 and "0 of 4 to measure" in again.stderr and "1 of 4 to measure" in again.stderr
    found = fake.records()[-1]
    assert len(fake.records()) == 12
    same = ("case_key", "implementation")
    assert [found[name] for name in same] == [lost[name] for name in same]
    assert found["process"]["number"] == lost["process"]["number"] == 2
    fake("run", descriptor, "--machine", "m")
    assert len(fake.records()) == 12


def test_the_reference_of_one_process_is_that_of_the_next(fake: Program) -> None:
    """It stands in the records of what was equal to it: with another digest there, the next result differs."""
    descriptor = fake.descriptor(implementations="implementations: [cpu-openmp]")
    arguments = ("run", descriptor, "--machine", "m", "--where", "size=10", "--processes")
    assert fake(*arguments, "1").returncode == 0
    path = fake.folder / "results/m/fake/table.jsonl"
    (first,) = fake.records()
    other = {"digest": "00000000000000ff", "reference_digest": "00000000000000ff"}
    path.write_text(json.dumps(first | other) + "\n")
    assert fake(*arguments, "2").returncode == 1
    assert "cpu-serial has 00000000000000ff" in fake.records()[-1]["message"]
    path.write_text(json.dumps(first | other | {"reference_sources": "other"}) + "\n")
    assert fake(*arguments, "2").returncode == 0
    assert fake(*arguments, "2", "--fresh").returncode == 0


def test_and_that_of_another_experiment_on_another_machine(fake: Program) -> None:
    arguments = ("--where", "size=10", "--implementation", "cpu-openmp", "--processes", "1", "--machine")
    assert fake("run", fake.descriptor("other"), *arguments, "there").returncode == 0
    path = fake.folder / "results/there/fake/other.jsonl"
    wrong = json.loads(path.read_text()) | {"digest": "00000000000000ff", "reference_digest": "00000000000000ff"}
    path.write_text(json.dumps(wrong) + "\n{torn")
    descriptor = fake.descriptor()
    assert fake("run", descriptor, *arguments, "here").returncode == 1
    assert "cpu-serial has 00000000000000ff" in (fake.folder / "results/here/fake/table.jsonl").read_text()
    path.write_text(json.dumps(wrong | {"reference_digest": "0000000000000001"}) + "\n")  # compared by something else
    assert fake("run", descriptor, *arguments, "here").returncode == 0


def test_processes_share_the_seeds_of_what_is_short(fake: Program) -> None:
    seeds = "seeds: {first: 1, count: 6, divided: true, under: 1}"  # cpu-straight says it takes 7 s
    protocol = f"protocol: {{repetitions: 1, warmup: 0, time: kernel, processes: 3, {seeds}}}"
    descriptor = fake.descriptor(protocol=protocol, implementations="implementations: [cpu-serial, cpu-straight]")
    assert fake("run", descriptor, "--machine", "m", "--where", "size=10").returncode == 0
    found: dict[str, dict[int, list[int]]] = {}
    for r in fake.records():
        found.setdefault(r["implementation"], {}).setdefault(r["process"]["number"], []).extend(r["seeds"])
    assert found["cpu-serial"] == {1: [1, 4], 2: [2, 5], 3: [3, 6]}
    assert found["cpu-straight"] == {1: [1], 2: [2], 3: [3]}
    again = fake("run", descriptor, "--machine", "m", "--where", "size=10")
    assert again.returncode == 0 and again.stderr.count("0 of 4 to measure") == 3
    assert len(fake.records()) == 9


def test_fewer_seeds_where_it_is_told_so(fake: Program) -> None:
    seeds_of_two = "processes: 2, seeds: {first: 1, count: 6, divided: true}"
    descriptor = fake.descriptor(protocol=f"protocol: {{repetitions: 1, warmup: 0, time: kernel, {seeds_of_two}}}")
    run = ("run", descriptor, "--machine", "m", "--implementation", "cpu-openmp", "--where", "size=10")

    def seeds() -> list[tuple[int, int]]:
        return [(r["process"]["number"], seed) for r in fake.records() for seed in r["seeds"]]

    assert fake(*run, "--seeds", "3").returncode == 0
    assert seeds() == [(1, 1), (1, 3), (2, 2)]
    assert fake(*run, "--seeds", "3-4").returncode == 0
    assert sorted(seed for _, seed in seeds()) == [1, 2, 3, 4]
    assert fake(*run, "--seeds", "100").returncode == 0  # the others
    assert sorted(seed for _, seed in seeds()) == [1, 2, 3, 4, 5, 6]
    assert fake(*run, "--seeds", "4-6").returncode == 0
    assert fake(*run, "--seeds", "6").returncode == 0
    assert len(seeds()) == 6
    for wrong in ("0", "x", "4-3", "0-2", "2-", "-2", "3x"):
        refused = fake(*run, f"--seeds={wrong}")
        assert refused.returncode == 2 and f"--seeds: '{wrong}' is neither" in refused.stderr, wrong
    assert "--seeds: the profile has 6 of them" in fake(*run, "--seeds", "7-9").stderr


def test_a_later_seed_does_not_stand_for_the_first(fake: Program) -> None:
    """cpu-straight says that it takes 7 s: its first seed is measured, and no other where that one is known."""
    protocol = "protocol: {repetitions: 1, warmup: 0, time: kernel, seeds: {first: 1, count: 4, under: 1}}"
    descriptor = fake.descriptor(protocol=protocol, implementations="implementations: [cpu-straight, cpu-serial]")
    run = ("run", descriptor, "--machine", "m", "--where", "size=10")

    def seeds() -> list[int]:
        return [r["seeds"][0] for r in fake.records() if r["implementation"] == "cpu-straight"]

    assert fake(*run, "--seeds", "2-2").returncode == 0
    assert seeds() == [2]
    result = fake(*run)
    assert result.returncode == 0 and "6 of 8 to measure, 2 recorded\n" in result.stderr
    assert seeds() == [2, 1]
    again = fake(*run)
    assert "0 of 8 to measure, 6 recorded, 2 left out as too long" in again.stderr
    later = fake(*run, "--seeds", "3-4")
    assert "0 of 4 to measure, 2 recorded, 2 left out as too long" in later.stderr
    assert seeds() == [2, 1]


def test_seeds_whose_reference_takes_long_are_left_out(fake: Program) -> None:
    """cpu-straight, here the reference, says that it takes 7 s: more than three times the second of `under`."""
    changes = {"implementations": "implementations: [cpu-straight, cpu-serial]"}
    changes["check"] = "check: {kind: identical, reference: cpu-straight}"
    changes["protocol"] = "protocol: {repetitions: 1, warmup: 0, time: kernel, seeds: {first: 1, count: 3, under: 1}}"
    arguments = ("--machine", "m", "--where", "size=10")
    assert fake("run", fake.descriptor(**changes), *arguments).returncode == 0
    assert [(r["implementation"], r["seeds"]) for r in fake.records()] == [("cpu-straight", [1]), ("cpu-serial", [1])]
    changes["protocol"] = changes["protocol"].replace("under: 1", "under: 10")
    known = fake.descriptor("known", **changes)
    assert fake("run", known, *arguments).returncode == 0
    assert len(fake.records("fake/known")) == 6
    changes["protocol"] = changes["protocol"].replace("under: 10", "under: 1")
    assert fake("run", fake.descriptor(**changes), *arguments).returncode == 0
    assert [r["seeds"] for r in fake.records() if r["implementation"] == "cpu-serial"][-2:] == [[2], [3]]


def test_what_is_long_is_measured_in_one_process(fake: Program) -> None:
    """cpu-straight says that it takes 7 s."""
    protocol = "protocol: {repetitions: 1, warmup: 0, time: kernel, processes: {count: 3, under: 1}}"
    descriptor = fake.descriptor(protocol=protocol, implementations="implementations: [cpu-serial, cpu-straight]")
    for _ in range(2):  # the second time nothing is left to measure
        assert fake("run", descriptor, "--machine", "m", "--where", "size=10").returncode == 0
        numbers = {name: [] for name in ("cpu-serial", "cpu-straight")}
        for record in fake.records():
            numbers[record["implementation"]].append(record["process"]["number"])
        assert numbers == {"cpu-serial": [1, 2, 3], "cpu-straight": [1]}
    fake("run", descriptor, "--machine", "m", "--where", "size=10", "--fresh")
    assert [r["process"]["number"] for r in fake.records() if r["implementation"] == "cpu-straight"] == [1, 1]


def test_processes_of_the_command_line(fake: Program) -> None:
    descriptor = fake.descriptor(protocol=PROTOCOL)
    fake("run", descriptor, "--machine", "m", "--processes", "1")
    assert len(fake.records()) == 4
    other = fake.descriptor("other", protocol="protocol: {repetitions: 5, warmup: 1, time: kernel}")
    fake("run", other, "--machine", "m", "--processes", "2", "--where", "size=10")
    assert [r["process"]["number"] for r in fake.records("fake/other")] == [1, 1, 2, 2]


def test_a_narrow_interval_ends_the_repetitions(fake: Program) -> None:
    protocol = "protocol: {repetitions: 400, warmup: 1, time: kernel, precision: 0.01, min_repetitions: 9}"
    descriptor = fake.descriptor(protocol=protocol)  # the fake's times are all the same
    fake("run", descriptor, "--machine", "m", "--where", "size=10", "--implementation", "cpu-serial")
    (record,) = fake.records()
    assert 9 <= len(record["samples"]["kernel"]) <= 400
    assert record["protocol"]["precision"] == 0.01 and record["protocol"]["min_repetitions"] == 9
    assert len(record["contended"]) < 400 or record["contended"].count(False) < 6
    fake("run", descriptor, "--machine", "m", "--implementation", "cpu-serial", "--repetitions", "12")
    assert {len(r["samples"]["kernel"]) for r in fake.records()[1:]} == {12}


def test_exactly_so_many_repetitions(fake: Program) -> None:
    """The profile's limit would end them at its fewest; what it recorded is no record of so many."""
    limits = "min_repetitions: 2, max_seconds: 0.001"
    descriptor = fake.descriptor(
        protocol=f"protocol: {{repetitions: 6, warmup: 0, time: kernel, {limits}}}",
        implementations="implementations: [cpu-slow]",
        **{"  size": "  size: [2]\n  milliseconds: [2]"},
    )
    for _ in range(2):
        assert fake("run", descriptor, "--machine", "m").returncode == 0
    for _ in range(2):
        assert fake("run", descriptor, "--machine", "m", "--repetitions", "6").returncode == 0
    assert [len(r["samples"]["wall"]) for r in fake.records()] == [2, 6]


def test_google_benchmarks_variables_change_nothing(fake: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHMARK_FILTER", "nomatch")
    monkeypatch.setenv("BENCHMARK_LIST_TESTS", "true")
    monkeypatch.setenv("BENCHMARK_MIN_WARMUP_TIME", "0.1")
    monkeypatch.setenv("BENCHMARK_OUT", "benchmark.json")
    result = fake("run", fake.descriptor(), "--machine", "m")
    assert result.returncode == 0, result.stderr
    assert {len(r["samples"]["wall"]) for r in fake.records()} == {5}
    assert not (fake.folder / "benchmark.json").exists()


def test_how_long_it_takes_counts_the_fewest_repetitions(fake: Program) -> None:
    """Known from what was recorded: six of a quarter of a second, whatever the limit says."""
    descriptor = fake.descriptor(
        protocol="protocol: {repetitions: 9, warmup: 0, time: kernel, min_repetitions: 6, max_seconds: 0.1}",
        implementations="implementations: [cpu-slow]",
        **{"  size": "  size: [2]\n  milliseconds: [250]"},
    )
    assert "; about 0:00, and the checks" in fake("run", descriptor, "--machine", "m").stderr
    assert "; about 0:02, and the checks" in fake("run", descriptor, "--machine", "m", "--fresh").stderr


def test_every_sample_says_whether_it_is_contended(fake: Program) -> None:
    fake("run", fake.descriptor(), "--machine", "m")
    for record in fake.records():
        assert len(record["contended"]) == len(record["samples"]["wall"]) == 5
        assert {len(record["contention"][name]) for name in ("waited", "voluntary", "involuntary")} == {5}


def environment_of(program: Program) -> dict:
    result = program("environment", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["cpu"]


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.startswith(("OMP_", "GOMP_", "VICINITY_THREAD", "VICINITY_PROC"))]:
        monkeypatch.delenv(name)
    return monkeypatch


def test_threads_are_settled(fake: Program, no_settings: pytest.MonkeyPatch) -> None:
    cpu = environment_of(fake)
    settings = {name: setting["value"] for name, setting in cpu["openmp"].items()}
    assert settings["OMP_WAIT_POLICY"] == "passive" and settings["OMP_NUM_THREADS"] == str(cpu["threads"])
    assert {setting["set_by"] for setting in cpu["openmp"].values()} == {"vicinity"}
    assert cpu["threads"] <= cpu["physical_cores"] <= cpu["cores"] == len(os.sched_getaffinity(0))
    assert cpu["places"] in (0, cpu["threads"])


def test_the_users_settings_win(fake: Program, no_settings: pytest.MonkeyPatch) -> None:
    no_settings.setenv("OMP_WAIT_POLICY", "active")
    no_settings.setenv("OMP_NUM_THREADS", "1")
    no_settings.setenv("OMP_PROC_BIND", "true")
    cpu = environment_of(fake)
    by_user = {name: setting["value"] for name, setting in cpu["openmp"].items() if setting["set_by"] == "user"}
    assert by_user == {"OMP_WAIT_POLICY": "active", "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "true"}
    assert cpu["threads"] == 1 and cpu["cores"] == len(os.sched_getaffinity(0))


def test_a_record_says_how_the_user_lets_threads_wait(fake: Program, no_settings: pytest.MonkeyPatch) -> None:
    fake("run", fake.descriptor(), "--machine", "m", "--where", "size=10")
    no_settings.setenv("OMP_WAIT_POLICY", "active")
    no_settings.setenv("OMP_NUM_THREADS", "1")
    fake("run", fake.descriptor(), "--machine", "m", "--where", "size=13")
    builds = json.loads((fake.folder / "results/m/environment.json").read_text())["builds"]
    said = {record["case"]["size"]: builds[record["build"]].get("waiting") for record in fake.records()}
    assert said == {10: None, 13: {"OMP_WAIT_POLICY": "active"}}


@pytest.mark.parametrize("theirs", [{}, {"OMP_PROC_BIND": "true"}])
def test_processes_have_all_processors(fake: Program, no_settings: pytest.MonkeyPatch, theirs: dict[str, str]) -> None:
    """A thread that is bound would leave its processes its own core alone."""
    for name, value in theirs.items():
        no_settings.setenv(name, value)
    alone = environment_of(fake)
    fake("run", fake.descriptor(protocol=PROTOCOL), "--machine", "m", "--where", "size=10")
    child = json.loads((fake.folder / "results/m/environment.json").read_text())["cpu"]
    for name in ("cores", "places", "threads", "affinity", "openmp"):
        assert child[name] == alone[name], name
