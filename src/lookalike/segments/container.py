"""Segment files: named arrays behind a header, mapped into memory and checked before anything in them is used.

docs/format.md defines the file to the byte. A file is written once and never changed: it appears under its name when it is
whole, and whatever happens to it later is found when it is opened.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import Corrupt
from lookalike.io import sync_folder
from lookalike.system import forget_pages, read_here_and_there

if TYPE_CHECKING:
    Sections = Mapping[str, NDArray[Any]]

MAGIC = b"LKSEGMNT"
FORMAT = 2
UNSIGNED = 1  # the format of segments that do not say whose they are
ALIGNMENT = 64
CHECKED_TOGETHER = 16 << 20  # bytes of a file that was just written: a multiple of every size of pages
MAPPED_ONCE_FROM = 1 << 20  # of files that are read once, to be merged: several are open at a time, and need not be in memory
MAPPED_FROM = 64 << 20  # bytes: a smaller file is read, so that whatever happens to it later happens to nobody who uses it
_HEADER = struct.Struct("<8sIIQ")  # magic, format, length of the description, size of the whole file
_CHECKSUM = struct.Struct("<Q")  # the last bytes: the checksum of everything before them
_DTYPES = ("uint8", "uint16", "uint32", "uint64", "int64")


class Origin(NamedTuple):
    """Whose segment a file is: of which store, with which number, of which rows. A file of another store is as wrong as a damaged one."""

    store: str
    number: int
    first_row: int = 0
    end_row: int = 0
    may_be_unsigned: bool = False  # it may be of a release that did not write this down

    def to_list(self) -> list[Any]:
        return [self.store, self.number, self.first_row, self.end_row]


def write_segment(path: Path, kind: str, recipe: str, sections: Sections, origin: Origin | None = None) -> None:
    """Write the file and make it durable. Until that is done there is nothing under its name."""
    table, offset = [], 0
    for name, array in sections.items():
        table.append([name, str(array.dtype), offset, len(array)])
        offset += _padded(array.nbytes)
    described = {"kind": kind, "recipe": recipe, "of": origin.to_list() if origin else None, "sections": table}
    description = json.dumps(described).encode()
    start = _padded(_HEADER.size + len(description))
    size = start + offset + _CHECKSUM.size
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "w+b") as file:
            file.write(_HEADER.pack(MAGIC, FORMAT, len(description), size))
            file.write(description.ljust(start - _HEADER.size, b"\0"))
            for array in sections.values():
                file.write(np.ascontiguousarray(array).view(np.uint8).data)  # numpy's own way keeps the system's reason to itself
                file.write(bytes(_padded(array.nbytes) - array.nbytes))
            file.flush()
            file.write(_CHECKSUM.pack(_checksum(file, size - _CHECKSUM.size)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_folder(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _checksum(file: IO[bytes], size: int) -> int:
    """Of the file as it was written, some of it at a time: all of it need not be in memory at once."""
    found = _native.Checksum()
    for begin in range(0, size, CHECKED_TOGETHER):
        with mmap.mmap(file.fileno(), min(CHECKED_TOGETHER, size - begin), access=mmap.ACCESS_READ, offset=begin) as mapped:
            found.add(mapped)
    return found.value()


class _Mapped(mmap.mmap):
    """A file that is mapped, and that remembers how it was: one that is cut or overwritten misleads its reader.

    While it is cut, its guard lets him read zeros (native/base/mapped_guard.hpp); without one the system would end the process.
    """

    path: Path
    folder: Path
    descriptor: int
    guard: _native.MappedFile

    @classmethod
    def of(cls, file: IO[bytes], path: Path, size: int) -> Self:
        made = cls(file.fileno(), size, access=mmap.ACCESS_READ)
        made.path, made.folder, made.descriptor = path, path.parent, os.dup(file.fileno())
        made.guard = _native.MappedFile(made, made.descriptor)
        weakref.finalize(made, _let_go, made.guard, made.descriptor)
        _mapped.add(made)
        return made


def _let_go(guard: _native.MappedFile, descriptor: int) -> None:
    """Before the memory is given back, and others may get it."""
    guard.release()
    os.close(descriptor)


_mapped: weakref.WeakSet[_Mapped] = weakref.WeakSet()


def verify_mapped(folder: Path) -> None:
    """Raise if a file that is mapped from a folder was written to since: before a search, so that it does not run into it, and after
    one, so that its answer does not count.
    """
    if not _mapped:
        return
    _native.renew_guard()
    for each in list(_mapped):
        if each.folder == folder and each.guard.changed():
            raise Corrupt(
                f"segment {each.path}: it was cut or overwritten while it was in use; open the store again, and restore copies under a "
                "new name that you then rename"
            )


def mapped_file(section: NDArray[Any]) -> _native.MappedFile | None:
    """What a section of ``read_segment`` is mapped from; None where it is in memory."""
    behind = _behind(section)
    return None if behind is None else behind.guard


def forget_segment(sections: Sections) -> None:
    """Gives back the memory of a segment that is mapped. It is read again when it is needed."""
    if (behind := _file_of(sections)) is not None:
        forget_pages(behind)


def search_here_and_there(sections: Sections) -> None:
    """Once a mapped segment was checked: from now on single places of it are read. Where it does not fit into memory, the system would read
    32 pages for each one that is missing, and give up as many others."""
    if (behind := _file_of(sections)) is not None:
        read_here_and_there(behind)


def _file_of(sections: Sections) -> _Mapped | None:
    return next((behind for section in sections.values() if (behind := _behind(section)) is not None), None)  # all are of one file


def _behind(section: NDArray[Any]) -> _Mapped | None:
    view: object = section.base
    behind = view.obj if isinstance(view, memoryview) else None
    return behind if isinstance(behind, _Mapped) else None


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """For what is made from mapped files: if one was changed meanwhile, that is the error, and nothing that was made may be used."""
    try:
        yield
    except Exception:
        verify_mapped(folder)
        raise
    verify_mapped(folder)


def _read(file: IO[bytes], path: Path, size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size)
    with memoryview(memory) as whole:
        if file.readinto(whole) != size:  # type: ignore[attr-defined]  # a buffered reader has it
            raise Corrupt(f"segment {path}: it was cut while it was read")
    return memory


def read_segment(path: Path, kind: str, recipe: str, origin: Origin | None = None, read_once: bool = False) -> dict[str, NDArray[Any]]:
    """The sections of a file, mapped; ``Corrupt`` names the file and what is wrong with it. FileNotFoundError passes.

    What is ``read_once`` is in memory only then, see ``forget_segment``.
    """
    mapped_from = min(MAPPED_FROM, MAPPED_ONCE_FROM) if read_once else MAPPED_FROM
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _HEADER.size + _CHECKSUM.size:
            raise Corrupt(f"segment {path}: {size} bytes, too few for a header")
        mapped = _Mapped.of(file, path, size) if size >= mapped_from else _read(file, path, size)
    magic, version, described, stated = _HEADER.unpack_from(mapped)
    if magic != MAGIC:
        raise Corrupt(f"segment {path}: it does not start with {MAGIC.decode()}")
    if stated != size:
        raise Corrupt(f"segment {path}: {size} bytes, {stated} were written")
    view = memoryview(mapped).toreadonly()
    if _native.checksum(view[: -_CHECKSUM.size]) != _CHECKSUM.unpack_from(mapped, size - _CHECKSUM.size)[0]:
        raise Corrupt(f"segment {path}: its checksum does not match its contents")
    if version != FORMAT and not (version == UNSIGNED and (origin is None or origin.may_be_unsigned)):
        raise Corrupt(f"segment {path}: format {version}, this release reads format {FORMAT}")
    try:
        return _sections(view, described, kind, recipe, origin if version == FORMAT else None)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Corrupt(f"segment {path}: {error}") from error


def _sections(view: memoryview, described: int, kind: str, recipe: str, origin: Origin | None) -> dict[str, NDArray[Any]]:
    body = len(view) - _CHECKSUM.size
    start = _padded(_HEADER.size + described)
    if start > body:
        raise ValueError("its description is longer than the file")
    description = json.loads(bytes(view[_HEADER.size : _HEADER.size + described]))
    if description["kind"] != kind or description["recipe"] != recipe:
        raise ValueError(f"it holds {description['kind']} of recipe {description['recipe']}, not {kind} of {recipe}")
    if origin is not None and description["of"] != origin.to_list():
        raise ValueError(f"it is another one: of [store, number, first row, end] {description['of']}, not {origin.to_list()}")
    found = {}
    for name, dtype, offset, count in description["sections"]:
        if dtype not in _DTYPES or not isinstance(offset, int) or not isinstance(count, int):
            raise ValueError(f"section {name!r} is of type {dtype!r}")
        width = np.dtype(dtype).itemsize
        if offset < 0 or offset % ALIGNMENT or count < 0 or start + offset + count * width > body:
            raise ValueError(f"section {name!r} lies outside the file")
        found[name] = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset)
    return found
