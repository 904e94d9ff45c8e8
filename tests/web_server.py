"""A small web server for tests, on a port of this machine: each path has a function that writes to the raw connection."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from lookalike.fetching.connections import Endpoint, Network

Handler = Callable[[socket.socket], None]
PUBLIC = "93.184.216.34"


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: bool = True) -> Handler:
    """A handler that sends one answer and closes."""
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else [])]

    def send(connection: socket.socket) -> None:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return send


def redirect(location: str, status: str = "302 Found") -> Handler:
    return answer(b"", f"Location: {location}", status=status)


class WebServer:
    """Serves ``pages``; keeps the requests it got, and the names that clients asked for by SNI."""

    def __init__(self, pages: dict[str, Handler], certificate: str | None = None) -> None:
        self.pages = pages
        self.requests: list[str] = []
        self.names: list[str | None] = []
        self._stopping = threading.Event()
        self._context: ssl.SSLContext | None = None
        if certificate:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
            self._context.sni_callback = self._named

    def _named(self, _socket: Any, name: str | None, _context: Any) -> None:
        self.names.append(name)

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopping.set()
        self._listener.close()

    def url(self, path: str = "/") -> str:
        return f"{'https' if self._context else 'http'}://127.0.0.1:{self.port}{path}"

    def wait(self, seconds: float) -> bool:
        """Sleeps in a handler; true once the test is over."""
        return self._stopping.wait(seconds)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with self._context.wrap_socket(connection, server_side=True) if self._context else connection as stream:
                request = b""
                while b"\r\n\r\n" not in request and (data := stream.recv(65536)):
                    request += data
                text = request.decode("latin-1")
                self.requests.append(text)
                path = text.split(" ")[1]
                self.pages.get(path, answer(b"", status="404 Not Found"))(stream)
        except OSError:
            pass  # the client has gone, as it may


class Elsewhere(Network):
    """Names as the test has them. Public addresses are those of its server, so that nothing leaves this machine."""

    def __init__(self, names: dict[str, list[list[str]]], port: int) -> None:
        self._names, self._port = names, port
        self.resolved: list[str] = []
        self.connected: list[str] = []

    def resolve(self, host: str, port: int) -> list[Endpoint]:
        self.resolved.append(host)
        answers = self._names[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]  # the last answer stays
        return [Endpoint(socket.AF_INET6 if ":" in address else socket.AF_INET, (address, port)) for address in addresses]

    def connect(self, endpoint: Endpoint, timeout: float) -> socket.socket:
        self.connected.append(endpoint.address[0])
        return super().connect(Endpoint(socket.AF_INET, ("127.0.0.1", self._port)), timeout)
