"""The first thing a reader sees of a paper: how much faster its own algorithm runs here, and how much faster ours.

A bar is the median over the cases that were measured whole, each of them once: no headline rests on a scaled or
contended value, nor on a row whose printed time is of other work than ours. What it is over is the paper's fastest
device as printed, of several the one with most cases; where a paper prints no times, its own CPU code on this host."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, of_common_seeds, ratio_value
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import significant
from vicinity_analysis.views.tables import counterpart, device_label

THEIRS, OURS, ALL_CORES = "gpu", "gpu-tuned", "cpu-openmp"


@dataclass(frozen=True)
class Ratio:
    """One case: the time it is held against over the measured one."""

    study: Study
    machine: Machine
    implementation: str
    key: Key
    value: float
    over: str  # "GeForce GTX 1080 Ti, as published", "the paper's CPU code, on one host core"
    counts: bool  # a whole run that is neither contended nor unverified
    source: str
    published: bool = True  # else a ratio on one machine
    unlike: str = ""  # why the two times are of other work
    problem: str = ""  # that the case is of
    held: float = 1.0  # the time it is held against, where implementations differ in that

    @property
    def sound(self) -> bool:
        return self.counts and not self.unlike

    @property
    def case(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """The same in every table that has it."""
        return self.problem, frozenset(self.key)


Ratios = Callable[[Study], Iterable[Ratio]]


@dataclass(frozen=True)
class Bar:
    """One implementation over all cases of a paper."""

    title: str  # "the paper's algorithm", "ours"
    implementation: str
    ratios: tuple[Ratio, ...]
    left_out: int  # scaled, contended or unverified cases
    unlike: int = 0  # cases whose printed time is of other work
    elsewhere: int = 0  # cases over another device

    @property
    def value(self) -> float | None:
        return float(np.median([ratio.value for ratio in self.ratios])) if self.ratios else None

    @property
    def text(self) -> str:
        if self.value is None:
            if self.unlike or self.elsewhere:
                return f"{self.left_out + self.unlike + self.elsewhere} cases, none to be compared"
            return f"{self.left_out} cases, all scaled or contended" if self.left_out else "not measured yet"
        return f"{significant(self.value)}×"

    @property
    def spread(self) -> str:
        values = [ratio.value for ratio in self.ratios]
        if not values:
            return ""
        cases = f"{len(values)} case" + "s" * (len(values) > 1)
        told = f"median of {cases}, {significant(min(values))}× to {significant(max(values))}×"
        told += f"; {self.elsewhere} over another device left out" if self.elsewhere else ""
        told += f"; {self.unlike} of other work left out" if self.unlike else ""
        return told + (f"; {self.left_out} scaled or contended left out" if self.left_out else "")


@dataclass(frozen=True)
class Split:
    """The largest win of ours over a printed time, and what makes it: total = base × algorithm. Of those that can be
    divided so, and among them of those where ours is the faster, where there are any."""

    ratio: Ratio
    base: float | None  # the paper's algorithm: the printed program on its card to ours of it on this one
    algorithm: float | None  # ours over the paper's, on this card
    cores: float | None  # ours over cpu-openmp on its host
    over: str  # on how many cores

    @property
    def case(self) -> str:
        study = self.ratio.study
        return ", ".join(f"{study.symbol(axis)} = {value}" for axis, value in self.ratio.key)


@dataclass(frozen=True)
class Headline:
    """Of one paper on one machine."""

    machine: Machine | None
    bars: tuple[Bar, ...]
    over: str
    split: Split | None


def printed_ratios(study: Study) -> Iterable[Ratio]:
    """Of every row of a printed table, over the paper's fastest device of the same kind."""
    for machine in study.machines:
        for name, series in study.series(machine).items():
            device = counterpart(study, next(iter(series.values()))) if series else None
            if device is None or study.published is None:
                continue
            over = f"{device_label(device, [device])}, as published"
            for row, key in study.published.rows.items():
                record, printed = series.get(key), study.published.cells.get((row, device))
                if record and record.ok and printed:
                    value, unlike = printed.value / record.typical(), study.why_unlike(machine, name, key)
                    more = {"unlike": unlike, "problem": record.case["problem"], "held": printed.value}
                    yield Ratio(study, machine, name, key, value, over, counts(record), record.source, **more)


