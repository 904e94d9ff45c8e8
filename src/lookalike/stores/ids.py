"""Ids of documents: what a store can keep as one."""

from __future__ import annotations

from collections.abc import Iterable

from lookalike.checks import wrong_id
from lookalike.errors import InputError
from lookalike.figures import shown_value

Id = str | int


def check_id(id_: object) -> None:
    if wrong := wrong_id(id_):
        raise InputError(f"id {shown_value(id_)} {wrong}")


def listed_ids(ids: object) -> list[Id]:
    """One id, or many in any form, checked."""
    given = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(given, (str, int)):
        given = [given]
    if not isinstance(given, Iterable) or isinstance(given, (bytes, bytearray)):  # of bytes each would be a number
        raise InputError(f"ids={ids!r:.60} is a {type(ids).__name__}: give an id, which is a str or an int, or a list of ids")
    listed: list[Id] = list(given)
    for id_ in listed:
        check_id(id_)
    return listed
