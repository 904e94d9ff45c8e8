"""The way ``near``: near-duplicates by the bands of MinHashes, verified on the texts where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import join_texts
from lookalike.errors import InputError
from lookalike.fingerprints.minhash import MinHash, fingerprint_recipe, minhashes
from lookalike.fingerprints.single import plan_for
from lookalike.fingerprints.winnowing import winnow
from lookalike.leaders.rule import MAX_SKETCH, Rule
from lookalike.leaders.sketching import Sketcher, Sketches
from lookalike.recipe import Recipe, require_same
from lookalike.segments.hamming import NO_LIMIT
from lookalike.stores.base import Additions, OnProgress, Reader, Segments, Store, StoredDocument
from lookalike.stores.clustering import Clustering, clusters_of, having
from lookalike.stores.clusters import Clusters
from lookalike.stores.given import Given
from lookalike.stores.kinds.bands import (
    MAX_CANDIDATES,
    BandGroups,
    BandTables,
    Group,
    SharingBands,
    band_entries,
    band_keys,
    near_notes,
    ranked,
)
from lookalike.stores.kinds.base import Asked, Options, Way
from lookalike.stores.kinds.explaining import passages_of
from lookalike.stores.kinds.passage_search import WINDOW, SharingPassages
from lookalike.stores.kinds.verifying import features, jaccards, verified_features
from lookalike.stores.matches import Matches
from lookalike.stores.settings import Settings
from lookalike.system import usable_cores

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

TABLES = BandTables("sketches", (), "documents", "digest")
SHARING = "SELECT bands FROM lookalike.sketches_sharing_any(%s, %s, %s, %s)"
ASKED, FEW = 64, 1000  # queries of a statement, and sketches that it gives: where there are more, all of the queries may find something


MAX_NEAREST = 1000  # documents with shared passages that are compared, beyond ten times the limit
PASSAGES_TOO = "all that share a passage of {} tokens with it were compared too, but for boilerplate"


class SharingTexts(SharingBands):
    kind, tables = "minhash", TABLES


@dataclass(slots=True)
class MayShareBands(Asked["NDArray[np.bool_]"]):
    """Of many queries, those for which ``SharingTexts`` may find something: where this is cheaper than asking for each."""

    keys: NDArray[np.uint32]

    kind = "minhash"

    def in_segments(self, segments: Segments) -> NDArray[np.bool_]:
        found = np.zeros(len(self.keys) // segments.settings.banding.bands, dtype=np.bool_)
        for segment in segments.all:
            found |= segment.candidates(self.keys, 1).totals > 0
        return found

    def in_postgres(self, tables: PostgresReader) -> NDArray[np.bool_]:
        """In one statement for all of them: what shares something is rare. Where it is not, the search itself will find it."""
        entries = band_entries(self.keys.reshape(-1, tables.settings.banding.bands), tables.collection)
        shared: NDArray[np.bool_] = np.ones(len(entries), dtype=np.bool_)
        if len(entries) == 1:
            return shared
        for first in range(0, len(entries), ASKED):
            part = entries[first : first + ASKED]
            asked = (tables.collection, np.ascontiguousarray(part.T).reshape(-1), len(part), FEW)
            found = tables.connection.execute(SHARING, asked, binary=True).fetchall()
            if len(found) < FEW:
                there = np.array([key for (bands,) in found for key in bands], dtype=np.int64)
                shared[first : first + ASKED] = np.isin(part, there).any(axis=1)
        return shared


class _NoTextError(Exception):
    """A document has a MinHash and no text."""


class _NearQuery(NamedTuple):
    text: str | None  # None: there is nothing to verify on, so scores are estimates
    minhash: NDArray[np.uint32] | bytes | None  # None: it can be made from the text
    keys: Any = None  # of the bands, where they were made before: numbers in an array or a view
    sketcher: _native.TextSketcher | None = None  # of a recipe that is native

    def values(self, settings: Settings) -> NDArray[np.uint32]:
        if self.minhash is None:
            return minhashes([self.text or ""], size=settings.size, recipe=settings.recipe).reshape(-1)
        return np.frombuffer(self.minhash, dtype=np.uint32) if isinstance(self.minhash, bytes) else self.minhash.reshape(-1)

    def band_keys(self, settings: Settings) -> Any:
        return band_keys(self.values(settings), settings) if self.keys is None else self.keys

    def similarities(self, texts: list[str], recipe: Recipe) -> list[float]:
        """With each text, exactly."""
        if self.text is None or not texts:
            return []
        if self.sketcher is not None:
            return self.sketcher.jaccards(self.text, texts)
        return jaccards(verified_features(self.text, recipe), texts, recipe)


class Near(Way):
    """Documents whose features have a Jaccard similarity of at least the threshold with the query's."""

    name, scale, place = "near", "jaccard", 0
    parameter = "minhash"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        plan = plan_for(settings.recipe, "minhash", settings.size)
        if plan is None:
            return _NearQuery(thing, minhashes([thing], size=settings.size, recipe=settings.recipe))
        values, keys = plan.sketcher.banded(thing, settings.size, *settings.banding)
        return _NearQuery(thing, values, keys, plan.sketcher)

    def at_once(self, store: Store, text: str, options: Options, *, with_text: bool) -> Matches | None:
        search, settings, threshold = getattr(store, "near", None), store.settings, options.threshold
        if threshold is None:
            threshold = settings.threshold
        if search is None or (threshold < settings.threshold and _goes_further(settings, threshold, options)):
            return None
        found: tuple[int, Matches] | None = search(text, threshold, options.limit, with_text)
        if found is None:
            return None
        candidates, matches = found
        if threshold < settings.threshold or candidates > MAX_CANDIDATES:
            matches.notes = near_notes(settings, threshold, candidates)
        return matches

    def given(self, fingerprint: Any, settings: Settings) -> Any:
        if not isinstance(fingerprint, MinHash):
            raise InputError(f"minhash is a {type(fingerprint).__name__}: give a MinHash, as la.minhash makes it")
        require_same(fingerprint.recipe, fingerprint_recipe(settings.lexical, settings.size))
        return _NearQuery(None, np.array(fingerprint.values, dtype=np.uint32))

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        threshold = options.least(settings.threshold)
        if query.text is not None:
            return _near(reader, settings, query, threshold, options)
        found = reader.find(SharingTexts(query.band_keys(settings), MAX_CANDIDATES, options.limit))
        scores = _estimates(reader, settings, query.values(settings), [group.rows[0] for group in found.groups])
        notes = near_notes(settings, threshold, found.total)
        return ranked(reader, found.groups, scores, threshold, options.limit, notes, lambda _: None, {})

    def find_each(
        self, reader: Reader, settings: Settings, texts: Sequence[str], options: Options, workers: int, find: Callable[..., Matches]
    ) -> Iterator[Matches]:
        """The same for many: their sketches are made in one call, and those that share nothing with anything are told at once.

        ``find`` looks for the others.
        """
        threshold = options.least(settings.threshold)
        values = minhashes(texts, size=settings.size, recipe=settings.recipe, workers=workers)
        if len(texts) and not _goes_further(settings, threshold, options):
            shared = reader.find(MayShareBands(band_keys(values, settings)))
        else:
            shared = np.ones(len(texts), dtype=np.bool_)
        for text, own, found in zip(texts, values, shared.tolist(), strict=True):
            if found:
                yield find(self, reader, settings, _NearQuery(text, own.reshape(1, -1)), options)
            else:
                yield Matches([], 0, near_notes(settings, threshold, 0))

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        settings.require("minhash")
        keys, values = batch.columns["bands"].reshape(len(batch), -1), batch.columns.get("minhash")
        each: Iterable[Any] = [None] * len(batch) if values is None else values.reshape(len(batch), -1)
        return [_NearQuery(*query) for query in zip(given.texts, each, keys, strict=True)]

    def may_find(self, reader: Reader, settings: Settings, queries: Sequence[Any], options: Options) -> Sequence[bool]:
        shared: list[bool] = reader.find(MayShareBands(_keys_of(queries, settings))).tolist()
        return shared

    def collision_keys(self, queries: Sequence[Any], settings: Settings, options: Options) -> NDArray[np.int64] | None:
        keys = _keys_of(queries, settings).reshape(len(queries), -1)
        return (keys.astype(np.uint64) | np.arange(keys.shape[1], dtype=np.uint64) << np.uint64(32)).view(np.int64)

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        """By the Jaccard similarity of texts; by that of MinHashes where a document has no text."""
        settings.require("minhash")
        threshold = options.least(settings.threshold)
        if settings.keep_text:
            rule = _text_rule(settings, threshold)
            try:
                return clusters_of(having(reader, "digest", "text"), rule, _text_sketches(rule), progress)
            except _NoTextError:
                pass  # a collection of texts may also hold MinHashes that were made elsewhere: then nothing can be verified
        rule = Rule("estimate", settings.lexical, threshold, most_values=min(settings.size, MAX_SKETCH))
        rule.check()
        found = clusters_of(having(reader, "digest", "minhash", "text"), rule, _minhash_sketches(rule, settings), progress)
        found.notes.append("similarities are estimated from MinHashes: there are documents without text to verify them on")
        return found


