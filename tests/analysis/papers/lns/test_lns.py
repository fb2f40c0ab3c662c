import pytest
import synthetic_lns
from vicinity_analysis.papers.lns import PAPER
from vicinity_analysis.papers.lns.printed import maxima, why_impossible
from vicinity_analysis.papers.lns.tables import quality_table, results_table
from vicinity_analysis.views.headline import headline_of
from vicinity_analysis.views.speedups import speedup_table
from vicinity_analysis.views.usual import view_of
from worlds import GPU, column, studies_of, study_of


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    root = synthetic_lns.make_root(tmp_path_factory.mktemp("lns"))
    records = list(synthetic_lns.everything("gpu-a", value=1.01))
    few = [r for r in records if r["case"].get("instance") != "esc64a" or r["implementation"] == "gpu"]
    synthetic_lns.make_machine(root / "results", "gpu-a", few, GPU)
    return studies_of(root, "gpu-a")


def lns(studies, name):
    return study_of(studies, f"lns/{name}")


def row(table, name):
    return next(cells for cells in table.rows if cells[0].text == name)


def test_times_and_speedups_stand_beside_the_printed_ones(studies):
    view = view_of(lns(studies, "table1"), studies, PAPER.views)
    times = view.shown[0]
    assert len(times.rows) == 6
    last = [cell.text for cell in times.rows[-1]]
    assert last[:3] == ["30", "100", "100"] and {"8.683", "0.820"} <= set(last)
    assert [column.label for column in times.columns[:3]] == ["|N|", "t", "m"]


def test_speedups_are_of_the_seeds_that_both_have(tmp_path):
    """In the table and on the front page; a time is still that of all its seeds."""
    root = synthetic_lns.make_root(tmp_path)
    records = [*synthetic_lns.times("gpu-a", "table2", lambda case, ratio: 4.0)]
    records = [r | {"implementation": "cpu-openmp"} for r in records if r["implementation"] != "gpu"] + records
    records += list(synthetic_lns.further_seeds(records))
    records += [r | {"implementation": "gpu-tuned"} for r in records if r["implementation"] == "gpu"]
    synthetic_lns.make_machine(root / "results", "gpu-a", records, GPU)
    study = study_of(studies_of(root, "gpu-a"), "lns/table2")
    table = speedup_table(study)
    for label in ("gpu over cpu-serial", "gpu-tuned over cpu-openmp"):
        assert {cells[column(table, label)].text for cells in table.rows} == {"4.00×"}, label
    assert headline_of([study], PAPER.ratios).split.cores == pytest.approx(4)
    key, gpu = next(iter(study.series(study.machines[0])["gpu"].items()))
    cpu = study.series(study.machines[0])["cpu-serial"][key]
    assert gpu.typical() == pytest.approx((1 + 4 * 1.5) / 5 * cpu.typical() / 4)


def test_every_row_of_table_2_is_a_case(studies):
    study = lns(studies, "table2")
    cases = [dict(case) for case in study.descriptor.cases]
    for key in maxima(study.statements):
        assert any(dict(key).items() <= case.items() for case in cases), key
    assert len(maxima(study.statements)) == 36


def test_every_row_of_table_1_is_a_case(studies):
    study = lns(studies, "table1")
    cases = [dict(case) for case in study.descriptor.cases]
    assert all(any(dict(key).items() <= case.items() for case in cases) for key in study.published.rows.values())


def test_quality_of_table_2(studies):
    table = quality_table(lns(studies, "table2"))
    assert len(table.rows) == 36
    first = table.rows[0]
    assert [cell.text for cell in first[:5]] == ["RL", "20", "1", "1", "22828"]
    assert first[column(table, "objective", "gpu")].text == f"{round(1.01 * 22828):,}"
    assert first[column(table, "÷ printed", "gpu")].text == "1.010"
    assert [c.group for c in table.columns if c.label == "objective"] == [f"{GPU}, gpu"]  # cpu-serial finds the same
    assert f"The same on {GPU}, seed by seed: cpu-serial." in table.notes
    assert next(cells for cells in table.rows if cells[0].text == "2P")[column(table, "÷ printed")].text == ""
    assert {entry["implementation"] for entry in table.tidy} == {"gpu", "cpu-serial"}
    permuted = next(cells for cells in table.rows if cells[0].text == "RP")
    assert permuted[4].note == "impossible" and "12211" in permuted[4].title
    assert not any(cells[4].note for cells in table.rows if cells[0].text not in ("RP", "2P"))
    assert sum("Impossible:" in note for note in table.notes) == 1
    assert view_of(lns(studies, "table2"), studies, PAPER.views).shown[0].name == table.name


