"""Real faults: connections that are cut, servers that restart, slots that run out, roles that may not. Nothing that was acknowledged is
lost, nothing is there twice, and what cannot be helped is said clearly.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

import lookalike as la
from lookalike.errors import InputError, RecipeMismatch, StoreBusy, StoreError
from lookalike.stores.postgres import connections, schema
from lookalike.stores.postgres.address import Address
from lookalike.testing import corpus
from postgres_server import Server, empty_database, started_server

DOCUMENTS = corpus(60)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    with started_server(max_connections="12", superuser_reserved_connections="1") as server:
        yield server


@pytest.fixture
def url(own_server: Server) -> str:
    url = own_server.url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS lookalike CASCADE")
    return url


class Proxy:
    """Stands between a store and its server and cuts the connection where it is told to, so many times."""

    left = 0

    def __init__(self, server: Server, word: bytes, *, answered: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lookalike-proxy-"))
        self.word, self.answered = word, answered
        self.target = str(server.folder / ".s.PGSQL.5432")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            cut = threading.Event()
            threading.Thread(target=self._forward, args=(client, server, cut), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client, cut), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        while data := _received(client):
            if self.left and self.word in data:
                self.left -= 1
                if self.answered:
                    cut.set()  # the server does what it was asked to, and nobody hears of it
                else:
                    break
            server.sendall(data)
        _end(client, server)

    def _answer(self, server: socket.socket, client: socket.socket, cut: threading.Event) -> None:
        while data := _received(server):
            if cut.is_set():
                break
            client.sendall(data)
        _end(client, server)

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _received(side: socket.socket) -> bytes:
    try:
        return side.recv(65536)
    except OSError:
        return b""


def _end(*sides: socket.socket) -> None:
    for side in sides:
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("word", "answered"), [(b"COMMIT", True), (b"COMMIT", False), (b"PGCOPY", False), (b"nextval", True)])
def test_a_connection_that_is_cut_neither_loses_nor_repeats_a_batch(own_server: Server, url: str, word: bytes, answered: bool) -> None:
    la.open(url).close()
    proxy = Proxy(own_server, word, answered=answered)
    try:
        with la.open(proxy.url()) as index:
            proxy.left = 1
            assert index.add(DOCUMENTS) == (60, 0)
            assert proxy.left == 0
            assert [document.id for document in index.documents()] == [id_ for id_, _ in DOCUMENTS]
            assert len(index) == 60
            assert index.check().ok
    finally:
        proxy.close()


def _before_the_commit(monkeypatch: pytest.MonkeyPatch, happens: Callable[[psycopg.Connection[Any]], None]) -> None:
    """Something happens when the next transaction that has written is about to be committed."""
    execute, left = psycopg.Connection.execute, [happens]

    def executed(connection: psycopg.Connection[Any], query: Any, *values: Any, **options: Any) -> Any:
        if query == "COMMIT" and left and connection.info.transaction_status == TransactionStatus.INTRANS and _number_of(connection):
            left.pop()(connection)
        return execute(connection, query, *values, **options)

    def _number_of(connection: psycopg.Connection[Any]) -> bool:
        found = execute(connection, "SELECT pg_current_xact_id_if_assigned() IS NOT NULL").fetchone()
        return bool(found and found[0])

    monkeypatch.setattr(psycopg.Connection, "execute", executed)


def test_a_server_that_crashes_before_the_commit_gives_its_number_to_another(
    own_server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not on the disk yet is gone, and so is the server's knowledge that its number was given away."""
    numbers: list[Any] = []

    def crash(connection: psycopg.Connection[Any]) -> None:
        numbers.append(connection.execute("SELECT pg_current_xact_id()::text").fetchone())
        own_server.restart(signal.SIGQUIT)
        with psycopg.connect(url, autocommit=True) as other, other.transaction():
            other.execute("CREATE TABLE public.of_another ()")
            numbers.append(other.execute("SELECT pg_current_xact_id()::text").fetchone())

    with la.open(url) as index, la.open(url) as beside:
        index.add("first", "words that were there before")
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("CHECKPOINT")
        _before_the_commit(monkeypatch, crash)
        try:
            assert index.admit("a", "an article that nobody has seen yet").admitted
            assert "a" in beside
            assert beside.admit("b", "an article that nobody has seen yet").match.id == "a"
        finally:
            monkeypatch.undo()
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute("DROP TABLE IF EXISTS public.of_another")
    assert len(numbers) == 2
    assert numbers[0] == numbers[1], "the server gave another number: this run has shown nothing"


