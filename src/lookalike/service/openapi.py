"""/openapi.json, from the table of routes and the shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from lookalike.service import shapes
from lookalike.service.routes import Route
from lookalike.version import __version__

_REFUSALS = {
    "400": "the request cannot be read",
    "401": "a token is needed",
    "403": "the token does not allow it, or the service does not do it",
    "404": "there is no such document, collection or path",
    "405": "not with this method",
    "409": "fingerprints of another recipe",
    "413": "larger than a limit",
    "415": "not JSON, or packed in another way",
    "422": "the request does not fit; the message says what to give",
    "429": "too many requests; Retry-After says when to come back",
    "503": "busy, or starting; Retry-After says when to come back",
}


def description(routes: Sequence[Route]) -> dict[str, Any]:
    return _description(tuple(routes))


@cache
def _description(routes: tuple[Route, ...]) -> dict[str, Any]:
    types = [each for route in routes for each in (route.asks, route.answers) if each is not None]
    schemas, components = msgspec.json.schema_components([*types, shapes.Problem], ref_template="#/components/schemas/{name}")
    of = dict(zip(map(id, types), schemas, strict=False))
    problem = {"description": "", "content": {"application/json": {"schema": schemas[-1]}}}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, of, problem)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lookalike",
            "version": __version__,
            "description": "What looks like this, how alike two things are, and why. Spans count code points; errors have one shape.",
        },
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}, {}],
    }


def _operation(route: Route, of: dict[int, Any], problem: dict[str, Any]) -> dict[str, Any]:
    content = {route.gives: {"schema": of[id(route.answers)] if route.answers is not None else {"type": "string"}}}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    parameters += [
        {"name": each.name, "in": "query", "description": each.description, "schema": {"type": each.type}} for each in route.parameters
    ]
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{route.method.lower()}_{route.path.strip('/')}").strip("_"),
        "summary": route.summary,
        "parameters": parameters,
        "responses": {"200": {"description": route.summary, "content": content}}
        | ({"201": {"description": "made", "content": content}} if route.write else {})
        | ({"304": {"description": "it has not changed"}} if route.name == "GET /documents/{id}" else {})
        | ({"412": problem | {"description": "it has changed"}} if route.name == "PUT /documents/{id}" else {})
        | ({"502": problem | {"description": "the page could not be fetched"}} if route.path == "/fetch" else {})
        | ({"501": problem | {"description": "an optional package is not installed"}})
        | {status: problem | {"description": text} for status, text in _REFUSALS.items()},
    }
    if route.asks is not None:
        operation["requestBody"] = {"required": True, "content": {route.takes: {"schema": of[id(route.asks)]}}}
    elif route.takes != "application/json":
        operation["requestBody"] = {"required": True, "content": {route.takes: {"schema": {"type": "string", "format": "binary"}}}}
    if route.open:
        operation["security"] = []
    return operation
