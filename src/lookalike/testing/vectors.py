"""The contract of stores: vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import InputError, RecipeMismatch
from lookalike.fingerprints.simhash import simhash
from lookalike.index.kept_vectors import kept_model
from lookalike.markup.page import page
from lookalike.pages.representation import match_representations, page_vector
from lookalike.testing.contract import Contract
from lookalike.testing.made import TinyEmbedder, corpus, cosines_of, made_pages, refused, tiny_model


class _Counting(TinyEmbedder):
    """A model that says what it was given."""

    name = "lookalike-counting"

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: Sequence[str], /) -> Any:
        self.read += texts
        return super().encode(texts)


class VectorContract(Contract):
    """What a store does with vectors."""

    def test_forms_of_the_recipe_do_not_count_for_its_vectors(self, tmp_path: Path) -> None:
        for collection, recipe, is_alike in (("scripts", "default+script", True), ("one", "default", False)):
            with self.open(tmp_path, collection=collection, recipe=recipe, model=tiny_model()) as index:
                index.add("traditional", "頭髮都乾了嗎")
                scores = [match.score for match in index.search("头发都干了吗", by="meaning")]
                assert (max(scores, default=0.0) > 0.999) == is_alike

    def test_meaning_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts = [text for _, text in documents]
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add(documents)
            assert index.settings["kinds"][-1] == "vector"
            assert index.settings["dimensions"] == 32
            for _, text in documents[::9]:
                cosines = cosines_of(text, texts)
                for threshold in (None, 0.5, 0.9, 1.0):
                    expected = sorted((-cosine, n) for n, cosine in enumerate(cosines) if cosine >= (threshold or 0.0))
                    for limit in (1, 7, None):
                        found = index.search(text, by="meaning", threshold=threshold, limit=limit)
                        assert [(-match.score, match.id) for match in found] == [(c, documents[n][0]) for c, n in expected[:limit]]
                        assert [match.distance for match in found] == [1 + c for c, _ in expected[:limit]]
                        assert found.total == (len(found) if threshold is None else len(expected))
                        assert not any(match.estimated for match in found)
                assert index.search(text, by="meaning")[0].score == 1.0
            assert index.search(texts[0])[0].score == 1.0  # and by everything else too
            assert index.search(simhash=simhash(texts[0]))[0].id == documents[0][0]
            assert index.check().ok

    def test_vectors_of_changed_and_removed_documents_are_gone(self, tmp_path: Path) -> None:
        documents = corpus(60)
        with self.open(tmp_path, model=tiny_model(), kinds="vector") as index:
            index.add(documents)
            gone = [id_ for id_, _ in documents[::3]]
            assert index.remove(gone) == 20
            index.add([(documents[1][0], "qqqq zzzz")])
            live = {id_: text for id_, text in documents if id_ not in gone} | {documents[1][0]: "qqqq zzzz"}
            for _ in range(2):
                for _, text in documents[:12]:
                    found = index.search(text, by="meaning", threshold=0.3, limit=None)
                    scores = dict(zip(live, cosines_of(text, list(live.values())), strict=True))
                    assert {match.id: match.score for match in found} == {id_: each for id_, each in scores.items() if each >= 0.3}
                    assert found.total == len(found)
                    assert index.search(text, by="meaning", threshold=0.3, limit=3).total == len(found)
                index.compact()
            assert index.search("qqqq zzzz", by="meaning")[0].id == documents[1][0]
            assert index.check().ok

    def test_texts_without_meaning_are_kept_and_not_found(self, tmp_path: Path) -> None:
        texts = {"empty": "", "white": " \n\t", "unknown": "12345 67890 !!", "known": "a river and a bridge", "odd": "\ud800 river \0"}
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add(texts.items())
            assert [index.get(id_).text for id_ in texts] == list(texts.values())
            assert {match.id for match in index.search("river", by="meaning", limit=None)} == {"known", "odd"}
            for query in ("", "  ", "42"):
                found = index.search(query, by="meaning")
                assert list(found) == []
                assert "no meaning" in found.notes[0]
            assert index.check().ok

    def test_vectors_in_and_out(self, tmp_path: Path) -> None:
        vectors = np.random.default_rng(5).standard_normal((300, 32)).astype(np.float32)
        vectors[150:200] = vectors[:50] * 3  # the length of a vector says nothing
        with self.open(tmp_path, model=tiny_model(), kinds="vector", keep_text=False) as index:
            assert index.add_vectors(np.arange(300), vectors) == (300, 0)
            assert [match.id for match in index.search(vector=vectors[7], threshold=1.0)] == [7, 157]
            found = index.search_vectors(vectors[:20], limit=5, threshold=0.1)
            assert found.ids.dtype == np.int64
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            for q in range(20):
                here = slice(found.offsets[q], found.offsets[q + 1])
                assert found.ids[here].tolist()[:2] == [q, q + 150]
                assert np.abs(found.scores[here] - (units @ units[q])[found.ids[here]]).max() < 1e-3
                assert found.scores[here].tolist() == sorted(found.scores[here], reverse=True)
            index.add([("text", "a river and a bridge")])
            assert index.get("text").text is None
            assert index.search("a river and a bridge", by="meaning")[0].id == "text"
            wrong: Sequence[Any] = (
                vectors[:, :31],
                vectors[0],
                [["a"] * 32],
                np.full((1, 32), np.nan),
                np.full((1, 32), np.inf),
                "ab",
                None,
            )
            for each in wrong:
                with refused(InputError):
                    index.add_vectors([1], each)
            with refused(InputError):
                index.add_vectors([1, 2], vectors[:1])
            queries: Sequence[dict[str, Any]] = (
                {"vector": vectors[0], "by": "near"},
                {"vector": vectors[0, :5]},
                {"vector": vectors[0], "query": "a"},
            )
            for arguments in queries:
                with refused(InputError):
                    index.search(**arguments)
            assert len(index) == 301
            assert index.check().ok

    def test_vectors_of_two_models_are_never_mixed(self, tmp_path: Path) -> None:
        self.require_persistence()
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add("a", "a river")
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add("b", "a bridge")
            assert len(index.search("river bridge", by="meaning")) == 2
        others: Sequence[dict[str, Any]] = (
            {"model": tiny_model("lookalike-tiny-2")},
            {"recipe": "default"},
            {"recipe": "words", "model": tiny_model()},
        )
        for options in others:
            with refused(RecipeMismatch):
                self.open(tmp_path, **options)
        with self.open(tmp_path, collection="without") as index:
            index.add("a", "a river")
            with refused(InputError):
                index.search("river", by="meaning")
            with refused(InputError):
                index.add_vectors(["a"], [[1.0] * 32])
        with refused(RecipeMismatch):
            self.open(tmp_path, collection="without", model=tiny_model())
        with refused(InputError):
            self.open(tmp_path, collection="new", kinds="vector")

    def test_vectors_are_exported_and_read_back(self, tmp_path: Path) -> None:
        documents = corpus(40)
        for keep_text in (True, False):
            with self.open(tmp_path, collection=f"from {keep_text}", keep_text=keep_text, model=tiny_model()) as index:
                index.add([*documents, ("empty", "")])
                index.add_vectors(["vector"], [[1.0] * 32])
                assert index.export(tmp_path / "all.jsonl") == 42
                wanted = [index.search(text, by="meaning", limit=None) for _, text in documents[:9]]
            with self.open(tmp_path, collection=f"to {keep_text}", keep_text=keep_text, model=tiny_model()) as copy:
                assert copy.load(tmp_path / "all.jsonl") == 42
                assert [copy.search(text, by="meaning", limit=None) for _, text in documents[:9]] == wanted
                assert copy.check().ok

    def test_clusters_by_meaning_keep_the_oldest(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts: dict[Any, str] = dict(documents)
        with self.open(tmp_path, model=tiny_model(), kinds="vector") as index:
            index.add(documents)
            clusters = index.clusters(by="meaning", threshold=0.95)
            joined = {member.id for cluster in clusters for member in cluster.removed}
            kept = [id_ for id_, _ in documents if id_ not in joined]
            assert clusters
            for cluster in clusters:
                for member in cluster.removed:
                    assert member.similarity == cosines_of(texts[cluster.kept], [texts[member.id]])[0] >= 0.95
            for place, id_ in enumerate(kept):
                assert max(cosines_of(texts[id_], [texts[other] for other in kept[:place]]), default=0) < 0.95

    def test_tags_that_were_read_once_are_not_read_again(self, tmp_path: Path) -> None:
        pages = [page(html) for _, html in made_pages(12)]
        with self.open(tmp_path, collection="tags", kinds="simhash", keep_text=False) as tags:
            first = _Counting()
            kept = kept_model(tags, first)
            vectors = [page_vector(each, model=kept) for each in pages]
            assert len(first.read) == len(set(first.read)) == len(tags) == kept.read > 0
            again = _Counting()
            for each, vector in zip(pages, vectors, strict=True):
                assert np.array_equal(page_vector(each, model=kept_model(tags, again)), vector)
                assert np.array_equal(page_vector(each, model=_Counting()), vector)
            assert match_representations(pages[0], pages[1], model=kept_model(tags, again)) == match_representations(
                pages[0], pages[1], model=_Counting()
            )
            assert again.read == []
        with self.open(tmp_path, collection="pages", kinds="vector", model=tiny_model()) as index:
            index.add_vectors([f"page {n}" for n in range(12)], vectors)
            for number in (0, 5, 11):
                assert index.search(vector=vectors[number], limit=1)[0].score > 0.999
