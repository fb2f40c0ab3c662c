"""The gpu tests of each system, of tests/kernels/<system>/; of other folders there "shared". Standard library only.

gpu_tests.py filter SYSTEM...: what GTEST_FILTER is set to for these. gpu_tests.py count SYSTEM...: reads the names of
googletest's JSON files from standard input and writes a line a system: "gpu tests SYSTEM", tests, failed.
"""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "tests" / "kernels"


def suites(systems: list[str]) -> dict[str, str]:
    """Suite -> which of `systems` it belongs to; "shared" for a folder that is not called as a system."""
    found = {}
    known = {path.stem for path in (FOLDER.parent.parent / "systems").glob("*.cpp")}
    for path in sorted(path for path in FOLDER.rglob("*_test.c*") if not path.stem.endswith("_host_test")):
        folder = path.relative_to(FOLDER).parts[0]
        for suite in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", path.read_text(), re.M):
            found[suite] = folder if folder in known else "shared"
    return {suite: system for suite, system in found.items() if system in systems}


def count(systems: list[str], logs: list[str]) -> dict[str, tuple[int, int]]:
    """Tests and failures of each system. A process that left no log has failed for all of them."""
    sums = dict.fromkeys(systems, (0, 0))
    of = suites(systems)
    for log in logs:
        try:
            for suite in json.loads(Path(log).read_text())["testsuites"]:
                system = next(of[part] for part in suite["name"].split("/") if part in of)  # parameters stand beside it
                tests, failed = sums[system]
                failed += suite["failures"] + suite.get("errors", 0)
                sums[system] = (tests + suite["tests"], failed)
        except (OSError, ValueError):
            sums = {system: (tests + 1, failed + 1) for system, (tests, failed) in sums.items()}
    return sums


if __name__ == "__main__":
    what, *asked = sys.argv[1:]
    if what == "filter":
        print(":".join(f"{suite}.*:*/{suite}.*:{suite}/*" for suite in suites(asked)))
    else:
        for name, (tests, failed) in count(asked, sys.stdin.read().split()).items():
            print(f"gpu tests {name}", tests, failed, sep="\t")
