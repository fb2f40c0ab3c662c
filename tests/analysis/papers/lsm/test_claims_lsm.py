import pytest
import synthetic_lsm
from vicinity_analysis.claims import FAILS, HOLDS, OPEN, PART
from worlds import GPU, judge

MEASURED = ("gpu-a",)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    root = synthetic_lsm.make_root(tmp_path_factory.mktemp("lsm"))
    records = [r for name in (*synthetic_lsm.TABLES, "quality_qap", "quality_long") for r in one(name)]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    return judge(root, "gpu-a")


def one(name, **changes):
    return synthetic_lsm.experiment("gpu-a", name, skipped=("pr2392", "fnl4461", "rl5915"), **changes)


def world(tmp_path, monkeypatch, model, *names):
    """Claims on a machine whose cost model differs in `model`."""
    monkeypatch.setattr(synthetic_lsm, "MODEL", synthetic_lsm.MODEL | model)
    root = synthetic_lsm.make_root(tmp_path)
    synthetic_lsm.make_machine(root / "results", "gpu-a", [r for name in names for r in one(name)], GPU)
    return judge(root, "gpu-a")


def findings(judged, name):
    return {finding.subject: finding for finding in judged[name].measured[0][1]}


PRINTED = {
    "qap-positive": HOLDS,
    "qap-growth": HOLDS,
    "texture": HOLDS,
    "texture-and-cache": HOLDS,
    "ppp-one-flip-texture": PART,
    "ppp-one-flip-plain": PART,
    "ppp-one-flip-growth": HOLDS,
    "ppp-two-flips-positive": HOLDS,
    "ppp-two-flips-growth": HOLDS,
    "large-neighborhoods": HOLDS,
    "eighty": PART,
    "two-hundred-forty": HOLDS,
    "weierstrass-range": HOLDS,
    "weierstrass-quadratic": FAILS,
    "tsp-growth": HOLDS,
    "tsp-failures": HOLDS,
    "control-robust": HOLDS,
    "control-gain": PART,
    "transfers": HOLDS,
    "generation-diminishes": HOLDS,
    "generation-on-gpu": PART,
    "reduction": PART,
}


