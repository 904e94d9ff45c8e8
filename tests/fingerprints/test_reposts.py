"""SimHash for reposts: the recommended recipe, what is said where another is weak, and what ``plan`` measures."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike.fingerprints.reposts import LENGTHS, MEASURED, advice, is_weak, measured_recall

WORDS = [chr(0x4E00 + number) + chr(0x5000 + number) for number in range(400)]


def texts(count: int, length: int, seed: int = 0) -> list[str]:
    chooser = random.Random(seed)
    return ["".join(chooser.choices(WORDS, k=length // 2)) for _ in range(count)]


def test_the_recipe_is_pairs_of_tokens() -> None:
    assert la.recipes.get("reposts") == la.Recipe(ngram=2)
    assert la.recipes.get("reposts").id.startswith("reposts.")


def test_the_recommended_recipe_finds_more_edits_of_every_length() -> None:
    some = [text for length in (250, 900, 2_500, 4_000) for text in texts(30, length, length)]
    default, reposts = (measured_recall(some, la.recipes.get(name), 3) for name in ("default", "reposts"))
    assert list(default) == list(reposts) == ["≤ 300", "≤ 1000", "≤ 3000", "> 3000"]
    assert all(reposts[length] >= default[length] for length in default)
    assert sum(reposts.values()) > sum(default.values()) + 0.3
    assert measured_recall(some, la.recipes.get("reposts"), 3) == reposts
    assert all(share == 1 for share in measured_recall(some, la.recipes.get("reposts"), 64).values())
    assert measured_recall([], la.Recipe(), 3) == {}


def test_advice_is_given_where_a_recipe_is_weak() -> None:
    text = texts(1, 250)[0]
    said = advice(la.Recipe(), text, 3)
    assert said is not None
    assert "'reposts'" in said
    assert "300 characters" in said
    assert advice(la.recipes.get("reposts"), text, 3) is None
    assert advice(la.recipes.get("keywords"), text, 3) is None
    assert advice(la.Recipe(), "文" * (LENGTHS[-1] + 1), 3) is None
    assert advice(la.Recipe(), text, 16) is None
    assert is_weak(la.Recipe())
    assert not is_weak(la.Recipe(ngram=2))
    for measured in MEASURED.values():
        assert all(
            few < more for name in measured.keys() - {"default"} for few, more in zip(measured["default"], measured[name], strict=True)
        )


def test_runs_of_characters_are_weak_for_chinese_alone() -> None:
    chars = la.recipes.get("chars")
    assert advice(chars, "the ferry leaves at noon " * 8, 3) is None
    assert "'chars'" in (advice(la.Recipe(), "the ferry leaves at noon " * 8, 3) or "")
    said = advice(chars, texts(1, 250)[0], 3) or ""
    assert "'reposts'" in said
    assert "'chars'" not in said


def test_a_search_says_that_the_collection_is_weak() -> None:
    text = texts(1, 250)[0]
    for recipe, said in ((None, 1), ("reposts", 0)):
        with la.open("memory://", recipe=recipe) as index:
            index.add("a", text)
            found = index.search(text, by="simhash")
            assert [match.id for match in found] == ["a"]
            assert len(found.notes) == said
            assert index.search(simhash=la.simhash(text, recipe=recipe)).notes == []


def test_plan_measures_edits_on_the_texts_themselves(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts(60, 900))), encoding="utf-8")
    weak, good = (la.plan(path, method="simhash", recipe=recipe) for recipe in (None, "reposts"))
    assert weak.edited["≤ 1000"] < good.edited["≤ 1000"]
    assert weak.to_dict()["recall_of_edits"] == {"≤ 1000": pytest.approx(weak.edited["≤ 1000"], abs=0.001)}
    assert [warning for warning in weak.warnings if "'reposts'" in warning]
    assert not [warning for warning in good.warnings if "'reposts'" in warning]
    assert la.plan(path).edited == {}


def test_plan_names_the_recipe_that_finds_most(tmp_path: Path) -> None:
    """Of English that is ``chars``, also beside ``reposts``; and nothing is better than the best."""
    chooser = random.Random(5)
    words = ["".join(chooser.choices("etaoinshrdlu", k=chooser.randint(2, 9))) for _ in range(2_000)]
    path = tmp_path / "rows.jsonl"
    rows = (json.dumps({"id": n, "text": " ".join(chooser.choices(words, k=400))}) + "\n" for n in range(60))
    path.write_text("".join(rows), encoding="utf-8")
    for recipe in ("default", "reposts"):
        (warning,) = la.plan(path, method="simhash", recipe=recipe).warnings
        assert warning.startswith("the recipe 'chars' finds more lightly edited copies: ")
    assert la.plan(path, method="simhash", recipe="chars").warnings == []
