"""One thread writes. What arrives while it writes is written together the next time, and nobody is answered before it is on the disk."""

from __future__ import annotations

import logging
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from lookalike.errors import InputError, LookalikeError
from lookalike.index.index import Index
from lookalike.index.opening import open as open_index
from lookalike.index.own_tables import drop_collection
from lookalike.recipe import Recipe
from lookalike.service.operations import Admit, Alias, Create, Done, Drop, Operation, Put, Remove, WriteFailed, failure
from lookalike.service.shelf import led_to, opened

TOGETHER = 1000  # documents that are written in one piece
MANY = 64  # documents that are worth several threads
MOST_OPEN = 16  # collections
_log = logging.getLogger("lookalike.service")
_Waiting = tuple[Operation, "Future[Done]"]


class GroupWriter:
    """Writes the operations that are submitted, in their order."""

    def __init__(self, location: str, wrote: Callable[[int], None] = lambda version: None) -> None:
        self._location, self._wrote = location, wrote
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._open: OrderedDict[str, Index] = OrderedDict()  # by their collections, the one written last at the end
        self._version = 0
        self._thread = threading.Thread(target=self._run, name="lookalike-writer")
        self._thread.start()

    def submit(self, operation: Operation) -> Future[Done]:
        future: Future[Done] = Future()
        self._queue.put((operation, future))
        return future

    def close(self) -> None:
        """Write what was submitted, then let go of the store."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        ending = False
        while not ending:
            group = [self._queue.get()]
            while group[-1] is not None and sum(map(_size, group)) < TOGETHER:
                try:
                    group.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            ending = group[-1] is None
            for part in _joined([each for each in group if each is not None]):
                self._write(part)
        self._leave()

    def _write(self, part: list[_Waiting]) -> None:
        """Operations that can be done at once; if one of them is wrong, they are done one by one."""
        try:
            results = self._done([operation for operation, _ in part])
        except Exception as error:
            if len(part) > 1:
                for each in part:
                    self._write([each])
                return
            if not isinstance(error, LookalikeError):
                _log.exception("a write failed")
            part[0][1].set_exception(WriteFailed(failure(error)))
            if not isinstance(error, InputError):
                self._leave()  # whatever happened to the store, the next operation opens it anew
            return
        self._version += 1
        self._wrote(self._version)
        for (_, future), result in zip(part, results, strict=True):
            future.set_result(Done(self._version, result))

    def _done(self, operations: list[Operation]) -> list[Any]:
        first = operations[0]
        if isinstance(first, Put):
            return self._put([each for each in operations if isinstance(each, Put)])
        if isinstance(first, Remove):
            return [self._opened(first.collection).remove(first.ids)]
        if isinstance(first, Admit):
            found = self._opened(first.collection).admit(first.documents, **first.options)
            return [[{"admitted": each.admitted, "match": each.match.to_dict() if each.match else None} for each in found]]
        if isinstance(first, Create):
            self._leave()
            recipe = first.options.get("recipe")
            made = {"recipe": Recipe.from_dict(recipe)} if isinstance(recipe, dict) else {}
            open_index(self._location, collection=first.collection, **first.options | made).close()
            return [None]
        if isinstance(first, Alias):
            names = self._opened(first.leads_to).collections
            names.alias(first.collection, first.leads_to)
            return [None]
        if isinstance(first, Drop):
            names = self._opened(first.collection).collections  # NotFound, where there is none
            if first.collection in names.aliases:
                return [names.drop(first.collection)]
            self._leave()
            return [drop_collection(self._location, first.collection)]
        return [self._opened(first.collection).compact()]

    def _put(self, operations: list[Put]) -> list[Any]:
        index = self._opened(operations[0].collection)
        documents = [document for each in operations for document in each.documents]
        workers = 1 if len(documents) < MANY else None  # for a few texts, threads take longer to start than to work
        if len(documents) == 1:
            return [["updated" if index.add(documents, workers=workers).updated else "added"]]
        # Nobody else writes, so what is there now is what is replaced.
        known = {id_ for id_, _, _ in documents if id_ in index}
        index.add(documents, workers=workers)
        return [["updated" if id_ in known else "added" for id_, _, _ in each.documents] for each in operations]

    def _opened(self, collection: str) -> Index:
        """A collection, open to be written. Of a store in a folder all that are open share the one writer, so that turns cost nothing."""
        beside = next(iter(self._open.values()), None)
        if collection not in self._open:
            collection = led_to(self._location, collection, beside)
        if collection in self._open:
            self._open.move_to_end(collection)
            return self._open[collection]
        while len(self._open) >= MOST_OPEN:
            self._close(self._open.popitem(last=False)[1])
        beside = next(iter(self._open.values()), None)
        self._open[collection] = opened(self._location, collection, beside, create=collection == "default")
        return self._open[collection]

    def _leave(self) -> None:
        while self._open:
            self._close(self._open.popitem()[1])

    def _close(self, index: Index) -> None:
        try:
            index.close()
        except LookalikeError as error:
            _log.error("closing the store: %s", error)


def _size(waiting: _Waiting | None) -> int:
    return len(waiting[0].documents) if waiting is not None and isinstance(waiting[0], Put | Admit) else TOGETHER


def _joined(group: list[_Waiting]) -> list[list[_Waiting]]:
    """What adds different documents to one collection is one write. The order within a collection stays; between them there is none."""
    parts: list[list[_Waiting]] = []
    last: dict[str, tuple[list[_Waiting], set[Any]]] = {}  # the last part of each collection that takes more, and its ids
    for operation, future in group:
        if not isinstance(operation, Put):
            parts.append([(operation, future)])
            last.pop(operation.collection, None)
            continue
        own = {id_ for id_, _, _ in operation.documents}
        part, ids = last.get(operation.collection, ([], own))
        if not part or own & ids:
            part, ids = [], set()
            parts.append(part)
        part.append((operation, future))
        last[operation.collection] = part, ids | own
    return parts
