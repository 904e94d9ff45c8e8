"""Files that change under a reader, locks that cannot be had, forks, and strange names: errors and right answers, never a crash."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.segments import container
from lookalike.testing import corpus
from postgres_server import empty_database


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("lookalike.stores.embedded.store.SEAL_AT_CLOSE", 1)
    with la.open(tmp_path / "store") as index:
        index.add(corpus(200))
    assert list((tmp_path / "store" / "segments").iterdir())
    return tmp_path / "store"


def answers(index: la.Index) -> list[object]:
    texts = [text for _, text in corpus(200)[::31]]
    return [[match.to_dict() for match in index.search(text, by=by)] for by in ("near", "simhash", "passages") for text in texts]


SERVE = """
import sys
from pathlib import Path
import lookalike as la
from lookalike.segments import container
from lookalike.testing import corpus
container.MAPPED_FROM = int(sys.argv[2])
texts = [text for _, text in corpus(200)[::31]]
ask = lambda index: [[m.to_dict() for m in index.search(t, by=by)] for by in ("near", "simhash", "passages") for t in texts]
with la.open(sys.argv[1], read_only=True) as index:
    expected = ask(index)
    for path in (Path(sys.argv[1]) / "segments").iterdir():
        if sys.argv[3] == "cut":
            path.open("r+b").truncate(0)
        else:
            path.write_bytes(bytes(path.stat().st_size))
    try:
        print("same" if ask(index) == expected else "different")
    except la.Corrupt as error:
        print("refused" if "in use" in str(error) else error)
with la.open(sys.argv[1], read_only=True) as index:
    print("same" if ask(index) == expected else "different")
"""


@pytest.mark.parametrize("how", ["cut", "overwritten"])
@pytest.mark.parametrize(("mapped_from", "said"), [(1 << 30, "same"), (0, "refused")])
def test_segments_that_change_under_a_reader(store: Path, how: str, mapped_from: int, said: str) -> None:
    """A small one was read, and a large one is refused, before it kills the process; opened again, answers come from the documents."""
    done = subprocess.run([sys.executable, "-c", SERVE, store, str(mapped_from), how], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, [said, "same"]), done.stderr[-500:]


def test_a_change_during_a_search_is_noticed_after_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAPPED_FROM", 0)
    with la.open(store, read_only=True) as index:
        answers(index)
        reading = index._store.reading()
        reading.__enter__()
        for path in (store / "segments").iterdir():
            os.utime(path)
        with pytest.raises(la.Corrupt, match="in use"):
            reading.__exit__(None, None, None)


def test_segments_that_are_removed_or_replaced_serve_on(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAPPED_FROM", 0)
    with la.open(store, read_only=True) as index:
        expected = answers(index)
        for path in (store / "segments").iterdir():
            path.with_suffix(".new").write_bytes(b"another file")
            path.with_suffix(".new").rename(path)
        assert answers(index) == expected


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells how a file is mapped")
def test_of_mapped_segments_single_pages_are_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of which a search reads a few entries in many places; others are read on as usual."""
    monkeypatch.setattr(container, "MAPPED_FROM", 0)
    with la.open(store, read_only=True) as index:
        answers(index)
        advised = {}
        for mapping in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(encoding="utf-8")):
            if found := re.search(rf"{store}/segments/\S+", mapping):
                with open(found[0], "rb") as file:
                    kind = json.loads(file.read(1000)[24:].split(b"\0")[0])["kind"]
                advised[kind] = "rr" in re.findall(r"(?m)^VmFlags: (.*)$", mapping)[0].split()
        assert advised == {"minhash": True, "simhash": True, "winnowing": False}


def test_no_locks_are_not_a_busy_writer(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with la.open(store) as index:
        assert len(index) == 200
        with pytest.raises(la.StoreError, match="No locks available") as raised:
            index.add("new", "text")
        assert not isinstance(raised.value, la.StoreBusy)


def in_fork(work) -> str:
    """What happens in a fork: the error, or nothing."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            os.write(said, b"nothing")
        except la.StoreError as error:
            os.write(said, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(said)
    with os.fdopen(heard) as line:
        return line.read()


def test_an_index_is_not_used_after_a_fork(store: Path) -> None:
    with la.open(store) as index:
        index.add("mine", "text")  # now this process is the writer
        index.search("text")
        index.search("text", by="simhash")
        assert index._usual.find("text", None)
        searches = (lambda: index.search("text"), lambda: index.search("text", by="simhash"), lambda: index.search("text", limit=3))
        for use in (*searches, lambda: index.add("theirs", "text"), lambda: index.remove("mine"), lambda: len(index)):
            assert "fork" in in_fork(use)
        assert in_fork(index.close) == "nothing"
        assert "written by process" in in_fork(lambda: la.open(store).add("theirs", "text"))
        index.add("more", "text")
        assert "theirs" not in index
        assert index.check().ok
    with la.open("memory://") as index:
        index.add("mine", "text")
        assert in_fork(lambda: index.add("theirs", "text")) == "nothing"
        assert len(index) == 1


def test_a_fork_leaves_the_connections_of_its_parent_alone() -> None:
    with la.open(empty_database()) as index:
        index.add("mine", "text")
        sessions = index._store._connections._idle[0].info.backend_pid
        assert in_fork(lambda: index.add("theirs", "text")) == "nothing"
        assert in_fork(index.close) == "nothing"
        assert index._store._connections._idle[0].info.backend_pid == sessions
        assert len(index) == 2
        assert index._store._connections._idle[0].info.backend_pid == sessions


def test_a_segment_with_a_strange_name(store: Path) -> None:
    strange = store / "segments" / "².simhash"
    strange.write_bytes(b"")
    with la.open(store) as index:
        (problem,) = index.check().problems
        assert "nothing names it" in problem
        index.add("new", "text")
        assert index.check().ok
    assert not strange.exists()
