"""Who may ask, from where, and how much."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.cli import main
from lookalike.service.limits import Buckets, Busy, ServiceLimits
from lookalike.service.tokens import Tokens
from running_service import Running, running

READ, WRITE, ONE = "reader-token-0123456789", "writer-token-0123456789", "one-collection-0123456789"
pytestmark = pytest.mark.xdist_group("service safety")  # they share one service


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "tokens").write_text(f"# who may ask\n{READ} read\n{WRITE} write * editor\n{ONE} write news\n")
    with la.open(folder / "store") as index:
        index.add("a", "<script>alert(1)</script> a stored text that is no script")
    with running(
        folder,
        str(folder / "store"),
        "--processes",
        "1",
        "--token-file",
        str(folder / "tokens"),
        "--max-body",
        "1",
        "--max-text",
        "1000",
        "--max-pairs",
        "1500",
        token=WRITE,
    ) as found:
        yield found


def as_(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_tokens(guarded: Running) -> None:
    assert guarded.ask("GET", "/documents/a", headers={"Authorization": ""})[0] == 401
    assert guarded.ask("GET", "/documents/a", headers=as_(READ[:-1]))[0] == 401
    assert guarded.ask("GET", "/documents/a", headers={"Authorization": f"Basic {READ}"})[0] == 401
    assert guarded.ask("GET", "/healthz", headers={"Authorization": ""})[0] == 200
    assert guarded.ask("GET", "/documents/a", headers=as_(READ))[0] == 200
    assert guarded.ask("PUT", "/documents/b", {"text": "x y z"}, as_(READ))[0] == 403
    assert guarded.ask("PUT", "/documents/b", {"text": "x y z"}, as_(WRITE))[0] == 201
    assert guarded.ask("GET", "/documents/a", headers=as_(ONE))[0] == 403
    assert guarded.ask("POST", "/collections", {"name": "others"}, as_(ONE))[0] == 403
    assert guarded.ask("POST", "/collections", {"name": "news"}, as_(ONE))[0] == 201
    assert guarded.ask("PUT", "/documents/n?collection=news", {"text": "some news"}, as_(ONE))[0] == 201
    assert guarded.ask("GET", "/collections", headers=as_(ONE))[1] == {"collections": ["news"], "aliases": {}}
    # A token leads one of its names to another one of them, and nothing else.
    assert guarded.ask("PUT", "/collections/news", {"alias_of": "default"}, as_(ONE))[0] == 403
    assert guarded.ask("PUT", "/collections/default", {"alias_of": "news"}, as_(ONE))[0] == 403
    assert guarded.ask("PUT", "/collections/latest", {"alias_of": "news"}, as_(READ))[0] == 403
    assert guarded.ask("PUT", "/collections/latest", {"alias_of": "news"}, as_(WRITE))[0] == 200
    assert guarded.ask("GET", "/documents/n?collection=latest", headers=as_(ONE))[0] == 403
    assert guarded.ask("POST", "/compare", {"left": "a b", "right": "a c"}, as_(ONE))[0] == 200  # needs no collection
    assert guarded.ask("GET", "/metrics", headers=as_(ONE))[0] == 403
    assert guarded.ask("POST", "/collections", {"name": "others"}, as_(WRITE))[0] == 201
    assert guarded.ask("DELETE", "/collections/others", headers=as_(ONE))[0] == 403
    assert guarded.ask("DELETE", "/collections/others", headers=as_(READ))[0] == 403
    assert guarded.ask("DELETE", "/collections/news", headers=as_(ONE))[0] == 200


def test_a_write_leaves_a_line_that_says_who(guarded: Running) -> None:
    guarded.ask("PUT", "/documents/audited", {"text": "x y z"}, as_(WRITE) | {"X-Request-Id": "audit-1"})
    line = next(json.loads(line) for line in guarded.log.read_text().splitlines() if '"audit-1"' in line)
    assert line["who"] == "editor"
    assert line["first"] == "audited"
    assert line["outcome"] == "done"
    assert WRITE not in guarded.log.read_text()


def test_the_lines_of_writes_go_to_a_file(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "2", "--audit-log", str(tmp_path / "audit"), "--quiet") as service:
        for number in range(6):
            assert service.ask("PUT", f"/documents/d{number}", {"text": "some text"})[0] == 201
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert sorted(line["first"] for line in lines) == [f"d{number}" for number in range(6)]
    assert "d3" not in service.log.read_text()
    with pytest.raises(la.InputError, match="audit_log"):
        la.service.serve(tmp_path / "store", audit_log=tmp_path / "no" / "audit")


def test_limit_of_all_against_all(guarded: Running) -> None:
    assert guarded.ask("POST", "/collections", {"name": "news", "kinds": ["simhash"]})[0] == 201
    for number in range(2):
        assert guarded.ask("PUT", f"/documents/{number}?collection=news", {"text": "one two " * 90, "meta": {"n": number}})[0] == 201
    assert guarded.ask("POST", "/pairs?collection=news", {})[0] == 200
    assert guarded.ask("PUT", "/documents/2?collection=news", {"text": "one two " * 90})[0] == 201
    status, problem = guarded.ask("POST", "/pairs?collection=news", {})
    assert (status, problem["code"]) == (413, "too-large")
    assert "more than 1500 characters: choose some with where" in problem["message"]
    assert guarded.ask("POST", "/pairs?collection=news", {"where": {"n": {">=": 0}}})[0] == 200
    assert guarded.ask("POST", "/pairs?collection=news", {"ignore": ["x" * 1001]})[0] == 413
    assert guarded.ask("DELETE", "/collections/news")[0] == 200


def test_limits_of_size(guarded: Running) -> None:
    assert guarded.ask("PUT", "/documents/long", {"text": "x" * 1001})[0] == 413
    assert guarded.ask("POST", "/search", {"text": "x" * (1 << 20)})[0] == 413
    packed = __import__("gzip").compress(b" " * (64 << 20))
    assert guarded.raw("POST", "/search", packed, {"Content-Type": "application/json", "Content-Encoding": "gzip"})[0] == 413
    assert guarded.ask("GET", "/healthz")[0] == 200


def test_other_sites_are_not_answered(guarded: Running) -> None:
    host = f"127.0.0.1:{guarded.port}"
    assert guarded.ask("POST", "/search", {"text": "a"}, {"Origin": "http://evil.example", "Host": host})[0] == 403
    assert guarded.ask("POST", "/search", {"text": "a"}, {"Origin": f"http://{host}", "Host": host})[0] == 200
    assert "access-control-allow-origin" not in guarded.raw("GET", "/documents/a")[1]


def test_names_that_are_not_ours(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1") as service:
        assert service.ask("GET", "/healthz", headers={"Host": "evil.example"})[0] == 403  # a name that was bent to this machine
        assert service.ask("GET", "/healthz", headers={"Host": f"localhost:{service.port}"})[0] == 200


def test_beyond_this_machine_only_with_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(tmp_path / "store"), "--host", "0.0.0.0"])
    assert ended.value.code == 2
    assert "--token-file" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "short read", f"{READ} admin", f"{READ}", "\n# nothing\n"])
def test_a_token_file_that_means_nothing_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokens").write_text(content)
    with pytest.raises(la.InputError):
        Tokens.read(tmp_path / "tokens")


def test_a_missing_token_file_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(la.InputError) as missing:
        Tokens.read(tmp_path / "missing")
    assert str(missing.value).count(str(tmp_path)) == 1
    (tmp_path / "bytes").write_bytes(b"\xff" * 20)
    with pytest.raises(la.InputError, match="UTF-8"):
        Tokens.read(tmp_path / "bytes")


def test_clients_that_ask_too_often_wait() -> None:
    buckets = Buckets(rate=10, burst=3)
    for _ in range(3):
        buckets.take("a", now=0.0)
    with pytest.raises(Busy) as busy:
        buckets.take("a", now=0.0)
    assert busy.value.status == 429
    assert busy.value.after >= 1
    buckets.take("b", now=0.0)
    buckets.take("a", now=0.2)


def test_limits_are_checked() -> None:
    with pytest.raises(la.InputError):
        ServiceLimits(body=0)


def test_slow_and_huge_headers(guarded: Running) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        try:
            for _ in range(200):
                client.sendall(b"X-Filler: " + b"x" * 4000 + b"\r\n")
            client.settimeout(10)
            answer = client.recv(100)
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
    assert answer in (b"",) or b" 431 " in answer or b" 400 " in answer
    assert guarded.ask("GET", "/healthz")[0] == 200


def test_idle_connections_do_not_stop_it(guarded: Running) -> None:
    idle = [socket.create_connection(("127.0.0.1", guarded.port)) for _ in range(300)]
    try:
        began = time.monotonic()
        assert guarded.ask("GET", "/documents/a")[0] == 200
        assert time.monotonic() - began < 30
    finally:
        for each in idle:
            each.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"store": 7},
        {"store": ""},
        {"store": "memory://"},
        {"host": None},
        {"host": "nowhere.invalid", "token_file": "tokens"},
        {"port": -1},
        {"port": 70_000},
        {"port": "8765"},
        {"processes": 0},
        {"processes": 1.5},
        {"read_only": "yes"},
        {"fetch": 2},
        {"limits": {"nonsense": 1}},
        {"limits": {"body": -1}},
        {"token_file": "missing"},
        {"token_file": 5},
    ],
)
def test_a_service_that_cannot_be_started_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens").write_text(f"{READ} read\n")
    with pytest.raises(la.InputError):
        la.service.serve(**{"store": "store", "port": 0} | wrong)  # type: ignore[arg-type]
