"""Each text of a comparison is read once, and what is made of the shared tokens is what the public functions make of the text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.comparison import sides
from lookalike.comparison.read_text import ReadText
from lookalike.measures import jaccard
from lookalike.text import shingle, tokenize

LEFT = "The library opens on Monday, and readers may book a seat for the reading room in advance, or come as they are. " * 3
RIGHT = LEFT.replace("Monday", "Tuesday", 1) + "No seat is free on Sundays."
texts = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(["the", "Fox", "ﬁne", "狐", "각", "。", "\x00", "\ud800", "😀"]), max_size=30).map(" ".join),
)


class Counted:
    """The native core, with a count of how often a text was cut into tokens."""

    KERNELS = ("tokenize", "token_stream", "shingle_texts", "simhash_texts", "minhash_texts", "secret_features", "WinnowedTexts")

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += name in self.KERNELS
        return getattr(_native, name)


def test_each_side_is_tokenised_once_for_each_form_of_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = la.compare(LEFT, RIGHT)
    native = Counted()
    for module in (tokenize, shingle, sides):
        monkeypatch.setattr(module, "_native", native)
    assert la.compare(LEFT, RIGHT) == expected
    # Words, hashes with places, hashes for fingerprints; and with punctuation marks, for the edits.
    assert +native.calls == {"tokenize": 2, "token_stream": 4, "shingle_texts": 2}


@given(texts, texts)
@settings(max_examples=200, deadline=None)
def test_what_is_shared_equals_what_is_made_alone(left: str, right: str) -> None:
    a, b = ReadText(left), ReadText(right)
    for side in (a, b):
        assert side.simhash == la.simhash(side.text)
        assert side.minhash == la.minhash(side.text)
        alone = la.winnow(side.text)
        assert alone.source is not None
        assert side.winnowing.values.tolist() == [*alone.values]
        assert side.winnowing.positions.tolist() == alone.source.positions.tolist()
        assert side.words == [token.text for token in la.tokenize(side.text)]
    assert jaccard.similarity_of(a.features, b.features) == jaccard.similarity(shingle.shingle_set(left), shingle.shingle_set(right))
    alone_left, alone_right = la.winnow(left), la.winnow(right)
    assert a.winnowing.similarity(b.winnowing) == alone_left.similarity(alone_right)
    assert a.winnowing.passages(b.winnowing) == alone_left.passages(alone_right)
