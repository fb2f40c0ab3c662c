"""Paul's simulated annealing: what was measured of runs over random instances, and the ratios the paper speaks of.

Such runs are told apart by N and I alone. Figure 1, Figure 2 and the crossover experiment measure them at different
points; everything here draws on all of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from vicinity_analysis import stats
from vicinity_analysis.claims import Evidence, Series, measured_evidence
from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, over_seeds, ratio, ratio_value
from vicinity_analysis.study import Study, number
from vicinity_analysis.views import scaling
from vicinity_analysis.views.tables import baseline_name

AXES = {"size", "iterations"}
T = TypeVar("T")
Grid = dict[int, dict[int, T]]  # N -> I -> value, ascending
Wins = dict[int, scaling.Win]  # N -> where the GPU wins


@dataclass(frozen=True)
class Baseline:
    """What a ratio is over: the fastest of these implementations, case by case. The first must have been measured."""

    name: str
    implementations: tuple[str, ...]

    def title(self, machine: Machine | None) -> str:
        """With cores and CPU model; with the implementations where these are few."""
        if machine is None:
            return self.name
        if self.implementations == (self.name,):
            return baseline_name(machine, self.name)
        if "cpu-openmp" in self.implementations:
            return f"{self.name} ({machine.cpu})"
        return f"{self.name} ({' or '.join(self.implementations)}; 1 core, {_model(machine)})"


# The paper's non-parallel code evaluates from scratch in short runs and keeps the matrix in long ones (section 4).
PAPER = Baseline("the paper's CPU code", ("cpu-delta-matrix", "cpu-traditional"))
MATRIX = Baseline("cpu-delta-matrix", ("cpu-delta-matrix",))
TRADITIONAL = Baseline("cpu-traditional", ("cpu-traditional",))
# Ours, which are stronger.
SERIAL = Baseline("cpu-serial", ("cpu-serial",))
ONE_CORE = Baseline("one core", ("cpu-serial", "cpu-delta", *PAPER.implementations))
FASTEST = Baseline("the fastest CPU", (*ONE_CORE.implementations, "cpu-openmp"))


def _model(machine: Machine) -> str:
    return str((machine.environment.get("cpu") or {}).get("model", "unknown CPU"))


def pooled(study: Study, studies: list[Study], machine: Machine) -> Evidence:
    """All runs of random instances on a machine, by the experiment and its pool."""
    found = measured_evidence([other for other in studies if other.name in (study.name, *study.pool)], machine)
    kept = [(s, {at: r for at, r in s.runs.items() if {axis for axis, _ in at[0]} == AXES}) for s in found.series]
    return Evidence(found.place, machine, tuple(s.with_runs(runs) for s, runs in kept if runs))


def grid(values: dict[Key, T]) -> Grid[T]:
    found: Grid[T] = {}
    for key, value in values.items():
        n, i = number(key, "size"), number(key, "iterations")
        if n is not None and i is not None:
            found.setdefault(int(n), {})[int(i)] = value
    return {n: dict(sorted(found[n].items())) for n in sorted(found)}


@dataclass(frozen=True)
class Pair:
    """The same runs by two implementations on one machine."""

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


def pairs(evidence: Evidence, slow: Baseline, fast: str) -> Grid[Pair]:
    """The fastest of the baseline over `fast`, over the seeds that all of them have; what is extrapolated stands in
    only where nothing else is there."""
    series = evidence.named(fast)
    if series is None:
        return {}
    found: dict[Key, Pair] = {}
    for key in series.records:
        measured = [s for name in slow.implementations if (s := evidence.named(name)) is not None and key in s.records]
        if not measured or measured[0].implementation != slow.implementations[0]:
            continue
        if same := _of_same_seeds(key, [*measured, series]):
            *others, record = same
            best = min(others, key=lambda r: ("extrapolated" in r.marks, r.typical()))
            found[key] = Pair(best, record)
    return grid(found)


def _of_same_seeds(key: Key, series: Sequence[Series]) -> list[Record]:
    """A record of each, over the seeds that all ran this case with: how many swaps are accepted, and so the time,
    depends on the seed. Empty: no seed is common."""
    runs = [{seed: run for (at, seed), run in s.runs.items() if at == key} for s in series]
    seeds = sorted(set.intersection(*map(set, runs)))
    return [over_seeds([of[seed] for seed in seeds], apart=True) for of in runs] if seeds else []


def values(found: Grid[Pair]) -> Grid[float]:
    return {n: {i: pair.value for i, pair in row.items()} for n, row in found.items()}


def gpus(evidence: Evidence) -> list[str]:
    return [series.implementation for series in evidence.of("gpu")]


@dataclass(frozen=True)
class Comparison:
    """A GPU implementation over a baseline, as the tables and figures name it."""

    fast: str
    slow: Baseline

    @property
    def over(self) -> str:
        return self.slow.name

    @property
    def title(self) -> str:
        return f"{self.fast} over {self.over}"


def improvements(evidence: Evidence) -> list[tuple[Comparison, Grid[Pair]]]:
    """The paper's P, and the ratios over stronger baselines beside it."""
    wanted = [Comparison(name, slow) for slow in (PAPER, SERIAL, FASTEST) for name in gpus(evidence)]
    return [(c, found) for c in wanted if (found := pairs(evidence, c.slow, c.fast))]


def baselines(machines: list[Machine]) -> str:
    """What the ratios are over, on each machine."""
    texts = []
    for m in machines:
        cores = (m.environment.get("cpu") or {}).get("cores", "?")
        texts.append(f"{m.title}: {_model(m)}, one core, or up to {cores} of cpu-openmp")
    return (
        "Baselines, case by case. The paper's CPU code: the faster of cpu-delta-matrix (section 2.2) and "
        "cpu-traditional, where the former was measured. Ours: cpu-serial; one core, the fastest of cpu-serial, "
        "cpu-delta and the paper's; the fastest CPU, with cpu-openmp. " + ". ".join(texts) + "."
    )


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
    """From which I on each GPU implementation wins over the paper's CPU code, one core and the fastest CPU, by N."""
    result = []
    for name in gpus(evidence):
        for comparison in (Comparison(name, slow) for slow in (PAPER, ONE_CORE, FASTEST)):
            found = values(pairs(evidence, comparison.slow, name))
            wins = {n: scaling.win({float(i): value for i, value in row.items()}) for n, row in found.items()}
            if wins:
                result.append((comparison, wins))
    return result
