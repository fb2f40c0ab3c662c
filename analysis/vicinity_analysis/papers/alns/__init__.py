"""Vehicle routing: Tables 1, 2 and B.3 to B.10, Figures 4 to 8."""

from vicinity_analysis.paper import Paper
from vicinity_analysis.papers.alns import measured, views
from vicinity_analysis.papers.alns.claims import CLAIMS
from vicinity_analysis.papers.alns.ratios import published_over_ours
from vicinity_analysis.papers.alns.spreads import ROUNDING
from vicinity_analysis.study import Notation

# Those with spreads first: what stands in several is taken from the first.
TABLES = {
    "alns/table1": ("B3", "B4", "1"),
    "alns/table2": ("B5", "B6", "B7", "B8", "B9", "B10", "2"),
    "alns/table_b9": ("B9", "B10"),
    "alns/anytime": ("B5", "B6"),
    "alns/anytime_cmt": ("B3", "B4"),
}

PAPER = Paper(
    system="alns",
    order=4,
    title="Adaptive large neighbourhood search on the GPU (Bach, Hasle, Schulz)",
    notation=Notation(
        styles={  # none of them grey, which is what the paper prints
            "gpu-array": ("#CC79A7", "v"),
            "gpu-genetic": ("#7A6F00", "X"),
            "gpu-local-search": ("#6A3D9A", "<"),
            "cpu-hybrid": ("#CC79A7", "v"),
            "gpu-hybrid": ("#7A6F00", "X"),
        },
        rounding=ROUNDING,
    ),
    claims=CLAIMS,
    views=views.VIEWS,
    pools=views.POOLS,
    ratios=published_over_ours,
    measured=measured.TABLES,
    statements={name: tuple(f"alns_table{table}.csv" for table in found) for name, found in TABLES.items()},
)
