"""What documents are compared with first: a store, or another corpus, which becomes a store. It travels to every machine, which maps it
into memory."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.corpus.batches import Columns
from lookalike.deduping.against import FILES_AND_ADD, SavedIds, Stored, numbered_store
from lookalike.deduping.references.texts import Reference, is_files, references, told_apart
from lookalike.deduping.settings import Against, Criteria, Input
from lookalike.deduping.spark import inputs
from lookalike.deduping.spark.decoding import CELL
from lookalike.deduping.spark.engine import Engine, spark
from lookalike.deduping.spark.identifying import ids_of
from lookalike.deduping.spark.inputs import NUMBER, Corpus
from lookalike.deduping.spark.shipping import Shipped, shipped
from lookalike.errors import InputError
from lookalike.stores.openers import stores

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.outcome import Outcome
    from lookalike.deduping.spark.work import Work

STORE = "store"  # the folder of the store, where ids are beside it
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


@dataclass(frozen=True)
class OpenedStore:
    """Opens the store on the machine of a task; once per process."""

    store: Shipped
    settings: Criteria
    numbered: bool = False  # whether it was made of another corpus

    def __call__(self) -> Any:
        return _opened(self.store, self.settings, self.numbered)


@cache
def _opened(store: Shipped, settings: Criteria, numbered: bool) -> Stored:
    place = store.place()
    return Stored(Path(place) / STORE, settings, ids=SavedIds(Path(place))) if numbered else Stored(place, settings)


def is_corpus(given: object) -> bool:
    """Whether documents are compared with those of files or a frame, and not of a store."""
    if isinstance(given, str) and (scheme := _SCHEME.match(given)):
        return scheme[1].lower() not in (*stores.names(), "http", "https")
    return not isinstance(given, str | Path) or is_files(given)


def check_before(given: Against, settings: Criteria) -> None:
    """What is wrong with it is said before the corpus is read, which may take long."""
    if given.store is None:
        return
    if not is_corpus(given.store):
        assert isinstance(given.store, str | Path)  # noqa: S101 - a store has one name
        Stored(given.store, settings).__exit__()
    elif given.add:
        raise InputError(FILES_AND_ADD)


@contextmanager
def opened_before(given: Against, columns: tuple[str, str], settings: Criteria, engine: Engine, work: Work) -> Iterator[OpenedStore | None]:
    """What tasks ask before they compare documents with each other. It is needed until all is decided."""
    if given.store is None:
        yield None
    elif not is_corpus(given.store):
        assert isinstance(given.store, str | Path)  # noqa: S101 - a store has one name
        yield OpenedStore(shipped(work.session, given.store), settings)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = _references(given.store, columns, engine, work)
            index, ids, _ = numbered_store(str(Path(folder) / STORE), found, settings)
            index.close()
            SavedIds.save(Path(folder), ids)
            Stored(Path(folder) / STORE, settings).__exit__()
            yield OpenedStore(shipped(work.session, folder), settings, numbered=True)


def _references(given: Any, columns: tuple[str, str], engine: Engine, work: Work) -> Iterator[Reference]:
    """Files of this machine are read as the local engine reads them, all else by Spark."""
    from pyspark.sql import DataFrame

    named = [given] if isinstance(given, str | Path) else given
    if not isinstance(given, DataFrame) and not any(isinstance(each, str) and _SCHEME.match(each) for each in named):
        return references(given, *columns)
    # A frame of references is numbered by its ids, whatever the order of the corpus is.
    corpus = inputs.opened(work.session, Input(given, *columns), Columns(*columns), Engine(engine.session), work)
    everyone = ids_of(corpus, corpus.rows.select("n"), corpus.last)
    return told_apart((id_, corpus.places.file(n), text) for n, id_, text in _texts(corpus, everyone))


def add_kept(outcome: Outcome, store: str | Path, settings: Criteria) -> int:
    """What stays goes to the store, one after the other through the driver: a store has one writer."""
    from pyspark.sql import functions as F

    kept = outcome.kept().select(F.col(f"`{NUMBER}`").alias("n"))
    documents = ((id_, text) for _, id_, text in _texts(outcome.corpus, ids_of(outcome.corpus, kept, outcome.removed_count)))
    with Stored(store, settings, add=True) as opened:
        return opened.admit(documents)


def _texts(corpus: Corpus, ids: DataFrame) -> Iterator[tuple[int, str | int, str]]:
    """Numbers, ids and texts of rows, in order, through the driver."""
    _, pa = spark()
    decode = corpus.decode(bare=True)
    rows = corpus.rows.select("n", CELL).join(ids, "n").orderBy("n")
    for row in rows.toLocalIterator(prefetchPartitions=True):
        cell = bytes(row[CELL]) if isinstance(row[CELL], bytearray) else row[CELL]
        found = decode(pa.RecordBatch.from_pydict({"n": [row.n], CELL: [cell]}))
        id_ = json.loads(row.id)
        for text in found.batch.texts.texts():
            yield row.n, (id_ if isinstance(id_, str | int) else str(id_)), text