def test_a_server_that_has_not_noticed_yet_that_a_client_is_gone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its transaction is still under way: whether it was committed is known when it ends."""
    held: list[psycopg.Connection[Any]] = []

    def lose(connection: psycopg.Connection[Any]) -> None:
        held.append(connection)
        threading.Timer(0.5, connection.close).start()
        raise psycopg.OperationalError("lost, as far as the client knows")

    with la.open(url) as index:
        _before_the_commit(monkeypatch, lose)
        assert index.add(DOCUMENTS) == (60, 0)
        assert held[0].closed
        monkeypatch.undo()
        assert len(index) == 60
        assert index.check().ok


def test_what_tells_of_commits_is_cleaned_up(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:

        def rows() -> list[tuple[Any, ...]]:
            return admin.execute("SELECT last FROM lookalike.commits ORDER BY last").fetchall()

        with la.open(url) as index:
            index.add("a", "one two three")
            first = rows()
            index.add("b", "four five six")
            index.remove("b")
            index.search("one two three")
            assert [(last + 2,) for (last,) in first] == rows()
        assert rows() == []
        admin.execute(
            "INSERT INTO lookalike.commits VALUES (gen_random_uuid(), 7, now() - interval '2 days'), (gen_random_uuid(), 8, now())"
        )
        with la.open(url) as index:
            index.compact()
        assert rows() == [(8,)]


def test_a_connection_that_is_cut_again_and_again_is_given_up(own_server: Server, url: str) -> None:
    la.open(url).close()
    proxy = Proxy(own_server, b"PGCOPY", answered=False)
    try:
        with la.open(proxy.url()) as index:
            proxy.left = 1000
            with pytest.raises(StoreError, match="connection"):
                index.add(DOCUMENTS)
            assert 990 < proxy.left < 1000
    finally:
        proxy.close()
    with la.open(url) as index:
        assert len(index) == 0


def test_backends_that_are_killed_in_the_middle_of_a_load(url: str) -> None:
    def documents() -> Iterator[tuple[int, str]]:
        for number in range(9000):
            if number % 4096 == 0:
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lookalike'")
            yield number, f"document number {number}"

    with la.open(url, kinds="simhash") as index:
        assert index.add(documents()) == (9000, 0)
        assert list(index.ids()) == list(range(9000))


@pytest.mark.parametrize("how", ["terminated", "killed"])
def test_a_backend_that_dies_in_the_middle_of_a_batch(url: str, how: str) -> None:
    """It waits for a lock with its documents copied and nothing committed. Killed, it takes the whole server down, which recovers."""
    with la.open(url) as index, ThreadPoolExecutor(1) as thread:
        index.add(DOCUMENTS[:20])
        with psycopg.connect(url, autocommit=False) as other:
            other.execute("LOCK TABLE lookalike.sketches")
            adding = thread.submit(index.add, DOCUMENTS)
            pid = _waiting(other)
            if how == "terminated":
                other.execute("SELECT pg_terminate_backend(%s)", (pid,))
            else:
                os.kill(pid, signal.SIGKILL)
                with pytest.raises(psycopg.OperationalError):
                    other.execute("SELECT pg_sleep(60)")  # it goes down with the others, and its lock with it
                other.close()
        assert adding.result(timeout=60) == (40, 20)
        assert sorted(map(str, index.ids())) == sorted(id_ for id_, _ in DOCUMENTS)
        assert index.check().ok


def _waiting(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    """The process of ours that waits for a lock."""
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'lookalike' AND wait_event_type = 'Lock'"
    for _ in range(600):
        connection.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)")
        if found := connection.execute(query).fetchone():
            return int(str(found[0]))
    raise AssertionError("nobody waits")


def test_privileges_that_are_revoked_between_batches(own_server: Server, url: str) -> None:
    la.open(url).close()
    everything = "ALL TABLES IN SCHEMA lookalike"
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS clerk")
        owner.execute("CREATE ROLE clerk LOGIN")
        owner.execute(f"GRANT USAGE ON SCHEMA lookalike TO clerk; GRANT SELECT, INSERT, UPDATE, DELETE ON {everything} TO clerk")
        owner.execute("GRANT USAGE ON SEQUENCE lookalike.transactions TO clerk")
        with la.open(own_server.url("postgres", "clerk")) as index:
            assert index.add(DOCUMENTS[:30]) == (30, 0)
            for privilege, table in (("INSERT", "documents"), ("UPDATE", "collections"), ("DELETE", "documents")):
                owner.execute(f"REVOKE {privilege} ON lookalike.{table} FROM clerk")
                with pytest.raises(StoreError, match="privilege"):
                    index.add(DOCUMENTS)
                owner.execute(f"GRANT {privilege} ON lookalike.{table} TO clerk")
                assert [document.id for document in index.documents()] == [id_ for id_, _ in DOCUMENTS[:30]]
            assert index.add(DOCUMENTS) == (30, 30)
            assert index.check().ok
        owner.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_a_store_that_is_open_outlives_a_server_without_slots(url: str) -> None:
    """It keeps the connection that it has; a server that has none left is waited for, with a bound."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS guest")
        admin.execute("CREATE ROLE guest LOGIN")
    la.open(url).close()
    with la.open(url) as index:
        index.add(DOCUMENTS[:30])
        held: list[psycopg.Connection[tuple[object, ...]]] = []
        try:
            with suppress(psycopg.OperationalError):
                while len(held) < 100:
                    held.append(psycopg.connect(url.replace("postgres@", "guest@")))
            assert 1 < len(held) < 100
            assert index.add(DOCUMENTS[30:]) == (30, 0)
        finally:
            for connection in held:
                connection.close()
        assert [document.id for document in index.documents()] == [id_ for id_, _ in DOCUMENTS]


