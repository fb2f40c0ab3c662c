"""Child processes that never outlive their parent: whatever ends the call (a signal, a time-out) ends them all, and the
kernel ends them where the parent was killed."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping

PR_SET_PDEATHSIG = 1
GRACE = 2.0  # seconds between asking a group to end and ending it


def run(
    arguments: list[str], timeout: float | None, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """subprocess.run with captured text, in a process group of its own that is ended with the call."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "backslashreplace"}
    with subprocess.Popen(
        arguments, **piped, stdin=subprocess.DEVNULL, env=environment, process_group=0, preexec_fn=_end_with_parent()
    ) as child:
        try:
            out, err = child.communicate(timeout=timeout)
        except BaseException:
            end_group(child)
            raise
    return subprocess.CompletedProcess(arguments, child.returncode, out, err)


def _end_with_parent() -> Callable[[], None]:
    """What the child does before it becomes the program: the kernel sends it SIGTERM when its parent ends."""
    library, parent = ctypes.CDLL(None), os.getpid()

    def call() -> None:
        if hasattr(library, "prctl"):
            library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the kernel knew
            os._exit(1)

    return call


def end_group(child: subprocess.Popen[str]) -> None:
    """Asks all processes of the group to end, ends those that do not, and waits until none is left."""
    for wanted in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + GRACE
        try:
            os.killpg(child.pid, wanted)
            while time.monotonic() < until:
                child.poll()  # the leader must be waited for, or its group never ends
                os.killpg(child.pid, 0)
                time.sleep(0.01)
        except ProcessLookupError:
            return
