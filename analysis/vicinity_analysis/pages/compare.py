"""`compare`: two results folders, case by case, also after the machines' bandwidth and clock are divided out."""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from vicinity_analysis import stats
from vicinity_analysis.errors import InputError, printable
from vicinity_analysis.inputs.records import Machine, Record, RecordKey, load_machine
from vicinity_analysis.views import limits
from vicinity_analysis.views.cells import MARKS, Cell, Column, Table, markdown, markdown_text, significant, slug
from vicinity_analysis.views.tables import TOO_FEW, bounds

HELP = "what got faster or slower between two results folders"
DESCRIPTION = """\
Compares results folder A with B: time(A) / time(B) for every case and implementation in both (above 1: B is faster),
plain and normalised. Normalised by bandwidth (or by SM x clock) means divided by what the machines' copy bandwidths
(or multiprocessors x clock; for CPU implementations the integer throughput of the cores used) alone would explain:
1 means "just as the hardware promises". A pair of records of other sources tells of the sources too: between two
machines it is marked and counts nowhere, as does a scaled or contended one. Seeds are compared one by one. Fewer than
six samples on a side are no verdict: "few samples".
A summary by system and implementation is printed, of at most 40 lines; everything, case by case, is written to a file.
The exit status is 0 whatever the outcome: two recorded runs are not a regression test (see `regress`)."""

MOST = 40  # printed lines
MARGIN = 0.05  # smaller differences are called "same", whatever the interval says
OTHER_SOURCES = "other sources"  # the verdict where the machines are not all that differs
VERDICTS = ("B faster", "same", "B slower", TOO_FEW)
SPREAD = (("median", np.median), ("smallest", np.min), ("largest", np.max))
SOURCES = "sources: A and B ran other sources of the implementation; between two machines such a ratio counts nowhere"
LEGEND = MARKS | {"sources": ("", SOURCES)}


@dataclass(frozen=True)
class Line:
    """One case and implementation that both folders have."""

    experiment: str
    case_key: str
    implementation: str
    seed: int
    ratio: float  # time(A) / time(B)
    low: float | None  # None: one sample on a side
    high: float | None
    verdict: str
    by_bandwidth: float | None
    by_clock: float | None
    percent_a: float | None
    percent_b: float | None
    marks: str
    record_a: str
    record_b: str

    @property
    def sound(self) -> bool:
        return not {"extrapolated", "contended"} & set(self.marks.split())

    @property
    def counts(self) -> bool:
        return self.verdict != OTHER_SOURCES and self.sound


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", type=Path, help="results folder, e.g. results/nvidia-h100-80gb-hbm3")
    parser.add_argument("b", type=Path, help="results folder, e.g. results/nvidia-h200")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="where everything is written (default: compare-A-B.md)"
    )


def run(args: argparse.Namespace) -> int:
    a, b = load_machine(args.a), load_machine(args.b)
    lines = compare(a, b)
    if not lines:
        raise InputError(f"{args.a} and {args.b} have no case, implementation and seed in common")
    text, file = describe(a, b, lines), args.markdown or Path(f"compare-{slug(a.name)}-{slug(b.name)}.md")
    try:
        if args.json:
            data = {"a": a.name, "b": b.name, "same_machine": same_machine(a, b), "lines": [asdict(x) for x in lines]}
            args.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror or error}") from error
    print("\n".join(map(printable, [*digest(a, b, lines), f"Case by case: {file}"])))
    return 0


