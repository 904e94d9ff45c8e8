"""Edits: shares that add up, spans that cover both texts, and what the words kept, moved and reworded promise."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.edits import Edits, Segment, edits

WORDS = [
    "the",
    "a",
    ",",
    ".",
    "指",
    "纹",
    "ﬁne",
    "FINE",
    "straße",
    "x\u00ady",
    "😀",
    "é",
    "e\u0301",
    "漢",
    "\ud800",
    "of",
    "near-duplicate",
    "42",
]
PHRASE = "every shared run of tokens stands in both texts"
pieces = st.lists(st.sampled_from([*WORDS, PHRASE]), max_size=40)
any_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@st.composite
def edited_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same text after a few cuts, moves and insertions."""
    before = draw(pieces)
    after = list(before)
    for _ in range(draw(st.integers(0, 4))):
        start, length, to = (draw(st.integers(0, 40)) for _ in range(3))
        cut = after[start : start + length]
        after[start : start + length] = draw(st.lists(st.sampled_from(WORDS), max_size=4))
        if draw(st.booleans()):
            after[to:to] = cut
    space = draw(st.sampled_from([" ", "\n", "\u3000", "  "]))
    return " ".join(before), space.join(after)


pairs = st.one_of(edited_pairs(), st.tuples(any_text, any_text))


def is_counted(char: str) -> bool:
    """Letters, digits, punctuation and symbols; not what folds to nothing or to a space with a mark, such as a lone accent."""
    folded = la.fold(char)
    return unicodedata.category(char)[0] in "LNPS" and bool(folded) and not any(part.isspace() for part in folded)


def covered(text: str, segments: Sequence[Segment]) -> list[int]:
    times = [0] * len(text)
    for segment in segments:
        for place in range(*segment.span):
            times[place] += 1
    return times


