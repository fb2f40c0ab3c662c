"""Records as a pandas table, for people who analyse them on their own."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.records import SPECIAL, Machine, Record, load_machine
from vicinity_analysis.views.quality import gap_of

COPIED = ("system", "paper", "status", "message", "objective", "feasible", "digest", "reference", "reference_digest")
COPIED += ("iterations", "evaluations", "commit", "dirty", "sources", "build", "descriptor", "version")
FLAGS = ("verified", "throttled")


def frame(path_or_paths: str | Path | Iterable[str | Path] = "results") -> pd.DataFrame:
    """One row a record line, in the order of machines, files and lines; absent values are missing (NaN, None).

    experiment, system, paper, machine, implementation, backend, profile, status, message, seed: what was run.
    counts: whether reports use the line (of each experiment, case, implementation and seed the best profile's last, in
    each process).
    problem, instance, case_key, case_<axis>: the case.
    time: the part the protocol compares; seconds: its samples by the protocol's statistic (median, mean, min).
    seconds_wall, seconds_<part>: median of the samples of the whole run and of each part (kernel, transfer, host, ...).
    clock_<part>: "device" or "host", whose clock the part was read from, where the record says so.
    samples: how many; threads: of a CPU implementation, where it says.
    objective, objective_sense, best_known, gap_percent, feasible, digest, iterations, evaluations: the result.
    counter_<name>: deterministic counters of the run.
    verified, reference, reference_digest, proof_iterations (of a proof on a prefix): how it was checked.
    extrapolated (predicted from shorter runs), throttled, contended (seconds rest on contended samples): what to mind.
    contended_samples: how many of the samples are contended; left out of seconds where enough others remain.
    commit, dirty, sources, build, descriptor, version, process_start, process_number: what made the record.
    process_host: a digest that tells the hosts of one machine's name apart, where the record says so.
    compiler_<name>: compilers and flags of its build (cxx, cxx_flags, cuda, ...), where environment.json says.
    source: "<machine>/<system>/<name>.jsonl:<line>".

    Raises InputError for a folder without records."""
    single = isinstance(path_or_paths, str | Path)
    paths = [Path(path) for path in ([path_or_paths] if single else path_or_paths)]
    return frame_of(load_machine(folder) for path in paths for folder in _machines(path))


def frame_of(machines: Iterable[Machine]) -> pd.DataFrame:
    """The same, of machines that are read already."""
    return pd.DataFrame([_row(machine, record) for machine in machines for record in machine.all_records])


def _machines(path: Path) -> list[Path]:
    """The folder itself, or the machines' folders in it."""
    if not path.is_dir():
        raise InputError(f"{path}: no such results folder")
    inside = sorted(found.parent for found in path.glob("*/environment.json"))
    return [path] if (path / "environment.json").exists() or not inside else inside


def _row(machine: Machine, record: Record) -> dict[str, Any]:
    data, ok = record.data, record.ok
    row = {"experiment": record.experiment, "machine": machine.name, "implementation": record.implementation}
    row |= {"backend": record.backend, "profile": record.profile, "seed": record.seed}
    row |= {"counts": _counts(machine, record), "case_key": record.case_key}
    row |= {name: record.case.get(name) for name in SPECIAL}
    row |= {f"case_{axis}": value for axis, value in record.case.items() if axis not in SPECIAL}
    row |= {"time": record.protocol.get("time"), "seconds": record.typical() if ok else None}
    row |= {f"seconds_{part}": float(np.median(record.counted(part))) for part in data.get("samples", {}) if ok}
    row |= {f"clock_{part}": clock for part, clock in record.time_source.items()}
    row |= {"samples": len(record.times()) if ok else 0, "threads": record.threads}
    row |= {"contended": ok and record.rests_on_contended, "contended_samples": int(record.contended.sum())}
    row |= {name: data.get(name) for name in COPIED} | {name: bool(data.get(name)) for name in FLAGS}
    row |= {"objective_sense": record.sense, "best_known": record.best_known, "gap_percent": gap_of(record)}
    row |= {f"counter_{name}": value for name, value in record.counters.items()}
    row |= {"proof_iterations": record.proof.iterations if record.proof else None}
    row |= {"extrapolated": bool(data.get("extrapolated"))}
    compilers = (machine.build_of(record) or {}).get("compilers") or {}
    row |= {f"compiler_{name}": value for name, value in compilers.items()}
    process = data.get("process") or {}
    row |= {"process_start": process.get("start"), "process_number": record.process_number}
    row |= {"process_host": process.get("host")}
    return row | {"source": record.source}


def _counts(machine: Machine, record: Record) -> bool:
    found = machine.records.get(record.key)
    return found is not None and record.source in found.sources
