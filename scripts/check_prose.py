"""No measured number stands in a page written by hand: reports and docs/measured.md take them from records.

Looked for in the Markdown pages, outside code: times with units, rates, speed-ups ("3 times", "3x", "3×"),
percentages, and numbers like 1.2e3. A number that is no measurement of ours says so in a comment, in its line or, for a
whole paragraph or table, on the line before:

    <!-- number: published -->    printed by a paper, which the text names
    <!-- number: definition -->   follows from a definition, a size or an exact count
    <!-- number: limit -->        a limit or aim of the protocol, or of a program

Standard library only; prints what it finds and exits 1, else 0.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from check_names import files

GENERATED = ("docs/measured.md", "CHANGELOG.md")  # from records; history
KINDS = ("published", "definition", "limit")
FIGURE = r"(?<![\w.,])\d[\d.,]*(?:e[+-]?\d+)?"
UNIT = r"(?:[nuµm]?s|sec(?:ond)?s?|min(?:ute)?s?|hours?|[A-Za-z ]{0,20}/s)"
MEASURED = re.compile(rf"{FIGURE}\s?(?:{UNIT}\b|×(?! ?\d)|times\b|%|per ?cent\b)|{FIGURE}x\b|(?<![\w.])\d\.\d+e\d+")
NOTE = re.compile(r"<!-- number: (.*?) -->")
CODE = re.compile(r"`[^`]*`")


def lines_with_numbers(text: str) -> Iterator[tuple[int, str]]:
    """Line number and what is wrong, of each line that has an unmarked number or a mark of no known kind."""
    fenced = covered = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        notes = NOTE.findall(line)
        for kind in notes:
            if kind not in KINDS:
                yield number, f"no such kind of number: {kind} (there are {', '.join(KINDS)})"
        alone = notes and not NOTE.sub("", line).strip()
        covered = bool(alone) or (covered and bool(line.strip()))
        found = MEASURED.search(CODE.sub("", line))
        if found and not (fenced or covered or notes):
            yield number, f"a measured number? {found.group()}"


def is_written(path: PurePosixPath) -> bool:
    """By hand? Those of recorded results are generated too."""
    return path.suffix == ".md" and path.as_posix() not in GENERATED and path.parts[0] != "results"


def main(root: Path) -> int:
    found = [
        f"{page}:{number}: {fault}"
        for page in filter(is_written, files(root))
        if (root / page).is_file()
        for number, fault in lines_with_numbers((root / page).read_text(encoding="utf-8"))
    ]
    print("\n".join([*found, f"{len(found)} lines have numbers that no record vouches for"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
