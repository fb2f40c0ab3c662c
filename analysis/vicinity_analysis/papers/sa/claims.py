"""The claims of Paul, "A GPU implementation of the Simulated Annealing Heuristic for the QAP", about Figures 1 and 2.

P is t(cpu-serial) / t(gpu), as in equation (4): both are the paper's own codes. What `gpu-tuned` and all cores make of
it is told beside it, in the numbers, and does not decide."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from vicinity_analysis.claims import FAILS, HOLDS, PART, Claim, Evidence, Finding, same_results, shares, shorten, span
from vicinity_analysis.papers.sa.runs import FASTEST, SERIAL, Grid, Pair, acceptance, grid, pairs, values
from vicinity_analysis.quality_claims import longer_is_better, many_short_for_one_long
from vicinity_analysis.views import scaling
from vicinity_analysis.views.cells import MARKS, significant
from vicinity_analysis.views.tables import baseline_name

Judge = Callable[[Evidence], list[Finding]]
LARGE = 10_000_000  # "large numbers of iterations": where the paper's P has reached its plateau
RISE = 0.9  # P may fall by a tenth from decade to decade and still counts as rising: runs are measured a few times only
DECADE = (10**0.5) ** -1, 10**0.5  # "≈ 10^k" means within half a decade


def _name(evidence: Evidence, implementation: str) -> str:
    return baseline_name(evidence.machine, implementation) if evidence.machine else implementation


def _flat(found: Grid[Pair]) -> dict[tuple[int, int], Pair]:
    return {(n, i): pair for n, row in found.items() for i, pair in row.items()}


def _finding(subject: str, verdict: str, numbers: str, used: Iterable[Pair]) -> Finding:
    """Names the marks and the records of the values it rests on."""
    used = list(used)
    marks = [mark for mark in MARKS if any(mark in pair.marks for pair in used)]
    numbers += f"; some values {', '.join(marks)}" if marks else ""
    return Finding(subject, verdict, numbers, shorten(r.source for pair in used for r in (pair.slow, pair.fast)))


def fifty_to_hundred(evidence: Evidence) -> list[Finding]:
    """P at large I, for every N."""
    found = {key: pair for key, pair in _flat(pairs(evidence, SERIAL, "gpu")).items() if key[1] >= LARGE}
    if not found:
        return []
    best = {n: max(pair.value for (m, _), pair in found.items() if m == n) for n, _ in found}
    parts = ", ".join(f"N = {n}: {significant(value)}×" for n, value in best.items())
    for name, slow, over in (("gpu-tuned", SERIAL, "cpu-serial"), ("gpu", FASTEST, "the fastest CPU implementation")):
        other = [pair.value for (_, i), pair in _flat(pairs(evidence, slow, name)).items() if i >= LARGE]
        if other:
            cores = f" ({evidence.machine.cpu})" if evidence.machine and over != "cpu-serial" else ""
            parts += f"; beside it {name} over {over}{cores}: {span(other)}"
    subject = f"gpu over {_name(evidence, 'cpu-serial')}"
    return [_finding(subject, shares([value >= 50 for value in best.values()]), parts, found.values())]


def up_to(slow: Sequence[str], fast: str, bound: float) -> Judge:
    """The largest ratio anywhere reaches `bound`; in part: half of it."""

    def judge(evidence: Evidence) -> list[Finding]:
        found = _flat(pairs(evidence, slow, fast))
        if not found:
            return []
        (n, i), best = max(found.items(), key=lambda item: item[1].value)
        verdict = HOLDS if best.value >= bound else PART if best.value >= bound / 2 else FAILS
        numbers = (
            f"at most {significant(best.value)}× (N = {n}, I = {i:g}); {span(pair.value for pair in found.values())}"
        )
        over = " and ".join(_name(evidence, name) for name in slow)
        return [_finding(f"{fast} over {over}", verdict, numbers, found.values())]

    return judge


def crossover(evidence: Evidence) -> list[Finding]:
    return _thresholds(evidence, SERIAL, "gpu", 1e4)


def delta_threshold(evidence: Evidence) -> list[Finding]:
    """From which I on the delta matrix pays on one core."""
    return _thresholds(evidence, ("cpu-traditional",), "cpu-delta", 1e6)


def _thresholds(evidence: Evidence, slow: Sequence[str], fast: str, printed: float) -> list[Finding]:
    """For each N the I from which on `fast` wins, against the printed one."""
    found = {n: row for n, row in pairs(evidence, slow, fast).items() if len(row) >= 2}
    if not found:
        return []
    flags, parts = [], []
    for n, row in values(found).items():
        win = scaling.win({float(i): value for i, value in row.items()})
        # Ahead from the first I measured on: the crossing lies somewhere below it.
        at = win.crossing or win.start
        flags.append(at is not None and DECADE[0] * printed <= at <= DECADE[1] * printed)
        said = scaling.where(win) if at is None else f"at most {at:g}" if win.everywhere else f"{significant(at, 2)}"
        parts.append(f"N = {n}: {said}")
    subject = f"{fast} over {_name(evidence, slow[0])}"
    return [_finding(subject, shares(flags), "; ".join(parts), _flat(found).values())]


def plateau(evidence: Evidence) -> list[Finding]:
    """Rises up to 10^7, is flat from there on: for every N measured on both sides."""
    found = pairs(evidence, SERIAL, "gpu")
    judged = {n: row for n, row in found.items() if LARGE in row and max(row) > LARGE and min(row) < LARGE}
    if not judged:
        return []
    rises, flats, parts = [], [], []
    for n, row in values(judged).items():
        before = [row[i] for i in row if i <= LARGE]
        after = [row[i] / row[LARGE] for i in row if i > LARGE]
        rises.append(all(later >= RISE * earlier for earlier, later in pairwise(before)) and before[-1] > before[0])
        flats.append(all(0.8 <= ratio <= 1.25 for ratio in after))
        parts.append(
            f"N = {n}: {significant(before[0])}× at {min(row):g}, {significant(before[-1])}× at {LARGE:g}, "
            f"{significant(row[max(row)])}× at {max(row):g}"
        )
    both = [rise and flat for rise, flat in zip(rises, flats, strict=True)]
    verdict = HOLDS if all(both) else PART if any(both) or all(rises) or all(flats) else FAILS
    parts.append(f"rising in {sum(rises)} of {len(rises)}, flat after in {sum(flats)} of {len(flats)}")
    return [_finding(f"gpu over {_name(evidence, 'cpu-serial')}", verdict, "; ".join(parts), _flat(judged).values())]


def suffers_at_low_iterations(evidence: Evidence) -> list[Finding]:
    """The time of a proposal at few and at many iterations, with the acceptance rates."""
    series = evidence.named("gpu")
    rows = grid(series.records) if series else {}
    rows = {n: row for n, row in rows.items() if min(row) <= 1e4 and max(row) >= 1e6}
    if not rows:
        return []
    flags, parts, used = [], [], []
    for n, row in rows.items():
        few, many = row[min(row)], row[max(row)]
        costs = [record.estimate().value / record.data["iterations"] for record in (few, many)]
        rates = [100 * acceptance(record) for record in (few, many)]
        flags.append(costs[0] >= 2 * costs[1] and rates[0] > rates[1])
        told = [
            f"{significant(1e9 * cost)} ns at {significant(rate, 2)} % accepted"
            for cost, rate in zip(costs, rates, strict=True)
        ]
        parts.append(f"N = {n}: {told[0]} (I = {min(row):g}), {told[1]} (I = {max(row):g})")
        used += [few, many]
    return [Finding("gpu, a proposal", shares(flags), "; ".join(parts), shorten(r.source for r in used))]


FIGURE1, FIGURE2, QUALITY = "sa/figure1", "sa/figure2", "sa/quality"
ALSO = (FIGURE1, FIGURE2, "sa/crossover")

CLAIMS = (
    Claim(
        "crossover",
        FIGURE1,
        "the GPU based implementation becomes more efficient than the non-parallel implementation for I ≈ 10⁴",
        "section 4, on Figure 1",
        "for every N, `gpu` overtakes `cpu-serial` within half a decade of 10⁴; in part: for half of the N",
        crossover,
        also=ALSO,
    ),
    Claim(
        "delta-threshold",
        FIGURE1,
        "Until the iteration number becomes ≈ 10⁶, the non-parallel method does not use the Δ-matrix approach because "
        "the acceptance rate of swaps is high",
        "section 4, on Figure 1",
        "for every N, `cpu-delta` overtakes `cpu-traditional` within half a decade of 10⁶; in part: for half of the N",
        delta_threshold,
        also=ALSO,
    ),
    Claim(
        "low-iterations",
        FIGURE1,
        "Our parallel implementation uses the delta matrix for all values of I and therefore suffers when the "
        "acceptance rate is high as is the case for low values of I",
        "section 4, on Figure 1",
        "for every N, a proposal costs `gpu` at least twice as much at the fewest iterations (≤ 10⁴) as at the most (≥ "
        "10⁶), and more are accepted there; in part: for half of the N",
        suffers_at_low_iterations,
        also=ALSO,
    ),
    Claim(
        "same-results",
        FIGURE1,
        "our GPU implementation of the heuristic provides exactly the same results, statistically, as does the "
        "traditionally implemented version",
        "section 5",
        "stricter here: every GPU run accepts the same swaps as the CPU's, one by one, and ends at the same cost",
        same_results,
        also=ALSO,
    ),
    Claim(
        "fifty-to-hundred",
        FIGURE2,
        "For SA runs with large numbers of iterations, we find performance ≈ 50 - 100 times better than that of a "
        "recent non-parallel but very efficient implementation",
        "abstract",
        "for every N, P of `gpu` over `cpu-serial` reaches 50 at some I ≥ 10⁷ (more than 100 is better than claimed); "
        "in part: for half of the N",
        fifty_to_hundred,
        also=ALSO,
    ),
    Claim(
        "hundred-over-delta",
        FIGURE2,
        "performance improvements of up to a factor of 100 versus the non-parallel implementation of the Δ-matrix "
        "approach",
        "section 5",
        "somewhere `gpu` is 100 times as fast as both `cpu-serial` and `cpu-delta`; in part: 50 times",
        up_to(("cpu-serial", "cpu-delta"), "gpu", 100),
        also=ALSO,
    ),
    Claim(
        "delta-over-traditional",
        FIGURE2,
        "the non-parallel Δ-matrix approach provides a performance improvement of up a factor of 100 versus the "
        "traditional implementation",
        "section 5; section 2.2",
        "somewhere `cpu-delta` is 100 times as fast as `cpu-traditional`; in part: 50 times",
        up_to(("cpu-traditional",), "cpu-delta", 100),
        also=ALSO,
    ),
    Claim(
        "ten-thousand",
        FIGURE2,
        "a remarkable performance improvement of up to 10,000 versus the traditional implementation",
        "section 5 (the product of the two factors above, which need not occur in one run)",
        "somewhere `gpu` is 10,000 times as fast as `cpu-traditional` in one and the same run; in part: 5,000 times",
        up_to(("cpu-traditional",), "gpu", 10_000),
        also=ALSO,
    ),
    Claim(
        "plateau",
        FIGURE2,
        "For all problem sizes studied, P increases with increasing number of iterations until about I ≈ 10⁷ at which "
        "point P reaches a plateau",
        "section 4, on Figure 2",
        "for every N measured on both sides of 10⁷, P never falls by more than a tenth from one I to the next up to "
        "10⁷, and stays within 0.8 and 1.25 of it beyond; in part: for some N, or only one of the two everywhere",
        plateau,
        also=ALSO,
    ),
    Claim(
        "longer-is-better",
        QUALITY,
        "statistically, the larger the number of SA iterations, the higher the quality of the solution found",
        "section 2.3",
        "for every instance the mean gap over at least 3 seeds falls from each I to the next, or stays 0; in part: for "
        "half of them",
        longer_is_better,
        also=("sa/quality_long", "sa/quality_times"),
    ),
    Claim(
        "one-long-run",
        QUALITY,
        "an SA run with a high number of iterations can not be replaced by many independent SA runs each with a "
        "smaller number of iterations",
        "section 2.3",
        "for every instance and I, the mean gap of one run is below that of the best of ten runs a tenth as long; in "
        "part: in half of the cases",
        many_short_for_one_long,
        also=("sa/quality_long", "sa/quality_times"),
    ),
)
