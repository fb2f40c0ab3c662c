"""make reproduce over machines: a real Slurm of one node, and GNU parallel on this host."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Program, environment
from test_shards import SLOW, recorded, what, whole

NEEDED = ("sbatch", "slurmctld", "slurmd", "munged")
LACKING = [name for name in NEEDED if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
NO_SLURM = f"no {', '.join(LACKING)} here (scripts/packages_test.txt)" if LACKING else "Slurm's daemons need root"
# What is queued again waits for cred_expire (120 s unless it says otherwise), as long as a node refuses it.
SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def until(done: Callable[[], bool], seconds: float, told: Callable[[], str]) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, told()
        time.sleep(0.2)


def free_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """munged, slurmctld and slurmd of one node, with files in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.daemons = folder, list[subprocess.Popen[bytes]]()
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}

    def start(self) -> None:
        controller, node = free_ports()
        values = {"host": socket.gethostname().split(".")[0], "controller": controller, "node": node}
        (self.folder / "slurm.conf").write_text(SLURM_CONF.format(folder=self.folder, **values))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o400)
        files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munge.log"}
        files["seed-file"] = "munge.seed"
        options = [f"--{option}={self.folder / name}" for option, name in files.items()]
        self.daemon("munged", "--foreground", "--force", *options)
        until((self.folder / "munge.socket").exists, 10, self.told)
        self.daemon("slurmctld", "-D")
        until(lambda: "UP" in self("scontrol", "ping", check=False), 30, self.told)
        self.daemon("slurmd", "-D", "-N", values["host"])
        until(lambda: "idle" in self("sinfo", "-h", "-o", "%t", check=False), 60, self.told)

    def daemon(self, *command: str) -> None:
        log = (self.folder / f"{command[0]}.out").open("wb")
        self.daemons.append(
            subprocess.Popen(
                command, env={**environment(), **self.environment}, stdout=log, stderr=log, cwd=self.folder
            )
        )

    def told(self) -> str:
        logs = [*sorted(self.folder.glob("*.out")), *sorted(self.folder.parent.rglob("sweep-*/*.log"))]
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-1500:]}" for path in logs)

    def __call__(self, *command: str, check: bool = True) -> str:
        env = {**environment(), **self.environment}
        result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
        assert not check or result.returncode == 0, f"{command}: {result.stderr}\n{self.told()}"
        return result.stdout

    def end(self) -> None:
        for process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(15)


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    if LACKING or os.geteuid() != 0:
        pytest.skip(NO_SLURM)
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name in ("state", "spool"):
        (folder / name).mkdir()
    cluster = Slurm(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
def sweep(fake: Program) -> Callable[..., subprocess.CompletedProcess[str]]:
    """make reproduce over machines, with the fake program as the build and its table as the experiment. The report is
    short: the repository's own scripts, but no experiments and records of other machines beside these."""
    root, build = fake.folder / "repository", fake.folder / "build"
    for folder in (root, root / "experiments", build):
        folder.mkdir()
    for name in ("scripts", "data", ".venv"):
        (root / name).symlink_to(ROOT / name)
    (build / "vicinity").symlink_to(fake.binary)
    given = {"EXPERIMENTS": str(fake.folder / "table.yaml"), "RESULTS": str(fake.folder / "results"), "MACHINE": "m"}
    given |= {"BUILD": str(build), "SHARDS": "2", "CORES": "1"}

    def launch(how: str, **more: str) -> subprocess.CompletedProcess[str]:
        env = {**environment(), **given, "LAUNCH": how, **more}
        command = [str(root / "scripts/reproduce")]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=250, check=False)

    return launch


GATED = {
    **SLOW,
    "  size": "  size: [1, 2, 3, 4, 6, 7, 8, 9]\n  milliseconds: [1]",
}  # cpu-slow waits at the gate from 5 on


