"""Stands in for build/vicinity in the tests of the gate: records made-up times.

Options besides vicinity's own: --slow IMPL=FACTOR, --once FILE (slow only while FILE does not exist), --drift FACTOR
(control kernel), --digest TEXT, --invalid IMPL, --crash."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import synthetic


def main(arguments):
    if arguments[0] == "environment":
        print(json.dumps(synthetic.environment("here", os.environ.get("FAKE_GPU"), cores=2)))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("descriptors", nargs="+")
    for option in ("--profile", "--results", "--machine", "--slow", "--once", "--digest", "--invalid"):
        parser.add_argument(option)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--drift", type=float, default=1.0)
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--implementation", action="append", default=[])
    for option in ("--fresh", "--control", "--crash"):
        parser.add_argument(option, action="store_true")
    args = parser.parse_args(arguments)
    if args.crash:
        print("vicinity: error: the device fell off", file=sys.stderr)
        return 3
    random = np.random.default_rng([os.getpid(), time.time_ns()])
    folder = Path(args.results) / args.machine / "fang"
    folder.mkdir(parents=True)
    slow = dict([args.slow.split("=")]) if args.slow else {}
    if args.once and args.implementation:  # the second series names its suspects
        slow = {}
    lines = []
    for states in (16, 64):
        case = {"load": 1, "possibilities": 80, "states": states, "variables": 8}
        for implementation in args.implementation or synthetic.CPU:
            times = synthetic.seconds(implementation, case, 1.0) * np.exp(random.normal(0, 0.01))
            times = times * random.lognormal(0, 0.02, min(args.repetitions, 50)) * float(slow.get(implementation, 1))
            data = synthetic.record(args.machine, "fang/table1", case, implementation, times, args.profile)
            data["control"] = {"cpu": list(2e-3 * args.drift * random.lognormal(0, 0.005, 2))}
            data["digest"] = args.digest or data["digest"]
            if args.invalid == implementation:
                data.update(status="invalid", samples={}, message="digest differs")
            lines.append(json.dumps(data))
    (folder / "table1.jsonl").write_text("\n".join(lines) + "\n")
    return 1 if args.invalid else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
