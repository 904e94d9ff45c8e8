"""Adding documents: while one batch is being stored, the next is being fingerprinted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_workers
from lookalike.corpus.documents import documents as documents_of
from lookalike.errors import InputError
from lookalike.fingerprints.record import RecordPrint
from lookalike.index.beside import NEVER, Expiry
from lookalike.markup.page import Page
from lookalike.model import Document
from lookalike.stores.base import Added, Additions, Store
from lookalike.stores.given import Given, fingerprinted, of_bytes
from lookalike.stores.ids import Id, listed_ids
from lookalike.stores.kinds.base import Kind
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_DOCUMENTS = 8192
BATCH_CHARACTERS = 16_000_000


def is_single(documents: object) -> bool:
    return isinstance(documents, (str, int, Document, Mapping, Path)) or _is_one(documents)


def listed(documents: object, text: object, meta: object) -> Iterable[object]:
    """Documents from what ``add`` and ``admit`` take."""
    if isinstance(documents, (str, int)):
        return [(documents, text, {} if meta is None else meta)]
    if text is not None or meta is not None:
        raise InputError("text and meta belong to a single document: add('id', 'text', meta={…})")
    if is_single(documents):
        return [documents]
    if isinstance(documents, (bytes, bytearray)):
        raise InputError("bytes have no name: give them an id, as in add('id', data)")
    if not isinstance(documents, Iterable):
        raise InputError(f"cannot add a {type(documents).__name__}: give an id and a text, or an iterable of documents")
    return documents


def _is_one(thing: object) -> bool:
    """Whether this is (id, text) and not a tuple of documents."""
    return (
        isinstance(thing, tuple)
        and len(thing) in (2, 3)
        and isinstance(thing[0], (str, int))
        and isinstance(thing[1], (str, Page, Path, bytes, Mapping, RecordPrint))
    )


def add_documents(
    store: Store, documents: Iterable[object], progress: Callable[[int], object] | None, workers: int, expiry: Expiry = NEVER
) -> Added:
    check_workers(workers)
    added = updated = 0

    def store_batch(writes: list[Callable[[], Added]]) -> None:
        nonlocal added, updated
        for write in writes:
            counts = write()
            added, updated = added + counts.added, updated + counts.updated
        if progress:
            progress(added + updated)

    settings = store.settings

    make = partial(_made, store=store, workers=workers, expiry=expiry)
    batches = _batches(documents, settings)
    first = next(batches, None)
    if first is None:
        return Added(0, 0)
    second = next(batches, None)
    if second is None:  # a single batch has nothing to run beside
        store_batch(make(first))
        return Added(added, updated)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(make, first)
        following: Given | None = second
        while following is not None:
            ready = waiting.result()
            waiting = pool.submit(make, following)
            store_batch(ready)
            following = next(batches, None)
        store_batch(waiting.result())
    return Added(added, updated)


def _made(given: Given, store: Store, workers: int, expiry: Expiry) -> list[Callable[[], Added]]:
    """What writes the documents with text, and the files without."""
    settings, made = store.settings, []
    if len(given):
        made.append(fingerprinted(given, settings, settings.stored, workers))
        made[-1].expires = expiry.of(given)
    if given.without_text:
        made.append(of_bytes(given.without_text, settings, workers))
        made[-1].expires = expiry.of(given.without_text)
    later = getattr(store, "write_later", None)  # some stores can do a part of writing meanwhile
    return [later(batch) if later else partial(store.write, batch) for batch in made]


def _batches(documents: Iterable[object], settings: Settings) -> Iterator[Given]:
    sources, ended = [iter(documents)], False
    while not ended:
        given = Given(settings.stored)
        ended = given.fill(sources, BATCH_DOCUMENTS, BATCH_CHARACTERS, files_of)
        if len(given) or given.without_text:
            yield given


def files_of(path: Path) -> Iterator[Document]:
    """The documents of a file or a folder. What cannot be read at all is an error."""
    return documents_of(path, binary=True)


def made_elsewhere(kind: Kind, ids: Sequence[Id] | NDArray[Any], fingerprints: Any, settings: Settings) -> Iterator[Additions]:
    """Fingerprints of documents that are elsewhere: documents without text, of which there is nothing but the columns of one kind."""
    settings.require(kind.name)
    count, columns = kind.made_elsewhere(fingerprints, settings)
    listed = listed_ids(ids)
    if len(listed) != count:
        raise InputError(f"ids: {len(listed)} ids for {count} values")
    for first in range(0, count, kind.batch_elsewhere):
        some = listed[first : first + kind.batch_elsewhere]
        nothing: Sequence[None] = [None] * len(some)
        each = {name: (values, len(values) // count) for name, values in columns.items()}
        part = {name: values[first * width : (first + len(some)) * width] for name, (values, width) in each.items()}
        yield Additions(some, nothing, nothing, part)
