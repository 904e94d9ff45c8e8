"""uvicorn's HTTP with an end to headers: a client that sends them for ever is cut off. Small answers go out in one piece.

A request that has come as a whole may be answered at once, while it is read: then there is neither a task nor a message of ASGI, which
together cost several times as much as a near search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

CORK = "lookalike.cork"  # the extension of ASGI under which an application finds it
MOST_HEADERS = 64 << 10  # bytes, with the path
HEADER_SECONDS = 20.0
_REFUSED = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Corked:
    """A transport that can hold the head of an answer until its body comes, so that both go out in one piece."""

    def __init__(self, transport: Any) -> None:
        self._transport, self._head = transport, b""
        self.corked = False

    def write(self, data: bytes) -> None:
        if self.corked:
            self.corked, self._head = False, data
        elif self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._transport.write(data)

    def close(self) -> None:
        if self._head:
            self.write(b"")
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class AtOnce(Protocol):
    """What an application that answers at once has under this name."""

    def may_answer(self, method: bytes, url: bytes) -> bool: ...

    def answer(self, url: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes, client: str) -> bytes | None:
        """The whole answer, with its head; None where the request is to be answered as others are."""


class BoundedProtocol(HttpToolsProtocol):
    _heads = 0  # bytes since the last request began
    _in_head = True
    _waiting: asyncio.TimerHandle | None = None  # for the rest of a head
    _whole: list[bytes] | None = None  # the body of a request that may be answered at once, as far as it has come

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._at_once: AtOnce | None = getattr(self.config.app, "at_once", None)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Corked(transport))  # type: ignore[arg-type]  # it is one in all but its class
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        if self._waiting is not None:
            self._heads += len(data)
            if self._heads > MOST_HEADERS and not data.count(b"\r\n\r\n"):
                self.transport.write(_REFUSED)
                self.transport.close()
                return
        super().data_received(data)
        if self._whole is None and not self._in_head:
            return
        if self.transport.is_closing():
            self._whole = None
        elif self._whole is not None:
            self._answer_as_others(complete=False)  # the rest is still to come
        elif self._waiting is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        self._heads, self._in_head = 0, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._waiting is not None:
            self._stop_waiting()
        if self._may_be_at_once():
            self._whole = []
        else:
            self._begin()

    def _begin(self) -> None:
        self.scope["extensions"] = {CORK: self.transport}  # type: ignore[dict-item]  # an extension of our own
        super().on_headers_complete()

    def _may_be_at_once(self) -> bool:
        """Whether nothing has to be waited for before it: neither an answer to somebody else nor the client."""
        parser, cycle = self.parser, self.cycle
        return (
            self._at_once is not None
            and self._at_once.may_answer(parser.get_method(), self.url)
            and (cycle is None or cycle.response_complete)
            and not (self.expect_100_continue or self.flow.write_paused or parser.should_upgrade())
            and parser.should_keep_alive()
            and parser.get_http_version() == "1.1"
            and (self.limit_concurrency is None or len(self.connections) < self.limit_concurrency)
            and not self.transport.is_closing()
        )

    def on_body(self, body: bytes) -> None:
        if self._whole is None:
            super().on_body(body)
        else:
            self._whole.append(body)

    def on_message_complete(self) -> None:
        if self._whole is None:
            super().on_message_complete()
        else:
            self._answer_at_once(self._whole)

    def _answer_at_once(self, whole: list[bytes]) -> None:
        assert self._at_once is not None  # noqa: S101 (there would be no body)
        answer = self._at_once.answer(self.url, self.headers, b"".join(whole), self.client[0] if self.client else "")
        if answer is None:
            self._answer_as_others(complete=True)
            return
        self._whole = None
        self.transport.write(answer)
        self.on_response_complete()

    def _answer_as_others(self, *, complete: bool) -> None:
        whole, self._whole = self._whole or [], None
        self._begin()
        for piece in whole:
            super().on_body(piece)
        if complete:
            super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
