"""The searches: candidates from the store's structures, verified on the texts where there are any.

| by | candidates | score | distance |
|---|---|---|---|
| near | bands of the MinHash | Jaccard similarity of the features | 1 - score |
| simhash | all within k bits | 1 - distance / bits | bits that differ |
| passages | shared winnowing hashes | share of the query inside shared passages | 1 - score |
| meaning (index.meaning) | the best by cosine | cosine of the vectors | 1 - score |
| tlsh, ssdeep | all within the threshold | similarity of the digests | of the digests |
| fuzzy | both of these | the larger one | 1 - score |
| structure | bands of the MinHash of the tag paths | Jaccard similarity of the tag paths | 1 - score |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.texts import TextPair
from lookalike.figures import shown_share
from lookalike.fingerprints.fuzzy import TLSH_UNLIKE, Ssdeep, Tlsh
from lookalike.fingerprints.minhash import minhashes
from lookalike.fingerprints.winnowing import winnow
from lookalike.index.fingerprinting import estimates, features, jaccards, verified_features
from lookalike.index.matches import Match, Matches
from lookalike.markup.page import Page
from lookalike.model import Passage
from lookalike.segments.hamming import NO_LIMIT
from lookalike.stores.base import FuzzyFound, Group, Groups, Id, Reader, Record
from lookalike.stores.page_structures import page_structure, shared_paths, structure_sketches, unpack_structure
from lookalike.stores.settings import WINDOW, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.segments.shared import SharedResult

MAX_CANDIDATES = 10_000  # groups of equal documents that a search by bands verifies
MAX_SPANS = 5  # shown in a note
MAX_VERIFIED = 200  # documents that a search by passages verifies, beyond ten times the limit


def band_keys(values: NDArray[np.uint32], settings: Settings) -> NDArray[np.uint32]:
    import numpy as np

    banding = settings.banding
    return np.asarray(_native.band_keys(np.ascontiguousarray(values).reshape(-1), settings.size, banding.bands, banding.rows))


def near(reader: Reader, settings: Settings, query: str, threshold: float, limit: int) -> Matches:
    """Documents whose features have a Jaccard similarity of at least ``threshold`` with the query's."""
    return _near(reader, settings, query, minhashes([query], size=settings.size, recipe=settings.recipe), threshold, limit)


def near_each(reader: Reader, settings: Settings, queries: Sequence[str], threshold: float, limit: int, workers: int) -> Iterator[Matches]:
    """The same for many: their sketches are made in one call, and those that share nothing with anything are told at once."""
    import numpy as np

    values = minhashes(queries, size=settings.size, recipe=settings.recipe, workers=workers)
    shared = reader.may_share_bands(band_keys(values, settings)) if len(queries) else np.zeros(0, np.bool_)
    for query, own, found in zip(queries, values, shared.tolist(), strict=True):
        if found:
            yield _near(reader, settings, query, own.reshape(1, -1), threshold, limit)
        else:
            yield Matches([], 0, _near_notes(settings, threshold, 0))


def _near(reader: Reader, settings: Settings, query: str, values: NDArray[np.uint32], threshold: float, limit: int) -> Matches:
    keys, own = band_keys(values, settings), verified_features(query, settings.recipe)
    found, records, exact = _verified(reader, settings, keys, own, limit)
    if any(_is_forged(group, query, records, exact, threshold, settings) for group in found.groups):
        # Somebody made different texts with one digest: there may be others among those that a limit left out.
        found, records, exact = _verified(reader, settings, keys, own, NO_LIMIT)
    texts = {row: record.text for row, record in records.items() if record.text is not None}
    bare = [group.rows[0] for group in found.groups if group.rows[0] not in exact]
    scores = exact | _estimates(reader, settings, values.reshape(-1), bare)
    notes = _near_notes(settings, threshold, found.total)

    def explain(row: int) -> Any:
        return partial(_passages, query, texts[row], settings) if row in texts else None

    return _ranked(reader, found.groups, scores, threshold, limit, notes, explain, {row: record.id for row, record in records.items()})


def _verified(
    reader: Reader, settings: Settings, keys: NDArray[np.uint32], query: NDArray[np.uint64], limit: int
) -> tuple[Groups, dict[int, Record], dict[int, float]]:
    """Groups that share bands, what is stored of their documents, and the exact similarities of those with a text."""
    found = reader.sharing_bands(keys, MAX_CANDIDATES, limit)
    rows = [row for group in found.groups for row in (group.rows if settings.keep_text else group.rows[:1])]
    records = reader.records(rows, ("text",) if settings.keep_text else ())
    # Copies are compared once. Digests say which documents are copies, and digests can be forged: so the texts say it.
    texts = list(dict.fromkeys(record.text for record in records.values() if record.text is not None))
    scores = dict(zip(texts, jaccards(query, texts, settings.recipe), strict=True))
    return found, records, {row: scores[record.text] for row, record in records.items() if record.text is not None}


