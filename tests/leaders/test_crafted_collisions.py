"""Texts that were made to have the fingerprints of others: what is called verified does not fall for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
import reference
from crafted_collisions import COLLIDING, crafted, forged
from lookalike.drafts.edit_share import edit_share

GENUINE = "the council voted to rebuild the old market hall beside the river before the end of next winter"
FORGED = forged(GENUINE)
CHINESE = "相 似 文 本 文 相 本 似"


def test_the_words_collide() -> None:
    for word, other in COLLIDING.items():
        assert reference.token_hash(word.encode()) == reference.token_hash(other.encode())
    assert crafted("a", seed=3) != "a"
    assert set(FORGED.split()).isdisjoint(GENUINE.split())
    # Estimates and stored fingerprints fall for it, and docs/dedupe.md says so.
    assert la.simhash(FORGED) == la.simhash(GENUINE)
    assert la.minhash(FORGED).values == la.minhash(GENUINE).values
    assert la.winnow(FORGED).values == la.winnow(GENUINE).values


@pytest.mark.parametrize("text", [GENUINE, CHINESE])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.3},
        {"method": "exact"},
        {"keep": "longest"},
        {"workers": 2},
        {"level": "line"},
        {"level": "paragraph"},
        {"recipe": la.Recipe(ngram=2)},
        {"recipe": la.Recipe(tokenizer="jieba")},
        {"recipe": la.Recipe(ngram=1, stop_words="en")},
    ],
    ids=str,
)
def test_dedupe_keeps_the_genuine_text(text: str, options: dict[str, Any]) -> None:
    rows = [{"id": "forged", "text": forged(text)}, {"id": "genuine", "text": text}, {"id": "copy", "text": text.upper()}]
    report = la.dedupe(rows, **options)
    assert "genuine" not in {each.id for each in report.removed}
    assert "forged" not in {each.kept_id for each in report.removed}


def test_a_resumed_run_keeps_the_genuine_text(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in (FORGED, GENUINE, GENUINE)))
    la.dedupe(source, out=out, resume=True)
    assert out.read_text() == "".join(json.dumps({"text": text}) + "\n" for text in (FORGED, GENUINE))


@pytest.mark.parametrize("recipe", ["default", "datasketch", la.Recipe(tokenizer="jieba"), la.Recipe(ngram=1, stop_words="en")], ids=str)
def test_a_search_does_not_find_the_forged_text(recipe: Any) -> None:
    with la.open("memory://", recipe=recipe, kinds="minhash") as index:
        index.add([("forged", FORGED), ("genuine", GENUINE), ("copy", GENUINE)])
        for limit in (1, 10):
            found = index.search(GENUINE, threshold=0.5, limit=limit)
            assert [(match.id, match.score) for match in found] == [("genuine", 1.0), ("copy", 1.0)][:limit]
            assert found.total == 2
        assert [match.id for match in index.search(FORGED, threshold=0.5)] == ["forged"]
        assert [(cluster.kept, [member.id for member in cluster.removed]) for cluster in index.clusters()] == [("genuine", ["copy"])]


def test_no_passages() -> None:
    assert la.winnow(FORGED).passages(la.winnow(GENUINE)) == []
    assert la.winnow(GENUINE.upper()).passages(la.winnow(GENUINE)) != []
    words = la.Recipe(tokenizer="jieba")
    assert la.winnow(FORGED, recipe=words).passages(la.winnow(GENUINE, recipe=words)) == []
    assert la.winnow(GENUINE.upper(), recipe=words).passages(la.winnow(GENUINE, recipe=words)) != []
    with la.open("memory://") as index:
        index.add([("forged", FORGED), ("genuine", f"It says: {GENUINE}.")])
        assert [match.id for match in index.search(GENUINE, by="passages")] == ["genuine"]
        assert index.search(GENUINE, by="simhash", k=16)[0].passages == []


def test_a_comparison_sees_that_they_differ() -> None:
    found = la.compare(FORGED, GENUINE)
    assert found.passages == []
    assert found.edits.kept == 0
    assert found.score < 0.3
    for name in ("jaccard", "dice", "overlap", "containment", "containment-reverse"):
        assert found.measures[name] == 0.0
    assert la.measures.jaccard.similarity(FORGED, GENUINE) == 0.0
    pages = la.compare(la.page(f"<p>{FORGED}</p>"), la.page(f"<p>{GENUINE}</p>"))
    assert pages.score < 0.8  # the markup is the same


def test_feedback_sees_that_they_differ() -> None:
    assert edit_share(FORGED, GENUINE) > 0.8
    report = la.feedback([{"draft": FORGED, "final": GENUINE}])
    assert report.rows[0].edit_share > 0.8


def test_ignored_text_is_ignored_where_it_is() -> None:
    assert la.compare(f"{FORGED} one two three four five six", "one two three four five six", ignore=[GENUINE]).score < 1.0
