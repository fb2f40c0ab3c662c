import json
from dataclasses import replace

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.inputs.records import load_machine
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
    assert "no case and implementation in common" in capsys.readouterr().err


def test_seeds_are_compared_one_by_one(tmp_path, capsys):
    for name in ("a", "b"):
        runs = [
            synthetic.record(name, "new/search", {"size": 8}, "gpu", [seed * 1.0] * 5, seeds=[seed]) for seed in (1, 2)
        ]
        synthetic.write_records(tmp_path, name, runs, "GPU")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", str(tmp_path / "c.json")]) == 0
    lines = json.loads((tmp_path / "c.json").read_text())["lines"]
    assert [(line["seed"], line["ratio"]) for line in lines] == [(1, 1.0), (2, 1.0)]
    assert "2 compared; 0 only in A" in (tmp_path / "compare-a-b.md").read_text()


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
