"""Filters on meta, as requests write them, and documents that pass them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lookalike.errors import InputError

if TYPE_CHECKING:
    from lookalike.index.index import Index
    from lookalike.model import Document


def parsed_where(where: Any) -> Any:
    """An object, or in a query string its JSON, or ``site=a.com,day>=2026-10-16`` as on the command line."""
    if not isinstance(where, str):
        return where
    if where.lstrip().startswith("{"):
        try:
            return json.loads(where)
        except ValueError as error:
            raise InputError(f"where={where[:80]!r}: this is not JSON: {error}") from None
    return where


def documents_after(index: Index, after: str | int | None, where: Any) -> Iterator[Document]:
    """The documents that pass, oldest first, behind one of them."""
    return index.documents(after=after, where=where)
