"""The examples of docs/postgres.md run, in order, on a real server."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

import lookalike as la
from lookalike.testing import corpus
from postgres_server import empty_database

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "postgres.md").read_text(encoding="utf-8")
TABLES = (DOCS / "postgres_tables.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_examples_run() -> None:
    url = empty_database()
    names: dict[str, object] = {}
    for code in blocks("py"):
        exec(code.replace("postgresql://user@host/db?", f"{url}&"), names)
    la.open(url, collection="keyed", keyed=True).close()  # for whose secret there are grants
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            for block in blocks("sql"):
                connection.execute(block)
            with la.open(url, collection="prints", create=False) as index:
                assert [id_ for id_ in index.ids() if len(str(id_)) < 3] == [2, 3, "d"]  # and a uuid
                assert len(index) == 4
                assert index.check().ok
        finally:
            connection.execute("DROP TABLE IF EXISTS tagged; DROP OWNED BY news_reader, news_writer; DROP ROLE news_reader, news_writer")


def test_the_table_of_the_example_works_step_by_step() -> None:
    """With its own queries beside ours: both find the same."""
    url = empty_database()
    la.open(url).close()
    results: list[list[tuple[object, ...]]] = []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS hm, news, articles")
        try:
            for block in blocks("sql", TABLES):
                for statement in filter(str.strip, block.split(";\n")):
                    done = connection.execute(statement)
                    if done.description and not done.description[0].name.endswith(("index_table", "lock_simhashes", "drop_collection")):
                        results.append(done.fetchall())
        finally:
            connection.execute("DROP TABLE IF EXISTS hm, news, articles")
    theirs, same, none, with_setting, alike, joined, current, near = results
    assert theirs == same
    assert len(theirs) >= 1
    assert none == with_setting == []
    assert (16, 16) in alike
    assert {(id_, near) for id_, near, distance, _ in joined if distance == 2} >= {(id_, id_) for id_ in range(1, 11)}
    assert current == [("20001", 0)]
    assert [text for text, similarity in near if similarity >= 0.5] == [
        "The council decided to repair the old bridge over the river before the winter."
    ]


def test_the_store_works_on_partitions(tmp_path: Path) -> None:
    url = empty_database()
    la.open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        partitioning = next(block for block in blocks("sql") if "PARTITION BY" in block)
        connection.execute(partitioning.replace("(1000)", "(1)"))
    documents = corpus(100)
    with la.open(url) as index, la.open(tmp_path / "embedded") as embedded:
        for each in (index, embedded):
            each.add(documents)
            each.remove([documents[5][0]])
        for by in ("near", "simhash", "passages", "fuzzy"):
            for _, text in documents[::9]:
                assert index.search(text, by=by) == embedded.search(text, by=by)
        assert index.check().ok
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM lookalike.documents_archive").fetchone() == (99,)


def test_functions_are_documented() -> None:
    """All that is there for callers, in the table of functions; the rest is for these functions."""
    names = "hamming alike simhash_of search_simhash search_near index_table create_collection drop_collection add_simhashes remove"
    for name in f"{names} admit_simhash admit_simhashes lock_simhashes overlap cosine tfidf".split():
        assert f"`lookalike.{name}(" in PAGE
