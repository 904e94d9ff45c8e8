"""Documents as rows of the table, in both directions. They go in by COPY in its binary format, which this module writes itself:
arrays of numbers need no Python object a number then.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from lookalike.fingerprints.winnowing import winnows
from lookalike.stores.base import Batch, Id, Record
from lookalike.stores.postgres.vectors import packed_vectors, unpacked
from lookalike.stores.settings import WINDOW, Settings
from lookalike.stores.structures import unpack_winnowing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORD = 1 << 64
COPIED = (
    *("collection", "ordinal", "id_text", "id_number", "digest", "simhash", "simhash_high"),
    *("ssdeep", "tlsh", "minhash", "winnowing", "hashes", "meta", "text", "raw"),
)
COPY = f"COPY lookalike.documents ({', '.join(COPIED)}) FROM STDIN (FORMAT binary)"
COPY_WITH_VECTORS = COPY.replace(")", ", vector)", 1)  # a database without collections with models has no such column
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
CHUNK_BYTES = 1 << 20
# What is selected for each column of a record.
SELECTED = {
    "text": "text, raw",
    "simhash": "simhash, simhash_high",
    "structure": "(SELECT paths FROM lookalike.pages p, lookalike.structures s WHERE p.collection = documents.collection"
    " AND p.ordinal = documents.ordinal AND s.collection = p.collection AND s.digest = p.structure)",
}
_INTEGER = struct.Struct("!iq")
_LENGTH = struct.Struct("!i")
_ARRAY = struct.Struct("!iiiiii")  # bytes, dimensions, no NULLs, type of the elements, how many, the first one's number
_BIGINT = 20
_NULL = _LENGTH.pack(-1)


def mixing(collection: int) -> int:
    """What the keys of a collection are mixed with, so that collections share an index and no entries (splitmix64)."""
    value = (collection + 1) * 0x9E3779B97F4A7C15 % WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return value ^ value >> 31


def mixed(values: NDArray[np.uint64], collection: int) -> NDArray[np.int64]:
    import numpy as np

    return (values ^ np.uint64(mixing(collection))).view(np.int64)


def band_entries(keys: NDArray[np.uint32], collection: int) -> NDArray[np.int64]:
    """Band keys as the indexes have them: with the number of the band, mixed with the collection."""
    import numpy as np

    return mixed(keys.astype(np.uint64) | np.arange(keys.shape[-1], dtype=np.uint64) << np.uint64(32), collection)


def winnowing_hashes(batch: Batch, settings: Settings) -> list[NDArray[np.uint64] | None]:
    """The distinct hashes of each document that has any."""
    import numpy as np

    found: list[NDArray[np.uint64] | None] = [None] * len(batch)
    if "winnowing" not in settings.kinds:
        return found
    if settings.keep_text:
        places = [place for place, text in enumerate(batch.texts) if text is not None]
        prints = winnows([batch.texts[place] for place in places], window=WINDOW, recipe=settings.recipe)
        hashes = [prints.values[a:b] for a, b in zip(prints.offsets[:-1].tolist(), prints.offsets[1:].tolist(), strict=True)]
    else:
        stored = batch.winnowing or [None] * len(batch)
        places = [place for place, packed in enumerate(stored) if packed is not None]
        hashes = [unpack_winnowing(packed)[0] for packed in stored if packed is not None]
    for place, values in zip(places, hashes, strict=True):
        if len(values):
            found[place] = np.unique(values)
    return found


def copied(
    batch: Batch,
    collection: int,
    ordinals: Iterable[int],
    hashes: Sequence[NDArray[np.uint64] | None],
    bits: int,
    with_vectors: bool,
) -> Iterator[bytes]:
    """The batch as COPY reads it, about a megabyte at a time."""
    low, high = _halves(batch.simhash, bits)
    columns = (
        repeat(struct.pack("!ii", 4, collection)),
        map(_integer, ordinals),
        (_text(id_ if isinstance(id_, str) else None) for id_ in batch.ids),
        (_integer(id_ if isinstance(id_, int) else None) for id_ in batch.ids),
        map(_integer, _signed(batch.digests)),
        map(_integer, low),
        map(_integer, high),
        map(_text, batch.ssdeep or repeat(None)),
        map(_text, batch.tlsh or repeat(None)),
        map(_bytes, _pieces(batch.minhash, len(batch))),
        map(_bytes, batch.winnowing or repeat(None)),
        (_array(None if values is None else mixed(values, collection)) for values in hashes),
        map(_text, batch.metas),
        *_texts(batch.texts),
        *([map(_bytes, packed_vectors(batch.vector, len(batch)))] if with_vectors else []),
    )
    count = struct.pack("!h", len(COPIED) + with_vectors)
    chunk = bytearray(HEADER)
    for _, *fields in zip(batch.ids, *columns, strict=False):
        chunk += count
        for field in fields:
            chunk += field
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk + TRAILER)


def _integer(value: int | None) -> bytes:
    return _NULL if value is None else _INTEGER.pack(8, value)


def _bytes(value: bytes | None) -> bytes:
    return _NULL if value is None else _LENGTH.pack(len(value)) + value


def _text(value: str | None) -> bytes:
    return _NULL if value is None else _bytes(value.encode())


def _texts(texts: Sequence[str | None]) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """The columns ``text`` and ``raw``."""
    plain: list[bytes] = []
    raw: list[bytes] = []
    for text in texts:
        data = None if text is None else text.encode("utf-8", "surrogatepass")
        allowed = text is not None and "\0" not in text and (text.isascii() or _is_utf8(text))
        plain.append(_bytes(data if allowed else None))
        raw.append(_bytes(None if allowed else data))
    return plain, raw


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(values: NDArray[np.int64] | None) -> bytes:
    import numpy as np

    if values is None:
        return _NULL
    elements = np.empty(len(values), dtype=[("length", ">i4"), ("value", ">i8")])
    elements["length"], elements["value"] = 8, values
    data = elements.tobytes()
    return _ARRAY.pack(20 + len(data), 1, 0, _BIGINT, len(values), 1) + data


def _signed(numbers: NDArray[np.uint64] | None) -> Iterable[int | None]:
    return repeat(None) if numbers is None else numbers.view("i8").tolist()


def _halves(words: NDArray[np.uint64] | None, bits: int) -> tuple[Iterable[int | None], Iterable[int | None]]:
    if words is None or bits <= 64:
        return _signed(words), repeat(None)
    return words[0::2].view("i8").tolist(), words[1::2].view("i8").tolist()


def _pieces(array: NDArray[np.uint32] | None, count: int) -> Iterable[bytes | None]:
    if array is None:
        return repeat(None)
    data = array.tobytes()
    width = len(data) // count
    return (data[i : i + width] for i in range(0, len(data), width))


def split_ids(ids: Iterable[Id]) -> tuple[list[str], list[int]]:
    """Texts and numbers, without those that no document can have."""
    texts, numbers = [], []
    for id_ in dict.fromkeys(ids):
        if isinstance(id_, int):
            if -(2**63) <= id_ < 2**63:
                numbers.append(id_)
        elif "\0" not in id_ and _is_utf8(id_):
            texts.append(id_)
    return texts, numbers


def selected(columns: Sequence[str]) -> str:
    """The list of a SELECT whose rows ``record`` reads."""
    return ", ".join(("ordinal", "id_text", "id_number", *(SELECTED.get(column, column) for column in columns)))


def record(values: Sequence[Any], columns: Sequence[str]) -> Record:
    ordinal, id_text, id_number, *rest = values
    found: dict[str, Any] = {}
    fields = iter(rest)
    for column in columns:
        value = next(fields)
        if column == "text":
            raw = next(fields)
            value = raw.decode("utf-8", "surrogatepass") if raw is not None else value
        elif column == "simhash":
            high = next(fields)
            value = None if value is None else value % WORD | (0 if high is None else high % WORD << 64)
        elif column == "digest" and value is not None:
            value %= WORD
        elif column == "vector" and value is not None:
            value = unpacked(value)
        found[column] = value
    return Record(ordinal, id_number if id_text is None else id_text, **found)
