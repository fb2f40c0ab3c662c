import contextlib
import io
import json
import os
import stat
import sys
from pathlib import Path

import fake_vicinity
import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.gate import processes, regress


@pytest.fixture
def binary(tmp_path):
    path = tmp_path / "vicinity"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).parents[1] / "fake_vicinity.py"} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def in_process(monkeypatch, capsys):
    """Calls the stand-in as a function: the same records without the cost of dozens of interpreters."""

    def call(arguments, timeout, allowed):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = fake_vicinity.main(arguments[1:])
        if status not in allowed:
            raise processes.HarnessError(f"ended with status {status}")
        return out.getvalue()

    monkeypatch.setattr(processes, "_call", call)


@pytest.fixture
def descriptor(tmp_path):
    return synthetic.make_root(tmp_path / "root") / "experiments" / "fang" / "table1.yaml"


@pytest.fixture
def gate(binary, descriptor, tmp_path):
    def call(*arguments, base=("--base-binary", binary)):
        words = ["regress", *base, "--candidate-binary", binary, "--experiments", descriptor, "--rounds", 4]
        words += ["--json", tmp_path / "verdict.json", *arguments]
        status = main([str(word) for word in words])
        found = json.loads((tmp_path / "verdict.json").read_text()) if (tmp_path / "verdict.json").exists() else None
        assert found is None or found["exit"] == status
        return status, found

    return call


def test_same_against_same_passes(gate, capsys):
    """In real processes, through the command line of the stand-in."""
    status, found = gate("--rounds", 3)
    assert status == 0 and found["verdict"] == "pass" and found["rounds"] >= 3 and len(found["cases"]) == 4
    assert "# Regression gate: pass" in capsys.readouterr().out


def test_a_slower_implementation_fails_the_gate(in_process, gate, tmp_path, capsys):
    status, found = gate("--candidate-args", "--slow cpu-openmp=1.5", "--markdown", tmp_path / "summary.md")
    assert status == 1 and {key[2] for key in found["confirmed"]} == {"cpu-openmp"}
    assert all(1.4 < case["ratio"] < 1.6 for case in found["second"])
    assert "Slower, and again in fresh processes" in (tmp_path / "summary.md").read_text()


def test_what_does_not_recur_is_no_regression(in_process, gate, tmp_path):
    status, found = gate("--candidate-args", f"--slow cpu-openmp=1.5 --once {tmp_path / 'x'}")
    assert status == 0 and found["confirmed"] == []
    assert any("not in the second" in note for note in found["notes"])


def test_a_moving_control_kernel_is_inconclusive(in_process, gate):
    status, found = gate("--candidate-args", "--slow cpu-openmp=1.5 --drift 1.5")
    assert status == 2 and any("control kernel moved" in note for note in found["notes"])


def test_changed_results_are_a_regression_whatever_the_times(in_process, gate, capsys):
    status, found = gate("--candidate-args", "--digest ffff")
    assert status == 1 and {change["what"] for change in found["changes"]} == {"digest"}
    assert "digest was 0123456789abcdef, is ffff (candidate)" in capsys.readouterr().out


def test_an_invalid_result_is_a_regression(in_process, gate):
    status, found = gate("--candidate-args", "--invalid cpu-openmp")
    assert status == 1 and {change["what"] for change in found["changes"]} == {"status"}


def test_a_crash_is_a_harness_error(gate, capsys):
    status, found = gate("--candidate-args=--crash")
    assert status == 3 and found is None
    err = capsys.readouterr().err
    assert "ended with status 3: vicinity: error: the device fell off" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "2"], "at least 3 rounds"),
        (["--base-binary", "/nowhere/vicinity"], "/nowhere/vicinity: no such file"),
        (["--stored-baseline", "x"], "either --base-binary or --stored-baseline"),
    ],
)
def test_wrong_use_is_status_3_and_one_line(gate, capsys, arguments, message):
    assert gate(*arguments) == (3, None)
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def stored(tmp_path, gpu=None, cores=2):
    folder = tmp_path / "stored"
    (folder / "fang").mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(synthetic.environment("stored", gpu, cores=cores)))
    lines = []
    for states in (16, 64):
        case = {"load": 1, "possibilities": 80, "states": states, "variables": 8}
        for implementation in synthetic.CPU:
            samples = [synthetic.seconds(implementation, case, 1.0) * (1 + 0.001 * i) for i in range(-10, 11)]
            lines.append(json.dumps(synthetic.record("stored", "fang/table1", case, implementation, samples)))
    (folder / "fang" / "table1.jsonl").write_text("\n".join(lines) + "\n")
    return ("--stored-baseline", folder)


def test_against_recorded_results(in_process, gate, tmp_path):
    base = stored(tmp_path)
    status, found = gate(base=base)
    assert status == 0 and found["mode"] == "stored" and "recorded at another time" in found["worth"]
    status, found = gate("--candidate-args", "--slow cpu-openmp=1.5", base=base)
    assert status == 1 and {key[2] for key in found["confirmed"]} == {"cpu-openmp"}


def test_recorded_on_another_machine(in_process, gate, tmp_path):
    base = stored(tmp_path, cores=64)
    status, found = gate(base=base)
    assert status == 2 and "another machine" in found["worth"] and found["cases"] == []
    status, found = gate("--candidate-args", "--digest ffff", base=base)
    assert status == 1


REAL = os.environ.get("VICINITY_BINARY", str(synthetic.REPOSITORY / "build" / "vicinity"))
REAL_DESCRIPTOR = synthetic.REPOSITORY / "experiments" / "fang" / "table1.yaml"


@pytest.mark.skipif(not (Path(REAL).exists() and REAL_DESCRIPTOR.exists()), reason=f"{REAL} is not built")
def test_the_real_program(capsys, tmp_path):
    """Whatever the times: processes run, records load, results are compared exactly."""
    verdict = tmp_path / "verdict.json"
    words = ["regress", "--base-binary", REAL, "--candidate-binary", REAL, "--rounds", "3", "--max-rounds", "3"]
    words += ["--json", str(verdict)]
    found = main([*words, str(REAL_DESCRIPTOR), "--profile", "smoke", "--implementation", "cpu-openmp"])
    assert found in (0, 1, 2), capsys.readouterr().out
    told = json.loads(verdict.read_text(encoding="utf-8"))
    assert told["changes"] == [] and told["cases"]


def test_usage_errors_are_not_verdicts(capsys):
    assert main(["regress", "--nonsense"]) == 3
    assert main(["query", "--nonsense"]) == 2
    assert main(["--help"]) == 0


def test_the_base_runs_its_own_descriptors(tmp_path, descriptor):
    root = tmp_path / "base"
    assert regress.own_descriptor(descriptor, None) == descriptor
    assert regress.own_descriptor(descriptor, root) == descriptor
    own = root / "experiments" / "fang" / "table1.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("schema: 1\n", encoding="utf-8")
    assert regress.own_descriptor(descriptor, root) == own
