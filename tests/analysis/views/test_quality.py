import numpy as np
import pytest
import synthetic_sa
from matplotlib.figure import Figure
from vicinity_analysis import claims, quality_claims
from vicinity_analysis.__main__ import main
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, OPEN, PART
from vicinity_analysis.views import quality, quality_plots
from worlds import GPU, judge, studies_of, study_of


def pool(studies):
    return [study for study in studies if study.name.startswith("sa/quality")]


def world(tmp_path, records, gpu=GPU):
    root = synthetic_sa.make_root(tmp_path)
    synthetic_sa.make_machine(root / "results", "m", records, gpu)
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    records = [*synthetic_sa.quality("m", ["gpu-tuned"]), synthetic_sa.missing("m", "gpu-tuned")]
    few = {"tai100a": synthetic_sa.BEST["tai100a"]}
    records += synthetic_sa.quality("m", ["cpu-delta", "gpu-tuned"], few, seeds=1, experiment="sa/quality_times")
    return world(tmp_path_factory.mktemp("quality"), records)


@pytest.fixture(scope="module")
def studies(root):
    return studies_of(root, "m")


def row_of(table, instance, iterations):
    return next(row for row in table.rows if row[0].text == instance and row[1].text == f"{iterations:,}")


def cell(table, row, label):
    return row[next(index for index, column in enumerate(table.columns) if column.label == label)]


def test_gaps(studies):
    group = next(g for g in quality.groups(pool(studies)) if g.instance == "tai100a" and g.value("iterations") == 10**5)
    assert len(group.gaps) == 20 and group.best_known == 21052466
    assert np.mean(group.gaps) == pytest.approx(100 * (10**5) ** -0.3, rel=1e-4)
    assert group.hits == 0


def test_the_table_has_the_right_numbers(studies):
    table = quality.gap_table(study_of(studies, "sa/quality"), pool(studies))
    row = row_of(table, "tai100a", 10**6)
    mean = 100 * (10**6) ** -0.3
    values = [float(cell(table, row, label).text) for label in ("mean", "least", "median", "most")]
    assert values == pytest.approx([mean, 0.95 * mean, mean, 1.05 * mean], abs=2e-3)
    assert cell(table, row, "best known").text == "21,052,466" and cell(table, row, "reached").text == "0 of 20"
    assert cell(table, row_of(table, "tai20a", 10**7), "reached").text == "20 of 20"
    assert (
        cell(table, row, "cpu-delta").text == "25.5 ms, 1 seed"
        and "1 seed: m/sa/quality_times" in cell(table, row, "cpu-delta").title
    )
    assert cell(table, row_of(table, "tai20a", 10**6), "cpu-delta").marks == ("missing",)
    assert "20 seeds: " in cell(table, row, "gpu-tuned").title
    assert all(r["record"].startswith("m/sa/quality") for r in table.tidy)
    assert len(table.tidy) == 2 * 3 * 20 + 3


def test_a_missing_instance_is_said_with_its_reason(studies):
    table = quality.gap_table(study_of(studies, "sa/quality"), pool(studies))
    note = next(note for note in table.notes if note.startswith("sko100a"))
    assert "skipped: sko100a: no file sko100a.dat; looked in VICINITY_INSTANCES" in note
    assert not any(row[0].text == "sko100a" for row in table.rows)


def test_without_a_best_known_cost_there_is_no_gap(tmp_path):
    records = list(synthetic_sa.quality("m", ["gpu-tuned"], seeds=3, iterations=(10**5,)))
    for record in records:
        del record["counters"]["best_known"]
    studies = studies_of(world(tmp_path, records), "m")
    table = quality.gap_table(study_of(studies, "sa/quality"), pool(studies))
    assert cell(table, table.rows[0], "best known").text == "unknown" and cell(table, table.rows[0], "mean").text == "—"
    assert "cost" in cell(table, table.rows[0], "least").text


def test_the_gap_of_a_maximised_objective_lies_below_the_best_known(tmp_path):
    records = list(synthetic_sa.quality("m", ["gpu-tuned"], {"tai100a": 200}, seeds=3, iterations=(10**5,)))
    for record, objective in zip(records, (200, 190, 210), strict=True):
        record.update(objective=objective, objective_sense="maximise", best_known=200, counters={})
    (group,) = quality.groups(pool(studies_of(world(tmp_path, records), "m")))
    assert group.gaps == [0, 5, -5] and group.hits == 2 and group.best == 210


