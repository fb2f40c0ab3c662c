"""PyVRP (Wouda, Lan, Kool 2024), with its own parameters.

The instance is built here: PyVRP's reader takes no notice of a route limit (DISTANCE) and rounds by a function of its
own."""

import importlib.metadata
import sys

import cvrp
from adapter import Adapter, Report, Task, main


def search(task: Task, report: Report) -> None:
    import pyvrp
    from pyvrp.stop import MaxRuntime

    problem = cvrp.read(task.instance, task.scale)
    data = problem_data(problem)
    iterations = 0

    class Watch(pyvrp.IteratedLocalSearchCallbacks):
        def on_iteration(self, current: object, candidate: object, best: object, cost_evaluator: object) -> None:
            nonlocal iterations
            iterations += 1

        def on_best(self, best: pyvrp.Solution) -> None:
            if best.is_feasible():
                report.improvement(best.distance(), iterations)

    parameters = pyvrp.SolveParams(ils=pyvrp.IteratedLocalSearchParams(callbacks=Watch()))
    report.begin()
    result = pyvrp.solve(data, MaxRuntime(task.seconds), seed=task.seed, collect_stats=False, params=parameters)
    report.end(result.num_iterations)
    if result.is_feasible():
        cvrp.write(task.solution, routes_of(result.best))


def problem_data(problem: cvrp.Problem) -> "pyvrp.ProblemData":  # noqa: F821
    import pyvrp

    size = len(problem.demands)
    vehicle = {"num_available": problem.vehicles or size - 1, "capacity": [problem.capacity]}
    if problem.limit is not None:  # a limit on distance alone is the cheaper one
        vehicle["shift_duration" if problem.service.any() else "max_distance"] = problem.limit
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(x, y) for x, y in problem.coordinates],
        clients=[
            pyvrp.Client(location=k, delivery=[int(problem.demands[k])], service_duration=int(problem.service[k]))
            for k in range(1, size)
        ],
        depots=[pyvrp.Depot(location=0)],
        vehicle_types=[pyvrp.VehicleType(**vehicle)],
        distance_matrices=[problem.distances],
        duration_matrices=[problem.distances.copy()],
    )


def routes_of(solution: "pyvrp.Solution") -> list[list[int]]:  # noqa: F821
    return [[activity.idx + 1 for activity in route if activity.is_client()] for route in solution.routes()]


ADAPTER = Adapter(
    name="PyVRP",
    reads="CVRPLIB .vrp",
    program="pyvrp.solve, parameters as they come",
    version=lambda: importlib.metadata.version("pyvrp"),
    search=search,
    one_thread=True,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
