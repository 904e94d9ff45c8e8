"""Several stores as one: the whole contract, the same answers as one store, and what happens when one of them is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InputError, StoreError
from lookalike.stores.shards.routing import numbers, shard_of
from lookalike.testing import StoreContract, corpus
from postgres_server import empty_database, empty_store

DOCUMENTS = corpus(150)
SEARCHES = ("near", "simhash", "passages", "fuzzy", "ssdeep", "tlsh")


class TestShards(StoreContract):
    one_writer = False  # each shard has its own writer, and two need not meet

    def location(self, tmp_path: Path) -> str:
        (tmp_path / "shards.txt").write_text("# three of them\na.lookalike\nb.lookalike\n\nc.lookalike\n")
        return f"shards://{tmp_path}/shards.txt"


class TestShardsInMemory(StoreContract):
    one_writer = persistent = False

    def location(self, tmp_path: Path) -> str:
        (tmp_path / "shards.txt").write_text("memory://\nmemory://\n")
        return f"shards://{tmp_path}/shards.txt"


def test_the_same_answers_as_one_store(tmp_path: Path) -> None:
    """A folder, two servers and the memory. Copies of a text are in several shards; some documents are replaced, some removed."""
    documents = [*DOCUMENTS, *((f"copy {id_}", text) for id_, text in DOCUMENTS[::7]), (5, DOCUMENTS[5][1])]
    servers = [empty_store(), empty_store(packaged=True)]
    with la.open(tmp_path / "one") as one, la.open([tmp_path / "a", *servers, "memory://"]) as several:
        for index in (one, several):
            assert index.add(documents) == (len(documents), 0)
            assert index.add(documents[10:20]) == (0, 10)
            assert index.remove([documents[3][0], "nobody"]) == 1
            assert len(index) == len(documents) - 1
        assert list(several.ids()) == list(one.ids())
        assert list(several.documents()) == list(one.documents())
        for by in SEARCHES:
            for _, text in documents[::11]:
                for limit in (3, None):
                    ours, theirs = several.search(text, by=by, limit=limit), one.search(text, by=by, limit=limit)
                    assert ours == theirs
                    assert (ours.total, ours.notes) == (theirs.total, theirs.notes)
        values = np.array([int(la.simhash(text)) for _, text in documents[::9]], dtype=np.uint64)
        for left, right in zip(several.search_simhashes(values, k=10, limit=4), one.search_simhashes(values, k=10, limit=4), strict=True):
            assert left.tolist() == right.tolist()
        texts = [text for _, text in documents[::13]]
        assert several.search_texts(texts) == one.search_texts(texts)
        assert several.clusters() == one.clusters()
        assert several.clusters("simhash", k=5) == one.clusters("simhash", k=5)
        assert several.check().ok
        assert [each["documents"] > 20 for each in several.stats()["shards"]] == [True] * 4
        several.export(tmp_path / "several.jsonl")
        one.export(tmp_path / "one.jsonl")
        assert (tmp_path / "several.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


def test_meta_is_as_it_was_given(tmp_path: Path) -> None:
    with la.open([tmp_path / "a", tmp_path / "b"]) as index:
        index.add([("a", "text one", {"site": "x"}), ("b", "text two"), (7, "text three", {"ä": [1, None]})])
        assert [each.meta for each in index.documents()] == [{"site": "x"}, {}, {"ä": [1, None]}]
        assert index.get(7).meta == {"ä": [1, None]}


def test_meta_has_what_json_can_hold(tmp_path: Path) -> None:
    """Lone surrogates, as they come from texts that were cut, and NUL: as on one store."""
    meta = {"title": "cut \ud800", "\udfff": "a\0b", "site": "中文"}
    with la.open([tmp_path / "a", empty_store(), "memory://"]) as index:
        index.add([(number, text, meta) for number, (_, text) in enumerate(DOCUMENTS[:12])])
        assert index.admit("one more", "like nothing else that is here", meta).admitted
        assert [document.meta for document in index.documents()] == [meta] * 13


def test_a_dead_shard_is_an_error_or_a_partial_answer_that_says_so(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    with la.open(places) as index:
        index.add(DOCUMENTS)
    shutil.rmtree(places[1])
    for options in ({"read_only": True}, {"create": False}, {}):  # it is not made anew, either
        with pytest.raises(StoreError, match="shard 2 of 3 cannot be opened"):
            la.open(places, **options)
    with la.open(places, partial=True) as index:
        assert "shard 2 of 3 did not answer" in index.search(DOCUMENTS[0][1]).notes[-1]
    assert not places[1].exists()
    with la.open(places, read_only=True, partial=True) as index:
        for id_, text in DOCUMENTS[:30]:
            found = index.search(text)
            assert (id_ in [match.id for match in found]) == (shard_of(id_, 3) != 1)
            assert "shard 2 of 3 did not answer" in found.notes[-1]
        # What counts, lists or names documents is never partial.
        gone = next(id_ for id_, _ in DOCUMENTS if shard_of(id_, 3) == 1)
        for call in (lambda: len(index), lambda: list(index.ids()), lambda: index.get(gone), index.clusters, index.stats):
            with pytest.raises(StoreError):
                call()


def test_shards_of_which_some_were_made_are_completed(tmp_path: Path) -> None:
    la.open(tmp_path / "b").close()
    with la.open([tmp_path / name for name in "abc"]) as index:
        index.add(DOCUMENTS)
        assert len(index) == len(DOCUMENTS)


def test_a_server_that_is_gone_is_left_out(tmp_path: Path) -> None:
    nowhere = "postgresql://127.0.0.1:9/none?connect_timeout=1"
    with la.open([tmp_path / "a", nowhere], partial=True) as index:
        here = next(id_ for id_, _ in DOCUMENTS if shard_of(id_, 2) == 0)
        index.add(here, "a text in the shard that is there")
        assert index.search("a text in the shard that is there")[0].id == here
        there = next(id_ for id_, _ in DOCUMENTS if shard_of(id_, 2) == 1)
        with pytest.raises(StoreError, match="could not be opened"):
            index.add(there, "a text in the shard that is gone")


def test_lists_that_are_refused(tmp_path: Path) -> None:
    la.open(tmp_path / "words", recipe="words").close()
    la.open(tmp_path / "other").close()
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "nested.txt").write_text("shards://x\n")
    for location in (
        [],
        [tmp_path / "a", tmp_path / "a"],
        [3],
        [tmp_path / "words", tmp_path / "other"],
        f"shards://{tmp_path}/missing.txt",
        f"shards://{tmp_path}/empty.txt",
        f"shards://{tmp_path}/nested.txt",
        f"shards://{tmp_path}/empty.txt?x=1",
        "shards://",
    ):
        with pytest.raises(InputError):
            la.open(location)
    with pytest.raises(InputError, match="partial"):
        la.open(tmp_path / "one", partial=True)


def test_another_order_is_noticed(tmp_path: Path) -> None:
    with la.open([tmp_path / "a", tmp_path / "b"]) as index:
        index.add(DOCUMENTS)
    with pytest.raises(StoreError, match="in the order in which they were made"):
        la.open([tmp_path / "b", tmp_path / "a"])


def test_where_a_document_is_never_changes() -> None:
    """Golden: documents must be found where they are."""
    assert [shard_of(id_, 7) for id_ in ("a", "1", 1, "", "文", -5, 2**62)] == [0, 6, 3, 0, 1, 5, 1]
    first, second = numbers(5), numbers(3)
    assert second[0] > first[-1]


def test_clusters_lie_in_several_shards(tmp_path: Path) -> None:
    """On all kinds of stores: the same clusters as in one, whatever happens to their leaders, copied and exported too."""
    documents = [*DOCUMENTS[:60], *((f"copy {id_}", text) for id_, text in DOCUMENTS[:60:4])]
    places = [tmp_path / "a", empty_database(), "memory://"]
    with la.open(tmp_path / "one") as one, la.open(places) as several:
        for index in (one, several):
            for first in range(0, len(documents), 10):  # leaders are in this batch, or in one before
                index.admit(documents[first : first + 10], alike="link")
        leaders = [cluster.kept for cluster in one.kept_clusters()]
        led = {member.id: cluster.kept for cluster in one.kept_clusters() for member in cluster.removed}
        assert any(shard_of(member, 3) != shard_of(leader, 3) for member, leader in led.items())
        assert several.kept_clusters() == one.kept_clusters()
        assert [several.cluster_of(id_) for id_, _ in documents] == [one.cluster_of(id_) for id_, _ in documents]
        assert all(document.meta == {} for document in several.documents())
        several.export(tmp_path / "export.jsonl")
        with la.open("memory://") as loaded:
            loaded.load(tmp_path / "export.jsonl")
            assert loaded.kept_clusters() == one.kept_clusters()
            several.collections.copy("default", "copied")
            with several.collections.open("copied") as copied:
                assert copied.kept_clusters() == one.kept_clusters()
        for index in (one, several):
            index.remove(leaders[::2])
            index.add([(leader, "quite another text under the same id, which leads nothing") for leader in leaders[1::2]])
        assert several.kept_clusters() == one.kept_clusters()
        assert {cluster.kept for cluster in several.kept_clusters()}.isdisjoint(leaders)
        again = [(f"again {id_}", text) for id_, text in documents[::3]]
        for index in (one, several):
            index.admit(again, alike="link")
        assert several.kept_clusters() == one.kept_clusters()
    with la.open(tmp_path / "a") as alone:  # whose leaders are elsewhere: the oldest here leads
        assert {cluster.kept for cluster in alone.kept_clusters()} <= set(alone.ids())


def test_a_cluster_of_a_shard_alone_is_one_of_the_whole(tmp_path: Path) -> None:
    """Somebody linked documents in a shard itself, and removed their leader there."""
    text, (first, second, third) = DOCUMENTS[0][1], [id_ for id_ in range(50) if shard_of(id_, 2) == 0][:3]
    places = [tmp_path / "a", tmp_path / "b"]
    with la.open(places) as whole:
        whole.add(first, text)
    with la.open(tmp_path / "a") as alone:
        alone.admit([(second, text), (third, text)], alike="link")
    with la.open(places) as whole:
        assert whole.cluster_of(third).kept == first
        assert [cluster.size for cluster in whole.kept_clusters()] == [3]
        whole.remove(first)
        assert whole.cluster_of(third).kept == second
        assert [(cluster.kept, cluster.size) for cluster in whole.kept_clusters()] == [(second, 2)]
