"""Fuzzy digests in the database.

*ssdeep.* Two digests score only where they have seven letters in a row in common, or are the same. Of every seven letters one piece of
three is chosen, the same wherever these letters are (the least of a hash), and its hash goes into the column ``pieces``, which has an
index: so those that score have a piece in common, and a search compares few others.

*TLSH.* Digests of unlike files are so near to each other, and the distances that count so large, that nothing short of comparing with all
of them is exact. So they are kept in blocks of many, as a segment of the embedded store has them: a search reads the blocks that it does
not have yet (``kept_blocks``), and compares without taking anything apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Corrupt
from lookalike.segments.fuzzy import TlshSegment
from lookalike.stores.postgres.copying import distinct_of_each, mixing
from lookalike.stores.postgres.kept_blocks import KeptBlocks

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

# Hashes of pieces are so coarse that many documents share one: then an index entry takes a few bytes of each, and not thirty.
PIECE_BITS = 17
COLLECTION_BITS = 11  # above them: collections have few entries in common
LETTERS, WINDOW = 3, 7  # of a piece, and what two digests must share
LONGEST_RUN = 3  # of equal letters: more say nothing
ODD = tuple(np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))

SMALL = 4096  # documents: blocks that have fewer are made into one
MERGED_AT_ONCE = 256  # blocks
MERGED_EVERY = 64  # transactions of a few documents
LARGEST = 65_536  # documents of a block
SECTIONS = {
    "codes": "<u8",
    "rows": "<i8",
    "starts": "<u4",
    "group_starts": "<u4",
    "groups": "<u2",
    "checksums": "u1",
}  # in falling order of size
ADD = "INSERT INTO lookalike.tlsh_blocks (collection, first, entries, data) VALUES (%s, %s, %s, %b)"
READ = "SELECT data FROM lookalike.tlsh_blocks WHERE collection = %s"
# Blocks that somebody else is about to make into one are left to him.
TAKE = """
DELETE FROM lookalike.tlsh_blocks WHERE collection = %(collection)s AND first = ANY (ARRAY(
  SELECT first FROM lookalike.tlsh_blocks WHERE collection = %(collection)s AND entries < %(below)s
  ORDER BY first LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)) RETURNING data
"""
COUNTS = """
SELECT (SELECT coalesce(sum(entries), 0) FROM lookalike.tlsh_blocks WHERE collection = %(collection)s),
       (SELECT count(*) FROM lookalike.documents WHERE collection = %(collection)s AND tlsh IS NOT NULL)
