"""The kind ``structure``: web pages of one template.

A store keeps the hashes of a page's distinct tag paths, ascending, in little-endian words. They are the truth; MinHash, band keys and
digest are made of them whenever they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches
from lookalike.markup.page import Page
from lookalike.pages.prints import STRUCTURE as PAGE_STRUCTURE
from lookalike.pages.prints import outline
from lookalike.recipe import require_same
from lookalike.segments.bands import BandSegment
from lookalike.stores.base import Additions, OnProgress, Reader, StoredDocument
from lookalike.stores.clustering import clusters_of, having
from lookalike.stores.clusters import Clusters
from lookalike.stores.given import Given
from lookalike.stores.kinds.bands import MAX_CANDIDATES, BandTables, SharingBands, band_entries, band_keys, near_notes, ranked
from lookalike.stores.kinds.base import Kind, Options, Way
from lookalike.stores.kinds.columns import Column
from lookalike.stores.matches import Matches
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

WORD_BYTES = 8
# PostgreSQL has tables of their own for structures, empty where there are no pages.
TABLES = BandTables("structures", ("paths bytea",), "pages", "structure")
ADD_PAGES = """
INSERT INTO lookalike.pages (collection, ordinal, structure)
SELECT %s, ordinal, structure FROM unnest(%s::bigint[], %s::bigint[]) AS p (ordinal, structure)
"""
DROP_PAGES = """
DELETE FROM lookalike.pages p WHERE collection = %s AND NOT EXISTS
(SELECT FROM lookalike.documents d WHERE d.collection = p.collection AND d.ordinal = p.ordinal)
"""
STORED = "SELECT digest, paths, bands FROM lookalike.structures WHERE collection = %s"
REPLACE = "UPDATE lookalike.structures SET bands = %s WHERE collection = %s AND digest = %s"


# What stands for the column in a SELECT from lookalike.documents.
PATHS = (
    "(SELECT paths FROM lookalike.pages p, lookalike.structures s WHERE p.collection = documents.collection"
    " AND p.ordinal = documents.ordinal AND s.collection = p.collection AND s.digest = p.structure)"
)


class SharingStructures(SharingBands):
    kind, tables = "structure", TABLES


def page_structure(page: Page) -> bytes:
    """What a store keeps of the structure of a page."""
    return np.asarray(outline(page.html)[0]).astype("<u8").tobytes()


def unpack_structure(data: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(data, dtype="<u8")


def _offsets(stored: Iterable[bytes], count: int) -> NDArray[np.int64]:
    return np.fromiter(accumulate((len(data) // WORD_BYTES for data in stored), initial=0), dtype=np.int64, count=count + 1)


def structure_sketches(stored: Sequence[bytes], settings: Settings) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The digest of each structure, and its band keys one after the other. Equal ones, of which templates have many, are done once."""
    places = {data: place for place, data in enumerate(dict.fromkeys(stored))}
    paths = unpack_structure(b"".join(places)).astype(np.uint64)
    values = _native.minhash_features(paths, _offsets(places, len(places)), settings.size, 1)
    keys = band_keys(np.asarray(values), settings).reshape(len(places), settings.banding.bands)
    digests = np.array([_native.checksum(np.frombuffer(data, np.uint8)) for data in places], dtype=np.uint64)
    each = np.array([places[data] for data in stored], dtype=np.int64)
    return digests[each], np.ascontiguousarray(keys[each]).reshape(-1)


