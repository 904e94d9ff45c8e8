"""One state of each shard, as one; see ``stores.base.Reader``. They are not of one moment: a writer may be between two shards."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import StoreError
from lookalike.stores.base import Question, Reader, StoredDocument
from lookalike.stores.built import BuiltSegments
from lookalike.stores.fields import FieldRange
from lookalike.stores.ids import Id
from lookalike.stores.kinds import kind_named
from lookalike.stores.settings import Settings
from lookalike.stores.shards.links import linked_to, links_of
from lookalike.stores.shards.merging import MERGED, joined, translated
from lookalike.stores.shards.routing import MAX_SHARDS, number_of, shard_of

Answer = TypeVar("Answer")
AT_A_TIME = 10_000


class ShardReader:
    """``parts`` has None for a shard that does not answer, where that is allowed: searches then leave it out, and ``notes`` say so."""

    def __init__(self, parts: Sequence[Reader | None], settings: Settings, failed: Callable[[int, StoreError], str]) -> None:
        self._parts, self.settings, self._failed = list(parts), settings, failed
        self.notes: list[str] = []
        self._rows: list[dict[int, int]] = [{} for _ in parts]  # of each shard, to those of the whole
        self._places: dict[int, tuple[int, int]] = {}
        self._numbers: dict[int, int] = {}
        self._hidden: frozenset[int] | None = None

    def _row(self, part: int, local: int, number: int | None) -> int:
        """The row in the whole: by the number that a document got when it was added, so that older ones come first."""
        known = self._rows[part].get(local)
        if known is not None:
            return known
        row = (local % (1 << 52) if number is None else number) * MAX_SHARDS + part
        while row in self._places:  # two writers gave the same number
            row += MAX_SHARDS
        self._places[row], self._rows[part][local] = (part, local), row
        self._numbers[row] = local if number is None else number
        return row

    def place_of(self, row: int) -> tuple[int, int]:
        """The shard of a document, and its row there."""
        return self._places[int(row)]

    def number_of(self, row: int) -> int:
        """What a document got when it was added."""
        return self._numbers[int(row)]

    def part(self, place: int) -> Reader:
        reader = self._parts[place]
        if reader is None:
            raise StoreError(self._failed(place, StoreError("it could not be opened")))
        return reader

    def translated(self, part: int, reader: Reader, locals_: Sequence[int]) -> list[int]:
        unknown = [row for row in dict.fromkeys(locals_) if row not in self._rows[part]]
        for local, record in sorted(reader.records(unknown, ("meta",)).items()) if unknown else ():
            self._row(part, local, number_of(record.meta)[0])
        return [self._rows[part][local] for local in locals_]

    def all_parts(self) -> list[tuple[int, Reader]]:
        """Every shard: what counts or lists documents is never partial."""
        return [(place, self.part(place)) for place in range(len(self._parts))]

    def count(self) -> int:
        return sum(reader.count() for _, reader in self.all_parts())

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        homes: dict[int, list[Id]] = {}
        for id_ in ids:
            homes.setdefault(shard_of(id_, len(self._parts)), []).append(id_)
        found: dict[Id, int] = {}
        for part, wanted in homes.items():
            reader = self.part(part)
            here = reader.rows_of(wanted)
            found |= dict(zip(here, self.translated(part, reader, list(here.values())), strict=True))
        return found

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
        wanted: dict[int, list[int]] = {}
        for row in rows:
            part, local = self._places[int(row)]
            wanted.setdefault(part, []).append(local)
        found: dict[int, StoredDocument] = {}
        for part, locals_ in wanted.items():
            reader = self._parts[part]
            assert reader is not None  # noqa: S101 - its rows are known
            for local, record in reader.records(locals_, columns).items():
                row = self._rows[part][local]
                found[row] = record._replace(row=row, meta=number_of(record.meta)[1])
        return found

    def ids_of(self, rows: Sequence[int]) -> dict[int, Id]:
        hidden = self.hidden()
        known = [row for row in rows if int(row) in self._places and row not in hidden]
        return {row: record.id for row, record in self.records(known, ()).items()}

    def hidden(self) -> frozenset[int]:
        if self._hidden is None:
            parts = [(part, reader, sorted(reader.hidden())) for part, reader in enumerate(self._parts) if reader is not None]
            self._hidden = frozenset(row for part, reader, rows in parts for row in self.translated(part, reader, rows))
        return self._hidden

    def links(self, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
        return links_of(self, rows)

    def linked_to(self, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
        return linked_to(self, rows)

    def expirations(self, rows: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for row in rows:
            part, local = self._places[int(row)]
            reader = self._parts[part]
            if reader is not None:
                found |= {int(row): at for at in reader.expirations([local]).values()}
        return found

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        """Oldest first: each shard gives its own in this order."""
        read = columns if "meta" in columns else (*columns, "meta")

        def of(part: int, reader: Reader) -> Iterator[StoredDocument]:
            for record in reader.scan(read):
                number, meta = number_of(record.meta)
                yield record._replace(row=self._row(part, record.row, number), meta=meta if "meta" in columns else None)

        merged = heapq.merge(*(of(part, reader) for part, reader in self.all_parts()), key=lambda record: record.row)
        return (record for record in merged if record.row >= first)

    def find(self, question: Question[Answer]) -> Answer:
        self.settings.require(question.kind)
        asked_for: Any = question
        if not isinstance(asked_for, MERGED):
            return question.in_segments(self._as_segments(question.kind))
        answers = []
        for part, asked in self._asked(question):
            reader = self._parts[part]
            assert reader is not None  # noqa: S101 - it was asked
            try:
                answers.append(translated(question, asked(), partial(self.translated, part, reader)))
            except StoreError as error:
                self.notes.append(self._failed(part, error))
                self._parts[part] = None
        if not answers:
            raise StoreError("none of the shards answers")
        whole: Answer = joined(question, answers)
        return whole

    def _as_segments(self, kind: str) -> BuiltSegments:
        """The documents of all shards as one segment: for a kind whose answers nobody here can join."""
        return BuiltSegments(kind, self.scan(kind_named(kind).built_from), self.settings, self.count())

    @property
    def stores_all_columns(self) -> bool:
        return all(reader.stores_all_columns for reader in self._parts if reader is not None)

    def rows_within(self, within: FieldRange, most: int) -> NDArray[np.int64] | None:
        found: list[int] = []
        for part, reader in self.all_parts():
            rows = reader.rows_within(within, most)
            if rows is None or len(found) + len(rows) > most:
                return None
            there = reader.ids_of(rows.tolist())
            found += self.translated(part, reader, sorted(there))
        return np.array(sorted(found), dtype=np.int64)

    def _asked(self, question: Question[Any]) -> list[tuple[int, Callable[[], Any]]]:
        """What gives the answer of each shard. Servers work at the same time; a folder's reader stays in its thread."""
        asked: list[tuple[int, Callable[[], Any]]] = []
        servers = [part for part, reader in enumerate(self._parts) if getattr(reader, "asks_a_server", False)]
        threads = ThreadPoolExecutor(len(servers)) if len(servers) > 1 else None
        for part, reader in enumerate(self._parts):
            if reader is not None and threads is not None and part in servers:
                asked.append((part, threads.submit(reader.find, question).result))
            elif reader is not None:
                asked.append((part, partial(reader.find, question)))
        if threads is not None:
            threads.shutdown(wait=False)  # no more questions; answers are waited for where they are read
        return asked
