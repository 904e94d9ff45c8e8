"""From documents to what a store keeps of them: every fingerprint of a batch, each made in one call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy import Data, ssdeeps, tlshs
from lookalike.fingerprints.minhash import minhashes
from lookalike.fingerprints.simhash import simhashes
from lookalike.fingerprints.winnowing import winnows
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page
from lookalike.model import MAX_ID_BYTES, Document
from lookalike.recipe import Recipe
from lookalike.stores.base import Batch, Id
from lookalike.stores.page_structures import page_structure
from lookalike.stores.settings import WINDOW, Settings
from lookalike.stores.structures import pack_winnowing
from lookalike.text.columns import packed
from lookalike.text.features import is_native, secret_features, weighs_words, weighted_strings
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import NATIVE_MODES, hash_strings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class Given:
    """Documents in columns, as they were given."""

    ids: list[Id] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    metas: list[str | None] = field(default_factory=list)  # JSON
    paths: dict[int, Path] = field(default_factory=dict)  # by place
    structures: dict[int, bytes] = field(default_factory=dict)  # of those that are web pages, by place
    keeps_structures: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def append(self, item: object) -> None:
        """Take a Document, (id, text), (id, text, meta), or a mapping with these names. A text may also be a page."""
        path = page = None
        meta: Any = None
        if type(item) is tuple and len(item) == 2:  # nearly all of them
            id_, text = item
        elif isinstance(item, tuple) and len(item) == 3:
            id_, text, meta = item
        elif isinstance(item, Document):
            id_, text, meta, path, page = item.id, item.text, item.meta, item.path, item.page
        elif isinstance(item, Mapping):
            if "id" not in item or "text" not in item:
                raise InputError(f"a document needs 'id' and 'text'; this one has {', '.join(map(repr, item)) or 'nothing'}")
            id_, text, meta = item["id"], item["text"], item.get("meta")
        else:
            raise InputError(f"cannot add a {type(item).__name__}: give (id, text), (id, text, meta), a mapping or a Document")
        check_id(id_)
        if isinstance(text, Page):
            page, text = text, page_text(text)
        if not isinstance(text, str):
            raise InputError(f"document {id_!r}: its text is a {type(text).__name__}, expected str")
        self.ids.append(id_)
        self.texts.append(text)
        self.metas.append(None if meta is None else stored_meta(id_, meta))
        if path is not None:
            self.paths[len(self.ids) - 1] = path
        if page is not None and self.keeps_structures:
            # At once: a page is many times larger than what is kept of it.
            self.structures[len(self.ids) - 1] = page_structure(page)


def check_id(id_: object) -> None:
    if type(id_) is str and id_.isascii() and 0 < len(id_) <= MAX_ID_BYTES and "\0" not in id_:
        return  # nearly all of them
    if isinstance(id_, bool) or not isinstance(id_, (str, int)):
        raise InputError(f"id {id_!r:.60} is a {type(id_).__name__}: expected str or int")
    if isinstance(id_, int):
        if not -(2**63) <= id_ < 2**63:
            raise InputError(f"id {id_}: an integer id must fit into 64 bits: give it as str")
        return
    if id_ == "" or "\0" in id_:
        raise InputError(f"id {id_!r:.60}: an id must not be empty, and must not contain NUL")
    try:
        size = len(id_.encode())
    except UnicodeEncodeError:
        raise InputError(f"id {id_!r:.60} has a lone surrogate: it cannot be stored") from None
    if size > MAX_ID_BYTES:
        raise InputError(f"id {id_[:40]!r}… has {size} bytes, at most {MAX_ID_BYTES} can be stored; shorten or hash it")


def listed_ids(ids: object) -> list[Id]:
    """One id, or many in any form, checked."""
    given = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(given, (str, int)):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"ids={ids!r:.60} is a {type(ids).__name__}: give an id, which is a str or an int, or a list of ids")
    listed: list[Id] = list(given)
    for id_ in listed:
        check_id(id_)
    return listed


def stored_meta(id_: Id, meta: object) -> str | None:
    if not isinstance(meta, Mapping):
        raise InputError(f"document {id_!r}: its meta is a {type(meta).__name__}, expected a mapping")
    try:
        return json.dumps(dict(meta)) if meta else None
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"document {id_!r}: its meta cannot be written as JSON ({error})") from error


def fingerprinted(given: Given, settings: Settings, workers: int, *, vectors: bool = True) -> Batch:
    """A batch for a store; without ``vectors`` where somebody has them already."""
    texts = given.texts
    batch = Batch(given.ids, texts, given.metas)
    kinds, recipe = settings.kinds, settings.recipe
    if "simhash" in kinds and "minhash" in kinds and is_native(recipe):
        batch.simhash, batch.minhash, batch.digests = _sketches(texts, settings, workers)
    else:
        if "simhash" in kinds:
            batch.simhash = simhash_words(texts, settings, workers)
        if "minhash" in kinds:
            batch.minhash = minhashes(texts, size=settings.size, recipe=recipe, workers=workers).reshape(-1)
            batch.digests = content_digests(texts, recipe, workers)
    if "winnowing" in kinds and not settings.keep_text:
        found = winnows(texts, window=WINDOW, recipe=recipe, workers=workers)
        places = [slice(a, b) for a, b in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)]
        batch.winnowing = [pack_winnowing(found.values[at], found.starts[at], found.ends[at]) for at in places]
    # Fuzzy hashes are of bytes: of the file where there is one, otherwise of the text's UTF-8.
    things: list[Data] = [given.paths.get(place, text) for place, text in enumerate(texts)] if given.paths else list(texts)
    if "ssdeep" in kinds:
        batch.ssdeep = [each.value for each in ssdeeps(things, workers)]
    if "tlsh" in kinds:
        batch.tlsh = [each.value for each in tlshs(things, workers)]
    if "vector" in kinds and vectors:
        from lookalike.index.meaning import text_vectors

        batch.vector = text_vectors(texts, settings)
    if given.structures:
        batch.structure = [given.structures.get(place) for place in range(len(texts))]
    if not settings.keep_text:
        batch.texts = [None] * len(texts)
    return batch


def _sketches(texts: Sequence[str], settings: Settings, workers: int) -> tuple[Any, Any, Any]:
    """SimHashes, MinHashes and digests from one pass over the texts."""
    import numpy as np

    recipe = settings.recipe
    mode, folded, unique = NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold", recipe.weights == "one"
    options = (mode, folded, recipe.ngram, recipe.hashing, settings.bits, unique, settings.size, workers)
    parts = [_native.sketch_texts(piece.data, piece.offsets, *options) for piece in packed(texts)]
    simhash, minhash, digests = (np.concatenate([np.asarray(part[i]) for part in parts]) for i in range(3))
    return simhash, minhash, digests


def simhash_words(texts: Sequence[str], settings: Settings, workers: int = 1) -> NDArray[np.uint64]:
    import numpy as np

    return simhashes(texts, bits=settings.bits, recipe=settings.recipe, workers=workers).astype(np.uint64).reshape(-1)


def content_digests(texts: Sequence[str], recipe: Recipe, workers: int = 1) -> NDArray[np.uint64]:
    """A digest of each text such that texts with equal digests have equal features."""
    import numpy as np

    if is_native(recipe):
        options = NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold", workers, recipe.hashing
        parts = [np.asarray(_native.content_digests(piece.data, piece.offsets, *options)) for piece in packed(texts)]
        return np.concatenate([np.zeros(0, np.uint64), *parts])
    return np.array([_native.checksum(features(text, recipe).view(np.uint8)) for text in texts], dtype=np.uint64)


def features(text: str, recipe: Recipe) -> NDArray[np.uint64]:
    """The distinct features of a text in ascending order: what fingerprints are made of."""
    import numpy as np

    if recipe.hash == "lookalike64" and not weighs_words(recipe):
        return np.asarray(shingles(text, recipe, unique=True))
    strings = list(weighted_strings(text, recipe))
    return np.unique(np.array(list(hash_strings(strings, recipe.hashing)), dtype=np.uint64)) if strings else np.zeros(0, np.uint64)


def verified_features(text: str, recipe: Recipe) -> NDArray[np.uint64]:
    """The distinct features of a text in ascending order: what the exact Jaccard similarity is taken of. Secret ones, of this process."""
    import numpy as np

    return np.frombuffer(secret_features(text, recipe), dtype=np.uint64)


def jaccards(query: NDArray[np.uint64], texts: Sequence[str], recipe: Recipe) -> list[float]:
    """The exact Jaccard similarity of the query's verified features with those of each text; two without features are alike."""
    import numpy as np

    if is_native(recipe):
        mode, folded = NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold"
        found: list[tuple[int, int]] = []
        for piece in packed(texts):
            common, sizes = _native.feature_overlaps(query, piece.data, piece.offsets, mode, folded, recipe.ngram, 1)
            found += zip(common, sizes, strict=True)
    else:
        sets = [verified_features(text, recipe) for text in texts]
        found = [(len(np.intersect1d(query, each, assume_unique=True)), len(each)) for each in sets]
    unions = ((common, len(query) + size - common) for common, size in found)
    return [common / union if union else 1.0 for common, union in unions]


def estimates(query: NDArray[np.uint32], stored: Sequence[bytes]) -> list[float]:
    """The share of equal values with each stored MinHash."""
    import numpy as np

    values = np.frombuffer(b"".join(stored), dtype=np.uint32).reshape(len(stored), -1)
    shares: list[float] = ((values == query).sum(axis=1) / len(query)).tolist()
    return shares
