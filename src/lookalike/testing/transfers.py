"""The contract of stores: export, load, compacting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lookalike.errors import InputError, RecipeMismatch, StoreError
from lookalike.index.opening import open as open_index
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, refused


class TransferContract(Contract):
    """What is written out, read back or moved stays the same."""

    def test_export_and_import_give_the_same_store(self, tmp_path: Path) -> None:
        documents = corpus(50)
        for keep_text in (True, False):
            for name in ("all.jsonl", "all.parquet", "all.jsonl.gz"):
                with self.open(tmp_path, collection=f"from {keep_text}", keep_text=keep_text) as index:
                    index.add([(id_, text, {"n": n}) for n, (id_, text) in enumerate(documents)])
                    assert index.export(tmp_path / name) == 50
                    wanted = [
                        (by, index.search(text, by=by, limit=None))
                        for by in ("near", "simhash", "passages", "fuzzy")
                        for _, text in documents[:9]
                    ]
                    metas = [document.meta for document in index.documents()]
                with self.open(tmp_path, collection=f"to {keep_text} {name}", keep_text=keep_text) as copy:
                    assert copy.load(tmp_path / name) == 50
                    found = [
                        (by, copy.search(text, by=by, limit=None))
                        for by in ("near", "simhash", "passages", "fuzzy")
                        for _, text in documents[:9]
                    ]
                    assert found == wanted
                    assert [document.meta for document in copy.documents()] == metas
                    assert copy.check().ok

    def test_an_export_carries_what_the_collection_was_made_with(self, tmp_path: Path) -> None:
        documents = corpus(20)
        made: dict[str, Any] = {"recipe": "simhash-py", "threshold": 0.6, "kinds": "simhash,tlsh"}
        for name, some in (("full.jsonl", documents), ("full.parquet", documents), ("empty.jsonl", []), ("empty.parquet", [])):
            out = tmp_path / name
            with self.open(tmp_path, collection=f"from {name}", **made) as index:
                index.add(some)
                assert index.export(out) == len(some)
                settings, wanted = index.settings, [index.search(text, by="simhash", limit=None) for _, text in some]
            for copy in (self.open(tmp_path, collection=f"to {name}"), open_index("memory://")):
                with copy:
                    assert copy.load(out) == len(some)
                    assert copy.settings == settings
                    assert [copy.search(text, by="simhash", limit=None) for _, text in some] == wanted
                    assert copy.check().ok
            with open_index("memory://", **made) as there:
                there.load(out)
                there.export(tmp_path / f"back {name}")
            with self.open(tmp_path, collection=f"back {name}") as back:
                back.load(tmp_path / f"back {name}")
                assert back.settings == settings
                assert [document.id for document in back.documents()] == [id_ for id_, _ in some]

    def test_an_export_is_refused_where_it_would_be_changed(self, tmp_path: Path) -> None:
        documents = corpus(10)
        out = tmp_path / "all.jsonl"
        with self.open(tmp_path, collection="from", threshold=0.6) as index:
            index.add(documents)
            index.export(out)
        with self.open(tmp_path, collection="used") as other:
            other.add("a", "a text that is there already")
            with refused(RecipeMismatch):
                other.load(out)
            assert len(other) == 1
            assert other.load(out, refingerprint=True) == 10
            assert other.settings["threshold"] == 0.8
            assert other.search(documents[3][1])[0].score == 1.0
        with self.open(tmp_path, collection="asked", threshold=0.7) as asked:
            with refused(InputError):
                asked.load(out)
            assert len(asked) == 0
        # What an older release wrote says nothing about settings.
        lines = out.read_text("utf-8").splitlines()
        older = tmp_path / "older.jsonl"
        first = json.loads(lines[0])
        del first["settings"]
        older.write_text("\n".join([json.dumps(first), *lines[1:]]), "utf-8")
        with self.open(tmp_path, collection="older") as copy:
            assert copy.load(older) == 10
            assert copy.settings["threshold"] == 0.8

    def test_who_has_a_collection_open_is_told_when_its_settings_change(self, tmp_path: Path) -> None:
        self.require_persistence()
        with self.open(tmp_path, collection="from", threshold=0.6) as index:
            index.add(corpus(5))
            index.export(tmp_path / "all.jsonl")
        with self.open(tmp_path, collection="to") as copy, self.open(tmp_path, collection="to") as other:
            assert len(other) == 0
            assert copy.load(tmp_path / "all.jsonl") == 5
            with refused(StoreError):
                len(other)

    def test_compacting_changes_no_answer(self, tmp_path: Path) -> None:
        documents = corpus(80)
        with self.open(tmp_path) as index:
            for first in range(0, 80, 20):
                index.add(documents[first : first + 20])
            index.remove([id_ for id_, _ in documents[::5]])
            before = [
                index.search(text, by=by, limit=None) for by in ("near", "simhash", "passages", "fuzzy") for _, text in documents[:20]
            ]
            index.compact()
            after = [index.search(text, by=by, limit=None) for by in ("near", "simhash", "passages", "fuzzy") for _, text in documents[:20]]
            assert after == before
            assert index.check().ok
            assert index.stats()["documents"] == 64
