"""One state of a collection in the database; see ``stores.base.Reader``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.base import Question, StoredDocument
from lookalike.stores.built import BuiltSegments, stretch_of
from lookalike.stores.fields import FieldRange
from lookalike.stores.ids import Id
from lookalike.stores.kinds import kind_named
from lookalike.stores.postgres.beside import read_expirations, read_linked, read_links
from lookalike.stores.postgres.fields import read_within
from lookalike.stores.postgres.kept_blocks import KeptBlocks
from lookalike.stores.postgres.rows import record, selected, split_ids
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

Answer = TypeVar("Answer")
AT_A_TIME = 10_000  # rows of a statement

IDS = """
SELECT id_text, id_number, ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_text = ANY (%(texts)s)
UNION ALL
SELECT id_text, id_number, ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_number = ANY (%(numbers)s)
"""


class PostgresReader:
    """Everything is read in the transaction that the connection is in."""

    stores_all_columns = False  # bands are in a table of their own
    asks_a_server = True  # which works while others are asked

    def __init__(
        self,
        connection: Connection,
        collection: int,
        state: tuple[int, int, Sequence[int]],
        settings: Settings,
        require_open: Callable[[], None],
        kept: KeptBlocks,
    ) -> None:
        """``state``: what time it is, how many documents there are, and which of them have expired."""
        self.connection, self.collection, self.settings, self.kept = connection, collection, settings, kept
        self._now, self._documents, expired = state
        self._expired = frozenset(expired)
        self._require_open = require_open
        self._cursors = count()

    def count(self) -> int:
        return self._documents - len(self.hidden())

    def rows_within(self, within: FieldRange, most: int) -> NDArray[np.int64] | None:
        return read_within(self.connection, self.collection, within, most)

    def hidden(self) -> frozenset[int]:
        return self._expired

    def links(self, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
        return read_links(self.connection, self.collection, rows)

    def linked_to(self, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
        return read_linked(self.connection, self.collection, rows, self._now)

    def expirations(self, rows: Sequence[int]) -> dict[int, int]:
        return read_expirations(self.connection, self.collection, rows)

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        texts, numbers = split_ids(ids)
        found = self.connection.execute(IDS, {"collection": self.collection, "texts": texts, "numbers": numbers})
        return {number if text is None else text: ordinal for text, number, ordinal in found if ordinal not in self.hidden()}

    def ids_of(self, rows: Sequence[int]) -> dict[int, Id]:
        return {row: record.id for row, record in self.records(rows, ()).items() if row not in self.hidden()}

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
        query = f"SELECT {selected(columns)} FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"  # noqa: S608
        found = {}
        for first in range(0, len(rows), AT_A_TIME):
            part = [int(row) for row in rows[first : first + AT_A_TIME]]
            for values in self.connection.execute(query, (self.collection, part), binary=True):
                found[values[0]] = record(values, columns)
        return found

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        """All documents in order of their rows, through a cursor of the server's: other queries may run meanwhile."""
        query = f"SELECT {selected(columns)} FROM lookalike.documents WHERE collection = %s AND ordinal >= %s ORDER BY ordinal"  # noqa: S608
        hidden = self.hidden()
        with self.cursor() as cursor:
            cursor.itersize = 1000
            for values in cursor.execute(query, (self.collection, first)):
                self._require_open()  # whoever goes through all documents may have been away for long
                if values[0] not in hidden:
                    yield record(values, columns)

    def find(self, question: Question[Answer]) -> Answer:
        self.settings.require(question.kind)
        return question.in_postgres(self)

    def cursor(self) -> Any:
        """A cursor of the server's."""
        return self.connection.cursor(f"scan_{next(self._cursors)}", binary=True)

    def stretch(self, rows: Sequence[int], columns: Sequence[str]) -> Stretch:
        """Some documents, whose rows ascend, as segments are built from them."""
        return stretch_of([self.records(rows, columns)[row] for row in rows], columns)

    def as_segments(self, kind: str) -> BuiltSegments:
        """All documents of the collection as one segment: for a kind that has no search of its own here."""
        return BuiltSegments(kind, self.scan(kind_named(kind).built_from), self.settings, self.count())
