"""NVIDIA cuOpt on a GPU, through `cuopt_route` (peers/cuopt_route.cpp; peers/build_cuopt builds it). CUOPT_ROUTE names
it where it is neither beside this Python nor on the path.

cuOpt looks for as few vehicles as it can, then for cost at that number. With --fixed-costs every vehicle costs nothing,
which is how its API lets cost alone decide: it gives up what cuOpt has for problems with capacities only. It tells its
solution at the end, and no improvement before."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import cvrp
from adapter import Adapter, Report, Task, main, outside_program, running

FIXED_COSTS = "--fixed-costs" in sys.argv
MOST = 2**31 - 1  # the largest seed


def program() -> str:
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return outside_program("cuopt_route", "CUOPT_ROUTE", "peers/build_cuopt builds it; CUOPT_ROUTE may name it", places)


def version() -> str:
    run = subprocess.run([program(), "--version"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise FileNotFoundError(f"cuopt_route cannot be run: {run.stderr.strip()}")
    return run.stdout.strip()


def packed(problem: cvrp.Problem, scale: int) -> bytes:
    """What cuopt_route reads, lengths in the units of the file: its tolerances and penalties are made for these."""
    import numpy as np

    size = len(problem.demands)
    fewest = -(-int(problem.demands.sum()) // problem.capacity)
    vehicles = problem.vehicles or size - 1
    # Half of the service at either end of an arc: a route's cost is then its duration, and all costs together are
    # their length and a constant.
    costs = (problem.distances + (problem.service[:, None] + problem.service) / 2) / scale
    np.fill_diagonal(costs, 0)
    limit = 0 if problem.limit is None else (problem.limit + 0.5) / scale  # single precision never decides
    parts = [
        np.array([size, vehicles, min(fewest, vehicles), problem.capacity], dtype="<i4"),
        np.array([limit], dtype="<f4"),
        problem.demands.astype("<i4"),
        costs.astype("<f4"),
    ]
    return b"".join(part.tobytes() for part in parts)


def search(task: Task, report: Report) -> None:
    problem = cvrp.read(task.instance, task.scale)
    command = [program(), str(task.seconds), str(task.seed % MOST), *(["fixed-costs"] if FIXED_COSTS else [])]
    routes: list[list[int]] = []
    seconds = None
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        with contextlib.suppress(BrokenPipeError), process.stdin:  # it says itself why it read no more
            process.stdin.write(packed(problem, task.scale))
        for line in process.stdout:  # cuOpt's own messages are among them
            word, _, rest = line.decode().strip().partition(" ")
            if word == "ready":
                report.begin()
            elif word in ("solved", "none"):
                seconds = report.seconds()
            elif word == "route":
                routes.append([int(customer) for customer in rest.split()])
            elif word == "failed":
                raise RuntimeError(rest)
        status = process.wait()
    if status != 0 or seconds is None:
        raise RuntimeError(f"cuopt_route ended with exit code {status}")
    if routes:
        arcs = [arc for route in routes for arc in zip([0, *route], [*route, 0], strict=True)]
        report.improvement_at(seconds, int(sum(problem.distances[arc] for arc in arcs)))
        cvrp.write(task.solution, routes)
    report.end_of([{"seconds": seconds, "iterations": 0}])


ADAPTER = Adapter(
    name="cuOpt, fixed costs" if FIXED_COSTS else "cuOpt",
    reads="CVRPLIB .vrp",
    program="cuopt::routing::solve, min_vehicles by demand" + (", vehicle_fixed_costs 0" if FIXED_COSTS else ""),
    version=version,
    search=search,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
