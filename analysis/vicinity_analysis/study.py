"""One experiment with everything known about it: descriptor, printed numbers, records of every machine."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vicinity_analysis.load import SPECIAL, Machine, Record
from vicinity_analysis.published import (
    Descriptor,
    Key,
    Observation,
    Published,
    load_descriptors,
    load_others,
    load_published,
    load_statements,
)


@dataclass(frozen=True)
class Study:
    """`machines[0]` is the machine the report is about, the others are shown beside it."""

    descriptor: Descriptor
    published: Published | None
    machines: list[Machine]
    statements: list[Observation] = field(default_factory=list)  # numbers the text states of a figure
    others: dict[str, Published] = field(default_factory=dict)  # metric -> what else the table prints
    pool: tuple[str, ...] = ()  # experiments that measure the same cases; their records stand in where there are none
    suffix: str = ""  # of the names of tables and figures

    @property
    def name(self) -> str:
        return self.descriptor.experiment

    @property
    def slug(self) -> str:
        return self.name.replace("/", "-") + self.suffix

    @cached_property
    def records(self) -> dict[str, dict[str, dict[Key, Record]]]:
        """machine -> implementation -> case -> record, in the descriptor's order of implementations."""
        return {machine.name: self._of(machine) for machine in self.machines}

    def _of(self, machine: Machine) -> dict[str, dict[Key, Record]]:
        found: dict[str, dict[Key, Record]] = {}
        for record in self._recorded(machine):
            key = self.key_of(record)
            if not self._full_cases or key in self._full_cases:
                found.setdefault(record.implementation, {}).setdefault(key, record)
        order = {name: position for position, name in enumerate(self.descriptor.implementations)}
        return {name: found[name] for name in sorted(found, key=lambda name: (order.get(name, 99), name))}

    def _recorded(self, machine: Machine) -> list[Record]:
        """Its own records first, then those of the pool; each in the order of their file."""
        names = (self.name, *self.pool)
        return [record for name in names for record in sorted(machine.of(name), key=lambda record: record.order)]

    @cached_property
    def _full_cases(self) -> set[Key]:
        """The cases of the full profile, where the report's own machine has it and no printed table wants others:
        beside a full sweep, cases of the shorter ones are points of another. Empty: all cases count."""
        full = {m.name: {self.key_of(r) for r in self._recorded(m) if r.profile == "full"} for m in self.machines}
        if self.published or not full[self.machines[0].name]:
            return set()
        return set[Key]().union(*full.values())

    def key_of(self, record: Record) -> Key:
        return self.published.key_of_case(record.case) if self.published else case_key(record, self.descriptor.axes)

    def series(self, machine: Machine) -> dict[str, dict[Key, Record]]:
        return self.records[machine.name]

    def missing(self, machine: Machine) -> list[str]:
        """Implementations of the descriptor without any record on this machine."""
        return [name for name in self.descriptor.implementations if name not in self.records[machine.name]]

    def command(self, implementations: list[str]) -> str:
        """How to measure what is missing."""
        path = f"experiments/{self.name}.yaml"
        chosen = " --implementation " + " ".join(implementations) if implementations else ""
        return f"build/vicinity run {path}{chosen}"


def case_key(record: Record, order: tuple[str, ...]) -> Key:
    """Axis and value of everything swept, in the descriptor's order; the instance where there is one."""
    case = {n: v for n, v in record.case.items() if n not in SPECIAL or (n == "instance" and v)}
    names = [name for name in order if name in case] + sorted(set(case) - set(order))
    return tuple((name, str(case[name])) for name in names)


def number(key: Key, axis: str) -> float | None:
    """The value at `axis`, when it is a number."""
    try:
        return float(dict(key)[axis])
    except (KeyError, ValueError):
        return None


def without(key: Key, axis: str) -> Key:
    return tuple(item for item in key if item[0] != axis)


def growth(times: dict[Key, float], axis: str, low: float, high: float) -> dict[Key, float]:
    """time(axis = high) / time(axis = low) for every setting of the other axes that has both."""

    def at(value: float) -> dict[Key, float]:
        return {without(key, axis): time for key, time in times.items() if number(key, axis) == value}

    small, large = at(low), at(high)
    return {key: large[key] / small[key] for key in small if key in large}


def load_studies(root: Path, machines: list[Machine]) -> list[Study]:
    """Every experiment that has a descriptor or a record, in the papers' order."""
    descriptors = load_descriptors(root)
    recorded = sorted({record.experiment for machine in machines for record in machine.all_records})
    for name in recorded:
        if name not in descriptors:
            descriptors[name] = _described_by_records(root, name, machines)
    ordered = sorted(descriptors.values(), key=lambda descriptor: descriptor.rank)
    return [
        Study(d, load_published(root, d), machines, load_statements(root, d), load_others(root, d)) for d in ordered
    ]


def _described_by_records(root: Path, name: str, machines: list[Machine]) -> Descriptor:
    """Records whose descriptor is gone: shown as measured, without a printed table."""
    records = [record for machine in machines for record in machine.of(name)]
    implementations = tuple(dict.fromkeys(record.implementation for record in records))
    axes = tuple(axis for axis in records[0].case if axis not in SPECIAL)
    paper = records[0].data.get("paper") or name.split("/")[0]
    return Descriptor(name, f"{name} (descriptor not found)", paper, implementations, axes, root / "experiments" / name)