"""
LIVE = "SELECT ordinal FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s) AND tlsh IS NOT NULL"
STORED = "SELECT ordinal, tlsh FROM lookalike.documents WHERE collection = %s AND tlsh IS NOT NULL ORDER BY ordinal"
WITHOUT_PIECES = "SELECT ordinal, ssdeep FROM lookalike.documents WHERE collection = %s AND ssdeep IS NOT NULL AND pieces IS NULL"


def ssdeep_pieces(digests: Sequence[str | None], collection: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The pieces of many digests, ascending for each, and where those of each begin."""
    there = [place for place, digest in enumerate(digests) if digest is not None]
    split = [digest.split(":") for digest in digests if digest is not None]
    letters, part = _letters([text for _, first, second in split for text in (first, second)])
    levels = np.array([level for size, _, _ in split for level in (level_of(size), level_of(size) + 1)], dtype=np.uint64)
    found, of_part = _chosen(letters, part, levels)
    # Too short to have any: equal to each other, or nothing.
    whole = np.flatnonzero(np.bincount(of_part // 2, minlength=len(split)) == 0)
    texts = [_shortened(letters, part, 2 * place) + b":" + _shortened(letters, part, 2 * place + 1) for place in whole.tolist()]
    names = [crc32(text, int(levels[2 * place])) for place, text in zip(whole.tolist(), texts, strict=True)]
    keys = np.concatenate([found * ODD[2] >> np.uint64(64 - PIECE_BITS), np.array(names, dtype=np.uint64) >> np.uint64(32 - PIECE_BITS)])
    document = np.array(there, dtype=np.int64)[np.concatenate([of_part // 2, whole])]
    order = np.argsort(document, kind="stable")
    offsets = np.searchsorted(document[order], np.arange(len(digests) + 1))
    distinct, offsets = distinct_of_each(keys[order], offsets)
    own = mixing(collection) % (1 << COLLECTION_BITS) << PIECE_BITS
    return (distinct | np.uint64(own)).astype(np.int32), offsets


def level_of(block_size: str) -> int:
    """The sizes of blocks are 3, 6, 12 …"""
    return (int(block_size) // 3).bit_length() - 1


def _letters(parts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """All letters, without those that only make a run longer, and which part each is of."""
    letters = np.frombuffer("".join(parts).encode("ascii"), dtype=np.uint8)
    part = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    again = np.zeros(len(letters), dtype=np.int64)
    again[1:] = (letters[1:] == letters[:-1]) & (part[1:] == part[:-1])
    kept = np.ones(len(letters), dtype=bool)
    kept[LONGEST_RUN:] = sum(again[LONGEST_RUN - back : len(again) - back] for back in range(LONGEST_RUN)) < LONGEST_RUN
    return letters[kept].astype(np.uint64), part[kept]


def _chosen(
    letters: NDArray[np.uint64], part: NDArray[np.int64], levels: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hash of the piece that is chosen from each seven letters in a row, and which part these are of."""
    windows = len(letters) - WINDOW + 1
    if windows <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    pieces, part_of_last = windows + WINDOW - LETTERS, part[WINDOW - 1 :]
    grams = sum((letters[i : i + pieces] << np.uint64(8 * i) for i in range(LETTERS)), start=np.zeros(pieces, np.uint64))
    hashes = (grams | levels[part[:pieces]] << np.uint64(32)) * ODD[0]
    hashes = (hashes ^ hashes >> np.uint64(32)) * ODD[1]
    least = np.minimum.reduce([hashes[i : i + windows] for i in range(WINDOW - LETTERS + 1)])
    part = part[:windows]
    kept = part == part_of_last
    kept[1:] &= (least[1:] != least[:-1]) | (part[1:] != part[:-1]) | ~kept[:-1]  # windows side by side mostly choose the same
    return least[kept], part[kept]


def _shortened(letters: NDArray[np.uint64], part: NDArray[np.int64], number: int) -> bytes:
    first, end = np.searchsorted(part, [number, number + 1])
    return letters[first:end].astype(np.uint8).tobytes()


def add_block(connection: Connection, collection: int, rows: Sequence[int], digests: Sequence[str | None]) -> None:
    """For documents that were just written, whose rows ascend."""
    there = [(row, digest) for row, digest in zip(rows, digests, strict=True) if digest is not None]
    if not there:
        return
    _write(connection, collection, _segment(there))
    if len(there) < SMALL and (rows[0] >> 20) % MERGED_EVERY == 0:
        merge_blocks(connection, collection, SMALL)


def _segment(there: Sequence[tuple[int, str]]) -> TlshSegment:
    return TlshSegment.build(np.array([row for row, _ in there], dtype=np.int64), [digest for _, digest in there])


def _write(connection: Connection, collection: int, segment: TlshSegment) -> None:
    if len(segment):
        rows = segment.sections()["rows"]
        connection.execute(ADD, (collection, int(rows.min()), len(rows), segment_bytes(segment)))


def segment_bytes(segment: TlshSegment) -> bytes:
    """How many items each section has, and the sections."""
    sections = segment.sections()
    sizes = np.array([len(sections[name]) for name in SECTIONS], dtype="<i8")
    return sizes.tobytes() + b"".join(sections[name].astype(type_, copy=False).tobytes() for name, type_ in SECTIONS.items())


def unpacked(data: bytes) -> TlshSegment:
    try:
        sizes = np.frombuffer(data, "<i8", len(SECTIONS)).tolist()
        at, sections = 8 * len(SECTIONS), {}
        for (name, type_), size in zip(SECTIONS.items(), sizes, strict=True):
            values = np.frombuffer(data, type_, size, at)
            sections[name] = values.astype(values.dtype.newbyteorder("="), copy=False)
            at += values.nbytes
        return TlshSegment.open(sections)
    except ValueError as error:
        raise Corrupt(f"a block of TLSHs in the database is damaged ({error}): 'check --repair' makes it anew") from error


def near_tlsh(
    connection: Connection, collection: int, kept: KeptBlocks, digest: str, bound: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The documents that are there within a distance, and their distances."""
    found = [segment.search(digest, bound, limit) for segment in kept.read(connection, collection, unpacked)]
    rows = np.concatenate([np.zeros(0, np.int64), *(each.rows for each in found)])
    distances = np.concatenate([np.zeros(0, np.int64), *(each.values for each in found)]).astype(np.int64)
    live = np.isin(rows, _live(connection, collection, rows))
    return rows[live], distances[live]


def _blocks(connection: Connection, collection: int) -> Iterator[bytes]:
    return (data for (data,) in connection.execute(READ, (collection,), binary=True))


def _live(connection: Connection, collection: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    found = connection.execute(LIVE, (collection, rows)) if len(rows) else ()
    return np.array([row for (row,) in found], dtype=np.int64)


def compact_blocks(connection: Connection, collection: int) -> None:
    """Fewer and larger blocks; all of them anew where a good part of what they have is gone."""
    entries, documents = connection.execute(COUNTS, {"collection": collection}).fetchone() or (0, 0)
    merge_blocks(connection, collection, LARGEST // 2 if entries <= 1.1 * documents else LARGEST + 1, limit=entries)


def merge_blocks(connection: Connection, collection: int, below: int, limit: int = MERGED_AT_ONCE) -> None:
    """Make fewer of some blocks that have fewer documents, without those that are gone."""
    taken = connection.execute(TAKE, {"collection": collection, "below": below, "limit": limit}, binary=True).fetchall()
    segments = [unpacked(data) for (data,) in taken]
    rows = np.concatenate([np.zeros(0, np.int64), *(each.all_rows() for each in segments)])
    gone = np.setdiff1d(rows, _live(connection, collection, rows))
    waiting: list[TlshSegment] = []
    for segment in [*segments, None]:
        if waiting and (segment is None or sum(map(len, waiting)) + len(segment) > LARGEST):
            _write(connection, collection, TlshSegment.merge(waiting, gone))
            waiting = []
        if segment is not None:
            waiting.append(segment)


def wrong_blocks(connection: Connection, collection: int) -> dict[int, Any]:
    """Documents that no block has, or with another digest."""
    kept = dict(
        chain.from_iterable(zip(each.all_rows().tolist(), each.digests(), strict=True) for each in _readable(connection, collection))
    )
    return {row: digest for row, digest in connection.execute(STORED, (collection,)) if kept.get(row) != digest}


def _readable(connection: Connection, collection: int) -> Iterator[TlshSegment]:
    for data in _blocks(connection, collection):
        try:
            yield unpacked(data)
        except Corrupt:
            continue


def make_blocks(connection: Connection, collection: int) -> None:
    """All blocks anew."""
    connection.execute("DELETE FROM lookalike.tlsh_blocks WHERE collection = %s", (collection,))
    stored = connection.execute(STORED, (collection,)).fetchall()
    for first in range(0, len(stored), LARGEST):
        _write(connection, collection, _segment(stored[first : first + LARGEST]))


def write_pieces(connection: Connection, collection: int, digests: Mapping[int, str]) -> None:
    """The pieces of documents that should have them."""
    values, offsets = ssdeep_pieces(list(digests.values()), collection)
    statement = "UPDATE lookalike.documents SET pieces = %s::integer[] WHERE collection = %s AND ordinal = %s"
    rows = zip(digests, offsets.tolist(), offsets[1:].tolist(), strict=False)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(values[a:b].tolist(), collection, row) for row, a, b in rows])


def fill(connection: Connection) -> None:
    """What a database lacks that was made before there were blocks and pieces."""
    for (collection,) in connection.execute("SELECT number FROM lookalike.collections ORDER BY number").fetchall():
        make_blocks(connection, collection)
        write_pieces(connection, collection, dict(connection.execute(WITHOUT_PIECES, (collection,)).fetchall()))
