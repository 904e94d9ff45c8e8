"""The examples of docs/postgres.md run, in order, on a real server."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

import lookalike as la
from lookalike.testing import corpus
from postgres_server import empty_database

PAGE = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_examples_run() -> None:
    url = empty_database()
    names: dict[str, object] = {}
    for code in blocks("py"):
        exec(code.replace("postgresql://user@host/db?", f"{url}&"), names)
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            for block in blocks("sql"):
                connection.execute(block)
            with la.open(url, collection="hm", create=False) as index:
                assert len(index) == 10_000
        finally:
            connection.execute(
                "DROP TABLE IF EXISTS hm, articles; DROP OWNED BY news_reader, news_writer; DROP ROLE news_reader, news_writer"
            )


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


@pytest.mark.parametrize("name", ["hamming", "search_simhash", "add_simhashes", "overlap", "cosine", "tfidf"])
def test_functions_are_documented(name: str) -> None:
    assert f"`lookalike.{name}(" in PAGE
