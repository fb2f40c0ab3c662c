"""What a verdict, or a largest speed-up, may rest on."""

import pytest
import synthetic
from vicinity_analysis import catalogue, claims
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import report
from vicinity_analysis.views import scaling, speedups
from worlds import studies_of, study_of

OLD = {"axis": "states", "at": 512, "factor": 8.0}
NEW = {"axis": "states", "at": [128, 320, 512], "to": 4096, "fixed_seconds": 0, "seconds_per_unit": 1e-3, "change": 0}
CASES = [{"load": 1, "states": n, "variables": 8, "possibilities": 1224} for n in (1024, 4096)]


def study(root, name, scaled):
    """fang/table1, two cases of three implementations; `scaled` has the implementation and states of a scaled one."""
    records = [
        synthetic.record(
            name,
            "fang/table1",
            case,
            implementation,
            [seconds * case["states"]] * 5,
            extrapolated=scaled.get((implementation, case["states"])),
        )
        for implementation, seconds in (("cpu-serial", 4e-6), ("cpu-openmp", 2e-6), ("gpu", 1e-6))
        for case in CASES
    ]
    synthetic.write_records(root / "results", name, records)
    return study_of(studies_of(root, name), "fang/table1")


@pytest.mark.parametrize("scaled", [OLD, NEW])
def test_no_verdict_rests_on_a_scaled_time(tmp_path, scaled):
    found = study(
        synthetic.make_root(tmp_path), "m", {("cpu-serial", 4096): scaled, ("gpu", 1024): scaled, ("gpu", 4096): scaled}
    )
    seen = []

    def judge(evidence):
        seen.append({s.implementation: len(s.times) for s in evidence.series} if not evidence.printed else None)
        return [claims.finding(s.label, claims.HOLDS, "", s) for s in evidence.series if not evidence.printed]

    claim = claims.Claim("any", "fang/table1", "", "", "", judge)
    (judged,) = claims.judge_all(found, [found], [claim])
    assert seen == [None, {"cpu-serial": 1, "cpu-openmp": 2}]
    assert [finding.numbers for finding in judged.measured[0][1]] == ["", ""]
    ((machine, told),) = judged.unjudged
    assert machine.name == "m" and told == "scaled: not judged: cpu-serial in 1 of 2 runs, gpu in 2 of 2 runs"


def test_where_all_is_whole_nothing_is_left_out(tmp_path):
    found = study(synthetic.make_root(tmp_path), "m", {})
    evidence = claims.measured_evidence([found], found.machines[0])
    assert claims.without_scaled(evidence) == (evidence, "")


def test_the_report_says_what_was_not_judged(root, tmp_path):
    report.write(tmp_path, catalogue.open_catalogue(root), [load_machine(root / "results" / "gpu-a")])
    for name in ("fang.html", "report.md", "tables/claims.csv"):
        assert "scaled: not judged: cpu-serial in " in (tmp_path / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("scaled", [("cpu-openmp", 4096), ("gpu", 4096)])
def test_no_largest_speedup_is_of_a_scaled_time(tmp_path, scaled):
    found = study(synthetic.make_root(tmp_path), "m", {scaled: NEW})
    table = speedups.speedup_table(found)
    at = next(i for i, column in enumerate(table.columns) if column.label == "gpu over cpu-openmp")
    ratios = [row[at] for row in table.rows if "missing" not in row[at].marks]
    assert len(ratios) == 2 and sum("extrapolated" in cell.marks for cell in ratios) == 1
    assert [line[at].text for line in table.footer] == ["2.00×"] * 3
    (wins,) = scaling.wins_table(found).rows
    assert wins[2].text == "1 of 1 cases"


def test_a_scaled_time_that_is_the_least_is_no_baseline(tmp_path):
    """Over the next CPU implementation the ratio would be too large."""
    found = study(synthetic.make_root(tmp_path), "m", {("cpu-openmp", 4096): NEW, ("cpu-serial", 1024): NEW})
    least = scaling.fastest_cpu(found.series(found.machines[0]).items())
    seconds = {dict(key)["states"]: record.typical() for key, record in least.items()}
    assert seconds == {"1024": pytest.approx(2e-6 * 1024)}
