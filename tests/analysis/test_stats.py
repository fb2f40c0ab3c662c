import numpy as np
import pytest
import scipy.stats
from vicinity_analysis import stats


def test_interval_agrees_with_scipy():
    values = np.random.default_rng(3).lognormal(0, 0.3, 60)
    found = stats.estimate(values)
    theirs = scipy.stats.bootstrap((values,), np.median, n_resamples=9999, method="percentile", random_state=1)
    assert found.value == np.median(values)
    assert found.low == pytest.approx(theirs.confidence_interval.low, rel=0.03)
    assert found.high == pytest.approx(theirs.confidence_interval.high, rel=0.03)


def test_same_data_same_interval():
    values = np.random.default_rng(4).normal(10, 1, 31)
    assert stats.estimate(values) == stats.estimate(values.copy())


def test_one_sample_has_no_width():
    assert stats.estimate([2.5]) == stats.Estimate(2.5, 2.5, 2.5, 1)
    with pytest.raises(ValueError, match="no samples"):
        stats.estimate([])


@pytest.mark.parametrize(("statistic", "value"), [("median", 2.5), ("mean", 4.0), ("min", 1.0)])
def test_statistics(statistic, value):
    assert stats.estimate([1.0, 2.0, 3.0, 10.0], statistic).value == value


def test_interval_covers_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        found = stats.estimate(random.normal(10, 1, 40))
        hits += found.low <= 10 <= found.high
    assert 0.90 <= hits / 300 <= 0.99


def test_ratio_and_its_inverse():
    random = np.random.default_rng(6)
    slow, fast = random.normal(30, 0.5, 50), random.normal(10, 0.2, 50)
    ratio = stats.ratio(slow, fast)
    assert ratio.low < 3 < ratio.high and ratio.value == pytest.approx(3, rel=0.02)
    turned = stats.Estimate(2.0, 1.0, 4.0, 9).inverse_of(8.0)
    assert (turned.value, turned.low, turned.high) == (4.0, 2.0, 8.0)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_benjamini_hochberg_agrees_with_scipy(count):
    p = np.random.default_rng(count).random(count) ** 3
    assert stats.benjamini_hochberg(p) == pytest.approx(scipy.stats.false_discovery_control(p))
    assert stats.benjamini_hochberg([]).size == 0
