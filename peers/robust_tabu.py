"""Robust tabu search (Taillard: Robust taboo search for the quadratic assignment problem, 1991): `rots-qap`, D. Diaz'
edition of Taillard's program of 2006, of QAP-codes (https://github.com/didoudiaz/QAP-codes). ROTS_QAP names it where it
is not on the path.

The program's parameters as they come. A search has no limit in time: it is ended."""

import hashlib
import re
import selectors
import subprocess
import sys
from pathlib import Path

from adapter import Adapter, Lines, Report, Task, main, outside_program, running

IMPROVED = re.compile(rb"iter:\s*(\d+)\s+cost:\s*(-?\d+).*IMPROVED")
MOST = 2**31 - 1  # iterations, the program's largest number


def program() -> str:
    return outside_program("rots-qap", "ROTS_QAP", "build QAP-codes, and put it on the path or into ROTS_QAP")


def version() -> str:
    """It tells none: what the file is."""
    return hashlib.sha256(Path(program()).read_bytes()).hexdigest()[:12]


def search(task: Task, report: Report) -> None:
    """An improvement is a line with its cost, and after it one with the permutation."""
    command = ["stdbuf", "-oL", program(), "-v", "2", "-m", str(MOST), "-s", str(task.seed % MOST), str(task.instance)]
    report.begin()
    with (
        running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        selectors.DefaultSelector() as ready,
    ):
        iterations, cost, output = 0, None, Lines(process.stdout)
        best: tuple[int, list[int]] | None = None
        ready.register(process.stdout, selectors.EVENT_READ)
        while (left := task.seconds - report.seconds()) > 0:
            if not ready.select(left) or (lines := output.read()) is None:
                break
            for line in lines:
                if cost is not None:
                    best, cost = (cost, [int(word) for word in line.split()]), None
                    report.improvement(task.scale * best[0], iterations)
                elif match := IMPROVED.match(line):
                    iterations, cost = int(match[1]), int(match[2])
    report.end(iterations, own_process=False)
    if process.returncode > 0:
        raise RuntimeError(f"rots-qap ended with exit code {process.returncode}")
    if best:
        places = " ".join(str(place + 1) for place in best[1])
        task.solution.write_text(f"{len(best[1])} {best[0]}\n{places}\n")


ADAPTER = Adapter(
    name="Robust tabu search (QAP-codes)",
    reads="QAPLIB .dat",
    program="rots-qap -v 2, a process a thread, other parameters as they come",
    version=version,
    search=search,
    one_thread=True,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
