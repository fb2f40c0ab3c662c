"""Simulated annealing: Figures 1 and 2, of which the paper prints no numbers, and the quality of solutions."""

from vicinity_analysis.paper import Paper
from vicinity_analysis.papers.sa import views
from vicinity_analysis.papers.sa.claims import CLAIMS
from vicinity_analysis.papers.sa.measured import TABLES
from vicinity_analysis.papers.sa.runs import PAPER as PAPERS_CODE
from vicinity_analysis.study import Notation
from vicinity_analysis.views.headline import ratios_over

PAPER = Paper(
    system="sa",
    order=2,
    title="Simulated annealing for the quadratic assignment problem on a GPU (Paul)",
    notation=Notation(
        symbols={"size": "N", "iterations": "I"},
        styles={
            "cpu-traditional": ("#8C8C8C", "h"),
            "cpu-delta-matrix": ("#7A6F00", "X"),
            "cpu-delta": ("#CC79A7", "v"),
            "cpu-portfolio": ("#CC79A7", "v"),
            "gpu-portfolio": ("#7A6F00", "X"),
        },
    ),
    claims=CLAIMS,
    views=views.VIEWS,
    ratios=ratios_over(
        PAPERS_CODE.implementations, "the faster of the paper's two CPU codes", ("sa/figure1", "sa/figure2")
    ),
    pools={
        "sa/figure1": ("sa/figure2",),
        "sa/figure2": ("sa/figure1",),
        "sa/crossover": ("sa/figure1", "sa/figure2"),
        "sa/quality": ("sa/quality_long", "sa/quality_times"),
        "sa/anytime_gpu": ("sa/anytime_cores",),
    },
    apart=True,
    measured=TABLES,
)
