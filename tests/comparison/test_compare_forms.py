"""compare without forms: the score, the places, the notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.forms import IGNORED_FORMS, FormedPair
from lookalike.errors import InputError
from lookalike.model import Passage
from lookalike.text.forms import FORMS

SIMPLIFIED, TRADITIONAL = "我们后来在网络上发现了头发的历史", "我們後來在網絡上發現了頭髮的歷史"


def test_what_nobody_sees_and_the_script_do_not_count() -> None:
    assert la.compare("a café by the sea", "a cafe\u0301 by\u200b the sea").score == 1.0
    found = la.compare(SIMPLIFIED, TRADITIONAL)
    assert found.score == 1.0
    assert found.form == ["script"]
    assert found.notes[-1] == "form does not count: script"
    assert set(found.measures.values()) == {1.0}
    assert found.signature["form"] == "invisible+script"
    assert found.to_dict()["form"] == ["script"]


def test_nothing_is_ignored_on_request() -> None:
    found = la.compare(SIMPLIFIED, TRADITIONAL, ignore_form=[])
    assert found.score < 0.6
    assert found.form == []
    assert "form" not in found.signature


def test_two_simplified_texts_do_not_differ_in_script() -> None:
    assert la.compare("著名的作家写了一本书", "一位作家写了一本书").form == []


def test_places_are_those_of_the_original() -> None:
    left = "# Tea\n\nThe **old** ferry leaves at nine in the morning, see the [timetable](x)."
    right = "Tea\n\nThe old ferry leaves at ten in the morning, see the timetable."
    found = la.compare(left, right, ignore_form=["markup"])
    assert found.edits is not None
    pieces = {(segment.kind, left[slice(*segment.span)]) for segment in found.edits.left}
    assert ("reworded", "nine") in pieces
    assert {right[slice(*segment.partner)] for segment in found.edits.left if segment.kind == "reworded" and segment.partner} == {"ten"}
    assert left[slice(*found.passages[0].left)] == "Tea\n\nThe **old** ferry leaves at"
    assert "timetable" in found.to_html()
    assert found.left == left


def test_passages_of_texts_whose_places_stay_are_not_made_anew() -> None:
    found = [Passage((0, 1), (1, 2))]
    assert FormedPair("漢字", "x漢", IGNORED_FORMS).passages(found) is found
    assert FormedPair("a\u200bb", "xab", IGNORED_FORMS).passages(found) is not found


def test_ignored_text_is_found_in_any_form() -> None:
    template = "本合同一式两份，双方各执一份，具有同等法律效力。"
    left, right = "甲方付款。" + template, "甲方付款。" + "本合同一式兩份，雙方各執一份，具有同等法律效力。"
    found = la.compare(left, right, ignore=[template])
    assert found.ignored is not None
    assert found.ignored.left == found.ignored.right > 0.5
    assert [right[slice(*span)] for span in found.ignored.right_spans] == [right[5:]]


@given(st.text(max_size=40), st.text(max_size=40), st.lists(st.sampled_from(FORMS), unique=True))
@settings(max_examples=80)
def test_any_texts_in_any_forms(left: str, right: str, forms: list[str]) -> None:
    found = la.compare(left, right, ignore_form=forms, measures=["jaccard"])
    assert found.edits is not None
    for text, segments in ((left, found.edits.left), (right, found.edits.right)):
        for edges in ([segment.span[0] for segment in segments], [segment.span[1] for segment in segments]):
            assert edges == sorted(edges)  # spans may be equal: ¼ is one character of three tokens
            assert all(0 <= place <= len(text) for place in edges)
    assert la.compare(left, left, ignore_form=forms, measures=["jaccard"]).score == 1.0
    found.to_html()
    found.to_terminal()


def test_only_texts_have_forms(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ignore_form"):
        la.compare({"a": 1}, {"a": 1}, ignore_form=["script"])
    with pytest.raises(InputError, match="choose from"):
        la.compare("a", "b", ignore_form=["nothing"])
    with pytest.raises(InputError, match="such as"):
        la.compare("a", "b", ignore_form="script")
