"""Medians, bootstrap intervals, ratios and false discoveries. Resampling has a fixed seed: same data, same bytes.

Samples of several processes are a hierarchy: what differs from process to process (memory, placement, clock) does not
average out within one. Each process counts for the statistic of its samples, all of them for the median over processes
(for the least, where the statistic is min); a resample draws processes, then samples within each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

import numpy as np

RESAMPLES = 2000
RESAMPLED = 400  # resampled statistics kept of each process
LEVEL = 0.95
FEWEST = 6  # samples for an interval: below, even from the least to the most has the median in less than 95% of draws
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

    @property
    def interval(self) -> tuple[float, float] | None:
        """None: of too few samples."""
        return (self.low, self.high) if self.samples >= FEWEST else None

    def scaled(self, factor: float) -> "Estimate":
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.samples)

    def inverse_of(self, numerator: float) -> "Estimate":
        """numerator / self, with the interval turned round."""
        return Estimate(numerator / self.value, numerator / self.high, numerator / self.low, self.samples)


@lru_cache(maxsize=64)
def _draws(size: int, resamples: int, stream: int) -> np.ndarray:
    return np.random.default_rng([SEED, stream]).integers(size, size=(resamples, size), dtype=np.int32)


def bootstrap(values: np.ndarray, statistic: str = "median", resamples: int = RESAMPLES, stream: int = 0) -> np.ndarray:
    """The statistic of `resamples` samples drawn from `values` with replacement; not to be written to."""
    return _bootstrapped(np.asarray(values, dtype=float).tobytes(), statistic, resamples, stream)


@lru_cache(maxsize=512)  # one baseline stands in many ratios
def _bootstrapped(data: bytes, statistic: str, resamples: int, stream: int) -> np.ndarray:
    values = np.frombuffer(data)
    draws = _draws(len(values), resamples, stream)
    found = _medians(values, draws) if statistic == "median" else STATISTICS[statistic](values[draws], axis=1)
    found.flags.writeable = False
    return found


def _medians(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """np.median(values[draws], axis=1), by ranks: whole numbers are selected faster than floating-point ones."""
    ranks = np.empty(len(values), dtype=np.int32)
    ranks[order := np.argsort(values)] = np.arange(len(values), dtype=np.int32)
    half, even = len(values) // 2, len(values) % 2 == 0
    drawn = ranks[draws]
    drawn.partition((half - 1, half) if even else half, axis=1)
    upper = values[order[drawn[:, half]]]
    return (values[order[drawn[:, half - 1]]] + upper) / 2 if even else upper


def percentile_interval(distribution: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    tail = 50 * (1 - level)
    low, high = np.percentile(distribution, [tail, 100 - tail])
    return float(low), float(high)


Groups = dict[str, np.ndarray]  # process -> its samples


def centre(groups: Groups, statistic: str = "median") -> float:
    """The statistic of the samples of one process, or over those of several."""
    return _value_of([_value_of(values, statistic) for values in groups.values()], _over_processes(statistic))


def _over_processes(statistic: str) -> str:
    """The statistic of the statistics of several processes: what they together count for."""
    return "min" if statistic == "min" else "median"


def _value_of(values: Sequence[float] | np.ndarray, statistic: str) -> float:
    """The statistic of a few samples, of which np.median takes many times as long to find the same."""
    return float(median(values) if statistic == "median" else STATISTICS[statistic](values))


def _distribution(groups: Groups, statistic: str, stream: int = 0) -> np.ndarray:
    """Of the centre, by resampling."""
    values = list(groups.values())
    if len(values) == 1:
        return bootstrap(values[0], statistic, stream=stream)
    return _redrawn(
        [bootstrap(v, statistic, RESAMPLED, stream + 10 * k) for k, v in enumerate(values)], statistic, stream
    )


def _redrawn(tables: list[np.ndarray], statistic: str, stream: int) -> np.ndarray:
    """Processes drawn with replacement, each time with another of their resampled statistics."""
    random = np.random.default_rng([SEED, stream, len(tables)])
    which = random.integers(len(tables), size=(RESAMPLES, len(tables)))
    column = random.integers(RESAMPLED, size=which.shape)
    return STATISTICS[_over_processes(statistic)](np.array(tables)[which, column], axis=1)


def _grouped(values: Sequence[float] | np.ndarray | Groups) -> Groups:
    groups = values if isinstance(values, dict) else {"": values}
    groups = {process: np.asarray(samples, dtype=float) for process, samples in groups.items() if len(samples) > 0}
    if not groups:
        raise ValueError("no samples")
    return groups


def estimate(values: Sequence[float] | np.ndarray | Groups, statistic: str = "median") -> Estimate:
    """The statistic with its bootstrap percentile interval; one value has an interval of no width."""
    groups = _grouped(values)
    low, high = percentile_interval(_distribution(groups, statistic))
    return Estimate(centre(groups, statistic), low, high, sum(map(len, groups.values())))


def paired(numerator: Groups, denominator: Groups) -> list[str]:
    """The processes that measured both, where these are several: their ratios are free of what differs between them."""
    common = [process for process in numerator if process in denominator]
    return common if len(common) > 1 else []


def ratio_value(
    numerator: Sequence[float] | np.ndarray | Groups,
    denominator: Sequence[float] | np.ndarray | Groups,
    statistic: str = "median",
) -> float:
    """The value of `ratio`, without its interval."""
    above, below = _grouped(numerator), _grouped(denominator)
    both = paired(above, below)
    if not both:
        return centre(above, statistic) / centre(below, statistic)
    each = [_value_of(above[process], statistic) / _value_of(below[process], statistic) for process in both]
    return _value_of(each, _over_processes(statistic))


def ratio(
    numerator: Sequence[float] | np.ndarray | Groups,
    denominator: Sequence[float] | np.ndarray | Groups,
    statistic: str = "median",
) -> Estimate:
    """Ratio of the statistics of two sets of samples: process by process where the same processes measured both, else
    as independent."""
    above, below = _grouped(numerator), _grouped(denominator)
    both = paired(above, below)
    if both:
        tables = [
            bootstrap(above[process], statistic, RESAMPLED, 10 * k + 1)
            / bootstrap(below[process], statistic, RESAMPLED, 10 * k + 2)
            for k, process in enumerate(both)
        ]
        spread = _redrawn(tables, statistic, 1)
    else:
        spread = _distribution(above, statistic, 1) / _distribution(below, statistic, 2)
    low, high = percentile_interval(spread)
    counts = [sum(map(len, groups.values())) for groups in (above, below)]
    return Estimate(ratio_value(above, below, statistic), low, high, min(counts))


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
