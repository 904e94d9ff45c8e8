"""Dedupe against a store: what it already has goes, and what stays can be added to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lookalike.corpus.batches import Batch, join_texts
from lookalike.deduping.references.texts import Location, Reference, is_files, is_path, references
from lookalike.deduping.run import BatchReader, batches_again, placed_texts
from lookalike.deduping.settings import DIGESTED
from lookalike.errors import Corrupt, InputError, RecipeMismatch, StoreBusy, StoreError
from lookalike.fingerprints.simhash import simhashes
from lookalike.index.index import Index
from lookalike.index.opening import open as open_index
from lookalike.index.search import near_simhashes
from lookalike.leaders.rule import SIMHASH_BITS
from lookalike.text.forms import for_models

if TYPE_CHECKING:
    from lookalike.deduping.settings import Criteria
    from lookalike.deduping.verdicts import DocumentVerdicts


FILES_AND_ADD = "add=True needs a store in against=, and files were given: name a store, or leave it out"
Found = tuple[Any, float] | None  # the id of a stored document, and the similarity to it


class Outside(Protocol):
    """Who is told about documents that a store has."""

    def point_outside(self, place: int, id_json: bytes, similarity: float) -> None: ...


class Stored:
    """An index as documents that were kept before all others."""

    def __init__(
        self,
        store: Location,
        settings: Criteria,
        columns: tuple[str, str] = ("text", "id"),
        *,
        add: bool = False,
        workers: int = 1,
        ids: SavedIds | None = None,
    ) -> None:
        if settings.method in (*DIGESTED, "record") or settings.level != "document":
            raise InputError("against= is for documents, with method='minhash', 'simhash' or 'meaning'")
        self._settings, self._workers = settings, workers
        # What the caller of dedupe named, the store may name too.
        model = settings.recipe.embedder if settings.method == "meaning" else None
        self._ids: list[bytes] | SavedIds | None = ids  # of files, whose documents are numbered
        if is_files(store):
            if add:
                raise InputError(FILES_AND_ADD)
            self._index, self._ids, self.name = numbered_store("memory://", references(store, *columns), settings)
        elif isinstance(store, str | Path):
            self._index = _opened(store, settings, model, add=add)
            self.name = self._index._store.name  # of a URL what may be shown: there may be a password in it
        try:
            if add and self._index._store.settings.unopened_model is not None:
                self._index._store.settings.model  # noqa: B018 - says what to do, before the work and not after it
            self._check(self._index.settings)
        except BaseException:
            self._index.close()
            raise

    def _check(self, made_with: dict[str, Any]) -> None:
        settings = self._settings
        # A method looks at one kind: the model says nothing about words, and words say nothing about the model.
        # Whether the store is keyed is its own affair: what it is asked for gets its fingerprints. Those of another key say nothing there.
        recipe, own_recipe = self._index.recipe, settings.recipe.replace(embedder=None)
        stored, own = (recipe if own_recipe.key else recipe.replace(key=None)).id, own_recipe.id
        if settings.method != "meaning" and stored != own:
            raise RecipeMismatch(f"against={self.name!r}: made with recipe {stored}, and this run has {own}")
        if ("vector" if settings.method == "meaning" else settings.method) not in made_with["kinds"]:
            raise InputError(f"against={self.name!r}: the store keeps no {settings.method}: choose another method")
        if settings.method == "simhash" and made_with["bits"] != SIMHASH_BITS:
            raise InputError(f"against={self.name!r}: the store has SimHashes of {made_with['bits']} bits, and {SIMHASH_BITS} are needed")
        if settings.method == "minhash" and not made_with["keep_text"]:
            raise InputError(f"against={self.name!r}: the store keeps no texts, so nothing can be verified: use method='simhash'")
        if settings.method == "minhash" and made_with["threshold"] > settings.threshold:
            raise InputError(f"against={self.name!r}: the store finds similarities from {made_with['threshold']} on: choose that threshold")

    def __enter__(self) -> Stored:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()

    def without_stored(self, batch: Batch, outside: Outside) -> Batch:
        """The batch in which documents that the store has are without text, and so are not compared with others."""
        places = np.arange(len(batch)) if batch.has_text is None else np.flatnonzero(batch.has_text)
        texts = list(batch.texts.texts())
        found = self._matches(texts)
        new = np.array([match is None for match in found], dtype=np.bool_)
        if new.all():
            return batch
        for place, match in zip(places.tolist(), found, strict=True):
            if match is not None:
                outside.point_outside(place, json.dumps(match[0]).encode() if self._ids is None else self._ids[match[0]], match[1])
        has_text = np.zeros(len(batch), dtype=np.bool_)
        has_text[places[new]] = True
        batch.has_text = has_text
        batch.texts = join_texts([text for text, is_new in zip(texts, new.tolist(), strict=True) if is_new])
        batch.ranks = batch.ranks[new] if batch.ranks is not None else None
        return batch

    def _matches(self, texts: list[str]) -> list[Found]:
        """The most similar stored document of each text, the oldest of equals."""
        if self._settings.method == "simhash":
            return self._by_simhash(texts)
        if self._settings.method == "meaning":
            return self._by_meaning(texts)
        found = self._index.search_texts(texts, threshold=self._settings.threshold, limit=1, workers=self._workers)
        return [(matches[0].id, matches[0].score) if matches else None for matches in found]

    def _by_meaning(self, texts: list[str]) -> list[Found]:
        from lookalike.embedders.encoding import encode

        recipe = self._settings.recipe
        read = [for_models(text, recipe.forms) for text in texts]
        said = [place for place, text in enumerate(read) if text.strip()]
        vectors = encode([read[place] for place in said], recipe.embedder).vectors
        found = self._index.search_vectors(vectors, threshold=self._settings.threshold, limit=1, workers=self._workers)
        matches: list[Found] = [None] * len(texts)
        for place, match in zip(said, _firsts(found.offsets, found.ids, found.scores), strict=True):
            matches[place] = match
        return matches

    def _by_simhash(self, texts: list[str]) -> list[Found]:
        values = simhashes(texts, bits=SIMHASH_BITS, recipe=self._index.recipe)
        found = near_simhashes(self._index._store, values, self._settings.distance, 1, 1)
        similar = _firsts(found.offsets, found.ids, 1 - found.distances / SIMHASH_BITS)
        return [match if text.strip() else None for text, match in zip(texts, similar, strict=True)]

    def add_kept(self, readers: Sequence[BatchReader], verdicts: DocumentVerdicts) -> int:
        """Admits the documents that stay, with their ids; how many were added."""
        return self.admit(_kept(readers, verdicts))

    def admit(self, documents: Iterator[tuple[str | int, str]]) -> int:
        rule, by = self._settings, {"minhash": "near"}.get(self._settings.method, self._settings.method)
        # Somebody else may have added some of them since the store was asked.
        answers = self._index.admit(
            documents, by=by, threshold=None if by == "simhash" else rule.threshold, k=rule.distance, workers=self._workers
        )
        return sum(answer.admitted for answer in answers)


def _opened(store: str | Path, settings: Criteria, model: str | None, *, add: bool) -> Index:
    """The store, which is made for these settings where it is not there and something is to be added."""
    trust = settings.recipe.named_parts()
    try:
        return open_index(store, model=model, trust=trust, read_only=not add, create=False)
    except StoreError as error:
        if not add and is_path(store) and not os.path.exists(store):
            raise StoreError(f"against={str(store)!r}: there is no such store, file or folder: check the path") from error
        if not add or isinstance(error, StoreBusy | Corrupt):
            raise
    recipe = settings.recipe if settings.method == "meaning" else settings.recipe.replace(embedder=None)
    threshold = settings.threshold if settings.method == "minhash" else None
    return open_index(store, recipe=recipe, model=model, trust=trust, threshold=threshold)


def numbered_store(place: str, found: Iterable[Reference], settings: Criteria) -> tuple[Index, list[bytes], str]:
    """Documents in a new store, under numbers; their ids as JSON, and the name of the first file."""
    meaning = settings.method == "meaning"
    recipe = settings.recipe if meaning else settings.recipe.replace(embedder=None)
    threshold = settings.threshold if settings.method == "minhash" else None
    trust, model = settings.recipe.named_parts(), settings.recipe.embedder if meaning else None
    kind = "vector" if meaning else settings.method
    index = open_index(place, recipe=recipe, model=model, trust=trust, threshold=threshold, kinds=[kind])
    ids: list[bytes] = []
    names: list[str] = []

    def numbered() -> Iterator[tuple[int, str]]:
        for number, each in enumerate(found):
            ids.append(json.dumps(each.id).encode())
            names.append(each.file)
            yield number, each.text

    try:
        index.add(numbered())
    except BaseException:
        index.close()
        raise
    return index, ids, names[0] if names else ""


class SavedIds:
    """The ids of numbered documents in a folder, as JSON; they are mapped, so that many processes can have them."""

    def __init__(self, folder: Path) -> None:
        self._ends = np.load(folder / "ends.npy", mmap_mode="r")
        self._data = np.load(folder / "ids.npy", mmap_mode="r")

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._data[self._ends[number] : self._ends[number + 1]])

    @staticmethod
    def save(folder: Path, ids: Sequence[bytes]) -> None:
        np.save(folder / "ends.npy", np.cumsum([0, *map(len, ids)], dtype=np.int64))
        np.save(folder / "ids.npy", np.frombuffer(b"".join(ids), np.uint8))


def _firsts(offsets: Any, ids: Any, scores: Any) -> Iterator[Found]:
    """The first match of each query, with an id as Python has it."""
    for first, last in pairwise(offsets.tolist()):
        id_ = ids[first] if last > first else None
        yield None if id_ is None else (id_ if isinstance(id_, str) else int(id_), float(scores[first]))


def _kept(readers: Sequence[BatchReader], verdicts: DocumentVerdicts) -> Iterator[tuple[str | int, str]]:
    kept = verdicts.kept
    for first, batch in batches_again(readers):
        for place, text in placed_texts(batch):
            if kept[first + place]:
                id_ = verdicts.ledger.id(first + place)
                yield (id_ if isinstance(id_, str | int) else str(id_)), text
