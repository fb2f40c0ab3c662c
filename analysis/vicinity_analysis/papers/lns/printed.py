"""What Tables 2 to 4 print of quality, which of it cannot be (docs/errata.md, N3 to N5, N15), and which printed times
are of other work than ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vicinity_analysis.inputs.published import Key, Observation
from vicinity_analysis.inputs.records import Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.quality import usable

CSP, COLOURING, BENCHMARKS, QAP = "lns/table1", "lns/table2", "lns/table3", "lns/table4"
# experiment -> in the paper's order: printed instance -> ours, and whether it is known to be the same
INSTANCES = {
    BENCHMARKS: {
        "Transportation": ("transportation", True),
        "TSP": ("tsp-ulysses16", True),
        "Knapsack": ("knapsack-100", False),
        "Coins_grid": ("coins-grid", True),
    },
    QAP: {
        "QAP q=15 (unnamed)": ("chr15b", False),
        "QAP q=32 (unnamed)": ("esc32a", True),
        "QAP q=64 (unnamed)": ("esc64a", True),
    },
}
OTHERS = {BENCHMARKS: "jacop", QAP: "oscar"}
NAMES = {"jacop": "JaCoP", "oscar": "OscaR", "gpu-lns": "GPU-LNS"}
CLOSE = 0.05  # relative: how far a mean objective may be from the printed one
PERMUTATIONS = ("RP", "2P")
# By the CPU's times of 10,000 starting points, one takes less than 1 % of its time in Table 1, and 2 % in RL's rows.
FIXED = "one starting point: the printed times are fixed costs of the paper's program, on the CPU as on the GPU"
UNSTATED = ("GS", "ICM")  # of these the paper does not say how much is done
MOST_OF_PERMUTATIONS = 12211  # bound of the sum over the 232 edges with the numbers 1 to 67 (errata N4)
# (place, row, metric) -> why this printed value cannot be
IMPOSSIBLE = {
    ("Table 3", "r02", "cost"): "below the optimum 6859 of ulysses16, the public model with 240 arcs",
    ("Table 3", "r05", "cost"): "below the optimum 6600 of the public model",
    ("Table 3", "r06", "cost"): "below the optimum 6859 of ulysses16, the public model with 240 arcs",
    ("Table 4", "r04", "cost"): "below the optimum of every QAPLIB instance with 15 facilities",
}


def why_impossible(o: Observation) -> str:
    """Empty: it may be right."""
    permuted = o.place == "Table 2" and o.metric == "cost" and o.params.get("strategy") in PERMUTATIONS
    if permuted and o.value > MOST_OF_PERMUTATIONS:
        return f"over all pairs permutations gain nothing, over the edges at most {MOST_OF_PERMUTATIONS}"
    return IMPOSSIBLE.get((o.place, o.row_key, o.metric), "")


def find(observations: Iterable[Observation], instance: str, implementation: str, metric: str) -> Observation | None:
    """Of Tables 3 and 4, by the printed name of the instance."""
    named = (o for o in observations if o.instance == instance and o.implementation == implementation)
    return next((o for o in named if o.metric == metric), None)


def maxima(observations: Iterable[Observation]) -> dict[Key, Observation]:
    """Of Table 2, by strategy, |N|, t and m."""
    return {key_of(o.params): o for o in observations if o.place == "Table 2" and o.metric == "cost"}


def key_of(params: dict[str, str]) -> Key:
    return (
        ("strategy", params["strategy"]),
        ("released", params["N"]),
        ("subsets", params["t"]),
        ("starts", params["m"]),
    )


@dataclass(frozen=True)
class Runs:
    """Of one case, one a seed."""

    first: float
    mean: float
    deviation: float  # of the seeds
    best: float
    seconds: float  # mean
    maximises: bool
    best_known: float | None
    records: tuple[Record, ...]


def runs_of(records: Sequence[Record]) -> Runs | None:
    """None without a run that was judged whole."""
    found = [record for record in records if record.ok and usable(record)]
    if not found:
        return None
    values = np.array([record.objective for record in found], dtype=float)
    maximises = found[0].maximises
    return Runs(
        first=float(found[0].counters.get("first", values[0])),
        mean=float(values.mean()),
        deviation=float(values.std()),
        best=float(values.max() if maximises else values.min()),
        seconds=float(np.mean([record.typical("wall") for record in found])),
        maximises=maximises,
        best_known=found[0].best_known,
        records=tuple(found),
    )


def of_other_work(study: Study, key: Key, runs: Sequence[Record]) -> str:
    """Why a ratio over the printed time of a row of Tables 1 and 2 would say nothing; empty: it may stand."""
    case = dict(key)
    alone = (case.get("subsets"), case.get("starts")) == ("1", "1")
    if study.name == CSP and alone:
        return FIXED
    printed = maxima(study.statements).get(key) if study.name == COLOURING else None
    if printed is None:
        return ""
    if why_impossible(printed):
        return "the printed objective of RP and 2P cannot be that of the model that is measured (errata N4, N34)"
    if case["strategy"] in UNSTATED:
        return "the paper does not say how many sweeps GS and ICM make; ours are 5 and 1 (errata N28, N29)"
    if alone:
        return FIXED
    found = runs_of(runs)
    if found and found.mean < (1 - CLOSE) * printed.value:
        return f"our objective falls short of the printed one by more than {100 * CLOSE:.0f} %"
    return ""


def by_instance(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(str(record.case.get("instance")), []).append(record)
    return found
