"""One request and its answer, over ASGI: bodies with limits, packed bodies, answers in one piece or in many."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from lookalike.errors import InputError
from lookalike.service.limits import Busy, ServiceLimits
from lookalike.service.tokens import EVERYTHING, Grant

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Shape = TypeVar("Shape")
LEAST_PACKED = 1024  # bytes of an answer that is worth packing
MOST_DRAINED = 256 << 20  # bytes of a body that nobody wants
DRAIN_SECONDS = 5.0
_PIECE = 1 << 16
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class TooLarge(Exception):
    """More than a limit allows; the connection is closed after the answer."""


class Gone(Exception):
    """The client went away."""


async def _nothing() -> MutableMapping[str, Any]:
    """Of a call whose body has come as a whole, there is no more to receive."""
    raise Gone


@dataclass(slots=True)
class Call:
    """A request: what was asked, and by whom."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    limits: ServiceLimits
    id: str
    client: str = ""
    receive: Receive = _nothing
    grant: Grant = EVERYTHING
    params: dict[str, str] = field(default_factory=dict)
    cork: Any = None  # of protocol.Corked, where the connection has one
    started: bool = False  # whether the answer has begun
    _body: bytes | None = None  # what was read, for a handler that is asked again

    @property
    def collection(self) -> str:
        return self.query.get("collection", "default")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, unpacked; a client that stops sending is given up after a while."""
        unpack = _unpacker(self.headers.get("content-encoding", ""))
        while True:
            try:
                # Not wait_for: it makes a task, which costs more than the rest of a small request.
                async with asyncio.timeout(self.limits.seconds):
                    message = await self.receive()
            except TimeoutError:
                raise Busy(408, "the body did not come in time", "send it faster, or in smaller requests") from None
            if message["type"] == "http.disconnect":
                raise Gone
            for piece in unpack(message.get("body", b"")):
                yield piece
            if not message.get("more_body", False):
                return

    async def body(self, most: int | None = None) -> bytes:
        if self._body is not None:
            return self._body
        most = most or self.limits.body
        if int(self.headers.get("content-length") or 0) > most:
            raise TooLarge(f"the body has {self.headers['content-length']} bytes, and {most} are allowed")
        found = bytearray()
        async for piece in self.pieces():
            found += piece
            if len(found) > most:
                raise TooLarge(f"the body is larger than {most} bytes")
        self._body = bytes(found)
        return self._body

    async def drain(self) -> None:
        """Take what a client still sends, for a while: it could not read an answer before it has sent everything."""
        left = MOST_DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while left > 0:
                    message = await self.receive()
                    left -= len(message.get("body", b""))
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return

    async def read(self, shape: type[Shape]) -> Shape:
        """The body as JSON of a shape."""
        self._check_kind()
        return self._parsed(await self.body(), shape)

    def read_at_once(self, body: bytes, shape: type[Shape]) -> Shape | None:
        """The same of a body that has come as a whole; None where it is packed, or not as long as it should be."""
        if "content-encoding" in self.headers or len(body) > self.limits.body:
            return None
        self._check_kind()
        return self._parsed(body, shape)

    def _check_kind(self) -> None:
        kind = self.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if kind not in ("application/json", "text/json", ""):
            # A form or a text/plain body can be sent by any web page without asking.
            raise BadRequest(415, f"the body is {kind}", "send JSON with Content-Type: application/json")

    def _parsed(self, data: bytes, shape: type[Shape]) -> Shape:
        try:
            if shape not in _decoders:
                _decoders[shape] = msgspec.json.Decoder(shape)
            found: Shape = _decoders[shape].decode(data)
            return found
        except msgspec.ValidationError as error:
            raise InputError(f"the request does not fit: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(400, f"the body is not JSON: {error}", "send one JSON object, in UTF-8") from None

    async def lines(self) -> AsyncIterator[list[bytes]]:
        """The lines of an NDJSON body, as many as have come."""
        rest = bytearray()
        async for piece in self.pieces():
            if b"\n" not in piece:
                rest += piece
            else:
                *whole, last = (bytes(rest) + piece).split(b"\n")
                rest = bytearray(last)
                yield whole
            if len(rest) > self.limits.line:
                raise TooLarge(f"a line is longer than {self.limits.line} bytes")
        if rest:
            yield [bytes(rest)]

    def number(self, name: str, default: float | None = None) -> float | None:
        """A number of the query string."""
        try:
            return float(self.query[name]) if name in self.query else default
        except ValueError:
            raise InputError(f"{name}={self.query[name][:40]!r}: give a number") from None


_decoders: dict[type, msgspec.json.Decoder[Any]] = {}  # by shapes: to make one takes longer than to use it


class BadRequest(Exception):
    """A request that means nothing."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.status, self.hint = status, hint


