"""Approximate searches in the embedded store: only where they are asked for, with exact cosines, and never by a damaged graph."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import lookalike as la
from lookalike.cli import main
from lookalike.segments import graphs
from lookalike.testing import TinyEmbedder, corpus, tiny_model

COUNT = 2500
APPROXIMATE, EXACT = "approximate:", "exact, though"


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, 32))
    return (centres[rng.integers(0, 40, count)] + 0.6 * rng.standard_normal((count, 32))).astype(np.float32)


QUERIES = clustered(30, 8)


@pytest.fixture(autouse=True)
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "GRAPH_FROM", 200)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A compacted store with a graph."""
    folder = tmp_path_factory.mktemp("made") / "store"
    with pytest.MonkeyPatch.context() as patch, la.open(folder, model=tiny_model(), kinds="vector") as index:
        patch.setattr(graphs, "GRAPH_FROM", 200)
        index.add_vectors(np.arange(COUNT), clustered(COUNT, 7))
        index.compact()
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def store(made: dict[str, bytes], tmp_path: Path) -> Path:
    for name, data in made.items():
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "store"


def graph_of(store: Path) -> Path:
    (path,) = (store / "segments").glob("*.graph")
    return path


def recall(index: la.Index) -> float:
    """Of the nearest, the share that an approximate search finds; its cosines are the exact ones, to the bit."""
    shared = 0
    for query in QUERIES:
        exact, found = (
            {match.id: match.score for match in index.search(vector=query, approximate=approximate)} for approximate in (False, True)
        )
        assert all(score == exact[id_] for id_, score in found.items() if id_ in exact)
        assert list(found.values()) == sorted(found.values(), reverse=True)
        shared += len(exact.keys() & found.keys())
    return shared / (10 * len(QUERIES))


def notes(index: la.Index) -> list[str]:
    return index.search(vector=QUERIES[0], approximate=True).notes


def test_a_graph_serves_those_who_ask_for_it(store: Path) -> None:
    with la.open(store, read_only=True) as index:
        assert recall(index) >= 0.95
        (note,) = notes(index)
        assert note.startswith(APPROXIMATE)
        assert index.search(vector=QUERIES[0]).notes == []
        whole, parts = index.search_vectors(QUERIES, approximate=True), [index.search(vector=query, approximate=True) for query in QUERIES]
        assert whole.ids.tolist() == [match.id for part in parts for match in part]
        assert whole.scores.tolist() == [match.score for part in parts for match in part]
        assert index.stats()["segment_bytes"]["graph"] == graph_of(store).stat().st_size
        assert index.check().ok


def test_searches_that_read_everything_say_so(store: Path) -> None:
    with la.open(store, read_only=True) as index:
        for asked in ({"threshold": 0.3}, {"limit": None}, {"limit": 400}):
            exact, found = (index.search(vector=QUERIES[0], approximate=each, **asked) for each in (False, True))  # type: ignore[arg-type]
            assert exact == found
            assert exact.total == found.total
            assert found.notes[0].startswith(EXACT)


def test_reading_changes_no_byte(store: Path) -> None:
    def digests() -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in store.rglob("*") if path.is_file()}

    before = digests()
    with la.open(store, read_only=True) as index:
        assert notes(index)[0].startswith(APPROXIMATE)
        with pytest.raises(la.StoreError, match="read_only"):
            index.compact()
    assert digests() == before


def test_changes_after_compacting(store: Path) -> None:
    with la.open(store) as index:
        best = [index.search(vector=query)[0].id for query in QUERIES]
        assert index.remove(best[:10]) == len(set(best[:10]))
        index.add_vectors([f"new {i}" for i in range(30)], QUERIES)
        index.add_vectors([best[20]], -QUERIES[20:21])  # replaced: it is somewhere else now
        assert recall(index) >= 0.95
        assert [index.search(vector=query, approximate=True)[0].id for query in QUERIES] == [f"new {i}" for i in range(30)]
        assert not {match.id for query in QUERIES for match in index.search(vector=query, approximate=True)} & set(best[:10])
        assert best[20] not in {match.id for match in index.search(vector=QUERIES[20], approximate=True)}
        old = graph_of(store)
        index.compact()
        assert graph_of(store) != old  # of the new segment; the old one is gone
        assert notes(index)[0].startswith(APPROXIMATE)
        assert recall(index) >= 0.95
        assert index.check().ok


def test_compacting_again_makes_no_other_graph(store: Path) -> None:
    before = graph_of(store).stat()
    with la.open(store) as index:
        index.compact()
    after = graph_of(store).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


DAMAGES = ["empty", "header", "short", "bit", "zeros", "text"]


