"""The kernel of edits beside the slow version: the same segments, and as many characters of each kind."""

from __future__ import annotations

import random
from array import array

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
