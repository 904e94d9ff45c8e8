"""A collection on several stores. ``docs/shards.md`` describes it to users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError, LookalikeError, StoreError
from lookalike.stores.base import Added, Additions, CheckReport, OnProgress, Reader, Store
from lookalike.stores.ids import Id
from lookalike.stores.settings import Settings, Wanted
from lookalike.stores.shards.links import links_elsewhere, rooted
from lookalike.stores.shards.names import ShardNames
from lookalike.stores.shards.reading import ShardReader
from lookalike.stores.shards.routing import numbered, numbers, shard_of

Answer = TypeVar("Answer")


class ShardStore:
    """Each document is in the shard that its id says. One that does not answer is an error, or, where ``partial``, left out of searches."""

    def __init__(self, stores: Sequence[Store | str], wanted: Wanted, *, partial: bool = False) -> None:
        """In place of a store that could not be opened, what is wrong with it."""
        self._stores, self.wanted, self._partial = list(stores), wanted, partial
        live = self._live()
        if not live:
            raise StoreError(f"none of the shards could be opened: {'; '.join(str(each) for each in stores)}")
        self.settings = live[0].settings
        self.name = f"{len(stores)} shards ({', '.join(each.name for each in live[:3])}{', …' if len(live) > 3 else ''})"
        self._check_settings(live)
        self._check_homes()

    def _live(self) -> list[Store]:
        return [each for each in self._stores if not isinstance(each, str)]

    def _check_settings(self, live: Sequence[Store]) -> None:
        for store in live[1:]:
            if self.settings.keyed and store.settings != self.settings and is_empty(store):
                store.adopt(self.settings)  # made a moment ago: all shards have one secret
            if store.settings.to_json() != self.settings.to_json():
                raise InputError(f"{store.name} was made with other settings than {live[0].name}: shards have the same")

    def _check_homes(self) -> None:
        """The oldest document of each shard is where its id says, or the list was another one when it was added."""
        for place, store in enumerate(self._stores):
            if isinstance(store, str):
                continue
            with store.reading() as reader:
                first = next(iter(reader.scan(())), None)
            if first is not None and shard_of(first.id, len(self._stores)) != place:
                home = shard_of(first.id, len(self._stores))
                raise StoreError(
                    f"{store.name} is shard {place + 1} of {len(self._stores)} here, but its document {first.id!r:.60} "
                    f"belongs to shard {home + 1}: give all shards in the order in which they were made"
                )

    def _failed(self, place: int, error: StoreError) -> str:
        """What a note says where that is allowed; otherwise it is an error."""
        store = self._stores[place]
        if not self._partial:
            raise error
        why = store if isinstance(store, str) else error
        return f"shard {place + 1} of {len(self._stores)} did not answer ({why}): what it holds is missing here"

    @contextmanager
    def reading(self) -> Iterator[ShardReader]:
        with ExitStack() as held:
            parts: list[Reader | None] = []
            notes = []
            for place, store in enumerate(self._stores):
                try:
                    if isinstance(store, str):
                        raise StoreError(store)
                    parts.append(held.enter_context(store.reading()))
                except StoreError as error:
                    notes.append(self._failed(place, error))
                    parts.append(None)
            reader = ShardReader(parts, self.settings, self._failed)
            reader.notes = notes
            yield reader

    def _store(self, place: int) -> Store:
        store = self._stores[place]
        if isinstance(store, str):
            raise StoreError(f"shard {place + 1} of {len(self._stores)} could not be opened: {store}")
        return store

    def write(self, batch: Additions) -> Added:
        """Each shard takes its part whole or not at all. What fails can be added again: it replaces what is there."""
        batch = batch.last_of_each()
        batch = self._numbered(batch, self._stored_numbers)
        added = updated = 0
        for place, places in self._homes(batch.ids).items():
            counts = self._store(place).write(batch.take(places))
            added, updated = added + counts.added, updated + counts.updated
        return Added(added, updated)

    @property
    def at_once(self) -> int:
        return min(self._store(place).at_once for place in range(len(self._stores)))

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[Reader], tuple[Additions, Answer]]) -> Answer:
        """Whoever decides holds what the first shard holds for these keys, so all take turns there. Each shard writes its part as one."""

        def chosen(first: Reader) -> tuple[Additions, Answer]:
            with ExitStack() as held:
                others = [held.enter_context(self._store(place).reading()) for place in range(1, len(self._stores))]
                reader = ShardReader([first, *others], self.settings, self._failed)
                batch, answer = choose(reader)
                batch.links = {id_: rooted(link, reader) for id_, link in batch.links.items()}
                whole = self._numbered(batch, partial(_numbers_in, reader))
            if not len(whole):
                return whole, answer
            homes = self._homes(whole.ids)
            for place, places in homes.items():
                if place:
                    self._store(place).write(whole.take(places))
            return whole.take(homes.get(0, [])), answer

        return self._store(0).decide(keys, chosen)

    def _numbered(self, batch: Additions, stored: Callable[[Sequence[Id]], dict[Id, int]]) -> Additions:
        """With numbers of their own, and links as shards keep them; ``stored`` gives the numbers of documents that are there."""
        given = numbers(len(batch))
        links = links_elsewhere(batch, given, stored)
        metas = [
            numbered(meta, number, links[id_].leader if id_ in links else None)
            for id_, meta, number in zip(batch.ids, batch.metas, given, strict=True)
        ]
        return Additions(batch.ids, batch.texts, metas, batch.columns, links, batch.expires)

    def _stored_numbers(self, ids: Sequence[Id]) -> dict[Id, int]:
        with self.reading() as reader:
            return _numbers_in(reader, ids)

    def _homes(self, ids: Sequence[Id]) -> dict[int, list[int]]:
        homes: dict[int, list[int]] = {}
        for place, id_ in enumerate(ids):
            homes.setdefault(shard_of(id_, len(self._stores)), []).append(place)
        return homes

    def remove(self, ids: Sequence[Id]) -> int:
        return sum(self._store(place).remove([ids[each] for each in places]) for place, places in self._homes(ids).items())

    def adopt(self, settings: Settings) -> bool:
        stores = [self._store(place) for place in range(len(self._stores))]
        if not all(map(is_empty, stores)):
            return False
        taken = [store.adopt(settings) for store in stores]
        if all(taken):
            self.settings = settings
        return all(taken)

    def names(self) -> ShardNames:
        return ShardNames([self._store(place).names() for place in range(len(self._stores))], self.name)

    def stats(self) -> dict[str, Any]:
        found = [self._store(place).stats() for place in range(len(self._stores))]
        both = zip(self._live(), found, strict=True)
        return {
            "documents": sum(each["documents"] for each in found),
            "collections": sorted({name for each in found for name in each["collections"]}),
            "bytes": sum(each["bytes"] for each in found),
            "shards": [{"name": store.name, "documents": each["documents"], "bytes": each["bytes"]} for store, each in both],
        }

    def check(self, repair: bool, progress: OnProgress | None = None) -> CheckReport:
        whole = CheckReport()
        for place in range(len(self._stores)):
            report = self._store(place).check(repair, progress)
            whole.problems += [f"shard {place + 1}: {problem}" for problem in report.problems]
            whole.repaired += [f"shard {place + 1}: {problem}" for problem in report.repaired]
            for name, count in report.checked.items():
                whole.checked[name] = whole.checked.get(name, 0) + count
        return whole

    def compact(self, progress: OnProgress | None = None) -> dict[str, Any]:
        found = [self._store(place).compact(progress) for place in range(len(self._stores))]
        return {name: sum(each.get(name, 0) for each in found) for name in ("bytes_before", "bytes_after")}

    def close(self, progress: OnProgress | None = None) -> None:
        problems = []
        for store in self._live():
            try:
                store.close(progress)
            except LookalikeError as error:  # the others are closed all the same
                problems.append(error)
        if problems:
            raise problems[0]


def _numbers_in(reader: ShardReader, ids: Sequence[Id]) -> dict[Id, int]:
    return {id_: reader.number_of(row) for id_, row in reader.rows_of(ids).items()} if ids else {}


def is_empty(store: Store) -> bool:
    with store.reading() as reader:
        return reader.count() == 0
