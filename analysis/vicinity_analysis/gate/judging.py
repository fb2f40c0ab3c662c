"""The statistics of the regression gate, without running anything: from paired rounds to an outcome a case.

A process stands for the lower quartile of its samples: what disturbs a shared machine only ever adds time, and the
quartile stays where it is while up to three quarters of the samples are disturbed. A round is four fresh processes in
the order base, candidate, candidate, base: a linear drift of the machine cancels. Its log ratio is the mean log of the
candidate's processes less that of the base's. A case's is the trimmed mean over rounds, a fifth left out at each end,
with the interval and p of Student's t on winsorised variance (Tukey and McLaughlin 1963; Yuen 1974): a process
disturbed from beginning to end spoils its round only.

The A/A noise of a case is the standard deviation that the log ratio of one round would have if both sides were the
base. It is taken from the two base processes of each round. More rounds narrow the interval, not the threshold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit  # Student's t: distribution, quantiles

from vicinity_analysis import stats
from vicinity_analysis.inputs.records import RecordKey

QUANTILE = 0.25
TRIM = 0.2
FLOOR = 0.01  # no threshold is below it, unless set
NOISE_FACTOR = 3.0
LARGEST_PASS = 0.05  # however noisy a case, an interval that reaches further up than this does not pass
NORMAL_QUARTILE = 0.6745  # half of a normal distribution lies within this many standard deviations
FALSE_DISCOVERIES = 0.025  # one-sided, as the 95% interval is
FEWEST_ROUNDS = 3
RESAMPLED = 200


class Round(NamedTuple):
    """What each process of a round counts for, seconds, in the order they ran."""

    base: float
    candidate: float
    candidate_again: float
    base_again: float


@dataclass(frozen=True)
class Judgement:
    """A case of one implementation: candidate time / base time, and what to think of it."""

    key: RecordKey
    ratio: float
    low: float
    high: float
    noise: float  # A/A scatter of one round's ratio, as a fraction
    floor: float
    p: float  # that the true ratio is at most 1 + threshold
    p_adjusted: float = 1.0
    outcome: str = "inconclusive"  # pass | slower | faster | inconclusive
    why: str = ""  # it is inconclusive

    @property
    def threshold(self) -> float:
        """A slowdown beyond it is one."""
        return max(self.floor, float(np.expm1(NOISE_FACTOR * self.noise)))

    @property
    def limit(self) -> float:
        """An interval that ends below it passes: the threshold, unless noise makes that too large to mean anything."""
        return max(self.floor, min(self.threshold, LARGEST_PASS))

    @property
    def moved(self) -> bool:
        """Beyond the threshold in either direction (for the control kernel)."""
        return self.low > 1 + self.threshold or self.high < 1 / (1 + self.threshold)

    @property
    def stayed(self) -> bool:
        """Within the limit in both directions (for the control kernel)."""
        return 1 / (1 + self.limit) < self.low and self.high < 1 + self.limit


def typical(samples: np.ndarray) -> float:
    """What a process counts for: the lower quartile (the lower of two candidates) of its samples."""
    return float(np.sort(samples)[_rank(len(samples)) - 1])


def _rank(count: int) -> int:
    return max(1, math.ceil(QUANTILE * count))


def effects(rounds: Sequence[Round]) -> np.ndarray:
    """Log of candidate / base in each round."""
    logs = np.log(np.asarray(rounds))
    return (logs[:, 1] + logs[:, 2] - logs[:, 0] - logs[:, 3]) / 2


def round_noise(rounds: Sequence[Round]) -> float:
    """Standard deviation of the log ratio of an A/A round, robustly: a ratio is a difference of two means of two
    processes each, so it scatters as one process does, and the distance of two processes by the root of two more."""
    logs = np.log(np.asarray(rounds))
    return float(np.median(abs(logs[:, 3] - logs[:, 0]))) / NORMAL_QUARTILE / math.sqrt(2)


def trimmed(values: np.ndarray) -> tuple[float, float, int]:
    """Trimmed mean, its standard error and degrees of freedom (Yuen 1974); at least three values."""
    count = len(values)
    cut = math.floor(TRIM * count)
    kept = count - 2 * cut
    ordered = np.sort(values)
    centre = float(ordered[cut : count - cut].mean())
    winsorised = np.clip(ordered, ordered[cut], ordered[count - cut - 1])
    squares = float(np.sum((winsorised - winsorised.mean()) ** 2))
    return centre, math.sqrt(squares / (kept * (kept - 1))), kept - 1


def judge(key: RecordKey, rounds: Sequence[Round], floor: float = FLOOR) -> Judgement:
    """One case from its paired rounds, before the correction for many cases."""
    if len(rounds) < FEWEST_ROUNDS:
        why = f"{len(rounds)} rounds without contended or throttled processes, {FEWEST_ROUNDS} are needed"
        return Judgement(key, math.nan, 0.0, math.inf, 0.0, floor, 1.0, why=why)
    centre, error, freedom = trimmed(effects(rounds))
    return _judgement(key, centre, error, freedom, round_noise(rounds), floor)


def _judgement(key: RecordKey, centre: float, error: float, freedom: int, noise: float, floor: float) -> Judgement:
    """From an estimate of the log ratio to ratio, interval and p."""
    error = max(error, 1e-12)
    reach = float(stdtrit(freedom, 0.975)) * error
    low, high = math.exp(centre - reach), math.exp(centre + reach)
    found = Judgement(key, math.exp(centre), low, high, noise, floor, 1.0)
    return replace(found, p=float(stdtr(freedom, (math.log1p(found.threshold) - centre) / error)))


def judge_stored(key: RecordKey, stored: np.ndarray, levels: Sequence[float], floor: float = FLOOR) -> Judgement:
    """What candidate processes count for, against the samples of one recorded process, whose scatter is unknown: the
    candidate's stands in for it."""
    logs = np.log(levels)
    count = len(logs)
    if count < FEWEST_ROUNDS or len(stored) == 0:
        return judge(key, [], floor)
    noise = float(logs.std(ddof=1))
    within = float(np.std(_resampled(stored, np.random.default_rng(stats.SEED))))
    error = math.hypot(noise * math.sqrt(1 + 1 / count), within)
    return _judgement(key, float(logs.mean() - np.log(typical(stored))), error, count - 1, noise, floor)


