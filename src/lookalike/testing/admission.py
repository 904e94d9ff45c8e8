"""The contract of stores: asking and adding as one, the clusters that come of it, and what is kept beside texts."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lookalike.errors import InputError, NotFound
from lookalike.index.admit import Admitted
from lookalike.stores.clusters import Cluster, Member
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, joined_to, refused, tiny_model


class AdmissionContract(Contract):
    """A document is added unless one that looks like it is there."""

    def test_admitting_keeps_what_dedupe_keeps(self, tmp_path: Path) -> None:
        documents = corpus(160)
        with self.open(tmp_path, collection="all") as everything:
            everything.add(documents)
            removed = joined_to(everything.clusters())
            assert removed
        with self.open(tmp_path) as index:
            answers = index.admit(documents)
            assert {id_ for (id_, _), answer in zip(documents, answers, strict=True) if not answer.admitted} == set(removed)
            for (id_, _), answer in zip(documents, answers, strict=True):
                assert answer.admitted is (answer.match is None)
                assert answer.match is None or (answer.match.id, answer.match.score) == removed[id_]
            assert list(index.ids()) == [id_ for id_, _ in documents if id_ not in removed]
        # One by one, what is there is what they are compared with.
        with self.open(tmp_path, collection="one by one") as other:
            single = [other.admit(*document) for document in documents]
            assert [answer.to_dict() for answer in single] == [answer.to_dict() for answer in answers]

    def test_admitting_by_other_ways(self, tmp_path: Path) -> None:
        documents = corpus(60)
        copies = [(f"copy of {id_}", text) for id_, text in documents[:12]]
        for by in ("simhash", "meaning", "passages"):
            with self.open(tmp_path, collection=by, **{"model": tiny_model()} if by == "meaning" else {}) as index:
                first = index.admit(documents, by=by)
                assert first[0] == Admitted(True, None)
                again = index.admit(copies, by=by)
                assert not any(answer.admitted for answer in again), by
                assert len(index) == sum(answer.admitted for answer in first)
        with self.open(tmp_path, collection="bits", bits=128) as index:
            for k in (0, 3, 16):
                index.remove(list(index.ids()))
                answers = index.admit([("a", documents[0][1]), ("b", documents[1][1]), ("c", documents[0][1])], by="simhash", k=k)
                assert [answer.admitted for answer in answers] == [True, True, False]

    def test_an_id_that_is_there_counts_as_any_other(self, tmp_path: Path) -> None:
        documents = corpus(8)
        (first, text), (second, other) = documents[0], documents[1]
        with self.open(tmp_path) as index:
            index.admit([documents[0], documents[1]])
            again = index.admit(first, text)
            assert not again.admitted
            assert again.match is not None
            assert again.match.id == first
            assert index.admit(first, other).match.id == second  # what the id has now does not matter
            assert index.admit(first, documents[2][1]) == Admitted(True, None)
            assert index.get(first).text == documents[2][1]
            assert len(index) == 2
            # Within a batch the later edition counts, and what it replaced is gone.
            answers = index.admit([("new", documents[4][1]), ("new", documents[5][1]), ("late", documents[4][1])])
            assert [answer.admitted for answer in answers] == [True, True, True]
            assert index.get("new").text == documents[5][1]
            # So it is for what the batch replaces in the store.
            answers = index.admit([(first, documents[6][1]), ("later", documents[2][1])])
            assert [answer.admitted for answer in answers] == [True, True]

    def test_what_looks_alike_is_linked_or_added_where_that_is_asked_for(self, tmp_path: Path) -> None:
        documents = corpus(120)
        with self.open(tmp_path) as index:
            answers = index.admit(documents, alike="link")
            assert all(answer.admitted for answer in answers)
            assert list(index.ids()) == [id_ for id_, _ in documents]
            clusters = index.clusters()
            assert joined_to(index.kept_clusters()) == joined_to(clusters)
            assert [each.kept for each in index.kept_clusters()] == [each.kept for each in clusters]
            for cluster in clusters:
                for id_ in (cluster.kept, *(member.id for member in cluster.removed)):
                    found = index.cluster_of(id_)
                    assert (found.kept, found.removed, found.size) == (cluster.kept, cluster.removed, 1 + len(cluster.removed))
            alone = next(id_ for id_, _ in documents if id_ not in joined_to(clusters) and id_ not in {each.kept for each in clusters})
            assert index.cluster_of(alone) == Cluster(alone, ())
            with refused(NotFound):
                index.cluster_of("nobody")
            anyway = index.admit("anyway", documents[0][1], alike="add")
            assert anyway.admitted
            assert anyway.match is not None
            assert index.cluster_of("anyway") == Cluster("anyway", ())

    def test_the_oldest_that_is_left_leads_a_cluster(self, tmp_path: Path) -> None:
        text = corpus(1)[0][1]
        with self.open(tmp_path) as index:
            index.admit([(number, text) for number in range(4)], alike="link")
            assert index.cluster_of(2) == Cluster(0, tuple(Member(number, 1.0) for number in (1, 2, 3)))
            index.remove([0, 2])
            assert index.cluster_of(3) == Cluster(1, (Member(3, 1.0),))
            assert index.admit(4, text, alike="link").match.id == 1  # it leads, so it is what others are linked to
            index.remove(1)
            assert {index.cluster_of(3).kept, index.cluster_of(4).kept} <= {3, 4}
            index.add(3, "something else that has nothing to do with it, and is in no cluster any more")
            assert index.cluster_of(3) == Cluster(3, ())
            index.compact()
            assert index.cluster_of(4).kept == 4
            assert index.check().ok

    def test_whoever_is_linked_to_an_heir_is_in_the_cluster(self, tmp_path: Path) -> None:
        text = corpus(1)[0][1]
        with self.open(tmp_path) as index:
            index.admit([(number, text) for number in range(3)], alike="link")
            index.remove(0)
            index.admit([(3, text), (4, text)], alike="link")
            assert index.kept_clusters() == [Cluster(1, tuple(Member(number, 1.0) for number in (2, 3, 4)))]
            assert index.cluster_of(4) == index.cluster_of(1) == Cluster(1, tuple(Member(number, 1.0) for number in (2, 3, 4)))
            index.remove(1)
            assert index.cluster_of(4) == Cluster(2, (Member(3, 1.0), Member(4, 1.0)))

    def test_no_document_is_a_member_of_itself(self, tmp_path: Path) -> None:
        """Of editions of a document the last counts, whether they come one by one or in a list."""
        (_, text), (_, other) = corpus(2)
        documents = [
            ("a", text), ("b", text), ("a", text), ("c", text), ("c", other), ("d", other), ("c", text), ("d", other), ("alone", other), ("a", other)
        ]  # fmt: skip
        for at_once in (1, 3, len(documents)):
            with self.open(tmp_path, collection=f"{at_once} at once") as index:
                for first in range(0, len(documents), at_once):
                    answers = index.admit(documents[first : first + at_once], alike="link")
                    assert all(answer.admitted for answer in answers)
                found = [(each.kept, [member.id for member in each.removed]) for each in index.kept_clusters()]
                assert found == [("b", ["c"]), ("d", ["alone", "a"])], at_once
                assert index.admit("d", other, alike="link").match.id == "alone"
                assert [index.cluster_of(id_).kept for id_ in ("d", "alone", "a", "c")] == ["alone", "alone", "alone", "b"]
            with self.open(tmp_path, collection=f"retried {at_once}") as index:
                assert index.admit("a", text, alike="link") == Admitted(True, None)
                assert index.admit("a", text, alike="link").match.id == "a"  # as whoever asks again is told
                assert index.cluster_of("a") == Cluster("a", ())
                assert index.kept_clusters() == []

    def test_lists_come_to_the_clusters_of_single_documents(self, tmp_path: Path) -> None:
        """Whatever is replaced and removed meanwhile: some editions look like others, and ids come again."""
        texts = [f"{text}{more}" for _, text in corpus(2) for more in ("", " and more", "!!")]
        for seed in range(4):
            chance = random.Random(seed)  # noqa: S311
            rounds = [
                ([(chance.randrange(8), chance.choice(texts)) for _ in range(10)], [chance.randrange(8) for _ in range(2)])
                for _ in range(3)
            ]
            found = []
            for at_once in (1, 3, 10):
                with self.open(tmp_path, collection=f"{seed} {at_once}") as index:
                    for documents, removed in rounds:
                        for first in range(0, len(documents), at_once):
                            index.admit(documents[first : first + at_once], alike="link")
                        index.remove(removed)
                    clusters = index.kept_clusters()
                    found.append((list(index.ids()), clusters))
                    assert all(index.cluster_of(member.id) == cluster for cluster in clusters for member in cluster.removed)
            assert found[0] == found[1] == found[2], seed

    def test_many_threads_admit_each_text_once(self, tmp_path: Path) -> None:
        documents = [text for _, text in corpus(40) if _.endswith(("0", "1", "2"))]
        with self.open(tmp_path) as index, ThreadPoolExecutor(8) as threads:
            asked = [(f"{number} of {worker}", text) for number, text in enumerate(documents) for worker in range(8)]
            answers = list(threads.map(lambda each: index.admit(*each), asked))
            winners = {each[0] for each, answer in zip(asked, answers, strict=True) if answer.admitted}
            assert set(index.ids()) == winners
            expected = {id_ for id_ in index.ids() if str(id_).split(" of ")[0]}
            assert winners == expected
            assert all(answer.match.id in winners for answer in answers if not answer.admitted)
            assert index.admit([(f"again {number}", text) for number, text in enumerate(documents)])[0].match.id in winners
            assert index.check().ok

    def test_what_has_expired_keeps_nothing_out_of_its_batch(self, tmp_path: Path) -> None:
        text = corpus(1)[0][1]
        documents = [("old", text, {"until": "2020-01-01"}), ("new", text, {"until": "2100-01-01"}), ("late", text, {})]
        for at_once in (1, 3):
            for alike, admitted in (("refuse", [True, True, False]), ("link", [True, True, True])):
                with self.open(tmp_path, collection=f"{alike} {at_once}") as index:
                    answers = []
                    for first in range(0, 3, at_once):
                        answers += index.admit(documents[first : first + at_once], expires="until", alike=alike)
                    assert [answer.admitted for answer in answers] == admitted
                    assert [answer.match and answer.match.id for answer in answers] == [None, None, "new"]
                    assert list(index.ids()) == [id_ for id_, there in zip(("new", "late"), admitted[1:], strict=True) if there]

    def test_of_editions_in_a_batch_each_expires_at_its_own_time(self, tmp_path: Path) -> None:
        (_, text), (_, other) = corpus(2)
        with self.open(tmp_path) as index:
            index.add([("a", text, {"until": "2020-01-01"}), ("a", other, {})], expires="until")
            assert "a" in index
            answers = index.admit([("b", text, {}), ("b", text, {"until": "2020-01-01"})], expires="until")
            assert [answer.admitted for answer in answers] == [True, False]
            assert "b" in index

    def test_admit_refuses_what_it_cannot_do(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            with refused(InputError):
                index.admit("id", "text", by="structure")
            with refused(InputError):
                index.admit("id", "text", alike="perhaps")
            with refused(InputError):
                index.admit("id", "text", threshold=2)
            with refused(InputError):
                index.admit([("id", None)])
            assert index.admit([]) == []
            assert len(index) == 0

    def test_matches_carry_what_is_kept_beside_the_text(self, tmp_path: Path) -> None:
        documents = corpus(20)
        with self.open(tmp_path) as index:
            index.add([(id_, text, {"number": number, "deep": {"名": [1, None]}}) for number, (id_, text) in enumerate(documents)])
            for by in ("near", "simhash", "passages", "fuzzy"):
                best = index.search(documents[4][1], by=by, text=True)[0]
                assert (best.id, best.meta, best.text) == (documents[4][0], {"number": 4, "deep": {"名": [1, None]}}, documents[4][1])
                assert best.to_dict()["meta"]["number"] == 4
                assert index.search(documents[4][1], by=by)[0].text is None
            assert index.search_texts([documents[5][1]])[0][0].meta["number"] == 5
            assert index.admit("new", documents[6][1]).match.meta["number"] == 6

    def test_expired_documents_are_found_by_nothing(self, tmp_path: Path) -> None:
        documents = corpus(12)
        past, future = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
        with self.open(tmp_path) as index:
            index.add(documents[:4], expires=past)
            index.add(documents[4:8], ttl=3600)
            index.add([(id_, text, {"until": future.isoformat()}) for id_, text in documents[8:10]], expires="until")
            index.add([(id_, text, {"until": past.isoformat()}) for id_, text in documents[10:]], expires="until")
            there = [id_ for id_, _ in documents[4:10]]
            for _ in range(2):
                assert list(index.ids()) == [document.id for document in index.documents()] == there
                assert len(index) == 6
                for number, (id_, text) in enumerate(documents):
                    assert (id_ in index) is (4 <= number < 10)
                    for by in ("near", "simhash", "passages", "fuzzy"):
                        assert [match.id for match in index.search(text, by=by, limit=None) if match.id not in there] == []
                    assert (id_ in [match.id for match in index.search(text)]) is (4 <= number < 10)
                assert {each.kept for each in index.clusters(threshold=0.3)} <= set(there)
                assert index.check().ok
                index.compact()
            with refused(NotFound):
                index.get(documents[0][0])
            assert index.admit(*documents[0]).admitted  # nothing keeps it out any more
            index.add("soon", "it is here for a moment only, and then it is not", ttl=0.2)
            deadline = time.monotonic() + 20
            while "soon" in index and time.monotonic() < deadline:
                time.sleep(0.05)
            assert "soon" not in index
            assert index.search("it is here for a moment only, and then it is not") == []
            index.add([("inner", "within another field", {"author": {"until": "2020-01-01"}})], expires="author.until")
            assert "inner" not in index
            times = ("2026-13-01", "31.12.2026", "2026-12-31T25:00", "1798675200")  # no names of fields
            asked: list[dict[str, Any]] = [
                {"ttl": 0}, {"ttl": True}, {"expires": object()}, {"ttl": 1, "expires": past}, {"expires": float("nan")},
                *({"expires": each} for each in times),
            ]  # fmt: skip
            for wrong in asked:
                with refused(InputError):
                    index.add("id", "text", **wrong)
            with refused(InputError):
                index.add("id", "text", {"until": "tomorrow"}, expires="until")
