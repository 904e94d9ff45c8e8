"""Documents in PostgreSQL: adding them, with the pending list of GIN and without one, and each way of searching them.

    python benchmarks/postgres_documents.py --dsn postgresql://… --documents 100000 [--out FILE.json]

It makes the schema ``lookalike`` in that database anew: give one that is empty. Without --dsn a server is started as the tests do. The
documents are generated: a hundred words each, every fifth a copy of an earlier one with some words changed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import psycopg
import report
from postgres_queries import Watch, one

import lookalike as la

ROOT = Path(__file__).parent.parent
WORDS = 20_000
QUERIES = 40
SEARCHES = ("near", "simhash", "passages", "tlsh", "ssdeep")
INDEXES = ("documents_by_hash", "documents_by_piece")  # those with GIN


def documents(count: int) -> Iterator[tuple[int, str]]:
    chance = random.Random(1)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(WORDS)]
    earlier: list[list[str]] = []
    for number in range(count):
        if number % 5 == 4:
            words = list(chance.choice(earlier))
            for _ in range(chance.randint(0, 15)):
                words[chance.randrange(len(words))] = chance.choice(vocabulary)
        else:
            words = chance.choices(vocabulary, k=chance.randint(60, 140))
            earlier = [*earlier[-999:], words]
        yield number, " ".join(words)


def added(index: la.Index, some: list[tuple[int, str]]) -> dict[str, float]:
    with index._store._connections.connection() as connection:  # type: ignore[attr-defined]
        watch = Watch(connection)
    index.add(some)
    seconds, worked = watch.seconds()
    return {"documents_s": round(len(some) / seconds), "server_ms_a_document": round(worked / len(some) * 1000, 3)}


def searched(index: la.Index, some: list[tuple[int, str]], by: str) -> dict[str, Any]:
    """Of queries that are there, after all were asked once."""
    took, worked = [], []
    for warm in (False, True):
        for id_, text in some:
            with index._store._connections.connection() as connection:  # type: ignore[attr-defined]
                watch = Watch(connection)
            began = time.process_time()
            found = index.search(text, by=by, limit=10)
            here = time.process_time() - began
            assert found[0].score == 1, (by, id_)
            if warm:
                seconds, server = watch.seconds()
                took.append(seconds * 1000)
                worked.append((server + here) * 1000)
    return {"by": by, "p50_ms": round(statistics.median(took), 2), "cpu_p50_ms": round(statistics.median(worked), 2)}


def run(url: str, count: int) -> dict[str, Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS lookalike CASCADE")
        made = list(documents(count + 2 * (count // 10)))
        bulk, more = made[:count], {"off": made[count : count + count // 10], "on": made[count + count // 10 :]}
        with la.open(f"{url}{'&' if '?' in url else '?'}bulk=on") as index:
            adding = [{"into": "no indexes (bulk=on)"} | added(index, bulk)]
            began = time.perf_counter()
        adding[0]["index_s"] = round(time.perf_counter() - began, 1)
        searching = []
        with la.open(url) as index:
            for pending, some in more.items():
                for name in INDEXES:
                    connection.execute(f"ALTER INDEX lookalike.{name} SET (fastupdate = {pending})")
                adding.append({"into": f"indexes, fastupdate={pending}"} | added(index, some))
                after = f"adding with fastupdate={pending}"
                searching += [{"after": after} | searched(index, bulk[:QUERIES], by) for by in ("near", "passages")]
            for name in INDEXES:
                connection.execute(f"ALTER INDEX lookalike.{name} SET (fastupdate = off)")
                connection.execute(f"SELECT gin_clean_pending_list('lookalike.{name}')")
            index.compact()
            some = bulk[:: max(count // QUERIES, 1)][:QUERIES]
            searching += [{"after": "compacting"} | searched(index, some, by) for by in SEARCHES]
        size = one(connection, "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relname IN ('documents', 'sketches')")
        server = connection.info.parameter_status("server_version")
    result = {"server": f"PostgreSQL {server}", "documents": count, "mb": round(size / 1e6), "adding": adding, "searching": searching}
    return machine.describe() | result


def rendered(result: dict[str, Any]) -> str:
    lines = [[row["into"], f"{row['documents_s']}", f"{row['server_ms_a_document']}"] for row in result["adding"]]
    adding = report.table(["adding to", "documents/s", "server's CPU ms each"], lines)
    lines = [[row["by"], row["after"], f"{row['p50_ms']}", f"{row['cpu_p50_ms']}"] for row in result["searching"]]
    return adding + "\n\n" + report.table(["search by", "after", "p50 ms", "CPU p50 ms, both sides"], lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dsn")
    options.add_argument("--documents", type=int, default=20_000)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    if given.dsn is None:
        sys.path.insert(0, str(ROOT / "tests"))
        from postgres_server import worker_database

        given.dsn = worker_database()
    result = run(given.dsn, given.documents)
    if given.out:
        given.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(rendered(result))


if __name__ == "__main__":
    main()
