"""What the page of measured numbers shows of simulated annealing."""

from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.papers.sa.runs import acceptance
from vicinity_analysis.papers.sa.steady import Steady, steady_states
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import significant
from vicinity_analysis.views.quality import MEAN_GAP, SEEDS
from vicinity_analysis.views.quantities import (
    MeasuredTable,
    Quantity,
    Row,
    time_an_iteration_in,
    time_in,
)


def _accepted(study: Study, machine: Machine, record: Record) -> float | None:
    return 100 * acceptance(record) if "accepted" in record.counters else None


def _swap(study: Study, machine: Machine, record: Record) -> float | None:
    """Microseconds of an accepted swap with the proposals rejected before it."""
    found = _steady(study, record)
    return 1e6 * found.swap if found and found.swap is not None else None


def _steady_rate(study: Study, machine: Machine, record: Record) -> float | None:
    found = _steady(study, record)
    return 100 * found.rate if found else None


def _steady(study: Study, record: Record) -> Steady | None:
    return next((state for state in steady_states(study) if state.long.source == record.source), None)


def _two_digits(value: float) -> str:
    return significant(value, 2)


def _random(n: int, i: int, experiment: str = "sa/figure1") -> Row:
    return Row((str(n), f"{i:.0e}".replace("e+0", "e")), experiment, {"size": n, "iterations": i, "instance": None})


TABLES = (
    MeasuredTable(
        "Whole runs on random instances like Taillard's, ms",
        ("N", "I"),
        (
            *(_random(n, i) for n in (30, 100, 300, 1000) for i in (100_000, 10_000_000)),
            *(_random(n, 100_000_000, "sa/figure2") for n in (100, 300, 1000)),
        ),
        ("cpu-delta-matrix", "cpu-serial", "cpu-openmp", "gpu", "gpu-tuned"),
        (time_in("ms"),),
        fact=Quantity("accepted, %", _accepted, _two_digits),
    ),
    MeasuredTable(
        "A proposal, over whole runs of 1e7",
        ("case",),
        (
            Row(("tai100a",), "sa/quality_times", {"instance": "tai100a", "iterations": 10_000_000}),
            *(Row((f"N = {n}",), "sa/figure1", {"size": n, "iterations": 10_000_000}) for n in (100, 300)),
        ),
        ("cpu-traditional", "cpu-delta-matrix", "cpu-delta", "cpu-serial", "cpu-openmp", "gpu", "gpu-tuned"),
        (time_an_iteration_in("ns"), time_in("ms")),
    ),
    MeasuredTable(
        "An accepted swap in the steady state, with the proposals rejected before it, µs",
        ("N", "T"),
        tuple(
            Row((str(n), str(t)), "sa/steady", {"size": n, "t0": t, "iterations": i})
            for n, t, i in ((100, 6000, 4_000_000), (300, 10_000, 3_000_000), (1000, 20_000, 3_000_000))
        ),
        ("cpu-delta-matrix", "cpu-delta", "cpu-openmp", "gpu", "gpu-tuned"),
        (Quantity("µs", _swap),),
        fact=Quantity("accepted, %", _steady_rate, _two_digits),
    ),
    MeasuredTable(
        "Mean gap to the best known cost after 10 s, or as a row says; CPUs: 16 cores, the peer: best of 16 searches",
        ("instance",),
        (
            *(
                Row((name + note,), experiment, {"instance": name})
                for name in ("tai40a", "tai60a", "tai80a", "tai100a")
                for experiment, note in (("sa/anytime_gpu", ""), ("sa/anytime_cores", ", 32 searches"))
            ),
            Row(("tai100a, 60 s",), "sa/anytime_gpu_long", {"instance": "tai100a"}),
        ),
        ("gpu-portfolio", "cpu-portfolio", "Robust tabu search (QAP-codes)"),
        (MEAN_GAP, SEEDS),
    ),
)
