import json
from pathlib import Path

import pytest
import synthetic
from vicinity_analysis import claims
from vicinity_analysis.catalogue import find_papers
from vicinity_analysis.claims import FAILS, HOLDS, OPEN, PART, Evidence, Series
from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.papers.fang import PAPER
from worlds import judge


@pytest.fixture(scope="module")
def judged(root):
    return judge(root, "gpu-a", "cpu-only")


@pytest.mark.parametrize(
    ("claim", "subject", "verdict", "numbers"),
    [
        ("generations", "Titan X ÷ 1080 Ti", PART, "1.38× to 1.91×"),
        ("variables", "GeForce GTX 1080 Ti", HOLDS, "1.72× to 1.98×"),
        ("possibilities-gpu", "GeForce GTX 1080 Ti", FAILS, "2.30× to 2.85×"),
        ("possibilities-cpu", "Ryzen 7 2700X", HOLDS, "6.74× to 7.82×"),
        ("states", "GeForce GTX Titan X against Ryzen 7 2700X", FAILS, "less in 0 of 6"),
        ("ten-milliseconds", "GeForce GTX 1080 Ti", HOLDS, "9.85 ms"),
        ("load-gpu", "GeForce GTX 1080 Ti", HOLDS, "load 16 ÷ 1: 0.823× to 1.01×"),
        ("load-cpu", "Core i9 7940X", HOLDS, "4.31× to 4.81×"),
        ("speedup", "GeForce GTX 1080 Ti over Core i9 7940X", PART, "to 19.5×"),
        ("speedup", "GeForce GTX Titan X over Core i9 7940X", FAILS, "0.952×"),
    ],
)
def test_on_the_printed_numbers(judged, claim, subject, verdict, numbers):
    finding = next(f for f in judged[claim].printed if f.subject == subject)
    assert finding.verdict == verdict and numbers in finding.numbers
    assert finding.sources.startswith("data/published/fang_table")


def test_on_measured_numbers(judged):
    machine, findings = judged["variables"].measured[0]
    assert machine.name == "gpu-a" and [f.verdict for f in findings] == [HOLDS] * 5
    assert [f.subject for f in findings if not f.decides] == ["gpu-tuned"]
    assert not any("extrapolated" in finding.numbers for finding in findings)
    assert judged["generations"].deciding[0] == "the paper's own numbers"
    assert judged["load-gpu"].verdict == FAILS
    speedups = judged["speedup"].measured[0][1]
    assert "cpu-openmp (16 cores, AMD EPYC 9999)" in speedups[0].subject


def test_a_machine_without_gpu_leaves_gpu_claims_to_the_others(root):
    judged = judge(root, "cpu-only", "gpu-b")
    assert judged["load-cpu"].deciding[0] == "AMD EPYC 9999"
    assert judged["load-gpu"].deciding[0] == "NVIDIA H200"


def test_every_claim_names_an_experiment_and_nothing_is_measured_twice(judged):
    assert len(judged) == len(PAPER.claims)
    found = [claim for paper in find_papers().values() for claim in paper.claims]
    assert len(found) == len({claim.name for claim in found}) and all("/" in claim.experiment for claim in found)
    assert claims.combine([]) == OPEN and claims.combine([HOLDS, FAILS]) == PART and claims.combine([HOLDS]) == HOLDS


def test_invalid_values_do_not_count(tmp_path):
    root = synthetic.make_root(tmp_path, {"table1": synthetic.TABLE1})
    folder = synthetic.make_machine(root / "results", "m", "GPU", experiments={"table1": synthetic.TABLE1})
    path = folder / "fang" / "table1.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["implementation"] == "gpu":
            line.update(status="invalid", samples={})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    subjects = [f.subject for f in judge(root, "m")["variables"].measured[0][1]]
    assert "gpu" not in subjects and "gpu-tuned" in subjects


