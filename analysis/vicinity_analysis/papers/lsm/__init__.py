"""Tabu search and hill climbing on four problems: Tables 1 to 11 and experiments beyond them."""

from vicinity_analysis.paper import Paper
from vicinity_analysis.papers.lsm import views
from vicinity_analysis.papers.lsm.claims import CLAIMS
from vicinity_analysis.papers.lsm.measured import TABLES
from vicinity_analysis.study import Notation

PAPER = Paper(
    system="lsm",
    order=3,
    title="GPU computing for parallel local search metaheuristics (Luong, Melab, Talbi)",
    notation=Notation(
        symbols={"size": "N", "iterations": "I"},
        counterparts={
            "gpu": ("gpu", "gpu-tex"),
            "gpu-texture": ("gpu-tex",),
            "gpu-reduction": ("gpu-tex-reduction",),
            "gpu-host-neighborhood": ("gpu-tex-cpu-generation",),
            "gpu-thread-control": ("gpu-tex-threadcontrol",),
            "mpi-openmp": ("cow", "grid"),
        },
        styles={
            "gpu-texture": ("#56B4E9", "^"),
            "gpu-readonly": ("#8C8C8C", "h"),
            "gpu-shared": ("#A6761D", ">"),
            "gpu-reduction": ("#CC79A7", "v"),
            "gpu-thread-control": ("#A6761D", ">"),
            "gpu-host-neighborhood": ("#7A6F00", "X"),
            "mpi-openmp": ("#D55E00", "P"),
            "mpi-chains": ("#E69F00", "X"),
            "mpi-gpu": ("#0072B2", "P"),
            "mpi-gpu-chains": ("#6A3D9A", "X"),
        },
    ),
    claims=CLAIMS,
    views=views.VIEWS,
    pools={"lsm/quality_qap": ("lsm/quality_long",)},
    same_cases={
        "lsm/table7": ("lsm/table6",),
        "lsm/table8": ("lsm/table4",),
        "lsm/table9": ("lsm/table9_small",),
        "lsm/table10": ("lsm/table4",),
        "lsm/table11": ("lsm/table4",),
    },
    measured=TABLES,
)
