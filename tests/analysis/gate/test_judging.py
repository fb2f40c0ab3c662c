import numpy as np
import pytest
from vicinity_analysis.gate import judging
from vicinity_analysis.gate.judging import Round
from vicinity_analysis.inputs.records import RecordKey

KEY = RecordKey("fang/table1", "states=16", "gpu", 1)


def process(random, level, scatter, disturbed):
    """Samples of one process: its own level, small noise, and a share of samples that something else slowed down."""
    samples = level * np.exp(random.normal(0, scatter)) * random.lognormal(0, 0.01, 40)
    return np.where(random.random(40) < disturbed * random.random(), samples * random.uniform(1.5, 20), samples)


def rounds(random, slowdown=1.0, count=6, scatter=0.02, disturbed=0.0, drift=0.0):
    made = []
    for index in range(count):
        levels = [1 + drift * (4 * index + position) for position in range(4)]
        a1, b1, b2, a2 = (process(random, level, scatter, disturbed) for level in levels)
        made.append(Round([a1, a2], [b1 * slowdown, b2 * slowdown]))
    return made


def outcomes(random, slowdown, cases=10, **kind):
    judged = judging.decide([judging.judge(KEY, rounds(random, slowdown, **kind), seed=i) for i in range(cases)])
    return [judgement.outcome for judgement in judged]


KINDS = [{}, {"scatter": 0.1}, {"disturbed": 0.7, "count": 12}, {"drift": 0.01}, {"count": 3}]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_same_against_same_is_hardly_ever_slower(kind):
    """One series alone: 200 cases; the gate asks for two series."""
    random = np.random.default_rng(1)
    found = [outcome for _ in range(20) for outcome in outcomes(random, 1.0, **kind)]
    assert found.count("slower") <= 2


@pytest.mark.parametrize("kind", KINDS[:1] + KINDS[2:4], ids=str)
def test_half_as_slow_again_is_found(kind):
    random = np.random.default_rng(2)
    found = [outcome for _ in range(5) for outcome in outcomes(random, 1.5, **kind)]
    assert found.count("slower") >= 0.95 * len(found)


def test_small_changes_stay_below_the_floor():
    assert "slower" not in outcomes(np.random.default_rng(3), 1.03, scatter=0.002)
    assert set(outcomes(np.random.default_rng(3), 1.1, scatter=0.002)) == {"slower"}
    assert set(outcomes(np.random.default_rng(3), 0.8, scatter=0.002)) == {"faster"}


def test_noise_sets_the_threshold():
    assert judging.threshold_of(0.0) == judging.FLOOR
    assert judging.threshold_of(0.1) == pytest.approx(np.expm1(0.3))
    quiet, loud = (judging.judge(KEY, rounds(np.random.default_rng(4), scatter=s)) for s in (0.01, 0.2))
    assert quiet.threshold == judging.FLOOR and loud.threshold > 0.1


def test_hopeless_noise_is_called_so():
    assert set(outcomes(np.random.default_rng(5), 1.0, scatter=0.8, count=4)) == {"too noisy"}


def test_control_that_moves():
    assert judging.judge(KEY, rounds(np.random.default_rng(6), 0.8)).moved
    assert not judging.judge(KEY, rounds(np.random.default_rng(6), 1.0)).moved


def test_quartiles_are_resampled_as_a_bootstrap_would():
    random = np.random.default_rng(7)
    samples = random.lognormal(0, 0.4, 45)
    quick = np.concatenate([judging._resampled(samples, random) for _ in range(50)])
    drawn = samples[random.integers(45, size=(10000, 45))]
    plain = np.log(np.sort(drawn, axis=1)[:, judging._rank(45) - 1])
    for share in (0.025, 0.5, 0.975):
        assert np.quantile(quick, share) == pytest.approx(np.quantile(plain, share), abs=0.03)


@pytest.mark.parametrize(("slowdown", "outcome"), [(1.0, "pass"), (1.5, "slower")])
def test_against_a_recorded_process(slowdown, outcome):
    random = np.random.default_rng(8)
    processes = [process(random, slowdown, 0.02, 0) for _ in range(12)]
    judged = judging.decide([judging.judge_stored(KEY, process(random, 1.0, 0.02, 0), processes)])
    assert judged[0].outcome == outcome
