"""From documents to segments: which columns each kind is built from, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.errors import Corrupt
from lookalike.fingerprints.winnowing import winnows
from lookalike.segments.bands import BandSegment
from lookalike.segments.fuzzy import SsdeepSegment, TlshSegment
from lookalike.segments.passages import PassageSegment
from lookalike.segments.simhashes import SimhashSegment
from lookalike.segments.vectors import VectorSegment
from lookalike.stores.columns import Columns
from lookalike.stores.page_structures import structure_sketches
from lookalike.stores.settings import WINDOW, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_BYTES = 16  # of a packed winnowing: a hash, where it starts and where it ends


class Structure(NamedTuple):
    """A kind of segment: its class, the columns of documents it needs, and what makes one of them."""

    segment: Any
    columns: tuple[str, ...]
    build: Callable[[Columns, Settings], Any]

    def build_all(self, parts: Iterable[Columns], settings: Settings) -> Any:
        """One segment from columns that come in parts, in order; at least one, which may be empty."""
        import numpy as np

        nothing = np.zeros(0, dtype=np.int64)
        built = [self.build(columns, settings) for columns in parts]
        if not built:
            built = [self.build(Columns.stored([], {column: [] for column in self.columns}, settings.bits), settings)]
        return built[0] if len(built) == 1 else self.segment.merge(built, nothing)


def _simhashes(columns: Columns, settings: Settings) -> SimhashSegment:
    assert columns.simhash is not None  # noqa: S101 - it was asked for
    return SimhashSegment.build(*columns.simhash, settings.bits)


def _bands(columns: Columns, settings: Settings) -> BandSegment:
    assert columns.sketches is not None  # noqa: S101
    return BandSegment.build(*columns.sketches, settings.banding.bands)


def _passages(columns: Columns, settings: Settings) -> PassageSegment:
    import numpy as np

    if settings.keep_text:
        rows, texts = columns.lines["text"]
        found = winnows(texts, window=WINDOW, recipe=settings.recipe)
        return PassageSegment.build(rows, found.offsets, found.values, found.starts, found.ends)
    rows, stored = columns.lines["winnowing"]
    parts = [unpack_winnowing(data) for data in stored]
    offsets = np.fromiter(accumulate((len(values) for values, _, _ in parts), initial=0), dtype=np.int64, count=len(rows) + 1)
    types = enumerate(("u8", "u4", "u4"))
    values, starts, ends = (np.concatenate([np.zeros(0, dtype), *(each[i] for each in parts)]) for i, dtype in types)
    return PassageSegment.build(rows, offsets, values, starts, ends)


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


def _tlshs(columns: Columns, settings: Settings) -> TlshSegment:
    return TlshSegment.build(*columns.lines["tlsh"])


def _ssdeeps(columns: Columns, settings: Settings) -> SsdeepSegment:
    return SsdeepSegment.build(*columns.lines["ssdeep"])


def _vectors(columns: Columns, settings: Settings) -> VectorSegment:
    assert columns.vectors is not None  # noqa: S101
    assert settings.dimensions is not None  # noqa: S101 - a collection with vectors knows it
    try:
        return VectorSegment.build(*columns.vectors, settings.dimensions)
    except ValueError as error:
        raise Corrupt(f"the stored vectors are damaged: {error}; restore the store from a copy or an export") from error


def _page_structures(columns: Columns, settings: Settings) -> BandSegment:
    rows, stored = columns.lines["structure"]
    return BandSegment.build(rows, *structure_sketches(stored, settings), settings.banding.bands)


STRUCTURES = {
    "simhash": Structure(SimhashSegment, ("simhash",), _simhashes),
    "minhash": Structure(BandSegment, ("digest", "bands"), _bands),
    "winnowing": Structure(PassageSegment, ("text", "winnowing"), _passages),
    "ssdeep": Structure(SsdeepSegment, ("ssdeep",), _ssdeeps),
    "tlsh": Structure(TlshSegment, ("tlsh",), _tlshs),
    "vector": Structure(VectorSegment, ("vector",), _vectors),
    "structure": Structure(BandSegment, ("structure",), _page_structures),
}
