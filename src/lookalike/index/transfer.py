"""Export and import: a collection as a JSONL or Parquet file, and back.

A row has ``id``, ``text``, ``meta`` and ``fingerprints``: those that cannot be made from the text again, each with its recipe.
Of a document with text these are the fuzzy digests, which may be of a file, the structure of a web page, and the vector, which
takes a model and time; of one without, all of them. ``beside`` has what only some documents have: the ``leader`` of their cluster, and the
second since 1970 at which one ``expires``. The first row has ``settings`` too: what the collection was made with. The export
of an empty collection is a row with nothing else.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.corpus.files import Source
from lookalike.corpus.formats.parquet import ParquetWriter
from lookalike.corpus.rows import Problem, Row, rows
from lookalike.corpus.writing import row_writer
from lookalike.errors import InputError, RecipeMismatch
from lookalike.index.beside import moment
from lookalike.index.choosing import leaders_of
from lookalike.keys import Key
from lookalike.model import Document
from lookalike.stores.base import Additions, Link, OnProgress, Reader, Store, StoredDocument
from lookalike.stores.given import Given, fingerprinted, stored_meta
from lookalike.stores.ids import check_id
from lookalike.stores.kinds.base import in_parts
from lookalike.stores.settings import Settings

AT_A_TIME = 4096
_log = logging.getLogger("lookalike")
_ANEW = "or let all fingerprints be made anew with refingerprint=True (--refingerprint)"


def export_documents(store: Store, path: Path, progress: OnProgress | None) -> int:
    count = 0
    columns = [name for kind in store.settings.stored for name in kind.exported_columns]
    settings: dict[str, Any] = {"settings": json.loads(store.settings.to_json())}
    with row_writer(path) as writer, store.reading() as reader:
        for part in in_parts(reader.scan(("meta", "text", *columns)), AT_A_TIME):
            beside = _beside(reader, part)
            for record in part:
                row = _exported(record, store.settings) | (settings if count == 0 else {})
                if record.row in beside or isinstance(writer, ParquetWriter):
                    row["beside"] = beside.get(record.row, {})
                writer.write(_flat(row) if isinstance(writer, ParquetWriter) else row)
                count += 1
            if progress and count % AT_A_TIME == 0:
                progress(count)
        if count == 0:
            nothing = dict.fromkeys(("id", "text", "meta", "fingerprints", "beside"))
            writer.write(nothing | _flat(settings) if isinstance(writer, ParquetWriter) else settings)
    return count


def _beside(reader: Reader, part: Sequence[StoredDocument]) -> dict[int, dict[str, Any]]:
    """By row, what is known beside some documents: which one leads their cluster, and when they expire."""
    rows = [record.row for record in part]
    found: dict[int, dict[str, Any]] = {row: {"expires": at / 1000} for row, at in reader.expirations(rows).items()}
    led = {row: leader for row, leader in leaders_of(reader, rows).items() if leader != row}
    ids, links = reader.ids_of(sorted(set(led.values()))), reader.links(list(led))
    for row, leader in led.items():
        found.setdefault(row, {})["leader"] = {"id": ids[leader], "similarity": links[row][1]}
    return found


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """As Parquet has it, where a column has one type."""
    return {name: json.dumps(value) if name in ("meta", "fingerprints", "settings", "beside") else value for name, value in row.items()}


def _exported(record: StoredDocument, settings: Settings) -> dict[str, Any]:
    prints: dict[str, Any] = {}
    for kind in settings.stored:
        if record.text is None or not kind.made_from_text:
            prints |= kind.exported(record, settings)
    meta = json.loads(record.meta) if record.meta else {}
    return {"id": record.id, "text": record.text, "meta": meta, "fingerprints": prints}


class _Loaded(NamedTuple):
    document: Document
    parsed: Mapping[str, Any]  # by kind, where there is something of it
    link: Link | None = None
    expires: int | None = None


def load_documents(store: Store, path: Path, progress: OnProgress | None, *, refingerprint: bool = False) -> int:
    given = _rows(path)
    first = next(given, None)
    if first is not None:
        _agree(store, _settings_of(first), path, refingerprint)
        given = chain([first] if "id" in first.values and first.values["id"] is not None else [], given)
    loaded = (_parsed(row, store.settings, refingerprint) for row in given)
    count = 0
    while part := list(islice(loaded, AT_A_TIME)):
        _write_loaded(store, part)
        count += len(part)
        if progress:
            progress(count)
    return count


def _write_loaded(store: Store, loaded: list[_Loaded]) -> None:
    for batch in _batches(loaded, store.settings):
        batch.links = {each.document.id: each.link for each in loaded if each.link is not None}
        batch.expires = {each.document.id: each.expires for each in loaded if each.expires is not None}
        store.write(batch)


def copy_documents(source: Store, target: Store, progress: OnProgress | None) -> int:
    """Write all documents of a collection to an empty one with the same settings."""
    settings, count = source.settings, 0
    columns = [name for kind in settings.stored for name in kind.exported_columns]
    with source.reading() as reader:
        for part in in_parts(reader.scan(("meta", "text", *columns)), AT_A_TIME):
            beside = _beside(reader, part)
            rows = (_exported(record, settings) | {"beside": beside.get(record.row, {})} for record in part)
            loaded = [_parsed(Row(source.name, 0, row), target.settings, False) for row in rows]
            _write_loaded(target, loaded)
            count += len(part)
            if progress:
                progress(count)
    return count


def _settings_of(first: Row) -> str | None:
    """What an export says its collection was made with, as JSON."""
    given = first.values.get("settings")
    if given is None and first.values.get("id") is not None:
        return None
    return given if isinstance(given, str) else json.dumps(given)


def _agree(store: Store, given: str | None, path: Path, refingerprint: bool) -> None:
    """A collection takes what was exported from one with the same settings. An empty one gets them."""
    if given is None:
        _log.warning(
            "%s does not say what its collection was made with (an older release wrote it): its documents get the fingerprints that %s has",
            path,
            store.name,
        )
    if given is None or refingerprint:
        return
    try:
        name = f"export {str(path)!r}"
        wanted = replace(store.wanted, indexed=None)  # what is indexed here, the collection itself says
        exported = Settings.from_json(given, name, wanted, lambda check: Key.without_secret(check, f"{name} has no secret"))
    except (InputError, RecipeMismatch) as error:
        raise type(error)(f"{error}; {_ANEW}") from error
    if store.settings.keyed and not exported.keyed:
        raise RecipeMismatch(f"{str(path)!r} was exported from a collection that is not keyed, and this one is: {_ANEW[3:]}")
    if exported.keyed:
        # Secrets are not exported, and texts get the fingerprints of the collection that they come to anyway.
        exported = exported.with_key(store.settings.recipe.key or Key.new())
    if store.wanted.indexed is not None:
        exported = replace(exported, indexed=store.settings.indexed)
    alike = replace(exported, indexed=store.settings.indexed).to_json() == store.settings.to_json()
    if exported.to_json() != store.settings.to_json() and not store.adopt(exported) and not alike:
        differing = _differences(exported, store.settings)
        raise RecipeMismatch(f"{str(path)!r} was exported from a collection with {differing}: load it into a new collection; {_ANEW}")


def _differences(exported: Settings, own: Settings) -> str:
    names = [
        name
        for name in ("kinds", "bits", "size", "keep_text", "threshold", "recall", "dimensions")
        if getattr(exported, name) != getattr(own, name)
    ]
    found = [f"{name}={getattr(exported, name)!r}, not {getattr(own, name)!r}" for name in names]
    if exported.recipe != own.recipe:
        found.insert(0, f"recipe {exported.recipe.id}, not {own.recipe.id}")
    return "; ".join(found)


def _rows(path: Path) -> Iterator[Row]:
    source = Source.of(path)
    if source.format not in ("jsonl", "parquet"):
        raise InputError(f"{str(path)!r}: an export is a .jsonl or .parquet file; add other files as documents")
    for row in rows(source):
        if isinstance(row, Problem):
            raise InputError(f"{row.place}: {row.kind}: {row.message}")
        yield row


def _parsed(row: Row, settings: Settings, refingerprint: bool) -> _Loaded:
    values = row.values
    try:
        meta, prints, beside = (
            json.loads(part) if isinstance(part, str) else part or {} for part in map(values.get, ("meta", "fingerprints", "beside"))
        )
        if not isinstance(values.get("text"), str | None) or not all(isinstance(part, dict) for part in (meta, prints, beside)):
            raise InputError("expected a text, and objects in 'meta', 'fingerprints' and 'beside'")
        check_id(values.get("id"))
        # With refingerprint, what does not depend on settings stays.
        kept = [kind for kind in settings.stored if kind.lasting or not refingerprint or values.get("text") is None]
        found = {kind.name: parsed for kind in kept if (parsed := kind.parsed(prints, settings)) is not None}
        expires, leader = beside.get("expires"), beside.get("leader")
        link = None if leader is None else Link(leader["id"], float(leader["similarity"]))
        if link is not None:
            check_id(link.leader)
        at = None if expires is None else moment(expires)
        if expires is not None and at is None:
            raise InputError("'expires' is no time")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise InputError(f"{row.place}: this is not a row of an export: {error}") from error
    return _Loaded(Document(values["id"], values["text"], meta), found, link, at)


def _batches(loaded: list[_Loaded], settings: Settings) -> Iterable[Additions]:
    """Documents with text and documents without, apart: the first are fingerprinted."""
    with_text = [each for each in loaded if each.document.text is not None]
    if with_text:
        given = Given()
        for each in with_text:
            given.append(each.document)
        batch = fingerprinted(given, settings, [kind for kind in settings.stored if kind.made_from_text], 1)
        for kind in settings.stored:
            if not kind.made_from_text:
                batch.columns |= kind.loaded([each.parsed.get(kind.name) for each in with_text], given.texts, settings)
        yield batch
    # Some columns of a batch are there for all of its documents or for none.
    whole = [kind.name for kind in settings.stored if kind.all_or_none]
    without: dict[tuple[bool, ...], list[_Loaded]] = {}
    for each in loaded:
        if each.document.text is None:
            without.setdefault(tuple(name in each.parsed for name in whole), []).append(each)
    for group in without.values():
        yield _without_text(group, settings)


def _without_text(group: list[_Loaded], settings: Settings) -> Additions:
    nothing = [None] * len(group)
    batch = Additions([each.document.id for each in group], nothing, [stored_meta(each.document.id, each.document.meta) for each in group])
    for kind in settings.stored:
        if not kind.all_or_none or kind.name in group[0].parsed:
            batch.columns |= kind.loaded([each.parsed.get(kind.name) for each in group], nothing, settings)
    return batch
