"""Clusters of a whole collection, by leaders: a document joins an older one that was kept, verified against it, or is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from lookalike.indexing.fingerprinting import estimates, features, jaccards
from lookalike.indexing.matches import Cluster, Member
from lookalike.indexing.searching import MAX_CANDIDATES, band_keys, stored_minhash
from lookalike.search.hamming import NO_LIMIT
from lookalike.stores.base import Id, Reader, Record
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int], object] | None
AT_A_TIME = 1024
NEIGHBOURS = 64  # of each document, nearest and oldest first; the few that need more are asked again


class Leaders:
    """Who leads whom."""

    def __init__(self) -> None:
        self.ids: dict[int, Id] = {}
        self.members: dict[int, list[Member]] = {}

    def keep(self, record: Record) -> None:
        self.ids[record.row] = record.id

    def join(self, leader: int, record: Record, similarity: float) -> None:
        self.members.setdefault(leader, []).append(Member(record.id, similarity))

    def clusters(self) -> list[Cluster]:
        return [Cluster(self.ids[leader], tuple(members)) for leader, members in sorted(self.members.items())]


def in_batches(records: Iterator[Record], progress: Progress) -> Iterator[list[Record]]:
    done = 0
    while batch := list(islice(records, AT_A_TIME)):
        yield batch
        done += len(batch)
        if progress:
            progress(done)


def simhash_clusters(reader: Reader, settings: Settings, k: int, progress: Progress) -> list[Cluster]:
    leaders = Leaders()
    for batch in in_batches(reader.scan(("simhash",)), progress):
        records = [record for record in batch if record.simhash is not None]
        words = _words(records, settings)
        found = reader.near_simhashes(words, k, NEIGHBOURS, 1)
        for i, record in enumerate(records):
            here = slice(int(found.offsets[i]), int(found.offsets[i + 1]))
            rows, distances = found.ids[here].tolist(), found.distances[here].tolist()
            best = _oldest_leader(rows, distances, record.row, leaders)
            if best is None and int(found.totals[i]) > len(rows):
                each = len(words) // len(records)
                more = reader.near_simhashes(words[i * each : (i + 1) * each], k, NO_LIMIT, 1)
                best = _oldest_leader(more.ids.tolist(), more.distances.tolist(), record.row, leaders)
            if best is None:
                leaders.keep(record)
            else:
                leaders.join(best[0], record, 1 - best[1] / settings.bits)
    return leaders.clusters()


def _oldest_leader(rows: Sequence[int], distances: Sequence[int], own: int, leaders: Leaders) -> tuple[int, int] | None:
    """The nearest leader, the oldest of equally near ones."""
    return next(((row, distance) for row, distance in zip(rows, distances, strict=True) if row < own and row in leaders.ids), None)


def _words(records: Sequence[Record], settings: Settings) -> NDArray[np.uint64]:
    import numpy as np

    size = max(settings.bits // 8, 8)
    return np.frombuffer(b"".join((record.simhash or 0).to_bytes(size, "little") for record in records), dtype=np.uint64)


def near_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> list[Cluster]:
    import numpy as np

    leaders = Leaders()
    column = "text" if settings.keep_text else "minhash"
    for batch in in_batches(reader.scan(("digest", "minhash", "text")), progress):
        records = [record for record in batch if record.digest is not None]
        if not records:
            continue
        values = np.frombuffer(b"".join(stored_minhash(record, settings) for record in records), dtype=np.uint32)
        keys = band_keys(values, settings).reshape(len(records), -1)
        for i, record in enumerate(records):
            groups = reader.sharing_bands(np.ascontiguousarray(keys[i]), MAX_CANDIDATES, 1).groups
            # Of documents with equal contents only the oldest can lead.
            rows = [group.rows[0] for group in groups if group.rows[0] < record.row and group.rows[0] in leaders.ids]
            stored = reader.records(rows, (column,))
            if settings.keep_text:
                own = features(record.text or "", settings.recipe)
                scores = jaccards(own, [stored[row].text or "" for row in rows], settings.recipe) if rows else []
            else:
                mine = values[i * settings.size : (i + 1) * settings.size]
                scores = estimates(mine, [stored[row].minhash or b"" for row in rows]) if rows else []
            best = min(((-score, row) for score, row in zip(scores, rows, strict=True) if score >= threshold), default=None)
            if best is None:
                leaders.keep(record)
            else:
                leaders.join(best[1], record, -best[0])
    return leaders.clusters()
