"""What simulation.py finds in many runs, in few: seeded, so that it always finds the same."""

import pytest
import simulation
from simulation import WORLDS
from vicinity_analysis.gate import regress

RUNS = 4


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(regress, "progress", lambda text: None)


def verdicts_of(world, slowdown, runs=RUNS):
    return dict(simulation.simulate(WORLDS[world], slowdown, runs).verdicts)


@pytest.mark.parametrize("world", ["GPU, quiet", "GPU, busy host", "GPU, drifting", "CPU, 2 %"])
def test_same_against_same_passes(world):
    assert verdicts_of(world, 1.0) == {"pass": RUNS}


@pytest.mark.parametrize("slowdown", [1.03, 1.05])
@pytest.mark.parametrize("world", ["GPU, quiet", "GPU, busy host", "GPU, drifting"])
def test_small_slowdowns_of_a_gpu_are_found(world, slowdown):
    assert verdicts_of(world, slowdown) == {"regression": RUNS}


@pytest.mark.parametrize("world", ["CPU, 5 %", "CPU, busy"])
def test_a_loud_machine_never_makes_a_regression(world):
    assert verdicts_of(world, 1.0, 2).keys() <= {"pass", "inconclusive"}


@pytest.mark.parametrize("world", ["CPU, 2 %", "CPU, 5 %", "CPU, busy"])
def test_a_slowdown_of_a_tenth_never_passes(world):
    assert verdicts_of(world, 1.1, 2).keys() <= {"regression", "inconclusive"}


def test_a_moved_control_kernel_is_never_a_regression(monkeypatch):
    """The machine itself is slower whenever the candidate runs."""
    monkeypatch.setattr(simulation, "CONTROL_SLOWED", True)
    assert verdicts_of("GPU, quiet", 1.05) == {"inconclusive": RUNS}
