"""A pytest plugin of scripts/test_minizinc: which of MiniZinc's solver tests count, and which of these pass.

A test counts if MiniZinc, with its own library, compiles its model to FlatZinc in which no variable is a float or a
set. The others are tests of floats, of sets, of the compiler's errors or of the driver alone. A failure is a wrong
answer unless the solver refused the model or Gecode confirms the answer: tests expect one of several solutions at
times, or one order of them. Exit code 1: too few of those that count pass, or an answer is wrong.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LEAST = 0.95
COUNTS = "without floats and sets"
CHECKER = "gecode"
OTHER = "another solution, or another order of them, than expected; as good"


def kind_of_flatzinc(text: str) -> str:
    types = re.findall(r"^(?:array \[[^]]*\] of )?var (.*?):(?!:)", text, re.MULTILINE)
    if any(re.match(r"float|-?\d+(\.\d|e)", kind) for kind in types):
        return "with floats"
    return "with sets" if any(kind.startswith("set of") for kind in types) else COUNTS


def kind_of_test(item: pytest.Item) -> str:
    if not hasattr(item, "spec"):
        return "that no solver takes part in"
    options = {**item.default_options, **item.spec.options}
    flags = [
        part
        for name, value in options.items()
        if name.startswith("-") and name != "-G"
        for part in ([name] if value is True else [name, str(value)])
    ]
    model = Path(item.fspath)
    with tempfile.TemporaryDirectory() as folder:
        fzn = Path(folder) / "model.fzn"
        command = ["minizinc", "--solver", item.solver, *flags, "-G", "std", "-c", "--allow-multiple-assignments"]
        command += [
            "--no-output-ozn",
            "--fzn",
            str(fzn),
            str(model),
            *(str(model.parent / more) for more in item.spec.extra_files),
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        return (
            kind_of_flatzinc(fzn.read_text()) if done.returncode == 0 and fzn.exists() else "of what MiniZinc refuses"
        )


def values(solution: object) -> dict[str, Any]:
    known = {**vars(solution), **vars(solution).get("inner", {})}
    return {
        name: value for name, value in known.items() if name not in ("inner", "objective") and not name.startswith("_")
    }


def why_it_failed(item: pytest.Item) -> str:
    import minizinc

    cache = getattr(item, "cache", None)
    if cache is None:
        return "not of a solver"
    if item.spec.type != "solve":
        return "compiled in another way"
    if not isinstance(cache.result, minizinc.Result):
        return f"refused: {(str(cache.result).strip().splitlines() or ['no message'])[-1]}"
    status, solution = cache.result.status, cache.result.solution
    if status in (minizinc.Status.UNKNOWN, minizinc.Status.ERROR):
        return f"no answer: {status}"
    if not status.has_solution() or not solution:
        return f"wrong: {status}"
    checker = minizinc.Solver.lookup(CHECKER)
    if status is minizinc.Status.ALL_SOLUTIONS:
        all_of_them = minizinc.Instance(checker, cache.model).solve(all_solutions=True).solution
        same = {repr(values(one)) for one in all_of_them} == {repr(values(one)) for one in solution}
        return OTHER if same else f"wrong: {CHECKER} has other solutions"
    for one in solution if isinstance(solution, list) else [solution]:
        fixed = minizinc.Instance(checker, cache.model)
        for name, value in values(one).items():
            fixed[name] = value
        if not fixed.solve().status.has_solution():
            return f"wrong: {CHECKER} refuses {values(one)}"
    if (
        status is minizinc.Status.OPTIMAL_SOLUTION
        and minizinc.Instance(checker, cache.model).solve().objective != cache.result.objective
    ):
        return f"wrong: {CHECKER} has another optimum"
    return OTHER


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, Any, None]:
    report = (yield).get_result()
    if report.when != "call" or report.skipped:
        return
    report.user_properties.append(("kind", kind_of_test(item)))
    if report.failed:
        try:
            why = why_it_failed(item)
        except Exception as error:  # the checker cannot be asked: nothing says that the answer is right
            why = f"wrong, or not to be checked: {error}"
        report.user_properties.append(("why", why))


def summary(tests: list[tuple[str, str, str]]) -> tuple[list[str], bool]:
    """Of (name, kind, why it failed or ""): what is printed, and whether that is enough."""
    count = Counter(kind for _, kind, _ in tests)
    passed = Counter(kind for _, kind, why in tests if not why)
    lines = [f"failed, {kind}: {name}: {why}" for name, kind, why in sorted(tests) if why]
    lines += [
        f"left out, {kind}: {count[kind]}, of which {passed[kind]} pass" for kind in sorted(count) if kind != COUNTS
    ]
    wrong = sum(why.startswith("wrong") for _, _, why in tests)
    lines.append(f"in all: {sum(passed.values())} of {len(tests)} pass, {wrong} answer wrongly")
    share = passed[COUNTS] / max(count[COUNTS], 1)
    lines.append(f"{COUNTS}: {passed[COUNTS]} of {count[COUNTS]} pass, {share:.1%}; at least {LEAST:.0%} must")
    return lines, share >= LEAST and wrong == 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tests = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            known = dict(report.user_properties)
            if "kind" in known:
                tests.append((report.nodeid, known["kind"], known.get("why", "")))
    lines, enough = summary(tests)
    for line in lines:
        terminalreporter.write_line(line)
    # Failures alone are no failure of the whole; errors of the tests themselves are.
    session = terminalreporter._session
    session.exitstatus = 0 if enough and session.exitstatus in (0, 1) and "error" not in terminalreporter.stats else 1
