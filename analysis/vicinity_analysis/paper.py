"""What the package of one paper tells the report: `papers/<system>/__init__.py` exposes one object, PAPER.

Nothing else is needed, and nothing of it must be there: an experiment without a view, and a system without a package,
get the usual tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vicinity_analysis.claims import Claim
from vicinity_analysis.records import Machine, Record
from vicinity_analysis.study import Notation, Study
from vicinity_analysis.views import MakeView


@dataclass(frozen=True)
class Quantity:
    """A number of a record, as `measured` prints it; None where the record does not have it."""

    label: str
    of: Callable[[Study, Machine, Record], float | None]


@dataclass(frozen=True)
class Row:
    """One case: what stands in the first columns, and which records are meant (axis -> value, all must agree)."""

    labels: tuple[str, ...]
    experiment: str
    case: Mapping[str, object]


@dataclass(frozen=True)
class MeasuredTable:
    """A table of the page of measured numbers: a row a case, a column a machine and implementation. With several
    quantities: a row a case and implementation, a column a machine and quantity."""

    title: str
    labels: tuple[str, ...]  # heads of the columns of Row.labels
    rows: tuple[Row, ...]
    implementations: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    published: tuple[str, ...] = ()  # devices of the paper: its fastest version's time, in seconds times `scale`
    scale: float = 1.0
    fact: Quantity | None = None  # of the case, whatever implementation ran it


@dataclass(frozen=True)
class Paper:
    """One paper: its system (the folder in experiments/ and results/) and what is particular to it. Listings are by
    `order`, then system."""

    system: str
    title: str
    order: int = 100
    notation: Notation = field(default_factory=Notation)
    claims: tuple[Claim, ...] = ()
    views: Mapping[str, MakeView] = field(default_factory=dict)  # experiment -> what the report shows of it
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # experiment -> others of the same cases
    measured: tuple[MeasuredTable, ...] = ()
