"""In which shard a document is, and when it was added: rows of shards say nothing about each other, so each document carries a number.

The number is beside the document, in its meta, where every store keeps it; readers take it out again. It is the time in microseconds,
and a writer never gives the same twice. The meta of a member of a cluster also has the id of the leader (``links.py``).
"""

from __future__ import annotations

import json
import threading
import time
from hashlib import blake2b
from typing import Any

from lookalike.stores.ids import Id

MAX_SHARDS = 1024
ADDED, LEADER = "lookalike.added", "lookalike.leader"  # names in meta

_lock = threading.Lock()
_last = 0


def shard_of(id_: Id, shards: int) -> int:
    """The same on every machine, in every version: documents stay where they are."""
    return int.from_bytes(blake2b(written_id(id_), digest_size=8).digest(), "big") % shards


def written_id(id_: Id) -> bytes:
    return f"{'n' if isinstance(id_, int) else 't'}{id_}".encode("utf-8", "surrogatepass")


def numbers(count: int) -> range:
    """Ascending ones that were never given before."""
    global _last
    with _lock:
        first = max(_last + 1, time.time_ns() // 1000)
        _last = first + count - 1
    return range(first, first + count)


def numbered(meta: str | None, number: int, leader: Id | None = None) -> str:
    held: dict[str, Any] = json.loads(meta) if meta else {}
    return json.dumps(held | {ADDED: number} | ({} if leader is None else {LEADER: leader}))


def number_of(meta: str | None) -> tuple[int | None, str | None]:
    """The number, and the meta without it; None where somebody has added the document to the shard itself."""
    if not meta or ADDED not in meta:
        return None, meta
    held: dict[str, Any] = json.loads(meta)
    number = held.pop(ADDED, None)
    held.pop(LEADER, None)
    return number, json.dumps(held) if held else None


def leader_of(meta: str | None) -> Id | None:
    """The id of the document that leads the cluster of this one, where it was linked to one."""
    held: dict[str, Any] = json.loads(meta) if meta and LEADER in meta else {}
    leader: Id | None = held.get(LEADER)
    return leader
