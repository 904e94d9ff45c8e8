"""``admit``: ask and add as one. A document is added unless one that looks like it is there already.

The store lets nobody else decide meanwhile who could come to another answer (``Store.decide``): so of any number of callers with documents
that look alike, one adds its own, and all others are told about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_choice, check_str, check_workers
from lookalike.errors import InputError
from lookalike.index.beside import Expiry
from lookalike.index.choosing import Counts, find_counting, leaders
from lookalike.index.newcomers import Newcomers
from lookalike.index.search import carry, checked_options
from lookalike.stores.base import Additions, Link, Reader, Store
from lookalike.stores.given import Given, fingerprinted
from lookalike.stores.ids import Id
from lookalike.stores.kinds import way_named, way_names
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.matches import Match
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
        batch.expires = asked.expiry.of(given)
        queries = asked.way.queries(given, batch, store.settings)
        keys = asked.way.collision_keys(queries, store.settings, asked.options)
        decision = partial(_decide, batch=batch, queries=queries, keys=keys, asked=asked, settings=store.settings)
        answers = store.decide(keys, decision)
        done += len(answers)
        if progress:
            progress(done)
        yield from answers


def _decide(
    reader: Reader, batch: Additions, queries: Sequence[Any], keys: NDArray[np.int64] | None, asked: Admission, settings: Settings
) -> tuple[Additions, list[Admitted]]:
    """What is written of a batch, and what its documents are told, one after the other: each finds those that were added before it."""
    way, options, among = asked.way, asked.options._replace(limit=1), Newcomers(batch, settings)
    known = way.may_find(reader, settings, queries, options)
    others = _may_collide(keys, len(batch))
    replaced: set[Id] = set()
    newest: dict[Id, int] = {}
    counts = _counts(reader, asked.alike == "link", replaced)
    links: dict[Id, Link] = {}
    answers = []
    told: list[Match] = []  # of the store
    for place, (id_, query) in enumerate(zip(batch.ids, queries, strict=True)):
        stored = find_counting(way, reader, settings, query, options, counts(id_)) if known[place] else []
        here = way.find(among, settings, query, options) if others[place] and newest else []
        match = _better(stored, here, way.scale)
        if match is not None and stored and match is stored[0]:
            told.append(match)
        elif match is not None:
            carry(among, [match])
        added = match is None or asked.alike != "refuse"
        answers.append(Admitted(added, match))
        if not added:
            continue
        if id_ in newest:
            among.show(newest[id_], False)
        newest[id_] = place
        replaced.add(id_)
        links.pop(id_, None)
        if match is not None and asked.alike == "link":
            links[id_] = Link(match.id, match.score)
        else:
            among.show(place)
    carry(reader, told)
    chosen = batch.take(sorted(newest.values()))
    chosen.links = links
    return chosen, answers


def _may_collide(keys: NDArray[np.int64] | None, count: int) -> Sequence[bool]:
    """Which documents of a batch have a key in common with another one of it."""
    if keys is None or count == 1:
        return [count > 1] * count
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return [bool(shared.any()) for shared in counts[places].reshape(keys.shape) > 1]


def _counts(reader: Reader, leading: bool, replaced: set[Id]) -> Callable[[Id], Counts | None]:
    """What a document may be compared with: not with an edition of another one that this batch replaces."""
    among_leaders = leaders(reader) if leading else None

    def counts(found: Sequence[Match]) -> Iterable[bool]:
        led = list(among_leaders.of(found)) if among_leaders else [True] * len(found)
        return [each and match.id not in replaced for each, match in zip(led, found, strict=True)]

    return lambda _: Counts(counts) if replaced or among_leaders else None


def _better(stored: Sequence[Match], here: Sequence[Match], scale: str) -> Match | None:
    """Of two the one that is more alike, and of equals the older."""
    found = here[0] if here and (not stored or here[0].score > stored[0].score) else stored[0] if stored else None
    if found is not None:
        found.scale = scale
    return found