def _read_across_a_restart(index: la.Index, server: Server, how: signal.Signals) -> None:
    with index._store.reading() as reader:
        server.restart(how)
        reader.rows_of(["a"])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_that_restarts(own_server: Server, url: str, how: signal.Signals) -> None:
    with la.open(url) as index:
        index.add(DOCUMENTS[:30])
        before = index.search(DOCUMENTS[0][1])
        own_server.restart(how)
        assert index.search(DOCUMENTS[0][1]) == before  # between calls nobody notices
        own_server.stop(how)
        (own_server.data / "postmaster.pid").unlink(missing_ok=True)
        threading.Timer(1.0, own_server.start).start()
        assert index.add(DOCUMENTS[30:]) == (30, 0)  # and during one it waits
        own_server.wait()
        with pytest.raises(StoreError, match="server"):
            _read_across_a_restart(index, own_server, how)  # the state that was being read is gone
        assert [document.id for document in index.documents()] == [id_ for id_, _ in DOCUMENTS]


def test_a_server_without_slots_says_so(url: str) -> None:
    la.open(url).close()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE visitor LOGIN")
        admin.execute("GRANT USAGE ON SCHEMA lookalike TO visitor; GRANT SELECT ON ALL TABLES IN SCHEMA lookalike TO visitor")
    visitor = url.replace("postgres@", "visitor@")
    held: list[psycopg.Connection[tuple[object, ...]]] = []
    try:
        with suppress(psycopg.OperationalError):
            while len(held) < 100:
                held.append(psycopg.connect(visitor))
        assert 1 < len(held) < 100
        with pytest.raises(StoreBusy, match="pool="):
            la.open(visitor, read_only=True)
    finally:
        for connection in held:
            connection.close()
    with la.open(visitor, read_only=True) as index:
        assert len(index) == 0


def test_a_pool_that_is_used_up_waits(url: str) -> None:
    with la.open(url + "&pool=2") as index:
        index.add(DOCUMENTS)
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda item: index.search(item[1])[0].score, DOCUMENTS * 3))
        assert found == [1.0] * 180


