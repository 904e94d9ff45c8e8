"""A headless Chromium for the tests, spoken to over a pipe: the DevTools protocol without a port and without a library."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]


def chromium_path() -> str:
    """Where Chromium is; without it the test is skipped, or fails where everything must run."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    reason = "chromium is missing: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Browser:
    """One page at a time. ``requests`` are the addresses that it asked for."""

    def __init__(self) -> None:
        self._profile = tempfile.mkdtemp(prefix="lookalike-chromium-")
        self._process, self._write, self._read = _start([chromium_path(), *OPTIONS, f"--user-data-dir={self._profile}", "about:blank"])
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, path: Path, *, width: int = 1200, height: int = 800, dark: bool = False) -> None:
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Network.enable")
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[scheme, still])
        self.requests.clear()
        self.call("Page.navigate", url=path.as_uri())
        while self.run("document.readyState") != "complete" or self.run("location.protocol") == "about:":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": self._session} if self._session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 20)
            if not data:
                raise AssertionError("chromium ended")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer


def _start(command: list[str]) -> tuple[subprocess.Popen[bytes], int, int]:
    """Chromium reads commands on descriptor 3 and answers on descriptor 4."""
    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    # Far above 3 and 4, so that the shell's redirections cannot overwrite one another.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 64) for end in (their_read, their_write)]
    script = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", *command], pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for end in (*ends, their_read, their_write):
        os.close(end)
    return process, our_write, our_read
