"""Annealing in the steady state: what an accepted swap and a rejected proposal cost, by differences of runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from vicinity_analysis import stats
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, plain, significant, with_unit
from vicinity_analysis.views.tables import provenance

NOISE = "within noise"


def left_out(implementation: str) -> str:
    """What a search need not look at where nothing can be accepted (cpu_ref/sa/, kernels/sa/)."""
    if implementation in ("gpu-tuned", "gpu-chains"):
        return "rows of proposals"
    return "nothing" if implementation in ("gpu", "cpu-traditional") else "random numbers"


@dataclass(frozen=True)
class Steady:
    """What a run at one temperature does after a shorter one, which it repeats: without start, first delta matrix and
    descent. Without a shorter run: the whole run."""

    machine: Machine
    implementation: str
    size: int
    temperature: float
    long: Record
    short: Record | None

    @cached_property
    def seconds(self) -> float | None:
        """None where the difference of the two runs does not exceed its own interval, or has none: noise."""
        if self.short is None:
            return self.long.typical()
        found = stats.difference(
            self.long.counted(), self.short.counted(), self.long.protocol.get("statistic", "median")
        )
        return found.value if found.samples > 1 and found.value > found.high - found.low else None

    @property
    def accepted(self) -> int:
        return self.long.counters["accepted"] - (self.short.counters["accepted"] if self.short else 0)

    @property
    def proposals(self) -> int:
        return self.long.data["iterations"] - (self.short.data["iterations"] if self.short else 0)

    @property
    def rate(self) -> float:
        return self.accepted / self.proposals

    @property
    def swap(self) -> float | None:
        """Seconds of an accepted swap, the scan for the next one included: a mean, for what it is worth, over 30 or
        more."""
        return self.seconds / self.accepted if self.accepted >= 30 and self.seconds is not None else None

    @property
    def scan(self) -> float | None:
        """Seconds of a rejected proposal, where next to nothing else was done."""
        return self.seconds / self.proposals if self.rate < 1e-6 and self.seconds is not None else None

    @property
    def sources(self) -> str:
        return f"{provenance(self.long)} - {provenance(self.short)}" if self.short else provenance(self.long)

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.long.marks + (self.short.marks if self.short else ())))


def steady_states(study: Study) -> list[Steady]:
    """One for each machine, implementation, N and T, from its two longest runs."""
    return [
        state
        for machine in study.machines
        for name, series in study.series(machine).items()
        for state in states_of(machine, name, series.values())
    ]


def states_of(machine: Machine, name: str, records: Iterable[Record]) -> list[Steady]:
    """Of one implementation, by N and T. Records of other runs are left out."""
    runs: dict[tuple[int, float], list[Record]] = {}
    for record in records:
        t = record.case.get("t0")
        if record.ok and "accepted" in record.counters and t is not None and t == record.case.get("tf"):
            runs.setdefault((int(record.case["size"]), float(t)), []).append(record)
    found = []
    for (n, t), of_one in sorted(runs.items()):
        *shorter, longest = sorted(of_one, key=lambda r: r.data["iterations"])
        found.append(Steady(machine, name, n, t, longest, shorter[-1] if shorter else None))
    return found


def steady_table(study: Study) -> Table | None:
    columns = [Column(label, kind="text") for label in ("machine", "implementation")]
    columns += [Column(label) for label in ("N", "T", "accepted swaps", "of the proposals, %")]
    columns += [
        Column(label)
        for label in ("proposals decided a second", "an accepted swap with the scan for the next", "without that scan")
    ]
    columns.append(Column("left out", kind="text"))
    table = Table(f"{study.slug}-costs", f"{study.descriptor.title}: costs", columns, [])
    states = steady_states(study)
    scans = {(s.machine.name, s.implementation, s.size): s.scan for s in states if s.scan is not None}
    for s in states:
        bare = _without_scan(s, scans.get((s.machine.name, s.implementation, s.size)))
        rate = with_unit(s.proposals / s.seconds, "") if s.seconds is not None else NOISE
        texts = [str(s.size), plain(s.temperature), f"{s.accepted:,}", significant(100 * s.rate), rate]
        texts += [with_unit(value, "s") if value is not None else "—" for value in (s.swap, bare)]
        texts.append(left_out(s.implementation))
        cells = [Cell(text, s.sources, marks=s.marks if index == 4 else ()) for index, text in enumerate(texts)]
        table.rows.append([Cell(s.machine.title), Cell(s.implementation), *cells])
        row = {"machine": s.machine.name, "implementation": s.implementation, "size": s.size, "t": s.temperature}
        row |= {"accepted": s.accepted, "proposals": s.proposals, "seconds": s.seconds, "seconds_a_swap": s.swap}
        row |= {"left_out": left_out(s.implementation), "marks": " ".join(s.marks)}
        row |= {
            "seconds_a_swap_without_scan": bare,
            "record": s.long.source,
            "minus": s.short.source if s.short else "",
        }
        table.tidy.append(row)
    table.notes = [
        "Differences between two runs of one temperature, of which the longer repeats the shorter and goes on: "
        "seconds, accepted and rejected proposals of the steady state alone. The last column takes off the rejected "
        "proposals at the rate measured where nothing was accepted.",
        f"“{NOISE}”: the difference does not exceed its own bootstrap interval. A proposal is decided when it is known "
        "to be accepted or rejected; “left out” says what an implementation need not look at for that where next to "
        "nothing can be accepted. Such rates are none of evaluations.",
    ]
    return table if table.rows else None


def _without_scan(steady: Steady, scan: float | None) -> float | None:
    if steady.swap is None or scan is None:
        return None
    rest = steady.swap * steady.accepted - (steady.proposals - steady.accepted) * scan
    return rest / steady.accepted if rest > 0 else None
