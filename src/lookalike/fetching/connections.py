"""One request: resolve, check, connect to what was checked, and read within a deadline."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple

from lookalike.errors import FetchError
from lookalike.fetching.addresses import why_not_public
from lookalike.fetching.urls import Url
from lookalike.version import __version__

_HEADERS = {
    "User-Agent": f"lookalike/{__version__}",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
}


class Endpoint(NamedTuple):
    """Where a name leads: the family of an address, and the address as sockets take it."""

    family: int
    address: tuple[Any, ...]


class Network:
    """The network of this machine: names to addresses, and connections to these. Tests have another one."""

    def resolve(self, host: str, port: int) -> list[Endpoint]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [Endpoint(family, address) for family, _, _, _, address in found if family in (socket.AF_INET, socket.AF_INET6)]

    def connect(self, endpoint: Endpoint, timeout: float) -> socket.socket:
        connection = socket.socket(endpoint.family, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout)
            connection.connect(endpoint.address)
        except BaseException:
            connection.close()
            raise
        return connection


class Deadline:
    """A moment that all steps of a fetch share: a server that sends a byte a second does not get more time by it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        found = self._end - time.monotonic()
        if found <= 0:
            raise TimeoutError
        return found


class ServerAnswer(NamedTuple):
    """The head of an answer; the body is read from ``response``."""

    status: int
    reason: str
    response: HTTPResponse


class GetRequest:
    """A GET request. Use it in a ``with`` statement: leaving closes the connection."""

    def __init__(self, url: Url, network: Network, deadline: Deadline, allow_private: bool) -> None:
        self._url, self._network, self._deadline, self._allow_private = url, network, deadline, allow_private
        self._stream: socket.socket | None = None

    def __enter__(self) -> ServerAnswer:
        url = self._url
        try:
            self._stream = self._secured(self._connected())
            connection = HTTPConnection(url.host, url.port)
            connection.sock = _TimedSocket(self._stream, self._deadline)
            connection.request("GET", url.target, headers={"Host": url.authority, **_HEADERS})
            response = connection.getresponse()
        except (OSError, HTTPException) as error:
            self.__exit__()
            raise failed(url, error, self._deadline) from error
        return ServerAnswer(response.status, response.reason, response)

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def _connected(self) -> socket.socket:
        """A connection to an address that was checked: the name is not resolved again, so its answer cannot change in between."""
        url = self._url
        problem: OSError | None = None
        for endpoint in self._checked(self._resolved()):
            try:
                return self._network.connect(endpoint, self._deadline.left())
            except OSError as error:
                problem = error
        raise problem or FetchError(f"{url}: the name {url.host!r} has no address: check the URL")

    def _resolved(self) -> list[Endpoint]:
        """The addresses of the host. The resolver of the system has no limit of time, so it works in a thread that can be left alone."""
        found: list[list[Endpoint]] = []
        problem: list[Exception] = []

        def resolve() -> None:
            try:
                found.append(self._network.resolve(self._url.host, self._url.port))
            except (OSError, UnicodeError) as error:
                problem.append(error)

        thread = threading.Thread(target=resolve, daemon=True)
        thread.start()
        thread.join(self._deadline.left())
        if problem:
            raise FetchError(f"{self._url}: the name {self._url.host!r} cannot be resolved ({problem[0]}): check the URL") from problem[0]
        if not found:
            raise TimeoutError
        return found[0]

    def _checked(self, endpoints: list[Endpoint]) -> list[Endpoint]:
        """All of them, if all are public. A name that also leads to a private address is not fetched at all."""
        for endpoint in endpoints if not self._allow_private else ():
            if reason := why_not_public(str(endpoint.address[0])):
                raise FetchError(
                    f"{self._url}: {self._url.host!r} leads to {endpoint.address[0]}, which is {reason}: "
                    "only public addresses are fetched, unless allow_private=True (--allow-private)"
                )
        return endpoints

    def _secured(self, plain: socket.socket) -> socket.socket:
        if self._url.scheme == "http":
            return plain
        try:
            plain.settimeout(self._deadline.left())
            # The name of the host, not the address, is what the server is told (SNI) and what its certificate must have.
            return ssl.create_default_context().wrap_socket(plain, server_hostname=self._url.host)
        except BaseException:
            plain.close()
            raise


class _TimedSocket:
    """What ``http.client`` needs of a socket, with a limit on the whole and not on each step. The request closes the real one."""

    def __init__(self, stream: socket.socket, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def sendall(self, data: bytes) -> None:
        self._stream.settimeout(self._deadline.left())
        self._stream.sendall(data)

    def makefile(self, *_: object) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._stream, self._deadline))

    def close(self) -> None:
        """Nothing: ``http.client`` closes its socket before the body is read."""


class _TimedReader(io.RawIOBase):
    def __init__(self, stream: socket.socket, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        self._stream.settimeout(self._deadline.left())
        return self._stream.recv_into(target)


def failed(url: Url, error: Exception, deadline: Deadline) -> FetchError:
    if isinstance(error, TimeoutError):
        return FetchError(f"{url}: not done within {deadline.seconds:g} seconds: try again, or allow more time")
    if isinstance(error, ssl.SSLCertVerificationError):
        return FetchError(f"{url}: the server's certificate is not valid: {error.verify_message}")
    if isinstance(error, HTTPException):
        return FetchError(f"{url}: the server did not answer with HTTP ({type(error).__name__}: {str(error)[:100]})")
    return FetchError(f"{url}: the connection failed: {getattr(error, 'strerror', None) or error}")
