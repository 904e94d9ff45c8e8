"""A collection on a table of the user's own as a store: all that reads. What it holds is changed by changing the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError, StoreError
from lookalike.segments.hamming import Found
from lookalike.stores.base import Added, Additions, CheckReport, OnProgress, Question, Reader, StoredDocument
from lookalike.stores.ids import Id
from lookalike.stores.kinds.simhash import QUERIES, NearSimhashes
from lookalike.stores.postgres.copying import WORD
from lookalike.stores.postgres.reading import PostgresReader
from lookalike.stores.postgres.rows import split_ids

if TYPE_CHECKING:
    from lookalike.stores.postgres.names import PostgresNames
    from lookalike.stores.postgres.own_tables import OwnTable
    from lookalike.stores.postgres.store import PostgresStore
    from lookalike.stores.settings import Settings

Answer = TypeVar("Answer")
AT_A_TIME = 10_000
NEAR = """
SELECT q.place - 1, found.key, found.distance, found.total
FROM unnest(%(low)s::bigint[]) WITH ORDINALITY AS q (low, place), LATERAL (
  SELECT key, distance, count(*) OVER () AS total FROM lookalike.simhash_near_of_{number}(q.low, %(k)s)
  WHERE key IS NOT NULL ORDER BY distance, key LIMIT %(limit)s
) AS found
ORDER BY q.place, found.distance, found.key
"""


class TableReader(PostgresReader):
    """One state of the table. A row is the key where that is a number; otherwise keys are numbered as they come."""

    def __init__(self, store: PostgresStore, table: OwnTable, connection: Any) -> None:
        super().__init__(connection, store._number, (0, 0, ()), store.settings, store._connections.require_open, store.kept)
        self._table = table
        self._keys: list[str] = []
        self._places: dict[str, int] = {}

    def count(self) -> int:
        found = self._run(f"SELECT count(*) FROM {self._table.relation} WHERE {self._live}").fetchone()  # noqa: S608
        return int(found[0])

    @property
    def _live(self) -> str:
        return f"{self._table.value} IS NOT NULL AND {self._table.key} IS NOT NULL"

    def _run(self, query: str, arguments: Any = None) -> Any:
        return self.connection.execute(query, arguments)

    def _row(self, key: Any) -> int:
        if self._table.has_numbers:
            return int(key)
        text = str(self._id(key))
        if text not in self._places:
            self._places[text] = len(self._keys)
            self._keys.append(text)
        return self._places[text]

    def _id(self, key: Any) -> Id:
        """The spaces that a char(n) is filled up with are no part of it."""
        return key if self._table.has_numbers else str(key).rstrip(" ") if self._table.key_type == "bpchar" else str(key)

    def _known(self, keys: Sequence[Any], columns: str) -> Any:
        kind = "bigint" if self._table.has_numbers else self._table.key_type
        query = f"SELECT {columns} FROM {self._table.relation} WHERE {self._live} AND {self._table.key} = ANY (%s::{kind}[])"  # noqa: S608
        return self._run(query, (list(keys),))

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        texts, numbers = split_ids(ids)
        wanted: Sequence[Any] = numbers if self._table.has_numbers else texts
        if self._table.key_type == "uuid":
            wanted = [text for text in texts if _is_uuid(text)]
        found = [key for (key,) in self._known(wanted, self._table.key)] if wanted else []
        return {self._id(key): self._row(key) for key in found}

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
        found: dict[int, StoredDocument] = {}
        for first in range(0, len(rows), AT_A_TIME):
            part = [int(row) for row in rows[first : first + AT_A_TIME]]
            keys: Sequence[Any] = part if self._table.has_numbers else [self._keys[row] for row in part]
            if "simhash" not in columns:  # nothing else is kept, and nobody need be asked for it
                found |= {row: self._record(key, None, columns) for row, key in zip(part, keys, strict=True)}
                continue
            for key, value in self._known(keys, f"{self._table.key}, {self._table.simhash}"):
                found[self._row(key)] = self._record(key, value, columns)
        return found

    def _record(self, key: Any, value: int | None, columns: Sequence[str]) -> StoredDocument:
        held = {name: None if value is None or name != "simhash" else value % WORD for name in columns if name not in ("text", "meta")}
        return StoredDocument(self._row(key), self._id(key), None, None, held)

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        table = self._table
        query = f"SELECT {table.key}, {table.simhash} FROM {table.relation} WHERE {self._live} ORDER BY {table.key}"  # noqa: S608
        with self.cursor() as cursor:
            cursor.itersize = 1000
            for key, value in cursor.execute(query):
                self._require_open()
                if first <= 0 or self._row(key) >= first:
                    yield self._record(key, value, columns)

    def find(self, question: Question[Answer]) -> Answer:
        self.settings.require(question.kind)
        asked: Any = question
        if isinstance(asked, NearSimhashes):
            near: Any = self._near(asked)
            return near  # type: ignore[no-any-return]
        return question.in_segments(self.as_segments(question.kind))

    def _near(self, question: NearSimhashes) -> Found:
        low = question.words.view(np.int64).tolist()
        found: list[tuple[int, int, int, int]] = []
        for first in range(0, len(low), QUERIES):
            arguments = {"low": low[first : first + QUERIES], "k": question.k, "limit": question.limit}
            near = self._run(NEAR.format(number=self.collection), arguments)
            found += [(place + first, self._row(key), distance, total) for place, key, distance, total in near]
        query, rows, distances, totals = np.array(found, dtype=np.int64).reshape(-1, 4).T
        all_totals = np.zeros(len(low), dtype=np.int64)
        all_totals[query] = totals
        return Found(np.searchsorted(query, np.arange(len(low) + 1)), rows.copy(), distances.astype(np.uint8), all_totals)


def _is_uuid(text: str) -> bool:
    """Whether it is written as the library shows it."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


