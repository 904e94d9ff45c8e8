"""Pages by their tags: the features of the design, both ways of pairing, and the kernel against a slow reference."""

from __future__ import annotations

from array import array
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import _native
from lookalike.pages import alignment
from lookalike.pages.matching import match_tags
from lookalike.pages.strings import lexical
from lookalike.pages.tags import TagSimilarity, TagWeights

MASK = 2**64 - 1


def body(html: str) -> list[la.Element]:
    return la.page(html).body


def one(html: str) -> la.Element:
    return body(html)[0]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("<p>tea</p>", "<p>tea</p>", 1.0),
        ("<p>tea</p>", "<h1>tea</h1>", 2 / 3),  # attributes and strings agree
        ("<p></p>", "<div></div>", 2 / 3),
        ("<p>tea</p>", "<p></p>", 2 / 3),
        ("<p id=a>tea</p>", "<p>tea</p>", 2 / 3),  # no common key
        ("<p id=a>x</p>", "<p id=a class=b>x</p>", (1 + (0.5 * 1 / 2 + 0.5) + 1) / 3),
        ("<p class='a b'>x</p>", "<p class='b c'>x</p>", (1 + (0.5 + 0.5 * 1 / 3) + 1) / 3),
        ("<p title=abcd>x</p>", "<p title=abcf>x</p>", (1 + (0.5 + 0.5 * 0.75) + 1) / 3),
        ("<p>abcd</p>", "<p>abcf</p>", (1 + 1 + 0.75) / 3),
        ("abcd", "abcf", 0.75),
        ("<p>tea</p>", "tea", 0.0),
    ],
)
def test_a_tag_is_name_attributes_and_string(left: str, right: str, expected: float) -> None:
    similarity = TagSimilarity()
    assert similarity(one(left), one(right)) == pytest.approx(expected)
    assert similarity(one(right), one(left)) == pytest.approx(expected)


def test_values_of_different_types_have_nothing_in_common() -> None:
    assert TagSimilarity().of_values("a", ["a"]) == 0.0
    assert TagSimilarity().of_values([], []) == 1.0


def test_weights_and_strings_can_be_chosen() -> None:
    left, right = one("<p id=a>tea</p>"), one("<b id=a>tee</b>")
    assert TagSimilarity(weights=TagWeights(name=0, attrs=1, string=0))(left, right) == 1.0
    assert TagSimilarity(weights=TagWeights(name=1, attrs=0, string=0))(left, right) == 0.0
    assert TagSimilarity(strings=lambda a, b: 0.25)(left, right) == pytest.approx((0 + 1 + 0.25) / 3)
    assert TagSimilarity(strings="levenshtein")(left, right) == pytest.approx((0 + 1 + 2 / 3) / 3)
    with pytest.raises(la.UnknownName):
        TagSimilarity(strings="no such measure")
    with pytest.raises(la.InputError, match="strings=3"):
        TagSimilarity(strings=3)  # type: ignore[arg-type]
    for wrong in ({"name": -1}, {"name": 0, "attrs": 0, "string": 0}, {"keys": 2}, {"string": True}):
        with pytest.raises(la.InputError):
            TagWeights(**wrong)


def test_long_strings_are_compared_in_time() -> None:
    left = " ".join(map(str, range(40_000)))
    assert lexical(left, left + " more") > 0.99
    assert lexical(left, "x" * len(left)) < 0.01


def direct(left: la.Page, right: la.Page) -> float:
    """The design to the letter, with plain loops and the lexical string similarity."""

    def strings(a: str | None, b: str | None) -> float:
        return float(a is b) if a is None or b is None else la.measures.ratio.similarity(a, b)

    def values(a: Any, b: Any) -> float:
        if type(a) is not type(b):
            return 0.0
        if isinstance(a, str):
            return strings(a, b)
        return len(set(a) & set(b)) / len(set(a) | set(b)) if a or b else 1.0

    def attributes(a: dict[str, Any], b: dict[str, Any]) -> float:
        if not a and not b:
            return 1.0
        common = [key for key in a if key in b]
        if not common:
            return 0.0
        return (len(common) / len({*a, *b}) + sum(values(a[key], b[key]) for key in common) / len(common)) / 2

    def tags(a: la.Element, b: la.Element) -> float:
        if a.is_text and b.is_text:
            return strings(a.string, b.string)
        if a.is_text or b.is_text:
            return 0.0
        return ((a.name == b.name) + attributes(a.attrs, b.attrs) + strings(a.string, b.string)) / 3

    def part(a: list[la.Element], b: list[la.Element]) -> float:
        return sum(map(tags, a, b)) / max(len(a), len(b)) if a or b else 1.0

    return 0.5 * part(left.head, right.head) + 0.5 * part(left.body, right.body)


