"""Segment files, as docs/format.md defines them."""

import json
import os
import random
import resource
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.segments.container import read_segment, write_segment

SECTIONS = {
    "a": np.arange(10, dtype=np.uint32),
    "empty": np.zeros(0, dtype=np.uint64),
    "bytes": np.frombuffer(b"some bytes", dtype=np.uint8),
    "rows": np.array([-1, 2**62], dtype=np.int64),
    "short": np.array([1, 65535], dtype=np.uint16),
}


def reference_checksum(data: bytes) -> int:
    """docs/format.md in plain Python."""

    def step(lane: int, word: int) -> int:
        mixed = lane ^ word
        return (mixed << 29 | mixed >> 35) % 2**64 * 0x9E3779B97F4A7C15 % 2**64

    lanes = [i + 1 for i in range(8)]
    for place in range(0, len(data), 8):
        lanes[place // 8 % 8] = step(lanes[place // 8 % 8], int.from_bytes(data[place : place + 8].ljust(8, b"\0"), "little"))
    state = len(data)
    for lane in lanes:
        state = step(state, lane)
    return state ^ state >> 32


@given(st.binary(max_size=300))
def test_checksum_equals_the_reference(data: bytes) -> None:
    assert _native.checksum(data) == reference_checksum(data)


@given(st.lists(st.integers(0, 4), max_size=4), st.binary(max_size=200), st.randoms(use_true_random=False))
def test_a_checksum_of_pieces_is_that_of_the_whole(steps: list[int], last: bytes, chance: random.Random) -> None:
    pieces = [*(chance.randbytes(64 * count) for count in steps), last]
    found = _native.Checksum()
    for piece in pieces:
        found.add(piece)
    assert found.value() == reference_checksum(b"".join(pieces))
    if len(last) % 64:
        with pytest.raises(ValueError, match="multiple of 64"):
            found.add(b"more")


def test_a_file_is_checked_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.segments.container.CHECKED_TOGETHER", 1 << 16)
    sections = {"numbers": np.arange(50_000, dtype=np.uint64)}
    write_segment(tmp_path / "one", "kind", "recipe", sections)
    data = (tmp_path / "one").read_bytes()
    assert int.from_bytes(data[-8:], "little") == reference_checksum(data[:-8])
    assert read_segment(tmp_path / "one", "kind", "recipe")["numbers"].tolist() == sections["numbers"].tolist()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "00000001.kind"
    write_segment(path, "kind", "recipe.1", SECTIONS)
    found = read_segment(path, "kind", "recipe.1")
    assert list(found) == list(SECTIONS)
    for name, array in SECTIONS.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
        assert not found[name].flags.writeable
        assert found[name].ctypes.data % 64 == 0 or not len(array)
    assert os.listdir(tmp_path) == [path.name]


def test_the_file_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_segment(path, "kind", "recipe.1", SECTIONS)
    data = path.read_bytes()
    magic, version, described, size = struct.unpack_from("<8sIIQ", data)
    assert (magic, version, size) == (b"LKSEGMNT", 2, len(data))
    description = json.loads(data[24 : 24 + described])
    assert description["kind"] == "kind"
    assert description["recipe"] == "recipe.1"
    start = -(-(24 + described) // 64) * 64
    for name, dtype, offset, count in description["sections"]:
        assert np.frombuffer(data, dtype, count, start + offset).tolist() == SECTIONS[name].tolist()
    assert struct.unpack("<Q", data[-8:])[0] == reference_checksum(data[:-8])


def crafted(path: Path, description: object, body: bytes = bytes(128), version: int = 1) -> Path:
    """A file with a right checksum and a description of our choice."""
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    start = -(-(24 + len(text)) // 64) * 64
    size = start + len(body) + 8
    data = struct.pack("<8sIIQ", b"LKSEGMNT", version, len(text), size) + text
    data = data.ljust(start, b"\0") + body
    path.write_bytes(data + struct.pack("<Q", reference_checksum(data)))
    return path


@pytest.mark.parametrize(
    "sections",
    [
        [["a", "uint32", 0, 33]], [["a", "uint32", 64, 17]], [["a", "uint32", 4, 1]], [["a", "uint32", -64, 1]], [["a", "uint32", 0, -1]],
        [["a", "object", 0, 1]], [["a", "float64", 0, 1]], [["a", "uint32", 0.5, 1]], [["a", "uint32", 0]], [["a", "uint32", 0, 2**62]],
        "text", 7, None, [[None, None, None, None]],
    ],
)  # fmt: skip
def test_crafted_sections_are_refused(tmp_path: Path, sections: object) -> None:
    path = crafted(tmp_path / "crafted", {"kind": "kind", "recipe": "r", "sections": sections})
    with pytest.raises(la.Corrupt, match="crafted"):
        read_segment(path, "kind", "r")


@pytest.mark.parametrize("description", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_crafted_descriptions_are_refused(tmp_path: Path, description: bytes) -> None:
    with pytest.raises(la.Corrupt, match="crafted"):
        read_segment(crafted(tmp_path / "crafted", description), "kind", "r")


def test_other_kinds_recipes_and_formats_are_refused(tmp_path: Path) -> None:
    right = {"kind": "kind", "recipe": "r", "sections": []}
    assert read_segment(crafted(tmp_path / "a", right), "kind", "r") == {}
    for kind, recipe in (("other", "r"), ("kind", "other")):
        with pytest.raises(la.Corrupt, match="kind of recipe r"):
            read_segment(tmp_path / "a", kind, recipe)
    with pytest.raises(la.Corrupt, match="format 3"):
        read_segment(crafted(tmp_path / "b", right, version=3), "kind", "r")
    with pytest.raises(FileNotFoundError):
        read_segment(tmp_path / "none", "kind", "r")


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        write_segment(tmp_path / "a", "kind", "r", {"a": "no array"})
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match=r"."):
        write_segment(tmp_path / "a", "kind", "r", SECTIONS)
    assert os.listdir(tmp_path) == ["a"]


def test_the_system_says_why_a_file_cannot_be_written(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_segment(tmp_path / "a", "kind", "r", {"values": np.zeros(1 << 18)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []
