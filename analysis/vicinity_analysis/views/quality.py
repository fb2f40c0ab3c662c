"""How good the solutions of a search are, and in what time: gaps to the best known objective over seeds.

For every system that searches instances of the catalogue and records the best known objective of each."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vicinity_analysis.inputs.records import SPECIAL, Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, plain, significant, with_unit
from vicinity_analysis.views.quantities import Quantity
from vicinity_analysis.views.tables import MISSING, by_interest, gaps, marks_of, provenances, reasons

SAME = 1e-6  # relative: objectives in floating point of one path
FEWEST = 5  # seeds from which on a median over them is one
Setting = tuple[tuple[str, Any], ...]  # (("iterations", 100000),): everything but instance and seed


@dataclass(frozen=True)
class Group:
    """One instance and setting over its seeds. All implementations of a group take the same path: a seed has one
    objective. A variant with a path of its own has a group of its own, whose setting names it."""

    instance: str
    setting: Setting
    best_known: float | None
    maximises: bool = False
    records: dict[tuple[str, str], dict[int, Record]] = field(default_factory=dict)  # (machine, implementation) -> seed
    rounding: float = 0.0  # relative: a gap to the best known no larger than this is none

    @property
    def by_seed(self) -> dict[int, Record]:
        """One record of each seed: the first machine's and implementation's that has it."""
        found: dict[int, Record] = {}
        for series in self.records.values():
            for seed, record in series.items():
                found.setdefault(seed, record)
        return dict(sorted(found.items()))

    def complete(self, machine: str, name: str) -> bool:
        """Did this implementation run every seed that any did on this machine? Only then are its medians those of the
        others' runs."""
        seeds = {seed for (where, _), series in self.records.items() if where == machine for seed in series}
        return set(self.records.get((machine, name), {})) == seeds

    @property
    def objectives(self) -> list[float]:
        return [record.objective for record in self.by_seed.values() if record.objective is not None]

    @property
    def best(self) -> float:
        return max(self.objectives) if self.maximises else min(self.objectives)

    @property
    def gaps(self) -> list[float]:
        """Percent short of the best known, by seed; empty where none is known."""
        return [gap for record in self.by_seed.values() if (gap := gap_of(record)) is not None]

    @property
    def hits(self) -> int:
        """Seeds that reached the best known objective, or went beyond it."""
        return sum(gap <= 100 * self.rounding for gap in self.gaps)

    def value(self, axis: str) -> Any:  # noqa: ANN401
        return dict(self.setting).get(axis)


def gap_of(record: Record) -> float | None:
    """Percent by which the objective falls short of the best known: above it where less is better, else below it."""
    best, value = record.best_known, record.objective
    return gap_percent(value, best, record.maximises) if best and value is not None else None


def _gap_in_time(record: Record) -> float | None:
    """`gap_of` what a run that was given some seconds had by then: it may end later, by as much as a step takes. Of one
    that told nothing by then, what it had at its end."""
    seconds, best = record.given_seconds, record.best_known
    found = [p.objective for p in record.trace if p.objective is not None and seconds and p.seconds <= seconds]
    if not found or not best:
        return gap_of(record)
    return gap_percent((max if record.maximises else min)(found), best, record.maximises)


def averaged(study: Study, machine: Machine, record: Record) -> list[Record]:
    """The runs that the mean gap is over: of all seeds, contended or not."""
    runs = study.runs[machine.name][record.implementation][study.key_of(record)]
    return [run for run in runs if usable(run) and gap_of(run) is not None]


def _mean_gap(study: Study, machine: Machine, record: Record) -> float | None:
    gaps = [_gap_in_time(run) or 0.0 for run in averaged(study, machine, record)]
    return _beyond_rounding(study, sum(gaps) / len(gaps)) if gaps else None


MEAN_GAP = Quantity("mean gap, %", _mean_gap, "{:z.3f}".format)
SEEDS = Quantity("seeds", lambda study, machine, record: len(averaged(study, machine, record)), "{:g}".format)


def gap_percent(value: float, best: float, maximises: bool) -> float:
    return 100 * (best - value if maximises else value - best) / abs(best)


def gap_text(study: Study, gap: float) -> str:
    """Percent; 0.000 where it is no more than what rounding moves an objective by."""
    return f"{_beyond_rounding(study, gap):z.3f}"


def _beyond_rounding(study: Study, gap: float) -> float:
    return 0.0 if abs(gap) <= 100 * study.notation.rounding else gap


def usable(record: Record) -> bool:
    """A shorter run scaled up says nothing of quality."""
    return record.whole and record.objective is not None


def groups(studies: Sequence[Study]) -> list[Group]:
    """By instance (in the descriptors' and records' order), then setting."""
    found: dict[tuple[str, Setting], Group] = {}
    every = ((study, m, r) for study in studies for m in study.machines for r in study.all_runs(m))
    kept = [(study, m, r) for study, m, r in every if r.case.get("instance") and usable(r)]
    apart = of_own_paths(record for _, _, record in kept)
    for study, machine, record in kept:
        _add(found, machine, record, apart, study.notation.rounding)
    order = list(dict.fromkeys(instance for instance, _ in found))
    return sorted(found.values(), key=lambda group: (order.index(group.instance), group.setting))


def of_own_paths(records: Iterable[Record]) -> set[str]:
    """Implementations that once found another objective than the first one with that case and seed did."""
    first: dict[tuple[str, int], Record] = {}
    apart: set[str] = set()
    for record in filter(usable, records):
        other = first.setdefault((record.data["case_key"], record.seed), record)
        if not math.isclose(record.objective, other.objective, rel_tol=SAME):
            apart.add(record.implementation)
    return apart


