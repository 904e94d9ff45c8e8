"""The process that writes, and those that ask it: over a socket, whatever comes in whatever pieces."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

import lookalike as la
from lookalike.service.operations import Drop, Put, WriteFailed
from lookalike.service.writer_process import RemoteWriter, _framed, serve
from lookalike.service.writing import GroupWriter


@pytest.fixture
def short_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("w") / "writer"  # a path of a socket has 107 bytes at most


@contextmanager
def serving(path: Path, store: Path) -> Iterator[None]:
    la.open(store).close()
    stop, told = socket.socketpair()
    writer = GroupWriter(str(store))
    thread = threading.Thread(target=serve, args=(path, writer, stop))
    thread.start()
    try:
        with closing(connected(path)):
            yield
    finally:
        told.send(b"x")
        thread.join()
        writer.close()
        stop.close()
        told.close()


def connected(path: Path) -> socket.socket:
    while True:  # until it listens
        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(str(path))
        except OSError:
            found.close()
        else:
            found.settimeout(60)
            return found


def answers(connection: socket.socket, count: int) -> list[tuple[int, object, object]]:
    data, found = b"", []
    while len(found) < count:
        data += connection.recv(1 << 16)
        while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "little"):
            end = 4 + int.from_bytes(data[:4], "little")
            found.append(msgspec.json.decode(data[4:end]))
            data = data[end:]
    return [(number, done, failed) for number, done, failed in found]


def put(number: int) -> Put:
    return Put("default", [(f"d{number}", f"document {number} about a river", {"n": number})])


def test_operations_come_in_pieces_and_many_at_once(short_path: Path, tmp_path: Path) -> None:
    with serving(short_path, tmp_path / "store"), closing(connected(short_path)) as one, closing(connected(short_path)) as other:
        for byte in _framed((7, put(1))):
            one.sendall(bytes([byte]))
        ((number, done, failed),) = answers(one, 1)
        assert (number, done["result"], failed) == (7, ["added"], None)  # type: ignore[index]
        other.sendall(b"".join(_framed((n, put(n))) for n in range(30)) + _framed((30, Drop("nowhere"))))
        found = {number: (done, failed) for number, done, failed in answers(other, 31)}
        assert sorted(found) == list(range(31))
        assert [found[n][0]["result"] for n in range(30)] == [["updated"] if n == 1 else ["added"] for n in range(30)]  # type: ignore[index]
        assert found[30][1]["status"] == 404  # type: ignore[index]
        with la.open(tmp_path / "store", read_only=True) as index:  # what was answered is there
            assert len(index) == 30


@pytest.mark.parametrize("nonsense", [b"\x05\0\0\0hello", b"\xff\xff\xff\xff", _framed("no operation")])
def test_what_cannot_be_read_ends_its_own_connection(short_path: Path, tmp_path: Path, nonsense: bytes) -> None:
    with serving(short_path, tmp_path / "store"), closing(connected(short_path)) as one, closing(connected(short_path)) as other:
        other.sendall(_framed((1, put(1)))[:5])
        one.sendall(nonsense)
        assert one.recv(1) == b""
        other.sendall(_framed((1, put(1)))[5:])
        assert answers(other, 1)[0][0] == 1


def test_a_client_that_is_gone_keeps_nobody_from_writing(short_path: Path, tmp_path: Path) -> None:
    with serving(short_path, tmp_path / "store"), closing(connected(short_path)) as other:
        for first in range(0, 60, 20):
            with closing(connected(short_path)) as gone:
                gone.sendall(b"".join(_framed((n, put(n))) for n in range(first, first + 20)))
        other.sendall(_framed((1, put(100))))
        assert answers(other, 1)[0][0] == 1


def test_what_was_taken_is_written_and_answered_before_the_end(short_path: Path, tmp_path: Path) -> None:
    async def ask() -> list[object]:
        writer = RemoteWriter(short_path)
        asked = [asyncio.create_task(writer.write(put(n))) for n in range(50)]
        done = [(await each).result for each in asked]
        await writer.close()
        return done

    with serving(short_path, tmp_path / "store"):
        assert asyncio.run(ask()) == [["added"]] * 50
    with la.open(tmp_path / "store", read_only=True) as index:
        assert len(index) == 50
    with pytest.raises(WriteFailed, match="starting again"):
        asyncio.run(RemoteWriter(short_path).write(put(1)))
