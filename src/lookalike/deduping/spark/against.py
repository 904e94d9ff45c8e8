"""A store that documents are compared with first: it travels to every machine, which maps it into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.deduping.against import Stored
from lookalike.deduping.settings import Settings
from lookalike.deduping.spark.decoding import CELL
from lookalike.deduping.spark.identifying import ids_of
from lookalike.deduping.spark.inputs import NUMBER
from lookalike.deduping.spark.shipping import Shipped, shipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lookalike.deduping.spark.outcome import Outcome

COLUMNS = ("text", "id")  # of files, which are not read here: what is compared with is a store


@dataclass(frozen=True)
class OpenedStore:
    """Opens the store on the machine of a task; once per process."""

    store: Shipped
    settings: Settings

    @classmethod
    def shipped(cls, session: SparkSession, store: str | Path, settings: Settings) -> OpenedStore:
        Stored(store, settings, COLUMNS, add=False).__exit__()  # what does not fit is said before the work
        return cls(shipped(session, store), settings)

    def __call__(self) -> Any:
        return _opened(self.store, self.settings)


@cache
def _opened(store: Shipped, settings: Settings) -> Stored:
    return Stored(store.place(), settings, COLUMNS, add=False)


def add_kept(outcome: Outcome, store: str | Path, settings: Settings) -> int:
    """What stays goes to the store, one after the other through the driver: a store has one writer."""
    from pyspark.sql import functions as F

    kept = outcome.kept().select(F.col(f"`{NUMBER}`").alias("n"))
    ids = ids_of(outcome.corpus, kept, outcome.removed_count)
    rows = outcome.corpus.rows.select("n", CELL).join(ids, "n").orderBy("n")

    def documents() -> Iterator[tuple[str | int, str]]:
        from lookalike.deduping.spark.engine import spark

        _, pa = spark()
        decode = outcome.corpus.decode(bare=True)
        for row in rows.toLocalIterator(prefetchPartitions=True):
            cell = bytes(row[CELL]) if isinstance(row[CELL], bytearray) else row[CELL]
            found = decode(pa.RecordBatch.from_pydict({"n": [row.n], CELL: [cell]}))
            id_ = json.loads(row.id)
            for text in found.batch.texts.texts():
                yield (id_ if isinstance(id_, str | int) else str(id_)), text

    with Stored(store, settings, COLUMNS, add=True) as opened:
        return opened.admit(documents())
