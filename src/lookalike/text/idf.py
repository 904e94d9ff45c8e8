"""How rare words are: tables of inverse document frequencies.

``jieba`` is the table that jieba ships (270,000 Chinese words); ``learn`` makes one from your own documents. A table has
an id, the digest of its contents, that goes into the id of every recipe that uses it.

The file of a table is UTF-8 text. The first line is ``lookalike-idf``, the format's version (1), the number of documents
(0 when unknown), the value of words that are not in the table, and the number of words; then follows a line for each
word: the word and its value. Fields are separated by tabs, words are in code-point order, lines end with a line feed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lookalike.checks import check_path, is_whole
from lookalike.corpus.writing import write_file
from lookalike.errors import InputError, MissingExtra
from lookalike.registry import Registry
from lookalike.text.word_lists import Stamp, file_stamp, is_file, read_utf8

_MAGIC = "lookalike-idf"
_FORMAT = "1"


@dataclass(frozen=True, eq=False)
class Idf:
    """The inverse document frequency of words, and ``default`` for every other word."""

    values: Mapping[str, float] = field(repr=False)
    default: float
    documents: int = 0
    name: str = "custom"
    source_digest: str | None = field(default=None, repr=False)  # of the bytes it was read from, where they fix the contents

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping) or set(map(type, self.values)) - {str} or "" in self.values:
            raise InputError(f"IDF table {self.name!r}: expected a mapping from words to numbers")
        if not is_whole(self.documents) or self.documents < 0:
            raise InputError(f"IDF table {self.name!r}: documents={self.documents!r}; give their number, or 0 when it is unknown")
        object.__setattr__(self, "default", _weights(self.name, [self.default])[0])
        object.__setattr__(self, "values", MappingProxyType(dict(zip(self.values, _weights(self.name, self.values.values()), strict=True))))

    def __getitem__(self, word: str) -> float:
        return self.values.get(word, self.default)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Idf) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        return Idf, (dict(self.values), self.default, self.documents, self.name, self.source_digest)

    @functools.cached_property
    def id(self) -> str:
        """Twelve hex digits that cover all that decides a weight: the words, their values and the default."""
        if self.source_digest is not None:
            return self.source_digest
        return hashlib.sha256(f"{self.default!r}\n{self._lines()}".encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file. The file appears complete or not at all."""
        header = "\t".join((_MAGIC, _FORMAT, str(self.documents), repr(self.default), str(len(self))))
        unfit = next((word for word in self.values if not _fits_a_line(word)), None)
        if unfit is not None:
            raise InputError(f"IDF table {self.name!r}: the word {unfit!r} cannot be written to a line of UTF-8; leave it out")
        write_file(check_path("path", path), f"{header}\n{self._lines()}")

    def _lines(self) -> str:
        return "".join([f"{word}\t{value!r}\n" for word, value in sorted(self.values.items())])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Idf:
        """Read the file of a table. A line that is not as described above is refused, with its number."""
        file = check_path("path", path)
        return _parse(file, read_utf8("IDF", file))

    @classmethod
    def jieba(cls) -> Idf:
        """The table of the installed ``jieba``, read without importing jieba. A word it lacks gets the median, as in jieba."""
        path = _jieba_path()
        with _loading:
            return _jieba_table(path, file_stamp(path))


def learn(documents: Iterable[Iterable[str]], *, name: str = "learned") -> Idf:
    """The table of your own documents, each given as its words in normal form: the texts of ``tokenize``.

    ``ln((1 + n) / (1 + d)) + 1`` for a word in d of n documents, as in scikit-learn. A word in none has d = 0. Values are
    rounded to 12 significant digits, so that the last bit of a platform's logarithm does not change the id.
    """
    total = 0
    counts: Counter[str] = Counter()
    for document in documents:
        if isinstance(document, str | bytes):
            raise InputError(f"documents: document {total} is one {type(document).__name__}; give each document as a list of its words")
        words = set(document)
        wrong = next((word for word in words if not isinstance(word, str) or not word), None)
        if wrong is not None:
            raise InputError(f"documents: document {total} holds {wrong!r}; words are strings that are not empty")
        counts.update(words)
        total += 1
    if not total:
        raise InputError("documents: none given; an IDF table needs at least one document")
    values = {found: _smooth(total, found) for found in {0, *counts.values()}}
    return Idf({word: values[count] for word, count in counts.items()}, values[0], total, name)


