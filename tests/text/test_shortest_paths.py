"""N-shortest paths against all paths, and dictionaries from programs and files."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_keywords as reference
from lookalike.errors import InputError
from lookalike.text.dictionaries import register_dictionary
from lookalike.text.maximum_matching import register_words
from lookalike.text.segment import segmenter, segmenter_version

ALPHABET = "甲乙丙丁ab1+， \n"
WORD = st.text("甲乙丙丁ab1+，𠀀", min_size=1, max_size=4)
fresh_names = (f"dictionary-{number}" for number in itertools.count())


def cut(name: str, text: str) -> list[str]:
    return [text[start:end] for start, end in segmenter(name)(text)]


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(ALPHABET, max_size=11),
    words=st.dictionaries(WORD, st.integers(1, 50), min_size=1, max_size=20),
    paths=st.sampled_from([1, 2, 3, 8]),
)
def test_it_is_the_best_of_all_paths(text: str, words: dict[str, int], paths: int) -> None:
    name = next(fresh_names)
    register_dictionary(name, words)
    assert segmenter(f"nsp/{paths}:{name}")(text) == reference.shortest_paths(text, words, paths)


@given(text=st.text(ALPHABET, max_size=11), words=st.sets(WORD, min_size=1, max_size=20), paths=st.integers(1, 5))
def test_without_frequencies_the_fewest_words_win(text: str, words: set[str], paths: int) -> None:
    name = next(fresh_names)
    register_dictionary(name, sorted(words))
    found = segmenter(f"nsp/{paths}:{name}")(text)
    assert len(found) == len(reference.shortest_paths(text, dict.fromkeys(words, 1), 1))
    assert len(found) <= len(reference.forward(text, words))
    assert len(found) <= len(reference.backward(text, words))


def test_it_gets_right_what_maximum_matching_gets_wrong() -> None:
    words = {
        "南京": 50,
        "南京市": 20,
        "市长": 20,
        "长江": 40,
        "大桥": 40,
        "长江大桥": 30,
        "江": 5,
        "有": 900,
        "有意": 20,
        "有意见": 10,
        "意见": 90,
        "分歧": 20,
    }
    register_dictionary("classic", words)
    assert cut("nsp:classic", "南京市长江大桥") == ["南京市", "长江大桥"]
    # The fewest words are two; with more paths, the frequencies prefer three.
    assert cut("nsp/1:classic", "有意见分歧") == ["有意见", "分歧"]
    assert cut("nsp:classic", "有意见分歧") == ["有", "意见", "分歧"]
    register_dictionary("counted", {"结合": 500, "合成": 50, "成": 300, "分子": 600, "结": 40, "成分": 30, "子": 10})
    assert cut("nsp/1:counted", "结合成分子") == ["结合", "成", "分子"]
    register_words("counted", ["结合", "合成", "成", "分子", "结", "成分", "子"])
    assert cut("fmm:counted", "结合成分子") == ["结合", "成分", "子"]


def test_the_dictionary_of_jieba() -> None:
    pytest.importorskip("jieba")
    assert cut("nsp:jieba", "他来到了网易杭研大厦。") == ["他", "来到", "了", "网易", "杭", "研", "大厦", "。"]
    assert cut("nsp:jieba", "研究生命的起源") == ["研究", "生命", "的", "起源"]
    assert la.tokenize("研究生命的起源", "nsp:jieba")[0] == ("研究", 0, 2)
    assert la.Recipe.from_dict(la.Recipe(tokenizer="nsp:jieba").to_dict()).tokenizer == "nsp:jieba"


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    register_dictionary("repeated", ["甲" * length for length in range(1, 9)])
    assert len(cut("nsp:repeated", "甲" * 40_000)) == 5_000


def test_versions_have_the_words_and_the_number(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# mine\n云计算 5 n\n\n大数据\n", encoding="utf-8")
    register_dictionary("the same", {"大数据": None, "云计算": 5})
    assert segmenter_version(f"nsp:{file}") == segmenter_version("nsp:the same")
    assert segmenter_version("nsp:the same") == segmenter_version("nsp/3:the same") != segmenter_version("nsp/4:the same")
    file.write_text("云计算 6 n\n大数据\n", encoding="utf-8")
    assert segmenter_version(f"nsp:{file}") != segmenter_version("nsp:the same")


@pytest.mark.parametrize(
    "name",
    ["nsp:", "nsp/0:classic", "nsp/x:classic", "nsp/65:classic", "nsp:no such file", "nsp/:classic", "jieba-with:", "jieba-with:a\0b"],
)
def test_wrong_names_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        segmenter(name)("文本")


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "no words"), (["a b"], "no word"), ({"a": 0}, "frequency of 'a'"), ({"a": True}, "frequency"), (["x" * 65], "1 to 64")],
)
def test_wrong_dictionaries_are_refused(words: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        register_dictionary("wrong", words)  # type: ignore[arg-type]


TEXTS = [
    "李小福是创新办主任也是云计算方面的专家",
    "例如我输入一个带“韩玉赏鉴”的标题，在自定义词库中也增加了此词为N类",
    "台中正确应该不会被切开。mac上可分出石墨烯；此时又可以分出来凱特琳了。",
    "用 foo-bar 和 C++ 写的 easy_install 很好，八一双鹿更名为八一南昌篮球队",
]
WORDS = {
    "云计算": 5,
    "李小福": 2,
    "创新办": 3,
    "easy_install": 3,
    "韩玉赏鉴": 3,
    "八一双鹿": 3,
    "台中": None,
    "凱特琳": None,
    "石墨烯": None,
    "foo-bar": 9,
}


def test_words_of_the_user_are_found_as_jieba_finds_them() -> None:
    jieba = pytest.importorskip("jieba")
    jieba.setLogLevel(logging.ERROR)
    theirs = jieba.Tokenizer()
    for word in sorted(WORDS):
        theirs.add_word(word, WORDS[word])
    register_dictionary("mine", WORDS)
    for text in TEXTS:
        assert cut("jieba-with:mine", text) == [word for word in theirs.cut(text) if word.strip()]
    assert cut("jieba-with:mine", TEXTS[0]) != cut("jieba", TEXTS[0])
    assert [keyword.word for keyword in la.keywords(TEXTS[0], tokenizer="jieba-with:mine")].count("云计算") == 1


def test_a_user_dictionary_changes_no_other_segmenter() -> None:
    before = cut("jieba", TEXTS[0])
    register_dictionary("other", ["是云计算方面"])
    assert "是云计算方面" in cut("jieba-with:other", TEXTS[0])
    assert cut("jieba", TEXTS[0]) == before
    assert segmenter_version("jieba-with:other") != segmenter_version("jieba")
