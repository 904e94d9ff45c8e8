"""Vectors in the database: ``halfvec`` where pgvector is installed, otherwise ``bytea`` with the same bytes.

With pgvector the server finds the candidates, roughly; without it all vectors are read. The cosines that count are computed here, exactly:
the answers are those of every other store. A graph (HNSW), which ``compact`` makes, serves only those who ask for an approximate search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Corrupt
from lookalike.segments.graphs import ALL_ARE_READ, GRAPH_NOTE, exact_note
from lookalike.segments.vectors import NearVectors, VectorSegment, joined, merged
from lookalike.stores.postgres.schema import LOCK
from lookalike.stores.postgres.search_path import transaction

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

AT_A_TIME = 4096  # vectors that are read at a time
SERVER_QUERIES = 4  # for more than these at once, all vectors are read here: the server would read them once for each
SPARE = 64  # candidates beyond the limit
GRAPH_FROM = 50_000  # vectors: below, the server reads all of them in a fraction of a second, and a graph takes minutes to make
GRAPH_DIMENSIONS = 4000  # the most that pgvector indexes
GRAPH_BREADTH = (200, 1000)  # hnsw.ef_search: the least, and the most there is
CANDIDATES = 2  # from the graph, for each that is wanted
NO_GRAPH = "there is no graph; with pgvector 'compact' makes one of many vectors"
HEADER = 4  # bytes of a vector in front of its numbers: how many, and zero

EXTENSION = """
SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
JOIN pg_depend d ON d.objid = t.oid JOIN pg_extension e ON e.oid = d.refobjid WHERE t.typname = 'halfvec' AND e.extname = 'vector'
"""
# In the schema where everybody looks for it, unless everybody may create there: what they have put there would be in the way of its own.
MAY_BE_MADE = """
SELECT NOT has_schema_privilege('public', oid, 'CREATE') FROM pg_namespace
WHERE nspname = 'public' AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')
"""
COLUMN = """
SELECT t.typname, n.nspname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE a.attrelid = 'lookalike.documents'::regclass AND a.attname = 'vector' AND NOT a.attisdropped
"""
ALL = "SELECT ordinal, vector FROM lookalike.documents WHERE collection = %s AND vector IS NOT NULL ORDER BY ordinal"
THESE = "SELECT ordinal, vector FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s) ORDER BY ordinal"
ROUGHLY = """
SELECT ordinal, distance, count(*) OVER (), count(*) FILTER (WHERE distance <= %(surely)s) OVER () FROM (
  SELECT ordinal, vector OPERATOR({schema}.<=>) %(query)s::{schema}.halfvec AS distance
  FROM lookalike.documents WHERE collection = %(collection)s AND vector IS NOT NULL
) AS compared
WHERE distance <= %(most)s ORDER BY distance LIMIT %(limit)s
"""
DOUBTFUL = """
SELECT ordinal FROM lookalike.documents WHERE collection = %(collection)s AND vector IS NOT NULL
  AND vector OPERATOR({schema}.<=>) %(query)s::{schema}.halfvec > %(surely)s
  AND vector OPERATOR({schema}.<=>) %(query)s::{schema}.halfvec <= %(most)s
