"""What was acknowledged survives: killed writers, a full disk, damaged files."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.stores.embedded import sealing
from lookalike.stores.embedded import store as embedded
from lookalike.stores.settings import Settings
from lookalike.testing import corpus

KILLS = 100
ADDED = 16  # documents at once


@pytest.fixture
def small_segments(monkeypatch):
    """Segments of a hundred documents, so that there are several."""
    monkeypatch.setattr(sealing, "SEAL_ROWS", 100)
    monkeypatch.setattr(embedded, "SEAL_AT_CLOSE", 10)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def write_until_killed(path: Path, number: int, said: int) -> None:
    """Add and remove documents, and say what was acknowledged."""
    # Segments are sealed every few batches, so that a kill hits sealing and merging too.
    sealing.SEAL_ROWS = 80
    with la.open(path) as index:
        while True:
            numbers = range(number, number + ADDED)
            index.add(
                [(f"d{n}", f"document {n} has words {n * 7919 % 1000} {n * 104729 % 1000} and more of the same kind {n}") for n in numbers]
            )
            os.write(said, f"added {number} {number + ADDED}\n".encode())
            index.remove([f"d{n}" for n in numbers[::8]])
            os.write(said, f"removed {number} {number + ADDED}\n".encode())
            number += ADDED


def run_writer_and_kill_it(path: Path, start: int, least: int, seconds: float) -> list[str]:
    """Kill it some time after it has said so much: on a busy machine that takes longer, and is no less work."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write_until_killed(path, start, said)
        finally:
            os._exit(1)
    os.close(said)
    with os.fdopen(heard) as lines:
        first = [lines.readline().strip() for _ in range(least)]
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "the writer ended by itself"
        return first + lines.read().splitlines()


def test_a_hundred_kills_under_load(tmp_path):
    """kill -9 at random moments: every acknowledged document is found, none is half removed, check is clean."""
    path = tmp_path / "store.lookalike"
    la.open(path).close()
    chance = random.Random(7)
    start, there, gone = 0, set(), set()
    for round_ in range(KILLS):
        said = run_writer_and_kill_it(path, start, chance.randrange(9), chance.uniform(0, 0.1))
        unsure_removed: set[int] = set()
        for line in said:
            verb, first, end = line.split()
            numbers = range(int(first), int(end))
            if verb == "added":
                there |= set(numbers)
                unsure_removed = set(numbers[::8])
            else:
                there -= set(numbers[::8])
                gone |= set(numbers[::8])
                unsure_removed = set()
            start = int(end)
        with la.open(path, read_only=True) as index:
            ids = {int(id_[1:]) for id_ in index.ids()}
            missing = there - ids
            # A removal that was under way may have happened whole, or not at all.
            assert missing == set() or missing == unsure_removed, (round_, sorted(missing)[:5])
            assert not gone & ids
            extra = ids - there
            assert extra <= set(range(start, start + ADDED))  # added, but killed before it was said
            assert len(extra) in (0, ADDED - ADDED // 8, ADDED)
            assert len(index) == len(ids)
            for number in chance.sample(sorted(ids), min(3, len(ids))):
                text = index.get(f"d{number}").text
                assert f"d{number}" in [match.id for match in index.search(text, limit=None)]
                assert f"d{number}" in [match.id for match in index.search(text, by="simhash", k=0, limit=None)]
            if round_ % 10 == 9:
                assert all("nothing names it" in problem for problem in index.check().problems)
        there = ids
        start += ADDED
    with la.open(path) as index:
        index.add("last", "a last document that makes this process the writer")
        report = index.check()
        assert report.problems == []
        # Four segments are merged into one, so there may be few; their numbers say how often one was sealed or merged.
        assert report.checked["segments"] >= 1
        assert max(int(segment.stem) for segment in (path / "segments").iterdir()) > 20
        assert len(there) > 2000


def limited(size: int):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


FULL_DISK = """
import sys
import lookalike as la
from lookalike.stores.embedded import sealing
sealing.SEAL_ROWS = int(sys.argv[2])
index = la.open(sys.argv[1])
for n in range(100000):
    try:
        index.add([(f"{n}-{i}", f"text {n} {i} " + "words and more words " * 40) for i in range(50)])
    except la.StoreError as error:
        print("refused", type(error).__name__, error, flush=True)
        break
    print("added", n, flush=True)
try:
    index.close()
except la.StoreError as error:
    print("closing", error, flush=True)
"""


@pytest.mark.parametrize("seal_rows", [100, 10**9])
def test_a_full_disk_loses_nothing_acknowledged(tmp_path, seal_rows):
    """A limit on the size of files stands in for a full disk: writes fail in the middle, wherever they are."""
    path = tmp_path / "store.lookalike"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, path, str(seal_rows)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: limited(3_000_000),
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    added = [int(line.split()[1]) for line in lines if line.startswith("added")]
    assert added
    assert any(line.startswith("refused StoreError") and "safe" in line for line in lines), lines[-3:]
    assert "Traceback" not in done.stderr
    with la.open(path) as index:
        assert len(index) == 50 * len(added)
        assert all(f"{n}-{i}" in index for n in added[-2:] for i in range(50))
        report = index.check(repair=True)
        assert report.problems == []
        index.add("after", "there is room again")
        assert index.search("there is room again")[0].id == "after"


def tmpfs(tmp_path: Path) -> Path | None:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], capture_output=True)
    return folder if mounted.returncode == 0 else None


