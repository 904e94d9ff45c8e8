"""Documents in bulk: into PostgreSQL with ``bulk=on``, and into the embedded store, the same ones in the same process.

    python benchmarks/postgres_bulk.py [--documents 200000] [--kinds simhash,minhash] [--shared-buffers 2048] [--json OUT]

A server is started as the tests do, but one that syncs its log. Seconds are of the clock and of the processors, the client's and those of
all processes of the server; ``silent`` is the longest time without a word of progress, from the first document to the end of ``close``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import psycopg
from postgres_documents import documents

import lookalike as la

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from postgres_server import Server, open_folder  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
SIZE = """
SELECT relname, pg_relation_size(c.oid) + coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'lookalike' AND relkind IN ('r', 'i') ORDER BY 2 DESC
"""


def server_seconds(server: Server) -> float:
    """Of all processes that it has, and has had."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(folder.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / TICK


class Progress:
    """When there was the last word of progress."""

    def __init__(self) -> None:
        self.last, self.silent = time.perf_counter(), 0.0

    def __call__(self, *_: Any) -> None:
        now = time.perf_counter()
        self.silent, self.last = max(self.silent, now - self.last), now


def loaded(location: str, some: list[tuple[int, str]], kinds: str | None, server: Callable[[], float]) -> dict[str, float]:
    wall, cpu, served, told = time.perf_counter(), time.process_time(), server(), Progress()
    index = la.open(location, kinds=kinds)
    index.add(some, progress=told)
    added = time.perf_counter()
    index.close(told)
    told()
    end = time.perf_counter()
    return {
        "add_s": round(added - wall, 1),
        "close_s": round(end - added, 1),
        "total_s": round(end - wall, 1),
        "client_cpu_s": round(time.process_time() - cpu, 1),
        "server_cpu_s": round(server() - served, 1),
        "silent_s": round(told.silent, 1),
    }


def measure(count: int, kinds: str | None, shared_mb: int) -> dict[str, Any]:
    some = list(documents(count))
    folder = Path(tempfile.mkdtemp(prefix="lookalike-bulk-", dir=open_folder()))
    result: dict[str, Any] = {"documents": count, "kinds": kinds, "shared_buffers_mb": shared_mb}
    try:
        (folder / "server").mkdir()
        folder.chmod(0o755)
        store = folder / "store"
        result["embedded"] = loaded(str(store), some, kinds, lambda: 0.0)
        result["embedded"]["mb"] = round(sum(path.stat().st_size for path in store.rglob("*") if path.is_file()) / 1e6)
        server = Server(folder / "server", fsync="on", shared_buffers=f"{shared_mb}MB")
        server.make()
        server.start()
        try:
            url = server.url("postgres")
            result["postgres"] = loaded(f"{url}&bulk=on", some, kinds, lambda: server_seconds(server))
            with psycopg.connect(url) as connection:
                sizes = {name: round(size / 1e6) for name, size in connection.execute(SIZE)}
            result["postgres"]["mb"] = sum(sizes.values())
            result["sizes"] = {name: size for name, size in sizes.items() if size}
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name in ("total_s", "mb"):
        result[f"times_{name}"] = round(result["postgres"][name] / result["embedded"][name], 2)
    both = [result[name]["client_cpu_s"] + result[name]["server_cpu_s"] for name in ("postgres", "embedded")]
    result["times_cpu_s"] = round(both[0] / both[1], 2)
    return machine.describe() | result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=200_000)
    options.add_argument("--kinds")
    options.add_argument("--shared-buffers", type=int, default=2048, help="MB of the server's own memory")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    result = measure(chosen.documents, chosen.kinds, chosen.shared_buffers)
    machine.finish(result, chosen.json)


if __name__ == "__main__":
    main()