NEAR = Near()


def _keys_of(queries: Sequence[_NearQuery], settings: Settings) -> NDArray[np.uint32]:
    return np.concatenate([query.band_keys(settings) for query in queries])


def _near(reader: Reader, settings: Settings, query: _NearQuery, threshold: float, options: Options) -> Matches:
    text, keys, limit = query.text or "", query.band_keys(settings), options.limit
    further = _goes_further(settings, threshold, options)
    found, records, scores = _verified(reader, settings, keys, query, limit, further)
    if any(_is_forged(group, text, records, scores, threshold, settings) for group in found.groups):
        # Somebody made different texts with one digest: there may be others among those that a limit left out.
        found, records, scores = _verified(reader, settings, keys, query, NO_LIMIT, further)
    if bare := [group.rows[0] for group in found.groups if group.rows[0] not in scores]:
        scores |= _estimates(reader, settings, query.values(settings), bare)
    notes = near_notes(settings, threshold, found.total)
    if further:
        notes.append(PASSAGES_TOO.format(settings.recipe.ngram + WINDOW - 1))
    if not found.groups:
        return Matches((), 0, notes)

    def explain(row: int) -> Any:
        stored = records[row].text if row in records else None
        return None if stored is None else partial(passages_of, text, stored, settings)

    matches = ranked(reader, found.groups, scores, threshold, limit, notes, explain, {row: record.id for row, record in records.items()})
    for match in matches:
        if match.row in records:
            match.carry(records[match.row].meta)
    return matches


