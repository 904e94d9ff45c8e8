"""All fingerprints of one thing at once: ``fingerprint(Path("a.pdf"), kinds="all")``.

A ``str`` is text, a ``Path`` is a file, ``bytes`` are the contents of one, a mapping is a record, ``code()`` makes source code.
Text kinds of a file read its text, and of a web page (``.html``) the main text, as stores do; kinds of bytes stream it, whatever its size.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike import io
from lookalike.checks import check_several, check_str
from lookalike.corpus.contents import read_contents, readable
from lookalike.errors import InputError, MissingExtra, UnknownName
from lookalike.fingerprints.base import Fingerprint, NoFingerprint
from lookalike.fingerprints.digest import ALGORITHMS, digest
from lookalike.fingerprints.fuzzy_mmdt import mmdt
from lookalike.fingerprints.fuzzy_nilsimsa import nilsimsa
from lookalike.fingerprints.fuzzy_ssdeep import ssdeep
from lookalike.fingerprints.fuzzy_tlsh import tlsh
from lookalike.fingerprints.karp_rabin import karp_rabin
from lookalike.fingerprints.minhash import minhash, weighted_minhash
from lookalike.fingerprints.record import record
from lookalike.fingerprints.simhash import simhash
from lookalike.fingerprints.winnowing import winnow
from lookalike.markup.extracts import check_extract
from lookalike.recipe import Recipe, resolve
from lookalike.text.code import Code

Thing = str | bytes | Path | Code | Mapping[str, Any]

TEXT_KINDS: dict[str, Callable[[str, Recipe | None], Fingerprint]] = {
    "simhash": lambda text, recipe: simhash(text, recipe=recipe),
    "minhash": lambda text, recipe: minhash(text, recipe=recipe),
    "weighted-minhash": lambda text, recipe: weighted_minhash(text, recipe=recipe),
    "winnowing": lambda text, recipe: winnow(text, recipe=recipe),
    "karp-rabin": lambda text, recipe: karp_rabin(text),
}
BYTE_KINDS: dict[str, Callable[[str | bytes | Path], Fingerprint]] = {"ssdeep": ssdeep, "tlsh": tlsh, "nilsimsa": nilsimsa, "mmdt": mmdt}
KINDS = (*TEXT_KINDS, *BYTE_KINDS, *ALGORITHMS, "record")
# Kinds whose fingerprint grows with the text, or that take a step for every feature and value. "all" leaves them out of
# texts longer than this, and says so; asked for by name, they are made.
GROWING = ("winnowing", "karp-rabin", "weighted-minhash")
MAX_GROWING = 1_000_000
ALL = ("simhash", "minhash", "weighted-minhash", "winnowing", "karp-rabin", "ssdeep", "tlsh", "md5", "sha1", "sha256", "blake2b")


class Fingerprints(dict[str, Fingerprint | NoFingerprint]):
    """Fingerprints by kind, and how the thing was read as text, if it was."""

    read: io.TextFile | None = None


@dataclass(slots=True)
class _ReadOnce:
    """The thing, read as text at most once."""

    thing: Thing
    encoding: str | None
    extract: str | None
    read: io.TextFile | None = None

    def text(self) -> str:
        if self.read is None:
            self.read = self._read()
        return self.read.text

    def _read(self) -> io.TextFile:
        if isinstance(self.thing, str):
            return io.TextFile(self.thing, "str", None)
        if isinstance(self.thing, bytes):
            found = read_contents(self.thing, "the input", "text", self.encoding)
            return io.TextFile(found.text(), found.encoding or found.read_as, found.said)
        if isinstance(self.thing, Path):
            return _text_of(self.thing, self.encoding, self.extract)
        raise InputError("a mapping is a record: it has no text; ask for kinds='record'")

    def raw(self) -> str | bytes | Path:
        if isinstance(self.thing, Mapping | Code):
            raise InputError("a mapping is a record: it has no bytes; ask for kinds='record'")
        return self.thing


def _text_of(path: Path, encoding: str | None, extract: str | None) -> io.TextFile:
    found = readable(path, "text" if extract is None else None, encoding)
    taken = f"a web page: kinds of text are of its {'main text' if extract == 'main' else 'whole text'}" if found.kind == "page" else None
    return io.TextFile(found.text(extract or "main"), found.encoding or found.read_as, "; ".join(filter(None, (found.said, taken))) or None)


def check_kinds(kinds: str | Iterable[str]) -> tuple[str, ...]:
    """The kinds that were asked for, in the order they were asked for; ``all`` stands for the usual ones."""
    several = "the names of kinds, as a list or with commas between them"
    asked = [part.strip() for part in kinds.split(",")] if isinstance(kinds, str) else list(check_several("kinds", kinds, several))
    chosen: dict[str, None] = {}
    for kind in asked:
        if check_str("kinds", kind, several) != "all" and kind not in KINDS:
            raise UnknownName(f"unknown kind of fingerprint {kind!r}; known: all, {', '.join(KINDS)}")
        chosen.update(dict.fromkeys(ALL if kind == "all" else (kind,)))
    if not chosen:
        raise InputError("kinds: name at least one kind of fingerprint, or 'all'")
    return tuple(chosen)


def fingerprint(
    thing: Thing,
    kinds: str | Iterable[str] = "all",
    *,
    recipe: Recipe | str | None = None,
    encoding: str | None = None,
    extract: str | None = "main",
) -> Fingerprints:
    """The fingerprints of a text, a file, a record or source code, by kind. Code has a recipe of its own.

    Of a file that is a web page (``.html``) the kinds of text are of the main text, as stores keep it; with ``extract="all"`` of everything
    that can be read on it, and with ``extract=None`` of its source.
    A kind that cannot be had of this thing (a digest of too little, a text kind of a binary file) is a ``NoFingerprint``
    that says why.
    """
    if not isinstance(thing, (str, bytes, Path, Code, Mapping)):
        raise InputError(f"cannot fingerprint a {type(thing).__name__}: give a str (text), bytes, a Path (file) or a mapping (record)")
    chosen = None if recipe is None else resolve(recipe)
    if isinstance(thing, Code):
        chosen = chosen or thing.recipe
        thing = thing.text
    is_all = isinstance(kinds, str) and kinds == "all"
    if isinstance(thing, Mapping) and is_all:
        kinds, is_all = "record", False
    if extract is not None:
        check_extract(extract)
    reader = _ReadOnce(thing, encoding, extract)
    found = Fingerprints((kind, _one(reader, kind, chosen, strict=not is_all)) for kind in check_kinds(kinds))
    found.read = reader.read
    return found


def _one(reader: _ReadOnce, kind: str, recipe: Recipe | None, *, strict: bool) -> Fingerprint | NoFingerprint:
    if kind == "record":
        return record(reader.thing if isinstance(reader.thing, Mapping) else parse_record(reader.text()))
    if kind in BYTE_KINDS:
        return _valued(BYTE_KINDS[kind](reader.raw()))
    if kind not in TEXT_KINDS:
        return digest(reader.raw(), kind)
    try:
        text = reader.text()
    except (InputError, MissingExtra) as error:
        if strict:
            raise
        return NoFingerprint(kind, f"no text: {error.reason if isinstance(error, io.NotText) else error}")
    if not text.strip():
        return NoFingerprint(kind, "no tokens: the text is empty or blank")
    if not strict and kind in GROWING and len(text) > MAX_GROWING:
        return NoFingerprint(kind, f"not part of 'all' for a text of {len(text)} characters: it grows with the text; ask for it by name")
    return TEXT_KINDS[kind](text, recipe)


def parse_record(text: str, name: str = "the input") -> Mapping[str, Any]:
    """A record from the text of one JSON object."""
    check_str("text", text, "the text of one JSON object")
    try:
        parsed = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON ({error}); a record is one JSON object") from None
    if not isinstance(parsed, dict):
        raise InputError(f"{name}: holds a JSON {type(parsed).__name__}; a record is one JSON object")
    return parsed


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON allows a key twice, and readers take the one or the other."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} stands in it twice: keep one")
        found[key] = value
    return found


def _valued(found: Any) -> Fingerprint | NoFingerprint:
    return NoFingerprint(found.kind, found.status, found.recipe) if found.value is None else found
