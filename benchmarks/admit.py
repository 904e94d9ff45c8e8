"""Asking and adding as one, beside the two calls that it replaces: ``search`` and ``add`` of the same documents, in the same process.

    python benchmarks/admit.py [--documents 1000000] [--admitted 20000] [--postgres URL | --server] [--clients 1] [--json OUT]

A store of so many documents is filled first. Then as many more are admitted, in batches of 1,000 and one by one; every tenth is a changed
copy. With --postgres the same in that database, whose schema ``lookalike`` must be empty; --server starts one as the tests do. The rates
are per second of processor time of this process, and of the clock; a busy machine makes the second one smaller.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import machine
from postgres_documents import documents

import lookalike as la

ROOT = Path(__file__).parent.parent
BATCH = 1000
KINDS = "simhash,minhash"


def rate(work: Callable[[], int]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    done = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"documents": done, "per_second": round(done / wall, 1), "per_cpu_second": round(done / cpu, 1)}


def admit_batches(index: la.Index, some: list[tuple[int, str]]) -> int:
    for first in range(0, len(some), BATCH):
        index.admit(some[first : first + BATCH])
    return len(some)


def admit_each(index: la.Index, some: list[tuple[int, str]]) -> int:
    for id_, text in some:
        index.admit(id_, text)
    return len(some)


def ask_then_add(index: la.Index, some: list[tuple[int, str]]) -> int:
    """What callers did before: nothing keeps two of them from adding the same."""
    for id_, text in some:
        if not index.search(text, limit=1):
            index.add(id_, text)
    return len(some)


def measure(location: str, count: int, more: int, clients: int) -> dict[str, Any]:
    made = documents(count + 4 * more * clients)
    found: dict[str, Any] = {"documents": count, "clients": clients}
    with la.open(location, kinds=KINDS) as index:
        found["filling"] = rate(lambda: sum(index.add(list(islice(made, count)))))
        index.compact()
    few = max(more // 10, 1)
    jobs = {"admit in batches": (admit_batches, more), "admit one by one": (admit_each, few), "search, then add": (ask_then_add, few)}
    for name, (job, size) in jobs.items():
        parts = [list(islice(made, size)) for _ in range(clients)]
        indexes = [la.open(location) for _ in parts]
        for index in indexes:
            index.search("warm")
        with ThreadPoolExecutor(clients) as threads:
            found[name] = rate(lambda job=job, parts=parts, indexes=indexes: sum(threads.map(job, indexes, parts)))  # type: ignore[misc]
        for index in indexes:
            index.close()
        print(f"{location.split('://')[0][:20]} {name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=1_000_000)
    options.add_argument("--admitted", type=int, default=20_000)
    options.add_argument("--clients", type=int, default=1)
    options.add_argument("--postgres")
    options.add_argument("--server", action="store_true")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    url = chosen.postgres
    if chosen.server:
        sys.path.insert(0, str(ROOT / "tests"))
        from postgres_server import empty_database

        url = empty_database()
    if url:
        result = {"postgres": measure(url, chosen.documents, chosen.admitted, chosen.clients)}
    else:
        with tempfile.TemporaryDirectory(prefix="lookalike-admit-") as folder:
            result = {"embedded": measure(f"{folder}/store", chosen.documents, chosen.admitted, 1)}
    result = machine.describe() | result
    machine.finish(result, chosen.json)


if __name__ == "__main__":
    main()
