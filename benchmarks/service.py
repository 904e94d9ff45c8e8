"""The service under load, over loopback: searches by wrk while documents are written, and beside it what people build by hand.

    python benchmarks/service.py --store STORE [--documents 1000000] [--seconds 20] [--connections 32] [--writes 100] [--json OUT]
    python benchmarks/service.py --store STORE --soak 600        # memory of all processes while it is searched and written

A store that is not there is made first, with SimHash and MinHash. Every query is a stored document with some words changed. While wrk asks,
``--writers`` clients put single documents, together at a steady rate, and each waits for each of its own to be acknowledged; their times
are those of single writes. The load generators have their share of the same cores. The peer is a Starlette application over the index of
the package ``simhash``, filled with ``--peer`` documents, asked by the same wrk with the same texts.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import random
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import machine
from postgres_documents import documents

import lookalike as la

QUERIES = 2000
KINDS = "simhash,minhash"
EVERY = 5  # seconds between two looks at the memory
SOAK_PART = 30.0  # seconds that wrk runs at a time
SCRIPT = """
local bodies = {}
for line in io.lines("BODIES") do bodies[#bodies + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local at = math.random(#bodies)
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
done = function(summary, latency, requests)
  io.write(string.format('RESULT {"requests": %d, "seconds": %.3f, "p50": %.3f, "p99": %.3f, "most": %.3f, "errors": %d, "refused": %d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout, summary.errors.status))
end
"""
PEER = """
import json, sys
from simhash import Simhash, SimhashIndex
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

index = SimhashIndex([(line["id"], Simhash(line["text"])) for line in map(json.loads, open(sys.argv[1]))], k=3)

async def search(request):
    return JSONResponse({"matches": index.get_near_dups(Simhash((await request.json())["text"]))})

import uvicorn
uvicorn.run(Starlette(routes=[Route("/search", search, methods=["POST"])]), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
"""


def fill(store: Path, count: int) -> None:
    with la.open(store, kinds=KINDS) as index:
        print(f"making a store of {count:,} documents", file=sys.stderr)
        index.add(documents(count))
        index.compact()


def asked(store: Path) -> list[str]:
    """Stored documents with a few words changed."""
    chance = random.Random(3)
    with la.open(store, read_only=True) as index:
        texts = [document.text or "" for document in index.documents([chance.randrange(len(index)) for _ in range(QUERIES)])]
    found = []
    for text in texts:
        words = text.split()
        for _ in range(3):
            words[chance.randrange(len(words))] = "changed"
        found.append(" ".join(words))
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, path: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # a line per write
    try:
        for _ in range(3000):
            try:
                if request(port, "GET", path)[0] < 500:
                    break
            except OSError:
                pass
            if process.poll() is not None:
                raise SystemExit(f"{command[:4]} ended")
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def request(port: int, method: str, path: str, data: Any = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, None if data is None else json.dumps(data), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Writing:
    """Clients that put a document, wait for its acknowledgement, and together keep to a rate over all."""

    def __init__(self, port: int, rate: float, clients: int) -> None:
        self.times: list[float] = []
        self.refused = 0
        self._port, self._rate, self._clients, self._stop = port, rate, clients, threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(first,)) for first in range(clients if rate else 0)]

    def __enter__(self) -> Writing:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        chance, began = random.Random(), time.perf_counter()
        for number in itertools.count(first, self._clients):
            wait = began + number / self._rate - time.perf_counter()
            if self._stop.wait(max(0.0, wait)):
                break
            text = " ".join(f"w{chance.randrange(50_000)}" for _ in range(100))
            start = time.perf_counter()
            connection.request(
                "PUT", f"/documents/w{chance.getrandbits(60)}", json.dumps({"text": text}), {"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            answer.read()
            self.refused += answer.status >= 300
            self.times.append((time.perf_counter() - start) * 1000)
        connection.close()

    def result(self, seconds: float) -> dict[str, Any]:
        if len(self.times) < 2:
            return {}
        parts = statistics.quantiles(self.times, n=100)
        return {
            "per_second": round(len(self.times) / seconds, 1),
            "p50_ms": round(statistics.median(self.times), 2),
            "p99_ms": round(parts[98], 2),
            "most_ms": round(max(self.times), 2),
            "refused": self.refused,
        }


def load(port: int, bodies: list[str], seconds: float, connections: int, threads: int) -> dict[str, Any]:
    """wrk for so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bodies").write_text("".join(f"{each}\n" for each in bodies))
        script = Path(folder) / "load.lua"
        script.write_text(SCRIPT.replace("BODIES", str(Path(folder) / "bodies")))
        command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{max(round(seconds), 1)}s"]
        command += ["--timeout", "10s", "-s", str(script)]
        done = subprocess.run([*command, f"http://127.0.0.1:{port}/search"], capture_output=True, text=True, check=True).stdout
    found = json.loads(next(re.finditer(r"^RESULT (.*)$", done, re.MULTILINE))[1])
    return {
        "per_second": round(found["requests"] / found["seconds"], 1),
        "p50_ms": found["p50"],
        "p99_ms": found["p99"],
        "most_ms": found["most"],
        "errors": found["errors"] + found["refused"],
    }


def family(pid: int) -> list[int]:
    """A process and its children."""
    found = [pid]
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"PPid:\t{pid}\n" in (folder / "status").read_text():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def memory(pid: int) -> dict[str, float]:
    """Megabytes of the processes: what is theirs alone, and with what they share and the files that they have mapped."""
    own = shared = 0
    for each in family(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
        own, shared = own + sizes["Private_Dirty"], shared + sizes["Pss"]
    return {"own_mb": round(own / 1024, 1), "with_shared_mb": round(shared / 1024, 1)}


def seconds_used(pid: int) -> float:
    total = 0.0
    for each in family(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / 100
    return total


def serving(options: argparse.Namespace, port: int) -> AbstractContextManager[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "lookalike", "serve", str(options.store), "--port", str(port), "--processes", str(options.processes)]
    return running([*command, "--quiet"], port, "/readyz")


def measure(options: argparse.Namespace, texts: list[str]) -> dict[str, Any]:
    port = free_port()
    found: dict[str, Any] = {}
    bodies = {
        "near": [json.dumps({"text": text, "limit": 3, "passages": False}) for text in texts],
        "simhash": [json.dumps({"text": text, "by": "simhash", "k": 3, "limit": 3}) for text in texts],
    }
    with serving(options, port) as process:
        for by, each in bodies.items():
            if options.by not in (by, "all"):
                continue
            for name, rate in (("alone", 0), ("while it is written", options.writes)):
                load(port, each, 2, options.connections, options.threads)
                used, own = seconds_used(process.pid), resource.getrusage(resource.RUSAGE_CHILDREN)
                with Writing(port, rate, options.writers) as writing:
                    result: dict[str, Any] = {"searches": load(port, each, options.seconds, options.connections, options.threads)}
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                result["cpu_of_service_s"] = round(seconds_used(process.pid) - used, 2)
                result["cpu_of_wrk_s"] = round(after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime, 2)
                if rate:
                    result["writes"] = writing.result(options.seconds)
                found[f"{by}, {name}"] = result
                print(f"{by}, {name}: {result}", file=sys.stderr, flush=True)
        with Writing(port, options.writes, options.writers) as writing:
            time.sleep(min(options.seconds, 10))
        found["single writes alone"] = writing.result(min(options.seconds, 10))
        print(f"single writes alone: {found['single writes alone']}", file=sys.stderr, flush=True)
        found["memory"] = memory(process.pid)
    return found


def measure_peer(options: argparse.Namespace, texts: list[str]) -> dict[str, Any]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        rows.write_text("".join(json.dumps({"id": str(id_), "text": text}) + "\n" for id_, text in documents(options.peer)))
        script = Path(folder) / "peer.py"
        script.write_text(PEER)
        with running([sys.executable, str(script), str(rows), str(port)], port, "/"):
            bodies = [json.dumps({"text": text}) for text in texts]
            load(port, bodies, 2, options.connections, options.threads)
            found = load(port, bodies, options.seconds, options.connections, options.threads)
    print(f"Starlette and simhash, {options.peer:,} documents: {found}", file=sys.stderr, flush=True)
    return {"documents": options.peer, "searches": found}


class Watching:
    """What each process of the service has of memory, every few seconds, while something else is done."""

    def __init__(self, pid: int) -> None:
        self.seen: list[dict[str, Any]] = []
        self._pid, self._began, self._stop = pid, time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Watching:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(max(0.0, self._began + EVERY * len(self.seen) - time.monotonic())):
            passed, each = time.monotonic() - self._began, [resident(pid) for pid in family(self._pid)]
            self.seen.append({"seconds": round(passed), "processes": list(filter(None, each))})

    def in_minutes(self, part: str) -> dict[str, float]:
        """A part of the memory of all processes together, the median of each minute."""
        sums = [(each["seconds"] // 60, sum(one[part] for one in each["processes"])) for each in self.seen]
        return {f"minute {minute + 1}": round(statistics.median(each for at, each in sums if at == minute), 1) for minute, _ in sums}


def resident(pid: int) -> dict[str, Any]:
    """Megabytes of one process: all that is in memory; what of it is its own; the segments that it has read, which grow with the store."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return {}
    sizes = {line.split(":")[0]: round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith(("Rss", "VmRSS"))}
    role = "writer" if "writer_process" in command else "reader" if "service.worker" in command else "parent"
    return {"role": role, "rss_mb": sizes["VmRSS"], "own_mb": sizes["RssAnon"], "read_segments_mb": sizes["RssShmem"]}


def soak(options: argparse.Namespace, texts: list[str]) -> dict[str, Any]:
    """Searches and writes for long, and what the processes have of memory meanwhile."""
    port, searched = free_port(), []
    bodies = [json.dumps({"text": text, "limit": 3, "passages": False}) for text in texts]
    with serving(options, port) as process, Writing(port, options.writes, options.writers) as writing, Watching(process.pid) as watching:
        began = time.monotonic()
        while (passed := time.monotonic() - began) < options.soak:
            result = load(port, bodies, min(SOAK_PART, options.soak - passed), options.connections, options.threads)
            searched.append({"seconds": round(passed), **result})
            print(searched[-1], watching.seen[-1], file=sys.stderr, flush=True)
    return {
        "seconds": options.soak,
        "writes": writing.result(options.soak),
        "searches": searched,
        "own_mb": watching.in_minutes("own_mb"),
        "read_segments_mb": watching.in_minutes("read_segments_mb"),
        "rss_mb": watching.in_minutes("rss_mb"),
        "memory": watching.seen,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--store", type=Path, required=True)
    options.add_argument("--documents", type=int, default=1_000_000)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--connections", type=int, default=32)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--writes", type=float, default=100, help="documents a second")
    options.add_argument("--writers", type=int, default=8, help="clients that write them")
    options.add_argument("--by", choices=("near", "simhash", "all"), default="all")
    options.add_argument("--peer", type=int, default=20_000, help="documents of the peer; 0: no peer")
    options.add_argument("--soak", type=float, default=0)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("there is no wrk: apt-get install wrk")
    if not chosen.store.exists():
        fill(chosen.store, chosen.documents)
    texts = asked(chosen.store)
    with la.open(chosen.store, read_only=True) as index:
        result: dict[str, Any] = machine.describe() | {
            "documents": len(index),
            "connections": chosen.connections,
            "processes": chosen.processes,
            "writers": chosen.writers,
        }
    if chosen.soak:
        result["soak"] = soak(chosen, texts)
    else:
        result["service"] = measure(chosen, texts)
        if chosen.peer:
            result["starlette and simhash"] = measure_peer(chosen, texts)
    print(json.dumps(result, indent=1))
    if chosen.json:
        kept = json.loads(chosen.json.read_text()) if chosen.json.exists() else {}
        chosen.json.write_text(json.dumps(kept | result, indent=1) + "\n")


if __name__ == "__main__":
    main()
