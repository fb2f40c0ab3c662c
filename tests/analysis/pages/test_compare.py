import json
from dataclasses import replace

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.inputs.records import Record, load_machine
from vicinity_analysis.pages import compare


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """The file with every case is written to the working folder."""
    monkeypatch.chdir(tmp_path)


def test_two_machines_are_said_to_be_two(root, tmp_path, capsys):
    a, b = (str(root / "results" / name) for name in ("gpu-a", "gpu-b"))
    assert main(["compare", a, b, "--json", str(tmp_path / "c.json")]) == 0
    out, text = capsys.readouterr().out, (tmp_path / "compare-gpu-a-gpu-b.md").read_text()
    assert "Two machines: A is" in out and "Case by case: compare-gpu-a-gpu-b.md" in out and "## Cases" not in out
    assert "**Two machines**" in text and "copy bandwidth: B has 1.10 times" in text
    data = json.loads((tmp_path / "c.json").read_text())
    assert data["same_machine"] is False
    lines = [x for x in data["lines"] if x["experiment"] == "fang/table1" and x["implementation"] == "gpu"]
    assert len(lines) == 12
    for line in lines:
        assert line["verdict"] == "B faster" and line["ratio"] == pytest.approx(1.1, rel=0.04)
        assert line["by_bandwidth"] == pytest.approx(1, rel=0.04) and line["by_clock"] == pytest.approx(1.1, rel=0.04)
        assert line["percent_a"] > 0 and line["record_a"].startswith("gpu-a/")


def test_one_machine_at_two_times(tmp_path, capsys):
    for name, seed in (("before", 1), ("after", 2)):
        synthetic.make_machine(tmp_path, name, "GPU", seed=seed, experiments={"table1": synthetic.TABLE1})
    assert main(["compare", str(tmp_path / "before"), str(tmp_path / "after")]) == 0
    text = (tmp_path / "compare-before-after.md").read_text()
    assert (
        "One machine" in capsys.readouterr().out
        and "One machine" in text
        and "| same |" in text
        and "B slower |" not in text.split("## Cases")[1][200:]
    )


def test_nothing_in_common(tmp_path, capsys):
    synthetic.make_machine(tmp_path, "a", experiments={"table1": synthetic.TABLE1})
    synthetic.make_machine(tmp_path, "b", experiments={"table2": synthetic.TABLE2 | {"load": [8]}})
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "no case, implementation and seed in common" in capsys.readouterr().err


def test_seeds_are_compared_one_by_one(tmp_path, capsys):
    for name in ("a", "b"):
        runs = [
            synthetic.record(name, "new/search", {"size": 8}, "gpu", [seed * 1.0] * 6, seeds=[seed]) for seed in (1, 2)
        ]
        synthetic.write_records(tmp_path, name, runs, "GPU")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", str(tmp_path / "c.json")]) == 0
    lines = json.loads((tmp_path / "c.json").read_text())["lines"]
    assert [(line["seed"], line["ratio"]) for line in lines] == [(1, 1.0), (2, 1.0)]
    assert "2 compared; 0 only in A" in (tmp_path / "compare-a-b.md").read_text()


def written(results, name, *runs, gpu="GPU"):
    """A folder of runs of one experiment, each (size, seed, samples, sources)."""
    records = [
        synthetic.record(name, "new/search", {"size": size}, "gpu", samples, seeds=[seed], sources=sources)
        for size, seed, samples, sources in runs
    ]
    return load_machine(synthetic.write_records(results, name, records, gpu))


def test_other_sources_of_two_machines_are_marked_and_count_nowhere(tmp_path):
    a = written(tmp_path, "a", (8, 1, [2.0] * 6, "old"), (9, 1, [3.0] * 6, "same"))
    b = written(tmp_path, "b", (8, 1, [1.0] * 6, "new"), (9, 1, [1.0] * 6, "same"), gpu="another GPU")
    lines = compare.compare(a, b)
    assert [(x.ratio, x.verdict, x.marks) for x in lines] == [
        (2, "other sources", "sources"),
        (3, "B faster", ""),
    ]
    short, text = compare.digest(a, b, lines), compare.describe(a, b, lines)
    (row,) = (line.split() for line in short if line.startswith("new"))
    assert row == ["new", "gpu", "1", "1", "0", "0", "0", "1", "3.00×", "3.00×", "3.00×"]
    told = "1 of 2 lines are of other sources in A than in B"
    assert short[-1].startswith(told) and told in text and "- sources: A and B ran other sources" in text
    assert "| new/search | gpu | 1 | 1 | 0 | 0 | 0 | 1 | 3.00× |" in text
    (row,) = (line.split() for line in compare.digest(a, b, lines[:1]) if line.startswith("new"))
    assert row == ["new", "gpu", "0", "0", "0", "0", "0", "1", "—", "—", "—"]
    assert "| — | — | — |" in compare.describe(a, b, lines[:1]).split("## Cases")[0]


def test_other_sources_of_one_machine_are_what_is_compared(tmp_path):
    a = written(tmp_path, "a", (8, 1, [2.0] * 6, "old"))
    b = written(tmp_path, "b", (8, 1, [1.0] * 6, "new"))
    lines = compare.compare(a, b)
    assert [(x.verdict, x.marks) for x in lines] == [("B faster", "sources")]
    assert not compare.left_out(a, b, lines) and "- sources: " in compare.describe(a, b, lines)


