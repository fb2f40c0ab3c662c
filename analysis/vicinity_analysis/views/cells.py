"""Tables as data (cells that know where they come from), and how they become Markdown, LaTeX and CSV."""

import csv
import io
import math
import re
from dataclasses import dataclass, field
from typing import Any

from vicinity_analysis.errors import printable

# mark -> (sign printed at the value, what the legend says)
MARKS = {
    "extrapolated": ("e", "extrapolated: predicted by a straight line from shorter runs"),
    "throttled": ("t", "throttled: the GPU lowered its clock for power or heat around these samples"),
    "contended": (
        "c",
        "contended: in most samples threads waited for a processor that others had or that they shared, or the "
        "hypervisor or a quota held them back",
    ),
    "mixed": ("m", "mixed builds: its seeds were run by programs of several sources"),
    "seeds": ("d", "different seeds: the implementations of this row have none in common on this machine"),
    "budget": ("b", "budget: of these runs one or more took all the time that they were given"),
    "unverified": ("u", "unverified: the result was not checked against the reference implementation"),
    "smoke": ("s", "smoke profile: a handful of repetitions, good for testing the pipeline only"),
    "unlike": ("w", "other work: the printed time and ours are not of the same, and the ratio counts nowhere"),
    "invalid": ("INVALID", "the result failed its check; no time is reported"),
    "skipped": (
        "skipped",
        "no time: it does not fit this machine, a file is missing, or it can be neither predicted nor run whole",
    ),
    "missing": ("—", "not measured"),
}
STATES = ("invalid", "skipped", "missing")  # marks that stand in place of a value


@dataclass(frozen=True)
class Cell:
    """One number or word of a table."""

    text: str
    title: str = ""  # where it comes from
    note: str = ""  # second, smaller line (an interval)
    marks: tuple[str, ...] = ()
    kind: str = ""  # param, published, better, worse, state
    beside: str = ""  # a second line on a page only: what other tables have in columns of their own

    @property
    def signs(self) -> str:
        return "".join(MARKS[mark][0] for mark in self.marks if mark not in STATES)

    @property
    def below(self) -> str:
        return " ".join(filter(None, (self.note, self.beside)))


@dataclass(frozen=True)
class Column:
    label: str
    group: str = ""
    kind: str = ""  # param (names the row), text (left-aligned)
    main: bool = False  # on a page in sight beside the columns of the report's own machine


@dataclass
class Table:
    """Rows of cells for the reader, and the same numbers one a line (`tidy`) for programs."""

    name: str
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    footer: list[list[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tidy: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = slug(self.name)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Adjacent columns of one group with their number, for a first header line."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found

    def marks(self) -> list[str]:
        used = {mark for row in self.rows + self.footer for cell in row for mark in cell.marks}
        return [mark for mark in MARKS if mark in used]


def significant(value: float, digits: int = 3) -> str:
    """Plain decimals with `digits` significant digits: 0.0123, 1.23, 12.3, 123, 1,234."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


def plain(value: float | str) -> str:
    """A count or a setting in full, with commas: 30, 0.5, 1,000,000, swap."""
    return value if isinstance(value, str) else f"{value:,.10g}"


PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def with_unit(value: float, unit: str) -> str:
    """2.84 TB/s, 3.00 µs."""
    steps = SMALL if value < 1 else PREFIXES
    factor, prefix = next(((f, p) for f, p in steps if value >= f), steps[-1])
    return f"{significant(value / factor)} {prefix}{unit}"


def slug(text: str) -> str:
    """As a name of files and ids: what might mean something there is spelled by its number."""
    return re.sub(r"[^A-Za-z0-9_.-]", lambda found: f"_{ord(found[0]):x}_", text)


class Markdown(str):
    """Text that is Markdown, not data."""


def markdown_text(value: object) -> str:
    """Data inside Markdown: one line, no tag, entity, link or image. Other signs of Markdown only look odd."""
    if isinstance(value, Markdown):
        return value
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=#?\w+;)", "&amp;", printable(value)))
    return re.sub(r"(?<=\])(?=[\[(:])|!(?=\[)", lambda found: f"{found[0]}\\", text)


def markdown(table: Table) -> Markdown:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def text(cell: Cell) -> str:
        body = markdown_text(f"{cell.text} {cell.note}".strip())
        return body + (f"<sup>{cell.signs}</sup>" if cell.signs else "")

    heads = [markdown_text(f"{c.group}: {c.label}" if c.group else c.label) for c in table.columns]
    lines = [line(heads), line([":---" if c.kind == "text" else "---:" for c in table.columns])]
    lines += [line([text(cell) for cell in row]) for row in table.rows + table.footer]
    return Markdown("\n".join(lines))


LATEX = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
LATEX |= {"×": r"$\times$", "|": r"$|$", "λ": r"$\lambda$", "µ": r"$\mu$", "—": "---", "–": "--", "≈": r"$\approx$"}
LATEX |= {"▲": r"$\uparrow$", "▼": r"$\downarrow$", "÷": r"$\div$", "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}"}


def latex_text(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in printable(text))


def latex(table: Table) -> str:
    """A tabular with booktabs rules; needs \\usepackage{booktabs}."""

    def text(cell: Cell) -> str:
        sign = f"$^{{{cell.signs}}}$" if cell.signs else ""
        return latex_text(f"{cell.text} {cell.note}".strip()) + sign

    heads, rules, at = [], [], 1
    for group, span in table.groups:
        heads.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(group)}}}")
        rules += [rf"\cmidrule(lr){{{at}-{at + span - 1}}}"] if group else []
        at += span
    align = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    lines = [f"% {printable(table.title)}", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
    if rules:
        lines += [" & ".join(heads) + r" \\", "".join(rules)]
    lines += [" & ".join(latex_text(column.label) for column in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(map(text, row)) + r" \\" for row in table.rows]
    if table.footer:
        lines += [r"\midrule", *(" & ".join(map(text, row)) + r" \\" for row in table.footer)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def tidy_csv(table: Table) -> str:
    """One number a line, with the record it comes from."""
    names = list(dict.fromkeys(name for row in table.tidy for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items()} for row in table.tidy)
    return out.getvalue()
