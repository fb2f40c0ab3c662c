"""Descriptors and the numbers the papers print: what an experiment's table looks like in its paper."""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_bytes, schema

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Key = tuple[tuple[str, str], ...]  # ((axis, value), ...): one point of a sweep, values as text


@dataclass(frozen=True)
class Observation:
    """One printed number."""

    row_key: str
    params: dict[str, str]
    instance: str
    device: str
    device_kind: str
    implementation: str
    metric: str
    unit: str
    text: str  # the printed digits
    spread: str
    notes: str
    place: str  # "Table 1", "Section 5"
    source: str  # "data/published/<file>:<line>"

    @property
    def value(self) -> float:
        """In base units (seconds for times)."""
        return float(self.text) * UNITS.get(self.unit, 1.0)


@dataclass(frozen=True)
class Column:
    """One column of a printed table."""

    device: str
    kind: str
    implementation: str


@dataclass(frozen=True)
class LeftOut:
    """What a descriptor does not run, and why."""

    reason: str
    implementations: tuple[str, ...] = ()  # none: all
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # axis -> values as text; none: all cases

    def covers(self, implementation: str, key: Key) -> bool:
        case = dict(key)
        named = not self.implementations or implementation in self.implementations
        return named and all(case.get(axis) in values for axis, values in self.where.items())


@dataclass(frozen=True)
class Spared:
    """What takes no less than so many seconds is run with the first seed of a process alone, or in the first process
    alone; 0: no limit (harness/describe/descriptor.hpp). `divided`: processes that share the seeds."""

    seeds_under: float = 0.0
    processes_under: float = 0.0
    divided: int = 1

    def seeds_of(self, count: int, seconds: float, reference: float) -> int:
        """How many of `count` seeds are asked for of what takes `seconds`, and its reference `reference`."""
        own = -(-count // self.divided)
        if self.seeds_under and (seconds >= self.seeds_under or reference >= 3 * self.seeds_under):
            own = 1
        one_process = self.processes_under and seconds >= self.processes_under
        return min(count, own if one_process else own * self.divided)


@dataclass(frozen=True)
class Descriptor:
    """experiments/<system>/<name>.yaml as far as a report needs it (`vicinity` itself validates it)."""

    experiment: str
    title: str
    paper: str
    implementations: tuple[str, ...]
    axes: tuple[str, ...]
    path: Path
    csv: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)  # published parameter -> axis
    metric: str = "time"
    seeds: tuple[int, ...] = (1,)  # of the profile full
    spared: Spared = Spared()  # which of them are not run of what takes long
    reference: str = ""  # the implementation that the check compares with
    shown: str = ""  # its path as a command names it
    left_out: tuple[LeftOut, ...] = ()
    cases: tuple[Key, ...] = ()  # of the profile full

    @property
    def system(self) -> str:
        return self.experiment.split("/")[0]

    @property
    def rank(self) -> tuple[bool, list[tuple[int, str]]]:
        """Printed tables before experiments of our own, by their numbers."""
        name = self.experiment.split("/")[1]
        parts = [(int(part or 0), text) for text, part in re.findall(r"(\D+)(\d*)", self.experiment)]
        return (self.csv is None and not name.startswith(("table", "figure")), parts)


@dataclass(frozen=True)
class Published:
    """The rows of one printed table that a descriptor's cases correspond to."""

    descriptor: Descriptor
    observations: list[Observation]

    @cached_property
    def rows(self) -> dict[str, Key]:
        """Row -> the case of that row, in the printed order."""
        return {self.row(o): self.key(o.params) for o in self.observations}

    def row(self, observation: Observation) -> str:
        """row_key; with a number behind it where a printed row holds several cases side by side (r01.1, r01.2)."""
        keys = self._cases[observation.row_key]
        which = keys.index(self.key(observation.params)) + 1
        return observation.row_key if len(keys) == 1 else f"{observation.row_key}.{which}"

    @cached_property
    def _cases(self) -> dict[str, list[Key]]:
        found: dict[str, list[Key]] = {}
        for o in self.observations:
            keys = found.setdefault(o.row_key, [])
            if self.key(o.params) not in keys:
                keys.append(self.key(o.params))
        return found

    @cached_property
    def columns(self) -> list[Column]:
        found = dict.fromkeys(Column(o.device, o.device_kind, o.implementation) for o in self.observations)
        return sorted(found, key=lambda column: column.kind != "gpu")

    @cached_property
    def cells(self) -> dict[tuple[str, Column], Observation]:
        return {(self.row(o), Column(o.device, o.device_kind, o.implementation)): o for o in self.observations}

    @property
    def unit(self) -> str:
        return self.observations[0].unit

    def key(self, params: dict[str, str]) -> Key:
        return tuple((axis, params[name]) for name, axis in self.descriptor.mapping.items() if name in params)

    def key_of_case(self, case: dict[str, Any]) -> Key:
        """The same form for a measured case: only the axes the paper's table has."""
        axes = self.descriptor.mapping.values()
        return tuple((axis, str(case[axis])) for axis in axes if case.get(axis) is not None)