def _resampled(samples: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Log quartiles of bootstrap samples of one process, without drawing them: the k-th smallest of n draws from n
    samples is the sample at quantile Beta(k, n - k + 1)."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    count = len(ordered)
    where = random.beta(_rank(count), count - _rank(count) + 1, RESAMPLED)
    return np.log(ordered[np.minimum((where * count).astype(int), count - 1)])


def decide(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Adds the correction for many cases and the outcome of each. A case without an interval is no test."""
    tested = [judgement for judgement in judgements if math.isfinite(judgement.ratio)]
    adjusted = iter(stats.benjamini_hochberg([judgement.p for judgement in tested]))
    return [_outcome(replace(j, p_adjusted=float(next(adjusted)))) if math.isfinite(j.ratio) else j for j in judgements]


def _outcome(judgement: Judgement) -> Judgement:
    """Slower and pass both need evidence; what has none is inconclusive."""
    if judgement.low > 1 + judgement.threshold:
        if judgement.p_adjusted <= FALSE_DISCOVERIES:
            return replace(judgement, outcome="slower")
        return replace(judgement, why="beyond the threshold, but not significant among so many cases")
    if judgement.high < 1 / (1 + judgement.threshold):
        return replace(judgement, outcome="faster")
    if judgement.high < 1 + judgement.limit:
        return replace(judgement, outcome="pass")
    across = f"the interval reaches across {100 * judgement.limit:.1f}%"
    return replace(judgement, why=across)
