"""Claims about the quality of solutions, judged on runs over seeds: for every system that records gaps."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from vicinity_analysis import stats
from vicinity_analysis.claims import FAILS, HOLDS, NOT_JUDGED, PART, Evidence, Finding, shares, shorten
from vicinity_analysis.views.cells import plain
from vicinity_analysis.views.quality import FEWEST, gap_of, usable


def _gaps(evidence: Evidence) -> dict[str, dict[int, dict[int, float]]]:
    """instance -> I -> seed -> gap in percent, whatever implementation ran it."""
    found: dict[str, dict[int, dict[int, float]]] = {}
    for record in (record for series in evidence.series for record in series.runs.values()):
        gap, instance = gap_of(record), record.case.get("instance")
        if usable(record) and gap is not None and instance and record.case.get("samples") is None:
            found.setdefault(instance, {}).setdefault(record.case["iterations"], {})[record.seed] = gap
    return {name: dict(sorted(rows.items())) for name, rows in found.items()}


def _sources(evidence: Evidence) -> str:
    return shorten(record.source for series in evidence.series for record in series.runs.values())


def longer_is_better(evidence: Evidence) -> list[Finding]:
    """Mean gap over the seeds falls from each number of iterations to the next, by more than the seeds scatter, until
    it is 0. Both runs of a comparison have the same seeds."""
    flags, parts = [], []
    for name, every in _gaps(evidence).items():
        rows = {i: row for i, row in every.items() if len(row) >= FEWEST}
        if len(rows) < 2:
            continue
        common = [seed for seed in next(iter(rows.values())) if all(seed in row for row in rows.values())]
        if len(common) < FEWEST:
            continue
        steps = [np.array([row[seed] for seed in common]) for row in rows.values()]
        flags.append(all(_falls(earlier, later) for earlier, later in pairwise(steps)))
        told = ", ".join(f"{np.mean(gaps):.2f} % at {plain(i)}" for i, gaps in zip(rows, steps, strict=True))
        parts.append(f"{name}: {told} ({len(common)} seeds)")
    return [Finding("mean gap over the seeds", shares(flags), "; ".join(parts), _sources(evidence))] if flags else []


def _falls(earlier: np.ndarray, later: np.ndarray) -> bool:
    """The interval of the mean difference, seed by seed, lies above 0; or nothing is left to gain."""
    if not earlier.any() and not later.any():
        return True
    return stats.estimate(earlier - later, "mean").low > 0


def many_short_for_one_long(evidence: Evidence) -> list[Finding]:
    """The best of ten runs against the mean of a run ten times as long; the former as its mean over all choices of
    ten seeds. One is better where they are apart by more than two standard errors."""
    won, lost, parts = 0, 0, []
    for name, rows in _gaps(evidence).items():
        for i, row in rows.items():
            long = rows.get(10 * i, {})
            if len(row) > 10 and len(long) >= 3:
                one, ten = float(np.mean(list(long.values()))), expected_best(list(row.values()), 10)
                if one or ten:  # both at the best known: nothing to tell apart
                    error = np.hypot(_error_of_best(list(row.values()), 10), _error_of_mean(list(long.values())))
                    won, lost = won + (ten - one > 2 * error), lost + (one - ten > 2 * error)
                    told = f"{name}, 10 runs of {plain(i)}: {ten:.2f} %, one of {plain(10 * i)}: {one:.2f} %"
                    parts.append(told + (" (equal)" if abs(ten - one) <= 2 * error else ""))
    if not parts:
        return []
    verdict = NOT_JUDGED if not won + lost else HOLDS if won == len(parts) else PART if won >= lost else FAILS
    numbers = f"one run better in {won} of {len(parts)}, equal in {len(parts) - won - lost}; {'; '.join(parts)}"
    return [Finding("gap at equal work", verdict, numbers, _sources(evidence))]


def _error_of_mean(found: Sequence[float]) -> float:
    return float(np.std(found, ddof=1) / np.sqrt(len(found)))


def _error_of_best(found: Sequence[float], count: int) -> float:
    """Standard error of `expected_best`, by leaving out each of the values (jackknife), of which there are more than
    `count`. Samples drawn with replacement have ties: their best is worse."""
    without = [expected_best([*found[:k], *found[k + 1 :]], count) for k in range(len(found))]
    return float(np.std(without) * np.sqrt(len(found) - 1))


def expected_best(found: Sequence[float], count: int) -> float:
    """Mean of the least of `count` values drawn from `found` without replacement."""
    ordered, size = sorted(found), len(found)
    total, left = 0.0, 1.0  # `left`: probability that none of the smaller ones was drawn
    for position, value in enumerate(ordered):
        share = min(1.0, count / (size - position))
        total += left * share * value
        left *= 1 - share
    return total
