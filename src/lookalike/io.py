"""Reading files: their bytes, and text in whatever encoding it was written.

The encoding is found in this order, and always reported:

1. per byte order mark: UTF-8, UTF-16, UTF-32;
2. UTF-16 or UTF-32 without a mark, if it gives ordinary text (tried where the bytes are not UTF-8 or hold control
   characters);
3. UTF-8, if every byte is valid;
4. an East Asian encoding, if most letters it gives are common in that language: GB18030, Big5, Shift_JIS, EUC-JP, EUC-KR,
   or UTF-8 with a few damaged bytes. A word or two can be valid in several of them: GB18030 wins a tie, and EUC-KR
   needs 12 letters;
5. Windows-1252, if at least half of the bytes are ASCII;
6. UTF-8 with replacement characters, if they stay below a quarter of the text.

Whatever is not a mark or UTF-8 is a guess, and ``note`` says so. Cyrillic, Greek, Hebrew, Arabic, Thai and Central European
8-bit encodings are not guessed: name them in ``encoding``. Binary files are refused. Line ends are left as they are.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from threading import Thread
from typing import IO

from lookalike.errors import InputError

MAX_TEXT_BYTES = 1 << 30  # of a text, and of everything that is taken into memory whole
# Of a file that is read in blocks, such as one that is fingerprinted as bytes. Assign a larger number to raise it.
MAX_FILE_BYTES = 64 << 30
PIPE_SECONDS = 10.0  # how long to wait for somebody who writes to a named pipe; assign a larger number to wait longer
BLOCK_BYTES = 1 << 20

_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# How files that are no text begin, and at which byte: their name, and what `files.kinds` calls those that hold documents.
MAGIC = (
    (0, b"%PDF-", "PDF", "pdf"),
    (0, b"PK\x03\x04", "ZIP (or an Office document)", "zip"),
    (0, b"PK\x05\x06", "ZIP", "zip"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office", "ole"),
    (0, b"\x89PNG\r\n", "PNG", None),
    (0, b"\xff\xd8\xff", "JPEG", None),
    (0, b"\x1f\x8b\x08", "gzip", "gz"),
    (0, b"BZh91AY&SY", "bzip2", "bz2"),
    (0, b"\xfd7zXZ\x00", "xz", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard", "zst"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z", "7z"),
    (0, b"Rar!\x1a\x07", "RAR", "rar"),
    (0, b"\x7fELF", "ELF", None),
    (0, b"SQLite format 3\x00", "SQLite", None),
    (257, b"ustar", "tar", "tar"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_MOST_CONTROLS = 0.05  # text has next to none; compressed and machine data have over 10 %
_MOST_REPLACED = 0.25  # beyond it, texts would look alike for their replacement characters
_GUESSED = "guessed from the bytes: name the encoding if it is wrong"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text, the encoding it was read with, and what a reader should know about that."""

    text: str
    encoding: str
    note: str | None = None


class NotText(InputError):
    """A file that cannot be read as text. ``instead`` lets a function or a verb offer what it has for such a file."""

    def __init__(self, reason: str, remedy: str = "give a text file", is_binary: bool = True) -> None:
        super().__init__(reason, remedy, is_binary)
        self.reason, self.remedy, self.is_binary = reason, remedy, is_binary

    def __str__(self) -> str:
        return f"{self.reason}: {self.remedy}"

    def instead(self, remedy: str) -> InputError:
        return InputError(f"{self}, or {remedy}")


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """A file or a pipe, open for reading; whatever goes wrong is an ``InputError`` that names the path."""
    try:
        with _open_pipe(path) if _is_pipe(path) else open(path, "rb") as file:
            yield file
    except FileNotFoundError as error:
        raise InputError(f"{str(path)!r} does not exist: check the path") from error
    except PermissionError as error:
        raise InputError(f"{str(path)!r} cannot be read: check its permissions") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def read_blocks(path: Path) -> Iterator[memoryview]:
    """A file in blocks; each is valid until the next one is asked for."""
    total = 0
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size or BLOCK_BYTES  # of a pipe nobody knows
        buffer = bytearray(min(size, BLOCK_BYTES))  # clearing more than a small file needs takes longer than reading it
        while count := file.readinto(buffer):
            total += count
            if total > MAX_FILE_BYTES:
                raise InputError(f"{str(path)!r} has more than {MAX_FILE_BYTES:,} bytes: split it, or raise lookalike.io.MAX_FILE_BYTES")
            yield memoryview(buffer)[:count]


def read_bytes(path: Path) -> bytes:
    """A whole file."""
    with open_file(path) as file:
        return read_whole(file, str(path))


def read_whole(file: IO[bytes], name: str) -> bytes:
    """All that is left of an open file, if that fits into memory."""
    data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(f"{name!r} has more than {MAX_TEXT_BYTES >> 20} MiB: split it, or raise lookalike.io.MAX_TEXT_BYTES")
    return data