def digest(a: Machine, b: Machine, lines: list[Line]) -> list[str]:
    """The summary as text, one line less than may be printed: by system and implementation, most cases first."""
    head = [f"A = {a.name}, B = {b.name}: time(A) / time(B), above 1 B is faster"]
    head += [line for text in (_nature(a, b), _hardware(a, b)) for line in text.replace("**", "").splitlines() if line]
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.experiment.split("/")[0], line.implementation), []).append(line)
    labels = ["system", "implementation", "cases", *VERDICTS, OTHER_SOURCES, *(label for label, _ in SPREAD)]
    rows = [labels] + [[*names, *_counts(group), *_spread(group)] for names, group in groups.items()]
    tail = left_out(a, b, lines)
    room = MOST - len(head) - len(tail) - 4  # an empty line, the heads, how many more, the name of the file
    left = len(rows) - 1 - room
    widths = [max(len(row[index]) for row in rows) for index in range(len(labels))]
    table = [
        "  ".join(
            f"{text:<{width}}" if i < 2 else f"{text:>{width}}"
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows[: room + 1]
    ]
    return [*head, "", *table, *([f"and {left} more"] if left > 0 else []), *tail]


def _counts(group: list[Line]) -> list[str]:
    """Lines that count, of each verdict, and lines that do not."""
    verdicts = [sum(line.verdict == verdict and line.sound for line in group) for verdict in (*VERDICTS, OTHER_SOURCES)]
    return [str(sum(line.counts for line in group)), *map(str, verdicts)]


def _spread(group: list[Line]) -> list[str]:
    """Median, smallest and largest ratio of the lines that count."""
    ratios = [line.ratio for line in group if line.counts]
    return [f"{significant(float(f(ratios)))}×" if ratios else "—" for _, f in SPREAD]


def left_out(a: Machine, b: Machine, lines: list[Line]) -> list[str]:
    """What counts nowhere: a sentence for each reason."""
    other = sum(line.verdict == OTHER_SOURCES and line.sound for line in lines)
    unsound = sum(not line.sound for line in lines)
    both = list(_timed_in_both(a, b))
    parts = sum(first.timed != second.timed for _, first, second in both)
    given = sum(ended_by_time(first, second) for _, first, second in both)
    one, two = _seeds(a), _seeds(b)
    seeds = sum(one[case].isdisjoint(two[case]) for case in one.keys() & two.keys())
    told = {
        f"{other} of {len(lines)} lines are of other sources in A than in B: no count, no median rests on them.": other,
        f"{unsound} of {len(lines)} lines are scaled or contended: no count, no median rests on them.": unsound,
        f"{parts} cases have another part timed in A than in B: not compared.": parts,
        f"{seeds} cases in both have no seed in common: not compared.": seeds,
        f"{given} searches had so many seconds, and did other work in A than in B: times are not compared.": given,
    }
    return [text for text, number in told.items() if number]


def _seeds(machine: Machine) -> dict[tuple[str, str, str], set[tuple[int, ...]]]:
    """Experiment, case and implementation -> the seeds of each record that has a time."""
    found: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
    for key, record in machine.records.items():
        if record.ok:
            found.setdefault(key[:3], set()).add(tuple(record.data["seeds"]))
    return found


def same_machine(a: Machine, b: Machine) -> bool:
    """Same GPU, CPU model and cores: probably one machine at two times; anything else is two machines."""
    one, two = _identity(a), _identity(b)
    return one == two and (any(one.values()) or a.name == b.name)


def _identity(machine: Machine) -> dict[str, object]:
    gpu, cpu = machine.environment.get("gpu") or {}, machine.environment.get("cpu") or {}
    return {"gpu": gpu.get("name"), "cpu": cpu.get("model"), "cores": cpu.get("cores")}


def bandwidth(machine: Machine, record: Record) -> float | None:
    return machine.ceiling("copy_bandwidth" if record.backend == "gpu" else "cpu_copy_bandwidth")


def clock(machine: Machine, record: Record) -> float | None:
    """SM x clock for the GPU; for the CPU what the cores used were measured to do, clocks being unknown."""
    if record.backend == "gpu":
        gpu = machine.environment.get("gpu") or {}
        return float(gpu["multiprocessors"]) * float(gpu["clock_khz"]) if gpu.get("clock_khz") else None
    one_core = record.one_core or record.threads == 1
    return limits.ceiling(record, machine, "cpu_integer_core" if one_core else "cpu_integer")


def compare(a: Machine, b: Machine) -> list[Line]:
    lines, two = [], not same_machine(a, b)
    for key, first, second in _timed_in_both(a, b):
        if ended_by_time(first, second) or first.timed != second.timed:
            continue
        other = first.made_by != second.made_by
        ratio = stats.ratio(first.by_process(), second.by_process(), first.protocol.get("statistic", "median"))
        lines.append(
            Line(
                *key,
                ratio=ratio.value,
                **bounds(ratio),
                verdict=OTHER_SOURCES if other and two else verdict_of(ratio),
                by_bandwidth=_normalised(ratio.value, bandwidth, (a, first), (b, second)),
                by_clock=_normalised(ratio.value, clock, (a, first), (b, second)),
                percent_a=limits.percent(first, a),
                percent_b=limits.percent(second, b),
                marks=" ".join([*dict.fromkeys(first.marks + second.marks), *["sources"] * other]),
                record_a=first.source,
                record_b=second.source,
            )
        )
    return lines


def _timed_in_both(a: Machine, b: Machine) -> Iterator[tuple[RecordKey, Record, Record]]:
    """What has a time in both, over the same seeds."""
    for key, first in a.records.items():
        second = b.records.get(key)
        if second and first.ok and second.ok and first.data["seeds"] == second.data["seeds"]:
            yield key, first, second


def ended_by_time(first: Record, second: Record) -> bool:
    """Searches that had so many seconds and did different work in them: their times say nothing."""
    given = bool(first.given_seconds and second.given_seconds)
    return given and first.data.get("iterations") != second.data.get("iterations")


Measure = Callable[[Machine, Record], float | None]


def _normalised(ratio: float, measure: Measure, a: tuple[Machine, Record], b: tuple[Machine, Record]) -> float | None:
    before, after = measure(*a), measure(*b)
    return ratio / (after / before) if before and after else None


def verdict_of(ratio: stats.Estimate) -> str:
    if ratio.interval is None:
        return TOO_FEW
    if ratio.low > 1 and ratio.value > 1 + MARGIN:
        return "B faster"
    if ratio.high < 1 and ratio.value < 1 / (1 + MARGIN):
        return "B slower"
    return "same"


def describe(a: Machine, b: Machine, lines: list[Line]) -> str:
    """The whole comparison as Markdown: what is compared, a summary by implementation, every case."""
    parts = [markdown_text(f"# A = {a.name} against B = {b.name}"), _nature(a, b), _hardware(a, b), "## Summary", ""]
    parts += [markdown(summary_table(lines)), "", *left_out(a, b, lines), "", "## Cases", ""]
    parts += [markdown(cases_table(lines)), "", *_legend(lines)]
    left = [f"{len(set(x.records) - set(y.records))} only in {n}" for x, y, n in ((a, b, "A"), (b, a, "B"))]
    parts.append(f"{len(lines)} compared; {', '.join(left)}; invalid and skipped ones are left out.")
    return "\n".join(parts) + "\n"


def _legend(lines: list[Line]) -> list[str]:
    """What the marks of the cases mean."""
    used = {mark for line in lines for mark in line.marks.split()}
    return ["Marks:", "", *(f"- {text}" for mark, (_, text) in LEGEND.items() if mark in used), ""] if used else []


def _nature(a: Machine, b: Machine) -> str:
    if same_machine(a, b):
        text = "One machine (same GPU, CPU and cores) at two times. The samples are not interleaved, so a small"
        return f"\n{text} difference may be the machine's; `regress` tells.\n"
    text = markdown_text(f"**Two machines**: A is {a.title} ({a.cpu}), B is {b.title} ({b.cpu}).")
    return f"\n{text} Every ratio below is across machines.\n"


def _hardware(a: Machine, b: Machine) -> str:
    rows = []
    for label, name in (("copy bandwidth", "copy_bandwidth"), ("CPU copy bandwidth", "cpu_copy_bandwidth")):
        before, after = a.ceiling(name), b.ceiling(name)
        if before and after:
            rows.append(f"- {label}: B has {significant(after / before)} times that of A (measured)")
    one, two = ((m.environment.get("gpu") or {}) for m in (a, b))
    if one.get("clock_khz") and two.get("clock_khz"):
        share = two["multiprocessors"] * two["clock_khz"] / (one["multiprocessors"] * one["clock_khz"])
        rows.append(f"- SM × clock: B has {significant(share)} times that of A")
    return "\n".join(rows) + "\n" if rows else "No ceilings measured on both: nothing is normalised.\n"


def summary_table(lines: list[Line]) -> Table:
    labels = ("experiment", "implementation", "cases", *VERDICTS, OTHER_SOURCES, "A ÷ B, median", "smallest", "largest")
    more = ("÷ bandwidth, median", "÷ SM × clock, median", "A, % of limit", "B, % of limit")
    columns = [Column(text, kind="text" if i < 2 else "") for i, text in enumerate((*labels, *more))]
    table = Table("summary", "Summary", columns, [])
    for experiment, implementation in dict.fromkeys((line.experiment, line.implementation) for line in lines):
        group = [line for line in lines if (line.experiment, line.implementation) == (experiment, implementation)]
        texts = [experiment, implementation, *_counts(group), *_spread(group)]
        group = [line for line in group if line.counts]
        texts += [_median([line.by_bandwidth for line in group]), _median([line.by_clock for line in group])]
        texts += [_median([line.percent_a for line in group], 2), _median([line.percent_b for line in group], 2)]
        table.rows.append([Cell(text) for text in texts])
    return table


def _median(values: list[float | None], digits: int = 3) -> str:
    known = [value for value in values if value is not None]
    return significant(float(np.median(known)), digits) if known else "—"


def cases_table(lines: list[Line]) -> Table:
    labels = (
        "experiment",
        "case",
        "implementation",
        "seed",
        "verdict",
        "A ÷ B",
        "95% interval",
        "÷ bandwidth",
        "÷ SM × clock",
    )
    more = ("A, % of limit", "B, % of limit", "marks", "record A", "record B")
    columns = [Column(text, kind="text" if text not in labels[5:] + more[:4] else "") for text in (*labels, *more)]
    table = Table("cases", "Cases", columns, [])
    for x in lines:
        texts = [x.experiment, x.case_key, x.implementation, str(x.seed), x.verdict, f"{significant(x.ratio)}×"]
        texts += [f"[{significant(x.low)}, {significant(x.high)}]" if x.low is not None and x.high is not None else ""]
        texts += [_median([value]) for value in (x.by_bandwidth, x.by_clock)]
        texts += [_median([value], 2) for value in (x.percent_a, x.percent_b)]
        table.rows.append([Cell(text) for text in (*texts, x.marks, x.record_a, x.record_b)])
    return table
