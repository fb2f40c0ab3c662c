"""The claims of Bach, Hasle and Schulz, "Adaptive Large Neighborhood Search on the Graphics Processing Unit".

The paper's algorithms alone decide: `gpu`, and its variants `gpu-array`, `gpu-genetic` and `gpu-local-search`; where
costs alone count, by whatever takes their path. Where the paper compares times with PRA and PRA-8, closed code, ours
stand for them: `cpu-serial`, and `cpu-openmp` on 8 threads. They are the same algorithm as `gpu`, so costs are compared
with the printed ones of PRA instead."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from vicinity_analysis import stats
from vicinity_analysis.claims import (
    FAILS,
    HOLDS,
    NOT_JUDGED,
    PART,
    Claim,
    Evidence,
    Finding,
    Series,
    finding,
    of_same_seeds,
    shares,
    shorten,
    span,
    trend,
)
from vicinity_analysis.inputs.records import Record
from vicinity_analysis.papers.alns.spreads import NAMES, Printed, Spread, above, cost, searches, spread_of
from vicinity_analysis.views.cells import significant
from vicinity_analysis.views.quality import FEWEST
from vicinity_analysis.views.tables import baseline_name

TITLES = {"CMT": "Christofides et al.", "Li_": "Li et al.", "BHS": "BHS"}
# role in a claim -> (its name in the paper's tables, ours); without ours, the printed numbers stand on every machine
ROLES = {
    "gpu": ("gpu-alns", "gpu"),
    "one core": ("pra", "cpu-serial"),
    "eight threads": ("pra-8", "cpu-openmp"),
    "PRA": ("pra", ""),
    "GPU-ALNS": ("gpu-alns", ""),
    "gpu-array": ("", "gpu-array"),
    "gpu-genetic": ("", "gpu-genetic"),
    "gpu-local-search": ("", "gpu-local-search"),
    "gpu-tuned": ("", "gpu-tuned"),
}
# Of `gpu`: the same path, to the bit, so that a seed costs the same. Times are its own.
SAME_PATH = ("gpu-tuned", "gpu-array", "cpu-openmp", "cpu-serial")
ROUNDING = 1e-4  # relative: what printed digits and fixed point can change of a cost
TREND = 0.9  # rank correlation from which on a ratio grows with the size


@dataclass(frozen=True)
class Side:
    """One algorithm: printed, or measured on one machine."""

    label: str
    times: dict[str, Spread]
    costs: dict[str, Spread]
    sizes: dict[str, int]  # instance -> requests
    series: Series | None = None
    runs: dict[str, list[Record]] = field(default_factory=dict)  # instance -> one a seed; none of printed values
    results: dict[str, list[Record]] = field(default_factory=dict)  # and those whose times do not count

    @property
    def time(self) -> np.ndarray:
        return np.array([self.times[instance].mean for instance in self.sizes])

    @property
    def cost(self) -> np.ndarray:
        return np.array([self.costs[instance].mean for instance in self.sizes])

    @property
    def sources(self) -> str:
        return shorten(source for spreads in (self.times, self.costs) for s in spreads.values() for source in s.sources)


Told = tuple[str, str]  # verdict and numbers
Tell = Callable[..., Told]


def judge(
    tell: Tell,
    roles: tuple[str, ...],
    sets: tuple[str, ...],
    measured_only: bool = False,
    several: bool = False,
    costs: bool = False,
    compares: bool = False,
) -> Callable:
    """A judge that hands one side a role to `tell`, set by set. Nothing is found where one of them is not measured;
    with some of the instances only, it is not judged, nor with one that no seed has on all sides: a seed decides how
    many calls a run makes. `several`: nor with few seeds, whose mean says little. `costs`: of nothing else, so that a
    seed that `gpu` lacks is taken from what takes the same path. `compares`: times of one instance with those of
    another."""

    def found(evidence: Evidence) -> list[Finding]:
        printed = Printed(evidence.statements)
        findings = []
        for prefix in sets:
            sizes = printed.requests(prefix)
            sides = [_side(evidence, printed, role, sizes, costs) for role in roles]
            if not sizes or None in sides or (measured_only and evidence.printed):
                continue
            subject = f"{TITLES[prefix]}: {', '.join(side.label for side in sides)}"
            why = _other_threads(sides, roles) or _unmeasured(sides)
            sides = sides if why else _of_same_seeds(sides)
            why = why or _no_common_seed(sides) or (_few_seeds(sides) if several else "")
            verdict, numbers = (NOT_JUDGED, why) if why else tell(*sides)
            if compares and not why:
                every = (record for side in sides for records in side.runs.values() for record in records)
                verdict, numbers = trend(verdict, numbers, every)
            series = [side.series for side in sides if side.series]
            if costs:
                series = [replace(one, marks=one.marks - {"contended"}) for one in series]
            if series:
                findings.append(finding(subject, verdict, numbers, *series))
            else:
                findings.append(Finding(subject, verdict, numbers, shorten(side.sources for side in sides)))
        return findings

    return found


def _side(evidence: Evidence, printed: Printed, role: str, sizes: dict[str, int], costs_alone: bool) -> Side | None:
    theirs, ours = ROLES[role]
    if evidence.printed or not ours:
        times = {i: s for i in sizes if (s := printed.spread(i, theirs, "time"))}
        costs = {i: s for i in sizes if (s := printed.spread(i, theirs, "cost"))}
        return Side(f"{NAMES[theirs]} (published)", times, costs, sizes) if costs else None
    series = evidence.named(ours)
    if series and ours == "gpu" and costs_alone:
        series = _with_same_path(evidence, series)
    side = _of_series(ours, series, sizes) if series else None
    if side is None or not side.runs:
        return None
    if ours.startswith("cpu-") and evidence.machine:
        records = [record for records in side.runs.values() for record in records]
        return replace(side, label=baseline_name(evidence.machine, ours, records))
    return side


def _of_series(label: str, series: Series, sizes: dict[str, int]) -> Side:
    runs, results = (
        {i: records for i, records in searches(of.values()).items() if i in sizes}
        for of in (series.runs, series.results)
    )
    times = {i: spread_of(records, "time") for i, records in runs.items()}
    costs = {i: spread_of(records, "cost") for i, records in results.items()}
    return Side(label, times, costs, sizes, series, runs, results)


def _of_same_seeds(sides: list[Side]) -> list[Side]:
    """What is measured with the seeds alone that all of it has; without any runs where there is no such seed."""
    measured = [side for side in sides if side.series]
    if len(measured) < 2:
        return sides
    series = of_same_seeds([side.series for side in measured if side.series])
    paired = [_of_series(side.label, one, side.sizes) for side, one in zip(measured, series, strict=False)]
    paired = paired or [replace(side, times={}, runs={}) for side in measured]
    return [paired[measured.index(side)] if side in measured else side for side in sides]


def _with_same_path(evidence: Evidence, gpu: Series) -> Series:
    """And the runs of cases and seeds that it has none of."""
    runs, sources = dict(gpu.runs), dict(gpu.sources)
    for other in filter(None, map(evidence.named, SAME_PATH)):
        for (key, seed), record in other.runs.items():
            if (key, seed) not in runs:
                runs[key, seed] = record
                sources[(*key, ("seed", str(seed)))] = record.source
    return replace(gpu, runs=runs, results=runs, sources=sources)


def _other_threads(sides: list[Side], roles: tuple[str, ...]) -> str:
    """The paper's eight threads are eight threads."""
    for side, role in zip(sides, roles, strict=True):
        if role == "eight threads" and side.runs:
            threads = {record.threads for records in side.runs.values() for record in records}
            if threads != {8}:
                return f"{side.label}: not run on 8 threads"
    return ""


