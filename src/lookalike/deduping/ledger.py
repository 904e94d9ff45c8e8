"""What is remembered of every document: where it stands, its id, its rank, and in the end the one it points at."""

from __future__ import annotations

import json
import mmap
from bisect import bisect_right
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import Batch, Ids
from lookalike.corpus.row import Problem


class Growing:
    """An array that grows by pieces. What is there already can go to a file, from which the system maps it back."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._pieces: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self.nbytes = 0  # in memory

    def add(self, piece: NDArray[Any]) -> None:
        self._pieces.append(piece)
        self.nbytes += piece.nbytes

    def last(self) -> NDArray[Any]:
        return self._pieces[-1]

    def move_out(self, folder: Path) -> int:
        """Leaves nothing in memory; returns how many bytes went to the file."""
        if self._file is None:
            import tempfile  # where arrays do not fit into memory

            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it has no name, and goes with this array
        moved = sum(self._file.write(np.ascontiguousarray(piece, self._dtype).data.cast("B")) for piece in self._pieces if piece.size)
        self._pieces, self.nbytes = [], 0
        return moved

    def whole(self) -> NDArray[Any]:
        if self._file is not None:
            return self._mapped(self._file)
        if len(self._pieces) != 1:
            self._pieces = [np.concatenate(self._pieces) if self._pieces else np.zeros(0, self._dtype)]
        return self._pieces[0]

    def _mapped(self, file: IO[bytes]) -> NDArray[Any]:
        if self._pieces:
            self.move_out(Path())
        file.flush()
        if not file.tell():
            return np.zeros(0, self._dtype)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), self._dtype)


def id_hashes(ids: Ids | None) -> NDArray[np.uint64] | None:
    """By which ids that come again are found; None where they may."""
    return None if ids is None or ids.may_repeat else np.asarray(_native.hash_strings(ids.data, ids.offsets, False))


class Ledger:
    """Documents are numbered as they are read, over all sources."""

    def __init__(self) -> None:
        self.readers: list[int] = []  # the number of the first document of each reader
        self._extents_before: list[int] = []  # how many rows with a place in a file come before each reader: not all kinds have one
        self._placed = 0
        self._names: list[str] = []  # of the files, in order
        self._firsts: list[int] = []  # the number of the first document of each
        self.documents = 0
        self.empty = 0  # texts in which nothing is a token
        self.without_text = 0
        self.store = ""  # the name of the store that documents point at
        self._outside: dict[bytes, int] = {}  # its documents that are pointed at, by id; numbered behind the last of the corpus
        self._outside_ids: list[bytes] = []
        self.outside: dict[int, tuple[int, float]] = {}  # by document: which of them, and the similarity
        self.parts: dict[int, tuple[int, int]] = {}
        self._rows, self._extents, self._ranks = Growing("int64"), Growing("int64"), Growing("float64")
        self._offered = Growing("int64")
        self._id_hashes, self._id_owners = Growing("uint64"), Growing("int64")
        self._ids: list[Ids | None] = []
        self._id_firsts: list[int] = []
        self._id_bytes = 0

    def point_outside(self, place: int, id_json: bytes, similarity: float) -> None:
        """The document at a place of the next batch points at one of a store."""
        self.outside[self.documents + place] = (self.outside_number(id_json), similarity)
        self.without_text -= 1  # it comes without one, and has one

    def outside_number(self, id_json: bytes) -> int:
        """The number of a document of a store, counted from the last of the corpus."""
        number = self._outside.setdefault(id_json, len(self._outside_ids))
        if number == len(self._outside_ids):
            self._outside_ids.append(id_json)
        return number

    def begin(self, name: str) -> None:
        """The documents of another reader follow."""
        self.readers.append(self.documents)
        self._extents_before.append(self._placed)
        self._names.append(name)
        self._firsts.append(self.documents)

    def add(self, batch: Batch) -> None:
        numbers = np.arange(self.documents, self.documents + len(batch), dtype=np.int64)
        self._rows.add(batch.rows)
        if batch.extents is not None:
            self._extents.add(batch.extents)
            self._placed += len(batch)
        if batch.ranks is not None:
            self._ranks.add(batch.ranks)
        if batch.has_text is not None:
            self.without_text += len(batch) - int(batch.has_text.sum())
            numbers = numbers[batch.has_text]
        if batch.names is not None:
            self._names += batch.names
            self._firsts += range(self.documents, self.documents + len(batch))
        self._offered.add(numbers)
        self._add_ids(batch.ids, batch.id_hashes)
        self.documents += len(batch)

    def _add_ids(self, ids: Ids | None, hashes: NDArray[np.uint64] | None) -> None:
        self._id_firsts.append(self.documents)
        self._ids.append(ids)
        if ids is not None:
            self._id_bytes += len(ids.data) + ids.offsets.nbytes
            hashes = id_hashes(ids) if hashes is None else hashes
            if hashes is None:
                return
            given = np.flatnonzero(np.diff(ids.offsets))
            self._id_hashes.add(hashes[given])
            self._id_owners.add(given + self.documents)

    @property
    def nbytes(self) -> int:
        growing = (self._rows, self._extents, self._ranks, self._offered, self._id_hashes, self._id_owners)
        return sum(each.nbytes for each in growing) + self._id_bytes

    def span(self, reader: int) -> slice:
        """The numbers of a reader's documents."""
        return slice(self.readers[reader], [*self.readers, self.documents][reader + 1])

    def extents(self, reader: int) -> NDArray[np.int64]:
        """Begins and ends of a reader's rows in the unpacked file, as pairs; none where the rows have no such place."""
        first, last = [*self._extents_before, self._placed][reader : reader + 2]
        found: NDArray[np.int64] = self._extents.whole()[2 * first : 2 * last].reshape(-1, 2)
        return found

    def extents_of(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some documents, of readers all of whose rows have such a place."""
        found: NDArray[np.int64] = self._extents.whole().reshape(-1, 2)[documents]
        return found

    def offered(self) -> NDArray[np.int64]:
        """The numbers of the documents that have a text."""
        return self._offered.whole()

    def last_offered(self) -> NDArray[np.int64]:
        """Those of the last batch."""
        return self._offered.last()

    def part(self, document: int) -> tuple[int, int] | None:
        """Where in its text a document holds a reference; None: it is about the whole document."""
        return self.parts.get(document)

    def ranks(self) -> NDArray[np.float64]:
        """Of the documents that have a text."""
        return self._ranks.whole()

    def row(self, document: int) -> int:
        if document >= self.documents:
            return 0
        return int(self._rows.whole()[document])

    def rows(self) -> NDArray[np.int64]:
        return self._rows.whole()

    def file(self, document: int) -> str:
        if document >= self.documents:
            return self.store
        return self._names[bisect_right(self._firsts, document) - 1]

    def id_json(self, document: int) -> bytes:
        """The id as it stands in JSON."""
        if document >= self.documents:
            return self._outside_ids[document - self.documents]
        piece = bisect_right(self._id_firsts, document) - 1
        ids, place = self._ids[piece], document - self._id_firsts[piece]
        token = ids.data[int(ids.offsets[place]) : int(ids.offsets[place + 1])] if ids is not None else b""
        return token or self._made_id(document)

    def id(self, document: int) -> Any:
        return json.loads(self.id_json(document))

    def _made_id(self, document: int) -> bytes:
        """File and row; of a table that is no file the row, of a text file its name."""
        name, row = self.file(document), self.row(document)
        if not name:
            return b"%d" % (row - 1)
        return json.dumps(name if row == 0 else f"{name}:{row}").encode()

    def place(self, document: int) -> str:
        row = self.row(document)
        return f"{self.file(document)}:{row}" if row else self.file(document)

    def repeated_ids(self) -> list[Problem]:
        """A problem for each id that several documents have."""
        hashes, owners = self._id_hashes.whole(), self._id_owners.whole()
        ascending = np.sort(hashes)  # without their places, in a small part of the time: most corpora have no such id
        if not (ascending[1:] == ascending[:-1]).any():
            return []
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        problems = []
        for place in same.tolist():
            first, second = int(owners[order[place]]), int(owners[order[place + 1]])
            if self.id_json(first) == self.id_json(second):
                shown = self.id_json(second).decode("utf-8", "replace")[:80]
                problems.append(Problem("repeated id", self.place(second), f"{shown} is also the id of {self.place(first)}", skipped=False))
        return problems
