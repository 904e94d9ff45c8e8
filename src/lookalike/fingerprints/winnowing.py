"""Winnowing (Schleimer, Wilkerson, Aiken 2003): a few shingle hashes per text, chosen so that every shared run of at least
``k + window - 1`` tokens shares one of them. Each carries its place, so a match can be shown.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

from lookalike import _native
from lookalike.checks import check_int, check_workers, is_whole
from lookalike.errors import InputError
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.model import Passage, Span
from lookalike.recipe import MAX_NGRAM, Recipe, resolve
from lookalike.text.columns import column_length, in_place, joined
from lookalike.text.features import is_native, shingle_strings, string_hash
from lookalike.text.normalize import utf8
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import TokenStream, native_form, stream, tokenize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_WINDOW = 65536
WINDOW = 4  # shingles of which one is kept, where nobody says otherwise


class _Source(NamedTuple):
    """What the fingerprint was taken from: needed to extend shared shingles to whole passages."""

    tokens: TokenStream
    positions: memoryview  # the first token of each value


@dataclass(frozen=True, slots=True)
class Winnowing:
    """The kept hashes of a text and their spans, in order of place."""

    kind: ClassVar[str] = "winnowing"

    values: tuple[int, ...]
    spans: tuple[Span, ...]
    k: int
    recipe: str
    source: _Source | None = attribute(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.spans):
            raise InputError(f"winnowing fingerprint: {len(self.values)} values but {len(self.spans)} spans")
        if not self.values or (set(map(type, self.values)) == {int} and min(self.values) >= 0 and max(self.values) < 1 << 64):
            return  # the loop below, which finds the culprit, takes ten times as long
        for value in self.values:
            if not is_whole(value) or not 0 <= value < 1 << 64:
                raise InputError(f"winnowing value {value!r}: expected an integer of 64 bits")

    def __len__(self) -> int:
        return len(self.values)

    def similarity(self, other: Winnowing) -> float:
        """The Jaccard similarity of the kept hashes; two texts without any are alike."""
        check_pair(self, other)
        left, right = set(self.values), set(other.values)
        return len(left & right) / len(left | right) if left or right else 1.0

    def distance(self, other: Winnowing) -> float:
        return 1 - self.similarity(other)

    def containment(self, other: Winnowing) -> float:
        """The share of this text's kept hashes that the other has too."""
        check_pair(self, other)
        left = set(self.values)
        return len(left & set(other.values)) / len(left) if left else 1.0

    def passages(self, other: Winnowing) -> list[Passage]:
        """The fragments that both texts share, each as long as it goes, in order of their place on the left.

        Fingerprints made from texts extend every shared hash token by token in both directions. One that was read back
        (``from_dict``, ``from_bytes``) has no tokens any more: then neighbouring shared hashes are joined instead.
        """
        check_pair(self, other)
        if self.source is None or other.source is None:
            return _join_spans(self, other)
        return self._columns(self.source).passages(other._columns(other.source))

    def _columns(self, source: _Source) -> WinnowedTokens:
        return WinnowedTokens(source.tokens, memoryview(_buffer(self.values)), source.positions, self.k)

    def to_dict(self) -> dict[str, Any]:
        return {"values": list(self.values), "spans": [list(span) for span in self.spans], "k": self.k, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        values, spans = field(data, "values", cls.kind, list, tuple), field(data, "spans", cls.kind, list, tuple)
        try:
            places = tuple((int(start), int(end)) for start, end in spans)
        except (TypeError, ValueError):
            raise InputError("winnowing fingerprint: 'spans' should be pairs of integers") from None
        return cls(tuple(values), places, field(data, "k", cls.kind, int), field(data, "recipe", cls.kind, str))

    def to_bytes(self) -> bytes:
        count = len(self.values)
        places = [place for span in self.spans for place in span]
        return pack(self.kind, self.recipe, struct.pack(f"<H{count}Q{2 * count}I", self.k, *self.values, *places))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        if len(payload) < 2 or (len(payload) - 2) % 16:
            raise InputError(f"winnowing fingerprint: {len(payload)} bytes do not hold whole entries")
        count = (len(payload) - 2) // 16
        k, *numbers = struct.unpack(f"<H{count}Q{2 * count}I", payload)
        places = numbers[count:]
        return cls(tuple(numbers[:count]), tuple(zip(places[::2], places[1::2], strict=True)), k, recipe)


class WinnowedTokens(NamedTuple):
    """The same fingerprint as columns, for one comparison: a long text keeps a hundred thousand hashes, and nobody looks at each."""

    tokens: TokenStream
    values: memoryview
    positions: memoryview
    k: int

    def similarity(self, other: WinnowedTokens) -> float:
        left, right = (_native.sort_hashes(side.values, unique=True) for side in (self, other))
        common = _native.count_common(left, right)
        together = len(left) + len(right) - common
        return common / together if together else 1.0

    def passages(self, other: WinnowedTokens) -> list[Passage]:
        a, b = self.tokens, other.tokens
        runs = _native.passages(a.hashes, self.values, self.positions, b.hashes, other.values, other.positions, self.k)
        left, left_end, right, right_end = a.starts, a.ends, b.starts, b.ends
        spans = [((left[i], left_end[i + n - 1]), (right[k], right_end[k + n - 1])) for i, k, n in runs]
        return list(map(partial(tuple.__new__, Passage), spans))  # Passage(…) takes longer than all else


def winnowed_tokens(tokens: TokenStream, hashes: memoryview, recipe: Recipe) -> WinnowedTokens:
    """Of a text that is tokens and shingles already, with the usual window."""
    return WinnowedTokens(tokens, *_native.winnow_shingles(hashes, WINDOW), recipe.ngram)


def _buffer(values: Sequence[int]) -> array[int]:
    return array("Q", values)


def _join_spans(left: Winnowing, right: Winnowing) -> list[Passage]:
    """Shared hashes that follow each other on both sides, joined."""
    places: dict[int, list[int]] = {}
    for index, value in enumerate(right.values):
        places.setdefault(value, []).append(index)
    passages: list[Passage] = []
    expected = -1  # the entry on the right that continues the open passage
    for index, value in enumerate(left.values):
        found = places.get(value)
        if not found:
            expected = -1
            continue
        if expected in found:
            before = passages[-1]
            passages[-1] = Passage((before.left[0], left.spans[index][1]), (before.right[0], right.spans[expected][1]))
        else:
            expected = found[0]
            passages.append(Passage(left.spans[index], right.spans[expected]))
        expected += 1
    return passages


def _check(k: int, window: int) -> None:
    check_int("k", k, 1, MAX_NGRAM, f"choose 1 to {MAX_NGRAM} tokens")
    check_int("window", window, 1, MAX_WINDOW, f"choose 1 to {MAX_WINDOW} shingles")


def _resolve(recipe: Recipe | str | None, k: int | None, window: int) -> Recipe:
    chosen = resolve(recipe)
    chosen = chosen if k is None else chosen.replace(ngram=k)
    _check(chosen.ngram, window)
    if chosen.keywords is not None or chosen.stop_words is not None or chosen.weights != "count":
        raise InputError("winnowing needs every token in its place: use a recipe without keywords, stop words and weights")
    if chosen.normalize == "simhash-py":
        raise InputError("winnowing needs spans of the original text: use a recipe with normalize='fold' or 'none'")
    return chosen


def winnow(text: str, *, k: int | None = None, window: int = WINDOW, recipe: Recipe | str | None = None) -> Winnowing:
    """The winnowing fingerprint of a text. ``k`` tokens make a shingle (by default as many as the recipe's n-gram).

    >>> winnow("北京增值税电子普通发票.pdf", window=4, recipe="winnow-sha1").values
    (13896, 11496, 1534)
    """
    chosen = _resolve(recipe, k, window)
    if chosen.hash != "lookalike64":
        return _by_strings(text, chosen, window)
    return winnow_tokens(stream(text, chosen), shingles(text, chosen), chosen, window)


def winnow_tokens(tokens: TokenStream, hashes: memoryview, recipe: Recipe, window: int = WINDOW) -> Winnowing:
    """The fingerprint of a text that is tokens and shingles already."""
    values, positions = _native.winnow_shingles(hashes, window)
    reach = min(recipe.ngram, len(tokens.hashes)) - 1
    starts, ends = tokens.starts.tolist(), tokens.ends.tolist()[reach:]
    spans = tuple((starts[at], ends[at]) for at in positions)
    return Winnowing(tuple(values), spans, recipe.ngram, f"winnowing-{window}/{recipe.id}", _Source(tokens, positions))


def _by_strings(text: str, recipe: Recipe, window: int) -> Winnowing:
    """Recipes that hash each shingle's string, as other programs do."""
    hash_of = string_hash(recipe.hash)
    tokens = tokenize(text, recipe.tokenizer, recipe.normalize)
    hashes = array("Q", (hash_of(utf8(string)) & 0xFFFFFFFFFFFFFFFF for string in shingle_strings(text, recipe)))
    values, positions = _native.winnow_shingles(hashes, window)
    reach = min(recipe.ngram, len(tokens)) - 1
    spans = tuple((tokens[at].start, tokens[at + reach].end) for at in positions)
    return Winnowing(tuple(values), spans, recipe.ngram, f"winnowing-{window}/{recipe.id}", _Source(stream(text, recipe), positions))


class Winnowings(Sequence[Winnowing]):
    """The winnowing fingerprints of a column of texts, as arrays: those of text i are at ``offsets[i]:offsets[i + 1]``.

    An index or a loop gives ``Winnowing`` objects. They carry no tokens: their ``passages`` join neighbouring hashes.
    """

    def __init__(self, columns: _Columns, k: int, recipe: str) -> None:
        self.offsets, self.values, self.starts, self.ends = columns
        self.k = k
        self.recipe = recipe

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Winnowing: ...
    @overload
    def __getitem__(self, index: slice) -> list[Winnowing]: ...
    def __getitem__(self, index: int | slice) -> Winnowing | list[Winnowing]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = range(len(self))[index]  # an IndexError where it should be one
        here = slice(self.offsets[at], self.offsets[at + 1])
        spans = tuple(zip(self.starts[here].tolist(), self.ends[here].tolist(), strict=True))
        return Winnowing(tuple(self.values[here].tolist()), spans, self.k, self.recipe)


class _Columns(NamedTuple):
    offsets: NDArray[np.int64]
    values: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]


