import pytest
import synthetic_alns
from synthetic_alns import PAPER
from vicinity_analysis.papers.alns import PAPER as ALNS
from vicinity_analysis.papers.alns import plots, tables
from vicinity_analysis.papers.alns.ratios import published_over_ours
from vicinity_analysis.papers.alns.spreads import TOTAL, instance_of, printed_of
from vicinity_analysis.views.cells import significant
from vicinity_analysis.views.figures import COMMON
from vicinity_analysis.views.quality import groups
from vicinity_analysis.views.usual import view_of
from worlds import GPU, column, studies_of, study_of


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    root = synthetic_alns.make_root(tmp_path_factory.mktemp("alns"))
    records = list(synthetic_alns.everything("gpu-a", model={"gpu": PAPER["gpu"], "cpu-serial": PAPER["cpu-serial"]}))
    few = [r for r in records if r["case"]["instance"] != "Li_25" or r["implementation"] == "gpu"]
    few += synthetic_alns.experiment("gpu-a", "table_b9", model={"gpu": PAPER["gpu"]})
    synthetic_alns.make_machine(root / "results", "gpu-a", few, GPU)
    synthetic_alns.make_machine(root / "results", "none", [], GPU)
    return studies_of(root, "gpu-a", "none")


def alns(studies, name):
    return study_of(studies, f"alns/{name}")


def row(table, instance):
    return next(cells for cells in table.rows if cells[0].text == instance)


def test_names():
    assert [instance_of(name) for name in ("CMT-14", "Li-1", "Li-12")] == ["CMT14", "Li_21", "Li_32"]
    assert instance_of("BHS-3") == "BHS-3" and instance_of("Total/Average") == TOTAL


def test_what_is_measured_is_not_grey():
    """Grey is what the paper prints."""
    styles = ALNS.notation.styles
    assert {"gpu-array", "gpu-genetic", "gpu-local-search", "cpu-hybrid", "gpu-hybrid"} == set(styles)
    for colour, _ in (*styles.values(), *COMMON.values()):
        assert len({colour[1:3], colour[3:5], colour[5:7]}) > 1, colour


def test_what_the_paper_prints(studies):
    printed = printed_of(alns(studies, "table2"))
    assert list(printed.requests("Li_").values())[:2] == [560, 600] and len(printed.requests("BHS")) == 10
    spread = printed.spread("Li_21", "pra-8", "time")
    assert (spread.mean, spread.least, spread.most, spread.deviation) == (16.05, 15.76, 16.56, 0.15)
    assert printed.best("Li_21").text == "16212.83"
    assert printed.find("Li_21", "gpu-alns", "time_ratio", "std", "pra-8", "Table B.8").text == "5.88"
    assert printed.find("Li_21", "gpu-alns", "time", "std") is None


def test_table_1(studies):
    table = tables.comparison_table(alns(studies, "table1"))
    first = row(table, "CMT2")
    assert [cell.text for cell in first[:4]] == ["CMT2", "CMT-2", "75", "835.26"]
    at = column(table, "error, %", "GPU-ALNS")
    assert [cell.text for cell in first[at : at + 6]] == ["0.29", "4.58", "0.08", "4.43", "0.21", "0.97"]
    ours = column(table, "error to BKS, %", "gpu")
    assert first[ours].text == "0.29" and "alns/table1.jsonl" in first[ours].title
    assert first[ours + 1].text == "1.01"  # the best known of the made-up records is a hundredth below
    seconds = float(first[ours + 2].text)
    assert first[ours + 3].text == f"{4.58 / seconds:.2f}×"
    assert len(table.tidy) == 28 and table.tidy[0]["seeds"] == 6


def test_totals_are_of_sums(studies):
    table = tables.comparison_table(alns(studies, "table1"))
    (total,) = table.footer
    at = column(table, "error, %", "GPU-ALNS")
    assert total[at].text == "0.27" and total[column(table, "τ")].text == "1.71"
    ours = column(table, "error to BKS, %", "gpu")
    assert total[ours].text == "0.27"  # the mean of the column is 0.22
    times = [entry["seconds"] for entry in table.tidy if entry["implementation"] == "gpu"]
    assert total[ours + 3].text == f"{68.27 / sum(times):.2f}×"