def _is_forged(group: Group, query: str, records: dict[int, Record], exact: dict[int, float], threshold: float, settings: Settings) -> bool:
    """Whether documents with one digest are not copies of each other, or would match by hashes that everybody can make and do not."""
    if len({exact.get(row) for row in group.rows}) > 1:
        return True
    first = group.rows[0]
    if group.size == len(group.rows) or exact.get(first, 1.0) >= threshold:
        return False
    public = [set(features(text, settings.recipe).tolist()) for text in (query, records[first].text or "")]
    return len(public[0] & public[1]) >= threshold * len(public[0] | public[1]) > 0


def near_minhash(reader: Reader, settings: Settings, values: NDArray[np.uint32], threshold: float, limit: int) -> Matches:
    """The same by a MinHash alone: there is nothing to verify on, so scores are estimates."""
    found = reader.sharing_bands(band_keys(values, settings), MAX_CANDIDATES, limit)
    scores = _estimates(reader, settings, values, [group.rows[0] for group in found.groups])
    return _ranked(reader, found.groups, scores, threshold, limit, _near_notes(settings, threshold, found.total), lambda _: None, {})


def structure(reader: Reader, settings: Settings, query: Page, threshold: float, limit: int) -> Matches:
    """Pages whose distinct tag paths have a Jaccard similarity of at least ``threshold`` with the query's."""
    own = page_structure(query)
    _, keys = structure_sketches([own], settings)
    found = reader.sharing_bands(keys, MAX_CANDIDATES, limit, "structure")
    records = reader.records([group.rows[0] for group in found.groups], ("structure",))
    stored = [record.structure or b"" for record in records.values()]
    scores = dict(zip(records, shared_paths(unpack_structure(own), stored), strict=True))
    known = {row: record.id for row, record in records.items()}
    return _ranked(reader, found.groups, scores, threshold, limit, _near_notes(settings, threshold, found.total), lambda _: (), known)


def _estimates(reader: Reader, settings: Settings, values: NDArray[np.uint32], rows: list[int]) -> dict[int, float]:
    if not rows:
        return {}
    records = reader.records(rows, ("minhash", "text"))
    return dict(zip(rows, estimates(values, [stored_minhash(records[row], settings) for row in rows]), strict=True))


def stored_minhash(record: Record, settings: Settings) -> bytes:
    """The MinHash of a stored document: stores need not keep what can be made from the text."""
    return record.minhash or minhashes([record.text or ""], size=settings.size, recipe=settings.recipe).tobytes()


def _near_notes(settings: Settings, threshold: float, candidates: int) -> list[str]:
    notes = []
    if threshold < settings.threshold:
        recall = settings.banding.recall(threshold)
        notes.append(
            f"the bands were chosen for {settings.threshold}: of documents with a similarity of {threshold} they find"
            f" {shown_share(recall, 0)}"
        )
    if candidates > MAX_CANDIDATES:
        notes.append(f"{candidates} candidates: the {MAX_CANDIDATES} that share the most bands were verified")
    return notes


def _ranked(
    reader: Reader,
    groups: list[Group],
    scores: dict[int, float],
    threshold: float,
    limit: int,
    notes: list[str],
    explain: Callable[[int], Any],
    known: dict[int, Id],
) -> Matches:
    """The best rows of the groups that reach the threshold; equal ones in order of their age.

    ``scores`` has those of all rows of a group, or the one of its first row for all. ``explain`` gives what names the passages of a row,
    or None where its score is an estimate; ``known`` are ids that were read.
    """
    scored = [(scores.get(row, scores[group.rows[0]]), row, group) for group in groups for row in group.rows]
    passed = [each for each in scored if each[0] >= threshold]
    best = sorted((-score, row, row if row in scores else group.rows[0]) for score, row, group in passed)[:limit]
    unknown = [row for _, row, _ in best if row not in known]
    ids = known | _ids(reader, unknown) if unknown else known
    matches = []
    for score, row, first in best:
        why = explain(first)
        matches.append(Match(ids[row], -score, 1 + score, why or (), estimated=why is None))
    if any(match.estimated for match in matches):
        notes.append("scores are estimated from MinHashes where there is no text to verify them on")
    # Rows of a group that the limit left out are like those that it did not.
    beyond = sum(group.size - len(group.rows) for group in groups if scores[group.rows[0]] >= threshold)
    return Matches(matches, len(passed) + beyond, notes)


def _ids(reader: Reader, rows: list[int]) -> dict[int, Id]:
    return {row: record.id for row, record in reader.records(rows, ()).items()}


def _passages(query: str, text: str, settings: Settings) -> list[Passage]:
    if settings.recipe.hash != "lookalike64":
        return []
    return shared_passages(TextPair(query, text, settings.recipe))


