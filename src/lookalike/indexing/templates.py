"""Clusters of web pages by structure: the pages of one template.

By leaders, like all clusters: a page joins an older one that leads, verified against it, or leads itself. A template has thousands
of pages that are alike, so candidates are not asked of the store, which would name them all: buckets are made here, and hold
leaders only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from lookalike.indexing.matches import Cluster, Member
from lookalike.stores.base import Id, Reader, Record
from lookalike.stores.page_structures import shared_paths, structure_sketches, unpack_structure
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_A_TIME = 4096
Bucket = list[int]  # the numbers of the leaders in it
Progress = Callable[[int], object] | None


@dataclass(slots=True)
class _Leader:
    id: Id
    structure: bytes
    members: list[Member] = field(default_factory=list)


def structure_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> list[Cluster]:
    settings.require("structure")
    digests, keys = _sketches(reader, settings, progress)
    buckets = _shared_buckets(digests, keys)
    leaders: list[_Leader] = []
    joined: dict[int, tuple[_Leader, float]] = {}  # by digest: pages of equal structure share their leader
    for record, digest in zip(_pages(reader), digests.tolist(), strict=True):
        if digest in joined:
            leader, similarity = joined[digest]
            leader.members.append(Member(record.id, similarity))
            continue
        own, candidates = record.structure or b"", buckets.get(digest, ())
        found = _best(own, candidates, leaders, threshold)
        if found is None:
            # One that shares no bucket will not be compared: its structure needs no memory.
            leaders.append(_Leader(record.id, own if candidates else b""))
            for bucket in candidates:
                bucket.append(len(leaders) - 1)
            joined[digest] = leaders[-1], 1.0
        else:
            joined[digest] = found
            found[0].members.append(Member(record.id, found[1]))
    return [Cluster(leader.id, tuple(leader.members)) for leader in leaders if leader.members]


def _best(own: bytes, buckets: Sequence[Bucket], leaders: list[_Leader], threshold: float) -> tuple[_Leader, float] | None:
    """The leader that is most alike, the oldest of equal ones, if it is alike enough."""
    candidates = [leaders[number] for number in sorted({number for bucket in buckets for number in bucket})]
    scores = shared_paths(unpack_structure(own), [leader.structure for leader in candidates])
    best = max(scores, default=-1.0)
    return (candidates[scores.index(best)], best) if best >= threshold else None


def _pages(reader: Reader) -> Iterator[Record]:
    return (record for record in reader.scan(("structure",)) if record.structure is not None)


def _sketches(reader: Reader, settings: Settings, progress: Progress) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The digests of all pages, and the band keys of each."""
    import numpy as np

    digests = [np.zeros(0, np.uint64)]
    keys = [np.zeros(0, np.uint32)]
    pages, done = _pages(reader), 0
    while batch := [record.structure or b"" for record in islice(pages, AT_A_TIME)]:
        found = structure_sketches(batch, settings)
        digests.append(found[0])
        keys.append(found[1])
        done += len(batch)
        if progress:
            progress(done)
    return np.concatenate(digests), np.concatenate(keys).reshape(-1, settings.banding.bands)


def _shared_buckets(digests: NDArray[np.uint64], keys: NDArray[np.uint32]) -> dict[int, list[Bucket]]:
    """The buckets of each structure, by its digest. Those of one structure only are left out, and they are nearly all."""
    import numpy as np

    distinct, first = np.unique(digests, return_index=True)
    found: dict[int, list[Bucket]] = {}
    for band in keys[first].T:
        _, place, counts = np.unique(band, return_inverse=True, return_counts=True)
        shared: dict[int, Bucket] = {}
        for structure in np.flatnonzero(counts[place] > 1).tolist():
            found.setdefault(int(distinct[structure]), []).append(shared.setdefault(int(place[structure]), []))
    return found
