"""How the claims of Luong, Melab and Talbi are judged; the claims themselves are in claims_lsm.py.

Ratios over one core are the paper's as printed and ours over cpu-serial; all cores stand beside them and do not
decide."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from vicinity_analysis.claims import (
    FAILS,
    HOLDS,
    NOT_JUDGED,
    PART,
    Evidence,
    Finding,
    Series,
    finding,
    runs_at,
    shares,
    shorten,
    span,
    trend,
    within,
)
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Record
from vicinity_analysis.papers.lsm.ranks import RANKS
from vicinity_analysis.papers.lsm.searches import (
    ONE_CORE,
    PRINTED_PARTS,
    PUBLISHED,
    Gain,
    beside,
    between,
    distance,
    label,
    ordered,
    over_one_core,
    size,
    whole,
)
from vicinity_analysis.papers.lsm.searches import shares as shares_of
from vicinity_analysis.study import without
from vicinity_analysis.views import quality
from vicinity_analysis.views.cells import significant
from vicinity_analysis.views.rank_scaling import communication

Judge = Callable[[Evidence], list[Finding]]
FALL = 0.9  # a speed-up may fall by a tenth from row to row and still counts as growing: two digits are printed
PLAIN, TEXTURE = ("gpu", "gpu"), ("gpu-texture", "gpu-tex")  # (our name, that of the published files)
REDUCTION = ("gpu-reduction", "gpu-tex-reduction")
CONTROL = ("gpu-thread-control", "gpu-tex-threadcontrol")
ON_CPU = ("gpu-host-neighborhood", "gpu-tex-cpu-generation")
ANY = tuple(name for _, name in (PLAIN, TEXTURE, REDUCTION, CONTROL))
TABLES = tuple(f"lsm/table{k}" for k in range(2, 10))
TOURS = ("lsm/table6", "lsm/table7")
CLUSTERS = ("cow", "grid")


def _gains(evidence: Evidence, *ways: tuple[str, str]) -> list[Gain]:
    return over_one_core(evidence, tuple(theirs for _, theirs in ways), tuple(ours for ours, _ in ways))


def _told(gain: Gain, verdict: str, numbers: str, evidence: Evidence) -> Finding:
    return finding(gain.subject, verdict, numbers + beside(evidence), *gain.used)


def _trend(gain: Gain, verdict: str, numbers: str) -> tuple[str, str]:
    return trend(verdict, numbers, runs_at(gain.ratios, *gain.used))


def _ends(gain: Gain) -> str:
    first, last = next(iter(gain.ratios)), next(reversed(gain.ratios))
    ends = f"{significant(gain.ratios[first])}× at {label(first)}, {significant(gain.ratios[last])}× at {label(last)}"
    return ends if len(gain.ratios) > 1 else f"{significant(gain.ratios[first])}× at {label(first)}"


def up_to(bound: float) -> Judge:
    """The largest speed-up of the paper's ways over one core reaches `bound`; in part: half of it."""

    def judge(evidence: Evidence) -> list[Finding]:
        gains = over_one_core(evidence, ANY, PUBLISHED)
        if not gains:
            return []
        best = max(gains, key=lambda gain: max(gain.values))
        at, value = max(best.ratios.items(), key=lambda item: item[1])
        verdict = HOLDS if value >= bound else PART if value >= bound / 2 else FAILS
        return [_told(best, verdict, f"at most {significant(value)}× ({label(at)})", evidence)]

    return judge


def range_and_growth(low: float) -> Judge:
    """Every speed-up of the plain way at least `low`, and growing."""

    def judge(evidence: Evidence) -> list[Finding]:
        findings = []
        for gain in _gains(evidence, PLAIN):
            flags = [min(gain.values) >= low, _grows(gain.values)]
            numbers = f"{_ends(gain)}; {span(gain.values)}"
            findings.append(_told(gain, *_trend(gain, shares(flags), numbers), evidence))
        return findings

    return judge


def _grows(values: Sequence[float]) -> bool:
    return all(later >= FALL * earlier for earlier, later in pairwise(values)) and values[-1] > values[0]


