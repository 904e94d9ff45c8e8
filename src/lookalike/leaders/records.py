"""Leaders by fields: a record is removed if the weighted mean of its fields' similarities to a kept one is at least the threshold.

Candidates share a band. A bucket holds the first 256 records in it that are kept, as everywhere. Records travel through a run as features
do: as 64-bit words, the canonical JSON filled up with spaces.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints.record import RecordPrint
from lookalike.leaders.candidates import BUCKET_LIMIT
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches


class RecordLeaders:
    """Takes records in the order in which they want to be kept."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._kept: dict[int, RecordPrint] = {}
        self._buckets: dict[tuple[int, int], list[int]] = {}
        self._numbers: dict[str, int] = {}  # of those that are kept: copies point at them
        self._refused: dict[tuple[int, int], int] = {}
        self._offered = 0
        self.compared = 0

    def offer(self, sketches: Sketches) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The kept record that each one points at, by its number in the order of offers, or -1 where it is kept; and the similarity."""
        words, ends = sketches.features.tobytes(), (sketches.offsets * 8).tolist()
        keys = sketches.keys.reshape(len(sketches), -1).tolist()
        decided = []
        for (begin, end), own in zip(pairwise(ends), keys, strict=True):
            decided.append(self._decide(words[begin:end].decode("ascii").rstrip(" "), own))
            self._offered += 1
        leaders, similarities = zip(*decided, strict=True) if decided else ((), ())
        return np.array(leaders, dtype=np.int64), np.array(similarities, dtype=np.float64)

    def hot_buckets(self, limit: int) -> list[tuple[int, int, int]]:
        """Band, records refused, and a record of each bucket that was full."""
        most = sorted(self._refused.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return [(bucket[0], refused, self._buckets[bucket][0]) for bucket, refused in most]

    def _decide(self, written: str, keys: list[int]) -> tuple[int, float]:
        if not written:
            return -1, 0.0  # nothing to compare
        if written in self._numbers:
            return self._numbers[written], 1.0
        leader, similarity = self._nearest(RecordPrint(written, self._rule.weights, self._rule.measures), list(enumerate(keys)))
        if leader < 0:
            self._numbers[written] = self._offered
        return leader, similarity

    def _nearest(self, own: RecordPrint, buckets: list[tuple[int, int]]) -> tuple[int, float]:
        """The most similar kept record, of equals the earliest; where none is near enough, this one is kept."""
        candidates = sorted({number for bucket in buckets for number in self._buckets.get(bucket, ())})
        self.compared += len(candidates)
        scored = [(self._kept[number].similarity(own), -number) for number in candidates]
        best = max(scored, default=(0.0, 0))
        if scored and best[0] >= self._rule.threshold:
            return -best[1], best[0]
        self._kept[self._offered] = own
        for bucket in buckets:
            members = self._buckets.setdefault(bucket, [])
            if len(members) < BUCKET_LIMIT:
                members.append(self._offered)
            else:
                self._refused[bucket] = self._refused.get(bucket, 0) + 1
        return -1, 0.0