def _unmeasured(sides: list[Side]) -> str:
    sizes = sides[0].sizes
    common = [i for i in sizes if all(i in (side.runs if side.series else side.costs) for side in sides)]
    return "" if len(common) == len(sizes) else f"{len(common)} of {len(sizes)} instances measured"


def _no_common_seed(sides: list[Side]) -> str:
    lost = [i for i in sides[0].sizes if any(i not in side.runs for side in sides if side.series)]
    return f"no seed in common of {', '.join(lost)}" if lost else ""


def _few_seeds(sides: list[Side]) -> str:
    """Where an instance has too few."""
    found = {i: len(records) for side in sides for i, records in side.runs.items() if len(records) < FEWEST}
    return f"fewer than {FEWEST} seeds of {', '.join(found)}" if found else ""


def _ratios(slow: Side, fast: Side) -> str:
    return f"{slow.label} ÷ {fast.label}: {span(slow.time / fast.time)}"


def faster_everywhere(gpu: Side, other: Side) -> Told:
    flags = gpu.time < other.time
    return shares(list(flags)), f"faster on {flags.sum()} of {len(flags)}; {_ratios(other, gpu)}"


def faster_on_most(gpu: Side, other: Side) -> Told:
    flags = gpu.time < other.time
    verdict = HOLDS if 2 * flags.sum() > len(flags) else FAILS
    return verdict, f"faster on {flags.sum()} of {len(flags)}; {_ratios(other, gpu)}"