def test_roles_with_no_more_than_they_need(own_server: Server, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS shop")
        admin.execute("CREATE DATABASE shop")
    with psycopg.connect(own_server.url("shop"), autocommit=True) as admin:
        for role in ("writer", "reader"):
            admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute("REVOKE CREATE ON DATABASE shop FROM PUBLIC; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        admin.execute("CREATE SCHEMA lookalike AUTHORIZATION writer")
    with la.open(own_server.url("shop", "writer")) as index:
        index.add(DOCUMENTS)
        assert index.compact()["bytes_after"] > 0
        assert index.check().ok
    with pytest.raises(StoreError, match="privilege"):
        la.open(own_server.url("shop", "reader"), read_only=True)
    with psycopg.connect(own_server.url("shop", "writer"), autocommit=True) as owner:
        owner.execute("GRANT USAGE ON SCHEMA lookalike TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA lookalike TO reader")
    with la.open(own_server.url("shop", "reader"), read_only=True) as index:
        for by in ("near", "simhash", "passages", "fuzzy"):
            assert index.search(DOCUMENTS[0][1], by=by)[0].id == DOCUMENTS[0][0]
        assert index.check().ok
        assert index.stats()["documents"] == 60
    for verb in (["search", "--text", DOCUMENTS[0][1]], ["get", DOCUMENTS[0][0]], ["stats"], ["check"]):
        command = [str(Path(sys.executable).with_name("lookalike")), verb[0], own_server.url("shop", "reader"), *verb[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    with la.open(own_server.url("shop", "reader")) as index, pytest.raises(StoreError, match="privilege"):
        index.add("a", "b")
    with (
        psycopg.connect(own_server.url("shop", "writer"), autocommit=True) as owner,
        la.open(own_server.url("shop", "reader"), read_only=True) as index,
    ):
        owner.execute("REVOKE SELECT ON lookalike.documents FROM reader")
        with pytest.raises(StoreError, match="privilege"):
            index.search(DOCUMENTS[0][1])


def test_another_recipe_and_a_newer_schema_are_refused(url: str) -> None:
    la.open(url, recipe="words").close()
    with pytest.raises(RecipeMismatch):
        la.open(url, recipe="chars")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE lookalike.format SET version = %s", (schema.VERSION + 1,))
    for options in ({}, {"read_only": True}, {"create": False}):
        with pytest.raises(StoreError, match="upgrade lookalike"):
            la.open(url, **options)  # type: ignore[arg-type]


def test_statements_that_take_too_long_are_stopped(url: str) -> None:
    with la.open(url + "&timeout=300ms") as index:
        index.add("a", "b")
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE lookalike.documents")
            with pytest.raises(StoreError, match="timeout="):
                index.add("c", "d")
        assert index.add("c", "d") == (1, 0)


@pytest.mark.parametrize("bad", ["secret%zz", "s3cr3t", "s3cr/3t", "s3#cr3t", "s3@cr3t", "s3?cr3t", "s3 cr3t", "s3:cr3t", "12/3t"])
def test_passwords_are_never_shown(own_server: Server, bad: str) -> None:
    for url in (
        f"postgresql://someone:{bad}@/nowhere?host={own_server.folder}",
        f"postgresql://someone:{bad}@nowhere.invalid/nowhere",
        f"postgresql:///nowhere?password={bad}&host={own_server.folder}&user=x",
    ):
        with pytest.raises((StoreError, InputError)) as caught:
            la.open(url)
        shown = "".join(traceback.format_exception(caught.value)).replace(str(own_server.folder), "")
        shown = "".join(line for line in shown.splitlines(keepends=True) if not line.startswith("    "))  # without the lines of the code
        for part in (bad, bad[:6], bad[-3:]):
            assert part not in shown


def test_a_short_password_is_not_masked_wherever_its_letters_are(own_server: Server) -> None:
    """That would tell it."""
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        la.open(f"postgresql://postgres:e@/nowhere?host={own_server.folder}")


@pytest.fixture
def keeper(own_server: Server, url: str) -> Iterator[str]:
    """The URL of a role that has to give a password."""
    rules = own_server.data / "pg_hba.conf"
    before = rules.read_text(encoding="utf-8")
    rules.write_text("local all keeper scram-sha-256\n" + before, encoding="utf-8")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE keeper LOGIN SUPERUSER PASSWORD 's3cr3t'")
        admin.execute("SELECT pg_reload_conf()")
        with suppress(psycopg.OperationalError):
            while True:  # until the server has read it
                psycopg.connect(own_server.url("postgres", "keeper")).close()
        yield own_server.url("postgres", "keeper")
        admin.execute("DROP OWNED BY keeper; DROP ROLE keeper")
        rules.write_text(before, encoding="utf-8")
        admin.execute("SELECT pg_reload_conf()")


def test_credentials_come_from_the_usual_places(keeper: str, own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="password"):
        la.open(keeper)
    with monkeypatch.context() as environment:
        environment.setenv("PGPASSWORD", "s3cr3t")
        with la.open(keeper) as index:
            index.add("a", "some words")
    with psycopg.connect(own_server.url("postgres"), autocommit=True) as admin:  # as libpq reads it, and as it should be written
        admin.execute("ALTER ROLE keeper PASSWORD 's3#c:r?3+t@/'")
    for written in ("s3#c:r?3+t%40%2F", "s3%23c%3Ar%3F3%2Bt%40%2f"):
        with la.open(keeper.replace("keeper@", f"keeper:{written}@")) as index:
            assert list(index.ids()) == ["a"]
            assert "s3" not in repr(index) + str(index.stats())
    with la.open(f"{keeper}&password=s3#c:r?3+t@/".replace("#", "%23")) as index:
        assert list(index.ids()) == ["a"]
    with psycopg.connect(own_server.url("postgres"), autocommit=True) as admin:
        admin.execute("ALTER ROLE keeper PASSWORD 's3cr3t'")
    passwords = tmp_path / "passwords"
    for password, right in (("s3cr3t", True), ("wr0ng", False)):
        passwords.write_text(f"*:*:*:keeper:{password}\n", encoding="utf-8")
        passwords.chmod(0o600)
        with monkeypatch.context() as environment:
            environment.setenv("PGPASSFILE", str(passwords))
            if right:
                with la.open(keeper) as index:
                    assert index.get("a").text == "some words"
            else:
                with pytest.raises(StoreError, match="password") as caught:
                    la.open(keeper)
                assert "wr0ng" not in str(caught.value)
    services = tmp_path / "services"
    services.write_text(f"[news]\nhost={own_server.folder}\ndbname=postgres\nuser=keeper\npassword=s3cr3t\n", encoding="utf-8")
    with monkeypatch.context() as environment:
        environment.setenv("PGSERVICEFILE", str(services))
        with la.open("postgresql:///?service=news") as index:
            assert "s3cr3t" not in repr(index)
            assert list(index.ids()) == ["a"]


def test_the_name_of_a_store_has_no_password(own_server: Server, url: str) -> None:
    with la.open(url.replace("postgres@", "postgres:s3cr3t@") + "&collection=news") as index:
        assert "s3cr3t" not in repr(index)
        assert "postgres@" in repr(index)
        assert index._store.collection == "news"  # type: ignore[attr-defined]


@pytest.mark.parametrize("option", ["timeout=soon", "pool=0", "bulk=yes", "nonsense=1", "collection=a&x"])
def test_wrong_options_are_refused(url: str, option: str) -> None:
    with pytest.raises(InputError):
        la.open(f"{url}&{option}")
    with pytest.raises(InputError, match="one of them"):
        la.open(f"{url}&collection=a", collection="b")


def test_processes_that_start_at_once_make_one_schema() -> None:
    url = empty_database()
    script = "import lookalike as la, sys\nwith la.open(sys.argv[1]) as index: index.add([(f'{sys.argv[2]}-{n}', f'text {n}') for n in range(50)])"
    running = [subprocess.Popen([sys.executable, "-c", script, url, str(n)], stderr=subprocess.PIPE) for n in range(4)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    with la.open(url) as index:
        assert len(index) == 200
        assert index.check().ok
        for number in range(4):  # each in its own order
            assert [id_ for id_ in index.ids() if str(id_).startswith(f"{number}-")] == [f"{number}-{n}" for n in range(50)]


def test_writers_of_the_same_documents_meet_without_harm() -> None:
    url = empty_database()
    la.open(url).close()

    def write(number: int) -> None:
        documents = DOCUMENTS if number % 2 else DOCUMENTS[::-1]
        with la.open(url) as index:
            for _ in range(4):
                index.add(documents)
                index.remove([id_ for id_, _ in documents[::7]])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    with la.open(url) as index:
        assert index.check().ok
        index.add(DOCUMENTS)
        assert sorted(map(str, index.ids())) == sorted(id_ for id_, _ in DOCUMENTS)
        index.compact()
        assert index.check().ok


def test_writers_who_meet_again_and_again_wait_for_different_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same times for all would let them meet at each further attempt."""
    waited: list[float] = []
    monkeypatch.setattr(connections.time, "sleep", waited.append)
    held, left = connections.Connections(Address.parse(empty_database(), "default"), read_only=False), [10]

    def work(_: object) -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise psycopg.errors.UniqueViolation("somebody else was first")
        return "written"

    for _ in range(2):
        left[0] = 10
        assert held.attempt(work) == "written"
    assert len(set(waited)) == len(waited) == 20
    assert all(0 <= each < 2 for each in waited)
    left[0] = 1000
    with pytest.raises(StoreBusy, match="others write the same documents: try again"):
        held.attempt(work)
    held.close()


def test_a_bulk_load_makes_its_indexes_at_the_end() -> None:
    url = empty_database()
    la.open(url).close()
    with la.open(url + "&bulk=on") as index:
        index.add(DOCUMENTS)
        with psycopg.connect(url) as connection:
            assert set(schema.missing_indexes(connection)) == set(schema.search_index_names())
        expected = [
            index.search(text, by=by) for by in ("near", "simhash", "passages", "fuzzy") for _, text in DOCUMENTS[:9]
        ]  # exact meanwhile
        la.open(url).close()  # somebody else does not make them while we load
        with psycopg.connect(url) as connection:
            assert schema.missing_indexes(connection)
    with la.open(url) as index, psycopg.connect(url) as connection:
        assert schema.missing_indexes(connection) == []
        assert [index.search(text, by=by) for by in ("near", "simhash", "passages", "fuzzy") for _, text in DOCUMENTS[:9]] == expected


def test_a_bulk_load_that_was_killed_is_put_right() -> None:
    url = empty_database()
    script = "import lookalike as la, sys, os\nindex = la.open(sys.argv[1])\nindex.add('a', 'a text')\nos.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", script, url + "&bulk=on"], check=False).returncode == -signal.SIGKILL
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(100):  # until the server has noticed
            if connection.execute("SELECT FROM pg_locks WHERE locktype = 'advisory'").fetchone() is None:
                break
        with la.open(url, read_only=True) as index:
            assert not index.check().ok
            assert index.search("a text", by="simhash")[0].id == "a"
        with la.open(url) as index:
            assert schema.missing_indexes(connection) == []
            assert index.check().ok


def test_check_finds_what_is_wrong_and_repairs_it() -> None:
    url = empty_database()
    with la.open(url) as index, psycopg.connect(url, autocommit=True) as connection:
        index.add(DOCUMENTS)
        connection.execute("UPDATE lookalike.collections SET documents = 7")
        connection.execute("UPDATE lookalike.documents SET hashes = '{1}' WHERE id_text = 'doc-3'")
        connection.execute(
            "DELETE FROM lookalike.sketches WHERE digest IN (SELECT digest FROM lookalike.documents WHERE id_text = 'doc-4')"
        )
        connection.execute("DROP INDEX lookalike.documents_by_block1")
        report = index.check()
        assert len(report.problems) == 4
        after = index.check(repair=True)
        assert after.ok
        assert after.repaired == report.problems
        assert len(index) == 60
        assert index.search(DOCUMENTS[4][1])[0].id == "doc-4"


def test_a_forked_process_has_connections_of_its_own() -> None:
    url = empty_database()
    with la.open(url) as index:
        index.add(DOCUMENTS)
        child = os.fork()
        if child == 0:
            os._exit(0 if len(index) == 60 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert len(index) == 60
