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


def hierarchy(random, processes=5, samples=20, between=0.05, within=0.01, centre=10.0):
    """Processes whose level differs, and samples about each."""
    levels = centre * np.exp(random.normal(0, between, processes))
    return {f"p{k}": level * np.exp(random.normal(0, within, samples)) for k, level in enumerate(levels)}


def test_one_process_is_no_hierarchy():
    values = np.random.default_rng(7).lognormal(0, 0.1, 25)
    assert stats.estimate({"only": values}) == stats.estimate(values)
    assert stats.ratio({"a": values}, {"a": values[::-1]}) == stats.ratio(values, values[::-1])


def test_processes_that_differ_widen_the_interval():
    groups = hierarchy(np.random.default_rng(8))
    together = stats.estimate(np.concatenate(list(groups.values())))
    apart = stats.estimate(groups)
    medians = [np.median(values) for values in groups.values()]
    assert apart.value == np.median(medians) and apart.samples == 100
    assert apart.high - apart.low > 1.5 * (together.high - together.low)
    assert apart.low < min(medians) * 1.02 and apart.high > max(medians) / 1.02
    assert apart == stats.estimate(groups)


@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_the_interval_over_processes_covers_the_truth(statistic):
    random = np.random.default_rng(9)
    found = [stats.estimate(hierarchy(random), statistic) for _ in range(200)]
    assert sum(one.low <= 10 <= one.high for one in found) >= 0.88 * 200
    pooled = [stats.estimate(np.concatenate(list(hierarchy(random).values())), statistic) for _ in range(200)]
    assert sum(one.low <= 10 <= one.high for one in pooled) < 0.8 * 200


def test_the_least_of_several_processes():
    assert stats.estimate({"a": [3.0, 4.0], "b": [2.0, 9.0]}, "min").value == 2.0


def test_ratios_are_paired_by_process():
    """A slow process is slow for both."""
    random = np.random.default_rng(10)
    fast = hierarchy(random, between=0.3, within=0.001)
    slow = {process: 3 * values * np.exp(random.normal(0, 0.001, len(values))) for process, values in fast.items()}
    paired = stats.ratio(slow, fast)
    assert paired.low < 3 < paired.high and paired.high - paired.low < 0.01
    assert paired.value == stats.ratio_value(slow, fast)
    others = {f"other {process}": values for process, values in fast.items()}
    apart = stats.ratio(slow, others)
    assert apart.low < 3 < apart.high and apart.high - apart.low > 1
    lone = stats.ratio(slow, {"p0": fast["p0"]})  # one process in common: no pairs
    assert lone.value == pytest.approx(stats.centre(slow) / np.median(fast["p0"]))
