"""The kind ``vector``: documents that say the same, by the cosine of a model's vectors."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import Corrupt, InputError, RecipeMismatch
from lookalike.leaders.meaning import vectors_as_words
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches
from lookalike.recipe import Recipe, require_same
from lookalike.segments.graphs import ALL_ARE_READ, GRAPH_NOTE, exact_note
from lookalike.segments.hamming import NO_LIMIT
from lookalike.segments.vectors import NearVectors, VectorSegment, encoded, has_direction, merged, unit_halves
from lookalike.stores.base import Additions, OnProgress, Reader, Segments, StoredDocument
from lookalike.stores.clustering import clusters_of, having
from lookalike.stores.clusters import Clusters
from lookalike.stores.given import Given
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.kinds.columns import Numbers
from lookalike.stores.matches import Match, Matches
from lookalike.stores.postgres.copying import bytes_field
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch
from lookalike.system import usable_cores

if TYPE_CHECKING:
    from lookalike.embedders.base import Embedder
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader

THRESHOLD = 0.0  # of a search: the best first, however far they are
MANY = 20_000  # documents, from which on a search is worth several threads
CLUSTER_THRESHOLD = 0.9  # of documents that say the same


def require_vectors(settings: Settings) -> int:
    """The dimensions of a collection's vectors."""
    if "vector" not in settings.kinds or settings.dimensions is None:
        raise InputError(
            f"this collection has no vectors to search by meaning, only {', '.join(settings.kinds)}: make another one with a model"
            " (model='use-multilingual', --model)"
        )
    return settings.dimensions


def model_of(settings: Settings) -> Embedder:
    """The model that the collection's vectors are of. The recipe's id covers its version; what it gives is looked at all the same."""
    from lookalike.embedders.opening import embedder

    dimensions = require_vectors(settings)
    model = embedder(settings.model)
    if model.dimensions != dimensions:
        found = f"embedder {settings.model!r} gives vectors of {model.dimensions} dimensions"
        raise RecipeMismatch(f"{found}, and the collection holds some of {dimensions}: use the model that it was made with")
    return model


def given_vectors(vectors: Any, settings: Settings, name: str = "vectors") -> NDArray[np.uint16]:
    """Vectors that were made elsewhere, a row each, or a single one."""
    dimensions = require_vectors(settings)
    rows = np.asarray(vectors)[None] if name == "vector" and getattr(np.asarray(vectors), "ndim", 0) == 1 else vectors
    return unit_halves(rows, dimensions, name)


