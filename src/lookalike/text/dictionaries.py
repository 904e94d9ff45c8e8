"""Dictionaries of words with frequencies: what segmenters know beyond the characters.

A dictionary file has jieba's format: a word per line, then, if they are known, its frequency and its part of speech, separated by
spaces (``云计算 5 n``). Blank lines and lines that start with ``#`` are ignored. ``jieba`` is the dictionary of the package jieba. A
dictionary is known by its digest, which covers the words and their frequencies: neither their order nor where they came from.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lookalike.checks import check_int, check_several
from lookalike.errors import InputError, MissingExtra
from lookalike.text.word_lists import MAX_WORD_LENGTH, Stamp, file_stamp, is_file, read_utf8

MAX_FREQUENCY = 10**12
SHIPPED = "jieba"


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Words and how often each occurs; None where nobody said so."""

    frequencies: Mapping[str, int | None]
    digest: str

    def __hash__(self) -> int:
        return hash(self.digest)


_registered: dict[str, Dictionary] = {}


def register_dictionary(name: str, words: Iterable[str] | Mapping[str, int | None]) -> None:
    """Give a dictionary a name, for ``jieba-with:NAME`` and ``nsp:NAME``: words, or words with frequencies."""
    if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable() or name == SHIPPED:
        raise InputError(
            f"dictionary name {name!r:.60}: use a name that can be printed, without surrounding white space, and not {SHIPPED!r}"
        )
    entries = words.items() if isinstance(words, Mapping) else ((word, None) for word in check_several("words", words, "a list of words"))
    _registered[name] = _made((f"dictionary {name!r}", word, frequency) for word, frequency in entries)


def is_registered(name: str) -> bool:
    return name == SHIPPED or name in _registered


def dictionary(name: str) -> Dictionary:
    """The dictionary with this name, or else the one in this file, read again when the file has changed."""
    if name in _registered:
        return _registered[name]
    path = _jieba_path() if name == SHIPPED else name
    if not is_file(path):
        known = ", ".join([SHIPPED, *sorted(_registered)])
        raise InputError(f"dictionary {name!r:.200}: neither a registered name ({known}) nor a file; register the words or give a path")
    return _read(path, file_stamp(path))


def _jieba_path() -> str:
    from importlib.util import find_spec

    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise MissingExtra.for_extra("the dictionary of jieba", "jieba")
    return str(Path(spec.origin).with_name("dict.txt"))


@functools.lru_cache(maxsize=8)
def _read(path: str, _stamp: Stamp) -> Dictionary:
    return _made(_lines(path))


def _lines(path: str) -> Iterator[tuple[str, str, int | None]]:
    for number, line in enumerate(read_utf8("dictionary", path).split("\n"), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        frequency = next((int(field) for field in fields[1:2] if field.isascii() and field.isdigit() and len(field) < 20), None)
        yield f"dictionary file {path!r}, line {number}", fields[0], frequency


def _made(entries: Iterable[tuple[str, object, object]]) -> Dictionary:
    found: dict[str, int | None] = {}
    place = "the dictionary"
    for place, word, frequency in entries:
        if not isinstance(word, str) or word.split() != [word] or len(word) > MAX_WORD_LENGTH:
            raise InputError(f"{place}: {word!r:.80} is no word: give 1 to {MAX_WORD_LENGTH} characters without white space")
        if frequency is not None:
            check_int(f"{place}: the frequency of {word!r}", frequency, 1, MAX_FREQUENCY)
        found[word] = frequency  # type: ignore[assignment]  # checked
    if not found:
        raise InputError(f"{place}: has no words")
    content = "\n".join(f"{word} {found[word]}" for word in sorted(found)).encode("utf-8", "surrogatepass")
    return Dictionary(found, hashlib.sha256(content).hexdigest()[:12])
