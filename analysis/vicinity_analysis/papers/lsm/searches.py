"""Luong, Melab and Talbi's local searches: what their tables and claims have in common.

Sizes of cases, stand-ins for missing files of TSPLIB, parts of a time, and gains of one implementation over another."""

import re
from dataclasses import dataclass, replace

from vicinity_analysis.claims import Evidence, Series, span
from vicinity_analysis.inputs.published import Key, Published
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views.tables import baseline_name

SIZES = (101, 198, 442, 783, 1291, 2392, 4461, 5915)
TSPLIB = ("eil101", "d198", "pcb442", "rat783", "d1291", "pr2392", "fnl4461", "rl5915")
STAND_INS = dict(zip(TSPLIB, (f"uniform{size}" for size in SIZES), strict=True))
PARTS = ("host", "transfer", "kernel")  # of a search whose host is in the loop; together its whole time
PRINTED_PARTS = {"host": "process", "transfer": "transfers", "kernel": "kernel"}
ONE_CORE, ALL_CORES = "cpu-serial", "cpu-openmp"
PUBLISHED = ("gpu", "gpu-texture", "gpu-thread-control", "gpu-reduction")  # the paper's own ways


def stand_ins(study: Study) -> Study:
    """The same printed table with the stand-in of the same size in place of each instance of TSPLIB."""

    def renamed(published: Published) -> Published:
        swapped = [
            replace(o, params=o.params | {"instance": STAND_INS[o.params["instance"]]}) for o in published.observations
        ]
        return replace(published, observations=swapped)

    title = f"{study.descriptor.title}: stand-ins of the same sizes"
    others = {metric: renamed(published) for metric, published in study.others.items()}
    published = renamed(study.published) if study.published else None
    named = replace(study.descriptor, title=title)
    return replace(study, descriptor=named, published=published, others=others, suffix="-stand-ins")


def lacking(study: Study) -> bool:
    """A printed case without a value on some machine that measured anything."""
    keys = study.published.rows.values() if study.published else []
    for machine in study.machines:
        series = study.series(machine)
        have = {key for records in series.values() for key, record in records.items() if record.ok}
        if series and not all(key in have for key in keys):
            return True
    return False


def size(key: Key) -> tuple[float, str]:
    """The n of a case, to sort by; the neighbourhood after it."""
    values = dict(key)
    text = values.get("n") or values.get("size") or values.get("dimension") or values.get("instance", "")
    digits = re.search(r"\d+", text)
    return (float(digits.group()) if digits else 0.0, values.get("neighborhood", ""))


def label(key: Key) -> str:
    """73-73, tai30a, n = 3: as the paper names its rows, with the neighbourhood where it tells rows apart."""
    values = dict(key)
    if "m" in values:
        distance = values.get("neighborhood", "").removeprefix("hamming")
        return f"{values['m']}-{values['n']}" + (f" (Hamming {distance})" if distance else "")
    return values.get("instance") or f"n = {values.get('dimension') or values.get('size')}"


def distance(key: Key) -> str:
    return dict(key).get("neighborhood", "")


def ordered(values: dict[Key, float]) -> dict[Key, float]:
    """By size; a stand-in only where the instance it stands for has no value."""
    there = {dict(key).get("instance") for key in values}
    spare = {stand_in for original, stand_in in STAND_INS.items() if original in there}
    kept = {key: value for key, value in values.items() if dict(key).get("instance") not in spare}
    return dict(sorted(kept.items(), key=lambda item: size(item[0])))


@dataclass(frozen=True)
class Gain:
    """How many times faster one implementation (or printed column) is than another, case by case in order of size."""

    subject: str
    ratios: dict[Key, float]
    used: tuple[Series, ...]

    @property
    def values(self) -> list[float]:
        return list(self.ratios.values())

    def of(self, neighborhood: str) -> "Gain":
        """The cases of one neighbourhood; all where none is named."""
        if not neighborhood:
            return self
        kept = {key: ratio for key, ratio in self.ratios.items() if distance(key) == neighborhood}
        return replace(self, ratios=kept)


def over_one_core(evidence: Evidence, printed: tuple[str, ...], measured: tuple[str, ...]) -> list[Gain]:
    """Speed-ups over one core: the paper's as printed, ours over cpu-serial."""
    if evidence.machine is None:
        chosen = [series for series in evidence.series if series.implementation in printed and series.speedups]
        return [Gain(s.label, ordered(s.speedups), (s,)) for s in chosen]
    return [gain for name in measured if (gain := over(evidence, name, ONE_CORE))]


def over(evidence: Evidence, fast: str, slow: str) -> Gain | None:
    """Measured: t(slow) / t(fast); None without a common case."""
    ours, theirs = evidence.named(fast), evidence.named(slow)
    if evidence.machine is None or ours is None or theirs is None:
        return None
    ratios = {key: theirs.times[key] / ours.times[key] for key in ours.times if key in theirs.times}
    runs = [theirs.records[key] for key in ratios]
    base = baseline_name(evidence.machine, slow, runs) if slow.startswith("cpu-") else slow
    return Gain(f"{fast} over {base}", ordered(ratios), (ours, theirs)) if ratios else None


def between(evidence: Evidence, fast: tuple[str, str], slow: tuple[str, str]) -> list[Gain]:
    """t(slow) / t(fast) of two ways to use the GPU: (our name, the published files' name). Printed: card by card."""
    if evidence.machine is not None:
        found = over(evidence, fast[0], slow[0])
        return [found] if found else []
    gains = []
    for series in evidence.series:
        card = next((o for o in evidence.series if o.implementation == slow[1] and same_card(o, series)), None)
        if series.implementation == fast[1] and card:
            ratios = {key: card.times[key] / series.times[key] for key in series.times if key in card.times}
            gains.append(Gain(f"{series.device}: {fast[1]} over {slow[1]}", ordered(ratios), (series, card)))
    return [gain for gain in gains if gain.ratios]


def same_card(one: Series, other: Series) -> bool:
    return one.device == other.device


def beside(evidence: Evidence) -> str:
    """What does not decide, but belongs beside a ratio over one core: gpu-tuned over it, and both over all cores."""
    if evidence.machine is None:
        return ""
    told = []
    for slow in (ONE_CORE, ALL_CORES):
        names = ("gpu-tuned",) if slow == ONE_CORE else ("gpu", "gpu-texture", "gpu-tuned")
        gains = [gain for name in names if (gain := over(evidence, name, slow))]
        told += [f"{gain.subject}: {span(gain.values)}" for gain in gains]
    return "; beside it " + "; ".join(told) if told else ""


def shares(record: Record) -> dict[str, float]:
    """part -> percentage of host, transfer and kernel time together; empty where the parts were not told apart."""
    if not record.ok or "transfer" not in record.parts:
        return {}
    means = {part: float(record.counted(part).mean()) for part in PARTS if part in record.parts}
    whole = sum(means.values())
    return {part: 100 * mean / whole for part, mean in means.items()} if whole > 0 else {}


def whole(record: Record) -> bool:
    """Run with all its iterations."""
    return record.ok and "extrapolated" not in record.marks


def iteration_seconds(record: Record) -> float | None:
    """Time of one iteration: the whole search over its moves."""
    moves = record.data.get("iterations")
    return record.typical() / moves if record.ok and moves else None


def smallest(study: Study, machine: Machine, name: str) -> tuple[Key, Record] | None:
    """The least case measured with `name`."""
    found = {key: record for key, record in study.series(machine).get(name, {}).items() if record.ok}
    key = min(found, key=size, default=None)
    return (key, found[key]) if key is not None else None
