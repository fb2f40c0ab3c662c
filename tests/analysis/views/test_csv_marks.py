"""Whoever reads a table's CSV is told what its reader on a page is: which values are contended."""

import pytest
import synthetic_alns
import synthetic_lns
import synthetic_lsm
import synthetic_sa
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from vicinity_analysis import catalogue
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.views.usual import view_of
from worlds import GPU

MADE = {"alns": synthetic_alns, "lns": synthetic_lns, "lsm": synthetic_lsm, "sa": synthetic_sa}


@pytest.mark.parametrize("system", MADE)
def test_a_csv_has_the_marks_of_its_table(tmp_path, monkeypatch, system):
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)  # tables are asked for, not figures
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
    made = MADE[system]
    made.make_root(tmp_path)
    lines = list(made.everything("gpu-a"))
    for line in lines:
        line["contended"] = [True] * len(next(iter(line.get("samples", {}).values()), []))
    made.make_machine(tmp_path / "results", "gpu-a", lines, GPU)
    known = catalogue.open_catalogue(tmp_path)
    studies = known.studies([load_machine(tmp_path / "results" / "gpu-a")])
    views = [view_of(study, studies, known.papers[system].views) for study in studies]
    every = [table for view in views for table in view.shown + view.folded]
    marked = {table.name: table.tidy for table in every if "contended" in table.marks() and table.tidy}
    assert len(marked) > 2
    assert [name for name, rows in marked.items() if not any("contended" in row.get("marks", "") for row in rows)] == []
