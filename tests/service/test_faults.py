"""Processes that are killed while others write: what was acknowledged is there afterwards."""

from __future__ import annotations

import http.client
import os
import signal
import threading
import time
from pathlib import Path

import pytest

import lookalike as la
from running_service import Running, running


class Writers:
    """Threads that put documents and remember which were acknowledged."""

    def __init__(self, service: Running, threads: int = 3) -> None:
        self.acknowledged: list[str] = []
        self.errors: list[int] = []
        self._service, self._stop = service, threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    def _write(self, number: int) -> None:
        count = 0
        while not self._stop.is_set():
            name = f"t{number}-{count}"
            try:
                status, _ = self._service.ask(
                    "PUT", f"/documents/{name}", {"text": f"document {name} about river number {count} and its bridge"}
                )
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)
                continue
            if status in (200, 201):
                self.acknowledged.append(name)
                count += 1
            else:
                self.errors.append(status)
                time.sleep(0.05)

    def wait_for(self, count: int, seconds: float = 90) -> None:
        until = time.monotonic() + seconds
        while len(self.acknowledged) < count:
            assert time.monotonic() < until, (len(self.acknowledged), self.errors[-5:], self._service.log.read_text()[-2000:])
            time.sleep(0.02)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize("victim", ["writer", "worker"])
def test_a_killed_process_loses_nothing(tmp_path: Path, victim: str) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "2", "--quiet") as service:
        writers = Writers(service)
        try:
            for round_ in (1, 2):
                writers.wait_for(len(writers.acknowledged) + 15)
                os.kill(service.children()[victim][0], signal.SIGKILL)
                writers.wait_for(len(writers.acknowledged) + 15)
                assert round_
        finally:
            writers.stop()
        assert set(writers.errors) <= {503}
        service.wait_ready()
        for name in writers.acknowledged:
            assert service.ask("GET", f"/documents/{name}")[0] == 200
    with la.open(tmp_path / "store", read_only=True) as index:
        assert index.check().ok


def test_all_killed_at_once(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
        writers = Writers(service)
        try:
            writers.wait_for(30)
            children = service.children()
            service.process.kill()
            for number in (*children["writer"], *children["worker"]):
                os.kill(number, signal.SIGKILL)
        finally:
            writers.stop()
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
        for name in writers.acknowledged:
            assert service.ask("GET", f"/documents/{name}")[0] == 200


def test_children_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
        children = service.children()
        service.process.kill()
        service.process.wait()
        until = time.monotonic() + 60
        for number in (*children["writer"], *children["worker"]):
            while Path(f"/proc/{number}").exists() and time.monotonic() < until:
                time.sleep(0.05)
            assert not Path(f"/proc/{number}").exists()


def test_it_ends_gracefully_under_writes(tmp_path: Path) -> None:
    with running(tmp_path, str(tmp_path / "store"), "--processes", "2", "--quiet") as service:
        writers = Writers(service)
        try:
            writers.wait_for(30)
            assert service.stop() == 0
        finally:
            writers.stop()
    with la.open(tmp_path / "store", read_only=True) as index:
        assert [name for name in writers.acknowledged if name not in index] == []
        assert index.check().ok
