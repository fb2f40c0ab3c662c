"""scripts/test_gpu without a GPU: the program and NVIDIA's tools are played by scripts that say what such tools say."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

EXPERIMENTS = ("sa/steady", "sa/figure2", "lsm/scaling_tsp")
WORDS = """\
========= Error: Race reported between Read access at read_relaxed(const unsigned long long *)+0x70 in words.cuh:15
=========     and Write access at write_relaxed(unsigned long long *)+0xa0 in words.cuh:11 [8 hazards]
"""
ELSEWHERE = WORDS.replace("write_relaxed", "take_in").replace("words.cuh:11", "rows.cuh:290")
CRASH = WORDS + "========= Target application returned an error\n"

PROGRAM = """\
#!/usr/bin/env python3
import json, sys
names = ("gpu-tuned", "gpu-chains", "cpu-serial")
known = {"reference": "cpu-serial", "over_ranks": False}
implementations = [{"name": name, "backend": name[:3], **known} for name in names]
if sys.argv[1] == "environment":
    print(json.dumps({"machine": "fake", "sources": (@HASHES@)["all"]}))
elif sys.argv[1] == "list":
    systems = [{"name": name, "reference": "cpu-serial", "implementations": implementations} for name in ("sa", "lsm")]
    watched = {"lsm/scaling_tsp": {"set": {"blocks": 1}}, "lsm/scaling_qap": {"leave_out": ["gpu-chains"]}}
    experiments = [{"experiment": name, "watched": {"racecheck": watch}} for name, watch in watched.items()]
    print(json.dumps({"systems": systems, "experiments": experiments}))
elif "--json" in sys.argv:
    hashes = @HASHES@
    if "--random" in sys.argv:
        system = sys.argv[sys.argv.index("--system") + 1]
        name = f"twins random {system}"
        cases = int(sys.argv[sys.argv.index("--random") + 1])
    else:
        cases = 1
        system = sys.argv[4].split("/")[1]
        name = f"twins {system}/all smoke"
    check = {"name": name, "sources": hashes[system], "cases": cases, "failed": 0}
    found = {"schema": 1, "machine": "fake", "sources": hashes["all"], "gpu": "Fake", "checks": [check]}
    open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(found))
"""
SANITIZER = """\
#!/usr/bin/env python3
import json, sys, time
call = " ".join(sys.argv[1:])
with open("@FOLDER@/calls", "a") as calls:
    calls.write(call + "\\n")
for words, (text, status, seconds) in json.load(open("@FOLDER@/plays.json")).items():
    if all(word in call for word in words.split()):
        time.sleep(seconds)
        print(text)
        sys.exit(status)