def test_no_total_where_an_instance_is_missing(studies):
    table = tables.comparison_table(alns(studies, "table2"))
    (total,) = table.footer
    ours = column(table, "error to BKS, %", "cpu-serial")
    assert total[ours].text == "" and "11 of 12" in total[ours].title
    assert row(table, "Li_25")[ours].text == "—"
    assert total[column(table, "error to BKS, %", "gpu")].text == "1.34"


def test_appendix_tables(studies):
    found = {table.title.split(":")[0]: table for table in tables.appendix_tables(alns(studies, "table2"))}
    assert list(found) == ["Table B.5", "Table B.6", "Table B.7", "Table B.8"]
    first = [cell.text for cell in row(found["Table B.8"], "Li_21")]
    assert first[:10] == ["Li_21", "560", "37.10", "28.68", "53.06", "6.03", "16.05", "15.76", "16.56", "0.15"]
    assert first[10:14] == ["0.43", "0.55", "0.31", "5.88"]
    costs = found["Table B.5"]
    records = [entry for entry in costs.tidy if entry["instance"] == "Li_21" and entry["implementation"] == "gpu"]
    assert records[0]["mean"] == pytest.approx(16293.05, abs=0.01)
    assert records[0]["least"] < records[0]["mean"] < records[0]["most"] and records[0]["sd"] > 0
    (total,) = costs.footer
    ours = column(costs, "mean", "gpu")
    assert float(total[ours].text.replace(",", "")) == pytest.approx(291736.13, abs=0.02)
    assert total[ours + 3].text == ""


