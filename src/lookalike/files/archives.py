"""Archives as folders: each member is a file. Nothing is written to disk; links lead nowhere, and a path leads out of nothing."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

from lookalike.checks import is_unicode
from lookalike.files.collecting import Collected, Unreadable
from lookalike.files.limits import Budget, OverLimit
from lookalike.files.model import BROKEN
from lookalike.files.zips import CHUNK, Zip, decoded_name, is_link
from lookalike.files.zstd import damaged_zstd, zstd_reader

PACKINGS = {"gz": (".gz", ".tgz"), "bz2": (".bz2", ".tbz2"), "xz": (".xz", ".txz"), "zst": (".zst", ".tzst")}
_DAMAGE: tuple[type[Exception], ...] = (
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    IndexError,
)


class ArchiveMember(NamedTuple):
    name: str
    data: bytes | None  # None: it could not be read
    status: str = "ok"
    note: str = ""


def zip_members(package: Zip, out: Collected) -> Iterator[ArchiveMember]:
    for info in package.all_infos:
        if info.is_dir():
            continue
        out.budget.entry()
        name = safe_name(package.named(info))
        if is_link(info):
            out.notes.append(f"{name}: a link, not followed")
            continue
        try:
            yield ArchiveMember(name, _joined(package.chunks(info), out.budget))
        except Unreadable as error:
            yield ArchiveMember(name, None, error.status, error.note)


def tar_members(file: IO[bytes], out: Collected) -> Iterator[ArchiveMember]:
    try:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            for info in archive:
                if info.isdir():
                    continue
                out.budget.entry()
                name = safe_name(_tar_name(info.name))
                if not info.isreg():
                    out.notes.append(f"{name}: {'a link' if info.issym() or info.islnk() else 'no file'}, not followed")
                    continue
                member = archive.extractfile(info)
                if member is not None:
                    yield ArchiveMember(name, _joined(_chunks(member, out.budget), out.budget))
    except _DAMAGE as error:
        raise Unreadable(BROKEN, f"the archive is damaged ({str(error)[:200]})") from error


def _tar_name(name: str) -> str:
    """What is no UTF-8 in a tar are bytes of the packer's system. Python keeps each of them as half a character."""
    return name if is_unicode(name) else decoded_name(name.encode("utf-8", "surrogateescape"))


def named_once(members: Iterable[ArchiveMember]) -> Iterator[ArchiveMember]:
    """Several of one name, or whose names differ in what leads out of the archive, get numbers: ``a.txt`` and ``a (2).txt``."""
    counts: dict[str, int] = {}
    for member in members:
        name = member.name
        while name in counts:
            counts[member.name] += 1
            path = PurePosixPath(member.name)
            name = str(path.with_name(f"{path.stem} ({counts[member.name]}){path.suffix}"))
        counts[name] = 1
        yield member._replace(name=name)


def unpacking(kind: str, file: IO[bytes]) -> Any:
    """A packed file as a stream of what is in it."""
    if kind == "gz":
        return gzip.GzipFile(fileobj=file)
    if kind == "bz2":
        return bz2.BZ2File(file)
    if kind == "xz":
        return lzma.LZMAFile(file)
    return zstd_reader(file)


def unpacked(kind: str, file: IO[bytes], budget: Budget) -> bytes:
    try:
        return _joined(_chunks(unpacking(kind, file), budget), budget)
    except _DAMAGE + damaged_zstd() as error:
        raise Unreadable(BROKEN, f"it is packed, and damaged ({str(error)[:200]})") from error


def unpacked_name(name: str, kind: str) -> str:
    """``a.tgz`` holds ``a.tar``, ``a.txt.gz`` holds ``a.txt``."""
    for ending in PACKINGS[kind]:
        if name.lower().endswith(ending):
            return name[: -len(ending)] + (".tar" if ending.startswith(".t") else "")
    return name


def safe_name(name: str) -> str:
    """A member's path without what would lead out of the archive: neither a root, nor a drive, nor ``..``."""
    path = PurePosixPath(name.replace("\\", "/").replace("\0", ""))
    parts = [part for part in path.parts if part not in ("/", "//", "..", ".")]
    if parts and len(parts[0]) == 2 and parts[0][1] == ":":
        parts = parts[1:]
    return "/".join(parts)[:1000] or "unnamed"


def _chunks(file: Any, budget: Budget) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        budget.inflate(len(chunk))
        yield chunk


def _joined(chunks: Iterator[bytes], budget: Budget) -> bytes:
    found = bytearray()
    for chunk in chunks:
        found += chunk
        if len(found) > budget.limits.document:
            raise OverLimit(f"a file in it has more than {budget.limits.document:,} bytes")
    return bytes(found)
