"""The contract of stores: collections, settings, several users."""

from __future__ import annotations

from pathlib import Path
from unittest import SkipTest

from lookalike.errors import InputError, LookalikeError, NotFound, RecipeMismatch, StoreBusy, StoreError
from lookalike.fingerprints.simhash import simhash
from lookalike.index.collections import collections
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, refused


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

    def test_copies_aliases_and_names(self, tmp_path: Path) -> None:
        documents = [(id_, text, {"n": place}) for place, (id_, text) in enumerate(corpus(40))]
        with self.open(tmp_path, collection="news", recipe="words", threshold=0.7) as index:
            index.add(documents)
            index.add("gone", "a document that is removed", ttl=3600)
            index.remove(["gone"])
            index.add("short", "a document that lives for an hour", ttl=3600)
            names = index.collections
            told: list[int] = []
            assert names.copy("news", "copy", progress=told.append) == 41
            assert told[-1] == 41
            assert list(names) == ["copy", "news"]
            names.alias("current", "news")
            assert names.aliases == {"current": "news"}
            assert "current" in names
            assert "other" not in names
            index.add("later", "a document that the copy does not have")
            with names.open("current") as current, names.open("copy") as copy:
                assert current.settings == copy.settings == index.settings
                assert list(current.documents()) == list(index.documents())
                assert [each.id for each in copy.documents()] == [id_ for id_, *_ in documents] + ["short"]
                for _, text, _ in documents[::7]:
                    assert copy.search(text, limit=None) == index.search(text, limit=None)
                assert copy.check().ok
                row = "short"
                with copy._store.reading() as reader:
                    assert reader.expirations(list(reader.rows_of([row]).values()))
                copy.remove(["short"])
                assert "short" in index
            names.alias("again", "current")
            names.alias("current", "copy")
            assert names.aliases == {"again": "news", "current": "copy"}
            names.rename("news", "old news")
            assert names.aliases == {"again": "old news", "current": "copy"}
            index.add("last", "who has it open stays with it, whatever it is called")
            assert len(index) == 43
            with names.open("old news") as renamed, names.open("again") as again, names.open("current") as current:
                assert len(renamed) == len(again) == 43
                assert len(current) == 40
            closed = names.open("copy")
            closed.close()
            for call in (lambda: closed.add("a", "b"), lambda: len(closed), lambda: closed.remove(["a"])):
                with refused(StoreError):
                    call()
            assert names.drop("current") == 0
            assert names.drop("copy") == 40
            assert list(names) == ["old news"]
            assert len(index) == 43
            assert index.check().ok

    def test_names_that_are_taken_or_lead_nowhere(self, tmp_path: Path) -> None:
        with self.open(tmp_path, collection="news") as index:
            index.add("a", "a text that is there")
            names = index.collections
            names.alias("current", "news")
            assert names.copy("current", "copy") == 1
            for call in (
                lambda: names.rename("news", "copy"),
                lambda: names.rename("news", "current"),
                lambda: names.alias("copy", "news"),
                lambda: names.copy("news", "current"),
                lambda: names.copy("news", "news"),
                lambda: names.rename("news", ""),
                lambda: names.alias("a\0b", "news"),
                lambda: names.copy("news", "\ud800"),
            ):
                with refused(InputError):
                    call()
            for missing in (
                lambda: names.rename("nobody", "somebody"),
                lambda: names.rename("current", "somebody"),
                lambda: names.alias("somebody", "nobody"),
                lambda: names.copy("nobody", "somebody"),
                lambda: names.drop("nobody"),
            ):
                with refused(NotFound):
                    missing()
            assert list(names) == ["copy", "news"]
            assert names.aliases == {"current": "news"}

    def test_a_dropped_collection_is_gone_for_those_who_have_it_open(self, tmp_path: Path) -> None:
        with self.open(tmp_path, collection="kept") as kept:
            kept.add("a", "a text that stays where it is")
            assert kept.collections.copy("kept", "news") == 1
            with kept.collections.open("news") as index:
                assert index.search("a text that stays where it is")
                assert kept.collections.drop("news") == 1
                for call in (lambda: len(index), lambda: index.search("a text"), lambda: index.add("b", "c")):
                    with refused(StoreError):
                        call()
                assert kept.collections.copy("kept", "news") == 1
                with refused(StoreError):  # another one of the same name
                    len(index)
            assert kept.search("a text that stays where it is")[0].id == "a"
            assert kept.check().ok

    def test_names_without_an_index(self, tmp_path: Path) -> None:
        self.require_persistence()
        with self.open(tmp_path, collection="news", keyed=True) as index:
            index.add(corpus(20))
            found = index.search(corpus(20)[0][1])
        names = collections(self.location(tmp_path))
        assert names.copy("news", "copy") == 20
        names.alias("default", "copy")
        with self.open(tmp_path, create=False) as index:
            assert index.search(corpus(20)[0][1]) == found
            index.add("more", "a text more")
        assert names.drop("news") == 20
        assert (list(names), names.aliases) == (["copy"], {"default": "copy"})
        with self.open(tmp_path, collection="news") as index:
            assert len(index) == 0
        with self.open(tmp_path, collection="copy", read_only=True) as index:
            assert len(index) == 21
            with refused(StoreError):
                index.collections.drop("copy")
            assert index.check().ok

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
