"""Chains over ranks: what the report shows of them."""

import synthetic_sa
from vicinity_analysis.papers.sa.views import VIEWS
from worlds import GPU, studies_of, study_of


def test_chains_over_ranks_have_a_table_and_a_figure_without_a_model(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    case = {"size": 100, "chains": 64, "iterations": 1_000_000, "threads": 1}
    records = [
        synthetic_sa.run("gpu-a", "sa/ranks", name, case | {"ranks": ranks}, [seconds] * 5)
        for ranks in (1, 2, 4)
        for name, seconds in (("cpu-openmp", 4.0), ("mpi-chains", 4.0 / ranks))
    ]
    synthetic_sa.make_machine(root / "results", "gpu-a", records, GPU)
    studies = studies_of(root, "gpu-a")
    study = study_of(studies, "sa/ranks")
    view = VIEWS[study.name](study, studies)
    (table,), (figure,) = view.shown, view.figures
    assert [row["speedup"] for row in table.tidy if "speedup" in row] == [1, 2, 4]
    assert "over one rank" in figure.caption and "model" not in figure.caption


def test_what_stands_beside_many_ranks_counts_once_and_speed_ups_are_of_one_build(tmp_path):
    root = synthetic_sa.make_root(tmp_path)
    case = {"size": 100, "chains": 64, "iterations": 1_000_000, "threads": 1}
    contended = {"contended": [False, True, True]}
    records = [synthetic_sa.run("gpu-a", "sa/ranks", "cpu-openmp", case, [1.0, 4.0, 4.0], **contended)]
    for ranks, sources in ((1, "a"), (2, "b"), (4, "a")):
        run = synthetic_sa.run("gpu-a", "sa/ranks", "mpi-chains", case | {"ranks": ranks}, [4.0 / ranks] * 3)
        records.append(run | {"sources": 16 * sources})
    synthetic_sa.make_machine(root / "results", "gpu-a", records, GPU)
    studies = studies_of(root, "gpu-a")
    study = study_of(studies, "sa/ranks")
    (table,) = VIEWS[study.name](study, studies).shown
    assert [row["speedup"] for row in table.tidy if "speedup" in row] == [1, None, 4]
    (alone,) = (row for row in table.tidy if row.get("implementation") == "cpu-openmp")
    assert (alone["seconds"], alone["marks"]) == (4.0, "contended")
