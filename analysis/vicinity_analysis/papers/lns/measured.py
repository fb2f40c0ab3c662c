"""What the page of measured numbers shows of large neighbourhood search."""

from vicinity_analysis.views.quantities import MeasuredTable, Row, time_in

# Of Table 2: strategy, |N|, t, m.
STEPS = (
    *(("RL", 20, t, t) for t in (1, 50, 100)),
    *(("RP", 20, t, t) for t in (1, 50, 100)),
    *(("2P", 10, t, t) for t in (1, 20, 50)),
    *(("GS", 10, t, t) for t in (1, 10, 50)),
    ("ICM", 5, 1, 1),
    ("ICM", 20, 20, 100),
    ("CE", 2, 1, 900),
    ("CE", 3, 1, 27000),
)


def _step(strategy: str, released: int, subsets: int, starts: int) -> Row:
    case = {"strategy": strategy, "released": released, "subsets": subsets, "starts": starts}
    return Row((strategy, f"{released}", f"{subsets}", f"{starts}"), "lns/table2", case)


TABLES = (
    MeasuredTable(
        "Ten steps on the modified colouring problem (Table 2), ms",
        ("LS", "|N|", "t", "m"),
        tuple(_step(*step) for step in STEPS),
        ("cpu-serial", "cpu-openmp", "gpu", "gpu-tuned"),
        (time_in("ms"),),
        published=("GeForce GTX TITAN",),
        unit="ms",
    ),
    MeasuredTable(
        "Time to the optimum, s: median over the seeds",
        ("model",),
        (Row(("esc32a",), "lns/optimum_qap", {}), Row(("coins_grid",), "lns/optimum_coins", {})),
        ("cpu-lns", "gpu-lns"),
        (time_in("s"),),
    ),
)
