"""What the page of measured numbers shows of successor generation."""

from itertools import product

from vicinity_analysis.views.quantities import EVALUATION_RATE, PERCENT_OF_LIMIT, MeasuredTable, Row, time_in

LARGEST = {"load": 1, "states": 4096, "variables": 32, "possibilities": 9800}

TABLES = (
    MeasuredTable(
        "Kernel times of the paper's Table 1 (load 1), ms",
        ("|X|", "|λ|", "|R|"),
        tuple(
            Row((str(x), str(v), str(r)), "fang/table1", {"load": 1, "states": x, "variables": v, "possibilities": r})
            for x, v, r in product((1024, 4096), (8, 32), (1224, 4488, 9800))
        ),
        ("gpu", "gpu-tuned", "cpu-openmp"),
        (time_in("ms"),),
        published=("GeForce GTX 1080 Ti", "Core i9 7940X"),
        unit="ms",
    ),
    MeasuredTable(
        "The largest case of Table 1 (|X| = 4096, |λ| = 32, |R| = 9800, load 1)",
        ("cores",),
        (Row(("all",), "fang/table1", LARGEST), Row(("1",), "fang/cores", LARGEST | {"threads": 1})),
        ("gpu", "gpu-recompute", "gpu-tuned", "cpu-serial", "cpu-openmp"),
        (time_in("ms"), PERCENT_OF_LIMIT, EVALUATION_RATE),
    ),
)
