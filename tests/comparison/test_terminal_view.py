"""The changes of a text on a terminal: markers or colours, bounded lines, true widths."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.reports.escaping import columns

COLOUR = re.compile(r"\x1b\[[\d;]*m")
words = st.lists(st.sampled_from(["the", "fox", "相似", "的", "。", "\n", "\x1b[2J", "\x07", "\ud800", "x" * 90, "\u3000"]), max_size=60)
texts = words.map(" ".join)


def view(left: str, right: str, **options: Any) -> str:
    return la.compare(left, right, measures=[]).to_terminal(**options)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("the same", "the same", ""),
        ("", "", ""),
        ("old text", "", "A 0: [-old text-]"),
        ("", "new", "A 0: {+new+}"),
        ("the quick brown fox jumps", "the quick red fox jumps", "A 10: the quick [-brown-]{+red+} fox jumps"),
        ("近重复检测的核心是指纹。", "近重复检测的核心是签名。", "A 9: 近重复检测的核心是[-指纹-]{+签名+}。"),
        ("one two three four five.\nsix", "one two three four five.\n", "A 25: one two three four five.⏎[-six-]"),
        ("keep \x1b[2J old \x00 tail of it", "keep \x1b[2J new \x00 tail of it", "A 10: keep \\x1b[2J [-old-]{+new+} … tail of it"),
    ],
)
def test_plain_markers(left: str, right: str, expected: str) -> None:
    assert view(left, right) == expected


def test_a_move_names_where_it_went() -> None:
    moved = "a paragraph that was moved as it is"
    left = f"{moved}. Then comes the rest of the text, which is longer than that."
    right = f"Then comes the rest of the text, which is longer than that. {moved}."
    assert f"[>{moved}.>](to B 60)" in view(left, right, width=200)


def test_words_inside_moved_text_are_marked_where_it_was() -> None:
    rest = "All members bring their badges. Coffee is served at ten."
    left, right = f"The committee meets on Tuesday in the hall. {rest}", f"{rest} The committee meets on Friday in the hall."
    assert view(left, right, width=200) == (
        f"A 0: [>The committee meets on>] [-Tuesday-]{{+Friday+}} [>in the hall.>](to B {len(rest) + 1}) {rest}"
    )


def test_a_mark_that_went_along_has_no_place() -> None:
    shown = view("请带上：帐篷、睡袋、手电筒、水壶。", "请带上：水壶、帐篷、睡袋、手电筒。", width=200)
    assert "[>水壶>](to B 4)" in shown, "the word that moved has one"
    assert "、>](" not in shown


def test_colours_come_with_another_sign_and_end_on_every_line() -> None:
    shown = view("the quick brown fox " * 3, "the quick red fox " * 3, width=30, colours=True)
    assert "\x1b[31;9mbrown\x1b[0m\x1b[32;4mred\x1b[0m" in shown
    for line in shown.splitlines():
        codes = COLOUR.findall(line)
        assert not codes or codes[-1] == "\x1b[0m"


@given(texts, texts, st.integers(20, 60), st.booleans(), st.integers(1, 12))
@settings(max_examples=200, deadline=None)
def test_lines_are_bounded_and_hold_no_control_characters(left: str, right: str, width: int, colours: bool, lines: int) -> None:
    shown = view(left, right, width=width, colours=colours, lines=lines)
    assert len(shown.splitlines()) <= lines
    for line in shown.splitlines():
        bare = COLOUR.sub("", line) if colours else line
        assert bare.isprintable()
        assert columns(bare) <= width


def test_what_is_not_shown_is_counted() -> None:
    old = [f"word{i} stays where it is and this goes on for a while until number {i} is" for i in range(100)]
    left, right = (" ".join(f"{piece} {end}." for piece in old) for end in ("before", "after"))
    shown = view(left, right, lines=10)
    assert 5 <= len(shown.splitlines()) <= 10
    seen = shown.count("[-") + shown.count("{+")
    assert shown.splitlines()[-1] == f"… {200 - seen} more changes"
    assert "more change" not in view(left, right, lines=10_000)


def test_a_long_stretch_is_shortened() -> None:
    shown = view("start " + "gone " * 1_000 + "end", "start end", width=80)
    assert "4,999 characters" in shown
    assert len(shown.splitlines()) <= 5


def test_files_and_records_have_no_changes() -> None:
    assert la.compare({"a": 1}, {"a": 2}).to_terminal() == ""


@pytest.mark.parametrize("options", [{"width": 0}, {"width": "80"}, {"lines": 0}, {"lines": True}])
def test_bad_sizes_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(la.InputError):
        view("a", "b", **options)
