import json
import os
from pathlib import Path

import pytest
import synthetic
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.records import Machine, Proof, Record, TracePoint, load_machine, over_seeds, shorten
from vicinity_analysis.views.tables import marks_of

CASE = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}


def folder(tmp_path, *records, tail=""):
    path = tmp_path / "machine" / "fang" / "table1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in records) + tail)
    return tmp_path / "machine"


def one(value, profile="full", **changes):
    return synthetic.record("machine", "fang/table1", CASE, "gpu", [value] * 3, profile, **changes)


def only(machine):
    (record,) = machine.records.values()
    return record


def test_the_last_line_counts(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0), one(2.0))))
    assert record.estimate().value == 2.0
    assert record.source == "machine/fang/table1.jsonl:2"


def test_the_best_profile_counts_wherever_it_stands(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0, "full"), one(2.0, "quick"), one(3.0, "smoke"))))
    assert record.estimate().value == 1.0


def test_parts_and_total(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0))))
    assert record.times("total") == pytest.approx([1.05] * 3)
    assert record.times("wall") == pytest.approx([1.3] * 3)
    with pytest.raises(InputError, match="no time 'transfer'"):
        record.times("transfer")


def test_marks(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0, "smoke", throttled=True, verified=False))))
    assert record.marks == ("throttled", "unverified", "smoke")


def test_seeds_of_several_sources_are_marked(tmp_path):
    def of(sources):
        runs = [one(1.0, seeds=[seed]) | {"sources": made} for seed, made in enumerate(sources, start=1)]
        found = list(load_machine(folder(tmp_path / "-".join(sources), *runs)).records.values())
        assert len(found) == 2
        return found

    for sources, marks in ((["a", "a"], ()), (["a", "b"], ("mixed",))):
        runs = of(sources)
        assert over_seeds(runs).marks == marks and marks_of(runs) == marks and marks_of([over_seeds(runs)]) == marks


def test_an_unfinished_last_line_is_ignored_and_said(tmp_path, capsys):
    machine = load_machine(folder(tmp_path, one(1.0), tail='{"schema":1,"exper'))
    assert only(machine).estimate().value == 1.0
    assert "table1.jsonl:2: unfinished last line" in capsys.readouterr().err


def test_of_very_many_damaged_lines_some_are_told(tmp_path, capsys):
    assert len(load_machine(folder(tmp_path, one(1.0), tail="[]\n" * 50)).damaged) == 50
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 21 and "30 more damaged lines are left out" in told[-1]


def test_a_folder_of_damaged_lines_alone(tmp_path):
    with pytest.raises(InputError, match="no line that is whole in it"):
        load_machine(folder(tmp_path, tail="[]\n"))


def test_a_pipe_is_not_waited_for(tmp_path):
    machine = folder(tmp_path, one(1.0))
    os.mkfifo(machine / "fang" / "pipe.jsonl")
    with pytest.raises(InputError, match=r"pipe.jsonl: not a regular file"):
        load_machine(machine)


def test_who_took_the_samples_is_not_believed(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0, sample_processes=["x"]))))
    assert len(record.by_process()) == 1 and record.typical() == 1.0


def test_absent_and_empty_folders(tmp_path):
    with pytest.raises(InputError, match="no such results folder"):
        load_machine(tmp_path / "nowhere")
    with pytest.raises(InputError, match="neither environment"):
        load_machine(tmp_path)


def test_seeds_as_an_axis_become_seeds(tmp_path):
    """The run's seed was protocol.seed + case.seed."""
    old = one(1.0) | {"case": CASE | {"seed": 4}, "seeds": [1]}
    old["case_key"], old["protocol"] = old["case_key"] + ";seed=4", old["protocol"] | {"seed": 2}
    new = one(2.0, seeds=[6])
    record = only(load_machine(folder(tmp_path, old, new)))
    assert record.seed == 6 and record.estimate().value == 2.0
    both = load_machine(tmp_path / "machine").all_records
    assert both[0].key == both[1].key and "seed" not in both[0].case and "seed" not in both[0].case_key


def test_records_of_several_seeds_stand_side_by_side(tmp_path):
    machine = load_machine(folder(tmp_path, one(1.0, seeds=[2]), one(3.0, seeds=[1]), one(9.0, status="skipped")))
    assert [record.seed for record in machine.all_records] == [2, 1, 1]
    together = over_seeds([one_of for one_of in machine.all_records if one_of.ok])
    assert list(together.times()) == [1.0] * 3 + [3.0] * 3 and together.data["seeds"] == [2, 1]
    assert together.sources == ["machine/fang/table1.jsonl:1", "machine/fang/table1.jsonl:2"]
    assert over_seeds(machine.all_records[2:]).data["status"] == "skipped"


