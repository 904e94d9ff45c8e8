"""Copies of stores that others write meanwhile: whole, or they say that they are not."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path

import lookalike as la
from lookalike.testing import corpus
from postgres_server import binaries, empty_database


def write_until(index: la.Index, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        index.add([(f"{number}/{each}", f"{text} {number}") for each, text in corpus(20, seed=number)])
        number += 1


def test_a_folder_that_is_copied_while_somebody_writes(tmp_path: Path) -> None:
    stop = threading.Event()
    with la.open(tmp_path / "store") as index:
        index.add([(f"first {id_}", text) for id_, text in corpus(50)])
        writer = threading.Thread(target=write_until, args=(index, stop))
        writer.start()
        try:
            for number in range(4):
                shutil.copytree(tmp_path / "store", tmp_path / f"copy {number}")
        finally:
            stop.set()
            writer.join()
    refused: list[str] = []
    for number in range(4):
        try:
            with la.open(tmp_path / f"copy {number}") as copy:
                assert len(copy) >= 50
                assert copy.check().ok
        except la.StoreError as error:  # behind its own record: it says what to do
            refused.append(str(error))
    assert all("check" in message or "copy" in message for message in refused)


def test_an_export_while_somebody_writes(tmp_path: Path) -> None:
    """A snapshot: whole batches, whatever comes meanwhile."""
    stop = threading.Event()
    with la.open(tmp_path / "store") as index:
        writer = threading.Thread(target=write_until, args=(index, stop))
        writer.start()
        try:
            counts = [index.export(tmp_path / f"{number}.jsonl") for number in range(3)]
        finally:
            stop.set()
            writer.join()
        assert all(count % 20 == 0 for count in counts)
    for number, count in enumerate(counts):
        with la.open("memory://") as copy:
            assert copy.load(tmp_path / f"{number}.jsonl") == count == len(copy)
            assert copy.check().ok


def test_a_dump_of_a_database(tmp_path: Path) -> None:
    first, second = empty_database(), None
    with la.open(first) as index:
        index.admit([(number, corpus(1)[0][1]) for number in range(3)], alike="link")
        index.add(corpus(40))
        index.add("brief", "some words that are there for an hour", ttl=3600)
        expected = [match.to_dict() for match in index.search(corpus(40)[7][1])]
    dump = tmp_path / "dump.sql"
    subprocess.run([binaries() / "pg_dump", "--schema=lookalike", f"--file={dump}", first], check=True, capture_output=True)
    second = empty_database()  # of the same worker, emptied
    restore = [binaries() / "psql", "--quiet", "-v", "ON_ERROR_STOP=1", "-f", dump, second]
    assert subprocess.run(restore, capture_output=True, text=True).stderr == ""
    with la.open(second) as index:
        assert [match.to_dict() for match in index.search(corpus(40)[7][1])] == expected
        assert index.cluster_of(2).kept == 0
        assert "brief" in index
        assert index.check().ok