def test_a_full_file_system_loses_nothing_acknowledged(tmp_path):
    """The real thing where mounting is allowed; elsewhere the limit above is the test."""
    folder = tmpfs(tmp_path)
    if folder is None:
        pytest.skip("not applicable: a file system may not be mounted here; the limit on file sizes stands in for it")
    try:
        done = subprocess.run(
            [sys.executable, "-c", FULL_DISK, folder / "store.lookalike", "200"], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        added = [line for line in done.stdout.splitlines() if line.startswith("added")]
        assert added
        assert "refused StoreError" in done.stdout
        shutil.copytree(folder / "store.lookalike", tmp_path / "copy")
        with la.open(tmp_path / "copy") as index:
            assert len(index) == 50 * len(added)
            assert index.check(repair=True).problems == []
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def store(tmp_path, small_segments):
    path = tmp_path / "store.lookalike"
    with la.open(path) as index:
        index.add(corpus(40))
    return path


def answers(path: Path) -> list[object]:
    with la.open(path, read_only=True) as index:
        return [index.search(text, by=by, limit=None) for by in ("near", "simhash", "passages", "fuzzy") for _, text in corpus(40)[::6]]


@pytest.mark.parametrize("kind", Settings().kinds)
def test_every_flipped_byte_of_a_segment_is_detected(tmp_path, small_segments, kind):
    from lookalike.stores.embedded.snapshots import open_segment
    from lookalike.stores.embedded.states import read_sealed

    store = tmp_path / "store.lookalike"
    with la.open(store) as index:
        index.add(corpus(15))  # every byte is flipped, and what reads them all grows with their number
    (path,) = (store / "segments").glob(f"*.{kind}")
    good = path.read_bytes()
    settings = Settings()
    with la.open(store, read_only=True) as index, index._store.reading() as snapshot:
        (sealed,) = read_sealed(snapshot._connection, snapshot.state.number)
        origin = sealed.origin(snapshot.state.store)
    open_segment(path, kind, settings, origin)
    chance = random.Random(1)
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ chance.randrange(1, 256)]) + good[place + 1 :])
        with pytest.raises(la.Corrupt, match=path.name):
            open_segment(path, kind, settings, origin)
    for size in {*range(0, len(good), 7), *range(len(good) - 16, len(good))}:
        path.write_bytes(good[:size])
        with pytest.raises(la.Corrupt, match=path.name):
            open_segment(path, kind, settings, origin)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_answers_do_not_depend_on_damaged_segments(store, damage, caplog):
    wanted = answers(store)
    for path in (store / "segments").iterdir():
        data = bytearray(path.read_bytes())
        if damage == "flip":
            data[len(data) // 2] ^= 1
        path.write_bytes({"flip": bytes(data), "cut": bytes(data[:-9]), "empty": b"", "gone": b""}[damage])
        if damage == "gone":
            path.unlink()
    before = digests(store)
    assert answers(store) == wanted
    assert "rebuilt in memory" in caplog.text
    assert digests(store) == before  # a reader repairs nothing
    with la.open(store) as index:
        report = index.check()
        assert len(report.problems) == len(Settings().kinds)
        assert all("segments" in problem for problem in report.problems)
        repaired = index.check(repair=True)
        assert repaired.ok
        assert len(repaired.repaired) == len(Settings().kinds)
        assert index.check().problems == []
    caplog.clear()
    assert answers(store) == wanted
    assert caplog.text == ""


def test_a_damaged_database_is_named(store):
    database = store / "store.sqlite"
    data = bytearray(database.read_bytes())
    for place in range(4096, len(data), 512):
        data[place : place + 64] = os.urandom(64)
    database.write_bytes(data)
    try:
        with la.open(store) as index:
            said = index.check().problems
    except la.StoreError as error:
        said = [str(error)]
    assert any("database" in problem for problem in said), said


def test_queries_change_nothing(store):
    """A million queries by SimHash, and thousands of every other kind, leave every byte as it was."""
    before = digests(store)
    stamps = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    chance = np.random.default_rng(0)
    texts = [text for _, text in corpus(40)]
    with la.open(store, read_only=True) as index:
        for _ in range(10):
            index.search_simhashes(chance.integers(0, 2**64, 100_000, dtype=np.uint64), k=3, workers=2)
        for number in range(300):
            for by in ("near", "simhash", "passages", "fuzzy"):
                index.search(texts[number % 40], by=by)
            index.get("doc-1")
        assert len(index) == 40
        index.check()
        index.stats()
        assert digests(store) == before
    assert digests(store) == before
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == stamps


def test_readers_of_a_read_only_folder(store, tmp_path):
    """Where nothing may be written, everything can still be read."""
    wanted = answers(store)
    before = digests(store)
    seen = tmp_path / "seen"
    seen.mkdir()
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", store, seen], capture_output=True).returncode == 0
    if not mounted:  # nobody but root may mount, and for nobody else are these permissions no obstacle
        seen = store
        os.chmod(store, 0o555)
        os.chmod(store / "segments", 0o555)
    try:
        assert answers(seen) == wanted
        with pytest.raises(la.StoreError, match=r"seen|store"), la.open(seen) as index:
            index.add("a", "b")
    finally:
        if mounted:
            subprocess.run(["umount", seen], check=True)
        os.chmod(store, 0o755)
        os.chmod(store / "segments", 0o755)
    assert digests(store) == before


def test_a_newer_format_is_refused(store):
    import sqlite3

    connection = sqlite3.connect(store / "store.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(la.StoreError, match=r"format 99.*upgrade"):
        la.open(store)


def test_segments_of_a_newer_format_or_another_recipe_are_rebuilt(store, caplog):
    import struct

    from lookalike import _native

    wanted = answers(store)
    for path in (store / "segments").iterdir():
        data = bytearray(path.read_bytes())
        data[8:12] = struct.pack("<I", 3)
        data[-8:] = struct.pack("<Q", _native.checksum(bytes(data[:-8])))
        path.write_bytes(data)
    assert answers(store) == wanted
    assert "format 3" in caplog.text


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_closed_store_has_no_log(tmp_path, monkeypatch):
    """Whoever writes moves the log into the database: while it grows, when it compacts, and when it closes."""
    from lookalike.stores.embedded import connections

    monkeypatch.setattr(connections, "CHECKPOINT_BYTES", 100_000)
    path = tmp_path / "store"
    clean = {"store.sqlite", "acknowledged", "segments", "writer.lock", "reader.lock"}
    with la.open(path) as index:
        assert files(path) == clean
        assert len(index) == 0
        for first in range(0, 400, 20):
            index.add((f"{first} {id_}", text) for id_, text in corpus(20))
            assert (path / "store.sqlite-wal").stat().st_size < 1_000_000
        index.compact()
        assert files(path) == clean
        assert len(index) == 400
        index.add("more", "after compacting")
        with la.open(path, read_only=True) as reader:
            assert "more" in reader
    assert files(path) == clean
    with la.open(path, read_only=True) as first, la.open(path) as writer:
        assert len(first) == 401
        writer.add("another", "while a reader holds the state that it saw")
        writer.close()  # the reader may still look at the database file, so the log stays
        assert len(first) == 402
    with la.open(path) as writer:
        writer.remove(["another"])
    assert files(path) == clean


def test_what_a_killed_writer_left_is_cleared(store):
    (store / "segments" / "00009999.simhash").write_bytes(b"left behind")
    (store / "segments" / "00000009.minhash.partial").write_bytes(b"left behind")
    with la.open(store) as index:
        assert len(index.check().problems) == 2
        index.add("a", "b")
        assert index.check().ok


def test_things_that_are_no_store(tmp_path):
    (tmp_path / "file").write_text("a")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "something").write_text("a")
    (tmp_path / "other").mkdir()
    import sqlite3

    connection = sqlite3.connect(tmp_path / "other" / "store.sqlite")
    connection.execute("CREATE TABLE a (b)")
    connection.close()
    (tmp_path / "garbage").mkdir()
    (tmp_path / "garbage" / "store.sqlite").write_bytes(b"garbage" * 1000)
    for name in ("file", "folder", "other", "garbage", "file/below"):
        with pytest.raises(la.StoreError, match=name.partition("/")[0]):
            la.open(tmp_path / name)
    for name in ("file", "folder"):
        with pytest.raises(la.StoreError, match="is not a store, and there is something else"):
            la.open(tmp_path / name, create=False)
    for wrong in ("", 7, None, "ftp://host/x", "memory://named"):
        with pytest.raises(la.InputError):
            la.open(wrong)
    with pytest.raises(la.InputError, match="collection"):
        la.open("memory://", collection="")


def test_many_segments_merge_and_answer_the_same(tmp_path, small_segments):
    documents = corpus(1500)
    with la.open(tmp_path / "parts") as parts, la.open("memory://") as whole:
        whole.add(documents)
        for first in range(0, 1500, 60):
            parts.add(documents[first : first + 60])
        gone = [id_ for id_, _ in documents[::11]]
        parts.remove(gone)
        whole.remove(gone)
        assert 1 <= parts.stats()["segments"] <= 6
        for _, text in documents[::40]:
            for by in ("near", "simhash", "passages", "fuzzy"):
                assert parts.search(text, by=by, limit=None) == whole.search(text, by=by, limit=None), by
        assert parts.check().ok
        parts.compact()
        assert parts.stats()["segments"] == 1
        assert parts.stats()["removed"] == 0
        assert parts.check().ok
    assert len(list((tmp_path / "parts" / "segments").iterdir())) == len(Settings().kinds)