def shared_paths(query: NDArray[np.uint64], stored: Sequence[bytes]) -> list[float]:
    """The exact Jaccard similarity of a page's tag paths, which ascend, with those of each stored page."""
    sizes = np.array([len(data) // WORD_BYTES for data in stored], dtype=np.int64)
    paths = unpack_structure(b"".join(stored))
    # For thousands of candidates at once: which of all their paths the query has, and how many of each candidate.
    if len(query):
        has = query[np.minimum(np.searchsorted(query, paths), len(query) - 1)] == paths
    else:
        has = np.zeros(len(paths), dtype=bool)
    until = np.concatenate(([0], np.cumsum(has)))[np.concatenate(([0], np.cumsum(sizes)))]
    common = np.diff(until)
    unions = len(query) + sizes - common
    return [shared / union if union else 1.0 for shared, union in zip(common.tolist(), unions.tolist(), strict=True)]


class _ByStructure(Way):
    """Pages whose distinct tag paths have a Jaccard similarity of at least the threshold with the query's."""

    name, scale, place = "structure", "jaccard of paths", 7
    takes = "page"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        return page_structure(thing)

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        settings.require("structure")
        found = given.of_pages["structure"]
        if len(found) < len(given):
            wrong = next(id_ for place, id_ in enumerate(given.ids) if place not in found)
            raise InputError(f"document {wrong!r}: by='structure' compares web pages, and this is none: give la.page(…)")
        return [found[place] for place in range(len(given))]

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        threshold = options.least(settings.threshold)
        _, keys = structure_sketches([query], settings)
        found = reader.find(SharingStructures(keys, MAX_CANDIDATES, options.limit))
        records = reader.records([group.rows[0] for group in found.groups], ("structure",))
        stored = [record.columns["structure"] or b"" for record in records.values()]
        scores = dict(zip(records, shared_paths(unpack_structure(query), stored), strict=True))
        known = {row: record.id for row, record in records.items()}
        notes = near_notes(settings, threshold, found.total)
        return ranked(reader, found.groups, scores, threshold, options.limit, notes, lambda _: (), known)

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        settings.require("structure")
        rule = Rule("structure", settings.lexical, options.least(settings.threshold))
        rule.check()

        def sketch(records: Sequence[StoredDocument]) -> Sketches:
            stored = [record.columns["structure"] for record in records]
            paths = unpack_structure(b"".join(stored)).astype(np.uint64)
            made = _native.sketch_feature_lists(paths, _offsets(stored, len(stored)), rule.sketch_size, *rule.banding, 1)
            features, distinct, digests, keys = map(np.asarray, made)
            return Sketches(features, distinct, digests, keys, np.zeros(0, np.uint64))

        return clusters_of(having(reader, "structure"), rule, sketch, progress)


class _Structure(Kind):
    name = "structure"
    columns = (Column("structure", selected=(PATHS,)),)
    segment = BandSegment
    built_from = ("structure",)
    ways = (_ByStructure(),)
    by_default = in_schema = True
    of_pages = True
    made_from_text = False
    lasting = True

    def recipe(self, settings: Settings) -> str:
        return f"minhash-{settings.size}/{PAGE_STRUCTURE}"

    def of_page(self, page: Page) -> Any:
        return page_structure(page)

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        found = given.of_pages.get("structure")
        return {"structure": [found.get(place) for place in range(len(given))]} if found else {}

    def build(self, stretch: Stretch, settings: Settings) -> BandSegment:
        rows, stored = stretch.columns["structure"]
        return BandSegment.build(rows, *structure_sketches(stored, settings), settings.banding.bands)

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return {"values": unpack_structure(value).tolist(), "recipe": PAGE_STRUCTURE}

    def read_print(self, data: Any, settings: Settings) -> Any:
        require_same(data["recipe"], PAGE_STRUCTURE)
        if not all(type(value) is int for value in data["values"]):
            raise InputError("the values of a structure are whole numbers")
        return np.unique(np.array(data["values"], dtype="<u8")).tobytes()

    # PostgreSQL: a row of lookalike.structures for each structure, and one of lookalike.pages for each page

    side_tables = ("pages",)

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        return {}

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        there = [(place, data) for place, data in enumerate(batch.columns.get("structure", ())) if data is not None]
        if not there:
            return None
        digests, keys = _entries([data for _, data in there], collection, settings)
        distinct = {digest: place for place, digest in enumerate(digests)}
        places = list(distinct.values())
        added = {
            "collection": collection,
            "digests": list(distinct),
            "paths": [there[place][1] for place in places],
            "bands": keys.shape[1],
            "keys": keys[places].reshape(-1).tolist(),
        }
        return added, [place for place, _ in there], digests

    def add_rows(self, connection: Connection, collection: int, ordinals: Sequence[int], batch: Additions, prepared: Any) -> None:
        if prepared is not None:
            added, places, digests = prepared
            connection.execute(TABLES.add(), added)
            connection.execute(ADD_PAGES, (collection, [ordinals[place] for place in places], digests))

    def drop_unused(self, connection: Connection, collection: int) -> None:
        # A writer who finds a structure does not add it again, so there must be no writer meanwhile.
        connection.execute("LOCK TABLE lookalike.structures IN SHARE ROW EXCLUSIVE MODE")
        connection.execute(DROP_PAGES, (collection,))
        connection.execute(TABLES.drop(), (collection,))

    def wrong_tables(self, connection: Connection, collection: int, settings: Settings) -> dict[int, Any]:
        """The band keys that structures should have and do not, by digest."""
        wrong: dict[int, list[int]] = {}
        with connection.cursor("structures", binary=True) as cursor:
            cursor.itersize = 1000
            cursor.execute(STORED, (collection,))
            while stored := cursor.fetchmany(1000):
                _, keys = _entries([paths for _, paths, _ in stored], collection, settings)
                made: list[Any] = keys.tolist()
                wrong |= {digest: right for (digest, _, bands), right in zip(stored, made, strict=True) if bands != right}
        return wrong

    def problem(self, wrong: int) -> str:
        return f"structures: the bands of {wrong} do not fit their tag paths"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        for digest, bands in wrong.items():
            connection.execute(REPLACE, (bands, collection, digest))


def _entries(structures: Sequence[bytes], collection: int, settings: Settings) -> tuple[list[int], NDArray[np.int64]]:
    """Digests, and band keys as the index of PostgreSQL has them."""
    digests, keys = structure_sketches(structures, settings)
    return digests.view(np.int64).tolist(), band_entries(keys.reshape(len(structures), -1), collection)


STRUCTURE = _Structure()
