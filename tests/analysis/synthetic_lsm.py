"""Made-up records of the local-search experiments: times from a cost model that knows moves, sizes and round trips."""

import functools

import numpy as np
import synthetic
import yaml

REPOSITORY = synthetic.REPOSITORY
make_root = functools.partial(synthetic.make_real_root, system="lsm")
make_machine = synthetic.write_records
CPU = ("cpu-openmp", "cpu-serial")
OVER_RANKS = ("mpi-openmp", "mpi-chains", "mpi-gpu", "mpi-gpu-chains")
BEST = {"tai30a": 1818146, "tai100a": 21044752, "eil101": 629}
ROUND_TRIP = 18e-6
# implementation -> seconds a move (times the O(n) of QAP and PPP where it evaluates from scratch), an iteration
MODEL = {
    "cpu-serial": (1.5e-9, 1e-7),
    "cpu-openmp": (2e-11, 4e-6),
    "mpi-openmp": (2e-11, 8e-6),
    "mpi-chains": (2e-11, 4e-6),
    "mpi-gpu": (3e-12, 1.3 * ROUND_TRIP),
    "mpi-gpu-chains": (3e-15, 2e-8),
    "gpu": (4e-12, ROUND_TRIP),
    "gpu-texture": (3.6e-12, ROUND_TRIP),
    "gpu-readonly": (3.8e-12, ROUND_TRIP),
    "gpu-shared": (3.0e-12, ROUND_TRIP),
    "gpu-reduction": (3e-12, 1.2 * ROUND_TRIP),
    "gpu-thread-control": (3.5e-12, ROUND_TRIP),
    "gpu-host-neighborhood": (3e-10, 2 * ROUND_TRIP),
    "gpu-tuned": (3e-13, 2e-6),
    "gpu-chains": (3e-15, 2e-8),
}
CITIES = {"eil101": 101, "d198": 198, "pcb442": 442, "rat783": 783, "d1291": 1291, "pr2392": 2392, "fnl4461": 4461}
CITIES["rl5915"] = 5915


def cities(name):
    return CITIES.get(name) or int("".join(filter(str.isdigit, name)))


