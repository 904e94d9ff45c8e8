"""Documents that hold a reference text are removed, or marked: a training set without the questions of its benchmark."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import Batch, character_counts, join_texts
from lookalike.deduping.ledger import Ledger
from lookalike.deduping.reading import Reading
from lookalike.deduping.references.found import FoundReference
from lookalike.deduping.references.rule import ContainsRule
from lookalike.deduping.references.texts import Location, references
from lookalike.deduping.run import BatchReader, Decisions, Means
from lookalike.deduping.settings import Criteria, Resources
from lookalike.errors import InputError

HASHED_AT_A_TIME = 4096
_DOCUMENT, _REFERENCE, _FOUND, _FIRST, _LAST = range(5)  # columns of what the kernel finds; two more are places in the reference


class _Matches(NamedTuple):
    """Of a batch: by text the best reference, the share, and where in the text; and all references that some text holds."""

    texts: NDArray[np.int64]
    best: NDArray[np.int64]
    shares: NDArray[np.float64]
    spans: NDArray[np.int64]
    held: NDArray[np.int64]
    empty: int


class ReferenceTable:
    """The references, hashed once, for any number of threads."""

    def __init__(self, location: Location, rule: ContainsRule, settings: Criteria, text_column: str, id_column: str) -> None:
        self._rule, self._form = rule, rule.form(settings.recipe)
        self.ids: list[Any] = []
        self.files: list[str] = []
        self.characters: list[int] = []
        hashes, ends, texts = array("Q"), array("q", [0]), list[str]()

        def hash_texts() -> None:
            joined = join_texts(texts)
            units, places = _native.unit_hashes(joined.data, joined.offsets, *self._form)
            hashes.frombytes(memoryview(units).cast("B"))
            ends.extend(int(place) + before for before in [ends[-1]] for place in places[1:])
            texts.clear()

        for each in references(location, text_column, id_column):
            self.ids.append(each.id)
            self.files.append(each.file)
            self.characters.append(len(each.text))
            texts.append(each.text)
            if len(texts) == HASHED_AT_A_TIME:
                hash_texts()
        hash_texts()
        if not self.ids:
            raise InputError("against: there is no reference text in it: check the path")
        self.tokens = np.diff(np.frombuffer(ends, np.int64))
        self._table = _native.References(hashes, ends, rule.ngram, rule.least, rule.by == "passages")
        self.sizes = np.asarray(self._table.sizes()).astype(np.int64)

    def matches(self, batch: Batch) -> _Matches:
        """Any thread is here, several at a time."""
        texts = batch.texts
        tokens, ends = _native.unit_hashes(texts.data, texts.offsets, *self._form)
        found = np.asarray(self._table.find(tokens, ends, self._rule.share)).astype(np.int64).reshape(-1, 7)
        shares = found[:, _FOUND] / self.sizes[found[:, _REFERENCE]]
        # The best of each text first: the largest share, of equals the first reference.
        order = np.lexsort((found[:, _REFERENCE], -shares, found[:, _DOCUMENT]))
        numbers, firsts = np.unique(found[order, _DOCUMENT], return_index=True)
        best = found[order[firsts]]
        empty = int((np.diff(np.asarray(ends)) == 0).sum())
        spans = self._spans(batch, best)
        return _Matches(numbers, best[:, _REFERENCE], shares[order[firsts]], spans, found[:, _REFERENCE], empty)

    def _spans(self, batch: Batch, best: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where in the texts the references stand, from the first gram to the end of the last, in code points."""
        wanted = np.stack((best[:, _FIRST], best[:, _LAST] - 1), axis=1).astype(np.uint32).reshape(-1)
        counts = np.bincount(best[:, _DOCUMENT], minlength=len(batch.texts.offsets) - 1) * 2
        ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        begins, stops, _ = _native.unit_spans(batch.texts.data, batch.texts.offsets, *self._form, wanted, ends)
        return np.stack((np.asarray(begins)[::2], np.asarray(stops)[1::2]), axis=1).astype(np.int64)

    def largest(self) -> NDArray[np.float64]:
        return np.asarray(self._table.most()) / np.maximum(self.sizes, 1)


class ContainsRun:
    """Reads a corpus and says which documents hold a reference."""

    def __init__(self, settings: Criteria, resources: Resources, means: Means, table: ReferenceTable) -> None:
        self._settings, self._resources, self._means, self._table = settings, resources, means, table
        self.ledger = Ledger()
        self._documents = np.zeros(len(table.ids), np.int64)  # that hold each reference

    def decide(self, readers: Sequence[BatchReader]) -> Decisions:
        table, ledger = self._table, self.ledger
        reading = Reading(self._means, ledger, self._resources.budget, self._matches)
        texts, best, shares, before = list[Any](), list[Any](), list[Any](), 0
        for batch, made in reading.batches(readers):
            texts.append(made.texts + before)
            best.append(made.best)
            shares.append(made.shares)
            numbers = ledger.last_offered()[made.texts].tolist()
            ledger.parts.update(zip(numbers, map(tuple, made.spans.tolist()), strict=True))
            np.add.at(self._documents, made.held, 1)
            ledger.empty += made.empty
            before += len(batch.texts.offsets) - 1
        numbers = ledger.offered()[np.concatenate([*texts, np.zeros(0, np.int64)])]
        leaders, similarities = np.full(ledger.documents, -1, np.int64), np.zeros(ledger.documents)
        found = np.concatenate([*best, np.zeros(0, np.int64)])
        outside = np.zeros(len(table.ids), np.int64)
        for reference in np.unique(found).tolist():
            outside[reference] = ledger.documents + ledger.outside_number(json.dumps(table.ids[reference]).encode())
            ledger.parts[int(outside[reference])] = (0, table.characters[reference])
        leaders[numbers] = outside[found]
        similarities[numbers] = np.concatenate([*shares, np.zeros(0)])
        return Decisions(leaders, similarities, compared=int(self._documents.sum()))

    def _matches(self, batch: Batch) -> _Matches:
        with self._means.times.timed("references"):
            if self._settings.keep.order == "longest":
                batch.ranks = character_counts(batch.texts)
            return self._table.matches(batch)

    def found(self) -> list[FoundReference]:
        """What became of each reference, in their order."""
        table = self._table
        columns = (
            table.ids,
            table.files,
            self._documents.tolist(),
            table.largest().tolist(),
            table.tokens.tolist(),
            (table.sizes == 0).tolist(),
        )
        return [FoundReference(*values) for values in zip(*columns, strict=True)]