def read_descriptor(path: Path, shown: str = "") -> Descriptor:
    """Raises InputError, with the path, for what is no descriptor."""
    data = read_yaml(path)
    fault = schema("descriptor")(data)
    if fault is not None:
        raise InputError(f"{path}: {fault}")
    published = data.get("published") or {}
    protocol = (data.get("protocol") or {}) | (((data.get("profiles") or {}).get("full") or {}).get("protocol") or {})
    axes = data.get("axes") or {}
    names = tuple(axis for axis in axes if axis != "seed")
    left_out, cases = _facts(path, data)
    check = data.get("check")
    return Descriptor(
        experiment=f"{path.parent.name}/{path.stem}",
        title=str(data.get("title", path.stem)),
        paper=str(data.get("paper", path.parent.name)),
        implementations=tuple(data.get("implementations") or ()),
        axes=("instance", *names) if data.get("instances") else names,
        path=path,
        csv=published.get("csv"),
        mapping=dict(published.get("axes") or {}),
        metric=published.get("metric", "time"),
        seeds=_seeds(path, protocol, axes.get("seed") or [0]),
        spared=_spared(path, protocol),
        reference=str(check.get("reference", "")) if isinstance(check, dict) else "",
        shown=shown or str(path),
        left_out=left_out,
        cases=cases,
    )


def read_yaml(path: Path) -> Any:  # noqa: ANN401
    """Raises InputError, with the line where there is one."""
    try:
        return yaml.safe_load(read_bytes(path).decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: {' '.join(str(error.problem).split())}") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deep") from error
    except (ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError) as error:  # dates that are none, odd keys
        raise InputError(f"{path}: {' '.join(str(error).split())}") from error


def _facts(path: Path, data: dict[str, Any]) -> tuple[tuple[LeftOut, ...], tuple[Key, ...]]:
    try:
        return tuple(map(_left_out, data.get("left_out") or ())), tuple(_full_cases(data))
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: left_out, axes or sweeps: {type(error).__name__}: {error}") from error


def _left_out(entry: dict[str, Any]) -> LeftOut:
    where = {axis: tuple(map(str, values)) for axis, values in (entry.get("where") or {}).items()}
    return LeftOut(str(entry["reason"]), tuple(entry.get("implementations") or ()), where)


def _full_cases(data: dict[str, Any]) -> list[Key]:
    """Instances first, then the axes, the last fastest; a sweep replaces the values of some, and axes of the profile
    end the descriptor's sweeps."""
    full = (data.get("profiles") or {}).get("full") or {}
    axes = {axis: values for axis, values in (data.get("axes") or {}).items() if axis != "seed"}
    axes |= full.get("axes") or {}
    if instances := full.get("instances") or data.get("instances"):
        axes = {"instance": instances} | axes
    sweeps = full.get("sweeps") or ([] if full.get("axes") else data.get("sweeps")) or [{}]
    keys = [
        tuple(zip(axes, map(str, values), strict=True))
        for sweep in sweeps
        for values in itertools.product(*(axes | sweep).values())
    ]
    return list(dict.fromkeys(keys))


