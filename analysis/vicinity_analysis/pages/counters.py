"""`counters`: what limits kernels, from the hardware counters that Nsight Compute read (scripts/counters)."""

import argparse
import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_bytes
from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Machine, load_machine
from vicinity_analysis.views.cells import Cell, Column, Table

HELP = "add what Nsight Compute counted to a machine's counters.csv"
DESCRIPTION = """\
Each folder holds one watched run: ncu.csv (of `ncu --csv --page raw`) and results/, the record of the run. Of its
kernels the one that took most time counts, its launches weighted by their time. The line of an experiment, case and
implementation replaces an older one.
Exit status: 0, or 2 with one line for what cannot be read."""

FILE = "counters.csv"
TIME = "gpu__time_duration.sum"
SHARES = {  # column of the file: Nsight Compute's metric, in % of the most there is, and what the report calls it
    "multiprocessors": ("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "multiprocessors busy"),
    "issue": ("sm__inst_issued.avg.pct_of_peak_sustained_active", "issue slots"),
    "shared": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active", "shared memory"),
    "l1": ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", "shared memory and L1"),
    "l2": ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2"),
    "dram": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", "GPU memory"),
    "warps": ("sm__warps_active.avg.pct_of_peak_sustained_active", "warps resident"),
}
STALL, PER_ISSUE = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
STALLS = f"regex:{STALL}[a-z_]+{PER_ISSUE.removesuffix('.ratio')}"
NO_STALL = ("selected", "not_selected")  # issued, or could have been
KEY = ("experiment", "case", "implementation")
COLUMNS = (*KEY, "kernel", "launches", "milliseconds", *SHARES, "waits_for", "waiting", "commit", "sources")


class Launch(NamedTuple):
    kernel: str
    seconds: float
    values: dict[str, float]  # by metric


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--metrics", action="store_true", help="print what ncu is to count, for its --metrics, and end")
    what.add_argument("--out", type=Path, metavar="FILE", help=f"results/<machine>/{FILE}")
    parser.add_argument("runs", type=Path, nargs="*", help="folders of watched runs")


def run(args: argparse.Namespace) -> int:
    if args.metrics:
        print(",".join((TIME, *(metric for metric, _ in SHARES.values()), STALLS)))
        return 0
    lines = {key_of(line): line for line in (read(args.out) if args.out.exists() else [])}
    for folder in args.runs:
        line = line_of(folder)
        lines[key_of(line)] = line
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines[key] for key in sorted(lines))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(text.getvalue(), encoding="utf-8")
    print(f"{args.out}: {len(args.runs)} added, {len(lines)} in all")
    return 0


def key_of(line: dict[str, str]) -> tuple[str, ...]:
    return tuple(line[name] for name in KEY)


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a counters.csv."""
    rows = list(csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8", "replace"))))
    for number, row in enumerate(rows, 2):
        if tuple(row) != COLUMNS or None in row.values():
            raise InputError(
                f"{path}:{number}: not the columns that `counters` writes; remove the file and count again"
            )
    return rows


def line_of(folder: Path) -> dict[str, str]:
    """What is told of one watched run."""
    records = [r for results in sorted(folder.glob("results/*/")) for r in load_machine(results).all_records]
    found = {(r.data["experiment"], r.data["case_key"], r.data["implementation"]) for r in records}
    if len(found) != 1:
        raise InputError(f"{folder}: {len(found)} cases recorded; watch one of them (WHERE)")
    of_kernel: dict[str, list[Launch]] = {}
    for launch in launches_of(folder / "ncu.csv"):
        of_kernel.setdefault(launch.kernel, []).append(launch)
    kernel, launches = max(of_kernel.items(), key=lambda item: sum(launch.seconds for launch in item[1]))
    seconds = sum(launch.seconds for launch in launches)

    def mean(metric: str) -> float:
        return sum(launch.seconds * launch.values.get(metric, 0.0) for launch in launches) / seconds

    stalls = {
        name.removeprefix(STALL).removesuffix(PER_ISSUE): mean(name)
        for name in launches[0].values
        if name.startswith(STALL) and name.endswith(PER_ISSUE)
    }
    waits = {name: value for name, value in stalls.items() if name not in NO_STALL and "_not_issued" not in name}
    longest = max(waits, key=lambda name: waits[name]) if waits else ""
    line = dict(zip(KEY, found.pop(), strict=True)) | {
        name: f"{mean(metric):.1f}" for name, (metric, _) in SHARES.items()
    }
    line |= {"kernel": kernel, "launches": str(len(launches)), "milliseconds": f"{1e3 * seconds:.4g}"}
    line |= {
        "waits_for": longest.replace("_", " "),
        "waiting": f"{100 * waits[longest] / sum(waits.values()):.0f}" if longest else "",
    }
    return line | {name: str(records[0].data.get(name, "")) for name in ("commit", "sources")}


def launches_of(path: Path) -> list[Launch]:
    """Those in a file of `ncu --csv --page raw`: what the tool says, a head, a line of units, a line for each."""
    lines = read_bytes(path).decode("utf-8", "replace").splitlines()
    head = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        told = next((line for line in lines if "ERROR" in line), "no kernel was watched")
        raise InputError(f"{path}: {told}")
    units, *rows = csv.DictReader(lines[head:])
    unit = UNITS[units[TIME].replace("second", "s")]  # older versions write it out
    launches = []
    for row in rows:
        values = {name: number(text) for name, text in row.items() if "__" in (name or "") and text}
        launches.append(Launch(name_of(row["Kernel Name"]), values[TIME] * unit, values))
    if not launches:
        raise InputError(f"{path}: no kernel was watched")
    return launches


def name_of(signature: str) -> str:
    """Without types, parameters and namespaces."""
    plain = signature.replace("<unnamed>::", "").replace("(anonymous namespace)::", "")
    return re.split(r"[<(]", plain)[0].split()[-1].split("::")[-1]


def number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def counters_table(machines: Iterable[Machine]) -> Table | None:
    """What limits the kernels that were watched, for the report."""
    labels = [label for _, label in SHARES.values()]
    columns = [Column(label, kind="param") for label in ("machine", "experiment", "implementation", "kernel")]
    columns += [*(Column(f"{label}, %") for label in labels), Column("most warps wait for", kind="text")]
    table = Table("counters", "What limits the kernels: hardware counters", columns, [])
    for machine in machines:
        path = machine.folder / FILE
        for line in read(path) if path.exists() else []:
            cells = [
                Cell(text, kind="param")
                for text in (machine.name, line["experiment"], line["implementation"], line["kernel"])
            ]
            cells += [Cell(line[name]) for name in SHARES]
            table.rows.append(
                [*cells, Cell(f"{line['waits_for']} ({line['waiting']} %)" if line["waits_for"] else "—")]
            )
            table.tidy.append({"machine": machine.name} | line | {"record": f"{machine.folder.name}/{FILE}"})
    table.notes = [
        "Shares of the most that the hardware does, by Nsight Compute, of the kernel that takes most of a run's time; "
        "of issue slots, shared memory and resident warps while a multiprocessor has a block (`make counters`)."
    ]
    return table if table.rows else None
