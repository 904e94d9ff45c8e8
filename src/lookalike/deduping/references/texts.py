"""Reference texts: the documents of a store, or of files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lookalike.corpus.documents import documents
from lookalike.corpus.files import STORE_FILE, expand
from lookalike.errors import InputError
from lookalike.index.opening import open as open_index
from lookalike.model import Document

Location = str | Path | Sequence[str | Path]


class Reference(NamedTuple):
    id: str | int
    file: str  # or the name of the store
    text: str


def is_files(location: Location) -> bool:
    """Whether references are files, and not a store: a list, a file, a folder without a store in it, or a pattern."""
    if not isinstance(location, str | Path):
        return True
    if isinstance(location, str) and "://" in location:
        return False
    if os.path.isdir(location):
        return not os.path.exists(os.path.join(location, STORE_FILE)) and bool(os.listdir(location))
    return os.path.exists(location) or any(sign in str(location) for sign in "*?[")


def references(location: Location, text_column: str, id_column: str) -> Iterator[Reference]:
    """All of them that have a text. Ids that come again are told apart by their files."""
    seen: set[str | int] = set()
    found = _of_files(location, text_column, id_column) if is_files(location) else _of_store(location)
    for name, document in found:
        if document.text is None:
            continue
        id_ = f"{name}:{document.id}" if document.id in seen else document.id
        seen.add(document.id)
        yield Reference(id_, name, document.text)


def _of_files(location: Location, text_column: str, id_column: str) -> Iterator[tuple[str, Document]]:
    for source in expand(location):
        if source.path is None:
            raise InputError("against='-': references are read from files, folders and stores")
        for document in documents(source.path, text_column=text_column, id_column=id_column):
            yield source.name, document


def _of_store(location: Location) -> Iterator[tuple[str, Document]]:
    if not isinstance(location, str | Path):
        raise InputError(f"against={location!r}: give one store, or files")
    with open_index(location, read_only=True, create=False) as index:
        if not index.settings["keep_text"]:
            raise InputError(f"against={index._store.name!r}: the store keeps no texts: give the files of the references")
        for document in index.documents():
            yield index._store.name, document
