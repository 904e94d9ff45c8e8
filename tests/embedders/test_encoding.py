"""Many texts: each once, in any order, from the cache if there is one; the cache survives damage, company and its bound."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.embedders.cache import FILE, VectorCache
from lookalike.embedders.encoding import encode


class Counting:
    """Remembers what it was asked."""

    name, version, dimensions = "counting", "1", 3

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked.append(list(texts))
        return np.array([[len(text), 2.0 * text.count("a"), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
def model() -> Counting:
    return Counting()


def test_repeated_texts_are_computed_once_and_sorted_by_length(model: Counting) -> None:
    told: list[int] = []
    found = encode(["ccc", "a", "ccc", "bb", "a"], model, batch_size=2, progress=told.append)
    assert model.asked == [["a", "bb"], ["ccc"]]
    assert told == [2, 3]
    assert np.array_equal(found.vectors[0], found.vectors[2])
    assert np.abs(np.linalg.norm(found.vectors, axis=1) - 1).max() < 1e-6
    assert found.windows == [1] * 5
    assert found.model == "counting@1"
    assert found.notes == []


def test_the_default_model_is_not_changed_by_it() -> None:
    texts = ["tea", "a house by the sea", "tea", "", "harbour " * 500]
    found = encode(texts)
    assert np.array_equal(found.vectors, la.embedder().encode(texts))
    assert found.windows == [1, 1, 1, 0, 2]
    assert found.notes == [
        "use-multilingual@0.2.1-2: 1 of 5 texts were read in windows, up to 2, and averaged",
        "use-multilingual@0.2.1-2: 1 of 5 texts have no word that the model knows",
    ]


def test_nothing_gives_nothing(model: Counting) -> None:
    assert encode([], model).vectors.shape == (0, 3)
    assert model.asked == []


def test_wrong_arguments_are_named(model: Counting) -> None:
    with pytest.raises(la.InputError, match="texts is one str"):
        encode("text", model)
    with pytest.raises(la.InputError, match="batch_size=0"):
        encode(["a"], model, batch_size=0)
    with pytest.raises(la.InputError, match="cache=True"):
        encode(["a"], model, cache=True)


class TestCache:
    def test_what_is_known_is_not_computed(self, model: Counting, tmp_path: Path) -> None:
        first = encode(["a", "bb", "\ud800"], model, cache=tmp_path)
        second = encode(["bb", "ccc", "a", "\ud800"], model, cache=str(tmp_path))
        assert model.asked == [["a", "\ud800", "bb"], ["ccc"]]
        assert np.array_equal(second.vectors[[2, 0, 3]], first.vectors)

    def test_it_is_off_unless_named(self, model: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("LOOKALIKE_CACHE", raising=False)
        encode(["a"], model)
        encode(["a"], model)
        assert len(model.asked) == 2
        monkeypatch.setenv("LOOKALIKE_CACHE", str(tmp_path))
        encode(["a"], model)
        encode(["a"], model)
        assert len(model.asked) == 3
        encode(["a"], model, cache=False)
        assert len(model.asked) == 4

    def test_models_do_not_share_vectors(self, model: Counting, tmp_path: Path) -> None:
        other = Counting()
        other.version = "2"
        encode(["a"], model, cache=tmp_path)
        encode(["a"], other, cache=tmp_path)
        assert other.asked == [["a"]]

    def test_windows_and_unknown_texts_are_kept(self, tmp_path: Path) -> None:
        texts = ["harbour " * 500, "", "tea"]
        first, second = (encode(texts, cache=tmp_path) for _ in range(2))
        assert first.windows == second.windows == [2, 0, 1]
        assert np.array_equal(first.vectors, second.vectors)

    def test_flipped_bytes_are_computed_again(self, model: Counting, tmp_path: Path) -> None:
        expected = encode(["a", "bb"], model, cache=tmp_path).vectors
        with sqlite3.connect(tmp_path / FILE) as database:
            database.execute("UPDATE vectors SET vector = zeroblob(12) WHERE id = 1")
            database.execute("UPDATE vectors SET vector = x'00', crc = 3523407757 WHERE id = 2")
        assert np.array_equal(encode(["a", "bb"], model, cache=tmp_path).vectors, expected)
        assert len(model.asked) == 2
        encode(["a", "bb"], model, cache=tmp_path)
        assert len(model.asked) == 2

    def test_a_damaged_file_is_named(self, model: Counting, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"not a database, but longer than a header of one" * 20)
        with pytest.raises(la.Corrupt, match=r"is damaged .*delete the file"):
            encode(["a"], model, cache=tmp_path)

    def test_a_place_that_cannot_be_written_is_named(self, model: Counting, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(la.InputError, match="name a folder that can be written"):
            encode(["a"], model, cache=tmp_path / "file")

    def test_it_is_bounded_and_the_oldest_go(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path, most_bytes=200_000)
        rows = np.random.default_rng(1).normal(size=(600, 256)).astype(np.float32)
        for at in range(0, 600, 50):
            cache.keep("m", [(str(number), rows[number], 1) for number in range(at, at + 50)])
        known = cache.find("m", [str(number) for number in range(600)])
        assert 100 <= len(known) <= 200
        assert min(map(int, known)) == 600 - len(known)
        assert (tmp_path / FILE).stat().st_size < 400_000

    def test_several_processes_write_at_once(self, tmp_path: Path) -> None:
        code = """
import sys, numpy as np
from lookalike.embedders.cache import VectorCache
cache, mine = VectorCache(sys.argv[1]), int(sys.argv[2])
for round in range(20):
    cache.keep("m", [(f"{mine}-{round}-{n}", np.full(8, mine, dtype=np.float32), 1) for n in range(20)])
    cache.keep("m", [("shared", np.ones(8, dtype=np.float32), 1)])
"""
        started = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(number)]) for number in range(3)]
        assert [process.wait(120) for process in started] == [0, 0, 0]
        keys = [f"{mine}-{turn}-{number}" for mine in range(3) for turn in range(20) for number in range(20)]
        found = VectorCache(tmp_path).find("m", [*keys, "shared"])
        assert len(found) == 1201
        assert all(found[key].vector[0] == int(key[0]) for key in keys)
