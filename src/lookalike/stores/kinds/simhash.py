"""The kind ``simhash``: all documents within k bits, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import join_texts
from lookalike.errors import InputError
from lookalike.fingerprints.reposts import advice
from lookalike.fingerprints.simhash import SimHash, fingerprint_recipe, simhashes
from lookalike.fingerprints.single import plan_for
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher, Sketches
from lookalike.recipe import Recipe, require_same
from lookalike.segments.hamming import NO_LIMIT, Found, check_k, words_of
from lookalike.segments.simhashes import SimhashSegment
from lookalike.stores.base import Additions, OnProgress, Reader, Segments, Store, StoredDocument
from lookalike.stores.clustering import clusters_of, having
from lookalike.stores.clusters import Clusters
from lookalike.stores.given import Given
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.kinds.columns import Number, as_bytes
from lookalike.stores.kinds.explaining import passages_of
from lookalike.stores.kinds.sketching import sketches_of
from lookalike.stores.matches import Match, Matches
from lookalike.stores.postgres.copying import WORD, integer_field
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

QUERIES = 1000  # fingerprints that are searched for in a statement of PostgreSQL
NEAR = """
SELECT q.place - 1, found.ordinal, found.distance, found.total
FROM unnest(%(low)s::bigint[], %(high)s::bigint[]) WITH ORDINALITY AS q (low, high, place), LATERAL (
  SELECT ordinal, distance, count(*) OVER () AS total
  FROM lookalike.simhash_rows(%(collection)s, q.low, q.high, %(k)s)
  ORDER BY distance, ordinal LIMIT %(limit)s
) AS found
ORDER BY q.place, found.distance, found.ordinal
"""


class _Words(Number):
    """One word per document, or for 128 bits two, the low half first: a BLOB in SQLite, two columns in PostgreSQL."""

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        if len(values) == count:
            return super().stored(values, count)
        data = bytearray(values.tobytes())
        return [data[i : i + 16] for i in range(0, len(data), 16)]

    def packed(self, values: Any, count: int) -> Any:
        return super().packed(values, count) if len(values) == count else as_bytes(values, count)

    def read(self, value: Any) -> Any:
        return int.from_bytes(value, "little") if isinstance(value, bytes) else value % WORD

    def gathered(self, values: Sequence[Any]) -> Any:
        if values and isinstance(values[0], bytes):
            return np.frombuffer(b"".join(values), dtype=np.uint64)
        return super().gathered(values)

    def from_postgres(self, *values: Any) -> Any:
        low, high = values
        return None if low is None else low % WORD | (0 if high is None else high % WORD << 64)


def simhash_words(texts: Sequence[str], settings: Settings, workers: int = 1) -> NDArray[np.uint64]:
    return simhashes(texts, bits=settings.bits, recipe=settings.recipe, workers=workers).astype(np.uint64).reshape(-1)


def require_own(name: str, values: object, settings: Settings) -> None:
    """SimHashes must be of this recipe. Numbers do not say what they are of, and nobody without the key has any that mean something."""
    given = values if isinstance(values, Sequence) else ()
    for value in given:
        if isinstance(value, SimHash):
            require_same(value.recipe, fingerprint_recipe(settings.lexical, settings.bits))
    if settings.keyed and not (given is values and all(isinstance(value, SimHash) for value in given)):
        raise InputError(
            f"{name}: this collection is keyed, and a number does not say with which key it was made: "
            "give a text, or SimHashes as la.simhash(text, recipe=index.recipe) makes them"
        )


@dataclass(slots=True)
class NearSimhashes(Asked[Found]):
    """All rows within ``k`` bits of each query, nearest first, then by row."""

    words: NDArray[np.uint64]
    k: int
    limit: int
    workers: int = 1

    kind = "simhash"

    def in_segments(self, segments: Segments) -> Found:
        # Removed rows are among what a segment finds, so a limit can only be set after they are left out.
        whole = len(segments.removed) == 0
        inner = self.limit if whole else NO_LIMIT
        found = [segment.search(self.words, self.k, inner, self.workers) for segment in segments.all]
        queries = len(self.words) // (2 if segments.settings.bits == 128 else 1)
        some = [each for each in found if len(each.ids)]
        if found and (not some or (whole and len(some) == 1)):
            only: Found = (some or found)[0]
            return only
        query = np.concatenate([np.zeros(0, np.int64), *(np.repeat(np.arange(queries), np.diff(each.offsets)) for each in found)])
        rows = np.concatenate([np.zeros(0, np.int64), *(each.ids for each in found)])
        distances = np.concatenate([np.zeros(0, np.uint8), *(each.distances for each in found)])
        live = segments.live(rows)
        query, rows, distances = query[live], rows[live], distances[live]
        totals = np.bincount(query, minlength=queries).astype(np.int64)
        if whole:
            totals = np.sum([each.totals for each in found], axis=0, dtype=np.int64) if found else totals
        order = np.lexsort((rows, distances, query))
        query, rows, distances = query[order], rows[order], distances[order]
        offsets = np.searchsorted(query, np.arange(queries + 1))
        keep = np.arange(len(query)) - offsets[query] < self.limit
        kept = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), self.limit))]).astype(np.int64)
        return Found(kept, rows[keep], distances[keep], totals)

    def in_postgres(self, tables: PostgresReader) -> Found:
        wide = tables.settings.bits == 128
        low = (self.words[0::2] if wide else self.words).view(np.int64).tolist()
        high: list[int | None] = self.words[1::2].view(np.int64).tolist() if wide else [None] * len(low)
        found: list[tuple[int, int, int, int]] = []
        for first in range(0, len(low), QUERIES):
            here = slice(first, first + QUERIES)
            arguments = {"low": low[here], "high": high[here], "collection": tables.collection, "k": self.k, "limit": self.limit}
            found += [(place + first, *match) for place, *match in tables.connection.execute(NEAR, arguments)]
        query, rows, distances, totals = np.array(found, dtype=np.int64).reshape(-1, 4).T
        all_totals = np.zeros(len(low), dtype=np.int64)
        all_totals[query] = totals
        return Found(np.searchsorted(query, np.arange(len(low) + 1)), rows.copy(), distances.astype(np.uint8), all_totals)


def notes_on(recipe: Recipe, text: str, k: int) -> list[str]:
    weak = advice(recipe, text, k)
    return [weak] if weak else []


class _BySimhash(Way):
    """Documents whose SimHash differs from the query's in at most ``k`` bits."""

    name, scale, place = "simhash", "equal bits", 1
    parameter = "simhash"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        plan = plan_for(settings.recipe, "simhash", settings.bits)
        if plan is None:
            return simhash_words([thing], settings), thing
        return words_of([plan.sketcher.simhash(thing, settings.bits, plan.unique)], settings.bits, "simhash"), thing

    def at_once(self, store: Store, text: str, options: Options, *, with_text: bool) -> Matches | None:
        search, settings = getattr(store, "within", None), store.settings
        check_k(options.k)
        found: tuple[int, Matches] | None = None if search is None else search(text, options.k, options.limit, with_text)
        if found is None:
            return None
        _, matches = found
        matches.notes = notes_on(settings.lexical, text, options.k)
        return matches

    def given(self, fingerprint: Any, settings: Settings) -> Any:
        require_own("simhash", [fingerprint], settings)
        value = int(fingerprint) if isinstance(fingerprint, SimHash) else fingerprint
        return words_of([value], settings.bits, "simhash"), None

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        words, text = query
        check_k(options.k)
        found = reader.find(NearSimhashes(words, options.k, options.limit))
        explained = text is not None and settings.keep_text
        records = reader.records(found.ids.tolist(), ("text",) if explained else ())
        matches = []
        for row, distance in zip(found.ids.tolist(), found.distances.tolist(), strict=True):
            record = records[row]
            why: Any = partial(passages_of, text, record.text or "", settings) if explained else ()
            matches.append(Match(record.id, 1 - distance / settings.bits, distance, why, row=row))
        return Matches(matches, int(found.totals[0]), [] if text is None else notes_on(settings.lexical, text, options.k))

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        settings.require("simhash")
        return list(zip(batch.columns["simhash"].reshape(len(batch), -1), given.texts, strict=True))

    def may_find(self, reader: Reader, settings: Settings, queries: Sequence[Any], options: Options) -> Sequence[bool]:
        found: list[bool] = (reader.find(NearSimhashes(_words_of(queries), options.k, 1)).totals > 0).tolist()
        return found

    def collision_keys(self, queries: Sequence[Any], settings: Settings, options: Options) -> NDArray[np.int64] | None:
        """Of four quarters one is equal in two that differ in at most 3 bits, of eight eighths one in two that differ in at most 7.

        So two who admit with another k have a key in common too, where the smaller k lets them collide. With a larger k parts would be so
        small that nearly all share some. PostgreSQL computes the same (``sql/locks.sql``).
        """
        check_k(options.k)
        if options.k > 7:
            return None
        words = _words_of(queries).reshape(len(queries), -1)
        parts = [(count, part) for count in ((4,) if options.k <= 3 else (4, 8)) for part in range(count)]
        return np.stack([_part_key(words, settings.bits, *each) for each in parts], axis=1).view(np.int64)

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        check_k(options.k)
        settings.require("simhash")
        rule = Rule("simhash", settings.lexical, distance=options.k, bits=settings.bits)
        sketcher = Sketcher(Rule("exact", settings.lexical), 1)
        size = max(settings.bits // 8, 8)

        def sketch(records: Sequence[StoredDocument]) -> Sketches:
            values = [record.columns["simhash"] for record in records]
            words = np.frombuffer(b"".join(value.to_bytes(size, "little") for value in values), dtype=np.uint64)
            digests = np.ones((len(records), 2), dtype=np.uint64)
            # Texts without tokens have the SimHash 0, and are like nothing but each other.
            doubtful = [place for place, record in enumerate(records) if values[place] == 0 and record.text is not None]
            if doubtful:
                digests[doubtful] = sketcher.sketch(join_texts([records[place].text or "" for place in doubtful])).digests.reshape(-1, 2)
            nothing = np.zeros(0, np.uint64)
            return Sketches(nothing, np.zeros(len(records) + 1, np.int64), digests.reshape(-1), np.zeros(0, np.uint32), words)

        return clusters_of(having(reader, "simhash", "text"), rule, sketch, progress)


BY_SIMHASH = _BySimhash()


def _part_key(words: NDArray[np.uint64], bits: int, count: int, part: int) -> NDArray[np.uint64]:
    """A part of each fingerprint, of so many equal ones, and which one it is."""
    width = bits // count
    word, shift = divmod(part * width, 64)
    value = words[:, word] >> np.uint64(shift) & np.uint64((1 << width) - 1)
    return value | np.uint64((1 << 16) + 16 * count + part << 32)


def _words_of(queries: Sequence[Any]) -> NDArray[np.uint64]:
    return np.concatenate([words for words, _ in queries])


class _Simhash(Kind):
    name = "simhash"
    columns = (_Words("simhash", selected=("simhash", "simhash_high")),)
    segment = SimhashSegment
    built_from = ("simhash",)
    ways = (BY_SIMHASH,)
    by_default = in_schema = True
    all_or_none = True

    def recipe(self, settings: Settings) -> str:
        return fingerprint_recipe(settings.lexical, settings.bits)

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        shared = sketches_of(given, settings, workers)
        return {"simhash": simhash_words(given.texts, settings, workers) if shared is None else shared.simhashes}

    batch_elsewhere = 200_000

    def made_elsewhere(self, fingerprints: Any, settings: Settings) -> tuple[int, dict[str, Any]]:
        require_own("values", fingerprints, settings)
        words = words_of(fingerprints, settings.bits, "values")
        return len(words) // (2 if settings.bits == 128 else 1), {"simhash": words}

    def remade(self, texts: Sequence[str], settings: Settings) -> dict[str, list[Any]]:
        words = simhash_words(texts, settings)
        if settings.bits <= 64:
            return {"simhash": words.tolist()}
        low, high = words[::2].tolist(), words[1::2].tolist()
        return {"simhash": [a | b << 64 for a, b in zip(low, high, strict=True)]}

    def build(self, stretch: Stretch, settings: Settings) -> SimhashSegment:
        return SimhashSegment.build(*stretch.columns["simhash"], settings.bits)

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return SimHash(value, settings.bits, self.recipe(settings)).to_dict()

    def read_print(self, data: Any, settings: Settings) -> Any:
        found = SimHash.from_dict(data)
        require_same(found.recipe, self.recipe(settings))
        if found.bits != settings.bits:
            raise InputError(f"its SimHash has {found.bits} bits, expected {settings.bits}")
        return found.value

    def loaded(self, parsed: Sequence[Any], texts: Sequence[str | None], settings: Settings) -> dict[str, Any]:
        width = max(settings.bits // 8, 8)
        return {"simhash": np.frombuffer(b"".join(value.to_bytes(width, "little") for value in parsed), dtype=np.uint64)}

    def numbers(self, batch: Additions, settings: Settings) -> dict[str, Any] | None:
        words = batch.columns.get("simhash")
        if words is None:
            return {}
        if settings.bits <= 64:
            return {"simhash": words.view(np.int64)}
        return {"simhash": words[0::2].view(np.int64), "simhash_high": words[1::2].view(np.int64)}

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        columns = self.numbers(batch, settings) or {}
        return {name: map(integer_field, values.tolist()) for name, values in columns.items()}


SIMHASH = _Simhash()
