"""The process that writes, and how the others reach it: operations over a socket of the file system, answered when they are on the disk."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import msgspec

from lookalike.service.operations import Done, Failed, Operation, WriteFailed, failure
from lookalike.service.writing import GroupWriter

_SIZE = 4  # bytes in front of a message that say how long it is
_MOST = 1 << 30
_PIECE = 1 << 20
ANSWER_SECONDS = 5.0  # that a process may take to make room for an answer
_log = logging.getLogger("lookalike.service")
# JSON, as clients write it: whatever they may say of a document can be handed on. MessagePack ends at numbers of 64 bits.
_encoder = msgspec.json.Encoder()
_asked = msgspec.json.Decoder(tuple[int, Operation])
_answered = msgspec.json.Decoder(tuple[int, Done | None, Failed | None])


def _messages(data: bytearray) -> Iterator[bytes]:
    """Those that have come as a whole; they are taken out of the data."""
    while len(data) >= _SIZE:
        end = _SIZE + int.from_bytes(data[:_SIZE], "little")
        if end > _SIZE + _MOST:
            raise ConnectionError(f"a message of {end - _SIZE} bytes")
        if len(data) < end:
            return
        message = bytes(data[_SIZE:end])
        del data[:end]
        yield message


def _framed(message: object) -> bytes:
    data = _encoder.encode(message)
    return len(data).to_bytes(_SIZE, "little") + data


class RemoteWriter:
    """Hands operations to the process that writes. Where that is gone, an operation fails at once, and the next one tries again."""

    def __init__(self, path: Path) -> None:
        self._path, self._numbers = path, itertools.count()
        self._answers: _Answers | None = None
        self._lock = asyncio.Lock()

    async def write(self, operation: Operation) -> Done:
        answers = await self._connected()
        done: Done = await answers.ask(next(self._numbers), operation)
        return done

    async def _connected(self) -> _Answers:
        async with self._lock:
            if self._answers is None or self._answers.is_lost:
                try:
                    _, self._answers = await asyncio.get_running_loop().create_unix_connection(_Answers, str(self._path))
                except OSError:
                    raise WriteFailed(
                        Failed(503, "store-busy", "the process that writes is starting again", "come back in a second")
                    ) from None
            return self._answers

    async def alive(self) -> bool:
        try:
            return not (await self._connected()).is_lost
        except WriteFailed:
            return False

    async def close(self) -> None:
        if self._answers is not None:
            self._answers.close()


class _Answers(asyncio.Protocol):
    """A connection to the process that writes. No stream: where a loop is full of searches, each of its turns takes as long as all of them,
    and a stream would take two for an answer."""

    is_lost = False
    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[Done]] = {}
        self._data = bytearray()

    def ask(self, number: int, operation: Operation) -> asyncio.Future[Done]:
        future: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._transport.write(_framed((number, operation)))  # what waits is bounded by the limit of writes
        if self.is_lost:
            self._fail()
        return future

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # of uvloop, which has classes of its own

    def data_received(self, data: bytes) -> None:
        self._data += data
        try:
            for message in _messages(self._data):
                self._answered(*_answered.decode(message))
        except (ConnectionError, msgspec.DecodeError):
            self._transport.abort()  # nothing that follows can be told apart

    def _answered(self, number: int, done: Done | None, failed: Failed | None) -> None:
        future = self._waiting.pop(number, None)
        if future is not None and not future.done():
            if done is not None:
                future.set_result(done)
            else:
                future.set_exception(WriteFailed(failed or Failed(500, "internal", "no answer")))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        self._fail()

    def _fail(self) -> None:
        lost = Failed(
            503, "store-busy", "the process that writes ended; whether this was stored is not known", "send it again: it is stored once"
        )
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(WriteFailed(lost))

    def close(self) -> None:
        self._transport.close()


class LocalWriter:
    """The same within this process, where there is only one, or where a database takes many writers."""

    def __init__(self, writer: GroupWriter) -> None:
        self._writer = writer

    async def write(self, operation: Operation) -> Done:
        return await asyncio.wrap_future(self._writer.submit(operation))

    async def alive(self) -> bool:
        return True

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)


class _Asking:
    """The connection of a process that has operations to be written. What is done is answered by the thread that did it: where all cores
    are busy, to wake another one takes longer than to write."""

    def __init__(self, connection: socket.socket, writer: GroupWriter) -> None:
        connection.settimeout(ANSWER_SECONDS)
        self._connection, self._writer = connection, writer
        self._data = bytearray()
        self._answering = threading.Lock()  # what fails at once is answered by the thread that submitted it

    def fileno(self) -> int:
        return self._connection.fileno()

    def receive(self) -> bool:
        """Submit what has come; False where there will be no more."""
        try:
            piece = self._connection.recv(_PIECE)
        except OSError:
            return False
        self._data += piece
        try:
            for message in _messages(self._data):
                number, operation = _asked.decode(message)
                self._writer.submit(operation).add_done_callback(partial(self._answer, number))
        except (ConnectionError, msgspec.DecodeError):
            _log.exception("an operation that cannot be read")
            return False
        return bool(piece)

    def _answer(self, number: int, future: Future[Done]) -> None:
        error = future.exception()
        message = (number, future.result(), None) if error is None else (number, None, failure(error))
        try:
            with self._answering:
                self._connection.sendall(_framed(message))
        except OSError:  # it is gone, or takes no answers
            self.end()

    def end(self) -> None:
        # It is closed when nobody has it any more: its number must not be another file's while somebody answers here.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


def serve(path: Path, writer: GroupWriter, stop: socket.socket) -> None:
    """Submit what comes over the socket at ``path``, until something comes over ``stop``."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as ready:
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen(256)
        ready.register(listening, selectors.EVENT_READ)
        ready.register(stop, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is stop:
                    path.unlink(missing_ok=True)
                    return
                if key.fileobj is listening:
                    ready.register(_Asking(listening.accept()[0], writer), selectors.EVENT_READ)
                elif isinstance(key.fileobj, _Asking) and not key.fileobj.receive():
                    ready.unregister(key.fileobj)
                    key.fileobj.end()


def main() -> None:
    """The settings come as one line over standard input, since a location may have a password in it."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    location, path = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[str, str])
    os.umask(0o077)
    threading.Thread(target=end_with_parent, daemon=True).start()
    # What was imported stays: a collection that goes through all of it takes longer than to write.
    gc.collect()
    gc.freeze()
    stop, told = socket.socketpair()
    told.setblocking(False)
    signal.set_wakeup_fd(told.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # it comes over the socket
    writer = GroupWriter(location)
    try:
        serve(Path(path), writer, stop)
    finally:
        writer.close()  # what was taken is written and answered before that


def end_with_parent() -> None:
    """A parent that was killed leaves no process behind: then standard input ends."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