def damaged(good: bytes, how: str) -> bytes:
    middle = len(good) // 2
    return {
        "empty": b"",
        "header": good[:100],
        "short": good[:-1],
        "bit": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "zeros": bytes(len(good)),
        "text": b"this is no graph" * 100,
    }[how]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_graph_is_not_used(store: Path, how: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    path = graph_of(store)
    good = path.read_bytes()
    path.write_bytes(damaged(good, how))
    with la.open(store) as index:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "usearch.index", None)  # whoever gives it to usearch fails
            (note,) = notes(index)
            assert note.startswith(EXACT)
            assert "damaged" in note
            assert recall(index) == 1
        assert caplog.text.count("it is not used") == 1  # and is read once, not with every query
        report = index.check()
        assert [path.name in problem for problem in report.problems] == [True]
        report = index.check(repair=True)
        assert report.ok
        assert len(report.repaired) == 1
        assert path.read_bytes() == good
        assert notes(index)[0].startswith(APPROXIMATE)


def test_compacting_makes_a_damaged_or_missing_graph_anew(store: Path) -> None:
    path = graph_of(store)
    good = path.read_bytes()
    with la.open(store) as index:
        path.unlink()
        assert notes(index)[0].startswith(EXACT)
        assert index.check().ok  # there need not be one
        index.compact()
        assert path.read_bytes() == good
        assert notes(index)[0].startswith(APPROXIMATE)
        path.unlink()
        path.write_bytes(good[:-8] + bytes(8))
        index.compact()
        assert path.read_bytes() == good


def test_a_graph_of_other_vectors_is_not_used(store: Path, tmp_path: Path) -> None:
    with la.open(tmp_path / "other", model=tiny_model(), kinds="vector") as index:
        index.add_vectors(np.arange(COUNT - 1), clustered(COUNT - 1, 9))
        index.compact()
    path = graph_of(store)
    path.unlink()
    path.write_bytes(graph_of(tmp_path / "other").read_bytes())
    with la.open(store, read_only=True) as index:
        assert "damaged" in notes(index)[0]
        assert recall(index) == 1
        assert "it is another one" in index.check().problems[0]


def test_a_segment_that_is_made_anew_gets_a_graph(store: Path) -> None:
    (segment,) = (store / "segments").glob("*.vector")
    old = graph_of(store)
    segment.write_bytes(segment.read_bytes()[:-1])
    with la.open(store) as index:
        assert recall(index) >= 0.95  # what is rebuilt in memory has the same places
        assert index.check(repair=True).ok
        assert graph_of(store) != old
        assert notes(index)[0].startswith(APPROXIMATE)


def test_without_usearch(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    with la.open(store) as index:
        assert "lookalike[meaning]" in notes(index)[0]
        assert recall(index) == 1
        assert index.check().ok
    with la.open(tmp_path / "other", model=tiny_model(), kinds="vector") as index:
        index.add_vectors(np.arange(COUNT), clustered(COUNT, 7))
        index.compact()
        assert notes(index)[0].startswith(EXACT)
    assert not list((tmp_path / "other" / "segments").glob("*.graph"))


def test_in_memory_and_of_few_vectors_every_search_is_exact(tmp_path: Path) -> None:
    for place, count in (("memory://", 1000), (str(tmp_path / "few"), 199)):
        with la.open(place, model=tiny_model(), kinds="vector") as index:
            index.add_vectors(np.arange(count), clustered(count, 7))
            index.compact()
            assert notes(index)[0].startswith(EXACT)
            assert recall(index) == 1
            assert "graph" not in index.stats()["segment_bytes"]


def test_texts_and_other_searches(tmp_path: Path) -> None:
    with la.open(tmp_path / "store", model=tiny_model()) as index:
        index.add(corpus(20))
        text = corpus(20)[3][1]
        assert index.search(text, by="meaning", approximate=True) == index.search(text, by="meaning")
        with pytest.raises(la.InputError, match="approximate"):
            index.search(text, approximate=True)
        with pytest.raises(la.InputError, match="approximate"):
            index.search(simhash=3, approximate=True)


def test_on_the_command_line(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> tuple[object, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["search", str(store), "--text", "a river and a bridge", *arguments])
        return stop.value.code or 0, *capfd.readouterr()

    with la.open(store) as index:
        vector = TinyEmbedder().encode(["a river and a bridge"])
        index.add_vectors(["bridge"], vector)
    code, out, err = run("--by", "meaning", "--approximate", "--json")
    assert (code, json.loads(out)[0]["id"]) == (0, "bridge")
    assert APPROXIMATE in err
    code, _, err = run("--by", "meaning", "--json")
    assert (code, APPROXIMATE in err) == (0, False)
    code, _, err = run("--approximate")
    assert code == 2
    assert "--by meaning" in err
