"""`check`: do the links of a report lead somewhere?"""

import argparse
import re
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from vicinity_analysis.errors import InputError

HELP = "check the links of a written report"
DESCRIPTION = """\
Checks all pages and report.md of a report: anchors exist (also on another page), files they point to exist, ids are
unique, and nothing is fetched from outside. Exit status: 0 when all is well, 1 with one line a fault otherwise."""


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src", "xlink:href") and value:
                self.links.append((value, self.getpos()[0]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="folder of a report, e.g. results/nvidia-h200/report")


def run(args: argparse.Namespace) -> int:
    faults = faults_of(args.report)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{args.report}: links are sound")
    return 1 if faults else 0


def faults_of(folder: Path) -> list[str]:
    """One line for each broken link, repeated id or outside resource."""
    if not (folder / "index.html").is_file():
        raise InputError(f"{folder}: no index.html in it")
    pages = {path.name: _read(path) for path in sorted(folder.glob("*.html"))}
    faults = [fault for name in pages for fault in _page_faults(folder / name, pages)]
    text = folder / "report.md"
    if text.is_file():
        for number, line in enumerate(text.read_text(encoding="utf-8").splitlines(), start=1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                faults += _target_faults(text, number, target, {})
    return faults


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _page_faults(path: Path, pages: Mapping[str, _Page]) -> list[str]:
    page = pages[path.name]
    faults = [f"{path}: id '{name}' stands twice" for name, count in Counter(page.ids).items() if count > 1]
    for target, line in page.links:
        faults += _target_faults(path, line, target, pages)
    return faults


def _target_faults(path: Path, line: int, target: str, pages: Mapping[str, _Page]) -> list[str]:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return [] if parts.scheme == "data" else [f"{path}:{line}: leads outside: {target}"]
    file = unquote(parts.path) or path.name
    if not (path.parent / file).exists():
        return [f"{path}:{line}: no such file: {target}"]
    known = not parts.fragment or file not in pages or unquote(parts.fragment) in pages[file].ids
    return [] if known else [f"{path}:{line}: no such place on the page: {target}"]
