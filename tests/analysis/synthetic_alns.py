"""Made-up records of the routing experiments: costs near the printed ones, times from a power of the requests."""

import csv
import functools

import numpy as np
import synthetic
import yaml

REPOSITORY = synthetic.REPOSITORY
make_root = functools.partial(synthetic.make_real_root, system="alns")
make_machine = synthetic.write_records
SEEDS = range(1, 7)
# implementation -> seconds (factor and power of the requests), scatter of the times, cost over that of `gpu`
PAPER = {
    "cpu-openmp": (2e-5, 2.0, 0.01, 1.0),
    "cpu-serial": (1e-3, 2.0, 0.01, 1.0),
    "gpu": (2e-2, 1.0, 0.15, 1.0),
    "gpu-array": (3e-2, 1.0, 0.15, 1.0),
    "gpu-genetic": (2.2e-2, 1.0, 0.15, 1.0),
    "gpu-local-search": (2.2e-2, 1.0, 0.15, 1.0),
    "gpu-tuned": (1e-4, 1.0, 0.01, 0.9),
}


@functools.cache
def published(table, implementation):
    """Instance here -> (requests, mean cost printed)."""
    with (REPOSITORY / "data" / "published" / f"alns_table{table}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "cost" and "stat=avg" in row["params"]]
    found = {}
    for row in rows:
        if row["implementation"] == implementation and row["row_key"] != "total":
            number = int(row["row_key"].removeprefix("r"))
            name = {"B3": f"CMT{number}", "B5": f"Li_{20 + number}", "B9": f"bhs-like-{number}"}[table]
            found[name] = int(row["params"].split("requests=")[1].split(";")[0]), float(row["value"])
    return found


def experiment(
    machine, name, model=PAPER, like="gpu-alns", factor=1.0, instances=None, threads=8, shared=True, **changes
):
    """Records of experiments/alns/<name>.yaml in full, of the implementations of `model`; costs are `factor` times the
    printed means of `like`, a thousand to the unit, and scatter by 0.01 % from seed to seed. `shared`: is the solution
    in shared memory?"""
    descriptor = yaml.safe_load((REPOSITORY / "experiments" / "alns" / f"{name}.yaml").read_text(encoding="utf-8"))
    printed = published({"table1": "B3", "table2": "B5", "table_b9": "B9"}[name], like)
    for instance in instances or descriptor["instances"]:
        requests, mean = printed[instance]
        policies = {"cpu-openmp": {"threads": threads}}
        policies["gpu"] = {"in_shared": int(shared), "shared_bytes": 30 * requests * shared}
        scatter = 1e-4 * np.sin(np.arange(len(SEEDS)) + requests)
        scatter -= scatter.mean()
        for implementation, (scale, power, noise, cost) in model.items():
            for seed, shift, aside in zip(SEEDS, scatter, np.linspace(-1, 1, len(SEEDS)), strict=True):
                seconds = float(scale * requests**power * (1 + noise * aside))
                yield record(
                    machine,
                    name,
                    instance,
                    implementation,
                    seed,
                    seconds,
                    mean * factor * cost * (1 + shift),
                    mean,
                    **{"policy": policies.get(implementation, {}), **changes},
                )


def record(machine, name, instance, implementation, seed, seconds, cost, best, **changes):
    """The best known cost is a hundredth below `best`."""
    case = {"problem": "vrp", "instance": instance, "processes": 28, "calls": 0} | changes.pop("case", {})
    defaults = {
        "system": "alns",
        "paper": "alns",
        "protocol": {"statistic": "mean", "repetitions": 1, "warmup": 0, "time": "wall"},
        "seeds": [seed],
        "objective": round(1000 * cost),
        "best_known": round(990 * best),
        "reference": "cpu-openmp",
    }
    data = synthetic.record(machine, f"alns/{name}", case, implementation, [seconds], **{**defaults, **changes})
    data["samples"] = {"wall": [seconds]}
    data["case_key"] = ";".join(f"{axis}={value}" for axis, value in sorted(case.items()))
    return data


def everything(machine, **changes):
    for name in ("table1", "table2"):
        yield from experiment(machine, name, **changes)
