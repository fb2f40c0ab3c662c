"""Objectives of Tables 2 to 4 row by row: published beside measured, impossible ones marked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vicinity_analysis.inputs.published import Key, Observation
from vicinity_analysis.inputs.records import Machine, Record, shorten
from vicinity_analysis.papers.lns.printed import (
    INSTANCES,
    NAMES,
    OTHERS,
    Runs,
    by_instance,
    find,
    maxima,
    runs_of,
    why_impossible,
)
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.tables import MISSING, by_interest, gaps, marks_of, marks_of_results, provenance, reasons

SEEDS = "Measured: means over the seeds; sd of the population, while the paper does not say which its is."
UNNAMED = "The paper does not name the instances of {}: ours have the size, and other values."
FIRST = "First solutions are those of the models' own CP search; no time includes them."


def printed_cell(o: Observation | None) -> Cell:
    if o is None:
        return Cell("", "not in the paper", kind="published")
    why = why_impossible(o)
    title = f"{o.source} {o.notes}".strip() + (f"; impossible: {why}" if why else "")
    text = f"{o.text} ({o.spread})" if o.spread else o.text
    return Cell(text, title, note="impossible" if why else "", kind="published")


def impossible_notes(observations: list[Observation]) -> list[str]:
    """One line a reason, with the values that it rules out."""
    found: dict[str, list[str]] = {}
    for o in observations:
        if why := why_impossible(o):
            found.setdefault(why, []).append(o.text)
    return [f"Impossible: {', '.join(values)}: {why}." for why, values in found.items()]


def measured_cells(runs: Runs | None, texts: list[str], timed: bool = False) -> list[Cell]:
    """`timed`: the last is a time."""
    if runs is None:
        return [MISSING] * len(texts)
    title = "; ".join(map(provenance, runs.records))
    cells = [Cell(text, title, marks=marks_of_results(runs.records)) for text in texts]
    return [*cells[:-1], replace(cells[-1], marks=marks_of(runs.records))] if timed else cells


def series_of(study: Study) -> list[tuple[Machine, str, Mapping[Key, list[Record]]]]:
    """The paper's algorithm first, since the printed values stand beside it; then as everywhere."""
    found = []
    for machine in study.machines:
        names = sorted(by_interest(study.runs[machine.name]), key=lambda name: name != "gpu")
        found += [(machine, name, study.runs[machine.name][name]) for name in names]
    return found


def quality_table(study: Study) -> Table:
    """Table 2's column Max: the greatest sum of differences found."""
    printed, series = maxima(study.statements), series_of(study)
    found = [(m, name, {key: runs_of(cases.get(key, [])) for key in printed}) for m, name, cases in series]
    chosen = [(m, name, runs) for m, name, runs in found if not _repeats(m, name, runs, found)]
    several = any(len(runs.records) > 1 for _, _, by_key in found for runs in by_key.values() if runs)
    labels = ("mean", "best", "÷ printed") if several else ("objective", "÷ printed")
    columns = [Column(study.symbol(axis), kind="param") for axis in ("strategy", "released", "subsets", "starts")]
    columns += [Column("max", "published", main=True)]
    columns += [Column(label, f"{m.title}, {name}") for m, name, _ in chosen for label in labels]
    table = Table(f"{study.slug}-quality", f"{study.descriptor.title}: objectives", columns, [])
    table.notes = [SEEDS] if several else ["Measured: one seed."]
    table.notes += [*_same_notes(found, chosen), *impossible_notes(list(printed.values()))]
    for key, o in printed.items():
        cells = [Cell(value, kind="param") for _, value in key] + [printed_cell(o)]
        for _, _, by_key in chosen:
            runs = by_key[key]
            ratio = "" if runs is None or why_impossible(o) else f"{runs.mean / o.value:.3f}"
            texts = [f"{runs.mean:,.0f}", f"{runs.best:,.0f}", ratio] if runs else [""] * 3
            cells += measured_cells(runs, texts if several else [texts[0], texts[2]])
        for machine, name, by_key in found:
            if runs := by_key[key]:
                row = {**dict(key), "published": o.value, "machine": machine.name, "implementation": name}
                table.tidy.append(
                    row | {"mean": runs.mean, "best": runs.best} | _source(runs, marks_of_results(runs.records))
                )
        table.rows.append(cells)
    return table


Found = tuple[Machine, str, Mapping[Any, Runs | None]]  # machine, implementation, its runs of each row


def _repeats(machine: Machine, name: str, runs: Mapping[Any, Runs | None], found: Sequence[Found]) -> bool:
    """Whether an implementation that stands before this one, on the same machine, has the same objectives, seed by
    seed, wherever this one has any: twins do."""
    for other_machine, other, theirs in found:
        if other_machine is machine and other == name:
            return False
        if other_machine is machine and all(_covers(theirs.get(row), mine) for row, mine in runs.items() if mine):
            return True
    return False


