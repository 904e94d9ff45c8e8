"""Containment: documents that hold most of a query (``contains``), and documents that a query holds most of (``contained``).

Candidates come from shared passages: a document that shares a run of ``ngram`` + ``WINDOW`` - 1 tokens with the query is one, unless the
run is boilerplate. Each is compared exactly, by the features that both have. docs/search.md says what that promises.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints.winnowing import Winnowing, winnow
from lookalike.segments.shared import SharedDocument
from lookalike.stores.base import Reader, StoredDocument
from lookalike.stores.kinds.base import Options, Way
from lookalike.stores.kinds.explaining import passages_of
from lookalike.stores.kinds.passage_search import WINDOW, SharingPassages, boilerplate_notes, unpack_winnowing
from lookalike.stores.kinds.verifying import overlaps, verified_features
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings

THRESHOLD = 0.8
MOST = 2000  # documents that are compared, beyond ten times the limit: some 20 microseconds each


class _Containment(Way):
    """Documents by the share of the features of one side that the other has too."""

    alike_from = THRESHOLD
    narrows = False  # what is boilerplate, all documents decide
    of_query: ClassVar[bool]  # whose features are counted

    def query(self, thing: Any, settings: Settings) -> Any:
        settings.require("winnowing")
        return thing, winnow(thing, window=WINDOW, recipe=settings.recipe), verified_features(thing, settings.recipe)

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        text, fingerprint, features = query
        threshold, limit = options.least(THRESHOLD), options.limit
        most = max(10 * limit, MOST) if limit < 1 << 40 else limit
        found = reader.find(SharingPassages(fingerprint, most, spans=False))
        notes = boilerplate_notes(found)
        if found.total > len(found.documents):
            notes.append(f"{found.total} documents share something: the {len(found.documents)} that share the most were compared")
        rows = [each.row for each in found.documents]
        records = reader.records(rows, ("text", "meta") if settings.keep_text else ("winnowing", "meta"))
        shares = self._shares(found.documents, records, features, fingerprint, settings)
        passed = sorted((-share, row) for row, share in shares.items() if share >= threshold)
        if not settings.keep_text:
            notes.append("shares are estimated from winnowing: there are no texts to compare")
        matches = []
        for share, row in passed[:limit]:
            stored = records[row].text
            why = () if stored is None else partial(passages_of, text, stored, settings)
            match = Match(records[row].id, -share, 1 + share, why, estimated=stored is None, row=row)
            match.carry(records[row].meta)
            matches.append(match)
        return Matches(matches, len(passed), notes)

    def _shares(
        self,
        documents: tuple[SharedDocument, ...],
        records: dict[int, StoredDocument],
        features: NDArray[np.uint64],
        fingerprint: Winnowing,
        settings: Settings,
    ) -> dict[int, float]:
        with_text = {row: record.text for row, record in records.items() if record.text is not None}
        counted = overlaps(features, list(with_text.values()), settings.recipe)
        found = {
            row: _share(common, len(features) if self.of_query else size) for row, (common, size) in zip(with_text, counted, strict=True)
        }
        own = len(set(fingerprint.values))
        for each in documents:
            if each.row not in with_text:
                stored = records[each.row].columns.get("winnowing")
                size = own if self.of_query else len(np.unique(unpack_winnowing(stored)[0])) if stored else 0
                found[each.row] = min(1.0, _share(each.shared, size))
        return found


def _share(common: int, size: int) -> float:
    return common / size if size else 1.0


class Contains(_Containment):
    """Documents that hold at least so much of the query."""

    name, scale, place, of_query = "contains", "share of query", 3, True


class Contained(_Containment):
    """Documents of which the query holds at least so much."""

    name, scale, place, of_query = "contained", "share of document", 4, False
