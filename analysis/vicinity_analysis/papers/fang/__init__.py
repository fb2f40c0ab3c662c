"""Successor generation: what the paper claims of its Tables 1 and 2, and its symbols."""

from vicinity_analysis.paper import Paper
from vicinity_analysis.papers.fang.claims import CLAIMS
from vicinity_analysis.papers.fang.measured import TABLES
from vicinity_analysis.study import Notation

PAPER = Paper(
    system="fang",
    order=1,
    title="FANG: fast and efficient successor-state generation (Köster, Groß, Krüger)",
    notation=Notation(
        symbols={"states": "|X|", "variables": "|λ|", "possibilities": "|R|"},
        sizes=("states",),
        styles={"gpu-recompute": ("#56B4E9", "^")},
    ),
    claims=CLAIMS,
    measured=TABLES,
)
