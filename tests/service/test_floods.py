"""Clients that are slow, idle, huge or too many: the service keeps answering the others."""

from __future__ import annotations

import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import lookalike as la
from lookalike.service.protocol import MOST_HEADERS
from running_service import Running, running

IDLE = 1000
LONG = " ".join(f"word{number}" for number in range(30_000))
pytestmark = pytest.mark.xdist_group("service floods")  # they share one service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("floods")
    with la.open(folder / "store") as index:
        index.add([(f"d{i}", f"document {i} about a river and its bridges in the year {1900 + i}") for i in range(50)])
    with running(folder, str(folder / "store"), "--processes", "1", "--quiet", "--max-heavy", "1", "--max-waiting", "3") as found:
        yield found


def answers(service: Running) -> bool:
    """Whether a search and a write are answered as ever."""
    found = service.ask("POST", "/search", {"text": "document 7 about a river and its bridges in the year 1907"})
    return (
        found[0] == 200 and found[1]["matches"][0]["id"] == "d7" and service.ask("PUT", "/documents/alive", {"text": "it lives"})[0] < 300
    )


def test_a_thousand_idle_connections(service: Running) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < IDLE + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, IDLE + 200), hard))
    with ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", service.port), 30)) for _ in range(IDLE)]
        for each in idle[::2]:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")  # the half of them has asked once
        for each in idle[::2]:
            assert each.recv(4096).startswith(b"HTTP/1.1 200")
        assert answers(service)


def test_headers_without_end(service: Running) -> None:
    for line in (b"X-Filler: " + b"x" * 4000 + b"\r\n", b"x" * 4000):
        sent = 0
        with socket.create_connection(("127.0.0.1", service.port), 30) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            try:
                while sent < 100 * MOST_HEADERS:
                    client.sendall(line)
                    sent += len(line)
                refused = client.recv(100)
            except (BrokenPipeError, ConnectionResetError):
                refused = b"" if sent < 100 * MOST_HEADERS else b"taken"
        assert refused in (b"",) or refused.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
    assert answers(service)


def _until(connection: socket.socket, wanted: bytes) -> bytes:
    """What comes, which may be in several pieces, until it holds something or ends."""
    found = b""
    while wanted not in found and (piece := connection.recv(65536)):
        found += piece
    return found


def test_bodies_that_come_byte_by_byte(service: Running) -> None:
    body = json.dumps({"text": "document 9 about a river and its bridges in the year 1909"}).encode()
    head = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", service.port), 30)) for _ in range(50)]
        for each in slow:
            each.sendall(head)
        for place in range(len(body)):
            for each in slow:
                each.sendall(body[place : place + 1])
            if place % 30 == 0:
                assert answers(service)
        for each in slow:
            assert b'"d9"' in _until(each, b'"d9"')


def test_a_client_that_does_not_read_its_answer(service: Running) -> None:
    lines = b"".join(b'{"id": "n%d", "text": "one of many lines"}\n' % number for number in range(20_000))
    with socket.create_connection(("127.0.0.1", service.port), 30) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(
            b"POST /documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % len(lines)
        )
        sending = threading.Thread(target=lambda: _quietly(client, lines))
        sending.start()
        time.sleep(0.5)
        assert answers(service)
    sending.join()
    assert answers(service)


def _quietly(client: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        client.sendall(data)


def test_more_than_the_queue_of_long_work_takes(service: Running) -> None:
    asked = {"left": LONG, "right": LONG.replace("word7", "other")}
    with ThreadPoolExecutor(24) as threads:
        flood = [
            threads.submit(service.raw, "POST", "/compare", json.dumps(asked).encode(), {"Content-Type": "application/json"})
            for _ in range(24)
        ]
        while not all(each.done() for each in flood):
            assert answers(service)  # cheap requests do not wait in that queue
            time.sleep(0.05)
    results = [each.result() for each in flood]
    assert {status for status, _, _ in results} <= {200, 503}
    refused = [(headers, json.loads(body)) for status, headers, body in results if status == 503]
    assert refused
    assert all(int(headers["retry-after"]) >= 1 and problem["code"] == "busy" for headers, problem in refused)


def test_more_than_the_rate_of_a_client(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet", "--max-rate", "5") as service:
        found = [service.raw("GET", "/stats") for _ in range(260)]
        refused = [headers for status, headers, _ in found if status == 429]
        assert refused
        assert all(int(headers["retry-after"]) >= 1 for headers in refused)
        assert service.ask("GET", "/healthz")[0] in (200, 429)
