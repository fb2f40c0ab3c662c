import json

import pytest
import synthetic
from vicinity_analysis import claims
from vicinity_analysis.catalogue import find_papers
from vicinity_analysis.claims import FAILS, HOLDS, OPEN, PART
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
