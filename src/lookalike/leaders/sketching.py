"""Texts → what the decision needs of them: a digest each, and by method a SimHash, or features and the keys of bands."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.leaders.rule import Rule
from lookalike.recipe import Recipe
from lookalike.text.columns import Joined, token_offsets
from lookalike.text.native_form import is_native, native_form

DIGEST_BYTES = 16


class Sketches(NamedTuple):
    """Of a batch of texts, as arrays. What the method does not need is empty."""

    # Document after document, and distinct ones if they are to be kept; of the method meaning the vectors, four halves per word; of records
    # their JSON.
    features: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    digests: NDArray[np.uint64]  # two words each
    keys: NDArray[np.uint64]  # one per band and document
    simhashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.digests) // 2

    def without_features(self) -> Sketches:
        """For those who can make them again."""
        return Sketches(np.zeros(0, np.uint64), np.zeros(len(self) + 1, np.int64), self.digests, self.keys, self.simhashes)


def sketch(
    texts: Joined,
    rule: Rule,
    *,
    key: NDArray[np.uint64] | None = None,
    workers: int = 1,
    scratch: _native.FeatureScratch | None = None,
    keep: bool = True,
) -> Sketches:
    """Texts → what the rule needs of them.

    Candidates are found by fingerprints that everybody can make. What is decided is decided by hashes with a secret key, that of the
    process unless another is given: nobody can write texts that collide. Features of different keys do not compare. ``scratch`` is memory
    that may be used again once nobody looks at what it was used for. Without ``keep``, features are looked at for a short time, and their
    memory is used again too.
    """
    if rule.method == "bytes":
        return _of_bytes(texts)
    if rule.method == "record":
        from lookalike.fingerprints.canonical import canonical_json

        return record_sketches([canonical_json(json.loads(text)) if text else "" for text in texts.texts()], rule, workers)
    native = is_native(rule.recipe)
    parts = _native_sketch(texts, rule, key, workers, scratch, native and rule.method == "minhash", keep)
    if rule.method == "minhash" and not native:
        parts = _by_words(texts, rule, key, workers, parts[2])
    found = _simhashes(texts, rule, workers, native) if rule.method == "simhash" else np.zeros(0, np.uint64)
    features, offsets, digests, keys = map(np.asarray, parts)
    if rule.method == "meaning":
        from lookalike.embedders.opening import embedder
        from lookalike.leaders.meaning import vector_words

        features, offsets = vector_words(embedder(rule.recipe.embedder), list(texts.texts()), rule.recipe.forms)
    return Sketches(features, offsets, digests, keys, found)


def can_be_made_again(rule: Rule) -> bool:
    """Whether features of few texts can be made once more in less time than it takes to keep those of all."""
    return rule.method == "minhash" and is_native(rule.recipe)


def by_any_thread(rule: Rule) -> bool:
    """Whether several threads may sketch at a time, and gain by it. Not everybody's words and models can be asked by several."""
    return rule.method in ("exact", "bytes") or (rule.method not in ("meaning", "record") and is_native(rule.recipe))


