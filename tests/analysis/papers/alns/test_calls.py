"""Kernel calls at the stop, and what one took on the paper's card if it made as many."""

import pytest
import synthetic_alns
from synthetic_alns import PAPER
from vicinity_analysis.papers.alns.calls import FOLLOWS, calls_table
from vicinity_analysis.papers.alns.views import VIEWS
from worlds import GPU, studies_of, study_of


def table_of(root, *names, instances=None):
    synthetic_alns.make_root(root)
    records = [
        record | {"iterations": 100 + 10 * record["seeds"][0], "samples": {"wall": [1.35]}}
        for record in synthetic_alns.experiment(
            "gpu-a", "table1", model={name: PAPER[name] for name in names}, instances=instances
        )
    ]
    synthetic_alns.make_machine(root / "results", "gpu-a", records, GPU)
    studies = studies_of(root, "gpu-a")
    study = study_of(studies, "alns/table1")
    return study, studies, calls_table(study)


def test_calls_are_the_mean_over_the_seeds_and_the_published_time_is_over_them(tmp_path):
    study, studies, table = table_of(tmp_path, "gpu", "cpu-serial")
    assert table in VIEWS[study.name](study, studies).folded
    assert len(table.rows) == 14 and len(table.columns) == 3 + 4  # of gpu alone
    cmt11 = next(row for row in table.rows if row[0].text == "CMT11")
    assert [cell.text for cell in cmt11] == ["CMT11", "120", "4.13", "135", "10.0", "30.6", "3.06×"]
    assert cmt11[3].title.startswith("110 to 160 over 6 seeds; ")
    assert "published time over our calls 3.70 ms to 78.7 ms" in " ".join(table.notes) and FOLLOWS in table.notes
    (row,) = (row for row in table.tidy if row["instance"] == "CMT11")
    assert row["published_milliseconds_if_as_many"] == pytest.approx(4130 / 135)


def test_an_instance_without_a_run_has_no_calls(tmp_path):
    _, _, table = table_of(tmp_path, "gpu", instances=["CMT1"])
    assert [len(table.tidy), table.rows[1][3].text] == [1, "—"]


def test_without_gpu_there_is_no_table(tmp_path):
    assert table_of(tmp_path, "cpu-serial")[2] is None
