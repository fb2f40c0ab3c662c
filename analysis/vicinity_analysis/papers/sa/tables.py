"""The tables of Paul's Figures 1 and 2: improvement, acceptance, from where on the GPU wins, what the text states."""

from typing import Any

from vicinity_analysis.claims import Series
from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.papers.sa import runs
from vicinity_analysis.study import Study
from vicinity_analysis.views import scaling
from vicinity_analysis.views.cells import Cell, Column, Table, plain, significant
from vicinity_analysis.views.tables import MISSING, provenance, quotient, ratio_cell, tidy_ratio


def improvement_table(study: Study, studies: list[Study]) -> Table | None:
    """P and the fair ratio at every N and I."""
    columns, rows = [Column("N", kind="param"), Column("I", kind="param")], {}
    table = Table(f"{study.slug}-improvement", f"{study.descriptor.title}: P at every N and I", columns, [])
    chosen: list[tuple[Machine, runs.Comparison, runs.Grid[runs.Pair]]] = []
    for machine in study.machines:
        chosen += [(machine, c, found) for c, found in runs.improvements(runs.pooled(study, studies, machine))]
    for machine, comparison, found in chosen:
        columns.append(Column(comparison.title, machine.title))
        rows |= {(n, i): None for n, row in found.items() for i in row}
    for n, i in sorted(rows):
        cells = [Cell(str(n), kind="param"), Cell(plain(i), kind="param")]
        for machine, comparison, found in chosen:
            pair = found.get(n, {}).get(i)
            cells.append(_improvement(pair) if pair else MISSING)
            if pair:
                table.tidy.append(_tidy_pair(study, machine, comparison, pair, n, i))
        table.rows.append(cells)
    table.notes = [runs.baselines([m for m in study.machines if any(m is machine for machine, _, _ in chosen)])]
    return table if table.rows else None


def _improvement(pair: runs.Pair) -> Cell:
    return ratio_cell(pair.estimate(), quotient(pair.slow, pair.fast), pair.marks)


def _tidy_pair(
    study: Study, machine: Machine, comparison: runs.Comparison, pair: runs.Pair, n: int, i: int
) -> dict[str, Any]:
    row = {"experiment": study.name, "size": n, "iterations": i, "machine": machine.name}
    row |= {"implementation": comparison.fast, "baseline": pair.slow.implementation, "over": comparison.over}
    row |= tidy_ratio(pair.estimate()) | {"marks": " ".join(pair.marks)}
    return row | {"numerator": pair.slow.source, "denominator": pair.fast.source}


def plateau_table(study: Study, studies: list[Study]) -> Table | None:
    """P at the most iterations measured, by N: the paper's plateau."""
    columns = [Column("machine", kind="text"), Column("N"), Column("I")]
    table = Table(f"{study.slug}-plateau", f"{study.descriptor.title}: P at the most iterations", columns, [])
    found = {m.name: runs.improvements(runs.pooled(study, studies, m)) for m in study.machines}
    titles = list(dict.fromkeys(c.title for comparisons in found.values() for c, _ in comparisons))
    columns += [Column(title) for title in titles]
    for machine in study.machines:
        by_title = {c.title: (c, rows) for c, rows in found[machine.name]}
        for n in sorted({n for _, rows in by_title.values() for n in rows}):
            most = max(max(rows[n]) for _, rows in by_title.values() if n in rows)
            cells = [Cell(machine.title), Cell(str(n)), Cell(plain(most))]
            for title in titles:
                comparison, rows = by_title.get(title, (None, {}))
                pair = rows.get(n, {}).get(most)
                cells.append(_improvement(pair) if pair else MISSING)
                if pair and comparison:
                    table.tidy.append(_tidy_pair(study, machine, comparison, pair, n, most))
            table.rows.append(cells)
    table.notes = [runs.baselines([m for m in study.machines if found[m.name]])]
    return table if table.rows else None


