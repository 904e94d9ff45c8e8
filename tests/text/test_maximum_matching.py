"""Maximum matching against an obvious reference, and word lists from programs and files."""

from __future__ import annotations

import hashlib
import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_keywords as reference
from lookalike.errors import InputError
from lookalike.text.maximum_matching import register_words
from lookalike.text.segment import segmenter, segmenter_version
from lookalike.text.word_lists import MAX_WORD_LENGTH

ALPHABET = "甲乙丙丁abT1+-， \n\u3000𠀀\ud800"
WORD = st.text("甲乙丙丁abT1+-，𠀀\ud800", min_size=1, max_size=5)

fresh_names = (f"list-{number}" for number in itertools.count())


def words_by(name: str, text: str) -> list[str]:
    return [text[start:end] for start, end in segmenter(name)(text)]


@settings(max_examples=400)
@given(text=st.text(ALPHABET, max_size=40), words=st.sets(WORD, min_size=1, max_size=25))
def test_both_directions_agree_with_the_reference(text: str, words: set[str]) -> None:
    name = next(fresh_names)
    register_words(name, words)
    assert segmenter(f"fmm:{name}")(text) == reference.forward(text, words)
    assert segmenter(f"bmm:{name}")(text) == reference.backward(text, words)


def test_the_classic_ambiguities() -> None:
    register_words("classic", ["研究", "研究生", "生命", "起源", "命", "的", "南京", "南京市", "市长", "长江", "大桥", "长江大桥"])
    assert words_by("fmm:classic", "研究生命的起源") == ["研究生", "命", "的", "起源"]
    assert words_by("bmm:classic", "研究生命的起源") == ["研究", "生命", "的", "起源"]
    assert words_by("fmm:classic", "南京市长江大桥") == ["南京市", "长江大桥"]
    assert words_by("bmm:classic", "南京市长江大桥") == ["南京市", "长江大桥"]


def test_runs_of_ascii_are_never_cut_and_white_space_separates() -> None:
    register_words("mixed", ["T恤", "C++", "ab", "电脑"])
    assert words_by("fmm:mixed", "买T恤 AT恤 C++ abc ab2 电 脑电脑") == ["买", "T恤", "AT", "恤", "C++", "abc", "ab2", "电", "脑", "电脑"]
    assert words_by("bmm:mixed", "买T恤 AT恤 C++") == ["买", "T恤", "AT", "恤", "C++"]


def test_words_match_as_they_are_written() -> None:
    register_words("case", ["ABC机"])
    assert words_by("fmm:case", "ABC机abc机") == ["ABC机", "abc", "机"]


def test_the_longest_word_allowed_is_found_and_a_longer_one_refused() -> None:
    longest = "一" * MAX_WORD_LENGTH
    register_words("long", [longest])
    assert words_by("fmm:long", "二" + longest + "三") == ["二", longest, "三"]
    assert words_by("bmm:long", "二" + longest + "三") == ["二", longest, "三"]
    with pytest.raises(InputError, match="65 code points; at most 64"):
        register_words("too-long", [longest + "一"])


@pytest.mark.parametrize("direction", ["fmm", "bmm"])
def test_a_list_made_to_be_slow_still_ends(direction: str) -> None:
    register_words("hostile", ["一" * n + "二" for n in range(1, 64)] + ["二" + "一" * n for n in range(1, 64)])
    assert len(segmenter(f"{direction}:hostile")("一" * 20_000)) == 20_000


def test_a_file_of_words(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeff# 水果\r\n苹果\r\n\r\n  西瓜  \n#结束\n".encode())
    assert words_by(f"fmm:{file}", "买苹果和西瓜") == ["买", "苹果", "和", "西瓜"]
    before = segmenter_version(f"fmm:{file}")
    register_words("fruit", ["西瓜", "苹果"])
    digest = hashlib.sha256("苹果\n西瓜".encode()).hexdigest()[:12]
    assert segmenter_version("fmm:fruit") == segmenter_version("bmm:fruit") == before == f"1-{digest}"


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("苹果\n", encoding="utf-8")
    name = f"fmm:{file}"
    assert words_by(name, "苹果西瓜") == ["苹果", "西", "瓜"]
    before = segmenter_version(name)
    file.write_text("西瓜\n", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert words_by(name, "苹果西瓜") == ["苹", "果", "西瓜"]
    assert segmenter_version(name) != before


def test_a_name_given_again_stands_for_the_new_words() -> None:
    register_words("changing", ["苹果"])
    before = segmenter_version("fmm:changing")
    register_words("changing", ["西瓜"])
    assert words_by("fmm:changing", "苹果西瓜") == ["苹", "果", "西瓜"]
    assert segmenter_version("fmm:changing") != before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("苹果\n中国 100 n\n".encode(), r"line 2: '中国 100 n' is empty or contains white space"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"# nothing\n\n", "has no words"),
        ("好\n".encode() + b"a" * 65, "line 2: a word of 65 code points"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        segmenter(f"fmm:{file}")


@pytest.mark.parametrize("words", ["苹果", [], [""], ["a b"], [None], [3]])
def test_bad_words_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError):
        register_words("bad", words)


@pytest.mark.parametrize("name", ["", " x", None])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="name"):
        register_words(name, ["好"])


@pytest.mark.parametrize("argument", ["no-such-list", "/no/such/file", "nul\0nul", "."])
def test_a_list_that_is_not_there(argument: str) -> None:
    with pytest.raises(InputError, match=r"neither a registered name .* nor a file"):
        segmenter(f"fmm:{argument}")
    with pytest.raises(InputError, match=r"neither a registered name .* nor a file"):
        segmenter_version(f"bmm:{argument}")


def test_only_text_is_cut() -> None:
    register_words("plain", ["好"])
    with pytest.raises(InputError, match="expected a str, not bytes"):
        segmenter("fmm:plain")(b"abc")  # type: ignore[arg-type]
    assert segmenter("fmm:plain")("") == []
    assert segmenter("bmm:plain")(" \n\u3000") == []
