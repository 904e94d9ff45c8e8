"""Searches that are answered while they are read: the same answers, in the same order, as those that take the usual way."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import lookalike as la
from lookalike.service.app import Service, ServiceSetup
from lookalike.service.limits import ServiceLimits
from lookalike.service.protocol import BoundedProtocol

TEXT = "a document about a river and its bridges, and about those who built them in the year 1907"
SEARCH = {"text": TEXT}


class Wire(asyncio.Transport):
    """A connection whose other end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 7) if name in ("peername", "sockname") else default


@dataclass
class Connected:
    service: Service
    protocol: BoundedProtocol
    wire: Wire = field(default_factory=Wire)

    def at_once(self, *pieces: bytes) -> bytes:
        """What was answered before anything else could run."""
        self.wire.sent = b""
        for piece in pieces:
            self.protocol.data_received(piece)
        return self.wire.sent

    async def later(self, *pieces: bytes, answers: int = 1) -> bytes:
        """What was answered in the end."""
        self.at_once(*pieces)
        while self.wire.sent.count(b"HTTP/1.1 ") < answers or self.protocol.tasks:
            await asyncio.sleep(0.001)
        return self.wire.sent


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("at-once") / "store"
    with la.open(folder) as index:
        index.add([(f"d{i}", f"{TEXT} and number {i}", {"n": i}) for i in range(40)])
    return folder


def connected(store: Path, **settings: Any) -> Connected:
    service = Service(ServiceSetup(str(store), read_only=True, **settings), None)
    config = uvicorn.Config(service, http=BoundedProtocol, loop="none", log_config=None, lifespan="off", ws="none", date_header=False)
    config.load()
    server = uvicorn.Server(config)
    found = Connected(service, BoundedProtocol(config=config, server_state=server.server_state, app_state={}))
    found.protocol.connection_made(found.wire)
    return found


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def asked(data: Any, *headers: str, path: str = "/search", version: str = "1.1") -> bytes:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    lines = [f"POST {path} HTTP/{version}", "Host: 127.0.0.1", "X-Request-Id: mine", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode() + body


def body_of(answer: bytes) -> Any:
    return json.loads(answer.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize(
    "data",
    [
        SEARCH,
        SEARCH | {"limit": 2},
        SEARCH | {"limit": 2, "offset": 3, "passages": False},
        SEARCH | {"by": "simhash", "k": 10},
        SEARCH | {"where": {"n": {"<": 5}}},
        SEARCH | {"with_text": True, "limit": 1},
        SEARCH | {"as": "page"},
        {"text": "nothing is like this"},
        {"simhash": "0xa7f48284b51a46bd", "k": 8},
    ],
)
@pytest.mark.parametrize("headers", [(), ("Accept-Encoding: gzip",), ("Accept-Encoding: zstd",)])
def test_the_answer_is_the_usual_one(store: Path, loop: asyncio.Runner, data: dict[str, Any], headers: tuple[str, ...]) -> None:
    async def check() -> None:
        one = connected(store)
        request = asked(data, *headers)
        quick = one.at_once(request)
        assert quick.startswith(b"HTTP/1.1 200 OK\r\n")
        assert not one.protocol.tasks
        assert quick == await one.later(request[:-1], request[-1:])
        assert not one.wire.closed

    loop.run(check())


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (asked(b"{"), 400),
        (asked(b"\xff"), 400),
        (asked({}), 422),
        (asked({"text": 1}), 422),
        (asked(SEARCH | {"by": "nonsense"}), 422),
        (asked({"simhash": "zz"}), 422),
        (asked(SEARCH | {"where": "(("}), 422),
        (asked(SEARCH).replace(b"application/json", b"text/plain"), 415),
        (asked(gzip.compress(json.dumps(SEARCH).encode()), "Content-Encoding: gzip"), 200),
        (asked(SEARCH, path="/search?collection=nowhere"), 404),
        (asked(SEARCH, path="/searching"), 404),
        (asked(SEARCH | {"by": "passages"}), 200),
        (asked(SEARCH | {"compare": True}), 200),
        (asked(SEARCH | {"threshold": 0}), 200),
        (asked({"text": TEXT * 300}), 200),
        (asked(SEARCH, "Origin: http://elsewhere.example"), 403),
        (asked(SEARCH, "Connection: close"), 200),
        (asked(SEARCH, "Expect: 100-continue"), 100),
    ],
)
def test_what_is_wrong_or_takes_long_goes_the_usual_way(store: Path, loop: asyncio.Runner, request_: bytes, status: int) -> None:
    async def check() -> None:
        one = connected(store)
        assert one.at_once(request_) == b""
        while not one.wire.sent or one.protocol.tasks:
            await asyncio.sleep(0.001)
        assert one.wire.sent.startswith(b"HTTP/1.1 %d " % status), one.wire.sent
        assert one.wire.closed == (b"Connection: close" in request_)
        if not one.wire.closed:  # and the next one is answered
            assert body_of(one.at_once(asked(SEARCH)))["total"] == 40

    loop.run(check())


