"""uvicorn's HTTP with an end to headers: a client that sends them for ever is cut off. Small answers go out in one piece."""

from __future__ import annotations

import asyncio
from typing import Any

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


class BoundedProtocol(HttpToolsProtocol):
    _heads = 0  # bytes since the last request began
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Corked(transport))  # type: ignore[arg-type]  # it is one in all but its class
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def data_received(self, data: bytes) -> None:
        if self._waiting is not None:
            self._heads += len(data)
            if self._heads > MOST_HEADERS and not data.count(b"\r\n\r\n"):
                self.transport.write(_REFUSED)
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_begin(self) -> None:
        self._heads = 0
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEADER_SECONDS, self._too_slow)
        super().on_message_begin()
        self.scope["extensions"] = {CORK: self.transport}  # type: ignore[dict-item]  # an extension of our own

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
