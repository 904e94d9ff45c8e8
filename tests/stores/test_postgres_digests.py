"""Fuzzy digests in PostgreSQL: its index of pieces and its blocks find what comparing with everything finds, whatever was done before."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import Corrupt
from lookalike.stores.postgres import digests, kept_blocks, schema
from lookalike.stores.postgres.copying import distinct_of_each
from lookalike.stores.postgres.kept_blocks import KeptBlocks
from lookalike.stores.postgres.store import PostgresStore
from postgres_server import empty_store

LETTERS = "ab+/Z09"  # few, so that runs and pieces in common are frequent
PARTS = st.text(LETTERS, max_size=20) | st.text("ab", max_size=9) | st.sampled_from(["", "abababa", "aaaaaaaaaaaa", "aaabaaabaaabaaa"])


@st.composite
def digest_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two ssdeeps with something in common, of block sizes that can be compared, or nearly."""
    shared = draw(PARTS)
    level = draw(st.integers(0, 4))
    made = []
    for _ in range(2):
        parts = [draw(PARTS) + draw(st.sampled_from(["", shared])) + draw(PARTS) for _ in range(2)]
        made.append(f"{3 << level + draw(st.integers(0, 1))}:{parts[0][:64]}:{parts[1][:32]}")
    return made[0], made[0] if draw(st.booleans()) and draw(st.booleans()) else made[1]


@settings(max_examples=500)
@given(digest_pairs(), st.integers(0, 5))
def test_what_scores_has_a_piece_in_common(pair: tuple[str, str], collection: int) -> None:
    left, right = pair
    values, offsets = digests.ssdeep_pieces([left, None, right], collection)
    first, nothing, second = (set(values[a:b].tolist()) for a, b in pairwise(offsets))
    assert not nothing
    if la.Ssdeep(left).similarity(la.Ssdeep(right)) > 0:
        assert first & second
    alone = [set(digests.ssdeep_pieces([each], collection)[0].tolist()) for each in pair]
    assert alone == [first, second]


def test_pieces_of_nothing() -> None:
    for given_ in ([], [None], [None, None]):
        values, offsets = digests.ssdeep_pieces(given_, 1)
        assert values.tolist() == []
        assert offsets.tolist() == [0] * (len(given_) + 1)


def documents(count: int, seed: int = 1) -> list[tuple[int, str]]:
    """Some of them changed copies of others, of many lengths."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(2000)]
    texts: list[list[str]] = []
    for number in range(count):
        if number % 3 == 2:
            text = list(draw.choice(texts))
            for _ in range(draw.randint(0, 12)):
                text[draw.randrange(len(text))] = draw.choice(words)
        else:
            text = draw.choices(words, k=draw.choice((3, 40, 100, 400)))
        texts.append(text)
    return [(number, " ".join(text)) for number, text in enumerate(texts)]


def answers(index: la.Index, texts: list[str]) -> list[Any]:
    found: list[Any] = []
    for text in texts:
        for by in ("ssdeep", "tlsh", "fuzzy"):
            for threshold in (0.05, 0.5, 0.9):
                try:
                    matches = index.search(text, by=by, threshold=threshold, limit=7)
                except la.InputError as error:
                    found.append(str(error))
                else:
                    found.append(([(match.id, match.score) for match in matches], matches.total))
    return found


@pytest.fixture
def url() -> str:
    return empty_store()


def test_answers_are_those_of_comparing_with_everything(url: str) -> None:
    """After adding in batches and one by one, replacing, removing and compacting. Blocks and pieces are checked too."""
    made = documents(400)
    queries = [text for _, text in made[::29]]
    with la.open(url, kinds="ssdeep,tlsh") as index, la.open("memory://", kinds="ssdeep,tlsh") as memory:
        for each in (index, memory):
            each.add(made[:250])
            for number, text in made[250:]:
                each.add(number, text)
            each.add([(number, text + " and more") for number, text in made[::10]])
            each.remove([number for number, _ in made[5::7]])
        wanted = answers(memory, queries)
        assert sum(len(each[0]) > 1 for each in wanted) > 20
        assert answers(index, queries) == wanted
        assert index.check().ok
        with psycopg.connect(url) as connection:
            before = connection.execute("SELECT count(*), sum(entries) FROM lookalike.tlsh_blocks").fetchone()
        assert before is not None
        assert before[0] < 100  # of 152 that were written one by one
        index.compact()
        with psycopg.connect(url) as connection:
            after = connection.execute("SELECT count(*), sum(entries) FROM lookalike.tlsh_blocks").fetchone()
            live = connection.execute("SELECT count(*) FROM lookalike.documents WHERE tlsh IS NOT NULL").fetchone()
        assert live is not None
        assert after == (1, live[0])
        assert before[1] > live[0]
        assert answers(index, queries) == wanted
        assert index.check().ok


@pytest.mark.parametrize("most", [kept_blocks.MOST_BYTES, 2000])
def test_blocks_are_read_once_and_others_changes_are_seen(url: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One client searches, another one writes. Where there is no room for all blocks, some are read again."""
    monkeypatch.setattr(kept_blocks, "MOST_BYTES", most)
    read: list[Any] = []
    keep = KeptBlocks._keep
    monkeypatch.setattr(KeptBlocks, "_keep", lambda self, key, *more: (read.append(key), keep(self, key, *more))[1])
    made = documents(120)
    queries = [text for _, text in made[::17]]
    with la.open(url, kinds="ssdeep,tlsh") as index, la.open(url) as other, la.open("memory://", kinds="ssdeep,tlsh") as memory:
        for change in (
            lambda each: each.add(made[:100]),
            lambda each: [each.add(number, text) for number, text in made[100:110]],
            lambda each: each.remove([number for number, _ in made[3::5]]),
            lambda each: each.add([(number, text + " and more") for number, text in made[::9]]),
            lambda each: each.compact(),
            lambda each: each.add(made[110:]),
        ):
            change(other)
            change(memory)
            assert answers(index, queries) == answers(memory, queries)
            before = len(read)
            assert answers(index, queries[:2]) == answers(memory, queries[:2])
            assert (len(read) == before) == (most > 2000)
        assert isinstance(index._store, PostgresStore)
        assert index._store.kept._bytes <= most


