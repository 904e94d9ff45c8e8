"""Files as things that can be compared: each is read as what it is, and the two are made to fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookalike.checks import check_choice
from lookalike.corpus.contents import Contents, contents
from lookalike.errors import InputError
from lookalike.files.model import FileText, Place
from lookalike.fingerprints.every import parse_record
from lookalike.io import NotText
from lookalike.markup.page import Page

Thing = str | Path | Page | Mapping[str, Any]
Places = tuple[tuple[Place, ...], tuple[Place, ...]]
KINDS = ("text", "page", "file", "record", "code")
AS_BYTES = "compare bytes with kind='file'"


def read_pair(left: Any, right: Any, kind: str | None, encoding: str | None) -> tuple[Any, Any, list[str], Places]:
    """Both things, read if they are files, what a reader should know about that, and the pages of each."""
    if kind is not None:
        check_choice("kind", kind, KINDS)
    if not isinstance(left, Path) and not isinstance(right, Path):
        if kind is not None or encoding is not None:
            raise InputError("kind and encoding say how files are read: give two Path, or leave them out")
        if not (isinstance(left, Page | str | FileText) and isinstance(right, Page | str | FileText)):
            return left, right, [], ((), ())
    elif isinstance(left, Mapping) or isinstance(right, Mapping):
        kind = kind or "record"
    if kind == "record":
        return _record(left, encoding), _record(right, encoding), [], ((), ())
    if kind == "code":
        return _code(left, encoding), _code(right, encoding), [], ((), ())
    contents_ = _read(left, kind, encoding), _read(right, kind, encoding)
    return *fitted(*contents_), (contents_[0].places, contents_[1].places)


def _read(thing: Any, kind: str | None, encoding: str | None) -> Contents:
    if isinstance(thing, FileText):
        if not thing.text.strip():
            raise InputError(
                f"{thing.name!r} has no text to compare ({thing.kind}, {thing.status}): compare its bytes, as a Path with kind='file'"
            )
        return Contents(thing.name, thing.text, read=thing)
    if not isinstance(thing, Path):
        return Contents(thing.name if isinstance(thing, Page) else "the text", thing)
    try:
        return contents(thing, kind, encoding)
    except NotText as error:
        raise error.instead(AS_BYTES) from error


def _record(thing: Any, encoding: str | None) -> Any:
    return parse_record(contents(thing, "text", encoding).text(), str(thing)) if isinstance(thing, Path) else thing


def _code(thing: Any, encoding: str | None) -> Any:
    from lookalike.text.code import Code, language_of

    return Code(contents(thing, "text", encoding).text(), language_of(thing), name=str(thing)) if isinstance(thing, Path) else thing


def fitted(left: Contents, right: Contents, as_bytes: str = AS_BYTES) -> tuple[Thing, Thing, list[str]]:
    """Two things of one kind. A web page beside a text is compared by its main text; bytes can be compared with bytes alone."""
    notes = [*left.notes, *right.notes]
    kinds = {left.kind, right.kind}
    if kinds == {"page"}:
        return left.thing, right.thing, []  # the comparison of pages has their notes
    if len(kinds) == 1:
        return left.thing, right.thing, notes
    if "file" in kinds:
        binary, other = (left, right) if left.kind == "file" else (right, left)
        raise InputError(f"{binary.said}, and {other.name!r} is a {other.kind}: give two texts, or {as_bytes}")
    shown = left.name if left.kind == "page" else right.name
    return left.text(), right.text(), [*notes, f"{shown}: a web page beside a text is compared by its main text"]
