"""The statistics of the regression gate, without running anything: from paired rounds to a verdict a case.

A process stands for the lower quartile of its samples: what disturbs a shared machine only ever adds time, and the
quartile stays where it is while up to three quarters of the samples are disturbed. A round is four fresh processes in
the order base, candidate, candidate, base: a linear drift of the machine cancels. Its log ratio is the mean log of the
candidate's processes less that of the base's; a case's is the median over rounds, so that a process disturbed from
beginning to end spoils its round only. The interval resamples rounds, and samples within each process, and is widened
as few rounds ask (Student's t). Noise of a case is what the same estimate would scatter by if both sides were the base:
the median distance between the two base processes of each round, over the root of the number of rounds."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from vicinity_analysis import stats
from vicinity_analysis.inputs.records import RecordKey

RESAMPLES = 10000
RESAMPLED = 200  # resampled quartiles kept of each process
QUANTILE = 0.25
FLOOR = 0.05  # no threshold is below 5%
NOISE_FACTOR = 3.0
NORMAL_QUARTILE = 0.6745  # half of a normal distribution lies within this many standard deviations
FALSE_DISCOVERIES = 0.025  # one-sided, as the 95% interval is
TOLERABLE = 0.25  # a case whose interval reaches further up than this (and its threshold) is too noisy to judge

Processes = list[np.ndarray]  # the samples of each process of one side in one round


@dataclass(frozen=True)
class Round:
    base: Processes
    candidate: Processes


@dataclass(frozen=True)
class Judgement:
    """A case of one implementation: candidate time / base time, and what to think of it."""

    key: RecordKey
    ratio: float
    low: float
    high: float
    noise: float  # A/A scatter of the ratio, as a fraction
    threshold: float
    p: float  # that the true ratio is at most 1 + threshold
    p_adjusted: float = 1.0
    outcome: str = "pass"  # pass | slower | faster | too noisy

    @property
    def moved(self) -> bool:
        """Beyond the threshold in either direction (for the control kernel)."""
        return self.low > 1 + self.threshold or self.high < 1 / (1 + self.threshold)


def typical(samples: np.ndarray) -> float:
    """What a process counts for: the lower quartile (the lower of two candidates) of its samples."""
    return float(np.sort(samples)[_rank(len(samples)) - 1])


def _rank(count: int) -> int:
    return max(1, math.ceil(QUANTILE * count))


def process_noise(rounds: list[Round]) -> float:
    """Standard deviation of the log time of one process, from the base processes of each round among themselves."""
    distances = [abs(np.log(typical(r.base[-1]) / typical(r.base[0]))) for r in rounds if len(r.base) > 1]
    return float(np.median(distances)) / NORMAL_QUARTILE / math.sqrt(2) if distances else 0.0


def threshold_of(noise: float) -> float:
    return max(FLOOR, float(np.expm1(NOISE_FACTOR * noise)))


def judge(key: RecordKey, rounds: list[Round], seed: int = stats.SEED) -> Judgement:
    """One case from its paired rounds, before the correction for many cases."""
    count = len(rounds)
    effects = np.array([_logs(r.candidate).mean() - _logs(r.base).mean() for r in rounds])
    centre = float(np.median(effects))
    random = np.random.default_rng(seed)
    spread = _resample(rounds, random) - centre
    # Few rounds make a bootstrap too sure of itself: widen it as the t distribution asks.
    if count > 1:
        spread *= np.sqrt(count / (count - 1)) * student.ppf(0.975, count - 1) / student.ppf(0.975, 1e6)
    low, high = stats.percentile_interval(centre + spread)
    noise = process_noise(rounds) / np.sqrt(count)
    threshold = threshold_of(noise)
    beyond = int(np.sum(centre + spread <= np.log1p(threshold)))
    p = (1 + beyond) / (RESAMPLES + 1)
    return Judgement(key, float(np.exp(centre)), float(np.exp(low)), float(np.exp(high)), float(noise), threshold, p)


def _logs(processes: Processes) -> np.ndarray:
    return np.log([typical(samples) for samples in processes])


def _resample(rounds: list[Round], random: np.random.Generator) -> np.ndarray:
    """Hierarchical bootstrap of the median log ratio: rounds first, then samples within the processes."""
    tables = np.array(
        [
            np.mean([_resampled(s, random) for s in r.candidate], axis=0)
            - np.mean([_resampled(s, random) for s in r.base], axis=0)
            for r in rounds
        ]
    )
    which = random.integers(len(rounds), size=(RESAMPLES, len(rounds)))
    column = random.integers(RESAMPLED, size=which.shape)
    return np.median(tables[which, column], axis=1)


def _resampled(samples: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Log quartiles of bootstrap samples of one process, without drawing them: the k-th smallest of n draws from n
    samples is the sample at quantile Beta(k, n - k + 1)."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    count = len(ordered)
    where = random.beta(_rank(count), count - _rank(count) + 1, RESAMPLED)
    return np.log(ordered[np.minimum((where * count).astype(int), count - 1)])


def judge_stored(key: RecordKey, stored: np.ndarray, processes: Processes) -> Judgement:
    """Candidate processes against one recorded process, whose scatter is unknown: the candidate's stands in for it."""
    logs = _logs(processes)
    count = len(logs)
    scatter = float(logs.std(ddof=1)) if count > 1 else 0.0
    noise = scatter * np.sqrt(1 + 1 / count)
    within = float(np.std(_resampled(stored, np.random.default_rng(stats.SEED))))
    error = max(float(np.hypot(noise, within)), 1e-12)
    centre = float(logs.mean() - np.log(typical(stored)))
    threshold = threshold_of(noise)
    reach = float(student.ppf(0.975, max(count - 1, 1))) * error
    p = float(student.sf((centre - np.log1p(threshold)) / error, max(count - 1, 1)))
    low, high = np.exp(centre - reach), np.exp(centre + reach)
    return Judgement(key, float(np.exp(centre)), float(low), float(high), float(noise), threshold, p)


def decide(judgements: list[Judgement]) -> list[Judgement]:
    """Adds the correction for many cases and the outcome of each."""
    adjusted = stats.benjamini_hochberg([judgement.p for judgement in judgements])
    return [_outcome(replace(j, p_adjusted=float(p))) for j, p in zip(judgements, adjusted, strict=True)]


def _outcome(judgement: Judgement) -> Judgement:
    if judgement.low > 1 + judgement.threshold and judgement.p_adjusted <= FALSE_DISCOVERIES:
        return replace(judgement, outcome="slower")
    if judgement.high < 1 / (1 + judgement.threshold):
        return replace(judgement, outcome="faster")
    if judgement.high > 1 + max(judgement.threshold, TOLERABLE) or judgement.threshold > TOLERABLE:
        return replace(judgement, outcome="too noisy")
    return judgement