NAMES = st.sampled_from(["p", "b", "h1", "div"])
ATTRIBUTES = st.sampled_from(["", " id=a", " class='a b'", " class=b id=c", " title=abc"])
STRINGS = st.sampled_from(["", "tea", "green tea", "coffee", "茶"])
PIECES = st.builds(lambda name, attributes, string: f"<{name}{attributes}>{string}</{name}>", NAMES, ATTRIBUTES, STRINGS)
PAGES = st.builds(
    lambda title, pieces: f"<title>{title}</title><body>{''.join(pieces)}", st.sampled_from(["", "A", "B"]), st.lists(PIECES, max_size=12)
)


@given(PAGES, PAGES)
def test_order_is_the_design_to_the_letter(left: str, right: str) -> None:
    a, b = la.page(left), la.page(right)
    assert match_tags(a, b, align="order").score == pytest.approx(direct(a, b))


@given(PAGES, PAGES)
def test_best_is_never_worse_and_symmetric_pairs_ascend(left: str, right: str) -> None:
    a, b = la.page(left), la.page(right)
    found = match_tags(a, b)
    assert found.score >= match_tags(a, b, align="order").score - 1e-12
    assert 0 <= found.score <= 1
    for part in (found.head, found.body):
        for (i, k), (j, m) in pairwise(part.pairs):
            assert i < j
            assert k < m
        assert sorted([*part.gone, *(i for i, _ in part.pairs)]) == list(range(len(part.left)))
        assert sorted([*part.new, *(k for _, k in part.pairs)]) == list(range(len(part.right)))
    assert match_tags(a, a).score == 1.0


def test_one_inserted_tag_does_not_destroy_the_score() -> None:
    rows = "".join(f"<p>row {number}</p>" for number in range(50))
    left, right = la.page(rows), la.page(f"<div>new</div>{rows}")
    best, order = match_tags(left, right), match_tags(left, right, align="order")
    assert best.body.score == pytest.approx(100 / 102)
    assert best.body.new == [0, 1]
    assert best.body.gone == []
    assert order.body.score < 0.95
    assert best.to_dict()["body"] == {"score": best.body.score, "left": 100, "right": 102, "equal": 100, "changed": 0, "gone": 0, "new": 2}


def test_weight_of_the_head() -> None:
    left, right = la.page("<title>A</title><p>x</p><p>y</p>"), la.page("<title>B</title><p>x</p><p>y</p>")
    head = match_tags(left, right).head.score
    assert match_tags(left, right).score == pytest.approx(0.5 * head + 0.5)
    assert match_tags(left, right, weight="tags").score == pytest.approx(2 / 6 * head + 4 / 6)
    assert match_tags(left, right, weight=1).score == pytest.approx(head)
    for wrong in ("heavy", 2, -0.1, True):
        with pytest.raises(la.InputError, match="weight="):
            match_tags(left, right, weight=wrong)
    with pytest.raises(la.InputError, match="align="):
        match_tags(left, right, align="worst")


def test_large_pages_are_paired_by_what_they_share(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"<p id=r{number}>row {number}</p>" for number in range(300)]
    left = la.page("".join(rows))
    right = la.page("".join([*rows[:100], "<h2>new</h2>", *rows[100:200], "<p id=x>changed</p>", *rows[201:]]))
    whole = match_tags(left, right)
    monkeypatch.setattr(alignment, "ANCHORED_FROM", 10)
    assert match_tags(left, right).score == pytest.approx(whole.score)
    monkeypatch.setattr(alignment, "MAX_CELLS", 2)
    cut = match_tags(left, right)
    assert "paired in order" in cut.notes[0]
    assert cut.score > 0.9


# The kernel, slowly.


def signature(features: list[int]) -> set[int]:
    return {reference.mix(feature & MASK) >> 56 for feature in features}


def string_signature(text: str) -> set[int]:
    window, features = 0, []
    for byte in text.encode():
        window = (window << 8 | byte) & 0xFFFFFF
        features.append(window + 1)
    return signature([*features, ((window << 8) & 0xFFFFFF) + 1] if text else [])


def word_signature(lines: str) -> set[int]:
    return signature([reference.token_hash(word.encode()) for word in lines.split("\n") if word])


def shares(a: set[int], b: set[int]) -> float:
    if not a and not b:
        return 1.0
    chance, mean, common = len(a) * len(b) / 256, (len(a) + len(b)) / 2, len(a & b)
    return 0.0 if common <= chance or mean <= chance else min(1.0, (common - chance) / (mean - chance))


Thing = tuple[int, int, str, str]


def resemblance(a: Thing, b: Thing) -> float:
    if a == b:
        return 1.0
    if (a[1] ^ b[1]) & 1:
        return 0.0
    strings = 0.0 if (a[1] ^ b[1]) & 2 else shares(string_signature(a[3]), string_signature(b[3]))
    if a[1] & 1:
        return strings
    return ((a[0] == b[0]) + shares(word_signature(a[2]), word_signature(b[2])) + strings) / 3