def test_what_newer_records_say(tmp_path):
    point = {"seconds": 0.5, "iterations": 3, "objective": 7, "digest": "ab"}
    more = {"time_source": {"kernel": "host"}, "objective_sense": "maximise", "best_known": 9, "trace": [point]}
    record = only(load_machine(folder(tmp_path, one(1.0, proof={"kind": "prefix", "iterations": 2}, **more))))
    assert record.time_source["kernel"] == "host" and record.maximises and record.best_known == 9
    assert record.trace == (TracePoint(0.5, 3, 7, "ab"),) and record.proof == Proof("prefix", 2)


def test_what_older_records_do_not_say(tmp_path):
    record = only(load_machine(folder(tmp_path, one(1.0, counters={"best_known": 5}))))
    assert (record.time_source, record.sense, record.trace, record.proof) == ({}, "minimise", (), None)
    assert record.best_known == 5


def built(environment, **record):
    made = synthetic.record("m", "fang/table1", CASE, "gpu", [1.0], **record)
    return Machine(Path("m"), environment, []).build_of(Record(made, "m/fang/table1.jsonl:1", 1))


def test_the_build_of_a_record():
    one, two, three = (
        {"sources": s, "compilers": {"cxx_flags": f}} for s, f in (("a", "-O1"), ("a", "-O2"), ("b", ""))
    )
    newer = three | {"builds": {"1": one, "2": two, "3": three}}
    assert built(newer, build="2", sources="a") == two
    assert built(newer, build="4", sources="b") is None, "not listed, though its sources are"
    assert built(newer, sources="b") == three
    assert built(newer, sources="a") is None, "two builds of these sources, and the record names none"
    assert built(newer, sources="c") is None
    assert built(one, sources="a")["compilers"] == {"cxx_flags": "-O1"}
    assert built(one, sources="b") is None, "an older environment.json knows the flags of its own sources only"
    assert built(one, build="1", sources="a") is None
    assert built({"machine": "m"}, sources="a") is None


def test_sources_of_many_seeds_are_shortened_together():
    short = shorten(["m/a.jsonl:1,4", "m/a.jsonl:2", "m/b.jsonl:7 m/a.jsonl:9-11", "m/a.jsonl:3"])
    assert short == shorten([short]) == "m/a.jsonl:1-4,9-11 m/b.jsonl:7"
    lines = [f"m/a.jsonl:{line}" for line in (1, 2, 3, 4, 9, 10, 11)]
    assert Record({}, short, 1).sources == [*lines, "m/b.jsonl:7"]


def shard(machine, name, *records):
    (machine / "fang" / name).write_text("".join(json.dumps(r) + "\n" for r in records))


def began(value, start, **changes):
    return one(value, process={"pid": 1, "start": start, "number": 1}, **changes)


def test_the_files_of_shards_are_one_experiment(tmp_path):
    """The record that was begun last counts, in whichever file it stands."""
    machine = folder(tmp_path, began(1.0, "2026-01-02T00:00:00Z"), began(2.0, "2026-01-04T00:00:00Z", seeds=[2]))
    shard(
        machine,
        "table1.shard-1-of-2.jsonl",
        began(3.0, "2026-01-03T00:00:00Z"),
        began(4.0, "2026-01-03T00:00:00Z", seeds=[2]),
    )
    shard(machine, "table1.shard-2-of-2.jsonl", began(5.0, "2026-01-01T00:00:00Z"))
    found = load_machine(machine)
    assert len(found.all_records) == 5
    assert {key.seed: record.estimate().value for key, record in found.records.items()} == {1: 3.0, 2: 2.0}
    assert {record.source for record in found.records.values()} == {
        "machine/fang/table1.shard-1-of-2.jsonl:1",
        "machine/fang/table1.jsonl:2",
    }
    assert [record.order for record in found.all_records] == [1, 2, 3, 4, 5]
    assert found.measured == "2026-01-04T00:00:00Z"


def test_lines_of_one_file_keep_their_order_whatever_their_clocks_say(tmp_path):
    machine = folder(tmp_path, began(1.0, "2026-01-02T00:00:00Z"), began(2.0, "2026-01-01T00:00:00Z"))
    shard(machine, "table1.shard-1-of-1.jsonl", began(3.0, "2025-01-01T00:00:00Z"))
    assert only(load_machine(machine)).estimate().value == 2.0


def test_processes_of_one_number_on_two_hosts_are_two(tmp_path):
    process = {"pid": 1, "start": "2026-01-01T00:00:00Z", "number": 1}
    first, second = (
        Record(one(1.0, process=process | {"host": host}), "m/fang/table1.jsonl:1", 1) for host in ("a", "b")
    )
    assert set(first.processes).isdisjoint(second.processes)


@pytest.mark.parametrize(
    ("name", "title"),
    [("nvidia-x-80gb", "NVIDIA X 80GB"), ("nvidia-x-80gb-x2", "NVIDIA X 80GB x2"), ("mine", "NVIDIA X 80GB")],
)
def test_a_title_tells_hosts_of_the_same_hardware_apart(name, title):
    assert Machine(Path(name), {"machine": name, "gpu": {"name": "NVIDIA X 80GB"}}, []).title == title