CASES = {
    tuple((axis, str(value)) for axis, value in case.items()): case
    for axes in (synthetic.TABLE1, synthetic.TABLE2)
    for case in synthetic.cases(axes)
}
PAPERS, OURS, CORES = ("gpu", "gpu-recompute"), ("gpu-tuned",), ("cpu-openmp",)


def times(milliseconds, load=0.0, states=1.0, variables=1.0, possibilities=1.0):
    """Seconds of every case: so many ms at the smallest, and a power of each axis."""

    def time(case):
        work = (case["states"] / 1024) ** states * (case["variables"] / 8) ** variables
        return milliseconds / 1e3 * work * (case["possibilities"] / 1224) ** possibilities * case["load"] ** load

    return {key: time(case) for key, case in CASES.items()}


def world(implementations, **printed):
    """Evidence of these times by implementation, or of what is printed by card."""
    machine = None if printed else Machine(Path("m"), synthetic.environment("m", "GPU"), [])
    named = [(label, "gpu", values) for label, values in printed.items()]
    named += [(name, name.partition("-")[0], values) for name, values in implementations.items()]
    found = [Series(name, kind, name, values, dict.fromkeys(values, "f.jsonl:1")) for name, kind, values in named]
    return Evidence("here", machine, tuple(found))


def all_of(names, values):
    return dict.fromkeys(names, values)


GOOD_CPU, GOOD_GPU = times(3, load=0.5), times(0.1, states=0.9, possibilities=0.66)
GOOD = all_of(CORES, GOOD_CPU) | all_of(PAPERS, GOOD_GPU)
# name of a claim -> a world in which the paper's algorithm fails it; ours would pass, if it were asked
BAD = {
    "variables": all_of(PAPERS + CORES, times(1, variables=0.2)) | all_of(OURS, times(1)),
    "possibilities-gpu": all_of(PAPERS, times(1)) | all_of(OURS, GOOD_GPU),
    "possibilities-cpu": all_of(CORES, times(1, possibilities=0.5)),
    "states": GOOD | all_of(PAPERS, times(1, states=1.2)) | all_of(OURS, GOOD_GPU),
    "ten-milliseconds": all_of(PAPERS, times(3)) | all_of(OURS, times(0.1)),
    "load-gpu": all_of(PAPERS, times(1, load=0.2)) | all_of(OURS, times(1)),
    "load-cpu": all_of(CORES, times(3, load=0.1)),
    "speedup": all_of(CORES, GOOD_CPU) | all_of(PAPERS, times(10)) | all_of(OURS, times(0.01)),
}


def decided(name, evidence):
    (claim,) = (claim for claim in PAPER.claims if claim.name == name)
    return [(found.subject, found.verdict) for found in claim.judge(evidence) if found.decides]


@pytest.mark.parametrize("name", BAD)
def test_every_judge_can_say_yes_and_no_and_ours_does_not_speak(name):
    yes, no = decided(name, world(GOOD)), decided(name, world(BAD[name]))
    assert {verdict for _, verdict in yes} == {HOLDS} and {verdict for _, verdict in no} == {FAILS}
    assert not any("gpu-tuned" in subject for subject, _ in no)


def test_ours_is_told_beside():
    (claim,) = (claim for claim in PAPER.claims if claim.name == "speedup")
    (ours,) = (found for found in claim.judge(world(BAD["speedup"])) if not found.decides)
    assert ours.subject.startswith("gpu-tuned over cpu-openmp (") and ours.verdict == HOLDS
    assert ours.numbers.endswith("; ours, does not decide")


@pytest.mark.parametrize(("older", "verdict"), [(1.7, HOLDS), (1.2, FAILS), (2.5, FAILS)])
def test_the_generations_of_cards(older, verdict):
    cards = {"GeForce GTX 1080 Ti": times(1), "GeForce GTX Titan X": times(older)}
    assert decided("generations", world({}, **cards)) == [("Titan X ÷ 1080 Ti", verdict)]


def test_each_claim_has_a_world_in_which_it_fails():
    assert {*BAD, "generations"} == {claim.name for claim in PAPER.claims}