def _covers(theirs: Runs | None, mine: Runs) -> bool:
    if theirs is None:
        return False
    known = {record.seed: record.objective for record in theirs.records}
    return all(known.get(record.seed) == record.objective for record in mine.records)


def _same_notes(found: Sequence[Found], chosen: Sequence[Found]) -> list[str]:
    """A sentence a machine on the implementations that need no column of their own."""
    shown, notes = {(machine.name, name) for machine, name, _ in chosen}, []
    for machine in dict.fromkeys(machine.name for machine, _, _ in found):
        title = next(m.title for m, _, _ in found if m.name == machine)
        rest = [name for m, name, _ in found if m.name == machine and (machine, name) not in shown]
        if rest:
            notes.append(f"The same on {title}, seed by seed: {', '.join(rest)}.")
    return notes


def results_table(study: Study) -> Table:
    """Tables 3 and 4: first solution, best, time. Implementations that find the same have columns of times alone."""
    other, series = OTHERS[study.name], series_of(study)
    instances = {printed: instance for printed, (instance, _) in INSTANCES[study.name].items()}
    found: list[Found] = []
    for machine, name, cases in series:
        runs = by_instance(_all(cases))
        found.append((machine, name, {printed: runs_of(runs.get(of, [])) for printed, of in instances.items()}))
    chosen = [one for one in found if not _repeats(*one, found)]
    full = {(machine.name, name) for machine, name, _ in chosen}
    columns = [Column("in the paper", kind="param"), Column("here", kind="param"), Column("best known", "today")]
    for name in (other, "gpu-lns"):
        group, main = f"{NAMES[name]}, published", name == "gpu-lns"
        columns += [Column(label, group, main=main) for label in ("first", "best (sd)", "time, s")]
    for machine, name, _ in found:
        labels = ("first", "best (sd)", "time, s") if (machine.name, name) in full else ("time, s",)
        columns += [Column(label, f"{machine.title}, {name}") for label in labels]
    table = Table(f"{study.slug}-results", f"{study.descriptor.title}: solutions and times", columns, [])
    unnamed = [name for name, (_, same) in INSTANCES[study.name].items() if not same]
    table.notes = [SEEDS, *_seed_notes(found), *_same_notes(found, chosen), FIRST, UNNAMED.format(", ".join(unnamed))]
    table.notes += [*impossible_notes(study.statements), *gaps(study), *reasons([study])]
    for printed, instance in instances.items():
        best = (runs.best_known for *_, by_name in found if (runs := by_name[printed]) and runs.best_known is not None)
        known = next(best, None)
        cells = [Cell(printed, kind="param"), Cell(instance, kind="param")]
        cells += [MISSING if known is None else Cell(f"{known:,.0f}", "data/catalogue.yaml")]
        for name in (other, "gpu-lns"):
            cells += [printed_cell(find(study.statements, printed, name, m)) for m in ("first_cost", "cost", "time")]
        for machine, name, by_name in found:
            runs = by_name[printed]
            texts = [""] * 3
            if runs:
                texts = [f"{runs.first:,.0f}", f"{runs.mean:,.1f} ({runs.deviation:,.1f})", significant(runs.seconds)]
                row = {"instance": instance, "machine": machine.name, "implementation": name, "first": runs.first}
                row |= {"mean": runs.mean, "deviation": runs.deviation, "best": runs.best, "seconds": runs.seconds}
                table.tidy.append(row | _source(runs, marks_of(runs.records)))
            cells += measured_cells(runs, texts if (machine.name, name) in full else texts[2:], timed=True)
        table.rows.append(cells)
    return table


def _seed_notes(found: Sequence[Found]) -> list[str]:
    """How many runs the means are of, a sentence a machine; the printed ones are of 20."""
    notes: dict[str, list[int]] = {}
    for machine, _, by_name in found:
        notes.setdefault(machine.title, []).extend(len(runs.records) for runs in by_name.values() if runs)
    return [
        f"Seeds of an instance on {title}: {' to '.join(map(str, sorted({min(counts), max(counts)})))}."
        for title, counts in notes.items()
        if counts
    ]


def _all(cases: Mapping[Key, list[Record]]) -> list[Record]:
    return [record for records in cases.values() for record in records]


def _source(runs: Runs, marks: tuple[str, ...]) -> dict[str, object]:
    sources = shorten(record.source for record in runs.records)
    return {"seeds": len(runs.records), "marks": " ".join(marks), "record": sources}
