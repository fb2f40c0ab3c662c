"""The claims of Campeotto, Dovier, Fioretto and Pontelli, "A GPU Implementation of Large Neighborhood Search for
Solving Constraint Optimization Problems", section 5.

CPU-LNS is cpu-serial, GPU-LNS is gpu. JaCoP and OscaR stand as printed. A printed value that cannot be (errata N4, N5,
N15) is evidence of nothing."""

from collections.abc import Callable
from itertools import pairwise

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
    runs_at,
    same_results,
    shares,
    span,
    trend,
)
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import ratio_value, shorten
from vicinity_analysis.papers.lns.printed import (
    BENCHMARKS,
    CLOSE,
    COLOURING,
    CSP,
    INSTANCES,
    NAMES,
    OTHERS,
    QAP,
    by_instance,
    find,
    maxima,
    runs_of,
    why_impossible,
)
from vicinity_analysis.views.cells import significant

ORDER = 8.6  # the least speed-up that the paper calls an order of magnitude (Table 1, 8.64)
Speedups = dict[Key, float]
Tell = Callable[[Speedups], tuple[str, str]]


def _speedups(evidence: Evidence) -> tuple[Speedups, tuple[Series, ...]]:
    """GPU over one core, by case; measured: over the seeds that both have."""
    if evidence.printed:
        gpu = evidence.named("gpu-lns")
        return (gpu.speedups, (gpu,)) if gpu else ({}, ())
    gpu, cpu = evidence.named("gpu"), evidence.named("cpu-serial")
    same = of_same_seeds([gpu, cpu]) if gpu and cpu else []
    if not same:
        return {}, ()
    gpu, cpu = same
    return {key: ratio_value(cpu.records[key], record) for key, record in gpu.records.items()}, (gpu, cpu)


def on_speedups(tell: Tell, compares: bool = True) -> Callable[[Evidence], list[Finding]]:
    """`compares`: the speed-ups with each other, from case to case."""

    def judge(evidence: Evidence) -> list[Finding]:
        speedups, series = _speedups(evidence)
        if not speedups:
            return []
        verdict, numbers = tell(speedups)
        if compares and verdict != NOT_JUDGED:
            verdict, numbers = trend(verdict, numbers, runs_at(speedups, *series))
        subject = "GPU-LNS against CPU-LNS" if evidence.printed else "gpu against cpu-serial"
        return [finding(subject, verdict, numbers, *series)]

    return judge


def _walkers(key: Key) -> int:
    return int(dict(key)["subsets"]) * int(dict(key)["starts"])


def _incomplete(missing: str) -> tuple[str, str]:
    return NOT_JUDGED, f"not measured: {missing}"


def order_of_magnitude(speedups: Speedups) -> tuple[str, str]:
    most = [ratio for key, ratio in speedups.items() if _walkers(key) == 10_000]
    if not most:
        return _incomplete("100 x 100 starting points")
    return shares([ratio >= ORDER for ratio in most]), f"with 10000 starting points {span(most)}"


def grows_with_starting_points(speedups: Speedups) -> tuple[str, str]:
    """Of the same strategy and |N|, from each number of starting points to the next."""
    steps: list[float] = []
    for group in _grouped(speedups, ("subsets", "starts")).values():
        ratios = [ratio for _, ratio in sorted((_walkers(key), ratio) for key, ratio in group.items())]
        steps += [after / before for before, after in pairwise(ratios)]
    if not steps:
        return _incomplete("two numbers of starting points")
    return shares([step > 1 for step in steps]), f"from a number of starting points to the next {span(steps)}"


def larger_neighbourhoods(speedups: Speedups) -> tuple[str, str]:
    """Of the same strategy, t and m."""
    ratios = []
    for group in _grouped({k: v for k, v in speedups.items() if dict(k)["strategy"] != "CE"}, ("released",)).values():
        ordered = [ratio for _, ratio in sorted((int(dict(key)["released"]), ratio) for key, ratio in group.items())]
        ratios += [after / before for before, after in pairwise(ordered)]
    if not ratios:
        return _incomplete("two sizes of neighbourhoods")
    return shares(
        [ratio > 1 for ratio in ratios]
    ), f"speed-up with the larger |N| over that with the smaller {span(ratios)}"


