import json

import pytest
import synthetic
from vicinity_analysis.errors import InputError
from vicinity_analysis.records import load_machine

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


def test_an_unfinished_last_line_is_ignored_and_said(tmp_path, capsys):
    machine = load_machine(folder(tmp_path, one(1.0), tail='{"schema":1,"exper'))
    assert only(machine).estimate().value == 1.0
    assert "table1.jsonl:2: unfinished last line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{nonsense}\n", r"table1.jsonl:2: not JSON"),
        ('{"schema": 99}\n', r"table1.jsonl:2: schema 99 is not known"),
        ('{"schema": 1}\n', r"table1.jsonl:2: record without experiment"),
        ("[]\n", r"table1.jsonl:2: expected a JSON object"),
    ],
)
def test_broken_lines_are_named(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        load_machine(folder(tmp_path, one(1.0), tail=line))


def test_absent_and_empty_folders(tmp_path):
    with pytest.raises(InputError, match="no such results folder"):
        load_machine(tmp_path / "nowhere")
    with pytest.raises(InputError, match="neither environment"):
        load_machine(tmp_path)
