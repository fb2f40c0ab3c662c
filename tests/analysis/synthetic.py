"""Made-up results folders in the recorder's format, so that the analysis can be tested without measuring anything."""

import itertools
import json
import re
import shutil
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
ALL = ("cpu-serial", "cpu-openmp", "gpu", "gpu-recompute", "gpu-tuned")
CPU = ("cpu-serial", "cpu-openmp")

TABLE1 = {"load": [1], "states": [1024, 4096], "variables": [8, 32], "possibilities": [1224, 4488, 9800]}
TABLE2 = {"load": [1, 8, 16], "states": [1024, 4096], "variables": [8], "possibilities": [1224, 4488]}
SCALING = {
    "load": [1, 8, 64],
    "states": [1, 16, 4096, 65536],
    "variables": [8],
    "possibilities": [8, 1224, 98304],
}
EXPERIMENTS = {"table1": TABLE1, "table2": TABLE2, "scaling": SCALING}

DESCRIPTOR = """\
schema: 1
title: "{title}"
paper: fang
system: fang
problem: grid-path
{published}axes: {axes}
implementations: [{implementations}]
protocol: {{statistic: median, repetitions: 100, warmup: 3, time: kernel}}
check: {{kind: identical, reference: cpu-serial}}
profiles: {{smoke: {{}}, quick: {{}}, full: {{}}}}
"""


def published_machines():
    """Folders of the machines whose records docs/measured.md is of; one that `make reproduce` measured here is none."""
    text = (REPOSITORY / "docs" / "measured.md").read_text(encoding="utf-8")
    return [REPOSITORY / path for path in re.findall(r"`(results/[^`*]+)/`", text)]


def make_root(root, experiments=EXPERIMENTS):
    """A repository with descriptors and the published numbers."""
    shutil.copytree(REPOSITORY / "data" / "published", root / "data" / "published", dirs_exist_ok=True)
    folder = root / "experiments" / "fang"
    folder.mkdir(parents=True, exist_ok=True)
    for name, axes in experiments.items():
        published = ""
        if name.startswith("table"):
            mapping = "{load: load, states: states, variables: variables, possibilities: possibilities}"
            published = f"published: {{csv: fang_{name}.csv, axes: {mapping}, metric: time}}\n"
        text = DESCRIPTOR.format(
            title=f"Synthetic {name}", published=published, axes=json.dumps(axes), implementations=", ".join(ALL)
        )
        (folder / f"{name}.yaml").write_text(text)
    return root


def make_real_root(root, system):
    """A repository with the real descriptors of a system and the published numbers."""
    shutil.copytree(REPOSITORY / "data" / "published", root / "data" / "published", dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "experiments" / system, root / "experiments" / system)
    return root


def write_records(results, machine, records, gpu=None, cores=16):
    """A machine's folder with these records, each in the file of its experiment."""
    folder = results / machine
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(environment(machine, gpu, cores=cores), indent=1))
    files = {}
    for found in records:
        files.setdefault(folder / f"{found['experiment']}.jsonl", []).append(json.dumps(found) + "\n")
    for file, lines in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(lines))
    return folder


# Seconds a rating and core, and fixed seconds, of each made-up implementation; speed is that of the machine.
MODEL = {
    "cpu-serial": (4e-10, 1e-7),
    "cpu-openmp": (1.2e-10, 4e-6),
    "gpu": (8e-12, 2.5e-5),
    "gpu-recompute": (3e-12, 2e-5),
    "gpu-tuned": (9e-13, 9e-6),
}


def seconds(implementation, case, speed):
    per_rating, fixed = MODEL[implementation]
    load = case["load"] if implementation.startswith("cpu") else 1 + 0.1 * (case["load"] - 1)
    ratings = case["states"] * case["variables"] * case["possibilities"]
    return (fixed * case["variables"] + per_rating * ratings * load) / speed


