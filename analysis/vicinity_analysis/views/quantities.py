"""Numbers of a record that pages print, and tables of them that a paper declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vicinity_analysis.inputs.published import UNITS
from vicinity_analysis.inputs.records import Machine, Record
from vicinity_analysis.study import Study
from vicinity_analysis.views import limits
from vicinity_analysis.views.cells import significant


@dataclass(frozen=True)
class Quantity:
    """`of` gives None where the record does not have it."""

    label: str
    of: Callable[[Study, Machine, Record], float | None]
    text: Callable[[float], str] = significant


@dataclass(frozen=True)
class Row:
    """One case: what stands in the first columns, and which records are meant (axis -> value, all must agree)."""

    labels: tuple[str, ...]
    experiment: str
    case: Mapping[str, object]


@dataclass(frozen=True)
class MeasuredTable:
    """A row a case, a column a machine and implementation. With several quantities: a row a case and implementation, a
    column a machine and quantity."""

    title: str
    labels: tuple[str, ...]  # heads of the columns of Row.labels
    rows: tuple[Row, ...]
    implementations: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    published: tuple[str, ...] = ()  # devices of the paper: the time of its fastest version, in the unit below
    unit: str = "s"
    fact: Quantity | None = None  # of the case, whatever implementation ran it


def time_in(unit: str) -> Quantity:
    """By the protocol's statistic."""
    return Quantity(unit, lambda study, machine, record: record.typical() / UNITS[unit])


def time_an_iteration_in(unit: str) -> Quantity:
    """Of a whole run."""

    def of(_: Study, __: Machine, record: Record) -> float:
        return record.typical() / record.data["iterations"] / UNITS[unit]

    return Quantity(f"{unit.replace('us', 'µs')} an iteration", of)


PERCENT_OF_LIMIT = Quantity("% of the limit", lambda study, machine, record: limits.percent(record, machine))
THREADS = Quantity("threads", lambda study, machine, record: record.threads, "{:g}".format)
EVALUATION_RATE = Quantity(
    "1e9 evaluations/s", lambda study, machine, record: record.data["evaluations"] / record.typical() / 1e9
)
