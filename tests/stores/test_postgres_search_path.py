"""Somebody else may create in the schema public, as everybody may up to PostgreSQL 14. Nothing of theirs runs with the rights of those who
use a store: not while the schema is made, not while it is used, and not in functions that are called from psql.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.stores.postgres import schema
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.search_path import SEARCH_PATH
from lookalike.testing import StoreContract, VectorContract, corpus, tiny_model
from postgres_attacker import ATTACKED, attack
from postgres_server import Server, copy_database, make_store, packaged_binaries

DOCUMENTS = corpus(60)
WORST = "public, pg_catalog"  # what others made comes even before what the server has


def attacked_server(binaries: Path | None = None) -> Iterator[Server]:
    """One in which the role attacker was before the role victim, who owns the database."""
    folder = Path(tempfile.mkdtemp(prefix="lookalike-pga-"))
    server = Server(folder, binaries)
    server.make()
    server.start()
    with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
        admin.execute("CREATE ROLE attacker LOGIN")
        admin.execute("CREATE ROLE victim LOGIN")
        admin.execute("CREATE DATABASE shared OWNER victim")
    with psycopg.connect(server.url("shared"), autocommit=True) as admin:
        admin.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        if binaries is not None:
            admin.execute("CREATE SCHEMA extensions; GRANT USAGE ON SCHEMA extensions TO PUBLIC; CREATE EXTENSION vector SCHEMA extensions")
    with psycopg.connect(server.url("shared", "attacker"), autocommit=True) as attacker:
        assert attack(attacker) > 5000
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from attacked_server()


@pytest.fixture(scope="module")
def server_with_pgvector() -> Iterator[Server]:
    yield from attacked_server(packaged_binaries())


def with_a_store(server: Server) -> str:
    """The victim's URL of a database that is under attack as well, with an empty store: a copy of one that was made under attack."""
    if not (server.folder / "made").exists():
        make_store(emptied(server))
        copy_database(server.url("postgres"), "shared", "made", "victim")
        (server.folder / "made").touch()
    with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
        admin.execute(f"ALTER ROLE victim SET search_path = {WORST}")
    copy_database(server.url("postgres"), "made", "used", "victim")
    return server.url("used", "victim")


def emptied(server: Server, path: str = WORST) -> str:
    """The victim's URL of a database without the schema."""
    with psycopg.connect(server.url("shared"), autocommit=True) as admin:
        admin.execute("SET client_min_messages = warning")
        admin.execute("DROP SCHEMA IF EXISTS lookalike CASCADE")
        admin.execute(f"ALTER ROLE victim SET search_path = {path}")
    return server.url("shared", "victim")


