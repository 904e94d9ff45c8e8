"""``Index``: a collection of documents that can be searched by what they look like."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lookalike import _native
from lookalike.checks import check_bool, check_callback, check_path, check_several, check_str, check_workers, is_whole
from lookalike.errors import Corrupt, InputError, NotFound
from lookalike.files.model import FileText
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep
from lookalike.fingerprints.fuzzy_tlsh import Tlsh
from lookalike.fingerprints.minhash import MinHash
from lookalike.fingerprints.record import RecordPrint
from lookalike.fingerprints.simhash import SimHash
from lookalike.index import search as searching
from lookalike.index.add import add_documents, is_single, listed, made_elsewhere
from lookalike.index.admit import Admission, admit_documents, admitting_options, admitting_way
from lookalike.index.admit import Admitted as Admitted
from lookalike.index.beside import Expiry
from lookalike.index.checking import other_fingerprints
from lookalike.index.choosing import scrolled
from lookalike.index.collections import Collections
from lookalike.index.kept_clusters import cluster_of, kept_clusters
from lookalike.index.search import USUAL, checked_options
from lookalike.index.search import SimhashMatches as SimhashMatches
from lookalike.index.search import VectorMatches as VectorMatches
from lookalike.markup.page import Page
from lookalike.model import Document
from lookalike.recipe import Recipe
from lookalike.segments.hamming import check_k, words_of
from lookalike.stores.base import Added, CheckReport, OnProgress, Store, StoredDocument
from lookalike.stores.clusters import Cluster, Clusters
from lookalike.stores.ids import Id, check_id, listed_ids
from lookalike.stores.kinds import kind_named
from lookalike.stores.kinds.base import LIMIT, K
from lookalike.stores.kinds.simhash import require_own
from lookalike.stores.kinds.vector import THRESHOLD, NearestVectors, given_vectors
from lookalike.stores.matches import Matches
from lookalike.system import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.segments.hamming import Values

Where = Mapping[str, Any] | str | None


class Index:
    """Documents by id. ``la.open`` makes one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._usual: _native.UsualSearches | None = getattr(store, "usual", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self, progress: OnProgress | None = None) -> None:
        """Let go of the store. What was added is on disk already.

        A bulk load into PostgreSQL makes its indexes now, and ``progress`` is told how many documents they have.
        """
        check_callback("progress", progress)
        self._store.close(progress)

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
        if not isinstance(id, str) and not is_whole(id):
            return False  # no document can have it as its id
        check_id(id)
        with self._store.reading() as reader:
            return bool(reader.rows_of([id]))

    def add(
        self,
        documents: object,
        text: str | Page | Path | bytes | Mapping[str, Any] | RecordPrint | None = None,
        meta: Mapping[str, Any] | None = None,
        *,
        progress: OnProgress | None = None,
        workers: int | None = None,
        ttl: float | timedelta | None = None,
        expires: datetime | float | str | None = None,
    ) -> Added:
        """Add documents, or replace those with the same ids: ``add("id", "text", {…})``, or any iterable of documents.

        A document is ``(id, text)``, ``(id, text, meta)``, a mapping with these names or a ``Document``; ids are str or int. Of a
        page (``la.page``) in the place of a text the main text is kept, and its structure. A ``Path`` or bytes in the place of a text
        is a file: its text is kept, and the digests of its bytes, which is all that there is of a file without text. A ``Path`` in the
        place of a document is a file called by its path, or a folder of them. A mapping in the place of a text is a record.
        Documents are stored a few thousand at a time, each batch whole or not at all, and ``progress`` is told how many
        are safe after each. If one cannot be added, an error says which, and those of earlier batches stay. Documents expire ``ttl``
        seconds from now, or when ``expires`` says: a time, or the field of their meta that has it. Nothing finds a document that has
        expired, and ``compact`` drops it.
        """
        check_callback("progress", progress)
        if workers is not None:
            check_workers(workers)
        workers = usable_cores() if workers is None else workers
        return add_documents(self._store, listed(documents, text, meta), progress, workers, Expiry.asked(ttl, expires))

    def admit(
        self,
        documents: object,
        text: str | Page | None = None,
        meta: Mapping[str, Any] | None = None,
        *,
        by: str = "near",
        threshold: float | None = None,
        k: int = 3,
        alike: str = "refuse",
        ttl: float | timedelta | None = None,
        expires: datetime | float | str | None = None,
        progress: OnProgress | None = None,
        workers: int = 1,
    ) -> Any:
        """Add a document unless one that looks like it is there: ``admit("id", "text", {…})`` gives an ``Admitted``, a list gives a list.

        Asking and adding is one step: of any number of threads, processes and clients of PostgreSQL that come with documents that look
        alike, exactly one adds its own, and the others are told which. ``by``, ``threshold`` and ``k`` say what is alike, as in
        ``search``; all who ask at once should say the same. ``alike`` is what becomes of a document that looks like another:
        ``refuse`` it, ``link`` it (add it as a member of the cluster of the document that leads it, see ``cluster_of``), or ``add`` it
        anyway. The match is told in all three cases. An id that is there counts as any other: if its document looks like the new one, it is
        the match, otherwise the new one replaces it. ``ttl`` and ``expires`` as in ``add``.
        """
        one = is_single(documents)
        asked = Admission(admitting_way(by), admitting_options(by, threshold, k), alike, Expiry.asked(ttl, expires))
        check_callback("progress", progress)
        check_workers(workers)
        answers = list(admit_documents(self._store, listed(documents, text, meta), asked, progress, workers))
        return answers[0] if one else answers

    def add_simhashes(self, ids: Sequence[Id] | NDArray[Any], values: Values, *, progress: OnProgress | None = None) -> Added:
        """Add SimHashes that were made elsewhere: documents without text, found by SimHash only."""
        return self._add_elsewhere("simhash", ids, values, progress)

    def _add_elsewhere(self, kind: str, ids: Sequence[Id] | NDArray[Any], fingerprints: Any, progress: OnProgress | None) -> Added:
        check_callback("progress", progress)
        added = updated = 0
        for batch in made_elsewhere(kind_named(kind), ids, fingerprints, self._store.settings):
            counts = self._store.write(batch)
            added, updated = added + counts.added, updated + counts.updated
            if progress:
                progress(added + updated)
        return Added(added, updated)

    def add_minhashes(self, ids: Sequence[Id] | NDArray[Any], sketches: Sequence[MinHash], *, progress: OnProgress | None = None) -> Added:
        """Add MinHashes, of sets for example: documents without text, found by MinHash only."""
        return self._add_elsewhere("minhash", ids, sketches, progress)

    def add_vectors(self, ids: Sequence[Id] | NDArray[Any], vectors: Any, *, progress: OnProgress | None = None) -> Added:
        """Add vectors that the collection's model made elsewhere, a row each: documents without text, found by meaning only."""
        return self._add_elsewhere("vector", ids, vectors, progress)

    def get(self, id: Id) -> Document:
        """A document by its id; ``NotFound`` where there is none."""
        check_id(id)
        with self._store.reading() as reader:
            rows = reader.rows_of([id])
            record = reader.records([rows[id]], self._columns)[rows[id]] if id in rows else None
        if record is None:
            raise NotFound(f"{self._store.name} has no document {id!r}")
        if record.id != id:
            raise Corrupt(f"{self._store.name}: its index of ids leads from {id!r} to {record.id!r}; run 'lookalike check'")
        return _document(record)

    @property
    def _columns(self) -> tuple[str, ...]:
        """What a document is made of."""
        return ("text", "meta", "record") if "record" in self._store.settings.kinds else ("text", "meta")

    def documents(self, ids: Iterable[Id] | None = None, *, where: Where = None, after: Id | None = None) -> Iterator[Document]:
        """All documents, oldest first; or those with these ids, in their order, as far as they are there.

        ``where``: those whose meta fits; ``after``: those that were added after this one.
        """
        if ids is not None:
            if where is not None or after is not None:
                raise InputError("ids names the documents: leave out where and after")
            yield from self._documents(listed_ids(ids))
            return
        with self._store.reading() as reader:
            for record in scrolled(reader, self._store.settings, self._columns, after, where, self._store.name):
                yield _document(record)

    def count(self, where: Where = None) -> int:
        """How many documents there are, or how many whose meta fits."""
        if where is None:
            return len(self)
        with self._store.reading() as reader:
            return sum(1 for _ in scrolled(reader, self._store.settings, (), None, where, self._store.name))

    def _documents(self, ids: list[Id]) -> Iterator[Document]:
        with self._store.reading() as reader:
            rows = reader.rows_of(ids)
            records = reader.records(list(rows.values()), self._columns)
        return (_document(records[rows[id_]]) for id_ in ids if id_ in rows)

    def ids(self, *, where: Where = None, after: Id | None = None) -> Iterator[Id]:
        """All ids, oldest first; with ``where`` of documents whose meta fits, with ``after`` of those that were added after this one.

        To go through a large collection in parts: ``list(islice(index.ids(after=last), 1000))``.
        """
        with self._store.reading() as reader:
            for record in scrolled(reader, self._store.settings, (), after, where, self._store.name):
                yield record.id

    def metas(self) -> Iterator[tuple[Id, dict[str, Any]]]:
        """The id and the meta of each document, oldest first, without reading its text."""
        with self._store.reading() as reader:
            for record in reader.scan(("meta",)):
                yield record.id, json.loads(record.meta) if record.meta else {}

    def remove(self, ids: Id | Iterable[Id]) -> int:
        """Remove documents by id; returns how many of them were there."""
        wanted = listed_ids(ids)
        return self._store.remove(wanted) if wanted else 0

    def search(
        self,
        query: str | Path | bytes | Page | FileText | Mapping[str, Any] | RecordPrint | None = None,
        *,
        by: str | None = None,
        simhash: int | SimHash | None = None,
        minhash: MinHash | None = None,
        digest: Ssdeep | Tlsh | None = None,
        vector: Any = None,
        k: int = K,
        threshold: float | None = None,
        limit: int | None = LIMIT,
        approximate: bool = False,
        compare: bool = False,
        min_share: float | None = None,
        text: bool = False,
        where: Where = None,
    ) -> Matches:
        """What looks like the query: a text, a file (``Path``), a web page, a record (a mapping), a fingerprint or a vector of the model.

        ``by``: near (the default), simhash, passages, meaning, fuzzy, tlsh, ssdeep, structure or record (the default for one);
        docs/search.md says what each finds and scores. Of a page (``la.page``, or a file ``.html``) all but structure compare the main
        text. ``approximate``: by meaning, now and then one of the nearest may be missed where that is faster (docs/vectors.md); otherwise
        nothing ever is. ``compare``: each match also gets the score that ``la.compare`` gives to the texts, as ``compared``, which is on
        another scale than ``score``. Matches carry the meta of their documents, and with ``text`` their texts. ``where`` is a filter on
        meta: only documents that fit are found, as many as there are up to the limit (docs/search.md). ``min_share``: by passages, the
        documents of which the query holds at least this share, the largest share first.
        """
        at_once: Any = None
        # Nearly every search is such a one, and takes less time than to find out what another one is.
        if (
            (usual := self._usual) is not None
            and (simhash is None and minhash is None and digest is None and vector is None)
            and (threshold is None and k is K and limit is LIMIT and where is None and min_share is None)
            and (approximate is False and compare is False and text is False)
        ):
            at_once = usual.find(query, by)
            if at_once is not None and at_once is not False:
                return at_once  # type: ignore[no-any-return]  # Matches
        given: dict[str, Any] = {}
        if not (simhash is None and minhash is None and digest is None and vector is None):
            every = (("simhash", simhash), ("minhash", minhash), ("digest", digest), ("vector", vector))
            given = {name: value for name, value in every if value is not None}
        with_text = text if text is False else check_bool("text", text)
        if threshold is None and k is K and limit is LIMIT and approximate is False and min_share is None:
            options = USUAL
        else:
            options = checked_options(k, threshold, limit, approximate, min_share, nearest=True)
        return searching.search(self._store, query, given, by, options, compare, with_text, where, at_once is False)

    def search_texts(
        self, texts: Sequence[str], *, threshold: float | None = None, limit: int | None = 10, workers: int = 1, where: Where = None
    ) -> list[Matches]:
        """What ``search(text)`` finds for each of many texts, by near; most of the cost is paid once for all of them."""
        several = check_several("texts", texts, "a list of str")
        texts = [check_str("texts", text, "a list of str") for text in several]
        options = checked_options(threshold=threshold, limit=limit, nearest=True)
        check_workers(workers)
        return searching.search_texts(self._store, texts, options, workers, where)

    def search_simhashes(
        self, values: Values, k: int = 3, *, limit: int | None = None, workers: int = 1, where: Where = None
    ) -> SimhashMatches:
        """All documents within ``k`` bits of each of many SimHashes: numpy in, arrays out. ``where`` as in ``search``."""
        check_k(k)
        check_workers(workers)
        require_own("values", values, self._store.settings)
        words = words_of(values, self._store.settings.bits, "values")
        return searching.near_simhashes(self._store, words, k, checked_options(limit=limit).limit, workers, where)

    def search_vectors(
        self,
        vectors: Any,
        *,
        threshold: float | None = None,
        limit: int | None = 10,
        workers: int = 1,
        approximate: bool = False,
        where: Where = None,
    ) -> VectorMatches:
        """The documents whose vectors have the largest cosine with each of many vectors of the same model: numpy in, arrays out.

        ``approximate`` and ``where``: as in ``search``.
        """
        options = checked_options(threshold=threshold, limit=limit, approximate=approximate)
        check_workers(workers)
        halves = given_vectors(vectors, self._store.settings)
        least = THRESHOLD if threshold is None else threshold
        return searching.nearest_vectors(self._store, NearestVectors(halves, least, options.limit, workers, approximate), where)

    def clusters(
        self,
        by: str = "near",
        *,
        threshold: float | None = None,
        k: int = 3,
        progress: OnProgress | None = None,
        where: Where = None,
    ) -> Clusters:
        """Documents that look alike, by near, simhash, meaning or record, or pages of one template, by structure.

        Each was verified against the one that its cluster keeps, the oldest. The answer is that of ``la.dedupe`` for the same
        documents, oldest first, whatever threshold the collection was made for. With ``where`` only documents whose meta fits are
        looked at.
        """
        check_callback("progress", progress)
        return searching.clusters(self._store, by, checked_options(k, threshold), progress, where)

    def cluster_of(self, id: Id) -> Cluster:
        """The cluster of a document as it was kept by ``admit(…, alike="link")``: the oldest leads, the others follow in order of age.

        A document that nothing was linked to is a cluster of its own. Where the document that the others were linked to was removed or
        has expired, the oldest that is left leads; similarities stay those to the first one.
        """
        check_id(id)
        return cluster_of(self._store, id)

    def kept_clusters(self) -> Clusters:
        """All clusters of two or more documents that ``admit(…, alike="link")`` kept, in the order of their first documents."""
        return kept_clusters(self._store)

    @property
    def collections(self) -> Collections:
        """The collections of the store, to copy, rename or drop them and to give them aliases; ``la.collections`` without an index."""
        return Collections(self._store.names, self._store.wanted.trust)

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        return self._store.stats() | {"settings": self.settings}

    def check(self, repair: bool = False, *, progress: OnProgress | None = None) -> CheckReport:
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

    def compact(self, *, progress: OnProgress | None = None) -> dict[str, Any]:
        """Merge all segments, drop what was removed, and give the space back; of many vectors also make the graph for approximate searches.

        ``progress`` gets a count of documents, and then of vectors in the graph.
        """
        check_callback("progress", progress)
        return self._store.compact(progress)

    def export(self, path: Path | str, *, progress: OnProgress | None = None) -> int:
        """Write all documents to a JSONL or Parquet file (by its name; .gz and .zst too); returns how many."""
        from lookalike.index.transfer import export_documents

        check_callback("progress", progress)
        return export_documents(self._store, check_path("path", path), progress)

    def load(self, path: Path | str, *, refingerprint: bool = False, progress: OnProgress | None = None) -> int:
        """Add what ``export`` wrote; returns how many documents there were.

        An empty collection gets the settings of the one that was exported, unless it was opened with others. A collection with other
        settings refuses the file; with ``refingerprint`` it makes its own fingerprints of all texts.
        """
        from lookalike.index.transfer import load_documents

        check_callback("progress", progress)
        check_bool("refingerprint", refingerprint)
        return load_documents(self._store, check_path("path", path), progress, refingerprint=refingerprint)


def _document(record: StoredDocument) -> Document:
    written = record.columns.get("record")
    data = None if written is None else json.loads(written)
    return Document(record.id, record.text, json.loads(record.meta) if record.meta else {}, record=data)
