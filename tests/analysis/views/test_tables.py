import csv
import io
import shutil
from dataclasses import replace

import pytest
import synthetic
from vicinity_analysis import catalogue
from vicinity_analysis.inputs import records
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.views import cells, limits, plots, speedups, tables
from worlds import column, studies_of


@pytest.fixture(scope="module")
def studies(root):
    return {study.name: study for study in studies_of(root, "gpu-a", "cpu-only")}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123456, "0.0123"),
        (1.2349, "1.23"),
        (9.996, "10.0"),
        (12.34, "12.3"),
        (999.6, "1,000"),
        (0, "0"),
        (1e-5, "0.0000100"),
    ],
)
def test_three_significant_digits(value, text):
    assert cells.significant(value) == text


def test_units():
    assert cells.with_unit(2.84e12, "B/s") == "2.84 TB/s"
    assert cells.with_unit(3e-6, "s") == "3.00 µs"


def test_rows_and_columns_of_the_paper(studies):
    table = tables.times_table(studies["fang/table1"])
    assert [c.label for c in table.columns[:5]] == ["load", "|X|", "|λ|", "|R|", "GeForce GTX 1080 Ti"]
    assert len(table.rows) == 12
    last = table.rows[-1]
    assert last[column(table, "GeForce GTX 1080 Ti")].text == "66.30"
    ours = last[column(table, "gpu-tuned")]
    assert float(ours.text) == pytest.approx(1.44, rel=0.05)
    assert "gpu-a/fang/table1.jsonl:60" in ours.title and "95% interval" in ours.title
    assert last[column(table, "cpu-serial")].signs == "e"
    assert any("cpu-only" not in note and "no GPU" in note for note in table.notes)


def test_ratio_is_published_over_measured(studies):
    table = tables.ratio_table(studies["fang/table1"])
    row = next(r for r in table.tidy if r["row"] == "r12" and r["implementation"] == "gpu-tuned")
    assert row["ratio"] == pytest.approx(66.3 / 1.44, rel=0.05)
    assert row["low"] <= row["ratio"] <= row["high"] and row["verdict"] == "faster"
    assert row["numerator"].startswith("data/published/") and row["denominator"] == "gpu-a/fang/table1.jsonl:60"
    assert [cells_[0].text for cells_ in table.footer] == ["smallest", "median", "largest"]


def test_a_baseline_says_on_how_many_cores_it_ran(tmp_path):
    def named(*policies, implementation="cpu-openmp"):
        made = [synthetic.record("m", "fang/table1", {}, implementation, [1.0], policy=p) for p in policies]
        machine = load_machine(synthetic.write_records(tmp_path / str(len(list(tmp_path.iterdir()))), "m", made))
        return tables.baseline_name(machine, implementation, machine.all_records)

    assert named({"threads": 16}) == "cpu-openmp (16 cores, AMD EPYC 9999)"
    assert named({"block": 1}) == "cpu-openmp (16 cores, AMD EPYC 9999)"
    assert named({"threads": 1}) == "cpu-openmp (1 of 16 cores, AMD EPYC 9999)"
    assert named({"threads": 15}, {"threads": 20}) == "cpu-openmp (15 to 20 cores, AMD EPYC 9999)"
    assert named({"threads": 1}, {"threads": 5}) == "cpu-openmp (1 to 5 of 16 cores, AMD EPYC 9999)"
    assert named({"threads": 1, "restarts_at_a_time": 16}) == "cpu-openmp (16 cores, AMD EPYC 9999)"
    assert named({"threads": 1}, implementation="cpu-serial") == "cpu-serial (1 core, AMD EPYC 9999)"


def test_speedups_name_their_baseline(studies):
    table = speedups.speedup_table(studies["fang/table1"])
    assert "cpu-openmp (16 cores, AMD EPYC 9999)" in table.notes[0]
    row = next(r for r in table.tidy if r["row"] == "r12" and r["implementation"] == "gpu-tuned")
    assert row["baseline"] == "cpu-openmp (16 cores, AMD EPYC 9999)"
    assert all(r["machine"] in r["numerator"] and r["machine"] in r["denominator"] for r in table.tidy)


