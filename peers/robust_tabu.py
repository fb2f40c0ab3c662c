"""Robust tabu search (Taillard: Robust taboo search for the quadratic assignment problem, 1991): `rots-qap`, D. Diaz'
edition of Taillard's program of 2006, of QAP-codes (https://github.com/didoudiaz/QAP-codes). ROTS_QAP names it where it
is not on the path.

One search a thread, each with a seed of its own and the program's parameters as they come; the best of all counts. A
search has no limit in time: it is ended."""

import hashlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from adapter import Adapter, Report, Task, main

IMPROVED = re.compile(rb"iter:\s*(\d+)\s+cost:\s*(-?\d+).*IMPROVED")
MOST = 2**31 - 1  # iterations, the program's largest number


def program() -> str:
    found = os.environ.get("ROTS_QAP") or shutil.which("rots-qap")
    if found is None or not os.access(found, os.X_OK):
        raise FileNotFoundError(
            f"{found or 'rots-qap'} cannot be run: build QAP-codes, and put it on the path or into ROTS_QAP"
        )
    return found


def version() -> str:
    """It tells none: what the file is."""
    return hashlib.sha256(Path(program()).read_bytes()).hexdigest()[:12]


class Searching:
    """One process, and the last improvement that it has printed: the cost, and a line later the permutation."""

    def __init__(self, task: Task, number: int) -> None:
        seed = (task.seed * task.threads + number) % MOST
        command = ["stdbuf", "-oL", program(), "-v", "2", "-m", str(MOST), "-s", str(seed), str(task.instance)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.iterations = 0
        self._rest, self._cost = b"", None

    def read(self) -> list[tuple[int, list[int]]] | None:
        """Costs and permutations that have come; None at its end."""
        text = os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + text).split(b"\n")
        found = []
        for line in lines:
            if self._cost is not None:
                found.append((self._cost, [int(word) for word in line.split()]))
                self._cost = None
            elif match := IMPROVED.match(line):
                self.iterations, self._cost = int(match[1]), int(match[2])
        return found if text or found else None


def search(task: Task, report: Report) -> None:
    best: tuple[int, list[int]] | None = None
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # by way of what ends the processes
    report.begin()
    searches = [Searching(task, number) for number in range(task.threads)]
    try:
        with selectors.DefaultSelector() as ready:
            for one in searches:
                ready.register(one.process.stdout, selectors.EVENT_READ, one)
            while ready.get_map() and (left := task.seconds - report.seconds()) > 0:
                for key, _ in ready.select(left):
                    found = key.data.read()
                    if found is None:
                        ready.unregister(key.fileobj)
                    for cost, permutation in found or ():
                        if best is None or cost < best[0]:
                            best = (cost, permutation)
                            report.improvement(task.scale * cost, key.data.iterations)
    finally:
        for one in searches:
            one.process.kill()
            one.process.wait()
    report.end(sum(one.iterations for one in searches), own_process=False)
    failed = [one.process.returncode for one in searches if one.process.returncode > 0]
    if failed:
        raise RuntimeError(f"rots-qap ended with exit code {failed[0]}")
    if best:
        places = " ".join(str(place + 1) for place in best[1])
        task.solution.write_text(f"{len(best[1])} {best[0]}\n{places}\n")


ADAPTER = Adapter(
    name="Robust tabu search (QAP-codes)",
    reads="QAPLIB .dat",
    program="rots-qap -v 2, a process a thread, other parameters as they come",
    version=version,
    search=search,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
