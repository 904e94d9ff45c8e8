"""The kind ``winnowing``: documents that share passages with a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints.winnowing import Winnowing, winnows
from lookalike.recipe import Recipe, require_same
from lookalike.segments.passages import PassageSegment
from lookalike.stores.base import Additions, StoredDocument
from lookalike.stores.given import Given
from lookalike.stores.kinds.base import Kind
from lookalike.stores.kinds.columns import Column
from lookalike.stores.kinds.containment import Contained, Contains
from lookalike.stores.kinds.passage_search import WINDOW, pack_winnowing, unpack_winnowing
from lookalike.stores.kinds.passage_way import ByPassages
from lookalike.stores.postgres.copying import array_fields, distinct_of_each, mixed
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

STORED = "SELECT ordinal, hashes FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"


class _Winnowing(Kind):
    """Column: ``winnowing``, as bytes, where texts are not kept."""

    name = "winnowing"
    columns = (Column("winnowing"),)
    segment = PassageSegment
    built_from = ("text", "winnowing")
    ways = (ByPassages(), Contains(), Contained())
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

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        return _hashes(batch.texts, batch.columns.get("winnowing"), collection, settings)

    def numbers(self, batch: Additions, settings: Settings) -> dict[str, Any] | None:
        return {} if "winnowing" not in batch.columns and all(text is None for text in batch.texts) else None

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        return super().copied(batch, prepared, collection, settings) | {"hashes": array_fields(*prepared)}

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[StoredDocument], settings: Settings) -> dict[int, Any]:
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
    texts: Sequence[str | None], stored: Sequence[bytes | None] | None, collection: int, settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct hashes of all documents, as the index of PostgreSQL has them, and where those of each begin."""
    if settings.keep_text:
        there = [text is not None for text in texts]
        prints = winnows([text for text in texts if text is not None], window=WINDOW, recipe=settings.recipe)
        values, sizes = prints.values, np.diff(prints.offsets)
    else:
        stored = stored or [None] * len(texts)
        there = [data is not None for data in stored]
        parts = [unpack_winnowing(data)[0] for data in stored if data is not None]
        values, sizes = np.concatenate([np.zeros(0, np.uint64), *parts]), np.array([len(each) for each in parts], dtype=np.int64)
    all_sizes = np.zeros(len(texts), dtype=np.int64)
    all_sizes[np.array(there, dtype=bool)] = sizes
    distinct, offsets = distinct_of_each(values, np.concatenate([[0], all_sizes.cumsum()]))
    return mixed(distinct, collection), offsets


WINNOWING = _Winnowing()
