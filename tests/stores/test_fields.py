"""Indexed fields: a range of keys never misses a value, and a filter that few documents fit does not look at the others."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.index.selecting import selected
from lookalike.index.where import parse_where
from lookalike.stores.embedded.snapshots import Snapshot
from lookalike.stores.postgres.reading import PostgresReader
from lookalike.testing import corpus
from postgres_server import empty_database

TEXTS = st.text(st.characters(codec=None), max_size=5) | st.sampled_from(
    ["a" * 99, "a" * 100, "a" * 101, "a" * 100 + "b", "é" * 60, "\ud800", "\0"]
)
NUMBERS = (
    st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([2**53, 2**53 + 1, 10**400, -(10**400), 0.1])
)
SCALARS = TEXTS | NUMBERS | st.booleans() | st.none()
VALUES = SCALARS | st.lists(SCALARS, max_size=3)
SIGNS = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "has", "in", "exists"])


@st.composite
def conditions(draw: Any) -> dict[str, Any]:
    sign = draw(SIGNS)
    value = draw(
        {"in": st.lists(SCALARS, max_size=3), "exists": st.booleans()}.get(
            sign, (TEXTS | NUMBERS) if sign in ("<", "<=", ">", ">=") else SCALARS
        )
    )
    return {draw(st.sampled_from(["a", "b", "c.d"])): {sign: value}}


FILTERS = st.recursive(
    conditions(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts})
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts})
        | inner.map(lambda part: {"not": part})
    ),
    max_leaves=4,
)
METAS = st.fixed_dictionaries({}, optional={"a": VALUES, "b": VALUES, "c": st.fixed_dictionaries({}, optional={"d": VALUES})})


@settings(max_examples=150, deadline=None)
@given(st.lists(METAS, min_size=1, max_size=8), st.lists(FILTERS, min_size=1, max_size=3))
def test_a_filter_finds_what_it_finds_without_an_index(metas: list[dict[str, Any]], filters: list[dict[str, Any]]) -> None:
    with la.open("memory://", kinds="simhash", indexed=["a", "b", "c.d"]) as index:
        index.add([(number, "text", meta) for number, meta in enumerate(metas)])
        for where in filters:
            fits = parse_where(where)
            expected = [number for number, meta in enumerate(metas) if fits(json.loads(json.dumps(meta)))]
            assert list(index.ids(where=where)) == expected
            with index._store.reading() as reader:
                rows = selected(reader, index._store.settings, fits)
            assert rows is None or set(expected) <= set(rows.tolist())


def test_what_few_documents_fit_is_no_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with la.open(tmp_path / "s", indexed=["site", "day"], model=None) as index:
        index.add([(n, text, {"site": f"{n % 50}.com", "day": f"2026-{1 + n // 20:02}-01"}) for n, (_, text) in enumerate(corpus(200))])
        expected = {
            where: list(index.ids(where=where))
            for where in ("site = 7.com", "day >= 2026-10-01", "site in (1.com, 2.com) and day < 2026-03-01")
        }
        assert all(expected.values())

        def scan(*_: Any) -> Any:
            raise AssertionError("all documents are read")

        monkeypatch.setattr(Snapshot, "scan", scan)
        for where, ids in expected.items():
            assert list(index.ids(where=where)) == ids
            assert index.count(where) == len(ids)
            assert [document.id for document in index.documents(where=where)] == ids
        with pytest.raises(AssertionError, match="all documents are read"):
            index.count("not exists site")


def test_a_search_among_few_reads_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand copies, of which two fit: they are found without looking at the meta of all others."""
    text = corpus(1)[0][1]
    read: list[int] = []
    records = Snapshot.records

    def counted(self: Snapshot, rows: Any, columns: Any) -> Any:
        read.append(len(rows))
        return records(self, rows, columns)

    for indexed, most in (("site", 100), (None, 2000)):
        with la.open(tmp_path / str(indexed), indexed=indexed, kinds="minhash,simhash") as index:
            index.add([(n, text, {"site": "rare" if n in (400, 900) else "common"}) for n in range(1000)])
            monkeypatch.setattr(Snapshot, "records", counted)
            for by in ("near", "simhash"):
                read.clear()
                assert [match.id for match in index.search(text, by=by, where="site = rare", limit=5)] == [400, 900]
                assert (sum(read) <= 100) is (most == 100), (by, sum(read))
            monkeypatch.undo()


def test_a_damaged_index_of_fields_is_found_and_repaired(tmp_path: Path) -> None:
    with la.open(tmp_path / "s", indexed="n") as index:
        index.add([(n, text, {"n": n}) for n, (_, text) in enumerate(corpus(30))])
    connection = sqlite3.connect(tmp_path / "s" / "store.sqlite")
    connection.execute("DELETE FROM fields WHERE row < 3")
    connection.execute("INSERT INTO fields VALUES (0, 'n', 99.0, 5)")
    connection.commit()
    connection.close()
    with la.open(tmp_path / "s") as index:
        report = index.check()
        assert not report.ok
        assert "4 entries of the index of n" in report.problems[0]
        assert index.check(repair=True).ok
        assert index.count("n < 3") == 3
        assert index.check().ok


def test_a_reading_in_memory_keeps_its_state() -> None:
    with la.open("memory://", indexed="n", kinds="simhash") as index:
        index.add([(n, "text", {"n": n}) for n in range(10)])
        with index._store.reading() as reader:
            index.remove([3])
            index.add([(20, "text", {"n": 3})])
            rows = selected(reader, index._store.settings, parse_where("n = 3"))
            assert rows is not None
            assert {record.id for record in reader.records([row for row in rows.tolist() if row < 10], ()).values()} >= {3}
            assert np.all(rows < 10)


def test_postgresql_goes_by_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads what may fit, finds entries that are missing, and an older database gets what it lacks."""
    url = empty_database()
    documents = [(number, f"report number {number}", {"day": f"2026-01-{1 + number % 31:02}", "n": number % 31}) for number in range(310)]
    filters = ("day = 2026-01-07", {"n": {">=": 29}}, {"n": {"in": [3, 4]}, "day": {"<": "2026-01-05"}})
    with la.open(url, kinds="simhash", indexed=["day", "n"]) as index:
        index.add(documents)
        index.remove([6, 37])
        expected = [index.count(where) for where in filters]
        assert expected == [8, 20, 10]
        with monkeypatch.context() as patch:
            patch.delattr(PostgresReader, "scan")
            assert [index.count(where) for where in filters] == expected
        assert index.check().ok
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM lookalike.fields WHERE number = 29")
        assert index.count(filters[1]) == 10
        assert index.check().problems == ["fields: 10 documents are not indexed as they are"]
        assert index.check(repair=True).ok
        assert [index.count(where) for where in filters] == expected
        index.compact()
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM lookalike.fields").fetchone() == (616,)
        connection.execute("DROP TABLE lookalike.fields, lookalike.commits")
        connection.execute("UPDATE lookalike.format SET version = 9")
    with la.open(url) as index:
        assert [index.count(where) for where in filters] == expected
        assert index.check().ok