def test_one_seed_is_a_mean_without_a_spread(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    every = list(synthetic_alns.experiment("m", "table1", model={"gpu": PAPER["gpu"]}))
    runs = [r for r in every if r["case"]["instance"] != "CMT2" or r["seeds"] == [1]]
    synthetic_alns.make_machine(root / "results", "m", runs, GPU)
    for table in tables.appendix_tables(alns(studies_of(root, "m"), "table1")):
        ours, (total,) = column(table, "mean", "gpu"), table.footer
        mean, *spread = (cell.text for cell in row(table, "CMT2")[ours : ours + 4])
        assert mean and spread == ["", "", ""]
        assert all(cell.text for cell in row(table, "CMT3")[ours : ours + 4])
        assert total[ours].text and [cell.text for cell in total[ours + 1 : ours + 4]] == ["", "", ""]
        (one,) = (entry for entry in table.tidy if entry["instance"] == "CMT2")
        assert (one["seeds"], one["least"], one["most"], one["sd"]) == (1, None, None, None)


def test_instances_like_bhs(studies):
    study = alns(studies, "table_b9")
    costs, times = tables.appendix_tables(study)
    assert (costs.title, times.title) == ("Table B.9: cost", "Table B.10: time, s")
    first = row(costs, "BHS-1")
    assert [cell.text for cell in first[:3]] == ["BHS-1", "1400", "43005.69"]  # and no BKS
    assert "bhs-like-1" not in first[0].text and "table_b9.jsonl" in first[column(costs, "mean", "gpu")].title
    assert any("never published" in note for note in costs.notes)
    assert not list(published_over_ours(study))  # other instances than the paper's
    view = view_of(study, studies, ALNS.views)
    assert [figure.title.split(":")[0] for figure in view.figures] == ["Figure 7", "Figure 8"]
    label = "published ÷ gpu (two machines)"
    curves = [c for name in ("table2", "table_b9") for c in plots.ratio_curves(alns(studies, name), "pra-8")]
    values = {c[0]: c[4] for c in plots.joined(curves)}
    assert {560, 4500} <= set(values["τ, published"]) and {560, 4500} <= set(values[label])


def test_time_to_the_papers_quality(tmp_path):
    def run(name, seed, steps):
        found = synthetic_alns.record("gpu-a", "anytime_gpu", "Li_21", name, seed, 60.0, steps[-1][1], 16212.74)
        found["trace"] = [
            {"seconds": s, "iterations": k, "objective": round(1000 * o), "digest": "0"}
            for k, (s, o) in enumerate(steps)
        ]
        found["protocol"] |= {"budget": {"seconds": 60.0, "target": None}}
        return found

    root = synthetic_alns.make_root(tmp_path)
    ours = [run("gpu-hybrid", 1, [(0.1, 17000), (2.0, 16293.054)]), run("gpu-hybrid", 2, [(0.1, 16200)])]
    ours += [run("gpu-hybrid", 3, [(0.1, 17000), (4.0, 16290)]), run("gpu", 1, [(0.1, 17000), (50.0, 16294)])]
    synthetic_alns.make_machine(root / "results", "gpu-a", ours, GPU)
    studies = studies_of(root, "gpu-a")
    table = tables.quality_table(alns(studies, "anytime"), studies)
    (cells,) = table.rows
    assert [cell.text for cell in cells[:3]] == ["Li_21", "16293.05", "37.10"]
    assert {column.label: cell.text for column, cell in zip(table.columns[3:], cells[3:], strict=True)} == {
        f"{GPU}, gpu-hybrid": "2.00",
        f"{GPU}, gpu": "—",
    }
    assert tables.quality_table(alns(studies, "anytime_x"), studies) is None


def test_figures(studies):
    for name, figures in (("table1", ["runtimes"]), ("table2", ["runtimes", "ratios"])):
        view = view_of(alns(studies, name), studies, ALNS.views)
        assert [figure.name for figure in view.figures] == [f"alns-{name}-{what}" for what in figures]
        assert len(view.shown) == 1 and "a ratio of two machines" in view.shown[0].notes[1]


def test_curves_of_figure_6(studies):
    curves = {label: values for label, *_, values in plots.ratio_curves(alns(studies, "table2"), "pra")}
    assert curves["τ, published"][560] == pytest.approx(72.34 / 37.10)
    assert 760 in curves["τ, published"] and 760 not in curves["cpu-serial ÷ gpu"]
    assert set(curves) == {"τ, published", "published ÷ gpu (two machines)", "cpu-serial ÷ gpu"}
    assert f"Measured: {GPU}." in plots.ratio_figure(alns(studies, "table2")).caption


def test_what_is_published_shows_where_nothing_is_measured(studies, tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    synthetic_alns.make_machine(root / "results", "none", [], GPU)
    empty = studies_of(root, "none")
    view = view_of(alns(empty, "table2"), empty, ALNS.views)
    assert [len(table.rows) for table in (*view.shown, *view.folded)] == [12] * 5
    assert len(view.figures) == 2 and any("Not measured" in note for note in view.shown[0].notes)


def test_the_front_page_divides_by_the_papers_card(studies):
    study = alns(studies, "table1")
    found = {(ratio.implementation, dict(ratio.key)["instance"]): ratio for ratio in published_over_ours(study)}
    table = tables.comparison_table(study)
    ratio = found["gpu", "CMT1"]
    shown = row(table, "CMT1")[column(table, "GPU-ALNS ÷ ours", ", gpu")].text
    assert shown == f"{significant(ratio.value)}×" and ratio.key in study.series(ratio.machine)["gpu"]


def rounded(root, cost):
    """A run on CMT1, whose best known cost is 524.61."""
    found = synthetic_alns.record("gpu-a", "anytime_cmt_gpu", "CMT1", "gpu-hybrid", 1, 5.0, cost, 524.61)
    found |= {"best_known": 524611}
    found["trace"] = [{"seconds": 0.1, "iterations": 1, "objective": round(1000 * cost), "digest": "0"}]
    found["protocol"] |= {"budget": {"seconds": 5.0, "target": None}}
    synthetic_alns.make_machine(root / "results", "gpu-a", [found], GPU)
    return studies_of(root, "gpu-a")


@pytest.mark.parametrize(("cost", "time", "gap", "hits"), [(524.612, "0.100", "0.000", 1), (524.7, "—", "0.017", 0)])
def test_costs_are_compared_to_the_digits_that_are_printed(tmp_path, cost, time, gap, hits):
    root = synthetic_alns.make_root(tmp_path)
    studies = rounded(root, cost)
    view = view_of(alns(studies, "anytime_cmt"), studies, ALNS.views)
    soon, medians = view.shown
    assert soon.rows[0][-1].text == time and medians.rows[0][-1].text == gap
    (group,) = groups([alns(studies, "anytime_cmt_gpu")])
    assert group.hits == hits


def test_the_best_known_cost_is_that_of_any_experiment(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    studies = rounded(root, 524.612)
    table = tables.comparison_table(alns(studies, "table1"), studies)
    at = column(table, "best known", "today")
    assert [cells[at].text for cells in table.rows[:2]] == ["524.61", "—"]


def test_contention_marks_times_and_no_costs(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    model = {"gpu": PAPER["gpu"]}
    records = list(synthetic_alns.experiment("gpu-a", "table1", model=model, contended=[True]))
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    study = alns(studies_of(root, "gpu-a"), "table1")
    cells = tables.comparison_table(study).rows[0][-4:]
    assert [cell.marks for cell in cells] == [(), (), ("contended",), ("contended",)]
    totals = tables.comparison_table(study).footer[0][-4:]
    assert [cell.marks for cell in totals] == [(), (), ("contended",), ("contended",)]
    costs, times = tables.appendix_tables(study)
    assert costs.rows[0][-1].marks == () and times.rows[0][-1].marks == ("contended",)
    assert costs.footer[0][-4].marks == () and times.footer[0][-4].marks == ("contended",)


def test_columns_say_on_how_many_cores_they_ran(tmp_path):
    root = synthetic_alns.make_root(tmp_path)
    records = []
    for threads, instances in ((8, ("CMT1", "CMT2")), (16, ("CMT3",))):
        model = {"cpu-openmp": PAPER["cpu-serial"], "gpu": PAPER["gpu"]}
        made = synthetic_alns.experiment("gpu-a", "table1", model=model, policy={"threads": threads})
        records += [record for record in made if record["case"]["instance"] in instances]
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    groups = {column.group for column in tables.comparison_table(alns(studies_of(root, "gpu-a"), "table1")).columns}
    assert {f"{GPU}, cpu-openmp on 8 to 16 cores", f"{GPU}, gpu"} <= groups


def test_lines_a_second_over_gpus(tmp_path):
    """The same lines shared, and as many a GPU."""
    root = synthetic_alns.make_root(tmp_path)
    runs = {(2048, 1): 3.0, (2048, 2): 2.0, (4096, 2): 3.1}

    def record(lines, ranks, seconds):
        case = {"processes": lines, "calls": 60, "ranks": ranks, "gpus": "own"}
        return synthetic_alns.record("gpu-a", "gpus", "Li_22", "mpi-gpu-islands", 1, seconds, 1e6, 1e6, case=case)

    synthetic_alns.make_machine(root / "results", "gpu-a", [record(*case, time) for case, time in runs.items()], GPU)
    view = view_of(alns(studies_of(root, "gpu-a"), "gpus"), [], ALNS.views)
    table = next(table for table in view.shown if table.name.endswith("lines"))
    shown = [
        [cells[column(table, label)].text for cells in table.rows]
        for label in ("lines", "over one GPU", "efficiency, %")
    ]
    assert shown == [["2048", "2048", "4096"], ["1.00", "—", "1.94"], ["100.0", "—", "96.8"]]
    assert table.tidy[0]["lines_a_second"] == 2048 * 60 / 3
