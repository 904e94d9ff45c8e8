"""Keywords against an obvious reference and jieba, and stop words."""

from __future__ import annotations

import logging
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_keywords as reference
from lookalike.errors import InputError
from lookalike.text.idf import Idf
from lookalike.text.keywords import Keyword, is_word, keywords, rank
from lookalike.text.normalize import fold
from lookalike.text.segment import jieba_spans
from lookalike.text.stopwords import normal_stop_words, register_stop_words, stop_words, stop_words_version
from lookalike.text.text_rank import text_rank

PARAGRAPH = [
    "图书馆的老管理员每天清晨打开木门",
    "先给窗台上的兰花浇水",
    "再把读者归还的旧书放回书架",
    "他记得每一本书的位置",
    "也记得许多读者喜欢的作者",
    "下雨的时候",
    "孩子们挤在窗台旁边听他讲航海故事",
    "故事里的船长从不害怕风暴",
    "管理员说风暴过去以后兰花开得最好",
]
REORDERED = [PARAGRAPH[n] for n in (5, 6, 7, 3, 0, 8, 2, 4, 1)]


def jieba_words(text: str) -> list[str]:
    return [text[start:end] for start, end in jieba_spans(text)]


def paragraph(clauses: list[str]) -> str:
    return "，".join(clauses) + "。"


# Ranking


@settings(max_examples=200)
@given(
    words=st.lists(st.sampled_from(["甲", "乙乙", "丙", "ab", "Ab", "3", "，", " ", "+-", "é", "丁丁丁"]), max_size=30),
    top=st.integers(1, 12),
    values=st.none() | st.dictionaries(st.sampled_from(["甲", "乙乙", "丙", "ab", "3"]), st.sampled_from([0.0, 0.1, 1.0, 1 / 3, 7.5])),
    stop=st.sets(st.sampled_from(["甲", "ab", "，"])),
)
def test_ranking_agrees_with_the_reference(words: list[str], top: int, values: dict[str, float] | None, stop: set[str]) -> None:
    table = None if values is None else Idf(values, 0.7)
    found = rank(iter(words), top, weights="count" if values is None else "tfidf", idf=table, stop=stop)
    assert found == reference.rank(words, top, values, 0.7, stop)
    assert all(type(keyword) is Keyword and type(keyword.weight) is float for keyword in found)


@given(words=st.lists(st.sampled_from(reference.CHINESE), max_size=40), top=st.integers(1, 10), seed=st.integers(0, 99))
def test_the_order_of_the_words_does_not_matter(words: list[str], top: int, seed: int) -> None:
    table = Idf({"我们": 2.0, "老师": 0.1}, 1 / 3)
    shuffled = random.Random(seed).sample(words, len(words))
    assert rank(words, top, idf=table) == rank(shuffled, top, idf=table)
    assert rank(words, top, weights="count") == rank(shuffled, top, weights="count")


