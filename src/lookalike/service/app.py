"""The ASGI application: who asks, may they, which handler, what came out of it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from lookalike.errors import LookalikeError, StoreError
from lookalike.secrecy import hide
from lookalike.service.at_once import AnswersAtOnce
from lookalike.service.exchange import Answer, BadRequest, Call, Gone, Receive, Send, TooLarge, called, send_answer
from lookalike.service.lanes import Lanes
from lookalike.service.limits import Buckets, Busy, ServiceLimits
from lookalike.service.metrics import Metrics
from lookalike.service.operations import Admit, Done, Operation, Put, Remove, WriteFailed, code_of
from lookalike.service.protocol import CORK
from lookalike.service.routes import COLLECTION, Route, table
from lookalike.service.shapes import Problem
from lookalike.service.shelf import Shelf, outdated
from lookalike.service.static_files import static_answer
from lookalike.service.tokens import EVERYTHING, Tokens
from lookalike.version import __version__

_log = logging.getLogger("lookalike.service")
_audit = logging.getLogger("lookalike.audit")
OTHER = "other"  # static files and unknown paths, in the metrics


@dataclass(frozen=True, slots=True)
class ServiceSetup:
    """What one process of a service is told."""

    location: str
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    token_file: Path | None = None
    fetch: bool = False
    read_only: bool = False
    local: bool = True  # the store is on this machine, and answers in a fraction of a millisecond
    metrics_file: Path | None = None
    processes: int = 1
    own: int = 0
    hosts: tuple[str, ...] = ()  # names by which it may be asked; () where tokens guard it
    trust: tuple[str, ...] = ()
    audit_log: Path | None = None  # standard error otherwise


class Writer(Protocol):
    async def write(self, operation: Operation) -> Done: ...
    async def alive(self) -> bool: ...
    async def close(self) -> None: ...


class Service:
    """The application. ``writer`` is None where nothing may be written."""

    def __init__(self, settings: ServiceSetup, writer: Writer | None) -> None:
        self.settings, self.writer = settings, writer
        self.routes = table()
        self.metrics = Metrics(settings.metrics_file, settings.processes, settings.own, [*(route.name for route in self.routes), OTHER])
        self.shelf = Shelf(settings.location, settings.trust)
        self.lanes = Lanes(settings.limits, self.metrics, settings.local)
        self.tokens = Tokens.read(settings.token_file) if settings.token_file else None
        self._buckets = Buckets(settings.limits.rate, settings.limits.burst)
        self._exact = {(route.method, route.path): route for route in self.routes if "{" not in route.path}
        self._patterns = [
            (re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(route.path))), route)
            for route in self.routes
            if "{" in route.path
        ]
        self._writing = 0
        # Who asks too often is told so; who that is may be said by a proxy, which only the long way reads.
        self.at_once = AnswersAtOnce(self) if settings.local and not settings.limits.rate else None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def close(self) -> None:
        if self.writer is not None:
            await self.writer.close()
        await asyncio.to_thread(self.lanes.close)
        self.shelf.close()

    async def _http(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        client = scope["client"][0] if scope.get("client") else ""
        call = called(scope["method"], scope["path"], scope["query_string"], scope["headers"], self.settings.limits, client, receive)
        call.cork = scope.get("extensions", {}).get(CORK)
        route = None
        self.metrics.gauge("requests_running", 1)
        status = 500
        try:
            try:
                route = self._route(call, scope.get("raw_path") or b"")
                answer = await self._answer(call, route)
            except Gone:
                status = 499
                return
            except Exception as error:
                answer = self._refusal(call, error)
                if isinstance(error, TooLarge):
                    await call.drain()
            status = answer.status
            await send_answer(call, answer, send)
        except Gone:
            status = 499
        except Exception as error:
            # An answer that had begun cannot become another: it ends without its end, which the client notices.
            answer = self._refusal(call, error)
            status = answer.status
            if not call.started:
                await send_answer(call, answer, send)
            elif answer.kind == "application/json" and isinstance(answer.body, bytes):
                await send({"type": "http.response.body", "body": answer.body + b"\n"})
        finally:
            self.metrics.gauge("requests_running", -1)
            self.metrics.count(route.name if route else OTHER, status, time.perf_counter() - began)

    async def _answer(self, call: Call, route: Route | None) -> Answer:
        self.check(call, route)
        if route is None:
            return static_answer(call)
        self._buckets.take(call.grant.name if self.tokens else call.client)
        try:
            return await route.handler(self, call)
        except StoreError as error:
            if not outdated(error):
                raise
            self.shelf.forget(call.collection)
            return await route.handler(self, call)

    def _route(self, call: Call, raw: bytes) -> Route | None:
        method = "GET" if call.method == "HEAD" else call.method
        found = self._exact.get((method, call.path))
        if found is not None:
            return found
        path = raw.partition(b"?")[0].decode("latin-1") or call.path  # an id may have a slash in it, as %2F
        allowed = {each for each, known in self._exact if known == call.path}
        for pattern, route in self._patterns:
            fits = pattern.fullmatch(path)
            if fits and route.method == method:
                call.params = {name: unquote(value, errors="replace") for name, value in fits.groupdict().items()}
                return route
            allowed |= {route.method} if fits else set()
        if allowed:
            raise BadRequest(405, f"{call.method} {call.path[:80]} is not answered", f"use {' or '.join(sorted(allowed))}")
        return None

    def check(self, call: Call, route: Route | None) -> None:
        """Whether this may be asked here; an error otherwise."""
        self._check_host(call)
        if route is not None:
            self.allow(call, call.collection if COLLECTION in route.parameters else None, route.write, public=route.open)

    def allow(self, call: Call, collection: str | None, write: bool = False, public: bool = False) -> None:
        """Whether whoever asks may do that; an error otherwise."""
        if self.tokens is None:
            call.grant = EVERYTHING
        else:
            grant = self.tokens.grant(call.headers.get("authorization", ""))
            if grant is None:
                if public:
                    return
                raise BadRequest(401, "a token is needed", "send the header Authorization: Bearer TOKEN")
            call.grant = grant
        if write and (self.writer is None or not call.grant.write):
            why = "this token may only read" if self.writer is not None else "this service only reads"
            raise BadRequest(403, why, "ask whoever runs it for a token that may write")
        if collection is not None and not call.grant.covers(collection):
            raise BadRequest(403, "this token is not for that collection", "name one that it is for: ?collection=NAME")

    def _check_host(self, call: Call) -> None:
        """Without a token a page from elsewhere must not reach the service through its reader's browser."""
        if self.settings.hosts:
            host = call.headers.get("host", "").rsplit(":", 1)[0].strip("[]").lower()
            if host not in self.settings.hosts:
                raise BadRequest(403, f"this service is not called {host[:80]!r}", "ask it by the address that it was started with")
        origin = call.headers.get("origin")
        if origin and call.method != "GET" and origin.partition("://")[2].lower() != call.headers.get("host", "").lower():
            raise BadRequest(403, "a page from another site asked", "this service does not answer other sites")

    async def write(self, call: Call, operation: Operation) -> Done:
        """Have it written; one line in the log says who wrote what."""
        size = len(operation.documents) if isinstance(operation, Put | Admit) else 1
        if self._writing + size > self.settings.limits.writes and self._writing:
            raise Busy(503, f"{self._writing} documents wait to be written", "send them more slowly, or many per request", 1)
        assert self.writer is not None  # noqa: S101 (``allow`` has refused it)
        self._writing += size
        self.metrics.set("writes_waiting", self._writing)
        outcome = "failed"
        try:
            done = await self.writer.write(operation)
            outcome = "done"
            return done
        finally:
            self._writing -= size
            self.metrics.set("writes_waiting", self._writing)
            ids = (
                [each[0] for each in operation.documents]
                if isinstance(operation, Put | Admit)
                else operation.ids
                if isinstance(operation, Remove)
                else []
            )
            said = {
                "request": call.id,
                "who": call.grant.name,
                "client": call.client,
                "does": type(operation).__name__.lower(),
                "collection": operation.collection,
                "documents": len(ids),
                "first": ids[0] if ids else None,
                "outcome": outcome,
            }
            _audit.info("%s", json.dumps(said, ensure_ascii=False))

    def _refusal(self, call: Call, error: Exception) -> Answer:
        headers = {}
        if isinstance(error, LookalikeError):
            status, code, message, hint = error.http_status, code_of(error), str(error), ""
            if status == 503:
                headers["retry-after"] = "1"
        elif isinstance(error, WriteFailed):
            status, code, message, hint = error.failed.status, error.failed.code, error.failed.message, error.failed.hint
            if status == 503:
                headers["retry-after"] = "1"
        elif isinstance(error, TooLarge):
            status, code, message, hint = 413, "too-large", str(error), "send less, or start the service with a larger limit"
            headers["connection"] = "close"
        elif isinstance(error, Busy):
            status, code, message, hint = error.status, "busy" if error.status == 503 else "too-many-requests", str(error), error.hint
            headers["retry-after"] = str(error.after)
        elif isinstance(error, BadRequest):
            status, code, message, hint = (
                error.status,
                {401: "unauthorized", 403: "forbidden", 404: "not-found", 405: "method"}.get(error.status, "request"),
                str(error),
                error.hint,
            )
            if status == 401:
                headers["www-authenticate"] = "Bearer"
        elif isinstance(error, RecursionError):
            status, code, message, hint = 422, "input-error", "the request is nested too deeply", "send flatter data"
        elif isinstance(error, MemoryError):
            status, code, message, hint = 503, "busy", "not enough memory for this", "ask for less"
            headers["retry-after"] = "5"
        else:
            _log.exception("request %s failed", call.id)
            status, code, message, hint = (
                500,
                "internal",
                f"an error of the service ({type(error).__name__})",
                f"report it with the request id {call.id}",
            )
        # Where the store lies is nobody's business who asks over HTTP.
        message = message.replace(self.settings.location, "here")
        answer = Answer.json(Problem(code, hide(message), hint, call.id), status)
        answer.headers |= headers
        return answer

    def facts(self, call: Call) -> dict[str, Any]:
        """What a page needs to know of the service."""
        limits = self.settings.limits
        return {
            "version": __version__,
            "writes": self.writer is not None and call.grant.write,
            "fetches": self.settings.fetch,
            "limits": {"body": limits.body, "text": limits.text, "line": limits.line},
        }
