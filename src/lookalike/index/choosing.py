"""Searching among some of the documents: those that have not expired, those that a filter lets through, those that lead a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import NotFound
from lookalike.index.selecting import Selected, selected
from lookalike.index.where import parse_where
from lookalike.stores.base import Reader, StoredDocument
from lookalike.stores.ids import Id, check_id
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings

LOWER_BOUND = "the total is a lower bound: documents were counted until there were enough"
MORE = 8  # times as many are asked for where too few of them count
Counted = Callable[[Sequence[Match]], Iterable[bool]]


class Counts(NamedTuple):
    """Which matches count, and which rows they are among, where that is known at little cost."""

    of: Counted
    rows: Callable[[], NDArray[np.int64] | None] = lambda: None


def find_counting(way: Way, reader: Reader, settings: Settings, query: Any, options: Options, counts: Counts | None) -> Matches:
    """What a way finds, of documents that count: as many as there are up to the limit, whatever lies between them."""
    hidden = reader.hidden()
    if counts is None and not hidden:
        return way.find(reader, settings, query, options)
    limit = options.limit
    asked = max(2 * limit, 16) if limit < 1 << 40 else limit
    asking: Reader = reader
    while True:
        found = way.find(asking, settings, query, options._replace(limit=asked))
        rows_of(reader, found)
        shown = [match for match in found if match.row not in hidden]
        kept = [match for match, counted in zip(shown, counts.of(shown), strict=True) if counted] if counts else shown
        if len(found) < asked:  # there are no others
            return Matches(kept[:limit], len(kept), found.notes)
        if len(kept) > limit:
            return Matches(kept[:limit], len(kept), [*found.notes, LOWER_BOUND])
        if asking is reader and counts and way.narrows and (rows := counts.rows()) is not None:
            asking = Selected(reader, settings, rows)
        else:
            asked *= MORE


Arrays = tuple[NDArray[Any], ...]  # offsets of the queries; rows, and a value of each


def arrays_counting(
    reader: Reader, settings: Settings, ask: Callable[[Reader, int], Arrays], limit: int, where: object
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """The same for many queries at once, in arrays: of each as many as there are up to the limit."""
    hidden = np.array(sorted(reader.hidden()), dtype=np.int64)
    if where is None and not len(hidden):
        offsets, rows, values = ask(reader, limit)
        return offsets, rows, values
    fits = None if where is None else parse_where(where)
    asked = max(2 * limit, 16) if limit < 1 << 40 else limit
    asking: Reader = reader
    known: dict[int, bool] = {}  # by row, whether its meta fits
    while True:
        offsets, rows, values = ask(asking, asked)
        keep = ~np.isin(rows, hidden)
        if fits is not None:
            new = [row for row in np.unique(rows[keep]).tolist() if row not in known]
            known |= {row: fits(meta_of(record)) for row, record in reader.records(new, ("meta",)).items()}
            keep &= np.fromiter((known.get(row, False) for row in rows.tolist()), dtype=bool, count=len(rows))
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        kept = np.bincount(query[keep], minlength=len(offsets) - 1)
        if np.all((kept >= limit) | (np.diff(offsets) < asked)):
            return _first_of_each(query[keep], rows[keep], values[keep], len(offsets) - 1, limit)
        chosen = selected(reader, settings, fits) if fits is not None and asking is reader and reader.stores_all_columns else None
        if chosen is None:
            asked *= MORE
        else:
            asking = Selected(reader, settings, chosen)


def _first_of_each(
    query: NDArray[np.int64], rows: NDArray[np.int64], values: NDArray[Any], queries: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """What is kept of each query up to the limit."""
    offsets = np.searchsorted(query, np.arange(queries + 1))
    keep = np.arange(len(query)) - offsets[query] < limit
    ends = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), limit))]).astype(np.int64)
    return ends, rows[keep], values[keep]


def rows_of(reader: Reader, found: Sequence[Match]) -> None:
    """See that each match knows its row: a kind of somebody else's need not say it."""
    unknown = [match.id for match in found if match.row is None]
    if unknown:
        rows = reader.rows_of(unknown)
        for match in found:
            if match.row is None:
                match.row = rows.get(match.id)


def fitting(reader: Reader, settings: Settings, where: object) -> Counts | None:
    """Those whose meta fits."""
    if where is None:
        return None
    fits = parse_where(where)

    def of(found: Sequence[Match]) -> Iterable[bool]:
        records = reader.records([match.row for match in found if match.row is not None], ("meta",))
        return [match.row is not None and fits(meta_of(records[match.row])) for match in found]

    return Counts(of, lambda: selected(reader, settings, fits) if reader.stores_all_columns else None)


def meta_of(record: StoredDocument) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record.meta) if record.meta else {}
    return found


def scrolled(
    reader: Reader, settings: Settings, columns: Sequence[str], after: Id | None, where: object, name: str
) -> Iterator[StoredDocument]:
    """Documents in order of their age, those after one, or those that fit, or both."""
    first = 0
    if after is not None:
        check_id(after)
        row = reader.rows_of([after]).get(after)
        if row is None:
            raise NotFound(f"{name} has no document {after!r}: go on after one that is there")
        first = row + 1
    chosen = reader if where is None else Fitting(reader, settings, where)
    return chosen.scan(columns, first)


class Fitting:
    """A reader whose scans show documents that fit, and no others: what clusters are made of."""

    def __init__(self, reader: Reader, settings: Settings, where: object) -> None:
        self._fits = parse_where(where)
        rows = selected(reader, settings, self._fits)
        self._reader: Reader = reader if rows is None else Selected(reader, settings, rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        wanted = columns if "meta" in columns else (*columns, "meta")
        return (record for record in self._reader.scan(wanted, first) if self._fits(meta_of(record)))


def leaders(reader: Reader, replaced: Collection[Id] = ()) -> Counts:
    """Those that lead a cluster, or are in none, when the documents that are ``replaced`` are gone."""

    def of(found: Sequence[Match]) -> Iterable[bool]:
        rows = [match.row for match in found if match.row is not None]
        led = leaders_of(reader, rows, replaced)
        return [match.row is not None and led.get(match.row, match.row) == match.row for match in found]

    return Counts(of)


def leaders_of(reader: Reader, rows: Sequence[int], replaced: Collection[Id] = ()) -> dict[int, int]:
    """The rows that lead the clusters of those of these documents that were linked to another.

    The oldest of a cluster that is still there leads it: the one that the others were linked to, and after that the first of them.
    """
    links = reader.links(rows)
    roots = sorted({root for root, _ in links.values()})
    there = _without(replaced, reader.ids_of(roots))
    oldest: dict[int, int] = {}
    linked = reader.linked_to([root for root in roots if root not in there]) if len(there) < len(roots) else []
    left = _without(replaced, reader.ids_of([row for _, row, _ in linked])) if replaced else None
    for root, row, _ in linked:
        if left is None or row in left:
            oldest.setdefault(root, row)
    return {row: root if root in there else oldest.get(root, row) for row, (root, _) in links.items()}


def _without(replaced: Collection[Id], rows: dict[int, Id]) -> dict[int, Id]:
    return {row: id_ for row, id_ in rows.items() if id_ not in replaced} if replaced else rows