def _ends_and_fall(gain: Gain) -> str:
    """With the largest fall from a row to the next, where this is more than noise: it decides against growth."""
    (at, before), (then, after) = min(pairwise(gain.ratios.items()), key=lambda pair: pair[1][1] / pair[0][1])
    fall = f"; falls from {significant(before)}× at {label(at)} to {significant(after)}× at {label(then)}"
    return _ends(gain) + fall * (after < FALL * before)


def grows(neighborhood: str = "", *ways: tuple[str, str]) -> Judge:
    """The speed-up over one core grows with the size of the instance."""

    def judge(evidence: Evidence) -> list[Finding]:
        gains = [gain.of(neighborhood) for gain in _gains(evidence, *(ways or (TEXTURE,)))]
        kept = [gain for gain in gains if len(gain.ratios) >= 3]
        return [_told(g, *_trend(g, HOLDS if _grows(g.values) else FAILS, _ends_and_fall(g)), evidence) for g in kept]

    return judge


def faster_everywhere(neighborhood: str = "") -> Judge:
    """With texture memory every row is faster than one core."""

    def judge(evidence: Evidence) -> list[Finding]:
        gains = [gain.of(neighborhood) for gain in _gains(evidence, TEXTURE)]
        found = [(gain, [ratio > 1 for ratio in gain.values]) for gain in gains if gain.ratios]
        return [
            _told(g, shares(flags), f"{sum(flags)} of {len(flags)} rows; {_ends(g)}", evidence) for g, flags in found
        ]

    return judge


def loses_below(first: int, way: tuple[str, str]) -> Judge:
    """At Hamming distance one: slower than one core below n = `first`, faster from it on."""

    def judge(evidence: Evidence) -> list[Finding]:
        findings = []
        for gain in (gain.of("hamming1") for gain in _gains(evidence, way)):
            small = [ratio <= 1 for key, ratio in gain.ratios.items() if size(key)[0] < first]
            large = [ratio > 1 for key, ratio in gain.ratios.items() if size(key)[0] >= first]
            if small and large:
                verdict = HOLDS if all(small + large) else PART if all(small) or all(large) else FAILS
                wins = next((label(key) for key, ratio in gain.ratios.items() if ratio > 1), "no instance")
                findings.append(_told(gain, verdict, f"faster from {wins} on; {_ends(gain)}", evidence))
        return findings

    return judge


def texture_helps(evidence: Evidence) -> list[Finding]:
    """t(gpu) / t(gpu-texture) at least 1.1 in every row."""
    gains = between(evidence, TEXTURE, PLAIN)
    return [finding(g.subject, within(g.values, 1.1, math.inf), span(g.values), *g.used) for g in gains]


def texture_helps_less(evidence: Evidence) -> list[Finding]:
    """On a card with a cache the median gain is below 1.3; printed: the M2050 is that card, and gains least of the
    four."""
    gains = between(evidence, TEXTURE, PLAIN)
    if not gains:
        return []
    medians = {gain.subject: float(np.median(gain.values)) for gain in gains}
    cached = next((gain for gain in gains if evidence.machine or "M2050" in gain.subject), None)
    if cached is None:
        return []
    least = min(medians.values()) == medians[cached.subject]
    told = "; ".join(f"{subject}: {significant(median)}× in the median" for subject, median in medians.items())
    return [finding(cached.subject, HOLDS if least and medians[cached.subject] < 1.3 else FAILS, told, *cached.used)]


def larger_neighborhood(evidence: Evidence) -> list[Finding]:
    """The speed-up of a pair of flips against that of one flip, on the same instance."""
    findings = []
    for gain in _gains(evidence, TEXTURE):
        one, two = ({key[:2]: ratio for key, ratio in gain.of(f"hamming{d}").ratios.items()} for d in (1, 2))
        common = [key for key in one if key in two]
        if common:
            flags = [two[key] > one[key] for key in common]
            numbers = f"{sum(flags)} of {len(flags)} instances; one flip {span(one[k] for k in common)}, "
            numbers += f"two {span(two[k] for k in common)}"
            both = replace(gain, ratios={key: ratio for key, ratio in gain.ratios.items() if key[:2] in common})
            findings.append(_told(gain, *_trend(both, shares(flags), numbers), evidence))
    return findings