def test_a_request_of_http_1_0_ends_its_connection(store: Path, loop: asyncio.Runner) -> None:
    async def check() -> None:
        one = connected(store)
        assert body_of(await one.later(asked(SEARCH, version="1.0")))["total"] == 40
        assert one.wire.closed

    loop.run(check())


def test_answers_keep_the_order_of_requests_that_come_together(store: Path, loop: asyncio.Runner) -> None:
    async def check() -> None:
        one = connected(store)
        stats = b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        first, second, third = asked(SEARCH | {"limit": 1}), asked(SEARCH | {"limit": 2}), asked({"text": "nothing"})
        sent = await one.later(first + second + stats + third, answers=4)
        bodies = [each.partition(b"\r\n\r\n")[2] for each in sent.split(b"HTTP/1.1 200 OK")[1:]]
        found = [json.loads(each) for each in bodies]
        assert [len(each["matches"]) if "matches" in each else each["documents"] for each in found] == [1, 2, 40, 0]

    loop.run(check())


def test_nothing_is_answered_at_once_that_a_client_does_not_read(store: Path, loop: asyncio.Runner) -> None:
    async def check() -> None:
        one = connected(store)
        one.protocol.pause_writing()
        assert one.at_once(asked(SEARCH)) == b""
        await asyncio.sleep(0.01)
        assert one.wire.sent == b""
        one.protocol.resume_writing()
        while not one.wire.sent:
            await asyncio.sleep(0.001)
        assert one.wire.sent.startswith(b"HTTP/1.1 200")

    loop.run(check())


def test_a_request_that_is_broken_in_its_body(store: Path, loop: asyncio.Runner) -> None:
    async def check() -> None:
        one = connected(store)
        broken = asked(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"5\r\n{}\r\nnonsense\r\n"
        assert one.at_once(broken).startswith(b"HTTP/1.1 400")
        assert one.wire.closed
        assert not one.protocol.tasks

    loop.run(check())


def test_rights_and_rates_count(store: Path, loop: asyncio.Runner, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("sixteen-letters-1 read * reader\nsixteen-letters-2 read other\n")

    async def check() -> None:
        one = connected(store, token_file=tmp_path / "tokens")
        assert body_of(one.at_once(asked(SEARCH, "Authorization: Bearer sixteen-letters-1")))["total"] == 40
        for token, status in (("sixteen-letters-2", 403), ("sixteen-letters-3", 401)):
            assert (await one.later(asked(SEARCH, f"Authorization: Bearer {token}"))).startswith(b"HTTP/1.1 %d " % status)
        named = connected(store, hosts=("localhost",))
        assert (await named.later(asked(SEARCH))).startswith(b"HTTP/1.1 403 ")
        limited = connected(store, limits=ServiceLimits(rate=0.001, burst=2))
        answers = [await limited.later(asked(SEARCH)) for _ in range(3)]
        assert [answer[9:12] for answer in answers] == [b"200", b"200", b"429"]

    loop.run(check())


def test_they_are_counted_and_see_what_was_written(tmp_path: Path, loop: asyncio.Runner) -> None:
    async def check() -> None:
        with la.open(tmp_path / "own") as index:
            index.add("first", TEXT)
            one = connected(tmp_path / "own")
            assert body_of(one.at_once(asked(SEARCH)))["total"] == 1
            index.add("second", TEXT)
            assert body_of(one.at_once(asked(SEARCH)))["total"] == 2
            index.remove("first")
            assert [each["id"] for each in body_of(one.at_once(asked(SEARCH)))["matches"]] == ["second"]
        counters = one.service.metrics.text({})
        assert 'lookalike_requests_total{route="POST /search",status="2xx"} 3' in counters
        assert 'lookalike_request_seconds_count{route="POST /search"} 3' in counters

    loop.run(check())
