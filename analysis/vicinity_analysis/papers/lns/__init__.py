"""Constraint optimisation by large neighbourhood search: Tables 1 to 4."""

from vicinity_analysis.paper import Paper
from vicinity_analysis.papers.lns.claims import CLAIMS
from vicinity_analysis.papers.lns.measured import TABLES
from vicinity_analysis.papers.lns.printed import BENCHMARKS, COLOURING, QAP, of_other_work
from vicinity_analysis.papers.lns.views import POOLS, VIEWS
from vicinity_analysis.study import Notation

PAPER = Paper(
    system="lns",
    order=5,
    title="A GPU implementation of large neighbourhood search (Campeotto, Dovier, Fioretto, Pontelli)",
    notation=Notation(
        symbols={"released": "|N|", "subsets": "t", "starts": "m", "repetitions": "p", "steps": "h", "strategy": "LS"},
        counterparts={"gpu": ("gpu-lns",), "cpu-serial": ("cpu-lns",)},
        styles={"cpu-lns": ("#CC79A7", "v"), "gpu-lns": ("#7A6F00", "X")},
    ),
    claims=CLAIMS,
    views=VIEWS,
    pools=POOLS,
    unlike=of_other_work,
    apart=True,
    measured=TABLES,
    statements={
        COLOURING: ("lns_table2.csv",),
        BENCHMARKS: ("lns_table3.csv",),
        QAP: ("lns_table4.csv",),
    },
)
