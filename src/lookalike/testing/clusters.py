"""The contract of stores: clusters."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import InputError
from lookalike.fingerprints.minhash import minhash
from lookalike.fingerprints.simhash import simhash
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, exact_jaccard, joined_to, refused, removed_by_dedupe


class ClusterContract(Contract):
    """Clusters of whole collections."""

    def test_clusters_keep_the_oldest(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts = dict(documents)
        with self.open(tmp_path, recall=0.9999) as index:
            index.add(documents)
            clusters = index.clusters(threshold=0.8)
            kept = {cluster.kept for cluster in clusters}
            removed = {member.id for cluster in clusters for member in cluster.removed}
            assert clusters
            assert not kept & removed
            for cluster in clusters:
                for member in cluster.removed:
                    assert member.similarity == exact_jaccard(texts[cluster.kept], texts[member.id]) >= 0.8  # type: ignore[index]  # ids are texts here
            for cluster in index.clusters(by="simhash", k=3):
                for member in cluster.removed:
                    pair = simhash(texts[cluster.kept]), simhash(texts[member.id])  # type: ignore[index]  # ids are texts here
                    assert pair[0].distance(pair[1]) <= 3

    def test_clusters_are_those_of_dedupe(self, tmp_path: Path) -> None:
        """Whatever threshold the collection was made for."""
        documents = [*corpus(150), ("empty", ""), ("copy", dict(corpus(150))["doc-7"]), ("also empty", " … ")]
        rows = [{"id": id_, "text": text} for id_, text in documents]
        with self.open(tmp_path, threshold=0.9) as index:
            index.add(documents[:100])
            index.add(documents[100:])
            for threshold in (0.2, 0.3, 0.6, 0.9):
                found = index.clusters(threshold=threshold)
                assert joined_to(found) == removed_by_dedupe(rows, threshold=threshold)
                assert found.notes == []
            for k in (0, 3, 10):
                assert joined_to(index.clusters(by="simhash", k=k)) == removed_by_dedupe(rows, method="simhash", distance=k)
            with refused(InputError):
                index.clusters(threshold=0.01)  # no bands find so little

    def test_clusters_without_texts_are_estimated_for_any_threshold(self, tmp_path: Path) -> None:
        documents = corpus(150)
        sketches = [minhash(text) for _, text in documents]
        for keep_text in (False, True):
            with self.open(tmp_path, collection=f"estimates {keep_text}", threshold=0.9, keep_text=keep_text) as index:
                index.add(documents[:100])
                index.add_minhashes([id_ for id_, _ in documents[100:]], sketches[100:])
                found = index.clusters(threshold=0.3)
                kept: list[int] = []
                expected: dict[str | int, tuple[str | int, float]] = {}
                for number, (id_, _) in enumerate(
                    documents
                ):  # the definition: join the most similar leader, the oldest of equal ones, or lead
                    best = max(((sketches[number].similarity(sketches[leader]), -leader) for leader in kept), default=(0.0, 0))
                    if best[0] >= 0.3:
                        expected[id_] = documents[-best[1]][0], best[0]
                    else:
                        kept.append(number)
                assert joined_to(found) == expected
                assert "estimated" in found.notes[0]
