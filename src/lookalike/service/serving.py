"""The parent of all processes: it holds the socket, starts what answers and what writes, and starts again what dies."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from lookalike.errors import InputError
from lookalike.index.opening import open as open_index
from lookalike.service.app import ServiceSetup
from lookalike.service.worker import GRACE, encoded

LOCAL = ("127.0.0.1", "::1", "localhost")
_PAUSE = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before what died is started again, longer each time
_log = logging.getLogger("lookalike.service")


@dataclass(slots=True)
class _Child:
    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    began: float = 0.0
    due: float = 0.0  # when it is started


def listen(host: str, port: int, guarded: bool) -> socket.socket:
    """The socket. Beyond this machine only with tokens."""
    if host not in LOCAL and not guarded:
        raise InputError(f"--host {host}: others could reach it, so give --token-file too, or leave --host out")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(2048)
    except (OSError, OverflowError) as error:
        found.close()
        raise InputError(f"cannot listen at {host}:{port}: {error}; choose another --port") from None
    return found


def serve(settings: ServiceSetup, listening: socket.socket, started: Callable[[str], object] = lambda address: None) -> None:
    """Serve until SIGTERM or SIGINT. Returns when everything that was acknowledged is safe and all processes have ended."""
    with tempfile.TemporaryDirectory(prefix="lookalike-service-") as folder:
        run = Path(folder)
        settings = replace(settings, metrics_file=run / "metrics")
        children = list(_children(settings, run, listening))
        stop = threading.Event()
        before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            for child in children:
                _start(child)
            host, port = listening.getsockname()[:2]
            started(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
            while not stop.wait(0.1):
                for child in children:
                    _keep_alive(child)
        finally:
            _stop(children)
            for number, handler in before.items():
                signal.signal(number, handler)


def _children(settings: ServiceSetup, run: Path, listening: socket.socket) -> Iterator[_Child]:
    own_writer = settings.local and not settings.read_only
    writer_socket = run / "writer" if own_writer else None
    if writer_socket is not None:
        line = msgspec.json.encode((settings.location, str(writer_socket))) + b"\n"
        yield _Child("writer", lambda: _spawn("lookalike.service.writer_process", line))
    for own in range(settings.processes):
        line_of = encoded(replace(settings, own=own), writer_socket, listening.fileno())
        yield _Child(f"process {own}", lambda line=line_of: _spawn("lookalike.service.worker", line, listening.fileno()))  # type: ignore[misc]  # a default binds it now


def _spawn(module: str, line: bytes, *files: int) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C reaches the parent, which then tells each what to do, in order.
    process = subprocess.Popen([sys.executable, "-m", module], stdin=subprocess.PIPE, pass_fds=files, start_new_session=True)  # noqa: S603
    assert process.stdin is not None  # noqa: S101 (it was asked for)
    process.stdin.write(line)
    process.stdin.flush()
    return process


def _start(child: _Child) -> None:
    child.process, child.began = child.start(), time.monotonic()


def _keep_alive(child: _Child) -> None:
    now = time.monotonic()
    if child.process is None:
        if now >= child.due:
            _start(child)
        return
    code = child.process.poll()
    if code is None:
        return
    child.deaths = child.deaths + 1 if now - child.began < 30 else 1
    pause = _PAUSE[min(child.deaths, len(_PAUSE)) - 1]
    _log.error("the %s ended (%s); it is started again in %g s", child.name, code, pause)
    child.process, child.due = None, now + pause


def _stop(children: list[_Child]) -> None:
    """First those that answer, which finish what they have begun; then the one that writes."""
    for group in ([child for child in children if child.name != "writer"], [child for child in children if child.name == "writer"]):
        alive = [child.process for child in group if child.process is not None and child.process.poll() is None]
        for process in alive:
            process.send_signal(signal.SIGTERM)
        until = time.monotonic() + GRACE + 5
        for process in alive:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    for child in children:
        if child.process is not None and child.process.stdin is not None:
            with contextlib.suppress(OSError):
                child.process.stdin.close()


def prepare(location: str, read_only: bool) -> bool:
    """Make the store if it is not there; returns whether it is on this machine."""
    if location.startswith("memory:"):
        raise InputError("memory:// has no store that several processes could share: give a path, or use --demo")
    open_index(location, read_only=read_only, create=not read_only).close()
    return "://" not in location
