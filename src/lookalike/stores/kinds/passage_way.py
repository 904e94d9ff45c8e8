"""``by="passages"``: documents that share passages with a query, by how much of the query they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike import _native
from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.read_text import ReadText
from lookalike.comparison.texts import TextPair
from lookalike.fingerprints.winnowing import winnow
from lookalike.lazy import cached_property
from lookalike.model import Passage
from lookalike.recipe import Recipe
from lookalike.segments.shared import SharedDocument, SharedResult
from lookalike.stores.base import Reader, StoredDocument
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.kinds.passage_bounds import Bounded, bounded, compared, natively_bounded
from lookalike.stores.kinds.passage_search import WINDOW, SharingPassages, boilerplate_notes, unpack_winnowing
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings
from lookalike.text.native_form import is_native, native_form

MAX_VERIFIED = 200  # documents that a search verifies, beyond ten times the limit
MAX_HELD = 2000  # the same where documents are searched that the query holds


class ByPassages(Way):
    """Documents that share passages with the query, by how much of the query they hold."""

    name, scale, place = "passages", "share of query", 2
    alike_from = 0.8  # quoting is no copying
    narrows = False  # what is boilerplate, all documents decide

    def query(self, thing: Any, settings: Settings) -> Any:
        return thing, winnow(thing, window=WINDOW, recipe=settings.recipe)

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        text, fingerprint = query
        limit, threshold = options.limit, options.least(0.0)
        # A short document may lie whole in a long query, of which it is next to nothing: then many more are looked at.
        most = max(10 * limit, MAX_VERIFIED if options.min_share is None else MAX_HELD) if limit < 2**40 else limit
        found = reader.find(SharingPassages(fingerprint, most if settings.keep_text or options.min_share is not None else limit))
        notes = boilerplate_notes(found)
        rows = [each.row for each in found.documents]
        records = reader.records(rows, ("text",) if settings.keep_text else ("winnowing",))
        read = _Query(text, settings.recipe)  # once for all documents
        matches: list[tuple[int, Match]] = []

        def compare(place: int) -> float:
            each = found.documents[place]
            matches.append((each.row, _compared(read, each, records[each.row], settings)))
            return matches[-1][1].score

        others, by_share = 0, options.min_share is not None
        if by_share or not settings.keep_text or read.tokens < settings.recipe.ngram:
            for place in range(len(rows)):
                compare(place)
        else:
            others = compared(read.bounded(found), compare, threshold, limit)
        if found.total > len(rows) and settings.keep_text:
            notes.append(f"{found.total} documents share something: the {len(rows)} that share the most were verified")
        least = options.min_share or 0.0
        passed = (item for item in matches if item[1].score >= threshold and (item[1].share or 0.0) >= least and item[1].passages)
        kept = sorted(passed, key=lambda item: (-(item[1].share or 0.0) if by_share else 0.0, -item[1].score, item[0]))
        total = len(kept) + others if settings.keep_text or by_share else max(len(kept), found.total)
        return Matches([match for _, match in kept[:limit]], total, notes)


class _Query:
    """The text of a query, compared natively where its recipe allows that."""

    def __init__(self, text: str, recipe: Recipe) -> None:
        self._text, self._recipe = text, recipe
        self._native = _native.PassageQuery(text, *native_form(recipe), WINDOW) if is_native(recipe) else None

    @cached_property
    def _read(self) -> ReadText:
        return ReadText(self._text, self._recipe)

    @property
    def tokens(self) -> int:
        return len(self._read.tokens.hashes) if self._native is None else self._native.tokens

    def bounded(self, found: SharedResult) -> list[Bounded]:
        return bounded(self._read.tokens, found, WINDOW) if self._native is None else natively_bounded(self._native, found, WINDOW)

    def shared(self, text: str) -> tuple[list[Passage], float, float]:
        """The passages that a text shares, how much of the query lies in them, and how much of the text."""
        if self._native is not None and (found := self._native.shared(text)) is not None:
            passages = [Passage((a, b), (c, d)) for a, b, c, d in found[0]]
            return (passages, found[1], found[2]) if passages else ([], 0.0, 0.0)
        pair = TextPair(self._text, text, self._recipe)
        pair.sides = self._read, pair.sides[1]
        passages = shared_passages(pair)
        shares = containment(pair, passages) if passages else {"left": 0.0, "right": 0.0}
        return passages, shares["left"], shares["right"]


def _compared(query: _Query, each: SharedDocument, record: StoredDocument, settings: Settings) -> Match:
    """What a document shares with the query: by the texts, or by fingerprints where no text is kept."""
    if record.text is None:
        match = Match(record.id, each.share, 1 - each.share, each.passages, estimated=True, row=each.row)
        match.share = _estimated_share(each.shared, record.columns.get("winnowing"))
        return match
    spans, of_query, of_text = query.shared(record.text)
    match = Match(record.id, of_query, 1 - of_query, spans, row=each.row)
    match.share = of_text
    return match


def _estimated_share(shared: int, stored: Any) -> float:
    """How much of a document is in the query, by the hashes that both have."""
    return min(1.0, shared / len(np.unique(unpack_winnowing(stored)[0]))) if stored else 0.0
