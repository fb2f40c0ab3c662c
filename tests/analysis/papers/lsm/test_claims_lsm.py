import re

import pytest
import synthetic_lsm
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART, Evidence, Series, combine
from vicinity_analysis.papers.lsm.claims import CLAIMS
from vicinity_analysis.papers.lsm.judges import grid_below_cluster
from worlds import GPU, judge

QUALITY = ("quality_qap", "quality_long")


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
    "cluster-peak": HOLDS,
    "gpu-over-cluster": HOLDS,
    "grid-below-cluster": PART,
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
    assert finding.verdict == HOLDS and finding.numbers.startswith("7 of 7 rows; 1.09")
    assert "gpu-tuned over cpu-serial (1 core, AMD EPYC 9999)" in finding.numbers
    assert "gpu-tuned over cpu-openmp (16 cores, AMD EPYC 9999)" in finding.numbers
    assert "gpu-a/lsm/table2.jsonl:" in finding.sources


def test_neighbours_that_are_copied_whole(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = [*one("table4"), *one("table8")]
    for record in records:
        if record["implementation"] == "gpu-host-neighborhood":
            record["policy"] = {"solutions_by_host": 1}
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    judged = judge(root, "gpu-a")
    assert "74.0 %" in findings(judged, "transfers")["gpu-host-neighborhood"].numbers
    assert judged["transfers"].verdict == HOLDS and judged["generation-on-gpu"].verdict == HOLDS


def test_measured_verdicts(judged):
    assert judged["same-semantics"].verdict == HOLDS
    assert judged["texture"].verdict == FAILS and judged["texture-and-cache"].verdict == HOLDS
    assert judged["eighty"].verdict == HOLDS
    assert judged["tsp-failures"].verdict == FAILS and judged["control-robust"].verdict == HOLDS
    ran = findings(judged, "control-robust")["gpu-thread-control"].numbers
    assert ran == "3 of 3 ran with thread control: uniform2392, uniform4461, uniform5915"
    assert judged["converged"].verdict == HOLDS


def rebuilt(tmp_path, name, **large):
    """Records of a table, those of one size of another build."""
    root = synthetic_lsm.make_root(tmp_path)
    records = [
        record | {"sources": "another" if large.items() <= record["case"].items() else "one"} for record in one(name)
    ]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    return judge(root, "gpu-a")


def test_no_trend_is_judged_over_several_builds(tmp_path):
    several = rebuilt(tmp_path / "several", "table5", dimension=10)
    for name in ("weierstrass-range", "weierstrass-quadratic"):
        (found,) = findings(several, name).values()
        assert found.verdict == NOT_JUDGED and found.numbers.startswith("records of several builds: "), name
    assert several["two-hundred-forty"].verdict != NOT_JUDGED
    same = rebuilt(tmp_path / "same", "table5")
    assert NOT_JUDGED not in {same[name].verdict for name in ("weierstrass-range", "weierstrass-quadratic")}
    apart = rebuilt(tmp_path / "apart", "table5", dimension=7)
    assert apart["weierstrass-quadratic"].verdict != NOT_JUDGED, "5 and 10 are of one build"


@pytest.mark.parametrize(
    ("name", "table", "largest"),
    [
        ("qap-growth", "table2", {"instance": "tai60a"}),
        ("ppp-one-flip-growth", "table3", {"n": 1317}),
        ("tsp-growth", "table6", {"instance": "rat783"}),
        ("cluster-peak", "table10", {"n": 1317}),
        ("cluster-communication", "table10", {"n": 1317}),
    ],
)
def test_no_growth_is_judged_over_several_builds(tmp_path, name, table, largest):
    found = findings(rebuilt(tmp_path, table, **largest), name).values()
    assert found and {one.verdict for one in found} == {NOT_JUDGED}
    assert all("records of several builds" in one.numbers for one in found)


def test_growth_says_where_it_ends(worlds, judged):
    """Two ends alone may look like growth."""
    grown, shrunk = (findings(of, "qap-growth").values() for of in (judged, worlds["shrinking"]))
    assert {(one.verdict, "falls from" in one.numbers) for one in grown} == {(HOLDS, False)}
    told = re.compile(r"; falls from [0-9.]+× at tai\d+a to [0-9.]+× at tai\d+a")
    assert {(one.verdict, bool(told.search(one.numbers))) for one in shrunk} == {(FAILS, True)}


def test_where_files_are_missing_stand_ins_take_their_place(judged):
    (finding,) = findings(judged, "tsp-growth").values()
    assert "at eil101" in finding.numbers and "at uniform5915" in finding.numbers


def test_the_neighborhood_of_the_claim_decides(judged):
    """Tables 3 and 4 have the same sizes; their rows must not be mixed."""
    (one_flip,) = findings(judged, "ppp-one-flip-growth").values()
    (two_flips,) = findings(judged, "ppp-two-flips-growth").values()
    assert "Hamming 1" in one_flip.numbers and "Hamming 2" not in one_flip.numbers.split(";")[0]
    assert "Hamming 2" in two_flips.numbers


def test_what_is_not_judged_does_not_soften_a_verdict():
    assert combine([NOT_JUDGED]) == NOT_JUDGED and combine([NOT_JUDGED, FAILS]) == FAILS
    assert combine([NOT_JUDGED, HOLDS, FAILS]) == PART


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


def test_a_record_without_its_precision_is_left_out(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = list(one("precision"))
    for record in records:
        record["objective"] = -2 if record["case"]["precision"] == "double" else -1
    first, last = records[0]["case_key"], records[-1]["case_key"]
    for record in records:
        if record["case_key"] == first:
            del record["case"]["precision"]
        elif record["case_key"] == last:
            record["case"]["precision"] = "half"
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    (finding,) = judge(root, "gpu-a")["double-precision"].measured[0][1]
    assert finding.verdict == HOLDS and "5 of 5 runs" in finding.numbers


def converging(records):
    """The last tenth finds nothing, and ten times as long takes little off the gap."""
    return [r | {"counters": r["counters"] | {"best_iteration": 100}} for r in records]


def test_a_search_that_has_converged(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = converging([*one("quality_qap"), *one("quality_long")])
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    judged = judge(root, "gpu-a")["converged"]
    assert judged.verdict == HOLDS
    assert "(20 seeds)" in judged.measured[0][1][1].numbers


def test_three_seeds_do_not_show_that_a_search_has_converged(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = [r for r in converging([*one("quality_qap"), *one("quality_long")]) if r["seeds"][0] <= 3]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    found = {finding.subject: finding for finding in judge(root, "gpu-a")["converged"].measured[0][1]}
    assert found["mean gap, tai100a"].verdict == NOT_JUDGED
    assert "fewer than 10 seeds" in found["mean gap, tai100a"].numbers


def test_a_search_that_still_improves_has_not_converged(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = [r | {"counters": {"best_iteration": r["iterations"]}} for r in one("table6")]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    (found,) = judge(root, "gpu-a")["converged"].measured[0][1]
    assert found.verdict == FAILS and "still improving: eil101" in found.numbers


def test_a_seed_that_found_its_best_late_is_chance(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = converging(one("quality_qap"))
    for record in records:
        if record["seeds"][0] <= 3:
            record["counters"]["best_iteration"] = record["iterations"]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    (found,) = judge(root, "gpu-a")["converged"].measured[0][1]
    assert found.verdict == HOLDS and "still improving" not in found.numbers


def test_thread_control_that_was_cut_short_is_not_judged(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    records = list(one("table7"))
    for record in records:
        if record["status"] == "ok" and synthetic_lsm.cities(record["case"]["instance"]) >= 2392:
            record["policy"] = {"tuned": 0, "shapes_tried": 5}
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    judged = judge(root, "gpu-a")
    assert judged["control-robust"].verdict == NOT_JUDGED
    numbers = findings(judged, "control-robust")["gpu-thread-control"].numbers
    assert (
        numbers.startswith("0 of 3 ran with thread control")
        and "do not count: uniform2392, uniform4461, uniform5915" in numbers
    )
    for record in records:
        record["policy"] = {"tuned": 0, "shapes_tried": 5}
    again = synthetic_lsm.make_root(tmp_path / "none")
    synthetic_lsm.make_machine(again / "results", "gpu-a", records, GPU)
    assert judge(again, "gpu-a")["control-gain"].measured[0][1] == []


def test_large_tours_that_fail_are_told(tmp_path):
    """A missing file is no failure of the program; what the device refused is."""
    root = synthetic_lsm.make_root(tmp_path)
    records = [refused(r, "gpu-texture") for r in one("table6")]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    found = findings(judge(root, "gpu-a"), "tsp-failures")
    assert found["gpu-texture"].verdict == HOLDS and found["gpu-texture"].numbers.startswith("3 of 3 failed")
    assert found["gpu"].verdict == FAILS and found["gpu"].numbers.startswith("0 of 3 failed")


def test_index_tuples_from_the_host_are_not_the_papers_neighbours(judged):
    for name in ("transfers", "generation-diminishes", "generation-on-gpu"):
        assert judged[name].verdict == NOT_JUDGED
        assert "copies whole neighbour solutions" in findings(judged, name)["gpu-host-neighborhood"].numbers


# --- every judge can say no ------------------------------------------------------------------------------------------

SLOW = {name: (2e-9, 1e-3) for name in ("gpu", "gpu-texture", "gpu-thread-control", "gpu-reduction")}
# On one core an iteration has a cost that does not grow; a card's grows, and overtakes it.
SHRINKING = {"cpu-serial": (1e-12, 1e-3)} | {
    name: (1e-9, 1e-6) for name in ("gpu", "gpu-texture", "gpu-thread-control", "gpu-reduction")
}
CHEAP_COPIES = {
    "gpu-host-neighborhood": (1e-12, 1e-6),
    "gpu-thread-control": (8e-12, 4e-5),
    "gpu-reduction": (9e-12, 1e-4),
}
TEXTURE_ALONE = {"gpu-texture": (1e-12, 1e-6)}


def refused(record, *implementations):
    """What a device says that is too small for a large tour."""
    instance = record["case"].get("instance")
    if record["implementation"] not in implementations or synthetic_lsm.cities(instance) < 2392:
        return record
    if record.get("missing_input"):
        return record
    return record | {"status": "skipped", "message": "too many resources requested for launch", "samples": {}}


def faulty(record):
    """Unlike the reference, worse in double precision, still improving, refused, with small shares of transfer."""
    record = dict(record)
    if record["status"] != "ok":
        return record
    name, case = record["experiment"].split("/")[1], record["case"]
    if record["implementation"].startswith("gpu"):
        record["digest"] = "f" * 16
    if name == "precision":
        record["objective"] = -1 if case["precision"] == "double" else -2
    if "iterations" in case:
        record["counters"] = {"best_iteration": record["iterations"]}
    if case.get("iterations") == 100_000:
        record["objective"] = record["best_known"]
    if name == "table7":
        record = refused(record, "gpu-thread-control")
    if record["implementation"] == "gpu-host-neighborhood":
        wall = record["samples"]["wall"]
        record["samples"] = {"wall": wall, "kernel": wall, "host": wall, "transfer": [v / 10 for v in wall]}
        record["policy"] = {"solutions_by_host": 1}
    return record


WORLDS = {
    "slow": (SLOW, ("table2", "table4", "table5", "table10")),
    "shrinking": (SHRINKING, ("table2", "table3", "table4", "table5", "table6", "table10")),
    "texture": (TEXTURE_ALONE, ("table2",)),
    "faulty": (CHEAP_COPIES, ("table2", "table4", "table6", "table7", "table8", "table9", "precision", *QUALITY)),
    "plain": ({}, ("table2", "table4", "table5", "table6", "table8", "table10")),
}
NO = {  # claim -> where it does not hold
    "same-semantics": "faulty",
    "qap-positive": "slow",
    "qap-growth": "shrinking",
    "texture": "plain",
    "texture-and-cache": "texture",
    "ppp-one-flip-texture": "shrinking",
    "ppp-one-flip-plain": "shrinking",
    "ppp-one-flip-growth": "shrinking",
    "ppp-two-flips-positive": "slow",
    "ppp-two-flips-growth": "shrinking",
    "large-neighborhoods": "shrinking",
    "eighty": "slow",
    "two-hundred-forty": "slow",
    "weierstrass-range": "shrinking",
    "weierstrass-quadratic": "plain",
    "double-precision": "faulty",
    "tsp-growth": "shrinking",
    "tsp-failures": "plain",
    "control-robust": "faulty",
    "control-gain": "faulty",
    "transfers": "faulty",
    "generation-diminishes": "faulty",
    "generation-on-gpu": "faulty",
    "reduction": "faulty",
    "converged": "faulty",
    "cluster-peak": "plain",
    "cluster-communication": "shrinking",
    "gpu-over-cluster": "slow",
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    judged = {}
    for name, (model, tables) in WORLDS.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(synthetic_lsm, "MODEL", synthetic_lsm.MODEL | model)
            root = synthetic_lsm.make_root(tmp_path_factory.mktemp(name))
            records = [r for table in tables for r in one(table)]
            records = [faulty(r) for r in records] if name == "faulty" else records
            synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
            judged[name] = judge(root, "gpu-a")
    return judged


def test_there_is_a_no_for_every_claim():
    assert [*NO, "grid-below-cluster"] == [claim.name for claim in CLAIMS]


def printed_series(label, implementation, *speedups):
    keys = [(("m", str(m)), ("n", str(m))) for m in (73, 401, 1301)]
    values = dict(zip(keys, speedups, strict=True))
    return Series(label, "cpu", implementation, values, {}, speedups=values, device=label)


def test_a_grid_above_its_cluster_is_told():
    """Of printed numbers alone, which no world changes."""
    cow, low, high = (
        printed_series("a", "cow", 2, 4, 3),
        printed_series("b", "grid", 1, 3, 2),
        printed_series("b", "grid", 3, 5, 4),
    )
    for grid, verdict in ((low, HOLDS), (high, FAILS)):
        (found,) = grid_below_cluster(Evidence("print", None, (cow, grid)))
        assert found.verdict == verdict


def test_processes_with_a_peak(tmp_path, monkeypatch):
    """Where communication grows faster than the work does, the speed-up peaks in the middle, and it is the cause."""
    alone = synthetic_lsm.seconds

    def messages(case):
        return case["iterations"] * (2e-5 + 1e-13 * case["n"] ** 4)

    def seconds(name, problem, case):
        return alone(name, problem, case) + (messages(case) if name == "mpi-openmp" else 0)

    monkeypatch.setattr(synthetic_lsm, "seconds", seconds)
    monkeypatch.setattr(synthetic_lsm, "communication", messages)
    root = synthetic_lsm.make_root(tmp_path)
    mine = [record for record in one("table10") if record["implementation"] != "cpu-serial"]
    others = [record for record in one("table4") if record["implementation"] == "cpu-serial"]  # of the same cases
    synthetic_lsm.make_machine(root / "results", "gpu-a", mine + others, GPU)
    judged = judge(root, "gpu-a")
    for name in ("cluster-peak", "cluster-communication", "gpu-over-cluster"):
        assert judged[name].verdict == HOLDS, findings(judged, name)


@pytest.mark.parametrize("name", NO)
def test_every_judge_can_say_no(worlds, name):
    found = worlds[NO[name]][name].measured[0][1]
    assert found and {finding.verdict for finding in found} == {FAILS}, [
        (f.subject, f.verdict, f.numbers) for f in found
    ]
