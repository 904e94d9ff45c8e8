"""The kernel of edits beside the slow version: the same segments, and as many characters of each kind."""

from __future__ import annotations

import random
from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference_edits import segments_of

from lookalike import _native
from lookalike.comparison.edits import KINDS, _is_recognisable, edits
from lookalike.comparison.sides import Side

SENTENCES = [
    "The old man sat by the river and watched the boats.",
    "A boat came, then another; nobody said a word.",
    "In the evening the wind turned, and it began to rain.",
    "他在河边坐了很久，看着来往的船。",
    "傍晚起了风，然后下雨了。",
    "apples, pears and plums",
    "plums, the apples, pears",
    "ﬁne STRASSE straße 1,000 near-duplicate",
    "x",
]
WORDS = [
    "the",
    "a",
    "and",
    "river",
    "boat",
    ",",
    ".",
    ";",
    "河",
    "边",
    "雨",
    "。",
    "和",
    "ﬁne",
    "FINE",
    "\n",
    "42",
    "é",
    "\ud800",
    "\u00ad",
]


def assert_same(left: str, right: str) -> None:
    a, b = Side(left), Side(right)
    found = _native.EditedTokens(a.columns, b.columns)
    segments = found.segments([_is_recognisable(a, b, *sentence) for sentence in found.doubtful()], KINDS)
    expected = segments_of(left, right)
    assert segments[0] == [tuple(each) for each in expected.left]
    assert segments[1] == [tuple(each) for each in expected.right]
    assert [*segments[2:]] == [expected.left_characters, expected.right_characters]
    assert [*edits(left, right).left] == expected.left


def edited(draw: random.Random) -> tuple[str, str]:
    """A text of sentences and words, and the same after cuts, moves, insertions and changes of words."""
    pool = draw.sample(SENTENCES, draw.randrange(1, len(SENTENCES))) + draw.sample(WORDS, draw.randrange(1, len(WORDS)))
    before = [word for _ in range(draw.randrange(1, 60)) for word in draw.choice(pool).split(" ")]
    after = list(before)
    for _ in range(draw.randrange(10)):
        start, length, to = draw.randrange(len(before)), draw.randrange(25), draw.randrange(len(before))
        cut = after[start : start + length]
        after[start : start + length] = [draw.choice(WORDS) for _ in range(draw.randrange(5))]
        if draw.random() < 0.6:
            after[to:to] = cut
    return " ".join(before), draw.choice([" ", "\n", "  "]).join(after)


@given(st.integers(0, 2**32))
def test_edited_texts(seed: int) -> None:
    assert_same(*edited(random.Random(seed)))


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_texts(left: str, right: str) -> None:
    assert_same(left, right)


@pytest.mark.parametrize("seed", range(3))
def test_long_texts(seed: int) -> None:
    """Too long for one table: anchors, runs without number, and sentences that many others look like."""
    draw = random.Random(seed)
    halves = [edited(draw) for _ in range(25)]
    right = [half for _, half in halves]
    draw.shuffle(right)
    assert_same("\n".join(half for half, _ in halves), "\n".join(right))


@pytest.mark.parametrize(("left", "right"), [("a b " * 900, "b a " * 900), ("x, " * 700, "x; " * 700), ("", "a b c"), ("a. b. c.", "")])
def test_repetitive_and_empty_texts(left: str, right: str) -> None:
    assert_same(left, right)


def test_columns_that_do_not_fit() -> None:
    hashes, starts, ends, traits = array("Q", [1, 2]), array("I", [0, 2]), array("I", [1, 3]), bytes([2, 0, 2])
    right = hashes, starts, ends, traits
    for wrong in (
        (hashes, array("I", [0]), ends, traits),
        (hashes, starts, array("I", [1]), traits),
        (hashes, starts, ends, traits[:2]),
        (hashes, starts, ends, bytes(3)),
        (hashes, array("I", [0, 4]), ends, traits),
    ):
        with pytest.raises(ValueError, match=r"starts|traits|ends"):
            _native.EditedTokens(wrong, right)
        with pytest.raises(ValueError, match=r"starts|traits|ends"):
            _native.EditedTokens(right, wrong)
    with pytest.raises(TypeError):
        _native.EditedTokens((starts, hashes, ends, traits), right)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one for each doubtful sentence"):
        _native.EditedTokens(right, right).segments([True], KINDS)
    with pytest.raises(ValueError, match="one for each kind"):
        _native.EditedTokens(right, right).segments([], KINDS[1:])


# Each token as its hash and its traits; found by fuzzing. Equal tokens of both sides need not both separate clauses.
ONE_SIDE = (
    "30/7 31/31 31/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 31/7 21/0 15/0 0/0 10/10 10/5 8/0 27/10 5/15 0/0 10/10 10/10 8/0 10/10 10/31 7/0 21/14"
    " 7/0 3/0 27/23 23/0 7/0 21/14 7/0 3/0 27/23 22/0 7/0 21/20 7/0 31/27 23/0"
)
OTHER_SIDE = (
    "10/10 10/31 7/0 21/14 7/0 3/0 27/23 23/0 27/0 7/0 21/15 7/0 14/7 7/0 15/0 7/0 7/0 27/10 5/15 0/0 10/10 10/10 8/0 10/10 10/31 7/0"
    " 21/14 7/0 3/0 27/23 23/0 0/0"
)


def columns_of(tokens: str) -> tuple[array[int], array[int], array[int], bytes]:
    parts = [tuple(map(int, token.split("/"))) for token in tokens.split()]
    places = range(len(parts))
    ends = array("I", [2 * place + 1 for place in places])
    return (
        array("Q", [hash_ for hash_, _ in parts]),
        array("I", [2 * place for place in places]),
        ends,
        bytes([*(trait for _, trait in parts), 2]),
    )


@pytest.mark.parametrize("sides", [(ONE_SIDE, OTHER_SIDE), (OTHER_SIDE, ONE_SIDE)])
def test_no_token_is_moved_twice(sides: tuple[str, str]) -> None:
    found = _native.EditedTokens(columns_of(sides[0]), columns_of(sides[1]))
    for segments in found.segments([False for _ in found.doubtful()], KINDS)[:2]:
        spans = [span for _, span, _ in segments]
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