def test_the_paper_on_its_own_numbers(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    synthetic_lsm.make_machine(root / "results", "m", [], GPU)
    judged = {name: found for name, found in judge(root, "m").items() if name in PRINTED}
    assert {name: found.verdict for name, found in judged.items()} == PRINTED
    assert all(found.deciding[0] == "the paper's own numbers" for found in judged.values())
    (most,) = judged["eighty"].printed
    assert most.subject == "Tesla M2050 (448 cores) gpu-tex" and "73.3× (1301-1317 (Hamming 2))" in most.numbers
    first = judged["ppp-one-flip-texture"].printed[0]
    assert first.verdict == HOLDS and "faster from 401-417 (Hamming 1) on; 0.300× at 73-73" in first.numbers
    assert "data/published/lsm_table3.csv" in first.sources
    reductions = {finding.subject: finding.numbers for finding in judged["reduction"].printed}
    assert reductions["GeForce GTX 280 (240 cores): gpu-tex-reduction over gpu-tex, Hamming 2"].startswith(
        "2 of 9 inside"
    )


def test_measured_ratios_name_their_baselines(judged):
    finding = findings(judged, "qap-positive")["gpu-texture over cpu-serial (1 core, AMD EPYC 9999)"]
    assert finding.verdict == HOLDS and finding.numbers.startswith("7 of 7 rows; 1.1")
    assert "gpu-tuned over cpu-serial (1 core, AMD EPYC 9999)" in finding.numbers
    assert "gpu-tuned over cpu-openmp (16 cores, AMD EPYC 9999)" in finding.numbers
    assert "gpu-a/lsm/table2.jsonl:" in finding.sources


def test_measured_verdicts(judged):
    assert judged["same-semantics"].verdict == HOLDS
    assert judged["texture"].verdict == FAILS and judged["texture-and-cache"].verdict == HOLDS
    assert judged["eighty"].verdict == HOLDS
    assert judged["tsp-failures"].verdict == FAILS and judged["control-robust"].verdict == HOLDS
    ran = findings(judged, "control-robust")["gpu-thread-control"].numbers
    assert ran == "ran: uniform2392, uniform4461, uniform5915"
    assert "74.0 %" in findings(judged, "transfers")["gpu-host-neighborhood"].numbers
    assert judged["converged"].verdict == HOLDS
    assert judged["generation-on-gpu"].verdict == HOLDS and judged["generation-diminishes"].verdict == FAILS


def test_where_files_are_missing_stand_ins_take_their_place(judged):
    (finding,) = findings(judged, "tsp-growth").values()
    assert "at eil101" in finding.numbers and "at uniform5915" in finding.numbers


def test_the_neighborhood_of_the_claim_decides(judged):
    """Tables 3 and 4 have the same sizes; their rows must not be mixed."""
    (one_flip,) = findings(judged, "ppp-one-flip-growth").values()
    (two_flips,) = findings(judged, "ppp-two-flips-growth").values()
    assert "Hamming 1" in one_flip.numbers and "Hamming 2" not in one_flip.numbers.split(";")[0]
    assert "Hamming 2" in two_flips.numbers


def test_nothing_measured_is_said(judged):
    assert judged["double-precision"].verdict == OPEN


def test_texture_that_helps(tmp_path, monkeypatch):
    judged = world(tmp_path, monkeypatch, {"gpu-texture": (1e-12, 1e-6)}, "table2")
    assert judged["texture"].verdict == HOLDS and judged["texture-and-cache"].verdict == FAILS


def test_a_gpu_slower_than_one_core(tmp_path, monkeypatch):
    judged = world(tmp_path, monkeypatch, {"gpu-texture": (2e-9, 1e-3), "gpu": (2e-9, 1e-3)}, "table2", "table4")
    assert judged["qap-positive"].verdict == FAILS and judged["ppp-two-flips-positive"].verdict == FAILS
    assert judged["eighty"].verdict == FAILS


def test_a_reduction_that_gains_fifteen_percent(tmp_path, monkeypatch):
    per_move, fixed = synthetic_lsm.MODEL["gpu"]
    judged = world(tmp_path, monkeypatch, {"gpu-reduction": (per_move / 1.15, fixed / 1.15)}, "table9")
    found = findings(judged, "reduction")
    assert [f.verdict for f in found.values()] == [HOLDS, HOLDS] and "gpu-reduction over gpu, Hamming 1" in found


def test_thread_control_is_judged_on_whole_runs(tmp_path, monkeypatch):
    per_move, fixed = synthetic_lsm.MODEL["gpu-texture"]
    control = {"gpu-thread-control": (per_move / 1.03, fixed / 1.03)}
    judged = world(tmp_path, monkeypatch, control, "table7")
    assert judged["control-gain"].verdict in (HOLDS, PART)
    root = synthetic_lsm.make_root(tmp_path / "cut")
    cut = {"extrapolated": {"axis": "iterations", "at": 10, "factor": 1000}}
    synthetic_lsm.make_machine(root / "results", "gpu-a", one("table7", **cut), GPU)
    assert judge(root, "gpu-a")["control-gain"].measured[0][1] == []


def test_double_precision(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = list(one("precision"))
    for record in records:
        record["objective"] = -2 if record["case"]["precision"] == "double" else -1
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    (finding,) = judge(root, "gpu-a")["double-precision"].measured[0][1]
    assert finding.verdict == HOLDS and "15 of 15 runs" in finding.numbers


def test_a_search_that_has_not_converged(tmp_path, monkeypatch):
    root = synthetic_lsm.make_root(tmp_path)
    records = [*one("quality_qap"), *one("quality_long")]
    for record in records:
        if record["case"]["iterations"] == 100_000:
            record["objective"] = synthetic_lsm.BEST["tai100a"]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    assert judge(root, "gpu-a")["converged"].verdict == FAILS
