"""The judges and rules that all papers share."""

from pathlib import Path

import pytest
import synthetic
from vicinity_analysis import claims
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART, Claim, Evidence, Finding, Judged, Series
from vicinity_analysis.inputs.records import Machine
from worlds import judge, studies_of

CASE = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}
MACHINE = Machine(Path("m"), synthetic.environment("m", "GPU"), [])


def same_results(tmp_path, *changes, implementation="gpu"):
    """Verdicts and numbers over runs of one implementation that differ by `changes`, each a case of its own."""
    root = synthetic.make_root(tmp_path, {"table1": synthetic.TABLE1})
    records = [
        synthetic.record("m", "fang/table1", CASE | {"states": 16 * (at + 1)}, implementation, [1.0], **change)
        for at, change in enumerate(changes)
    ]
    synthetic.write_records(root / "results", "m", records, gpu="GPU")
    studies = studies_of(root, "m")
    found = claims.same_results(claims.measured_evidence(studies, studies[0].machines[0]))
    return [(one.subject, one.verdict, one.numbers.partition(" runs")[0], one.decides) for one in found]


@pytest.mark.parametrize(
    "bad", [{"status": "invalid"}, {"verified": False}, {"digest": "0"}, {"digest": None, "status": "invalid"}]
)
def test_one_run_that_differs_is_enough_to_say_no(tmp_path, bad):
    assert same_results(tmp_path / "good", {}, {}) == [("gpu", HOLDS, "2 of 2", True)]
    assert same_results(tmp_path / "bad", {}, {}, bad) == [("gpu", FAILS, "2 of 3", True)]


def test_where_no_run_passed_its_check(tmp_path):
    assert same_results(tmp_path, {"status": "invalid"}) == [("gpu", FAILS, "0 of 1", True)]


def test_skipped_runs_and_those_of_a_cpu_say_nothing(tmp_path):
    assert same_results(tmp_path / "skipped", {"status": "skipped"}) == []
    assert same_results(tmp_path / "cpu", {"status": "invalid"}, implementation="cpu-openmp") == []


def test_our_runs_are_counted_beside(tmp_path):
    found = same_results(tmp_path, {}, {"status": "invalid"}, implementation="gpu-tuned")
    assert found == [("gpu-tuned", FAILS, "1 of 2", False)]


def test_verdicts_of_shares_and_ranges():
    assert [claims.shares(flags) for flags in ([True] * 2, [True, False], [True, False, False])] == [HOLDS, PART, FAILS]
    assert [claims.within(values, 1, 2) for values in ([1, 2], [1, 3], [0.9, 3, 1])] == [HOLDS, PART, FAILS]


def finding(implementation, verdict):
    series = Series(implementation, "gpu", implementation, {(): 1.0}, {(): "f.jsonl:1"})
    return claims.finding(implementation, verdict, "numbers", series)


def test_what_decides():
    claim = Claim("c", "e", "q", "p", "r", lambda evidence: [])
    printed = [Finding("card", PART, "")]

    def verdict(*found):
        return Judged(claim, printed, [(MACHINE, list(found))]).verdict

    assert verdict(finding("gpu", FAILS), finding("gpu-tuned", HOLDS)) == FAILS
    assert verdict(finding("gpu", FAILS), finding("gpu-recompute", HOLDS)) == PART
    assert verdict(finding("gpu-tuned", HOLDS)) == PART, "what is printed decides where only ours was measured"
    assert Judged(claim, [], []).verdict == OPEN


def series(tmp_path, **builds):
    """Two cases of each implementation, seeds 1 and 2 of each; `builds`: sources of the four."""
    root = synthetic.make_root(tmp_path, {"table1": synthetic.TABLE1})
    runs = [(states, seed) for states in (16, 32) for seed in (1, 2)]
    records = [
        synthetic.record("m", "fang/table1", CASE | {"states": n}, name, [1.0 * seed], seeds=[seed], sources=of)
        for name, sources in builds.items()
        for (n, seed), of in zip(runs, sources, strict=True)
        if of
    ]
    synthetic.write_records(root / "results", "m", records, gpu="GPU")
    studies = studies_of(root, "m")
    return claims.measured_evidence(studies, studies[0].machines[0]).series


@pytest.mark.parametrize(
    ("gpu", "cpu", "told"),
    [
        ("aaaa", "bbbb", (HOLDS, "numbers")),
        ("aaab", "bbbb", (NOT_JUDGED, "records of several builds: gpu")),
        ("aabb", "bbcc", (NOT_JUDGED, "records of several builds: cpu_serial, gpu")),
    ],
)
def test_a_trend_needs_one_build_of_each_implementation(tmp_path, gpu, cpu, told):
    found = series(tmp_path, gpu=gpu, cpu_serial=cpu)
    cases = [key for one in found for key in one.times]
    assert claims.trend(HOLDS, "numbers", claims.runs_at(cases, *sorted(found, key=lambda s: s.label))) == told


def test_cases_outside_a_trend_may_be_of_another_build(tmp_path):
    (gpu,) = series(tmp_path, gpu="aabb")
    first = next(iter(gpu.times))
    assert claims.trend(HOLDS, "numbers", claims.runs_at([first], gpu)) == (HOLDS, "numbers")
    assert claims.trend(HOLDS, "numbers", []) == (HOLDS, "numbers"), "of printed values"


def test_series_of_the_seeds_that_all_have(tmp_path):
    slow, fast = claims.of_same_seeds(
        series(tmp_path / "some", gpu=("a", "a", "a", None), cpu_serial=(None, "a", "a", "a"))
    )
    assert set(slow.runs) == set(fast.runs) == set(slow.results) and sorted(slow.times.values()) == [1.0, 2.0]
    none = series(tmp_path / "none", gpu=("a", None, "a", None), cpu_serial=(None, "a", None, "a"))
    assert claims.of_same_seeds(none) == []


def test_an_invalid_run_reaches_the_judges(tmp_path):
    root = synthetic.make_root(tmp_path, {"table1": synthetic.TABLE1})
    record = synthetic.record("m", "fang/table1", CASE, "gpu", [1.0], status="invalid")
    synthetic.write_records(root / "results", "m", [record], gpu="GPU")
    studies = studies_of(root, "m")
    evidence = claims.measured_evidence(studies, studies[0].machines[0])
    assert isinstance(evidence, Evidence) and evidence.series == () and len(evidence.invalid) == 1
    assert judge(root, "m")["variables"].measured[0][1] == []


def test_what_the_print_says_does_not_hold_is_not_said_of_here():
    claim = Claim("c", "fang/table1", "quote", "place", "rule", lambda _: [])
    printed = [Finding("their card", FAILS, "numbers")]
    assert Judged(claim, printed, []).words == "does not hold"
    assert Judged(claim, printed, [(MACHINE, [finding("gpu", FAILS)])]).words == FAILS
    assert Judged(claim, [Finding("their card", HOLDS, "numbers")], []).words == HOLDS
