"""The notebook of docs/: every cell runs on the recorded results and shows something."""

import ast
import json

import pandas as pd
import synthetic


def test_every_cell_runs(monkeypatch):
    monkeypatch.chdir(synthetic.REPOSITORY)
    notebook = json.loads((synthetic.REPOSITORY / "docs" / "records.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4 and not any(cell.get("outputs") for cell in notebook["cells"])
    names = {}
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "records.ipynb", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "records.ipynb", "eval"), names)
        assert isinstance(shown, pd.DataFrame) and not shown.empty, cell
