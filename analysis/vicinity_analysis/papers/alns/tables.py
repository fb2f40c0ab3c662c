"""Tables 1, 2 and B.3 to B.10, row by row: published beside measured."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vicinity_analysis.inputs.published import Observation
from vicinity_analysis.inputs.records import Machine, Record, shorten
from vicinity_analysis.papers.alns.spreads import (
    NAMES,
    ROUNDING,
    SCALE,
    SETS,
    SETTING,
    STATS,
    TOTAL,
    Printed,
    Spread,
    above,
    printed_of,
    searches,
    spread_of,
    total,
)
from vicinity_analysis.study import Study
from vicinity_analysis.views.anytime import curves, pool_of
from vicinity_analysis.views.cells import Cell, Column, Table, significant
from vicinity_analysis.views.tables import (
    MISSING,
    ends_of,
    gaps,
    marks_of,
    marks_of_results,
    provenances,
    reasons,
    threads_of,
)

WORDS = {"avg": "mean", "min": "least", "max": "most", "std": "sd"}
BASELINES = {"alns/table1": ("pra",), "alns/table2": ("pra", "pra-8"), "alns/table_b9": ("pra-8",)}
PLACES = {"alns/table1": "Table 1", "alns/table2": "Table 2"}
# appendix table -> what it is of, over which baseline
APPENDIX = {"alns/table1": {"Table B.3": ("cost", "pra"), "Table B.4": ("time", "pra")}}
APPENDIX["alns/table2"] = {"Table B.5": ("cost", "pra"), "Table B.6": ("time", "pra")}
APPENDIX["alns/table2"] |= {"Table B.7": ("cost", "pra-8"), "Table B.8": ("time", "pra-8")}
APPENDIX["alns/table_b9"] = {"Table B.9": ("cost", "pra-8"), "Table B.10": ("time", "pra-8")}
COMPARED = {"cost": "cost_difference", "time": "time_ratio"}

ERRORS = (
    "BKS is the paper's column, of which some values are stale; best known is today's. Measured errors are those of "
    "the mean cost over the seeds, to both."
)
RUNS = (
    "Measured columns: runs of "
    + ", ".join(f"{axis} = {value}" for axis, value in SETTING.items())
    + " (until the stopping rule), as the paper's; others stand in the table of gaps alone. A process is a block: "
    "28 are two a multiprocessor of the paper's card, so that a larger one is mostly idle."
)
RATIOS = (
    "GPU-ALNS ÷ ours is the published mean time of GPU-ALNS over ours: a ratio of two machines and two programs, no "
    "speed-up. τ is the paper's, of its own machine. PRA and PRA-8 are closed code: published only."
)
TOTALS = "Totals are ratios and errors of sums, as the paper's are, and stand where every instance was measured."
LIKE_BHS = (
    "The paper's BHS instances were never published. Measured columns are of instances of the same size, made by the "
    "paper's recipe with seeds of ours: their costs are not to be compared with the printed ones."
)
WHOLE = (
    "The published time is that of a whole run of GPU-ALNS, on its card, until its stopping rule, not of when it had "
    "its cost; gpu-hybrid and cpu-hybrid are other algorithms. A ratio of the two says nothing of the hardware."
)
DEVIATION = (
    "Measured: over the seeds, of which one has a mean alone; sd of the population, while the paper does not say which "
    "its Std. is."
)


@dataclass(frozen=True)
class Measured:
    """One implementation on one machine: its runs of the paper's setting, by instance."""

    machine: Machine
    name: str
    runs: dict[str, list[Record]]

    def of(self, metric: str) -> dict[str, Spread]:
        return {instance: spread_of(records, metric) for instance, records in self.runs.items()}

    @property
    def head(self) -> str:
        """Of its columns: on how many cores it ran, where these are several."""
        cores = threads_of(record for records in self.runs.values() for record in records)
        several = f" on {ends_of(cores)} cores" if cores and cores[-1] > 1 else ""
        return f"{self.machine.title}, {self.name}{several}"

    def title(self, instance: str) -> str:
        return provenances(self.runs[instance])

    def marks(self, instances: Iterable[str], metric: str) -> tuple[str, ...]:
        """Of the value of these together."""
        records = [record for instance in instances for record in self.runs[instance]]
        return (marks_of if metric == "time" else marks_of_results)(records)