def _verified(
    reader: Reader, settings: Settings, keys: Any, query: _NearQuery, limit: int, further: bool
) -> tuple[BandGroups, dict[int, StoredDocument], dict[int, float]]:
    """Groups that share bands, what is stored of their documents, and the exact similarities of those with a text.

    ``further``: passages of the text may lead to others.
    """
    found = reader.find(SharingTexts(keys, MAX_CANDIDATES, limit))
    if further:
        found = _with_passages(reader, settings, found, query.text or "", limit)
    if not found.groups:
        return found, {}, {}
    rows = [row for group in found.groups for row in (group.rows if settings.keep_text else group.rows[:1])]
    records = reader.records(rows, ("text", "meta") if settings.keep_text else ("meta",))
    # Copies are compared once. Digests say which documents are copies, and digests can be forged: so the texts say it.
    texts = list(dict.fromkeys(record.text for record in records.values() if record.text is not None))
    scores = dict(zip(texts, query.similarities(texts, settings.recipe), strict=True))
    return found, records, {row: scores[record.text] for row, record in records.items() if record.text is not None}


def _goes_further(settings: Settings, threshold: float, options: Options) -> bool:
    """Bands find little below the threshold that they were chosen for; shared passages do."""
    return options.nearest and threshold < settings.threshold and "winnowing" in settings.kinds


