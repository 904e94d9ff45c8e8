"""Segments that are whole, and not those of this store: found out, and made anew from the documents."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

import lookalike as la
from first_format import as_first_format
from lookalike.stores.embedded import sealing
from lookalike.testing import corpus


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SEAL_ROWS", 50)
    monkeypatch.setattr(sealing, "RUN", 100)  # nothing is merged


def make(path: Path, texts: list[tuple[str, str]]) -> Path:
    with la.open(path) as index:
        for first in range(0, len(texts), 50):
            index.add(texts[first : first + 50])
    return path


def answers(path: Path) -> list[object]:
    with la.open(path, read_only=True) as index:
        return [
            [match.to_dict() for match in index.search(text, by=by, limit=None)]
            for by in ("near", "simhash", "passages", "fuzzy")
            for _, text in corpus(150)[::11]
        ]


def files(path: Path) -> list[Path]:
    return sorted((path / "segments").iterdir())


def repaired(path: Path) -> None:
    with la.open(path) as index:
        assert index.check().problems
        assert index.check(repair=True).ok
        assert index.check().ok


def test_a_segment_of_another_store(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mine = make(tmp_path / "mine", corpus(150))
    other = make(tmp_path / "other", [(f"other-{id_}", text[::-1]) for id_, text in corpus(300)[150:]])
    expected = answers(mine)
    assert [path.name for path in files(mine)] == [path.name for path in files(other)]
    for path in files(other):
        shutil.copy(path, mine / "segments" / path.name)
    caplog.set_level(logging.WARNING)
    assert answers(mine) == expected
    assert "it is another one" in caplog.text
    repaired(mine)
    caplog.clear()
    assert answers(mine) == expected
    assert not caplog.text


def test_a_segment_of_the_same_store_under_another_number(tmp_path: Path) -> None:
    mine = make(tmp_path / "mine", corpus(150))
    expected = answers(mine)
    first, second = (sorted((mine / "segments").glob("*.simhash"))[place] for place in (0, 1))
    a, b = first.read_bytes(), second.read_bytes()
    first.write_bytes(b)
    second.write_bytes(a)
    assert answers(mine) == expected
    repaired(mine)
    assert answers(mine) == expected


def test_a_copy_of_the_same_store_of_another_day(tmp_path: Path) -> None:
    """The same store id and number, but other rows: as when a folder is restored in part."""
    mine = make(tmp_path / "mine", corpus(100))
    old = tmp_path / "old"
    shutil.copytree(mine, old)
    with la.open(old) as index:
        index.add(corpus(300)[200:260])
    with la.open(mine) as index:
        index.add(corpus(300)[100:150])
    newest = max(path.name for path in files(mine))[:8]
    expected = answers(mine)
    for path in (old / "segments").glob(f"{newest}.*"):
        shutil.copy(path, mine / "segments" / path.name)
    assert answers(mine) == expected


def test_segments_of_the_first_format_are_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mine = make(tmp_path / "mine", corpus(150))
    expected = answers(mine)
    as_first_format(mine)
    caplog.set_level(logging.WARNING)
    assert answers(mine) == expected  # as it is, by a reader
    with la.open(mine) as index:
        index.add("new", "a text that brings the store up to date")
        index.remove(["new"])
        assert index.check().ok
    assert answers(mine) == expected
    assert not caplog.text, "old segments are not rebuilt"
    with la.open(mine) as index:
        index.compact()
    assert answers(mine) == expected


def test_an_unsigned_segment_has_no_place_in_a_new_store(tmp_path: Path) -> None:
    mine, other = make(tmp_path / "mine", corpus(150)), make(tmp_path / "other", [(f"o-{id_}", text[::-1]) for id_, text in corpus(150)])
    expected = answers(mine)
    as_first_format(other)
    for path in files(other):
        shutil.copy(path, mine / "segments" / path.name)
    assert answers(mine) == expected
