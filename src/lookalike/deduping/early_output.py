"""Writing what stays while the rest is still read. The files take their names when everything is decided, and not before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import Batch, LineBlock
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader
from lookalike.corpus.formats.jsonl_writing import stretches
from lookalike.corpus.rows import is_utf8
from lookalike.corpus.streams import packed
from lookalike.corpus.writing import atomic_file, atomic_folder
from lookalike.deduping.outputs import Output, output_names
from lookalike.deduping.progress import StageTimes
from lookalike.deduping.threads import Threads
from lookalike.deduping.working_files import Workspace
from lookalike.system import begin_writing_out

WRITTEN_OUT_AT = 8 << 20  # bytes: they go to the disk while others are made, and the end need not wait for all of them


class EarlyOutput:
    """JSON lines, as the bytes they came in, straight from the blocks in which they were read: packed input is unpacked only once.

    Each output file is a lane of the threads: several files are written at a time, and each by one thread at a time.
    """

    def __init__(
        self, output: Output, readers: Sequence[FileReader], threads: Threads[Any, Any], times: StageTimes, workspace: Workspace | None
    ) -> None:
        """``workspace``: where it is written until it is complete, if somebody cleans up there after a run that was killed."""
        self._path, self._folder, self._threads, self._times = output.path or Path(), output.folder, threads, times
        self._names = output_names(readers) if output.folder else {}
        self._sources = [reader.source for reader in readers]
        self._stack = ExitStack()
        self._parents = [each for each in (self._path.parent, *self._path.parent.parents) if not each.exists()]
        self._files: dict[int, _File] = {}
        self._into, self._workspace = self._path, workspace
        self.complete = True  # False: somebody else writes

    @staticmethod
    def possible(output: Output | None, readers: Sequence[FileReader], annotate: bool) -> bool:
        """Whether rows are written as they came, and stand where the first reading finds them."""
        if output is None or output.path is None or annotate:
            return False
        return all(reader.source.format == "jsonl" and is_utf8(reader.encoding) for reader in readers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            if kind is not None:
                self._remove_parents()

    def rows(self, source: int, batch: Batch, kept: NDArray[np.bool_]) -> None:
        """Those of a batch that stay. Called in the order of the batches."""
        if batch.lines is None or batch.extents is None:
            return
        file, lines, extents = self._file(source), batch.lines, batch.extents
        self._threads.later(file, lambda: self._write(file, lines, extents, kept))

    def end(self, source: int, used: bool) -> None:
        """A source has no more rows. One of which nothing could be used has no file in a folder."""
        if not self._folder:
            return
        if used:
            file = self._file(source)
            self._threads.later(file, file.finish)
        elif source in self._files:
            file = self._files.pop(source)
            self._threads.later(file, file.drop)

    def give_up(self) -> None:
        self.complete = False

    def finish(self) -> None:
        """Everything is decided: the files appear."""
        self._threads.finish_jobs()
        with self._times.timed("write"):
            if not self._folder:
                self._file(0).finish()
            elif self._into is self._path:
                self._begin_folder()
            self._stack.close()

    def _write(self, file: _File, lines: LineBlock, extents: NDArray[np.int64], kept: NDArray[np.bool_]) -> None:
        with self._times.timed("write"):
            file.write(lines, extents, kept)
        lines.let_go()

    def _file(self, source: int) -> _File:
        number = source if self._folder else 0
        if number not in self._files:
            if self._folder and self._into is self._path:
                self._begin_folder()
            path = self._into / self._names[self._sources[source].name] if self._folder else self._path
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[number] = self._stack.enter_context(_File(path, None if self._folder else self._temporary()))
        return self._files[number]

    def _begin_folder(self) -> None:
        self._into = self._stack.enter_context(atomic_folder(self._path, self._temporary()))

    def _temporary(self) -> Path | None:
        if self._workspace is None or self._path.is_symlink():  # which may lead to another disk
            return None
        return self._workspace.folder()

    def _remove_parents(self) -> None:
        """Those that were made for an output that there is not."""
        for each in self._parents:
            with suppress(OSError):
                each.rmdir()


class _File:
    """A file that appears when it is finished."""

    def __init__(self, path: Path, folder: Path | None) -> None:
        self._path, self._folder, self._stack = path, folder, ExitStack()
        self._packing = Source.of(path).packing
        self._written = 0  # since the system was last told to write it out

    def __enter__(self) -> Self:
        self._file: IO[bytes] = self._stack.enter_context(atomic_file(self._path, self._folder))
        self._packed: Any = self._stack.enter_context(closing(packed(self._file, self._packing))) if self._packing else None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind or _Unfinished, error or _Unfinished(), trace)

    def write(self, lines: LineBlock, extents: NDArray[np.int64], kept: NDArray[np.bool_]) -> None:
        if self._packed:
            wanted = stretches(extents.reshape(-1, 2), kept) - lines.offset
            data = b"".join([lines.data[begin:end] for begin, end in wanted.tolist()])
            self._packed.write(data if data.endswith(b"\n") or not data else data + b"\n")  # the last row of a file may have no end
            return
        self._written += _native.write_kept_rows(self._file.fileno(), lines.data, lines.offset, extents, kept.view(np.uint8))
        if self._written >= WRITTEN_OUT_AT:
            begin_writing_out(self._file.fileno())
            self._written = 0

    def finish(self) -> None:
        self._stack.close()

    def drop(self) -> None:
        with suppress(_Unfinished):
            self.__exit__(None, None, None)


class _Unfinished(Exception):
    """Ends a file that must not appear. Nobody sees it."""
