"""The contract of stores: documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lookalike.errors import InputError, NotFound, StoreError
from lookalike.model import Document
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, refused


class DocumentContract(Contract):
    """Adding, reading, replacing and removing."""

    def test_a_new_store_is_empty(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            assert len(index) == 0
            assert "a" not in index
            assert list(index.documents()) == []
            assert index.search("a text") == []
            assert index.search(simhash=7) == []
            assert index.remove(["a"]) == 0
            assert index.check().ok

    def test_what_is_added_can_be_read(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            assert index.add([("a", "one text"), ("b", "另一个文本", {"lang": "zh", "n": [1, None]})]) == (2, 0)
            assert index.add("c", "a third text", meta={"x": 1}) == (1, 0)
            assert index.add(Document("d", "fourth")) == (1, 0)
            assert index.add({"id": 5, "text": "fifth"}) == (1, 0)
            assert len(index) == 5
            assert index.get("b") == Document("b", "另一个文本", {"lang": "zh", "n": [1, None]})
            assert index.get("c").meta == {"x": 1}
            assert [document.id for document in index.documents()] == ["a", "b", "c", "d", 5]
            assert list(index.ids()) == ["a", "b", "c", "d", 5]
            assert "a" in index
            assert 5 in index
            assert "5" not in index
            with refused(NotFound, KeyError):
                index.get("e")

    def test_several_documents_are_read_by_their_ids(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            index.add([(n, f"text {n}", {"n": n}) for n in range(30)])
            index.remove([7])
            assert [(each.id, each.text, each.meta) for each in index.documents([20, 7, 3, "nobody", 3])] == [
                (n, f"text {n}", {"n": n}) for n in (20, 3, 3)
            ]
            assert list(index.documents([])) == []
            with refused(InputError):
                list(index.documents([1.5]))  # type: ignore[list-item]  # as somebody may who checks no types

    def test_adding_an_id_again_replaces_the_document(self, tmp_path: Path) -> None:
        old, new = corpus(40)[:2]
        with self.open(tmp_path) as index:
            index.add(corpus(40))
            assert index.add([(old[0], "something entirely different from what was there before now")]) == (0, 1)
            assert len(index) == 40
            assert index.get(old[0]).text == "something entirely different from what was there before now"
            assert old[0] not in [match.id for match in index.search(old[1], threshold=0.9)]
            assert index.search("something entirely different from what was there before now")[0].id == old[0]
            assert index.add([("x", "first"), ("x", "second"), (new[0], "third")]) == (1, 1)
            assert index.get("x").text == "second"
            assert index.check().ok

    def test_what_is_removed_is_gone_everywhere(self, tmp_path: Path) -> None:
        documents = corpus(60)
        gone = [id_ for id_, _ in documents[::3]]
        with self.open(tmp_path) as index:
            index.add(documents)
            assert index.remove([*gone, "nobody", gone[0]]) == len(gone)
            assert len(index) == 60 - len(gone)
            for id_, text in documents:
                assert (id_ in index) == (id_ not in gone)
                for by in ("near", "simhash", "passages", "fuzzy"):
                    found = [match.id for match in index.search(text, by=by, limit=None)]
                    assert not set(found) & set(gone), by
                    assert by == "fuzzy" or (id_ in found) == (id_ not in gone), by
            assert index.check().ok

    def test_searching_and_changing_while_going_through_all(self, tmp_path: Path) -> None:
        documents = corpus(30)
        with self.open(tmp_path) as index:
            index.add(documents)
            seen = []
            for document in index.documents():
                seen.append(document.id)
                assert index.search(document.text or "", limit=None)[0].score == 1.0
                assert document.id in index
                if len(seen) == 10:
                    index.add("another", "added while others are read, and found afterwards by whoever looks for it")
                    index.remove([documents[0][0]])
            assert seen[:30] == [id_ for id_, _ in documents]
            assert index.search("added while others are read, and found afterwards by whoever looks for it")[0].id == "another"
            assert len(index) == 30
            assert index.check().ok
        self.require_persistence()
        with self.open(tmp_path) as index:  # which reads before it writes
            for number, document in enumerate(index.documents()):
                index.add(f"copy {number}", document.text or "")
                assert index.get(document.id).text == document.text
            assert len(index) == 60
            index.compact()
            assert index.check().ok

    def test_threads_share_an_index(self, tmp_path: Path) -> None:
        """Who goes through all documents neither makes others wait nor sees what they change, and may be stopped by any thread."""
        documents = corpus(30)
        with self.open(tmp_path) as index, ThreadPoolExecutor(4) as threads:
            index.add(documents)
            going, ids = index.documents(), index.ids()
            next(going)
            next(ids)
            found = [threads.submit(index.search, text, limit=None) for _, text in documents * 3]
            assert all(each.result(timeout=60)[0].score == 1.0 for each in found)
            assert threads.submit(index.add, "another", "added while somebody reads all the others").result(timeout=60) == (1, 0)
            assert threads.submit(index.add, documents[5][0], "other contents than before").result(timeout=60) == (0, 1)
            assert threads.submit(index.remove, [documents[20][0]]).result(timeout=60) == 1
            threads.submit(ids.close).result(timeout=60)  # type: ignore[attr-defined]  # it is a generator
            rest = list(going)
            assert [document.id for document in rest] == [id_ for id_, _ in documents[1:]]
            assert rest[4].text == documents[5][1]
            assert len(index) == 30
            unfinished = index.documents()
            next(unfinished)
            threads.submit(index.close).result(timeout=60)
            with refused(StoreError):
                list(unfinished)

    def test_generators_are_read_batch_by_batch(self, tmp_path: Path) -> None:
        told: list[int] = []
        with self.open(tmp_path, kinds="simhash") as index:
            added = index.add(((n, f"document number {n} of many") for n in range(9000)), progress=told.append)
            assert added == (9000, 0)
            assert told[-1] == 9000
            assert told == sorted(told)
            assert len(told) > 1

    def test_hostile_texts_survive(self, tmp_path: Path) -> None:
        texts = [
            "",
            " ",
            "\0\0",
            "a\0b" * 20,
            "\ud800 lone surrogate \udfff in the text",
            "\U0001f600" * 50,
            "x" * 200_000,
            "'; DROP TABLE documents; --",
        ]
        with self.open(tmp_path) as index:
            index.add(enumerate(texts))
            for number, text in enumerate(texts):
                assert index.get(number).text == text
                for by in ("near", "simhash", "passages", "fuzzy"):
                    index.search(text, by=by)
            assert index.search("x" * 200_000)[0].id == 6
            assert index.check().ok

    def test_meta_that_json_cannot_hold_is_refused(self, tmp_path: Path) -> None:
        """So is what can be written, but not by everybody be read: a reader that is deep in calls itself has less of the stack."""
        deep: list[dict[str, Any]] = [{}]
        for _ in range(300):
            deep.append({"a": [deep[-1]]})
        with self.open(tmp_path) as index:
            for wrong in ({"n": float("nan")}, {"n": [float("-inf")]}, {"n": {1}}, {"n": b"a"}, deep[101], deep[-1]):
                for bring in (index.add, index.admit):
                    with refused(InputError):
                        bring("a", "a text", wrong)
            index.add("deep", "a text", deep[99])
            assert index.get("deep").meta == deep[99]
            assert len(index) == 1

    def test_hostile_ids_are_refused_or_kept(self, tmp_path: Path) -> None:
        good: list[str | int] = ["'; --", "a b\n", "文件/一", "%s", "x" * 2048, "7", 7, -1, 2**63 - 1, -(2**63)]
        with self.open(tmp_path) as index:
            index.add([(id_, f"text {n}") for n, id_ in enumerate(good)])
            assert [index.get(id_).text for id_ in good] == [f"text {n}" for n in range(len(good))]
            for bad in ("", "a\0b", "\ud800", "x" * 2049, 2**63, 1.5, None, True, b"a"):
                with refused(InputError):
                    index.add([("fine", "a"), (bad, "b")])
            assert len(index) == len(good)
            for wrong in (7.5, [("a",)], [("a", 5)], [{"id": "a"}], ["ab"], [("a", "b", "c")], [None]):
                with refused(InputError):
                    index.add(wrong)
