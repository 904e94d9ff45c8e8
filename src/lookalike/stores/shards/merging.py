"""The answers of several shards as one: what the same documents would give in one store.

Rows are those of the whole by now. A kind that is not named here is asked in segments that are made of all shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.segments.hamming import Found
from lookalike.segments.shared import SharedResult
from lookalike.segments.vectors import NearVectors, merged
from lookalike.stores.kinds.bands import BandGroups, Group, SharingBands
from lookalike.stores.kinds.digests import FuzzyFound, NearDigests
from lookalike.stores.kinds.near import MayShareBands
from lookalike.stores.kinds.passage_search import SharingPassages
from lookalike.stores.kinds.simhash import NearSimhashes
from lookalike.stores.kinds.vector import NearestVectors

RowMap = Callable[[Sequence[int]], list[int]]  # from those of a shard to those of the whole


def translated(question: Any, answer: Any, rows: RowMap) -> Any:
    """The answer of one shard, with rows of the whole."""
    if isinstance(question, SharingBands):
        groups = [group._replace(rows=sorted(rows(group.rows))) for group in answer.groups]
        return BandGroups(groups, answer.total)
    if isinstance(question, NearSimhashes):
        return answer._replace(ids=_array(rows(answer.ids.tolist())))
    if isinstance(question, (NearDigests, NearestVectors)):
        return answer._replace(rows=_array(rows(answer.rows.tolist())))
    if isinstance(question, SharingPassages):
        places = rows([each.row for each in answer.documents])
        return replace(answer, documents=tuple(replace(each, row=row) for each, row in zip(answer.documents, places, strict=True)))
    return answer


def joined(question: Any, answers: Sequence[Any]) -> Any:
    """The answers of all shards as one."""
    if isinstance(question, SharingBands):
        return _groups(question, answers)
    if isinstance(question, NearSimhashes):
        return _found(question, answers)
    if isinstance(question, NearDigests):
        rows, values = (np.concatenate([getattr(each, name) for each in answers]) for name in ("rows", "values"))
        order = np.lexsort((rows, question.best_first * values))[: question.limit]
        return FuzzyFound(rows[order], values[order], sum(each.total for each in answers))
    if isinstance(question, NearestVectors):
        whole: NearVectors = merged(list(answers), len(answers[0].offsets) - 1, question.limit)
        return whole._replace(notes=tuple(dict.fromkeys(note for each in answers for note in each.notes)))
    if isinstance(question, SharingPassages):
        return _shared(question, answers)
    return np.logical_or.reduce(answers)  # MayShareBands


MERGED = (SharingBands, NearSimhashes, NearDigests, NearestVectors, SharingPassages, MayShareBands)


def _groups(question: SharingBands, answers: Sequence[BandGroups]) -> BandGroups:
    """Copies of a document may be in several shards: they are one group."""
    by_digest: dict[int, Group] = {}
    total = 0
    for answer in answers:
        total += answer.total
        for group in answer.groups:
            known = by_digest.get(group.digest)
            if known is not None:
                total -= 1
                rows = sorted((*known.rows, *group.rows))[: question.rows]
                group = Group(group.digest, rows, known.size + group.size, group.shared)
            by_digest[group.digest] = group
    groups = sorted(by_digest.values(), key=lambda group: (-group.shared, group.rows[0]))
    return BandGroups(groups[: question.limit], total)


def _found(question: NearSimhashes, answers: Sequence[Found]) -> Found:
    queries = len(answers[0].offsets) - 1
    query = np.concatenate([np.repeat(np.arange(queries), np.diff(each.offsets)) for each in answers])
    rows, distances = (np.concatenate([getattr(each, name) for each in answers]) for name in ("ids", "distances"))
    order = np.lexsort((rows, distances, query))
    query, rows, distances = query[order], rows[order], distances[order]
    offsets = np.searchsorted(query, np.arange(queries + 1))
    keep = np.arange(len(query)) - offsets[query] < question.limit
    kept = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), question.limit))]).astype(np.int64)
    return Found(kept, rows[keep], distances[keep], np.sum([each.totals for each in answers], axis=0, dtype=np.int64))


def _shared(question: SharingPassages, answers: Sequence[SharedResult]) -> SharedResult:
    """What is boilerplate, each shard decides by its own documents; the one that left out the most is named."""
    documents = sorted((each for answer in answers for each in answer.documents), key=lambda each: (-each.shared, each.row))
    most = max(answers, key=lambda answer: answer.skipped.hashes)
    total, rarest = sum(answer.total for answer in answers), any(answer.rarest for answer in answers)
    return replace(most, documents=tuple(documents[: question.limit]), total=total, rarest=rarest)


def _array(rows: Sequence[int]) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64)
