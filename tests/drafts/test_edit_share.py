from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_drafts
from lookalike.drafts.edit_share import edit_share

WORDS = ["the", "cat", "cats", "catalogue", "sat", "on", "mat", ".", "，", "我", "们", "土地", "Ünïcode", "x" * 70]
texts = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_equals_the_reference(draft: str, final: str) -> None:
    assert edit_share(draft, final) == pytest.approx(reference_drafts.edit_share(draft, final), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_a_share(draft: str, final: str) -> None:
    share = edit_share(draft, final)
    assert 0 <= share <= 1
    assert (share == 0) == (reference_drafts.tokens(draft) == reference_drafts.tokens(final))


@settings(max_examples=50, deadline=None)
@given(texts)
def test_white_space_and_case_do_not_count(text: str) -> None:
    assert edit_share(text, f"  {text.upper().lower()}\n\n".replace(" ", "  ")) == 0


def test_punctuation_and_its_width_count() -> None:
    assert edit_share("你好,世界", "你好，世界") > 0
    assert edit_share("Well done", "Well done!") > 0


def test_nothing_in_common() -> None:
    assert edit_share("abc def", "我们") == 1
    assert edit_share("abc", "") == 1
    assert edit_share("", "abc") == 1
    assert edit_share("", " ") == 0


def test_replaced_characters_count_on_both_sides() -> None:
    assert edit_share("一二三四五六七八九十", "一二三四五六七八九百") == pytest.approx(2 / (2 + 9))


def test_a_deleted_stretch_counts_once() -> None:
    assert edit_share("一二三四五六七八九十", "一二三四五六七八") == pytest.approx(2 / 10)


def test_a_move_counts_half() -> None:
    moved = "子丑寅卯"
    rest = "甲乙丙丁戊己庚辛壬癸"
    assert edit_share(rest + moved, moved + rest) == pytest.approx(2 / 14)


@pytest.mark.parametrize(
    ("draft", "final", "moved"),
    [
        ("甲方应当在三日内向乙方付款。", "乙方应当在三日内向甲方付款。", 2),
        ("Alice paid Bob 30 dollars.", "Bob paid Alice 30 dollars.", 8),
        ("Version 12 costs 34", "Version 34 costs 12", 4),
        ("1. Open the lid.\n2. Pour the water.", "1. Pour the water.\n2. Open the lid.", 16),
        ("The boiler holds 1223 l, the tank 4225 l.", "The boiler holds 4225 l, the tank 1223 l.", 8),
    ],
)
def test_a_swap_costs_about_what_it_moved(draft: str, final: str, moved: int) -> None:
    share = moved / len("".join(draft.split()))
    assert 0.6 * share <= edit_share(draft, final) <= 1.2 * share
    assert la.feedback([(draft, final)]).rows[0].verdict != "used as is"


def test_words_of_the_same_letter_trigrams_are_other_words() -> None:
    draft, final = "codes xabc yabd end", "codes xabd yabc end"
    assert reference_drafts.trigrams(draft.split()) == reference_drafts.trigrams(final.split())
    assert edit_share(draft, final) > 0


swapped = st.tuples(st.lists(st.sampled_from(WORDS), min_size=2, max_size=40), st.integers(0, 39), st.integers(0, 39))


@settings(max_examples=150, deadline=None)
@given(swapped)
def test_only_equal_tokens_have_no_edits(swap: tuple[list[str], int, int]) -> None:
    words, i, k = swap[0], swap[1] % len(swap[0]), swap[2] % len(swap[0])
    other = list(words)
    other[i], other[k] = other[k], other[i]
    share = edit_share(" ".join(words), " ".join(other))
    assert (share == 0) == (words == other)


def test_a_similar_word_is_cheaper_than_another_word() -> None:
    draft = "we found the formatted disks there"
    similar, other = edit_share(draft, draft.replace("formatted", "unformatted")), edit_share(draft, draft.replace("formatted", "yellow"))
    assert 0 < similar < other


def test_more_edits_give_a_larger_share() -> None:
    words = [f"word{chr(97 + i)}" for i in range(20)]
    shares = [edit_share(" ".join(words), " ".join(["новое"] * n + words[n:])) for n in range(21)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1


def test_unrelated_texts_are_discarded() -> None:
    draft = "Our bakery uses flour from three local mills. The bread is baked twice a day."
    final = "The market hall closes at six on Saturdays until the roof has been repaired."
    assert edit_share(draft, final) > la.Bounds().rewritten


def test_repetitive_texts_stay_bounded() -> None:
    assert edit_share("ab " * 50_000, "ab " * 49_000) == pytest.approx(0.02, abs=0.001)
    assert edit_share("哈" * 50_000, "嘿" * 50_000) == 1


def test_one_enormous_word() -> None:
    assert edit_share("x" * 1_000_000, "x" * 999_999) == 1
    assert edit_share("x" * 1_000_000 + " end", "x" * 1_000_000 + " rest") < 0.001
