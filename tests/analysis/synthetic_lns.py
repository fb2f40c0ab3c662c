"""Made-up records of the constraint experiments: times from the printed ones, objectives near them."""

import functools

import synthetic
import yaml
from vicinity_analysis.inputs.published import load_published, read_descriptor

REPOSITORY = synthetic.REPOSITORY
make_root = functools.partial(synthetic.make_real_root, system="lns")
make_machine = synthetic.write_records
SEEDS = range(1, 4)
# instance -> objective of each seed's best solution, seconds, first solution, best known, maximised
RESULTS = {
    "transportation": ((6600, 6620, 6640), 2.0, 7600, 6600, False),
    "tsp-ulysses16": ((6900, 6950, 7000), 3.0, 12335, 6859, False),
    "knapsack-100": ((31837, 31837, 31000), 1.0, 0, 31837, True),
    "coins-grid": ((14000, 14100, 14200), 600.0, 17472, 13668, False),
    "chr15b": ((9000, 9100, 9200), 0.2, 61000, 7990, False),
    "esc32a": ((190, 200, 210), 0.5, 368, 130, False),
    "esc64a": ((120, 122, 118), 0.7, 254, 116, False),
}
WORSE = RESULTS | {
    "transportation": ((6700, 6700, 6700), 2.0, 7600, 6600, False),
    "knapsack-100": ((15000, 15000, 15000), 1.0, 0, 31837, True),
    "coins-grid": ((19500, 19500, 19500), 600.0, 19500, 13668, False),
    "esc32a": ((300, 300, 300), 0.5, 368, 130, False),
    "esc64a": ((250, 250, 250), 0.7, 254, 116, False),
}


def printed(name, metric):
    """(case, value) of each printed row."""
    descriptor = read_descriptor(REPOSITORY / "experiments" / "lns" / f"{name}.yaml")
    published = load_published(REPOSITORY, descriptor)
    metric = published[metric]
    return [(dict(metric.key(o.params)), o) for o in metric.observations]


def times(machine, name, speedup=lambda case, ratio: ratio, value=1.0, **changes):
    """Tables 1 and 2: cpu-serial takes the printed time, gpu that over `speedup`; objectives are `value` times the
    printed ones."""
    ratios = {tuple(case.items()): o.value for case, o in printed(name, "speedup")}
    maxima = {tuple(case.items()): o.value for case, o in printed(name, "cost")} if name == "table2" else {}
    for case, o in printed(name, "time"):
        if o.implementation != "cpu-lns":
            continue
        key = tuple(case.items())
        objective = round(value * maxima.get(key, 0))
        seconds = {"cpu-serial": o.value, "gpu": o.value / speedup(case, ratios[key])}
        for implementation, taken in seconds.items():
            numbers = {axis: int(v) if v.isdigit() else v for axis, v in case.items()}
            yield record(machine, name, "mkcp", numbers, implementation, 1, taken, objective, True, **changes)


def further_seeds(records):
    """Of the GPU, to those of seed 1: as many evaluations, each of which takes half as long again."""
    for found in records:
        if found["implementation"] == "gpu":
            (seconds,) = found["samples"]["wall"]
            yield from (found | {"seeds": [seed], "samples": {"wall": [1.5 * seconds]}} for seed in range(2, 6))


def results(machine, name, found=RESULTS, slower=1.0, implementations=("cpu-openmp", "gpu"), **changes):
    """Tables 3 and 4."""
    descriptor = yaml.safe_load((REPOSITORY / "experiments" / "lns" / f"{name}.yaml").read_text(encoding="utf-8"))
    for instance in descriptor["instances"]:
        objectives, seconds, first, best, maximised = found[instance]
        for implementation in implementations:
            for seed, objective in zip(SEEDS, objectives, strict=True):
                more = {"counters": {"first": first}, "best_known": best} | changes
                case = {"instance": instance, "strategy": "RL"}
                yield record(
                    machine, name, "qap", case, implementation, seed, slower * seconds, objective, maximised, **more
                )


def record(machine, name, problem, case, implementation, seed, seconds, objective, maximised, **changes):
    defaults = {
        "system": "lns",
        "paper": "lns",
        "protocol": {"statistic": "mean", "repetitions": 1, "warmup": 0, "time": "wall"},
        "seeds": [seed],
        "objective": objective,
        "sense": "maximise" if maximised else "minimise",
        "reference": "cpu-openmp",
    }
    case = {"problem": problem} | case
    data = synthetic.record(machine, f"lns/{name}", case, implementation, [seconds], **{**defaults, **changes})
    data["samples"] = {"wall": [seconds]}
    data["case_key"] = ";".join(f"{axis}={value}" for axis, value in sorted(case.items()))
    return data


def everything(machine, speedup=lambda case, ratio: ratio, value=1.0, found=RESULTS, slower=1.0, **changes):
    for name in ("table1", "table2"):
        yield from times(machine, name, speedup, value, **changes)
    for name in ("table3", "table4"):
        yield from results(machine, name, found, slower, **changes)
