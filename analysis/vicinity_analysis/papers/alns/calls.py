"""Kernel calls until the stopping rule: ours, and what one took on the paper's card if it made as many."""

from dataclasses import replace

import numpy as np

from vicinity_analysis.claims import span
from vicinity_analysis.papers.alns.spreads import SETS, printed_of, spread_of
from vicinity_analysis.papers.alns.tables import RUNS, Measured, measured_of, printed_cell
from vicinity_analysis.study import Study
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.tables import MISSING, ends_of, provenances

IF_AS_MANY = (
    "A call is 100 iterations of each process. As if the paper's runs had made as many: the published mean time over "
    "the mean number of ours; ×: that over the time of a call of ours."
)
FOLLOWS = (
    "Ours says how much a call may differ between instances of one size. Where the published time over our calls "
    "differs by more, the paper's runs made other numbers of calls than ours; how many is not printed."
)


def calls_table(study: Study) -> Table | None:
    """Of `gpu`, and what takes its path takes as many. None where nothing is measured."""
    every = [one for one in measured_of(study) if one.name == "gpu" and one.runs]
    if not every:
        return None
    printed = printed_of(study)
    columns = [Column("instance", kind="param"), Column("requests", kind="param")]
    columns.append(Column("time, s", "GPU-ALNS, published"))
    labels = ("calls, mean", "ms a call", "published ms, if as many", "×")
    columns += [Column(label, one.head) for one in every for label in labels]
    table = Table(f"{study.slug}-calls", f"{study.descriptor.title}: kernel calls at the stop", columns, [])
    ratios: dict[str, list[tuple[float, float]]] = {one.head: [] for one in every}
    for instance, requests in printed.requests(SETS[study.name]).items():
        theirs = printed.find(instance, "gpu-alns", "time")
        cells = [Cell(instance, kind="param"), Cell(str(requests), kind="param"), printed_cell(theirs)]
        for one in every:
            if instance not in one.runs or theirs is None:
                cells += [MISSING] * len(labels)
                continue
            calls, ours = _calls(one, instance)
            published = 1e3 * theirs.value / calls
            ratios[one.head].append((published, published / ours))
            cells += _cells(one, instance, (calls, ours, published, published / ours))
            row = {"instance": instance, "machine": one.machine.name, "implementation": one.name, "calls": calls}
            row |= {"milliseconds_a_call": ours, "published_milliseconds_if_as_many": published}
            told = {"marks": " ".join(one.marks([instance], "time")), "record": provenances(one.runs[instance])}
            table.tidy.append(row | told)
        table.rows.append(cells)
    table.notes = [IF_AS_MANY, FOLLOWS, *(_summary(*item) for item in ratios.items() if item[1]), RUNS]
    return table


def _calls(one: Measured, instance: str) -> tuple[float, float]:
    """Mean over the seeds, and the milliseconds of one."""
    calls = float(np.mean([record.data["iterations"] for record in one.runs[instance]]))
    return calls, 1e3 * spread_of(one.runs[instance], "time").mean / calls


def _cells(one: Measured, instance: str, values: tuple[float, ...]) -> list[Cell]:
    calls, *times, ratio = values
    made = sorted(record.data["iterations"] for record in one.runs[instance])
    title, marks = one.title(instance), one.marks([instance], "time")
    cells = [Cell(significant(calls), f"{ends_of(made)} over {len(made)} seeds; {title}")]
    ours, published = (Cell(significant(time), title, marks=marks) for time in times)
    return [*cells, ours, replace(published, marks=()), Cell(f"{significant(ratio)}×", title, marks=marks)]


def _summary(head: str, found: list[tuple[float, float]]) -> str:
    published, ratios = zip(*found, strict=True)
    return f"{head}: published time over our calls {span(published, ' ms')}; over ours {span(ratios)}."