def faster_in_sum(gpu: Side, other: Side) -> Told:
    ratio = other.time.sum() / gpu.time.sum()
    return HOLDS if ratio > 1 else FAILS, f"ratio of the summed mean times {significant(ratio)}×"


def fluctuates_more(gpu: Side, pra: Side) -> Told:
    def relative(side: Side) -> np.ndarray:
        return np.array([(side.times[i].deviation or 0.0) / side.times[i].mean for i in side.sizes])

    ours, theirs = relative(gpu), relative(pra)
    numbers = f"standard deviation over mean of {gpu.label}: {span(100 * ours, ' %')}; PRA: {span(100 * theirs, ' %')}"
    return shares(list(ours > theirs)), numbers


def small_errors(printed_percent: float) -> Callable[[Side, Side], Told]:
    """Cost at most this much above that of PRA on any instance, as printed to two decimals."""

    def tell(gpu: Side, pra: Side) -> Told:
        worse = 100 * (gpu.cost / pra.cost - 1)
        at = list(gpu.sizes)[int(worse.argmax())]
        flags = worse < printed_percent + 0.005
        return shares(list(flags)), f"mean cost above PRA's by at most {worse.max():.2f} % ({at})"

    return tell


def better_on_eight(gpu: Side, pra: Side) -> Told:
    difference = 100 * (gpu.cost / pra.cost - 1)
    better, worse = (difference < -0.005).sum(), (difference > 0.005).sum()
    numbers = f"mean cost lower on {better}, higher on {worse}, equal on {len(difference) - better - worse}"
    return HOLDS if better >= 8 and worse <= 2 else FAILS, numbers


def better_in_sum(gpu: Side, pra: Side) -> Told:
    over = above(gpu.cost.sum(), pra.cost.sum())
    verdict = HOLDS if over < -0.905 + 0.005 else PART if over < 0 else FAILS
    return verdict, f"summed mean costs {over:+.3f} % against PRA's"


def worst_below_best(gpu: Side, other: Side) -> Told:
    flags = [gpu.times[i].most < other.times[i].least for i in gpu.sizes]
    ratios = [other.times[i].least / gpu.times[i].most for i in gpu.sizes]
    return shares(
        flags
    ), f"on {sum(flags)} of {len(flags)}; least of {other.label} ÷ most of {gpu.label}: {span(ratios)}"


def ratio_grows(gpu: Side, other: Side) -> Told:
    ratios, sizes = other.time / gpu.time, np.array(list(gpu.sizes.values()))
    trend = float(np.corrcoef(ratios.argsort().argsort(), sizes.argsort().argsort())[0, 1])
    verdict = HOLDS if trend >= TREND else PART if trend >= TREND / 2 else FAILS
    ends = f"{significant(ratios[sizes.argmin()])}× at {sizes.min()}, {significant(ratios[sizes.argmax()])}× at "
    return verdict, f"{ends}{sizes.max()} requests; rank correlation {trend:.2f}"


def turns_at_a_thousand(gpu: Side, other: Side) -> Told:
    ratios, large = other.time / gpu.time, np.array(list(gpu.sizes.values())) > 1000
    return shares(
        list((ratios > 1) == large)
    ), f"{other.label} ÷ {gpu.label}: {span(ratios[~large])} below 1000 requests, {span(ratios[large])} above"