def best_strategies(expected: tuple[str, ...]) -> Tell:
    """Of the six, by their best speed-ups, these come first, in any order."""

    def tell(speedups: Speedups) -> tuple[str, str]:
        best: dict[str, float] = {}
        for key, ratio in speedups.items():
            strategy = dict(key)["strategy"]
            best[strategy] = max(ratio, best.get(strategy, 0.0))
        if len(best) < 6:
            return _incomplete(f"{6 - len(best)} of the six strategies")
        ranked = sorted(best, key=lambda name: -best[name])
        common = len(set(ranked[: len(expected)]) & set(expected))
        verdict = HOLDS if common == len(expected) else PART if common else FAILS
        return verdict, "best speed-ups: " + ", ".join(f"{name} {significant(best[name])}×" for name in ranked)

    return tell


def _grouped(speedups: Speedups, without: tuple[str, ...]) -> dict[Key, Speedups]:
    found: dict[Key, Speedups] = {}
    for key, ratio in speedups.items():
        rest = tuple(item for item in key if item[0] not in without)
        found.setdefault(rest, {})[key] = ratio
    return found


def their_values(evidence: Evidence) -> list[Finding]:
    """Mean objectives beside the column Max; impossible values are left out."""
    gpu = evidence.named("gpu")
    if evidence.printed or gpu is None:
        return []
    flags, ratios, sources = [], [], []
    for key, o in maxima(evidence.statements).items():
        runs = runs_of([record for (at, _), record in gpu.results.items() if at == key])
        if runs is None or why_impossible(o):
            continue
        ratios.append(runs.mean / o.value)
        flags.append(abs(ratios[-1] - 1) <= CLOSE)
        sources += [record.source for record in runs.records]
    if not flags:
        return []
    numbers = f"mean objective over the printed one {span(ratios)}; {sum(flags)} of {len(flags)} within 5 %"
    return [Finding("gpu", shares(flags), numbers, shorten(sources))]


def their_solutions(evidence: Evidence) -> list[Finding]:
    """Means of Table 4 beside those printed of GPU-LNS, of the instances that are known. A finding an instance."""
    gpu = evidence.named("gpu")
    if evidence.printed or gpu is None:
        return []
    findings = []
    for name, (instance, same) in INSTANCES[QAP].items():
        o = find(evidence.statements, name, "gpu-lns", "cost")
        runs = runs_of(by_instance(gpu.results.values()).get(instance, []))
        if not same or o is None or runs is None or why_impossible(o):
            continue
        ratio = runs.mean / o.value
        numbers = f"{runs.mean:,.1f} over {len(runs.records)} seeds; printed {o.text}, sd {o.spread}: {ratio:.2f} of it"
        sources = shorten([*(record.source for record in runs.records), o.source])
        findings.append(Finding(f"{instance}: gpu", HOLDS if abs(ratio - 1) <= CLOSE else FAILS, numbers, sources))
    return findings


def better_than_other(experiment: str, faster: bool) -> Callable[[Evidence], list[Finding]]:
    """GPU-LNS reaches a better mean than the other solver's printed best; `faster`: and in less time. A finding an
    instance."""
    other = OTHERS[experiment]

    def judge(evidence: Evidence) -> list[Finding]:
        findings = []
        for printed, (instance, same) in INSTANCES[experiment].items():
            theirs = find(evidence.statements, printed, other, "cost")
            their_time = find(evidence.statements, printed, other, "time")
            if theirs is None or their_time is None:
                continue
            found = _ours(evidence, printed, instance)
            if found is None:
                continue
            value, seconds, why, source, maximises = found
            subject = f"{printed}: GPU-LNS against {NAMES[other]}"
            numbers = f"{value:,.1f}".removesuffix(".0") + f" in {significant(seconds)} s; "
            numbers += f"{NAMES[other]} {theirs.text} in {their_time.text} s"
            ruled_out = why or why_impossible(theirs)
            if ruled_out:
                whose = "the first" if why else f"that of {NAMES[other]}"
                verdict, numbers = NOT_JUDGED, f"{numbers}: {whose} is impossible: {ruled_out}"
            elif not evidence.printed and not same:
                verdict, numbers = NOT_JUDGED, f"{numbers}: the paper's instance is not known"
            else:
                better = value > theirs.value if maximises else value < theirs.value
                sooner = seconds < their_time.value or not faster
                verdict = HOLDS if better and sooner else PART if better else FAILS
            findings.append(Finding(subject, verdict, numbers, shorten([source, theirs.source])))
        return findings

    return judge


