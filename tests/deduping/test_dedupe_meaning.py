"""Dedupe by meaning: the leaders' rule against the definition, in every order, with every budget."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
import reference_vectors as reference
from lookalike.leaders import meaning
from lookalike.leaders.meaning import MeaningLeaders
from lookalike.segments.vectors import unit_halves
from lookalike.testing import TinyEmbedder, corpus, tiny_model


@pytest.fixture(autouse=True)
def model() -> str:
    return tiny_model()


def texts_of(count: int) -> list[str]:
    return [text for _, text in corpus(count)] + ["", "12 34", "", "a river"]


def halves(texts: list[str]) -> list[list[float]]:
    found = unit_halves(TinyEmbedder().encode(texts), 32)
    return found.view(np.float16).reshape(-1, 32).tolist()


def expected(texts: list[str], threshold: float) -> list[tuple[int, int, float]]:
    decided = reference.leaders(halves(texts), threshold)
    return [(number, leader, score) for number, (leader, score) in enumerate(decided) if leader >= 0]


@pytest.mark.parametrize("threshold", [0.9, 0.97, 1.0])
def test_removed_documents_are_those_of_the_definition(threshold: float) -> None:
    texts = texts_of(120)
    rows = [{"id": number, "text": text} for number, text in enumerate(texts)]
    report = la.dedupe(rows, method="meaning", model="lookalike-tiny", threshold=threshold)
    assert [(each.id, each.kept_id, each.similarity) for each in report.removed] == expected(texts, threshold)
    assert len(report.removed) > 5
    settings = report.to_dict()["settings"]
    assert settings["model"] == "lookalike-tiny"
    assert settings["threshold"] == threshold
    assert report.to_dict()["compared"] > 100


def test_neither_blocks_nor_workers_nor_memory_change_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = texts_of(200)
    words, _ = meaning.vector_words(TinyEmbedder(), texts)
    seen = []
    for block, workers, allowed in ((1024, 1, 1 << 40), (1, 1, 1 << 40), (7, 3, 1 << 40), (16, 2, 0), (1024, 2, 0)):
        monkeypatch.setattr(meaning, "BLOCK", block)
        leaders = MeaningLeaders(32, 0.9, workers, lambda: tmp_path)
        found = [leaders.offer(words[first * 8 : (first + 50) * 8], allowed) for first in range(0, len(texts), 50)]
        seen.append(
            (np.concatenate([each[0] for each in found]).tolist(), np.concatenate([each[1] for each in found]).tolist(), leaders.compared)
        )
        assert bool(leaders.spilled) == (allowed == 0)
    assert all(each == seen[0] for each in seen)
    assert [(n, leader, score) for n, (leader, score) in enumerate(zip(*seen[0][:2], strict=True)) if leader >= 0] == expected(texts, 0.9)
    assert list(tmp_path.iterdir()) == []


def test_files_and_orders_of_keeping(tmp_path: Path) -> None:
    texts = texts_of(80)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    removed = tmp_path / "removed.jsonl"
    report = la.dedupe(
        path,
        out=tmp_path / "out.jsonl",
        removed=removed,
        html=tmp_path / "r.html",
        method="meaning",
        model="lookalike-tiny",
        keep="longest",
    )
    order = sorted(range(len(texts)), key=lambda n: (-len(texts[n]), n))
    ranked = expected([texts[n] for n in order], 0.9)
    wanted = {order[number]: (order[leader], score) for number, leader, score in ranked}
    listed = [json.loads(line) for line in removed.read_text().splitlines()]
    assert {each["id"]: (each["kept_id"], each["similarity"]) for each in listed} == wanted
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == len(texts) - len(wanted)
    assert report.rethreshold(1.0).to_dict()["settings"]["threshold"] == 1.0
    plan = la.plan(path, method="meaning", model="lookalike-tiny")
    assert plan.to_dict()["pairs"]["at_least"] > 100
    assert plan.removed_share > 0


def test_against_a_store(tmp_path: Path) -> None:
    texts = [text for _, text in corpus(60)]
    with la.open(tmp_path / "store", model="lookalike-tiny") as index:
        index.add([("stored", texts[0]), ("nothing", "")])
    rows = [{"id": n, "text": text} for n, text in enumerate([texts[0], "", "qq zz qq", texts[4]])]
    report = la.dedupe(rows, method="meaning", model="lookalike-tiny", against=tmp_path / "store", add=True, threshold=0.999)
    assert [(each.id, each.kept_id, each.similarity) for each in report.removed] == [(0, "stored", 1.0)]
    with la.open(tmp_path / "store") as index:
        assert len(index) == 5
        assert index.search("qq zz qq", by="meaning")[0].score == 1.0
    # Words are compared without regard to the model, and the other way round.
    assert len(la.dedupe(rows, against=tmp_path / "store", recipe="default").removed) >= 1
    with pytest.raises(la.RecipeMismatch):
        la.dedupe(rows, method="meaning", model=tiny_model("lookalike-tiny-2"), against=tmp_path / "store")


def test_wrong_settings_are_refused() -> None:
    rows = [{"id": 1, "text": "a"}]
    for options in (
        {"method": "minhash", "model": "lookalike-tiny"},
        {"method": "meaning", "model": "lookalike-tiny", "level": "line"},
        {"method": "meaning", "model": "no such model"},
        {"method": "meaning", "model": 7},
        {"method": "meaning", "model": "lookalike-tiny", "threshold": 0},
    ):
        with pytest.raises((la.InputError, la.UnknownName)):
            la.dedupe(rows, **options)


def test_forms_of_the_recipe_do_not_count(tmp_path: Path) -> None:
    """Neither among the documents, nor against those of a store."""
    rows = [{"id": 1, "text": "頭髮都乾了嗎"}, {"id": 2, "text": "头发都干了吗"}]
    options = {"method": "meaning", "model": tiny_model(), "threshold": 0.999}
    assert len(la.dedupe(rows, recipe="default+script", **options).removed) == 1
    assert len(la.dedupe(rows, **options).removed) == 0
    with la.open(tmp_path / "store", recipe="default+script", model=tiny_model()) as index:
        index.add("traditional", rows[0]["text"])
    (removed,) = la.dedupe(rows[1:], recipe="default+script", against=tmp_path / "store", **options).removed
    assert removed.kept_id == "traditional"