def bare(text: str) -> str:
    return "".join(la.fold(text).split())


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_shares_add_up(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    assert found.kept + found.moved + found.reworded + found.deleted == pytest.approx(1.0 if found.left or not found.right else 0.0)
    assert all(0 <= share <= 1 for share in found.to_dict().values())
    assert (found.inserted > 0) == any(segment.kind == "inserted" for segment in found.right)


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_spans_cover_every_counted_character_once(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    for text, segments in zip(pair, (found.left, found.right), strict=True):
        times = covered(text, segments)
        assert set(times) <= {0, 1}
        assert all(times[place] or not is_counted(char) for place, char in enumerate(text) if not char.isspace())
        assert [segment.span for segment in segments] == sorted(segment.span for segment in segments)


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_kept_and_moved_spans_slice_to_equal_text(pair: tuple[str, str]) -> None:
    left, right = pair
    found = edits(left, right)
    for mine, theirs, segments in ((left, right, found.left), (right, left, found.right)):
        for segment in segments:
            if segment.kind in ("kept", "moved"):
                assert segment.partner is not None
                assert bare(mine[slice(*segment.span)]) == bare(theirs[slice(*segment.partner)])


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_partners_point_at_each_other(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    for kind in ("kept", "moved"):
        there = {(segment.partner, segment.span) for segment in found.right if segment.kind == kind}
        assert {(segment.span, segment.partner) for segment in found.left if segment.kind == kind} == there
    starts = {segment.span[0] for segment in found.right if segment.kind == "reworded"}
    assert {segment.partner[0] for segment in found.left if segment.kind == "reworded" and segment.partner} == starts & {
        segment.partner[0] for segment in found.left if segment.kind == "reworded" and segment.partner
    }
    assert all(segment.partner is None for segment in (*found.left, *found.right) if segment.kind in ("deleted", "inserted"))


@given(pairs)
@settings(max_examples=200, deadline=None)
def test_kept_runs_stand_in_the_same_order(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    partners = [segment.partner for segment in found.left if segment.kind == "kept"]
    assert partners == [segment.span for segment in found.right if segment.kind == "kept"]


@given(pairs.map(lambda pair: pair[0]))
@settings(max_examples=150, deadline=None)
def test_a_text_keeps_itself(text: str) -> None:
    found = edits(text, text)
    assert (found.kept, found.deleted, found.inserted, found.moved, found.reworded) == (1.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", {"kept": 1.0}),
        ("  \n", "\u3000", {"kept": 1.0}),
        ("", "new text", {"inserted": 1.0}),
        ("old text", "", {"deleted": 1.0}),
        ("\x00\u200b", "", {"kept": 1.0}),
        ("ＦＵＬＬ　width", "full width", {"kept": 1.0}),
        ("one two", "three four", {"deleted": 1.0, "inserted": 1.0}),
        ("one two", "one too", {"kept": 0.5, "reworded": 0.5}),
    ],
)
def test_edges(left: str, right: str, expected: dict[str, float]) -> None:
    assert {name: share for name, share in edits(left, right).to_dict().items() if share} == expected


def chinese(length: int, seed: int = 1) -> str:
    generator = random.Random(seed)
    return "".join(chr(generator.randint(0x4E00, 0x9FA5)) for _ in range(length))


@pytest.mark.parametrize("place", [0, 1, 149, 298, 299])
def test_one_changed_character_in_300_leaves_99_percent(place: int) -> None:
    text = chinese(300)
    changed = text[:place] + "〇" + text[place + 1 :]
    found = edits(text, changed)
    assert found.kept >= 0.99
    assert found.reworded == pytest.approx(1 / 300)


def paragraphs() -> list[str]:
    generator = random.Random(7)
    words = [f"{a}{b}" for a in ("read", "write", "print", "match", "text") for b in ("er", "s", "ing", "able", "")] + ["the", "of", "and"]
    return [" ".join(generator.choices(words, k=40)).capitalize() + "." for _ in range(6)]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("source", "target"), [(0, 5), (5, 0), (1, 3), (4, 2)])
def test_a_moved_paragraph_is_moved(language: str, source: int, target: int) -> None:
    before = paragraphs() if language == "en" else [chinese(80, seed) for seed in range(6)]
    after = list(before)
    after.insert(target, after.pop(source))
    left, right = "\n\n".join(before), "\n\n".join(after)
    found = edits(left, right)
    assert found.deleted == found.inserted == found.reworded == 0
    moved = [left[slice(*segment.span)] for segment in found.left if segment.kind == "moved"]
    assert moved == [before[source]]


def test_a_move_is_whole_although_chance_words_agree_on_its_way() -> None:
    one, moved, two, replaced, three = paragraphs()[:5]
    left, right = "\n".join((one, moved, two, replaced, three)), "\n".join((one, two, f"{chinese(30)} {replaced[:60]}", moved, three))
    found = edits(left, right)
    spans = [segment.span for segment in found.left if segment.kind == "moved"]
    assert any(moved.rstrip(".") in left[slice(*span)] for span in spans)


def summary(found: Edits) -> dict[str, float]:
    return {name: round(share, 2) for name, share in found.to_dict().items() if round(share, 2)}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("ab" * 500_000, "ba" * 500_000, {"deleted": 1.0, "inserted": 1.0}),  # one word each
        ("ab " * 300_000, "ba " * 300_000, {"deleted": 1.0, "inserted": 1.0}),
        ("a b " * 250_000, "b a " * 250_000, {"kept": 1.0}),
        ("你好" * 250_000, "好你" * 250_000, {"kept": 1.0}),
        ("a" * 1_000_000, "a" * 999_999, {"deleted": 1.0, "inserted": 1.0}),
        ("的" * 1_000_000, "的" * 900_000, {"kept": 0.9, "deleted": 0.1}),
        ("的" * 300_000 + "人" + "的" * 300_000, "的" * 600_000 + "大" + "的" * 1_000, {"kept": 1.0}),
    ],
)
def test_repetitive_texts(left: str, right: str, expected: dict[str, float]) -> None:
    assert summary(edits(left, right)) == expected


def test_ten_megabytes_a_side() -> None:
    generator = random.Random(5)
    vocabulary = [f"{word}{number}" for word in ("alpha", "beta", "gamma", "delta") for number in range(5_000)]
    before = generator.choices(vocabulary, k=1_100_000)
    after = list(before)
    for place in range(500, len(after), 1_000):
        after[place] = "changed"
    after = after[:200_000] + after[300_000:] + after[200_000:300_000]
    left, right = " ".join(before), " ".join(after)
    assert min(len(left), len(right)) > 10_000_000
    found = edits(left, right)
    assert found.reworded == pytest.approx(0.001, rel=0.2)
    assert found.moved == pytest.approx(1 / 11, rel=0.05)
    assert found.kept == pytest.approx(10 / 11, rel=0.01)


def test_many_moves_take_no_quadratic_time() -> None:
    generator = random.Random(6)
    lines = [" ".join(f"{generator.getrandbits(40):x}" for _ in range(6)) for _ in range(40_000)]
    shuffled = generator.sample(lines, len(lines))
    found = edits("\n".join(lines), "\n".join(shuffled))
    assert found.kept + found.moved > 0.99
    assert found.moved > 0.9


def test_segments_for_json() -> None:
    left, right = "one two three four five", "one two tree four five six"
    found = la.compare(left, right).to_dict()["segments"]
    assert [(each["kind"], left[slice(*each["span"])]) for each in found["left"]] == [
        ("kept", "one two"),
        ("reworded", "three"),
        ("kept", "four five"),
    ]
    assert [(each["kind"], right[slice(*each["span"])], each["partner"]) for each in found["right"]][-1] == ("inserted", "six", None)
    assert right[slice(*found["left"][1]["partner"])] == "tree"
