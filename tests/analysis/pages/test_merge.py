"""Records measured elsewhere join a machine's; what no longer counts goes, and nothing else."""

import json
from itertools import count

import pytest
import synthetic
from vicinity_analysis.__main__ import main

CASE = {"load": 1, "states": 1024, "variables": 8, "possibilities": 1224}
folders = count()


@pytest.fixture
def folder(tmp_path):
    """Writes a results folder of records, each with what is special about it."""

    def write(*changes, machine="gpu-a"):
        return synthetic.write_records(
            tmp_path / f"results{next(folders)}", machine, [record(**one) for one in changes]
        )

    return write


def record(seconds=1.0, seed=1, start=1, sources="a" * 16, number=1, case=None, **changes):
    changes = {"seeds": [seed], "sources": sources, **changes}
    changes["process"] = {"pid": 1, "start": f"2026-01-01T00:00:{start:02}Z", "number": number}
    return synthetic.record("gpu-a", "fang/table1", case or CASE, "gpu", [seconds] * 3, **changes)


def merged(into, *sources, options=()):
    """Of each line that stays, its seed, process and time."""
    assert main(["merge", str(into), *map(str, sources), *options]) == 0
    found = [json.loads(line) for line in (into / "fang" / "table1.jsonl").read_text().splitlines()]
    return [(one["seeds"][0], one["process"]["number"], one["samples"].get("kernel", [None])[0]) for one in found]


def test_the_last_run_counts_and_others_stay(folder):
    into, new = folder({}, {"seed": 2, "start": 2}), folder({"seconds": 0.5, "start": 9})
    assert merged(into, new) == [(2, 1, 1.0), (1, 1, 0.5)]
    assert merged(into, new) == [(2, 1, 1.0), (1, 1, 0.5)]


def test_the_order_of_folders_says_nothing(folder):
    assert merged(folder({"seconds": 0.5, "start": 9}), folder({"start": 2})) == [(1, 1, 0.5)]


def test_all_processes_of_a_run_stay(folder):
    into, new = folder({"number": 1}, {"number": 2}), folder({"number": 3, "start": 3})
    assert merged(into, new) == [(1, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0)]
    newer = folder({"seconds": 0.5, "start": 9, "sources": "b" * 16})
    assert merged(into, newer) == [(1, 1, 0.5)]


@pytest.mark.parametrize(
    "fault",
    [{"contended": [True] * 3}, {"throttled": True}, {"status": "skipped"}],
    ids=["contended", "throttled", "skipped"],
)
def test_a_faulty_run_replaces_no_sound_one_of_the_same_sources(folder, fault):
    into, new = folder({}), folder({"seconds": 0.5, "start": 9, **fault})
    assert merged(into, new) == [(1, 1, 1.0)]
    ((_, _, seconds),) = merged(into, folder({"seconds": 0.5, "start": 9, "sources": "b" * 16, **fault}))
    assert seconds == (None if fault.get("status") else 0.5)


def test_a_better_profile_counts(folder):
    assert merged(folder({}), folder({"seconds": 0.5, "start": 9, "profile": "quick"})) == [(1, 1, 1.0)]


def test_one_build_leaves_no_seed_of_older_sources(folder):
    into, new = folder({}, {"seed": 2}), folder({"seconds": 0.5, "start": 9, "sources": "b" * 16})
    assert merged(into, new, options=["--one-build"]) == [(1, 1, 0.5)]


def test_shards_become_one_file(folder):
    into, new = folder({}), folder({"seed": 2, "start": 2})
    (new / "fang" / "table1.jsonl").rename(new / "fang" / "table1.shard-1-of-2.jsonl")
    assert merged(into, new) == [(1, 1, 1.0), (2, 1, 1.0)]
    (into / "fang" / "table1.jsonl").rename(into / "fang" / "table1.shard-1-of-2.jsonl")
    assert merged(into, new) == [(1, 1, 1.0), (2, 1, 1.0)] and len(list((into / "fang").iterdir())) == 1


def test_lines_that_stay_are_not_changed(folder):
    into, new = folder({}), folder({"seed": 2, "start": 2})
    path = into / "fang" / "table1.jsonl"
    text = json.dumps(json.loads(path.read_text()) | {"note": "of a later version"}, separators=(",", ":")) + "\n"
    path.write_text(text)
    merged(into, new)
    assert path.read_text() == text + (new / "fang" / "table1.jsonl").read_text()


def test_the_environment_has_all_builds_and_keeps_its_ceilings(folder):
    into, new = folder({}), folder({"start": 9})
    for path, time, build, ceilings in (
        (into, "2026-01-01", "x", {"integer": {"value": 1, "unit": "op/s"}}),
        (new, "2026-01-02", "y", {}),
    ):
        told = json.loads((path / "environment.json").read_text())
        told |= {"time": f"{time}T00:00:00Z", "builds": {build: {"sources": build}}, "ceilings": ceilings}
        (path / "environment.json").write_text(json.dumps(told))
    (new / "verification.json").write_text("{}\n")
    merged(into, new)
    told = json.loads((into / "environment.json").read_text())
    assert told["time"].startswith("2026-01-02") and sorted(told["builds"]) == ["x", "y"]
    assert told["ceilings"]["integer"]["value"] == 1 and (into / "verification.json").read_text() == "{}\n"


def test_of_another_machine_or_with_damage_nothing_is_written(folder, capsys):
    into = folder({})
    before = (into / "fang" / "table1.jsonl").read_bytes()
    other = folder({"start": 9}, machine="gpu-b")
    damaged = folder({"start": 9})
    (damaged / "fang" / "table1.jsonl").write_text('{"schema": 1}\n{"schema": 1}\n')
    for source, told in ((other, "records of 'gpu-b', not of 'gpu-a'"), (damaged, "table1.jsonl:1: ")):
        capsys.readouterr()
        assert main(["merge", str(into), str(source)]) == 2
        assert told in capsys.readouterr().err.splitlines()[-1]
    assert (into / "fang" / "table1.jsonl").read_bytes() == before


def test_of_profiles_of_other_names_the_later_run_counts(folder):
    into = folder({"profile": "mine"})
    assert merged(into, folder({"seconds": 0.5, "start": 9, "profile": "other"})) == [(1, 1, 0.5)]


def test_lines_of_a_program_that_told_no_sources_are_kept(folder):
    into = folder({}, {"seed": 2})
    file = into / "fang" / "table1.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        del line["sources"]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert merged(into, folder({"seed": 3, "start": 3})) == [(1, 1, 1.0), (2, 1, 1.0), (3, 1, 1.0)]
