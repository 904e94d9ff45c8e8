"""The kind ``winnowing``: documents that share passages with a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.texts import TextPair
from lookalike.fingerprints.winnowing import Winnowing, winnow, winnows
from lookalike.recipe import Recipe, require_same
from lookalike.segments.passages import PassageSegment
from lookalike.segments.shared import SharedResult, shared_documents
from lookalike.stores.base import Batch, Reader, Record, Segments
from lookalike.stores.given import Given
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.kinds.columns import Column
from lookalike.stores.matches import Match, Matches
from lookalike.stores.postgres.copying import array_fields, distinct_of_each, mixed
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader

WINDOW = 4
ENTRY_BYTES = 16  # of a packed winnowing: a hash, where it starts and where it ends
MAX_SPANS = 5  # shown in a note
MAX_VERIFIED = 200  # documents that a search verifies, beyond ten times the limit
MAX_HELD = 2000  # the same where documents are searched that the query holds
STORED = "SELECT ordinal, hashes FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"


@dataclass(slots=True)
class SharingPassages(Asked[SharedResult]):
    """The documents that share the most with a query."""

    query: Winnowing
    limit: int

    kind = "winnowing"

    def in_segments(self, segments: Segments) -> SharedResult:
        found = segments.all
        return shared_documents(found, self.query, documents=segments.documents, removed=segments.removed, limit=self.limit)

    def in_postgres(self, tables: PostgresReader) -> SharedResult:
        from lookalike.stores.postgres.passages import StoredPassages

        # It has what is asked of a segment; removed documents are not there any more.
        stored = cast(PassageSegment, StoredPassages(tables))
        return shared_documents([stored], self.query, documents=tables.count(), removed=np.zeros(0, np.int64), limit=self.limit)


class _Passages(Way):
    """Documents that share passages with the query, by how much of the query they hold."""

    name, scale, place = "passages", "share of query", 2
    alike_from = 0.8  # quoting is no copying

    def query(self, thing: Any, settings: Settings) -> Any:
        return thing, winnow(thing, window=WINDOW, recipe=settings.recipe)

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        text, fingerprint = query
        limit, threshold = options.limit, options.least(0.0)
        # A short document may lie whole in a long query, of which it is next to nothing: then many more are looked at.
        most = max(10 * limit, MAX_VERIFIED if options.min_share is None else MAX_HELD) if limit < 2**40 else limit
        found = reader.find(SharingPassages(fingerprint, most if settings.keep_text or options.min_share is not None else limit))
        notes = _boilerplate(found)
        rows = [each.row for each in found.documents]
        records = reader.records(rows, ("text",) if settings.keep_text else ("winnowing",))
        matches = []
        for each in found.documents:
            record = records[each.row]
            if record.text is None:
                match = Match(record.id, each.share, 1 - each.share, each.passages, estimated=True, row=each.row)
                match.share = _estimated_share(each.shared, record.columns.get("winnowing"))
                matches.append((each.row, match))
                continue
            pair = TextPair(text, record.text, settings.recipe)
            spans = shared_passages(pair)
            shares = containment(pair, spans) if spans else {"left": 0.0, "right": 0.0}
            match = Match(record.id, shares["left"], 1 - shares["left"], spans, row=each.row)
            match.share = shares["right"]
            matches.append((each.row, match))
        if found.total > len(rows) and settings.keep_text:
            notes.append(f"{found.total} documents share something: the {len(rows)} that share the most were verified")
        least = options.min_share or 0.0
        passed = (item for item in matches if item[1].score >= threshold and (item[1].share or 0.0) >= least and item[1].passages)
        by_share = options.min_share is not None
        kept = sorted(passed, key=lambda item: (-(item[1].share or 0.0) if by_share else 0.0, -item[1].score, item[0]))
        total = len(kept) if settings.keep_text or by_share else max(len(kept), found.total)
        return Matches([match for _, match in kept[:limit]], total, notes)


def _estimated_share(shared: int, stored: Any) -> float:
    """How much of a document is in the query, by the hashes that both have."""
    return min(1.0, shared / len(np.unique(unpack_winnowing(stored)[0]))) if stored else 0.0


def _boilerplate(found: SharedResult) -> list[str]:
    """What was not searched because too many documents have it."""
    skipped = found.skipped
    if not skipped.hashes:
        return []
    spans = ", ".join(f"{start}–{end}" for start, end in skipped.spans[:MAX_SPANS]) + (" …" if len(skipped.spans) > MAX_SPANS else "")
    said = f"boilerplate: {skipped.hashes} of {skipped.hashes + found.searched} hashes are in more than {found.common} documents"
    return [f"{said} and were skipped (characters {spans}){'; only the rarest were searched' if found.rarest else ''}"]


def pack_winnowing(values: NDArray[np.uint64], starts: NDArray[np.uint32], ends: NDArray[np.uint32]) -> bytes:
    """Hashes and places of one document, as a store keeps them where it keeps no text."""
    return values.astype("<u8").tobytes() + starts.astype("<u4").tobytes() + ends.astype("<u4").tobytes()


def unpack_winnowing(data: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    count = len(data) // ENTRY_BYTES
    return (
        np.frombuffer(data, "<u8", count),
        np.frombuffer(data, "<u4", count, 8 * count),
        np.frombuffer(data, "<u4", count, 12 * count),
    )


class _Winnowing(Kind):
    """Column: ``winnowing``, packed, where texts are not kept."""

    name = "winnowing"
    columns = (Column("winnowing"),)
    segment = PassageSegment
    built_from = ("text", "winnowing")
    ways = (_Passages(),)
    by_default = in_schema = True
    checked_columns = ("winnowing", "text")

    def fits(self, recipe: Recipe) -> bool:
        return recipe.hash == "lookalike64"

    def recipe(self, settings: Settings) -> str:
        return f"winnowing-{WINDOW}/{settings.lexical.id}"

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        if settings.keep_text:
            return {}
        found = winnows(given.texts, window=WINDOW, recipe=settings.recipe, workers=workers)
        places = [slice(a, b) for a, b in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)]
        return {"winnowing": [pack_winnowing(found.values[at], found.starts[at], found.ends[at]) for at in places]}

    def build(self, stretch: Stretch, settings: Settings) -> PassageSegment:
        if settings.keep_text:
            rows, texts = stretch.columns["text"]
            found = winnows(texts, window=WINDOW, recipe=settings.recipe)
            return PassageSegment.build(rows, found.offsets, found.values, found.starts, found.ends)
        rows, stored = stretch.columns["winnowing"]
        parts = [unpack_winnowing(data) for data in stored]
        offsets = np.fromiter(accumulate((len(values) for values, _, _ in parts), initial=0), dtype=np.int64, count=len(rows) + 1)
        types = enumerate(("u8", "u4", "u4"))
        values, starts, ends = (np.concatenate([np.zeros(0, dtype), *(each[i] for each in parts)]) for i, dtype in types)
        return PassageSegment.build(rows, offsets, values, starts, ends)

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        hashes, starts, ends = (part.tolist() for part in unpack_winnowing(value))
        spans = tuple(zip(starts, ends, strict=True))
        return Winnowing(tuple(hashes), spans, settings.recipe.ngram, self.recipe(settings)).to_dict()

    def read_print(self, data: Any, settings: Settings) -> Any:
        found = Winnowing.from_dict(data)
        require_same(found.recipe, self.recipe(settings))
        spans: NDArray[np.uint32] = np.array(found.spans, dtype=np.uint32).reshape(-1, 2)
        return pack_winnowing(np.array(found.values, dtype=np.uint64), spans[:, 0], spans[:, 1])

    # PostgreSQL: the distinct hashes of each document in the column ``hashes``, mixed with the collection, behind an index

    def prepared(self, batch: Batch, collection: int, settings: Settings) -> Any:
        return _hashes(batch.texts, batch.columns.get("winnowing"), collection, settings)

    def numbers(self, batch: Batch, settings: Settings) -> dict[str, Any] | None:
        return {} if "winnowing" not in batch.columns and all(text is None for text in batch.texts) else None

    def copied(self, batch: Batch, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        return super().copied(batch, prepared, collection, settings) | {"hashes": array_fields(*prepared)}

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[Record], settings: Settings) -> dict[int, Any]:
        values, offsets = _hashes([each.text for each in records], [each.columns["winnowing"] for each in records], collection, settings)
        places = pairwise(offsets.tolist())
        expected = {each.row: values[a:b].tolist() or None for each, (a, b) in zip(records, places, strict=True)}
        stored: dict[int, list[int] | None] = dict(connection.execute(STORED, (collection, list(expected)), binary=True).fetchall())
        return {row: hashes for row, hashes in expected.items() if stored[row] != hashes}

    def problem(self, wrong: int) -> str:
        return f"passages: the hashes of {wrong} documents do not fit their texts"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        statement = "UPDATE lookalike.documents SET hashes = %s WHERE collection = %s AND ordinal = %s"
        for row, hashes in wrong.items():
            connection.execute(statement, (hashes, collection, row))


def _hashes(
    texts: Sequence[str | None], packed: Sequence[bytes | None] | None, collection: int, settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct hashes of all documents, as the index of PostgreSQL has them, and where those of each begin."""
    if settings.keep_text:
        there = [text is not None for text in texts]
        prints = winnows([text for text in texts if text is not None], window=WINDOW, recipe=settings.recipe)
        values, sizes = prints.values, np.diff(prints.offsets)
    else:
        stored = packed or [None] * len(texts)
        there = [data is not None for data in stored]
        parts = [unpack_winnowing(data)[0] for data in stored if data is not None]
        values, sizes = np.concatenate([np.zeros(0, np.uint64), *parts]), np.array([len(each) for each in parts], dtype=np.int64)
    all_sizes = np.zeros(len(texts), dtype=np.int64)
    all_sizes[np.array(there, dtype=bool)] = sizes
    distinct, offsets = distinct_of_each(values, np.concatenate([[0], all_sizes.cumsum()]))
    return mixed(distinct, collection), offsets


WINNOWING = _Winnowing()
