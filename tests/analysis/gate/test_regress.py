import contextlib
import io
import json
import math
import os
import stat
import sys
from pathlib import Path

import fake_vicinity
import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.gate import processes, regress, verdicts
from vicinity_analysis.inputs.records import Record, RecordKey


@pytest.fixture
def binary(tmp_path):
    path = tmp_path / "vicinity"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).parents[1] / "fake_vicinity.py"} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    """Where the stand-in counts its processes."""
    monkeypatch.setenv("FAKE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def in_process(monkeypatch):
    """Calls the stand-in as a function: the same records without the cost of dozens of interpreters. The calls made."""
    calls = []

    def call(arguments, timeout, allowed):
        calls.append(arguments)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = fake_vicinity.main(arguments[1:])
        if status not in allowed:
            raise processes.HarnessError(f"ended with status {status}", status)
        return out.getvalue()

    monkeypatch.setattr(processes, "_call", call)
    return calls


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


SLOW = "--slow cpu-openmp=1.05"


def test_same_against_same_passes(gate, capsys):
    """In real processes, through the command line of the stand-in."""
    status, found = gate("--rounds", 3)
    assert status == 0 and found["verdict"] == "pass" and found["rounds"] >= 3 and len(found["cases"]) == 4
    assert "# Regression gate: pass" in capsys.readouterr().out


@pytest.mark.parametrize("slowdown", [1.03, 1.05, 1.5])
def test_a_slower_implementation_fails_the_gate(in_process, gate, tmp_path, slowdown):
    status, found = gate("--candidate-args", f"--slow cpu-openmp={slowdown}", "--markdown", tmp_path / "summary.md")
    assert status == 1 and {key[2] for key in found["confirmed"]} == {"cpu-openmp"} and len(found["confirmed"]) == 2
    assert all(case["ratio"] == pytest.approx(slowdown, rel=0.01) for case in found["second"])
    text = (tmp_path / "summary.md").read_text()
    assert "Slower, and again in fresh processes" in text and "| 1.0% | the floor |" in text


def test_a_faster_candidate_passes(in_process, gate):
    status, found = gate("--base-args", SLOW)
    assert status == 0 and [case["outcome"] for case in found["cases"]].count("faster") == 2


def test_processes_are_interleaved_and_fresh(in_process, gate):
    """Calibration, then base, candidate, candidate, base in each round, then the same for the suspects alone."""
    gate("--base-args", "--where a=b", "--candidate-args", SLOW, "--max-rounds", 4)
    sides = ["candidate" if "--slow" in call else "base" for call in in_process]
    assert sides == ["base", *["base", "candidate", "candidate", "base"] * 8]
    assert [call.count("--implementation") for call in in_process] == [0] * 17 + [1] * 16
    folders = [call[call.index("--results") + 1] for call in in_process]
    assert len(set(folders)) == len(folders)
    assert len({call[call.index("--repetitions") + 1] for call in in_process[1:]}) == 1


@pytest.mark.parametrize(("floor", "expected"), [("1", 1), ("4", 1), ("6", 0)])
def test_the_floor_can_be_set(in_process, gate, floor, expected):
    assert gate("--floor", floor, "--candidate-args", SLOW)[0] == expected


def test_a_slowdown_within_noise_is_inconclusive(in_process, gate, capsys):
    """10% on a machine whose processes scatter by 5%: neither proved nor excluded, and never passed."""
    noise = "--noise 0.05"
    status, found = gate("--base-args", noise, "--candidate-args", f"{noise} --slow cpu-openmp=1.1")
    assert status == 2 and found["confirmed"] == []
    assert any("the interval reaches across" in note for note in found["notes"])
    assert "3 × A/A noise; passes below 5.0%" in capsys.readouterr().out
    assert found["rounds"] == 12  # more were tried


def test_what_does_not_recur_is_inconclusive(in_process, gate):
    status, found = gate("--candidate-args", f"{SLOW} --once")
    assert status == 2 and found["confirmed"] == [] and found["second"]
    assert any("not in the second" in note for note in found["notes"])


def test_a_moving_control_kernel_is_inconclusive(in_process, gate):
    status, found = gate("--candidate-args", f"{SLOW} --drift 1.05")
    assert status == 2 and any("control kernel moved" in note for note in found["notes"])
    assert any("series was repeated" in note for note in found["notes"]) and found["second"] == []
    status, found = gate("--candidate-args=--drift 1.05")
    assert status == 2 and {case["outcome"] for case in found["cases"]} == {"pass"}


def test_without_a_steady_control_kernel_nothing_is_a_regression(in_process, gate):
    for arguments, note in [("--no-control", "No control kernel"), ("--control-noise 0.1", "too noisy to vouch")]:
        status, found = gate(f"--base-args={arguments}", "--candidate-args", f"{SLOW} {arguments}")
        assert status == 2 and found["confirmed"] and any(note in text for text in found["notes"])


def test_a_noisy_host_says_nothing_about_cases_of_a_gpu(in_process, gate):
    gpu, noisy = ("--implementation", "gpu-tuned"), "--gpu-control --control-noise 0.1"
    status, found = gate(*gpu, f"--base-args={noisy}", "--candidate-args", f"{noisy} --slow gpu-tuned=1.05")
    assert status == 1 and [key[2] for key in found["confirmed"]] == ["gpu-tuned"] * len(found["cases"])
    status, found = gate(*gpu, f"--base-args={noisy}", f"--candidate-args={noisy}")
    assert status == 0 and found["rounds"] == 4
    moved = "--gpu-control --slow gpu-tuned=1.05 --drift 1.2"
    status, found = gate(*gpu, "--base-args=--gpu-control", "--candidate-args", moved)
    assert status == 2 and any("control kernel moved" in note for note in found["notes"])
    status, found = gate(f"--base-args={noisy}", "--candidate-args", f"{noisy} {SLOW}")
    assert status == 2 and any("too noisy to vouch" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("change", "what", "text"),
    [
        ("--digest ffff", "digest", "digest was 0123456789abcdef, is ffff (candidate)"),
        ("--counter 1", "counter launches", "counter launches was 1, is 2 (candidate)"),
        ("--counter -1", "counter launches", "counter launches was 1, is 0 (candidate)"),
        ("--invalid cpu-openmp", "status", "status was ok, is invalid digest differs (candidate)"),
    ],
)
def test_changed_results_are_a_regression_whatever_the_times(in_process, gate, capsys, change, what, text):
    status, found = gate("--candidate-args", change)
    assert status == 1 and {change["what"] for change in found["changes"]} == {what}
    assert text in capsys.readouterr().out


def test_a_base_that_does_not_reproduce_itself_is_inconclusive(in_process, gate, monkeypatch):
    """A counter of the base that differs from process to process is no fault of the candidate."""
    real = fake_vicinity.records

    def unstable(args, descriptor, random, number):
        for data in real(args, descriptor, random, number):
            yield data | {"counters": {"launches": number}}

    monkeypatch.setattr(fake_vicinity, "records", unstable)
    status, found = gate()
    assert status == 2 and {change["side"] for change in found["changes"]} == {"base"}
    assert any("does not reproduce its own results" in note for note in found["notes"])


@pytest.mark.parametrize(("side", "number"), [("base", 5), ("candidate", 3)])
def test_a_case_that_some_processes_skip_is_inconclusive(in_process, gate, side, number):
    """Device memory that is not free yet is no regression."""
    status, found = gate(f"--{side}-args=--skip {number}")
    assert status == 2 and {change["side"] for change in found["changes"]} == {f"some {side}s"}


def test_a_case_that_the_candidate_never_takes_is_a_regression(in_process, gate, monkeypatch):
    real = fake_vicinity.records

    def skipping(args, *rest):
        for data in real(args, *rest):
            yield data | ({"status": "skipped", "samples": {}} if args.digest else {})

    monkeypatch.setattr(fake_vicinity, "records", skipping)
    status, found = gate("--candidate-args=--digest ffff")
    assert status == 1 and {change["what"] for change in found["changes"]} == {"record"}


@pytest.fixture
def having(monkeypatch):
    """Gives cpu-openmp a status on each side, or no records: None. The candidate is what is called with --counter."""
    real = fake_vicinity.records

    def give(base, candidate):
        def changed(args, *rest):
            status = base if args.counter is None else candidate
            for data in real(args, *rest):
                if data["implementation"] != "cpu-openmp" or status == "ok":
                    yield data
                elif status:
                    yield data | {"status": status, "samples": {}}

        monkeypatch.setattr(fake_vicinity, "records", changed)

    return give


@pytest.mark.parametrize(
    ("base", "candidate", "expected"),
    [
        ("invalid", "ok", 0),
        ("skipped", "ok", 0),
        (None, "ok", 0),
        ("invalid", "skipped", 0),
        ("invalid", None, 0),
        ("skipped", "skipped", 0),
        ("invalid", "invalid", 2),
        (None, "invalid", 2),
        ("skipped", "invalid", 1),
        ("ok", "invalid", 1),
        ("ok", "skipped", 1),
        ("ok", None, 1),
    ],
)
def test_a_case_without_times_on_a_side_is_named(in_process, gate, having, base, candidate, expected):
    """What is mended or new is no regression, and what is wrong in the candidate never passes."""
    having(base, candidate)
    status, found = gate("--candidate-args=--counter 0")
    assert status == expected and len(found["cases"]) == 2 == len(found["uncompared"])
    (note,) = (note for note in found["notes"] if "compared" in note)
    assert note.startswith("2 cases were not compared: fang/table1 ") and " cpu-openmp seed 1 (" in note
    sides = f"({base or 'not measured'} in the base, {candidate or 'not measured'} in the candidate)"
    assert note.count(sides) == 2 and "cpu-serial" not in note
    assert bool(found["changes"]) == (expected == 1)


def test_a_base_that_takes_a_case_at_times_only_is_inconclusive(in_process, gate):
    """The first process skips it, the others do not: all of both sides were compared."""
    status, found = gate("--base-args=--skip 1")
    assert status == 2 and {change["side"] for change in found["changes"]} == {"base"} and not found["uncompared"]


def test_many_cases_that_were_not_compared_are_counted():
    keys = [RecordKey("a/b", f"n={n}", "cpu", 1) for n in range(12)]
    found = [verdicts.Uncompared(key, ["ok"], ["invalid", "skipped"]) for key in keys]
    verdict = verdicts.conclude(verdicts.Verdict("stored", 0, [], [], [], [], 1, uncompared=found))
    (note,) = verdict.notes
    assert note.startswith("12 cases were not compared: a/b n=0 cpu seed 1 (ok in the base, invalid or skipped in the ")
    assert note.endswith("n=9 cpu seed 1 (ok in the base, invalid or skipped in the candidate), and 2 more.")


def test_results_of_the_second_series_are_compared_as_well(in_process, gate, monkeypatch):
    real = fake_vicinity.records

    def late(args, *rest):
        for data in real(args, *rest):
            yield data | ({"digest": "ffff"} if args.implementation and args.slow else {})

    monkeypatch.setattr(fake_vicinity, "records", late)
    status, found = gate("--candidate-args", SLOW)
    assert status == 1 and {change["what"] for change in found["changes"]} == {"digest"}


def test_suspects_of_two_systems_are_named_to_their_own_only(in_process, gate, descriptor):
    """An implementation that one system alone knows made the second series a harness error."""
    other = descriptor.parents[1] / "lsm" / "table2.yaml"
    other.parent.mkdir()
    other.write_text(descriptor.read_text().replace("system: fang", "system: lsm"))
    slow = fake_vicinity.KNOWN["lsm"][1]
    status, found = gate(other, "--candidate-args", f"--slow {slow}=1.1", "--base-args", "")
    assert status == 1 and {key[0] for key in found["confirmed"]} == {"lsm/table2"}
    keys = [RecordKey("fang/table1", "", "cpu-openmp", 1), RecordKey("lsm/table2", "", slow, 1)]
    selection = processes.Selection((descriptor, other))
    narrow = processes.Command(descriptor, (selection,), "smoke", extra=("--slow", "cpu-openmp=1.1")).narrowed(keys)
    assert {key[:1] + key[2:3] for key in narrow.execute().records} == {key[:1] + key[2:3] for key in keys}


def test_a_process_whose_environment_fails_is_started_again(in_process, gate):
    status, found = gate("--candidate-args", f"--crash 3 --crash-at 3 {SLOW}")
    assert status == 1 and "candidate: ended with status 3" in found["failures"]


def test_a_candidate_that_failed_once_does_not_pass(in_process, gate):
    status, found = gate("--candidate-args", "--crash 3 --crash-at 3")
    assert status == 2 and {case["outcome"] for case in found["cases"]} == {"pass"}
    assert any("started again" in note for note in found["notes"])


@pytest.mark.parametrize("crash", ["--crash 3", "--crash 2 --crash-at 3", "--crash 139 --crash-at 3"])
def test_a_crash_is_a_harness_error(gate, capsys, crash):
    """One that recurs, and any that is not of the environment."""
    status, found = gate(f"--candidate-args={crash}", "--rounds", 3)
    assert status == 3 and found is None
    err = capsys.readouterr().err
    assert f"ended with status {crash.split()[1]}: vicinity: error: the device fell off" in err.splitlines()[-1]


@pytest.mark.parametrize("arguments", ["--contended 1", "--throttled", "--contended 0.95"])
def test_what_was_never_measured_undisturbed_is_inconclusive(in_process, gate, capsys, arguments):
    status, found = gate(f"--base-args={arguments}", "--candidate-args", f"{arguments} {SLOW}", "--repetitions", 40)
    assert status == 2 and {case["outcome"] for case in found["cases"]} == {"inconclusive"}
    assert {case["ratio"] for case in found["cases"]} == {None}
    assert "0 rounds without contended or throttled processes" in capsys.readouterr().out


def test_contended_samples_decide_nothing(in_process, gate):
    """Nine of ten samples of the base take nine times as long, and are marked."""
    contended = ("--base-args", "--contended 0.9", "--repetitions", 40)
    assert gate(*contended)[0] == 0
    status, found = gate(*contended, "--candidate-args", SLOW)
    assert status == 1 and len(found["confirmed"]) == 2


def test_a_candidate_whose_descriptor_times_another_part_is_compared_by_the_base_s():
    samples = {"wall": [4.0] * 6, "kernel": [2.0] * 6, "clone": [0.1] * 6}

    def process(part, **other):
        run = {"status": "ok", "samples": samples | other, "protocol": {"time": part}, "backend": "gpu"}
        return processes.Process({"key": Record(run, "here:1", 1)})

    series = regress.Series(["key"], 0.01)
    series.base, series.candidate = [process("kernel")] * 6, [process("clone", kernel=[3.0] * 6)] * 6
    (judged,) = series.judge()
    assert judged.ratio == pytest.approx(1.5)
    assert math.isnan(process("kernel").level("key", "transfer"))  # inconclusive


def test_marks_that_fit_no_sample_are_a_harness_error():
    times = {"samples": {"wall": [1.0, 2.0]}, "protocol": {"time": "wall"}, "contended": [True]}
    with pytest.raises(processes.HarnessError, match="1 marks of contention for 2 samples"):
        processes.usable(Record(times, "here:1", 1), "wall")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "2"], "at least 3 rounds"),
        (["--floor", "0"], "a percentage above 0"),
        (["--floor", "inf"], "a percentage above 0"),
        (["--floor", "nan"], "a percentage above 0"),
        (["--timeout", "0"], "seconds above 0, at most 1e+06"),
        (["--timeout", "nan"], "seconds above 0, at most 1e+06"),
        (["--timeout", "inf"], "seconds above 0, at most 1e+06"),
        (["--max-rounds", "3"], "--max-rounds 3 is less than the 4 of --rounds"),
        (["--repetitions", "0"], "--repetitions is a whole number from 1 on"),
        (["--base-binary", "/nowhere/vicinity"], "/nowhere/vicinity: no such file"),
        (["--json", "/nowhere/verdict.json"], "/nowhere/verdict.json: cannot be written"),
        (["--markdown", "/"], "/: cannot be written"),
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