def quadratic(evidence: Evidence) -> list[Finding]:
    """d log time / d log dimension over the upper half of the dimensions, on one core."""
    findings = []
    for series in evidence.of("cpu"):
        if not evidence.printed and series.implementation != ONE_CORE:
            continue
        cases = {size(key)[0]: key for key in series.times}
        high = max(cases, default=0.0)
        if high >= 2 and high / 2 in cases:
            ends = cases[high / 2], cases[high]
            power = math.log2(series.times[ends[1]] / series.times[ends[0]])
            verdict = HOLDS if 1.7 <= power <= 2.3 else FAILS
            numbers = f"time grows as the dimension to the power {power:.2f} between {high / 2:g} and {high:g}"
            findings.append(finding(series.label, *trend(verdict, numbers, runs_at(ends, series)), series))
    return findings


def double_is_better(evidence: Evidence) -> list[Finding]:
    """Objectives of runs that differ in precision only; minimised."""
    found: dict[str, dict[tuple[Key, int], Record]] = {"float": {}, "double": {}}
    for series in evidence.series:
        for (key, seed), record in series.runs.items():
            precision = record.case.get("precision")
            if precision in ("float", "double") and quality.usable(record):
                found[precision].setdefault((without(key, "precision"), seed), record)
    common = [key for key in found["float"] if key in found["double"]]
    if not common:
        return []
    single, double = ([found[precision][key].data["objective"] for key in common] for precision in ("float", "double"))
    flags = [two < one for one, two in zip(single, double, strict=True)]
    numbers = f"double precision ends lower in {sum(flags)} of {len(flags)} runs; mean {np.mean(double) * 1e-9:.4f} "
    numbers += f"against {np.mean(single) * 1e-9:.4f}"
    sources = (found[precision][key].source for key in common for precision in found)
    return [Finding("objective by precision", shares(flags), numbers, shorten(sources))]


LARGE = 2392  # cities from which on the paper's cards failed


def fails_on_large(evidence: Evidence) -> list[Finding]:
    """Instances from pr2392 on that could not be run. Printed: the three cards the paper speaks of."""
    findings = []
    for name in ("gpu", "gpu-tex") if evidence.printed else ("gpu", "gpu-texture"):
        for series in (one for one in evidence.series if one.implementation == name and "M2050" not in one.label):
            ran = _large(series)
            failed = ["" for _ in range(3 - len(ran))] if evidence.printed else _failed(evidence, name)
            if ran or failed:
                verdict = (HOLDS if evidence.printed or not ran else PART) if failed else FAILS
                numbers = f"{len(failed)} of {len(ran) + len(failed)} failed"
                findings.append(finding(series.label, verdict, numbers + _naming("ran", ran), series))
    return findings


def _large(series: Series) -> list[str]:
    return [label(key) for key in ordered(series.times) if size(key)[0] >= LARGE]


def _failed(evidence: Evidence, implementation: str) -> list[str]:
    """Large instances that were there and could not be run, or not rightly."""
    records = [r for name in TOURS for r in evidence.machine.of(name)] if evidence.machine else []
    failed = [r for r in records if r.implementation == implementation and not r.ok and not r.data.get("missing_input")]
    names = dict.fromkeys(str(r.case.get("instance")) for r in failed)
    return [name for name in names if size((("instance", name),))[0] >= LARGE]


def _naming(what: str, names: Sequence[str]) -> str:
    return f"; {what}: {', '.join(names)}" if names else ""


def control_runs_all(evidence: Evidence) -> list[Finding]:
    """A row counts once its search came to the end of its trials: one cut short before has no thread control."""
    findings = []
    for series in evidence.series:
        if series.implementation in CONTROL:
            ran, failed = _large(series), _failed(evidence, series.implementation)
            untried = [label(key) for key, r in series.records.items() if size(key)[0] >= LARGE and not _tuned(r)]
            tuned = [name for name in ran if name not in untried]
            if not ran and not failed:
                continue
            numbers = f"{len(tuned)} of 3 ran with thread control" + (f": {', '.join(tuned)}" if tuned else "")
            numbers += _naming("failed", failed)
            numbers += _naming("ended before their trials did, and do not count", untried)
            verdict = HOLDS if len(tuned) == 3 else PART if tuned else FAILS if failed else NOT_JUDGED
            findings.append(finding(series.label, verdict, numbers, series))
    return findings


