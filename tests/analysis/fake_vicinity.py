"""Stands in for build/vicinity in the tests of the gate: records made-up times. Its draws are seeded by how many
processes ran before it, which it counts in the file that FAKE_STATE names: the same calls record the same times.

Options besides vicinity's own: --slow IMPL=FACTOR, --once (slow only while no implementation is named, as in the first
series), --noise SIGMA (from process to process), --drift FACTOR (control kernel), --control-noise SIGMA, --no-control,
--gpu-control (a steady one of a GPU as well),
--digest TEXT, --counter VALUE, --invalid IMPL, --skip N (the Nth process skips its first case), --contended SHARE,
--throttled, --crash STATUS, --crash-at N (only the Nth process)."""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import synthetic

KNOWN = {"fang": synthetic.CPU, "lsm": ("cpu-serial", "cpu-delta")}


def main(arguments):
    if arguments[0] == "environment":
        print(json.dumps(synthetic.environment("here", os.environ.get("FAKE_GPU"), cores=2)))
        return 0
    args = parser().parse_args(arguments)
    number = count_process()
    if args.crash and args.crash_at in (None, number):
        print("vicinity: error: the device fell off", file=sys.stderr)
        return args.crash
    random = np.random.default_rng(number)
    for path in map(Path, args.descriptors):
        system = path.parent.name
        for name in args.implementation:
            if name not in (*KNOWN[system], "gpu-tuned"):
                print(
                    f"vicinity: error: --implementation: unknown implementation '{name}' of {system}", file=sys.stderr
                )
                return 2
        folder = Path(args.results) / args.machine / system
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(data) for data in records(args, path, random, number)]
        (folder / f"{path.stem}.jsonl").write_text("\n".join(lines) + "\n")
    return 1 if args.invalid else 0


def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("descriptors", nargs="+")
    for option in ("--profile", "--results", "--machine", "--slow", "--digest", "--invalid"):
        parser.add_argument(option)
    for option in ("--crash", "--crash-at", "--skip", "--counter"):
        parser.add_argument(option, type=int)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.001)
    parser.add_argument("--drift", type=float, default=1.0)
    parser.add_argument("--control-noise", type=float, default=0.0005)
    parser.add_argument("--contended", type=float, default=0.0)
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--implementation", action="append", default=[])
    for option in ("--fresh", "--control", "--once", "--no-control", "--throttled", "--gpu-control"):
        parser.add_argument(option, action="store_true")
    return parser


def count_process():
    """How many processes there were, this one included."""
    state = Path(os.environ["FAKE_STATE"])
    number = len(state.read_text()) + 1 if state.exists() else 1
    state.write_text("x" * number)
    return number


def records(args, descriptor, random, number):
    slow = dict([args.slow.split("=")]) if args.slow and not (args.once and args.implementation) else {}
    experiment = f"{descriptor.parent.name}/{descriptor.stem}"
    for states in (16, 64):
        case = {"load": 1, "possibilities": 80, "states": states, "variables": 8}
        for implementation in args.implementation or KNOWN[descriptor.parent.name]:
            model = implementation if implementation in synthetic.MODEL else "cpu-serial"
            count = min(args.repetitions, 50)
            times = synthetic.seconds(model, case, 1.0) * np.exp(random.normal(0, args.noise))
            times = times * random.lognormal(0, 0.002, count) * float(slow.get(implementation, 1))
            marks = np.arange(count) < args.contended * count
            data = synthetic.record(args.machine, experiment, case, implementation, np.where(marks, 9 * times, times))
            if args.contended:
                data["contended"] = marks.tolist()
            if not args.no_control:
                data["control"] = {"cpu": list(2e-3 * args.drift * np.exp(random.normal(0, args.control_noise, 2)))}
            if args.gpu_control:
                data["control"]["gpu"] = list(1e-3 * np.exp(random.normal(0, 5e-4, 2)))
            data["digest"] = args.digest or data["digest"]
            data["counters"]["launches"] += args.counter or 0
            data["throttled"] = args.throttled
            if args.invalid == implementation:
                data.update(status="invalid", samples={}, message="digest differs")
            if args.skip == number and states == 16 and implementation == "cpu-serial":
                data.update(status="skipped", samples={}, message="does not fit: not enough memory")
            yield data


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
