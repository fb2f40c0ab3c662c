"""Paul's simulated annealing: what was measured of runs over random instances, and the ratios the paper speaks of.

Such runs are told apart by N and I alone. Figure 1, Figure 2 and the crossover experiment measure them at different
points; everything here draws on all of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from vicinity_analysis import stats
from vicinity_analysis.claims import Evidence, measured_evidence, series_of
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, ratio, ratio_value
from vicinity_analysis.study import Study, number
from vicinity_analysis.views import scaling
from vicinity_analysis.views.tables import baseline_name

AXES = {"size", "iterations"}
SERIAL, FASTEST = ("cpu-serial",), ("cpu-serial", "cpu-delta", "cpu-traditional", "cpu-openmp")
SINGLE = ("cpu-serial", "cpu-delta")  # what one core does best at few and at many iterations
T = TypeVar("T")
Grid = dict[int, dict[int, T]]  # N -> I -> value, ascending
Wins = dict[int, scaling.Win]  # N -> where the GPU wins


def pooled(study: Study, studies: list[Study], machine: Machine) -> Evidence:
    """All runs of random instances on a machine, by the experiment and its pool."""
    found = measured_evidence([other for other in studies if other.name in (study.name, *study.pool)], machine)
    kept = [(s, {at: r for at, r in s.runs.items() if {axis for axis, _ in at[0]} == AXES}) for s in found.series]
    return Evidence(found.place, machine, tuple(series_of(s.implementation, runs) for s, runs in kept if runs))


def grid(values: dict[Key, T]) -> Grid[T]:
    found: Grid[T] = {}
    for key, value in values.items():
        n, i = number(key, "size"), number(key, "iterations")
        if n is not None and i is not None:
            found.setdefault(int(n), {})[int(i)] = value
    return {n: dict(sorted(found[n].items())) for n in sorted(found)}


@dataclass(frozen=True)
class Pair:
    """The same run by two implementations on one machine."""

    slow: Record
    fast: Record

    @property
    def value(self) -> float:
        return ratio_value(self.slow, self.fast)

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.slow.marks + self.fast.marks))

    def estimate(self) -> stats.Estimate:
        return ratio(self.slow, self.fast)


def pairs(evidence: Evidence, slow: Sequence[str], fast: str) -> Grid[Pair]:
    """The fastest of the implementations `slow` over `fast`, wherever both were measured; what is extrapolated stands
    in only where nothing else is there."""
    series = evidence.named(fast)
    if series is None:
        return {}
    found: dict[Key, Pair] = {}
    for key, record in series.records.items():
        others = [s.records[key] for name in slow if (s := evidence.named(name)) is not None and key in s.records]
        if others:
            best = min(others, key=lambda r: ("extrapolated" in r.marks, r.estimate().value))
            found[key] = Pair(best, record)
    return grid(found)


def values(found: Grid[Pair]) -> Grid[float]:
    return {n: {i: pair.value for i, pair in row.items()} for n, row in found.items()}


def gpus(evidence: Evidence) -> list[str]:
    return [series.implementation for series in evidence.of("gpu")]


@dataclass(frozen=True)
class Comparison:
    """A GPU implementation over a baseline, as the tables and figures name it."""

    fast: str
    slow: tuple[str, ...]
    over: str  # "cpu-serial", "one core", "the fastest CPU"

    @property
    def title(self) -> str:
        return f"{self.fast} over {self.over}"


def improvements(evidence: Evidence) -> list[tuple[Comparison, Grid[Pair]]]:
    """The paper's P, and the fair ratio beside it."""
    wanted = [Comparison(name, SERIAL, "cpu-serial") for name in gpus(evidence)]
    wanted += [Comparison(name, FASTEST, "the fastest CPU") for name in gpus(evidence)]
    return [(c, found) for c in wanted if (found := pairs(evidence, c.slow, c.fast))]


def baselines(machines: list[Machine]) -> str:
    """What the ratios are over, on each machine."""
    texts = []
    for m in machines:
        cores = (m.environment.get("cpu") or {}).get("cores", "?")
        texts.append(
            f"{m.title}: {baseline_name(m, 'cpu-serial')}; one core is the faster of cpu-serial and cpu-delta; the "
            f"fastest CPU is the fastest of these, cpu-openmp (up to {cores} cores) and cpu-traditional"
        )
    return "Baselines, case by case. " + ". ".join(texts) + "."


def acceptances(study: Study, studies: list[Study]) -> Grid[Record]:
    """One record of each run for its acceptance rate, which is the same for all implementations and machines."""
    found: dict[Key, Record] = {}
    for machine in study.machines:
        for series in pooled(study, studies, machine).series:
            for key, record in series.records.items():
                if "accepted" in record.counters and "extrapolated" not in record.marks:
                    found.setdefault(key, record)
    return grid(found)


def acceptance(record: Record) -> float:
    return record.counters["accepted"] / record.data["iterations"]


def crossings(evidence: Evidence) -> list[tuple[Comparison, Wins]]:
    """From which I on each GPU implementation wins over one core and over the fastest CPU, by N."""
    result = []
    for name in gpus(evidence):
        for comparison in (Comparison(name, SINGLE, "one core"), Comparison(name, FASTEST, "the fastest CPU")):
            found = values(pairs(evidence, comparison.slow, name))
            wins = {n: scaling.win({float(i): value for i, value in row.items()}) for n, row in found.items()}
            if wins:
                result.append((comparison, wins))
    return result