@pytest.mark.timeout(280)
def test_a_sweep_in_slurm(
    fake: Program, slurm: Slurm, sweep: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """An array of shards, of which one is killed and queued again and the other comes to its time limit, records what
    one run records."""
    expected = whole(fake, fake.descriptor(**GATED))
    gate, results = tmp_path / "gate", tmp_path / "results"
    gate.touch()
    submitted = sweep("slurm", FAKE_GATE=str(gate), **slurm.environment)
    assert submitted.returncode == 0, submitted.stderr + slurm.told()
    words = submitted.stdout.split("Submitted: ")[1].split()
    array = next(words[at - 1] for at, word in enumerate(words) if word == "runs")
    assert (
        "runs 2 shards (--time=30 --cpus-per-task=1)" in submitted.stdout
    )  # no GPU asked for: none of these needs one

    # Both are held at the gate after five of their pairs.
    until(lambda: all(len(recorded_by(results, task)) == 5 for task in ("1", "2")), 90, slurm.told)
    before = {task: recorded_by(results, task) for task in ("1", "2")}
    slurm("scancel", "--batch", "--signal=USR1", f"{array}_2")  # what Slurm sends a minute before the time is up
    until(lambda: state_of(slurm, array, "2") == "PENDING", 60, slurm.told)
    assert state_of(slurm, array, "1") == "RUNNING", slurm.told()
    slurm("scontrol", "requeue", f"{array}_1")
    until(lambda: state_of(slurm, array, "1") == "PENDING", 60, slurm.told)
    gate.unlink()
    until(lambda: not slurm("squeue", "-h"), 150, slurm.told)
    assert what(recorded(results)) == expected, slurm.told()
    for task, lines in before.items():
        assert recorded_by(results, task)[: len(lines)] == lines, "what was recorded before the kill stays"
        assert f"{len(lines)} recorded" in next(results.glob(f"sweep-*/shard-{task}.log")).read_text()
    assert (results / "m/report/index.html").exists(), slurm.told()


def test_what_is_asked_of_slurm(
    fake: Program, slurm: Slurm, sweep: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """A GPU where an implementation needs one, which this node has not; a whole node where no cores are named."""
    protocol = "protocol: {repetitions: 5, warmup: 1, time: kernel, max_seconds: 600}"
    fake.descriptor(implementations="implementations: [gpu]", protocol=protocol)
    refused = sweep("slurm", **slurm.environment)
    assert refused.returncode == 3 and "sbatch refused the first job" in refused.stderr, refused.stderr
    assert "generic resource (gres)" in refused.stderr and not slurm("squeue", "-h")
    accepted = sweep(
        "slurm", **slurm.environment, GRES="none", CORES="", SHARDS="1", SBATCH_ARGS="--hold --comment=mine"
    )
    assert accepted.returncode == 0, accepted.stderr
    # Four times what two cases of 600 s and a quarter take, and 30 minutes.
    assert "(--time=130 --exclusive --hold --comment=mine)" in accepted.stdout
    assert slurm("squeue", "-h", "-o", "%b %k") == "N/A mine\n" * 3
    slurm("scancel", "--user=root")
    until(lambda: not slurm("squeue", "-h"), 60, slurm.told)


def recorded_by(results: Path, task: str) -> list[str]:
    path = results / f"m/fake/table.shard-{task}-of-2.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def state_of(slurm: Slurm, array: str, task: str) -> str:
    words = slurm("scontrol", "show", "job", f"{array}_{task}").split()
    return next(word.removeprefix("JobState=") for word in words if word.startswith("JobState="))


@pytest.mark.skipif(shutil.which("parallel") is None, reason="no parallel here (scripts/packages_test.txt)")
@pytest.mark.timeout(200)
def test_a_sweep_by_parallel(fake: Program, sweep: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    expected = whole(fake, fake.descriptor(**SLOW))
    result = sweep("parallel", SLOTS="2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert what(recorded(fake.folder / "results")) == expected
    assert (fake.folder / "results/m/report/index.html").exists()


@pytest.mark.skipif(shutil.which("parallel") is None, reason="no parallel here (scripts/packages_test.txt)")
@pytest.mark.timeout(200)
def test_a_shard_that_a_signal_ends_has_failed(
    fake: Program, sweep: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    fake.descriptor(**SLOW)
    killing = tmp_path / "killing" / "vicinity"
    killing.parent.mkdir()
    killing.write_text(f'#!/bin/sh\n[ "$6" != 1/2 ] || kill -KILL $PPID\nexec {fake.binary} "$@"\n')
    killing.chmod(0o755)
    result = sweep("parallel", BUILD=str(killing.parent))
    assert result.returncode == 3 and "1 of 2 shards failed" in result.stderr, result.stdout + result.stderr
    ends = [line.split("\t")[6:8] for path in (tmp_path / "results").glob("sweep-*/shards.txt") for line in path.open()]
    assert sorted(ends) == [["0", "0"], ["0", "9"], ["Exitval", "Signal"]]


@pytest.mark.skipif(shutil.which("parallel") is None, reason="no parallel here (scripts/packages_test.txt)")
@pytest.mark.timeout(200)
def test_a_sweep_over_hosts(
    fake: Program, sweep: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Two hosts by an ssh that stays here, with nothing of this shell's environment."""
    expected = whole(fake, fake.descriptor(**SLOW))
    ssh = tmp_path / "ssh"
    ssh.write_text(f"""\
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
echo "$1" >>{tmp_path}/hosts
shift
[[ $1 != -- ]] || shift
exec env -i PATH="$PATH" HOME="$HOME" SHELL=/bin/bash bash -c "$*"
""")
    ssh.chmod(0o755)
    result = sweep("parallel", HOSTS="first second", SHARDS="6", PARALLEL_SSH=str(ssh))
    assert result.returncode == 0, result.stdout + result.stderr
    assert what(recorded(fake.folder / "results")) == expected
    assert set((tmp_path / "hosts").read_text().split()) == {"first", "second"}


@pytest.mark.parametrize(
    ("how", "more", "code", "told"),
    [
        ("slurm", {"PATH": "/nowhere"}, 3, "LAUNCH=slurm needs sbatch, which is not here: call make on a login node"),
        ("parallel", {"PATH": "/nowhere"}, 3, "LAUNCH=parallel needs parallel, which is not here: apt-get install"),
        ("pbs", {}, 2, "LAUNCH=pbs: slurm, parallel or gpus"),
        ("slurm", {"SHARDS": "0"}, 2, "SHARDS=0: give a whole number from 1 to 99999"),
        ("slurm", {"SHARDS": "x"}, 2, "SHARDS=x: give a whole number from 1 to 99999"),
        ("parallel", {"CORES": "all"}, 2, "CORES=all: give a whole number"),
    ],
)
def test_what_cannot_be_launched(
    fake: Program,
    sweep: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    how: str,
    more: dict[str, str],
    code: int,
    told: str,
) -> None:
    fake.descriptor()
    if "PATH" in more:  # the shell and its tools alone
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in ("bash", "env", "dirname", "mkdir", "date", "nproc", "git"):
            (tools / name).symlink_to(shutil.which(name) or name)
        more = {"PATH": str(tools)}
    result = sweep(how, **more)
    assert result.returncode == code, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"vicinity: error: {told}")
    assert not list((tmp_path / "results").glob("*/*.jsonl"))


@pytest.mark.skipif(shutil.which("sbatch") is None, reason="no sbatch here (scripts/packages_test.txt)")
def test_a_controller_that_is_away_is_said_before_anything_is_built(
    fake: Program, sweep: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    fake.descriptor()
    values = {"host": socket.gethostname().split(".")[0], "folder": tmp_path}
    controller, node = free_ports()
    (tmp_path / "slurm.conf").write_text(SLURM_CONF.format(**values, controller=controller, node=node))
    result = sweep("slurm", BUILD="", SLURM_CONF=str(tmp_path / "slurm.conf"))
    assert result.returncode == 3, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("vicinity: error: LAUNCH=slurm: no controller of Slurm answers here: Slurmctld(primary) at ")
    assert line.endswith(" is DOWN") and "building" not in result.stdout


def test_the_report_says_which_machines_there_are(tmp_path: Path) -> None:
    (tmp_path / "results" / "mine").mkdir(parents=True)
    place = {"BUILD": str(tmp_path / "none"), "RESULTS": str(tmp_path / "results")}
    env = {**environment(), **place}
    told = subprocess.run([ROOT / "scripts/report"], env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 3 and told.stderr.endswith(f" Recorded in {tmp_path}/results: mine\n")
    assert told.stderr.startswith("vicinity: error: which machine? ")


def test_scripts_find_their_root_whatever_cdpath_names(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shell = ["bash", "-c", 'source scripts/common.sh; echo "$root"']
    env = {**environment(), "CDPATH": str(tmp_path)}
    assert subprocess.run(shell, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout == f"{ROOT}\n"


PLAYED = """\
#!/usr/bin/env python3
import json, os, sys, time
command, *words = sys.argv[1:]
if command == "environment":
    print(json.dumps({"machine": "fake"}))
elif "--estimate" in words:
    print(json.dumps({"measurements": 1, "seconds": 9 if "table2" in words[0] else 1, "gpu": True}))
elif command == "run":
    began = time.time()
    time.sleep(float(os.environ.get("PLAYED_SECONDS", "0.3")))
    told = {"what": words[0], "gpu": os.environ["CUDA_VISIBLE_DEVICES"], "cores": sorted(os.sched_getaffinity(0))}
    with open(os.environ["PLAYED"], "a") as file:
        file.write(json.dumps(told | {"began": began, "words": words}) + "\\n")
    sys.exit(int(os.environ.get("PLAYED_STATUS", "0")) if "table1" in words[0] else 0)
"""


def over_gpus(folder: Path, listed: str, **settings: str) -> subprocess.Popen[str]:
    """LAUNCH=gpus with a program and an nvidia-smi that are played."""
    for name, text in {"build/vicinity": PLAYED, "bin/nvidia-smi": f"#!/bin/sh\nprintf '{listed}'\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    shutil.copytree(ROOT / "results" / "nvidia-h200" / "fang", folder / "results" / "fake" / "fang")
    known = json.loads((ROOT / "results" / "nvidia-h200" / "environment.json").read_text())
    (folder / "results" / "fake" / "environment.json").write_text(json.dumps(known | {"machine": "fake"}))
    names = "fang/table1 fang/table2 fang/cores fang/scaling"
    place = {
        "BUILD": str(folder / "build"),
        "SKIP_BUILD": "1",
        "RESULTS": str(folder / "results"),
        "EXPERIMENTS": names,
        "BESIDE": str(folder / "nothing"),
    }
    place |= {"PLAYED": str(folder / "played"), "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.Popen(
        [ROOT / "scripts" / "launch", "gpus"],
        env={**environment(), **place, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def played(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "played").read_text().splitlines()]


TWO = r"GPU 0: Fake (UUID: GPU-0)\nGPU 1: Fake (UUID: GPU-1)\nGPU 2: Other (UUID: GPU-2)\n"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core for two GPUs")
def test_experiments_are_dealt_to_the_gpus_of_a_host(tmp_path: Path) -> None:
    run = over_gpus(tmp_path, TWO)
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 0, out
    runs = sorted(played(tmp_path), key=lambda one: one["began"])
    assert sorted(Path(one["what"]).stem for one in runs) == ["cores", "scaling", "table1", "table2"]
    assert "table2" in {Path(one["what"]).stem for one in runs[:2]}  # what takes longest begins
    cores = {gpu: {tuple(one["cores"]) for one in runs if one["gpu"] == gpu} for gpu in ("0", "1")}
    assert {one["gpu"] for one in runs} == {"0", "1"} and all(len(sets) == 1 for sets in cores.values())
    (first,), (second,) = cores.values()
    assert len(first) == len(second) > 0 and not set(first) & set(second)
    assert all(one["words"][-2:] == ["--machine", "fake"] for one in runs)
    assert (tmp_path / "results" / "fake" / "report" / "index.html").exists()


def test_what_an_experiment_ends_with_is_told(tmp_path: Path) -> None:
    run = over_gpus(tmp_path, r"GPU 0: Fake (UUID: GPU-0)\n", PLAYED_STATUS="1")
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 1 and re.search(r"fang/table1, \d+ s, ended with 1\n", out), out
    assert len(played(tmp_path)) == 4  # the others were run all the same
    shutil.rmtree(tmp_path / "results")
    run = over_gpus(tmp_path, r"GPU 0: Fake (UUID: GPU-0)\n", PLAYED_STATUS="3")
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 3 and "the same command again runs what is lacking" in out


def test_an_interrupted_deal_leaves_no_run_behind(tmp_path: Path) -> None:
    run = over_gpus(tmp_path, r"GPU 0: Fake (UUID: GPU-0)\n", PLAYED_SECONDS="60")
    said = ""
    while "experiments over" not in said:
        said = run.stdout.readline()
        assert said
    time.sleep(0.5)
    run.terminate()
    run.communicate(timeout=30)
    assert run.returncode == 130 and not (tmp_path / "played").exists()


def test_without_a_gpu_there_is_nothing_to_deal(tmp_path: Path) -> None:
    run = over_gpus(tmp_path, "")
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 3 and "LAUNCH=gpus: no GPU here" in out
