"""Hamming search inside PostgreSQL: our blocks, and the slices of text[] that are usual with smlar, on the same fingerprints.

    python benchmarks/postgres.py --dsn postgresql://… --rows 1000000 [--only blocks] [--out FILE.json]

It makes the schema ``lookalike`` and tables ``slices_*`` in that database: give one that is empty. What it finds there it measures
again without building it anew. Without --dsn a server is started as the tests do. Every answer is compared with the right one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import machine
import numpy as np
import psycopg
import report
from numpy.typing import NDArray
from postgres_beside import beside
from postgres_queries import AT_A_TIME, KS, MORE, Connection, Query, Watch, fingerprints, one, queries, timed
from postgres_slices import LAYOUTS, sliced

import lookalike as la

ROOT = Path(__file__).parent.parent
SETTINGS = ("shared_buffers", "maintenance_work_mem", "max_wal_size", "wal_level", "fsync")
INDEX_SIZES = "SELECT sum(pg_relation_size(oid))::bigint FROM pg_class WHERE relname LIKE 'documents_by_block%'"
TABLE_SIZES = "SELECT pg_total_relation_size('lookalike.documents')"
FETCHED = "SELECT seq_scan + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'lookalike.documents'::regclass"


def ours(url: str, values: NDArray[Any], asked: list[Query], hot: list[Query]) -> list[dict[str, Any]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        if connection.execute("SELECT FROM pg_namespace WHERE nspname = 'lookalike'").fetchone() is None:
            _build(url, connection, values)
        common: dict[str, Any] = {"layout": "blocks"} | json.loads(
            one(connection, "SELECT obj_description('lookalike.documents'::regclass)")
        )
        search = "SELECT id_number FROM lookalike.search_simhash('default', %(q)s, %(k)s)"
        rows = []
        for are_hot, those in ((False, asked), (True, hot)):
            for k in KS:
                measured = timed(connection, search, those, k, lambda query, k=k: {"q": query.signed, "k": k})  # type: ignore[misc]
                rows.append(common | {"hot": are_hot} | measured)
        _only_indexes(connection, asked)
        began = time.perf_counter()
        for query in asked[:3]:
            connection.execute("SELECT FROM lookalike.simhash_scan(1, %s, 3)", (query.signed,))
        rows.append(common | {"layout": "parallel scan", "k": 3, "hot": False, "p50_ms": round((time.perf_counter() - began) * 1000 / 3)})
    return rows


def _build(url: str, connection: Connection, values: NDArray[Any]) -> None:
    began = time.perf_counter()
    with la.open(f"{url}{'&' if '?' in url else '?'}bulk=on", kinds="simhash") as index:
        for start in range(0, len(values), AT_A_TIME):
            part = values[start : start + AT_A_TIME]
            index.add_simhashes(range(start, start + len(part)), part)
        loaded = time.perf_counter() - began
    built = time.perf_counter() - began - loaded
    figures = {"bulk_rows_s": round(len(values) / loaded), "index_s": round(built, 1)} | _indexed_rows(url, values)
    # Once more without helpers: what the indexes cost in all is to be seen in one process then.
    connection.execute("SET max_parallel_maintenance_workers = 0")
    watch = Watch(connection)
    for block in range(3):
        connection.execute(f"REINDEX INDEX lookalike.documents_by_block{block}")
    figures |= {"index_cpu_s": round(watch.seconds()[1], 1)}
    figures |= {"index_mb": round(one(connection, INDEX_SIZES) / 1e6), "total_mb": round(one(connection, TABLE_SIZES) / 1e6)}
    connection.execute(f"COMMENT ON TABLE lookalike.documents IS '{json.dumps(figures)}'")


def _indexed_rows(url: str, values: NDArray[Any]) -> dict[str, int]:
    """Rows a second into the table that has its indexes."""
    more = values[:MORE] ^ np.uint64(5)
    ids = range(-len(more), 0)
    with la.open(url) as index:
        with index._store._connections.connection() as connection:  # type: ignore[attr-defined]
            watch = Watch(connection)
        index.add_simhashes(ids, more)
        seconds, worked = watch.seconds()
        index.remove(ids)
        index.compact()
    return {"indexed_rows_s": round(len(more) / seconds), "indexed_rows_cpu_s": round(len(more) / worked)}


def _only_indexes(connection: Connection, asked: list[Query]) -> None:
    """The server counts what is fetched from the table: nothing, while rows are searched. What is found search_simhash fetches."""
    with connection.transaction():
        before = one(connection, FETCHED)
        for query in asked:
            connection.execute("SELECT FROM lookalike.simhash_rows(1, %s, NULL, 3)", (query.signed,))
        assert one(connection, FETCHED) == before, "a search visited the table"


def run(url: str, rows: int, count: int, only: str) -> dict[str, Any]:
    values = fingerprints(rows)
    asked, hot = queries(values, count, hot=False), queries(values, min(count, 100), hot=True)
    with psycopg.connect(url, autocommit=True) as connection:
        server = connection.info.parameter_status("server_version")
        settings = {name: one(connection, f"SHOW {name}") for name in SETTINGS}
    found = ours(url, values, asked, hot) if only in ("all", "blocks") else []
    for name in LAYOUTS if only in ("all", "slices") else ():
        found += sliced(url, name, values, asked, hot)
    with_smlar = any("smlar" in row["layout"] for row in found)
    return machine.describe() | {
        "server": f"PostgreSQL {server}",
        "settings": settings,
        "rows": rows,
        "in_turns": beside(url, asked) if with_smlar and only == "all" else [],
        "measured": found,
    }


def rendered(result: dict[str, Any]) -> str:
    names = ("k", "p50_ms", "p95_ms", "cpu_p50_ms", "recall", "index_mb", "index_s", "indexed_rows_s")
    lines = [
        [row["layout"] + (", hot block" if row["hot"] else ""), *(str(row.get(name, "–")) for name in names)] for row in result["measured"]
    ]
    turns = "".join(
        f"in turns, k={row['k']}: {place} ours {row[place]['ours']} ms, smlar {row[place]['smlar']} ms: {row[place]['times']}×\n"
        for row in result["in_turns"]
        for place in ("client", "server")
    )
    return turns + report.table(["layout", "k", "p50 ms", "p95 ms", "CPU p50 ms", "recall", "index MB", "index s", "rows/s into it"], lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dsn")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--queries", type=int, default=250)
    options.add_argument("--only", choices=("all", "blocks", "slices"), default="all")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    if given.dsn is None:
        sys.path.insert(0, str(ROOT / "tests"))
        from postgres_server import worker_database

        given.dsn = worker_database()
    result = run(given.dsn, given.rows, given.queries, given.only)
    if given.out:
        given.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(rendered(result))


if __name__ == "__main__":
    main()
