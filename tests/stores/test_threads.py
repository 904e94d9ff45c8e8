"""One index in many threads: readers run at the same time, while one writes, and each sees one state of the store.

``LOOKALIKE_THREADS_SECONDS`` makes the random run longer; run under ThreadSanitizer it needs that.
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import lookalike as la
from lookalike.index.index import Index
from lookalike.stores.embedded import sealing, snapshots
from lookalike.stores.kinds.simhash import NearSimhashes, simhash_words

SECONDS = float(os.environ.get("LOOKALIKE_THREADS_SECONDS", "2"))
WORDS = [f"word{number}" for number in range(400)]
PLACES = ("memory", "disk")


def text_of(name: str, edition: int = 0) -> str:
    """Long enough to have a digest of every kind, and like no other; editions of one are near each other."""
    draw = random.Random(name)
    words = [draw.choice(WORDS) for _ in range(120)]
    return " ".join([*words, f"edition {edition}"])


@contextmanager
def opened(place: str, folder: Path) -> Iterator[Index]:
    with la.open("memory://" if place == "memory" else folder / "store") as index:
        yield index


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealing and merging every few batches."""
    monkeypatch.setattr(sealing, "SEAL_ROWS", 60)
    monkeypatch.setattr(snapshots, "YOUNG_ROWS", 16)


