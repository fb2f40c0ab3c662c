"""`query`: recorded numbers, for scripts and for people in a hurry; or all of them as one table."""

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

from vicinity_analysis import stats
from vicinity_analysis.errors import InputError, printable
from vicinity_analysis.inputs.records import PROFILES, Machine, Record, load_machine, select

HELP = "print a recorded value with its interval"
DESCRIPTION = """\
Prints the statistic of the samples recorded for one case and implementation, with a 95% bootstrap interval;
one sample has none ("interval": null).
Of several lines for the same case the best profile (full, quick, smoke) and then the last line counts.

One match prints one JSON object; several matches print a JSON array of such objects (--list: always an array).
--format csv and parquet give the matching lines as the table that vicinity_analysis.frame() makes, of one experiment or
of all, with --out into a file (parquet always).
Exit status: 0 when every match has a value, 2 when nothing matches or a match has none (invalid, skipped); for tables
0 when anything matches."""

FORMATS = ("line", "json", "csv", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of a machine, e.g. results/nvidia-h200")
    parser.add_argument("--experiment", metavar="SYSTEM/NAME", help="SYSTEM is a folder of experiments/ (default: all)")
    parser.add_argument(
        "--where", nargs="+", action="extend", default=[], metavar="AXIS=VALUE", help="e.g. size=100 seed=1"
    )
    parser.add_argument("--implementation", metavar="NAME", help="e.g. gpu-tuned (default: all)")
    parser.add_argument("--profile", choices=PROFILES, help="only this profile (default: the best recorded)")
    parser.add_argument("--time", metavar="PART", help="kernel, total, wall or a part (default: the protocol's)")
    parser.add_argument("--statistic", choices=sorted(stats.STATISTICS), default="median")
    parser.add_argument("--format", choices=FORMATS, default="line", help="a line a match, JSON, or a table")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there instead of printing")
    parser.add_argument("--list", action="store_true", help="with JSON: an array also for one match")


def run(args: argparse.Namespace) -> int:
    if args.format == "parquet" and not args.out:
        raise InputError("--format parquet: name a file with --out")
    machine = load_machine(args.results)
    matches = _matches(machine, args)
    if args.format in ("csv", "parquet"):
        _write(args.out, _table(machine, matches, args.format))
        return 0
    answers = [answer(record, args.time, args.statistic) for record in matches]
    if args.format == "json":
        text = json.dumps(answers if args.list or len(answers) > 1 else answers[0], indent=2)
    else:
        text = "\n".join(printable(_line(item)) for item in answers)
    _write(args.out, f"{text}\n".encode())
    return 0 if all(item["status"] == "ok" for item in answers) else 2


def _matches(machine: Machine, args: argparse.Namespace) -> list[Record]:
    """Raises InputError where there are none, which says why."""
    records = select(machine.all_records, args.profile).values()
    known = [record for record in records if args.experiment in (None, record.experiment)]
    if not known:
        names = sorted({record.experiment for record in records}) or ["none"]
        what = f"of '{args.experiment}'" if args.experiment else "at all"
        raise InputError(f"{args.results}: no records {what}; recorded: {', '.join(names)}")
    conditions = parse_where(args.where)
    matches = [record for record in known if matches_where(record, conditions)]
    if args.implementation:
        matches = [record for record in matches if record.implementation == args.implementation]
    if not matches:
        raise InputError(_no_match(known, conditions, args))
    return matches


def _table(machine: Machine, matches: list[Record], kind: str) -> bytes:
    """The lines that the matches rest on, as `frame` gives them."""
    from vicinity_analysis.inputs.frames import frame_of  # pandas takes half a second: only who asks for a table waits

    sources = {source for record in matches for source in record.sources}
    found = frame_of([machine])
    found = found[found["source"].isin(sources)].dropna(axis="columns", how="all")
    if kind == "csv":
        return found.to_csv(index=False).encode()
    out = io.BytesIO()
    try:
        found.to_parquet(out, index=False)
    except ImportError as error:
        raise InputError("--format parquet needs pyarrow: pip install pyarrow") from error
    return out.getvalue()


def _write(out: Path | None, data: bytes) -> None:
    try:
        if out:
            out.write_bytes(data)
        else:
            sys.stdout.write(data.decode())
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"{out}: {error.strerror}") from error


