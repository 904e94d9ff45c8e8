"""What tokens are and begin: the kernel beside the obvious loop."""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike import _native
from lookalike.comparison.sides import _MARKS, ARTICLES, SENTENCE_ENDS, Side
from lookalike.text.forms.rewriting import code_points, from_code_points
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import token_counts, token_texts

SENTENCE, LINE, SEPARATOR, BEHIND, ARTICLE = 1, 2, 4, 8, 16
PIECES = [
    "the",
    "The",
    "a",
    "an",
    "AND",
    "or",
    "和",
    "与",
    "中",
    "é",
    "½",
    "_",
    "x1",
    "3",
    ",",
    ".",
    "-",
    "—",
    "…",
    "。",
    "．",
    "、",
    "\n",
    " ",
    "\u0301",
    "\u200b",
    "\ud800",
    "🙂",
]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=30)


def traits_by_search(side: Side) -> bytearray:
    """Every mark is looked up by a regular expression, and what is a letter Python says."""
    traits = bytearray(len(side) + 1)
    for found in _MARKS.finditer(side.text):
        token = bisect_left(side.starts, found.start())
        if found[0] == "\n":
            traits[token] |= LINE
        elif token < len(side) and (side.starts[token], side.ends[token]) == found.span():
            start, end = found.span()
            inside = (
                side.text[start] <= "\x7f"
                and start > 0
                and end < len(side.text)
                and side.text[start - 1].isalnum()
                and side.text[end].isalnum()
            )
            if found[0].lower() in ARTICLES:
                traits[token] |= ARTICLE
            elif not inside:
                traits[token] |= SEPARATOR
                traits[token + 1] |= BEHIND | (SENTENCE if found[0] in SENTENCE_ENDS else 0)
    traits[0] |= LINE
    traits[len(side)] |= LINE
    return traits


@given(texts)
@example("中,文 a,b 1,000 x,é")
@example("theé éthe the_ _the 中and文 and")
@example("…a…")
def test_traits(text: str) -> None:
    side = Side(text)
    assert side.traits == traits_by_search(side)


@given(texts)
def test_counted_tokens(text: str) -> None:
    expected = Counter(token_texts(text))
    assert token_counts(text) == expected
    assert list(token_counts(text)) == list(expected)  # in the order of first occurrence too


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_sorted_hashes(values: list[int]) -> None:
    assert _native.sort_hashes(array("Q", values)).tolist() == sorted(values)
    assert _native.sort_hashes(array("Q", values), unique=True).tolist() == sorted(set(values))


@pytest.mark.parametrize("bits", [64, 40, 16, 3])
def test_many_sorted_hashes(bits: int) -> None:
    """Enough to be counted instead of compared: spread evenly, and such as no hash makes them."""
    draw = random.Random(bits)
    values = [draw.getrandbits(bits) << draw.choice([0, 64 - bits]) for _ in range(6000)]
    assert _native.sort_hashes(array("Q", values)).tolist() == sorted(values)
    assert _native.sort_hashes(array("Q", values), unique=True).tolist() == sorted(set(values))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=20),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=6),
)
def test_characters_inside_spans(tokens: list[tuple[int, int]], drawn: list[tuple[int, int]]) -> None:
    """Tokens with white space between them, and spans that may overlap: what begins inside one is inside."""
    starts, ends, at = array("I"), array("I"), 0
    for space, size in tokens:
        starts.append(at + space)
        at += space + size
        ends.append(at)
    spans = sorted((start, start + size) for start, size in drawn)
    inside = sum(end - start for start, end in zip(starts, ends, strict=True) if any(a <= start < b for a, b in spans))
    found = _native.covered_characters(starts, ends, array("I", [a for a, _ in spans]), array("I", [b for _, b in spans]))
    assert found == (inside, sum(size for _, size in tokens))


@given(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=30),
    st.dictionaries(st.integers(0, 200), st.integers(0, 0x10FFFF), max_size=9),
)
def test_code_points(text: str, table: dict[int, int]) -> None:
    mapped = array("I", [table.get(point, point) for point in range(201)])
    found = _native.map_code_points(code_points(text), mapped)
    assert from_code_points(found) == text.translate(table)
    assert _native.count_differences(code_points(text), found) == sum(a != b for a, b in zip(text, text.translate(table), strict=True))


def test_columns_of_different_lengths() -> None:
    one, two = array("I", [1]), array("I", [1, 2])
    for call in (
        lambda: _native.count_differences(one, two),
        lambda: _native.covered_characters(one, two, one, one),
        lambda: _native.covered_characters(one, one, one, two),
    ):
        with pytest.raises(ValueError, match="expected as"):
            call()


def test_spans_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="as many as starts"):
        _native.token_traits(b"a b", array("I", [0, 2]), array("I", [1]))
    # Spans that lie, out of order or behind the end: nothing is read beyond the text.
    traits, doubtful = _native.token_traits(utf8("a。"), array("I", [5, 0, 7]), array("I", [1, 9, 2]))
    assert len(traits) == 4
    assert not len(doubtful)