def _tuned(record: Record) -> bool:
    policy = record.data.get("policy") or {}
    return bool(policy.get("tuned")) and policy.get("shapes_tried", 0) > 0


def control_gains(evidence: Evidence) -> list[Finding]:
    """t(gpu-texture) / t(gpu-thread-control) between 1.01 and 1.05, where all iterations were run and the trials came
    to their end: in fewer they would weigh too much."""
    findings = []
    for gain in between(evidence, CONTROL, TEXTURE):
        records = gain.used[0].records
        kept = [
            ratio
            for key, ratio in gain.ratios.items()
            if evidence.printed or (whole(records[key]) and _tuned(records[key]))
        ]
        if kept:
            findings.append(finding(gain.subject, within(kept, 1.01, 1.05), span(kept), *gain.used))
    return findings


WHOLE_SOLUTIONS = "solutions_by_host"  # policy of a search to which the host copies every neighbour's whole solution


def _as_the_paper(judge: Judge) -> Judge:
    """Judges where the host copies whole neighbour solutions, as the paper's does (section 3.1); withholds a verdict
    where it copies the indices of what changes, a few bytes a neighbour."""

    def judged(evidence: Evidence) -> list[Finding]:
        series = evidence.named(ON_CPU[0]) if evidence.machine else None
        if series is None or all((r.data.get("policy") or {}).get(WHOLE_SOLUTIONS) for r in series.records.values()):
            return judge(evidence)
        why = "not judged: the host copies index tuples, the paper's copies whole neighbour solutions"
        return [finding(series.label, NOT_JUDGED, why, series)]

    return judged


@_as_the_paper
def transfers_dominate(evidence: Evidence) -> list[Finding]:
    """Share of the transfers where neighbours are generated on the CPU: 70 to 80 % in every row."""
    findings = []
    for series in evidence.series:
        if series.implementation not in ON_CPU:
            continue
        rows: dict[Key, float] = {key: parts[PRINTED_PARTS["transfer"]] for key, parts in series.shares.items()}
        measured = {key: shares_of(record) for key, record in series.records.items()}
        rows |= {key: parts["transfer"] for key, parts in measured.items() if parts}
        if rows:
            values = list(ordered(rows).values())
            findings.append(finding(series.label, within(values, 70, 80), span(values, " %"), series))
    return findings


@_as_the_paper
def diminishes(evidence: Evidence) -> list[Finding]:
    """The speed-up over one core falls with the size where neighbours are generated on the CPU."""
    found = [gain for gain in _gains(evidence, ON_CPU) if len(gain.ratios) >= 3]
    findings = []
    for gain in found:
        falls = all(later * FALL <= earlier for earlier, later in pairwise(gain.values))
        verdict = HOLDS if falls and gain.values[-1] < gain.values[0] else FAILS
        findings.append(_told(gain, *_trend(gain, verdict, _ends(gain)), evidence))
    return findings


@_as_the_paper
def generate_on_gpu(evidence: Evidence) -> list[Finding]:
    """t(neighbours from the CPU) / t(neighbours on the GPU) above 1 in every row."""
    gains = between(evidence, TEXTURE, ON_CPU)
    flagged = [(gain, [ratio > 1 for ratio in gain.values]) for gain in gains]
    return [finding(g.subject, shares(flags), f"{_ends(g)}; {span(g.values)}", *g.used) for g, flags in flagged]


