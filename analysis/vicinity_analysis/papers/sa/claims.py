"""The claims of Paul, "A GPU implementation of the Simulated Annealing Heuristic for the QAP", about Figures 1 and 2.

P is t(the paper's CPU code) / t(gpu), as in equation (4): what the paper itself measured against each other decides.
Ratios over our own stronger baselines, and those of `gpu-tuned`, stand beside as findings that decide nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from vicinity_analysis.claims import (
    FAILS,
    HOLDS,
    NOT_JUDGED,
    OPEN,
    PART,
    Claim,
    Evidence,
    Finding,
    Series,
    shares,
    shorten,
    span,
    trend,
)
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.papers.sa.runs import (
    AXES,
    FASTEST,
    MATRIX,
    PAPER,
    SERIAL,
    TRADITIONAL,
    Baseline,
    Grid,
    Pair,
    acceptance,
    grid,
    pairs,
    values,
)
from vicinity_analysis.papers.sa.steady import states_of
from vicinity_analysis.quality_claims import longer_is_better, many_short_for_one_long
from vicinity_analysis.views import scaling
from vicinity_analysis.views.cells import MARKS, plain, significant

Judge = Callable[[Evidence], list[Finding]]
Tell = Callable[[Grid[Pair]], tuple[str, str] | None]  # verdict and numbers; None: too little was measured
LARGE = 10_000_000  # "large numbers of iterations": where the paper's P has reached its plateau
RISE = 0.9  # P may fall by a tenth from decade to decade and still counts as rising: runs are measured a few times only
DECADE = (10**0.5) ** -1, 10**0.5  # "≈ 10^k" means within half a decade
DEARER = 2.0  # times: what a proposal costs more where swaps are accepted, for a search that suffers from them

OURS = ((PAPER, "gpu-tuned"), (SERIAL, "gpu"), (FASTEST, "gpu"), (FASTEST, "gpu-tuned"))


def ratio_judge(
    tell: Tell, slow: Baseline, fast: str, beside: Iterable[tuple[Baseline, str]] = OURS, compares: bool = False
) -> Judge:
    """`tell` decides on the paper's own pair; what it says of other pairs stands beside. `compares`: ratios with each
    other, from case to case."""

    def judge(evidence: Evidence) -> list[Finding]:
        if not evidence.series or (fast.startswith("gpu") and evidence.named(fast) is None):
            return []
        findings = [_finding(evidence, tell, slow, fast, compares) or _not_measured(evidence, slow, fast)]
        others = [found for pair in beside if (found := _finding(evidence, tell, *pair, compares)) is not None]
        return findings + [replace(found, verdict=NOT_JUDGED) for found in others]

    return judge


def _finding(evidence: Evidence, tell: Tell, slow: Baseline, fast: str, compares: bool) -> Finding | None:
    """Names the marks and the records of the values it rests on."""
    found = pairs(evidence, slow, fast)
    told = tell(found) if found else None
    if told is None:
        return None
    verdict, numbers = told
    used = [pair for row in found.values() for pair in row.values()]
    records = [record for pair in used for record in (pair.slow, pair.fast)]
    if compares:
        verdict, numbers = trend(verdict, numbers, _runs_of(evidence, records))
    marks = [mark for mark in MARKS if any(mark in pair.marks for pair in used)]
    numbers += f"; some values {', '.join(marks)}" if marks else ""
    sources = shorten(record.source for record in records)
    return Finding(f"{fast} over {slow.title(evidence.machine)}", verdict, numbers, sources)


def _runs_of(evidence: Evidence, records: list[Record]) -> list[Record]:
    """Of every seed."""
    sources = {source for record in records for source in record.sources}
    return [run for series in evidence.series for run in series.runs.values() if sources.issuperset(run.sources)]


def _not_measured(evidence: Evidence, slow: Baseline, fast: str) -> Finding:
    missing = [name for name in (slow.implementations[0], fast) if evidence.named(name) is None]
    numbers = f"no record of {' and '.join(missing)}" if missing else "no record of both at the N and I it speaks of"
    return Finding(f"{fast} over {slow.title(evidence.machine)}", OPEN, numbers)


def fifty_to_hundred(found: Grid[Pair]) -> tuple[str, str] | None:
    """P at large I, for every N."""
    large = {n: [value for i, value in row.items() if i >= LARGE] for n, row in values(found).items()}
    best = {n: max(row) for n, row in large.items() if row}
    if not best:
        return None
    numbers = ", ".join(f"N = {n}: {significant(value)}×" for n, value in best.items())
    return shares([value >= 50 for value in best.values()]), numbers


def up_to(bound: float) -> Tell:
    """The largest ratio anywhere reaches `bound`; in part: half of it."""

    def tell(found: Grid[Pair]) -> tuple[str, str]:
        every = {(n, i): value for n, row in values(found).items() for i, value in row.items()}
        (n, i), best = max(every.items(), key=lambda item: item[1])
        verdict = HOLDS if best >= bound else PART if best >= bound / 2 else FAILS
        return verdict, f"at most {significant(best)}× (N = {n}, I = {plain(i)}); {span(every.values())}"

    return tell


def overtakes(printed: float) -> Tell:
    """For each N the I from which on the faster one wins, against the printed one."""

    def tell(found: Grid[Pair]) -> tuple[str, str] | None:
        flags, parts = [], []
        for n, row in values(found).items():
            if len(row) < 2:
                continue
            win = scaling.win({float(i): value for i, value in row.items()})
            # Ahead from the first I measured on: the crossing lies somewhere below it.
            at = win.crossing or win.start
            flags.append(at is not None and DECADE[0] * printed <= at <= DECADE[1] * printed)
            said = (
                scaling.where(win)
                if at is None
                else f"at most {plain(at)}"
                if win.everywhere
                else f"{significant(at, 2)}"
            )
            parts.append(f"N = {n}: {said}")
        return (shares(flags), "; ".join(parts)) if flags else None

    return tell


def plateau(found: Grid[Pair]) -> tuple[str, str] | None:
    """Rises up to 10^7, is flat from there on: for every N measured on both sides."""
    rises, flats, parts = [], [], []
    for n, row in values(found).items():
        if LARGE not in row or max(row) == LARGE or min(row) == LARGE:
            continue
        before = [row[i] for i in row if i <= LARGE]
        after = [row[i] / row[LARGE] for i in row if i > LARGE]
        rises.append(all(later >= RISE * earlier for earlier, later in pairwise(before)) and before[-1] > before[0])
        flats.append(all(0.8 <= ratio <= 1.25 for ratio in after))
        parts.append(
            f"N = {n}: {significant(before[0])}× at {plain(min(row))}, {significant(before[-1])}× at {plain(LARGE)}, "
            f"{significant(row[max(row)])}× at {plain(max(row))}"
        )
    if not parts:
        return None
    both = [rise and flat for rise, flat in zip(rises, flats, strict=True)]
    verdict = HOLDS if all(both) else PART if any(both) or all(rises) or all(flats) else FAILS
    parts.append(f"rising in {sum(rises)} of {len(rises)}, flat after in {sum(flats)} of {len(flats)}")
    return verdict, "; ".join(parts)


def suffers_at_low_iterations(evidence: Evidence) -> list[Finding]:
    """Fewer iterations accept a larger share, by the counters; and an accepted swap is what costs `gpu` its time, by
    differences of runs at one temperature, in which its start-up cancels. One without the other decides nothing."""
    series = evidence.named("gpu")
    if series is None or evidence.machine is None:
        return []
    results = series.with_runs(series.results).records
    findings = [_acceptance_falls(results), _dearer_when_accepted(evidence.machine, series)]
    if OPEN in (finding.verdict for finding in findings):
        findings = [f if f.verdict == OPEN else replace(f, verdict=NOT_JUDGED) for f in findings]
    return findings


def _acceptance_falls(records: Mapping[Key, Record]) -> Finding:
    whole = {
        key: r for key, r in records.items() if {axis for axis, _ in key} == AXES and "extrapolated" not in r.marks
    }
    rows = {n: row for n, row in grid(whole).items() if min(row) <= 1e4 and max(row) >= 1e6}
    flags, parts, used = [], [], []
    for n, row in rows.items():
        few, many = row[min(row)], row[max(row)]
        flags.append(acceptance(few) > acceptance(many))
        told = [f"{significant(100 * acceptance(r), 2)} % at I = {plain(r.data['iterations'])}" for r in (few, many)]
        parts.append(f"N = {n}: {', '.join(told)}")
        used += [few, many]
    verdict = shares(flags) if flags else OPEN
    return Finding("acceptance rate", verdict, "; ".join(parts) or "no N at both ends", shorten(r.source for r in used))


def _dearer_when_accepted(machine: Machine, series: Series) -> Finding:
    states: dict[int, list[tuple[float, float, str]]] = {}
    for state in states_of(machine, series.implementation, series.records.values()):
        if state.short is not None and state.seconds is not None:
            cost = state.seconds / state.proposals
            states.setdefault(state.size, []).append((state.rate, cost, state.sources))
    flags, parts, used = [], [], []
    for n, found in states.items():
        (low, cheap, first), (high, dear, second) = min(found), max(found)
        if low < high:
            flags.append(dear >= DEARER * cheap)
            told = [
                f"{significant(1e9 * cost)} ns at {significant(100 * rate, 2)} % accepted"
                for rate, cost in ((high, dear), (low, cheap))
            ]
            parts.append(f"N = {n}: {', '.join(told)}")
            used += [first, second]
    verdict, numbers = OPEN, "no two temperatures"
    if flags:
        steady = (run for run in series.runs.values() if run.case.get("t0") == run.case.get("tf"))
        verdict, numbers = trend(shares(flags), "; ".join(parts), steady)
    return Finding(f"{series.implementation}, a proposal", verdict, numbers, "; ".join(used))


def same_as_traditional(evidence: Evidence) -> list[Finding]:
    """Run for run: the moves, cost and counts recorded of a GPU implementation against those recorded of
    `cpu-traditional`. A run that failed its check has none, and is not the same."""
    if evidence.machine is None:
        return []
    rows: dict[tuple[str, int], dict[str, Record]] = {}
    for experiment in (FIGURE1, "sa/crossover"):
        for record in evidence.machine.of(experiment):
            if record.data["status"] in ("ok", "invalid") and not record.data.get("extrapolated"):
                rows.setdefault((record.case_key, record.seed), {}).setdefault(record.implementation, record)
    findings = []
    for name in ("gpu", "gpu-tuned"):
        both = [
            (row[name], row["cpu-traditional"]) for row in rows.values() if name in row and "cpu-traditional" in row
        ]
        if not both:
            continue
        same = sum(_result(fast) is not None and _result(fast) == _result(slow) for fast, slow in both)
        verdict = HOLDS if same == len(both) else FAILS
        numbers = f"{same} of {len(both)} runs accept the swaps of cpu-traditional, one by one, and end at its cost"
        verdict = verdict if name == "gpu" else NOT_JUDGED
        findings.append(Finding(name, verdict, numbers, shorten(r.source for pair in both for r in pair)))
    return findings


def _result(record: Record) -> tuple[object, ...] | None:
    """None where it failed its check."""
    if not record.ok:
        return None
    return (record.data["digest"], record.objective, tuple(sorted(record.counters.items())))


FIGURE1, FIGURE2, QUALITY = "sa/figure1", "sa/figure2", "sa/quality"
ALSO = (FIGURE1, FIGURE2, "sa/crossover")

CLAIMS = (
    Claim(
        "crossover",
        FIGURE1,
        "the GPU based implementation becomes more efficient than the non-parallel implementation for I ≈ 10⁴",
        "section 4, on Figure 1",
        "for every N, `gpu` overtakes the paper's CPU code (the faster of `cpu-delta-matrix` and `cpu-traditional`) "
        "within half a decade of 10⁴; in part: for half of the N",
        ratio_judge(overtakes(1e4), PAPER, "gpu"),
        also=ALSO,
    ),
    Claim(
        "delta-threshold",
        FIGURE1,
        "Until the iteration number becomes ≈ 10⁶, the non-parallel method does not use the Δ-matrix approach because "
        "the acceptance rate of swaps is high",
        "section 4, on Figure 1",
        "for every N, `cpu-delta-matrix` overtakes `cpu-traditional` within half a decade of 10⁶; in part: for half of "
        "the N",
        ratio_judge(overtakes(1e6), TRADITIONAL, "cpu-delta-matrix", [(TRADITIONAL, "cpu-delta")]),
        also=ALSO,
    ),
    Claim(
        "low-iterations",
        FIGURE1,
        "Our parallel implementation uses the delta matrix for all values of I and therefore suffers when the "
        "acceptance rate is high as is the case for low values of I",
        "section 4, on Figure 1",
        "for every N, a larger share of the proposals is accepted at the fewest iterations (≤ 10⁴) than at the most (≥ "
        "10⁶); and at one temperature, without its start-up, a proposal costs `gpu` at least twice as much at the "
        "highest acceptance rate as at the lowest; in part: for half of the N, or one of the two",
        suffers_at_low_iterations,
        also=(*ALSO, "sa/steady"),
    ),
    Claim(
        "same-results",
        FIGURE1,
        "our GPU implementation of the heuristic provides exactly the same results, statistically, as does the "
        "traditionally implemented version",
        "section 5",
        "stricter here: every run of `gpu` recorded beside one of `cpu-traditional` has its accepted swaps, one by "
        "one, and its cost; a run that failed its check counts against it",
        same_as_traditional,
        timed=False,
        also=ALSO,
    ),
    Claim(
        "fifty-to-hundred",
        FIGURE2,
        "For SA runs with large numbers of iterations, we find performance ≈ 50 - 100 times better than that of a "
        "recent non-parallel but very efficient implementation",
        "abstract",
        "for every N, P of `gpu` over the paper's CPU code reaches 50 at some I ≥ 10⁷ (more than 100 is better than "
        "claimed); in part: for half of the N",
        ratio_judge(fifty_to_hundred, PAPER, "gpu"),
        also=ALSO,
    ),
    Claim(
        "hundred-over-delta",
        FIGURE2,
        "performance improvements of up to a factor of 100 versus the non-parallel implementation of the Δ-matrix "
        "approach",
        "section 5",
        "somewhere `gpu` is 100 times as fast as `cpu-delta-matrix`; in part: 50 times",
        ratio_judge(up_to(100), MATRIX, "gpu", [(MATRIX, "gpu-tuned"), *OURS[1:]]),
        also=ALSO,
    ),
    Claim(
        "delta-over-traditional",
        FIGURE2,
        "the non-parallel Δ-matrix approach provides a performance improvement of up a factor of 100 versus the "
        "traditional implementation",
        "section 5; section 2.2",
        "somewhere `cpu-delta-matrix` is 100 times as fast as `cpu-traditional`; in part: 50 times",
        ratio_judge(up_to(100), TRADITIONAL, "cpu-delta-matrix", [(TRADITIONAL, "cpu-delta")]),
        also=ALSO,
    ),
    Claim(
        "ten-thousand",
        FIGURE2,
        "a remarkable performance improvement of up to 10,000 versus the traditional implementation",
        "section 5 (the product of the two factors above, which need not occur in one run)",
        "somewhere `gpu` is 10,000 times as fast as `cpu-traditional` in one and the same run; in part: 5,000 times",
        ratio_judge(up_to(10_000), TRADITIONAL, "gpu", [(TRADITIONAL, "gpu-tuned")]),
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
        ratio_judge(plateau, PAPER, "gpu", compares=True),
        also=ALSO,
    ),
    Claim(
        "longer-is-better",
        QUALITY,
        "statistically, the larger the number of SA iterations, the higher the quality of the solution found",
        "section 2.3",
        "for every instance the mean gap over the same 5 or more seeds falls from each I to the next by more than the "
        "seeds scatter (95 % interval of the difference), or stays 0; in part: for half of them",
        longer_is_better,
        timed=False,
        also=("sa/quality_long", "sa/quality_times"),
    ),
    Claim(
        "one-long-run",
        QUALITY,
        "an SA run with a high number of iterations can not be replaced by many independent SA runs each with a "
        "smaller number of iterations",
        "section 2.3",
        "for every instance and I, the mean gap of one run is below that of the best of ten runs a tenth as long, by "
        "more than two standard errors; in part: in half of the cases that are apart by as much; the others are equal",
        many_short_for_one_long,
        timed=False,
        also=("sa/quality_long", "sa/quality_times"),
    ),
)