def _open_pipe(path: Path) -> BufferedReader:
    """A named pipe, once somebody has opened it for writing: until then opening it waits, and it must not wait for ever."""
    found: list[BufferedReader | OSError] = []

    def wait() -> None:
        try:
            found.append(open(path, "rb"))  # noqa: SIM115 (closed by who gets it)
        except OSError as error:
            found.append(error)

    waiting = Thread(target=wait, name="lookalike-pipe", daemon=True)
    waiting.start()
    waiting.join(PIPE_SECONDS)
    in_time = not waiting.is_alive()
    if not in_time:
        with suppress(OSError):  # whoever opens the other end lets the thread go on
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        waiting.join()
    opened = found[0]
    if isinstance(opened, OSError):
        raise opened
    if not in_time:
        opened.close()
        waited = f"nobody opened it for writing within {PIPE_SECONDS:g} seconds"
        raise InputError(f"{str(path)!r} is a pipe, and {waited}: start the program that writes to it first, or give a file")
    return opened


def _is_pipe(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL, or a surrogate that no file system has
        raise InputError(f"{str(path)!r} is not a path: {error}") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{str(path)!r} is a directory: name a file in it")
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise InputError(f"{str(path)!r} is a device or a socket: give a file, or pipe its data in")
    return stat.S_ISFIFO(mode)


def sync_folder(folder: Path) -> None:
    """Make a new or removed name durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of_files(folder: Path, names: Iterable[str]) -> str:
    """Of the names and contents of files, wherever their folder lies."""
    import hashlib  # for models and tables; it loads OpenSSL

    total = hashlib.sha256()
    for name in names:
        with open(folder / name, "rb") as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:12]


def read_text(path: Path | str, encoding: str | None = None) -> TextFile:
    """The text of a file, in the encoding it was found to have or in the one given."""
    if not isinstance(path, Path | str):
        raise InputError(f"path of type {type(path).__name__}: give a Path or a str")
    with open_file(Path(path)) as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    return decode_text(data, str(path), encoding)


def decode_text(data: bytes, name: str, encoding: str | None = None) -> TextFile:
    """The text behind some bytes; ``name`` is what messages call them."""
    if not isinstance(data, bytes):
        raise InputError(f"{name!r}: data of type {type(data).__name__}: give bytes")
    if len(data) > MAX_TEXT_BYTES:
        raise NotText(f"{name!r} holds more than {MAX_TEXT_BYTES >> 20} MiB, too much for one text", "split it")
    if encoding is not None:
        return _decode_as(data, name, encoding)
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return _finished(data[len(mark) :], name, codec, None)
    refuse_known_binary(data, name)
    controls = len(data) - len(data.translate(None, _CONTROLS))
    from lookalike.encodings import asian_codec, strictly, western_codec, wide_codec  # tables of many, and most files are UTF-8 rows

    utf8 = strictly(data, "utf-8")
    if utf8 is not None and not controls:
        return TextFile(utf8, "utf-8")
    if wide := wide_codec(data, controls > 0):
        return _finished(data, name, wide, _GUESSED)
    if controls > _MOST_CONTROLS * len(data) or (utf8 is None and b"\x00" in data):
        shown = f"{controls} of its {len(data)} bytes are control characters"
        raise NotText(f"{name!r} is a binary file ({shown})", "give a text file, or name its encoding")
    if utf8 is not None:
        return TextFile(utf8, "utf-8")
    return _finished(data, name, asian_codec(data) or western_codec(data) or "utf-8", _GUESSED)


def _decode_as(data: bytes, name: str, encoding: str) -> TextFile:
    try:
        return TextFile(data.decode(encoding).removeprefix("\ufeff"), encoding)
    except LookupError as error:
        raise InputError(f"encoding={encoding!r} is not one that Python knows: try utf-8, gb18030, big5 or utf-16") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name!r} is not {encoding}: byte {error.start} is invalid; leave the encoding out to have it found") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{name!r} cannot be read with encoding={encoding!r}: {error}") from error


def _finished(data: bytes, name: str, codec: str, note: str | None) -> TextFile:
    from lookalike.encodings import strictly

    text = strictly(data, codec.removesuffix("-sig"))
    if text is not None:
        return TextFile(text, codec, note)
    text = data.decode(codec.removesuffix("-sig"), "replace")
    replaced = text.count("\ufffd")
    if replaced > _MOST_REPLACED * len(text):
        raise NotText(f"the encoding of {name!r} was not recognised", "name it", is_binary=False)
    lost = f"{replaced} invalid byte sequence{'s' if replaced > 1 else ''} replaced by U+FFFD"
    return TextFile(text, codec, f"{note}; {lost}" if note else lost)


def known_binary(data: bytes) -> tuple[str, str | None] | None:
    """The binary format that the first bytes of a file are those of: what people call it, and its kind if it has a reader."""
    return next(((called, kind) for offset, magic, called, kind in MAGIC if data.startswith(magic, offset)), None)


def refuse_known_binary(data: bytes, name: str) -> None:
    """Raise where the first bytes of a file are those of a binary format."""
    if found := known_binary(data):
        raise NotText(f"{name!r} is a binary file ({found[0]}), not text")