def test_percentage_of_the_limit(studies):
    study = studies["fang/table1"]
    machine = study.machines[0]
    record = next(r for r in machine.of("fang/table1") if r.source.endswith(":60"))
    found = limits.floor(record, machine)
    assert found.ceiling == "integer" and found.seconds == pytest.approx(4 * 4096 * 32 * 9800 / 1.5e13)
    assert limits.percent(record, machine) == pytest.approx(100 * found.seconds / record.estimate().value)


def test_a_barrier_is_no_limit_that_another_design_could_not_beat(studies):
    study = studies["fang/table1"]
    machine = study.machines[0]
    record = next(r for r in machine.of("fang/table1") if r.source.endswith(":60"))
    machine.environment["ceilings"]["cluster_barrier"] = {"value": 1e-6, "unit": "s"}
    for barriers, ceiling in ((1, "integer"), (1e9, None)):
        work = record.data["work"] | {"cluster_barrier": barriers}
        found = limits.floor(replace(record, data=record.data | {"work": work}), machine)
        assert (found.ceiling if found else None) == ceiling
    del machine.environment["ceilings"]["cluster_barrier"]


@pytest.mark.parametrize(
    ("told", "threads", "share"),
    [
        ({}, None, 1),  # the implementation does not say
        ({}, 16, 1),
        ({}, 15, None),
        ({"threads": 16}, 16, 1),
        ({"threads": 16}, 15, 15 / 16),
        ({"threads": 15}, 16, 16 / 15),
        ({"threads": 15}, 15, 1),
    ],
)
def test_cores_are_held_against_a_ceiling_of_as_many(tmp_path, told, threads, share):
    policy = {"threads": threads} if threads else {}
    made = synthetic.record("m", "fang/table1", {}, "cpu-openmp", [1.0], policy=policy, work={"cpu_integer": 1e11})
    machine = load_machine(synthetic.write_records(tmp_path, "m", [made]))
    (record,) = machine.all_records
    for name in ("cpu_integer", "cpu_copy_bandwidth"):
        machine.environment["ceilings"][name] |= told
    percent = limits.percent(record, machine)
    assert percent == (pytest.approx(100 * 1e11 / (5e11 * share)) if share else None)
    assert limits.on_other_cores(record, machine) == (share is None)
    bandwidth = limits.ceiling(record, machine, "cpu_copy_bandwidth")
    assert bandwidth == (1e11 if share == 1 else None)  # not in proportion to the cores


def test_the_summary_says_where_the_cores_are_others(root, tmp_path):
    machine = load_machine(shutil.copytree(root / "results" / "cpu-only", tmp_path / "cpu-only"))
    one, other, *_ = (r for r in machine.all_records if r.implementation == "cpu-openmp")
    one.data["policy"]["threads"], other.data["policy"]["threads"] = 16, 3
    table = limits.summary_table(catalogue.open_catalogue(root).studies([machine]))
    assert limits.OTHER_CORES in table.notes


def test_one_sample_is_no_verdict(tmp_path):
    machine = load_machine(
        synthetic.write_records(
            tmp_path, "m", [synthetic.record("m", "fang/table1", {}, name, [t]) for name, t in (("gpu", 1), ("cpu", 5))]
        )
    )
    fast, slow = machine.all_records
    found = records.ratio(slow, fast)
    cell = tables.ratio_cell(found, "", ())
    assert (cell.text, cell.note, cell.kind) == ("5.00×", "", "")
    assert tables.tidy_ratio(found) == {"ratio": 5, "low": None, "high": None, "verdict": "few samples"}
    several = replace(found, low=4.9, high=5.1, samples=6)
    assert tables.verdict_of(replace(several, samples=5)) == "few samples"
    assert tables.ratio_cell(several, "", ()).text == "▲ 5.00×" and tables.verdict_of(several) == "faster"
    row, table = {"row": "r1"}, cells.Table("t", "t", [], [])
    assert speedups.add_speedup([], table, row, fast, slow) == 5
    assert table.tidy[0]["verdict"] == "few samples"
    assert cells.tidy_csv(table).splitlines()[1].startswith("r1,5,,,few samples")


