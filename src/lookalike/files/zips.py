"""Members of ZIP files, unpacked within the limits."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from lookalike.files.collecting import LOCKED, Unreadable
from lookalike.files.limits import Budget
from lookalike.files.model import BROKEN, ENCRYPTED, UNSUPPORTED
from lookalike.lazy import cached_property

CHUNK = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack any amount at once
_ENCRYPTED, _UTF8 = 0x1, 0x800
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    ValueError,
    OverflowError,
    OSError,
    KeyError,
    NotImplementedError,
    RuntimeError,
)


class Zip:
    """A ZIP file of which members are read as streams."""

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._budget = budget
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGE as error:
            raise Unreadable(BROKEN, f"it is no whole ZIP file ({error})") from error
        self.all_infos = self._zip.infolist()  # several may have one name
        self.infos = {info.filename: info for info in self.all_infos}

    def __contains__(self, name: str) -> bool:
        return name in self.infos

    @property
    def is_unambiguous(self) -> bool:
        """Whether all readers find the same members: none has the name of another, but for capitals, and all are where the file says."""
        if any("\\" in info.filename or info.header_offset < 0 for info in self.all_infos):
            return False
        return len({info.filename.lower() for info in self.all_infos}) == len(self.all_infos)

    def whole(self, info: zipfile.ZipInfo) -> bytes:
        """All of a member at once, where it has been counted already."""
        is_stored = info.compress_type == zipfile.ZIP_STORED
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS or (is_stored and info.compress_size != info.file_size):
            raise Unreadable(UNSUPPORTED, "it is encrypted, or packed in a way that is not read here")
        return self._zip.read(info)

    def chunks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.flag_bits & _ENCRYPTED:
            raise Unreadable(ENCRYPTED, LOCKED)
        if info.compress_type not in _METHODS:
            raise Unreadable(UNSUPPORTED, f"it is packed by method {info.compress_type}, which is not read: pack it anew as a usual ZIP")
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(CHUNK):
                    self._budget.inflate(len(chunk))
                    yield chunk
        except DAMAGE as error:
            raise Unreadable(BROKEN, f"{info.filename!r} in it is damaged ({error})") from error

    def stream(self, name: str) -> Iterator[bytes]:
        """A member in pieces; none where there is no such member."""
        info = self.infos.get(name)
        return iter(()) if info is None else self.chunks(info)

    def read(self, name: str) -> bytes:
        return b"".join(self.stream(name))

    @cached_property
    def mimetype(self) -> bytes:
        """What OpenDocument files and EPUB say they are."""
        return self.read("mimetype")

    def named(self, info: zipfile.ZipInfo) -> str:
        """The name of a member. Without the flag for UTF-8 it is in whatever encoding the packer's system had: often UTF-8 or GBK."""
        if info.flag_bits & _UTF8 or info.filename.isascii():
            return info.filename
        try:
            raw = info.filename.encode("cp437")
        except UnicodeEncodeError:
            return info.filename
        return _decoded(raw) or info.filename


def decoded_name(raw: bytes) -> str:
    """A name, or a line, in whatever encoding its system had."""
    return _decoded(raw) or raw.decode("utf-8", "replace")


def _decoded(raw: bytes) -> str | None:
    for codec in ("utf-8", "gb18030"):
        try:
            return raw.decode(codec)
        except UnicodeDecodeError:
            continue
    return None


def is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def opened(data: bytes, budget: Budget) -> Zip:
    return Zip(io.BytesIO(data), budget)
