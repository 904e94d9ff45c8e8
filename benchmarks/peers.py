"""The packages that Lookalike is measured against, each in the way that is fastest for it.

An adapter names the task, says what is timed, and makes the function that takes the list of documents. Peers are imported
only when they are made, so a missing one is a row that says so.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Run = Callable[[list[str]], Sequence[object]]
RunBytes = Callable[[list[bytes]], Sequence[object]]
SIZE = 128
N = 5


@dataclass(frozen=True)
class Adapter:
    """One task done by one peer."""

    peer: str
    task: str
    distribution: str | None  # on PyPI; None is the standard library
    computes: str
    make: Callable[[], Run | RunBytes]
    megabytes: float = 16  # given to it in one repetition: slow peers get fewer documents
    prepare: Callable[[list[str]], list[Any]] | None = None  # what is done to the documents before the clock starts

    @property
    def version(self) -> str | None:
        """The version that is installed, None if it is not."""
        if self.distribution is None:
            return "standard library"
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None


def char_shingles(text: str) -> list[str]:
    return [text[start : start + N] for start in range(max(len(text) - N + 1, 1))]


def word_shingles(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[start : start + N]) for start in range(max(len(words) - N + 1, 1))]


SHINGLES = {"char5": char_shingles, "word5": word_shingles}
ANALYZERS = {"char5": "char", "word5": "word"}


def _shingled(unit: str, texts: list[str]) -> list[list[str]]:
    return [SHINGLES[unit](text) for text in texts]


def char_shingle_lists(texts: list[str]) -> list[list[str]]:
    return _shingled("char5", texts)


def _gaoya_minhash(unit: str) -> Run:
    native = import_module("gaoya.gaoya")
    index = native.minhash.MinHash32StringIntIndexVec(0.8, 16, SIZE // 16, None, ANALYZERS[unit], False, (N, N))
    run: Run = index.bulk_hash_docs
    return run


def _gaoya_simhash(unit: str) -> Run:
    index = import_module("gaoya.gaoya").simhash.SimHash64StringIntIndex(6, 5, ANALYZERS[unit], False, (N, N))
    run: Run = index.par_bulk_doc2signatures
    return run


def _datasketch(unit: str) -> Run:
    minhash, shingles = import_module("datasketch").MinHash, SHINGLES[unit]

    def run(texts: list[str]) -> list[object]:
        return list(minhash.generator(([shingle.encode() for shingle in shingles(text)] for text in texts), num_perm=SIZE))

    return run


def _datasketch_update(unit: str) -> Run:
    minhash, shingles = import_module("datasketch").MinHash, SHINGLES[unit]

    def sketch(text: str) -> object:
        found = minhash(num_perm=SIZE)
        for shingle in set(shingles(text)):
            found.update(shingle.encode())
        return found

    return lambda texts: [sketch(text) for text in texts]


def _rensa(unit: str) -> Run:
    minhash, shingles = import_module("rensa").RMinHash, SHINGLES[unit]
    matrix: Callable[..., Sequence[object]] = minhash.digest_matrix_from_token_sets
    return lambda texts: matrix((shingles(text) for text in texts), num_perm=SIZE, seed=42)


def _rensa_alone(unit: str) -> Run:
    matrix: Callable[..., Sequence[object]] = import_module("rensa").RMinHash.digest_matrix_from_token_sets
    return lambda sets: matrix(sets, num_perm=SIZE, seed=42)


def _simhash(unit: str) -> Run:
    simhash, shingles = import_module("simhash").Simhash, SHINGLES[unit]
    return lambda texts: [simhash(shingles(text)).value for text in texts]


def _pydeep() -> RunBytes:
    pydeep = import_module("pydeep")
    return lambda items: [pydeep.hash_buf(item).decode() for item in items]


def _ppdeep() -> RunBytes:
    ppdeep = import_module("ppdeep")
    return lambda items: [ppdeep.hash(item) for item in items]


def _tlsh() -> RunBytes:
    tlsh = import_module("tlsh")
    return lambda items: [tlsh.hash(item) for item in items]


# Winnowing in plain Python, with positions, the way a careful programmer would write it for speed: one pass, the minimum
# carried along. Once with the fastest hash that is the same in every process, once with SHA-1, which most articles use.

Kept = list[tuple[int, int, int]]  # hash, start, end
_WORD = re.compile(r"\w+")


def select(hashes: Sequence[int], window: int) -> list[int]:
    """The places of each window's smallest hash, the last one of equals, each place once."""
    if not hashes:
        return []
    window = min(window, len(hashes))
    kept: list[int] = []
    best = -1
    for end in range(window - 1, len(hashes)):
        start = end - window + 1
        if best < start:
            best = start
            for place in range(start + 1, end + 1):
                if hashes[place] <= hashes[best]:
                    best = place
            kept.append(best)
        elif hashes[end] <= hashes[best]:
            best = end
            kept.append(best)
    return kept