def test_ratios_and_limits_for_programs_have_the_marks_of_both_sides(tmp_path):
    root = synthetic.make_root(tmp_path)
    case = {"load": 1, "states": 1024, "variables": 8, "possibilities": 1224}
    told = {"axis": "states", "at": [128, 320, 512], "to": 1024, "slope": 1e-5, "intercept": 0.0}
    made = [
        synthetic.record("m", "fang/table1", case, "gpu", [0.001], contended=[True], work={"integer": 1e9}),
        synthetic.record("m", "fang/table1", case, "cpu-openmp", [0.01], extrapolated=told),
    ]
    synthetic.write_records(tmp_path / "results", "m", made, "GPU")
    (study,) = (study for study in studies_of(root, "m") if study.name == "fang/table1")
    (row,) = speedups.speedup_table(study).tidy
    assert row["marks"] == "contended extrapolated"
    marks = {row["implementation"]: row["marks"] for row in limits.limits_table(study).tidy}
    assert marks == {"gpu": "contended", "cpu-openmp": "extrapolated"}


def test_one_sample_has_no_interval_in_the_table_of_times(tmp_path):
    root = synthetic.make_root(tmp_path)
    case = {"load": 1, "states": 1024, "variables": 8, "possibilities": 1224}
    made = [synthetic.record("m", "fang/table1", case, "gpu", [0.001])]
    synthetic.write_records(tmp_path / "results", "m", made, "GPU")
    (study,) = (study for study in studies_of(root, "m") if study.name == "fang/table1")
    table = tables.times_table(study)
    assert "interval" not in table.rows[0][column(table, "gpu")].title
    (row,) = (row for row in table.tidy if row["origin"] == "measured")
    assert (row["value"], row["low"], row["high"], row["samples"]) == (pytest.approx(1), None, None, 1)


def test_csv_traces_every_number(studies):
    rows = list(csv.DictReader(io.StringIO(cells.tidy_csv(tables.times_table(studies["fang/table2"])))))
    assert len(rows) == 24 + 12 * (5 + 2)
    assert all(row["record"] and float(row["value"]) > 0 for row in rows)


def test_latex_and_markdown(studies):
    table = tables.times_table(studies["fang/table1"])
    text = cells.latex(table)
    assert text.count(r"\\") == 14 and r"$|$X$|$" in text and "$^{e}$" in text
    assert len(cells.markdown(table).splitlines()) == 14


@pytest.mark.parametrize(
    ("start", "told"), [("2026-01-05T10:00:00Z", False), ("2026-01-05T10:00:01Z", True), ("", False)]
)
def test_a_speedup_of_runs_of_different_days_says_so(tmp_path, start, told):
    starts = {"gpu": "2026-01-04T10:00:00Z", "cpu-openmp": start}
    root = synthetic.make_root(tmp_path)
    made = [
        synthetic.record("m", "fang/scaling", case, name, [0.001], process={"pid": 1, "start": at})
        for name, at in starts.items()
        for case in ({"load": 1, "states": n, "variables": 8, "possibilities": 8} for n in (1, 16, 4096))
    ]
    synthetic.write_records(tmp_path / "results", "m", made, "GPU")
    (study,) = (study for study in studies_of(root, "m") if study.name == "fang/scaling")
    why = "Baseline and measured run are more than a day apart, between which a machine may change: "
    dates = "3 of 3 (baseline 2026-01-05, measured 2026-01-04)."
    notes = [note for note in speedups.speedup_table(study).notes if "a day apart" in note]
    assert notes == ([f"{why}GPU: gpu over cpu-openmp, {dates}"] if told else [])
    captions = [one.caption for one in plots.scaling_figures(study) if one.name.endswith("speedup")]
    assert captions and all(one.endswith(f" {why}GPU: gpu, {dates}") is told for one in captions)
