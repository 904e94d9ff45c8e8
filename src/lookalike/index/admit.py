"""``admit``: ask and add as one. A document is added unless one that looks like it is there already.

The store lets nobody else decide meanwhile who could come to another answer (``Store.decide``): so of any number of callers with documents
that look alike, one adds its own, and all others are told about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_choice, check_str, check_workers
from lookalike.errors import InputError
from lookalike.index.beside import Expiry, now
from lookalike.index.choosing import Counts, find_counting, leaders
from lookalike.index.newcomers import Newcomers
from lookalike.index.search import carry, checked_options
from lookalike.stores.base import Additions, Link, Reader, Store
from lookalike.stores.given import Given, fingerprinted
from lookalike.stores.ids import Id
from lookalike.stores.kinds import way_named, way_names
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings

ALIKE = ("refuse", "link", "add")


class Admitted(NamedTuple):
    """Whether a document was added, and the one that looks most like it of those that were there."""

    admitted: bool
    match: Match | None

    def to_dict(self) -> dict[str, Any]:
        return {"admitted": self.admitted, "match": None if self.match is None else self.match.to_dict()}


def admitting_way(by: object) -> Way:
    return way_named(by if isinstance(by, str) else check_str("by", by, f"one of {', '.join(way_names())}"))


def admitting_options(by: str, threshold: float | None, k: int) -> Options:
    """As a search has them, but that a match must be alike: some searches name the nearest, however far it is."""
    options = checked_options(k, threshold, 1)
    return options if threshold is not None else options._replace(threshold=way_named(by).alike_from)


@dataclass(frozen=True, slots=True)
class Admission:
    """How documents are admitted."""

    way: Way
    options: Options
    alike: str  # what becomes of one that looks like another
    expiry: Expiry

    def __post_init__(self) -> None:
        check_choice("alike", self.alike, ALIKE)


def admit_documents(
    store: Store, documents: Iterable[object], asked: Admission, progress: Callable[[int], object] | None, workers: int
) -> Iterator[Admitted]:
    check_workers(workers)
    rest, done = iter(documents), 0
    while part := list(islice(rest, store.at_once)):
        given = Given(store.settings.stored)
        for item in part:
            given.append(item)
        if given.without_text:
            raise InputError(f"document {given.without_text.ids[0]!r:.80} has no text that could be alike: add it instead")
        batch = fingerprinted(given, store.settings, store.settings.stored, workers)
        queries = asked.way.queries(given, batch, store.settings)
        keys = asked.way.collision_keys(queries, store.settings, asked.options)
        decide = _Decision(batch, asked.expiry.each(given), queries, keys, asked, store.settings)
        first = 0
        while first < len(batch):
            answers = store.decide(keys, replace(decide, first=first))
            first += len(answers)
            done += len(answers)
            if progress:
                progress(done)
            yield from answers


@dataclass(frozen=True, slots=True)
class _Decision:
    """What is written of a batch, and what its documents are told, one after the other: each finds those that were added before it."""

    batch: Additions
    expires: Sequence[int | None]
    queries: Sequence[Any]
    keys: NDArray[np.int64] | None
    asked: Admission
    settings: Settings
    first: int = 0  # of the batch

    def __call__(self, reader: Reader) -> tuple[Additions, list[Admitted]]:
        """It ends before a document that takes the place of one that others were just linked to: who leads them then, the store knows."""
        looking = _Looking(self, reader)
        places = takewhile(lambda place: not looking.leads(self.batch.ids[place]), range(self.first, len(self.batch)))
        answers = [looking.answer(place) for place in places]
        return looking.chosen(), answers


class _Looking:
    """A decision while it is made."""

    def __init__(self, decision: _Decision, reader: Reader) -> None:
        self._of, self._reader = decision, reader
        asked, batch, settings = decision.asked, decision.batch, decision.settings
        self._options = asked.options._replace(limit=1)
        self._among = Newcomers(batch, settings)
        self._known = asked.way.may_find(reader, settings, decision.queries, self._options)
        self._others = _may_collide(decision.keys, len(batch))
        self._replaced: set[Id] = set()
        self._newest: dict[Id, int] = {}
        self._links: dict[Id, Link] | None = {} if asked.alike == "link" else None
        self._leaders: set[Id] = set()  # what documents of this batch were linked to
        self._there = set(reader.rows_of(batch.ids)) if self._links is not None else set()  # editions that a member may replace
        self._counts = _counts(reader, self._links is not None, self._replaced)
        self._told: list[Match] = []  # of the store
        self._now = now()

    def leads(self, id_: Id) -> bool:
        """Whether another document was linked to this one."""
        return id_ in self._leaders

    def answer(self, place: int) -> Admitted:
        id_ = self._of.batch.ids[place]
        match = self._find(place)
        added = match is None or self._of.asked.alike != "refuse"
        if added:
            leader = match
            if self._links is not None and (id_ in self._newest or id_ in self._there):
                self._take_away(id_)
                leader = self._find(place)  # a document is no member of itself: what is alike without its earlier edition
                match = leader or match
            self._add(place, leader)
        return Admitted(added, match)

    def _find(self, place: int) -> Match | None:
        """What is most like a document, of those that are there and those that come before it."""
        of, query = self._of, self._of.queries[place]
        way = of.asked.way
        stored, here = Matches(), Matches()
        if self._known[place]:
            stored = find_counting(way, self._reader, of.settings, query, self._options, self._counts())
        if self._others[place] and self._newest:
            here = way.find(self._among, of.settings, query, self._options)
        match = _better(stored, here, way.scale)
        if match is not None and stored and match is stored[0]:
            self._told.append(match)
        elif match is not None:
            carry(self._among, [match])
            match.row = None  # a place is no row of the store
        return match

    def _take_away(self, id_: Id) -> None:
        """The edition that is there, which another one replaces."""
        self._replaced.add(id_)
        if id_ in self._newest:
            self._among.show(self._newest[id_], False)
        if self._links is not None:
            self._links.pop(id_, None)

    def _add(self, place: int, leader: Match | None) -> None:
        id_ = self._of.batch.ids[place]
        self._take_away(id_)
        self._newest[id_] = place
        if leader is not None and self._links is not None:
            self._leaders.add(leader.id)
            self._links[id_] = Link(leader.id, leader.score, root=leader.row)
        else:
            self._show(place)

    def _show(self, place: int) -> None:
        """What has expired already keeps nothing out."""
        at = self._of.expires[place]
        self._among.show(place, at is None or at > self._now)

    def chosen(self) -> Additions:
        carry(self._reader, self._told)
        places = sorted(self._newest.values())
        chosen = self._of.batch.take(places)
        chosen.links = _rooted(self._links or {}, self._reader)
        chosen.expires = {self._of.batch.ids[place]: at for place in places if (at := self._of.expires[place]) is not None}
        return chosen


def _rooted(links: dict[Id, Link], reader: Reader) -> dict[Id, Link]:
    """Whoever is linked to the member that leads a cluster now belongs to what the cluster was linked to from its beginning."""
    rows = [link.root for link in links.values() if link.root is not None]
    roots = reader.links(rows) if rows else {}
    return {id_: link if link.root is None else link._replace(root=roots.get(link.root, (link.root,))[0]) for id_, link in links.items()}


def _may_collide(keys: NDArray[np.int64] | None, count: int) -> Sequence[bool]:
    """Which documents of a batch have a key in common with another one of it."""
    if keys is None or count == 1:
        return [count > 1] * count
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return [bool(shared.any()) for shared in counts[places].reshape(keys.shape) > 1]


def _counts(reader: Reader, leading: bool, replaced: set[Id]) -> Callable[[], Counts | None]:
    """What a document may be compared with: not with an edition of another one that this batch replaces."""
    among_leaders = leaders(reader, replaced) if leading else None

    def counts(found: Sequence[Match]) -> Iterable[bool]:
        led = list(among_leaders.of(found)) if among_leaders else [True] * len(found)
        return [each and match.id not in replaced for each, match in zip(led, found, strict=True)]

    return lambda: Counts(counts) if replaced or among_leaders else None


def _better(stored: Sequence[Match], here: Sequence[Match], scale: str) -> Match | None:
    """Of two the one that is more alike, and of equals the older."""
    found = here[0] if here and (not stored or here[0].score > stored[0].score) else stored[0] if stored else None
    if found is not None:
        found.scale = scale
    return found
