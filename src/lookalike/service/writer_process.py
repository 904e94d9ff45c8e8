"""The process that writes, and how the others reach it: operations over a socket of the file system, answered when they are on the disk."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import cast

import msgspec

from lookalike.service.operations import Done, Failed, Operation, WriteFailed, failure
from lookalike.service.writing import GroupWriter

_SIZE = 4  # bytes in front of a message that say how long it is
_MOST = 1 << 30
_log = logging.getLogger("lookalike.service")
_encoder = msgspec.msgpack.Encoder()
_asked = msgspec.msgpack.Decoder(tuple[int, Operation])
_answered = msgspec.msgpack.Decoder(tuple[int, Done | None, Failed | None])


async def _read(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(_SIZE), "little")
    if size > _MOST:
        raise ConnectionError(f"a message of {size} bytes")
    return await reader.readexactly(size)


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
        while len(self._data) >= _SIZE:
            end = _SIZE + int.from_bytes(self._data[:_SIZE], "little")
            if len(self._data) < end <= _SIZE + _MOST:
                return
            try:
                number, done, failed = _answered.decode(bytes(self._data[_SIZE:end]))
            except msgspec.DecodeError:
                self._transport.abort()  # nothing that follows can be told apart
                return
            del self._data[:end]
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


async def serve(path: Path, writer: GroupWriter) -> None:
    """Answer on the socket until the process is told to stop; what was taken is written before that."""
    path.unlink(missing_ok=True)
    busy: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        async def answer(number: int, operation: Operation) -> None:
            try:
                message = _framed((number, await asyncio.wrap_future(writer.submit(operation)), None))
            except Exception as error:
                message = _framed((number, None, failure(error)))
            out.write(message)

        try:
            while True:
                task = asyncio.create_task(answer(*_asked.decode(await _read(reader))))
                busy.add(task)
                task.add_done_callback(busy.discard)
        except (OSError, EOFError):
            pass
        except msgspec.DecodeError:
            _log.exception("an operation that cannot be read")
            out.close()

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = await asyncio.start_unix_server(one, str(path), backlog=256)
    path.chmod(0o600)
    await stop.wait()
    server.close()
    while busy:
        await asyncio.wait(busy)
    path.unlink(missing_ok=True)


def main() -> None:
    """The settings come as one line over standard input, since a location may have a password in it."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    location, path = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[str, str])
    os.umask(0o077)
    threading.Thread(target=end_with_parent, daemon=True).start()
    writer = GroupWriter(location)
    try:
        asyncio.run(serve(Path(path), writer))
    finally:
        writer.close()


def end_with_parent() -> None:
    """A parent that was killed leaves no process behind: then standard input ends."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
