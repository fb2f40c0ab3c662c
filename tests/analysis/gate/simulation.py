"""The whole decision of the gate on made-up times: how often does it find what is there, and what is not?

`python tests/analysis/gate/simulation.py --runs 1000` prints verdicts by world and slowdown. No clock and no process:
seeded draws stand for the times, the gate's own code does the rest."""

import argparse
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from vicinity_analysis.gate import regress, verdicts
from vicinity_analysis.gate.processes import Process
from vicinity_analysis.inputs.records import Record, RecordKey

IMPLEMENTATIONS = ("cpu-serial", "cpu-openmp", "gpu", "gpu-tuned")
SLOWED = "gpu"
CONTROL_SLOWED = False  # whether a slowdown is the machine's, and the control kernel has it, too


@dataclass(frozen=True)
class World:
    """A machine. Standard deviations are of logarithms; shares are probabilities."""

    process: float  # from process to process, of one case
    sample: float  # from sample to sample in a process
    shared: float = 0.0  # from process to process, of all cases alike
    drift: float = 0.0  # of the machine, from one process to the next
    tail: float = 0.02  # share of samples that something else delayed ...
    delay: float = 0.1  # ... by this much on average (exponential)
    disturbed: float = 0.0  # share of (case, process) delayed from beginning to end ...
    disturbance: float = 0.3  # ... by up to this
    control: float = 0.0005  # noise of the control kernel
    cases: int = 5  # of each implementation


WORLDS = {
    "GPU, quiet": World(0.001, 0.002),
    "GPU, busy host": World(0.003, 0.01, tail=0.1, delay=0.5, disturbed=0.01, control=0.003),
    "GPU, drifting": World(0.001, 0.002, shared=0.002, drift=0.001),
    "CPU, 2 %": World(0.02, 0.02, tail=0.05, delay=0.2, control=0.003),
    "CPU, 5 %": World(0.05, 0.05, tail=0.1, delay=0.3, control=0.005),
    "CPU, busy": World(0.03, 0.05, shared=0.01, tail=0.4, delay=1.0, disturbed=0.1, disturbance=1.0, control=0.005),
}


@dataclass
class Machine:
    """The state that both sides share: draws, and where the drift is."""

    world: World
    random: np.random.Generator
    level: float = 0.0

    def process(self, keys: Sequence[RecordKey], slowdown: float, repetitions: int) -> Process:
        world, random = self.world, self.random
        self.level += random.normal(0, world.drift)
        shared = self.level + random.normal(0, world.shared)
        shape = (len(keys), repetitions)
        level = shared + random.normal(0, world.process, len(keys))
        level += (random.random(len(keys)) < world.disturbed) * random.uniform(0, world.disturbance, len(keys))
        logs = level[:, None] + random.normal(0, world.sample, shape)
        logs += (random.random(shape) < world.tail) * random.exponential(world.delay, shape)
        factors = np.array([slowdown if key.implementation == SLOWED else 1.0 for key in keys])
        base = 0.002 * (slowdown if CONTROL_SLOWED else 1.0)
        control = {"cpu": list(base * np.exp(self.level + random.exponential(world.control, 4)))}
        times = np.exp(logs) * factors[:, None]
        return Process({key: record(key, row) for key, row in zip(keys, times, strict=True)}, control)


def record(key: RecordKey, times: Sequence[float], **changes: object) -> Record:
    data = {"status": "ok", "samples": {"wall": times}, "protocol": {"time": "wall"}, "digest": "0123456789abcdef"}
    data["implementation"] = key.implementation
    return Record(data | changes, "simulated", 1)


@dataclass(frozen=True)
class Side:
    """Stands for a `Command`."""

    machine: Machine
    keys: tuple[RecordKey, ...]
    slowdown: float = 1.0
    repetitions: int | None = 20

    def execute(self) -> Process:
        return self.machine.process(self.keys, self.slowdown, self.repetitions or regress.CALIBRATION)

    def repeating(self, repetitions: int) -> "Side":
        return replace(self, repetitions=repetitions)

    def narrowed(self, keys: Sequence[RecordKey]) -> "Side":
        names = {key.implementation for key in keys}
        return replace(self, keys=tuple(key for key in self.keys if key.implementation in names))


@dataclass
class Plan:
    rounds: int = regress.ROUNDS
    longer: int = regress.LONGER  # max_rounds, in rounds
    repetitions: int = 20


@dataclass
class Tally:
    """Verdicts of many runs, and the processes they took."""

    verdicts: Counter = field(default_factory=Counter)
    cases: Counter = field(default_factory=Counter)  # outcomes of the cases that were not slowed
    slowed: Counter = field(default_factory=Counter)  # ... and of those that were
    rounds: int = 0


def keys_of(world: World) -> tuple[RecordKey, ...]:
    numbers = range(world.cases)
    return tuple(RecordKey("fang/table1", f"n={n}", name, 1) for n, name in itertools.product(numbers, IMPLEMENTATIONS))


def decide(world: World, slowdown: float, seed: int, plan: Plan) -> verdicts.Verdict:
    """One run of the gate: series, control, repeated series, second series, verdict."""
    machine = Machine(world, np.random.default_rng([seed, 20190527]))
    base = Side(machine, keys_of(world), 1.0, plan.repetitions)
    sides = regress.Sides(base, replace(base, slowdown=slowdown), plan.rounds, plan.rounds * plan.longer)
    return regress.interleaved(sides)


def simulate(world: World, slowdown: float, runs: int, plan: Plan | None = None, first: int = 0) -> Tally:
    tally = Tally()
    for seed in range(first, first + runs):
        verdict = decide(world, slowdown, seed, plan or Plan())
        tally.verdicts[verdicts.NAMES[verdict.status]] += 1
        tally.rounds += verdict.rounds
        for judgement in verdict.cases:
            counter = tally.slowed if slowdown != 1 and judgement.key.implementation == SLOWED else tally.cases
            counter[judgement.outcome] += 1
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--slowdowns", nargs="+", type=float, default=[1.0, 1.03, 1.05, 1.1])
    parser.add_argument("--rounds", type=int, default=Plan.rounds)
    parser.add_argument("--longer", type=int, default=Plan.longer)
    parser.add_argument("--repetitions", type=int, default=Plan.repetitions)
    args = parser.parse_args()
    regress.progress = lambda text: None
    plan = Plan(args.rounds, args.longer, args.repetitions)
    print(
        "| world | slowdown | pass | regression | inconclusive | mean rounds | outcomes of slowed cases | of others |"
    )
    print("| :--- | ---: | ---: | ---: | ---: | ---: | :--- | :--- |", flush=True)
    for name, slowdown in itertools.product(args.worlds, args.slowdowns):
        tally = simulate(WORLDS[name], slowdown, args.runs, plan)
        counts = [str(tally.verdicts[v]) for v in ("pass", "regression", "inconclusive")]
        row = [name, f"{slowdown:g}", *counts, f"{tally.rounds / args.runs:.1f}", dict(tally.slowed), dict(tally.cases)]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
