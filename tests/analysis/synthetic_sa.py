"""Made-up records of the annealing experiments: times from a cost model, gaps that shrink with the iterations."""

import functools

import numpy as np
import synthetic

make_root = functools.partial(synthetic.make_real_root, system="sa")
make_machine = synthetic.write_records
CPU = ("cpu-delta", "cpu-traditional", "cpu-delta-matrix", "cpu-serial", "cpu-openmp")
ALL = (*CPU, "gpu", "gpu-tuned")
SIZES = (30, 100, 300, 1000)
FIGURE1 = tuple(10**k for k in range(3, 8))
BEST = {"tai20a": 703482, "tai100a": 21052466}

# implementation -> seconds at the start, a proposal, an accepted swap (times N^2), a proposal from scratch (times N)
MODEL = {
    "cpu-traditional": (1e-5, 0.0, 0.0, 3e-9),
    "cpu-delta-matrix": (1e-5, 1e-9, 4e-10, 0.0),
    "cpu-delta": (1e-5, 1e-9, 2.4e-10, 0.0),
    "cpu-openmp": (2e-5, 2e-10, 1e-10, 0.0),
    "gpu": (1e-4, 2e-11, 5e-12, 0.0),
    "gpu-tuned": (5e-5, 1e-11, 1e-12, 0.0),
}
FIXED = {"gpu": 2e-6, "gpu-tuned": 8e-7}  # an accepted swap, whatever N


def accepted(n, i):
    return int(max(1, i * min(0.4, (n / i) ** 0.5)))


def seconds(name, n, i, swaps=None):
    swaps = accepted(n, i) if swaps is None else swaps
    if name == "cpu-serial":  # whichever of the two ways is better
        return min(seconds(other, n, i, swaps) for other in ("cpu-traditional", "cpu-delta"))
    start, proposal, update, scratch = MODEL[name]
    start += 0.5 * n * n * n * 1e-9 if name in ("cpu-delta", "cpu-delta-matrix") else 0.0
    return start + i * proposal + swaps * (n * n * update + FIXED.get(name, 0.0)) + i * n * scratch


def run(machine, experiment, name, case, samples, **changes):
    """One record; `case` has iterations, and size or instance."""
    n = case.get("size") or int(case["instance"][3:-1])
    counters = {"accepted": accepted(n, case["iterations"]), "best_proposal": 5, "frozen_at": -1}
    defaults = {
        "system": "sa",
        "paper": "sa",
        "protocol": {"statistic": "median", "repetitions": len(samples), "warmup": 1, "time": "wall"},
        "iterations": case["iterations"],
        "evaluations": case["iterations"],
        "counters": counters,
        "reference": "cpu-delta",
        "work": {},
    }
    data = synthetic.record(machine, experiment, case, name, samples, **{**defaults, **changes})
    if data["status"] == "ok":
        data["samples"] = {"wall": [float(v) for v in samples], "kernel": [0.9 * float(v) for v in samples]}
    data["case"] = {"problem": "qap", "instance": None} | case
    values = ";".join(f"{k}={v}" for k, v in sorted(case.items()))
    data["case_key"] = f"problem=qap;{values}"
    return data


def figure(machine, experiment, sizes, iterations, names, repetitions=5, model=seconds, cut=10**6):
    """Runs of cpu-traditional longer than `cut` at large N are scaled ones."""
    random = np.random.default_rng(11)
    for n in sizes:
        for i in iterations:
            for name in names:
                samples = model(name, n, i) * random.lognormal(0, 0.01, repetitions)
                scaled = {
                    "extrapolated": {"axis": "iterations", "at": cut, "factor": i / cut}
                }  # as older records have it
                extra = scaled if name == "cpu-traditional" and i > cut and n >= 300 else {}
                yield run(machine, experiment, name, {"size": n, "iterations": i}, samples, **extra)


def quality(
    machine, names, instances=BEST, iterations=(10**5, 10**6, 10**7), seeds=20, slope=-0.3, experiment="sa/quality"
):
    for instance, best in instances.items():
        n = int(instance[3:-1])
        for i in iterations:
            for seed in range(seeds):
                gap = 0.0 if n == 20 and i >= 10**7 else 100 * i**slope * (1 + 0.05 * (seed - 9.5) / 9.5)
                objective = round(best * (1 + gap / 100))
                counters = {"accepted": accepted(n, i), "best_known": best}
                for name in names:
                    case = {"instance": instance, "iterations": i, "seed": seed}
                    changes = {"objective": objective, "counters": counters}
                    yield run(machine, experiment, name, case, [seconds(name, n, i)], **changes)


def further_seeds(records, backend="gpu", slower=2.0):
    """To those of the first seed, of one side: as many iterations, each of which takes longer."""
    for found in records:
        if found["backend"] == backend:
            samples = {part: [slower * value for value in values] for part, values in found["samples"].items()}
            yield from (found | {"seeds": [seed], "samples": samples} for seed in range(2, 6))


def steady(machine, names, swap=2e-6):
    """Exactly: 1 ns a rejected proposal, 2 us an accepted swap of its own, 1 ms before."""
    for t, rate in ((1, 0.0), (3000, 1e-3)):
        for i in (10**6, 10**7):
            swaps = 100 + int(i * rate)
            for name in names:
                time = 1e-3 + (i - swaps) * 1e-9 + swaps * swap
                case = {"size": 100, "iterations": i, "t0": t, "tf": t}
                yield run(machine, "sa/steady", name, case, [time] * 3, counters={"accepted": swaps})


def missing(machine, name):
    """The file of an instance is not there."""
    case = {"instance": "sko100a", "iterations": 10**5, "seed": 0}
    message = "sko100a: no file sko100a.dat; looked in VICINITY_INSTANCES"
    return run(machine, "sa/quality", name, case, [1.0], status="skipped", message=message)


def everything(machine, names=ALL, seeds=20):
    yield from figure(machine, "sa/figure1", SIZES, FIGURE1, names)
    yield from figure(machine, "sa/figure2", SIZES, (10**8,), [n for n in names if n not in CPU[:2]], 1)
    yield from figure(
        machine, "sa/crossover", (10, 30), (300, 3000, 30000), [n for n in names if n != "cpu-traditional"], 7
    )
    yield from quality(machine, [names[-1]], seeds=seeds)
    yield from quality(
        machine,
        [n for n in names if n not in CPU[1:2]],
        {"tai100a": BEST["tai100a"]},
        seeds=1,
        experiment="sa/quality_times",
    )
    yield from steady(machine, [n for n in names if n in ("cpu-delta", "gpu-tuned")])
    yield missing(machine, names[-1])