def test_an_extrapolated_run_has_no_quality(tmp_path):
    records = list(synthetic_sa.quality("m", ["gpu-tuned"], seeds=3, iterations=(10**5,)))
    for record in records:
        record["extrapolated"] = {"axis": "iterations", "at": 1000, "factor": 100}
    assert quality.groups(pool(studies_of(world(tmp_path, records), "m"))) == []


def test_samples_are_told_apart(tmp_path):
    records = []
    for samples in (1000, 10000):
        for record in synthetic_sa.quality(
            "m", ["gpu-tuned"], iterations=(10**6,), seeds=4, experiment="sa/temperatures"
        ):
            record["case"]["samples"] = samples
            record["case_key"] += f";samples={samples}"
            record["objective"] += samples
            records.append(record)
    study = study_of(studies_of(world(tmp_path, records), "m"), "sa/temperatures")
    table = quality.gap_table(study, [study])
    assert [column.label for column in table.columns[:3]] == ["instance", "I", "samples"] and len(table.rows) == 4
    assert len({cell(table, row, "mean").text for row in table.rows}) == 4


def test_longer_is_better(tmp_path, root):
    assert judge(root, "m")["longer-is-better"].verdict == HOLDS
    worse = world(tmp_path, synthetic_sa.quality("m", ["gpu-tuned"], {"tai100a": 21052466}, slope=0.05))
    assert judge(worse, "m")["longer-is-better"].verdict == FAILS


def test_a_gain_within_the_scatter_of_the_seeds_is_none(tmp_path):
    """The mean falls, since one seed gains much; the others lose."""
    records = list(synthetic_sa.quality("m", ["gpu-tuned"], {"tai100a": 21052466}, (10**5, 10**6), slope=0.0))
    for record in records:
        first, longer = record["case"]["seed"] == 0, record["iterations"] == 10**6
        record["objective"] = 21052466 + (300_000 if not longer else 0 if first else 310_000)
    judged = judge(world(tmp_path, records), "m")["longer-is-better"]
    assert (
        judged.verdict == FAILS
        and "1.43 % at 100,000, 1.40 % at 1,000,000 (20 seeds)" in judged.measured[0][1][0].numbers
    )


def test_four_seeds_are_too_few_to_compare_lengths(tmp_path):
    root = world(tmp_path, synthetic_sa.quality("m", ["gpu-tuned"], seeds=4))
    assert judge(root, "m")["longer-is-better"].verdict == OPEN


def test_medians_are_drawn_of_the_same_seeds_or_not_at_all(tmp_path):
    tai100a = {"tai100a": synthetic_sa.BEST["tai100a"]}
    records = list(synthetic_sa.quality("m", ["gpu-tuned", "gpu"], tai100a, (10**6,)))
    records += synthetic_sa.quality("m", ["cpu-delta"], tai100a, (10**6,), seeds=1, experiment="sa/quality_times")
    records += synthetic_sa.quality("m", ["cpu-serial"], tai100a, (10**6,), seeds=19, experiment="sa/quality_times")
    studies = pool(studies_of(world(tmp_path, records), "m"))
    (group,) = quality.groups(studies)
    complete = {name: group.complete("m", name) for name in ("gpu-tuned", "gpu", "cpu-delta", "cpu-serial")}
    assert complete == {"gpu-tuned": True, "gpu": True, "cpu-delta": False, "cpu-serial": False}
    drawn = {}
    for name in complete:
        plot = Figure().subplots()
        quality_plots._series(studies[0], plot, studies[0].machines[0], name, list(complete), [group])
        drawn[name] = [len(line.get_xdata()) for line in plot.lines]
    assert drawn["cpu-delta"] == [1, 0] and drawn["cpu-serial"] == [19, 0]  # dots; a line through no medians
    assert drawn["gpu"] == drawn["gpu-tuned"] == [20, 2, 1, 1]  # dots, quartiles, median, the line through it


def test_one_long_run_against_ten_short_ones(tmp_path, root):
    judged = judge(root, "m")["one-long-run"]
    assert judged.verdict == HOLDS and "tai100a, 10 runs of 100,000: 3.0" in judged.measured[0][1][0].numbers
    flat = world(tmp_path, synthetic_sa.quality("m", ["gpu-tuned"], {"tai100a": 21052466}, slope=-0.001))
    assert judge(flat, "m")["one-long-run"].verdict == FAILS


