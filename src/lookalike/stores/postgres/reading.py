"""One state of a collection in the database; see ``stores.base.Reader``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from lookalike import _native
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.segments.fuzzy import SsdeepSegment, TlshSegment
from lookalike.segments.hamming import NO_LIMIT, Found
from lookalike.segments.passages import PassageSegment
from lookalike.segments.shared import SharedResult, shared_documents
from lookalike.segments.vectors import NearVectors
from lookalike.stores.base import FuzzyFound, Group, Groups, Id, Record
from lookalike.stores.postgres.passages import StoredPassages
from lookalike.stores.postgres.rows import WORD, band_entries, record, selected, split_ids
from lookalike.stores.postgres.structures import sharing_structures
from lookalike.stores.postgres.vectors import StoredVectors
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.stores.postgres.connections import Connection

AT_A_TIME = 10_000  # rows of a statement
QUERIES = 1000  # fingerprints that are searched for in a statement
DIGESTS = 50_000  # fuzzy digests that are compared at a time

IDS = """
SELECT id_text, id_number, ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_text = ANY (%(texts)s)
UNION ALL
SELECT id_text, id_number, ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_number = ANY (%(numbers)s)
"""
SIMHASHES = """
SELECT q.place - 1, found.ordinal, found.distance, found.total
FROM unnest(%(low)s::bigint[], %(high)s::bigint[]) WITH ORDINALITY AS q (low, high, place), LATERAL (
  SELECT ordinal, distance, count(*) OVER () AS total
  FROM lookalike.simhash_rows(%(collection)s, q.low, q.high, %(k)s)
  ORDER BY distance, ordinal LIMIT %(limit)s
) AS found
ORDER BY q.place, found.distance, found.ordinal
"""
# "collection + 0": through the index of bands, not by the primary key, which the planner likes before it has statistics.
BANDS = """
WITH found AS (
  SELECT digest, (SELECT count(*) FROM unnest(bands) AS key WHERE key = ANY (%(keys)s)) AS shared
  FROM lookalike.sketches WHERE collection + 0 = %(collection)s AND bands && %(keys)s
), best AS (
  SELECT found.digest, shared, size, first, count(*) OVER () AS total
  FROM found, LATERAL (
    SELECT count(*) AS size, min(ordinal) AS first FROM lookalike.documents WHERE collection = %(collection)s AND digest = found.digest
  ) AS members
  WHERE size > 0
  ORDER BY shared DESC, first LIMIT %(limit)s
)
SELECT digest, shared, size, total, ARRAY(
  SELECT ordinal FROM lookalike.documents WHERE collection = %(collection)s AND digest = best.digest ORDER BY ordinal LIMIT %(rows)s
)
FROM best ORDER BY shared DESC, first
"""
TLSHS = "SELECT ordinal, tlsh FROM lookalike.documents WHERE collection = %s AND tlsh IS NOT NULL AND substr(tlsh, 5, 2) = ANY (%s)"
SSDEEPS = (
    "SELECT ordinal, ssdeep FROM lookalike.documents WHERE collection = %s AND ssdeep IS NOT NULL AND split_part(ssdeep, ':', 1) = ANY (%s)"
)


class PostgresReader:
    """Everything is read in the transaction that the connection is in."""

    def __init__(
        self, connection: Connection, collection: int, documents: int, settings: Settings, require_open: Callable[[], None]
    ) -> None:
        self._connection, self._collection, self._documents, self._settings = connection, collection, documents, settings
        self._require_open = require_open
        self._cursors = count()

    def count(self) -> int:
        return self._documents

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        texts, numbers = split_ids(ids)
        found = self._connection.execute(IDS, {"collection": self._collection, "texts": texts, "numbers": numbers})
        return {number if text is None else text: ordinal for text, number, ordinal in found}

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]:
        query = f"SELECT {selected(columns)} FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"  # noqa: S608
        found = {}
        for first in range(0, len(rows), AT_A_TIME):
            part = [int(row) for row in rows[first : first + AT_A_TIME]]
            for values in self._connection.execute(query, (self._collection, part), binary=True):
                found[values[0]] = record(values, columns)
        return found

    def scan(self, columns: Sequence[str]) -> Iterator[Record]:
        """All documents in order of their rows, through a cursor of the server's: other queries may run meanwhile."""
        query = f"SELECT {selected(columns)} FROM lookalike.documents WHERE collection = %s ORDER BY ordinal"  # noqa: S608
        with self._connection.cursor(f"scan_{next(self._cursors)}", binary=True) as cursor:
            cursor.itersize = 1000
            for values in cursor.execute(query, (self._collection,)):
                self._require_open()  # whoever goes through all documents may have been away for long
                yield record(values, columns)

    def _require(self, kind: str) -> None:
        self._settings.require(kind)

    def near_simhashes(self, words: NDArray[np.uint64], k: int, limit: int, workers: int) -> Found:
        import numpy as np

        self._require("simhash")
        wide = self._settings.bits == 128
        low = (words[0::2] if wide else words).view(np.int64).tolist()
        high: list[int | None] = words[1::2].view(np.int64).tolist() if wide else [None] * len(low)
        found: list[tuple[int, int, int, int]] = []
        for first in range(0, len(low), QUERIES):
            here = slice(first, first + QUERIES)
            arguments = {"low": low[here], "high": high[here], "collection": self._collection, "k": k, "limit": limit}
            found += [(place + first, *match) for place, *match in self._connection.execute(SIMHASHES, arguments)]
        query, rows, distances, totals = np.array(found, dtype=np.int64).reshape(-1, 4).T
        all_totals = np.zeros(len(low), dtype=np.int64)
        all_totals[query] = totals
        return Found(np.searchsorted(query, np.arange(len(low) + 1)), rows.copy(), distances.astype(np.uint8), all_totals)

    def sharing_bands(self, keys: NDArray[np.uint32], limit: int, rows: int, kind: str = "minhash") -> Groups:
        self._require(kind)
        if kind == "structure":
            return sharing_structures(self._connection, self._collection, keys, limit, rows)
        arguments = {"keys": band_entries(keys, self._collection).tolist(), "collection": self._collection, "limit": limit, "rows": rows}
        found = self._connection.execute(BANDS, arguments).fetchall()
        groups = [Group(digest % WORD, members, size, shared) for digest, shared, size, _, members in found]
        return Groups(groups, found[0][3] if found else 0)

    def may_share_bands(self, keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
        import numpy as np

        # Asking the database for each key costs as much as the search itself.
        return np.ones(len(keys) // self._settings.banding.bands, dtype=np.bool_)

    def sharing_passages(self, query: Winnowing, limit: int) -> SharedResult:
        import numpy as np

        self._require("winnowing")
        # It has what is asked of a segment; removed documents are not there any more.
        stored = cast(PassageSegment, StoredPassages(self._connection, self._collection, self._settings))
        return shared_documents([stored], query, documents=self._documents, removed=np.zeros(0, np.int64), limit=limit)

    def near_tlsh(self, digest: str, max_distance: int, limit: int) -> FuzzyFound:
        self._require("tlsh")
        parts = self._digests(TLSHS, lengths_within(digest, max_distance))
        return _merged([TlshSegment.build(*part).search(digest, max_distance, NO_LIMIT) for part in parts], limit, best_first=1)

    def near_ssdeep(self, digest: str, min_score: int, limit: int) -> FuzzyFound:
        self._require("ssdeep")
        size = int(digest.partition(":")[0])
        # Letters at one block size say nothing of letters at another: only neighbours have one in common.
        parts = self._digests(SSDEEPS, [str(size), str(2 * size), str(size // 2)])
        return _merged([SsdeepSegment.build(*part).search(digest, min_score, NO_LIMIT) for part in parts], limit, best_first=-1)

    def near_vectors(self, halves: NDArray[np.uint16], least: float, limit: int, workers: int, approximate: bool = False) -> NearVectors:
        self._require("vector")
        stored = StoredVectors(self._connection, self._collection, self._settings.dimensions or 1)
        return stored.search(halves, least, limit, workers, approximate)

    def _digests(self, query: str, near: list[str]) -> Iterator[tuple[NDArray[np.int64], list[str]]]:
        """Rows, ascending, and their digests, so many at a time."""
        import numpy as np

        with self._connection.cursor(f"scan_{next(self._cursors)}", binary=True) as cursor:
            cursor.execute(query, (self._collection, near))
            while found := cursor.fetchmany(DIGESTS):
                rows, digests = zip(*sorted(found), strict=True)
                yield np.array(rows, dtype=np.int64), list(digests)


def bands_of(values: NDArray[np.uint32], settings: Settings, collection: int) -> NDArray[np.int64]:
    """The band keys of MinHashes as the index has them, a row each."""
    import numpy as np

    banding = settings.banding
    keys = np.asarray(_native.band_keys(np.ascontiguousarray(values), settings.size, banding.bands, banding.rows))
    return band_entries(keys.reshape(-1, banding.bands), collection)


def lengths_within(digest: str, max_distance: int) -> list[str]:
    """The length codes, as a TLSH has them, that alone put no more than this between two digests."""
    own = int(digest[5] + digest[4], 16)  # the low digit comes first
    steps = max_distance // 12 if max_distance >= 24 else min(max_distance, 1)
    return sorted({f"{code % 16:X}{code // 16:X}" for code in ((own + step) % 256 for step in range(-steps, steps + 1))})


def _merged(found: Sequence[Any], limit: int, best_first: int) -> FuzzyFound:
    import numpy as np

    rows = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in found)])
    values = np.concatenate([np.zeros(0, np.int64), *(each[1] for each in found)]).astype(np.int64)
    order = np.lexsort((rows, best_first * values))[:limit]
    return FuzzyFound(rows[order], values[order], len(rows))
