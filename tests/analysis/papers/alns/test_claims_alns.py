from dataclasses import replace

import pytest
import synthetic_alns
from synthetic_alns import PAPER
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART, Evidence
from vicinity_analysis.papers.alns.claims import CLAIMS
from vicinity_analysis.views.cells import significant
from worlds import GPU, judge, judge_everything, studies_of, study_of

PRINTED = {
    "their-algorithm": OPEN,
    "small-difference": HOLDS,
    "faster-on-most": HOLDS,
    "modestly-shorter": HOLDS,
    "fluctuates": HOLDS,
    "linked-list": OPEN,
    "several-solutions": OPEN,
    "factor-five": OPEN,
    "cheap-additions": OPEN,
    "shared-memory": OPEN,
    "genetic": OPEN,
    "local-search": OPEN,
    "eight-of-twelve": FAILS,
    "mean-objective": HOLDS,
    "faster-on-all": HOLDS,
    "worst-below-best": HOLDS,
    "ratio-grows": HOLDS,
    "eight-threads": HOLDS,
    "up-to-seven": HOLDS,
}
SLOW = PAPER | {
    "gpu": (1e-3, 2.5, 1e-4, 1.0),
    "gpu-array": (5e-4, 2.5, 1e-4, 1.0),
    "gpu-genetic": (5e-4, 2.5, 1e-4, 0.99),
    "gpu-local-search": (5e-4, 2.5, 1e-4, 0.99),
}
WORLDS = {
    "paper": {},
    "better": {"like": "pra", "factor": 0.98},
    "worse": {"like": "pra", "factor": 1.1, "model": SLOW, "shared": False},
    "quick": {"model": PAPER | {"gpu": (1e-6, 2.0, 0.1, 1.0)}},
}
YES = {name: "paper" for name in PRINTED} | {"eight-of-twelve": "better"}
NO = {name: "worse" for name in PRINTED} | {"eight-threads": "quick"}
UNTESTED = ("several-solutions", "factor-five", "cheap-additions")
MEASURED = [name for name in PRINTED if name not in ("up-to-seven", *UNTESTED)]  # the former: nobody else's instances


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    return {
        name: judge_everything(synthetic_alns, tmp_path_factory.mktemp(name), **changes)
        for name, changes in WORLDS.items()
    }


def numbers(judged, name):
    return [(found.verdict, found.numbers) for found in judged[name].measured[0][1]]


