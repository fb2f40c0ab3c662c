import pytest
import synthetic_lns
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART
from vicinity_analysis.papers.lns.claims import CLAIMS
from worlds import GPU, judge, judge_everything

PRINTED = {
    "order-of-magnitude": HOLDS,
    "grows-with-starting-points": HOLDS,
    "same-sequence": OPEN,
    "their-values": OPEN,
    "larger-neighbourhoods": FAILS,
    "less-demanding": HOLDS,
    "complete-first": HOLDS,
    "against-cp": HOLDS,
    "their-solutions": OPEN,
    "against-lns": HOLDS,
}


def walkers(case):
    return int(case["subsets"]) * int(case["starts"])


def grows(case, _ratio):
    """With the starting points and |N|; most for CE, then RL."""
    strategy = {"CE": 2000.0, "RL": 200.0}.get(case.get("strategy", "RL"), 10.0)
    return strategy * (1 + walkers(case)) * (1 + int(case["released"]))


def falls(case, _ratio):
    strategy = {"GS": 3000.0, "ICM": 200.0}.get(case.get("strategy", "RL"), 1.0)
    return strategy / (1 + walkers(case)) / (1 + int(case["released"]))


WORLDS = {
    "paper": {},
    "better": {"speedup": grows},
    "worse": {"speedup": falls, "value": 0.5, "found": synthetic_lns.WORSE, "digest": "fedcba9876543210"},
}
YES = {name: "better" for name in PRINTED}
NO = {name: "worse" for name in PRINTED}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    return {
        name: judge_everything(synthetic_lns, tmp_path_factory.mktemp(name), **changes)
        for name, changes in WORLDS.items()
    }


def findings(judged, name):
    return {found.subject: (found.verdict, found.numbers) for found in judged[name].measured[0][1]}


def decided(found):
    return {verdict for verdict, _ in found.values()} - {NOT_JUDGED}


def test_there_is_a_world_for_every_claim():
    assert list(PRINTED) == [claim.name for claim in CLAIMS]