def largest_sum(left: list[Thing], right: list[Thing]) -> float:
    table = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j], table[i][j] + resemblance(a, b))
    return table[-1][-1]


def align(left: list[Thing], right: list[Thing]) -> list[tuple[int, int]]:
    distinct = sorted({*left, *right})
    rows = {thing: row for row, thing in enumerate(distinct)}
    found = _native.align_tags(
        array("I", [rows[thing] for thing in left]), array("I", [rows[thing] for thing in right]), array("I", [thing[0] for thing in distinct]),
        bytes(thing[1] for thing in distinct), *_native.pack_strings([thing[2] for thing in distinct]),
        *_native.pack_strings([thing[3] for thing in distinct]), 1.0, 1.0, 1.0,
    )  # fmt: skip
    return list(zip(*found, strict=True))


THINGS = st.lists(
    st.builds(
        lambda name, flags, attributes, string: (name, flags, attributes, string if flags & 2 else ""),
        st.integers(0, 2), st.integers(0, 3), st.sampled_from(["", "id\nid=a", "id\nid=b", "class\nclass=x\nclass=y"]),
        st.sampled_from(["", "a", "green tea", "green teas", "black coffee " * 20, "绿茶", "红茶"]),
    ),
    max_size=8,
)  # fmt: skip


@given(THINGS, THINGS)
def test_the_kernel_finds_the_largest_sum(left: list[Thing], right: list[Thing]) -> None:
    pairs = align(left, right)
    assert all(i < j and k < m for (i, k), (j, m) in pairwise(pairs))
    # A resemblance is rounded to 32,768ths there.
    assert sum(resemblance(left[i], right[k]) for i, k in pairs) == pytest.approx(largest_sum(left, right), abs=8 / 32768)


def test_the_kernel_checks_what_it_gets() -> None:
    none, text, ends = array("I"), b"", array("q", [0])
    empty = (none, b"", text, ends, text, ends)
    assert [list(view) for view in _native.align_tags(none, none, *empty, 1.0, 1.0, 1.0)] == [[], []]
    one_tag = (array("I", [0]), b"\0", text, array("q", [0, 0]), text, array("q", [0, 0]))
    zero = array("I", [0])
    for arguments, message in [
        ((array("I", [1]), zero, *one_tag, 1.0, 1.0, 1.0), "beyond the table"),
        ((zero, zero, array("I", [0]), b"", *one_tag[2:], 1.0, 1.0, 1.0), "one per tag"),
        ((zero, zero, *one_tag[:3], array("q", [0, 5]), *one_tag[4:], 1.0, 1.0, 1.0), "offsets"),
        ((zero, zero, *one_tag, float("nan"), 1.0, 1.0), "weights"),
        ((zero, zero, *one_tag, 0.0, 0.0, 0.0), "above 0"),
        ((array("I", [0]) * 5000, array("I", [0]) * 5000, *one_tag, 1.0, 1.0, 1.0), "too many"),
    ]:
        with pytest.raises(ValueError, match=message):
            _native.align_tags(*arguments)
    with pytest.raises(TypeError):
        _native.align_tags(array("d", [0]), zero, *one_tag, 1.0, 1.0, 1.0)


def test_lexical_agrees_with_difflib_on_what_is_equal() -> None:
    assert lexical("", "") == SequenceMatcher(None, "", "").ratio() == 1.0
    assert lexical("abc", "xyz") == SequenceMatcher(None, "abc", "xyz").ratio() == 0.0


def test_types_of_tags_have_weights_of_their_own() -> None:
    one = la.page("<p class=a>the same text here</p><img src=a.png alt=x>")
    two = la.page("<p class=b>the same text here</p><img src=a.png alt=y>")
    plain = la.match_tags(one, two)
    only_text = la.TagWeights(by_tag={"p": la.TagWeights(0, 0, 1)})
    found = la.match_tags(one, two, weights=only_text)
    texts = {one.body[left].name: value for (left, _), value in zip(found.body.pairs, found.body.similarities, strict=True)}
    assert texts["p"] == 1
    assert texts["img"] < 1
    assert found.score > plain.score
    # Weights that say the same for a type as for all change nothing, though another code computes them.
    same = la.TagWeights(by_tag={"p": la.TagWeights(), "img": la.TagWeights()})
    assert la.match_tags(one, two, weights=same).score == pytest.approx(plain.score)


@pytest.mark.parametrize("by_tag", [1, {"p": 1}, {1: la.TagWeights()}, {"p": la.TagWeights(by_tag={"a": la.TagWeights()})}])
def test_wrong_weights_of_types_are_refused(by_tag: object) -> None:
    with pytest.raises(la.InputError, match="by_tag"):
        la.TagWeights(by_tag=by_tag)  # type: ignore[arg-type]
