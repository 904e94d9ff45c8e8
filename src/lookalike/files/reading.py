"""``read``: a file as its text. Whatever is more than plain text is read in another process, which a hostile file cannot leave."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lookalike.checks import check_path, check_several, check_workers
from lookalike.errors import InputError, MissingExtra
from lookalike.files.limits import Limits
from lookalike.files.model import MISSING, FileText
from lookalike.files.processes import read_in_process
from lookalike.io import open_file
from lookalike.system import usable_cores

DEFAULT = Limits()
Given = TypeVar("Given")
Answer = TypeVar("Answer")
AHEAD = 4  # files for each worker that may be read before the first of them is taken


def read(path: str | Path, *, limits: Limits | None = None) -> FileText:
    """The text of a file with its pages, sheets or slides, title and metadata; ``status`` says why there is none.

    PDF, DOCX, PPTX, XLSX, XLS, ODT, ODS, ODP, EPUB, RTF, EML with attachments, HTML, Markdown, source code, text in any encoding, and
    ZIP, TAR, GZ, BZ2, XZ and ZST with everything in them. What a file is, its contents say.
    """
    found = read_file(check_path("path", path), limits)
    if found.status == MISSING:
        raise MissingExtra("; ".join(found.notes))
    return found


def read_file(path: Path, limits: Limits | None = None) -> FileText:
    """The same; a missing extra is a status."""
    return _read(path, checked(limits), members=False)[0]


def read_members(path: str | Path, *, limits: Limits | None = None) -> list[FileText]:
    """The files in an archive, each with its bytes in ``data``; archives inside it are opened too. Of another file the file itself."""
    return _read(check_path("path", path), checked(limits), members=True)


def read_data(data: bytes, name: str, limits: Limits | None = None) -> FileText:
    """The text of a file whose bytes are in memory."""
    return read_in_process(name, None, data, checked(limits))[0]


def read_many(paths: Iterable[str | Path], *, workers: int | None = None, limits: Limits | None = None) -> Iterator[FileText]:
    """What ``read`` gives for each of many files, in their order; several are read at a time. A file that is not there has a status."""
    several = (check_path("paths", path) for path in check_several("paths", paths, "a list of paths"))
    count = check_workers(workers if workers is not None else usable_cores(), 256)
    within = checked(limits)
    return in_order(lambda path: _or_status(path, within), several, count, AHEAD * count)


def in_order(function: Callable[[Given], Answer], several: Iterable[Given], workers: int, ahead: int) -> Iterator[Answer]:
    """What a function makes of each thing, in their order, in threads: up to ``ahead`` of them before the first is taken."""
    waiting: deque[Future[Answer]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="lookalike-files") as pool:
        try:
            for each in several:
                waiting.append(pool.submit(function, each))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _or_status(path: Path, limits: Limits) -> FileText:
    try:
        return read_file(path, limits)
    except InputError as error:
        return FileText(str(path), "binary", "broken", notes=(str(error),))


def checked(limits: object) -> Limits:
    if limits is None:
        return DEFAULT
    if not isinstance(limits, Limits):
        raise InputError(f"limits is a {type(limits).__name__}: give a Limits, such as lookalike.files.Limits(seconds=10)")
    return limits


def _read(path: Path, limits: Limits, *, members: bool) -> list[FileText]:
    with open_file(path) as file:  # what cannot be opened is an error of ours, and a pipe is read here
        data = b"" if file.seekable() else file.read(limits.document + 1)
        real = os.path.abspath(path) if file.seekable() else None
    if len(data) > limits.document:
        raise InputError(f"{str(path)!r} has more than {limits.document:,} bytes: save it to a file first")
    found = read_in_process(path.name, real, data, limits, members=members)
    return [replace(each, name=str(path)) if not members or (each.data is None and each.name == path.name) else each for each in found]
