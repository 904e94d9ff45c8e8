"""Documents as what the decision needs: a digest each, and by method a SimHash, or features and the keys of bands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _native
from lookalike.fingerprints.simhash import simhashes
from lookalike.leaders.rule import Rule
from lookalike.text.columns import Packed, token_offsets
from lookalike.text.features import distinct_features, is_native, secret_features
from lookalike.text.tokenize import NATIVE_MODES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGEST_BYTES = 16


class Sketches(NamedTuple):
    """Of a batch of texts, as arrays. What the method does not need is empty."""

    # Distinct ones, document after document, until the next batch is sketched; of the method meaning the vectors, four halves per word.
    features: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    digests: NDArray[np.uint64]  # two words each
    keys: NDArray[np.uint32]  # one per band and document
    simhashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.digests) // 2


class Sketcher:
    """Candidates are found by fingerprints that everybody can make. What is decided is decided by hashes with a secret key, that of the
    process unless another is given: nobody can write texts that collide."""

    def __init__(self, rule: Rule, workers: int, key: NDArray[np.uint64] | None = None) -> None:
        self._rule, self._workers, self._key = rule, workers, key
        self._banding, self._size = rule.banding, rule.sketch_size
        self._scratch = _native.FeatureScratch()

    def sketch(self, texts: Packed) -> Sketches:
        import numpy as np

        recipe, method = self._rule.recipe, self._rule.method
        native = is_native(recipe)
        if method == "bytes":
            return _of_bytes(texts)
        parts = self._native_sketch(texts, native and method == "minhash")
        if method == "minhash" and not native:
            parts = self._by_words(texts, parts[2])
        found = self._simhashes(texts, native) if method == "simhash" else np.zeros(0, np.uint64)
        features, offsets, digests, keys = map(np.asarray, parts)
        if method == "meaning":
            from lookalike.embedders.opening import embedder
            from lookalike.leaders.meaning import vector_words

            features, offsets = vector_words(embedder(recipe.embedder), list(texts.texts()))
        return Sketches(features, offsets, digests, keys, found)

    def _by_words(self, texts: Packed, digests: Any) -> tuple[Any, Any, Any, Any]:
        """Recipes that are not native: keys from the features that everybody can make, decisions by secret ones."""
        public = [distinct_features(text, self._rule.recipe) for text in texts.texts()]
        secret = [secret_features(text, self._rule.recipe, self._key) for text in texts.texts()]
        options = (self._size, *self._bands, self._workers, self._scratch)
        keys = _native.sketch_feature_lists(_joined(public), token_offsets(map(len, public)), *options)[3]
        return _joined(secret), token_offsets(map(len, secret)), digests, keys

    @property
    def _bands(self) -> tuple[int, int]:
        return self._banding.bands, self._banding.rows

    def _native_sketch(self, texts: Packed, with_features: bool) -> tuple[Any, Any, Any, Any]:
        """Digests follow the recipe where it is native. Other recipes may leave words out; copies of a text have all of them."""
        recipe = self._rule.recipe
        mode, folded, ngram = 0, True, 5
        seed: int | _native.Hashing = 0
        if is_native(recipe):
            mode, folded, ngram, seed = NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold", recipe.ngram, recipe.hashing
        bands, rows = self._bands if with_features else (0, 0)
        options = (mode, folded, ngram, seed, self._size, bands, rows, self._workers, self._scratch, self._key)
        return _native.sketch_documents(texts.data, texts.offsets, *options)

    def _simhashes(self, texts: Packed, native: bool) -> NDArray[np.uint64]:
        import numpy as np

        recipe = self._rule.recipe
        if not native:
            return simhashes(list(texts.texts()), bits=self._rule.bits, recipe=recipe)
        mode, folded, unique = NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold", recipe.weights == "one"
        return np.asarray(
            _native.simhash_texts(
                texts.data, texts.offsets, mode, folded, recipe.ngram, recipe.hashing, self._rule.bits, unique, self._workers
            )
        )


def _of_bytes(texts: Packed) -> Sketches:
    """Digests of the texts as they are, by a hash for which nobody can make two texts; 0 for the empty text, as everywhere."""
    import numpy as np

    data, places = memoryview(texts.data).cast("B"), texts.offsets.tolist()
    digests = b"".join(
        blake2b(data[begin:end], digest_size=DIGEST_BYTES).digest() if end > begin else bytes(DIGEST_BYTES)
        for begin, end in pairwise(places)
    )
    no_words, no_keys = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
    return Sketches(no_words, np.zeros(len(places), np.int64), np.frombuffer(digests, np.uint64), no_keys, no_words)


def _joined(lists: Iterable[array[int] | memoryview]) -> array[int]:
    return array("Q", b"".join(each.tobytes() for each in lists))
