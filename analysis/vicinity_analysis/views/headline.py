"""The first thing a reader sees of a paper: how much faster its own algorithm runs here, and how much faster ours.

A bar is the median over the cases that were measured whole: no headline rests on a scaled or contended value, nor on a
row whose printed time is of other work than ours. What it is over is the paper's fastest device as printed; where a
paper prints no times, its own CPU code on this host."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vicinity_analysis.inputs.published import Key
from vicinity_analysis.inputs.records import Machine, Record, ratio_value
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
    over: str  # "GeForce GTX 1080 Ti, as published", "cpu-serial (1 core, ...)"
    counts: bool  # a whole run that is neither contended nor unverified
    source: str
    published: bool = True  # else a ratio on one machine
    unlike: str = ""  # why the two times are of other work


Ratios = Callable[[Study], Iterable[Ratio]]


@dataclass(frozen=True)
class Bar:
    """One implementation over all cases of a paper."""

    title: str  # "the paper's algorithm", "ours"
    implementation: str
    ratios: tuple[Ratio, ...]
    left_out: int  # scaled, contended or unverified cases
    unlike: int = 0  # cases whose printed time is of other work

    @property
    def value(self) -> float | None:
        return float(np.median([ratio.value for ratio in self.ratios])) if self.ratios else None

    @property
    def text(self) -> str:
        if self.value is None:
            if self.unlike:
                return f"{self.left_out + self.unlike} cases, none to be compared"
            return f"{self.left_out} cases, all scaled or contended" if self.left_out else "not measured yet"
        return f"{significant(self.value)}×"

    @property
    def spread(self) -> str:
        values = [ratio.value for ratio in self.ratios]
        if not values:
            return ""
        cases = f"{len(values)} case" + "s" * (len(values) > 1)
        told = f"median of {cases}, {significant(min(values))}× to {significant(max(values))}×"
        told += f"; {self.unlike} of other work left out" if self.unlike else ""
        return told + (f"; {self.left_out} scaled or contended left out" if self.left_out else "")


@dataclass(frozen=True)
class Split:
    """The largest win of ours over a printed time, and what makes it: total = base × algorithm. Of those that can be
    divided so, and among them of those where ours is the faster, where there are any."""

    ratio: Ratio
    base: float | None  # the paper's algorithm: the printed program on its card to ours of it on this one
    algorithm: float | None  # ours over the paper's, on this card
    cores: float | None  # ours over all cores of its host

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
                    yield Ratio(study, machine, name, key, value, over, counts(record), record.source, unlike=unlike)


def ratios_over(baselines: Sequence[str]) -> Ratios:
    """On one machine, over the first of these implementations that a case has: the paper's own CPU code."""

    def found(study: Study) -> Iterable[Ratio]:
        for machine in study.machines:
            series = study.series(machine)
            for name, records in series.items():
                for key, record in records.items():
                    slow = next((s for base in baselines if (s := series.get(base, {}).get(key)) and s.ok), None)
                    if slow is None or not record.ok or name in baselines:
                        continue
                    over = f"the paper's CPU code, {slow.implementation}, on one core of the host"
                    whole = counts(record) and counts(slow)
                    yield Ratio(study, machine, name, key, ratio_value(slow, record), over, whole, record.source, False)

    return found


def counts(record: Record) -> bool:
    return record.whole and not {"contended", "unverified", "smoke"} & set(record.marks)


def headline_of(studies: Sequence[Study], ratios: Ratios) -> Headline:
    """Of the first machine that has ratios of the GPU: the report's own, where it has one."""
    every = [ratio for study in studies for ratio in ratios(study)]
    machine = next((r.machine for r in every if r.counts and r.implementation in (THEIRS, OURS)), None)
    machine = machine or next((r.machine for r in every if r.implementation in (THEIRS, OURS)), None)
    own = [ratio for ratio in every if ratio.machine is machine]
    bars = []
    for title, name in (("the paper's algorithm", THEIRS), ("ours", OURS)):
        mine = [ratio for ratio in own if ratio.implementation == name]
        alike = [ratio for ratio in mine if not ratio.unlike]
        kept = tuple(ratio for ratio in alike if ratio.counts)
        bars.append(Bar(title, name, kept, len(alike) - len(kept), len(mine) - len(alike)))
    devices = Counter(ratio.over for ratio in own if ratio.implementation in (THEIRS, OURS))
    over = devices.most_common(1)[0][0] if devices else ""
    return Headline(machine, tuple(bars), over, _split(bars[1].ratios, own))


def _split(best: Sequence[Ratio], every: Sequence[Ratio]) -> Split | None:
    if not best:
        return None
    theirs = {(r.study.name, r.key): r.value for r in every if r.implementation == THEIRS and r.counts}
    divided = [ratio for ratio in best if (ratio.study.name, ratio.key) in theirs]
    won = [ratio for ratio in divided if ratio.value > theirs[ratio.study.name, ratio.key]]
    top = max(won or divided or best, key=lambda ratio: ratio.value)
    base = theirs.get((top.study.name, top.key))
    series = top.study.series(top.machine)
    ours, cores = (series.get(name, {}).get(top.key) for name in (OURS, ALL_CORES))
    over = ratio_value(cores, ours) if ours and cores and cores.ok and counts(cores) else None
    return Split(top, base, top.value / base if base else None, over)
