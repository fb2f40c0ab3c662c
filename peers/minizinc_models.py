"""Ours beside Gecode, with and without its large neighbourhood search, on the optimisation models of a folder such as
MiniZinc's own benchmarks (github.com/MiniZinc/minizinc-benchmarks): a model and its instance of middle size from each
folder in it, one thread and as many seconds for everyone. Prints a line a model, then who was better how often.

Each solver gets the FlatZinc that MiniZinc makes for it. What ours prints it has checked itself; of Gecode's values
none is checked here but for one thing: a value better than a proved one is an error of somebody, and said."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import flatzinc
from gecode import relaxing

OPTIMISES = re.compile(r"\bsolve\b[^;]*\b(?:mini|maxi)mi[sz]e\b", re.DOTALL)
GOAL = re.compile(r"solve[^;]*?\b(minimize|maximize)\s+(\w+)\s*;", re.DOTALL)
LARGEST = 30_000_000  # bytes of FlatZinc
# Debian has Gecode's library twice: for MiniZinc 2.6 in this folder. With the other, which comes first, global
# constraints are decomposed, and models that include all of them are refused.
LIBRARY = Path("/usr/share/minizinc/gecode_presolver")
OURS, GECODE, GECODE_RELAX = "vicinity -f", "Gecode", "Gecode relax"


@dataclass(frozen=True)
class Found:
    """What a solver came to; `best` is None where it has no solution, and smaller is better."""

    best: int | None
    proved: bool
    failure: str = ""

    def said(self, sign: int) -> str:
        return self.failure or ("none" if self.best is None else str(sign * self.best) + "*" * self.proved)


def instances(folder: Path) -> list[tuple[Path, Path | None]]:
    """The first optimisation model of each folder, with its data file of middle size."""
    found = []
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        models = [path for path in sorted(place.glob("*.mzn")) if OPTIMISES.search(path.read_text(errors="replace"))]
        data = sorted((*place.rglob("*.dzn"), *place.rglob("*.json")), key=lambda path: (path.stat().st_size, path))
        if models:
            found.append((models[0], data[len(data) // 2] if data else None))
    return found


def flatzinc_for(solver: str, model: Path, data: Path | None, scratch: Path) -> str:
    """Raises ValueError with the reason where there is none."""
    target = scratch / f"{model.parent.name}.{solver}.fzn"
    library = [f"-G{LIBRARY.name}"] if solver == "gecode" and LIBRARY.is_dir() else []
    command = ["minizinc", "--solver", solver, "-c", str(model), *([str(data)] if data else []), *library]
    try:
        done = subprocess.run(
            [*command, "--fzn", str(target), "--ozn", str(target.with_suffix(".ozn"))],
            capture_output=True,
            text=True,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        raise ValueError("MiniZinc takes more than two minutes") from None
    if done.returncode or not target.exists():
        raise ValueError(next((line for line in done.stderr.splitlines() if "rror" in line), "MiniZinc fails"))
    if target.stat().st_size > LARGEST:
        raise ValueError(f"more than {LARGEST // 1_000_000} MB of FlatZinc")
    text = target.read_text()
    if re.search(r"\bvar float\b|\bfloat_", text):
        raise ValueError("has floats")
    return text


def searched(text: str) -> list[str]:
    """The integer variables that the search annotation names, all integer variables where it names none."""
    integers = re.findall(r"(?m)^var (?!bool)[^:;]*: *(\w+)", text)
    arrays = dict(re.findall(r"(?m)^array \[[^\]]*\] of var [^:]*: *(\w+)[^=]*= *\[([^\]]*)\]", text))
    words = re.findall(r"\w+", re.split(r"\b(?:mini|maxi)mize\b", text[text.rindex("solve") :])[0])
    named = [name for word in words for name in re.findall(r"\w+", arrays.get(word, word))]
    known = set(integers)
    return [name for name in dict.fromkeys(named) if name in known] or integers


def asked(text: str, relax: bool) -> tuple[str, int, str]:
    """The model that prints its objective alone; 1 to minimise, -1 to maximise; the objective's name."""
    goal = GOAL.search(text)
    if not goal:
        raise ValueError("has no goal")
    text = flatzinc.printing(text, goal[2])
    if relax and "relax_and_reconstruct" not in text:
        text = relaxing(text, searched(text))
    return text, 1 if goal[1] == "minimize" else -1, goal[2]


