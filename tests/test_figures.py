"""Scores and shares as they are printed: rounding never says what is not so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike
import lookalike as la
from lookalike.figures import shown_score, shown_share

UNIT = st.floats(0, 1)


@given(UNIT, UNIT)
@example(0.99998, 0.8)
@example(1e-300, 0.8)
@example(0.79996, 0.8)
@example(0.80001, 0.80004)
@example(0.00003, 0.0001)
def test_a_printed_score_is_on_the_side_that_the_score_is_on(value: float, threshold: float) -> None:
    shown = float(shown_score(value, threshold=threshold))
    assert (shown == 1, shown == 0, shown >= threshold) == (value == 1, value == 0, value >= threshold)
    assert abs(shown - value) <= 0.0001


@given(UNIT)
@example(0.9996)
@example(0.0004)
def test_a_printed_share_is_whole_or_nothing_only_where_it_is(value: float) -> None:
    for places in (0, 1, 2):
        shown = shown_share(value, places)
        assert re.fullmatch(r"\d+(\.\d+)?%", shown)
        assert (float(shown[:-1]) == 100, float(shown[:-1]) == 0) == (value == 1, value == 0)


def test_beyond_the_unit() -> None:
    assert [shown_score(value) for value in (-0.00001, -0.25, 1.0000001, 3.5, float("nan"))] == [
        "-0.0001",
        "-0.2500",
        "1.0000",
        "3.5000",
        "nan",
    ]


def test_nearly_equal_texts_are_not_printed_as_equal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = " ".join(f"word{number}" for number in range(40_000))
    nearly = la.compare(text, text.replace("word777 ", "word777x "), measures=[])
    assert 0.99995 < nearly.score < 1
    assert "1.0000" not in nearly.to_html()
    (tmp_path / "a").write_text(text)
    (tmp_path / "b").write_text(text.replace("word777 ", "word777x "))
    from lookalike.cli import main

    with pytest.raises(SystemExit):
        main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--measure", "cosine,ratio"])
    out = capfd.readouterr().out
    assert "1.0000" not in out
    assert "100.0%" not in out


def test_shares_are_printed_by_one_function() -> None:
    folder = Path(lookalike.__file__).parent
    bare = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.py"))
        if re.search(r":\.\d%\}", path.read_text(encoding="utf-8"))
    ]
    # Besides the function itself: labels of axes and bounds, which are round numbers.
    assert set(bare) <= {"figures.py", "drafts/html_report.py", "drafts/plots.py"}
