"""Downloads instance files of data/catalogue.yaml that are missing and that no generator makes. A file is put in place
only when its SHA-256 is that of the catalogue, whole and at once. Exit status: 0 when all is there, 1 when not."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import URLError

import yaml
from vicinity_analysis.errors import printable

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 30  # without an answer
WHOLE = 300  # seconds for a whole file, from whichever address
FILE = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*"
)  # below a folder, and never out of it
LARGEST = 64 << 20  # bytes; the files are far smaller


class Failure(Exception):
    """Why a file could not be had, in one line."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """TimeoutError when it has passed, whatever is waited for: a server may drip a byte a second for ever."""

    def over(*_: object) -> NoReturn:
        raise TimeoutError(f"not through in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def search_path(folder: Path, origin: dict[str, Any]) -> Iterator[Path]:
    """The folders in which the program looks, in its order (data/search_path.hpp)."""
    yield from (Path(part) for part in os.environ.get("VICINITY_INSTANCES", "").split(":") if part)
    yield folder
    if "debian" in origin:
        yield Path(origin["debian"]["folder"])


def find(entry: dict[str, Any], folders: Iterator[Path]) -> Path | None:
    """The file the program would read."""
    for folder in folders:
        if (folder / entry["file"]).is_file():
            return folder / entry["file"]
        name = Path(entry["file"])
        suffix = name.suffix.lower()
        alike = sorted(p for p in folder.rglob(f"{name.stem}.*") if p.suffix.lower() == suffix and p.is_file())
        if below := [path for path in alike if path.name == name.name] or alike:
            return below[0]
    return None


def download(address: str, expected: str, seconds: float) -> bytes:
    try:
        with deadline(seconds), urllib.request.urlopen(address, timeout=min(SECONDS, seconds)) as answer:
            data = answer.read(LARGEST + 1)
    except (OSError, ValueError, HTTPException) as error:  # URLError and time-outs are OSErrors
        reason = error.reason if type(error) is URLError else error
        raise Failure(f"{address}: {reason or type(error).__name__}") from None
    if sha256(data) != expected:
        raise Failure(f"{address}: SHA-256 is {sha256(data)}, the catalogue has {expected}")
    return data


def download_from_any(addresses: list[str], name: str, expected: str, seconds: float) -> bytes:
    complaints = []
    for base in addresses:
        try:
            return download(base.rstrip("/") + "/" + name, expected, seconds)
        except Failure as failure:
            complaints.append(str(failure))
    raise Failure("; ".join(complaints))


def put(target: Path, data: bytes) -> None:
    """Whole or not at all: written beside the target, then renamed."""
    beside = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", suffix=".part", delete=False) as file:
            beside = Path(file.name)
            file.write(data)
        beside.chmod(0o644)
        beside.replace(target)
    except OSError as error:
        raise Failure(f"{target}: {error.strerror or error}") from None
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def right(file: Path | None, entry: dict[str, Any]) -> bool:
    return file is not None and file.is_file() and sha256(file.read_bytes()) == entry["sha256"]


def fetch(
    entry: dict[str, Any], origin: dict[str, Any], addresses: list[str], folder: Path, seconds: float = WHOLE
) -> bool:
    """Puts the entry's file in place; False when the program finds it already. Throws Failure."""
    if not (folder / entry["file"]).resolve().is_relative_to(folder.resolve()):
        raise Failure(f"{folder / entry['file']}: a link leads out of {folder}; remove it")
    if right(find(entry, search_path(folder, origin)), entry):
        return False
    target = folder / entry["file"]
    if not right(target, entry):
        put(target, download_from_any(addresses or origin["addresses"], target.name, entry["sha256"], seconds))
    first = find(entry, search_path(folder, origin))
    if first != target:
        raise Failure(f"{first}: has the wrong SHA-256 and is found before {target}; remove it")
    return True


def load(path: Path) -> dict[str, Any]:
    """The catalogue, as far as this script needs it sound (the program checks the whole). Throws Failure."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Failure(f"{path}:{line}: {error.problem}") from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise Failure(f"{path}: {error}") from None
    instances = found.get("instances") if isinstance(found, dict) else None
    origins = found.setdefault("origins", {}) if isinstance(found, dict) else None
    if not isinstance(instances, list) or not isinstance(origins, dict):
        raise Failure(f"{path}: instances or origins: is missing or no list")
    for entry in instances:
        check_entry(path, entry)
    for family, origin in origins.items():
        addresses = origin.get("addresses") if isinstance(origin, dict) else None
        if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
            raise Failure(f"{path}: origins.{family}.addresses: is no list of addresses")
        if not isinstance(origin.get("debian", {"folder": ""}), dict) or "folder" not in origin.get(
            "debian", {"folder": ""}
        ):
            raise Failure(f"{path}: origins.{family}.debian: has no folder")
    return found


def check_entry(path: Path, entry: object) -> None:
    name = entry.get("name", "") if isinstance(entry, dict) else ""
    for field in ("name", "family", "file", "sha256", "source"):
        if not isinstance(entry, dict) or not isinstance(entry.get(field), str | int):
            raise Failure(f"{path}: instance '{name}': {field}: is missing or no text")
    if not FILE.fullmatch(str(entry["file"])):
        raise Failure(f"{path}: instance '{name}': file: '{entry['file']}' is no path below a folder")


def chosen(catalogue: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """The entries of that name; without names, all that are neither generated nor without an address."""
    entries = {entry["name"]: entry for entry in catalogue["instances"]}
    origins = catalogue.get("origins", {})
    for name in names:
        if name not in entries:
            raise Failure(f"{name}: unknown instance; data/catalogue.yaml has {', '.join(entries)}")
        if entries[name]["family"] not in origins:
            raise Failure(f"{name}: no address to get it from; its source is {entries[name]['source']}")
    if names:
        return [entries[name] for name in names]
    return [entry for entry in entries.values() if entry["family"] in origins and "generator" not in entry]


def parser() -> argparse.ArgumentParser:
    text = argparse.ArgumentParser(prog="scripts/fetch", description=__doc__)
    text.add_argument("names", nargs="*", metavar="NAME", help="instances; default: all that no generator makes")
    text.add_argument(
        "--from",
        dest="addresses",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="instead of the catalogue's (http, https, file)",
    )
    text.add_argument(
        "--to", type=Path, default=ROOT / "data/instances", metavar="FOLDER", help="default: data/instances"
    )
    text.add_argument(
        "--seconds", type=float, default=WHOLE, metavar="SECONDS", help=f"for a whole file; default {WHOLE}"
    )
    text.add_argument(
        "--catalogue", type=Path, default=ROOT / "data/catalogue.yaml", metavar="FILE", help=argparse.SUPPRESS
    )
    return text


def main() -> int:
    options = parser().parse_args()
    try:
        catalogue = load(options.catalogue)
        entries = chosen(catalogue, options.names)
    except Failure as failure:
        print(f"vicinity: error: {printable(failure)}", file=sys.stderr)
        return 2
    fetched = failed = 0
    for entry in entries:
        try:
            origin = catalogue["origins"][entry["family"]]
            fetched += fetch(entry, origin, options.addresses, options.to, options.seconds)
        except Failure as failure:
            failed += 1
            print(printable(f"{entry['name']}: {failure}"), file=sys.stderr)
    there = len(entries) - fetched - failed
    print(f"{fetched} fetched into {options.to}, {there} already there, {failed} failed")
    return 1 if failed else 0


def interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
