"""Objectives of Tables 2 to 4 row by row: published beside measured, impossible ones marked."""

from collections.abc import Mapping

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
from vicinity_analysis.views.tables import MISSING, gaps, provenance, reasons

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


def measured_cells(runs: Runs | None, texts: list[str]) -> list[Cell]:
    if runs is None:
        return [MISSING] * len(texts)
    title = "; ".join(map(provenance, runs.records))
    marks = tuple(dict.fromkeys(mark for record in runs.records for mark in record.marks))
    return [Cell(text, title, marks=marks) for text in texts]


def series_of(study: Study) -> list[tuple[Machine, str, Mapping[Key, list[Record]]]]:
    return [(machine, name, cases) for machine in study.machines for name, cases in study.runs[machine.name].items()]


def quality_table(study: Study) -> Table:
    """Table 2's column Max: the greatest sum of differences found."""
    printed, series = maxima(study.statements), series_of(study)
    columns = [Column(study.symbol(axis), kind="param") for axis in ("strategy", "released", "subsets", "starts")]
    columns += [Column("max", "published")]
    columns += [Column(label, f"{m.title}, {name}") for m, name, _ in series for label in ("mean", "best")]
    table = Table(f"{study.slug}-quality", f"{study.descriptor.title}: objectives", columns, [])
    table.notes = [SEEDS, *impossible_notes(list(printed.values()))]
    for key, o in printed.items():
        cells = [Cell(value, kind="param") for _, value in key] + [printed_cell(o)]
        for machine, name, cases in series:
            runs = runs_of(cases.get(key, []))
            texts = [f"{runs.mean:,.0f}", f"{runs.best:,.0f}"] if runs else ["", ""]
            cells += measured_cells(runs, texts)
            if runs:
                row = {**dict(key), "published": o.value, "machine": machine.name, "implementation": name}
                table.tidy.append(row | {"mean": runs.mean, "best": runs.best} | _source(runs))
        table.rows.append(cells)
    return table


def results_table(study: Study) -> Table:
    """Tables 3 and 4: first solution, best, time."""
    other, series = OTHERS[study.name], series_of(study)
    columns = [Column("in the paper", kind="param"), Column("here", kind="param"), Column("best known", "today")]
    for name in (other, "gpu-lns"):
        columns += [Column(label, f"{NAMES[name]}, published") for label in ("first", "best (sd)", "time, s")]
    for machine, name, _ in series:
        columns += [Column(label, f"{machine.title}, {name}") for label in ("first", "best (sd)", "time, s")]
    table = Table(f"{study.slug}-results", f"{study.descriptor.title}: solutions and times", columns, [])
    unnamed = [name for name, (_, same) in INSTANCES[study.name].items() if not same]
    table.notes = [SEEDS, FIRST, UNNAMED.format(", ".join(unnamed)), *impossible_notes(study.statements)]
    table.notes += [*gaps(study), *reasons([study])]
    for printed, (instance, _) in INSTANCES[study.name].items():
        found = [(m, name, runs_of(by_instance(_all(cases)).get(instance, []))) for m, name, cases in series]
        known = next((runs.best_known for _, _, runs in found if runs and runs.best_known is not None), None)
        cells = [Cell(printed, kind="param"), Cell(instance, kind="param")]
        cells += [MISSING if known is None else Cell(f"{known:,.0f}", "data/catalogue.yaml")]
        for name in (other, "gpu-lns"):
            cells += [printed_cell(find(study.statements, printed, name, m)) for m in ("first_cost", "cost", "time")]
        for machine, name, runs in found:
            texts = [""] * 3
            if runs:
                texts = [f"{runs.first:,.0f}", f"{runs.mean:,.1f} ({runs.deviation:,.1f})", significant(runs.seconds)]
                row = {"instance": instance, "machine": machine.name, "implementation": name, "first": runs.first}
                row |= {"mean": runs.mean, "deviation": runs.deviation, "best": runs.best, "seconds": runs.seconds}
                table.tidy.append(row | _source(runs))
            cells += measured_cells(runs, texts)
        table.rows.append(cells)
    return table


def _all(cases: Mapping[Key, list[Record]]) -> list[Record]:
    return [record for records in cases.values() for record in records]


def _source(runs: Runs) -> dict[str, object]:
    return {"seeds": len(runs.records), "record": shorten(record.source for record in runs.records)}