def test_a_delete_by_sql_is_not_found(url: str) -> None:
    made = documents(30)
    with la.open(url) as index, psycopg.connect(url, autocommit=True) as connection:
        index.add(made)
        text = next(text for number, text in made if number > 3 and len(text) > 500)
        for by in ("ssdeep", "tlsh"):
            assert index.search(text, by=by)[0].score == 1
        connection.execute("DELETE FROM lookalike.documents")
        for by in ("ssdeep", "tlsh"):
            assert not index.search(text, by=by)
        assert index.check().ok


def test_wrong_pieces_and_blocks_are_noticed_and_made_anew(url: str) -> None:
    made = documents(60)
    text = next(text for _, text in made if len(text) > 500)
    with la.open(url) as index, psycopg.connect(url, autocommit=True) as connection:
        index.add(made)
        index.add("last", text)
        wanted = answers(index, [text])
        connection.execute("UPDATE lookalike.documents SET pieces = '{1,2}' WHERE id_number < 10 AND ssdeep IS NOT NULL")
        connection.execute("DELETE FROM lookalike.tlsh_blocks WHERE entries = 1")
        connection.execute("UPDATE lookalike.tlsh_blocks SET data = overlay(data PLACING '\\xff' FROM length(data) - 60)")
        problems = " ".join(index.check().problems)
        assert "ssdeep: the pieces of" in problems
        assert "tlsh:" in problems
        report = index.check(repair=True)
        assert report.ok
        assert len(report.repaired) == 2
        assert answers(index, [text]) == wanted
        connection.execute("UPDATE lookalike.tlsh_blocks SET data = substr(data, 1, 100)")
        with pytest.raises(Corrupt, match="check --repair"):
            index.search(text, by="tlsh")


def test_a_database_of_an_earlier_version_gets_them(url: str) -> None:
    """As it was: without the column, without the table, and with its own indexes."""
    made = documents(80)
    text = next(text for _, text in made if len(text) > 500)
    with la.open(url) as index, la.open(url, collection="other") as other:
        index.add(made)
        other.add(made[:20])
        wanted = answers(index, [text]), answers(other, [text])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE digest_reader")
        connection.execute("GRANT SELECT ON lookalike.documents TO digest_reader")
        connection.execute("DROP TABLE lookalike.tlsh_blocks, lookalike.fields, lookalike.commits")
        connection.execute("ALTER TABLE lookalike.documents DROP COLUMN pieces")
        connection.execute("CREATE INDEX documents_by_tlsh ON lookalike.documents (collection, substr(tlsh, 5, 2)) INCLUDE (tlsh, ordinal)")
        connection.execute("UPDATE lookalike.format SET version = 7")
        try:
            with la.open(url) as index, la.open(url, collection="other") as other:
                assert (answers(index, [text]), answers(other, [text])) == wanted
                assert index.check().ok
                assert other.check().ok
            may = connection.execute("SELECT has_table_privilege('digest_reader', 'lookalike.tlsh_blocks', 'SELECT')").fetchone()
            assert may == (True,)
            assert not schema.missing_indexes(connection)
            gone = connection.execute("SELECT to_regclass('lookalike.documents_by_tlsh')").fetchone()
            assert gone == (None,)
        finally:
            connection.execute("DROP OWNED BY digest_reader")
            connection.execute("DROP ROLE digest_reader")


@given(st.lists(st.lists(st.integers(0, 5) | st.integers(2**64 - 3, 2**64 - 1), max_size=6), max_size=6))
def test_the_distinct_numbers_of_each(lists: list[list[int]]) -> None:
    values = np.array([value for each in lists for value in each], dtype=np.uint64)
    offsets = np.cumsum([0, *map(len, lists)])
    distinct, places = distinct_of_each(values, offsets)
    assert [distinct[a:b].tolist() for a, b in pairwise(places.tolist())] == [sorted(set(each)) for each in lists]