def test_the_paper_on_its_own_numbers(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    synthetic_lns.make_machine(root / "results", "m", [], GPU)
    judged = judge(root, "m")
    assert {name: found.verdict for name, found in judged.items()} == PRINTED
    (found,) = judged["order-of-magnitude"].printed
    assert found.numbers.startswith("with 10000 starting points 8.64× to 10.6×")
    (found,) = judged["complete-first"].printed
    assert found.numbers == "best speed-ups: CE 38.5×, RL 31.0×, ICM 6.98×, 2P 3.41×, RP 3.27×, GS 2.65×"


def test_impossible_values_are_no_evidence(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    synthetic_lns.make_machine(root / "results", "m", [], GPU)
    judged = judge(root, "m")
    cp = {found.subject.split(":")[0]: found for found in judged["against-cp"].printed}
    assert [cp[name].verdict for name in ("Transportation", "TSP", "Knapsack", "Coins_grid")] == [
        NOT_JUDGED,
        NOT_JUDGED,
        HOLDS,
        HOLDS,
    ]
    assert "impossible: below the optimum 6600" in cp["Transportation"].numbers
    assert "impossible: below the optimum 6859" in cp["TSP"].numbers
    small, *others = judged["against-lns"].printed
    assert small.verdict == NOT_JUDGED and "q=15" in small.subject and "impossible" in small.numbers
    assert {found.verdict for found in others} == {HOLDS}


@pytest.mark.parametrize("name", PRINTED)
def test_every_judge_can_say_yes(worlds, name):
    found = findings(worlds[YES[name]], name)
    assert decided(found) == {HOLDS}, found


@pytest.mark.parametrize("name", PRINTED)
def test_every_judge_can_say_no(worlds, name):
    found = findings(worlds[NO[name]], name)
    assert decided(found) == {FAILS}, found


def test_the_printed_speedups_measured(worlds):
    """With the paper's own ratios the verdicts are those on its print."""
    judged = worlds["paper"]
    for name in ("order-of-magnitude", "grows-with-starting-points", "less-demanding", "complete-first"):
        assert {verdict for verdict, _ in findings(judged, name).values()} == {PRINTED[name]}, name


def test_values_of_rows_that_can_be_right(worlds):
    _, numbers = findings(worlds["better"], "their-values")["gpu"]
    assert numbers.endswith("24 of 24 within 5 %")  # 36 rows, 12 of them of RP and 2P


def test_what_is_not_the_papers_instance_is_not_judged(worlds):
    found = findings(worlds["better"], "against-cp")
    assert found["Knapsack: GPU-LNS against JaCoP"][0] == NOT_JUDGED
    assert "impossible" in found["TSP: GPU-LNS against JaCoP"][1]  # JaCoP's own value
    assert found["Transportation: GPU-LNS against JaCoP"][0] == HOLDS
    assert findings(worlds["better"], "against-lns")["QAP q=15 (unnamed): GPU-LNS against OscaR"][0] == NOT_JUDGED


def test_costs_of_contended_runs_count(tmp_path):
    def of(root, disturbed):
        synthetic_lns.make_root(root)
        records = [
            r | {"contended": [disturbed and r["seeds"] == [3]]} for r in synthetic_lns.results("gpu-a", "table4")
        ]
        synthetic_lns.make_machine(root / "results", "gpu-a", records, GPU)
        return judge(root, "gpu-a")

    clean, noisy = of(tmp_path / "clean", False), of(tmp_path / "noisy", True)
    for name in ("their-solutions", "against-lns"):
        assert findings(noisy, name) == findings(clean, name), name
    assert "200 in 0.500 s" in findings(noisy, "against-lns")["QAP q=32 (unnamed): GPU-LNS against OscaR"][1]


def test_cases_of_several_builds_are_not_compared(tmp_path):
    records = [
        record | {"sources": "another" if record["case"].get("strategy") == "CE" else "one"}
        for name in ("table1", "table2")
        for record in synthetic_lns.times("gpu-a", name, grows)
    ]
    synthetic_lns.make_root(tmp_path)
    synthetic_lns.make_machine(tmp_path / "results", "gpu-a", records, GPU)
    judged = judge(tmp_path, "gpu-a")
    several = {"gpu against cpu-serial": (NOT_JUDGED, "records of several builds: gpu, cpu-serial")}
    for name in ("larger-neighbourhoods", "less-demanding", "complete-first"):
        assert findings(judged, name) == several, name
    assert decided(findings(judged, "order-of-magnitude")) == {HOLDS}


def test_speedups_are_of_the_seeds_that_both_have(tmp_path):
    """Counts are alike, but what an evaluation takes depends on the seed; one core ran the first alone."""

    def judged(folder, more):
        records = [r for name in ("table1", "table2") for r in synthetic_lns.times("gpu-a", name, grows)]
        synthetic_lns.make_root(folder)
        synthetic_lns.make_machine(folder / "results", "gpu-a", [*records, *more(records)], GPU)
        return judge(folder, "gpu-a")

    one = judged(tmp_path / "one", lambda records: [])
    five = judged(tmp_path / "five", synthetic_lns.further_seeds)
    for name in ("order-of-magnitude", "grows-with-starting-points", "larger-neighbourhoods", "complete-first"):
        assert findings(five, name) == findings(one, name), name
    root = tmp_path / "none"
    records = [
        r | {"seeds": [2]} if r["implementation"] == "gpu" else r for r in synthetic_lns.times("gpu-a", "table1")
    ]
    synthetic_lns.make_root(root)
    synthetic_lns.make_machine(root / "results", "gpu-a", records, GPU)
    assert judge(root, "gpu-a")["order-of-magnitude"].measured[0][1] == []


def test_better_but_later_is_in_part(tmp_path):
    found = findings(judge_everything(synthetic_lns, tmp_path, slower=1e4), "against-lns")
    assert decided(found) == {PART}


def test_a_part_of_the_rows_is_not_judged(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    few = [r for r in synthetic_lns.times("gpu-a", "table2") if r["case"]["strategy"] == "CE"]
    few += [r for r in synthetic_lns.times("gpu-a", "table1") if r["case"]["starts"] == 1]
    synthetic_lns.make_machine(root / "results", "gpu-a", few, GPU)
    judged = judge(root, "gpu-a")
    for name in ("order-of-magnitude", "grows-with-starting-points", "larger-neighbourhoods", "complete-first"):
        assert {verdict for verdict, _ in findings(judged, name).values()} == {NOT_JUDGED}, name


def test_without_gpu_nothing_measured_decides(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    cpu = [r for r in synthetic_lns.everything("gpu-a") if r["implementation"] != "gpu"]
    synthetic_lns.make_machine(root / "results", "gpu-a", cpu, GPU)
    judged = judge(root, "gpu-a")
    assert all(found.measured[0][1] == [] for found in judged.values())
    assert {name: found.verdict for name, found in judged.items()} == PRINTED
