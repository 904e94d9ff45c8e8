"""``la.open("http://…")`` answers as an index on this machine does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import NotFound, StoreError
from running_service import Running, running

DOCUMENTS = [
    (f"d{i}", f"The council of town {i % 5} decided to repair the old bridge over the river before winter {i}.", {"n": i})
    for i in range(40)
]
pytestmark = pytest.mark.xdist_group("service remote")  # they share one service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("remote")
    with running(folder, str(folder / "store"), "--processes", "1", "--quiet") as found:
        yield found


@pytest.fixture(scope="module")
def both(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[la.Index, la.Index]]:
    with la.open(service.address) as remote, la.open(tmp_path_factory.mktemp("local") / "store") as local:
        for each in (remote, local):
            assert tuple(each.add(DOCUMENTS)) == (40, 0)
            assert tuple(each.add(7, "an id that is a number", {"seven": True})) == (1, 0)
        yield remote, local


def test_the_same_answers(both: tuple[la.Index, la.Index], tmp_path: Path) -> None:
    remote, local = both
    text = "The council of town 3 decided to repair the old bridge over the river before winter 8."
    assert len(remote) == len(local) == 41
    assert list(remote.documents()) == list(local.documents())
    assert list(remote.documents(where={"n": {">=": 30}})) == list(local.documents(where={"n": {">=": 30}}))
    assert remote.get(7) == local.get(7)
    assert 7 in remote
    assert "7" not in remote
    for by in ("near", "simhash", "passages"):
        mine, theirs = (
            remote.search(text, by=by, threshold=None if by == "simhash" else 0.3),
            local.search(text, by=by, threshold=None if by == "simhash" else 0.3),
        )
        assert mine == theirs
        assert mine.total == theirs.total
        assert mine.scale == theirs.scale
    value = la.simhash(text)
    assert remote.search(simhash=value, k=6) == local.search(simhash=value, k=6)
    assert [[each.id for each in found] for found in remote.search_texts([text, "nothing"])] == [
        [each.id for each in found] for found in local.search_texts([text, "nothing"])
    ]
    filtered = [[each.id for each in found] for found in remote.search_texts([text], threshold=0.3, where={"n": {"<": 9}})]
    assert filtered == [[each.id for each in found] for found in local.search_texts([text], threshold=0.3, where={"n": {"<": 9}})]
    mine, theirs = (index.search_simhashes([int(value)], 16, where="n<9") for index in both)
    assert list(mine.ids) == list(theirs.ids)
    assert len(mine.ids)
    assert remote.clusters(threshold=0.5) == local.clusters(threshold=0.5)
    assert remote.export(tmp_path / "copy.jsonl") == 41
    with la.open(tmp_path / "loaded") as loaded:
        loaded.load(tmp_path / "copy.jsonl")
        assert list(loaded.documents()) == list(local.documents())


def test_records_of_files(tmp_path: Path) -> None:
    written, document, store = tmp_path / "query.json", tmp_path / "invoice.txt", tmp_path / "store"
    written.write_text('{"payer": "云测科技有限公司", "amount": 3400}', encoding="utf-8")
    document.write_text("Invoice of 2026-03-01 for the repair of a bridge: USD 3,400.00, to be paid by the council of the town.\n" * 3)
    with la.open(store, kinds="record") as local:
        local.add([("a", {"payer": "云测科技有限公司", "amount": 3400}), ("b", la.profile(document))])
        with running(tmp_path, str(store), "--processes", "1", "--quiet") as service, la.open(service.address) as remote:
            for file, threshold, expected in ((written, 0.9, "a"), (document, 0.3, "b")):
                found = remote.search(file, by="record", threshold=threshold)
                beside = local.search(file, by="record", threshold=threshold)
                assert [match.id for match in found] == [match.id for match in beside] == [expected]
                assert found[0].score == beside[0].score


def test_records_with_weights_of_their_own(tmp_path: Path) -> None:
    store = tmp_path / "store"
    bridge = {"payer": "云测科技有限公司", "amount": 3400, "words": {"bridge", "repair"}}
    with la.open(store, kinds="record", weights={"amount": 0.5}) as local:
        local.add([("a", bridge), ("b", {"payer": "云测科技有限公司", "amount": 12, "words": {"garden"}})])
        with running(tmp_path, str(store), "--processes", "1", "--quiet") as service, la.open(service.address) as remote:
            asked = bridge | {"payer": "another one", "amount": 3390}
            for query in (
                asked,
                la.record(asked),
                la.record(asked, weights={"payer": 0, "words": 2}),
                la.record(asked, measures={"amount": "exact"}),
            ):
                mine, theirs = (index.search(query, by="record", threshold=0.1) for index in (local, remote))
                assert mine == theirs
            assert (
                len({remote.search(la.record(asked, weights={"payer": weight}), by="record", threshold=0.1)[0].score for weight in (0, 1)})
                == 2
            )
            status, problem = service.ask("POST", "/search", {"text": "a text", "weights": {"payer": 0}})
            assert status == 422
            assert "leave them out" in problem["message"]


def test_ask_and_add(both: tuple[la.Index, la.Index]) -> None:
    for index in both:
        assert index.admit("new", "A gardener found an old coin under the apple tree of the museum.").admitted
        again = index.admit("newer", "A gardener found an old coin under the apple tree of the museum.")
        assert not again.admitted
        assert again.match.id == "new"
        assert index.remove(["new", "never"]) == 1


def test_errors_are_the_same(both: tuple[la.Index, la.Index]) -> None:
    for index in both:
        with pytest.raises(NotFound):
            index.get("nobody")
        with pytest.raises(la.InputError):
            index.search("x", by="nonsense")
        with pytest.raises(la.InputError):
            index.add([("a", 5)])


def test_collections_and_their_aliases(service: Running) -> None:
    for name in ("may", "june"):
        with la.open(service.address, collection=name, kinds="simhash,minhash") as index:
            index.add("d", f"a document that was written in {name}")
    names = la.collections(service.address)
    assert {"may", "june"} <= set(names)
    names.alias("current", "may")
    with la.open(service.address, collection="current") as current:
        assert current.get("d").text == "a document that was written in may"
        current.add("e", "another one, added by the alias")
        current.collections.alias("current", "june")
        assert names.aliases == {"current": "june"}
        assert current.get("d").text == "a document that was written in june"  # a service looks up where a name leads each time
    assert "current" in names
    assert "nobody" not in names
    with names.open("may") as may:
        assert len(may) == 2
    for wrong in (lambda: names.alias("june", "may"), lambda: names.rename("may", "april"), lambda: names.copy("may", "april")):
        with pytest.raises(la.InputError):
            wrong()
    for missing in (lambda: names.alias("next", "nobody"), lambda: names.drop("nobody")):
        with pytest.raises(NotFound):
            missing()
    assert names.drop("current") == 0
    assert names.drop("may") == 2
    assert names.drop("june") == 1
    assert names.aliases == {}
    assert not {"may", "june", "current"} & set(names)


def test_nobody_answers() -> None:
    with pytest.raises(StoreError, match="lookalike serve"):
        la.open("http://127.0.0.1:1")
    with pytest.raises(StoreError, match="lookalike serve"):
        la.collections("http://127.0.0.1:1")


@pytest.mark.parametrize(
    "address",
    [
        "http://user:secret@127.0.0.1:1",
        "http://[::1",
        "http://localhost:99999",
        "http://localhost:x",
        "http://a b",
        "http://\ud800",
        "http://x\0y",
        "http://a..b",
    ],
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(la.InputError, match="location: give the address of a service"):
        la.open(address)


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[]", b"5", b"null", b"{}", b'{"settings": 3}', b"[" * 100_000])
def test_something_else_answers(body: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.handle_request).start()
        with pytest.raises(StoreError, match="answers, but not as Lookalike does"):
            la.open(f"http://127.0.0.1:{server.server_port}")


class _Between:
    """Stands between a client and a service, and ends the connection instead of the next answer if it is told to."""

    def __init__(self, port: int) -> None:
        self._port, self.lose = port, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            service = socket.create_connection(("127.0.0.1", self._port))
            for one, other, answers in ((client, service, False), (service, client, True)):
                threading.Thread(target=self._pass_on, args=(one, other, answers), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                if answers and self.lose:
                    self.lose = False
                    break
                other.sendall(data)
        for side in (one, other):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()


def test_an_answer_that_is_lost(service: Running) -> None:
    """What only reads is asked again. A write is not: its answer would be that of the second time."""
    between = _Between(service.port)
    try:
        with la.open(between.address) as index:
            index.add("lost-1", "Words about a lighthouse that nobody else wrote down.")
            between.lose = True
            assert index.search("Words about a lighthouse that nobody else wrote down.")[0].id == "lost-1"
            for write in (
                lambda: index.admit("lost-2", "A second text, of a quarry and of the geese on its pond."),
                lambda: index.add("lost-3", "A third text: how to mend a kettle with a spoon."),
                lambda: index.remove("lost-3"),
            ):
                between.lose = True
                with pytest.raises(StoreError, match="nobody knows whether the last write was done"):
                    write()
            again = index.admit("lost-2", "A second text, of a quarry and of the geese on its pond.")
            assert not again.admitted
            assert again.match.id == "lost-2"
            assert index.remove(["lost-1", "lost-2", "lost-3"]) == 2
    finally:
        between.close()


def test_a_service_that_was_restarted(tmp_path: Path) -> None:
    """A connection that was kept is closed then: whoever writes next opens another one, and hears no error."""
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as first:
        index = la.open(first.address)
        index.add("a", "Words that were there before the restart.")
    with index, running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet", port=first.port):
        assert index.admit("b", "Other words, which came after it and are about something else.").admitted
        assert index.remove("a") == 1
