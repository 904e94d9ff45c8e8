"""Searching among some of the documents: those that have not expired, those that a filter lets through, those that lead a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lookalike.errors import NotFound
from lookalike.index.where import parse_where
from lookalike.stores.base import Reader, Record
from lookalike.stores.ids import Id, check_id
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings

LOWER_BOUND = "the total is a lower bound: documents were counted until there were enough"
MORE = 8  # times as many are asked for where too few of them count
Counts = Callable[[Sequence[Match]], Iterable[bool]]


def find_counting(way: Way, reader: Reader, settings: Settings, query: Any, options: Options, counts: Counts | None) -> Matches:
    """What a way finds, of documents that count: as many as there are up to the limit, whatever lies between them."""
    hidden = reader.hidden()
    if counts is None and not hidden:
        return way.find(reader, settings, query, options)
    limit = options.limit
    asked = max(2 * limit, 16) if limit < 1 << 40 else limit
    while True:
        found = way.find(reader, settings, query, options._replace(limit=asked))
        rows_of(reader, found)
        shown = [match for match in found if match.row not in hidden]
        kept = [match for match, counted in zip(shown, counts(shown), strict=True) if counted] if counts else shown
        if len(found) < asked:  # there are no others
            return Matches(kept[:limit], len(kept), found.notes)
        if len(kept) > limit:
            return Matches(kept[:limit], len(kept), [*found.notes, LOWER_BOUND])
        asked *= MORE


def rows_of(reader: Reader, found: Sequence[Match]) -> None:
    """See that each match knows its row: a kind of somebody else's need not say it."""
    unknown = [match.id for match in found if match.row is None]
    if unknown:
        rows = reader.rows_of(unknown)
        for match in found:
            if match.row is None:
                match.row = rows.get(match.id)


def fitting(reader: Reader, where: object) -> Counts | None:
    """Those whose meta fits."""
    if where is None:
        return None
    fits = parse_where(where)

    def counts(found: Sequence[Match]) -> Iterable[bool]:
        records = reader.records([match.row for match in found if match.row is not None], ("meta",))
        return [match.row is not None and fits(meta_of(records[match.row])) for match in found]

    return counts


def meta_of(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record.meta) if record.meta else {}
    return found


def scrolled(reader: Reader, columns: Sequence[str], after: Id | None, where: object, name: str) -> Iterator[Record]:
    """Documents in order of their age, those after one, or those that fit, or both."""
    first = 0
    if after is not None:
        check_id(after)
        row = reader.rows_of([after]).get(after)
        if row is None:
            raise NotFound(f"{name} has no document {after!r}: go on after one that is there")
        first = row + 1
    chosen = reader if where is None else Fitting(reader, where)
    return chosen.scan(columns, first)


class Fitting:
    """A reader whose scans show documents that fit, and no others: what clusters are made of."""

    def __init__(self, reader: Reader, where: object) -> None:
        self._reader, self._fits = reader, parse_where(where)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[Record]:
        wanted = columns if "meta" in columns else (*columns, "meta")
        return (record for record in self._reader.scan(wanted, first) if self._fits(meta_of(record)))


def leaders(reader: Reader) -> Counts:
    """Those that lead a cluster, or are in none."""

    def counts(found: Sequence[Match]) -> Iterable[bool]:
        rows = [match.row for match in found if match.row is not None]
        led = leaders_of(reader, rows)
        return [match.row is not None and led.get(match.row, match.row) == match.row for match in found]

    return counts


def leaders_of(reader: Reader, rows: Sequence[int]) -> dict[int, int]:
    """The rows that lead the clusters of those of these documents that were linked to another.

    The oldest of a cluster that is still there leads it: the one that the others were linked to, and after that the first of them.
    """
    links = reader.links(rows)
    roots = sorted({root for root, _ in links.values()})
    there = reader.ids_of(roots)
    oldest: dict[int, int] = {}
    for root, row, _ in reader.linked_to([root for root in roots if root not in there]) if len(there) < len(roots) else ():
        oldest.setdefault(root, row)
    return {row: root if root in there else oldest.get(root, row) for row, (root, _) in links.items()}
