"""The environment and provenance tables: on what, with what, from which records."""

from typing import Any

from vicinity_analysis.inputs.records import TOLD, Machine
from vicinity_analysis.views.cells import Cell, Column, Table, with_unit


def _gpu(machine: Machine, name: str) -> Any:  # noqa: ANN401
    return (machine.environment.get("gpu") or {}).get(name)


def _sub(machine: Machine, group: str, name: str) -> Any:  # noqa: ANN401
    return (machine.environment.get(group) or {}).get(name)


def _clock(khz: float | None) -> str | None:
    return f"{khz / 1000:.0f} MHz" if khz else None


def _bytes(amount: float | None) -> str | None:
    """Binary units, as memory is sold and reported."""
    if not amount:
        return None
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.4g} {unit}"
    return f"{amount:g} B"


def _capability(value: int | None) -> str | None:
    return f"{value // 10}.{value % 10}" if value else None


def _cuda(version: int | None) -> str | None:
    return f"{version // 1000}.{version % 1000 // 10}" if version else None


def _openmp(machine: Machine) -> str:
    """OMP_NUM_THREADS=16, ...; the user's own settings are said to be."""
    settings = _sub(machine, "cpu", "openmp") or {}
    own = {"user": " (user)"}
    return ", ".join(f"{name}={s['value']}{own.get(s['set_by'], '')}" for name, s in settings.items())


def _caches(machine: Machine) -> str:
    caches = _sub(machine, "cpu", "caches") or {}
    return ", ".join(f"{name} {_bytes(size)}" for name, size in caches.items() if size)


def _facts(machine: Machine) -> dict[str, Any]:
    environment = machine.environment
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    return {
        "GPU": _gpu(machine, "name") or "none",
        "compute capability": _capability(_gpu(machine, "compute_capability")),
        "multiprocessors": _gpu(machine, "multiprocessors"),
        "SM clock, maximum": _clock(_gpu(machine, "clock_khz")),
        "memory clock": _clock(_gpu(machine, "memory_clock_khz")),
        "memory bus": f"{_gpu(machine, 'bus_bits')} bits" if _gpu(machine, "bus_bits") else None,
        "GPU memory": _bytes(_gpu(machine, "memory_bytes")),
        "GPU L2 cache": _bytes(_gpu(machine, "l2_bytes")),
        "driver": _gpu(machine, "driver"),
        "CUDA of driver, of runtime": ", ".join(
            filter(None, (_cuda(_gpu(machine, "driver_version")), _cuda(_gpu(machine, "runtime_version"))))
        ),
        "CPU": _sub(machine, "cpu", "model"),
        "processors usable": _sub(machine, "cpu", "cores"),
        "cores": _sub(machine, "cpu", "physical_cores"),
        "threads": _sub(machine, "cpu", "threads"),
        "OpenMP settings": _openmp(machine),
        "affinity": _sub(machine, "cpu", "affinity"),
        "frequency governor": _sub(machine, "cpu", "governor"),
        "CPU caches": _caches(machine),
        "CPU features": ", ".join(_sub(machine, "cpu", "features") or []),
        "memory": _bytes(environment.get("memory_bytes")),
        "operating system": environment.get("os"),
        "kernel": environment.get("kernel"),
        "C++ compiler": _sub(machine, "compilers", "cxx"),
        "C++ flags": _sub(machine, "compilers", "cxx_flags"),
        "CUDA compiler": _sub(machine, "compilers", "cuda"),
        "CUDA flags": _sub(machine, "compilers", "cuda_flags"),
        "CUDA architectures": _sub(machine, "compilers", "cuda_architectures"),
        "libraries": ", ".join(f"{k} {v}" for k, v in (environment.get("libraries") or {}).items() if v),
        "vicinity": environment.get("version"),
        "commit": f"{environment.get('commit', 'unknown')}{dirty}",
        "sources": environment.get("sources"),
        "captured": environment.get("time"),
    }


