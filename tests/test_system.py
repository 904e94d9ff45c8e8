"""What stands in where a system lacks something does the same."""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from pathlib import Path

import pytest

from lookalike import system
from lookalike.corpus.formats.lines import Block, Buffers, line_blocks


@pytest.mark.parametrize("portable", [False, True])
def test_a_range_is_copied_to_where_the_target_stands(tmp_path: Path, portable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "PORTABLE", portable)
    data = os.urandom(3_000_000)
    (tmp_path / "source").write_bytes(data)
    with open(tmp_path / "source", "rb") as source, open(tmp_path / "target", "wb") as target:
        target.write(b"before ")
        target.flush()
        begin, end = 1000, len(data) - 5
        while begin < end:
            copied = system.copy_range(target.fileno(), source.fileno(), begin, end - begin)
            assert 0 < copied <= end - begin
            begin += copied
        assert system.copy_range(target.fileno(), source.fileno(), len(data), 10) == 0
    assert (tmp_path / "target").read_bytes() == b"before " + data[1000:-5]


@pytest.mark.parametrize("portable", [False, True])
def test_pages_are_read_whatever_the_system_was_told(tmp_path: Path, portable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "PORTABLE", portable)
    (tmp_path / "file").write_bytes(b"x" * 20_000)
    with open(tmp_path / "file", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        system.read_here_and_there(mapped)
        assert mapped[:] == b"x" * 20_000
        system.forget_pages(mapped)
        assert mapped[:] == b"x" * 20_000


@pytest.mark.parametrize("portable", [False, True])
def test_a_file_on_its_way_to_the_disk_takes_more(tmp_path: Path, portable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "PORTABLE", portable)
    system._from_c_library.cache_clear()
    with open(tmp_path / "file", "wb", buffering=0) as file:
        for _ in range(3):
            file.write(b"x" * 100_000)
            system.begin_writing_out(file.fileno())
    assert (tmp_path / "file").read_bytes() == b"x" * 300_000
    system.begin_writing_out(-1)  # a wish: nothing depends on it
    system._from_c_library.cache_clear()


@pytest.mark.parametrize("portable", [False, True])
def test_a_pipe_carries_the_same_however_wide(portable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "PORTABLE", portable)
    read, write = os.pipe()
    try:
        system.widen_pipe(read, 1 << 18)
        assert os.write(write, b"x" * 60_000) == 60_000
        assert os.read(read, 1 << 20) == b"x" * 60_000
        system.widen_pipe(read, 1 << 62)  # a wish: nothing depends on it
    finally:
        os.close(read)
        os.close(write)


def test_a_pipe_is_left_where_the_system_has_no_size_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("fcntl.F_SETPIPE_SZ", raising=False)
    system.widen_pipe(-1, 1 << 18)


def test_a_lock_is_to_be_had_once(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    try:
        assert system.lock_file(first, shared=False)
        assert not system.lock_file(second, shared=True)
    finally:
        os.close(first)
        assert system.lock_file(second, shared=False)
        os.close(second)


def test_a_system_without_locks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "fcntl", None)
    with pytest.raises(OSError, match="no file locks"):
        system.lock_file(0, shared=False)


@pytest.mark.parametrize("missing", [(), ("_sha2", "_sha256")])
def test_sha256_without_openssl_is_sha256(missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)  # importing it fails
    for data in (b"", b"abc", os.urandom(1000)):
        assert system.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


def test_a_folder_is_removed_whether_it_is_there_or_not(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    system.remove_tree(folder)
    (folder / "in it").mkdir(parents=True)
    (folder / "in it" / "file").write_bytes(b"x")
    system.remove_tree(folder)
    assert not folder.exists()


@pytest.mark.parametrize("portable", [False, True])
def test_blocks_of_lines_are_the_same_in_any_memory(tmp_path: Path, portable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "PORTABLE", portable)
    data = b"\xef\xbb\xbf" + b"".join(b"x" * size + b"\n" for size in (3, 5000, 0, 70, 100_000, 9, 2000)) + b"the last has no end"
    (tmp_path / "file").write_bytes(data)
    for size in (64, 1000, 1 << 20):
        buffers, found = Buffers(), []
        with open(tmp_path / "file", "rb") as file:
            for block in line_blocks(file, "file", 1 << 20, size=size, buffers=buffers):
                assert isinstance(block, Block)
                found.append((bytes(block.data), block.offset, block.line))
                buffers.give(block)
        assert b"".join(piece for piece, _, _ in found) == data[3:]
        assert all(data[offset : offset + len(piece)] == piece for piece, offset, _ in found)
        assert all(line == 1 + data[:offset].count(b"\n") for _, offset, line in found)