def simhash(reader: Reader, settings: Settings, words: NDArray[np.uint64], k: int, limit: int, query: str | None = None) -> Matches:
    """Documents whose SimHash differs from the query's in at most ``k`` bits."""
    found = reader.near_simhashes(words, k, limit, 1)
    explained = query is not None and settings.keep_text
    records = reader.records(found.ids.tolist(), ("text",) if explained else ())
    matches = []
    for row, distance in zip(found.ids.tolist(), found.distances.tolist(), strict=True):
        record = records[row]
        why: Any = partial(_passages, query, record.text or "", settings) if explained and query is not None else ()
        matches.append(Match(record.id, 1 - distance / settings.bits, distance, why))
    return Matches(matches, int(found.totals[0]))


def passages(reader: Reader, settings: Settings, query: str, threshold: float, limit: int) -> Matches:
    """Documents that share passages with the query, by how much of the query they hold."""
    fingerprint = winnow(query, window=WINDOW, recipe=settings.recipe)
    most = max(10 * limit, MAX_VERIFIED) if limit < 2**40 else limit
    found = reader.sharing_passages(fingerprint, most if settings.keep_text else limit)
    notes = _boilerplate(found)
    rows = [each.row for each in found.documents]
    records = reader.records(rows, ("text",) if settings.keep_text else ())
    matches = []
    for each in found.documents:
        record = records[each.row]
        if record.text is None:
            matches.append((each.row, Match(record.id, each.share, 1 - each.share, each.passages, estimated=True)))
            continue
        pair = TextPair(query, record.text, settings.recipe)
        spans = shared_passages(pair)
        score = containment(pair, spans)["left"] if spans else 0.0
        matches.append((each.row, Match(record.id, score, 1 - score, spans)))
    if found.total > len(rows) and settings.keep_text:
        notes.append(f"{found.total} documents share something: the {len(rows)} that share the most were verified")
    kept = sorted((item for item in matches if item[1].score >= threshold and item[1].passages), key=lambda item: (-item[1].score, item[0]))
    total = len(kept) if settings.keep_text else max(len(kept), found.total)
    return Matches([match for _, match in kept[:limit]], total, notes)


def _boilerplate(found: SharedResult) -> list[str]:
    """What was not searched because too many documents have it."""
    skipped = found.skipped
    if not skipped.hashes:
        return []
    spans = ", ".join(f"{start}–{end}" for start, end in skipped.spans[:MAX_SPANS]) + (" …" if len(skipped.spans) > MAX_SPANS else "")
    said = f"boilerplate: {skipped.hashes} of {skipped.hashes + found.searched} hashes are in more than {found.common} documents"
    return [f"{said} and were skipped (characters {spans}){'; only the rarest were searched' if found.rarest else ''}"]


def tlsh(reader: Reader, digest: Tlsh, threshold: float, limit: int) -> Matches:
    found = _near_tlsh(reader, digest, threshold, limit)
    return _fuzzy_matches(reader, found, lambda distance: (max(0.0, 1 - distance / TLSH_UNLIKE), distance))


def ssdeep(reader: Reader, digest: Ssdeep, threshold: float, limit: int) -> Matches:
    found = _near_ssdeep(reader, digest, threshold, limit)
    return _fuzzy_matches(reader, found, lambda score: (score / 100, 100 - score))


def _near_tlsh(reader: Reader, digest: Tlsh, threshold: float, limit: int) -> FuzzyFound:
    return reader.near_tlsh(digest.value or "", int((1 - threshold) * TLSH_UNLIKE + 1e-9), limit)


def _near_ssdeep(reader: Reader, digest: Ssdeep, threshold: float, limit: int) -> FuzzyFound:
    return reader.near_ssdeep(digest.value or "", max(1, -int(-threshold * 100 + 1e-9)), limit)


def _fuzzy_matches(reader: Reader, found: FuzzyFound, scale: Callable[[int], tuple[float, int]]) -> Matches:
    rows = found.rows.tolist()
    ids = _ids(reader, rows)
    return Matches((Match(ids[row], *scale(value)) for row, value in zip(rows, found.values.tolist(), strict=True)), found.total)


def fuzzy(reader: Reader, digests: tuple[Ssdeep | None, Tlsh | None], threshold: float, limit: int, notes: list[str]) -> Matches:
    """By both digests: a document's score is the larger of the two similarities."""
    scores: dict[int, float] = {}
    by_pieces, by_locality = digests
    if by_pieces is not None:
        found = _near_ssdeep(reader, by_pieces, threshold, 2**62)
        scores = {row: value / 100 for row, value in zip(found.rows.tolist(), found.values.tolist(), strict=True)}
    if by_locality is not None:
        found = _near_tlsh(reader, by_locality, threshold, 2**62)
        for row, value in zip(found.rows.tolist(), found.values.tolist(), strict=True):
            scores[row] = max(scores.get(row, 0.0), 1 - value / TLSH_UNLIKE)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
    ids = _ids(reader, [row for row, _ in best])
    return Matches((Match(ids[row], score, 1 - score) for row, score in best), len(scores), notes)
