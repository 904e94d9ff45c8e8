"""Filters on meta, as requests write them."""

from __future__ import annotations

import json
from typing import Any

from lookalike.errors import InputError


def parsed_where(where: Any) -> Any:
    """An object, or in a query string its JSON, or ``site=a.com,day>=2026-10-16`` as on the command line."""
    if not isinstance(where, str):
        return where
    if where.lstrip().startswith("{"):
        try:
            return json.loads(where)
        except ValueError as error:
            raise InputError(f"where={where[:80]!r}: this is not JSON: {error}") from None
    from lookalike.index.where import parse_where

    return parse_where(where)