def moves(problem, case):
    """(moves of the neighbourhood, work of one from scratch)."""
    if problem == "weierstrass":
        return case.get("neighbors", 10000), 100 * case["dimension"]
    if problem == "ppp":
        n = case["n"]
        return (n if case.get("neighborhood") == "hamming1" else n * (n - 1) // 2), case["m"]
    n = case.get("size") or cities(case["instance"])
    return n * (n - 1) // 2, n if problem == "qap" else 4


def seconds(name, problem, case):
    per_move, fixed = MODEL[name]
    count, work = moves(problem, case)
    if "gpus" in case or "threads" in case:  # of the experiments over ranks alone
        per_move /= case.get("threads", 1) * (case["ranks"] if name in OVER_RANKS else 1)
    return iterations(problem, case) * (fixed + per_move * count * work)


def communication(case):
    """Of the processes: all that is not evaluation."""
    return case["iterations"] * MODEL["mpi-openmp"][1]


def iterations(problem, case):
    """A climb takes a third of n moves."""
    if case.get("method") == "hill":
        return case.get("restarts", 1) * max(1, (case.get("n") or case.get("size")) // 3)
    return case["iterations"]


def record(machine, experiment, problem, name, case, random, repetitions=5, **changes):
    case = dict(case)
    time = seconds(name, problem, case)
    samples = time * random.lognormal(0, 0.01, repetitions)
    done = iterations(problem, case)
    defaults = {
        "system": "lsm",
        "paper": "lsm",
        "protocol": {"statistic": "mean", "repetitions": repetitions, "warmup": 0, "time": "wall"},
        "iterations": done,
        "evaluations": done * moves(problem, case)[0],
        "counters": {"best_iteration": done // 2, "local_optima": case.get("restarts", 0)},
        "reference": "cpu-openmp",
        "work": {},
        "policy": {"tuned": 1, "shapes_tried": 36} if name == "gpu-thread-control" else {},
    }
    data = synthetic.record(machine, experiment, case, name, samples, **{**defaults, **changes})
    if data["status"] == "ok":
        parts = {"kernel": 1.0}
        if name in ("gpu", "gpu-texture", "gpu-host-neighborhood"):
            parts = {"host": 0.1, "transfer": 0.74 if "host" in name else 0.2}
            parts["kernel"] = 1 - sum(parts.values())
        if name in OVER_RANKS:
            parts = {"communication": communication(case) / time if name == "mpi-openmp" else 0.05}
            parts["kernel"] = 1 - parts["communication"]
        data["samples"] = {"wall": [float(v) for v in samples]}
        data["samples"] |= {part: [share * float(v) for v in samples] for part, share in parts.items()}
    data["case"] = {"problem": problem, "instance": None} | case
    data["case_key"] = f"problem={problem};" + ";".join(f"{k}={v}" for k, v in sorted(case.items()))
    return data


def cases(descriptor):
    """All of the descriptor's own (profile full)."""
    names = ["instance"] if descriptor.get("instances") else []
    found = []
    for sweep in descriptor.get("sweeps") or [{}]:
        product = [{}]
        axes = {**({"instance": descriptor["instances"]} if names else {}), **descriptor["axes"], **sweep}
        for axis, values in axes.items():
            product = [{**case, axis: value} for case in product for value in values]
        found += [case for case in product if case not in found]
    return found


def experiment(machine, name, implementations=None, skipped=(), **changes):
    """The records of experiments/lsm/<name>.yaml in full; instances of `skipped` have no file."""
    descriptor = yaml.safe_load((REPOSITORY / "experiments" / "lsm" / f"{name}.yaml").read_text(encoding="utf-8"))
    problem, random = descriptor["problem"], np.random.default_rng(7)
    seeds = seeds_of(descriptor)
    for case, seed in ((case, seed) for case in cases(descriptor) for seed in seeds):
        for implementation in descriptor["implementations"]:
            if implementations and implementation not in implementations:
                continue
            extra = changes | {"seeds": [seed]}
            if case.get("instance") in skipped:
                message = f"{case['instance']}: no file {case['instance']}.tsp; looked in VICINITY_INSTANCES"
                extra = {"status": "skipped", "message": message, "missing_input": True, "seeds": [seed]}
            elif name.startswith(("quality", "tenure")) and "extrapolated" not in extra:
                extra |= quality(case, seed)
            yield record(machine, f"lsm/{name}", problem, implementation, case, random, **extra)


def seeds_of(descriptor):
    """Of the profile full."""
    seeds = (descriptor["protocol"] | descriptor["profiles"]["full"].get("protocol", {}))["seeds"]
    return seeds if isinstance(seeds, list) else range(seeds["first"], seeds["first"] + seeds["count"])


def quality(case, seed):
    """Gaps that shrink with the iterations, until 10000; of instances with a best known cost."""
    best = BEST.get(case["instance"])
    if best is None:
        length = 900000 + seed
        return {"objective": length if not case.get("tenure") else length * 0.9, "counters": {}}
    gap = min(case["iterations"], 10_000) ** -0.3 * (1 + 0.01 * seed)
    return {"objective": round(best * (1 + gap)), "best_known": best}


TABLES = ("table1", "table2", "table3", "table4", "table5", "table6", "table7", "table8", "table9", "table9_small")
TABLES += ("table10", "table11")
BEYOND = (
    "ranks",
    "gpus",
    "gpus_tsp",
    "gpu_restarts",
    "precision",
    "quality_qap",
    "quality_long",
    "quality_tsp",
    "tenure_tsp",
)
BEYOND += tuple(f"{what}_{problem}" for what in ("scaling", "climbing") for problem in ("qap", "tsp", "ppp"))


def everything(machine, implementations=None, skipped=()):
    for name in (*TABLES, *BEYOND):
        yield from experiment(machine, name, implementations, skipped)
