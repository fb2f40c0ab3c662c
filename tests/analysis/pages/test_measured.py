import re

import pytest
import synthetic
from vicinity_analysis.__main__ import main
from vicinity_analysis.catalogue import open_catalogue
from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.records import load_machine
from vicinity_analysis.pages import measured
from vicinity_analysis.paper import Paper
from vicinity_analysis.views.quantities import THREADS, MeasuredTable, Row, time_in

PAGE = synthetic.REPOSITORY / "docs" / "measured.md"


def test_the_page_is_what_the_records_say(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    folders = synthetic.published_machines()
    assert len(folders) >= 2
    assert main(["measured", "--out", str(tmp_path / "page.md"), *map(str, folders)]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text, "docs/measured.md is not that of results/"


def test_machines_with_the_papers_tables_have_limits_to_hold_them_against():
    machines = [load_machine(folder) for folder in synthetic.published_machines()]
    found = [machine for machine in machines if machine.of("fang/table1")]
    assert len(found) >= 2
    assert not [machine.name for machine in found if not machine.environment.get("ceilings")]


def page(root, table, folder=None):
    known = open_catalogue(root)
    papers = {"fang": Paper("fang", "A paper", measured=(table,))}
    return measured.page(type(known)(root, papers), [load_machine(folder or root / "results" / "gpu-a")])


def test_cells_have_machine_implementation_and_marks(root):
    case = {"states": 4096, "variables": 32, "possibilities": 9800}
    rows = (Row(("largest",), "fang/table1", case),)
    names = ("cpu-serial", "gpu-tuned", "nobody")
    text = page(root, MeasuredTable("Times", ("case",), rows, names, (time_in("ms"),), ("Core i9 7940X",), "ms"))
    head, _, line = text[text.index("| case") :].splitlines()[:3]
    assert "published: i9 7940X, ms" in head and "H100 80GB HBM3: `gpu-tuned`" in head
    assert re.fullmatch(r"\| largest \| 336 \| \d+<sup>e</sup> \| 1\.4\d \| — \|", line)
    assert "Records: gpu-a/fang/table1.jsonl:56,60." in text and "<sup>e</sup> extrapolated" in text


def test_with_several_quantities_a_row_an_implementation(root):
    rows = (Row(("small",), "fang/table1", {"states": 1024, "variables": 8, "possibilities": 1224}),)
    text = page(root, MeasuredTable("Times", ("case",), rows, ("gpu", "nobody"), (time_in("us"), THREADS)))
    assert "| case | implementation | H100 80GB HBM3: us | H100 80GB HBM3: threads |" in text
    assert text.count("| small |") == 1 and "| small | `gpu` |" in text


def test_a_value_that_was_skipped_says_why(root, tmp_path):
    case = {"states": 4096, "variables": 32, "possibilities": 9800}
    records = [
        synthetic.record("gpu-b", "fang/table1", case, "gpu-tuned", [1e-3] * 5),
        synthetic.record("gpu-b", "fang/table1", case, "cpu-serial", [1.0])
        | {"status": "skipped", "message": "it may take <b>4116 s"},
    ]
    folder = synthetic.write_records(tmp_path / "results", "gpu-b", records, "NVIDIA B")
    rows = (Row(("largest",), "fang/table1", case),)
    text = page(root, MeasuredTable("Times", ("case",), rows, ("gpu-tuned", "cpu-serial"), (time_in("ms"),)), folder)
    assert re.search(r"^\| largest \| 1\.00 \| skipped \|$", text, re.MULTILINE)
    assert "\n\n- largest, cpu-serial on NVIDIA B: skipped: it may take &lt;b>4116 s.\n\nRecords: " in text


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Row(("x",), "fang/table1", {"states": 1024}), "means 6 cases"),
        (Row(("x",), "fang/nothing", {}), "no experiment fang/nothing"),
    ],
)
def test_a_row_is_one_case(root, row, message):
    with pytest.raises(InputError, match=message):
        page(root, MeasuredTable("Times", ("case",), (row,), ("gpu",), (time_in("ms"),)))
