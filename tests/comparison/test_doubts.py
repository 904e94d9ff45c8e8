"""What a comparison says of numbers, negations and the order of words, which no share of common words sees."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.doubts.numbers import numbers_of
from lookalike.comparison.doubts.order import _exchanged, _moved


@pytest.mark.parametrize(
    ("left", "right", "note"),
    [
        ("价格100元", "价格1000元", "numbers differ: 100, 1000"),
        ("共三百二十元整", "共三百五十元整", "numbers differ: 320, 350"),
        ("第一章的内容介绍", "第二章的内容介绍", "numbers differ: 1, 2"),
        ("一个人能活多久", "两个人能活多久", "numbers differ: 1, 2"),
        ("会议定于下午三点开始", "会议定于下午五点开始", "numbers differ: 3, 5"),
        ("股价上涨百分之三点五", "股价上涨百分之三十五", "numbers differ: 3.5, 35"),
        ("The temperature is -5 degrees", "The temperature is 5 degrees", "numbers differ: -5, 5"),
        ("Chapter two of the book", "Chapter three of the book", "numbers differ: 2, 3"),
        ("Twenty people died in the crash", "Thirty people died in the crash", "numbers differ: 20, 30"),
        ("The house has one door and a roof", "The house has two doors and a roof", "numbers differ: 1, 2"),
        ("मूल्य १०० रुपये", "मूल्य १००० रुपये", "numbers differ: 100, 1000"),
        ("会议在2024.01.05举行", "会议在2024.01.06举行", "numbers differ: 5, 6"),
        ("The meeting is on 5 January 2024", "The meeting is on 5 February 2024", "dates differ: January, February"),
        ("The board meets on Monday at noon", "The board meets on Tuesday at noon", "dates differ: Monday, Tuesday"),
        ("The board meets in May each year", "The board meets in March each year", "dates differ: May, March"),
        ("I like it", "I do not like it", "one text negates: right not"),
        ("I don't know that man", "I know that man", "one text negates: left don't"),
        ("I like it very much", "I do n't like it very much", "one text negates: right n't"),
        ("He is happy with the result", "He is unhappy with the result", "one text negates: right unhappy"),
        ("The lesson was useful to them", "The lesson was useless to them", "one text negates: right useless"),
        ("hardly anyone came today", "anyone came today", "one text negates: left hardly"),
        ("Non-members pay more", "Members pay more", "one text negates: left non"),
        ("I cant see it from over here", "I can see it from over here", "one text negates: left cant"),
        ("这是非会员价", "这是会员价", "one text negates: left 非"),
        ("我喜欢吃苹果", "我不喜欢吃苹果", "one text negates: right 不"),
        ("你别走好吗", "你走好吗", "one text negates: left 别"),
        ("非本公司员工可以进入", "本公司员工可以进入", "one text negates: left 非"),
        ("價格沒有變化", "價格有變化", "one text negates: left 沒"),
        ("Alice owes Bob", "Bob owes Alice", "words in another order: Alice, Bob"),
        ("A is greater than B", "B is greater than A", "words in another order: A, B"),
        ("Flights from New York to Florida", "Flights from Florida to New York", "words in another order: New York, Florida"),
        ("甲方应当向乙方付款", "乙方应当向甲方付款", "words in another order: 甲方, 乙方"),
        ("我借给他钱", "他借给我钱", "words in another order: 我, 他"),
        ("the the cat cat", "cat the cat the", "the same words in another order"),
    ],
)
def test_are_named_and_the_verdict_is_withheld(left: str, right: str, note: str) -> None:
    found = la.compare(left, right, threshold=0.7)
    assert note in found.notes
    assert found.doubts == [note]
    assert found.score >= 0.7
    assert (found.alike, found.verdict) == (False, "alike in wording only")
    assert found.to_dict()["verdict"] == "alike in wording only"
    assert "The score is at least the threshold of 0.7" in found.to_html()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("三天后出发去北京", "3天后出发去北京"),
        ("大家一起去公园吧", "大家一起去那公园吧"),
        ("他十分努力学习", "他努力学习"),
        ("这是一个好问题", "这是好问题"),
        ("He has three children", "He has 3 children"),
        ("It costs 5.0 euros today", "It costs 5 euros today"),
        ("1 million people live here", "One million people live here"),
        ("the cat sat on the mat", "the cat sat on the mat today"),
        ("差不多到了", "差不多就到了"),
        ("你们能不能退款给我", "你们能退款给我吗"),
        ("对不起我今天来晚了", "我今天来晚了"),
        ("特别感谢你的帮助", "感谢你的帮助"),
        ("He is not here today", "He isn't here today"),
        ("He was unhappy with the result", "He was not happy with the result"),
        ("No. 5 is the best of them", "5 is the best of them"),
        ("completely different", "nothing alike 5"),
        ("会议在2024-01-05举行", "会议在2024年1月5日举行"),
        ("会议在2024.1.5举行", "会议在2024-01-05举行"),
        ("The deadline is 5 January 2024", "The deadline is 2024-01-05"),
        ("The shop opens at 09:05 today", "The shop opens at 9:05 today"),
        ("It is due Jan. 5, 2024 at noon", "It is due January 5, 2024 at noon"),
        ("You may try 5 times", "You can try 5 times"),
        ("मूल्य १०० रुपये", "मूल्य 100 रुपये"),
        ("他分得清是非", "他分得清是非吗"),
        ("这是非常好的产品", "这是好的产品"),
    ],
)
def test_are_not_found_where_there_are_none(left: str, right: str) -> None:
    found = la.compare(left, right)
    assert found.doubts == []
    assert not any("differ" in note or "negates" in note for note in found.notes)


@pytest.mark.parametrize(
    ("left", "right", "moved"),
    [("谁喜欢看百万新娘", "百万新娘谁喜欢看", "百万新娘"), ("Today the ferry leaves at noon", "The ferry leaves at noon today", "Today")],
)
def test_words_that_were_only_moved_are_named_and_the_verdict_stays(left: str, right: str, moved: str) -> None:
    found = la.compare(left, right)
    assert f"words in another order: {moved}" in found.notes
    assert (found.doubts, found.verdict) == ([], "alike")


@pytest.mark.parametrize(
    ("left", "right"),
    [("The score was {} at the end", ("3:1", "1:3")), ("Open {} daily", ("5-10", "10-5")), ("due {} noon", ("2024-01-05", "2024-05-01"))],
)
def test_rows_of_numbers_in_another_order(left: str, right: tuple[str, str]) -> None:
    found = la.compare(*(left.format(row) for row in right))
    assert found.doubts == [f"numbers in another order: {', '.join(right)}"]
    assert found.verdict == "alike in wording only"
    assert la.compare(left.format(right[0]), "Today: " + left.format(right[0])).doubts == []


@pytest.mark.parametrize(
    ("left", "right"),
    [("2024-01-05", "05.01.2024"), ("2024/1/5", "5/1/2024"), ("2024-01-05", "1/5/2024"), ("05-01-2024", "2024.01.05")],
)
def test_a_year_first_and_a_year_last_are_one_date(left: str, right: str) -> None:
    found = la.compare(f"The rent is due on {left} at noon", f"The rent is due on {right} at noon")
    assert (found.doubts, found.verdict) == ([], "alike")
    assert not any("order" in note or "differ" in note for note in found.notes)


def test_with_dots_the_day_comes_first() -> None:
    found = la.compare("The rent is due on 2024-01-05 at noon", "The rent is due on 01.05.2024 at noon")
    assert "numbers in another order: 2024-01-05, 01.05.2024" in found.notes
    assert found.verdict == "alike in wording only"


def test_notes_show_what_was_written() -> None:
    """The texts are compared in one script and without markup; the notes are about the texts themselves."""
    found = la.compare("**張三**借給李四錢", "李四借给张三钱", ignore_form=["script", "markup"])
    assert "words in another order: 張三, 李四" in found.notes


def test_long_texts_keep_their_verdict() -> None:
    text = " ".join(f"word{chr(97 + number)}" for number in range(25)) + " costs"
    found = la.compare(f"{text} 100", f"{text} 1000")
    assert "numbers differ: 100, 1000" in found.notes
    assert (found.doubts, found.verdict) == ([], "alike")
    assert not any("numbers" in note for note in la.compare(f"{text * 5} 100", f"{text * 5} 1000").notes)


@pytest.mark.parametrize(
    ("text", "firm", "loose"),
    [
        ("twenty-five thousand and six of two three", ["25006", "2", "3"], []),
        ("a hundred and five, 3.50 million", ["105", "3500000"], []),
        ("one of the first, twice", [], ["1", "1", "2"]),
        ("一起 十分 一个 十个 第一 三个 三轮", ["1", "3"], ["1", "10", "3"]),
        ("2010-2020, -3 and 7-1", ["2010", "2020", "-3", "7", "1"], []),
    ],
)
def test_numbers_of_a_text(text: str, firm: list[str], loose: list[str]) -> None:
    found = numbers_of(text)
    assert sorted(found.firm.elements()) == sorted(firm)
    assert sorted(found.loose.elements()) == sorted(loose)


@given(st.permutations(range(7)))
def test_what_moved_and_what_was_exchanged(places: list[int]) -> None:
    """Against all subsets, and all triples."""
    rest = [place for at, place in enumerate(places) if at not in _moved(places)]
    assert rest == sorted(rest)
    assert not any([*some] == sorted(some) for some in itertools.combinations(places, len(rest) + 1))
    triples = [(i, j, k) for i, j, k in itertools.combinations(range(7), 3) if places[i] > places[j] > places[k]]
    assert _exchanged(places) == {at for i, _, k in triples for at in (i, k)}
