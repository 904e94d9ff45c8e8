"""Comparing by meaning: texts, pages, the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as la
from lookalike.measures import meaning
from lookalike.pages.string_meaning import MeaningOfStrings
from lookalike.pages.strings import lexical

LEFT, RIGHT = "The cat sat on the mat.", "Auf der Matte saß eine Katze."


def letters(texts: list[str]) -> np.ndarray:
    return np.array([[text.count(letter) for letter in "abcdefghijk"] for text in texts], dtype=np.float32)


def test_texts_by_meaning() -> None:
    found = la.compare(LEFT, RIGHT, measures=["meaning", "cosine"])
    assert found.measures["meaning"] == meaning.similarity(LEFT, RIGHT) > 0.7
    assert found.measures["cosine"] == 0
    assert found.signature["model"] == "use-multilingual@0.2.1-2"
    assert found.score == la.compare(LEFT, RIGHT).score
    assert "model" not in la.compare(LEFT, RIGHT).signature


def test_texts_by_another_model() -> None:
    found = la.compare("abc", "cab", measures=["meaning"], model=letters)
    assert found.measures["meaning"] == pytest.approx(1)
    assert found.signature["model"].endswith("letters@1")
    with pytest.raises(la.InputError, match=r"has nothing to compute: name a measure that needs it"):
        la.compare("abc", "cab", model=letters)


def test_long_texts_say_that_they_were_read_in_windows() -> None:
    found = la.compare("harbour " * 500, "tea", measures=["meaning", "hybrid"])
    assert found.notes.count("use-multilingual@0.2.1-2: 1 of 2 texts were read in windows, up to 2, and averaged") == 1


PAGES = [
    "<title>Shoe shop</title><p id=first>We sell shoes</p><p>𒀀𒀁</p><a href=/buy>Buy now</a>",
    "<title>Footwear store</title><p id=one>Footwear for sale</p><p>𒀀𒀂</p><a href=/buy>Purchase today</a>",
]


def test_strings_of_pages_by_meaning() -> None:
    left, right = (la.page(html) for html in PAGES)
    found = la.compare(left, right, method="tags", strings="meaning")
    assert found.score > la.compare(left, right, method="tags").score + 0.1
    assert found.signature["meaning"] == "use-multilingual@0.2.1-2"

    def slowly(a: str, b: str) -> float:
        return lexical(a, b) if "𒀀" in a + b else meaning.similarity(a, b)

    assert found.score == pytest.approx(la.compare(left, right, method="tags", strings=slowly).score, abs=1e-6)
    assert la.match_tags(left, right, strings="meaning").score == found.score
    other = la.compare(left, right, method="tags", strings="meaning", model=letters)
    assert other.signature["meaning"].endswith("letters@1")
    assert other.score != found.score
    with pytest.raises(la.InputError, match="model: belongs to"):
        la.compare(left, right, method="tags", model=letters)


def test_all_strings_of_two_pages_are_encoded_at_once() -> None:
    asked: list[list[str]] = []

    def model(texts: list[str]) -> Any:
        asked.append(texts)
        return letters(texts)

    left, right = (la.page(html) for html in PAGES)
    la.match_tags(left, right, strings=MeaningOfStrings(model))
    assert [len(texts) > 1 for texts in asked].count(True) == 1


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("left.txt", LEFT), ("right.txt", RIGHT)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / "left.txt"), str(tmp_path / "right.txt")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from lookalike.cli import main; main()", *arguments], capture_output=True, text=True, check=False
    )


def test_the_command_line(texts: tuple[str, str], tmp_path: Path) -> None:
    found = run("compare", *texts, "--measure", "meaning", "--json")
    assert json.loads(found.stdout)["measures"] == {"meaning": meaning.similarity(LEFT, RIGHT)}
    missing = run("compare", *texts, "--measure", "meaning", "--model", str(tmp_path / "nothing"))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no such folder" in missing.stderr
    assert "Traceback" not in missing.stderr
