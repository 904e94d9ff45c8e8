"""``la.distinct`` against the obvious: every text is compared with every one that stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.testing import corpus
from lookalike.testing.made import exact_jaccard

WORDS = st.lists(st.sampled_from(list("abcdefgh")), max_size=12).map(" ".join)


def obvious(texts: list[str], threshold: float) -> list[str]:
    kept: list[str] = []
    for text in texts:
        if not any(exact_jaccard(text, other) >= threshold for other in kept):
            kept.append(text)
    return kept


@given(st.lists(WORDS, max_size=12), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_it_is_what_comparing_all_of_them_gives(texts: list[str], threshold: float) -> None:
    assert la.distinct(texts, threshold) == obvious(texts, threshold)


def test_results_of_a_search_keep_their_order() -> None:
    documents = corpus(80)
    texts = [text for _, text in documents]
    assert la.distinct(texts) == obvious(texts, 0.8)
    assert len(la.distinct(texts)) < len(texts)
    with la.open("memory://", threshold=0.3) as index:
        index.add(documents)
        found = index.search(texts[0], by="passages", limit=None, text=True)
        shown = la.distinct(found, 0.5, key=lambda match: match.text or "")
        assert [match.id for match in shown] == [match.id for match in found if match in shown]


@pytest.mark.parametrize("wrong", [7, [1], "one text", [None]])
def test_what_is_no_list_of_texts_is_refused(wrong: object) -> None:
    with pytest.raises(la.InputError):
        la.distinct(wrong)  # type: ignore[type-var]