class _Halves(Numbers):
    """Halves of length 1, as many as the collection has dimensions; zeros, of which databases have NULL, where there is no vector."""

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        there = has_direction(values, len(values) // max(count, 1)).tolist() if count else []
        return [blob if directed else None for blob, directed in zip(super().stored(values, count), there, strict=True)]

    def packed(self, values: Any, count: int) -> Any:
        whole = has_direction(values, len(values) // count).all()
        return super().packed(values, count) if whole else list(self.stored(values, count))

    def present(self, rows: Any, values: Any) -> tuple[Any, Any]:
        if not len(rows):
            return rows, values
        dimensions = len(values) // len(rows)
        there = has_direction(values, dimensions)
        return (rows, values) if there.all() else (rows[there], values.reshape(-1, dimensions)[there].reshape(-1))

    def copied(self, values: Any, count: int) -> Iterable[bytes]:
        from lookalike.stores.postgres.vectors import packed_vectors

        return map(bytes_field, packed_vectors(values, count))

    def from_postgres(self, *values: Any) -> Any:
        from lookalike.stores.postgres.vectors import unpacked

        return None if values[0] is None else unpacked(values[0])


@dataclass(slots=True)
class NearestVectors(Asked[NearVectors]):
    """All rows with a cosine of at least ``least``, best first, then by row. Queries are halves, one after the other.

    ``approximate``: some of the nearest may be missed, if that is faster; ``notes`` say whether they may have been.
    """

    halves: NDArray[np.uint16]
    least: float
    limit: int
    workers: int
    approximate: bool = False

    kind = "vector"

    def in_segments(self, segments: Segments) -> NearVectors:
        note = ""
        if self.approximate and self.least <= 0 and self.limit != NO_LIMIT:
            found, note = segments.through_graphs(self.halves, self.limit, self.workers)
        else:
            options = self.halves, self.least, self.limit, self.workers, segments.removed
            found = [segment.search(*options) for segment in segments.all]
            note = exact_note(ALL_ARE_READ) if self.approximate else ""
        whole = merged(found, len(self.halves) // (segments.settings.dimensions or 1), self.limit)
        return whole._replace(notes=(note,) if note else ())

    def in_postgres(self, tables: PostgresReader) -> NearVectors:
        from lookalike.stores.postgres.vectors import StoredVectors

        stored = StoredVectors(tables.connection, tables.collection, tables.settings.dimensions or 1)
        return stored.search(self.halves, self.least, self.limit, self.workers, self.approximate)


class _VectorQuery(NamedTuple):
    halves: NDArray[np.uint16]
    notes: Sequence[str]  # what whoever asks should know about it


class _Meaning(Way):
    """Documents by the cosine of their vectors with the query's."""

    name, scale, place = "meaning", "cosine", 3
    approximates = True
    alike_from = CLUSTER_THRESHOLD
    parameter = "vector"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        return _VectorQuery(*encoded(model_of(settings), [thing], settings.recipe.forms))

    def given(self, fingerprint: Any, settings: Settings) -> Any:
        return _VectorQuery(given_vectors(fingerprint, settings, "vector"), ())

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        require_vectors(settings)
        return [_VectorQuery(halves, ()) for halves in batch.columns["vector"].reshape(len(batch), -1)]

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        if not has_direction(query.halves, require_vectors(settings)).all():
            return Matches([], 0, ["the query has no meaning to search by: it is empty, or the model knows nothing of it"])
        workers = usable_cores() if reader.count() >= MANY else 1
        found = reader.find(NearestVectors(query.halves, options.least(THRESHOLD), options.limit, workers, options.approximate))
        records = reader.records(found.rows.tolist(), ())
        pairs = zip(found.rows.tolist(), found.cosines.tolist(), strict=True)
        # Without a threshold nothing says which documents match, and a graph does not know how many there are: then as many as were found.
        total = None if options.threshold is None or GRAPH_NOTE in found.notes else int(found.totals[0])
        return Matches((Match(records[row].id, cosine, 1 - cosine, row=row) for row, cosine in pairs), total, [*query.notes, *found.notes])

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        rule = Rule("meaning", settings.recipe, options.least(CLUSTER_THRESHOLD), dimensions=require_vectors(settings))
        rule.check()
        nothing: NDArray[np.uint64] = np.zeros(0, np.uint64)

        def sketch(records: Sequence[StoredDocument]) -> Sketches:
            data = b"".join(record.columns["vector"] for record in records)
            words, offsets = vectors_as_words(np.frombuffer(data, dtype=np.uint16).reshape(len(records), -1))
            return Sketches(words, offsets, np.zeros(2 * len(records), np.uint64), nothing, np.zeros(0, np.uint64))

        return clusters_of(having(reader, "vector"), rule, sketch, progress)


class _Vector(Kind):
    name = "vector"
    columns = (_Halves("vector", np.uint16),)
    segment = VectorSegment
    built_from = ("vector",)
    ways = (_Meaning(),)
    by_default = True
    made_from_text = False  # but it takes a model and time

    def fits(self, recipe: Recipe) -> bool:
        return recipe.embedder is not None

    def check(self, settings: Settings) -> None:
        if settings.recipe.embedder is None and settings.unopened_model is None:
            raise InputError("kinds: vectors need a model: open the store with model='use-multilingual', or a recipe with an embedder")

    def completed(self, settings: Settings) -> Settings:
        """What the model gives is what the collection will always hold."""
        from lookalike.embedders.opening import embedder

        return replace(settings, dimensions=embedder(settings.model).dimensions)

    def recipe(self, settings: Settings) -> str:
        return f"vector-{settings.dimensions}/{settings.recipe_id}"

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        return {"vector": encoded(model_of(settings), given.texts, settings.recipe.forms)[0]}

    def made_elsewhere(self, fingerprints: Any, settings: Settings) -> tuple[int, dict[str, Any]]:
        halves = given_vectors(fingerprints, settings)
        return len(halves) // require_vectors(settings), {"vector": halves}

    def build(self, stretch: Stretch, settings: Settings) -> VectorSegment:
        assert settings.dimensions is not None  # noqa: S101 - a collection with vectors knows it
        try:
            return VectorSegment.build(*stretch.columns["vector"], settings.dimensions)
        except ValueError as error:
            raise Corrupt(f"the stored vectors are damaged: {error}; restore the store from a copy or an export") from error

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return {"value": base64.b64encode(value).decode(), "recipe": self.recipe(settings)}

    def read_print(self, data: Any, settings: Settings) -> Any:
        require_same(data["recipe"], self.recipe(settings))
        vector = base64.b64decode(data["value"], validate=True)
        dimensions = settings.dimensions or 0
        if len(vector) != 2 * dimensions:
            raise InputError(f"its vector has {len(vector)} bytes, expected {2 * dimensions}")
        _native.vector_squares(np.frombuffer(vector, dtype=np.uint16), dimensions)  # checks the numbers
        return vector

    def loaded(self, parsed: Sequence[Any], texts: Sequence[str | None], settings: Settings) -> dict[str, Any]:
        """Those that came along; the others are made from the texts."""
        halves = np.zeros((len(parsed), settings.dimensions or 0), dtype=np.uint16)
        missing = [place for place, each in enumerate(parsed) if each is None and texts[place] is not None]
        if missing:
            made, _ = encoded(model_of(settings), [texts[place] or "" for place in missing], settings.recipe.forms)
            halves[missing] = made.reshape(len(missing), -1)
        for place, each in enumerate(parsed):
            if each is not None:
                halves[place] = np.frombuffer(each, dtype=np.uint16)
        return {"vector": halves.reshape(-1)}

    def make_columns(self, connection: Connection) -> None:
        from lookalike.stores.postgres.vectors import add_column

        add_column(connection)

    def compacted(self, connection: Connection, collection: int, settings: Settings) -> None:
        from lookalike.stores.postgres.vectors import make_graph

        if settings.dimensions is not None:
            make_graph(connection, collection, settings.dimensions)


VECTOR = _Vector()
