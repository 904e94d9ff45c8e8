"""Which documents share passages with a query: what ``passages``, ``contains``, ``contained`` and the nearest by ``near`` begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints.winnowing import Winnowing
from lookalike.segments.passages import PassageSegment
from lookalike.segments.shared import SharedResult, shared_documents
from lookalike.stores.base import Segments
from lookalike.stores.kinds.base import Asked

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

WINDOW = 4
ENTRY_BYTES = 16  # of a stored winnowing: a hash, where it starts and where it ends
MAX_SPANS = 5  # shown in a note


@dataclass(slots=True)
class SharingPassages(Asked[SharedResult]):
    """The documents that share the most with a query."""

    query: Winnowing
    limit: int
    spans: bool = True  # whether passages are worked out

    kind = "winnowing"

    def in_segments(self, segments: Segments) -> SharedResult:
        return self._asked(segments.all, segments.documents, segments.removed)

    def in_postgres(self, tables: PostgresReader) -> SharedResult:
        from lookalike.stores.postgres.passages import StoredPassages

        # It has what is asked of a segment; removed documents are not there any more.
        return self._asked([cast(PassageSegment, StoredPassages(tables))], tables.count(), np.zeros(0, np.int64))

    def _asked(self, segments: Sequence[PassageSegment], documents: int, removed: NDArray[np.int64]) -> SharedResult:
        return shared_documents(segments, self.query, documents=documents, removed=removed, limit=self.limit, spans=self.spans)


def boilerplate_notes(found: SharedResult) -> list[str]:
    """What was not searched because too many documents have it."""
    skipped = found.skipped
    if not skipped.hashes:
        return []
    spans = ", ".join(f"{start}–{end}" for start, end in skipped.spans[:MAX_SPANS]) + (" …" if len(skipped.spans) > MAX_SPANS else "")
    said = f"boilerplate: {skipped.hashes} of {skipped.hashes + found.searched} hashes are in more than {found.common} documents"
    return [f"{said} and were skipped (characters {spans}){'; only the rarest were searched' if found.rarest else ''}"]


def pack_winnowing(values: NDArray[np.uint64], starts: NDArray[np.uint32], ends: NDArray[np.uint32]) -> bytes:
    """Hashes and places of one document, as a store keeps them where it keeps no text."""
    return values.astype("<u8").tobytes() + starts.astype("<u4").tobytes() + ends.astype("<u4").tobytes()


def unpack_winnowing(data: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    count = len(data) // ENTRY_BYTES
    return (
        np.frombuffer(data, "<u8", count),
        np.frombuffer(data, "<u4", count, 8 * count),
        np.frombuffer(data, "<u4", count, 12 * count),
    )