def in_another_thread(work: Callable[[], object]) -> object:
    """What the work returns; a failure where it waits for this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result(timeout=60)


@pytest.mark.parametrize("place", PLACES)
def test_others_search_and_write_while_somebody_goes_through_all(place: str, tmp_path: Path) -> None:
    with opened(place, tmp_path) as index:
        index.add([(number, text_of(str(number))) for number in range(200)])
        documents, ids = index.documents(), index.ids()
        assert (next(documents).id, next(ids)) == (0, 0)
        for by in ("near", "simhash", "passages", "fuzzy"):
            assert in_another_thread(lambda by=by: index.search(text_of("7"), by=by)[0].id) == 7
        assert in_another_thread(lambda: index.add("new", text_of("new"))) == (1, 0)
        assert in_another_thread(lambda: index.add(8, text_of("8", 1))) == (0, 1)
        assert in_another_thread(lambda: index.remove([9, 150])) == 2
        assert in_another_thread(lambda: len(index)) == 199
        in_another_thread(index.compact)
        assert in_another_thread(lambda: index.get(8).text) == text_of("8", 1)
        # Who began before sees what there was then: removed and replaced documents too.
        rest = list(documents)
        assert [document.id for document in rest] == list(range(1, 200))
        assert rest[7].text == text_of("8")
        assert list(ids) == list(range(1, 200))
        assert [document.id for document in index.documents()] == [n for n in range(200) if n not in (8, 9, 150)] + ["new", 8]
        assert index.check().ok


@pytest.mark.parametrize("place", PLACES)
def test_a_reading_ends_in_another_thread_or_when_it_is_dropped(place: str, tmp_path: Path) -> None:
    with opened(place, tmp_path) as index:
        index.add([(number, text_of(str(number))) for number in range(30)])
        documents = index.documents()
        next(documents)
        in_another_thread(documents.close)
        begun = in_another_thread(lambda: (ids := index.ids(), next(ids))[0])
        assert list(begun) == list(range(1, 30))  # type: ignore[call-overload]  # a generator that another thread began
        for _ in range(20):
            dropped = index.documents()
            next(dropped)
            del dropped
        gc.collect()
        index.remove(3)
        index.compact()
        assert len(index) == 29
        assert index.check().ok


@pytest.mark.parametrize("place", PLACES)
def test_closing_while_somebody_reads(place: str, tmp_path: Path) -> None:
    with opened(place, tmp_path) as index:
        index.add([(number, text_of(str(number))) for number in range(300)])
        documents, unfinished = index.documents(), index.ids()
        next(documents)
        next(unfinished)
        index.close()
        with pytest.raises(la.StoreError, match="closed"):
            list(documents)
        with pytest.raises(la.StoreError, match="closed"):
            next(index.documents())
        in_another_thread(unfinished.close)
    if place == "disk":
        with la.open(tmp_path / "store") as again:
            assert len(again) == 300
            assert again.check().ok


def test_nothing_is_left_of_documents_that_readers_kept_alive() -> None:
    with la.open("memory://") as index:
        index.add([(number, text_of(str(number))) for number in range(100)])
        first = index.ids()
        next(first)
        index.remove(list(range(50)))
        second = index.ids()
        next(second)
        index.remove(list(range(50, 80)))
        readings = index._store._readings  # type: ignore[attr-defined]  # of the embedded store
        count = "SELECT count(*) FROM ghosts"
        assert readings.connection.execute(count).fetchone()[0] == 80
        assert len(list(first)) == 99
        assert readings.connection.execute(count).fetchone()[0] == 30
        assert len(list(second)) == 49
        assert readings.connection.execute(count).fetchone()[0] == 0


def test_files_of_merged_segments_stay_while_somebody_may_open_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with la.open(tmp_path / "store") as index:
        for first in range(0, 300, 60):
            index.add([(number, text_of(str(number))) for number in range(first, first + 60)])
        reading = index._store.reading()
        before = reading.__enter__()
        in_another_thread(lambda: index.add([(f"more {number}", text_of(f"more {number}")) for number in range(70)]))
        in_another_thread(index.compact)
        words = simhash_words([text_of("7")], index._store.settings)
        assert before.find(NearSimhashes(words, 0, 10)).totals.tolist() == [1]
        assert caplog.text == ""  # nothing was missing that had to be made again
        assert index.check().ok
        reading.__exit__(None, None, None)
        assert len(list((tmp_path / "store" / "segments").glob("*.simhash"))) == 1


class Editions:
    """Documents that are replaced again and again, each by its own next edition: some edition of each is always there."""

    def __init__(self, index: Index, count: int) -> None:
        self.index, self.count = index, count
        self.written = [0] * count  # acknowledged
        self.begun = [0] * count
        index.add([(f"doc {number}", text_of(f"doc {number}"), {"edition": 0}) for number in range(count)])

    def replace(self, draw: random.Random) -> None:
        chosen = draw.sample(range(self.count), 5)
        for number in chosen:
            self.begun[number] += 1
        self.index.add([(f"doc {n}", text_of(f"doc {n}", self.begun[n]), {"edition": self.begun[n]}) for n in chosen])
        for number in chosen:
            self.written[number] = self.begun[number]


def test_a_long_random_run(tmp_path: Path) -> None:
    for place in PLACES:
        with opened(place, tmp_path) as index:
            random_run(index)


def random_run(index: Index) -> None:
    stay = [(f"stay {number}", text_of(f"stay {number}")) for number in range(60)]
    index.add(stay)
    editions = Editions(index, 40)
    always = {id_ for id_, _ in stay} | {f"doc {number}" for number in range(40)}
    done = threading.Event()

    def writes(seed: int) -> None:
        draw, passing = random.Random(seed), 0
        while not done.is_set():
            editions.replace(draw)
            index.add([(f"passing {passing + n}", text_of(f"passing {passing + n}")) for n in range(10)])
            index.remove([f"passing {passing + n}" for n in range(10)])
            passing += 10
            if draw.random() < 0.1:
                index.compact()

    def searches(seed: int) -> None:
        draw = random.Random(seed)
        while not done.is_set():
            id_, text = draw.choice(stay)
            by = draw.choice(("near", "simhash", "passages", "fuzzy"))
            assert id_ in [match.id for match in index.search(text, by=by, limit=None)], by
            number = draw.randrange(40)
            name, least = f"doc {number}", editions.written[number]
            found = [match.id for match in index.search(text_of(name), threshold=0.8, limit=None)]
            assert found.count(name) == 1, (name, found)
            document = index.get(name)
            edition = document.meta["edition"]
            assert least <= edition <= editions.begun[number]
            assert document.text == text_of(name, edition)
            assert name in index

    def goes_through_all(seed: int) -> None:
        draw = random.Random(seed)
        while not done.is_set():
            documents, seen, count = index.documents(), [], 0
            for document in documents:
                seen.append(document)
                if draw.random() < 0.02:
                    time.sleep(0.001)
                if draw.random() < 0.003:
                    break
            else:
                ids = [document.id for document in seen]
                count = len(ids)
                assert len(set(ids)) == count
                assert always <= set(ids)
                passing = [id_ for id_ in ids if str(id_).startswith("passing")]
                assert len(passing) in (0, 10)  # a batch is seen whole or not at all
                for document in seen:
                    if str(document.id).startswith("doc"):
                        assert document.text == text_of(str(document.id), document.meta["edition"])

    def counts(seed: int) -> None:
        while not done.is_set():
            assert len(index) in (100, 110)
            assert index.stats()["documents"] in (100, 110)
            clusters = index.clusters("simhash", k=0)
            assert not {member.id for cluster in clusters for member in cluster.members} & {id_ for id_, _ in stay}

    jobs = [writes, searches, searches, goes_through_all, goes_through_all, counts]
    with ThreadPoolExecutor(len(jobs)) as threads:
        running = [threads.submit(job, seed) for seed, job in enumerate(jobs)]
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends and not any(each.done() for each in running):
            time.sleep(0.01)
        done.set()
        for each in running:
            each.result(timeout=120)
    assert set(index.ids()) == always
    assert index.check().ok


def test_the_size_of_a_store_in_which_files_come_and_go(tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as index:
        index.add("one", text_of("one"))
        done = threading.Event()

        def writes_segments() -> None:
            file = tmp_path / "store" / "segments" / "00000009.ssdeep.partial"
            file.parent.mkdir(exist_ok=True)
            while not done.is_set():
                file.write_bytes(b"half of it")
                file.unlink()

        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(writes_segments)
            try:
                sizes = [index.stats()["bytes"] for _ in range(1000)]
            finally:
                done.set()
            writing.result(timeout=60)
    assert min(sizes) > 0


def test_two_readings_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits inside its reading until the other is there too."""
    with la.open(tmp_path / "store") as index:
        index.add([(number, text_of(str(number))) for number in range(20)])
        together = threading.Barrier(2, timeout=60)

        def clusters() -> list[la.Cluster]:
            return index.clusters(progress=lambda _: together.wait())

        with ThreadPoolExecutor(2) as threads:
            left, right = threads.submit(clusters), threads.submit(clusters)
            assert left.result() == right.result()