def test_results_of_table_3(studies):
    table = results_table(lns(studies, "table3"))
    assert [cells[1].text for cells in table.rows] == ["transportation", "tsp-ulysses16", "knapsack-100", "coins-grid"]
    first = row(table, "Transportation")
    at = column(table, "first", "GPU-LNS")
    assert [cell.text for cell in first[at : at + 3]] == ["7600", "5332 (56)", "57.89"]
    assert first[at + 1].note == "impossible" and "6600" in first[at + 1].title
    assert first[2].text == "6,600"
    ours = column(table, "first", "gpu")
    assert [cell.text for cell in first[ours : ours + 3]] == ["7,600", "6,620.0 (16.3)", "2.00"]
    tsp = row(table, "TSP")
    assert tsp[at + 1].note == tsp[column(table, "best (sd)", "JaCoP")].note == "impossible"
    assert not any(cell.note for cell in row(table, "Coins_grid"))
    assert any("Knapsack" in note for note in table.notes)


def test_results_of_table_4(studies):
    table = results_table(lns(studies, "table4"))
    assert row(table, "QAP q=15 (unnamed)")[column(table, "best (sd)", "GPU-LNS")].note == "impossible"
    large = row(table, "QAP q=64 (unnamed)")
    assert large[column(table, "time, s", "cpu-openmp")].text == "—"
    assert large[column(table, "best (sd)", f"{GPU}, gpu")].text == "120.0 (1.6)"
    assert not any(c.label == "first" and "cpu-openmp" in c.group for c in table.columns)  # the same as gpu
    assert [c.main for c in table.columns if "GPU-LNS" in c.group] == [True] * 3
    assert f"Seeds of an instance on {GPU}: 3." in table.notes
    assert any(entry["instance"] == "esc64a" and entry["seeds"] == 3 for entry in table.tidy)


def test_only_what_cannot_be_is_marked(studies):
    marked = [
        (o.place, o.row_key)
        for name in ("table2", "table3", "table4")
        for o in lns(studies, name).statements
        if why_impossible(o)
    ]
    assert [key for key in marked if key[0] != "Table 2"] == [
        ("Table 3", "r02"),
        ("Table 3", "r05"),
        ("Table 3", "r06"),
        ("Table 4", "r04"),
    ]
    assert len([key for key in marked if key[0] == "Table 2"]) == 12


def test_an_implementation_that_finds_another_solution_has_columns_of_its_own(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    records = list(synthetic_lns.results("gpu-a", "table4"))
    other = next(r for r in records if r["implementation"] == "cpu-openmp" and r["case"]["instance"] == "esc32a")
    other["objective"] += 1
    synthetic_lns.make_machine(root / "results", "gpu-a", records, GPU)
    table = results_table(lns(studies_of(root, "gpu-a"), "table4"))
    groups = [c.group for c in table.columns if c.label == "best (sd)"]
    assert groups[-2:] == [f"{GPU}, gpu", f"{GPU}, cpu-openmp"]


def test_a_printed_time_of_other_work_counts_nowhere(studies):
    first, second = lns(studies, "table1"), lns(studies, "table2")
    view = view_of(second, studies, PAPER.views)
    ratios = next(table for table in view.folded if table.name.endswith("-ratios"))
    at = column(ratios, "gpu vs GTX TITAN")
    marked = [[cell.text for cell in cells[:4]] for cells in ratios.rows if "unlike" in cells[at].marks]
    assert {row[0] for row in marked} == {"RP", "2P", "GS", "ICM", "RL"}
    assert [row for row in marked if row[0] == "RL"] == [["RL", "20", "1", "1"], ["RL", "30", "1", "1"]]
    times = next(table for table in view.shown if table.name.endswith("-times"))
    row_of_rp = next(cells for cells in times.rows if cells[0].text == "RP")
    assert row_of_rp[column(times, "gpu")].beside.endswith("× other work")
    assert sum(note.startswith("Other work:") for note in times.notes) == 3
    found = headline_of([first, second], PAPER.ratios).bars[0]
    assert (len(found.ratios), found.unlike) == (4 + 10, 2 + 26)  # without one starting point; of Table 2 RL and CE
    assert "28 of other work left out" in found.spread


def test_a_worse_objective_is_other_work(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    synthetic_lns.make_machine(root / "results", "gpu-a", list(synthetic_lns.times("gpu-a", "table2", value=0.9)), GPU)
    found = headline_of([lns(studies_of(root, "gpu-a"), "table2")], PAPER.ratios).bars[0]
    assert found.value is None and found.unlike == 36 and found.text == "36 cases, none to be compared"


def test_searches_on_the_models_and_on_the_qap_have_figures_of_their_own():
    assert set(PAPER.pools) == {"lns/anytime", "lns/anytime_qap"}
    assert not any("qap" in name for name in PAPER.pools["lns/anytime"])
    assert all("qap" in name for name in PAPER.pools["lns/anytime_qap"])


def test_contention_marks_times_and_no_solutions(tmp_path):
    root = synthetic_lns.make_root(tmp_path)
    records = list(synthetic_lns.results("gpu-a", "table4", contended=[True]))
    synthetic_lns.make_machine(root / "results", "gpu-a", records, GPU)
    table = results_table(lns(studies_of(root, "gpu-a"), "table4"))
    at = [i for i, c in enumerate(table.columns) if c.group == f"{GPU}, gpu"]
    assert [table.rows[0][i].marks for i in at] == [(), (), ("contended",)]
