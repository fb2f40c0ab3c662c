"""The library as a project of one's own has it: installed, found by find_package, and its example run and checked.

The known answers come from the loops below: they follow the paper (FANG, section 3) and share nothing with the library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

WORD = (1 << 64) - 1
JOBS, AGENTS, STATES, GENERATIONS = 20, 6, 64, 5


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    build = os.environ.get("VICINITY_BUILD", ROOT / "build")
    run("cmake", "--install", build, "--component", "library", "--prefix", folder)
    return folder


def build(folder: Path, prefix: Path, *options: str) -> Path:
    """The example, copied away from the tree."""
    shutil.copytree(ROOT / "examples" / "fang-domain", folder / "mine")
    flags = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror"
    run("cmake", "-S", folder / "mine", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", flags, *options)
    run("cmake", "--build", folder / "build")
    return folder / "build" / "fang-domain"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, prefix: Path) -> Path:
    return build(tmp_path_factory.mktemp("project"), prefix, "-DWITH_CUDA=OFF")


# --- random numbers and digests, from their definitions ---------------------------------------------------------------


def philox(seed: int, iteration: int, walker: int, draw: int) -> int:
    """64 bits of Philox4x32-10 (Salmon et al. 2011)."""
    a, b, c, d = iteration & 0xFFFFFFFF, iteration >> 32, walker, draw
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (right >> 32) ^ b ^ key[0], right & 0xFFFFFFFF, (left >> 32) ^ d ^ key[1], left & 0xFFFFFFFF
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return a | b << 32


def below(bits: int, bound: int) -> int:
    return bits * bound >> 64


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


class Short:
    """xorshift64*, whose state is the successor value."""

    def __init__(self, successor: int) -> None:
        self.state = successor

    def __next__(self) -> int:
        self.state ^= self.state >> 12
        self.state ^= self.state << 25 & WORD
        self.state ^= self.state >> 27
        return self.state * 2685821657736338717 & WORD

    def kept(self) -> int:
        return self.state


class Long:
    """xorshift1024*, filled by xorshift64*."""

    def __init__(self, successor: int) -> None:
        fill = Short(successor)
        self.words = [next(fill) for _ in range(16)]
        self.at = 0

    def __next__(self) -> int:
        newest = self.words[self.at]
        self.at = (self.at + 1) % 16
        oldest = self.words[self.at]
        oldest ^= oldest << 31 & WORD
        self.words[self.at] = oldest ^ newest ^ oldest >> 11 ^ newest >> 30
        return self.words[self.at] * 1181783497276652981 & WORD

    def kept(self) -> int:
        return next(self)


# --- the example's domain and evolution -------------------------------------------------------------------------------


class Jobs:
    def __init__(self) -> None:
        def table(number: int, low: int, high: int) -> list[list[int]]:
            draws = (philox(1, 1, number, i) for i in range(JOBS * AGENTS))
            values = [low + below(bits, high - low + 1) for bits in draws]
            return [values[job * AGENTS : (job + 1) * AGENTS] for job in range(JOBS)]

        self.need, self.cost = table(0, 5, 25), table(1, 10, 50)
        self.capacity = [sum(need[a] for need in self.need) * 8 // (10 * AGENTS) for a in range(AGENTS)]

    def free(self, agents: list[int]) -> list[int]:
        taken = [sum(self.need[j][a] for j in range(JOBS) if agents[j] == a) for a in range(AGENTS)]
        return [capacity - used for capacity, used in zip(self.capacity, taken, strict=True)]

    def total(self, agents: list[int]) -> int:
        return sum(1000 if agent < 0 else self.cost[job][agent] for job, agent in enumerate(agents))

    def weights(self, agents: list[int], job: int) -> list[int]:
        free = self.free(agents)
        fitting = [a for a in range(AGENTS) if a == agents[job] or self.need[job][a] <= free[a]]
        least = min((self.cost[job][a] for a in fitting), default=0)
        excess = [self.cost[job][a] - least if a in fitting else 99 for a in range(AGENTS)]
        return [1 << (20 - above) if above <= 20 else 0 for above in excess]


def successor(seed: int, index: int) -> int:
    return philox(seed, 0, index, 0) or 1


def assign(domain: Jobs, agents: list[int], active: list[int], value: int, generator: type[Short | Long]) -> int:
    """Assigns the active jobs in random order; returns the successor value that is kept."""
    draws = generator(value)
    for job in sorted(active, key=lambda job: (mix((value + 0x9E3779B97F4A7C15 * (job + 1)) & WORD), job)):
        weights = domain.weights(agents, job)
        if not sum(weights):
            agents[job] = -1
            continue
        decided, chosen = below(next(draws), sum(weights)), 0
        while decided >= weights[chosen]:
            decided -= weights[chosen]
            chosen += 1
        agents[job] = chosen
    return draws.kept()


def evolve(generator: type[Short | Long]) -> tuple[int, int]:
    """Least cost, and digest of all words and successor values."""
    domain = Jobs()
    states = [[-1] * JOBS for _ in range(STATES)]
    values = [assign(domain, s, list(range(JOBS)), successor(0, t), generator) for t, s in enumerate(states)]
    for generation in range(1, GENERATIONS + 1):
        ranking = sorted(range(STATES), key=lambda s: domain.total(states[s]))
        states = [list(states[ranking[s // 8]]) for s in range(STATES)]
        for t, state in enumerate(states):
            active = [job for job in range(JOBS) if below(philox(generation, 2, t, job), 10) == 0]
            values[t] = assign(domain, state, active if t > 0 else [], successor(generation, t), generator)

    def words() -> Iterator[int]:
        for state in states:
            yield from (word & WORD for word in (*state, *domain.free(state)))
        yield from values

    digest = 0
    for word in words():
        digest = mix((digest + 0x9E3779B97F4A7C15 + mix(word)) & WORD)
    return min(map(domain.total, states)), digest


@pytest.mark.parametrize("generator", [Short, Long])
def test_the_example_finds_what_the_paper_s_loops_find(program: Path, generator: type[Short | Long]) -> None:
    sizes = map(str, (JOBS, AGENTS, STATES, GENERATIONS))
    printed = run(program, *sizes, *(["xorshift1024"] if generator is Long else []))
    cost, digest = evolve(generator)
    assert re.fullmatch(rf"cpu: cost {cost}, digest {digest:016x}, \d+\.\d{{3}} s\n", printed), (printed, cost, digest)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ("20 six 64 5", "six: not a number from 1 to 65536"),
        ("65536 65536 1 1", "jobs times agents: more than 2^28"),
    ],
)
def test_a_mistake_is_said_in_one_line(program: Path, sizes: str, told: str) -> None:
    done = subprocess.run([program, *sizes.split()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"fang-domain: error: {told}\n")


def test_only_the_headers_it_needs_are_installed(prefix: Path) -> None:
    headers = {str(path.relative_to(prefix / "include")) for path in (prefix / "include").rglob("*.*")}
    assert {"vicinity/fang.hpp", "vicinity/fang.cuh", "vicinity/core/util/rng.hpp"} <= headers
    assert not [name for name in headers if "/data/" in name or "/cpu_ref/" in name or "harness" in name]


def test_a_project_may_have_headers_of_the_same_names(tmp_path: Path, prefix: Path) -> None:
    installed = prefix / "include" / "vicinity"
    headers = [path.relative_to(installed) for top in ("core", "kernels") for path in (installed / top).rglob("*.*")]
    assert Path("core/util/rng.hpp") in headers
    for header in headers:
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).write_text("#error of the project\n")
    (tmp_path / "mine.cpp").write_text("#include <vicinity/fang.hpp>\n")
    flags = ("-std=c++20", "-fopenmp", "-fsyntax-only")
    run("c++", *flags, "-I", tmp_path, "-I", prefix / "include", tmp_path / "mine.cpp")
    for header in installed.rglob("*.*"):
        assert not re.search(r'#include "(?!vicinity/)', header.read_text()), header


@pytest.mark.skipif(not (shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists()), reason="no nvcc")
def test_the_gpu_s_twin_compiles(tmp_path: Path, prefix: Path) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    program = build(tmp_path, prefix, f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([program, "9", "3", "8", "1"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.startswith("cpu: cost ")
    assert re.match(r"fang-domain: error: \S+: cuda\w+\(.*\): .+\n$", done.stderr), done.stderr
