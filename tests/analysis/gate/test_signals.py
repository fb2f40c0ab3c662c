"""What ends the gate ends its measuring children, and leaves no temporary folder."""

import os
import signal
import subprocess
import sys
import time

import pytest
import synthetic
from vicinity_analysis.gate import children

MEASURES = """\
#!/bin/sh
# Stands in for vicinity: a process that measures, with a child of its own, for a minute.
echo $$ >>"$STATE"
sleep 61 &
echo $! >>"$STATE"
wait
"""


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not what():
        time.sleep(0.02)
    return what()


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Also where the tests run in the background or under nohup: children would inherit what is ignored there."""
    heard = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def started(tmp_path):
    """The gate while it measures: its process, those of the stand-in, its folder for temporary files."""
    binary, state, temporary = tmp_path / "vicinity", tmp_path / "state", tmp_path / "tmp"
    binary.write_text(MEASURES)
    binary.chmod(0o755)
    temporary.mkdir()
    descriptor = synthetic.make_root(tmp_path / "root") / "experiments" / "fang" / "table1.yaml"
    environment = {**os.environ, "PYTHONPATH": str(synthetic.REPOSITORY / "analysis")}
    environment |= {"STATE": str(state), "TMPDIR": str(temporary)}
    call = [sys.executable, "-m", "vicinity_analysis", "regress", str(descriptor)]
    call += ["--base-binary", str(binary), "--candidate-binary", str(binary)]
    gate = subprocess.Popen(call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert until(lambda: state.exists() and len(state.read_text().split()) == 2), gate.communicate()
    pids = [int(word) for word in state.read_text().split()]
    assert all(map(alive, pids)) and os.listdir(temporary)
    yield gate, pids, temporary
    for pid in (gate.pid, *pids):
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    gate.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_ends_all_and_cleans_up(started, number):
    gate, pids, temporary = started
    gate.send_signal(number)
    out, err = gate.communicate(timeout=20)
    assert gate.returncode == 130 and "Traceback" not in out + err
    assert os.listdir(temporary) == []
    assert until(lambda: not any(map(alive, pids)), seconds=2)  # what was killed takes a moment to be gone


def test_a_second_signal_does_not_stop_the_cleaning(started):
    gate, pids, temporary = started
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        gate.send_signal(number)
    assert gate.wait(timeout=20) == 130
    assert os.listdir(temporary) == []
    assert until(lambda: not any(map(alive, pids)), seconds=2)  # what was killed takes a moment to be gone


def test_what_is_measuring_ends_with_a_gate_that_is_killed(started):
    gate, pids, _ = started
    gate.kill()
    gate.wait(timeout=20)
    assert until(lambda: not alive(pids[0])), "the kernel tells the measuring process"


def test_a_child_that_ignores_the_request_is_ended(tmp_path, monkeypatch):
    script = tmp_path / "deaf"
    script.write_text("#!/bin/sh\ntrap '' TERM\necho $$ >pid\nwhile :; do sleep 0.1; done\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        children.run([str(script)], 0.5, os.environ)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_the_script_ends_what_it_started(tmp_path):
    """scripts/common.sh, as scripts/regress uses it: bash alone would leave the gate running."""
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\necho $$ >"$STATE"\ntrap "echo cleaned >>\\"$STATE\\"; exit 130" TERM\nsleep 5 &\nwait\n'
    )
    python.chmod(0o755)
    script = tmp_path / "scripts" / "some"
    script.parent.mkdir()
    common = (synthetic.REPOSITORY / "scripts" / "common.sh").read_text().replace(".venv/bin/python", str(python))
    (tmp_path / "scripts" / "common.sh").write_text(common)
    script.write_text(
        'source "$(dirname "${BASH_SOURCE[0]}")/common.sh"\nsupervised become_analysis regress\necho not ended\n'
    )
    state = tmp_path / "state"
    environment = {**os.environ, "STATE": str(state)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        state.unlink(missing_ok=True)
        shell = subprocess.Popen(["bash", str(script)], env=environment, stdout=subprocess.PIPE, text=True)
        assert until(lambda: state.exists() and state.read_text())
        pid = int(state.read_text().split()[0])
        shell.send_signal(number)
        out, _ = shell.communicate(timeout=20)
        assert shell.returncode == 130 and out == "" and not alive(pid)
        assert state.read_text().split() == [str(pid), "cleaned"]
