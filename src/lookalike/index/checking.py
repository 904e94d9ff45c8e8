"""``check``, the part above stores: do documents have the fingerprints of their texts?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lookalike.index.fingerprinting import content_digests, simhash_words
from lookalike.stores.base import Reader, Record
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_A_TIME = 1024


def other_fingerprints(reader: Reader, settings: Settings) -> Iterator[Record]:
    """Documents whose SimHash, or whose digest of the contents, is not that of their text."""
    has_simhash, has_digest = "simhash" in settings.kinds, "minhash" in settings.kinds
    columns = ["text", "meta", *(["simhash"] if has_simhash else []), *(["digest"] if has_digest else [])]
    records = (record for record in reader.scan(columns) if record.text is not None)
    while part := list(islice(records, AT_A_TIME)):
        texts = [record.text or "" for record in part]
        simhashes = _whole(simhash_words(texts, settings), settings.bits) if has_simhash else [None] * len(part)
        digests = content_digests(texts, settings.lexical).tolist() if has_digest else [None] * len(part)
        for record, simhash, digest in zip(part, simhashes, digests, strict=True):
            if (record.simhash, record.digest) != (simhash, digest):
                yield record


def _whole(words: NDArray[np.uint64], bits: int) -> list[int]:
    if bits <= 64:
        return [int(word) for word in words.tolist()]
    low, high = words[::2].tolist(), words[1::2].tolist()
    return [a | b << 64 for a, b in zip(low, high, strict=True)]
