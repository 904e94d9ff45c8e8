"""Records in stores: the contract of kinds on every store, what an answer says, weights of a collection, misuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.index.index import Index
from lookalike.testing import KindContract
from made_records import made_pairs
from postgres_server import empty_database
from stores_under_test import InMemory, InPostgres, OnDisk

INVOICE = {"domain": "invoice", "confidence": 0.93, "words": ["vat", "2023"], "schema": {"payer": ["Ann"], "sum": ["12.50"]}}


class RecordContract(KindContract):
    kind = by = "record"
    exact_without_text = False  # data are not kept then, and scores are estimates

    def thing(self, text: str) -> dict[str, Any]:
        words = sorted(set(text.split())) if " " in text else sorted(set(text))
        return {
            "title": text[:30],
            "words": words,
            "length": len(text),
            "spaces": " " in text,
            "about": {"first": words[:1], "last": words[-1:]},
        }

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = la.record(self.thing(query))
        return [asked.similarity(la.record(self.thing(text))) for text in texts]

    def open_with_kind(self, tmp_path: Path, **options: Any) -> Index:
        return super().open_with_kind(tmp_path, **{"threshold": 0.5} | options)


class TestMemory(InMemory, RecordContract):
    pass


class TestEmbedded(OnDisk, RecordContract):
    pass


class TestPostgres(InPostgres, RecordContract):
    pass


def test_an_answer_says_what_each_field_contributes_and_what_is_shared() -> None:
    with la.open("memory://") as index:
        index.add("one", INVOICE, {"folder": "a"})
        index.add(
            [
                ("two", INVOICE | {"confidence": 0.94, "words": ["vat", "2024"]}),
                ("text", "a text that is none"),
                ("other", {"domain": "memo"}),
            ]
        )
        found = index.search(INVOICE)
        assert [match.id for match in found] == ["one", "two"]
        assert found[0].score == 1.0
        assert found.scale == "mean of fields"
        fields = found[1].to_dict()["fields"]
        assert fields["words"] == {"similarity": 1 / 3, "weight": 1.0, "measure": "jaccard", "shared": ["vat"]}
        assert "shared" not in fields["confidence"]
        assert found[1].score == pytest.approx(sum(field["similarity"] for field in fields.values()) / 4)
        assert index.get("one").record == la.record(INVOICE).data
        assert index.get("text").record is None
        assert index.get("one").meta == {"folder": "a"}
        assert [match.id for match in index.search("a text that is none")] == ["text"]
        assert index.clusters("record")[0].to_dict()["kept"] == "one"


def test_forms_in_which_a_record_is_given(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps(INVOICE), encoding="utf-8")
    with la.open("memory://") as index:
        index.add({"id": 1, "record": INVOICE})
        index.add("2", la.record(INVOICE))
        index.add([la.Document(3, "the text of the file", record=INVOICE), ("4", INVOICE)])
        for query in (INVOICE, la.record(INVOICE), tmp_path / "record.json"):
            assert [match.id for match in index.search(query, by="record")] == [1, "2", 3, "4"]
        assert index.get(3).text == "the text of the file"
        assert index.get(1).text == "invoice\nAnn\n12.50\nvat\n2023"


def test_weights_and_measures_of_a_collection(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"weights": {"name": 3, "note": 0}, "measures": {"day": "date"}}
    one, two = {"name": "Ann Lee", "day": "2024-02-29", "note": "x"}, {"name": "Ann Lee", "day": "2024-03-01", "note": "quite different"}
    with la.open(tmp_path / "s", **rules) as index:
        index.add("one", one)
        match = index.search(two)[0]
        assert match.score == la.record(two, **rules).similarity(la.record(one, **rules))
        assert set(match.fields or ()) == {"name", "day"}
        assert index.settings["weights"] == {"name": 3.0, "note": 0.0}
    with la.open(tmp_path / "s") as index:
        assert index.search(two)[0].score == match.score
        own = la.record(two, weights={"note": 5})
        assert index.search(own, threshold=0.1)[0].score == own.similarity(la.record(one, weights={"note": 5}))
    with pytest.raises(la.InputError, match="was made with weights="):
        la.open(tmp_path / "s", weights={"name": 2})


def test_without_data_scores_are_estimates(tmp_path: Path) -> None:
    pairs = made_pairs(40, 4)
    for location in (str(tmp_path / "s"), empty_database()):
        with la.open(location, keep_text=False, threshold=0.6) as index:
            index.add([(number, one) for number, (one, _) in enumerate(pairs)])
            for number, (one, other) in enumerate(pairs):
                exact = la.record(one).similarity(la.record(other))
                if exact > 0.8:
                    match = next(match for match in index.search(other) if match.id == number)
                    assert match.estimated
                    assert abs(match.score - exact) < 0.2
            assert index.get(0).record is None
            assert "Ann" not in str(index.stats())
            with pytest.raises(la.InputError, match="keeps none"):
                index.clusters("record")
            assert index.export(tmp_path / "all.jsonl") == 40
        with la.open("memory://", keep_text=False) as copy:
            copy.load(tmp_path / "all.jsonl")
            assert copy.search(pairs[3][0])[0].id == 3


def test_bands_find_nearly_all_records_from_the_threshold_on() -> None:
    pairs = made_pairs(900, 6)
    with la.open("memory://", kinds="record", threshold=0.8) as index:
        index.add([(number, one) for number, (one, _) in enumerate(pairs)])
        wanted = found = 0
        for number, (one, other) in enumerate(pairs):
            if 0.8 <= la.record(one).similarity(la.record(other)) < 0.9:
                wanted += 1
                found += number in {match.id for match in index.search(other, limit=None)}
    assert wanted > 100
    assert found / wanted > 0.99


def test_what_somebody_wrote_into_the_columns_of_postgres_is_found() -> None:
    import psycopg

    url = empty_database()
    with la.open(url) as index:
        index.add([("a", INVOICE), ("b", {"domain": "memo"}), ("c", "text")])
        assert index.check().ok
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE lookalike.documents SET record_bands = '{1,2}' WHERE id_text = 'a'")
        assert "records: the sketches or bands of 1" in index.check().problems[0]
        assert index.check(repair=True).ok
        assert [match.id for match in index.search(INVOICE)] == ["a"]


def test_misuse_is_explained() -> None:
    with la.open("memory://", kinds="simhash") as index:
        with pytest.raises(la.InputError, match="document 'a' is a record, and this collection keeps none"):
            index.add("a", INVOICE)
        with pytest.raises(la.InputError, match="no record fingerprints"):
            index.search(INVOICE)
    with la.open("memory://") as index:
        with pytest.raises(la.InputError, match="document 'a': record field 'x': nan"):
            index.add("a", {"x": float("nan")})
        with pytest.raises(la.InputError, match="compares records"):
            index.search("text", by="record")
        with pytest.raises(la.InputError, match="cannot search for a dict"):
            index.search({}, by="near")
        index.add("empty", {})
        assert [match.id for match in index.search({})] == ["empty"]
        with pytest.raises(la.InputError, match="compare=True compares texts"):
            index.search(INVOICE, compare=True)
    with pytest.raises(la.InputError, match="record weight of 'a'"):
        la.open("memory://", weights={"a": -1})
    with pytest.raises(la.UnknownName):
        la.open("memory://", measures={"a": "nothing"})
