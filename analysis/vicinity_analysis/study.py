"""One experiment with everything known about it: descriptor, printed numbers, records of every machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from vicinity_analysis.inputs.published import Descriptor, Key, Observation, Published
from vicinity_analysis.inputs.records import SPECIAL, Machine, Record, over_seeds

OVER_RANKS = "mpi-"  # how implementations begin whose runs are those of several processes


@dataclass(frozen=True)
class Notation:
    """How a paper writes what we measure."""

    symbols: Mapping[str, str] = field(default_factory=dict)  # axis -> the paper's symbol
    sizes: tuple[str, ...] = ("size", "n", "dimension")  # axes that say how large a case is, the first that it has
    # our name of an implementation -> those of the published files it may be held against, best first
    counterparts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # implementation of this paper alone -> (colour, marker) in figures
    styles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # relative: what rounding may move an objective by; a gap to the best known no larger than this is none
    rounding: float = 0.0


Unlike = Callable[["Study", Key, Sequence[Record]], str]  # of a printed row and the runs held against it


def always_alike(study: "Study", key: Key, runs: Sequence[Record]) -> str:
    """The printed and the measured time are of the same work."""
    return ""


@dataclass(frozen=True)
class Study:
    """`machines[0]` is the machine the report is about, the others are shown beside it."""

    descriptor: Descriptor
    published: Published | None
    machines: list[Machine]
    statements: list[Observation] = field(default_factory=list)  # printed numbers that are no cases
    others: dict[str, Published] = field(default_factory=dict)  # metric -> what else the table prints
    notation: Notation = field(default_factory=Notation)
    pool: tuple[str, ...] = ()  # experiments shown in one with this
    same_cases: tuple[str, ...] = ()  # experiments whose records count where its own are missing, contended or scaled
    suffix: str = ""  # of the names of tables and figures
    unlike: Unlike = always_alike
    apart: bool = False  # no seed repeats another's work: what an evaluation takes depends on the seed

    @property
    def name(self) -> str:
        return self.descriptor.experiment

    @property
    def slug(self) -> str:
        return self.name.replace("/", "-") + self.suffix

    def symbol(self, axis: str) -> str:
        return self.notation.symbols.get(axis, axis)

    def explained(self, axis: str) -> str:
        """ "N (size)": the paper's symbol with what it is."""
        symbol = self.symbol(axis)
        return axis if symbol == axis else f"{symbol} ({axis})"

    @cached_property
    def runs(self) -> dict[str, dict[str, dict[Key, list[Record]]]]:
        """machine -> implementation (in the descriptor's order) -> case -> its records, by seed."""
        return {machine.name: self._of(machine) for machine in self.machines}

    def _of(self, machine: Machine) -> dict[str, dict[Key, list[Record]]]:
        found = self._by_case(machine, self.name)
        for other in self.same_cases:
            for name, cases in self._by_case(machine, other).items():
                own = found.setdefault(name, {})
                own |= {key: runs for key, runs in cases.items() if key not in own or _better(runs, own[key])}
        _give_to_all_ranks(found)
        order = {name: position for position, name in enumerate(self.descriptor.implementations)}
        names = sorted(found, key=lambda name: (order.get(name, 99), name))
        return {n: {key: [r for _, r in sorted(runs.items())] for key, runs in found[n].items()} for n in names}

    def _by_case(self, machine: Machine, experiment: str) -> dict[str, dict[Key, dict[int, Record]]]:
        """implementation -> case -> seed -> its record, the first of their file."""
        found: dict[str, dict[Key, dict[int, Record]]] = {}
        for record in sorted(machine.of(experiment), key=lambda record: record.order):
            key = self.key_of(record)
            if not self._full_cases or key in self._full_cases:
                found.setdefault(record.implementation, {}).setdefault(key, {}).setdefault(record.seed, record)
        return found

    @cached_property
    def records(self) -> dict[str, dict[str, dict[Key, Record]]]:
        """machine -> implementation -> case -> its record, with the samples of all seeds."""
        return {
            machine: {
                name: {key: over_seeds(records, self.apart) for key, records in cases.items()}
                for name, cases in series.items()
            }
            for machine, series in self.runs.items()
        }

    @cached_property
    def _full_cases(self) -> set[Key]:
        """The cases of the full profile, where the report's own machine has it and no printed table wants others:
        beside a full sweep, cases of the shorter ones are points of another. Empty: all cases count."""
        full = {m.name: {self.key_of(r) for r in m.of(self.name) if r.profile == "full"} for m in self.machines}
        if self.published or not full[self.machines[0].name]:
            return set()
        return set[Key]().union(*full.values())

    def key_of(self, record: Record) -> Key:
        return self.published.key_of_case(record.case) if self.published else case_key(record, self.descriptor.axes)

    def series(self, machine: Machine) -> dict[str, dict[Key, Record]]:
        """implementation -> case -> its record, with the samples of all seeds."""
        return self.records[machine.name]

    def all_runs(self, machine: Machine) -> list[Record]:
        """Of every case and seed."""
        return [record for cases in self.runs[machine.name].values() for runs in cases.values() for record in runs]

    def why_unlike(self, machine: Machine, implementation: str, key: Key) -> str:
        """Why the printed time of this row is of other work than the measured one; empty: it is of the same."""
        return self.unlike(self, key, self.runs[machine.name].get(implementation, {}).get(key, []))

    def missing(self, machine: Machine) -> list[str]:
        """Implementations of the descriptor without any record on this machine."""
        return [name for name in self.descriptor.implementations if name not in self.records[machine.name]]

    def reason(self, implementation: str, key: Key) -> str | None:
        """Why the descriptor leaves a value out, if it says so."""
        told = (entry.reason for entry in self.descriptor.left_out if entry.covers(implementation, key))
        return next(told, None)

    def command(self, implementations: list[str]) -> str:
        """How to measure what is missing."""
        chosen = " --implementation " + " ".join(implementations) if implementations else ""
        return f"build/vicinity run {self.descriptor.shown}{chosen}"


def _better(runs: Mapping[int, Record], than: Mapping[int, Record]) -> bool:
    return _cleaner(runs, than) or _whole_instead(runs, than)


def _whole_instead(runs: Mapping[int, Record], than: Mapping[int, Record]) -> bool:
    """Only the others are scaled, and the same sources made both."""
    made = {run.made_by for run in (*runs.values(), *than.values())}
    same = len(made) == 1 and None not in made
    return same and all(run.whole for run in runs.values()) and any(run.ok and not run.whole for run in than.values())


def _cleaner(runs: Mapping[int, Record], than: Mapping[int, Record]) -> bool:
    """Only the others are marked as contended."""
    mine, others = (over_seeds(list(one.values())).marks for one in (runs, than))
    return "contended" in others and "contended" not in mine


def _give_to_all_ranks(found: dict[str, dict[Key, dict[int, Record]]]) -> None:
    """An implementation of one process is measured once of cases that differ in the ranks of others, and in their GPUs:
    its records count for all of them."""
    ranked = {key for name, cases in found.items() if name.startswith(OVER_RANKS) for key in cases}
    for name, cases in found.items():
        if name.startswith(OVER_RANKS):
            continue
        alone = {_without_ranks(key): runs for key, runs in cases.items()}
        for key in ranked - set(cases):
            if runs := alone.get(_without_ranks(key)):
                cases[key] = runs


def _without_ranks(key: Key) -> Key:
    return without(without(key, "ranks"), "gpus")


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
