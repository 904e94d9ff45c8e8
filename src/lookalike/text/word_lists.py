"""Lists of words: given a name in the program, or read from a file.

A word-list file is UTF-8 with a word a line. Blank lines and lines that start with ``#`` are ignored. A list is known by
its digest, which covers the set of words alone: neither their order nor where they came from.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lookalike.checks import check_several
from lookalike.errors import InputError
from lookalike.io import read_bytes

MAX_WORD_LENGTH = 64
"""Code points in a word. It bounds the work of maximum matching; the longest word of jieba's dictionary has 16."""

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class WordList:
    words: frozenset[str]
    digest: str


class WordLists:
    """One kind of word lists: those registered by name, and any file."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._registered: dict[str, WordList] = {}

    def register(self, name: str, words: Iterable[str]) -> None:
        """Give a list a name. A name that is given again stands for the new words, and its digest changes."""
        if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable():
            raise InputError(f"{self.kind} name {name!r}: use a name that can be printed, without surrounding white space")
        if isinstance(words, str | bytes):
            raise InputError(f"{self.kind} {name!r}: expected a list of words, not one {type(words).__name__}")
        check_several(f"{self.kind} {name!r}", words, "a list of words")
        self._registered[name] = _word_list((f"{self.kind} {name!r}", word) for word in words)

    def names(self) -> list[str]:
        return sorted(self._registered)

    def get(self, name: str) -> WordList:
        """The list with this name, or else the list in this file, read again when the file has changed."""
        if not isinstance(name, str):
            raise InputError(f"{self.kind}={name!r}: expected a name or the path of a file, as a str")
        if name in self._registered:
            return self._registered[name]
        if not is_file(name):
            known = ", ".join(self.names()) or "none"
            raise InputError(f"{self.kind} {name!r}: neither a registered name ({known}) nor a file; register the words or give a path")
        return _read(self.kind, name, file_stamp(name))


def is_file(name: str) -> bool:
    try:
        return os.path.isfile(name)
    except ValueError:  # a NUL in the name
        return False


def file_stamp(path: str | Path) -> Stamp:
    """What changes when a file is written again: a cache of its content is keyed by it."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_utf8(kind: str, path: str | Path) -> str:
    """The text of a small file, with an error that names it."""
    try:
        return read_bytes(Path(path)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{kind} file {str(path)!r}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except InputError as error:
        raise InputError(f"{kind} file {error}") from error


@functools.lru_cache(maxsize=32)
def _read(kind: str, path: str, _stamp: Stamp) -> WordList:
    return _word_list(_lines(kind, path))


def _lines(kind: str, path: str) -> Iterator[tuple[str, str]]:
    # Only "\n" ends a line: a message must count lines as an editor does.
    for number, line in enumerate(read_utf8(kind, path).split("\n"), start=1):
        word = line.strip()
        if word and not word.startswith("#"):
            yield f"{kind} file {path!r}, line {number}", word


def _word_list(words: Iterable[tuple[str, str]]) -> WordList:
    found = set()
    place = "the list"
    for place, word in words:
        _check(place, word)
        found.add(word)
    if not found:
        raise InputError(f"{place}: has no words")
    content = "\n".join(sorted(found)).encode("utf-8", "surrogatepass")
    return WordList(frozenset(found), hashlib.sha256(content).hexdigest()[:12])


def _check(place: str, word: object) -> None:
    if not isinstance(word, str):
        raise InputError(f"{place}: {word!r} is not a str")
    if len(word) > MAX_WORD_LENGTH:
        raise InputError(f"{place}: a word of {len(word)} code points; at most {MAX_WORD_LENGTH} are allowed")
    if word.split() != [word]:
        raise InputError(f"{place}: {word!r} is empty or contains white space; give one word an entry")
