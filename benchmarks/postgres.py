"""Hamming search inside PostgreSQL: our blocks, and the slices of text[] that are usual with smlar, on the same fingerprints.

    python benchmarks/postgres.py --dsn postgresql://… --rows 1000000 [--out FILE.json]

It makes the schema ``lookalike`` and tables ``slices_*`` in that database: give one that is empty. Without --dsn a server is
started as the tests do. Of the fingerprints 80 % are random, 20 % are their neighbours' with up to three flips, and 1 % share a
block. With the extension smlar its operator is measured; otherwise the same slices under PostgreSQL's own GIN and ``&&``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import machine
import numpy as np
import psycopg
import report

import lookalike as la

ROOT = Path(__file__).parent.parent
HOT = np.uint64(0x7FF | 0x3FF << 32)  # the bits of block 0
LAYOUTS = {"8 slices": (8,) * 8, "6 slices, mixed": (8, 16, 8, 8, 16, 8), "4 slices": (16,) * 4}
KS = (1, 3, 4, 6, 8)
AT_A_TIME = 100_000
Connection = psycopg.Connection[tuple[Any, ...]]


def fingerprints(rows: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    chance = np.random.default_rng(1)
    values = chance.integers(0, 2**64, rows, dtype=np.uint64)
    near = np.arange(5, rows, 5)
    values[near] = values[near - 1]
    for _ in range(3):
        values[near] ^= np.uint64(1) << chance.integers(0, 64, len(near), dtype=np.uint64)
    values[7::100] &= ~HOT
    return values


def timed(connection: Connection, query: str, parameters: list[dict[str, Any]]) -> dict[str, float]:
    """Milliseconds of each query, after all were run once."""
    took = []
    for round_ in range(2):
        for each in parameters:
            began = time.perf_counter()
            found = connection.execute(query, each, prepare=True).fetchall()
            if round_:
                took.append((time.perf_counter() - began) * 1000)
            assert any(row[0] == each["id"] for row in found)
    took.sort()
    return {"p50_ms": round(statistics.median(took), 3), "p95_ms": round(took[int(len(took) * 0.95)], 3)}


def ours(url: str, values: Any, queries: int) -> list[dict[str, Any]]:
    began = time.perf_counter()
    with la.open(f"{url}{'&' if '?' in url else '?'}bulk=on", kinds="simhash") as index:
        index.add_simhashes(range(len(values)), values)
        loaded = time.perf_counter() - began
    built = time.perf_counter() - began - loaded
    more = values[: min(len(values), AT_A_TIME)] ^ np.uint64(5)
    with la.open(url) as index:
        began = time.perf_counter()
        index.add_simhashes(range(len(values), len(values) + len(more)), more)
        indexed = len(more) / (time.perf_counter() - began)
        index.compact()
    rows = []
    with psycopg.connect(url, autocommit=True) as connection:
        sizes = connection.execute("SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname LIKE 'documents_by_block%'").fetchone()
        assert sizes is not None
        common = {"layout": "blocks", "index_mb": round(int(sizes[0]) / 1e6), "index_s": round(built, 1)}
        common |= {"bulk_rows_s": round(len(values) / loaded), "indexed_rows_s": round(indexed)}
        search = "SELECT id_number FROM lookalike.search_simhash('default', %(q)s, %(k)s)"
        for hot in (False, True):
            places = range(7 if hot else 11, len(values), max(len(values) // queries // 100 * 100, 100))[:queries]
            for k in KS:
                parameters = [{"q": int(values[place].astype(np.int64)), "k": k, "id": place} for place in places]
                rows.append(common | {"k": k, "hot": hot} | timed(connection, search, parameters))
    return rows


def slices_of(value: int, widths: tuple[int, ...]) -> list[str]:
    bits, at, found = f"{value:064b}", 0, []
    for number, width in enumerate(widths, 1):
        found.append(f"{number}_{bits[at : at + width]}")
        at += width
    return found


def sliced(url: str, name: str, widths: tuple[int, ...], values: Any, queries: int) -> list[dict[str, Any]]:
    """The layout with GIN: what shares a slice, and of that what is near. Exact up to one bit less than there are slices."""
    table = f"slices_{len(widths)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(f"CREATE TABLE {table} (id bigint, simhash bigint, slices text[])")
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for place, value in enumerate(values.tolist()):
                copy.write_row((place, value - (value >> 63 << 64), slices_of(value, widths)))
        extension = connection.execute("SELECT FROM pg_available_extensions WHERE name = 'smlar'").fetchone() is not None
        began = time.perf_counter()
        if extension:
            connection.execute("CREATE EXTENSION IF NOT EXISTS smlar")
        connection.execute(f"CREATE INDEX ON {table} USING gin (slices {'_text_sml_ops' if extension else ''}) WITH (fastupdate = off)")
        built = time.perf_counter() - began
        connection.execute(f"VACUUM (ANALYZE) {table}")
        connection.execute("SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off; SET jit = off")
        size = connection.execute(f"SELECT pg_indexes_size('{table}')").fetchone()
        assert size is not None
        rows = []
        for k in (k for k in KS if k < len(widths)):
            if extension:
                connection.execute(f"SET smlar.type = overlap; SET smlar.threshold = {len(widths) - k}")
            operator = "%%" if extension else "&&"
            search = f"SELECT id FROM {table} WHERE slices {operator} %(slices)s::text[] AND bit_count((simhash # %(q)s)::bit(64)) <= {k}"
            places = range(11, len(values), max(len(values) // queries // 100 * 100, 100))[:queries]
            parameters = [{"slices": slices_of(int(values[p]), widths), "q": int(values[p].astype(np.int64)), "id": p} for p in places]
            measured = timed(connection, search, parameters)
            common = {
                "layout": f"{name}, {'smlar' if extension else 'GIN &&'}",
                "index_mb": round(size[0] / 1e6),
                "index_s": round(built, 1),
            }
            rows.append(common | {"k": k, "hot": False} | measured)
        connection.execute(f"DROP TABLE {table}")
    return rows


def run(url: str, rows: int, queries: int) -> dict[str, Any]:
    values = fingerprints(rows)
    with psycopg.connect(url, autocommit=True) as connection:
        server = connection.info.parameter_status("server_version")
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS lookalike CASCADE")
    found = ours(url, values, queries)
    for name, widths in LAYOUTS.items():
        found += sliced(url, name, widths, values, queries)
    return machine.describe() | {"server": f"PostgreSQL {server}", "rows": rows, "queries": queries, "measured": found}


def rendered(result: dict[str, Any]) -> str:
    lines = [
        [
            row["layout"] + (", hot block" if row["hot"] else ""),
            *(str(row[name]) for name in ("k", "p50_ms", "p95_ms", "index_mb", "index_s")),
        ]
        for row in result["measured"]
    ]
    return report.table(["layout", "k", "p50 ms", "p95 ms", "index MB", "index s"], lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dsn")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--queries", type=int, default=250)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    if given.dsn is None:
        sys.path.insert(0, str(ROOT / "tests"))
        from postgres_server import worker_database

        given.dsn = worker_database()
    result = run(given.dsn, given.rows, given.queries)
    if given.out:
        given.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(rendered(result))


if __name__ == "__main__":
    main()
