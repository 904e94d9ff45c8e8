"""The kind ``record``: structured data, found by bands of their fingerprints and compared field by field.

Columns: ``record``, the canonical JSON, where data are kept, and ``record_sketch``, a digest of it and the values of
its weighted MinHash. PostgreSQL also has ``record_bands``, the entries of the bands, behind an index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError
from lookalike.figures import shown_share
from lookalike.fingerprints.canonical import to_json
from lookalike.fingerprints.minhash import WeightedMinHash
from lookalike.fingerprints.record import RecordPrint, check_data, comparable_data, features_recipe, record
from lookalike.fingerprints.record_features import sketch_records
from lookalike.leaders.rule import Rule, weight_in_common
from lookalike.leaders.sketching import Sketches, record_sketches
from lookalike.recipe import require_same
from lookalike.segments.banding import Banding, choose_banding
from lookalike.segments.bands import BandSegment
from lookalike.stores.base import Additions, OnProgress, Reader, Segments, StoredDocument
from lookalike.stores.clustering import clusters_of, having
from lookalike.stores.clusters import Clusters
from lookalike.stores.given import Given
from lookalike.stores.kinds.bands import MAX_CANDIDATES, BandGroups, Group, SharingBands, band_entries
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.kinds.columns import Column
from lookalike.stores.matches import FieldMatch, Match, Matches
from lookalike.stores.postgres.copying import array_field
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader

DIGEST_BYTES = 8
INDEX = """
CREATE INDEX IF NOT EXISTS documents_by_record ON lookalike.documents USING gin (record_bands) WITH (fastupdate = off)
  WHERE record_bands IS NOT NULL
"""
SHARING = """
WITH found AS (
  SELECT ordinal, substr(record_sketch, 1, 8) AS digest,
    (SELECT count(*) FROM unnest(record_bands) AS key WHERE key = ANY (%(keys)s)) AS shared
  FROM lookalike.documents WHERE collection + 0 = %(collection)s AND record_bands && %(keys)s
)
SELECT digest, max(shared), count(*), count(*) OVER (), (array_agg(ordinal ORDER BY ordinal))[1 : %(rows)s]
FROM found GROUP BY digest ORDER BY max(shared) DESC, min(ordinal) LIMIT %(limit)s
"""
STORED = "SELECT ordinal, record_bands FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"


def record_banding(settings: Settings) -> Banding:
    """Bands that find records which are alike from the collection's threshold on."""
    return choose_banding(settings.size, weight_in_common(settings.threshold), settings.recall)


def keys_of(sketches: Sequence[bytes], settings: Settings) -> NDArray[np.uint32]:
    """The band keys of stored sketches, one after the other."""
    values = np.frombuffer(b"".join(sketch[DIGEST_BYTES:] for sketch in sketches), dtype="<u4").astype(np.uint32)
    return np.asarray(_native.band_keys(values, settings.size, *record_banding(settings)))


def sketches_of(data: Sequence[Mapping[str, Any]], written: Sequence[str], settings: Settings, workers: int = 1) -> list[bytes]:
    """What is stored of records beside their JSON."""
    found = sketch_records(data, dict(settings.weights), 64, settings.size, workers)
    values = np.asarray(found.minhashes).astype("<u4").tobytes()
    width = 4 * settings.size
    digests = (blake2b(text.encode(), digest_size=DIGEST_BYTES).digest() for text in written)
    return [digest + values[place * width : (place + 1) * width] for place, digest in enumerate(digests)]


@dataclass(slots=True)
class SharingRecords(Asked[BandGroups]):
    """Groups of equal records that share a band with the query."""

    keys: NDArray[np.uint32]
    limit: int
    rows: int

    kind = "record"

    def in_segments(self, segments: Segments) -> BandGroups:
        return SharingBands.in_segments(self, segments)  # type: ignore[arg-type]  # it looks at these three fields

    def in_postgres(self, tables: PostgresReader) -> BandGroups:
        keys = band_entries(self.keys, tables.collection).tolist()
        arguments = {"keys": keys, "collection": tables.collection, "limit": self.limit, "rows": min(self.rows, 2**31 - 1)}
        found = tables.connection.execute(SHARING, arguments, binary=True).fetchall()
        groups = [Group(int.from_bytes(digest, "little"), rows, size, shared) for digest, shared, size, _, rows in found]
        return BandGroups(groups, found[0][3] if found else 0)


class _RecordQuery(NamedTuple):
    print: RecordPrint
    values: NDArray[np.uint32]
    keys: NDArray[np.uint32]


