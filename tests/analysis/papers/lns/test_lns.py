import pytest
import synthetic_lns
from vicinity_analysis.papers.lns import PAPER
from vicinity_analysis.papers.lns.printed import maxima, why_impossible
from vicinity_analysis.papers.lns.tables import quality_table, results_table
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
    assert first[column(table, "mean", "gpu")].text == f"{round(1.01 * 22828):,}"
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
    assert large[column(table, "best (sd)", "cpu-openmp")].text == "—"
    assert large[column(table, "best (sd)", "gpu")].text == "120.0 (1.6)"
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
