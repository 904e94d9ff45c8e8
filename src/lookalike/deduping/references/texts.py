"""Reference texts: the documents of a store, or of files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lookalike.corpus.documents import documents
from lookalike.corpus.files import STORE_FILE, expand
from lookalike.errors import InputError, StoreError
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


def is_path(location: object) -> bool:
    """Whether something is on this machine, and not behind a URL."""
    return isinstance(location, Path) or (isinstance(location, str) and "://" not in location)


def references(location: Location, text_column: str, id_column: str) -> Iterator[Reference]:
    """All of them that have a text. Ids that come again are told apart by their files."""
    found = _of_files(location, text_column, id_column) if is_files(location) else _of_store(location)
    return told_apart((document.id, name, document.text) for name, document in found if document.text is not None)


def told_apart(found: Iterable[tuple[str | int, str, str]]) -> Iterator[Reference]:
    """Ids, files and texts → references. An id that came before gets the name of its file in front."""
    seen: set[str | int] = set()
    for id_, name, text in found:
        yield Reference(f"{name}:{id_}" if id_ in seen else id_, name, text)
        seen.add(id_)


def _of_files(location: Location, text_column: str, id_column: str) -> Iterator[tuple[str, Document]]:
    for source in expand(location):
        if source.path is None:
            raise InputError("against='-': references are read from files, folders and stores")
        for document in documents(source.path, text_column=text_column, id_column=id_column):
            yield source.name, document


def _of_store(location: Location) -> Iterator[tuple[str, Document]]:
    if not isinstance(location, str | Path):
        raise InputError(f"against={location!r}: give one store, or files")
    if is_path(location) and not os.path.exists(location):
        raise StoreError(f"against={str(location)!r}: there is no such store, file or folder: check the path")
    with open_index(location, read_only=True, create=False) as index:
        if not index.settings["keep_text"]:
            raise InputError(f"against={index._store.name!r}: the store keeps no texts: give the files of the references")
        for document in index.documents():
            yield index._store.name, document
