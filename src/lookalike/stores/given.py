"""Documents as they were given, in columns: what fingerprints are made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.corpus.contents import contents
from lookalike.corpus.file_documents import file_meta
from lookalike.corpus.values import DEEPEST, is_too_deep
from lookalike.errors import InputError
from lookalike.files.kinds import HEAD, binary_kind, kind_of
from lookalike.files.model import BINARY, FileText
from lookalike.files.reading import read_data
from lookalike.fingerprints.canonical import canonical_data
from lookalike.fingerprints.record import RecordPrint
from lookalike.io import open_file
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page
from lookalike.model import MAX_ID_BYTES, Document
from lookalike.stores.base import Additions
from lookalike.stores.ids import Id, check_id
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.kinds.base import Kind

_written = json.JSONEncoder(allow_nan=False).encode


class Given:
    """Documents of one batch. ``kinds`` are asked what they keep of web pages, as soon as one is given."""

    def __init__(self, kinds: Sequence[Kind] = ()) -> None:
        self.ids: list[Id] = []
        self.texts: list[str] = []
        self.metas: list[str | None] = []  # JSON
        self.raw: dict[int, Path | bytes] = {}  # the bytes behind a document, by place
        self.without_text: Given | None = None  # files that have none: they are stored for the digests of their bytes
        self.records: dict[int, dict[str, Any]] = {}  # canonical data, by place
        self._keeps_records = any(kind.of_records for kind in kinds)
        self.of_pages: dict[str, dict[int, Any]] = {kind.name: {} for kind in kinds if kind.of_pages}  # by kind and place
        self._page_kinds = [kind for kind in kinds if kind.of_pages]
        self._made: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def fill(self, sources: list[Iterator[object]], most: int, characters: int, of_path: Callable[[Path], Iterator[object]]) -> bool:
        """Take documents until there are so many, or until they have so many characters; whether there were no more.

        They come from the last source. One that is a path becomes a source in front of the others.
        """
        while sources and most > 0 and characters > 0:
            plain, length, other = _native.take_documents(sources[-1], self.ids, self.texts, most, characters, MAX_ID_BYTES)
            self.metas += [None] * plain
            most, characters = most - plain, characters - length
            if other is None:
                return False
            if not other:
                sources.pop()
            elif isinstance(other[0], Path):
                sources.append(of_path(other[0]))
            else:
                self.append(other[0])
                most, characters = most - 1, characters - (len(self.texts[-1]) if self.texts else 0)
        return not sources

    def append(self, item: object) -> None:
        """Take a Document, (id, text), (id, text, meta), or a mapping with these names. A text may also be a page, a record or a file."""
        raw: Path | bytes | None = None
        page = None
        record: Any = None
        meta: Any = None
        if isinstance(item, tuple) and len(item) == 2:
            id_, text = item
        elif isinstance(item, tuple) and len(item) == 3:
            id_, text, meta = item
        elif isinstance(item, Document):
            id_, text, meta, page, record = item.id, item.text, item.meta, item.page, item.record
            raw = item.path if item.path is not None else item.data
        elif isinstance(item, Mapping):
            if "id" not in item or ("text" not in item and "record" not in item):
                raise InputError(f"a document needs 'id' and 'text'; this one has {', '.join(map(repr, item)) or 'nothing'}")
            id_, text, meta, record = item["id"], item.get("text"), item.get("meta"), item.get("record")
        else:
            raise InputError(f"cannot add a {type(item).__name__}: give (id, text), (id, text, meta), a mapping or a Document")
        check_id(id_)
        if isinstance(text, Page):
            page, text = text, page_text(text)
        elif isinstance(text, (Path, bytes)):
            raw, (text, page, about) = text, read_thing(text)
            meta = {**about, **({} if meta is None else _mapping(id_, meta))}
        elif isinstance(text, (Mapping, RecordPrint)):
            record, text = text, None
        if record is not None:
            record = self._data_of(id_, record)
            text = record_text(record) if text is None else text
        if text is None and raw is not None:
            if self.without_text is None:
                self.without_text = Given()
            self.without_text._keep(id_, "", meta, raw, None)
            return
        if not isinstance(text, str):
            raise InputError(f"document {id_!r}: its text is a {type(text).__name__}, expected str")
        if record is not None:
            self.records[len(self.ids)] = record
        self._keep(id_, text, meta, raw, page)

    def _keep(self, id_: Id, text: str, meta: Any, raw: Path | bytes | None, page: Page | None) -> None:
        self.ids.append(id_)
        self.texts.append(text)
        self.metas.append(None if meta is None else stored_meta(id_, meta))
        if raw is not None:
            self.raw[len(self.ids) - 1] = raw
        if page is not None:
            for kind in self._page_kinds:
                self.of_pages[kind.name][len(self.ids) - 1] = kind.of_page(page)

    def _data_of(self, id_: Id, record: object) -> dict[str, Any]:
        if not self._keeps_records:
            raise InputError(
                f"document {id_!r} is a record, and this collection keeps none: make another one with 'record' among its kinds"
            )
        try:
            return record.data if isinstance(record, RecordPrint) else canonical_data(record)
        except InputError as error:
            raise InputError(f"document {id_!r}: {error}") from error

    def things(self) -> list[str | Path | bytes]:
        """The bytes of each: of its file where there is one, otherwise of the text's UTF-8."""
        return [self.raw.get(place, text) for place, text in enumerate(self.texts)] if self.raw else list(self.texts)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What several kinds need of these documents, made by the first."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


