"""What the page of measured numbers shows of vehicle routing."""

from vicinity_analysis.views.quality import MEAN_GAP, SEEDS
from vicinity_analysis.views.quantities import MeasuredTable, Row, time_in

CMT, LI = [f"CMT{i}" for i in range(1, 15)], [f"Li_{i}" for i in range(21, 33)]
X = ("n101-k25", "n200-k36", "n303-k21", "n401-k29", "n502-k39", "n613-k62", "n701-k44", "n801-k40", "n895-k37")
X_SET = [f"X-{name}" for name in (*X, "n1001-k43")]


def _rows(experiment: str, names: list[str], what: str = "") -> tuple[Row, ...]:
    return tuple(Row((name + what,), f"alns/{experiment}", {"instance": name}) for name in names)


TABLES = (
    MeasuredTable(
        "Runs of 28 processes until the stopping rule of section 3.5, s",
        ("instance",),
        _rows("table1", CMT) + _rows("table2", LI),
        ("cpu-serial", "cpu-openmp", "gpu", "gpu-tuned"),
        (time_in("s"),),
    ),
    MeasuredTable(
        "The hybrid search on a GPU: gap to the best known cost, mean over the seeds, and time, median over them; "
        "a time without <sup>b</sup> is of runs that ended within 0.001 % of it",
        ("instance, time at most",),
        _rows("anytime_cmt_gpu", CMT, ", 5 s")
        + _rows("anytime_gpu", LI, ", 60 s")
        + _rows("anytime_x_gpu", X_SET, ", 20 s"),
        ("gpu-hybrid",),
        (MEAN_GAP, time_in("s"), SEEDS),
    ),
    MeasuredTable(
        "Gap to the best known cost after 20 s on 16 cores, mean over the seeds; of others the best of 16 searches",
        ("instance",),
        _rows("anytime_x", X_SET),
        ("cpu-hybrid", "HGS-CVRP (hybgensea)", "PyVRP"),
        (MEAN_GAP, SEEDS),
    ),
)