class TableStore:
    """See ``stores.base.Store``."""

    def __init__(self, store: PostgresStore, table: OwnTable) -> None:
        self._store, self._table = store, table
        self.name, self.wanted, self.settings = f"{store.name}, table {table.relation}", store.wanted, store.settings
        if table.kind != "simhash":
            store.close()
            raise InputError(
                f"{self.name}: this collection is on a column of the kind {table.kind}, which SQL searches: lookalike.search_near(…)"
            )

    @contextmanager
    def reading(self) -> Iterator[TableReader]:
        with self._store._connections.snapshot() as connection:
            yield TableReader(self._store, self._table, connection)

    def _refuse(self) -> NoReturn:
        raise StoreError(f"{self.name}: the collection is on this table: change the table, and the collection is current")

    def write(self, batch: Additions) -> Added:
        self._refuse()

    at_once = 1

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[Reader], tuple[Additions, Answer]]) -> Answer:
        self._refuse()

    def remove(self, ids: Sequence[Id]) -> int:
        self._refuse()

    def adopt(self, settings: Settings) -> bool:
        self._refuse()

    def names(self) -> PostgresNames:
        return self._store.names()

    def stats(self) -> dict[str, Any]:
        with self._store._connections.snapshot() as connection:
            sizes = connection.execute(INDEX_SIZES, (f"_of_{self._store._number}",)).fetchall()
            counted = TableReader(self._store, self._table, connection).count()
        stats = self._store.stats()
        return stats | {
            "documents": counted,
            "table": self._table.relation,
            "bytes": sum(size for _, size in sizes),
            "table_bytes": dict(sizes),
        }

    def check(self, repair: bool, progress: OnProgress | None = None) -> CheckReport:
        """Indexes are the server's to keep right: whether they are there and valid. To repair, index the table again."""
        report = CheckReport()
        with self._store._connections.snapshot() as connection:
            valid = {name for (name,) in connection.execute(VALID_INDEXES, (f"_of_{self._store._number}",))}
            report.checked = {"documents": TableReader(self._store, self._table, connection).count(), "indexes": 3}
        missing = [f"lookalike_block{i}" for i in range(3) if f"lookalike_block{i}_of_{self._store._number}" not in valid]
        report.problems = [f"index {name}: it is missing or not valid; drop the collection, and index the table again" for name in missing]
        if progress:
            progress(report.checked["documents"])
        return report

    def compact(self, progress: OnProgress | None = None) -> dict[str, Any]:
        before = self.stats()
        self._store._connections.attempt(lambda connection: connection.execute(f"VACUUM (ANALYZE) {self._table.relation}"))
        if progress:
            progress(before["documents"])
        return {"bytes_before": before["bytes"], "bytes_after": self.stats()["bytes"]}

    def close(self, progress: OnProgress | None = None) -> None:
        self._store.close(progress)


INDEX_SIZES = """
SELECT c.relname::text, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relname LIKE 'lookalike\\_block_' || replace(%s, '_', '\\_')
"""
VALID_INDEXES = """
SELECT c.relname::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE i.indisvalid AND c.relname LIKE 'lookalike\\_block_' || replace(%s, '_', '\\_')
"""
