"""Medians, bootstrap intervals, ratios and false discoveries. Resampling has a fixed seed: same data, same bytes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
SEED = 20190527

Statistic = Callable[..., np.ndarray]
STATISTICS: dict[str, Statistic] = {"median": np.median, "mean": np.mean, "min": np.min}


@dataclass(frozen=True)
class Estimate:
    """A statistic of `samples` values and its 95% interval, in the unit of the values."""

    value: float
    low: float
    high: float
    samples: int

    def scaled(self, factor: float) -> "Estimate":
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.samples)

    def inverse_of(self, numerator: float) -> "Estimate":
        """numerator / self, with the interval turned round."""
        return Estimate(numerator / self.value, numerator / self.high, numerator / self.low, self.samples)


@lru_cache(maxsize=64)
def _draws(size: int, resamples: int, stream: int) -> np.ndarray:
    return np.random.default_rng([SEED, stream]).integers(size, size=(resamples, size), dtype=np.int32)


def bootstrap(values: np.ndarray, statistic: str = "median", resamples: int = RESAMPLES, stream: int = 0) -> np.ndarray:
    """The statistic of `resamples` samples drawn from `values` with replacement."""
    return STATISTICS[statistic](np.asarray(values, dtype=float)[_draws(len(values), resamples, stream)], axis=1)


def percentile_interval(distribution: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    tail = 50 * (1 - level)
    low, high = np.percentile(distribution, [tail, 100 - tail])
    return float(low), float(high)


def estimate(values: Sequence[float] | np.ndarray, statistic: str = "median") -> Estimate:
    """The statistic with its bootstrap percentile interval; one value has an interval of no width."""
    values = np.asarray(values, dtype=float)
    if values.size == 0:
        raise ValueError("no samples")
    low, high = percentile_interval(bootstrap(values, statistic))
    return Estimate(float(STATISTICS[statistic](values)), low, high, int(values.size))


def ratio(numerator: np.ndarray, denominator: np.ndarray, statistic: str = "median") -> Estimate:
    """Ratio of the statistics of two independent sets of samples."""
    above, below = bootstrap(numerator, statistic, stream=1), bootstrap(denominator, statistic, stream=2)
    low, high = percentile_interval(above / below)
    centre = STATISTICS[statistic]
    return Estimate(float(centre(numerator) / centre(denominator)), low, high, min(len(numerator), len(denominator)))


def difference(minuend: np.ndarray, subtrahend: np.ndarray, statistic: str = "median") -> Estimate:
    """Difference of the statistics of two independent sets of samples."""
    first, second = bootstrap(minuend, statistic, stream=1), bootstrap(subtrahend, statistic, stream=2)
    low, high = percentile_interval(first - second)
    centre = STATISTICS[statistic]
    value = float(centre(minuend) - centre(subtrahend))
    return Estimate(value, low, high, min(len(minuend), len(subtrahend)))


def benjamini_hochberg(p_values: Sequence[float]) -> np.ndarray:
    """Adjusted p-values (Benjamini and Hochberg 1995): those <= q are discoveries at false discovery rate q."""
    p = np.asarray(p_values, dtype=float)
    if p.size == 0:
        return p
    order = np.argsort(p, kind="stable")
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    adjusted = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    result = np.empty_like(adjusted)
    result[order] = adjusted
    return result
