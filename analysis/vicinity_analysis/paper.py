"""What the package of one paper tells the report: `papers/<system>/__init__.py` exposes one object, PAPER.

Nothing of it must be there: an experiment without a view, and a system without a package, get the usual tables and
figures. A package outside the repository is found through `--papers DIR` or VICINITY_PAPERS, where DIR/<package>/ has
its __init__.py. The least one:

    from vicinity_analysis.paper import Paper

    PAPER = Paper(system="one-max", title="Counting ones")
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vicinity_analysis.claims import Claim
from vicinity_analysis.study import Notation, Unlike, always_alike
from vicinity_analysis.views.headline import Ratios, printed_ratios
from vicinity_analysis.views.quantities import MeasuredTable
from vicinity_analysis.views.usual import MakeView


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
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # experiment -> others shown in one with it
    # printed table -> others of the same cases, whose records count where its own are missing, contended or scaled
    same_cases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # experiment -> files of data/published/ whose rows are no cases of the descriptor, read by views and claims
    statements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ratios: Ratios = printed_ratios  # of the front page: how much faster than what the paper had
    unlike: Unlike = always_alike  # why a printed time is of other work than ours: its ratio counts nowhere
    apart: bool = False  # no seed repeats another's work: what an evaluation takes depends on the seed
    measured: tuple[MeasuredTable, ...] = ()  # tables of the page of measured numbers
