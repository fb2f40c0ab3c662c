"""A headless Chromium for tests, driven through its DevTools protocol over a pipe: nothing but the standard library.

Messages are JSON objects that a zero byte ends, on descriptors 3 (to the browser) and 4 (from it)."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)
PATIENCE = 150  # seconds for one answer; shared machines are slow


class Stalled(RuntimeError):
    """No answer in time: now and then a headless Chromium draws no frame any more."""


def executable() -> str | None:
    """Where the browser is: CHROMIUM, or one of the usual names."""
    return os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab. `faults` collects what a page logs as an error, throws, or fails to load."""

    def __init__(self, process: subprocess.Popen[bytes], into: int, out: int) -> None:
        self._process, self._into, self._out = process, into, out
        self._number, self._buffer, self._session = 0, b"", ""
        self._loaded = False
        self.faults: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command. Raises RuntimeError for an error."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._into, data) :]
        while True:
            found = self._message(PATIENCE)
            if found is None:
                raise Stalled(f"{method}: no answer in {PATIENCE} s")
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]

    def _message(self, seconds: float) -> dict[str, Any] | None:
        """The next message, which is also looked at; None where none comes in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._out], [], [], left)[0]:
                return None
            piece = os.read(self._out, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._buffer += piece
        one, _, self._buffer = self._buffer.partition(b"\0")
        found = json.loads(one)
        self._look(found.get("method", ""), found.get("params", {}))
        return found

    def _look(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.faults.append(str(details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.faults.append(" ".join(str(one.get("value", one.get("description"))) for one in told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.faults.append(f"{told['entry']['text']} {told['entry'].get('url', '')}".strip())
        elif method == "Network.loadingFailed" and not told.get("canceled"):
            self.faults.append(f"not loaded: {told.get('errorText')}")
        elif method == "Page.loadEventFired":
            self._loaded = True

    def look_like(self, width: int, height: int = 900, dark: bool = False, media: str = "") -> None:
        """The size of the screen in pixels, and what it prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, page: Path | str) -> None:
        """A file, perhaps with a fragment behind it; returns when it has loaded."""
        self._loaded, self.faults = False, []
        self.call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while not self._loaded:
            if self._message(max(0.0, end - time.monotonic())) is None:
                raise Stalled(f"{page}: not loaded in {PATIENCE} s")
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"].get("exception", {}).get("description")))
        return found["result"].get("value")

    def stop(self) -> None:
        """Nothing is answered from here on: what a stalled browser does."""
        self._process.send_signal(signal.SIGSTOP)

    def picture(self, whole: bool = False) -> bytes:
        """A PNG of the screen, or of the whole page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def printed(self) -> bytes:
        """A PDF on A4."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69}
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, **size)["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    """Starts and ends one. Raises RuntimeError where none is installed."""
    path = executable()
    if path is None:
        raise RuntimeError(f"no browser: none of {', '.join(NAMES)} is installed, and CHROMIUM is not set")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # Numbers above those that the child gets them under, so that neither overwrites the other.
    inside = [fcntl.fcntl(one, fcntl.F_DUPFD, 64) for one in (to_read, from_write)]

    def wire() -> None:
        os.dup2(inside[0], 3)
        os.dup2(inside[1], 4)

    with tempfile.TemporaryDirectory(prefix="browser.", ignore_cleanup_errors=True) as profile:
        command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, **quiet)
        for one in (to_read, from_write, *inside):
            os.close(one)
        try:
            yield Browser(process, to_write, from_read)
        finally:
            for one in (to_write, from_read):
                os.close(one)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