def measured_of(study: Study) -> list[Measured]:
    found = [
        Measured(machine, name, _in_place(searches(record for records in cases.values() for record in records)))
        for machine in study.machines
        for name, cases in study.runs[machine.name].items()
    ]
    return [one for one in found if one.runs]


def of_same_seeds(one: Measured, other: Measured) -> tuple[Measured, Measured]:
    """Runs of the instances and seeds that both have: a seed decides how many calls a run makes."""
    seeds = {name: {record.seed for record in one.runs[name]} for name in one.runs}
    common = {
        name: seeds[name] & {record.seed for record in records} for name, records in other.runs.items() if name in seeds
    }
    return tuple(
        replace(each, runs={name: [r for r in each.runs[name] if r.seed in of] for name, of in common.items() if of})
        for each in (one, other)
    )


def _in_place(runs: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """Of instances like those that were never published under the name of these: bhs-like-1 in the place of BHS-1."""
    return {re.sub("^bhs-like-", "BHS-", instance): records for instance, records in runs.items()}


def printed_cell(o: Observation | None, text: str | None = None) -> Cell:
    if o is None:
        return Cell("", "not in the paper", kind="published")
    return Cell(text if text is not None else o.text, f"{o.source} {o.notes}".strip(), kind="published")


def best_known_of(study: Study, studies: Sequence[Study]) -> dict[str, float]:
    """Today's best known costs, of all instances that any experiment of the paper has a record of."""
    same = [other for other in studies if other.descriptor.system == study.descriptor.system]
    every = (record for other in (study, *same) for machine in other.machines for record in other.all_runs(machine))
    return {record.case["instance"]: record.best_known / SCALE for record in every if record.best_known}


def comparison_table(study: Study, studies: Sequence[Study] = ()) -> Table:
    """Tables 1 and 2."""
    printed, every = printed_of(study), measured_of(study)
    place, baselines = PLACES[study.name], BASELINES[study.name]
    columns = [Column("instance", kind="param"), Column("in the paper", kind="param"), Column("requests", kind="param")]
    columns += [Column("BKS", "published"), Column("best known", "today")]
    for name in ("gpu-alns", *baselines):
        group, main = f"{NAMES[name]}, published", name == "gpu-alns"
        columns += [Column("error, %", group, main=main), Column("time, s", group, main=main)]
    for name in baselines:
        columns += [Column(label, f"Δ {NAMES[name]}, published") for label in ("cost, %", "τ")]
    labels = ("error to BKS, %", "error to best known, %", "time, s", "GPU-ALNS ÷ ours")
    columns += [Column(label, one.head) for one in every for label in labels]
    table = Table(f"{study.slug}-comparison", f"{study.descriptor.title}: errors and times", columns, [])
    table.notes = [ERRORS, RATIOS, TOTALS, RUNS, *_seeds(every), *gaps(study), *reasons([study])]
    best = best_known_of(study, studies)
    for instance, requests in printed.requests(SETS[study.name]).items():
        bks = printed.best(instance)
        theirs = bks.instance if bks else ""
        cells = [Cell(text, kind="param") for text in (instance, theirs, str(requests))]
        cells += [printed_cell(bks), Cell(f"{best[instance]:,.2f}") if instance in best else MISSING]
        cells += _printed_comparison(printed, instance, place, baselines)
        for one in every:
            cells += _measured_comparison(table, printed, one, instance)
        table.rows.append(cells)
    footer = [
        Cell("total", kind="param"),
        *(Cell("", kind="param") for _ in range(2)),
        printed_cell(printed.best(TOTAL)),
    ]
    listed = list(printed.requests(SETS[study.name]))
    footer += [Cell(f"{sum(best[name] for name in listed):,.2f}") if set(listed) <= set(best) else Cell("")]
    footer += _printed_comparison(printed, TOTAL, place, baselines)
    for one in every:
        footer += _measured_total(printed, one, listed)
    table.footer = [footer]
    return table


def _seeds(every: Sequence[Measured]) -> list[str]:
    """How many runs the means are of, a sentence for each machine."""
    found: dict[str, list[str]] = {}
    for one in every:
        counts = [len(records) for records in one.runs.values()]
        if counts:
            seeds = " to ".join(map(str, sorted({min(counts), max(counts)})))
            found.setdefault(one.machine.title, []).append(f"{one.name} {seeds}")
    return [f"Seeds of an instance on {machine}: {', '.join(counts)}." for machine, counts in found.items()]


def _printed_comparison(printed: Printed, instance: str, place: str, baselines: Sequence[str]) -> list[Cell]:
    def cell(*what: str, baseline: str = "") -> Cell:
        return printed_cell(printed.find(instance, *what, baseline=baseline, place=place))

    cells = [cell(name, metric) for name in ("gpu-alns", *baselines) for metric in ("error", "time")]
    return cells + [
        cell("gpu-alns", metric, baseline=name) for name in baselines for metric in ("cost_difference", "time_ratio")
    ]


def _measured_comparison(table: Table, printed: Printed, one: Measured, instance: str) -> list[Cell]:
    if instance not in one.runs:
        return [MISSING] * 4
    records = one.runs[instance]
    costs, times = spread_of(records, "cost"), spread_of(records, "time")
    bks, known, theirs = printed.best(instance), records[0].best_known, printed.find(instance, "gpu-alns", "time")
    values = {
        "error_to_bks": above(costs.mean, bks.value) if bks else None,
        "error_to_best_known": above(costs.mean, known / SCALE) if known else None,
        "seconds": times.mean,
        "published_over_ours": theirs.value / times.mean if theirs else None,
    }
    row = {"instance": instance, "machine": one.machine.name, "implementation": one.name, "seeds": len(records)}
    told = {"marks": " ".join(one.marks([instance], "time")), "record": shorten(costs.sources)}
    table.tidy.append(row | values | told)
    return _comparison_cells(values.values(), one, [instance], one.title(instance))


def _measured_total(printed: Printed, one: Measured, instances: list[str]) -> list[Cell]:
    if set(instances) - set(one.runs):
        return [Cell("", f"{len(one.runs)} of {len(instances)} instances measured")] * 4
    costs, times = total(one.of("cost").values()), total(one.of("time").values())
    known = [one.runs[instance][0].best_known for instance in instances]
    bks = [found.value for instance in instances if (found := printed.best(instance))]
    theirs = [found.value for instance in instances if (found := printed.find(instance, "gpu-alns", "time"))]
    values = [
        above(costs.mean, sum(bks)),
        above(costs.mean, sum(known) / SCALE) if all(known) else None,
        times.mean,
        sum(theirs) / times.mean,
    ]
    return _comparison_cells(values, one, instances, "of the sums")


def _comparison_cells(values: Iterable[float | None], one: Measured, instances: list[str], title: str) -> list[Cell]:
    to_bks, to_best, seconds, ratio = values
    texts = ["—" if error is None else f"{error:z.2f}" for error in (to_bks, to_best)]
    texts += [significant(seconds), "—" if ratio is None else f"{significant(ratio)}×"]
    marks = [one.marks(instances, metric) for metric in ("cost", "cost", "time", "time")]
    return [Cell(text, title, marks=mark) for text, mark in zip(texts, marks, strict=True)]


def appendix_tables(study: Study) -> list[Table]:
    return [_appendix_table(study, place) for place in APPENDIX[study.name]]


def _appendix_table(study: Study, place: str) -> Table:
    """Mean, least, most and standard deviation over the repetitions: of costs, or of times in seconds."""
    metric, baseline = APPENDIX[study.name][place]
    printed, every = printed_of(study), measured_of(study)
    bks = metric == "cost" and study.name in PLACES  # the paper has none of its BHS instances
    compared = "Diff, %" if metric == "cost" else "τ"
    columns = [Column("instance", kind="param"), Column("requests", kind="param")]
    columns += [Column("BKS", "published")] if bks else []
    columns += [Column(WORDS[s], f"{NAMES[name]}, published") for name in ("gpu-alns", baseline) for s in STATS]
    columns += [Column(WORDS[s], f"{compared} to {NAMES[baseline]}, published") for s in STATS]
    columns += [Column(WORDS[s], one.head) for one in every for s in STATS]
    unit = ", s" if metric == "time" else ""
    name = f"{study.slug}-{place.removeprefix('Table ').replace('.', '').lower()}"
    notes = [DEVIATION, TOTALS] + ([] if study.name in PLACES else [LIKE_BHS, RUNS, *_seeds(every), *gaps(study)])
    table = Table(name, f"{place}: {metric}{unit}", columns, [], notes=notes)
    instances = printed.requests(SETS[study.name])
    for instance, requests in instances.items():
        cells = [Cell(instance, kind="param"), Cell(str(requests), kind="param")]
        cells += _printed_spreads(printed, instance, place, metric, baseline, bks)
        table.rows.append(cells + _measured_spreads(table, every, instance, metric))
    last = [Cell("total", kind="param"), Cell("", kind="param")]
    last += _printed_spreads(printed, TOTAL, place, metric, baseline, bks)
    for one in every:
        spreads = one.of(metric)
        sums = total(spreads.values()) if set(spreads) == set(instances) else None
        marks = one.marks(spreads, metric)
        last += [_text_cell(sums.of(stat) if sums else None, "of the sums", metric, marks) for stat in STATS]
    table.footer = [last]
    return table


def _measured_spreads(table: Table, every: list[Measured], instance: str, metric: str) -> list[Cell]:
    cells = []
    for one in every:
        if instance not in one.runs:
            cells += [MISSING] * 4
            continue
        spread = spread_of(one.runs[instance], metric)
        title, marks = one.title(instance), one.marks([instance], metric)
        cells += [_text_cell(spread.of(stat), title, metric, marks) for stat in STATS]
        row = {"instance": instance, "machine": one.machine.name, "implementation": one.name, "metric": metric}
        row |= {WORDS[stat]: spread.of(stat) for stat in STATS} | {"seeds": len(spread.sources)}
        table.tidy.append(row | {"marks": " ".join(marks), "record": shorten(spread.sources)})
    return cells


def _printed_spreads(printed: Printed, instance: str, place: str, metric: str, baseline: str, bks: bool) -> list[Cell]:
    cells = [printed_cell(printed.best(instance))] if bks else []
    for name in ("gpu-alns", baseline):
        cells += [printed_cell(printed.find(instance, name, metric, stat, place=place)) for stat in STATS[:3]]
        mean = printed.find(instance, name, metric, place=place)
        cells.append(printed_cell(mean, mean.spread if mean else None))
    found = (printed.find(instance, "gpu-alns", COMPARED[metric], stat, baseline, place) for stat in STATS)
    return cells + [printed_cell(o) for o in found]


def _text_cell(value: float | None, title: str, metric: str, marks: tuple[str, ...] = ()) -> Cell:
    if value is None:
        return Cell("")
    return Cell(f"{value:,.2f}" if metric == "cost" else significant(value), title, marks=marks)


def quality_table(study: Study, studies: Sequence[Study]) -> Table | None:
    """How soon a search has what the paper's reaches at its end, in the mean. None where the paper prints nothing of
    these instances, or nothing is measured."""
    printed = printed_of(study)
    found = [(machine, curve) for machine in study.machines for curve in curves(pool_of(study, studies), machine)]
    instances = [name for name in dict.fromkeys(c.instance for _, c in found) if printed.find(name, "gpu-alns", "cost")]
    if not instances:
        return None
    names = list(dict.fromkeys((machine.name, curve.name) for machine, curve in found))
    titles = {machine.name: machine.title for machine, _ in found}
    by_key = {(machine.name, curve.name, curve.instance): curve for machine, curve in found}
    columns = [Column("instance", kind="param"), Column("mean cost", "published"), Column("mean time, s", "published")]
    columns += [
        Column(f"{titles[machine]}, {name}", "median time to the published mean cost, s") for machine, name in names
    ]
    table = Table(f"{study.slug}-quality", f"{study.descriptor.title}: time to the paper's mean quality", columns, [])
    table.notes.append(
        "Median over the seeds; a dash: more than half of them never had it in the time they were given."
    )
    seeds = {name: sorted({len(curve.records) for _, curve in found if curve.name == name}) for _, name in names}
    told = ", ".join(f"{name} {' to '.join(map(str, (c[0], c[-1])[: len(c)]))}" for name, c in seeds.items())
    table.notes.append(f"Seeds of an instance: {told}. {WHOLE}")
    for instance in instances:
        mean, time = (printed.find(instance, "gpu-alns", metric) for metric in ("cost", "time"))
        cells = [Cell(instance, kind="param"), printed_cell(mean), printed_cell(time)]
        for machine, name in names:
            curve = by_key.get((machine, name, instance))
            good = mean.value * SCALE * (1 + ROUNDING)
            seconds = np.median(curve.seconds_to(good)) if curve else np.inf
            marks = marks_of(curve.records) if curve else ()
            told = curve and np.isfinite(seconds)
            cells.append(
                Cell(significant(float(seconds)), provenances(curve.records), marks=marks) if told else MISSING
            )
            row = {"instance": instance, "machine": machine, "implementation": name, "published_mean_cost": mean.value}
            table.tidy.append(row | {"seconds": float(seconds) if told else None, "marks": " ".join(marks)})
        table.rows.append(cells)
    return table


def lines_table(study: Study) -> Table | None:
    """Lines of the hybrid search a second over the GPUs of a host, and over one GPU with as many lines as each has."""
    columns = [Column(label, kind="param") for label in ("machine", "instance", "generations", "GPUs", "lines")]
    columns += [Column("ms a generation"), Column("lines a second"), Column("over one GPU"), Column("efficiency, %")]
    table = Table(f"{study.slug}-lines", "Lines a second over the GPUs of a host", columns, [])
    for machine in study.machines:
        over = study.series(machine).get("mpi-gpu-islands", {}).values()
        keys = ("instance", "calls", "ranks", "processes")
        runs = {tuple(record.case[key] for key in keys): record for record in over if record.ok}
        for (instance, generations, ranks, lines), record in sorted(runs.items()):
            alone = runs.get((instance, generations, 1, lines // ranks))
            rate = _lines_a_second(record)
            same = alone and alone.made_by == record.made_by
            ratio = rate / _lines_a_second(alone) if same else None
            params = (machine.title, instance, generations, ranks, lines)
            cells = [Cell(str(text), kind="param") for text in params]
            of_generation = 1e3 * record.typical() / generations
            title, marks = record.source, record.marks
            cells += [Cell(significant(value), title, marks=marks) for value in (of_generation, rate)]
            cells += [Cell(significant(ratio), title, marks=marks) if ratio else MISSING]
            cells += [Cell(f"{100 * ratio / ranks:.1f}", title, marks=marks) if ratio else MISSING]
            table.rows.append(cells)
            row = {
                "machine": machine.name,
                "instance": instance,
                "generations": generations,
                "ranks": ranks,
                "lines": lines,
                "lines_a_second": rate,
            }
            table.tidy.append(row | {"over_one": ratio, "marks": " ".join(marks), "record": record.source})
    table.notes = [
        "A line makes one child, or anneals one solution, a generation. Over one GPU: with as many lines as each has."
    ]
    return table if table.rows else None


def _lines_a_second(record: Record) -> float:
    return record.case["processes"] * record.case["calls"] / record.typical()
