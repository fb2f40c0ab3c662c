"""`submit`: are the records of a machine fit to be shared? If so, one archive of them for a pull request."""

import argparse
import gzip
import io
import tarfile
from pathlib import Path

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.files import read_json
from vicinity_analysis.inputs.records import Machine, load_machine
from vicinity_analysis.pages import counters

HELP = "check a machine's records and pack them for a pull request"
DESCRIPTION = """\
Checks results folders: environment.json, every line of the records and verification.json by the JSON Schemas of
docs/schema/, counters.csv by its columns; the last two where they are there. Then packs the machine's files as
<machine>-records.tar.gz, to be unpacked in results/ of a clone. The same records give the same bytes.
Exit status: 0 when all is well, 1 with one line a fault otherwise; nothing is packed then."""

LARGEST = 50_000_000  # bytes of a machine's records in the repository


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, nargs="+", help="results folders of machines")
    parser.add_argument("--check", action="store_true", help="check only, pack nothing")
    parser.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="where to put the archives (default: here)"
    )


def run(args: argparse.Namespace) -> int:
    machines = [load_machine(folder) for folder in args.results]
    faults = [fault for machine in machines for fault in faults_of(machine)]
    if faults:
        print("\n".join(faults))
        return 1
    for machine in machines:
        told = f"{machine.folder}: {len(machine.all_records)} records of {machine.title}"
        if args.check:
            print(f"{told}, sound")
            continue
        file = args.out / f"{machine.folder.resolve().name}-records.tar.gz"
        try:
            file.write_bytes(archive(machine))
        except OSError as error:
            raise InputError(f"{file}: {error.strerror or error}") from error
        print(f"{told}: {file}")
    if not args.check:
        print("For a pull request: unpack in results/ of a clone, git add -f results/<machine>, commit, push.")
    return 0


def faults_of(machine: Machine) -> list[str]:
    """One line each, with file and line where there is one."""
    folder = machine.folder.resolve()
    faults = list(machine.damaged)
    faults += [
        f"{place}: unfinished last line: run the experiment again, which mends it" for place in machine.unfinished
    ]
    for name in ("environment", "verification"):
        path = folder / f"{name}.json"
        if path.exists():
            try:
                read_json(path, name)
            except InputError as error:
                faults.append(str(error))
        elif name == "environment":
            faults.append(f"{path}: missing; run the experiments again, which write it")
    if (folder / counters.FILE).exists():
        try:
            counters.read(folder / counters.FILE)
        except InputError as error:
            faults.append(str(error))
    if machine.name != folder.name:
        faults.append(f"{folder / 'environment.json'}: machine: '{machine.name}', while the folder is '{folder.name}'")
    for record in machine.records.values():
        place = f"{folder.parent / record.sources[0]}"
        if record.data["status"] == "invalid":
            faults.append(f"{place}: status: invalid: {record.data.get('message', '')}")
        elif record.profile == "smoke":
            faults.append(f"{place}: profile: smoke runs are tests, no measurements")
        elif record.ok and not record.data.get("verified"):
            faults.append(f"{place}: verified: its result was not checked")
    size = sum(path.stat().st_size for path in files_of(machine))
    if size > LARGEST:
        faults.append(f"{folder}: {size} bytes; at most {LARGEST} are kept of a machine")
    return faults


def files_of(machine: Machine) -> list[Path]:
    """What belongs to its records, and nothing else that lies in the folder."""
    folder = machine.folder
    named = [folder / name for name in ("environment.json", "verification.json", counters.FILE)]
    return [path for path in (*named, *sorted(folder.glob("*/*.jsonl"))) if path.is_file() and not path.is_symlink()]


def archive(machine: Machine) -> bytes:
    """Without owners, modes and times, so that only the contents count."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for path in files_of(machine):
            name = f"{machine.folder.resolve().name}/{path.relative_to(machine.folder).as_posix()}"
            entry, data = tarfile.TarInfo(name), path.read_bytes()
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)
