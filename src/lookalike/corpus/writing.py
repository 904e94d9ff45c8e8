"""Writing files: whole or not at all, and never over what is being read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lookalike.corpus import formats
from lookalike.corpus.files import Source, expand
from lookalike.errors import InputError
from lookalike.io import sync_folder
from lookalike.system import remove_tree

if TYPE_CHECKING:
    from lookalike.corpus.formats.base import RowWriter

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_file(path: str | Path, folder: Path | None = None) -> Iterator[IO[bytes]]:
    """A new file that takes its name when it is complete and on the disk. After an error nothing has changed.

    Until then it is in ``folder``, which is on the same disk, or beside what it will be.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays one
        temporary = _temporary(target, folder)
        mode = stat.S_IMODE(_checked_mode(target)) if target.exists() else None
        file = open(temporary, "xb")  # noqa: SIM115 (closed below, before it gets its name)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    written = False
    try:
        with file:
            yield file
            written = True
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        # Before everything is written, somebody may be reading as well: only what a full disk says is of this file for sure.
        if isinstance(error, OSError) and (written or error.errno in _NO_ROOM):
            raise _unwritable(path, error) from error
        raise
    with suppress(OSError):  # not every file system lets a folder be synced
        sync_folder(target.parent)


@contextmanager
def atomic_folder(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """A new folder that takes its name when it is complete; what is written below the path that is given out is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path, folder)
    temporary.mkdir()
    try:
        yield temporary
        os.replace(temporary, path)  # over an empty folder too
    except BaseException:
        remove_tree(temporary)
        raise


def _temporary(target: Path, folder: Path | None = None) -> Path:
    return (folder or target.parent) / f".lookalike-{os.urandom(8).hex()}.part"


def _unwritable(path: str | Path, error: Exception) -> InputError:
    return InputError(f"{str(path)!r} cannot be written: {getattr(error, 'strerror', None) or error}")


def write_file(path: str | Path, content: str) -> None:
    """A text as a file; what UTF-8 cannot carry, a lone surrogate, is written as its escape."""
    with atomic_file(path) as file:
        file.write(content.encode("utf-8", "backslashreplace"))


def check_outputs(inputs: Iterable[str | Path | None], **outputs: str | Path | None) -> None:
    """An ``InputError`` for an output that is an input, or another output, under whatever name: links lead to the same file."""
    taken: dict[object, str] = {_identity(path): f"the input {str(path)!r}" for path in inputs if path is not None and path != "-"}
    for name, path in outputs.items():
        if path is None or path == "-":
            continue
        identity = _identity(path)
        if identity in taken:
            raise InputError(f"{name}={str(path)!r} is {taken[identity]} too: give every output a file of its own")
        taken[identity] = f"{name}="


def check_folder(name: str, path: str | Path) -> None:
    """An ``InputError`` for a file that has no folder to lie in, or is one."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise InputError(f"{name}={str(path)!r}: the folder does not exist: make it first")
    if os.path.isdir(path):
        raise InputError(f"{name}={str(path)!r} is a folder: name a file")


def check_reports(inputs: Iterable[str | Path], reports: Mapping[str, str | None]) -> None:
    """An ``InputError`` for reports, by their options, that cannot be written or would destroy something: before all the work is done.

    Of inputs that are folders or patterns, no file may be a report.
    """
    for name, path in reports.items():
        if str(path) in ("-", ""):
            raise InputError(f"{name} writes a file: name one, such as report.html")
        if path is not None:
            check_folder(name, path)
    if any(path is not None and os.path.exists(path) for path in reports.values()):
        inputs = [each for given in inputs for each in (given, *_files_of(given))]
    check_outputs(inputs, **reports)


def _files_of(given: str | Path) -> list[Path]:
    try:
        found = expand(given, formats.TEXT, closed=lambda _: None)
    except InputError:
        return []  # said by whoever reads it
    return [source.path for source in found if source.path is not None]


def _identity(path: str | Path) -> object:
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except (OSError, ValueError):  # nothing there yet
        return os.path.realpath(path).rstrip("/") if "\0" not in str(path) else str(path)


def _checked_mode(target: Path) -> int:
    mode = target.stat().st_mode
    if not stat.S_ISREG(mode):  # renaming over a device would destroy it
        raise InputError(f"{str(target)!r} is not a file: name one that may be written")
    return mode


def row_writer(path: str | Path) -> RowWriter:
    """The writer that fits a file's name: .jsonl, .jsonl.gz, .jsonl.zst or .parquet."""
    source = Source.of(Path(path))
    made = formats.format_named(source.format).row_writer(Path(path)) if source.format in ("jsonl", "parquet") else None
    if made is None:
        raise InputError(f"{str(path)!r}: rows are written as .jsonl, .jsonl.gz, .jsonl.zst or .parquet: choose one of these endings")
    return made