"""


@functools.cache
def hashes() -> dict[str, str]:
    command = ["cmake", "-P", "cmake/source_hash.cmake"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in printed.splitlines())


class Stage:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.play("build/vicinity", PROGRAM.replace("@HASHES@", repr(hashes())))
        self.play("bin/nvidia-smi", "#!/bin/sh\necho GPU 0: Fake\n")
        self.play("bin/compute-sanitizer", SANITIZER.replace("@FOLDER@", str(folder)))

    def play(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def start(self, plays: dict[str, tuple[str, int, float]], **settings: str) -> subprocess.Popen[str]:
        """`plays`: words of a call -> what the sanitizer prints, its exit status, and after how many seconds."""
        (self.folder / "plays.json").write_text(json.dumps(plays))
        settings = {"EXPERIMENTS": " ".join(EXPERIMENTS), "CHECKS": "twins sanitizers", "TOOLS": "racecheck"} | settings
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        place = {"BUILD": str(self.folder / "build"), "RESULTS": str(self.folder), "SKIP_BUILD": "1", "PATH": path}
        return subprocess.Popen(
            [ROOT / "scripts" / "test_gpu"],
            env={**os.environ, **place, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def checks(self) -> dict[str, tuple[int, str]]:
        """name -> failed, note; of what compute-sanitizer was asked."""
        found = json.loads((self.folder / "fake" / "verification.json").read_text())["checks"]
        named = [(c["name"].removeprefix("compute-sanitizer "), c) for c in found if c["name"].startswith("compute")]
        return {name: (check["failed"], check.get("note", "")) for name, check in named}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_a_race_between_polled_words_passes_and_no_other(stage: Stage) -> None:
    run = stage.start({"racecheck steady tuned": (WORDS, 86, 0), "racecheck figure2 chains": (ELSEWHERE, 86, 0)})
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 1 and "FAILED: racecheck sa/figure2 gpu-chains" in out and "rows.cuh:290" in out
    assert stage.checks() == {
        "racecheck sa/steady gpu-tuned": (0, "but for polled words"),
        "racecheck sa/steady gpu-chains": (0, ""),
        "racecheck sa/figure2 gpu-tuned": (0, ""),
        "racecheck sa/figure2 gpu-chains": (1, ""),
        "racecheck lsm/scaling_tsp gpu-tuned": (0, ""),
        "racecheck lsm/scaling_tsp gpu-chains": (0, ""),
    }


def test_a_crash_fails_whatever_was_reported_before_it(stage: Stage) -> None:
    plays = {"racecheck steady tuned": (CRASH, 86, 0), "memcheck steady tuned": (WORDS, 86, 0)}
    run = stage.start(plays, TOOLS="racecheck memcheck")
    run.communicate(timeout=120)
    assert run.returncode == 1
    assert [name for name, (failed, _) in stage.checks().items() if failed] == [
        "racecheck sa/steady gpu-tuned",
        "memcheck sa/steady gpu-tuned",
    ]


def test_all_well_and_what_the_tools_are_told(stage: Stage) -> None:
    experiments = " ".join((*EXPERIMENTS, "lsm/scaling_qap"))
    run = stage.start({}, TOOLS="memcheck racecheck initcheck synccheck", AT_ONCE="4", EXPERIMENTS=experiments)
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    calls = (stage.folder / "calls").read_text().splitlines()
    assert len(stage.checks()) == len(calls) == 4 * 8 - 1
    assert all(call.count("--implementation gpu-") == 1 and "cpu-serial" not in call for call in calls)
    assert {"scaling_tsp" in call and "racecheck" in call for call in calls if "--set blocks=1" in call} == {True}
    assert sum("scaling_qap" in call and "racecheck" in call for call in calls) == 1


def test_an_experiment_there_is_not_is_said_before_anything_runs(stage: Stage) -> None:
    run = stage.start({}, EXPERIMENTS="sa/steady sa/unsteady")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 3 and out == "vicinity: error: EXPERIMENTS: there is no experiments/sa/unsteady.yaml\n"
    assert not (stage.folder / "calls").exists()


def test_a_system_there_is_not_is_said_before_anything_runs(stage: Stage) -> None:
    run = stage.start({}, ONLY="sa lsn")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 3 and out == "vicinity: error: ONLY: there is no system lsn\n"


def test_one_that_hangs_is_given_up(stage: Stage) -> None:
    run = stage.start({"racecheck figure2 tuned": ("", 0, 1000)}, LIMIT="15")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 1 and "FAILED: racecheck sa/figure2 gpu-tuned, not through in 15 s" in out
    assert stage.checks()["racecheck sa/figure2 gpu-tuned"] == (1, "not through in 15 s")
    assert stage.checks()["racecheck sa/figure2 gpu-chains"] == (0, "")


def test_interrupted_it_records_what_ended(stage: Stage) -> None:
    run = stage.start({"racecheck figure2 tuned": ("", 0, 1000)}, AT_ONCE="6")
    said: list[str] = []
    while sum(line.startswith("ok: racecheck") for line in said) < 5:
        said.append(run.stdout.readline())
        assert said[-1], said
    run.send_signal(signal.SIGTERM)
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 3 and "interrupted" in out
    assert len(stage.checks()) == 5 and "racecheck sa/figure2 gpu-tuned" not in stage.checks()
    later = stage.start({}, CHECKS="sanitizers", EXPERIMENTS="sa/figure2")
    later.communicate(timeout=120)
    assert later.returncode == 0 and len(stage.checks()) == 6  # the twins and the earlier ones stay


def test_other_sources_verify_nothing_and_nothing_runs(stage: Stage) -> None:
    program = (stage.folder / "build/vicinity").read_text()
    stage.play("build/vicinity", program.replace(hashes()["all"], "0123456789abcdef"))
    run = stage.start({})
    out, _ = run.communicate(timeout=120)
    said = f"the program was built from 0123456789abcdef, the tree is {hashes()['all']}: build it again"
    assert run.returncode == 3 and out == f"vicinity: error: {said}\n"
    assert not (stage.folder / "calls").exists() and not (stage.folder / "fake").exists()


def test_sources_that_change_meanwhile_verify_nothing(tmp_path: Path) -> None:
    found = {"schema": 1, "sources": "0123456789abcdef", "gpu": "Fake", "checks": []}
    (tmp_path / "part.json").write_text(json.dumps(found))
    (tmp_path / "checks.tsv").touch()
    arguments = [
        tmp_path / "verification.json",
        tmp_path / "checks.tsv",
        "all fedcba9876543210",
        tmp_path / "part.json",
    ]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "verification.py", *arguments], capture_output=True, text=True
    )
    assert done.returncode == 3 and "built from 0123456789abcdef, the tree is fedcba9876543210" in done.stderr
    assert not (tmp_path / "verification.json").exists()


def record_of(stage: Stage) -> dict:
    return json.loads((stage.folder / "fake" / "verification.json").read_text())


def age(stage: Stage, *systems: str) -> None:
    """Puts other sources into the record of these systems."""
    found = record_of(stage)
    for check in found["checks"]:
        if any(f"{system}/" in check["name"] or check["name"].endswith(system) for system in systems):
            check["sources"] = "0123456789abcdef"
    (stage.folder / "fake" / "verification.json").write_text(json.dumps(found))


def test_a_system_is_verified_alone_and_the_others_stay(stage: Stage) -> None:
    stage.start({}).communicate(timeout=120)
    before = record_of(stage)["checks"]
    age(stage, "lsm")
    run = stage.start({}, ONLY="lsm", EXPERIMENTS="lsm/scaling_tsp sa/steady")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    calls = (stage.folder / "calls").read_text().splitlines()
    assert sum("sa/steady" in call for call in calls) == 2  # of the first time
    assert sorted(record_of(stage)["checks"], key=str) == sorted(before, key=str)
    assert {check["sources"] for check in before} == {hashes()["sa"], hashes()["lsm"]}


def test_checks_of_other_sources_are_dropped(stage: Stage) -> None:
    stage.start({}).communicate(timeout=120)
    age(stage, "sa")
    run = stage.start({}, ONLY="lsm")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    assert {check["sources"] for check in record_of(stage)["checks"]} == {hashes()["lsm"]}


def test_no_tool_speaks_for_sources_without_twins(stage: Stage) -> None:
    stage.start({}).communicate(timeout=120)
    age(stage, "sa")
    before = record_of(stage)
    run = stage.start({}, CHECKS="sanitizers", ONLY="sa")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 3 and "knows nothing of these sources of sa yet: run the twins as well" in out
    assert record_of(stage) == before


def test_random_cases_are_shared_and_counted_as_one_check(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run = stage.start({}, CHECKS="twins", ONLY="sa", RANDOM_CASES="120")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    random = [check for check in record_of(stage)["checks"] if check["name"].startswith("twins random")]
    assert [(check["name"], check["cases"]) for check in random] == [("twins random sa", 120)]


def told(checks: list[dict]) -> str:
    sys.path.insert(0, str(ROOT / "scripts"))
    from verified import state

    return state({"machine": "m", "checks": checks}, "all 00\nshared 01\nsa 02\nlsm 03\n")


def test_what_make_test_says_of_a_machine() -> None:
    sa = {"name": "twins random sa", "sources": "02", "cases": 1, "failed": 0}
    lsm = {"name": "twins random lsm", "sources": "03", "cases": 1, "failed": 0}
    race = {"name": "compute-sanitizer racecheck lsm/table1 gpu", "sources": "03", "cases": 1, "failed": 1}
    assert told([sa, lsm]) == "m: verified exactly these sources of sa, lsm"
    old = lsm | {"sources": "04"}
    assert told([sa, old]) == (
        'm: verified exactly these sources of sa; other sources of lsm: make test-gpu there again, ONLY="lsm"'
    )
    assert told([sa, lsm, race]).endswith("; a check of lsm FAILED there")
    assert "FAILED" not in told([sa, lsm, race | {"sources": "04"}])


def test_gpu_tests_are_counted_for_each_system(tmp_path: Path) -> None:
    script = ["python3", str(ROOT / "scripts" / "gpu_tests.py")]
    chosen = subprocess.run([*script, "filter", "sa"], capture_output=True, text=True, check=True).stdout
    assert "SaGpu.*" in chosen and "Lsm" not in chosen and "ArgMin" not in chosen
    ran = [("SaGpu", 5, 1), ("All/SaGpuScope", 2, 0), ("ArgMin/0", 3, 0), ("LsmGpu", 4, 0)]
    suites = [{"name": name, "tests": tests, "failures": failed} for name, tests, failed in ran]
    (tmp_path / "0.json").write_text(json.dumps({"testsuites": suites}))

    def lines(*logs: str) -> list[str]:
        names = "\n".join(str(tmp_path / log) for log in logs)
        command = [*script, "count", "sa", "lsm", "shared"]
        return subprocess.run(command, input=names, capture_output=True, text=True, check=True).stdout.splitlines()

    assert lines("0.json") == ["gpu tests sa\t7\t1", "gpu tests lsm\t4\t0", "gpu tests shared\t3\t0"]
    assert lines("0.json", "missing.json")[1] == "gpu tests lsm\t5\t1"  # a process that crashed
