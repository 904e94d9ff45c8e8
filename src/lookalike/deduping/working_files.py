"""What a run puts on disk while it works, beside the output, so that there is room where the output finds room.

Above all what reading and sketching gave: for documents that are decided in another order, and for runs that are interrupted. One file
holds arrays, one after the other; a journal has a line for each batch, written behind its arrays. What the journal does not name was not
finished and is read again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import Batch, Ids
from lookalike.corpus.row import Problem
from lookalike.leaders.sketching import Sketches
from lookalike.system import remove_tree
from lookalike.text.columns import Joined

VERSION = 5  # of what is recorded; goes into the name of the folder, so that another release does not go on with it
_ALIGNMENT = 8
KEY_BYTES = 32
_DTYPES = {
    "features": "u8", "offsets": "i8", "digests": "u8", "keys": "u8", "simhashes": "u8",
    "rows": "i8", "has_text": "?", "ranks": "f8", "extents": "i8", "id_offsets": "i8", "ids": "u1",
}  # fmt: skip


class Workspace:
    """Made when it is first asked for. It is removed at the end, unless what is in it can be of use to a later run."""

    def __init__(self, path: Path | None = None, *, keep_on_error: bool = False) -> None:
        self._path, self._keep_on_error = path, keep_on_error
        self._made: Path | None = None

    def folder(self) -> Path:
        if self._made is None:
            if self._path is None:
                import tempfile  # few runs need it

                self._made = Path(tempfile.mkdtemp(prefix="lookalike-"))
            else:
                self._path.mkdir(parents=True, exist_ok=True)
                self._made = self._path
        return self._made

    def discard(self) -> None:
        """Removes what an earlier run left."""
        if self._path is not None:
            remove_tree(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        kept = kind is not None and self._keep_on_error
        if self._made is not None and not kept:
            remove_tree(self._made)
        if isinstance(error, KeyboardInterrupt) and self._path is not None:
            goes_on = "what was done is kept, and the same call with --resume (resume=True) goes on from there"
            error.add_note(goes_on if kept and self._made is not None else "nothing was written and nothing is kept, so it starts anew")


class BatchEntry(NamedTuple):
    """A batch that was read and sketched."""

    source: int
    batch: Batch  # without its texts
    sketches: Sketches
    problems: list[Problem]
    features_at: int  # the place of its first feature in the file, counted in features


class Journal:
    """Batches that were read and sketched, in order, and the secret key of their features (native/base/secret.hpp): later runs need it."""

    def __init__(self, folder: Path) -> None:
        self._data, self._lines_file = folder / "batches", folder / "journal"
        self.key = _key(folder / "key")
        self._end = 0
        self._lines: list[bytes] = []

    def __enter__(self) -> Journal:
        self._lines = self._finished_lines()
        self._data.touch()
        self._file = open(self._data, "r+b")
        self._file.truncate(self._end)
        self._file.seek(self._end)
        self._lines_file.write_bytes(b"".join(self._lines))
        self._log = open(self._lines_file, "ab", buffering=0)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._log.close()

    def _finished_lines(self) -> list[bytes]:
        """The lines of an earlier run whose arrays are complete."""
        lines: list[bytes] = []
        if not self._lines_file.exists() or not self._data.exists():
            return lines
        size = self._data.stat().st_size
        for line in self._lines_file.read_bytes().splitlines(keepends=True):
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if entry.get("end", 0) > size or not line.endswith(b"\n"):
                break
            lines.append(line)
            self._end = entry.get("end", self._end)
        return lines

    def append(self, source: int, batch: Batch, sketches: Sketches, problems: list[Problem]) -> int:
        """Writes a batch; the answer is the place of its first feature."""
        arrays: dict[str, Any] = {
            **sketches._asdict(),
            "rows": batch.rows,
            "has_text": batch.has_text,
            "ranks": batch.ranks,
            "extents": batch.extents,
        }
        if batch.ids is not None:
            arrays |= {"id_offsets": batch.ids.offsets, "ids": np.frombuffer(batch.ids.data, dtype=np.uint8)}
        begin, sizes, checksum = self._end, {}, 0
        for name, values in arrays.items():
            if values is None:
                continue
            data = np.ascontiguousarray(values, dtype=_DTYPES[name]).tobytes()
            padded = data + bytes(-len(data) % _ALIGNMENT)
            sizes[name] = len(values)
            checksum = zlib.crc32(padded, checksum)
            self._file.write(padded)
            self._end += len(padded)
        self._file.flush()
        entry = {"source": source, "begin": begin, "end": self._end, "sizes": sizes, "checksum": checksum, "resume_at": batch.resume_at}
        if batch.names is not None:
            entry["names"] = batch.names
        if batch.ids is not None and batch.ids.may_repeat:
            entry["may_repeat"] = True
        if problems:
            entry["problems"] = [problem.to_dict() for problem in problems]
        self._log.write(json.dumps(entry).encode() + b"\n")
        return begin // _ALIGNMENT

    def finish_source(self, problems: list[Problem]) -> None:
        self._log.write(json.dumps({"done": True, "problems": [problem.to_dict() for problem in problems]}).encode() + b"\n")

    def replay(self) -> Iterator[BatchEntry | list[Problem]]:
        """The batches of an earlier run; a list of problems where a source ended. Stops before the first damaged one."""
        if not self._end:
            return
        data = np.memmap(self._data, dtype=np.uint8, mode="r", shape=(self._end,))
        for number, line in enumerate(list(self._lines)):
            entry = json.loads(line)
            problems = [Problem(**problem) for problem in entry.get("problems", [])]
            if "done" in entry:
                yield problems
                continue
            if zlib.crc32(data[entry["begin"] : entry["end"]].data) != entry["checksum"]:
                self._forget(number, entry["begin"])
                return
            yield _entry(entry, data, problems)

    def drop_unfinished(self) -> None:
        """Drops the batches of the last source, if it was not finished."""
        entries = [json.loads(line) for line in self._lines]
        number = next((i + 1 for i in range(len(entries) - 1, -1, -1) if "done" in entries[i]), 0)
        if number < len(entries):
            self._forget(number, entries[number]["begin"])

    def _forget(self, number: int, end: int) -> None:
        """Drops the batch of a line and all behind it: they are made again."""
        self._lines, self._end = self._lines[:number], end
        self._file.truncate(end)
        self._file.seek(end)
        self._log.close()
        self._lines_file.write_bytes(b"".join(self._lines))
        self._log = open(self._lines_file, "ab", buffering=0)  # noqa: SIM115 (closed by __exit__)

    def features(self) -> NDArray[np.uint64]:
        """The whole file as features, for those who know where theirs are."""
        self._file.flush()
        return np.memmap(self._data, dtype=np.uint64, mode="r", shape=(self._end // _ALIGNMENT,)) if self._end else np.zeros(0, np.uint64)


def _key(path: Path) -> NDArray[np.uint64]:
    """The key in this file; without a whole one a new key, and what was recorded is of no use."""
    if not path.exists() or path.stat().st_size != KEY_BYTES:
        for other in ("batches", "journal"):
            (path.parent / other).unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(os.urandom(KEY_BYTES))
    return np.frombuffer(path.read_bytes(), dtype=np.uint64)


def _entry(entry: dict[str, Any], data: NDArray[np.uint8], problems: list[Problem]) -> BatchEntry:
    at, arrays = entry["begin"], {}
    for name, size in entry["sizes"].items():
        dtype = np.dtype(_DTYPES[name])
        arrays[name] = data[at : at + size * dtype.itemsize].view(dtype)
        at += -(-size * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT
    sketches = Sketches(*(arrays[name] for name in Sketches._fields))
    given = "ids" in arrays
    ids = Ids(arrays["ids"].tobytes(), np.array(arrays["id_offsets"]), entry.get("may_repeat", False)) if given else None
    own: dict[str, Any] = {name: np.array(arrays[name]) for name in ("rows", "has_text", "ranks", "extents") if name in arrays}
    resume_at = tuple(entry["resume_at"]) if entry["resume_at"] else None
    batch = Batch(texts=Joined(b"", np.zeros(1, np.int64)), ids=ids, names=entry.get("names"), resume_at=resume_at, **own)
    return BatchEntry(entry["source"], batch, sketches, problems, entry["begin"] // _ALIGNMENT)
