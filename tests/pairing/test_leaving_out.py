"""Quotations and references: what is found, what is not, and that places are true."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import InputError
from lookalike.pairing.leaving_out import left_out, quotes, references

SENTENCE = "an agreement between strangers to share the same air and the same water"


@pytest.mark.parametrize(
    ("before", "after"),
    [("“", "”"), ('"', '"'), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"), ("„", "“"), ("＂", "＂")],
)
def test_marks(before: str, after: str) -> None:
    text = f"She wrote: {before}{SENTENCE}{after}, and she was right."
    (span,) = quotes(text)
    assert text[slice(*span)] == f"{before}{SENTENCE}{after}"


def test_chinese() -> None:
    text = "鲁迅说过：“世上本没有路，走的人多了，也便成了路。”这句话很有名。"
    (span,) = quotes(text)
    assert text[slice(*span)] == "“世上本没有路，走的人多了，也便成了路。”"


@pytest.mark.parametrize(
    "text",
    [
        'The word "city" is short.',
        "He said “no”.",
        "一个“词”而已。",
        f'A board of 5" and then {SENTENCE}.',
        f"It’s the neighbours’ {SENTENCE}.",
        f"“ {SENTENCE}\n\nanother paragraph ”",
        "",
    ],
)
def test_no_quotation(text: str) -> None:
    assert list(quotes(text)) == []


def test_a_mark_that_nobody_closes_hides_no_other() -> None:
    text = f"“ stands alone, but “{SENTENCE}” does not."
    assert [text[slice(*span)] for span in quotes(text)] == [f"“{SENTENCE}”"]


def test_lines_of_mail_are_quotations() -> None:
    text = "He wrote:\n> yes, we shall come\n> on Monday\nand I agree."
    assert [text[slice(*span)] for span in quotes(text)] == ["> yes, we shall come\n> on Monday"]


@pytest.mark.parametrize(
    "heading",
    ["References", "REFERENCES:", "# Bibliography", "7. Works cited", "**Literature**", "参考文献", "【參考文獻】", "五、参考文献："],
)
def test_references(heading: str) -> None:
    text = f"{'Text of the essay. ' * 20}\n\n{heading}\n\nSmith (1999). A book.\nLi (2004). Another.\n"
    (span,) = references(text)
    assert text[span[0] :].startswith(heading)
    assert span[1] == len(text)


def test_an_appendix_is_no_reference() -> None:
    text = f"{'Text of the essay. ' * 20}\nReferences\nSmith (1999).\n\nAppendix A: questions\nWhat did you see?\n"
    (span,) = references(text)
    assert text[span[1] :] == "Appendix A: questions\nWhat did you see?\n"


def test_contents_and_sentences_are_no_references() -> None:
    assert list(references(f"Contents\nReferences\n{'Text of the essay. ' * 40}")) == []
    assert list(references(f"{'Text. ' * 40}\nReferences to older work are rare.\n")) == []


def test_a_million_marks_take_no_longer_than_a_million_letters() -> None:
    """Not a measurement: work that grows with the square would take hours."""
    started = time.monotonic()
    for text in ("“" * 1_000_000, "”" * 1_000_000, '"' * 999_999, "‘a’" * 300_000, "> \n" * 300_000):
        left_out(text, ["quotes", "references"])
    assert time.monotonic() - started < 300


def test_what_is_left_out_is_no_passage(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"First text with its own words here. It says “{SENTENCE}”. It goes on.", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"Quite another essay, and a longer one. We read: “{SENTENCE}”. The end.", encoding="utf-8")
    assert len(la.pairs(tmp_path)) == 1
    report = la.pairs(tmp_path, leave_out=["quotes"])
    assert len(report) == 0
    text = report.things[0].parts[0].text
    ((part, span, why),) = report.masks[report.things[0].id]
    assert (part, why, text[slice(*span)]) == (0, "left out", SENTENCE)


@pytest.mark.parametrize("wrong", ["quotes", ["quote"], [3], 5, {"quotes": 1}])
def test_wrong_names(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(InputError, match="leave_out"):
        la.pairs(tmp_path, leave_out=wrong)  # type: ignore[arg-type]