class ByRecord(Way):
    """Records whose fields are alike: the weighted mean of their similarities, see ``lookalike.fingerprints.record``."""

    name, scale, place = "record", "mean of fields", 8
    takes = "record"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        settings.require("record")
        asked = thing if isinstance(thing, RecordPrint) else record(thing, weights=dict(settings.weights), measures=dict(settings.measures))
        sketches = sketches_of([asked.data], [asked.canonical], settings)
        return _RecordQuery(asked, np.frombuffer(sketches[0][DIGEST_BYTES:], dtype="<u4"), keys_of(sketches, settings))

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        settings.require("record")
        if len(given.records) < len(given):
            wrong = next(id_ for place, id_ in enumerate(given.ids) if place not in given.records)
            raise InputError(f"document {wrong!r}: by='record' compares records, and this is none: give a mapping in the place of its text")
        return [self.query(given.records[place], settings) for place in range(len(given))]

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        threshold = options.least(settings.threshold)
        found = reader.find(SharingRecords(query.keys, MAX_CANDIDATES, options.limit))
        # Every row is compared by its own data: digests, which can be forged, only save room.
        records = reader.records([row for group in found.groups for row in group.rows], ("record", "record_sketch"))
        scored = _Scores(query)
        scores = {row: scored.of(each) for row, each in records.items()}
        passed = sorted((-score, row) for row, score in scores.items() if score >= threshold)
        best = passed[: options.limit]
        matches = [Match(records[row].id, -score, 1 + score, row=row, **scored.explained(records[row])) for score, row in best]
        beyond = sum(group.size - len(group.rows) for group in found.groups if scores[group.rows[0]] >= threshold)
        notes = _notes(settings, threshold, found.total)
        if any(match.estimated for match in matches):
            notes.append("scores are estimated from MinHashes, because this collection keeps no data of records")
        return Matches(matches, len(passed) + beyond, notes)

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        settings.require("record")
        if not settings.keep_text:
            raise InputError("clusters by record compare data: this collection keeps none; make another one with keep_text=True")
        rule = Rule("record", settings.lexical, options.least(settings.threshold), weights=settings.weights, measures=settings.measures)
        rule.check()

        def sketch(records: Sequence[StoredDocument]) -> Sketches:
            return record_sketches([record.columns["record"] for record in records], rule)

        return clusters_of(having(reader, "record"), rule, sketch, progress)


class _Scores:
    """How alike stored records are to a query: equal ones are compared once, and those whose data are not kept by their sketches."""

    def __init__(self, query: _RecordQuery) -> None:
        self._query, self._prints = query, dict[str, tuple[RecordPrint, float]]()

    def of(self, stored: StoredDocument) -> float:
        written = stored.columns["record"]
        if written is None:
            values = np.frombuffer(stored.columns["record_sketch"][DIGEST_BYTES:], dtype="<u4")
            agreeing = float(np.mean(values == self._query.values))
            return 2 * agreeing / (1 + agreeing)  # sketches agree in what is common by what either has
        if written not in self._prints:
            made = RecordPrint(written, self._query.print.weights, self._query.print.measures)
            self._prints[written] = made, self._query.print.similarity(made)
        return self._prints[written][1]

    def explained(self, stored: StoredDocument) -> dict[str, Any]:
        """What each field contributes, and what both records have in it."""
        if stored.columns["record"] is None:
            return {"estimated": True}
        query, made = self._query.print, self._prints[stored.columns["record"]][0]
        common = query.shared(made)
        return {"fields": {name: FieldMatch(*part, shared=common.get(name)) for name, part in query.parts(made).items()}}


def _notes(settings: Settings, threshold: float, candidates: int) -> list[str]:
    notes = []
    if threshold < settings.threshold:
        recall = record_banding(settings).recall(weight_in_common(threshold))
        least = f"the bands were chosen for {settings.threshold}: of records with a similarity of {threshold} they find"
        notes.append(f"{least} {shown_share(recall, 0)} or more")
    if candidates > MAX_CANDIDATES:
        notes.append(f"{candidates} candidates: the {MAX_CANDIDATES} that share the most bands were verified")
    return notes


