"""One thread writes. What arrives while it writes is written together the next time, and nobody is answered before it is on the disk."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from lookalike.errors import InputError, LookalikeError
from lookalike.index.index import Index
from lookalike.index.opening import open as open_index
from lookalike.service.operations import Admit, Create, Done, Operation, Put, Remove, WriteFailed, failure
from lookalike.service.shelf import opened

TOGETHER = 1000  # documents that are written in one piece
_log = logging.getLogger("lookalike.service")
_Waiting = tuple[Operation, "Future[Done]"]


class GroupWriter:
    """Writes the operations that are submitted, in their order."""

    def __init__(self, location: str, wrote: Callable[[int], None] = lambda version: None) -> None:
        self._location, self._wrote = location, wrote
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._index: tuple[str, Index] | None = None  # an embedded store has one writer, and so one collection at a time
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
            return [self._open(first.collection).remove(first.ids)]
        if isinstance(first, Admit):
            found = self._open(first.collection).admit(first.documents, **first.options)
            return [[{"admitted": each.admitted, "match": each.match.to_dict() if each.match else None} for each in found]]
        if isinstance(first, Create):
            self._leave()
            open_index(self._location, collection=first.collection, **first.options).close()
            return [None]
        return [self._open(first.collection).compact()]

    def _put(self, operations: list[Put]) -> list[Any]:
        index = self._open(operations[0].collection)
        documents = [document for each in operations for document in each.documents]
        # Nobody else writes, so what is there now is what is replaced.
        known = {id_ for id_, _, _ in documents if id_ in index}
        index.add(documents)
        return [["updated" if id_ in known else "added" for id_, _, _ in each.documents] for each in operations]

    def _open(self, collection: str) -> Index:
        if self._index is None or self._index[0] != collection:
            self._leave()
            self._index = (collection, opened(self._location, collection, create=collection == "default"))
        return self._index[1]

    def _leave(self) -> None:
        if self._index is not None:
            index, self._index = self._index[1], None
            try:
                index.close()
            except LookalikeError as error:
                _log.error("closing the store: %s", error)


def _size(waiting: _Waiting | None) -> int:
    return len(waiting[0].documents) if waiting is not None and isinstance(waiting[0], Put | Admit) else TOGETHER


def _joined(group: list[_Waiting]) -> list[list[_Waiting]]:
    """Neighbours that add different documents to one collection are one write."""
    parts: list[list[_Waiting]] = []
    ids: set[Any] = set()
    for operation, future in group:
        own = {id_ for id_, _, _ in operation.documents} if isinstance(operation, Put) else set()
        last = parts[-1][0][0] if parts else None
        if isinstance(operation, Put) and isinstance(last, Put) and last.collection == operation.collection and not own & ids:
            parts[-1].append((operation, future))
            ids |= own
        else:
            parts.append([(operation, future)])
            ids = own
    return parts
