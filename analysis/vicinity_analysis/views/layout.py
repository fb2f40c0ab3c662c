"""How a table stands on a page: nothing wider than the screen.

What all rows have in common goes into the caption. In sight are the columns of the report's own machine, beside those
that a table marks as main (the paper's fastest device); other machines, other published devices and what would make
the table too wide stand in tables of their own behind a click, each with the columns that name the rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.views.cells import Column, Table

WIDEST = 118.0  # characters that fit beside the navigation at 1400 pixels
PRINTED = "as published"
LONGEST = 30  # characters of a text before it is wrapped


@dataclass(frozen=True)
class Piece:
    """Some columns of a table, in order; the first of them name the row."""

    title: str  # of the fold; "": in sight
    columns: tuple[int, ...]

    def groups(self, table: Table) -> list[tuple[str, int]]:
        """Adjacent columns of one group with their number."""
        found: list[tuple[str, int]] = []
        for index in self.columns:
            group = table.columns[index].group
            if found and found[-1][0] == group:
                found[-1] = (group, found[-1][1] + 1)
            else:
                found.append((group, 1))
        return found


@dataclass(frozen=True)
class Layout:
    constants: tuple[tuple[str, str], ...]  # (label, value) of columns that say the same in every row
    pieces: tuple[Piece, ...]


def layout_of(table: Table, machines: Sequence[Machine]) -> Layout:
    constant = _constants(table)
    left = [index for index in range(len(table.columns)) if index not in constant]
    keys = _keys(table, left)
    rest = [index for index in left if index not in keys]
    titles = list(dict.fromkeys(machine.title for machine in machines))
    folds: dict[str, list[int]] = {}
    for index in rest:
        folds.setdefault(_fold(table.columns[index], titles), []).append(index)
    # Without a column of the report's own machine, the first of another is in sight, or what the paper prints.
    if not any(_machine(table.columns[index].group, titles) == 0 for index in rest):
        first = next((title for title in (*titles, PRINTED) if title in folds), None)
        if first:
            folds[""] = folds.get("", []) + folds.pop(first)
    pieces: list[Piece] = []
    for title in sorted(folds, key=lambda title: bool(title)):
        pieces += _split(table, keys, folds[title], title)
    told = tuple((table.columns[index].label, table.rows[0][index].text) for index in sorted(constant))
    if not pieces and keys:
        pieces.append(Piece("", tuple(keys)))
    return Layout(told, tuple(pieces))


def _constants(table: Table) -> set[int]:
    """Columns without a group whose cells are all the same; the footer must not need them."""
    if len(table.rows) < 2:
        return set()
    found = set()
    for index, column in enumerate(table.columns):
        first = table.rows[0][index]
        same = all(row[index].text == first.text and row[index].signs == first.signs for row in table.rows)
        if same and first.text and first.kind != "state" and not column.group and column.label:
            found.add(index)
    # A footer has its label in the first column; something must be left to name the rows.
    if table.footer or len(found) == len(table.columns):
        found.discard(0)
    return found


def _keys(table: Table, left: list[int]) -> list[int]:
    """Columns that name the rows: parameters, or the leading texts; at least one."""
    found = [index for index in left if table.columns[index].kind == "param"]
    if found:
        return found
    for index in left:
        if table.columns[index].kind != "text" or len(found) == 2:
            break
        found.append(index)
    return found or left[:1]


def _machine(group: str, titles: Sequence[str]) -> int | None:
    """Which machine a group of columns is of; the longest name counts, since one may begin another."""
    named = [index for index, title in enumerate(titles) if title in group]
    return max(named, key=lambda index: len(titles[index]), default=None)


def nearby(title: str, column: Column, machines: Sequence[Machine]) -> str:
    """What stands over a number, its files without the folders that the page names: data/published, and that of the
    machine in the column's head."""
    at = _machine(column.group, [machine.title for machine in machines])
    folders = "data/published" if at is None else f"(data/published|{re.escape(machines[at].name)})"
    return re.sub(rf"(?<!\S){folders}/", "", title)


def _fold(column: Column, titles: Sequence[str]) -> str:
    if column.main:
        return ""
    machine = _machine(column.group, titles)
    if machine is not None:
        return "" if machine == 0 else titles[machine]
    return PRINTED if "published" in column.group else ""


def width_of(table: Table, index: int) -> float:
    """Characters that a column takes, its margins included."""
    column = table.columns[index]
    texts = [row[index] for row in table.rows + table.footer]
    widest = max((max(len(cell.text) + len(cell.signs), 0.85 * len(cell.below)) for cell in texts), default=0)
    words = max((len(word) for word in column.label.split()), default=0)
    if column.kind == "text":
        widest = min(widest, LONGEST)
    return max(widest, words, min(len(column.label), 10)) + 2.6


def _split(table: Table, keys: list[int], columns: list[int], title: str) -> list[Piece]:
    base = sum(width_of(table, index) for index in keys)
    parts: list[list[int]] = [[]]
    used = base
    for index in columns:
        width = width_of(table, index)
        if parts[-1] and used + width > WIDEST:
            parts.append([])
            used = base
        parts[-1].append(index)
        used += width
    found, shown = [], {""}
    for number, part in enumerate(parts):
        groups = {table.columns[index].group: None for index in part}
        new = ", ".join(group for group in groups if group not in shown)
        more = f"{title}, further columns" if title else new or "further columns"
        found.append(Piece(title if number == 0 else more, (*keys, *part)))
        shown.update(groups)
    return found