@pytest.fixture
def forgetful_pooler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session in which nobody has set anything, as a pooler gives another one to each transaction."""
    connect: Callable[[Connections], Connection] = Connections.connect

    def reset(connections: Connections) -> Connection:
        connection = connect(connections)
        connection.execute("RESET search_path")
        return connection

    monkeypatch.setattr(Connections, "connect", reset)


@pytest.mark.usefixtures("forgetful_pooler")
class TestUnderAttack(StoreContract):
    """Every statement that a store issues."""

    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self, server: Server) -> None:
        self.url = with_a_store(server)

    def location(self, tmp_path: Path) -> str:
        return self.url


@pytest.mark.usefixtures("forgetful_pooler")
class TestVectorsUnderAttack(VectorContract):
    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self, server_with_pgvector: Server) -> None:
        self.url = with_a_store(server_with_pgvector)

    def location(self, tmp_path: Path) -> str:
        return self.url


def test_the_attack_would_succeed(server: Server) -> None:
    """Or the others would prove nothing: without a path of its own each of these runs what somebody else made."""
    url = emptied(server, '"$user", public')
    la.open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (
            "SELECT nextval('lookalike.transactions')",
            "SELECT unnest('{a}'::text[])",
            "SELECT cardinality('{1}'::integer[])",
            "SELECT simhash & 2047 FROM (VALUES (5::bigint)) AS v (simhash)",
            "SELECT ARRAY[1::bigint] && ARRAY[1::bigint]",
        ):
            with pytest.raises(psycopg.errors.RaiseException, match=ATTACKED):
                connection.execute(statement)


@pytest.mark.parametrize("path", ['"$user", public', WORST])
def test_a_store_is_made_used_and_checked(server: Server, path: str) -> None:
    url = emptied(server, path)
    with la.open(url + "&bulk=on", kinds="simhash", bits=128, collection="wide") as index:
        index.add(DOCUMENTS)
    with la.open(url, model=tiny_model()) as index:
        index.add(DOCUMENTS)
        index.add([(7, "a number for an id"), *DOCUMENTS[:3]])
        for by in ("near", "simhash", "passages", "fuzzy", "meaning"):
            assert index.search(DOCUMENTS[0][1], by=by)[0].score == 1.0
        for k in (0, 3, 8, 16):
            assert index.search(DOCUMENTS[0][1], by="simhash", k=k)[0].distance == 0
        index.remove([DOCUMENTS[5][0]])
        with psycopg.connect(server.url("shared"), autocommit=True) as admin:
            admin.execute("DROP INDEX lookalike.documents_by_block1; UPDATE lookalike.documents SET hashes = '{1}'")
            admin.execute("DELETE FROM lookalike.sketches; UPDATE lookalike.collections SET documents = 7")
        assert index.check(repair=True).ok
        index.compact()
        assert index.stats()["documents"] == 60
    with psycopg.connect(server.url("shared"), autocommit=True) as admin:
        strange = admin.execute(STRANGE).fetchall()
    assert strange == []


# What of the schema lookalike depends on a function, an operator or a type of the schema public.
STRANGE = """
SELECT pg_describe_object(d.classid, d.objid, 0), pg_describe_object(d.refclassid, d.refobjid, 0)
FROM pg_depend d
LEFT JOIN pg_proc f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid
WHERE coalesce(f.pronamespace, o.oprnamespace, t.typnamespace) = 'public'::regnamespace
AND pg_describe_object(d.classid, d.objid, 0) LIKE '%lookalike.%'
"""


@pytest.fixture(params=['"$user", public', WORST, "pg_temp, public, pg_catalog"])
def session(server: Server, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[Any]]:
    """The victim in psql, with a collection that is large enough for every way of searching."""
    url = emptied(server, request.param)
    with la.open(url, kinds="simhash", collection="hm") as index:
        index.add_simhashes(range(21_000), [number * 0x9E3779B97F4A7C15 % 2**64 for number in range(21_000)])
    with psycopg.connect(url, autocommit=True) as connection:
        for table in ("pg_class", "collections", "documents", "masks"):  # of the session itself
            connection.execute(f"CREATE TEMP TABLE {table} (oid integer)")
        yield connection


def test_functions_called_from_anywhere(session: psycopg.Connection[Any]) -> None:
    def one(statement: str) -> Any:
        found = session.execute(statement).fetchone()
        assert found is not None
        return found[0]

    for k in (0, 1, 3, 5, 8, 20):
        assert one(f"SELECT id FROM lookalike.search_simhash('hm', 0, {k})") == "0"
        assert one(f"SELECT ordinal FROM lookalike.simhash_rows(1, 0, NULL, {k})") > 0
    for statement in (
        "SELECT ordinal FROM lookalike.simhash_scan(1, 0, 3)",
        "SELECT ordinal FROM lookalike.simhash_hot_blocks(1, 21000, 64, 0, 3, '{NULL,0,0}', '{true,true,true}')",
        "SELECT ordinal FROM lookalike.simhash_hot_block0(1, 1, 64, 0, 3, '{NULL,0,0}', '{true,true,true}')",
    ):
        assert one(statement) > 0
    assert one("SELECT lookalike.hamming(5::bigint, 6::bigint)") == 2
    assert one("SELECT lookalike.hamming(B'101', B'110')") == 2
    assert one("SELECT lookalike.block_width(64, 2)") == 22
    assert one("SELECT lookalike.keys_within(21, 2)") == 1 + 21 + 210
    assert len(one("SELECT lookalike.keys_around(5, 64, 0, 2)")) == 1 + 21 + 210
    assert one("SELECT pg_catalog.count(*) FROM lookalike.near_ranges(5, 64, 0, 2, 4)") == 1 + 17 + 136
    assert one("SELECT lookalike.add_simhashes('hm', ARRAY[90000, 90001, 3]::bigint[], ARRAY[1, 2, 3]::bigint[])") == 2
    for type_ in ("integer", "bigint", "text"):
        arrays = (
            f"ARRAY['1', '2']::{type_}[], ARRAY['2', '3']::{type_}[]"
            if type_ != "text"
            else "'{1,2}'::pg_catalog.text[], '{2,3}'::pg_catalog.text[]"
        )
        assert one(f"SELECT lookalike.overlap({arrays})") == 1
        assert one(f"SELECT lookalike.cosine({arrays})") == 0.5
    session.execute("INSERT INTO lookalike.idf VALUES ('i', 'a', 1), ('i', 'b', 2)")
    for tf in ("const", "n", "log"):
        assert one(f"SELECT lookalike.tfidf('{{a,b}}', '{{b,c}}', 'i', '{tf}')") == pytest.approx(4 / (5 * 4) ** 0.5)


def test_tables_and_collections_of_ones_own(session: psycopg.Connection[Any]) -> None:
    """Made, written to and searched from a session with the worst of paths: neither indexes nor functions call what others made."""

    def all_of(statement: str) -> list[tuple[Any, ...]]:
        return session.execute(statement).fetchall()

    own = "id pg_catalog.int4, v pg_catalog.int8, b pg_catalog.bit(64), n pg_catalog.numeric, h pg_catalog.text, m pg_catalog.int8[]"
    session.execute(f"CREATE TABLE public.own ({own})")
    try:
        row = f"(1, 5, B'{5:064b}', 5, '0x5', '{{1,2,3,4}}')"
        session.execute(f"INSERT INTO public.own VALUES {row}")
        for column, kind in (("v", "simhash"), ("b", "simhash"), ("n", "simhash"), ("h", "simhash"), ("h", "text"), ("m", "minhash")):
            session.execute(f"SELECT lookalike.index_table('public.own', '{column}', 'id', '{kind}', 'own')")
            session.execute(f"INSERT INTO public.own VALUES {row}; TRUNCATE public.own; INSERT INTO public.own VALUES {row}")
            if kind == "simhash":
                for k in (0, 3, 8, 20):
                    assert all_of(f"SELECT id, distance FROM lookalike.search_simhash('own', 5, {k})") == [("1", 0)]
            else:
                asked = "'0X5'" if kind == "text" else "'{1,2,3,4}'::pg_catalog.int8[]"
                assert all_of(f"SELECT id, similarity FROM lookalike.search_near('own', {asked})") == [("1", 1.0)]
            session.execute("SELECT lookalike.drop_collection('own')")
    finally:
        session.execute("DROP TABLE public.own")
    session.execute("SELECT lookalike.create_collection('made')")
    added = "SELECT lookalike.add_simhashes('made', '{a,b}'::pg_catalog.text[], '{5,9223372036854775807}'::pg_catalog.int8[])"
    assert all_of(added) == [(2,)]
    assert all_of("SELECT admitted, match FROM lookalike.admit_simhash('made', 'c'::pg_catalog.text, 4::pg_catalog.int8)") == [(False, "a")]
    assert all_of("SELECT lookalike.alike(4::pg_catalog.int8, 5)") == [(True,)]
    assert all_of("SELECT lookalike.remove('made', '{a,c}'::pg_catalog.text[])") == [(1,)]
    session.execute("DELETE FROM lookalike.documents WHERE id_text IS NOT NULL")
    assert all_of("SELECT lookalike.drop_collection('made')") == [(0,)]


def test_no_function_looks_names_up_where_its_caller_says(server: Server) -> None:
    """One that is added later has to choose as well: a body behind RETURN, a path, or a schema before every name (tested above)."""
    la.open(emptied(server)).close()
    query = """
    SELECT proname FROM pg_proc WHERE pronamespace = 'lookalike'::regnamespace AND prosqlbody IS NULL
    AND NOT coalesce(proconfig, '{}') @> ARRAY[%s]
    """
    with psycopg.connect(server.url("postgres").replace("/postgres?", "/shared?"), autocommit=True) as admin:
        admin.execute("SET search_path = pg_catalog")
        names = {name for (name,) in admin.execute(query, (f"search_path={SEARCH_PATH}",))}
    assert names == {"overlap", "cosine"}


def test_a_schema_that_was_made_under_attack_is_refused(server: Server) -> None:
    """An earlier release looked its defaults and generated columns up on the path of whoever made them."""
    url = emptied(server, '"$user", public')
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SET search_path = pg_catalog")
        owner.execute("CREATE SCHEMA lookalike")
        for step in schema.STEPS[:4]:
            owner.execute(schema.read_step(step))
        owner.execute("INSERT INTO lookalike.format VALUES (4)")
        owner.execute("ALTER TABLE lookalike.documents ALTER ordinal SET DEFAULT public.nextval('lookalike.transactions'::text)")
    with pytest.raises(StoreError, match=r"public\.nextval.*drop the schema"):
        la.open(url)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SET search_path = pg_catalog")
        owner.execute("ALTER TABLE lookalike.documents ALTER ordinal SET DEFAULT nextval('lookalike.transactions') << 20")
    with la.open(url) as index:
        index.add(DOCUMENTS)


def test_pgvector_is_not_made_where_everybody_may_create(server_with_pgvector: Server) -> None:
    """Its script would look names up in the schema that it is made in."""
    url = emptied(server_with_pgvector)
    extension = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
    with psycopg.connect(server_with_pgvector.url("shared"), autocommit=True) as admin:
        admin.execute("DROP EXTENSION vector; GRANT CREATE ON DATABASE shared TO victim")
        try:
            with la.open(url, model=tiny_model()) as index:
                index.add(DOCUMENTS)
                assert index.search(DOCUMENTS[0][1], by="meaning")[0].score == 1.0
            admin.execute("SET search_path = pg_catalog")
            assert admin.execute(extension).fetchone() is None
        finally:
            emptied(server_with_pgvector)
            admin.execute("CREATE EXTENSION vector SCHEMA extensions")