"""
THROUGH_GRAPH = """
SELECT ordinal FROM lookalike.documents WHERE collection = {collection} AND vector IS NOT NULL
ORDER BY vector::{schema}.halfvec({dimensions}) OPERATOR({schema}.<=>) %(query)s::{schema}.halfvec({dimensions}) LIMIT %(limit)s
"""
# Whoever may not sort needs an index that gives the order: of the graph's cost the server's estimate is high.
GRAPH_PLAN = "SELECT set_config('hnsw.ef_search', %s, true), set_config('enable_sort', %s, true)"
MAKE_GRAPH = """
CREATE INDEX IF NOT EXISTS {name} ON lookalike.documents USING hnsw ((vector::{schema}.halfvec({dimensions})) {schema}.halfvec_cosine_ops)
WHERE collection = {collection} AND vector IS NOT NULL
"""


def add_column(connection: Connection) -> None:
    """The column of vectors, unless it is there: a database has it from its first collection with a model on."""
    with transaction(connection):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if connection.execute(COLUMN).fetchone() is not None:
            return
        schema = _extension(connection)
        connection.execute(f"ALTER TABLE lookalike.documents ADD COLUMN vector {'bytea' if schema is None else f'{schema}.halfvec'}")


def _extension(connection: Connection) -> str | None:
    """The schema of pgvector, made if it is installed and we may; None where there is none."""
    from psycopg import DatabaseError

    found = connection.execute(EXTENSION).fetchone()
    if found is None and connection.execute(MAY_BE_MADE).fetchone() == (True,):
        # If it fails: somebody with more rights can make it, before the first collection with a model.
        with suppress(DatabaseError), connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        found = connection.execute(EXTENSION).fetchone()
    return _quoted(found[0]) if found else None


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


class StoredVectors:
    """The vectors of a collection, as a reader's transaction sees them."""

    def __init__(self, connection: Connection, collection: int, dimensions: int) -> None:
        self._connection, self._collection, self._dimensions = connection, collection, dimensions
        kind, schema = connection.execute(COLUMN).fetchone() or ("bytea", "pg_catalog")
        self._schema = _quoted(schema) if kind == "halfvec" else None
        self._cursors = count()

    def search(self, queries: NDArray[np.uint16], least: float, limit: int, workers: int, approximate: bool = False) -> NearVectors:
        each = queries.reshape(-1, self._dimensions)
        why_not = self._why_no_graph(least, limit) if approximate else ""
        if approximate and not why_not:
            return joined([self._through_graph(query, limit) for query in each])._replace(notes=(GRAPH_NOTE,))
        if self._schema is None or len(each) > SERVER_QUERIES:
            found = self._read_all(queries, least, limit, workers)
        else:
            found = joined([self._on_server(query, least, limit) for query in each])
        return found._replace(notes=(exact_note(why_not),)) if why_not else found

    def _why_no_graph(self, least: float, limit: int) -> str:
        if least > 0 or CANDIDATES * limit > GRAPH_BREADTH[1]:
            return ALL_ARE_READ
        there = self._schema is not None and _is_there(self._connection, _graph_name(self._collection))
        return "" if there else NO_GRAPH

    def _read_all(self, queries: NDArray[np.uint16], least: float, limit: int, workers: int) -> NearVectors:
        asked = len(queries) // self._dimensions
        found = merged([], asked, limit)
        nothing = np.zeros(0, dtype=np.int64)
        with self._connection.cursor(f"vectors_{next(self._cursors)}", binary=True) as cursor:
            cursor.execute(ALL, (self._collection,))
            while rows := cursor.fetchmany(AT_A_TIME):
                part = segment_of(rows, self._dimensions).search(queries, least, limit, workers, nothing)
                found = merged([found, part], asked, limit)
        return found

    def _on_server(self, query: NDArray[np.uint16], least: float, limit: int) -> NearVectors:
        shown, doubt = _shown(query), (self._dimensions + 8) * 2.0**-22
        arguments = {"collection": self._collection, "query": shown, "most": 1 - least + doubt, "surely": 1 - least - doubt}
        wanted = limit + SPARE
        with self._scanning():
            while True:
                rough = self._run(ROUGHLY, arguments | {"limit": wanted}).fetchall()
                if len(rough) < wanted or rough[-1][1] - rough[limit - 1][1] > 2 * doubt:
                    break
                wanted *= 4  # so many at the same distance that the best are not among them for sure
            found = self._exactly([ordinal for ordinal, *_ in rough], query, least, limit)
            if not rough or len(rough) < wanted:
                return found
            total, surely = rough[0][2], rough[0][3]
            if total > surely:
                doubtful = [ordinal for (ordinal,) in self._run(DOUBTFUL, arguments)]
                surely += int(self._exactly(doubtful, query, least, 1).totals[0])
            found.totals[0] = surely
            return found

    def _run(self, statement: str, arguments: dict[str, Any]) -> Any:
        return self._connection.execute(statement.format(schema=self._schema), arguments)

    def _through_graph(self, query: NDArray[np.uint16], limit: int) -> NearVectors:
        breadth = max(GRAPH_BREADTH[0], CANDIDATES * limit)
        statement = THROUGH_GRAPH.format(collection=self._collection, schema=self._schema, dimensions=self._dimensions)
        self._connection.execute(GRAPH_PLAN, (str(breadth), "off"))
        found: Any = self._connection.execute(statement, {"query": _shown(query), "limit": CANDIDATES * limit}).fetchall()
        self._connection.execute(GRAPH_PLAN, (str(breadth), "on"))
        return self._exactly([ordinal for (ordinal,) in found], query, 0.0, limit)

    def _exactly(self, ordinals: Sequence[int], query: NDArray[np.uint16], least: float, limit: int) -> NearVectors:
        rows = self._connection.execute(THESE, (self._collection, list(ordinals)), binary=True).fetchall()
        return segment_of(rows, self._dimensions).search(query, least, limit, 1, np.zeros(0, dtype=np.int64))

    @contextmanager
    def _scanning(self) -> Iterator[None]:
        """Everything is read, by as many processes as the server allows."""
        change = "SELECT set_config('enable_seqscan', %s, true), set_config('max_parallel_workers_per_gather', %s, true)"
        self._connection.execute(change, ("on", "8"))
        yield
        self._connection.execute(change, ("off", "0"))