@pytest.mark.parametrize(
    ("change", "candidate", "expected"),
    [
        ('"implementation": "cpu-tuned", "profile": "smoke"', "ok", 0),  # and so no cpu-openmp
        ('"status": "invalid"', "ok", 0),
        ('"status": "invalid"', "invalid", 2),
        ('"extrapolated": {"axis": "states"}', "ok", 0),
        ('"implementation": "cpu-openmp"', None, 0),
    ],
)
def test_what_recorded_results_lack_is_named(in_process, gate, having, tmp_path, change, candidate, expected):
    base = stored(tmp_path)
    having("ok", candidate)
    path = tmp_path / "stored" / "fang" / "table1.jsonl"
    lines = [
        json.dumps(json.loads(line) | json.loads(f"{{{change}}}")) if "cpu-openmp" in line else line
        for line in path.read_text().splitlines()
    ]
    path.write_text("\n".join(lines) + "\n")
    status, found = gate("--profile", "full", "--candidate-args=--counter 0", base=base)
    assert status == expected and len(found["cases"]) == 2 and not found["changes"]
    assert [one["key"][2] for one in found["uncompared"]] == ["cpu-openmp"] * 2
    assert any(note.startswith("2 cases were not compared") for note in found["notes"])


def test_recorded_on_another_machine(in_process, gate, tmp_path):
    base = stored(tmp_path, cores=64)
    status, found = gate(base=base)
    assert status == 2 and "another machine" in found["worth"] and found["cases"] == []
    status, found = gate("--candidate-args", "--digest ffff", base=base)
    assert status == 1


