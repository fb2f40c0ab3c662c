"""What reports and claims make of contended values."""

import json

import pytest
import synthetic
from vicinity_analysis import claims
from vicinity_analysis.claims import (
    CONTENDED,
    FAILS,
    HOLDS,
    NOT_JUDGED,
    PART,
    Claim,
    Evidence,
    Finding,
    finding,
    shares,
)
from vicinity_analysis.views.tables import times_table
from worlds import column, judge, studies_of, study_of

TABLES = {"table1": synthetic.TABLE1}


def world(tmp_path, change):
    """A machine with Table 1, its lines changed by change(line)."""
    root = synthetic.make_root(tmp_path, TABLES)
    path = synthetic.make_machine(root / "results", "m", experiments=TABLES) / "fang" / "table1.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def slowed(line):
    """Of cpu-openmp, everything at 9800 possibilities is slow and contended."""
    if line["implementation"] == "cpu-openmp" and line["case"]["possibilities"] == 9800:
        line["samples"] = {part: [30 * value for value in values] for part, values in line["samples"].items()}
        line["contended"] = [True] * 20


def of(root, claim, subject):
    return next(f for f in judge(root, "m")[claim].measured[0][1] if f.subject == subject)


def test_a_verdict_that_rests_on_contended_values_is_none(tmp_path):
    root = world(tmp_path, slowed)
    assert of(root, "possibilities-cpu", "cpu-openmp").verdict == CONTENDED
    assert of(root, "possibilities-cpu", "cpu-serial").verdict == HOLDS
    assert judge(root, "m")["possibilities-cpu"].verdict == CONTENDED


def test_without_the_mark_the_verdict_would_have_been_wrong(tmp_path):
    """The same numbers, unmarked: the test above can fail."""
    root = world(tmp_path, lambda line: (slowed(line), line.pop("contended", None)))
    assert of(root, "possibilities-cpu", "cpu-openmp").verdict == FAILS


def test_a_verdict_that_contended_values_do_not_change_stands(tmp_path):
    def one_case(line):
        if line["implementation"] == "cpu-serial" and line["case"]["possibilities"] == 4488:
            line["contended"] = [True] * 20

    root = world(tmp_path, one_case)
    assert of(root, "possibilities-cpu", "cpu-serial").verdict == HOLDS


def test_combining_findings():
    assert claims.combine([HOLDS, CONTENDED]) == CONTENDED == claims.combine([CONTENDED])
    assert claims.combine([FAILS, CONTENDED]) == CONTENDED
    assert claims.combine([HOLDS, FAILS, CONTENDED]) == PART == claims.combine([PART, HOLDS])


def test_the_judge_sees_uncontended_values_alone(tmp_path):
    root = world(tmp_path, slowed)
    study = study_of(studies_of(root, "m"), "fang/table1")
    evidence = claims.measured_evidence([study], study.machines[0])

    def fewest(seen: Evidence) -> list[Finding]:
        return [
            finding(s.label, shares([time < 1e3 for time in s.times.values()]), f"{len(s.times)}", s)
            for s in seen.series
        ]

    claim = Claim("c", "fang/table1", "", "", "", fewest)
    assert {f.subject: f.numbers for f in claims.judge(claim, evidence)} == {
        "cpu-serial": "12; some values extrapolated",
        "cpu-openmp": "8",
    }


def test_contention_does_not_change_whether_something_ran(tmp_path):
    root = world(tmp_path, slowed)
    study = study_of(studies_of(root, "m"), "fang/table1")
    evidence = claims.measured_evidence([study], study.machines[0])

    def all_ran(seen: Evidence) -> list[Finding]:
        return [finding(s.label, shares([len(s.times) == 12]), "", s) for s in seen.series]

    verdicts = {
        timed: [f.verdict for f in claims.judge(Claim("c", "fang/table1", "", "", "", all_ran, timed=timed), evidence)]
        for timed in (True, False)
    }
    assert verdicts == {True: [HOLDS, CONTENDED], False: [HOLDS, HOLDS]}


def contended(name, seed, **changes):
    line = synthetic.record("m", "fang/table1", CASE, name, [float(seed)], seeds=[seed], **changes)
    return line | {"contended": [seed == 2], "objective": 10 * seed}


CASE = {"load": 1, "states": 16, "variables": 8, "possibilities": 80}


@pytest.mark.parametrize(("budget", "results"), [(None, [10, 20, 30]), ({"seconds": 1}, [10, 30])])
def test_results_of_contended_runs_count(tmp_path, budget, results):
    """But where a budget ended the search: it did less."""
    root = synthetic.make_root(tmp_path, TABLES)
    lines = [contended("gpu", seed) for seed in (1, 2, 3)]
    for line in lines:
        line["protocol"] = line["protocol"] | ({"budget": budget} if budget else {})
    synthetic.write_records(root / "results", "m", lines, gpu="GPU")
    study = study_of(studies_of(root, "m"), "fang/table1")
    seen = []

    def look(evidence: Evidence) -> list[Finding]:
        seen.append(
            [sorted(r.objective for r in of.values()) for of in (evidence.series[0].runs, evidence.series[0].results)]
        )
        return []

    claims.judge(Claim("c", "fang/table1", "", "", "", look), claims.measured_evidence([study], study.machines[0]))
    assert seen == [[[10, 20, 30]] * 2, [[10, 30], results]]


def test_what_is_not_judged_anyway_is_not_called_contended(tmp_path):
    root = world(tmp_path, slowed)
    study = study_of(studies_of(root, "m"), "fang/table1")

    def few(seen: Evidence) -> list[Finding]:
        cases = len(seen.named("cpu-openmp").times)
        return [Finding("s", NOT_JUDGED if cases == 12 else HOLDS, f"{cases} cases")]

    claim = Claim("c", "fang/table1", "", "", "", few)
    (found,) = claims.judge(claim, claims.measured_evidence([study], study.machines[0]))
    assert (found.verdict, found.numbers) == (NOT_JUDGED, "12 cases")


@pytest.mark.parametrize(
    ("count", "sign", "said"), [(20, "c", "20 of them contended)"), (5, "", "5 of them contended and left out")]
)
def test_tables_say_what_is_contended(tmp_path, count, sign, said):
    def some(line):
        if line["implementation"] == "cpu-openmp":
            line["contended"] = [True] * count + [False] * (20 - count)

    study = study_of(studies_of(world(tmp_path, some), "m"), "fang/table1")
    table = times_table(study)
    cell = table.rows[0][column(table, "cpu-openmp")]
    assert cell.signs == sign and said in cell.title