def test_ties_are_broken_by_the_word() -> None:
    words = ["乙", "甲", "b", "a", "𠀀", "\uff41", "丙", "丙"]
    assert rank(words, None, weights="count") == [
        ("丙", 2.0),
        ("a", 1.0),
        ("b", 1.0),
        ("乙", 1.0),
        ("甲", 1.0),
        ("\uff41", 1.0),
        ("𠀀", 1.0),
    ]
    assert rank(words, 3, weights="count") == [("丙", 2.0), ("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize("top", [1, 3, 20, None])
def test_the_weights_are_those_of_jieba(top: int | None) -> None:
    jieba = pytest.importorskip("jieba")
    analyse = pytest.importorskip("jieba.analyse")
    jieba.setLogLevel(logging.ERROR)
    stop = analyse.TFIDF.STOP_WORDS
    table = Idf.jieba()
    vocabulary = reference.CHINESE + reference.MARKS + ["Python", "iPhone", "C++", "the", "of", "3.14", "50%"]
    for text in reference.sentences(6, 400, vocabulary, longest=60):
        # jieba takes marks that stand together, such as "--", for words; none of these sentences has any
        theirs = dict(analyse.extract_tags(text, topK=None, withWeight=True))
        ours = rank(jieba_words(text), top, idf=table, stop=stop, min_length=2)
        assert dict(ours) == {word: theirs[word] for word, _ in ours}
        assert [weight for _, weight in ours] == sorted(theirs.values(), reverse=True)[:top]


def test_a_text_with_its_clauses_reordered_has_the_same_keywords_and_fingerprint() -> None:
    pytest.importorskip("jieba")
    table, stop = Idf.jieba(), stop_words("default")
    one, two = paragraph(PARAGRAPH), paragraph(REORDERED)
    assert one != two
    for top in (1, 5, 10, 20, None):
        for weights, idf in (("tfidf", table), ("count", None)):
            left = rank(jieba_words(one), top, weights=weights, idf=idf, stop=stop)  # type: ignore[arg-type]
            right = rank(jieba_words(two), top, weights=weights, idf=idf, stop=stop)  # type: ignore[arg-type]
            assert left == right
            assert len(left) == top or top is None or len(left) < top
            assert (reference.simhash(left) ^ reference.simhash(right)).bit_count() == 0


def test_with_the_order_of_jieba_the_reordered_text_has_other_keywords() -> None:
    """Why ties are broken by the word: jieba keeps the order of first occurrence."""
    analyse = pytest.importorskip("jieba.analyse")
    pytest.importorskip("jieba").setLogLevel(logging.ERROR)
    one, two = paragraph(PARAGRAPH), paragraph(REORDERED)
    assert any(set(analyse.extract_tags(one, topK=top)) != set(analyse.extract_tags(two, topK=top)) for top in range(1, 30))


def test_single_characters_count_unless_told_otherwise() -> None:
    words = ["水", "x", "7", "长江"]
    assert [word for word, _ in rank(words, weights="count")] == ["7", "x", "水", "长江"]
    assert [word for word, _ in rank(words, weights="count", min_length=2)] == ["长江"]


def test_nothing_comes_of_nothing() -> None:
    assert rank([], weights="count") == []
    assert rank(["，", " ", "的", "😀", "\ud800", ""], weights="count", stop={"的"}) == []
    assert rank(["，"], idf=Idf({}, 1.0)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "tf"}, "weights='tf': choose"),
        ({"weights": "tfidf"}, "idf=None: weights='tfidf' needs an IDF table"),
        ({"weights": "tfidf", "idf": "jieba"}, "needs an IDF table"),
        ({"weights": "count", "top": 0}, "top=0"),
        ({"weights": "count", "top": True}, "top=True"),
        ({"weights": "count", "top": 2.5}, "top=2.5"),
        ({"weights": "count", "min_length": 0}, "min_length=0"),
        ({"weights": "count", "min_length": None}, "min_length=None"),
        ({"weights": "count", "words": "我爱北京"}, "not one str"),
        ({"weights": "count", "words": ["好", 3]}, "3 is not a str"),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rank(**{"words": ["好"], **arguments})  # type: ignore[arg-type]


# What a word is


def test_words_have_letters_or_digits() -> None:
    for token in ("a", "中", "3", "é", "Ж", "あ", "한", "㐀", "𠀀", "𰀀", "三.", "-x-", "①", "½"):
        assert is_word(token), token
    for token in (
        "",
        "，",
        "。",
        "…",
        " ",
        "\u3000",
        "+",
        "😀",
        "🇨",
        "\ud800",
        "\ufffd",
        "\u200b",
        "_",
        "€",
        "₽",
        "★",
        "\u0301",
        "￥",
        "⸺",
    ):
        assert not is_word(token), token


def test_the_frozen_rule_agrees_with_the_unicode_of_this_python() -> None:
    """But for modifier letters that Unicode 3.2 took for symbols, and for characters that it did not know."""
    codes = [*range(0x2000), *range(0x3000, 0xA000), *range(0xAC00, 0xD800), *range(0xFF00, 0xFFF0)]
    known = [code for code in codes if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"]
    differing = {code for code in known if is_word(chr(code)) != (unicodedata.category(chr(code))[0] in "LN")}
    assert differing <= {0x2B9, 0x2BA, *range(0x2C6, 0x2D0), 0x2EC, 0x374, 0x1885, 0x1886}


# Stop words


def test_the_shipped_lists() -> None:
    chinese, english = stop_words("zh"), stop_words("en")
    assert stop_words("default") == chinese | english
    assert {"的", "我们", "因为", "所以", "什么"} <= chinese
    assert {"the", "of", "and", "don't", "is"} <= english
    assert not {"中国", "图书馆", "学习", "水"} & chinese
    assert not {"library", "water", "run"} & english
    assert len(chinese) > 200
    assert len(english) > 170
    assert all(is_word(word) for word in chinese | english)
    assert all(word == word.casefold() == unicodedata.normalize("NFKC", word) for word in chinese | english)
    assert len({stop_words_version(name) for name in ("zh", "en", "default")}) == 3


def test_lists_of_the_user(tmp_path: Path) -> None:
    register_stop_words("mine", ["甲", "乙"])
    assert stop_words("mine") == {"甲", "乙"}
    file = tmp_path / "stop.txt"
    file.write_text("# mine\n乙\n甲\n", encoding="utf-8")
    assert stop_words(str(file)) == {"甲", "乙"}
    assert stop_words_version(str(file)) == stop_words_version("mine")


@pytest.mark.parametrize("name", ["no-such-list", None, ["a"], 3])
def test_lists_that_do_not_exist(name: str) -> None:
    with pytest.raises(InputError, match="stop words"):
        stop_words(name)


# The whole way, where tokens are at hand


def test_keywords_of_a_text() -> None:
    pytest.importorskip("lookalike.text.tokenize", reason="needs the tokenizers")
    pytest.importorskip("jieba")
    found = keywords(paragraph(PARAGRAPH), 5)
    assert found == keywords(paragraph(REORDERED), 5)
    assert {word for word, _ in found} & {"管理员", "兰花", "风暴", "窗台"}
    assert keywords("Apple APPLE apple", weights="count", idf=None) == [("apple", 3.0)]
    assert keywords("的，。", weights="count") == []
    with pytest.raises(InputError, match="needs an IDF table"):
        keywords("好", idf=None)


def test_stop_words_are_compared_in_normal_form() -> None:
    pytest.importorskip("lookalike.text.normalize", reason="needs the normaliser")
    register_stop_words("shouting", ["The", "ＯＦ"])
    assert normal_stop_words("shouting") == {"the", "of"}


NEWS = (
    "此外，公司拟对全资子公司吉林欧亚置业有限公司增资4.3亿元，增资后，吉林欧亚置业注册资本由7000万元增加到5亿元。"
    "吉林欧亚置业主要经营范围为房地产开发及百货零售等业务。目前在建吉林欧亚城市商业综合体项目。",
    "线程是程序执行时的最小单位，它是进程的一个执行流，是CPU调度和分派的基本单位，一个进程可以由很多个线程组成。",
    "Python 的 the of 语言很好，the language is good and we like it in 北京大学的计算机系。",
    "北京",
    "",
)


@pytest.mark.parametrize("text", NEWS)
def test_text_rank_is_that_of_jieba(text: str) -> None:
    jieba = pytest.importorskip("jieba")
    analyse = pytest.importorskip("jieba.analyse")
    jieba.setLogLevel(logging.ERROR)
    theirs = dict(analyse.textrank(text, topK=None, withWeight=True))
    ours = dict(keywords(text, None, weights="textrank", tags="jieba", min_length=2, stop_words="jieba"))
    ranked = {word: weight for word, weight in ours.items() if weight}
    assert ranked == pytest.approx({fold(word): weight for word, weight in theirs.items()})


@pytest.mark.parametrize("text", NEWS)
def test_the_settings_that_give_the_weights_of_jieba(text: str) -> None:
    jieba = pytest.importorskip("jieba")
    analyse = pytest.importorskip("jieba.analyse")
    jieba.setLogLevel(logging.ERROR)
    theirs = {fold(word): weight for word, weight in analyse.extract_tags(text, topK=None, withWeight=True)}
    if "Python" not in text:  # we fold case before the IDF table is asked, jieba does not
        assert dict(keywords(text, None, min_length=2, stop_words="jieba")) == theirs
    theirs = {fold(word): weight for word, weight in analyse.extract_tags(text, topK=None, withWeight=True, allowPOS=("n", "v"))}
    assert dict(keywords(text, None, min_length=2, stop_words="jieba", tags=["n", "v"])) == pytest.approx(theirs)


@given(st.lists(st.sampled_from(["甲", "乙", "丙", "丁", None]), max_size=30))
def test_text_rank_against_an_obvious_version(words: list[str | None]) -> None:
    found = text_rank(words)
    assert found == pytest.approx(reference.text_rank(words))
    assert all(0 < rank <= 1 for rank in found.values())
    if found:
        assert max(found.values()) == 1


def test_text_rank_without_parts_of_speech() -> None:
    found = keywords(NEWS[1], 3, weights="textrank")
    assert len(found) == 3
    assert found[0].weight == 1
    assert "进程" in [word for word, _ in found]
    assert keywords("北京", weights="textrank") == [("北京", 0.0)]
    with pytest.raises(InputError, match="give a list of parts of speech"):
        keywords(NEWS[1], tags="n")
    with pytest.raises(InputError, match="leave the tokenizer out"):
        keywords(NEWS[1], tags=["n"], tokenizer="auto")