def record_text(data: Any) -> str:
    """What can be read in a record: its strings, one per line, in the order of their keys. Searches for texts find a record by it."""
    if isinstance(data, str):
        return data
    inner = [data[key] for key in sorted(data)] if isinstance(data, dict) else data if isinstance(data, list) else []
    return "\n".join(filter(None, map(record_text, inner)))


def read_thing(thing: Path | bytes) -> tuple[str | None, Page | None, dict[str, Any]]:
    """A file, or its bytes, as a document: the text, if there is one, the page, if it is one, and what is kept beside it."""
    if isinstance(thing, Path):
        found = contents(thing)
        page = found.thing if isinstance(found.thing, Page) else None
        if found.kind != "file":
            return found.text(), page, file_meta(found.read, thing) if found.read else {}
        with open_file(thing) as file:
            head = file.read(HEAD)
        kind = kind_of(head, thing.name)
        read = FileText(str(thing), binary_kind(head) if kind == "text" else kind, BINARY)
        return None, None, file_meta(read, thing)
    read = read_data(thing, "bytes")
    return read.text if read.text.strip() else None, None, file_meta(replace(read, data=thing), Path())


def _mapping(id_: Id, meta: object) -> Mapping[str, Any]:
    if not isinstance(meta, Mapping):
        raise InputError(f"document {id_!r}: its meta is a {type(meta).__name__}, expected a mapping")
    return meta


def stored_meta(id_: Id, meta: object) -> str | None:
    meta = _mapping(id_, meta)
    if not meta:
        return None
    try:
        written = _written(dict(meta))
    except (TypeError, ValueError, RecursionError) as error:
        remedy = "give texts, numbers, lists and mappings, and None instead of NaN or infinity"
        raise InputError(f"document {id_!r}: its meta cannot be written as JSON ({error}): {remedy}") from error
    if written.count("[") + written.count("{") > DEEPEST and is_too_deep(meta):
        raise InputError(f"document {id_!r}: its meta has more than {DEEPEST} lists and objects within each other: make it flatter")
    return written


def fingerprinted(given: Given, settings: Settings, kinds: Sequence[Kind], workers: int) -> Additions:
    """A batch for a store, with the columns of these kinds, each made in one call."""
    batch = Additions(given.ids, given.texts, given.metas)
    for kind in kinds:
        batch.columns |= kind.made(given, settings, workers)
    if not settings.keep_text:
        batch.texts = [None] * len(given)
    return batch


def of_bytes(given: Given, settings: Settings, workers: int) -> Additions:
    """A batch of files without text: there are the digests of their bytes, and nothing else."""
    batch = fingerprinted(given, settings, [kind for kind in settings.stored if kind.of_bytes], workers)
    batch.texts = [None] * len(given)
    return batch