def solve(command: list[str], model: Path, sign: int, objective: str, seconds: float) -> Found:
    try:
        done = subprocess.run([*command, str(model)], capture_output=True, text=True, timeout=3 * seconds + 60)
    except subprocess.TimeoutExpired:
        return Found(None, False, "does not end")
    values = [sign * int(value) for value in re.findall(rf"(?m)^{objective} = (-?\d+);", done.stdout)]
    failure = f"ends with {done.returncode}" if done.returncode else ""
    return Found(min(values, default=None), "==========" in done.stdout, failure)


def compare(model: Path, data: Path | None, options: argparse.Namespace, scratch: Path) -> tuple[str, Counter]:
    """A line about one model, and how often ours was better, equal or worse."""
    name, milliseconds = f"{model.parent.name:24}", str(round(1000 * options.seconds))
    gecode = ["fzn-gecode", "-a", "-time", milliseconds]
    commands = {OURS: [options.ours, "-f", "-a", "-t", milliseconds], GECODE: gecode, GECODE_RELAX: gecode}
    try:
        texts = {solver: flatzinc_for(solver, model, data, scratch) for solver in ("vicinity", "gecode")}
        found: dict[str, Found] = {}
        for solver, command in commands.items():
            text, sign, objective = asked(texts["vicinity" if solver == OURS else "gecode"], solver == GECODE_RELAX)
            file = scratch / f"{model.parent.name}.{solver.replace(' ', '')}.run.fzn"
            file.write_text(text)
            found[solver] = solve(command, file, sign, objective, options.seconds)
    except ValueError as error:
        return f"{name} left out: {error}", Counter()
    values = {solver: float("inf") if f.best is None else f.best for solver, f in found.items()}
    counts: Counter = Counter()
    for other in (GECODE, GECODE_RELAX):
        verdict = "better" if values[OURS] < values[other] else "worse" if values[OURS] > values[other] else "equal"
        counts[other, verdict] += 1
    line = name + "  ".join(f"{found[solver].said(sign):>12}" for solver in commands)
    proofs = {f.best for f in found.values() if f.proved and f.best is not None}
    if any(value < proof for value in values.values() for proof in proofs):
        line += "  a value better than a proved one"
        counts["contradictions"] += 1
    return line, counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder of folders with models and data")
    parser.add_argument("--seconds", type=float, default=60, help="each solver has for each model (default 60)")
    parser.add_argument("--at-once", type=int, default=1, help="models side by side (default 1)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="where fzn-vicinity is (default build)")
    options = parser.parse_args()
    options.ours = str((options.build / "fzn-vicinity").resolve())
    os.environ["MZN_SOLVER_PATH"] = str((options.build / "minizinc").resolve())
    if not options.folder.is_dir() or not Path(options.ours).exists():
        print(
            f"vicinity: error: there is no {options.folder if Path(options.ours).exists() else options.ours}",
            file=sys.stderr,
        )
        return 2
    counts: Counter = Counter()
    print(f"{'':24}" + "  ".join(f"{solver:>12}" for solver in (OURS, GECODE, GECODE_RELAX)) + "  * proved")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.at_once) as pool:
        lines = pool.map(lambda pair: compare(*pair, options, Path(scratch)), instances(options.folder))
        for line, of_model in lines:
            print(line, flush=True)
            counts += of_model
    for other in (GECODE, GECODE_RELAX):
        print(
            f"Beside {other}: "
            + ", ".join(f"{counts[other, verdict]} {verdict}" for verdict in ("better", "equal", "worse"))
        )
    return 1 if counts["contradictions"] else 0


if __name__ == "__main__":
    sys.exit(main())
