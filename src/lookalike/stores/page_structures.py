"""The structure of a page as stores keep it: the hashes of its distinct tag paths, ascending, in little-endian words.

They are the truth; MinHash, band keys and digest are made of them whenever they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from lookalike import _native
from lookalike.markup.page import Page
from lookalike.pages.prints import outline
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORD_BYTES = 8


def page_structure(page: Page) -> bytes:
    """What a store keeps of the structure of a page."""
    import numpy as np

    return np.asarray(outline(page.html)[0]).astype("<u8").tobytes()


def unpack_structure(data: bytes) -> NDArray[np.uint64]:
    import numpy as np

    return np.frombuffer(data, dtype="<u8")


def structure_sketches(stored: Sequence[bytes], settings: Settings) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The digest of each structure, and its band keys one after the other. Equal ones, of which templates have many, are done once."""
    import numpy as np

    places = {data: place for place, data in enumerate(dict.fromkeys(stored))}
    offsets = np.fromiter(accumulate((len(data) // WORD_BYTES for data in places), initial=0), dtype=np.int64, count=len(places) + 1)
    values = _native.minhash_features(unpack_structure(b"".join(places)).astype(np.uint64), offsets, settings.size, 1)
    banding = settings.banding
    keys = np.asarray(_native.band_keys(np.asarray(values), settings.size, banding.bands, banding.rows)).reshape(len(places), banding.bands)
    digests = np.array([_native.checksum(np.frombuffer(data, np.uint8)) for data in places], dtype=np.uint64)
    each = np.array([places[data] for data in stored], dtype=np.int64)
    return digests[each], np.ascontiguousarray(keys[each]).reshape(-1)


def shared_paths(query: NDArray[np.uint64], stored: Sequence[bytes]) -> list[float]:
    """The exact Jaccard similarity of a page's tag paths, which ascend, with those of each stored page."""
    import numpy as np

    sizes = np.array([len(data) // WORD_BYTES for data in stored], dtype=np.int64)
    paths = unpack_structure(b"".join(stored))
    # For thousands of candidates at once: which of all their paths the query has, and how many of each candidate.
    if len(query):
        has = query[np.minimum(np.searchsorted(query, paths), len(query) - 1)] == paths
    else:
        has = np.zeros(len(paths), dtype=bool)
    until = np.concatenate(([0], np.cumsum(has)))[np.concatenate(([0], np.cumsum(sizes)))]
    common = np.diff(until)
    unions = len(query) + sizes - common
    return [shared / union if union else 1.0 for shared, union in zip(common.tolist(), unions.tolist(), strict=True)]