def as_much_as(printed_ratio: float) -> Callable[[Side, Side], Told]:
    def tell(gpu: Side, other: Side) -> Told:
        ratios = other.time / gpu.time
        at = list(gpu.sizes)[int(ratios.argmax())]
        return HOLDS if ratios.max() >= printed_ratio - 0.05 else FAILS, f"at most {significant(ratios.max())}× ({at})"

    return tell


def no_gain(gpu: Side, variant: Side) -> Told:
    """Neither better, over the seeds by more than they scatter, nor faster in sum."""
    better = [i for i in gpu.sizes if _lower(_costs(gpu, i), _costs(variant, i))]
    ratio = gpu.time.sum() / variant.time.sum()
    over = above(variant.cost.sum(), gpu.cost.sum())
    numbers = f"summed mean costs {over:+.3f} %, lower beyond the scatter of the seeds on {len(better)} of "
    numbers += f"{len(gpu.sizes)}; {gpu.label} ÷ {variant.label}, summed mean times: {significant(ratio)}×"
    flags = (2 * len(better) < len(gpu.sizes), ratio <= 1)
    return (HOLDS if all(flags) else PART if any(flags) else FAILS), numbers


def _costs(side: Side, instance: str) -> dict[int, float]:
    return {record.seed: cost(record) for record in side.results[instance]}


def _lower(base: dict[int, float], other: dict[int, float]) -> bool:
    """The interval of the mean difference, seed by seed, lies above 0."""
    common = sorted(base.keys() & other.keys())
    if len(common) < FEWEST:
        return False
    return stats.estimate(np.array([base[seed] - other[seed] for seed in common]), "mean").low > 0


def in_shared_memory(gpu: Side) -> Told:
    """By the launch policies."""
    policies = [(i, r.data.get("policy") or {}) for i in gpu.sizes for r in gpu.runs[i]]
    if any("in_shared" not in policy for _, policy in policies):
        return NOT_JUDGED, "some records do not say where the solution is"
    flags = [bool(policy["in_shared"]) for _, policy in policies]
    most, at = max((policy.get("shared_bytes", 0), i) for i, policy in policies)
    return shares(flags), f"in {sum(flags)} of {len(flags)} runs; at most {most:,} bytes a block ({at})"


def faster_by(factor: float) -> Callable[[Side, Side], Told]:
    def tell(gpu: Side, other: Side) -> Told:
        ratio = gpu.time.sum() / other.time.sum()
        verdict = HOLDS if ratio >= factor else PART if ratio > 1 else FAILS
        return verdict, f"ratio of the summed mean times {significant(ratio)}×; {_ratios(gpu, other)}"

    return tell


def untested(why: str, beside: Callable[[Evidence], list[Finding]] | None = None) -> Callable:
    """Nothing here is what the claim is about: `gpu` is not judged, and says why. `beside`: told, and does not
    decide."""
    of_gpu = judge(lambda gpu: (NOT_JUDGED, f"not tested: {why}"), ("gpu",), BOTH, measured_only=True)
    return lambda evidence: [*of_gpu(evidence), *(beside(evidence) if beside else [])]


def inside(gpu: Side, theirs: Side) -> Told:
    out = [
        i
        for i in gpu.sizes
        if not (1 - ROUNDING) * theirs.costs[i].least <= gpu.costs[i].mean <= (1 + ROUNDING) * theirs.costs[i].most
    ]
    outside = f"; outside: {', '.join(out)}" if out else ""
    over = above(gpu.cost.sum(), theirs.cost.sum())
    numbers = f"inside on {len(gpu.sizes) - len(out)} of {len(gpu.sizes)}; summed mean costs {over:+.2f} %{outside}"
    apart = [_apart(gpu, theirs, i) for i in gpu.sizes]
    numbers += f"; beyond the scatter lower on {apart.count(-1)}, higher on {apart.count(1)}"
    return shares([i not in out for i in gpu.sizes]), numbers


def _apart(gpu: Side, theirs: Side, instance: str) -> int:
    """-1, 1: lower, higher than their mean by more than two standard errors, by their scatter; 0: neither."""
    mean, deviation = theirs.costs[instance].mean, theirs.costs[instance].deviation or 0.0
    error = 2 * deviation / np.sqrt(max(1, len(gpu.results.get(instance, ())))) + ROUNDING * mean
    difference = gpu.costs[instance].mean - mean
    return int(np.sign(difference)) if abs(difference) > error else 0


