"""Tables on a page: what is in sight, what is folded, what goes into the caption."""

from pathlib import Path

import synthetic
from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.views.cells import Cell, Column, Table
from vicinity_analysis.views.layout import PRINTED, WIDEST, layout_of, nearby, width_of
from vicinity_analysis.views.tables import times_table
from worlds import studies_of, study_of

H100, H200 = (Machine(Path(name), {"gpu": {"name": name}}, []) for name in ("H100", "H200"))


def table(columns, rows=3, text="12.3"):
    return Table("t", "T", columns, [[Cell(f"{text}{row}") for _ in columns] for row in range(rows)])


def labels(made, piece):
    return [made.columns[index].label for index in piece.columns]


def test_the_own_machine_and_the_papers_fastest_device_are_in_sight():
    columns = [
        Column("N", kind="param"),
        Column("old card", "published, s"),
        Column("new card", "published, s", main=True),
    ]
    columns += [Column("gpu", "H100, s"), Column("gpu", "H200, s")]
    made = table(columns)
    shown, *folded = layout_of(made, [H100, H200]).pieces
    assert shown.title == "" and labels(made, shown) == ["N", "new card", "gpu"] and shown.columns[-1] == 3
    assert {piece.title: labels(made, piece) for piece in folded} == {PRINTED: ["N", "old card"], "H200": ["N", "gpu"]}


def test_every_column_stands_somewhere(root):
    for study in studies_of(root, "gpu-a", "gpu-b", "cpu-only"):
        made = times_table(study)
        layout = layout_of(made, study.machines)
        shown = {index for piece in layout.pieces for index in piece.columns}
        assert len(shown) + len(layout.constants) == len(made.columns)


def test_without_the_own_machine_another_is_in_sight_then_the_print():
    columns = [Column("N", kind="param"), Column("card", "published, s"), Column("gpu", "H200, s")]
    assert labels(table(columns), layout_of(table(columns), [H100, H200]).pieces[0]) == ["N", "gpu"]
    assert labels(table(columns[:2]), layout_of(table(columns[:2]), [H100]).pieces[0]) == ["N", "card"]


def test_what_all_rows_say_goes_into_the_caption():
    made = table([Column("load", kind="param"), Column("N", kind="param"), Column("gpu", "H100")])
    for row in made.rows:
        row[0] = Cell("1", kind="param")
    layout = layout_of(made, [H100])
    assert layout.constants == (("load", "1"),) and labels(made, layout.pieces[0]) == ["N", "gpu"]
    made.rows[1][0] = Cell("1", kind="param", marks=("extrapolated",))
    assert layout_of(made, [H100]).constants == ()
    assert layout_of(table(made.columns, rows=1), [H100]).constants == ()


def test_a_fold_is_called_by_the_groups_that_begin_in_it():
    groups = ["H100, gpu"] * 6 + ["H100, gpu-tuned"] * 6 + ["H100, cpu-openmp"] * 9
    made = table([Column("N", kind="param"), *(Column("time", group) for group in groups)], text="123,456,789.")
    titles = [piece.title for piece in layout_of(made, [H100]).pieces]
    assert titles[:2] == ["", "H100, gpu-tuned"] and titles[-1] == "further columns"


def test_no_piece_is_wider_than_the_page():
    made = table([Column("N", kind="param"), *(Column(f"gpu-{k}", "H100") for k in range(40))], text="123,456,789.")
    pieces = layout_of(made, [H100]).pieces
    assert len(pieces) > 3 and [piece.title for piece in pieces[:2]] == ["", "further columns"]
    for piece in pieces:
        assert sum(width_of(made, index) for index in piece.columns) <= WIDEST and piece.columns[0] == 0


def test_a_table_of_nothing(tmp_path):
    assert layout_of(Table("t", "T", [], []), [H100]).pieces == ()
    root = synthetic.make_root(tmp_path / "root", {"table1": synthetic.TABLE1})
    synthetic.make_machine(root / "results", "m", "GPU", experiments={"table1": synthetic.TABLE1})
    study = study_of(studies_of(root, "m"), "fang/table1")
    assert [piece.title for piece in layout_of(times_table(study), study.machines).pieces] == ["", PRINTED]


def test_titles_leave_out_the_folder_that_the_head_names():
    machines = [H100, Machine(Path("h100-x2"), {"gpu": {"name": "H100"}, "machine": "h100-x2"}, [])]
    title = "data/published/a.csv:1 ÷ H100/lsm/a.jsonl:2 (full, 3 samples)"
    assert nearby(title, Column("gpu", "H100, s"), machines) == "a.csv:1 ÷ lsm/a.jsonl:2 (full, 3 samples)"
    assert nearby(title, Column("gpu"), machines) == "a.csv:1 ÷ H100/lsm/a.jsonl:2 (full, 3 samples)"
    assert nearby("h100-x2/lsm/a.jsonl:2", Column("gpu", "H100, s"), machines) == "h100-x2/lsm/a.jsonl:2"
