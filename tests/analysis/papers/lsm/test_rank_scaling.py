"""Experiments over ranks: speed-ups over one rank, and a network that is a model."""

import pytest
import synthetic_lsm
from vicinity_analysis.papers.lsm.ranks import IN_STEP
from vicinity_analysis.papers.lsm.views import VIEWS
from vicinity_analysis.views import rank_scaling
from worlds import GPU, studies_of, study_of

NAMES = ("ranks", "gpus", "gpus_tsp", "gpu_restarts")


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    root = synthetic_lsm.make_root(tmp_path_factory.mktemp("ranks"))
    records = [r for name in NAMES for r in synthetic_lsm.experiment("gpu-a", name)]
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    return studies_of(root, "gpu-a")


def lines(studies, name):
    return rank_scaling.lines(study_of(studies, f"lsm/{name}"), IN_STEP)


def test_lines_hold_all_but_the_ranks(studies):
    found = {(line.size, line.label): list(line.points) for line in lines(studies, "ranks")}
    assert found["m = 1301, n = 1317", "mpi-openmp, 1 thread"] == [1, 2, 4, 8, 16]
    assert found["m = 1301, n = 1317", "mpi-openmp, 4 threads"] == [1, 2, 4]
    assert found["m = 401, n = 417", "mpi-openmp, 1 thread"] == [1, 2, 4, 8, 16]
    assert {line.implementation for line in lines(studies, "gpu_restarts")} == {"mpi-chains", "mpi-gpu-chains"}


def test_the_speedup_is_over_one_rank_with_as_many_threads(studies):
    (line,) = (found for found in lines(studies, "gpus") if found.size == "m = 2601, n = 2617")
    speedups = line.speedups()
    assert speedups[1] == 1 and 1.9 < speedups[2] < 2.05 and 3.7 < speedups[4] < 4.05
    table = rank_scaling.scaling_table(study_of(studies, "lsm/gpus"))
    assert len(table.rows) == 20 and any(cell.text.startswith("3.") for cell in table.rows[-2])


def test_efficiency_is_the_speedup_of_a_rank(studies):
    rows = [row for row in rank_scaling.scaling_table(study_of(studies, "lsm/gpus")).tidy if "ranks" in row]
    assert all(
        row["efficiency"] == row["speedup"] / int(row["ranks"]) for row in rows if row["implementation"] == "mpi-gpu"
    )


def test_what_no_ranks_share_stands_once_for_each_size(studies):
    table = rank_scaling.scaling_table(study_of(studies, "lsm/gpus"))
    rows = [row for row in table.tidy if row["implementation"] == "gpu-tuned"]
    assert [row["m"] for row in rows] == ["401", "1301", "1701", "2601", "4201"] and not any(
        "ranks" in row for row in rows
    )
    (at,) = (index for index, column in enumerate(table.columns) if column.label.startswith("gpu-tuned"))
    assert [bool(row[at].text) for row in table.rows] == [True, False, False, False] * 5


def test_without_one_rank_there_is_no_speedup(studies):
    (line,) = (found for found in lines(studies, "gpus") if found.size == "m = 401, n = 417")
    without = rank_scaling.Line(line.machine, line.implementation, line.held, {2: line.points[2]})
    assert without.speedups() == {} and without.modelled() == {}


def test_a_modelled_network_ends_what_more_hosts_gain(studies):
    small, large = (
        next(found for found in lines(studies, "gpus") if found.size == size).modelled()
        for size in ("m = 401, n = 417", "m = 2601, n = 2617")
    )
    assert small[1] == large[1] == 1
    assert small[64] < small[8] < 8  # all-reduces take as long as the work
    assert large[64] > large[8] > 7.5
    assert not any(line.modelled() for line in lines(studies, "gpu_restarts"))  # no message in the loop


@pytest.mark.parametrize("name", NAMES)
def test_the_report_shows_a_table_and_a_figure(studies, name):
    study = study_of(studies, f"lsm/{name}")
    view = VIEWS[study.name](study, studies)
    (figure,) = view.figures
    assert "over one rank" in figure.caption and len(view.shown) == 1
    assert ("a model and not measured" in figure.caption) == (name != "gpu_restarts")


def test_nothing_measured_shows_nothing(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    synthetic_lsm.make_machine(root / "results", "gpu-a", list(synthetic_lsm.experiment("gpu-a", "precision")), GPU)
    study = study_of(studies_of(root, "gpu-a"), "lsm/gpus")
    assert rank_scaling.scaling_table(study) is None and rank_scaling.scaling_figure(study) is None


def test_one_process_is_measured_once_and_counts_for_all_ranks(tmp_path):
    root = synthetic_lsm.make_root(tmp_path)
    every = list(synthetic_lsm.experiment("gpu-a", "gpu_restarts"))
    once = [r for r in every if r["implementation"].startswith("mpi-") or r["case"]["ranks"] == 1]
    assert len(once) < len(every)
    for name, records in (("all", every), ("once", once)):
        synthetic_lsm.make_machine(root / "results", name, records, GPU)
    series = {
        name: {i: set(cases) for i, cases in study.series(study.machines[0]).items()}
        for name in ("all", "once")
        for study in [study_of(studies_of(root, name), "lsm/gpu_restarts")]
    }
    assert series["once"] == series["all"]


def over_gpus(tmp_path, change=lambda record: None):
    """The experiment with a GPU a rank; `gpu-tuned` takes a tenth of `mpi-gpu` on one rank at 50,000 cities, and as
    long at 10,000."""
    root = synthetic_lsm.make_root(tmp_path)
    records = list(synthetic_lsm.experiment("gpu-a", "gpus_tsp"))
    alone = {r["case"]["size"]: r["samples"]["wall"] for r in records if r["implementation"] == "mpi-gpu"}
    for record in records:
        ranks, size = record["case"]["ranks"], record["case"]["size"]
        if record["implementation"] == "mpi-gpu":
            times = [time * 8 / ranks for time in alone[size]]  # the last of them is of 8 ranks
            record |= {"policy": {"ranks": ranks, "devices": ranks}, "samples": {"wall": times, "kernel": times}}
        if record["implementation"] == "gpu-tuned":
            record["samples"] = {"wall": [time * (0.8 if size == 50000 else 8) for time in alone[size]]}
        change(record)
    synthetic_lsm.make_machine(root / "results", "gpu-a", records, GPU)
    studies = studies_of(root, "gpu-a")
    study = study_of(studies, "lsm/gpus_tsp")
    return next((n for n in VIEWS[study.name](study, studies).shown[0].notes if n.startswith("One GPU")), "")


def test_one_gpu_that_outdoes_several_is_told(tmp_path):
    told = over_gpus(tmp_path)
    assert "gpu-tuned does the same search sooner than several GPUs with mpi-gpu (size = 50000: " in told
    assert told.endswith(" by 8).") and "10000" not in told


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "another search"},
        {"status": "skipped", "message": "it does not fit", "samples": {}},
        {"extrapolated": {"axis": "iterations", "at": [1, 2, 3], "to": 10}},
    ],
)
def test_one_gpu_is_not_told_of_another_search_or_without_a_whole_run(tmp_path, change):
    assert not over_gpus(tmp_path, lambda r: r.update(change if r["implementation"] == "gpu-tuned" else {}))


def test_ranks_that_share_a_gpu_are_not_several(tmp_path):
    shared = {"policy": {"ranks": 2, "devices": 1}}
    assert not over_gpus(tmp_path, lambda r: r.update(shared if r["implementation"] == "mpi-gpu" else {}))
