"""Which implementation for my n? For each problem, what was fastest at every size recorded on a machine.

Only runs that were whole count, and only cases that two implementations measured. Sizes come from the case (an axis
that the paper's notation names), or from the catalogue for an instance of a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vicinity_analysis.inputs.records import SPECIAL, Machine, of_common_seeds
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import plain
from vicinity_analysis.views.headline import counts
from vicinity_analysis.views.quality import of_own_paths

Sizes = Mapping[str, int]  # instance -> its size


@dataclass(frozen=True)
class Point:
    """One case: the times of the implementations that ran it, seconds."""

    size: float
    setting: tuple[tuple[str, float], ...]  # the other numbers of the case
    seconds: tuple[tuple[str, float], ...]  # fastest first, over the same seeds where these do different work
    source: str

    @property
    def fastest(self) -> str:
        return self.seconds[0][0]


@dataclass
class Problem:
    """One problem as one paper's methods solve it."""

    system: str
    title: str  # "qap", "ppp, hamming2", "tsp, hill"
    axis: str  # what its size is
    points: list[Point] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, list[float]]:
        """The other numbers that vary, each with its values."""
        found: dict[str, set[float]] = {}
        for point in self.points:
            for axis, value in point.setting:
                found.setdefault(axis, set()).add(value)
        return {axis: sorted(values) for axis, values in found.items() if len(values) > 1}

    @property
    def ranges(self) -> list[tuple[float, float, str]]:
        """(least size, largest size, the fastest there). Adjacent sizes where always a CPU, always a GPU, or now the
        one and now the other is fastest are one range, with the name that won most cases of it."""
        found: list[tuple[float, float, str, list[str]]] = []
        for size in sorted({point.size for point in self.points}):
            names = [point.fastest for point in self.points if point.size == size]
            sides = {name.startswith("cpu-") for name in names}
            side = "either" if len(sides) > 1 else "CPU" if sides == {True} else "GPU"
            if found and found[-1][2] == side:
                found[-1] = (found[-1][0], size, side, found[-1][3] + names)
            else:
                found.append((size, size, side, names))
        return [(low, high, _most(side, names)) for low, high, side, names in found]

    @property
    def advice(self) -> list[tuple[str, str]]:
        """(sizes, implementation), in words."""
        told, ranges = [], self.ranges
        for index, (low, high, best) in enumerate(ranges):
            if index == len(ranges) - 1 and index:
                where = f"from {plain(low)} on"
            elif index == 0 and len(ranges) > 1:
                where = f"up to {plain(high)}"
            else:
                where = plain(low) if low == high else f"{plain(low)} to {plain(high)}"
            told.append((where, best))
        return told

    @property
    def data(self) -> dict[str, Any]:
        """For the page's picker."""
        points = [
            {"n": p.size, "set": dict(p.setting), "t": [[name, float(f"{s:.4g}")] for name, s in p.seconds]}
            for p in self.points
        ]
        return {"title": self.title, "axis": self.axis, "settings": self.settings, "points": points}


def problems_of(studies: Iterable[Study], machine: Machine, sizes: Sizes) -> list[Problem]:
    """In the order of the papers. Problems of one size only are left out, and so are variants that take a path of
    their own: their times are of other work, and other results; and cases without a GPU's time, of a problem that has
    others: who is fastest there is not known."""
    found: dict[tuple[str, str], Problem] = {}
    cases: dict[tuple[str, str], dict[tuple[Any, ...], Point]] = {}
    with_gpu: set[Point] = set()
    for study in studies:
        apart = of_own_paths(study.all_runs(machine))
        for key in dict.fromkeys(key for series in study.series(machine).values() for key in series):
            timed = [s[key] for n, s in study.series(machine).items() if n not in apart and key in s and s[key].whole]
            same = of_common_seeds(timed) if timed else []
            records = {record.implementation: record for record in same if counts(record)}
            if len(records) < 2:
                continue
            case = next(iter(records.values())).case
            axis, size = size_of(case, study.notation.sizes, sizes)
            if size is None:
                continue
            words = [str(value) for name, value in case.items() if name not in SPECIAL and isinstance(value, str)]
            title = ", ".join([str(case["problem"]), *words])
            setting = tuple(
                (name, float(value))
                for name, value in case.items()
                if name not in (*SPECIAL, axis) and isinstance(value, int | float) and not isinstance(value, bool)
            )
            seconds = sorted(((n, r.typical()) for n, r in records.items()), key=lambda pair: pair[1])
            point = Point(size, setting, tuple(seconds), records[seconds[0][0]].source)
            if any(record.backend == "gpu" for record in records.values()):
                with_gpu.add(point)
            where = (study.descriptor.system, title)
            found.setdefault(where, Problem(*where, axis))
            mine = cases.setdefault(where, {})
            known = mine.get((size, setting))
            if known is None or len(known.seconds) < len(seconds):
                mine[size, setting] = point
    for where, problem in found.items():
        told = set(cases[where].values()) & with_gpu or cases[where].values()
        problem.points = sorted(told, key=lambda point: (point.size, point.setting))
    return [problem for problem in found.values() if len({point.size for point in problem.points}) > 1]


def _most(side: str, names: Sequence[str]) -> str:
    """The name that stands there most often, of each side where both win."""
    cpu, gpu = ([name for name in names if name.startswith("cpu-") == is_cpu] for is_cpu in (True, False))
    best = [max(sorted(set(found)), key=found.count) for found in (gpu, cpu) if found]
    return " or ".join(best) if side == "either" else best[0]


def size_of(case: Mapping[str, Any], axes: Sequence[str], sizes: Sizes) -> tuple[str, float | None]:
    """(what it is called, value)."""
    if case.get("instance"):
        return axes[0], sizes.get(case["instance"])
    axis = next((axis for axis in axes if isinstance(case.get(axis), int | float)), "")
    return axis, float(case[axis]) if axis else None