def segment_of(rows: Sequence[tuple[int, bytes]], dimensions: int) -> VectorSegment:
    data = b"".join(vector for _, vector in rows)
    if len(data) != len(rows) * (HEADER + 2 * dimensions):
        raise Corrupt(f"a stored vector does not have {dimensions} dimensions: remove its document, or restore the table from a copy")
    words = np.frombuffer(data, dtype=">u2").reshape(len(rows), HEADER // 2 + dimensions)[:, HEADER // 2 :]
    halves = np.ascontiguousarray(words, dtype=np.uint16).reshape(-1)
    return VectorSegment.build(np.array([row for row, _ in rows], dtype=np.int64), halves, dimensions)


def packed_vectors(halves: NDArray[np.uint16] | None, size: int) -> list[bytes | None]:
    """Vectors as the server takes them; None for one of zeros."""
    from lookalike.segments.vectors import has_direction

    if halves is None or size == 0:
        return [None] * size
    dimensions = len(halves) // size
    words = np.zeros((size, HEADER // 2 + dimensions), dtype=">u2")
    words[:, 0], words[:, HEADER // 2 :] = dimensions, halves.reshape(size, dimensions)
    there = has_direction(halves, dimensions).tolist()
    return [row.tobytes() if directed else None for row, directed in zip(words, there, strict=True)]


def unpacked(vector: bytes) -> bytes:
    """A vector as other stores have it: halves, the low byte first."""
    return np.frombuffer(vector, dtype=">u2", offset=HEADER).astype("<u2").tobytes()


def make_graph(connection: Connection, collection: int, dimensions: int) -> None:
    """The graph of a collection that is large enough for one."""
    with transaction(connection):
        connection.execute("SET LOCAL statement_timeout = 0")
        _make_graph(connection, collection, dimensions)


def _make_graph(connection: Connection, collection: int, dimensions: int) -> None:
    found = connection.execute(COLUMN).fetchone()
    if found is None or found[0] != "halfvec" or dimensions > GRAPH_DIMENSIONS or _is_there(connection, _graph_name(collection)):
        return
    many = "SELECT FROM lookalike.documents WHERE collection = %s AND vector IS NOT NULL OFFSET %s LIMIT 1"
    if connection.execute(many, (collection, GRAPH_FROM - 1)).fetchone() is None:
        return
    name, schema = _graph_name(collection), _quoted(found[1])
    connection.execute(MAKE_GRAPH.format(name=name, schema=schema, dimensions=dimensions, collection=collection))


def _graph_name(collection: int) -> str:
    return f"documents_hnsw_{collection}"


def _is_there(connection: Connection, index: str) -> bool:
    return connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"lookalike.{index}",)).fetchone() == (True,)


def _shown(query: NDArray[np.uint16]) -> str:
    return f"[{','.join(map(repr, query.view(np.float16).astype(np.float64).tolist()))}]"
