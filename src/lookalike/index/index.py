"""``Index``: a collection of documents that can be searched by what they look like."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lookalike.checks import check_bool, check_callback, check_path, check_several, check_share, check_str
from lookalike.comparison.score import text_score
from lookalike.corpus.contents import contents, readable
from lookalike.errors import Corrupt, InputError, NotFound
from lookalike.figures import shown_value
from lookalike.fingerprints.base import check_workers
from lookalike.fingerprints.fuzzy import Ssdeep, Tlsh
from lookalike.fingerprints.fuzzy import ssdeep as make_ssdeep
from lookalike.fingerprints.fuzzy import tlsh as make_tlsh
from lookalike.fingerprints.minhash import MinHash
from lookalike.fingerprints.simhash import SimHash
from lookalike.index import search as searching
from lookalike.index.add import add_documents, minhash_batches, simhash_batches, vector_batches
from lookalike.index.checking import other_fingerprints
from lookalike.index.cluster import meaning_clusters, near_clusters, simhash_clusters, structure_clusters
from lookalike.index.fingerprinting import check_id, listed_ids, simhash_words
from lookalike.index.matches import SCALES, Clusters, Matches
from lookalike.io import NotText, decode_text
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page
from lookalike.model import Document
from lookalike.recipe import Recipe, require_same
from lookalike.segments.hamming import NO_LIMIT, check_k, check_limit, words_of
from lookalike.stores.base import Added, Batch, CheckReport, Id, Reader, Record, Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.segments.hamming import Values

SEARCHES = ("near", "simhash", "passages", "meaning", "fuzzy", "tlsh", "ssdeep", "structure")
CLUSTERINGS = ("near", "simhash", "meaning", "structure")
FUZZY_THRESHOLD = 0.5
Progress = Callable[[int], object]


class SimhashMatches(NamedTuple):
    """The matches of many queries: those of query i are at ``offsets[i]:offsets[i + 1]``, nearest first, then oldest first."""

    offsets: NDArray[np.int64]
    ids: NDArray[Any]  # int64 where all of them are integers, otherwise objects
    distances: NDArray[np.uint8]


class VectorMatches(NamedTuple):
    """The matches of many vectors: those of query i are at ``offsets[i]:offsets[i + 1]``, best first, then oldest first."""

    offsets: NDArray[np.int64]
    ids: NDArray[Any]  # int64 where all of them are integers, otherwise objects
    scores: NDArray[np.float64]  # cosines


class Index:
    """Documents by id. ``la.open`` makes one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store. What was added is on disk already."""
        self._store.close()

    def __repr__(self) -> str:
        return f"Index({self._store.name})"

    @property
    def settings(self) -> dict[str, Any]:
        """What the collection was made with: recipe, kinds, sizes, bands."""
        settings = self._store.settings
        data: dict[str, Any] = json.loads(settings.to_json())
        return data | {"bands": settings.banding.bands, "rows": settings.banding.rows}

    @property
    def recipe(self) -> Recipe:
        """What the fingerprints of texts are made with, with the key of a keyed collection: ``la.minhash(text, recipe=index.recipe)``."""
        return self._store.settings.lexical

    def __len__(self) -> int:
        with self._store.reading() as reader:
            return reader.count()

    def __contains__(self, id: object) -> bool:
        if isinstance(id, bool) or not isinstance(id, (str, int)):
            return False  # no document can have it as its id
        check_id(id)
        with self._store.reading() as reader:
            return bool(reader.rows_of([id]))

    def add(
        self,
        documents: object,
        text: str | Page | None = None,
        meta: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        workers: int | None = None,
    ) -> Added:
        """Add documents, or replace those with the same ids: ``add("id", "text", {…})``, or any iterable of documents.

        A document is ``(id, text)``, ``(id, text, meta)``, a mapping with these names or a ``Document``; ids are str or int. Of a
        page (``la.page``) in the place of a text the main text is kept, and its structure.
        Documents are stored a few thousand at a time, each batch whole or not at all, and ``progress`` is told how many
        are safe after each. If one cannot be added, an error says which, and those of earlier batches stay.
        """
        check_callback("progress", progress)
        if isinstance(documents, (str, int)):
            documents = [(documents, text, {} if meta is None else meta)]
        elif text is not None or meta is not None:
            raise InputError("text and meta belong to a single document: add('id', 'text', meta={…})")
        elif isinstance(documents, (Document, Mapping)) or _is_one(documents):
            documents = [documents]
        if not isinstance(documents, Iterable):
            raise InputError(f"cannot add a {type(documents).__name__}: give an id and a text, or an iterable of documents")
        check_callback("progress", progress)
        if workers is not None:
            check_workers(workers)
        return add_documents(self._store, documents, progress, (os.cpu_count() or 1) if workers is None else workers)

    def add_simhashes(self, ids: Sequence[Id] | NDArray[Any], values: Values, *, progress: Progress | None = None) -> Added:
        """Add SimHashes that were made elsewhere: documents without text, found by SimHash only."""
        settings = self._store.settings
        self._require_own("values", values)
        return self._add_batches(simhash_batches(ids, words_of(values, settings.bits, "values"), settings), progress)

    def _require_own(self, name: str, values: object) -> None:
        """SimHashes must be of this recipe. Numbers do not say what they are of, and nobody without the key has any that mean something."""
        settings = self._store.settings
        given = values if isinstance(values, Sequence) else ()
        for value in given:
            if isinstance(value, SimHash):
                require_same(value.recipe, settings.recipe_of("simhash"))
        if settings.keyed and not (given is values and all(isinstance(value, SimHash) for value in given)):
            raise InputError(
                f"{name}: this collection is keyed, and a number does not say with which key it was made: "
                "give a text, or SimHashes as la.simhash(text, recipe=index.recipe) makes them"
            )

    def _add_batches(self, batches: Iterable[Batch], progress: Progress | None) -> Added:
        check_callback("progress", progress)
        added = updated = 0
        for batch in batches:
            counts = self._store.write(batch)
            added, updated = added + counts.added, updated + counts.updated
            if progress:
                progress(added + updated)
        return Added(added, updated)

    def add_minhashes(self, ids: Sequence[Id] | NDArray[Any], sketches: Sequence[MinHash], *, progress: Progress | None = None) -> Added:
        """Add MinHashes, of sets for example: documents without text, found by MinHash only."""
        return self._add_batches(minhash_batches(ids, sketches, self._store.settings), progress)

    def add_vectors(self, ids: Sequence[Id] | NDArray[Any], vectors: Any, *, progress: Progress | None = None) -> Added:
        """Add vectors that the collection's model made elsewhere, a row each: documents without text, found by meaning only."""
        return self._add_batches(vector_batches(ids, vectors, self._store.settings), progress)

    def get(self, id: Id) -> Document:
        """A document by its id; ``NotFound`` where there is none."""
        check_id(id)
        with self._store.reading() as reader:
            rows = reader.rows_of([id])
            record = reader.records([rows[id]], ("text", "meta"))[rows[id]] if id in rows else None
        if record is None:
            raise NotFound(f"{self._store.name} has no document {id!r}")
        if record.id != id:
            raise Corrupt(f"{self._store.name}: its index of ids leads from {id!r} to {record.id!r}; run 'lookalike check'")
        return _document(record)

    def documents(self) -> Iterator[Document]:
        """All documents, oldest first."""
        with self._store.reading() as reader:
            for record in reader.scan(("text", "meta")):
                yield _document(record)

    def ids(self) -> Iterator[Id]:
        """All ids, oldest first."""
        with self._store.reading() as reader:
            for record in reader.scan(()):
                yield record.id

    def remove(self, ids: Id | Iterable[Id]) -> int:
        """Remove documents by id; returns how many of them were there."""
        wanted = listed_ids(ids)
        return self._store.remove(wanted) if wanted else 0

    def search(
        self,
        query: str | Path | bytes | Page | None = None,
        *,
        by: str | None = None,
        simhash: int | SimHash | None = None,
        minhash: MinHash | None = None,
        digest: Ssdeep | Tlsh | None = None,
        vector: Any = None,
        k: int = 3,
        threshold: float | None = None,
        limit: int | None = 10,
        approximate: bool = False,
        compare: bool = False,
    ) -> Matches:
        """What looks like the query: a text, a file (``Path``), a web page, a SimHash, a MinHash, a fuzzy digest or a vector of the model.

        ``by``: near (the default), simhash, passages, meaning, fuzzy, tlsh, ssdeep or structure; docs/search.md says what each finds
        and scores. Of a page (``la.page``, or a file ``.html``) all but structure compare the main text. ``approximate``: by meaning, now
        and then one of the nearest may be missed where that is faster (docs/vectors.md); otherwise nothing ever is. ``compare``: each
        match also gets the score that ``la.compare`` gives to the texts, as ``compared``, which is on another scale than ``score``.
        """
        given = [each for each in (query, simhash, minhash, digest, vector) if each is not None]
        if len(given) != 1:
            raise InputError("search for one thing: a text, a Path, simhash=, minhash=, digest= or vector=")
        most = NO_LIMIT if limit is None else check_limit(limit)
        _check_threshold(threshold)
        check_bool("approximate", approximate)
        check_bool("compare", compare)
        if by is not None:
            check_str("by", by, f"one of {', '.join(SEARCHES)}")
        if approximate and vector is None and by != "meaning":
            raise InputError("approximate=True is for searches by meaning: every other one is exact and quick; leave it out")
        if compare:
            self._require_texts(query, by or "near")
        if simhash is not None:
            _only(by, "simhash", "simhash=")
            return self._by_simhash(simhash, k, most).on(SCALES["simhash"])
        if minhash is not None:
            _only(by, "near", "minhash=")
            return self._by_minhash(minhash, threshold, most).on(SCALES["near"])
        if digest is not None:
            kind = getattr(digest, "kind", "fuzzy")
            _only(by, kind, "digest=", "fuzzy")
            return self._by_digest(digest, threshold, most).on(SCALES[kind])
        if vector is not None:
            _only(by, "meaning", "vector=")
            return self._by_vector(vector, threshold, most, approximate).on(SCALES["meaning"])
        found = self._by_thing(query, by or "near", k, threshold, most, approximate).on(SCALES[by or "near"])
        if compare:
            self._compare(query, found)
        return found

    def _require_texts(self, query: object, by: str) -> None:
        if query is None or by not in ("near", "simhash", "passages", "meaning"):
            raise InputError("compare=True compares texts: give a text, and by='near', 'simhash', 'passages' or 'meaning'")
        if not self._store.settings.keep_text:
            raise InputError("compare=True compares texts: this collection keeps none; make another one with keep_text=True")

    def _compare(self, query: object, found: Matches) -> None:
        """The score of ``la.compare``, where a document has a text; one that was removed meanwhile has none."""
        text = _query_text(query)
        with self._store.reading() as reader:
            rows = reader.rows_of([match.id for match in found])
            records = reader.records(list(rows.values()), ("text",))
        for match in found:
            stored = records[rows[match.id]].text if match.id in rows else None
            match.compared = None if stored is None else text_score(text, stored).value

    def _by_thing(self, query: object, by: str, k: int, threshold: float | None, limit: int, approximate: bool) -> Matches:
        if by not in SEARCHES:
            raise InputError(f"by={by!r}: choose one of {', '.join(SEARCHES)}")
        if by == "structure":
            return self._by_structure(query, threshold, limit)
        if not isinstance(query, (str, bytes, Path, Page)):
            raise InputError(f"cannot search for a {type(query).__name__}: give a text, a page, or a Path to a file")
        if by in ("fuzzy", "tlsh", "ssdeep"):
            if isinstance(query, Page):
                raise InputError(f"by={by!r} compares the bytes of files: give the Path of the page")
            return self._by_fuzzy(query, by, threshold, limit)
        settings = self._store.settings
        text = _query_text(query)
        if by == "meaning":
            return self._by_meaning(text, threshold, limit, approximate)
        with self._store.reading() as reader:
            if by == "simhash":
                check_k(k)
                return searching.simhash(reader, settings, simhash_words([text], settings), k, limit, text)
            if by == "passages":
                return searching.passages(reader, settings, text, 0.0 if threshold is None else threshold, limit)
            return searching.near(reader, settings, text, settings.threshold if threshold is None else threshold, limit)

    def _by_meaning(self, text: str, threshold: float | None, most: int, approximate: bool) -> Matches:
        from lookalike.index.meaning import meaning, query_vector

        halves, notes = query_vector(text, self._store.settings)  # before reading: a model takes its time
        with self._store.reading() as reader:
            return meaning(reader, self._store.settings, halves, threshold, most, approximate, notes)

    def _by_vector(self, vector: Any, threshold: float | None, most: int, approximate: bool) -> Matches:
        from lookalike.index.meaning import given_vectors, meaning

        halves = given_vectors(vector, self._store.settings, "vector")
        with self._store.reading() as reader:
            return meaning(reader, self._store.settings, halves, threshold, most, approximate)

    def _by_structure(self, query: object, threshold: float | None, limit: int) -> Matches:
        found = contents(query, "page").thing if isinstance(query, Path) else query
        if not isinstance(found, Page):
            raise InputError(f"by='structure' compares web pages: give la.page(…) or a Path, not a {type(query).__name__}")
        settings = self._store.settings
        with self._store.reading() as reader:
            return searching.structure(reader, settings, found, settings.threshold if threshold is None else threshold, limit)

    def _by_simhash(self, value: int | SimHash, k: int, limit: int) -> Matches:
        check_k(k)
        settings = self._store.settings
        self._require_own("simhash", [value])
        words = words_of([int(value)] if isinstance(value, SimHash) else [value], settings.bits, "simhash")
        with self._store.reading() as reader:
            return searching.simhash(reader, settings, words, k, limit)

    def _by_minhash(self, value: MinHash, threshold: float | None, limit: int) -> Matches:
        import numpy as np

        settings = self._store.settings
        if not isinstance(value, MinHash):
            raise InputError(f"minhash is a {type(value).__name__}: give a MinHash, as la.minhash makes it")
        require_same(value.recipe, settings.recipe_of("minhash"))
        values = np.array(value.values, dtype=np.uint32)
        with self._store.reading() as reader:
            return searching.near_minhash(reader, settings, values, settings.threshold if threshold is None else threshold, limit)

    def _by_digest(self, digest: Ssdeep | Tlsh, threshold: float | None, limit: int) -> Matches:
        if not isinstance(digest, (Ssdeep, Tlsh)):
            raise InputError(f"digest is a {type(digest).__name__}: give an Ssdeep or a Tlsh, as la.ssdeep and la.tlsh make them")
        if digest.value is None:
            raise InputError(f"this {digest.kind} has no value to search for: {digest.status}")
        least = FUZZY_THRESHOLD if threshold is None else threshold
        with self._store.reading() as reader:
            if isinstance(digest, Tlsh):
                return searching.tlsh(reader, digest, least, limit)
            return searching.ssdeep(reader, digest, least, limit)

    def _by_fuzzy(self, query: str | bytes | Path, by: str, threshold: float | None, limit: int) -> Matches:
        kinds = self._store.settings.kinds
        if by != "fuzzy":
            return self._by_digest(make_tlsh(query) if by == "tlsh" else make_ssdeep(query), threshold, limit)
        pieces, locality = make_ssdeep(query) if "ssdeep" in kinds else None, make_tlsh(query) if "tlsh" in kinds else None
        if pieces is None and locality is None:
            raise InputError("this collection has no fuzzy digests: make another one with kinds='ssdeep,tlsh'")
        notes = [f"no {each.kind} of the query: {each.status}" for each in (pieces, locality) if each is not None and each.value is None]
        usable = (pieces if pieces and pieces.value else None, locality if locality and locality.value else None)
        least = FUZZY_THRESHOLD if threshold is None else threshold
        with self._store.reading() as reader:
            return searching.fuzzy(reader, usable, least, limit, notes)

    def search_texts(
        self, texts: Sequence[str], *, threshold: float | None = None, limit: int | None = 10, workers: int = 1
    ) -> list[Matches]:
        """What ``search(text)`` finds for each of many texts, by near; most of the cost is paid once for all of them."""
        several = check_several("texts", texts, "a list of str")
        texts = [check_str("texts", text, "a list of str") for text in several]
        most = NO_LIMIT if limit is None else check_limit(limit)
        _check_threshold(threshold)
        check_workers(workers)
        settings = self._store.settings
        least = settings.threshold if threshold is None else threshold
        with self._store.reading() as reader:
            return [found.on(SCALES["near"]) for found in searching.near_each(reader, settings, texts, least, most, workers)]

    def search_simhashes(self, values: Values, k: int = 3, *, limit: int | None = None, workers: int = 1) -> SimhashMatches:
        """All documents within ``k`` bits of each of many SimHashes: numpy in, arrays out."""
        check_k(k)
        check_workers(workers)
        most = NO_LIMIT if limit is None else check_limit(limit)
        self._require_own("values", values)
        return self._by_simhashes(words_of(values, self._store.settings.bits, "values"), k, most, workers)

    def _by_simhashes(self, words: NDArray[np.uint64], k: int, most: int, workers: int) -> SimhashMatches:
        with self._store.reading() as reader:
            found = reader.near_simhashes(words, k, most, workers)
            ids = _ids_of(reader, found.ids)
        return SimhashMatches(found.offsets, ids, found.distances)

    def search_vectors(
        self, vectors: Any, *, threshold: float | None = None, limit: int | None = 10, workers: int = 1, approximate: bool = False
    ) -> VectorMatches:
        """The documents whose vectors have the largest cosine with each of many vectors of the same model: numpy in, arrays out.

        ``approximate``: as in ``search``.
        """
        from lookalike.index.meaning import THRESHOLD, given_vectors

        most = NO_LIMIT if limit is None else check_limit(limit)
        _check_threshold(threshold)
        check_workers(workers)
        check_bool("approximate", approximate)
        halves = given_vectors(vectors, self._store.settings)
        with self._store.reading() as reader:
            found = reader.near_vectors(halves, THRESHOLD if threshold is None else threshold, most, workers, approximate)
            ids = _ids_of(reader, found.rows)
        return VectorMatches(found.offsets, ids, found.cosines)

    def clusters(self, by: str = "near", *, threshold: float | None = None, k: int = 3, progress: Progress | None = None) -> Clusters:
        """Documents that look alike, by near, simhash or meaning, or pages of one template, by structure.

        Each was verified against the one that its cluster keeps, the oldest. The answer is that of ``la.dedupe`` for the same
        documents, oldest first, whatever threshold the collection was made for.
        """
        settings = self._store.settings
        _check_threshold(threshold)
        check_callback("progress", progress)
        if not isinstance(by, str) or by not in CLUSTERINGS:
            raise InputError(f"by={shown_value(by)}: clusters are made by {', '.join(CLUSTERINGS)}")
        found = self._clusters(by, settings.threshold if threshold is None else threshold, threshold, k, progress)
        return Clusters((replace(cluster, scale=SCALES[by]) for cluster in found), found.notes)

    def _clusters(self, by: str, least: float, threshold: float | None, k: int, progress: Progress | None) -> Clusters:
        settings = self._store.settings
        with self._store.reading() as reader:
            if by == "simhash":
                check_k(k)
                return simhash_clusters(reader, settings, k, progress)
            if by == "meaning":
                from lookalike.index.meaning import CLUSTER_THRESHOLD

                return meaning_clusters(reader, settings, CLUSTER_THRESHOLD if threshold is None else threshold, progress)
            return (near_clusters if by == "near" else structure_clusters)(reader, settings, least, progress)

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        return self._store.stats() | {"settings": self.settings}

    def check(self, repair: bool = False, *, progress: Progress | None = None) -> CheckReport:
        """Verify everything; with ``repair`` make anew what can be made from the documents. ``progress`` gets a count of them."""
        check_callback("progress", progress)
        check_bool("repair", repair)
        key = self._store.settings.recipe.key
        if key is not None and key.problem is not None:
            return CheckReport([key.problem])  # there is nothing to compare the fingerprints with
        report = self._store.check(repair, progress)
        if report.ok:
            with self._store.reading() as reader:
                report.again = [_document(record) for record in other_fingerprints(reader, self._store.settings)]
            report.problems = [f"document {each.id!r:.80}: its fingerprints are not those of its text" for each in report.again]
        if repair and report.again:
            before, repaired = report.problems, report.repaired
            self.add(report.again)
            report = self._store.check(repair, progress)
            report.repaired = [*repaired, *report.repaired, *(problem for problem in before if problem not in report.problems)]
        return report

    def compact(self, *, progress: Progress | None = None) -> dict[str, Any]:
        """Merge all segments, drop what was removed, and give the space back; of many vectors also make the graph for approximate searches.

        ``progress`` gets a count of documents, and then of vectors in the graph.
        """
        check_callback("progress", progress)
        return self._store.compact(progress)

    def export(self, path: Path | str, *, progress: Progress | None = None) -> int:
        """Write all documents to a JSONL or Parquet file (by its name; .gz and .zst too); returns how many."""
        from lookalike.index.transfer import export_documents

        check_callback("progress", progress)
        return export_documents(self._store, check_path("path", path), progress)

    def load(self, path: Path | str, *, refingerprint: bool = False, progress: Progress | None = None) -> int:
        """Add what ``export`` wrote; returns how many documents there were.

        An empty collection gets the settings of the one that was exported, unless it was opened with others. A collection with other
        settings refuses the file; with ``refingerprint`` it makes its own fingerprints of all texts.
        """
        from lookalike.index.transfer import load_documents

        check_callback("progress", progress)
        check_bool("refingerprint", refingerprint)
        return load_documents(self._store, check_path("path", path), progress, refingerprint=refingerprint)


