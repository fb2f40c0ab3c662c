"""OR-tools CP-SAT. The wheel reads no FlatZinc, so the model is translated here: the constraints that our experiments'
models have. Search annotations are left out: CP-SAT chooses on its own, with as many workers as there are threads."""

import importlib.metadata
import sys

import flatzinc
from adapter import Adapter, Report, Task, main


def search(task: Task, report: Report) -> None:
    from ortools.sat.python import cp_model

    source = flatzinc.read(task.instance)
    model, variables = translated(source)

    class Watch(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            report.improvement(self.objective_value)

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = task.seconds
    solver.parameters.num_workers = task.threads
    solver.parameters.random_seed = task.seed % 2**31
    report.begin()
    status = solver.solve(model, Watch())
    report.end(solver.num_branches, own_process=task.threads == 1)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        task.solution.write_text("".join(_line(source, name, solver.value(v)) for name, v in variables.items()))


def _line(source: flatzinc.Model, name: str, value: int) -> str:
    shown = ("false", "true")[value] if name in source.booleans else value
    return f"{name} = {shown};\n"


def translated(source: flatzinc.Model) -> tuple["cp_model.CpModel", dict[str, "cp_model.IntVar"]]:  # noqa: F821
    """The model, and its variables by name. Raises ValueError for a constraint that is not translated."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    free = [range(-(2**31), 2**31)]
    variables = {
        name: model.new_int_var_from_domain(
            cp_model.Domain.from_intervals([[values.start, values.stop - 1] for values in domain or free]), name
        )
        for name, domain in source.variables.items()
    }

    def of(value: flatzinc.Value) -> object:
        """Names as variables."""
        return [of(v) for v in value] if isinstance(value, list) else variables.get(value, value)

    def total(coefficients: list[int], terms: list) -> object:
        return sum(a * x for a, x in zip(coefficients, terms, strict=True))

    post = {
        "int_eq": lambda x, y: model.add(x == y),
        "int_ne": lambda x, y: model.add(x != y),
        "int_le": lambda x, y: model.add(x <= y),
        "int_abs": lambda x, y: model.add_abs_equality(y, x),
        "int_times": lambda x, y, z: model.add_multiplication_equality(z, [x, y]),
        "int_lin_eq": lambda a, x, c: model.add(total(a, x) == c),
        "int_lin_le": lambda a, x, c: model.add(total(a, x) <= c),
        "int_lin_ne": lambda a, x, c: model.add(total(a, x) != c),
        "array_int_element": lambda i, a, x: model.add_element(i - 1, a, x),
        "array_var_int_element": lambda i, a, x: model.add_element(i - 1, a, x),
        "fzn_all_different_int": lambda x: model.add_all_different(x),
    }
    for name, arguments in source.constraints:
        if name not in post:
            raise ValueError(f"the constraint {name} is not translated for CP-SAT")
        post[name](*(of(argument) for argument in arguments))
    if source.goal != "satisfy":
        getattr(model, source.goal)(variables[source.objective])
    return model, variables


ADAPTER = Adapter(
    name="CP-SAT",
    reads="FlatZinc .fzn",
    program="ortools.sat.python.cp_model, num_workers as threads, other parameters as they come",
    version=lambda: importlib.metadata.version("ortools"),
    search=search,
)

if __name__ == "__main__":
    sys.exit(main(ADAPTER))