@pytest.mark.parametrize(
    ("above", "verdict", "told"),
    [
        (5_000, HOLDS, "one run better in 1 of 1, equal in 0"),
        (10_150, NOT_JUDGED, "one run better in 0 of 1, equal in 1"),
        (10_230, NOT_JUDGED, "one run better in 0 of 1, equal in 1"),
        (20_000, FAILS, "one run better in 0 of 1, equal in 0"),
    ],
)
def test_a_long_run_wins_beyond_the_scatter_alone(tmp_path, above, verdict, told):
    """The best of ten runs is 10191 above the best known in the mean over the choices."""
    records = list(synthetic_sa.quality("m", ["gpu-tuned"], {"tai100a": 21052466}, (10**5, 10**6)))
    for record in records:
        short = record["iterations"] == 10**5
        record["objective"] = 21052466 + (10_000 + 100 * (record["case"]["seed"] + 1) if short else above)
    (found,) = judge(world(tmp_path, records), "m")["one-long-run"].measured[0][1]
    assert (found.verdict, found.numbers.split(";")[0]) == (verdict, told)
    assert ("(equal)" in found.numbers) == (verdict == NOT_JUDGED)


def test_nine_seeds_are_too_few_to_choose_ten(tmp_path):
    root = world(tmp_path, synthetic_sa.quality("m", ["gpu-tuned"], seeds=9))
    assert judge(root, "m")["one-long-run"].verdict == OPEN


def test_expected_best_of_some():
    assert quality_claims.expected_best([3.0, 1.0, 2.0], 3) == 1.0
    assert quality_claims.expected_best([3.0, 1.0, 2.0], 1) == pytest.approx(2.0)
    assert quality_claims.expected_best([1.0, 2.0, 3.0], 2) == pytest.approx((1 + 1 + 2) / 3)


def test_verdicts_of_shares():
    assert [claims.shares(f) for f in ([True], [True, False], [False, False, True])] == [HOLDS, PART, FAILS]


def test_the_report_draws_everything_and_its_links_are_sound(tmp_path, tmp_path_factory):
    root = synthetic_sa.make_root(tmp_path / "root")
    synthetic_sa.make_machine(root / "results", "gpu-a", synthetic_sa.everything("gpu-a"), GPU)
    cpu = synthetic_sa.everything("cpu-only", synthetic_sa.CPU, seeds=12)
    synthetic_sa.make_machine(root / "results", "cpu-only", cpu, cores=2)
    outs = [tmp_path_factory.mktemp("out") for _ in range(2)]
    for out in outs:
        arguments = ["report", str(root / "results" / "cpu-only"), "--with", str(root / "results" / "gpu-a")]
        assert main([*arguments, "--root", str(root), "--out", str(out), "--check-links"]) == 0
    names = [p.relative_to(outs[0]) for p in sorted(outs[0].rglob("*")) if p.is_file()]
    assert [name for name in names if (outs[0] / name).read_bytes() != (outs[1] / name).read_bytes()] == []
    drawn = {p.stem for p in (outs[0] / "figures").glob("*.svg")}
    wanted = {"figure1-cpu-only", "figure1-gpu-a", "figure1-acceptance", "figure2-gpu-a", "crossover-gpu-a"}
    assert drawn == {f"sa-{name}" for name in (*wanted, "quality-cpu-only", "quality-gpu-a")}
    text = (outs[0] / "sa.html").read_text()
    for word in (
        "Dashed: NVIDIA H100",
        "no file sko100a.dat",
        "Shown with sa/quality",
        "one by one, and end at its cost",
        "numbers the paper",
    ):
        assert word in text, word


def test_query_speaks_sa(root, capsys):
    arguments = ["query", str(root / "results" / "m"), "--experiment", "sa/quality", "--implementation", "gpu-tuned"]
    assert main([*arguments, "--where", "instance=tai100a", "iterations=1e6", "seed=4"]) == 0
    out = capsys.readouterr().out
    assert "(wall, 1 sample, full" in out and "quality.jsonl:" in out


def test_a_variant_with_a_path_of_its_own_has_gaps_of_its_own(tmp_path):
    records = list(synthetic_sa.quality("m", ["gpu", "gpu-tuned", "cpu-delta"]))
    for found in records:
        if found["implementation"] == "cpu-delta":
            found |= {"implementation": "gpu-other", "objective": found["objective"] + 1000}
    studies = studies_of(world(tmp_path, records), "m")
    found = [g for g in quality.groups(pool(studies)) if g.instance == "tai100a" and g.value("iterations") == 10**5]
    names = [{name for _, name in group.records} for group in found]
    assert names == [{"gpu", "gpu-tuned"}, {"gpu-other"}] and found[1].value("search") == "gpu-other"
    assert found[1].best == found[0].best + 1000
    table = quality.gap_table(study_of(studies, "sa/quality"), pool(studies))
    assert any("path of its own" in note for note in table.notes)