def acceptance_table(study: Study, studies: list[Study]) -> Table | None:
    found = runs.acceptances(study, studies)
    if not found:
        return None
    asked = sorted({i for row in found.values() for i in row if f"{i:e}".startswith("1.000000e")})
    columns = [Column("N", kind="param"), *(Column(f"I = {plain(i)}") for i in asked)]
    table = Table(f"{study.slug}-acceptance", f"{study.descriptor.title}: acceptance rate a(I), %", columns, [])
    for n, row in found.items():
        cells = [Cell(str(n), kind="param")]
        for i in asked:
            record = row.get(i)
            cells.append(Cell(significant(100 * runs.acceptance(record)), provenance(record)) if record else MISSING)
            if record:
                counts = {"accepted": record.counters["accepted"], "rate": runs.acceptance(record)}
                table.tidy.append({"size": n, "iterations": i, **counts, "record": record.source})
        table.rows.append(cells)
    table.notes = [
        "Accepted ÷ proposed swaps of the whole run, from the counters; every implementation accepts the same."
    ]
    return table


def crossing_table(study: Study, studies: list[Study]) -> Table | None:
    columns = [Column("machine", kind="text"), Column("N")]
    table = Table(f"{study.slug}-from", f"{study.descriptor.title}: from which I on", columns, [])
    found = {m.name: runs.crossings(runs.pooled(study, studies, m)) for m in study.machines}
    titles = list(dict.fromkeys(c.title for comparisons in found.values() for c, _ in comparisons))
    columns += [Column(title, kind="text") for title in titles]
    for machine in study.machines:
        by_title = {c.title: (c, wins) for c, wins in found[machine.name]}
        for n in sorted({n for _, wins in by_title.values() for n in wins}):
            cells = [Cell(machine.title), Cell(str(n))]
            for title in titles:
                comparison, wins = by_title.get(title, (None, {}))
                win = wins.get(n)
                cells.append(Cell(scaling.describe(win)) if win else MISSING)
                if win and comparison:
                    row = {
                        "machine": machine.name,
                        "size": n,
                        "implementation": comparison.fast,
                        "over": comparison.over,
                    }
                    row |= {
                        "wins_from": win.start,
                        "equal_near": win.crossing,
                        "best": win.best,
                        "best_at": win.best_at,
                    }
                    table.tidy.append(row)
            table.rows.append(cells)
    table.notes = [runs.baselines([m for m in study.machines if found[m.name]])]
    return table if table.rows else None


def growth_sentences(study: Study, studies: list[Study]) -> list[str]:
    """How the largest size's time grows between the two longest runs; 1 is proportional."""
    sentences = []
    for machine in study.machines:
        parts = [(s.implementation, _last_exponent(s)) for s in runs.pooled(study, studies, machine).series]
        told = [f"{name} {slope:.2f}" for name, slope in parts if slope is not None]
        if told:
            sentences.append(
                f"{machine.title}: at the largest N, between the two most I measured in full, time grows as I to the "
                f"power: {', '.join(told)}."
            )
    return sentences


def _last_exponent(series: Series) -> float | None:
    times = runs.grid({k: r.typical() for k, r in series.records.items() if "extrapolated" not in r.marks})
    return scaling.exponent({float(i): t for i, t in times[max(times)].items()}) if times else None


def statements_table(study: Study) -> Table | None:
    """What the paper's text states in numbers, since its figures print none."""
    columns = [Column(label, kind="text") for label in ("place", "about", "statement")] + [Column("as printed")]
    table = Table(f"{study.slug}-stated", f"{study.descriptor.title}: numbers the paper states", columns, [])
    for o in study.statements:
        if o.metric == "hardware":
            continue
        value = f"{float(o.text):,.0f}" + ("×" if o.unit == "x" else "")
        title = o.source
        texts = (o.place, f"{o.implementation}, {o.metric.replace('_', ' ')}", o.notes)
        table.rows.append([*(Cell(text, title) for text in texts), Cell(value, title, kind="published")])
        row = {"row": o.row_key, "place": o.place, "metric": o.metric, "value": o.value, "record": o.source}
        table.tidy.append(row)
    return table if table.rows else None