def _ours(evidence: Evidence, printed: str, instance: str) -> tuple[float, float, str, str, bool] | None:
    """Value, seconds, why it cannot be, source, whether it is maximised."""
    if evidence.printed:
        value, time = (find(evidence.statements, printed, "gpu-lns", metric) for metric in ("cost", "time"))
        if value is None or time is None:
            return None
        return value.value, time.value, why_impossible(value), value.source, "maximization" in value.notes
    gpu = evidence.named("gpu")
    if gpu is None:
        return None
    found, timed = (runs_of(by_instance(of.values()).get(instance, [])) for of in (gpu.results, gpu.runs))
    if found is None or timed is None:
        return None
    return found.mean, timed.seconds, "", shorten(record.source for record in found.records), found.maximises


CLAIMS = (
    Claim(
        "order-of-magnitude",
        CSP,
        "When the number of SP_i,j increases, speedups of one order of magnitude w.r.t. the sequential implementation "
        "are obtained.",
        "section 5, Table 1",
        f"Speed-up over one core at least {ORDER} with 100 x 100 starting points, for both |N|; for one: in part.",
        on_speedups(order_of_magnitude, compares=False),
    ),
    Claim(
        "grows-with-starting-points",
        CSP,
        "A high number of parallel tasks compensate both the different speed of the GPU cores w.r.t. the CPU cores and "
        "the memory latency of the device memory.",
        "section 5, Table 1",
        "The speed-up grows from each number of starting points to the next; in at least half: in part.",
        on_speedups(grows_with_starting_points),
    ),
    Claim(
        "same-sequence",
        COLOURING,
        "Since in this experiments our goal is just to compare CPU and GPU times, we run tests with the same "
        "pseudo-random sequence",
        "section 5, Table 2",
        "Every GPU run has the digest of the CPU's.",
        same_results,
        timed=False,
    ),
    Claim(
        "their-values",
        COLOURING,
        "Results are reported in Table 2.",
        "section 5, Table 2, column Max",
        "Is gpu their algorithm? Its mean objective over the seeds is within 5 % of the printed one in every row that "
        "can be right: holds; in at least half: in part.",
        their_values,
        timed=False,
    ),
    Claim(
        "larger-neighbourhoods",
        COLOURING,
        "Better speedups are obtained for larger neighborhoods",
        "section 5, Table 2",
        "At the same strategy, t and m, the speed-up with the larger |N| is greater everywhere: holds; in at least "
        "half: in part. CE has no two rows of this kind.",
        on_speedups(larger_neighbourhoods),
    ),
    Claim(
        "less-demanding",
        COLOURING,
        "and in particular for the RL method and the CE method which are the less demanding strategies",
        "section 5, Table 2",
        "By their best speed-ups RL and CE come first of the six; one of them: in part.",
        on_speedups(best_strategies(("RL", "CE"))),
    ),
    Claim(
        "complete-first",
        COLOURING,
        "the higher speedups are obtained by the CE strategy",
        "section 5, Table 2",
        "The best speed-up of CE is the greatest of the six.",
        on_speedups(best_strategies(("CE",))),
    ),
    Claim(
        "against-cp",
        BENCHMARKS,
        "Good results are also obtained by comparing the solver against standard CP and LNS.",
        "sections 5 and 6, Table 3",
        "The mean of the best solutions is better than JaCoP's after 600 s. Impossible values, and an instance that is "
        "not the paper's, are not judged.",
        better_than_other(BENCHMARKS, faster=False),
    ),
    Claim(
        "their-solutions",
        QAP,
        "For both systems results are averaged on 20 runs and standard deviation of best results is reported.",
        "section 5, Table 4, column Best Sol",
        "Is gpu their algorithm? Its mean cost over the seeds is within 5 % of that printed of GPU-LNS, on each "
        "instance that is known and whose printed value can be right.",
        their_solutions,
        timed=False,
    ),
    Claim(
        "against-lns",
        QAP,
        "The GPU-LNS version of the solver outperforms OscaR",
        "section 5, Table 4",
        "The mean of the best solutions is lower than OscaR's, in less time; in part: lower. Impossible values, and an "
        "instance that is not the paper's, are not judged.",
        better_than_other(QAP, faster=True),
    ),
)
