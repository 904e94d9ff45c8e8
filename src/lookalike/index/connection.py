"""Requests to a service, and its errors as the same classes that a store raises."""

from __future__ import annotations

import http.client
import json
import os
import select
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from lookalike import errors
from lookalike.errors import InputError, LookalikeError, StoreError

TIMEOUT = 60.0  # seconds
# Requests whose answer says what they changed. Sent twice, they would find nothing to change, or name a document as its own match.
ONCE = frozenset({"/admit", "/documents", "/documents/remove", "/collections"})
DOUBT = (
    "nobody knows whether the last write was done. Do it again: what is there already is replaced, and admit() names the document itself "
    "as its match if it had been added"
)


class Connection:
    """Requests to one service, over a connection per thread that is kept open."""

    def __init__(self, address: str, collection: str | None) -> None:
        scheme, self._host, self._port = _service(address)
        self.address, self._collection = f"{scheme}://{urlsplit(address).netloc}", collection
        self._kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        token = os.environ.get("LOOKALIKE_TOKEN", "")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._local, self._open, self._closed = threading.local(), set[http.client.HTTPConnection](), False

    def ask(self, method: str, path: str, data: object = None, **query: object) -> Any:
        try:
            body = None if data is None else json.dumps(data).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"a service can only be asked with what JSON can say: {error}") from None
        answer = self.raw(method, path, body, "application/json", **query)
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self.foreign()
        return found

    def foreign(self) -> StoreError:
        return StoreError(f"{self.address} answers, but not as Lookalike does: is this the address of a service?")

    def raw(self, method: str, path: str, body: bytes | None, kind: str, **query: object) -> bytes:
        given = {name: value for name, value in {"collection": self._collection, **query}.items() if value is not None}
        status, found = self._send(method, f"{path}?{urlencode(given)}", body, {"Content-Type": kind, **self._headers})
        if status >= 400:
            raise _error(status, found)
        return found

    def _send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        self.require_open()
        once = method == "DELETE" or (method == "POST" and path.partition("?")[0] in ONCE)
        while True:
            kept = self._kept()
            connection = kept or self._new()
            try:
                connection.request(method, path, body, dict(headers))
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._drop(connection)
                if once:
                    raise StoreError(f"{self.address} was lost before it answered ({error}): {DOUBT}") from error
                if kept is None or isinstance(error, TimeoutError):
                    raise self._no_answer(error) from error
                # What was kept may have been closed at that moment: again, over a new one.

    def _kept(self) -> http.client.HTTPConnection | None:
        """The connection of this thread, unless the service has closed it."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None and _has_ended(connection):
            self._drop(connection)
            return None
        return connection

    def _new(self) -> http.client.HTTPConnection:
        connection = self._kind(self._host, self._port, timeout=TIMEOUT)
        try:
            connection.connect()
        except OSError as error:
            raise self._no_answer(error) from error
        self._local.connection = connection
        self._open.add(connection)
        return connection

    def _no_answer(self, error: Exception) -> StoreError:
        return StoreError(f"{self.address} does not answer ({error}): is 'lookalike serve' running there?")

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._open.discard(connection)
        self._local.connection = None

    def require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.address} is closed: open it again")

    def close(self) -> None:
        """The connections of all threads."""
        self._closed = True
        while self._open:
            self._open.pop().close()
        self._local = threading.local()


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether the service has closed it: then there is something to be read, although nothing was asked."""
    if connection.sock is None:
        return True
    waiting = select.poll()
    waiting.register(connection.sock, select.POLLIN)
    return bool(waiting.poll(0))


def _service(address: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. An address that is none is not shown: it may hold a password."""
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
        host.encode("idna")  # as it is done when a connection is made
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in ("http", "https") or not host or not host.isprintable() or " " in host or parts.username or parts.query:
        raise InputError("location: give the address of a service, such as http://127.0.0.1:8765; its token goes into LOOKALIKE_TOKEN")
    return scheme, host, port


def _error(status: int, answer: bytes) -> LookalikeError:
    """The error that the service raised, as the same class where it is one of ours."""
    try:
        problem = json.loads(answer)
        message = ": ".join(part for part in (problem["message"], problem["hint"]) if part)
        name = "".join(part.capitalize() for part in str(problem["code"]).split("-"))
    except (ValueError, KeyError, TypeError):
        return StoreError(f"the service answered {status}, and not as Lookalike does: is this its address?")
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, LookalikeError):
        return kind(message)
    if status in (429, 503):
        return errors.StoreBusy(message)
    return InputError(message) if status in (400, 413, 415, 422) else StoreError(message)
