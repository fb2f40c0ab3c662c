"""From judged cases to one verdict, and how it is told."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vicinity_analysis.gate.judging import Judgement
from vicinity_analysis.gate.processes import Process
from vicinity_analysis.inputs.records import Machine, Record, RecordKey
from vicinity_analysis.views.cells import Cell, Column, Table, markdown, markdown_text

PASS, REGRESSION, INCONCLUSIVE, ERROR = 0, 1, 2, 3
NAMES = {PASS: "pass", REGRESSION: "regression", INCONCLUSIVE: "inconclusive", ERROR: "error"}
NOTED = 10  # inconclusive cases that have a note each, and cases not compared that are named


@dataclass(frozen=True)
class Change:
    """Something deterministic that is not what it was."""

    key: RecordKey
    what: str
    before: str
    after: str
    side: str  # candidate: a regression; base: it disagrees with itself; "some candidates": as the machine let them


@dataclass(frozen=True)
class Uncompared:
    """A case of which a process has no times, and what the processes of either side have."""

    key: RecordKey
    base: list[str]  # ok, invalid, skipped, "not measured"
    candidate: list[str]

    @property
    def wrong(self) -> bool:
        return "invalid" in self.candidate


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
    failures: list[str] = field(default_factory=list)  # processes that had to be started a second time
    backends: list[str] = field(default_factory=list)  # of the cases
    uncompared: list[Uncompared] = field(default_factory=list)

    @property
    def suspects(self) -> list[RecordKey]:
        return [judgement.key for judgement in self.cases if judgement.outcome == "slower"]

    @property
    def confirmed(self) -> list[RecordKey]:
        """Slower, and again in the second series."""
        return [judgement.key for judgement in self.second if judgement.outcome == "slower"]


def facts(record: Record, portable: bool = False) -> dict[str, Any]:
    """What a run must reproduce exactly; `portable`: only what another machine must reproduce, too."""
    data = record.data
    names = ("digest", "objective", "feasible", "iterations", "evaluations")
    found = {"status": data["status"], **{name: data.get(name) for name in names if name in data}}
    if not portable:
        found |= {f"counter {name}": value for name, value in (data.get("counters") or {}).items()}
    return found


def changes(reference: dict[RecordKey, dict[str, Any]], processes: Sequence[Process], side: str) -> list[Change]:
    """Every fact of the reference that a process reports differently. Facts only one side knows are no change, nor is a
    candidate that mends what was invalid or skipped."""
    found = []
    for key, before in reference.items():
        kept = before["status"] == "ok" or side == "base"
        for process in processes:
            record = process.records.get(key)
            if record is None or not measured(record):
                if kept and before["status"] != "skipped":
                    missing = f"skipped: {record.data.get('message', '')}" if record else "missing"
                    always = not any(measured(other.records.get(key)) for other in processes)
                    found.append(Change(key, "record", "present", missing, side if always else f"some {side}s"))
                continue
            after = facts(record)
            if after["status"] != before["status"]:
                if kept or after["status"] == "invalid":
                    message = f"{after['status']} {record.data.get('message', '')}".strip()
                    found.append(Change(key, "status", str(before["status"]), message, side))
            elif after["status"] == "ok":
                different = [name for name in before if name in after and before[name] != after[name]]
                found += [Change(key, name, str(before[name]), str(after[name]), side) for name in different]
    return list({(change.key, change.what): change for change in reversed(found)}.values())


def measured(record: Record | None) -> bool:
    """A skipped case is one that the machine could not take at that time: memory, files."""
    return record is not None and record.data["status"] != "skipped"


def uncompared(base: Sequence[Process], candidate: Sequence[Process]) -> list[Uncompared]:
    """Every case of either side without times in each process; what is wrong first."""
    keys = dict.fromkeys(key for process in [*base, *candidate] for key in process.records)
    found = [Uncompared(key, _states(base, key), _states(candidate, key)) for key in keys]
    lacking = (one for one in found if one.base + one.candidate != ["ok", "ok"])
    return sorted(lacking, key=lambda one: not one.wrong)


def _states(processes: Sequence[Process], key: RecordKey) -> list[str]:
    return sorted({_state(process.records.get(key)) for process in processes})


def _state(record: Record | None) -> str:
    if record is None or (record.data["status"] == "ok" and not record.ok):
        return "not measured"
    return str(record.data["status"])


def vouching(controls: Sequence[Judgement], backends: Sequence[str]) -> list[Judgement]:
    """The control kernels of the cases' backends, if any: a noisy host says nothing about cases of a GPU."""
    return [judgement for judgement in controls if judgement.key.implementation in backends] or list(controls)


