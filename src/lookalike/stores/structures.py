"""From documents to segments: which columns each kind is built from, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _native
from lookalike.fingerprints.winnowing import winnows
from lookalike.search.bands import BandSegment
from lookalike.search.fuzzy import SsdeepSegment, TlshSegment
from lookalike.search.passages import PassageSegment
from lookalike.search.simhashes import SimhashSegment
from lookalike.stores.base import Record
from lookalike.stores.settings import WINDOW, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_BYTES = 16  # of a packed winnowing: a hash, where it starts and where it ends


class Structure(NamedTuple):
    """A kind of segment: its class, the columns of documents it needs, and what makes one of them."""

    segment: Any
    columns: tuple[str, ...]
    build: Callable[[Sequence[Record], Settings], Any]


def _rows(records: Sequence[Record]) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter((record.row for record in records), dtype=np.int64, count=len(records))


def _simhashes(records: Sequence[Record], settings: Settings) -> SimhashSegment:
    import numpy as np

    kept = [record for record in records if record.simhash is not None]
    data = b"".join(record.simhash.to_bytes(max(settings.bits // 8, 8), "little") for record in kept if record.simhash is not None)
    return SimhashSegment.build(_rows(kept), np.frombuffer(data, dtype=np.uint64), settings.bits)


def _bands(records: Sequence[Record], settings: Settings) -> BandSegment:
    import numpy as np

    kept = [record for record in records if record.minhash is not None]
    values = np.frombuffer(b"".join(record.minhash or b"" for record in kept), dtype=np.uint32)
    banding = settings.banding
    keys = np.asarray(_native.band_keys(values, settings.size, banding.bands, banding.rows))
    digests = np.fromiter((record.digest for record in kept), dtype=np.uint64, count=len(kept))
    return BandSegment.build(_rows(kept), digests, keys, banding.bands)


def _passages(records: Sequence[Record], settings: Settings) -> PassageSegment:
    import numpy as np

    if settings.keep_text:
        kept = [record for record in records if record.text is not None]
        found = winnows([record.text for record in kept], window=WINDOW, recipe=settings.recipe)
        return PassageSegment.build(_rows(kept), found.offsets, found.values, found.starts, found.ends)
    kept = [record for record in records if record.winnowing is not None]
    columns = [unpack_winnowing(record.winnowing or b"") for record in kept]
    offsets = np.fromiter(accumulate((len(values) for values, _, _ in columns), initial=0), dtype=np.int64, count=len(kept) + 1)
    values, starts, ends = (
        np.concatenate([np.zeros(0, dtype), *(each[i] for each in columns)]) for i, dtype in enumerate(("u8", "u4", "u4"))
    )
    return PassageSegment.build(_rows(kept), offsets, values, starts, ends)


def pack_winnowing(values: NDArray[np.uint64], starts: NDArray[np.uint32], ends: NDArray[np.uint32]) -> bytes:
    """Hashes and places of one document, as a store keeps them where it keeps no text."""
    return values.astype("<u8").tobytes() + starts.astype("<u4").tobytes() + ends.astype("<u4").tobytes()


def unpack_winnowing(data: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    import numpy as np

    count = len(data) // ENTRY_BYTES
    return (
        np.frombuffer(data, "<u8", count),
        np.frombuffer(data, "<u4", count, 8 * count),
        np.frombuffer(data, "<u4", count, 12 * count),
    )


def _tlshs(records: Sequence[Record], settings: Settings) -> TlshSegment:
    kept = [record for record in records if record.tlsh is not None]
    return TlshSegment.build(_rows(kept), [record.tlsh or "" for record in kept])


def _ssdeeps(records: Sequence[Record], settings: Settings) -> SsdeepSegment:
    kept = [record for record in records if record.ssdeep is not None]
    return SsdeepSegment.build(_rows(kept), [record.ssdeep or "" for record in kept])


STRUCTURES = {
    "simhash": Structure(SimhashSegment, ("simhash",), _simhashes),
    "minhash": Structure(BandSegment, ("digest", "minhash"), _bands),
    "winnowing": Structure(PassageSegment, ("text", "winnowing"), _passages),
    "ssdeep": Structure(SsdeepSegment, ("ssdeep",), _ssdeeps),
    "tlsh": Structure(TlshSegment, ("tlsh",), _tlshs),
}
