"""Requests that are answered while they are read, because there is nothing to wait for: cheap searches of a store on this machine.

Only what goes well is answered here. Whatever is refused, wrong, or may take long goes the usual way, which finds the same and says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lookalike.service.exchange import called, whole_answer

if TYPE_CHECKING:
    from lookalike.service.app import Service


class AnswersAtOnce:
    def __init__(self, service: Service) -> None:
        self._service, self._metrics, self._limits = service, service.metrics, service.settings.limits
        self._routes = {route.path.encode(): route for route in service.routes if route.at_once is not None}
        self._methods = {path: route.method.encode() for path, route in self._routes.items()}

    def may_answer(self, method: bytes, url: bytes) -> bool:
        return self._methods.get(url.partition(b"?")[0]) == method

    def answer(self, url: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes, client: str) -> bytes | None:
        """The whole answer, with its head; None where the request is to be answered as others are."""
        began = time.perf_counter()
        path, _, query = url.partition(b"?")
        route = self._routes[path]
        if route.at_once is None:
            return None
        try:
            call = called(route.method, route.path, query, headers, self._limits, client)
            self._service.check(call, route)
            found = route.at_once(self._service, call, body)
            answer = None if found is None else whole_answer(call, found)
        except Exception:
            return None  # the usual way meets the same error, and answers it
        if answer is not None:
            self._metrics.count(route.name, 200, time.perf_counter() - began)
        return answer
