import json

import pytest
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