def reduction_gains(evidence: Evidence) -> list[Finding]:
    """Most rows gain 10 to 20 %, by neighbourhood. Ours: over `gpu`, which evaluates in the same way."""
    findings = []
    for both in between(evidence, REDUCTION, TEXTURE if evidence.printed else PLAIN):
        for neighborhood in dict.fromkeys(map(distance, both.ratios)):
            gain = both.of(neighborhood)
            inside = sum(1.1 <= ratio <= 1.2 for ratio in gain.values)
            better = sum(ratio > 1 for ratio in gain.values)
            half = len(gain.values) / 2
            verdict = HOLDS if inside > half else PART if better > half else FAILS
            numbers = f"{inside} of {len(gain.values)} inside 1.1 to 1.2, {better} above 1; {_ends(gain)}"
            subject = f"{both.subject}, Hamming {neighborhood.removeprefix('hamming')}"
            findings.append(finding(subject, verdict, numbers, *gain.used))
    return findings


def same_moves(evidence: Evidence) -> list[Finding]:
    """Every run of the paper's own ways, those that failed their check included, against the reference: digest of the
    moves, solution and count of iterations."""
    findings = []
    for name in (*PUBLISHED, ON_CPU[0]) if evidence.machine else ():
        records = [r for table in TABLES for r in evidence.machine.of(table) if r.implementation == name]
        records = [r for r in records if r.data["status"] != "skipped"]
        same = [r for r in records if r.data.get("verified") and r.data.get("digest") == r.data.get("reference_digest")]
        if records:
            numbers = f"{len(same)} of {len(records)} runs identical with the CPU's, move for move"
            verdict = HOLDS if len(same) == len(records) else FAILS
            findings.append(Finding(name, verdict, numbers, shorten(r.source for r in records)))
    return findings


def _processes(evidence: Evidence) -> list[Gain]:
    """Speed-ups of clusters and grids, and of processes on one host, over one core."""
    return [gain for gain in over_one_core(evidence, CLUSTERS, (RANKS,)) if len(gain.ratios) >= 3]


def _peak(gain: Gain) -> int:
    """Which row, by size, has the largest speed-up."""
    return max(range(len(gain.values)), key=lambda row: gain.values[row])


def peaks(evidence: Evidence) -> list[Finding]:
    """The largest speed-up is at a middle size."""
    findings = []
    for gain in _processes(evidence):
        at, last = _peak(gain), gain.values[-1]
        falls = 0 < at < len(gain.values) - 1 and last < FALL * gain.values[at]
        verdict = HOLDS if falls else FAILS
        largest = f"largest {significant(gain.values[at])}× at {label(list(gain.ratios)[at])}; {_ends(gain)}"
        findings.append(finding(gain.subject, *_trend(gain, verdict, largest), *gain.used))
    return findings


def communication_causes_the_fall(evidence: Evidence) -> list[Finding]:
    """Beyond the peak the share of communication must grow with the size, since the speed-up falls with it."""
    findings = []
    for gain in _processes(evidence) if evidence.machine else ():
        (ours,) = (series for series in gain.used if series.implementation == RANKS)
        measured = {key: communication(ours.records[key]) for key in gain.ratios}
        known = {key: share for key, share in measured.items() if share is not None}
        if len(known) < len(gain.ratios):
            continue
        values = list(known.values())
        beyond = values[_peak(gain) :]
        told = ", ".join(f"{100 * share:.1f} % at {label(key)}" for key, share in known.items())
        if len(beyond) < 2:
            findings.append(finding(gain.subject, NOT_JUDGED, f"no fall to explain; communication {told}", *gain.used))
            continue
        verdict = HOLDS if all(later > earlier for earlier, later in pairwise(beyond)) else FAILS
        findings.append(finding(gain.subject, *_trend(gain, verdict, f"communication {told}"), *gain.used))
    return findings


def gpu_beats_processes(evidence: Evidence) -> list[Finding]:
    """Speed-up of the GPU with textures over that of the processes, in every row. Printed: configuration by
    configuration, which is in the order of the print."""
    cards = {g.subject: g for g in over_one_core(evidence, (TEXTURE[1],), (TEXTURE[0],))}
    findings = []
    if evidence.machine is None:
        clusters = [g for g in over_one_core(evidence, CLUSTERS, ()) if g.ratios]
        pairs = [(g, card) for g in clusters if (card := _of_configuration(evidence, g, list(cards.values())))]
    else:
        pairs = [(g, card) for g in over_one_core(evidence, (), (RANKS,)) for card in cards.values()]
    for processes, card in pairs:
        ratios = {key: card.ratios[key] / processes.ratios[key] for key in processes.ratios if key in card.ratios}
        if ratios:
            told = Gain(f"{card.subject} against {processes.subject}", ratios, (*card.used, *processes.used))
            findings.append(finding(told.subject, shares([r > 1 for r in told.values]), span(told.values), *told.used))
    return findings


