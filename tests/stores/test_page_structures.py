"""Structures of pages in stores that were made before there were any, and in damaged ones. The contract tests the rest."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.stores.kinds.structure import page_structure, shared_paths, structure_sketches, unpack_structure
from lookalike.stores.postgres import schema
from lookalike.stores.settings import Settings
from lookalike.testing import corpus, made_pages
from postgres_server import empty_database

PAGES = [(id_, la.page(html)) for id_, html in made_pages(20)]
OLD_KINDS = [kind for kind in Settings().kinds if kind != "structure"]


def test_a_folder_of_the_first_release(tmp_path: Path) -> None:
    store = tmp_path / "s"
    with la.open(store, kinds=OLD_KINDS) as index:
        index.add(corpus(10))
    connection = sqlite3.connect(store / "store.sqlite")
    connection.execute("ALTER TABLE documents DROP COLUMN structure")
    connection.close()
    with la.open(store) as index:
        index.add(PAGES)
        assert index.search(PAGES[0][1])[0].id == "page-0"
        assert index.export(tmp_path / "all.jsonl") == 30
        assert index.clusters() is not None
        assert index.check().ok
        with pytest.raises(la.InputError, match="no structure fingerprints"):
            index.clusters(by="structure")
    with la.open(store, collection="pages") as index:
        index.add(PAGES)
        assert index.search(PAGES[0][1], by="structure")[0].id == "page-0"


def test_a_database_of_the_first_release() -> None:
    url = empty_database()
    version = schema.STEPS.index("pages.sql")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA lookalike")
        for step in schema.STEPS[:version]:
            connection.execute(schema.read_step(step))
        connection.execute("INSERT INTO lookalike.format VALUES (%s)", (version,))
    with pytest.raises(la.StoreError, match="once for writing"):
        la.open(url, read_only=True)
    with la.open(url, collection="pages") as index:
        index.add(PAGES)
        assert index.search(PAGES[0][1], by="structure")[0].id == "page-0"


def test_bands_of_structures_are_checked_and_repaired() -> None:
    url = empty_database()
    with la.open(url) as index:
        index.add(PAGES)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE lookalike.structures SET bands = bands[2:] || bands[1:1]")
            connection.execute("DROP INDEX lookalike.structures_by_band")
        found = index.check()
        assert any("structures" in problem for problem in found.problems)
        assert index.check(repair=True).ok
        assert index.search(PAGES[0][1], by="structure")[0].id == "page-0"


def test_compacting_drops_structures_that_nobody_has() -> None:
    url = empty_database()
    with la.open(url) as index, psycopg.connect(url, autocommit=True) as connection:
        index.add(PAGES)
        index.remove(id_ for id_, _ in PAGES[1:])
        index.compact()
        assert connection.execute("SELECT count(*) FROM lookalike.structures").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM lookalike.pages").fetchone() == (1,)


def test_documents_that_were_deleted_by_sql() -> None:
    url = empty_database()
    with la.open(url) as index, psycopg.connect(url, autocommit=True) as connection:
        index.add(PAGES)
        connection.execute("DELETE FROM lookalike.documents WHERE id_text <> 'page-3'")
        for _, page in PAGES:
            assert [match.id for match in index.search(page, by="structure", threshold=0)] in ([], ["page-3"])
        assert [match.id for match in index.search(PAGES[3][1], by="structure")] == ["page-3"]
        assert index.clusters("structure") == []
        index.compact()
        assert connection.execute("SELECT count(*) FROM lookalike.pages").fetchone() == (1,)


def test_wrong_structures_in_an_export_are_refused(tmp_path: Path) -> None:
    for number, structure in enumerate(('{"values": [1]}', '{"values": [-1], "recipe": "page-structure-1"}', '{"values": 5, "recipe": "page-structure-1"}',
                                        '{"values": ["a"], "recipe": "page-structure-1"}', '{"values": [1], "recipe": "other"}', "7")):  # fmt: skip
        path = tmp_path / f"{number}.jsonl"
        path.write_text(f'{{"id": "a", "text": "b", "meta": {{}}, "fingerprints": {{"structure": {structure}}}}}\n')
        with la.open("memory://") as index, pytest.raises(la.InputError, match=r"not a row of an export"):
            index.load(path)


@given(st.sets(st.integers(0, 60)), st.lists(st.sets(st.integers(0, 60)), max_size=8))
def test_shared_paths_equal_the_definition(query: set[int], others: list[set[int]]) -> None:
    top = 2**64 - 61  # words beyond the signed ones among them

    def packed(paths: set[int]) -> bytes:
        return np.array(sorted(path + top * (path % 2) for path in paths), dtype="<u8").tobytes()

    found = shared_paths(unpack_structure(packed(query)), [packed(other) for other in others])
    assert found == [len(query & other) / len(query | other) if query | other else 1.0 for other in others]


def test_structures_are_the_tag_paths_of_a_page() -> None:
    page = la.page("<ul><li>a<li>b</ul><p>c")
    made = unpack_structure(page_structure(page))
    assert len(made) == len({element.path for element in page.elements if not element.is_text})
    assert made.tolist() == sorted(set(made.tolist()))
    again = [page_structure(la.page("<ul><li>other words</ul><p>c<p>d")), page_structure(la.page("<ol><li>a</ol>"))]
    assert again[0] == page_structure(page) != again[1]
    minhash = la.page_print(page).structure_minhash
    settings = Settings(kinds=("structure",), size=len(minhash.values))
    keys = _native.band_keys(np.array(minhash.values, np.uint32), settings.size, settings.banding.bands, settings.banding.rows)
    assert structure_sketches(again[:1], settings)[1].tolist() == list(keys)


def test_stores_without_pages_pay_next_to_nothing(tmp_path: Path) -> None:
    with la.open(tmp_path / "s") as index:
        index.add(corpus(50))
        index.compact()
        assert index.stats()["segment_bytes"]["structure"] < 1024