def environment_table(machines: list[Machine]) -> Table:
    facts = [_facts(machine) for machine in machines]
    columns = [Column("", kind="param"), *(Column(machine.name, kind="text") for machine in machines)]
    table = Table("environment", "Environment of the machines", columns, [])
    for name in facts[0]:
        if any(fact[name] for fact in facts):
            table.rows.append([Cell(name, kind="param"), *(Cell(str(fact[name] or "—")) for fact in facts)])
    return table


def ceilings_table(machines: list[Machine]) -> Table | None:
    """What `vicinity ceilings` measured."""
    names = sorted({name for machine in machines for name in machine.environment.get("ceilings") or {}})
    columns = [Column("ceiling", kind="param"), *(Column(machine.name) for machine in machines)]
    table = Table("ceilings", "Measured ceilings of the machines", columns, [])
    for name in names:
        cells = [Cell(name, kind="param")]
        for machine in machines:
            entry = (machine.environment.get("ceilings") or {}).get(name)
            cells.append(Cell(with_unit(entry["value"], entry["unit"]) if entry else "—"))
            if entry:
                row = {"ceiling": name, "machine": machine.name, "value": entry["value"], "unit": entry["unit"]}
                table.tidy.append(row | {"record": f"{machine.folder.name}/environment.json"})
        table.rows.append(cells)
    return table if names else None


def builds_table(machines: list[Machine]) -> Table | None:
    """With which compilers and flags the records used here were made; a row for each machine and build."""
    labels = ("machine", "records", "sources", "C++ compiler", "C++ flags", "CUDA compiler", "CUDA flags", "waiting")
    table = Table("builds", "Builds that made the records", [Column(label, kind="text") for label in labels], [])
    for machine in machines:
        counts: dict[tuple[str, ...], int] = {}
        for record in machine.records.values():
            build = machine.build_of(record) or {}
            compilers = build.get("compilers") or {}
            waiting = " ".join(f"{name}={value}" for name, value in (build.get("waiting") or {}).items())
            told = [compilers.get(name) or "—" for name in ("cxx", "cxx_flags", "cuda", "cuda_flags")]
            told.append(waiting or "—")
            made = (str(record.data.get("sources", "—")), *(told if compilers else ["unknown"] * len(told)))
            counts[made] = counts.get(made, 0) + 1
        for made, count in counts.items():
            table.rows.append([Cell(text) for text in (machine.name, str(count), *made)])
    table.notes = [
        "Unknown: environment.json does not list the build, since an older program recorded it. "
        "Waiting: what the user set of how threads wait."
    ]
    return table if table.rows else None


def provenance_table(machines: list[Machine]) -> Table | None:
    """Each file of records: how many lines, made by which sources."""
    labels = ("file", "lines", "used here", "profile", "commit", "sources", "descriptor")
    table = Table("provenance", "Files of records", [Column(label, kind="text") for label in labels], [])
    table.columns[0] = Column("file", kind="param")
    for machine in machines:
        used = {source for record in machine.records.values() for source in record.sources}
        files: dict[str, list] = {}
        for record in machine.all_records:
            files.setdefault(record.source.rpartition(":")[0], []).append(record)
        for file, records in files.items():
            counting = [record for record in records if record.source in used]
            commits = {str(r.data.get("commit", "unknown"))[:10] + ("*" * bool(r.data.get("dirty"))) for r in counting}
            values = [str(len(records)), str(len(counting)), _join({r.profile for r in counting}), _join(commits)]
            values += [_join({str(r.data.get(name, "")) for r in counting}) for name in ("sources", "descriptor")]
            table.rows.append([Cell(file, kind="param"), *map(Cell, values)])
    table.notes = [f"Damaged, left out: {place}" for machine in machines for place in machine.damaged[:TOLD]]
    table.notes += ["A star after a commit: with uncommitted changes. Sources and descriptor are content hashes."]
    return table if table.rows else None


def _join(values: set[str]) -> str:
    return ", ".join(sorted(values))