def sha1_last2(data: bytes) -> int:
    return int.from_bytes(hashlib.sha1(data).digest()[-2:], "big")


def winnow_words(text: str, hash_of: Callable[[bytes], int] = zlib.crc32, window: int = 4) -> Kept:
    tokens = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text.lower())]
    if not tokens:
        return []
    words = [token[0] for token in tokens]
    reach = min(N, len(words)) - 1
    hashes = [hash_of(" ".join(words[start : start + N]).encode()) for start in range(len(words) - reach)]
    return [(hashes[place], tokens[place][1], tokens[place + reach][2]) for place in select(hashes, window)]


def winnow_chars(text: str, hash_of: Callable[[bytes], int] = zlib.crc32, window: int = 4) -> Kept:
    folded = text.lower()
    if not folded:
        return []
    size = min(N, len(folded))
    hashes = [hash_of(folded[start : start + size].encode()) for start in range(len(folded) - size + 1)]
    return [(hashes[place], place, place + size) for place in select(hashes, window)]


def _each(winnow: Callable[[str, Callable[[bytes], int]], Kept], hash_of: Callable[[bytes], int]) -> Run:
    return lambda texts: [winnow(text, hash_of) for text in texts]


_SIGNATURES = "signatures only, nothing is inserted into an index; shingles in Rust; no case folding"
_BULK = "MinHash.generator over lists of encoded shingles, permutations made once; shingles in Python; no case folding"
_UPDATE = "as its documentation shows: a MinHash for each document, update for each distinct shingle; shingles in Python"
_RENSA = "RMinHash.digest_matrix_from_token_sets over lists of shingles; shingles in Python; no case folding"
_RENSA_ALONE = "the same over lists of shingles that are there before the clock starts: neither shingling nor Python's part of it is timed"
_PLAIN = "lower case, words by regular expression or characters, hashes and spans"
_SIMHASH = "Simhash of a list of shingles (MD5); shingles in Python; no case folding"


def _both(peer: str, sketch: str, distribution: str, computes: str, make: Callable[[str], Run], megabytes: float = 16) -> list[Adapter]:
    """The adapters of a peer for characters and for words."""
    return [Adapter(peer, f"{sketch}-{unit}", distribution, computes, partial(make, unit), megabytes) for unit in SHINGLES]


ADAPTERS = [
    *_both("gaoya", "minhash", "gaoya", _SIGNATURES, _gaoya_minhash),
    *_both("gaoya", "simhash", "gaoya", _SIGNATURES, _gaoya_simhash),
    *_both("datasketch", "minhash", "datasketch", _BULK, _datasketch, 1),
    *_both("datasketch, update", "minhash", "datasketch", _UPDATE, _datasketch_update, 0.3),
    *_both("rensa RMinHash", "minhash", "rensa", _RENSA, _rensa, 8),
    *(
        replace(adapter, prepare=partial(_shingled, adapter.task.partition("-")[2]))
        for adapter in _both("rensa RMinHash, shingles at hand", "minhash", "rensa", _RENSA_ALONE, _rensa_alone, 8)
    ),
    *_both("simhash", "simhash", "simhash", _SIMHASH, _simhash, 1),
    Adapter("plain Python", "winnow-word5", None, f"{_PLAIN}; CRC-32", lambda: _each(winnow_words, zlib.crc32), 3),
    Adapter("plain Python", "winnow-char5", None, f"{_PLAIN}; CRC-32", lambda: _each(winnow_chars, zlib.crc32), 3),
    Adapter("plain Python, SHA-1", "winnow-word5", None, f"{_PLAIN}; SHA-1", lambda: _each(winnow_words, sha1_last2), 3),
    Adapter("plain Python, SHA-1", "winnow-char5", None, f"{_PLAIN}; SHA-1", lambda: _each(winnow_chars, sha1_last2), 1),
    Adapter("pydeep2", "ssdeep", "pydeep2", "hash_buf (libfuzzy) of each file", _pydeep),
    Adapter("ppdeep", "ssdeep", "ppdeep", "hash (pure Python) of each file", _ppdeep, 1),
    Adapter("py-tlsh", "tlsh", "py-tlsh", "hash of each file", _tlsh),
]


def adapters(task: str) -> list[Adapter]:
    """All peers that do a task, in the order of the table."""
    return [adapter for adapter in ADAPTERS if adapter.task == task]
