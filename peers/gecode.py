"""Gecode: `fzn-gecode`, which is what `minizinc --solver gecode` runs, on the FlatZinc that we solve, too. With
--relax it does its own large neighbourhood search: `relax_and_reconstruct` over the variables of the annotation.

Times count from the start of the program, the reading of the model included."""

import re
import shutil
import signal
import subprocess
import sys

import flatzinc
from adapter import Adapter, Report, Task, main

PROGRAM = "fzn-gecode"
KEPT, FAILURES = 80, 200  # percent of the variables that stay, failures until the next restart
RELAX = "--relax" in sys.argv


def version() -> str:
    """Of the program, as the package that it came in says it."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise FileNotFoundError(f"{PROGRAM} is not on the path (Debian: flatzinc)")
    found = subprocess.run([path, "-help"], capture_output=True, text=True, check=False)
    number = re.search(r"Version:\s*([\d.]+)", found.stdout + found.stderr)
    if not number:
        raise ValueError(f"{PROGRAM} -help does not say its version")
    return number[1]


def search(task: Task, report: Report) -> None:
    source = flatzinc.read(task.instance)
    model = task.instance.with_name("gecode.fzn")
    model.write_text(_told_all(task.instance.read_text(), source))
    limit = ["-time", str(int(1000 * task.seconds)), "-r", str(task.seed % 2**31), "-p", str(task.threads)]
    report.begin()
    nodes, lines, last = 0, [], ""
    with subprocess.Popen([PROGRAM, "-a", "-s", *limit, str(model)], stdout=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, lambda *_: (process.kill(), sys.exit(130)))
        for line in process.stdout or ():
            if line.startswith("----------"):
                last = "".join(lines)
                lines = []
                report.improvement(_value_of(source.objective, last))
            elif found := re.search(r"nodes[:=]\s*(\d+)", line):
                nodes = int(found[1])
            elif not line.startswith(("%", "=")):
                lines.append(line)
    report.end(nodes, own_process=False)
    if process.returncode != 0:
        raise RuntimeError(f"{PROGRAM} ended with exit code {process.returncode}")
    if last:
        task.solution.write_text(last)


def _told_all(text: str, source: flatzinc.Model) -> str:
    """The model as Gecode knows its constraints, with each variable among what it prints."""
    text = flatzinc.printing(text, r"\w+").replace("fzn_all_different_int", "all_different_int")
    return relaxing(text, source.searched) if RELAX else text


def relaxing(text: str, searched: list[str]) -> str:
    """The model with large neighbourhood search over these variables."""
    relaxed = f"relax_and_reconstruct([{','.join(searched)}],{KEPT})"
    return re.sub(r"(?m)^solve\b", f"solve :: {relaxed} :: restart_constant({FAILURES})", text)


def _value_of(name: str, solution: str) -> int:
    found = re.search(rf"(?m)^{re.escape(name)} = (-?\d+);", solution)
    if not found:
        raise ValueError(f"{PROGRAM} prints no value of {name}")
    return int(found[1])


ADAPTER = Adapter(
    name="Gecode relax_and_reconstruct" if RELAX else "Gecode",
    reads="FlatZinc .fzn",
    program=f"{PROGRAM} -a -s -time -r -p"
    + (f", relax_and_reconstruct({KEPT}), restart_constant({FAILURES})" if RELAX else ""),
    version=version,
    search=search,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
