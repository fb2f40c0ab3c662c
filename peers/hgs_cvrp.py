"""HGS-CVRP (Vidal: Hybrid genetic search for the CVRP, 2022) through hybgensea.

HGS reads the processor's clock for its limit and tells its best feasible cost in the log, which it writes
every `nbIterTraces` iterations; the times of improvements are ours, at the line that first shows them."""

import importlib.metadata
import re
import sys

import cvrp
from adapter import Adapter, Report, Task, main

STEP = 10  # iterations between two lines of the log
LINE = re.compile(r"It\s+(\d+).*\| Feas\s+\d+\s+([0-9.]+)")


def search(task: Task, report: Report) -> None:
    import hybgensea

    problem = cvrp.read(task.instance, task.scale)
    best = float("inf")

    def log(line: str) -> None:
        nonlocal best
        found = LINE.search(line)
        if found and float(found[2]) < best:
            best = float(found[2])
            report.improvement(task.scale * best, int(found[1]))

    report.begin()
    result = hybgensea.solve_cvrp_dist_mtx(
        problem.distances / task.scale,  # its penalties and tolerances are made for the units of the files
        problem.demands,
        problem.capacity,
        x_coords=problem.coordinates[:, 0],
        y_coords=problem.coordinates[:, 1],
        service_times=problem.service / task.scale,
        duration_limit=None if problem.limit is None else problem.limit / task.scale,
        num_vehicles=problem.vehicles or -1,
        extract_all_feasible=False,
        verbose=True,
        log_callback=log,
        seed=task.seed % 2**31,
        timeLimit=task.seconds,
        nbIter=2**31 - 1,
        nbIterTraces=STEP,
    )
    report.end()
    if result.routes:
        cvrp.write(task.solution, result.routes)


ADAPTER = Adapter(
    name="HGS-CVRP (hybgensea)",
    reads="CVRPLIB .vrp",
    program=f"hybgensea.solve_cvrp_dist_mtx, nbIterTraces={STEP}, other parameters as they come",
    version=lambda: importlib.metadata.version("hybgensea"),
    search=search,
    one_thread=True,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