def ratios_over(codes: Sequence[str], title: str, experiments: Collection[str]) -> Ratios:
    """On one machine, over the fastest of the paper's own CPU codes, case by case, in these experiments; where seeds do
    different work, over those that all have."""

    def found(study: Study) -> Iterable[Ratio]:
        for machine in study.machines if study.name in experiments else ():
            series = study.series(machine)
            for name, records in series.items():
                for key, record in records.items():
                    timed = _timed(series, codes, key)
                    if not timed or not record.ok or name in codes:
                        continue
                    *slower, fast = of_common_seeds([*timed, record])
                    slow = min(slower, key=Record.typical)
                    over, whole = f"{title}, on one host core", counts(fast) and counts(slow)
                    value, more = ratio_value(slow, fast), {"published": False, "problem": fast.case["problem"]}
                    yield Ratio(study, machine, name, key, value, over, whole, fast.source, **more)

    return found


def _timed(series: Mapping[str, Mapping[Key, Record]], codes: Sequence[str], key: Key) -> list[Record]:
    """Also where a time is scaled or contended: a slower code does not stand in for it. Empty where the first code has
    no time."""
    timed = [record for code in codes if (record := series.get(code, {}).get(key)) and record.ok]
    return timed if timed and timed[0].implementation == codes[0] else []


def counts(record: Record) -> bool:
    return record.whole and not {"contended", "unverified", "smoke"} & set(record.marks)


def headline_of(studies: Sequence[Study], ratios: Ratios) -> Headline:
    """Of the first machine that has ratios of the GPU: the report's own, where it has one."""
    every = [ratio for study in studies for ratio in ratios(study)]
    machine = next((r.machine for r in every if r.counts and r.implementation in (THEIRS, OURS)), None)
    machine = machine or next((r.machine for r in every if r.implementation in (THEIRS, OURS)), None)
    own = _once(ratio for ratio in every if ratio.machine is machine)
    gpu = [ratio for ratio in own if ratio.implementation in (THEIRS, OURS)]
    devices = Counter(ratio.over for ratio in gpu if ratio.sound) or Counter(ratio.over for ratio in gpu)
    over = devices.most_common(1)[0][0] if devices else ""
    bars = []
    for title, name in (("the paper's algorithm", THEIRS), ("ours", OURS)):
        mine = [ratio for ratio in gpu if ratio.implementation == name]
        held = [ratio for ratio in mine if ratio.over == over]
        alike = [ratio for ratio in held if not ratio.unlike]
        kept = tuple(ratio for ratio in alike if ratio.counts)
        counted = len(alike) - len(kept), len(held) - len(alike), len(mine) - len(held)
        bars.append(Bar(title, name, kept, *counted))
    return Headline(machine, tuple(bars), over, _split(bars[1].ratios, bars[0].ratios))


def _once(ratios: Iterable[Ratio]) -> list[Ratio]:
    """Each case once an implementation and what it is over: of the first table where its value is sound."""
    found: dict[object, Ratio] = {}
    for ratio in sorted(ratios, key=lambda ratio: not ratio.sound):
        found.setdefault((ratio.implementation, ratio.over, ratio.case), ratio)
    return list(found.values())


def _split(best: Sequence[Ratio], papers: Sequence[Ratio]) -> Split | None:
    if not best:
        return None
    theirs = {ratio.case: ratio.held / ratio.value for ratio in papers}  # times
    divided = [ratio for ratio in best if ratio.case in theirs]
    won = [ratio for ratio in divided if ratio.held / ratio.value < theirs[ratio.case]]
    top = max(won or divided or best, key=lambda ratio: ratio.value)
    base = top.held / theirs[top.case] if top.case in theirs else None
    series = top.study.series(top.machine)
    ours, cores = (series.get(name, {}).get(top.key) for name in (OURS, ALL_CORES))
    over = ratio_value(cores, ours) if ours and cores and cores.ok and counts(cores) else None
    named = f"{cores.threads} cores" if cores and cores.threads else "all cores"
    return Split(top, base, top.value / base if base else None, over, named)