def _smooth(total: int, containing: int) -> float:
    return float(f"{math.log((1 + total) / (1 + containing)) + 1:.12g}")


IdfSource = Idf | Callable[[], Idf]

idfs: Registry[IdfSource] = Registry("idf", plural="IDF tables")
idfs.register("jieba", Idf.jieba)


def idf_table(name: str | Idf) -> Idf:
    """A table, from a table, its registered name, or else the path of its file (read again when the file has changed)."""
    if isinstance(name, Idf):
        return name
    if not isinstance(name, str):
        raise InputError(f"idf={name!r}: expected a name, the path of a file, or an Idf")
    if is_file(name) and name not in idfs:
        return _load(name, file_stamp(name))
    source = idfs.get(name)
    return source if isinstance(source, Idf) else source()


def is_registered_idf(name: str) -> bool:
    """Whether a name is no file."""
    return name in idfs


def idf_version(name: str) -> str:
    """The id of a table: what a recipe id records."""
    if name == "jieba" and idfs.get("jieba") == Idf.jieba:
        path = _jieba_path()
        return _file_digest(path, file_stamp(path))  # the same id, without parsing 270,000 lines
    return idf_table(name).id


_loading = threading.Lock()


@functools.lru_cache(maxsize=8)
def _load(path: str, _stamp: Stamp) -> Idf:
    return Idf.load(path)


@functools.lru_cache(maxsize=1)
def _jieba_table(path: Path, stamp: Stamp) -> Idf:
    fields = path.read_text(encoding="utf-8").split()
    values = dict(zip(fields[::2], map(float, fields[1::2]), strict=True))
    median = sorted(values.values())[len(values) // 2]
    return Idf(values, median, name="jieba", source_digest=_file_digest(path, stamp))


def _jieba_path() -> Path:
    found = importlib.util.find_spec("jieba")
    path = Path(found.origin).parent / "analyse" / "idf.txt" if found and found.origin else None
    if path is None or not path.is_file():
        raise MissingExtra.for_extra("IDF table 'jieba'", "jieba")
    return path


@functools.lru_cache(maxsize=1)
def _file_digest(path: Path, _stamp: Stamp) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _parse(path: Path, text: str) -> Idf:
    lines = text.split("\n")
    if lines.pop():
        raise InputError(f"IDF file {str(path)!r}, line {len(lines) + 1}: the last line is cut off; restore the file")
    header = lines[0].split("\t") if lines else []
    if header[:2] != [_MAGIC, _FORMAT] or len(header) != 5:
        raise InputError(f"IDF file {str(path)!r}, line 1: expected {_MAGIC}, {_FORMAT}, documents, default, words, separated by tabs")
    documents, default, count = _count(path, header[2]), _number(path, 1, header[3]), _count(path, header[4])
    values: dict[str, float] = {}
    for number, line in enumerate(lines[1:], start=2):
        word, tab, value = line.partition("\t")
        if not tab or not word or word in values:
            reason = "the word is there already" if tab and word else "expected a word, a tab and a number"
            raise InputError(f"IDF file {str(path)!r}, line {number}: {reason}: {line[:60]!r}")
        values[word] = _number(path, number, value)
    if len(values) != count:
        raise InputError(f"IDF file {str(path)!r}, line {len(lines)}: the file ends after {len(values)} of {count} words; restore it")
    return Idf(values, default, documents, path.stem)


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"IDF file {str(path)!r}, line {line}: expected a number that is finite and not negative, found {text[:60]!r}")
    return value


def _count(path: Path, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InputError(f"IDF file {str(path)!r}, line 1: expected a count, found {text[:60]!r}")
    return int(text)


def _weights(name: str, values: Collection[object]) -> list[float]:
    kinds = set(map(type, values))
    if not all(issubclass(kind, float | int) and kind is not bool for kind in kinds):
        raise InputError(f"IDF table {name!r}: every value must be a number, but some are {', '.join(sorted(map(str, kinds)))}")
    weights = list(map(float, values))  # type: ignore[arg-type]  # plain floats: those of numpy print otherwise
    if not all(map(math.isfinite, weights)) or min(weights, default=0.0) < 0:
        wrong = next(weight for weight in weights if not 0 <= weight < math.inf)
        raise InputError(f"IDF table {name!r}: {wrong!r} is not finite or is negative")
    return weights


def _fits_a_line(word: str) -> bool:
    return "\t" not in word and "\n" not in word and not any("\ud800" <= character <= "\udfff" for character in word)