def record(machine, experiment, case, implementation, samples, profile="full", **changes):
    case = {"problem": "grid-path", "instance": None, **case}
    key = ";".join(f"{k}={case[k]}" for k in ["problem", *sorted(k for k in case if k not in ("problem", "instance"))])
    ratings = case.get("states", 1) * case.get("variables", 1) * case.get("possibilities", 1)
    samples = np.asarray(samples, dtype=float)
    data = {
        "schema": 1,
        "experiment": experiment,
        "system": "fang",
        "paper": "fang",
        "profile": profile,
        "case": case,
        "case_key": key,
        "implementation": implementation,
        "backend": "gpu" if implementation.startswith("gpu") else "cpu",
        "status": "ok",
        "message": "",
        "machine": machine,
        "commit": "0" * 40,
        "dirty": False,
        "sources": "00112233aabbccdd",
        "descriptor": "ddccbbaa33221100",
        "version": "0.1.0",
        "process": {"pid": 1, "start": "2026-01-01T00:00:00Z"},
        "protocol": {"statistic": "median", "repetitions": len(samples), "warmup": 3, "time": "kernel"},
        "seeds": [1],
        "batch": 1,
        "samples": {
            "wall": np.round(samples * 1.3, 12).tolist(),
            "kernel": np.round(samples, 12).tolist(),
            "clone": np.round(samples * 0.05, 12).tolist(),
        },
        "verified": True,
        "reference": "cpu-serial",
        "digest": "0123456789abcdef",
        "reference_digest": "0123456789abcdef",
        "objective": 123,
        "feasible": True,
        "iterations": case.get("states", 1) * case.get("variables", 1),
        "evaluations": ratings,
        "counters": {"launches": 1},
        "policy": {"block": 256},
        "work": {("integer" if implementation.startswith("gpu") else "cpu_integer"): 4.0 * ratings},
        "clocks": None,
        "throttled": False,
        "extrapolated": None,
        "control": None,
    }
    data.update(changes)
    if data["status"] != "ok":
        data.update(samples={}, verified=False)
    return data


def environment(machine, gpu=None, cpu="AMD EPYC 9999", cores=16, speed=1.0):
    ceilings = {"cpu_copy_bandwidth": {"value": 1e11, "unit": "B/s"}, "cpu_integer": {"value": 5e11, "unit": "op/s"}}
    if gpu:
        ceilings |= {
            "copy_bandwidth": {"value": 2.8e12 * speed, "unit": "B/s"},
            "integer": {"value": 1.5e13 * speed, "unit": "op/s"},
            "launch": {"value": 3e-6, "unit": "s"},
        }
    return {
        "schema": 1,
        "machine": machine,
        "time": "2026-01-01T00:00:00Z",
        "commit": "0" * 40,
        "dirty": False,
        "sources": "00112233aabbccdd",
        "version": "0.1.0",
        "gpu": gpu
        and {
            "name": gpu,
            "compute_capability": 90,
            "multiprocessors": 132,
            "clock_khz": 1980000,
            "memory_clock_khz": 2619000,
            "bus_bits": 5120,
            "memory_bytes": 85899345920,
            "l2_bytes": 52428800,
            "driver_version": 13000,
            "runtime_version": 13000,
            "driver": "580.1",
        },
        "cpu": {
            "model": cpu,
            "cores": cores,
            "threads": cores,
            "affinity": f"0-{cores - 1}",
            "governor": None,
            "caches": {"l1d": 32768, "l2": 1048576, "l3": 33554432},
            "features": ["avx2", "avx512f"],
        },
        "memory_bytes": 135291469824,
        "os": "Debian GNU/Linux 12",
        "kernel": "6.1.0",
        "compilers": {"cxx": "GNU 12.2.0", "cxx_flags": "-O3", "cuda": "13.0.48" if gpu else None, "cuda_flags": ""},
        "libraries": {"benchmark": "1.7.1", "openmp": "4.5"},
        "ceilings": ceilings,
    }


def cases(axes):
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def make_machine(results, machine, gpu=None, cores=16, speed=1.0, experiments=EXPERIMENTS, profile="full", seed=7):
    """A folder with every case of the experiments; some values extrapolated, throttled, skipped and invalid."""
    folder = results / machine
    (folder / "fang").mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(environment(machine, gpu, cores=cores, speed=speed), indent=1))
    random = np.random.default_rng(seed)
    implementations = ALL if gpu else CPU
    for name, axes in experiments.items():
        with (folder / "fang" / f"{name}.jsonl").open("w") as file:
            for case, implementation in itertools.product(cases(axes), implementations):
                factor = speed if implementation.startswith("gpu") else cores / 16
                samples = seconds(implementation, case, factor) * random.lognormal(0.0, 0.02, 20)
                changes = {}
                if implementation == "cpu-serial" and case["states"] > 1024:
                    line = {"fixed_seconds": 0.0, "seconds_per_unit": samples[0] / case["states"], "change": 0.01}
                    changes["extrapolated"] = {"axis": "states", "at": [128, 320, 512], "to": case["states"]} | line
                if implementation == "gpu" and case["states"] * case["possibilities"] > 3e8:
                    changes.update(status="skipped", message="needs 98 GiB, 79 GiB are free")
                if implementation == "gpu-recompute" and case["load"] == 8 and case["possibilities"] == 4488:
                    changes["throttled"] = True
                data = record(machine, f"fang/{name}", case, implementation, samples, profile, **changes)
                file.write(json.dumps(data) + "\n")
    return folder