def record_sketches(written: Sequence[str], rule: Rule, workers: int = 1) -> Sketches:
    """Of records, as canonical JSON: it travels as features do."""
    from hashlib import blake2b

    from lookalike.fingerprints.record_features import sketch_records

    size = rule.sketch_size
    values = sketch_records((json.loads(text or "{}") for text in written), dict(rule.weights), 64, size, workers).minhashes
    keys = np.asarray(_native.band_keys(np.ascontiguousarray(values), size, *rule.banding)).astype(np.uint64)
    filled = [text.encode("ascii") + b" " * (-len(text) % 8) for text in written]
    digests = b"".join(
        blake2b(text.encode("ascii"), digest_size=DIGEST_BYTES).digest() if text else bytes(DIGEST_BYTES) for text in written
    )
    words, offsets = np.frombuffer(b"".join(filled), np.uint64), np.cumsum([0, *(len(text) // 8 for text in filled)], dtype=np.int64)
    return Sketches(words, offsets, np.frombuffer(digests, np.uint64), keys, np.zeros(0, np.uint64))


class Sketcher:
    """``sketch`` for one batch after the other, in the same memory."""

    def __init__(self, rule: Rule, workers: int, key: NDArray[np.uint64] | None = None) -> None:
        self._rule, self._workers, self._key, self._scratch = rule, workers, key, _native.FeatureScratch()

    def sketch(self, texts: Joined, keep: bool = True) -> Sketches:
        return sketch(texts, self._rule, key=self._key, workers=self._workers, scratch=self._scratch, keep=keep)


class Sketchers:
    """``sketch`` for several threads at a time, each with memory of its own."""

    def __init__(self, rule: Rule, workers: int, key: NDArray[np.uint64] | None = None) -> None:
        self._make = partial(Sketcher, rule, workers, key)
        self._own = threading.local()

    def sketch(self, texts: Joined, keep: bool = True) -> Sketches:
        if not hasattr(self._own, "sketcher"):
            self._own.sketcher = self._make()
        sketcher: Sketcher = self._own.sketcher
        return sketcher.sketch(texts, keep)


def _by_words(texts: Joined, rule: Rule, key: NDArray[np.uint64] | None, workers: int, digests: Any) -> tuple[Any, Any, Any, Any]:
    """Recipes that are not native: keys from the features that everybody can make, decisions by secret ones."""
    from lookalike.text.features import distinct_features, secret_features

    public = [distinct_features(text, rule.recipe) for text in texts.texts()]
    secret = [secret_features(text, rule.recipe, key) for text in texts.texts()]
    keys = _native.sketch_feature_lists(_joined(public), token_offsets(map(len, public)), rule.sketch_size, *rule.banding, workers)[3]
    return _joined(secret), token_offsets(map(len, secret)), digests, keys


def _native_sketch(
    texts: Joined,
    rule: Rule,
    key: NDArray[np.uint64] | None,
    workers: int,
    scratch: _native.FeatureScratch | None,
    with_features: bool,
    keep: bool,
) -> tuple[Any, Any, Any, Any]:
    """Digests follow the recipe where it is native. Other recipes may leave words out; copies of a text have all of them."""
    form = native_form(rule.recipe if is_native(rule.recipe) else Recipe())
    bands, rows = rule.banding if with_features else (0, 0)
    return _native.sketch_documents(texts.data, texts.offsets, *form, rule.sketch_size, bands, rows, workers, scratch, key, keep)


def _simhashes(texts: Joined, rule: Rule, workers: int, native: bool) -> NDArray[np.uint64]:
    recipe = rule.recipe
    if not native:
        from lookalike.fingerprints.simhash import simhashes

        return simhashes(list(texts.texts()), bits=rule.bits, recipe=recipe)
    unique = recipe.weights == "one"
    return np.asarray(_native.simhash_texts(texts.data, texts.offsets, *native_form(recipe), rule.bits, unique, workers))


def _of_bytes(texts: Joined) -> Sketches:
    """Digests of the texts as they are, by a hash for which nobody can make two texts; 0 for the empty text, as everywhere."""
    from hashlib import blake2b  # other methods do without, and it loads OpenSSL

    data, places = memoryview(texts.data).cast("B"), texts.offsets.tolist()
    digests = b"".join(
        blake2b(data[begin:end], digest_size=DIGEST_BYTES).digest() if end > begin else bytes(DIGEST_BYTES)
        for begin, end in pairwise(places)
    )
    return of_digests(np.frombuffer(digests, np.uint64))


def of_digests(digests: NDArray[np.uint64]) -> Sketches:
    """Sketches that say which documents are equal, and no more."""
    words = np.ascontiguousarray(digests).reshape(-1)
    nothing = np.zeros(0, np.uint64)
    return Sketches(nothing, np.zeros(len(words) // 2 + 1, np.int64), words, nothing, nothing)


def _joined(lists: Iterable[array[int] | memoryview]) -> array[int]:
    return array("Q", b"".join(each.tobytes() for each in lists))