def test_the_paper_on_its_own_numbers(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    synthetic_alns.make_machine(root / "results", "m", [], GPU)
    judged = judge(root, "m")
    assert {name: found.verdict for name, found in judged.items()} == PRINTED
    (found,) = judged["eight-of-twelve"].printed
    assert found.numbers == "mean cost lower on 9, higher on 3, equal on 0"
    assert "data/published/alns_tableB5.csv:" in found.sources
    (found,) = judged["small-difference"].printed
    assert "0.56 % (CMT5)" in found.numbers
    (found,) = judged["up-to-seven"].printed
    assert found.numbers == "at most 6.91× (BHS-10)"
    assert [f.subject.split(":")[0] for f in judged["fluctuates"].printed] == ["Christofides et al.", "Li et al."]


def test_there_is_a_world_for_every_claim():
    assert list(PRINTED) == [claim.name for claim in CLAIMS]


@pytest.mark.parametrize("name", MEASURED)
def test_every_judge_can_say_yes(worlds, name):
    found = worlds[YES[name]][name].measured[0][1]
    assert found and {finding.verdict for finding in found} == {HOLDS}, numbers(worlds[YES[name]], name)


@pytest.mark.parametrize("name", MEASURED)
def test_every_judge_can_say_no(worlds, name):
    found = worlds[NO[name]][name].measured[0][1]
    assert found and {finding.verdict for finding in found} == {FAILS}, numbers(worlds[NO[name]], name)


def test_a_print_without_the_largest_ratio(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    synthetic_alns.make_machine(root / "results", "m", [], GPU)
    statements = study_of(studies_of(root, "m"), "alns/table2").statements
    slower = [replace(o, text=str(9 * o.value)) if o.implementation == "gpu-alns" else o for o in statements]
    claim = next(claim for claim in CLAIMS if claim.name == "up-to-seven")
    (found,) = claim.judge(Evidence("printed", None, (), statements=tuple(slower)))
    assert found.verdict == FAILS


def test_the_baselines_are_named(worlds):
    (found,) = worlds["paper"]["eight-threads"].measured[0][1]
    assert found.subject == "Li et al.: gpu, cpu-openmp (8 of 16 cores, AMD EPYC 9999)"
    (found,) = worlds["paper"]["faster-on-all"].measured[0][1]
    assert found.subject == "Li et al.: gpu, cpu-serial (1 core, AMD EPYC 9999)"
    assert "gpu-a/alns/table2.jsonl:" in found.sources


def test_without_gpu_nothing_measured_decides(tmp_path):
    cpu = {name: PAPER[name] for name in ("cpu-openmp", "cpu-serial", "gpu-tuned")}
    judged = judge_everything(synthetic_alns, tmp_path, model=cpu)
    assert all(found.measured[0][1] == [] for found in judged.values())
    assert {name: found.verdict for name, found in judged.items()} == PRINTED


def test_a_part_of_the_instances_is_not_judged(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    records = synthetic_alns.experiment("gpu-a", "table2", instances=["Li_21", "Li_22"])
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    (found,) = judge(root, "gpu-a")["faster-on-all"].measured[0][1]
    assert found.verdict == NOT_JUDGED and found.numbers.startswith("2 of 12 instances measured")


def test_sixteen_threads_are_not_eight(tmp_path):
    (found,) = judge_everything(synthetic_alns, tmp_path, threads=16)["eight-threads"].measured[0][1]
    assert found.verdict == NOT_JUDGED and "not run on 8 threads" in found.numbers


def test_threads_are_asked_for_before_instances(tmp_path):
    judged = of_records(tmp_path, synthetic_alns.experiment("gpu-a", "table2", instances=["Li_21"], threads=16))
    assert [told for _, told in numbers(judged, "eight-threads")] == [
        "cpu-openmp (16 cores, AMD EPYC 9999): not run on 8 threads"
    ]


def of_records(root, records):
    synthetic_alns.make_root(root)
    synthetic_alns.make_machine(root / "results", "gpu-a", list(records), GPU)
    return judge(root, "gpu-a")


def of_seeds(seeds, changed=lambda record: record):
    """Of Table 2: implementation -> its seeds, of Li_32 those of "Li_32"."""
    for record in synthetic_alns.experiment(
        "gpu-a", "table2", model={name: PAPER[name] for name in ("gpu", "cpu-serial")}
    ):
        mine = seeds[record["implementation"]]
        if record["seeds"][0] in mine.get(record["case"]["instance"], mine[""]):
            yield changed(record)


def slow_first(record):
    """A seed decides how much is done: the first takes ten times as many calls, by whatever runs it."""
    if record["seeds"] == [1]:
        record["samples"] = {"wall": [10 * second for second in record["samples"]["wall"]]}
    return record


def test_times_are_compared_seed_by_seed(tmp_path):
    """The mean of both seeds of gpu on Li_32 is of more work than the one of cpu-serial: 12.6x."""
    seeds = {"gpu": {"": (1, 2)}, "cpu-serial": {"": (1, 2), "Li_32": (2,)}}
    judged = of_records(tmp_path, of_seeds(seeds, slow_first))
    ((verdict, told),) = numbers(judged, "ratio-grows")
    assert verdict == HOLDS and "65.5× at 1200 requests; rank correlation 1.00" in told
    assert "to 65.5× (" in numbers(judged, "faster-on-all")[0][1]
    verdict, told = numbers(judged, "worst-below-best")[0]
    assert verdict == NOT_JUDGED and told.startswith("fewer than 5 seeds of ")  # of one run the worst is the best


def test_without_a_common_seed_nothing_is_judged(tmp_path):
    seeds = {"gpu": {"": (1, 2), "Li_32": (1,)}, "cpu-serial": {"": (1, 2), "Li_32": (2,)}}
    judged = of_records(tmp_path, of_seeds(seeds))
    for name in ("faster-on-all", "worst-below-best", "ratio-grows"):
        assert numbers(judged, name) == [(NOT_JUDGED, "no seed in common of Li_32")], name
    seeds = {"gpu": {"": (1,)}, "cpu-serial": {"": (2,)}}
    (found,) = of_records(tmp_path / "none", of_seeds(seeds))["faster-on-all"].measured[0][1]
    assert found.verdict == NOT_JUDGED and found.numbers.startswith("no seed in common of Li_21, Li_22")


def test_a_ratio_of_several_builds_does_not_grow(tmp_path):
    seeds = {name: {"": (1, 2)} for name in ("gpu", "cpu-serial")}

    def rebuilt(record):
        return record | {"sources": "another" if record["case"]["instance"] == "Li_32" else "one"}

    judged = of_records(tmp_path, of_seeds(seeds, rebuilt))
    assert numbers(judged, "ratio-grows") == [(NOT_JUDGED, "records of several builds: gpu, cpu-serial")]
    assert numbers(judged, "faster-on-all")[0][0] == HOLDS


def test_costs_of_contended_runs_count(tmp_path):
    def disturbed(record):
        return record | {"contended": [record["implementation"] == "gpu" and record["seeds"][0] > 3]}

    records = list(synthetic_alns.experiment("gpu-a", "table2"))
    clean, noisy = (of_records(tmp_path / n, map(f, records)) for n, f in (("clean", dict), ("noisy", disturbed)))
    for name in ("their-algorithm", "eight-of-twelve", "mean-objective"):
        assert numbers(noisy, name) == numbers(clean, name), name


def test_other_settings_are_not_the_papers(tmp_path):
    judged = judge_everything(synthetic_alns, tmp_path, case={"calls": 2})
    assert all(found.measured[0][1] == [] for found in judged.values())


def test_few_seeds_do_not_fluctuate(tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic_alns, "SEEDS", range(1, 4))
    judged = judge_everything(synthetic_alns, tmp_path)
    assert {verdict for verdict, _ in numbers(judged, "fluctuates")} == {NOT_JUDGED}


def test_of_few_seeds_the_mean_cost_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic_alns, "SEEDS", range(1, 4))
    judged = judge_everything(synthetic_alns, tmp_path)
    for name in ("their-algorithm", "small-difference", "genetic", "local-search", "eight-of-twelve", "mean-objective"):
        found = numbers(judged, name)
        assert found and {verdict for verdict, _ in found} == {NOT_JUDGED}, name
        assert all(told.startswith("fewer than 5 seeds of ") for _, told in found)
    assert NOT_JUDGED not in {verdict for verdict, _ in numbers(judged, "linked-list")}


def test_a_seed_costs_the_same_by_what_takes_the_same_path(tmp_path, monkeypatch):
    root, records = synthetic_alns.make_root(tmp_path), []
    for name, seeds in (("gpu", 4), ("gpu-tuned", 7), ("gpu-genetic", 7)):
        monkeypatch.setattr(synthetic_alns, "SEEDS", range(1, seeds))
        records += synthetic_alns.experiment("gpu-a", "table2", model={name: PAPER["gpu"]})
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    judged = judge(root, "gpu-a")
    for name in ("their-algorithm", "eight-of-twelve", "mean-objective"):
        (found,) = judged[name].measured[0][1]
        assert found.verdict != NOT_JUDGED and found.decides, name
    for name in ("fluctuates", "genetic"):
        (found,) = judged[name].measured[0][1]
        assert found.verdict == NOT_JUDGED and found.numbers.startswith("fewer than 5 seeds of "), name


@pytest.mark.parametrize(
    ("factor", "told"), [(1.0, "lower on 0, higher on 0"), (0.97, "lower on 12"), (1.03, "lower on 0")]
)
def test_their_algorithm_says_where_the_means_are_apart(tmp_path, factor, told):
    root = synthetic_alns.make_root(tmp_path)
    records = list(synthetic_alns.experiment("gpu-a", "table2", factor=factor, model={"gpu": PAPER["gpu"]}))
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    (found,) = judge(root, "gpu-a")["their-algorithm"].measured[0][1]
    assert f"beyond the scatter {told}" in found.numbers


@pytest.mark.parametrize("name", UNTESTED)
def test_what_nothing_here_is_is_not_tested_and_says_why(worlds, name):
    for world in worlds.values():
        deciding = [found for found in world[name].measured[0][1] if found.decides]
        assert [found.subject for found in deciding] == ["Christofides et al.: gpu", "Li et al.: gpu"]
        assert {found.verdict for found in deciding} == {NOT_JUDGED} == {world[name].verdict}
        assert all(found.numbers.startswith("not tested: no implementation ") for found in deciding)


@pytest.mark.parametrize(("times", "verdict"), [(6.0, HOLDS), (3.0, PART), (0.5, FAILS)])
def test_our_tuning_stands_beside_theirs_and_does_not_decide(tmp_path, times, verdict):
    model = {"gpu": PAPER["gpu"], "gpu-tuned": (PAPER["gpu"][0] / times, *PAPER["gpu"][1:])}
    judged = judge_everything(synthetic_alns, tmp_path, model=model)["factor-five"]
    beside = [found for found in judged.measured[0][1] if not found.decides]
    assert [found.verdict for found in beside] == [verdict] * 2 and judged.verdict == NOT_JUDGED
    assert all(found.numbers.endswith("; ours, does not decide") for found in beside)
    assert f"ratio of the summed mean times {significant(times)}×" in beside[0].numbers


def test_shared_memory_is_judged_by_the_policies(tmp_path):
    told = {i: {"in_shared": int(i != "Li_32"), "shared_bytes": 100} for i in ("Li_21", "Li_32")}

    def placed(record, policy):
        return record | {"policy": policy(record["case"]["instance"])}

    records = list(synthetic_alns.experiment("gpu-a", "table2", model={"gpu": PAPER["gpu"]}))
    some = (placed(r, lambda i: told.get(i, told["Li_21"])) for r in records)
    ((verdict, numbers_),) = numbers(of_records(tmp_path / "some", some), "shared-memory")
    assert (verdict, numbers_) == (PART, "in 66 of 72 runs; at most 100 bytes a block (Li_32)")
    silent = (placed(r, lambda i: {}) for r in records)
    ((verdict, numbers_),) = numbers(of_records(tmp_path / "silent", silent), "shared-memory")
    assert (verdict, numbers_) == (NOT_JUDGED, "some records do not say where the solution is")
