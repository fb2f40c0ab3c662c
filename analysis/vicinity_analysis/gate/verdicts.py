"""From judged cases to one verdict, and how it is told."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from vicinity_analysis.gate.judging import Judgement
from vicinity_analysis.gate.processes import Process
from vicinity_analysis.inputs.records import Machine, Record, RecordKey
from vicinity_analysis.views.cells import Cell, Column, Table, markdown

PASS, REGRESSION, INCONCLUSIVE, ERROR = 0, 1, 2, 3
NAMES = {PASS: "pass", REGRESSION: "regression", INCONCLUSIVE: "inconclusive", ERROR: "error"}


@dataclass(frozen=True)
class Change:
    """Something deterministic that is not what it was."""

    key: RecordKey
    what: str
    before: str
    after: str
    side: str  # candidate: a regression; base: the base disagrees with itself


@dataclass
class Verdict:
    mode: str  # interleaved | stored
    status: int
    cases: list[Judgement]
    control: list[Judgement]
    changes: list[Change]
    notes: list[str]
    repetitions: int
    rounds: int = 0
    worth: str = ""
    second: list[Judgement] = field(default_factory=list)
    second_control: list[Judgement] = field(default_factory=list)
    confirmed: list[RecordKey] = field(default_factory=list)


def facts(record: Record, portable: bool = False) -> dict[str, Any]:
    """What a run must reproduce exactly; `portable`: only what another machine must reproduce, too."""
    data = record.data
    names = ("digest", "objective", "feasible", "iterations", "evaluations")
    found = {"status": data["status"], **{name: data.get(name) for name in names if name in data}}
    if not portable:
        found |= {f"counter {name}": value for name, value in (data.get("counters") or {}).items()}
    return found


def changes(reference: dict[RecordKey, dict[str, Any]], processes: Iterable[Process], side: str) -> list[Change]:
    """Every fact of the reference that a process reports differently. Facts only one side knows are no change."""
    found = []
    for process in processes:
        for key, before in reference.items():
            record = process.records.get(key)
            if record is None:
                found.append(Change(key, "record", "present", "missing", side))
                continue
            after = facts(record)
            if after["status"] != before["status"]:
                message = f"{after['status']} {record.data.get('message', '')}".strip()
                found.append(Change(key, "status", str(before["status"]), message, side))
            elif after["status"] == "ok":
                different = [name for name in before if name in after and before[name] != after[name]]
                found += [Change(key, name, str(before[name]), str(after[name]), side) for name in different]
    return list({(change.key, change.what): change for change in reversed(found)}.values())


def conclude(verdict: Verdict, steady: bool) -> Verdict:
    """The one status. Changed results outweigh everything: no noise explains them."""
    unstable = [change for change in verdict.changes if change.side == "base"]
    broken = [change for change in verdict.changes if change.side != "base"]
    if unstable:
        verdict.notes.append("The base does not reproduce its own results; those facts cannot be compared.")
    if broken or (verdict.confirmed and steady):
        verdict.status = REGRESSION
    elif not verdict.cases or not steady or unstable:
        verdict.status = INCONCLUSIVE
    else:
        blind = unjudged(verdict.cases)
        verdict.status = INCONCLUSIVE if blind else PASS
        verdict.notes += [f"Too noisy to say anything of {name}." for name in blind]
    if verdict.mode == "interleaved" and not verdict.control:
        verdict.notes.append("No control kernel was recorded: nothing vouches for the machine having stayed the same.")
    elif not steady and verdict.mode == "interleaved":
        verdict.notes.append("The control kernel moved: the machine changed while measuring.")
    gone = [judgement.key for judgement in verdict.cases if judgement.outcome == "slower"]
    gone = [key for key in gone if key not in verdict.confirmed and steady]
    verdict.notes += [f"{name(key)}: slower in the first series, not in the second; no regression." for key in gone]
    return verdict


def unjudged(cases: list[Judgement]) -> list[str]:
    """Implementations of which every case is too noisy."""
    names = sorted({judgement.key.implementation for judgement in cases})
    return [n for n in names if all(j.outcome == "too noisy" for j in cases if j.key.implementation == n)]


def name(key: RecordKey) -> str:
    return f"{key.experiment} {key.case_key} {key.implementation} seed {key.seed}"


def stored_worth(stored: Machine, here: Machine, same: bool) -> str:
    if same:
        text = f"Held against results recorded at another time ({stored.environment.get('time', 'unknown')}): "
        text += "a change of the machine (clocks, load, system) since then looks just like a change of the code. "
        return text + "A pass is worth more than a regression here; confirm a regression with --base-binary."
    text = f"The baseline was recorded on another machine ({stored.title}, {stored.cpu}), this is {here.title}, "
    return text + f"{here.cpu}: times are not compared, only results that must agree everywhere."


def describe(verdict: Verdict) -> str:
    """Markdown for a person or a CI summary."""
    title = {PASS: "pass", REGRESSION: "REGRESSION", INCONCLUSIVE: "inconclusive", ERROR: "error"}[verdict.status]
    unit = "rounds of four processes" if verdict.mode == "interleaved" else "processes"
    lines = [f"# Regression gate: {title}", "", verdict.worth, ""]
    counts = {o: sum(j.outcome == o for j in verdict.cases) for o in ("pass", "slower", "faster", "too noisy")}
    lines.append(
        f"{verdict.rounds} {unit}, {verdict.repetitions} repetitions each; {len(verdict.cases)} cases: "
        + ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    )
    if verdict.confirmed:
        lines += ["", "## Slower, and again in fresh processes", ""]
        lines += [markdown(_table([j for j in verdict.second if j.key in verdict.confirmed]))]
    if verdict.changes:
        lines += ["", "## Changed results", ""]
        lines += [f"- {name(c.key)}: {c.what} was {c.before}, is {c.after} ({c.side})" for c in verdict.changes]
    if verdict.notes:
        lines += ["", "## Notes", "", *(f"- {note}" for note in dict.fromkeys(verdict.notes))]
    if verdict.control or verdict.second_control:
        lines += ["", "## Control kernel", "", markdown(_table(verdict.control + verdict.second_control))]
    if verdict.cases:
        lines += ["", "## All cases", "", markdown(_table(verdict.cases))]
    return "\n".join(lines) + "\n"


def _table(judgements: list[Judgement]) -> Table:
    labels = (
        "experiment",
        "case",
        "implementation",
        "seed",
        "outcome",
        "candidate ÷ base",
        "95% interval",
        "A/A noise",
        "threshold",
    )
    columns = [Column(label, kind="text" if index < 5 else "") for index, label in enumerate((*labels, "p, adjusted"))]
    rows = []
    for j in judgements:
        texts = [*map(str, j.key), j.outcome, f"{j.ratio:.3f}", f"[{j.low:.3f}, {j.high:.3f}]", f"{100 * j.noise:.1f}%"]
        rows.append([Cell(text) for text in (*texts, f"{100 * j.threshold:.1f}%", f"{j.p_adjusted:.2g}")])
    return Table("cases", "Cases", columns, rows)