def _seeds(path: Path, protocol: dict[str, Any], offsets: list[int]) -> tuple[int, ...]:
    """protocol.seeds is a list or {first, count}; older descriptors have protocol.seed and an axis counted from it."""
    try:
        match protocol.get("seeds"):
            case None:
                return tuple(int(protocol.get("seed", 1)) + int(offset) for offset in offsets)
            case {"count": count, **rest}:
                first = int(rest.get("first", 1))
                return tuple(range(first, first + int(count)))
            case listed:
                return tuple(map(int, listed))
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: protocol.seeds: expected a list of integers or {{first, count}}") from error


def _spared(path: Path, protocol: dict[str, Any]) -> Spared:
    seeds, processes = protocol.get("seeds"), protocol.get("processes", 1)
    seeds = seeds if isinstance(seeds, dict) else {}
    processes = processes if isinstance(processes, dict) else {"count": processes}
    try:
        limits = (float(found.get("under", 0)) for found in (seeds, processes))
        return Spared(*limits, max(1, int(processes.get("count", 1))) if seeds.get("divided") else 1)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: protocol: seeds or processes: {error}") from error


def load_published(root: Path, descriptor: Descriptor) -> dict[str, Published]:
    """metric -> the table's printed numbers: the one the descriptor compares, and what stands beside it (speed-ups,
    shares of time). Empty for an experiment beyond the papers, and where no printed row is a case."""
    if descriptor.csv is None or not descriptor.mapping:
        return {}
    found: dict[str, list[Observation]] = {descriptor.metric: []}
    path, observations = _observations(root, descriptor)
    for observation in observations:
        found.setdefault(observation.metric, []).append(observation)
    if not found[descriptor.metric]:
        raise InputError(f"{path}: no rows with metric '{descriptor.metric}' (asked by {descriptor.path})")
    known = {name for rows in found.values() for observation in rows for name in observation.params}
    for name in descriptor.mapping:
        if name not in known:
            raise InputError(f"{path}: no rows with a parameter '{name}' (asked by {descriptor.path})")
    return {metric: Published(descriptor, rows) for metric, rows in found.items()}


def load_statements(root: Path, descriptor: Descriptor) -> list[Observation]:
    """Numbers a paper states about a figure that prints none: the descriptor names a file, but no axes."""
    return _observations(root, descriptor)[1] if descriptor.csv and not descriptor.mapping else []


def _observations(root: Path, descriptor: Descriptor) -> tuple[Path, list[Observation]]:
    """Of data/published/ in the repository; for a descriptor kept elsewhere, the file may lie beside it."""
    name, beside = str(descriptor.csv), descriptor.path.parent
    folder = root / "data" / "published"
    path, shown = folder / name, f"data/published/{name}"
    if not path.exists() and (beside / name).exists():
        folder, path, shown = beside, beside / name, f"{beside.parent.name}/{beside.name}/{name}"
    if ".." in Path(name).parts or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{descriptor.path}: published.csv: '{name}' leads out of {folder}; name a file in it")
    if not path.exists():
        raise InputError(f"{path}: no such file (named by {descriptor.path})")
    return path, list(_read_rows(read_bytes(path), path, shown))


def _read_rows(data: bytes, path: Path, shown: str) -> Iterator[Observation]:
    """A file of the repository: what is wrong in it ends the reading, so that no printed number is lost in silence."""
    same = ("row_key", "instance", "device", "device_kind", "implementation", "metric", "unit", "spread", "notes")
    number = 1
    try:
        rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), restkey="", restval=None, strict=True)
        for row in rows:
            number = rows.line_num
            if "" in row or None in row.values():
                raise ValueError(
                    f"{sum(value is not None for value in row.values())} fields, the first line names others"
                )
            fault = schema("published")(row)
            if fault is not None:
                raise ValueError(str(fault))
            params = dict(item.split("=", 1) for item in row["params"].split(";") if item)
            if row["instance"]:
                params.setdefault("instance", row["instance"])
            taken = {name: row[name] for name in same}
            source = f"{shown}:{number}"
            yield Observation(**taken, params=params, text=row["value"], place=row["table"], source=source)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: not UTF-8; mend the file") from error
    except (csv.Error, ValueError) as error:
        raise InputError(f"{path}:{number}: {error}; mend the row") from error