def winnows(
    texts: object, *, k: int | None = None, window: int = WINDOW, recipe: Recipe | str | None = None, workers: int = 1
) -> Winnowings:
    """The winnowing fingerprints of a column of texts."""

    column_length(texts)
    check_workers(workers)
    chosen = _resolve(recipe, k, window)
    columns = _by_kernel(texts, chosen, window, workers) if is_native(chosen) else _by_singles(texts, chosen, window)
    return Winnowings(columns, chosen.ngram, f"winnowing-{window}/{chosen.id}")


def _by_kernel(texts: object, recipe: Recipe, window: int, workers: int) -> _Columns:
    import numpy as np

    winnowed = _native.WinnowedTexts(*native_form(recipe), window, workers)
    for piece in in_place(texts):
        winnowed.add(*piece)
    values, starts, ends, offsets = (np.asarray(part) for part in winnowed.columns())
    return _Columns(offsets, values, starts, ends)


def _by_singles(texts: object, recipe: Recipe, window: int) -> _Columns:
    import numpy as np

    singles = [winnow(text, window=window, recipe=recipe) for piece in joined(texts) for text in piece.texts()]
    offsets = np.cumsum([0, *map(len, singles)], dtype=np.int64)
    spans = np.array([span for single in singles for span in single.spans], dtype=np.uint32).reshape(-1, 2)
    return _Columns(offsets, np.array([v for single in singles for v in single.values], dtype=np.uint64), spans[:, 0], spans[:, 1])
