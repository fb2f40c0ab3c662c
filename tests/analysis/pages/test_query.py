import io
import json

import pandas as pd
import pytest
import synthetic
from vicinity_analysis.__main__ import main

WHERE = ["--where", "states=4096", "variables=32", "possibilities=9800", "load=1"]


def ask(root, *arguments, machine="gpu-a"):
    return main(["query", str(root / "results" / machine), "--experiment", "fang/table1", *arguments])


def test_one_match_is_an_object(root, capsys):
    assert ask(root, *WHERE, "--implementation", "gpu-tuned", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["median"] == pytest.approx(1.44e-3, rel=0.05)
    assert found["interval"][0] <= found["median"] <= found["interval"][1]
    assert (found["unit"], found["samples"], found["verified"], found["status"]) == ("s", 20, True, "ok")
    assert found["record"].startswith("gpu-a/fang/table1.jsonl:")


def test_several_matches_are_an_array(root, capsys):
    assert ask(root, *WHERE, "--json") == 0
    assert [item["implementation"] for item in json.loads(capsys.readouterr().out)] == [
        "cpu-serial",
        "cpu-openmp",
        "gpu",
        "gpu-recompute",
        "gpu-tuned",
    ]


def test_time_and_statistic(root, capsys):
    assert ask(root, *WHERE, "--implementation", "gpu", "--time", "wall", "--statistic", "min", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["time"] == "wall" and found["min"] > 0


def test_a_line_for_people(root, capsys):
    assert ask(root, *WHERE, "--implementation", "cpu-serial") == 0
    line = capsys.readouterr().out
    assert "extrapolated" in line and "ms [" in line and line.count("\n") == 1


@pytest.mark.parametrize(
    ("samples", "interval", "shown"),
    [
        ([2e-3], None, "2 ms (kernel, 1 sample, "),
        ([2e-3] * 5, None, "2 ms (kernel, 5 samples, "),
        ([2e-3] * 6, [2e-3] * 2, "2 ms [2, 2]"),
    ],
)
def test_few_samples_have_no_interval(tmp_path, capsys, samples, interval, shown):
    case = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}
    folder = synthetic.write_records(tmp_path, "m", [synthetic.record("m", "fang/table1", case, "gpu", samples)])
    assert main(["query", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["median"], found["interval"], found["samples"]) == (2e-3, interval, len(samples))
    assert main(["query", str(folder)]) == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "states=4095"], "states=4095 is not recorded; there are: 1024, 4096"),
        (["--where", "stats=4096"], "no axis 'stats'"),
        (["--where", "states"], "expected axis=value"),
        (["--implementation", "gpu-fast"], "implementation 'gpu-fast' is not recorded"),
    ],
)
def test_no_match_is_one_line_and_status_2(root, capsys, arguments, message):
    assert ask(root, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and message in err


def test_unknown_experiment_and_folder(root, capsys):
    assert main(["query", str(root / "results" / "gpu-a"), "--experiment", "fang/table9"]) == 2
    assert "recorded: fang/scaling, fang/table1" in capsys.readouterr().err
    assert main(["query", str(root / "nowhere"), "--experiment", "fang/table1"]) == 2
    assert "no such results folder" in capsys.readouterr().err


def test_a_skipped_case_has_no_value(root, capsys):
    where = ["--where", "load=1", "states=65536", "possibilities=98304", "--implementation", "gpu", "--json"]
    assert main(["query", str(root / "results" / "gpu-a"), "--experiment", "fang/scaling", *where]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["median"] is None and found["status"] == "skipped" and "GiB" in found["message"]


def everything(root, *arguments):
    return main(["query", str(root / "results" / "gpu-a"), *arguments])


def test_all_experiments_as_one_table(root, capsys):
    assert everything(root, "--format", "csv") == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert {"fang/table1", "fang/table2"} <= set(found["experiment"]) and found["counts"].all()
    assert everything(root, "--format", "csv", "--implementation", "gpu-tuned", *WHERE) == 0
    (row,) = pd.read_csv(io.StringIO(capsys.readouterr().out)).query("experiment == 'fang/table1'").itertuples()
    assert row.seconds == pytest.approx(1.44e-3, rel=0.05) and row.source.startswith("gpu-a/fang/table1.jsonl:")


def test_parquet_is_the_same_table(root, tmp_path, capsys):
    for kind in ("csv", "parquet"):
        assert everything(root, "--experiment", "fang/table1", "--format", kind, "--out", str(tmp_path / kind)) == 0
    one, two = pd.read_csv(tmp_path / "csv"), pd.read_parquet(tmp_path / "parquet")
    assert list(one.columns) == list(two.columns) and len(one) == len(two) == 60
    assert one["seconds"].tolist() == pytest.approx(two["seconds"].tolist())


def test_json_of_all_experiments(root, capsys):
    assert everything(root, "--format", "json", "--implementation", "gpu") == 2  # a case was skipped
    found = json.loads(capsys.readouterr().out)
    assert {item["implementation"] for item in found} == {"gpu"} and len({item["experiment"] for item in found}) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--format", "parquet"], "name a file with --out"), (["--format", "csv", "--out", "/nowhere/x"], "/nowhere/x: ")],
)
def test_a_table_that_cannot_be_written_is_one_line(root, capsys, arguments, message):
    assert everything(root, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and message in err
