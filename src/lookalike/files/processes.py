"""Processes that read files, from outside: started when they are needed, kept for the next file, stopped when they take too long."""

from __future__ import annotations

import atexit
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, Any, TypeVar

from lookalike import system
from lookalike.errors import EngineError
from lookalike.files import messages
from lookalike.files.limits import Limits
from lookalike.files.model import TOO_LARGE, TOO_SLOW, FileText

GRACE = 2.0  # seconds beyond the limit: the process notices by itself as a rule, and can say what it has read
START = 20.0  # seconds that starting may take on a busy machine
MOST_READ = 4000  # files, after which a process makes room for a new one: libraries do not give all memory back
_PIECE = 1 << 20
_REFUSED = re.compile(rb"memory allocation of (\d{1,20}) bytes failed")  # the last words of Rust

Answer = TypeVar("Answer")


class _Slow(Exception):
    pass


class _Gone(Exception):
    pass


class Process:
    """One process. It is used by one thread at a time."""

    def __init__(self, memory: int) -> None:
        self.memory, self.owner, self.files = memory, os.getpid(), 0
        self._received = bytearray()  # what was read of an answer and not yet taken
        self._room = bytearray(_PIECE)  # for what is read next: room that is asked for anew is cleared anew, each time
        # -P: a json.py in the folder that one happens to be in is not imported.
        command = [sys.executable, "-P", "-m", "lookalike.files.worker", str(memory)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 (ours)
        except OSError as error:
            raise EngineError(f"the process that reads files cannot be started: {error.strerror or error}") from error
        os.set_blocking(self._pipe(self._process.stdin), False)  # as much at a time as fits, and never longer than allowed
        system.widen_pipe(self._pipe(self._process.stdout), _PIECE)  # a text of 50 KB in one piece, instead of a switch for every 64 KB

    def read(self, name: str, path: str | None, data: bytes, limits: Limits, members: bool) -> list[FileText]:
        """What the process answers, or what became of it."""
        header = {"name": name, "path": path, "limits": limits.to_dict(), "members": members}
        try:
            return messages.answered(*self._asked(header, data, limits.seconds + GRACE))
        except _Slow:
            self.stop()
            return [FileText(name, "binary", TOO_SLOW, notes=(f"reading it takes longer than {limits.seconds:g} seconds",))]
        except _Gone:
            last_words = self._last_words()
            self.stop()
            if self.files > 1:  # it may have died of an earlier file, or been killed while it waited: a new one decides
                return read_in_process(name, path, data, limits, members=members)
            return [FileText(name, "binary", TOO_LARGE, notes=(self._obituary(last_words),))]

    def find(self, pattern: re.Pattern[str], text: str, seconds: float) -> list[str] | None:
        """What a pattern finds in a text; None if that takes too long."""
        header = {"pattern": pattern.pattern, "flags": pattern.flags}
        try:
            found, _ = self._asked(header, text.encode("utf-8", "surrogatepass"), seconds)
        except (_Slow, _Gone):
            self.stop()
            return None
        return list(found["values"])

    def _asked(self, header: dict[str, Any], data: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        until = time.monotonic() + seconds + (0 if self.files else START)
        self.files += 1
        self._send(messages.message(header, data), until)
        return messages.received(lambda size: self._receive(size, until))

    def _last_words(self) -> bytes:
        """What a process that has ended wrote to its standard error last."""
        if self._process.stderr is None:
            return b""
        with suppress(OSError, ValueError):
            os.set_blocking(self._process.stderr.fileno(), False)
            return self._process.stderr.read() or b""
        return b""

    def _obituary(self, last_words: bytes) -> str:
        """Libraries in Rust end the process when they are refused memory, and say so; of others one knows only the signal."""
        most = f"{self.memory >> 20} MiB"
        if asked := _REFUSED.search(last_words):
            return f"it takes more than {most}: its reader asked for {int(asked[1]):,} bytes more, and was refused"
        code = self._process.returncode
        by = f" ({signal.Signals(-code).name})" if code is not None and -code in set(signal.Signals) else ""
        return f"the process that read it ended{by}: it takes more than {most}, or is broken in a way that its reader does not survive"

    @property
    def alive(self) -> bool:
        return self.owner == os.getpid() and self.files < MOST_READ and self._process.poll() is None

    def stop(self) -> None:
        if self.owner != os.getpid():  # a fork has the pipes, and not the process
            return
        with suppress(OSError):
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> int:
        if pipe is None or pipe.closed:
            raise _Gone
        return pipe.fileno()

    def _send(self, pieces: Iterable[bytes], until: float) -> None:
        """It reads all of a message before it does anything, so that sending cannot wait for receiving."""
        number = self._pipe(self._process.stdin)
        for piece in pieces:
            view = memoryview(piece)
            while view:
                _, ready, _ = select.select([], [number], [], max(until - time.monotonic(), 0))
                if not ready:
                    raise _Slow
                try:
                    view = view[os.write(number, view) :]
                except BlockingIOError:  # full again since it was asked
                    continue
                except OSError as error:
                    raise _Gone from error

    def _receive(self, size: int, until: float) -> bytes:
        number = self._pipe(self._process.stdout)
        while len(self._received) < size:
            ready, _, _ = select.select([number], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise _Slow
            count = os.readv(number, [self._room])  # with what follows: a process answers one question at a time
            if not count:
                raise _Gone
            self._received += memoryview(self._room)[:count]
        found = bytes(memoryview(self._received)[:size])
        del self._received[:size]
        return found


_idle: list[Process] = []
_lock = threading.Lock()


def read_in_process(name: str, path: str | None, data: bytes, limits: Limits, *, members: bool = False) -> list[FileText]:
    """Read a file in a process that is idle, or in a new one."""
    return _asked(limits.memory, lambda process: process.read(name, path, data, limits, members))


def find_in_process(pattern: re.Pattern[str], text: str, seconds: float) -> list[str] | None:
    """What a pattern finds, its first group or else all of it; None if it takes longer. In one's own process nothing could stop it."""
    return _asked(Limits().memory, lambda process: process.find(pattern, text, seconds))


def _asked(memory: int, ask: Callable[[Process], Answer]) -> Answer:
    process = _taken(memory)
    try:
        found = ask(process)
    except BaseException:  # Ctrl-C in the middle of a message: the next one would get its answer
        process.stop()
        raise
    if process.alive:
        with _lock:
            _idle.append(process)
    else:
        process.stop()
    return found


def _taken(memory: int) -> Process:
    with _lock:
        fit = [process for process in _idle if process.memory == memory and process.alive]
        others = [process for process in _idle if process not in fit]
        _idle[:] = fit[1:]
    for process in others:
        process.stop()
    return fit[0] if fit else Process(memory)


def stop_idle() -> None:
    """Let go of the processes that wait for files."""
    with _lock:
        stopped, _idle[:] = list(_idle), []
    for process in stopped:
        process.stop()


atexit.register(stop_idle)