REAL = os.environ.get("VICINITY_BINARY", str(synthetic.REPOSITORY / "build" / "vicinity"))


@pytest.mark.skipif(not Path(REAL).exists(), reason=f"{REAL} is not built")
def test_the_real_program():
    """Whatever its times: it takes the calls of both series, and its records have what is compared."""
    experiments = [synthetic.REPOSITORY / "experiments" / name for name in ("fang/table1.yaml", "lsm/table4.yaml")]
    names = ("cpu-serial", "cpu-openmp")
    command = processes.Command(Path(REAL), (processes.Selection(tuple(experiments), names),), "smoke", repetitions=3)
    first = command.execute()
    keys = [key for key in first.records if (key.experiment, key.implementation) in zip(OWN, names, strict=True)]
    again = command.narrowed(keys).execute()
    assert set(again.records) == set(keys) and {key.experiment for key in keys} == set(OWN)
    levels = [first.level(key, first.part(key)) for key in first.records]  # NaN: too few samples that nobody disturbed
    assert all(level > 0 or math.isnan(level) for level in levels) and set(first.control) >= {"cpu"}
    assert verdicts.changes({key: verdicts.facts(first.records[key]) for key in keys}, [again], "candidate") == []


OWN = ("fang/table1", "lsm/table4")


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