@dataclass(slots=True)
class Answer:
    """What goes back. ``body`` in one piece, or in many as they are made."""

    body: bytes | AsyncIterator[bytes] = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, data: object, status: int = 200, **headers: str) -> Answer:
        return cls(msgspec.json.encode(data), status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def _sent(call: Call, answer: Answer) -> tuple[dict[str, str], bytes | AsyncIterator[bytes]]:
    """The headers and the body as they go out."""
    headers = {"content-type": answer.kind, "x-request-id": call.id, "x-content-type-options": "nosniff"} | answer.headers
    body = answer.body
    if isinstance(body, bytes):
        if len(body) >= LEAST_PACKED and "content-encoding" not in headers:
            way, body = _packed(call.headers.get("accept-encoding", ""), body)
            if way:
                headers |= {"content-encoding": way, "vary": "accept-encoding"}
        headers["content-length"] = str(len(body))
    return headers, body


def whole_answer(call: Call, answer: Answer) -> bytes | None:
    """An answer to a request that went well, as one piece of HTTP; None where it is made in pieces."""
    headers, body = _sent(call, answer)
    if answer.status != 200 or not isinstance(body, bytes):
        return None
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    return f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode("latin-1") + body


async def send_answer(call: Call, answer: Answer, send: Send) -> None:
    headers, body = _sent(call, answer)
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    call.started = True
    if call.cork is not None and isinstance(body, bytes) and body and call.method != "HEAD":
        call.cork.corked = True
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    if isinstance(body, bytes):
        await send({"type": "http.response.body", "body": b"" if call.method == "HEAD" else body})
        return
    async for piece in body:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def called(
    method: str,
    path: str,
    query: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    limits: ServiceLimits,
    client: str,
    receive: Receive = _nothing,
) -> Call:
    """A call, from what a server gives of a request."""
    known = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    given = known.get("x-request-id", "")
    own = given if given and _REQUEST_ID.fullmatch(given) else token_hex(8)
    return Call(method, path, query_of(query), known, limits, own, client, receive)


def query_of(raw: bytes) -> dict[str, str]:
    return dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="replace")) if raw else {}


def _packed(accepted: str, body: bytes) -> tuple[str, bytes]:
    if "zstd" in accepted:
        import zstandard

        return "zstd", zstandard.ZstdCompressor(level=1).compress(body)
    if "gzip" in accepted:
        packing = zlib.compressobj(1, zlib.DEFLATED, 31)
        return "gzip", packing.compress(body) + packing.flush()
    return "", body


def _unpacker(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    """From pieces as they are sent to pieces of bounded size, so that a limit is noticed before the memory is used."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return lambda data: (data,) if data else ()
    if encoding == "gzip":
        gzip = zlib.decompressobj(31)

        def unzip(data: bytes) -> Iterable[bytes]:
            try:
                while data:
                    yield gzip.decompress(data, _PIECE)
                    data = gzip.unconsumed_tail
            except zlib.error as error:
                raise BadRequest(400, f"the body is not gzip: {error}", "send it unpacked, or packed as Content-Encoding says") from None

        return unzip
    if encoding == "zstd":
        import zstandard

        zstd = zstandard.ZstdDecompressor(max_window_size=1 << 23).decompressobj()

        def unpack(data: bytes) -> Iterable[bytes]:
            try:
                for first in range(0, len(data), 512):  # a frame may grow a thousandfold
                    yield zstd.decompress(data[first : first + 512])
            except zstandard.ZstdError as error:
                raise BadRequest(
                    400, f"the body is not Zstandard: {error}", "send it unpacked, or packed as Content-Encoding says"
                ) from None

        return unpack
    raise BadRequest(415, f"Content-Encoding: {encoding[:40]}", "pack the body with gzip or zstd, or not at all")
