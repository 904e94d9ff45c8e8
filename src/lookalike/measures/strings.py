"""Distances of sequences position by position (hamming) and by edits (levenshtein, indel, ratio, difflib).

The edit measures take two strings, two ``bytes``, or two sequences of tokens; they compare code points, bytes or whole
tokens. Nothing is normalised, lone surrogates and NULs are characters like others.

Edits cost time with the product of the lengths, so there are limits, beyond which an ``InputError`` is raised:
``levenshtein``, ``indel`` and ``ratio`` try ever wider bands around the diagonal up to ``MAX_WORDS`` steps of 64 cells,
about ten seconds. Any two strings of 500,000 characters stay below; longer ones do when they have few edits.
``difflib`` stops at ``MAX_STEPS`` steps of its inner loop, and takes ``MAX_ITEMS`` characters or tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate
from numbers import Integral
from operator import ne
from typing import TYPE_CHECKING, Any, TypeAlias

from lookalike.bit_patterns import bit_pattern, bit_patterns
from lookalike.checks import check_int
from lookalike.errors import InputError
from lookalike.measures.base import (
    Delegate,
    Measure,
    Things,
    Want,
    by_similarity,
    delegate,
    hashed,
    is_array,
    is_fingerprint,
    items_of,
    refuse_nan,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.measures.base import FloatArray

MAX_WORDS = 2**32  # RapidFuzz does 0.35 to 0.5 billion per second
MAX_STEPS = 100_000_000  # 46 to 160 ns each
MAX_ITEMS = 2_000_000  # of both together: difflib keeps a list entry for each
DIRECT_WORDS = 2**20  # a few milliseconds: not worth trying bands first

Text: TypeAlias = str | bytes | list[Hashable]


def read_text(thing: Any, name: str, wanted: str = "a string, bytes, or a list of tokens") -> Text:
    if isinstance(thing, (str, bytes)):
        return thing
    if isinstance(thing, (bytearray, memoryview)):
        return bytes(thing)
    tokens = items_of(thing, name, wanted)
    hashed(frozenset, tokens, name)
    refuse_nan(tokens, name)
    return tokens


def _require_alike(texts: Iterable[Text]) -> None:
    if len({next(kind for kind in (str, bytes, list) if isinstance(text, kind)) for text in texts}) > 1:
        raise InputError("give two strings, two bytes, or two lists of tokens: these are of different kinds")


def _numbered(texts: Sequence[Text]) -> list[Any]:
    """Token lists with a number for each token: RapidFuzz compares hashes, by which the token "a" equals 97."""
    if not texts or not isinstance(texts[0], list):
        return list(texts)
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(token, len(numbers)) for token in text] for text in texts]


def _edits(metric: str, a: Text, b: Text) -> int:
    from rapidfuzz import distance

    _require_alike((a, b))
    count: Callable[..., int] = getattr(distance, metric).distance
    left, right = _numbered((a, b))
    words = len(a) * len(b) // 64
    if words <= DIRECT_WORDS:
        return count(left, right)
    reach, step = 64, max(len(a), len(b)) // 32 + 1  # the words that one more edit costs: the band grows on both sides
    affordable = MAX_WORDS if words > MAX_WORDS else words // 4  # a futile search may add a third to the time, not more
    while reach * step <= affordable:
        found = count(left, right, score_cutoff=reach)
        if found <= reach:
            return found
        reach *= 4
    if words > MAX_WORDS:
        raise InputError(
            f"a and b have {len(a)} and {len(b)} characters or tokens and more than {reach // 4} edits, beyond the limit of"
            f" {MAX_WORDS} steps: compare shorter parts, or their features with jaccard"
        )
    return count(left, right)


@dataclass(frozen=True, slots=True)
class _Edits:
    """Batches of strings or token lists by a RapidFuzz metric and the names of its two scorers."""

    metric: str
    distance: str
    similarity: str

    def rows(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        return self._run("cpdist", left, right, want)

    def matrix(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        return self._run("cdist", left, right, want)

    def _run(self, run: str, left: Things, right: Things, want: Want) -> FloatArray | None:
        import numpy as np
        from rapidfuzz import distance, process

        texts = [read_text(item, f"a[{i}]") for i, item in enumerate(left)]
        others = [read_text(item, f"b[{i}]") for i, item in enumerate(right)]
        _require_alike([*texts, *others])
        if max(map(len, texts), default=0) * max(map(len, others), default=0) // 64 > DIRECT_WORDS:
            return None
        numbered = _numbered([*texts, *others])
        scorer = getattr(getattr(distance, self.metric), self.distance if want == "distance" else self.similarity)
        found: FloatArray = getattr(process, run)(numbered[: len(texts)], numbered[len(texts) :], scorer=scorer, dtype=np.float64)
        return found


def _edit_measure(name: str, about: str, metric: str, *, normalized: bool = False) -> Measure:
    def distance(a: Text, b: Text) -> float:
        return _edits(metric, a, b)

    def share(a: Text, b: Text) -> float:
        most = max(len(a), len(b)) if metric == "Levenshtein" else len(a) + len(b)
        return _edits(metric, a, b) / most if most else 0.0

    return Measure(
        name=name,
        about=about,
        read=read_text,
        distance_of=share if normalized else distance,
        similarity_of=lambda a, b: 1 - share(a, b),
        fast=_Edits(metric, "normalized_distance" if normalized else "distance", "normalized_similarity"),
    )


_LEVENSHTEIN = "insertions, deletions and substitutions; the similarity is 1 - distance / the longer length"
levenshtein = _edit_measure("levenshtein", _LEVENSHTEIN, "Levenshtein")
indel = _edit_measure("indel", "insertions and deletions; the similarity is 1 - distance / the sum of the lengths", "Indel")
ratio = _edit_measure("ratio", "the similarity of indel (rapidfuzz.fuzz.ratio / 100); the distance is 1 - it", "Indel", normalized=True)


class _Matcher(SequenceMatcher[Any]):
    """difflib's matcher, counting the steps of its inner loop and stopping at the limit."""

    a: Text
    b: Text
    b2j: dict[Hashable, list[int]]

    def __init__(self, a: Text, b: Text) -> None:
        super().__init__(None, a, b)
        self._steps = list(accumulate((1 + len(self.b2j.get(item, ())) for item in a), initial=0))
        self._left = MAX_STEPS

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._left -= self._steps[-1 if ahi is None else ahi] - self._steps[alo]
        if self._left < 0:
            raise InputError(f"difflib needs more than {MAX_STEPS} steps for a and b of {len(self.a)} and {len(self.b)} items: use ratio")
        return super().find_longest_match(alo, ahi, blo, bhi)