def parse_where(conditions: list[str]) -> dict[str, str]:
    parsed = {}
    for condition in conditions:
        axis, separator, value = condition.partition("=")
        if not separator or not axis or not value:
            raise InputError(f"--where {condition}: expected axis=value")
        parsed[axis] = value
    return parsed


def matches_where(record: Record, conditions: dict[str, str]) -> bool:
    return all(same_value(_values(record).get(axis), value) for axis, value in conditions.items())


def _values(record: Record) -> dict[str, Any]:
    return record.case | {"seed": record.seed}


def same_value(recorded: object, asked: str) -> bool:
    """Equal as text or as numbers (4096 and 4.096e3)."""
    if str(recorded) == asked:
        return True
    try:
        return recorded is not None and float(str(recorded)) == float(asked)
    except ValueError:
        return False


def answer(record: Record, part: str | None, statistic: str) -> dict[str, Any]:
    data = record.data
    part = part or record.timed
    found = record.estimate(part, statistic) if record.ok else None
    return {
        "experiment": record.experiment,
        "case": record.case,
        "seed": record.seed,
        "implementation": record.implementation,
        "machine": data.get("machine"),
        "status": data["status"],
        "message": data.get("message", ""),
        "time": part,
        "statistic": statistic,
        statistic: found.value if found else None,
        "interval": list(found.interval) if found and found.interval else None,
        "level": stats.LEVEL,
        "unit": "s",
        "samples": found.samples if found else 0,
        "verified": bool(data.get("verified")),
        "extrapolated": data.get("extrapolated"),
        "throttled": bool(data.get("throttled")),
        "contended": record.rests_on_contended,
        "profile": record.profile,
        "evaluations": data.get("evaluations"),
        "iterations": data.get("iterations"),
        "digest": data.get("digest"),
        "commit": data.get("commit"),
        "record": record.source,
    }


def _line(item: dict[str, Any]) -> str:
    axes = " ".join(f"{name}={value}" for name, value in item["case"].items() if value is not None)
    head = f"{item['experiment']} {axes} seed={item['seed']} {item['implementation']}:"
    if item["status"] != "ok":
        return f"{head} {item['status']}: {item['message']} [{item['record']}]"
    bounds = ", ".join(f"{1e3 * bound:.4g}" for bound in item["interval"] or ())
    interval = f" [{bounds}]" if bounds else ""
    flags = [name for name in ("extrapolated", "throttled", "contended") if item[name]]
    flags += [] if item["verified"] else ["unverified"]
    count = f"{item['samples']} sample" + "s" * (item["samples"] > 1)
    return (
        f"{head} {item['statistic']} {1e3 * item[item['statistic']]:.4g} ms{interval} ({item['time']}, "
        f"{count}, {', '.join([item['profile'], *flags])}) [{item['record']}]"
    )


def _no_match(known: list[Record], conditions: dict[str, str], args: argparse.Namespace) -> str:
    """Says which condition is to blame, and what would have matched."""
    place = f"{args.results}: {args.experiment or 'all experiments'}"
    axes = sorted({axis for record in known for axis in _values(record)})
    for axis, value in conditions.items():
        if axis not in axes:
            return f"{place}: no axis '{axis}'; there are: {', '.join(axes)}"
        values = sorted(
            {_values(record).get(axis) for record in known}, key=lambda v: (isinstance(v, str), v is None, v)
        )
        if not any(same_value(recorded, value) for recorded in values):
            return f"{place}: {axis}={value} is not recorded; there are: {', '.join(map(str, values))}"
    names = sorted({record.implementation for record in known})
    if args.implementation and args.implementation not in names:
        return f"{place}: implementation '{args.implementation}' is not recorded; there are: {', '.join(names)}"
    return f"{place}: no record matches all the conditions"
