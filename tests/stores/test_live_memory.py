"""Documents that come a few at a time: what the writer and the readers hold of them is bounded, in rows and in bytes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.stores.embedded import sealing, snapshots

ROWS, WRITES = 64, 500
WORDS = [f"word{number}" for number in range(5000)]
chance = random.Random(5)


def text(words: int = 40) -> str:
    return " ".join(chance.choices(WORDS, k=words))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "LIVE_ROWS", ROWS)
    monkeypatch.setattr(sealing, "BULK", 100)


def held(index: Any) -> int:
    """Rows of segments that a process has in memory and in no file, each as often as it has it."""
    kept = index._store._cache._kept.values()
    segments = {id(segment): segment for states in kept for state in states for segment in state.young}
    return sum(map(len, segments.values()))


@pytest.mark.usefixtures("small")
def test_what_comes_bit_by_bit_is_sealed_early(tmp_path: Path) -> None:
    """Searches between writes hold the newest documents, some of them several times; how many does not grow with what is written."""
    with la.open(tmp_path / "s", kinds="simhash,minhash") as writer, la.open(tmp_path / "s", read_only=True) as reader:
        seen = []
        for number in range(WRITES):
            own = text()
            writer.add(number, own)
            assert writer.stats()["unsealed"] < ROWS
            assert sum(len(part.rows) for part in writer._store._fresh._parts) < ROWS  # type: ignore[attr-defined]
            for by in ("near", "simhash"):
                assert reader.search(own, by=by)[0].id == number
            seen.append(held(reader))
        assert max(seen) <= 2 * ROWS * snapshots.KEPT_STATES
        assert max(seen[WRITES // 2 :]) <= max(seen[: WRITES // 2])
        assert reader.stats()["documents"] == WRITES
    with la.open(tmp_path / "s") as index:
        assert index.check().problems == []


@pytest.mark.usefixtures("small")
def test_what_comes_in_bulk_is_sealed_in_larger_pieces(tmp_path: Path) -> None:
    with la.open(tmp_path / "s", kinds="simhash") as index:
        index.add([(number, text()) for number in range(4 * ROWS)])
        assert index.stats()["unsealed"] == 4 * ROWS
        for number in range(1, ROWS):
            index.add(f"one {number}", text())
            assert index.stats()["unsealed"] == 4 * ROWS + number
        index.add("the last", text())
        assert index.stats()["unsealed"] == 0


def test_long_documents_are_sealed_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "LIVE_BYTES", 50_000)
    with la.open(tmp_path / "s", kinds="winnowing") as index:
        for number in range(40):
            index.add(number, text(600))
            assert sum(part.nbytes() for part in index._store._fresh._parts) < 50_000  # type: ignore[attr-defined]
        assert index.stats()["unsealed"] < 10


def test_older_states_are_kept_as_long_as_they_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that began before them builds what it needs again, and finds the same."""
    monkeypatch.setattr(snapshots, "KEPT_BYTES", 0)
    first, second = text(), text()
    with la.open("memory://", kinds="minhash") as index:
        index.add([(number, text()) for number in range(50)])
        index.add("first", first)
        store: Any = index._store
        with store.reading() as before:
            index.add("second", second)
            assert index.search(second)[0].id == "second"
            assert len(store._cache._kept["minhash"]) == 1
            assert sum(map(len, before.parts_of("minhash").all())) == 51
        assert len(store._cache._kept["minhash"]) == 1
        assert index.search(first)[0].id == "first"
