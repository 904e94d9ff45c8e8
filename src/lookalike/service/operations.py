"""What a service writes: operations as plain values, since they also travel to the process that writes."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lookalike.errors import LookalikeError

Id = str | int


class Put(Struct, tag=True):
    """Documents to add or replace."""

    collection: str
    documents: list[tuple[Id, str, dict[str, Any]]]


class Remove(Struct, tag=True):
    collection: str
    ids: list[Id]


class Admit(Struct, tag=True):
    """Add what is new, and name what keeps the rest out."""

    collection: str
    documents: list[tuple[Id, str, dict[str, Any]]]
    options: dict[str, Any]


class Create(Struct, tag=True):
    collection: str
    options: dict[str, Any]


class Drop(Struct, tag=True):
    """A collection with all its documents and aliases, or an alias."""

    collection: str


class Alias(Struct, tag=True):
    """Let a name lead to a collection, from now on."""

    collection: str  # the name
    leads_to: str


class Compact(Struct, tag=True):
    collection: str


Operation = Put | Remove | Admit | Create | Drop | Alias | Compact


class Done(Struct):
    """The answer to an operation, after it is on the disk. ``version`` counts what this service wrote."""

    version: int
    result: Any


class Failed(Struct):
    status: int
    code: str
    message: str
    hint: str = ""


class WriteFailed(Exception):
    """An operation that was not done."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed


def failure(error: BaseException) -> Failed:
    if isinstance(error, WriteFailed):
        return error.failed
    if isinstance(error, LookalikeError):
        return Failed(error.http_status, code_of(error), str(error))
    return Failed(500, "internal", f"{type(error).__name__}: {error}")


def code_of(error: LookalikeError) -> str:
    """``NotFound`` is ``not-found``: names of errors are part of the interface."""
    name = type(error).__name__
    return "".join(f"-{letter.lower()}" if letter.isupper() and place else letter.lower() for place, letter in enumerate(name))
