"""Profiles: what a file is about, from its name, its text and labelled examples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
import made_files
from lookalike.profiles import patterns
from lookalike.profiles.labels import Labels
from lookalike.profiles.patterns import chinese_number, extracted, read_patterns
from lookalike.profiles.profile import language
from lookalike.profiles.words import name_words, names_idf, telling

THREE = ("北京增值税电子普通发票.pdf", "福建增值税电子普通发票.pdf", "福建工程学院计算机学院培养方案.pdf")
INVOICES = [f"发票 金额 税率 购买方 销售方 价税合计 {number}元" for number in range(5)]
COURSES = [f"课程 学分 必修 选修 毕业 设计 教师 第{number}学期" for number in range(5)]


def test_the_record_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "采购合同_终稿.docx"
    path.write_bytes(made_files.made("docx"))
    found = la.profile(path, labels={"contract": ["合同 甲方 乙方 违约金 定金"], "invoice": INVOICES}, patterns={"quay": r"(\w+) quay"})
    assert found["domain"] == "contract"
    assert 0.5 < found["confidence"] <= 1
    assert found["words"][:2] == ["采购", "合同"]
    assert (found["title"], found["language"], found["kind"], found["status"]) == (made_files.TITLE, "zh", "docx", "ok")
    assert found["schema"] == {"dates": ["2026-10-16"], "amounts": ["CNY 3400.00"], "quay": ["northern"]}
    assert len(found["keywords"]) == 10
    assert la.record(found).similarity(la.record(found)) == 1.0
    assert json.loads(json.dumps(found)) == found


def test_the_three_names_of_the_example_rank_as_they_should(tmp_path: Path) -> None:
    """Two invoices are nearer to each other than either is to a curriculum."""
    records = []
    for name in THREE:
        (tmp_path / name).write_bytes(made_files.pdf([Path(name).stem]))
        records.append(la.record(la.profile(tmp_path / name)))
    first, second, third = records
    assert first.similarity(second) > max(first.similarity(third), second.similarity(third))
    words = [la.minhash(set(name_words(name))) for name in THREE]
    assert words[0].similarity(words[1]) > words[1].similarity(words[2])


def test_words_that_most_names_have_are_left_out() -> None:
    names = [f"公司 报告 {topic}.docx" for topic in ("销售", "人事", "法务", "研发", "采购")]
    assert name_words("AnnualReport_2026.final.tar.gz") == ["annual", "report", "2026", "final"]
    assert telling(name_words(names[0]), names_idf(names)) == ["销售"]
    assert names_idf(names[:2]) is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("于2026年10月6日签订", "dates", "2026-10-06"), ("on 16th October 2026", "dates", "2026-10-16"), ("Oct. 3, 2026", "dates", "2026-10-03"),
        ("2026/1/2", "dates", "2026-01-02"), ("共计人民币三千四百元整", "amounts", "CNY 3400.00"), ("壹万贰仟圆", "amounts", "CNY 12000.00"),
        ("金额 1.5万元", "amounts", "CNY 15000.00"), ("USD 5,000.50", "amounts", "USD 5000.50"), ("€12", "amounts", "EUR 12.00"),
        ("¥1,234,567.891.", "amounts", "CNY 1234567.89"), ("$5,000, 6 pieces", "amounts", "USD 5000.00"), ("共3.125元", "amounts", "CNY 3.12"),
        ("write to A.B@Example.com.", "emails", "a.b@example.com"), ("手机：+86 13800138000", "phones", "13800138000"),
        ("身份证 11010519491231002x", "persons", "11010519491231002X"), ("91350100M000100Y43", "organisations", "91350100M000100Y43"),
        ("GB82 WEST 1234 5698 7654 32", "accounts", "GB82WEST12345698765432"), ("合同编号：HT-2026-001", "numbers", "HT-2026-001"),
        ("Invoice No. 4711", "numbers", "4711"), ("电话：+86 138-0013-8000", "phones", "13800138000"), ("8613800138000", "phones", "13800138000"),
        ("余额 -¥500.00", "amounts", "CNY -500.00"), ("余额：¥-500", "amounts", "CNY -500.00"), ("USD -5", "amounts", "USD -5.00"),
        ("金额：－500元", "amounts", "CNY -500.00"), ("−$5.00", "amounts", "USD -5.00"), ("负五百元", "amounts", "CNY -500.00"),
        ("10-500元", "amounts", "CNY 500.00"), ("- ¥500", "amounts", "CNY 500.00"), ("A-500元", "amounts", "CNY 500.00"),
        ("HK$500", "amounts", "HKD 500.00"), ("$5 million", "amounts", "USD 5000000.00"), ("5百万元", "amounts", "CNY 5000000.00"),
        ("20千万美元", "amounts", "USD 200000000.00"), ("三百万港币", "amounts", "HKD 3000000.00"), ("1.5万亿元", "amounts", "CNY 1500000000000.00"),
        ("壹仟贰佰叁拾肆元伍角陆分", "amounts", "CNY 1234.56"), ("壹仟元零伍分", "amounts", "CNY 1000.05"),
    ],
)  # fmt: skip
def test_patterns(text: str, kind: str, value: str) -> None:
    assert extracted(text)[kind] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-45",
        "2026年2月30日",
        "31 June 2026",
        "110105194912310021",
        "GB82 WEST 1234 5698 7654 33",
        "编号：abc",
        "91350100M000100Y44",
        "2026.1",
        "1e9元",
        "USD 1e9",
        "$5m",
        "$5 bn",
        "A$5",
        "¥1234567890123456",
        "¥1.2.3",
        "¥1,234,56",
    ],
)
def test_what_is_none(text: str) -> None:
    assert not set(extracted(text)) & {"dates", "amounts", "persons", "accounts", "numbers", "organisations"}


@given(st.integers(1, 99_999_999))
def test_chinese_numbers(number: int) -> None:
    """Against a slow writer of such numbers."""
    assert chinese_number(in_chinese(number)) == number


def in_chinese(number: int) -> str:
    if number >= 10_000:
        rest = number % 10_000
        return in_chinese(number // 10_000) + "万" + ("零" if 0 < rest < 1000 else "") + (in_chinese(rest) if rest else "")
    out = ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            out += "零一二三四五六七八九"[digit] + name
        elif out and number:
            out += "零"
    return out.replace("零零", "零")


def test_own_patterns(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("[patterns]\norder = 'PO-\\d{6}'\n")
    assert extracted("see PO-123456", read_patterns(path)) == {"order": ["PO-123456"]}
    for wrong in ("[other]\n", "[patterns]\na = 3\n", "[patterns]\na = '('\n", "not toml"):
        path.write_text(wrong)
        with pytest.raises(la.InputError, match=r"own\.toml"):
            read_patterns(path)


def test_a_pattern_that_takes_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be stopped where it runs, so it runs in another process; a scan ends, and loses no file for it."""
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    (tmp_path / "a.txt").write_text("a" * 60 + "!\n")
    for make in (la.profile, lambda path, patterns: la.scan(path.parent, patterns=patterns)):
        with pytest.raises(la.InputError, match=r"'order' takes longer than 0\.2 seconds for one text: write it without"):
            make(tmp_path / "a.txt", patterns={"good": r"a+(!)", "order": r"(a+)+$"})
    assert la.profile(tmp_path / "a.txt", patterns={"good": r"(?i)A+(!)", "none": "(b)?!", "long": "a+"})["schema"] == {
        "good": ["!"],
        "long": ["a" * 60],
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [("这是一个中文句子", "zh"), ("これは日本語の文です", "ja"), ("이것은 한국어", "ko"), ("This is the text of a letter", "en"), ("Das ist der Text und die Antwort", "de"), ("", ""), ("123", "")],
)  # fmt: skip
def test_languages(text: str, code: str) -> None:
    assert language(text) == code


