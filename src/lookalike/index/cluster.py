"""Clusters of a whole collection, by leaders: a document joins an older one that was kept, verified against it, or is kept.

The documents are read oldest first and offered to the same rule that dedupe follows (``lookalike.leaders``), with bands for the
threshold that is asked for, whatever the collection's own are made for: the answer is that of dedupe.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike import _native
from lookalike.index.matches import Cluster, Clusters, Member
from lookalike.leaders.decider import DEFAULT_MEMORY, Decider
from lookalike.leaders.meaning import vectors_as_words
from lookalike.leaders.rule import MAX_SKETCH, Rule
from lookalike.leaders.sketching import Sketcher, Sketches
from lookalike.stores.base import Id, Reader, Record
from lookalike.stores.page_structures import WORD_BYTES, unpack_structure
from lookalike.stores.settings import Settings
from lookalike.text.columns import Packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int], object] | None
Sketch = Callable[[Sequence[Record]], Sketches]
AT_A_TIME = 1024
FULL_BUCKETS = 1  # named: one is enough to say so


class _NoTextError(Exception):
    """A document has a MinHash and no text."""


def near_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> Clusters:
    """By the Jaccard similarity of texts; by that of MinHashes where a document has no text."""
    settings.require("minhash")
    if settings.keep_text:
        rule = Rule("minhash", settings.lexical, threshold)
        rule.check()
        try:
            return _clusters(_having(reader, "digest", "text"), rule, _text_sketches(rule), progress)
        except _NoTextError:
            pass  # a collection of texts may also hold MinHashes that were made elsewhere: then nothing can be verified
    rule = Rule("estimate", settings.lexical, threshold, most_values=min(settings.size, MAX_SKETCH))
    rule.check()
    found = _clusters(_having(reader, "digest", "minhash", "text"), rule, _minhash_sketches(rule, settings), progress)
    found.notes.append("similarities are estimated from MinHashes: there are documents without text to verify them on")
    return found


def simhash_clusters(reader: Reader, settings: Settings, k: int, progress: Progress) -> Clusters:
    settings.require("simhash")
    rule = Rule("simhash", settings.lexical, distance=k, bits=settings.bits)
    return _clusters(_having(reader, "simhash", "text"), rule, _simhash_sketches(settings), progress)


def structure_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> Clusters:
    """Web pages of one template."""
    settings.require("structure")
    rule = Rule("structure", settings.lexical, threshold)
    rule.check()
    return _clusters(_having(reader, "structure"), rule, _structure_sketches(rule), progress)


def meaning_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> Clusters:
    from lookalike.index.meaning import require_vectors

    rule = Rule("meaning", settings.recipe, threshold, dimensions=require_vectors(settings))
    rule.check()
    return _clusters(_having(reader, "vector"), rule, _vector_sketches(settings), progress)


def _having(reader: Reader, column: str, *others: str) -> Iterator[Record]:
    """The documents with something in a column, oldest first."""
    return (record for record in reader.scan((column, *others)) if getattr(record, column) is not None)


def _clusters(records: Iterator[Record], rule: Rule, sketch: Sketch, progress: Progress) -> Clusters:
    kept: dict[int, Id] = {}
    members: dict[int, list[Member]] = {}
    done = 0
    with ExitStack() as folders:

        def folder() -> Path:
            return Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="lookalike-")))

        decider = Decider(rule, DEFAULT_MEMORY, folder, os.cpu_count() or 1)
        while batch := list(islice(records, AT_A_TIME)):
            leaders, similarities = decider.offer(sketch(batch))
            for record, leader, similarity in zip(batch, leaders.tolist(), similarities.tolist(), strict=True):
                if leader < 0:
                    kept[done] = record.id
                else:
                    members.setdefault(leader, []).append(Member(record.id, similarity))
                done += 1
            if progress:
                progress(done)
        full = decider.hot_buckets(FULL_BUCKETS)
    found = Clusters(Cluster(kept[leader], tuple(joined)) for leader, joined in sorted(members.items()))
    if full:
        found.notes.append(
            f"many variants of {kept[full[0][2]]!r} are just below the threshold: some documents were not compared with all of them"
        )
    return found


def _text_sketches(rule: Rule) -> Sketch:
    sketcher = Sketcher(rule, 1)

    def sketch(records: Sequence[Record]) -> Sketches:
        texts = [record.text for record in records if record.text is not None]
        if len(texts) < len(records):
            raise _NoTextError
        return sketcher.sketch(_packed(texts))

    return sketch


def _packed(texts: list[str]) -> Packed:
    return Packed(*_native.pack_strings(texts))


def _minhash_sketches(rule: Rule, settings: Settings) -> Sketch:
    """Values with their places are features: of two MinHashes those in common are the equal values."""
    import numpy as np

    from lookalike.index.search import stored_minhash

    places = np.arange(settings.size, dtype=np.uint64) << np.uint64(32)

    def sketch(records: Sequence[Record]) -> Sketches:
        values = np.frombuffer(b"".join(stored_minhash(record, settings) for record in records), dtype=np.uint32)
        features = (values.reshape(len(records), -1) + places).reshape(-1)
        offsets = np.arange(len(records) + 1, dtype=np.int64) * settings.size
        keys = np.asarray(_native.band_keys(np.ascontiguousarray(values), settings.size, *rule.banding))
        digests = np.asarray(_native.sketch_feature_lists(features, offsets, 0, 0, 0, 1)[2])
        return Sketches(features, offsets, digests, keys, np.zeros(0, np.uint64))

    return sketch


def _simhash_sketches(settings: Settings) -> Sketch:
    import numpy as np

    sketcher = Sketcher(Rule("exact", settings.lexical), 1)
    size = max(settings.bits // 8, 8)

    def sketch(records: Sequence[Record]) -> Sketches:
        words = np.frombuffer(b"".join((record.simhash or 0).to_bytes(size, "little") for record in records), dtype=np.uint64)
        digests = np.ones((len(records), 2), dtype=np.uint64)
        # Texts without tokens have the SimHash 0, and are like nothing but each other.
        doubtful = [place for place, record in enumerate(records) if record.simhash == 0 and record.text is not None]
        if doubtful:
            digests[doubtful] = sketcher.sketch(_packed([records[place].text or "" for place in doubtful])).digests.reshape(-1, 2)
        return Sketches(np.zeros(0, np.uint64), np.zeros(len(records) + 1, np.int64), digests.reshape(-1), np.zeros(0, np.uint32), words)

    return sketch


def _structure_sketches(rule: Rule) -> Sketch:
    import numpy as np

    def sketch(records: Sequence[Record]) -> Sketches:
        stored = [record.structure or b"" for record in records]
        offsets = np.fromiter(accumulate((len(each) // WORD_BYTES for each in stored), initial=0), dtype=np.int64, count=len(stored) + 1)
        paths = unpack_structure(b"".join(stored)).astype(np.uint64)
        features, distinct, digests, keys = map(
            np.asarray, _native.sketch_feature_lists(paths, offsets, rule.sketch_size, *rule.banding, 1)
        )
        return Sketches(features, distinct, digests, keys, np.zeros(0, np.uint64))

    return sketch


def _vector_sketches(settings: Settings) -> Sketch:
    import numpy as np

    nothing: NDArray[np.uint32] = np.zeros(0, np.uint32)

    def sketch(records: Sequence[Record]) -> Sketches:
        halves = np.frombuffer(b"".join(record.vector or b"" for record in records), dtype=np.uint16).reshape(len(records), -1)
        words, offsets = vectors_as_words(halves)
        return Sketches(words, offsets, np.zeros(2 * len(records), np.uint64), nothing, np.zeros(0, np.uint64))

    return sketch
