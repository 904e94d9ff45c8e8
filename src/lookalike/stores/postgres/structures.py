"""The structures of web pages in the database: tables of their own, empty where there are no pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookalike.stores.base import Batch, Group, Groups
from lookalike.stores.page_structures import structure_sketches
from lookalike.stores.postgres.rows import WORD, band_entries
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.stores.postgres.connections import Connection

# In order of the digests, for the same reason as sketches.
ADD = """
INSERT INTO lookalike.structures (collection, digest, paths, bands)
SELECT %(collection)s, digest, paths, (%(keys)s::bigint[])[(place - 1) * %(bands)s + 1 : place * %(bands)s]
FROM unnest(%(digests)s::bigint[], %(paths)s::bytea[]) WITH ORDINALITY AS s (digest, paths, place) ORDER BY digest
ON CONFLICT DO NOTHING
"""
ADD_PAGES = """
INSERT INTO lookalike.pages (collection, ordinal, structure)
SELECT %s, ordinal, structure FROM unnest(%s::bigint[], %s::bigint[]) AS p (ordinal, structure)
"""
SHARING = """
WITH found AS (
  SELECT digest, (SELECT count(*) FROM unnest(bands) AS key WHERE key = ANY (%(keys)s)) AS shared
  FROM lookalike.structures WHERE collection + 0 = %(collection)s AND bands && %(keys)s
), best AS (
  SELECT found.digest, shared, size, first, count(*) OVER () AS total
  FROM found, LATERAL (
    SELECT count(*) AS size, min(ordinal) AS first FROM lookalike.pages WHERE collection = %(collection)s AND structure = found.digest
  ) AS members
  WHERE size > 0
  ORDER BY shared DESC, first LIMIT %(limit)s
)
SELECT digest, shared, size, total, ARRAY(
  SELECT ordinal FROM lookalike.pages JOIN lookalike.documents USING (collection, ordinal)
  WHERE collection = %(collection)s AND structure = best.digest ORDER BY ordinal LIMIT %(rows)s
)
FROM best ORDER BY shared DESC, first
"""
DROP_PAGES = """
DELETE FROM lookalike.pages p WHERE collection = %s AND NOT EXISTS
(SELECT FROM lookalike.documents d WHERE d.collection = p.collection AND d.ordinal = p.ordinal)
"""
DROP = """
DELETE FROM lookalike.structures s WHERE collection = %s AND NOT EXISTS
(SELECT FROM lookalike.pages p WHERE p.collection = s.collection AND p.structure = s.digest)
"""
STORED = "SELECT digest, paths, bands FROM lookalike.structures WHERE collection = %s"
REPLACE = "UPDATE lookalike.structures SET bands = %s WHERE collection = %s AND digest = %s"


def add_structures(connection: Connection, collection: int, ordinals: Sequence[int], batch: Batch, settings: Settings) -> None:
    """Those of a batch that was written with these ordinals."""
    there = [(ordinal, data) for ordinal, data in zip(ordinals, batch.structure or (), strict=False) if data is not None]
    if not there:
        return
    digests, keys = _entries([data for _, data in there], collection, settings)
    distinct = {digest: place for place, digest in enumerate(digests)}
    places = list(distinct.values())
    arguments = {
        "collection": collection,
        "digests": list(distinct),
        "paths": [there[place][1] for place in places],
        "bands": keys.shape[1],
        "keys": keys[places].reshape(-1).tolist(),
    }
    connection.execute(ADD, arguments)
    connection.execute(ADD_PAGES, (collection, [ordinal for ordinal, _ in there], digests))


def _entries(structures: Sequence[bytes], collection: int, settings: Settings) -> tuple[list[int], NDArray[np.int64]]:
    import numpy as np

    digests, keys = structure_sketches(structures, settings)
    return digests.view(np.int64).tolist(), band_entries(keys.reshape(len(structures), -1), collection)


def sharing_structures(connection: Connection, collection: int, keys: NDArray[np.uint32], limit: int, rows: int) -> Groups:
    arguments = {"keys": band_entries(keys, collection).tolist(), "collection": collection, "limit": limit, "rows": rows}
    found = connection.execute(SHARING, arguments).fetchall()
    groups = [Group(digest % WORD, members, size, shared) for digest, shared, size, _, members in found if members]
    return Groups(groups, found[0][3] if found else 0)


def drop_unused(connection: Connection, collection: int) -> None:
    """Drop the structures that no page has any more. A writer who finds one does not add it again, so there must be no writer meanwhile."""
    connection.execute("LOCK TABLE lookalike.structures IN SHARE ROW EXCLUSIVE MODE")
    connection.execute(DROP_PAGES, (collection,))
    connection.execute(DROP, (collection,))


def wrong_structures(connection: Connection, collection: int, settings: Settings) -> dict[int, list[int]]:
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
