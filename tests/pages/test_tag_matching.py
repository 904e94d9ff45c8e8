"""Tags compared in the native core against the same in Python, to the last bit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import lookalike as la
from lookalike import _native
from lookalike.pages import alignment, matching, strings
from lookalike.pages.matching import PartMatch, match_tags
from lookalike.pages.strings import lexical
from lookalike.pages.tags import TagWeights

LIMITS = (4_000_000, 100_000, 1 << 26)


def slowly(left: str, right: str) -> float:
    """The default, as a function of the caller's: it is compared tag by tag in Python."""
    return lexical(left, right)


def compared(part: PartMatch) -> tuple[list[tuple[int, int]], list[float], str | None]:
    return part.pairs, part.similarities, part.note


def both(left: str, right: str, **options: Any) -> None:
    quick, slow = (match_tags(la.page(left), la.page(right), strings=chosen, **options) for chosen in ("lexical", slowly))
    assert compared(quick.head) == compared(slow.head)
    assert compared(quick.body) == compared(slow.body)
    assert quick.score == slow.score


NAMES = st.sampled_from(["p", "b", "h1", "div", "a", "td"])
VALUES = st.sampled_from(["", "a", "a b", "b a", "c\u00a0d", "abc def", "茶 水", "a&amp;b"])
KEYS = st.sampled_from(["id", "class", "title", "href", "rel", "headers", "data-x"])
WORDS = st.sampled_from(
    ["", "tea", "green tea", "green teas", "coffee and cake", "茶", "绿茶和红茶", "é", "e\u0301", "x" * 70, "xy" * 70, " ", "😀 tea"]
)
ATTRIBUTES = st.dictionaries(KEYS, VALUES, max_size=3).map(lambda found: "".join(f" {key}='{value}'" for key, value in found.items()))
TAGS = st.builds(lambda name, attributes, string: f"<{name}{attributes}>{string}</{name}>", NAMES, ATTRIBUTES, WORDS)
PAGES = st.builds(
    lambda title, pieces: f"<title>{title}</title><body>{''.join(pieces)}", WORDS, st.lists(st.one_of(TAGS, WORDS), max_size=14)
)
WEIGHTS = st.builds(
    TagWeights,
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.3, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
)


@given(PAGES, PAGES, st.sampled_from(["best", "order"]), WEIGHTS)
def test_native_and_python_agree(left: str, right: str, align: str, weights: TagWeights) -> None:
    both(left, right, align=align, weights=weights)


@given(st.lists(TAGS, min_size=5, max_size=25), st.data())
def test_they_agree_on_edited_pages(pieces: list[str], data: st.DataObject) -> None:
    edited = list(pieces)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(edited)))
        edited[place : place + data.draw(st.integers(0, 2))] = data.draw(st.lists(TAGS, max_size=2))
    both("".join(pieces), "".join(edited))


@pytest.mark.parametrize(("anchored", "cells"), [(10, 4_000_000), (10, 60), (10, 2), (4_000_000, 4_000_000)])
def test_they_agree_within_limits(monkeypatch: pytest.MonkeyPatch, anchored: int, cells: int) -> None:
    monkeypatch.setattr(alignment, "ANCHORED_FROM", anchored)
    monkeypatch.setattr(alignment, "MAX_CELLS", cells)
    rows = [f"<p id=r{number}>row {number % 7}</p>" for number in range(40)]
    both("".join(rows), "".join([*rows[:10], "<h2>new</h2>", *rows[12:25], *rows[30:], "<p>end</p>", *rows[:5]]))
    both("".join(rows), "".join(reversed(rows)))


def test_they_agree_on_long_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (matching, strings):
        monkeypatch.setattr(module, "MAX_CELLS", 100)
    both("<p>one two three four five six</p>", "<p>one two 3 four five six seven</p><b title='many words in one'>x</b>")
    both("<p>" + "ab" * 30, "<p>" + "." * 60)


def ratio(left: str, right: str) -> float:
    """The similarity of two texts that stand alone in their pages."""
    tables = []
    for text in (left, right):
        builder = _native.PageBuilder(10)
        builder.start_element("html", ())
        builder.start_element("body", ())
        builder.characters(text)
        tables.append(builder.finish())
    return _native.match_tags(*tables, True, False, 1.0, 1.0, 1.0, 0.5, *LIMITS)[0][2][0]


STRINGS = st.text(st.sampled_from("abcé茶😀 "), min_size=1, max_size=200).filter(lambda text: not text.isspace())


@given(STRINGS, STRINGS)
def test_strings_are_compared_as_rapidfuzz_does(left: str, right: str) -> None:
    assert ratio(left, right) == Indel.normalized_similarity(left, right)


@given(STRINGS, st.integers(0, 200), st.text("ab茶", max_size=5))
def test_edited_strings_too(text: str, place: int, new: str) -> None:
    edited = f"{text[:place]}{new}{text[place + 2 :]}x"
    assert ratio(text, edited) == Indel.normalized_similarity(text, edited)


def test_the_kernel_checks_its_arguments() -> None:
    table = la.page("<p>x").tree.table
    for wrong, message in [
        ((-1.0, 1.0, 1.0, 0.5, *LIMITS), "weights"),
        ((0.0, 0.0, 0.0, 0.5, *LIMITS), "above 0"),
        ((1.0, 1.0, 1.0, 2.0, *LIMITS), "key_weight"),
        ((1.0, 1.0, 1.0, float("nan"), *LIMITS), "key_weight"),
        ((1.0, 1.0, 1.0, 0.5, 1 << 40, 1, 1), "max_cells"),
    ]:
        with pytest.raises(ValueError, match=message):
            _native.match_tags(table, table, True, True, *wrong)
    with pytest.raises(TypeError):
        _native.match_tags(table, None, True, True, 1.0, 1.0, 1.0, 0.5, *LIMITS)
