"""Annealing in the steady state: what an accepted swap and a rejected proposal cost, by differences of runs."""

from dataclasses import dataclass

from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant, with_unit
from vicinity_analysis.views.tables import provenance


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

    @property
    def seconds(self) -> float:
        return self.long.estimate().value - (self.short.estimate().value if self.short else 0.0)

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
        return self.seconds / self.accepted if self.accepted >= 30 and self.seconds > 0 else None

    @property
    def scan(self) -> float | None:
        """Seconds of a rejected proposal, where next to nothing else was done."""
        return self.seconds / self.proposals if self.rate < 1e-6 and self.seconds > 0 else None

    @property
    def sources(self) -> str:
        return f"{provenance(self.long)} - {provenance(self.short)}" if self.short else provenance(self.long)

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.long.marks + (self.short.marks if self.short else ())))


def steady_states(study: Study) -> list[Steady]:
    """One for each machine, implementation, N and T, from its two longest runs."""
    found = []
    for machine in study.machines:
        for name, series in study.series(machine).items():
            runs: dict[tuple[int, float], list[Record]] = {}
            for record in series.values():
                if record.ok and "accepted" in record.counters and record.case.get("t0") == record.case.get("tf"):
                    runs.setdefault((int(record.case["size"]), float(record.case["t0"])), []).append(record)
            for (n, t), records in sorted(runs.items()):
                *shorter, longest = sorted(records, key=lambda r: r.data["iterations"])
                found.append(Steady(machine, name, n, t, longest, shorter[-1] if shorter else None))
    return found


def steady_table(study: Study) -> Table | None:
    columns = [Column(label, kind="text") for label in ("machine", "implementation")]
    columns += [Column(label) for label in ("N", "T", "accepted swaps", "of the proposals, %")]
    columns += [
        Column(label)
        for label in ("proposals a second", "an accepted swap with the scan for the next", "without that scan")
    ]
    table = Table(f"{study.slug}-costs", f"{study.descriptor.title}: costs", columns, [])
    states = steady_states(study)
    scans = {(s.machine.name, s.implementation, s.size): s.scan for s in states if s.scan is not None}
    for s in states:
        bare = _without_scan(s, scans.get((s.machine.name, s.implementation, s.size)))
        rate = with_unit(s.proposals / s.seconds, "") if s.seconds > 0 else "—"
        texts = [str(s.size), f"{s.temperature:g}", f"{s.accepted:,}", significant(100 * s.rate), rate]
        texts += [with_unit(value, "s") if value is not None else "—" for value in (s.swap, bare)]
        cells = [Cell(text, s.sources, marks=s.marks if index == 4 else ()) for index, text in enumerate(texts)]
        table.rows.append([Cell(s.machine.title), Cell(s.implementation), *cells])
        row = {"machine": s.machine.name, "implementation": s.implementation, "size": s.size, "t": s.temperature}
        row |= {"accepted": s.accepted, "proposals": s.proposals, "seconds": s.seconds, "seconds_a_swap": s.swap}
        row |= {
            "seconds_a_swap_without_scan": bare,
            "record": s.long.source,
            "minus": s.short.source if s.short else "",
        }
        table.tidy.append(row)
    table.notes = [
        "Differences between two runs of one temperature, of which the longer repeats the shorter and goes on: "
        "seconds, accepted and rejected proposals of the steady state alone. The last column takes off the rejected "
        "proposals at the rate measured where nothing was accepted."
    ]
    return table if table.rows else None


def _without_scan(steady: Steady, scan: float | None) -> float | None:
    if steady.swap is None or scan is None:
        return None
    rest = steady.seconds - (steady.proposals - steady.accepted) * scan
    return rest / steady.accepted if rest > 0 else None