def conclude(verdict: Verdict) -> Verdict:
    """The one status. Changed results outweigh everything: no noise explains them. A wrong one never passes, whatever
    it was before."""
    controls = verdict.control + verdict.second_control
    interleaved = verdict.mode == "interleaved"
    moved = any(judgement.moved for judgement in controls)
    witnesses = vouching(controls, verdict.backends)
    vouched = not interleaved or (bool(witnesses) and all(judgement.stayed for judgement in witnesses))
    lost = [key for key in verdict.suspects if key not in verdict.confirmed]
    doubts = [change for change in verdict.changes if change.side != "candidate"]
    blind = [judgement for judgement in verdict.cases if judgement.outcome == "inconclusive"]
    wrong = any(one.wrong for one in verdict.uncompared)
    if len(doubts) < len(verdict.changes) or (verdict.confirmed and vouched):
        verdict.status = REGRESSION
    elif not verdict.cases or moved or verdict.suspects or doubts or blind or verdict.failures or wrong:
        verdict.status = INCONCLUSIVE
    if any(change.side == "base" for change in doubts):
        verdict.notes.append("The base does not reproduce its own results; those facts cannot be compared.")
    if interleaved and not controls:
        verdict.notes.append("No control kernel was recorded: nothing vouches for the machine having stayed the same.")
    elif moved:
        verdict.notes.append("The control kernel moved: the machine changed while measuring.")
    elif verdict.suspects and not vouched:
        verdict.notes.append("The control kernel is too noisy to vouch for the machine having stayed the same.")
    verdict.notes += [f"{name(j.key)}: {j.why}." for j in blind[:NOTED]]
    if len(blind) > NOTED:
        verdict.notes.append(f"{len(blind) - NOTED} more cases are inconclusive.")
    if not moved:
        verdict.notes += [f"{name(key)}: slower in the first series, not in the second." for key in lost]
    verdict.notes += [f"A process failed and was started again: {failure}." for failure in verdict.failures]
    if verdict.uncompared:
        verdict.notes.append(_told(verdict.uncompared))
    return verdict


def _told(uncompared: Sequence[Uncompared]) -> str:
    count, more = len(uncompared), len(uncompared) - NOTED
    named = [
        f"{name(one.key)} ({' or '.join(one.base)} in the base, {' or '.join(one.candidate)} in the candidate)"
        for one in uncompared[:NOTED]
    ]
    told = f"{count} {'case was' if count == 1 else 'cases were'} not compared: {', '.join(named)}"
    return f"{told}, and {more} more." if more > 0 else f"{told}."


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
    lines = [f"# Regression gate: {title}", "", markdown_text(verdict.worth), ""]
    counts = {o: sum(j.outcome == o for j in verdict.cases) for o in ("pass", "slower", "faster", "inconclusive")}
    lines.append(
        f"{verdict.rounds} {unit}, {verdict.repetitions} repetitions each; {len(verdict.cases)} cases: "
        + ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    )
    if verdict.confirmed:
        lines += ["", "## Slower, and again in fresh processes", ""]
        lines += [markdown(_table([j for j in verdict.second if j.key in verdict.confirmed]))]
    if verdict.changes:
        lines += ["", "## Changed results", ""]
        told = (f"{name(c.key)}: {c.what} was {c.before}, is {c.after} ({c.side})" for c in verdict.changes)
        lines += [f"- {markdown_text(text)}" for text in told]
    if verdict.notes:
        lines += ["", "## Notes", "", *(f"- {markdown_text(note)}" for note in dict.fromkeys(verdict.notes))]
    if verdict.control or verdict.second_control:
        lines += ["", "## Control kernel", "", markdown(_table(verdict.control + verdict.second_control))]
    if verdict.cases:
        lines += ["", "## All cases", "", markdown(_table(verdict.cases))]
    return "\n".join(lines) + "\n"


def _table(judgements: list[Judgement]) -> Table:
    texts = ("experiment", "case", "implementation", "seed", "outcome")
    numbers = ("candidate ÷ base", "95% interval", "A/A noise", "threshold", "it is", "p, adjusted")
    columns = [Column(label, kind="text") for label in texts] + [Column(label) for label in numbers]
    rows = []
    for j in judgements:
        cells = [*map(str, j.key), j.outcome]
        if math.isfinite(j.ratio):
            cells += [f"{j.ratio:.3f}", f"[{j.low:.3f}, {j.high:.3f}]", f"{100 * j.noise:.1f}%"]
            cells += [f"{100 * j.threshold:.1f}%", origin(j), f"{j.p_adjusted:.2g}"]
        else:
            cells += [""] * len(numbers)
        rows.append([Cell(cell) for cell in cells])
    return Table("cases", "Cases", columns, rows)


def origin(judgement: Judgement) -> str:
    """Which threshold held."""
    if judgement.threshold <= judgement.floor:
        return "the floor"
    tighter = judgement.limit < judgement.threshold
    return "3 × A/A noise" + (f"; passes below {100 * judgement.limit:.1f}%" if tighter else "")