def _with_passages(reader: Reader, settings: Settings, found: BandGroups, text: str, limit: int) -> BandGroups:
    """Groups that share bands, and after them those that share passages only."""
    most = max(MAX_NEAREST, 10 * limit) if limit < NO_LIMIT else NO_LIMIT
    shared = reader.find(SharingPassages(winnow(text, window=WINDOW, recipe=settings.recipe), most, spans=False))
    known = {group.digest for group in found.groups}
    rows: dict[int, list[int]] = {}
    for row, record in sorted(reader.records([each.row for each in shared.documents], ("digest",)).items()):
        if record.columns["digest"] not in known:
            rows.setdefault(record.columns["digest"], []).append(row)
    further = [Group(digest, members[:limit], len(members), 0) for digest, members in rows.items()]
    return BandGroups([*found.groups, *further], found.total)


def _is_forged(
    group: Group, query: str, records: dict[int, StoredDocument], exact: dict[int, float], threshold: float, settings: Settings
) -> bool:
    """Whether documents with one digest are not copies of each other, or would match by hashes that everybody can make and do not."""
    if len({exact.get(row) for row in group.rows}) > 1:
        return True
    first = group.rows[0]
    if group.size == len(group.rows) or exact.get(first, 1.0) >= threshold:
        return False
    public = [set(features(text, settings.recipe).tolist()) for text in (query, records[first].text or "")]
    return len(public[0] & public[1]) >= threshold * len(public[0] | public[1]) > 0


def _estimates(reader: Reader, settings: Settings, values: NDArray[np.uint32], rows: list[int]) -> dict[int, float]:
    """The share of equal values with each stored MinHash."""
    if not rows:
        return {}
    records = reader.records(rows, ("minhash", "text"))
    stored = np.frombuffer(b"".join(stored_minhash(records[row], settings) for row in rows), dtype=np.uint32).reshape(len(rows), -1)
    shares: list[float] = ((stored == values).sum(axis=1) / len(values)).tolist()
    return dict(zip(rows, shares, strict=True))


def stored_minhash(record: StoredDocument, settings: Settings) -> bytes:
    """The MinHash of a stored document: stores need not keep what can be made from the text."""
    found: bytes | None = record.columns["minhash"]
    return found or minhashes([record.text or ""], size=settings.size, recipe=settings.recipe).tobytes()


def text_clustering(settings: Settings, threshold: float, memory: int) -> Clustering | None:
    """Clusters as ``clusters`` makes them, of texts on their way into a collection that has none yet; None where it compares no texts."""
    if not settings.keep_text or "minhash" not in settings.kinds:
        return None
    rule = _text_rule(settings, threshold)
    return Clustering(rule, _text_sketches(rule), memory)


def _text_rule(settings: Settings, threshold: float) -> Rule:
    rule = Rule("minhash", settings.lexical, threshold)
    rule.check()
    return rule


def _text_sketches(rule: Rule) -> Any:
    sketcher = Sketcher(rule, usable_cores())

    def sketch(records: Sequence[StoredDocument]) -> Sketches:
        texts = [record.text for record in records if record.text is not None]
        if len(texts) < len(records):
            raise _NoTextError
        return sketcher.sketch(join_texts(texts))

    return sketch


def _minhash_sketches(rule: Rule, settings: Settings) -> Any:
    """Values with their places are features: of two MinHashes those in common are the equal values."""
    places = np.arange(settings.size, dtype=np.uint64) << np.uint64(32)

    def sketch(records: Sequence[StoredDocument]) -> Sketches:
        values = np.frombuffer(b"".join(stored_minhash(record, settings) for record in records), dtype=np.uint32)
        features = (values.reshape(len(records), -1) + places).reshape(-1)
        offsets = np.arange(len(records) + 1, dtype=np.int64) * settings.size
        keys = np.asarray(_native.band_keys(np.ascontiguousarray(values), settings.size, *rule.banding))
        digests = np.asarray(_native.sketch_feature_lists(features, offsets, 0, 0, 0, 1)[2])
        return Sketches(features, offsets, digests, keys, np.zeros(0, np.uint64))

    return sketch