class _Record(Kind):
    name = "record"
    columns = (Column("record", text=True), Column("record_sketch"))
    segment = BandSegment
    built_from = ("record_sketch",)
    ways = (ByRecord(),)
    by_default = True
    of_records = True
    made_from_text = False
    lasting = True
    checked_columns = ("record", "record_sketch")

    def recipe(self, settings: Settings) -> str:
        return f"{WeightedMinHash.kind}-{settings.size}/{features_recipe(dict(settings.weights))}"

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        if not given.records:
            return {}
        weights, measures = dict(settings.weights), dict(settings.measures)
        for place, data in given.records.items():
            try:
                check_data(data, weights, measures)
            except InputError as error:
                raise InputError(f"document {given.ids[place]!r:.80}: {error}") from error
        return _columns([given.records.get(place) for place in range(len(given))], settings, workers)

    def build(self, stretch: Stretch, settings: Settings) -> BandSegment:
        rows, sketches = stretch.columns["record_sketch"]
        digests = np.array([int.from_bytes(sketch[:DIGEST_BYTES], "little") for sketch in sketches], dtype=np.uint64)
        return BandSegment.build(rows, digests, keys_of(sketches, settings), record_banding(settings).bands)

    def exported(self, record: StoredDocument, settings: Settings) -> dict[str, Any]:
        written, sketch = record.columns.get("record"), record.columns.get("record_sketch")
        return {"record": self.print_of(written or sketch, settings)} if written or sketch else {}

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        """The data, or of a collection that keeps none the sketch."""
        if isinstance(value, bytes):
            values = np.frombuffer(value[DIGEST_BYTES:], dtype="<u4").tolist()
            return {"digest": value[:DIGEST_BYTES].hex(), "values": values, "recipe": self.recipe(settings)}
        made = RecordPrint(value, settings.weights, settings.measures)
        return {"data": made.data, "recipe": made.recipe}

    def read_print(self, data: Any, settings: Settings) -> Any:
        """Of data fingerprints are made here, by whatever weights; a sketch must be of the same."""
        if "data" in data:
            return comparable_data(data["data"], dict(settings.weights), dict(settings.measures))
        require_same(data["recipe"], self.recipe(settings))
        values = WeightedMinHash(tuple(data["values"]), data["recipe"]).values
        sketch = bytes.fromhex(data["digest"]) + np.array(values, dtype="<u4").tobytes()
        if len(sketch) != DIGEST_BYTES + 4 * settings.size:
            raise InputError(f"the sketch of a record has {len(sketch)} bytes, expected {DIGEST_BYTES + 4 * settings.size}")
        return sketch

    def loaded(self, parsed: Sequence[Any], texts: Sequence[str | None], settings: Settings) -> dict[str, Any]:
        if not any(each is not None for each in parsed):
            return {}
        columns = _columns([each if isinstance(each, dict) else None for each in parsed], settings, 1)
        sketches = zip(parsed, columns["record_sketch"], strict=True)
        return columns | {"record_sketch": [each if isinstance(each, bytes) else made for each, made in sketches]}

    # PostgreSQL: the entries of the bands of each record, mixed with the collection

    def make_columns(self, connection: Connection) -> None:
        from lookalike.stores.postgres.schema import add_column

        super().make_columns(connection)
        if add_column(connection, "record_bands", "bigint[]"):
            connection.execute(INDEX)

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        sketches = batch.columns.get("record_sketch")
        return None if sketches is None else list(_entries(sketches, collection, settings))

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        more = {} if prepared is None else {"record_bands": map(array_field, prepared)}
        return super().copied(batch, prepared, collection, settings) | more

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[StoredDocument], settings: Settings) -> dict[int, Any]:
        """Of records: the sketch and the bands that they should have and do not."""
        there = {each.row: each.columns for each in records if each.columns["record"] is not None}
        if not there:
            return {}
        written = [columns["record"] for columns in there.values()]
        sketches = sketches_of([json.loads(each) for each in written], written, settings)
        made = dict(zip(there, zip(sketches, _entries(sketches, collection, settings), strict=True), strict=True))
        stored: dict[int, list[int]] = dict(connection.execute(STORED, (collection, list(there)), binary=True).fetchall())
        return {
            row: (sketch, bands.tolist())
            for row, (sketch, bands) in made.items()
            if bands is not None and (there[row]["record_sketch"] != sketch or stored.get(row) != bands.tolist())
        }

    def problem(self, wrong: int) -> str:
        return f"records: the sketches or bands of {wrong} do not fit their data"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        statement = "UPDATE lookalike.documents SET record_sketch = %s, record_bands = %s WHERE collection = %s AND ordinal = %s"
        for row, (sketch, bands) in wrong.items():
            connection.execute(statement, (sketch, bands, collection, row))


def _columns(data: Sequence[Mapping[str, Any] | None], settings: Settings, workers: int) -> dict[str, Any]:
    """From canonical data, of each document that has some."""
    there = [each for each in data if each is not None]
    written = [to_json(each) for each in there]
    texts, sketches = iter(written), iter(sketches_of(there, written, settings, workers))
    return {
        "record": [None if each is None or not settings.keep_text else next(texts) for each in data],
        "record_sketch": [None if each is None else next(sketches) for each in data],
    }


def _entries(sketches: Sequence[bytes | None], collection: int, settings: Settings) -> Iterator[NDArray[np.int64] | None]:
    """The band keys of each as the index of PostgreSQL has them."""
    there = [sketch for sketch in sketches if sketch is not None]
    keys = keys_of(there, settings).reshape(len(there), -1) if there else np.zeros((0, 1), np.uint32)
    entries = iter(band_entries(keys, collection))
    return (None if sketch is None else next(entries) for sketch in sketches)


RECORD = _Record()