def _difflib(a: Text, b: Text) -> float:
    _require_alike((a, b))
    if len(a) + len(b) > MAX_ITEMS:
        raise InputError(f"difflib takes {MAX_ITEMS} characters or tokens, a and b have {len(a)} and {len(b)}: use ratio")
    return _Matcher(a, b).ratio()


difflib = by_similarity(
    "difflib",
    "difflib.SequenceMatcher(None, a, b).ratio(), its junk heuristic included; not symmetric; the distance is 1 - similarity",
    read_text,
    _difflib,
)

Positions: TypeAlias = int | Text | Delegate
HAMMING_KINDS = ("simhash",)


def read_positions(thing: Any, name: str) -> Positions:
    if is_fingerprint(thing):
        return delegate(thing, HAMMING_KINDS, "hamming")
    if not isinstance(thing, bool) and isinstance(thing, Integral):
        return int(thing)
    return read_text(thing, name, "an int, a string, bytes, a sequence, or a SimHash")


def _differing(a: Positions, b: Positions) -> float:
    if isinstance(a, Delegate) and isinstance(b, Delegate):
        return a.distance(b)
    if isinstance(a, int) and isinstance(b, int):
        return (a ^ b).bit_count()
    if isinstance(a, (int, Delegate)) or isinstance(b, (int, Delegate)):
        raise InputError("hamming compares two of one kind, such as two ints or two strings: these differ")
    _require_alike((a, b))
    if len(a) != len(b):
        raise InputError(f"a has {len(a)} positions and b has {len(b)}: give equal lengths, or use levenshtein")
    return sum(1 for _ in filter(None, map(ne, a, b)))


