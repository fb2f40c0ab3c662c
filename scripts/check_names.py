"""No line outside a system's own files names it. Standard library only; exit 0 when there is no such line, else 1.

Systems are those of systems/list.hpp and the papers' packages of analysis/. A file is a system's own where a folder of
its path, or its name, is the system's name or begins with it ("<name>_solver.cpp", "<name>_table2.csv"). Any system may
be named in documentation, recorded results and tests, and in systems/list.hpp.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ANYWHERE = ("docs", "results", "tests")
ANYTHING = ("systems/list.hpp", "CITATION.cff", "CHANGELOG.md")
BUILT = re.compile(r"^(build.*|\.git|\.venv|\..*_cache|__pycache__|.*\.egg-info)$")


def systems(root: Path) -> list[str]:
    listed = re.findall(r"^System ([a-z0-9_]+)\(\);", (root / "systems/list.hpp").read_text(), re.MULTILINE)
    papers = [init.parent.name for init in root.glob("analysis/vicinity_analysis/papers/*/__init__.py")]
    return sorted({*listed, *papers})


def files(root: Path) -> Iterator[PurePosixPath]:
    """Under version control or not yet in it, what is ignored left out; all there are in a copy without git."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True) if (root / ".git").exists() else None
    if listed and listed.returncode == 0:
        yield from (PurePosixPath(name) for name in sorted(set(listed.stdout.split("\0"))) if name)
        return
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and not any(BUILT.match(part) for part in relative.parts):
            yield PurePosixPath(relative)


def is_free(path: PurePosixPath) -> bool:
    return path.parts[0] in ANYWHERE or path.suffix == ".md" or path.as_posix() in ANYTHING


def is_own(path: PurePosixPath, name: str) -> bool:
    return any(re.match(rf"{re.escape(name)}(?![A-Za-z0-9])", part) for part in path.parts)


def lines_naming(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Each offender, as path:line: text."""
    words = {name: re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in names}
    for path in files(root):
        foreign = [word for name, word in words.items() if not is_own(path, name)]
        if is_free(path) or not foreign or not (root / path).is_file():
            continue
        text = (root / path).read_bytes().decode(errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if any(word.search(line) for word in foreign):
                yield f"{path}:{number}: {line.strip()}"


def main(root: Path) -> int:
    names = systems(root)
    found = list(lines_naming(root, names))
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(found)} lines name a system ({', '.join(names)}) outside its own files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
