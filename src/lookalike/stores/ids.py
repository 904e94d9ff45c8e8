"""Ids of documents: what a store can keep as one."""

from __future__ import annotations

from collections.abc import Iterable

from lookalike.errors import InputError
from lookalike.model import ID_NUMBERS, MAX_ID_BYTES

Id = str | int


def check_id(id_: object) -> None:
    if type(id_) is str and id_.isascii() and 0 < len(id_) <= MAX_ID_BYTES and "\0" not in id_:
        return  # nearly all of them
    if isinstance(id_, bool) or not isinstance(id_, (str, int)):
        raise InputError(f"id {id_!r:.60} is a {type(id_).__name__}: expected str or int")
    if isinstance(id_, int):
        if id_ not in ID_NUMBERS:
            raise InputError(f"id {id_}: an integer id must fit into 64 bits: give it as str")
        return
    if id_ == "" or "\0" in id_:
        raise InputError(f"id {id_!r:.60}: an id must not be empty, and must not contain NUL")
    try:
        size = len(id_.encode())
    except UnicodeEncodeError:
        raise InputError(f"id {id_!r:.60} has a lone surrogate: it cannot be stored") from None
    if size > MAX_ID_BYTES:
        raise InputError(f"id {id_[:40]!r}… has {size} bytes, at most {MAX_ID_BYTES} can be stored; shorten or hash it")


def listed_ids(ids: object) -> list[Id]:
    """One id, or many in any form, checked."""
    given = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(given, (str, int)):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"ids={ids!r:.60} is a {type(ids).__name__}: give an id, which is a str or an int, or a list of ids")
    listed: list[Id] = list(given)
    for id_ in listed:
        check_id(id_)
    return listed
