"""What the page of measured numbers shows of tabu search."""

from vicinity_analysis.views.quantities import (
    PERCENT_OF_LIMIT,
    THREADS,
    MeasuredTable,
    Row,
    time_an_iteration_in,
    time_in,
)

LARGE_PPP = {"m": 1301, "n": 1317}
CASES = (
    Row(("QAP, tai100a",), "lsm/table2", {"instance": "tai100a"}),
    Row(("PPP, 1301-1317, one flip",), "lsm/table3", LARGE_PPP),
    Row(("PPP, 1301-1317, two flips",), "lsm/table4", LARGE_PPP),
    Row(("TSP, rl5915",), "lsm/table6", {"instance": "rl5915"}),
    Row(("Weierstrass function, 10 dimensions, 10000 neighbours",), "lsm/table5", {"dimension": 10}),
)
MORE = (
    Row(("TSP, eil101",), "lsm/table6", {"instance": "eil101"}),
    Row(("QAP, rotations of three, n = 100",), "lsm/rotations", {"size": 100}),
)

TABLES = (
    MeasuredTable(
        "10000 iterations of tabu search, host included, s (published: the fastest version of the same table)",
        ("case",),
        CASES,
        ("cpu-serial", "cpu-openmp", "gpu", "gpu-tuned"),
        (time_in("s"),),
        published=("Tesla M2050 (448 cores)",),
    ),
    MeasuredTable(
        "An iteration of tabu search on the CPU",
        ("case",),
        CASES,
        ("cpu-serial", "cpu-openmp"),
        (time_an_iteration_in("us"), THREADS),
    ),
    MeasuredTable(
        "Whole searches by `gpu` and `gpu-tuned`",
        ("case",),
        CASES + MORE,
        ("gpu", "gpu-tuned"),
        (time_an_iteration_in("us"), time_in("ms"), PERCENT_OF_LIMIT),
    ),
)
