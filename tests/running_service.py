"""A real service in its own processes, for the tests."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Running:
    """A service that was started, and how it is asked."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    token: str = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            given = ({"Authorization": f"Bearer {self.token}"} if self.token else {}) | (headers or {})
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, data: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        body = None if data is None else json.dumps(data).encode()
        status, _, found = self.raw(method, path, body, {"Content-Type": "application/json"} | (headers or {}))
        return status, json.loads(found) if found else None

    def children(self) -> dict[str, list[int]]:
        """The processes of the service by what they do."""
        found: dict[str, list[int]] = {"writer": [], "worker": []}
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and f"PPid:\t{self.process.pid}\n" in (folder / "status").read_text():
                    command = (folder / "cmdline").read_bytes()
                    found["writer" if b"writer_process" in command else "worker"].append(int(folder.name))
            except OSError:
                continue
        return found

    def wait_ready(self, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except (OSError, ValueError, http.client.HTTPException):
                pass
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.1)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def running(folder: Path, *arguments: str, token: str = "", port: int = 0) -> Iterator[Running]:
    """``lookalike serve`` with these arguments, ready to be asked."""
    port, log = port or free_port(), folder / "service.log"
    command = [sys.executable, "-m", "lookalike", "serve", *arguments, "--port", str(port)]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    found = Running(process, port, log, token)
    try:
        found.wait_ready()
        yield found
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
