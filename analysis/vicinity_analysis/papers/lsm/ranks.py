"""Tables 10 and 11: a neighbourhood shared among processes. A network beside the measured communication is a model."""

from dataclasses import dataclass
from math import ceil, log2

from vicinity_analysis.inputs.records import Record
from vicinity_analysis.papers.lsm.searches import ONE_CORE, label
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant, with_unit
from vicinity_analysis.views.rank_scaling import Line, NetworkModel, communication, lines
from vicinity_analysis.views.tables import MISSING, param_columns, params, provenance, rows_of, state_cell, tidy

RANKS = "mpi-openmp"
MESSAGE = 32  # bytes of an all-reduce (cpu_ref/run/mpi_programs/rank_loop.cpp)


@dataclass(frozen=True)
class Network:
    """Latency in seconds and bandwidth in bytes a second of a message between two machines."""

    name: str
    latency: float
    bandwidth: float
    machines: tuple[int, ...]  # of the four printed configurations

    def reduction(self, machines: int) -> float:
        """Seconds of an all-reduce by recursive doubling, for any number of machines: a message up and one down each
        level of a binary tree."""
        return 2 * ceil(log2(machines)) * (self.latency + MESSAGE / self.bandwidth) if machines > 1 else 0.0


NETWORKS = {
    "lsm/table10": Network("10 Gbit/s Ethernet in a room: 10 µs", 10e-6, 1.25e9, (1, 4, 11, 13)),
    "lsm/table11": Network("sites of a country: 5 ms, 1 Gbit/s", 5e-3, 1.25e8, (2, 5, 12, 14)),
}


IN_STEP = NetworkModel(
    (RANKS, "mpi-gpu"),
    NETWORKS["lsm/table10"].reduction,
    f"an all-reduce of {MESSAGE} bytes over a network ({NETWORKS['lsm/table10'].name} a message), 2 log2(hosts) "
    "messages after each other, rounded up",
)


def one_gpu(study: Study) -> list[str]:
    """A note where one GPU with `gpu-tuned` does the very search, by its moves, sooner than any number of GPUs with
    `mpi-gpu`: a speed-up over one rank alone does not tell."""
    told = []
    for line in lines(study):
        shared = [r for ranks, r in line.points.items() if ranks > 1 and r.whole]
        if line.implementation != "mpi-gpu" or not line.with_gpus or not shared:
            continue
        best, alone = min(shared, key=lambda record: record.typical()), _alone(study, line)
        if alone and alone.data["digest"] == best.data["digest"] and alone.typical() < best.typical():
            times = [with_unit(record.typical(), "s") for record in (alone, best)]
            told.append(f"{line.size}: {times[0]} against {times[1]} by {best.case['ranks']}")
    if not told:
        return []
    return [f"One GPU with gpu-tuned does the same search sooner than several GPUs with mpi-gpu ({'; '.join(told)})."]


def _alone(study: Study, line: Line) -> Record | None:
    """`gpu-tuned` on the line's case."""
    cases = study.series(line.machine).get("gpu-tuned", {}).values()
    same = (r for r in cases if all(str(r.case.get(axis)) == value for axis, value in line.held))
    return next((record for record in same if record.whole), None)


def ranks_table(study: Study) -> Table | None:
    """Ranks and threads of each row, the share of communication, the speed-up over one core, and the modelled times on
    as many machines as the paper's."""
    network = NETWORKS[study.name]
    several = [m for m in network.machines if m > 1]
    chosen = [(machine, study.series(machine).get(RANKS, {})) for machine in study.machines]
    chosen = [(machine, series) for machine, series in chosen if series]
    if not chosen:
        return None
    columns = param_columns(study)
    for machine, _ in chosen:
        columns += [Column(what, f"{machine.title}, one host") for what in ("ranks × threads", "communication, %")]
        columns.append(Column("speed-up", f"{machine.title}, {RANKS} over {ONE_CORE}"))
        columns += [Column(f"{m} machines, model", f"{machine.title}, and a network") for m in several]
    table = Table(f"{study.slug}-ranks", f"{study.descriptor.title}: ranks", columns, [])
    for row, key in rows_of(study):
        cells = params(study, key)
        for machine, series in chosen:
            record, base = series.get(key), study.series(machine).get(ONE_CORE, {}).get(key)
            if record is None or not record.ok:
                cells += [MISSING if record is None else state_cell(record)] * (3 + len(several))
                continue
            source, share, seconds = provenance(record), communication(record), record.typical()
            policy = record.data.get("policy") or {}
            cells.append(Cell(f"{policy.get('ranks', '?')} × {policy.get('threads', '?')}", source))
            cells.append(Cell(f"{100 * share:.1f}" if share is not None else "—", source, marks=record.marks))
            known = base is not None and base.ok
            cells.append(Cell(significant(base.typical() / seconds), source, marks=record.marks) if known else MISSING)
            modelled = {m: seconds + record.case["iterations"] * network.reduction(m) for m in several}
            cells += [Cell(with_unit(value, "s"), source, marks=record.marks) for value in modelled.values()]
            values = {"machine": machine.name, "implementation": RANKS, "communication": share, "seconds": seconds}
            values |= {f"modelled_seconds_{m}_machines": value for m, value in modelled.items()}
            values["marks"] = " ".join(record.marks)
            table.tidy.append(tidy(study, row, key, **values, record=record.source))
        table.rows.append(cells)
    table.notes = [
        "Communication: the all-reduce of the best move of each iteration, as rank 0 sees it, waiting for slower ranks "
        "included; of computing and communication together.",
        f"Model, not measured: the time on this host, and for each iteration an all-reduce of {MESSAGE} bytes over the "
        f"network ({network.name} a message), 2 log2(machines) messages after each other, rounded up. The machines are "
        "taken to compute as fast together as this host does.",
    ]
    return table


def largest_share(study: Study) -> list[str]:
    """Where communication takes the largest share."""
    told = []
    for machine in study.machines:
        found = {key: communication(record) for key, record in study.series(machine).get(RANKS, {}).items()}
        known = {key: share for key, share in found.items() if share is not None}
        if known:
            most, least = max(known, key=lambda key: known[key]), min(known, key=lambda key: known[key])
            told.append(
                f"Communication of {RANKS}, {machine.title}: {100 * known[most]:.1f} % at {label(most)}, "
                f"{100 * known[least]:.1f} % at {label(least)}."
            )
    return told