def _add(
    found: dict[tuple[str, Setting], Group], machine: Machine, record: Record, apart: set[str], rounding: float
) -> None:
    instance, name = record.case["instance"], record.implementation
    setting = tuple(sorted((k, v) for k, v in record.case.items() if k not in SPECIAL))
    setting += (("search", name),) if name in apart else ()
    empty = Group(instance, setting, record.best_known, record.maximises, rounding=rounding)
    group = found.setdefault((instance, setting), empty)
    group.records.setdefault((machine.name, record.implementation), {}).setdefault(record.seed, record)


def columns_of(studies: Sequence[Study]) -> list[tuple[Machine, str]]:
    """(machine, implementation) with any usable record, in the descriptors' order."""
    found: dict[tuple[str, str], tuple[Machine, str]] = {}
    for machine in studies[0].machines if studies else []:
        names = [name for study in studies for name in study.descriptor.implementations]
        recorded = {r.implementation for study in studies for r in study.all_runs(machine) if usable(r)}
        for name in by_interest(sorted(recorded, key=lambda n: names.index(n) if n in names else 99)):
            found[machine.name, name] = (machine, name)
    return list(found.values())


def median_seconds(group: Group, machine: Machine, name: str) -> float | None:
    records = group.records.get((machine.name, name))
    return float(np.median([record.typical() for record in records.values()])) if records else None


def gap_table(study: Study, studies: Sequence[Study]) -> Table | None:
    """instance, setting, gaps over the seeds, and the time each implementation took."""
    found, timed = groups(studies), columns_of(studies)
    if not found:
        return None
    axes = list(dict.fromkeys(axis for group in found for axis, _ in group.setting))
    axes.sort(key=lambda axis: (axis not in study.descriptor.axes, axis))
    columns = [Column("instance", kind="param"), *(Column(study.symbol(axis), kind="param") for axis in axes)]
    columns += [Column("best known"), Column("seeds")]
    columns += [Column(label, "gap, %") for label in ("mean", "least", "median", "most")]
    columns += [Column("reached", "best known")]
    accepting = any("accepted" in record.counters for group in found for record in group.by_seed.values())
    columns += [Column("accepted, %")] if accepting else []
    columns += [Column(name, f"{machine.title}, median time") for machine, name in timed]
    table = Table(f"{study.slug}-gaps", f"{study.descriptor.title}: gaps", columns, [])
    apart = {name for group in found if (name := group.value("search"))}
    for group in found:
        sources = provenances(group.by_seed.values())
        cells = [Cell(group.instance, kind="param"), *(Cell(_value(group.value(axis)), kind="param") for axis in axes)]
        cells += [
            Cell("unknown" if group.best_known is None else f"{group.best_known:,}"),
            Cell(str(len(group.by_seed))),
        ]
        cells += [Cell(text, sources) for text in _spread(study, group)]
        cells += [_accepted(group)] if accepting else []
        own = {group.value("search")} if group.value("search") else {name for _, name in timed} - apart
        cells += [_time(group, machine, name) if name in own else Cell("") for machine, name in timed]
        table.rows.append(cells)
        table.tidy += _tidy(group)
    table.notes = [
        "Gap: best cost of the run above the best known one, in percent of it. Runs with one seed have the same cost "
        "on every implementation and machine; the times are medians over these seeds, or over as many as they say."
    ]
    if any(axis == "search" for group in found for axis, _ in group.setting):
        table.notes.append("Search: a variant that takes a path of its own, and has rows of its own.")
    if study.notation.rounding:
        table.notes.append(f"A gap of at most {100 * study.notation.rounding:g} % is rounding, and stands as none.")
    table.notes += notes(studies)
    return table


def _value(value: object) -> str:
    return plain(value) if isinstance(value, int | float) else str(value if value is not None else "")


def _spread(study: Study, group: Group) -> list[str]:
    values = group.gaps
    if not values:
        least = f"(cost {group.best:,})"
        return ["—", least, "—", "—", "—"]
    found = [float(f(values)) for f in (np.mean, np.min, np.median, np.max)]
    return [*(gap_text(study, value) for value in found), f"{group.hits} of {len(values)}"]


def _accepted(group: Group) -> Cell:
    records = [record for record in group.by_seed.values() if "accepted" in record.counters]
    if not records:
        return Cell("")
    rates = [100 * record.counters["accepted"] / record.data["iterations"] for record in records]
    return Cell(significant(float(np.mean(rates))), f"mean over {len(rates)} seeds")


def _time(group: Group, machine: Machine, name: str) -> Cell:
    seconds = median_seconds(group, machine, name)
    if seconds is None:
        return MISSING
    records = list(group.records[machine.name, name].values())
    marks = marks_of(records)
    seeds = f"{len(records)} seed{'s' if len(records) > 1 else ''}"
    text = with_unit(seconds, "s") + ("" if len(records) == len(group.by_seed) else f", {seeds}")
    return Cell(text, f"{seeds}: {provenances(records)}", marks=marks)


def _tidy(group: Group) -> list[dict[str, Any]]:
    rows = []
    for (machine, name), series in group.records.items():
        for seed, record in sorted(series.items()):
            row = {
                "instance": group.instance,
                **dict(group.setting),
                "seed": seed,
                "machine": machine,
                "implementation": name,
            }
            row |= {"objective": record.objective, "best_known": group.best_known, "gap_percent": gap_of(record)}
            row |= {"seconds": record.typical(), "marks": " ".join(record.marks), "record": record.source}
            rows.append(row)
    return rows


def notes(studies: Sequence[Study]) -> list[str]:
    """What has no row: instances whose file was not found, each once, and implementations without a record."""
    return reasons(studies) + [note for study in studies for note in gaps(study)]
