"""Pairs that are alike without shared passages: records by their fields, web pages by their structure.

A collection in memory finds for each thing those that are like it, as ``Index.search`` does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lookalike.index.opening import open as open_index
from lookalike.pairing.report import Pair, PairsReport

WAYS = {"page": ("structure", 0.8), "record": ("record", 0.8)}  # and the least similarity, where none is given
MOST_NEIGHBOURS = 100  # of one thing: a thousand pages of one template are no half a million pairs


def alike_pairs(report: PairsReport, limit: int) -> None:
    """Adds the pairs that are alike, and ranks all: by the score of passages or the similarity, whichever is higher."""
    by, usual = WAYS[report.kind]
    threshold = max(report.threshold, usual) if report.kind == "page" else report.threshold
    known = {(pair.left, pair.right): pair for pair in report.pairs}
    place = {thing.id: at for at, thing in enumerate(report.things)}
    with open_index("memory://", kinds=by, threshold=threshold) as index:
        things = [thing for thing in report.things if (thing.page if report.kind == "page" else thing.record) is not None]
        index.add([_document(thing, report.kind) for thing in things])
        for thing in things:
            found = index.search(thing.page or thing.record, by=by, threshold=threshold, limit=MOST_NEIGHBOURS + 1)
            for match in found:
                left, right = sorted((thing.id, str(match.id)), key=place.__getitem__)
                if left != right:
                    pair = known.get((left, right), Pair(left, right, 0.0))
                    known[left, right] = replace(pair, similarity=match.score, score=max(pair.score, match.score))
    every = sorted(known.values(), key=lambda pair: (-pair.score, place[pair.left], place[pair.right]))
    report.total = max(report.total, len(every))
    report.pairs = every[:limit]


def _document(thing: Any, kind: str) -> Any:
    return (thing.id, thing.page, {}) if kind == "page" else (thing.id, dict(thing.record), {})