def test_few_samples_have_no_interval_and_no_verdict(tmp_path):
    a = written(tmp_path, "a", (8, 1, [2.0], "same"), (9, 1, [2.0] * 6, "same"))
    b = written(tmp_path, "b", (8, 1, [1.0] * 6, "same"), (9, 1, [1.0] * 5, "same"))
    lines = compare.compare(a, b)
    assert {(x.ratio, x.verdict, x.low, x.high) for x in lines} == {(2, "few samples", None, None)}
    assert [row[6].text for row in compare.cases_table(lines).rows] == ["", ""]
    (row,) = (line.split() for line in compare.digest(a, b, lines) if line.startswith("new"))
    assert row[2:8] == ["2", "0", "0", "0", "2", "0"]


def test_scaled_and_contended_lines_count_nowhere(tmp_path):
    runs = [(size, 1, [size / 8] * 6, "same") for size in (8, 9, 10)]
    a, b = (written(tmp_path, name, *runs) for name in ("a", "b"))
    scaled, contended, _ = b.all_records
    scaled.data["extrapolated"] = {"from": 10, "to": 100}
    contended.data["contended"] = [True] * 6
    lines = compare.compare(a, b)
    assert [(x.marks, x.counts) for x in lines] == [("extrapolated", False), ("contended", False), ("", True)]
    (row,) = (line.split() for line in compare.digest(a, b, lines) if line.startswith("new"))
    assert row[2:8] == ["1", "0", "1", "0", "0", "0"]
    told = "2 of 3 lines are scaled or contended: no count, no median rests on them."
    assert told in compare.digest(a, b, lines)


def test_other_parts_are_not_compared(tmp_path):
    runs = [(8, 1, [1.0] * 6, "same"), (9, 1, [1.0] * 6, "same")]
    a, b = (written(tmp_path, name, *runs) for name in ("a", "b"))
    b.all_records[0].protocol["time"] = "clone"
    lines = compare.compare(a, b)
    assert [(x.case_key, x.ratio) for x in lines] == [("problem=grid-path;size=9", 1.0)]
    assert "1 cases have another part timed in A than in B: not compared." in compare.digest(a, b, lines)


def test_cases_without_a_common_seed_are_counted(tmp_path):
    a = written(tmp_path, "a", (8, 1, [1.0] * 6, "same"), (8, 2, [9.0] * 6, "same"), (9, 1, [1.0] * 6, "same"))
    b = written(tmp_path, "b", (8, 1, [1.0] * 6, "same"), (9, 2, [1.0] * 6, "same"))
    lines = compare.compare(a, b)
    assert [(x.case_key, x.seed, x.ratio) for x in lines] == [("problem=grid-path;size=8", 1, 1.0)]
    told = "1 cases in both have no seed in common: not compared."
    assert compare.digest(a, b, lines)[-1] == told and told in compare.describe(a, b, lines)


def test_cores_are_held_against_as_many(tmp_path):
    a = written(tmp_path, "a")
    a.environment["ceilings"]["cpu_integer"]["threads"] = 16
    a.environment["ceilings"]["cpu_integer_core"] = {"value": 4e10, "unit": "op/s"}
    for threads, rate in ((16, 5e11), (8, 2.5e11), (1, 4e10)):
        data = synthetic.record("a", "new/search", {"size": 8}, "cpu-openmp", [1.0], policy={"threads": threads})
        assert compare.clock(a, Record(data, "a/new/search.jsonl:1", 1)) == rate


def test_at_most_forty_lines_are_printed(root):
    a, b = (load_machine(root / "results" / name) for name in ("gpu-a", "gpu-b"))
    lines = compare.compare(a, b)
    short = compare.digest(a, b, lines)
    row = next(line.split() for line in short if line.startswith("fang") and " gpu " in line)
    mine = [line for line in lines if line.implementation == "gpu"]
    assert row[2] == str(len(mine)) and row[3] == str(sum(line.verdict == "B faster" for line in mine))
    many = [replace(lines[0], implementation=f"gpu-{number}") for number in range(100)]
    long = compare.digest(a, b, many)
    assert len(short) < len(long) == compare.MOST - 1
    shown = sum(line.startswith("fang") for line in long)
    assert long[-1] == f"and {100 - shown} more"


def test_a_folder_that_cannot_be_written_is_one_line(root, capsys):
    a, b = (str(root / "results" / name) for name in ("gpu-a", "gpu-b"))
    assert main(["compare", a, b, "--markdown", "nowhere/x.md"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_searches_that_a_time_ended_are_not_compared(tmp_path):
    def machine(name, iterations):
        data = synthetic.record(name, "new/search", {"size": 8}, "gpu", [1.0] * 6, iterations=iterations)
        data["protocol"] |= {"budget": {"seconds": 1.0}}
        return load_machine(synthetic.write_records(tmp_path, name, [data], "GPU"))

    a, same, other = machine("a", 100), machine("same", 100), machine("other", 300)
    assert len(compare.compare(a, same)) == 1 and not compare.compare(a, other)
    assert compare.left_out(a, other, [])[0].startswith("1 searches had so many seconds")


def test_folders_that_say_nothing_of_their_machine_are_two(tmp_path):
    a, b = (written(tmp_path, name, (8, 1, [1.0] * 6, name)) for name in ("a", "b"))
    for machine in (a, b):
        machine.environment.clear()
    assert compare.same_machine(a, a) and not compare.same_machine(a, b)
