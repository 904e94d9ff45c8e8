"""What an index answers and refuses, in every store alike: scales of scores, counts, progress, wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli import group
from lookalike.index.index import Index
from lookalike.stores.embedded import sealing
from lookalike.testing import corpus, tiny_model

INVOICE = "Invoice 2024-117 of March 3rd. Please pay 1,200.00 euros to the account below within thirty days. Thank you for your order."
OTHER = "Invoice 2024-231 of April 9th. Please pay 3,450.00 euros to the account below within thirty days. Thank you for your order."


def run(*arguments: object) -> str:
    result = CliRunner().invoke(group, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_match_has_the_score_of_compare_beside_its_own(tmp_path: Path) -> None:
    with la.open(tmp_path / "store", threshold=0.2) as index:
        index.add("other", OTHER)
        index.add_simhashes(["bare"], [int(la.simhash(INVOICE))])
        for by in ("near", "passages"):
            (found,) = index.search(INVOICE, by=by, threshold=0.1, compare=True)
            assert found.compared == la.compare(INVOICE, OTHER).score
            assert found.compared > found.score
        bare, *_ = index.search(INVOICE, by="simhash", k=16, compare=True)
        assert (bare.id, bare.compared) == ("bare", None)  # it has no text
        (plain,) = index.search(INVOICE, threshold=0.1)
        assert plain.compared is None
        assert "compared" not in plain.to_dict()
    shown = run("search", tmp_path / "store", "--text", INVOICE, "--threshold", "0.1", "--compare")
    assert "score (jaccard)" in shown
    assert f"{la.compare(INVOICE, OTHER).score:.4f}" in shown
    (told,) = json.loads(run("search", tmp_path / "store", "--text", INVOICE, "--threshold", "0.1", "--compare", "--json"))
    assert (told["scale"], told["compared"]) == ("jaccard", la.compare(INVOICE, OTHER).score)


def test_compare_where_there_is_nothing_to_compare() -> None:
    with la.open("memory://", keep_text=False) as index:
        index.add("a", INVOICE)
        with pytest.raises(la.InputError, match="keep_text"):
            index.search(INVOICE, compare=True)
    with la.open("memory://") as index:
        index.add("a", INVOICE)
        with pytest.raises(la.InputError, match="texts"):
            index.search(simhash=1, compare=True)
        with pytest.raises(la.InputError, match="texts"):
            index.search(INVOICE, by="fuzzy", compare=True)


@pytest.mark.parametrize(
    ("by", "scale"),
    [("near", "jaccard"), ("simhash", "equal bits"), ("passages", "share of query"), ("meaning", "cosine")],
)
def test_every_answer_says_its_scale(by: str, scale: str, tmp_path: Path) -> None:
    documents = corpus(20)
    with la.open(tmp_path / "store", model=tiny_model()) as index:
        index.add(documents)
        index.add("copy", documents[3][1])
        found = index.search(documents[3][1], by=by)
        assert found.scale == scale
        assert {match.to_dict()["scale"] for match in found} == {scale}
        if by != "passages":
            assert {cluster.to_dict()["scale"] for cluster in index.clusters(by)} == {scale}
            assert scale in run("clusters", tmp_path / "store", "--by", by)
    assert f"score ({scale})" in run("search", tmp_path / "store", "--text", documents[3][1], "--by", by)


def test_a_comparison_says_its_scale(tmp_path: Path) -> None:
    left, right = tmp_path / "left.txt", tmp_path / "right.txt"
    left.write_text(INVOICE)
    right.write_text(OTHER)
    assert la.compare(INVOICE, OTHER).to_dict()["scale"] == "calibrated"
    assert "calibrated score 0." in CliRunner().invoke(group, ["compare", str(left), str(right)]).output


def test_a_threshold_of_zero_counts() -> None:
    documents = corpus(40)
    with la.open("memory://", model=tiny_model()) as index:
        index.add(documents)
        all_of_them = index.search(documents[0][1], by="meaning", threshold=0.0, limit=None)
        found = index.search(documents[0][1], by="meaning", threshold=0.0, limit=3)
        assert (len(found), found.total, found.cut) == (3, len(all_of_them), True)
        assert len(all_of_them) > 3
        assert index.search(documents[0][1], by="meaning", limit=3).total == 3  # nothing says which match


def test_the_model_reads_each_text_once() -> None:
    read: list[list[str]] = []

    class Counting:
        name, version, dimensions = "counting", "1", 4

        def encode(self, texts: list[str]) -> Any:
            read.append(list(texts))
            return np.array([[len(text), text.count("e"), text.count("a"), 1] for text in texts], dtype=np.float32)

    found = la.compare(INVOICE, OTHER, measures=["meaning", "hybrid"], model=Counting())
    assert sorted(text for texts in read for text in texts) == sorted([INVOICE, OTHER])
    assert found.measures["meaning"] == la.measures.meaning_with(Counting()).similarity(INVOICE, OTHER)
    assert found.measures["hybrid"] == la.measures.hybrid_with(Counting()).similarity(INVOICE, OTHER)


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_check_and_compact_say_how_far_they_are(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SEAL_ROWS", 50)
    with la.open("memory://" if place == "memory" else tmp_path / "store") as index:
        for first in range(0, 160, 40):
            index.add(corpus(160)[first : first + 40])
        for work in (index.check, index.compact, index.compact):
            told: list[int] = []
            work(progress=told.append)
            assert told == sorted(told)
            assert told[-1] == 160
        if place == "disk":
            assert len(told) >= 1
            told = []
            index.check(progress=told.append)
            assert len(set(told)) >= len(index.settings["kinds"])  # not only when it is done


WRONG: dict[str, tuple[Callable[[Index, Any], object], list[object]]] = {
    "in": (lambda index, given: given in index, [10**30, "\ud800", "", "a" * 5000]),
    "get": (lambda index, given: index.get(given), [None, 1.5, True, 10**30, "\ud800"]),
    "remove": (
        lambda index, given: index.remove(given),
        [None, 1.5, object(), [None], [1.5], ["\ud800"], [10**30], [True], b"12", bytearray(b"12")],
    ),
    "workers": (lambda index, given: index.search_simhashes([1], workers=given), ["2", 0, None, 1.5, True]),
    "add workers": (lambda index, given: index.add("a", "text", workers=given), ["2", 0, 1.5, True]),
    "documents": (lambda _, given: list(la.documents(given)), [None, 1.5, object(), [None]]),
    "texts": (lambda index, given: index.search_texts(given), [None, 1.5, [None], "text"]),
    "meta": (lambda index, given: index.add("a", "text", given), ["meta", 5, [1]]),
    "ids": (lambda index, given: index.add_simhashes(given, [1]), [None, 1.5, [None], [10**30]]),
    "sketches": (lambda index, given: index.add_minhashes(["a"], given), [None, 1.5, "a", [None]]),
    "export": (lambda index, given: index.export(given), [None, 1.5, "", "\ud800.jsonl"]),
    "load": (lambda index, given: index.load(given), [None, 1.5, "", "\ud800.jsonl"]),
    "progress": (lambda index, given: index.check(progress=given), [1, "text", []]),
    "kinds": (lambda _, given: la.open("memory://", kinds=given), [1.5, 7, object()]),
    "collection": (lambda _, given: la.open("memory://", collection=given), ["\ud800", None, "", 7]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str) -> None:
    call, given = WRONG[name]
    with la.open("memory://") as index:
        for each in given:
            with pytest.raises(la.InputError, match=r".*[:;] .*|.* is a .*"):
                call(index, each)
        assert len(index) == 0


def test_meta_in_the_third_place() -> None:
    with la.open("memory://") as index:
        index.add("a", "a text", {"source": "here"})
        assert index.get("a").meta == {"source": "here"}
