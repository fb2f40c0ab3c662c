import pytest
from vicinity_analysis import scaling
from vicinity_analysis.load import load_machine
from vicinity_analysis.study import load_studies


@pytest.fixture(scope="module")
def study(root):
    machines = [load_machine(root / "results" / "gpu-a")]
    return next(s for s in load_studies(root, machines) if s.name == "fang/scaling")


def test_where_the_gpu_starts_to_win():
    found = scaling.win({1: 0.25, 16: 0.5, 256: 2.0, 4096: 8.0})
    assert found.start == 256 and found.crossing == pytest.approx(64) and not found.everywhere
    assert scaling.win({1: 2.0, 4: 3.0}).everywhere
    assert scaling.win({1: 0.2, 4: 0.3}).start is None
    assert scaling.win({1: 2.0, 4: 0.5, 16: 3.0}).start == 16


def test_growth():
    assert scaling.exponent({1: 5.0, 10: 1.0, 100: 100.0}) == pytest.approx(2)
    assert scaling.exponent({1: 5.0}) is None


def test_axes_and_panels(study):
    assert scaling.varying_axes(study) == ["load", "states", "possibilities"]
    found = scaling.panels(study, "states")
    assert len(found) == 9 and all(len(panel.lines) == 5 for panel in found)
    assert scaling.chosen(found)[0].title == "load = 1, |λ| = 8, |R| = 8"
    assert len(scaling.chosen(found)) == 3


def test_baseline_is_the_fastest_cpu(study):
    smallest = scaling.panels(study, "states")[0]
    ratios = scaling.speedups(smallest)[("NVIDIA H100 80GB HBM3", "gpu-tuned")]
    seconds = {line.implementation: line.seconds() for line in smallest.lines}
    assert seconds["cpu-serial"][1.0] < seconds["cpu-openmp"][1.0]
    assert ratios[1.0] == pytest.approx(seconds["cpu-serial"][1.0] / seconds["gpu-tuned"][1.0])


def test_tables(study):
    wins = scaling.wins_table(study)
    assert [row[1].text for row in wins.rows] == ["gpu", "gpu-recompute", "gpu-tuned"]
    assert "AMD EPYC 9999, 16 cores" in wins.notes[0]
    assert len(scaling.crossover_table(study, "states").rows) == 9