def _of_configuration(evidence: Evidence, gain: Gain, others: list[Gain]) -> Gain | None:
    """The one of `others` that the table prints in the same configuration: each has a column of either kind."""
    same = [g for g in over_one_core(evidence, (gain.used[0].implementation,), ()) if g.ratios]
    position = [g.subject for g in same].index(gain.subject)
    return others[position] if position < len(others) else None


def grid_below_cluster(evidence: Evidence) -> list[Finding]:
    """Printed speed-ups of the grid over those of the cluster, configuration by configuration."""
    findings = []
    for grid in over_one_core(evidence, ("grid",), ()) if evidence.machine is None else ():
        cluster = _of_configuration(evidence, grid, over_one_core(evidence, ("cow",), ()))
        if cluster:
            ratios = [grid.ratios[key] / cluster.ratios[key] for key in grid.ratios if key in cluster.ratios]
            numbers = f"grid over cluster: {span(ratios)}"
            used = (*grid.used, *cluster.used)
            findings.append(
                finding(f"{grid.subject} against {cluster.subject}", shares([r < 1 for r in ratios]), numbers, *used)
            )
    return findings


LATE = 0.9  # of the iterations: where half of the searches find their best after them, they still improve at the end
SEEDS = 10  # a mean gap over fewer says nothing
LESS = 0.9  # of the gap: what ten times as many iterations leave of it where a search has converged


def converged(evidence: Evidence) -> list[Finding]:
    """Whole searches of 10000 iterations found their best before the last tenth, row by row in most seeds; ten times as
    many iterations take less than a tenth off the mean gap, instance by instance."""
    findings = []
    records = [r for series in evidence.series for r in series.runs.values() if whole(r)]
    ends = {r.case_key + f" {r.seed}": r for r in records if r.case.get("iterations") == 10_000}
    if ends:
        rows: dict[str, list[bool]] = {}
        for record in ends.values():
            rows.setdefault(_row(record), []).append(record.counters.get("best_iteration", 0) > LATE * 10_000)
        late = [row for row, flags in rows.items() if 2 * sum(flags) >= len(flags)]
        numbers = f"{len(rows) - len(late)} of {len(rows)} rows found their best in the first nine tenths"
        sources = shorten(r.source for r in ends.values())
        verdict = shares([row not in late for row in rows])
        findings.append(
            Finding("when the best was found", verdict, numbers + _naming("still improving", late), sources)
        )
    gaps: dict[str, dict[int, dict[int, float]]] = {}
    for record in (r for r in records if quality.usable(r)):
        gap, instance = quality.gap_of(record), record.case.get("instance")
        if gap is not None and instance:
            gaps.setdefault(instance, {}).setdefault(record.case["iterations"], {})[record.seed] = gap
    for instance, by_length in gaps.items():
        short, long = by_length.get(10_000, {}), by_length.get(100_000, {})
        common = [seed for seed in short if seed in long]
        if common:
            before, after = (float(np.mean([found[seed] for seed in common])) for found in (short, long))
            numbers = f"{before:.2f} % after 10000, {after:.2f} % after 100000 ({len(common)} seeds)"
            enough = len(common) >= SEEDS
            verdict = (HOLDS if after >= LESS * before else FAILS) if enough else NOT_JUDGED
            numbers += "" if enough else f"; not judged: fewer than {SEEDS} seeds"
            used = shorten(r.source for r in records if r.case.get("instance") == instance)
            findings.append(Finding(f"mean gap, {instance}", verdict, numbers, used))
    return findings


def _row(record: Record) -> str:
    return label(tuple((axis, str(value)) for axis, value in record.case.items() if value is not None))
