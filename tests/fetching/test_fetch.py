"""``la.fetch`` against a real server: what it sends, what it refuses, and that nothing holds it up."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import FetchError, InputError
from lookalike.markup import bodies
from web_server import PUBLIC, Elsewhere, WebServer, answer, redirect

CERTIFICATE = str(Path(__file__).parent / "pages.example.pem")
PAGE = "<title>茶</title><p>绿茶来自山里。</p>"
HTML = "Content-Type: text/html; charset=utf-8"

Serve = Callable[..., WebServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    open_servers: list[WebServer] = []

    def start(pages: dict[str, Callable[[socket.socket], None]], certificate: str | None = None) -> WebServer:
        open_servers.append(WebServer(pages, certificate).__enter__())
        return open_servers[-1]

    yield start
    for server in open_servers:
        server.__exit__(None, None, None)


def fetch(url: str, **options: object) -> la.Fetched:
    return la.fetch(url, **{"allow_private": True, "timeout": 10, **options})  # type: ignore[arg-type]


class TestAnswers:
    def test_bytes_url_and_charset(self, serve: Serve) -> None:
        server = serve({"/a?b=%20&c": answer(PAGE.encode(), HTML)})
        got = fetch(server.url("/a?b=%20&c#part"))
        assert (got.data, got.url) == (PAGE.encode(), server.url("/a?b=%20&c"))
        assert (got.charset, got.content_type, got.redirects) == ("utf-8", "text/html", ())
        assert got.page().title == "茶"
        assert got.page().name == got.url

    def test_what_is_sent(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")  # nobody is there: it must not be asked
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
        server = serve({"/": answer(b"x")})
        fetch(server.url())
        lines = server.requests[0].split("\r\n")
        assert lines[0] == "GET / HTTP/1.1"
        assert f"Host: 127.0.0.1:{server.port}" in lines
        assert not [line for line in lines if line.lower().startswith(("cookie", "authorization", "referer"))]

    def test_non_ascii_urls_are_escaped(self, serve: Serve) -> None:
        server = serve({"/%E8%8C%B6?q=%E7%BB%BF": answer(b"ok")})
        assert fetch(server.url("/茶?q=绿")).data == b"ok"

    @pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "304 Not Modified", "302 Found"])
    def test_a_bad_status_names_it(self, serve: Serve, status: str) -> None:
        server = serve({"/": answer(b"", status=status)})
        with pytest.raises(FetchError, match=f"answers {status}"):
            fetch(server.url())

    def test_an_empty_page(self, serve: Serve) -> None:
        assert fetch(serve({"/": answer(b"", status="204 No Content", length=False)}).url()).data == b""

    def test_what_is_no_http(self, serve: Serve) -> None:
        server = serve({"/": lambda stream: stream.sendall(b"SSH-2.0-OpenSSH\r\n")})
        with pytest.raises(FetchError, match="did not answer with HTTP"):
            fetch(server.url())

    def test_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with pytest.raises(FetchError, match="connection failed"):
            fetch(f"http://127.0.0.1:{port}/")


class TestBodies:
    @pytest.mark.parametrize(
        ("coding", "pack"),
        [
            ("gzip", gzip.compress),
            ("x-gzip", lambda data: gzip.compress(data[:5]) + gzip.compress(data[5:])),
            ("deflate", zlib.compress),
            ("identity", bytes),
            ("gzip", bytes),  # named, and not done
        ],
        ids=["gzip", "two-members", "zlib", "identity", "plain"],
    )
    def test_codings(self, serve: Serve, coding: str, pack: Callable[[bytes], bytes]) -> None:
        server = serve({"/": answer(pack(PAGE.encode()), f"Content-Encoding: {coding}")})
        assert fetch(server.url()).data == PAGE.encode()

    def test_raw_deflate(self, serve: Serve) -> None:
        packer = zlib.compressobj(wbits=-15)
        data = packer.compress(PAGE.encode()) + packer.flush()
        assert fetch(serve({"/": answer(data, "Content-Encoding: deflate")}).url()).data == PAGE.encode()

    def test_unknown_and_damaged_codings(self, serve: Serve) -> None:
        server = serve(
            {
                "/br": answer(b"x", "Content-Encoding: br"),
                "/bad": answer(gzip.compress(b"x" * 1000)[:-20], "Content-Encoding: gzip"),
            }
        )
        with pytest.raises(FetchError, match="'br' is not known"):
            fetch(server.url("/br"))
        with pytest.raises(FetchError, match="too early"):
            fetch(server.url("/bad"))

    def test_a_bomb_is_not_unpacked(self, serve: Serve) -> None:
        bomb = gzip.compress(bytes(50_000_000))
        server = serve({"/": answer(bomb, "Content-Encoding: gzip")})
        with pytest.raises(FetchError, match="unpacks to more than 1,000,000 bytes"):
            fetch(server.url(), max_bytes=1_000_000)

    def test_chunks(self, serve: Serve) -> None:
        body = b"5\r\n<p>ab\r\n3\r\ncde\r\n0\r\n\r\n"
        assert fetch(serve({"/": answer(body, "Transfer-Encoding: chunked", length=False)}).url()).data == b"<p>abcde"

    def test_the_limit_is_the_last_byte(self, serve: Serve) -> None:
        server = serve({"/": answer(b"x" * 100), "/open": answer(b"x" * 101, length=False)})
        assert len(fetch(server.url(), max_bytes=100).data) == 100
        with pytest.raises(FetchError, match="more than 99 bytes"):
            fetch(server.url(), max_bytes=99)
        with pytest.raises(FetchError, match="more than 100 bytes"):
            fetch(server.url("/open"), max_bytes=100)

    def test_a_body_that_is_cut_off(self, serve: Serve) -> None:
        server = serve(
            {"/": answer(b"abc", "Content-Length: 10", length=False), "/c": answer(b"5\r\nab", "Transfer-Encoding: chunked", length=False)}
        )
        with pytest.raises(FetchError, match="7 bytes too early"):
            fetch(server.url())
        with pytest.raises(FetchError):
            fetch(server.url("/c"))

    def test_an_endless_body(self, serve: Serve) -> None:
        def endless(stream: socket.socket) -> None:
            stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                stream.sendall(bytes(65536))

        with pytest.raises(FetchError, match="more than 1,000,000 bytes"):
            fetch(serve({"/": endless}).url(), max_bytes=1_000_000)


class TestTime:
    """Each of these would go on for minutes. The limits of the tests are far above the deadline, and far below what would be without it."""

    def slow(self, serve: Serve, head: bytes, drop: bytes) -> None:
        def loris(stream: socket.socket) -> None:
            stream.sendall(head)
            while not server.wait(0.02):
                stream.sendall(drop)

        server = serve({"/": loris})
        began = time.monotonic()
        with pytest.raises(FetchError, match=r"within 0\.3 seconds"):
            fetch(server.url(), timeout=0.3)
        assert time.monotonic() - began < 20

    def test_a_header_byte_by_byte(self, serve: Serve) -> None:
        self.slow(serve, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a")

    def test_a_body_byte_by_byte(self, serve: Serve) -> None:
        self.slow(serve, b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"a")

    def test_continue_for_ever(self, serve: Serve) -> None:
        self.slow(serve, b"", b"HTTP/1.1 100 Continue\r\n\r\n")

    def test_silence(self, serve: Serve) -> None:
        self.slow(serve, b"", b"")

    def test_a_resolver_that_hangs(self) -> None:
        class Hanging(Elsewhere):
            def resolve(self, host: str, port: int) -> list:  # type: ignore[type-arg]
                time.sleep(5)
                return []

        with pytest.raises(FetchError, match=r"within 0\.2 seconds"):
            la.fetch("http://pages.example/", timeout=0.2, network=Hanging({}, 0))


class TestRedirects:
    def test_they_are_followed(self, serve: Serve) -> None:
        server = serve({"/a": redirect("/b?x=1"), "/b?x=1": redirect("c", "308 Permanent Redirect"), "/c": answer(b"end")})
        got = fetch(server.url("/a"))
        assert (got.data, got.url) == (b"end", server.url("/c"))
        assert got.redirects == (server.url("/a"), server.url("/b?x=1"))

    def test_loops_end(self, serve: Serve) -> None:
        server = serve({"/a": redirect("/b"), "/b": redirect("/a")})
        with pytest.raises(FetchError, match="more than 5 redirects"):
            fetch(server.url("/a"))
        assert len(server.requests) == 6

    def test_none_allowed(self, serve: Serve) -> None:
        server = serve({"/a": redirect("/b"), "/b": answer(b"x")})
        with pytest.raises(FetchError, match="more than 0 redirects"):
            fetch(server.url("/a"), max_redirects=0)
        assert fetch(server.url("/b"), max_redirects=0).data == b"x"

    @pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://pages.example/", "http://me:secret@pages.example/", "gopher:x"])
    def test_to_what_is_not_fetched(self, serve: Serve, location: str) -> None:
        with pytest.raises(FetchError, match="not fetched"):
            fetch(serve({"/": redirect(location)}).url())


class TestAddresses:
    def test_private_ones_are_refused_by_default(self, serve: Serve) -> None:
        server = serve({"/": answer(b"secret")})
        for url in (server.url(), f"http://localhost:{server.port}/", f"http://2130706433:{server.port}/", f"http://127.1:{server.port}/"):
            with pytest.raises(FetchError, match=r"loopback.*--allow-private"):
                la.fetch(url, timeout=10)
        assert server.requests == []

    def test_a_redirect_inside_is_refused(self, serve: Serve) -> None:
        server = serve({"/": redirect("http://inside.example/secret"), "/secret": answer(b"secret")})
        network = Elsewhere({"outside.example": [[PUBLIC]], "inside.example": [["10.0.0.1"]]}, server.port)
        with pytest.raises(FetchError, match=r"'inside.example' leads to 10\.0\.0\.1, which is private"):
            la.fetch("http://outside.example/", network=network)
        assert network.connected == [PUBLIC]
        assert la.fetch("http://outside.example/", network=network, allow_private=True).data == b"secret"

    def test_an_answer_that_changes_in_between(self, serve: Serve) -> None:
        """DNS rebinding: the name is resolved once, and the connection goes to what was checked."""
        server = serve({"/": answer(b"fine")})
        network = Elsewhere({"rebind.example": [[PUBLIC], ["127.0.0.1"]]}, server.port)
        assert la.fetch("http://rebind.example/", network=network).data == b"fine"
        assert (network.resolved, network.connected) == (["rebind.example"], [PUBLIC])
        assert "Host: rebind.example\r\n" in server.requests[0]

    def test_one_private_address_among_public_ones(self, serve: Serve) -> None:
        network = Elsewhere({"both.example": [[PUBLIC, "fd00::1"]]}, serve({}).port)
        with pytest.raises(FetchError, match="fd00::1, which is private"):
            la.fetch("http://both.example/", network=network)
        assert network.connected == []

    def test_a_name_without_an_address(self) -> None:
        with pytest.raises(FetchError, match="has no address"):
            la.fetch("http://none.example/", network=Elsewhere({"none.example": [[]]}, 0))


class TestTls:
    def test_the_name_is_sent_and_verified(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATE)
        server = serve({"/": answer(b"safe")}, CERTIFICATE)
        network = Elsewhere({"pages.example": [[PUBLIC]], "other.example": [[PUBLIC]]}, server.port)
        assert la.fetch("https://pages.example/", network=network).data == b"safe"
        assert server.names == ["pages.example"]
        assert "Host: pages.example\r\n" in server.requests[0]
        with pytest.raises(FetchError, match="certificate is not valid"):
            la.fetch("https://other.example/", network=network)

    def test_an_unknown_certificate(self, serve: Serve) -> None:
        server = serve({"/": answer(b"x")}, CERTIFICATE)
        with pytest.raises(FetchError, match="certificate is not valid"):
            la.fetch("https://pages.example/", network=Elsewhere({"pages.example": [[PUBLIC]]}, server.port))

    def test_no_tls_there(self) -> None:
        def greet() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"220 welcome\r\n" * 10)
                connection.recv(65536)

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=greet, daemon=True).start()
            with pytest.raises(FetchError, match="connection failed"):
                fetch(f"https://127.0.0.1:{listener.getsockname()[1]}/")


class TestArguments:
    @pytest.mark.parametrize(
        "url",
        ["", "pages.example", "ftp://pages.example/", "file:///etc/passwd", "http://", "http:///x", "http://a b/", "http://[::1", "http://a:b/",
         "http://a:99999/", "http://x/\r\nHost: y", "http://a\\b/", "http://" + "a" * 9000, "http://" + "ä" * 100 + "/", "http://a:0/"],
        ids=lambda url: url[:20].encode().hex() or "empty",
    )  # fmt: skip
    def test_what_is_no_url(self, url: str) -> None:
        with pytest.raises(InputError):
            la.fetch(url)

    def test_passwords_are_neither_sent_nor_shown(self) -> None:
        with pytest.raises(InputError, match="user and password") as caught:
            la.fetch("http://me:secret@pages.example/")
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "options",
        [{"max_bytes": 0}, {"max_bytes": True}, {"timeout": 0}, {"timeout": float("nan")}, {"timeout": "1"}, {"max_redirects": -1}],
        ids=["no-bytes", "bool", "no-time", "nan", "str", "negative"],
    )
    def test_limits(self, options: dict[str, object]) -> None:
        with pytest.raises(InputError, match=next(iter(options))):
            fetch("http://127.0.0.1/", **options)

    def test_no_str(self) -> None:
        with pytest.raises(InputError, match="type bytes"):
            la.fetch(b"http://x/")  # type: ignore[arg-type]


class TestCharsets:
    @pytest.mark.parametrize(
        ("charset", "data", "title", "note"),
        [
            ("gb2312", "<title>繁體茶</title>".encode("gb18030"), "繁體茶", None),
            ("iso-8859-1", b"<title>\x93tea\x94</title>", "“tea”", None),
            ("utf-8", b"\xef\xbb\xbf<title>\xe8\x8c\xb6</title>", "茶", None),
            ("gb18030", '<meta charset="utf-8"><title>茶</title>'.encode("gb18030"), "茶", None),
            ("utf-8", '<meta charset="latin1"><title>茶</title>'.encode(), "茶", None),
            ("no-such", "<title>茶</title>".encode(), "茶", "'no-such', which is not known"),
            ("utf-8", b"<title>caf\xe9</title><p>a plain page in a Western encoding", "café", "bytes contradict"),
            ("unicode_escape", b"<title>\\u8336</title>", "\\u8336", "is not known"),
            ("utf-16le", "<title>茶</title> and more text".encode("utf-16-le"), "茶", "guessed"),
            ("a b", b"<title>tea</title>", "tea", None),
        ],
        ids=["gb2312", "latin1", "mark", "meta-differs", "header-first", "unknown", "contradicted", "python-codec", "utf-16", "no-label"],
    )
    def test_the_header_counts_first(self, charset: str, data: bytes, title: str, note: str | None) -> None:
        page = la.Fetched("http://x/", data, charset, "text/html").page()
        assert page.title == title
        assert not page.html.startswith('<meta charset="no')
        assert note in "".join(page.notes) if note else not page.notes


class TestManyMembers:
    """A gzip body of many members: what follows a member was copied for each of them, which is quadratic."""

    def test_as_many_as_a_body_may_have(self) -> None:
        parts = [bytes([i % 256]) * (i % 7) for i in range(bodies.MAX_MEMBERS)]
        body = b"".join(gzip.compress(part, mtime=0) for part in parts)
        assert bodies.unpacked(body, "gzip", 1 << 20) == b"".join(parts)

    def test_more_are_refused(self) -> None:
        member = gzip.compress(b"", mtime=0)
        with pytest.raises(ValueError, match="more than 10,000 gzip members"):
            bodies.unpacked(member * 200_000, "gzip", 1 << 20)

    @given(st.lists(st.binary(max_size=20_000), min_size=1, max_size=5), st.sampled_from([b"", b"junk", b"\x1f"]))
    def test_against_gzip(self, parts: list[bytes], behind: bytes) -> None:
        body, plain = b"".join(map(gzip.compress, parts)), b"".join(parts)
        if behind != b"\x1f":  # half a member is one that ends too early
            assert bodies.unpacked(body + behind, "gzip", len(plain)) == plain == gzip.decompress(body)
        with pytest.raises(ValueError, match="ends too early"):
            bodies.unpacked(body[:-3], "gzip", len(plain))
        if plain:
            with pytest.raises(ValueError, match="unpacks to more than"):
                bodies.unpacked(body, "gzip", len(plain) - 1)