class TestLabels:
    def test_folders_and_rows(self, tmp_path: Path) -> None:
        for name, texts in (("发票", INVOICES), ("课程", COURSES)):
            (tmp_path / "examples" / name).mkdir(parents=True)
            for number, text in enumerate(texts):
                (tmp_path / "examples" / name / f"{number}.docx").write_bytes(made_files.docx([text], header=""))
        rows = tmp_path / "rows.jsonl"
        rows.write_text(
            "".join(
                json.dumps({"text": text, "label": name}) + "\n"
                for name, texts in (("发票", INVOICES), ("课程", COURSES))
                for text in texts
            )
        )
        path = tmp_path / "增值税发票.txt"
        path.write_text("购买方 甲公司 销售方 乙公司 税率 价税合计 100元")
        for labels in (tmp_path / "examples", rows):
            found = la.profile(path, labels=labels)
            assert found["domain"] == "发票"
            assert found["confidence"] >= 5 / 7

    def test_confidence_is_the_share_of_the_votes(self) -> None:
        labels = Labels([("apple pear", "fruit"), ("apple plum", "fruit"), ("apple phone", "thing")], neighbours=3)
        found = labels.of("apple")
        assert found.name == "fruit"
        assert found.confidence == pytest.approx(2 / 3)
        assert labels.of("zebra") == ("", 0.0)
        assert len(labels) == 3

    def test_a_function(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("text")
        assert la.profile(path, labels=lambda found: (found.kind, 0.5))["confidence"] == 0.5
        assert la.profile(path, labels=lambda found: "plain")["domain"] == "plain"
        for wrong in (None, 3, ("a", 2), ("a",)):
            with pytest.raises(la.InputError, match="the function gave"):
                la.profile(path, labels=lambda found, wrong=wrong: wrong)

    def test_wrong_examples(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="no examples"):
            Labels([])
        with pytest.raises(la.InputError, match="no folders"):
            la.profile(__file__, labels=tmp_path)
        (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n')
        with pytest.raises(la.InputError, match="has no label"):
            la.profile(__file__, labels=tmp_path / "rows.jsonl")


NEAR_MISSES = ["12 May 2024", "May 3, 2021", "2024年5月6日", "2024-05-06", "RMB 100", "100元", "三千元", "a@b.cn", "13812345678", "+86 13812345678",
               "11010519491231002X", "91350100M000100Y43", "GB82WEST12345698765432", "Invoice No: A-12", "P.O. # 77x", "合同编号：HT-9", "x", " ", "\n", "order", "eur 5", "PO", "po no A1", "Order Number 5-5", "编号", "合同号 77", "发票代码:", "文号"]  # fmt: skip


@given(st.text("ab1@元 \n\r\u2028٣x", max_size=40).map(lambda text: text.replace("x", 70 * "x")))
def test_lines_that_are_worth_a_look(text: str) -> None:
    expected, follows = [], False
    for line in text.split("\n"):
        tells = re.search(r"[\d@元圆]", line) is not None
        if tells or follows:
            expected.append(line if tells else line[:60])
        follows = tells
    assert "\n".join(patterns._worth(text)) == "\n".join(expected)


@given(st.lists(st.sampled_from(["0", "Z", "9A", "a", "中", "\ud800", "1234567890", " "]), max_size=20).map("".join))
def test_long_codes_are_seen(text: str) -> None:
    assert patterns._has_long_code(text) == bool(re.search("[0-9A-Z]{11}", text))


@given(st.lists(st.sampled_from(NEAR_MISSES), max_size=12).map(" ".join))
def test_words_that_patterns_need_lose_no_match(text: str) -> None:
    """What is looked for first is only faster: every rule finds what it finds alone."""
    found = dict(extracted(text))
    alone: dict[str, dict[str, None]] = {}
    worth = "\n".join(patterns._worth(text))
    for rule in patterns._RULES:
        for match in rule.pattern.finditer(worth):
            if value := rule.make(match):
                alone.setdefault(rule.name, {})[value] = None
    assert found == {name: list(values) for name, values in alone.items()}