@dataclass(frozen=True, slots=True)
class _Hamming:
    """Positions that differ: the kernels for pairs and for batches know the width of an int."""

    bits: int

    def read(self, thing: Any, name: str) -> Positions:
        found = read_positions(thing, name)
        return bit_pattern(found, self.bits, name) if isinstance(found, int) and found < 0 else found

    def similarity_of(self, a: Positions, b: Positions) -> float:
        if isinstance(a, Delegate) and isinstance(b, Delegate):
            return a.similarity(b)
        distance = _differing(a, b)
        if isinstance(a, int) and isinstance(b, int):
            self._require_width(max(a, b))
            return 1 - distance / self.bits
        return 1 - distance / len(a) if a else 1.0  # type: ignore[arg-type]  # two sequences: _differing saw to it

    def rows(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        pair = _arrays(left, right, self.bits)
        return None if pair is None else self._as(want, _differing_rows(*pair), pair)

    def matrix(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        import numpy as np

        pair = _arrays(left, right, self.bits)
        if pair is None:
            return None
        found = np.empty((len(left), len(right)), dtype=np.float64)
        for i, row in enumerate(pair[0]):
            found[i] = _differing_rows(row, pair[1])
        return self._as(want, found, pair)

    def _as(self, want: Want, distances: FloatArray, pair: tuple[NDArray[Any], NDArray[Any]]) -> FloatArray:
        import numpy as np

        if want == "distance":
            return distances
        width = self.bits if pair[0].ndim == 1 else pair[0].shape[1]
        if pair[0].ndim == 1:
            self._require_width(max(int(side.max(initial=0)) for side in pair))
        return np.asarray(1 - distances / width)

    def _require_width(self, largest: int) -> None:
        if largest.bit_length() > self.bits:
            raise InputError(f"an int has more than {self.bits} bits: use hamming_with(bits={largest.bit_length()})")


def _arrays(left: Things, right: Things, bits: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Two batches of ints below 2**64, two 2-D arrays of rows that can be compared at once, or None."""
    if is_array(left) and is_array(right) and left.ndim == right.ndim == 2:
        same = left.dtype == right.dtype and left.shape[1] == right.shape[1]
        return (left, right) if same and left.dtype.kind in "biu" and left.shape[1] else None
    a, b = _bit_patterns(left, bits, "a"), _bit_patterns(right, bits, "b")
    return None if a is None or b is None else (a, b)


def _bit_patterns(batch: Things, bits: int, name: str) -> NDArray[Any] | None:
    import numpy as np

    if is_array(batch):
        if batch.ndim != 1 or batch.dtype.kind not in "iu":
            return None
        if batch.size and batch.min() < 0:
            return bit_patterns(batch, bits, name) if bits <= 64 else None
    elif not all(type(item) is int and 0 <= item < 2**64 for item in batch):
        return None
    return np.asarray(batch, dtype=np.uint64)


def _differing_rows(a: NDArray[Any], b: NDArray[Any]) -> FloatArray:
    import numpy as np

    if b.ndim == 2:
        counts = (a != b).sum(axis=-1)
    elif hasattr(np, "bitwise_count"):
        counts = np.bitwise_count(a ^ b)
    else:  # numpy before 2.0
        octets = (a ^ b).view(np.uint8).reshape(len(b), 8)
        counts = np.unpackbits(octets, axis=-1).sum(axis=-1)
    return np.asarray(counts, dtype=np.float64)


def hamming_with(*, bits: int = 64) -> Measure:
    """The Hamming distance of ints of this width, which has a part in their similarity, and in what bits a negative one has."""
    check_int("bits", bits, 1, remedy="give the width of the ints, 1 or more")
    kernel = _Hamming(bits)
    return Measure(
        name="hamming",
        about=f"the positions that differ (of ints the bits); the similarity is 1 - distance / length, of ints {bits}",
        read=kernel.read,
        distance_of=_differing,
        similarity_of=kernel.similarity_of,
        fast=kernel,
    )


hamming = hamming_with(bits=64)
