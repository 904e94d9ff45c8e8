"""The contract of stores: collections, settings, several users."""

from __future__ import annotations

from pathlib import Path
from unittest import SkipTest

from lookalike.errors import InputError, LookalikeError, RecipeMismatch, StoreBusy, StoreError
from lookalike.fingerprints.simhash import simhash
from lookalike.testing.contract import Contract
from lookalike.testing.made import (
    corpus,
    refused,
)


class CollectionContract(Contract):
    """Collections are apart, and opened as they were made."""

    def test_collections_are_apart(self, tmp_path: Path) -> None:
        self.require_persistence()
        with self.open(tmp_path, collection="one") as one:
            one.add("a", "a text in the first collection of this store")
        with self.open(tmp_path, collection='two\'s "name"', keep_text=False, bits=128) as two:
            assert len(two) == 0
            two.add("a", "a text in the second collection of this store")
            assert two.search("a text in the first collection of this store", by="simhash", k=0) == []
        with self.open(tmp_path, collection="one") as one:
            assert one.get("a").text == "a text in the first collection of this store"
            assert set(one.stats()["collections"]) == {"one", 'two\'s "name"'}
            assert one.check().ok

    def test_another_recipe_is_refused(self, tmp_path: Path) -> None:
        self.require_persistence()
        with self.open(tmp_path, recipe="words") as index:
            index.add("a", "a text")
        with refused(RecipeMismatch):
            self.open(tmp_path, recipe="chars")
        for options in ({"bits": 32}, {"size": 64}, {"keep_text": False}, {"kinds": "simhash"}, {"threshold": 0.5}):
            with refused(InputError):
                self.open(tmp_path, **options)
        with self.open(tmp_path) as index:
            assert index.settings["recipe_id"].startswith("words.")

    def test_a_keyed_collection_has_a_secret_of_its_own(self, tmp_path: Path) -> None:
        documents = corpus(40)
        made = []
        for name in ("one", "two"):
            with self.open(tmp_path, collection=name, keyed=True) as index:
                index.add(documents)
                made.append(simhash(documents[0][1], recipe=index.recipe))
                assert index.settings["keyed"]
                for by in ("near", "simhash", "passages"):
                    assert index.search(documents[0][1], by=by)[0].id == documents[0][0]
                assert index.search(simhash=made[-1])[0].id == documents[0][0]
                with refused(RecipeMismatch):
                    index.search(simhash=simhash(documents[0][1]))
                with refused(InputError):
                    index.search(simhash=int(made[-1]))
                assert index.check().ok
        assert made[0].value != made[1].value
        assert made[0].recipe != made[1].recipe
        if not self.persistent:
            return
        for name, kept in zip(("one", "two"), made, strict=True):
            with self.open(tmp_path, collection=name, read_only=True) as index:
                assert simhash(documents[0][1], recipe=index.recipe) == kept
                assert index.search(documents[0][1], by="simhash")[0].id == documents[0][0]

    def test_everything_is_there_after_opening_again(self, tmp_path: Path) -> None:
        self.require_persistence()
        documents = corpus(100)
        with self.open(tmp_path) as index:
            index.add(documents)
            index.remove([documents[3][0]])
            before = [index.search(text, limit=None) for _, text in documents[:20]]
        with self.open(tmp_path, read_only=True) as index:
            assert [index.search(text, limit=None) for _, text in documents[:20]] == before
            assert len(index) == 99
            with refused(StoreError):
                index.add("a", "b")
            with refused(StoreError):
                index.remove(["a"])

    def test_readers_see_what_a_writer_did(self, tmp_path: Path) -> None:
        self.require_persistence()
        documents = corpus(60)
        with self.open(tmp_path) as writer, self.open(tmp_path, read_only=True) as reader:
            assert len(reader) == 0
            writer.add(documents[:30])
            assert len(reader) == 30
            assert reader.search(documents[0][1])[0].id == documents[0][0]
            writer.add(documents[30:])
            writer.remove([documents[0][0]])
            assert reader.search(documents[59][1])[0].score == 1.0
            assert documents[0][0] not in [match.id for match in reader.search(documents[0][1], limit=None)]
            writer.compact()
            assert len(reader) == 59
            assert documents[0][0] not in [match.id for match in reader.search(documents[0][1], limit=None)]

    def test_a_second_writer_is_told(self, tmp_path: Path) -> None:
        self.require_persistence()
        if not self.one_writer:
            raise SkipTest("not applicable: this store takes any number of writers")
        with self.open(tmp_path) as first, self.open(tmp_path) as second:
            first.add("a", "a text")
            with refused(StoreBusy):
                second.add("b", "another text")
            assert "a" in second
            first.close()
            second.add("b", "another text")
            assert len(second) == 2

    def test_a_closed_index_says_so(self, tmp_path: Path) -> None:
        index = self.open(tmp_path)
        index.close()
        index.close()
        for call in (lambda: index.search("a"), lambda: index.add("a", "b"), lambda: len(index)):
            with refused(StoreError):
                call()

    def test_a_store_that_is_not_there(self, tmp_path: Path) -> None:
        self.require_persistence()
        with refused(LookalikeError):
            self.open(tmp_path, read_only=True)
        with refused(LookalikeError):
            self.open(tmp_path, create=False)