def _query_text(query: object) -> str:
    if isinstance(query, Page):
        return page_text(query)
    return _text_of(query) if isinstance(query, (bytes, Path)) else str(query)


def _is_one(thing: object) -> bool:
    """Whether this is (id, text) and not a tuple of documents."""
    return isinstance(thing, tuple) and len(thing) in (2, 3) and isinstance(thing[0], (str, int)) and isinstance(thing[1], (str, Page))


def _text_of(query: bytes | Path) -> str:
    """The text of a file, as a store would keep it."""
    try:
        return readable(query).text() if isinstance(query, Path) else decode_text(query, "the query").text
    except NotText as error:
        raise error.instead("search for its bytes with by='fuzzy'") from error


def _ids_of(reader: Reader, found: NDArray[np.int64]) -> NDArray[Any]:
    """The ids of rows, each looked up once."""
    import numpy as np

    rows, places = np.unique(found, return_inverse=True)
    records = reader.records(rows.tolist(), ())
    ids = [records[row].id for row in rows.tolist()]
    known = np.array(ids, dtype=np.int64 if all(isinstance(id_, int) for id_ in ids) else object)
    return known[places]


def _only(by: str | None, searched: str, name: str, *others: str) -> None:
    if by is not None and by != searched and by not in others:
        raise InputError(f"by={by!r} does not fit {name}: leave it out, or say by={searched!r}")


def _check_threshold(threshold: object) -> None:
    if threshold is None:
        return
    check_share("threshold", threshold, "choose 0 to 1")


def _document(record: Record) -> Document:
    return Document(record.id, record.text, json.loads(record.meta) if record.meta else {})