CMT, LI = "alns/table1", "alns/table2"
EVERYWHERE = "on every instance: holds; on at least half: in part"
BOTH = ("CMT", "Li_")
OURS_FOR = "Measured against cpu-serial, our code on one core, not PRA, by the same seeds."
SEEDS = "A seed that gpu lacks counts by another implementation that takes the same path."

CLAIMS = (
    Claim(
        "their-algorithm",
        CMT,
        "For both algorithms, we performed 100 repetitions on these instances.",
        "section 4; minimum and maximum of Tables B.3 and B.5",
        "Is gpu their algorithm? Its mean cost over the seeds lies within their minimum and maximum, to 0.01 %, "
        f"{EVERYWHERE}. Beyond the scatter: by more than two of their standard errors. {SEEDS}",
        judge(inside, ("gpu", "GPU-ALNS"), BOTH, measured_only=True, several=True, costs=True),
        timed=False,
        also=(LI,),
    ),
    Claim(
        "small-difference",
        CMT,
        "The difference in solution quality is very small or zero for eight of the instances. For the remaining six "
        "instances, differences are small, with GPU-ALNS being 0.56% worse in the most extreme case.",
        "section 4, Table 1",
        f"Mean cost at most 0.56 % above PRA's printed one {EVERYWHERE}. {SEEDS}",
        judge(small_errors(0.56), ("gpu", "PRA"), ("CMT",), several=True, costs=True),
        timed=False,
    ),
    Claim(
        "faster-on-most",
        CMT,
        "GPU-ALNS is faster than PRA on most instances",
        "section 4, Figure 4",
        f"Mean time less on more than half of the instances. {OURS_FOR}",
        judge(faster_on_most, ("gpu", "one core"), ("CMT",)),
    ),
    Claim(
        "modestly-shorter",
        CMT,
        "For the smaller Christofides et al. instances, we get a modestly shorter runtime relative to the PRA.",
        "section 5",
        f"Summed mean times less. {OURS_FOR}",
        judge(faster_in_sum, ("gpu", "one core"), ("CMT",)),
    ),
    Claim(
        "fluctuates",
        CMT,
        "the runtime fluctuates more",
        "section 4, Figures 4 and 5",
        f"Standard deviation of the time over its mean greater than that printed of PRA, whose iterations are fixed, "
        f"{EVERYWHERE}. Needs {FEWEST} seeds.",
        judge(fluctuates_more, ("gpu", "PRA"), BOTH, several=True),
        also=(LI,),
    ),
    Claim(
        "linked-list",
        CMT,
        "Our experiments have shown that the linked list representation outperforms the array representation in our "
        "code",
        "section 3.2",
        f"Mean time of gpu less than that of gpu-array {EVERYWHERE}.",
        judge(faster_everywhere, ("gpu", "gpu-array"), BOTH),
        also=(LI,),
    ),
    Claim(
        "several-solutions",
        CMT,
        "We conclude that single solution is not a promising design for a GPU based ALNS.",
        "section 3.1",
        "Not tested: it needs a search in which all blocks work on one solution, a kernel an operator.",
        untested("no implementation has all blocks work on one solution"),
        also=(LI,),
    ),
    Claim(
        "factor-five",
        CMT,
        "With this approach we managed to decrease the runtime of the code by a factor five.",
        "appendix A, of tuning the code of worst removal and greedy insertion",
        "Not tested: the code before the tuning is in appendices that are not at hand. Beside it gpu over gpu-tuned, "
        "our tuning of the same path: ratio of the summed mean times at least 5; in part: greater than 1.",
        untested(
            "no implementation is the paper's code before its tuning",
            judge(faster_by(5), ("gpu", "gpu-tuned"), BOTH, measured_only=True),
        ),
        also=(LI,),
    ),
    Claim(
        "cheap-additions",
        CMT,
        "the functionality added after the tuning increased the runtime of the kernel by 21% only",
        "appendix A; added: all operators but one pair, stopping rule, restarts",
        "Not tested: it needs gpu without what was added.",
        untested("no implementation leaves out the further operators, the stopping rule and the restarts"),
        also=(LI,),
    ),
    Claim(
        "shared-memory",
        CMT,
        "For all instances used in our experiments (up to 1200 requests), the solution related data always fitted in "
        "shared memory.",
        "appendix A",
        f"The launch policies of gpu have the solution in shared memory {EVERYWHERE} of its runs. A block may have "
        "more than on the paper's card: the bytes are told.",
        judge(in_shared_memory, ("gpu",), BOTH, measured_only=True),
        timed=False,
        also=(LI,),
    ),
    Claim(
        "genetic",
        CMT,
        "using a simple Genetic Algorithm, but it neither improved the quality of solutions, nor did it speed up the "
        "algorithm",
        "section 3.1",
        "gpu-genetic is better than gpu, by more than the seeds scatter, on fewer than half of the instances; and its "
        "summed mean times are not less. In part: one of the two.",
        judge(no_gain, ("gpu", "gpu-genetic"), BOTH, several=True),
        also=(LI,),
    ),
    Claim(
        "local-search",
        CMT,
        "local search could also be applied inside the ALNS kernel [...]. Our experiments show that this does not "
        "provide a significant improvement.",
        "section 3.6",
        "gpu-local-search is better than gpu, by more than the seeds scatter, on fewer than half of the instances; and "
        "its summed mean times are not less. In part: one of the two.",
        judge(no_gain, ("gpu", "gpu-local-search"), BOTH, several=True),
        also=(LI,),
    ),
    Claim(
        "eight-of-twelve",
        LI,
        "GPU-ALNS outperforms PRA on 8 instances, is worse on 2 instances, and performs equally well on 2 instances.",
        "section 4, Table 2",
        "Mean cost lower than PRA's printed one on at least 8 instances, higher on at most 2; equal: to 0.005 %. "
        f"{SEEDS}",
        judge(better_on_eight, ("gpu", "PRA"), ("Li_",), several=True, costs=True),
        timed=False,
    ),
    Claim(
        "mean-objective",
        LI,
        "On average, the objective value is 0.91% better for GPU-ALNS.",
        "section 4, Table 2",
        "Summed mean costs at least 0.90 % below PRA's printed ones (the paper prints 0.90 and 0.91, errata A4). In "
        f"part: below. {SEEDS}",
        judge(better_in_sum, ("gpu", "PRA"), ("Li_",), several=True, costs=True),
        timed=False,
    ),
    Claim(
        "faster-on-all",
        LI,
        "For the medium sized Li et al. instances we are faster than PRA on all instances.",
        "section 5",
        f"Mean time less {EVERYWHERE}. {OURS_FOR}",
        judge(faster_everywhere, ("gpu", "one core"), ("Li_",)),
    ),
    Claim(
        "worst-below-best",
        LI,
        "its worst case runtime is still less than the best case of PRA for all instances",
        "section 4, Figure 5",
        f"Most of the GPU's times less than the least of the other's {EVERYWHERE}. Needs {FEWEST} seeds. {OURS_FOR}",
        judge(worst_below_best, ("gpu", "one core"), ("Li_",), several=True),
    ),
    Claim(
        "ratio-grows",
        LI,
        "Figure 5 clearly indicates that time ratio increases with instance size.",
        "section 4, Figures 5 and 6",
        f"Rank correlation of time ratio and number of requests at least {TREND}; in part: at least {TREND / 2}. "
        f"{OURS_FOR}",
        judge(ratio_grows, ("gpu", "one core"), ("Li_",), compares=True),
    ),
    Claim(
        "eight-threads",
        LI,
        "PRA-8 is faster than GPU-ALNS for all instances with less than 1000 requests, and slower for the instances "
        "with more than 1000 requests.",
        "section 4, Table 2",
        f"Mean times compare so {EVERYWHERE}. Measured against cpu-openmp, our code, on 8 threads.",
        judge(turns_at_a_thousand, ("gpu", "eight threads"), ("Li_",)),
    ),
    Claim(
        "up-to-seven",
        LI,
        "On the new BHS instances with up to 4500 requests, the GPU-ALNS shows a further improved time ratio of up to "
        "6.9 when comparing to PRA-8",
        "section 5, Table B.10",
        "The largest ratio of mean times rounds to 6.9 or more. The BHS instances were not published: printed only.",
        judge(as_much_as(6.9), ("gpu", "eight threads"), ("BHS",)),
    ),
)
