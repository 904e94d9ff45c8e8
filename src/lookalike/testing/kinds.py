"""The contract of kinds: what every kind of fingerprint does in a store.

class TestLetters(KindContract):
    kind, by = "letters", "letters"

    def location(self, tmp_path): …
    def scores(self, query, texts): …   # of each text, by definition
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.errors import InputError
from lookalike.index.index import Index
from lookalike.stores.kinds import way_named
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, refused


class KindContract(Contract):
    """One kind, one way of searching by it, on one store. ``thresholds`` are those that are tried."""

    kind: str
    by: str
    thresholds: tuple[float, ...] = (0.5, 0.9)
    exact_without_text = True  # whether scores are the same in a collection that keeps no texts

    def thing(self, text: str) -> Any:
        """What is added and searched for: the text, or what the kind is about, made of it."""
        return text

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """What the way gives to each text, worked out the slow way."""
        raise NotImplementedError

    def open_with_kind(self, tmp_path: Path, **options: Any) -> Index:
        return self.open(tmp_path, **{"kinds": f"simhash,{self.kind}"} | options)

    def _things(self, documents: Sequence[tuple[str, str]]) -> list[tuple[str, Any]]:
        return [(id_, self.thing(text)) for id_, text in documents]

    def _assert_found(self, index: Index, live: dict[str, str], queries: Sequence[str]) -> None:
        for query in queries:
            scores = zip(self.scores(query, list(live.values())), live, strict=True)
            ranked = sorted(((-score, place, id_) for place, (score, id_) in enumerate(scores)))
            for threshold in self.thresholds:
                wanted = [(id_, -score) for score, _, id_ in ranked if -score >= threshold]
                found = index.search(self.thing(query), by=self.by, threshold=threshold, limit=None)
                assert [(match.id, match.score) for match in found] == wanted
                assert {match.scale for match in found} <= {way_named(self.by).scale}
                assert list(index.search(self.thing(query), by=self.by, threshold=threshold, limit=3)) == list(found[:3])

    def test_what_is_found_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(60)
        with self.open_with_kind(tmp_path) as index:
            assert self.kind in index.settings["kinds"]
            assert index.search(self.thing(documents[0][1]), by=self.by) == []
            assert index.add(self._things(documents)) == (60, 0)
            self._assert_found(index, dict(documents), [text for _, text in documents[::7]])
            assert self.thing(documents[3][1]) in (index.get(documents[3][0]).text, index.get(documents[3][0]).record)
            assert index.check().ok

    def test_it_follows_its_documents(self, tmp_path: Path) -> None:
        documents = corpus(60)
        queries = [text for _, text in documents[:6]]
        with self.open_with_kind(tmp_path) as index:
            for first in range(0, 60, 15):
                index.add(self._things(documents[first : first + 15]))
            assert index.remove([id_ for id_, _ in documents[::4]]) == 15
            index.add(documents[1][0], self.thing("other contents than before, of a few words"))
            index.add_simhashes(["a number"], [7])  # a document without it
            live = {id_: text for id_, text in documents[:] if id_ not in {id_ for id_, _ in documents[::4]}}
            del live[documents[1][0]]
            live[documents[1][0]] = "other contents than before, of a few words"
            self._assert_found(index, live, queries)
            assert index.check().ok
            index.compact()
            self._assert_found(index, live, queries)
            assert index.check().ok
            assert len(index) == 46
        self.require_persistence()
        with self.open(tmp_path, read_only=True) as index:
            self._assert_found(index, live, queries)
            assert index.check().ok

    def test_it_is_exported_and_loaded(self, tmp_path: Path) -> None:
        documents = corpus(30)
        for keep_text in (True, False) if self.exact_without_text else (True,):
            for name in ("all.jsonl", "all.parquet"):
                with self.open_with_kind(tmp_path, collection=f"from {keep_text} {name}", keep_text=keep_text) as index:
                    index.add(self._things(documents))
                    assert index.export(tmp_path / name) == 30
                with self.open(tmp_path, collection=f"to {keep_text} {name}", keep_text=keep_text) as copy:
                    assert copy.load(tmp_path / name) == 30
                    assert self.kind in copy.settings["kinds"]
                    self._assert_found(copy, dict(documents), [text for _, text in documents[:4]])
                    assert copy.check().ok

    def test_collections_with_it_and_without_are_side_by_side(self, tmp_path: Path) -> None:
        self.require_persistence()
        documents = corpus(20)
        with self.open(tmp_path, collection="without", kinds="simhash") as index:
            index.add(documents)
        with self.open_with_kind(tmp_path, collection="with") as index:
            index.add(self._things(documents))
        with self.open(tmp_path, collection="without") as index:
            index.add("more", "a text that came later")
            with refused(InputError):
                index.search(self.thing("a text"), by=self.by)
            assert index.search("a text that came later", by="simhash")[0].id == "more"
            assert index.check().ok
        with self.open(tmp_path, collection="with") as index:
            self._assert_found(index, dict(documents), [documents[2][1]])

    def test_clusters_are_verified_against_the_oldest(self, tmp_path: Path) -> None:
        documents = corpus(40)
        with self.open_with_kind(tmp_path) as index:
            index.add(self._things(documents))
            if not way_named(self.by).clusters_are_made:
                with refused(InputError):
                    index.clusters(self.by)
                return
            texts: dict[Any, str] = dict(documents)
            ages = {id_: age for age, id_ in enumerate(texts)}
            for cluster in index.clusters(self.by, threshold=self.thresholds[-1]):
                for member in cluster.removed:
                    assert ages[cluster.kept] < ages[member.id]
                    assert member.similarity == self.scores(texts[cluster.kept], [texts[member.id]])[0] >= self.thresholds[-1]
