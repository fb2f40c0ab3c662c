"""scripts/reproduce, with a program, a set-up and a report that are played; and scripts/peers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, environment

PLAYED = {
    "build/vicinity": """\
#!/bin/bash
echo "$@" >>said
[[ $1 != environment ]] || echo '{"machine": "my-machine"}'
if [[ $1 == run && -n $SECONDS_OF_RUN ]]; then
  trap "echo run ended >>said; exit 130" TERM
  sleep "$SECONDS_OF_RUN" &
  wait
fi
""",
    "scripts/setup": "#!/bin/sh\n",
    "scripts/report": '#!/bin/sh\necho report "$RESULTS/$MACHINE" >>said\n',
}


def reproduce(folder: Path, **settings: str) -> subprocess.Popen[str]:
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    for name, text in PLAYED.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "experiments" / "some").mkdir(parents=True)
    (folder / "experiments" / "some" / "table.yaml").touch()
    told = {"EXPERIMENTS", "MACHINE", "PRESET", "SYSTEMS"}
    kept = {name: value for name, value in environment().items() if name not in told}
    place = {"BUILD": "build", "SKIP_BUILD": "1", "RESULTS": "results", "PROFILE": "smoke"}
    return subprocess.Popen(
        [folder / "scripts" / "reproduce"],
        env={**kept, **place, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def said(folder: Path) -> list[str]:
    return (folder / "said").read_text().splitlines() if (folder / "said").exists() else []


@pytest.mark.parametrize("name", ["", "My Machine"])
def test_all_steps_are_of_the_machine_that_is_named(tmp_path: Path, name: str) -> None:
    out, _ = (process := reproduce(tmp_path, MACHINE=name)).communicate(timeout=60)
    assert process.returncode == 0, out
    named = f" --machine {name}" if name else ""
    assert said(tmp_path) == [
        f"ceilings --results results{named}",
        f"run experiments/some/table.yaml --profile smoke --results results{named}",
        f"environment --json{named}",
        "report results/my-machine",
    ]


def test_an_unknown_experiment_is_told_before_anything_is_built(tmp_path: Path) -> None:
    out, _ = (process := reproduce(tmp_path, EXPERIMENTS="some/table some/chair")).communicate(timeout=60)
    assert process.returncode == 3 and said(tmp_path) == []
    assert out == "vicinity: error: EXPERIMENTS: there is no experiments/some/chair.yaml\n"


SCRIPTS = [
    path.name for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and "common.sh" in path.read_text()
]


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "common.sh"])
def test_help_begins_no_work(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / name, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=20, check=True
    )
    head = (ROOT / "scripts" / name).read_text().splitlines()[1]
    assert head[2:] in done.stdout or done.stdout.startswith("usage: "), done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_script_alone_ends_the_measurement(tmp_path: Path, sent: signal.Signals) -> None:
    """Bash alone would leave it running, for hours."""
    process = reproduce(tmp_path, SECONDS_OF_RUN="20")
    until = time.monotonic() + 20
    while not any(line.startswith("run ") for line in said(tmp_path)):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, sent)
    process.wait(timeout=10)
    assert process.returncode == 130 and said(tmp_path)[-1] == "run ended"


def test_a_peer_that_is_none_is_told_before_anything_is_built(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    env = {**environment(), "PEERS": "none"}
    result = subprocess.run(
        [tmp_path / "scripts" / "peers"], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 3 and result.stdout == ""
    assert result.stderr == "vicinity: error: PEERS: there is no peers/none.py\n"
    assert [path.name for path in tmp_path.iterdir()] == ["scripts"]
