"""``la.open("http://…")``: an index that a service has (``lookalike serve``), with the verbs of any other.

The token of a service comes from the environment, LOOKALIKE_TOKEN. What would send a whole store over the network, or needs its files
(``check``, ``compact``, ``load``, fingerprints that were made elsewhere), is done where the store is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from lookalike.checks import check_bool, check_callback, check_path, check_several, check_str, is_whole
from lookalike.corpus.writing import atomic_file
from lookalike.errors import InputError, NotFound, RecipeMismatch, StoreError
from lookalike.fingerprints.record import RecordPrint, record
from lookalike.fingerprints.simhash import SimHash
from lookalike.index.admit import Admitted
from lookalike.index.connection import Connection
from lookalike.index.index import Index
from lookalike.index.remote_collections import RemoteCollections
from lookalike.index.search import SimhashMatches, profile_print, written_record
from lookalike.index.where import parse_where
from lookalike.markup.page import Page
from lookalike.model import Document, Passage
from lookalike.profiles.records import is_json_object
from lookalike.recipe import Recipe, resolve
from lookalike.stores.base import Added
from lookalike.stores.clusters import Cluster, Clusters, Member
from lookalike.stores.given import stored_meta
from lookalike.stores.ids import Id, check_id, listed_ids
from lookalike.stores.matches import FieldMatch, Match, Matches
from lookalike.stores.settings import FIELD_RULES

TOGETHER = 1000  # documents per request
PAGE = 500
MOST = 1000  # matches of one query


MADE_WITH = ("kinds", "recipe", "threshold", "keep_text", "bits", "size", "recall", "keyed")  # what a service can be asked to make


def open_remote(address: str, collection: str, wanted: Mapping[str, Any], *, create: bool, read_only: bool) -> RemoteIndex:
    """An index of a service; a collection that is not there is made, as everywhere."""
    remote = Connection(address, collection)
    asked = {name: value.to_dict() if isinstance(value, Recipe) else value for name, value in wanted.items()}
    try:
        try:
            facts = _stats(remote)
        except NotFound:
            if not create or read_only:
                raise StoreError(f"{remote.address} has no collection {collection!r:.80}") from None
            _check_wanted(wanted)
            remote.ask("POST", "/collections", {"name": collection} | asked)
            return RemoteIndex(remote, _stats(remote), read_only)
        _check_same(wanted, facts["settings"], f"{remote.address}, collection {collection!r:.80}")
    except BaseException:
        remote.close()
        raise
    return RemoteIndex(remote, facts, read_only)


def _stats(remote: Connection) -> dict[str, Any]:
    facts: dict[str, Any] = remote.ask("GET", "/stats")
    if not isinstance(facts.get("settings"), dict):
        raise remote.foreign()
    return facts


def _check_wanted(wanted: Mapping[str, Any]) -> None:
    wrong = next((name for name in wanted if name not in MADE_WITH), None)
    if wrong is not None:
        raise InputError(f"{wrong}: a service makes no collection with this: make it where the store is, with la.open and lookalike serve")


def _check_same(wanted: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    """What a collection was made with stays: asking for something else is an error, as it is of every store."""
    for name, value in wanted.items():
        if name == "recipe":
            value, name = resolve(value).id, "recipe_id"
        if name == "recipe_id" and found.get(name) != value:
            raise RecipeMismatch(f"{where} has the recipe {found.get(name)!r:.60}, and {value!r:.60} was asked for: leave recipe out")
        if name in found and found[name] != (list(value) if isinstance(value, tuple) else value):
            raise InputError(f"{name}={value!r:.60}: {where} has {found[name]!r:.60}: leave it out, or choose another collection")


class RemoteIndex(Index):
    """An index that a service has."""

    def __init__(self, remote: Connection, facts: dict[str, Any], read_only: bool) -> None:
        self._remote, self._facts, self._read_only = remote, facts, read_only

    def _require_writing(self) -> None:
        if self._read_only:
            raise StoreError(f"{self._remote.address} was opened with read_only=True: open it without read_only to change it")

    def close(self, progress: Any = None) -> None:
        self._remote.close()

    def __repr__(self) -> str:
        return f"Index({self._remote.address})"

    @property
    def _store(self) -> Any:  # type: ignore[override]  # what is not here asks a store
        raise InputError(f"{self._remote.address}: a service does not do this: do it where the store is, with the path or URL of the store")

    @property
    def collections(self) -> RemoteCollections:
        """Their names and aliases, which can be given and dropped."""
        return RemoteCollections(self._remote.address)

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self._facts["settings"]
        return found

    def __len__(self) -> int:
        return int(self._remote.ask("GET", "/stats")["documents"])

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str) and not is_whole(id):
            return False
        try:
            self.get(id)
        except NotFound:
            return False
        return True

    def get(self, id: Id) -> Document:
        check_id(id)
        found = self._remote.ask("GET", f"/documents/{quote(str(id), safe='')}", **_numbered(id))
        return Document(found["id"], found["text"], found["meta"])

    def add(self, documents: object, text: Any = None, meta: Mapping[str, Any] | None = None, **options: Any) -> Added:
        """As ``Index.add``, over the network: a thousand documents per request, each with a status of its own."""
        self._require_writing()
        progress = options.pop("progress", None)
        options.pop("workers", None)
        check_callback("progress", progress)
        if given := [name for name, value in options.items() if value is not None]:
            raise InputError(f"{given[0]} is not known to a service: leave it out")
        added = updated = 0
        rows = iter([_row((documents, text, meta or {}))] if isinstance(documents, (str, int)) else map(_row, _listed(documents)))
        while some := list(islice(rows, TOGETHER)):
            lines = "".join(json.dumps(row) + "\n" for row in some).encode("utf-8", "surrogatepass")
            statuses = {}  # by ids: of one that comes twice the last one counts
            for line in self._remote.raw("POST", "/documents", lines, "application/x-ndjson").splitlines():
                status = json.loads(line)
                if status.get("status") not in ("added", "updated"):
                    raise InputError(status.get("message") or "the service did not take a document")
                statuses[type(status["id"]), status["id"]] = status["status"]
            added += sum(status == "added" for status in statuses.values())
            updated += sum(status == "updated" for status in statuses.values())
            if progress:
                progress(added + updated)
        return Added(added, updated)

    def admit(self, documents: object, text: str | Page | None = None, meta: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """As ``Index.admit``; a list is sent document by document, each atomically."""
        self._require_writing()
        if isinstance(documents, (str, int)):
            return self._admit(_row((documents, text, meta or {})), options)
        return [self._admit(_row(each), options) for each in _listed(documents)]

    def _admit(self, row: dict[str, Any], options: dict[str, Any]) -> Admitted:
        given = {"mode" if name == "alike" else name: value for name, value in options.items() if value is not None}
        found = self._remote.ask("POST", "/admit", row | given)
        return Admitted(found["admitted"], None if found["match"] is None else _match(found["match"]))

    def remove(self, ids: Id | Iterable[Id]) -> int:
        self._require_writing()
        removed, rest = 0, iter(listed_ids(ids))
        while some := list(islice(rest, TOGETHER)):
            removed += int(self._remote.ask("POST", "/documents/remove", {"ids": some})["removed"])
        return removed

    def documents(self, ids: Iterable[Id] | None = None, *, where: Any = None, after: Id | None = None) -> Iterator[Document]:
        if ids is not None:
            for id_ in listed_ids(ids):
                try:
                    yield self.get(id_)
                except NotFound:
                    continue
            return
        cursor = None if after is None else json.dumps(after)
        condition = _condition(where)
        while True:
            page = self._remote.ask("GET", "/documents", after=cursor, where=condition, limit=PAGE)
            for each in page["documents"]:
                self._remote.require_open()
                yield Document(each["id"], each["text"], each["meta"])
            cursor = page["next"]
            if cursor is None:
                return

    def count(self, where: Any = None) -> int:
        return len(self) if where is None else sum(1 for _ in self.documents(where=where))

    def ids(self, **options: Any) -> Iterator[Id]:
        return (document.id for document in self.documents(**options))

    def search(self, query: Any = None, *, simhash: int | SimHash | None = None, **options: Any) -> Matches:
        """As ``Index.search``: a text, a page, a record or a SimHash."""
        limit = options.pop("limit", 10)
        asked: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        asked |= {"limit": MOST if limit is None else limit, "with_text": check_bool("text", asked.pop("text", False))}
        if "where" in asked:
            _condition(asked["where"])  # what JSON would change is refused here
        if isinstance(query, Page):
            asked |= {"text": query.html, "as": "page"}
        elif isinstance(query, Mapping):
            asked |= {"record": record(query).data}  # as JSON says it: a set is a list in order
        elif isinstance(query, Path) and asked.get("by") == "record":
            rules = [self.settings.get(name, {}) for name in FIELD_RULES]
            asked |= {"record": written_record(query)} if is_json_object(query) else _record_request(profile_print(query, *rules))
        elif isinstance(query, RecordPrint):
            asked |= _record_request(query)
        elif query is not None:
            asked |= {"text": check_str("query", query, "a text, a page or a record")}
        if simhash is not None:
            own = f"simhash-{self.settings['bits']}/{self.settings['recipe_id']}"
            if isinstance(simhash, SimHash) and simhash.recipe != own:
                raise RecipeMismatch(f"simhash has the recipe {simhash.recipe!r}, and the collection {own!r}")
            asked["simhash"] = int(simhash)
        found = self._remote.ask("POST", "/search", asked)
        matches, following = found["matches"], found["next"]
        while limit is None and following is not None:
            more = self._remote.ask("POST", "/search", asked | {"offset": following})
            matches, following = matches + more["matches"], more["next"]
        return Matches(map(_match, matches), found["total"], found["notes"]).on(found["scale"])

    def search_texts(
        self, texts: Any, *, threshold: float | None = None, limit: int | None = 10, workers: int = 1, where: Any = None
    ) -> list[Matches]:
        several = [check_str("texts", text, "a list of str") for text in check_several("texts", texts, "a list of str")]
        asked = {"texts": several, "passages": True} | _given(threshold=threshold, where=where)
        return [Matches(map(_match, each)).on("jaccard") for each in self._many(asked, limit)]

    def search_simhashes(self, values: Any, k: int = 3, *, limit: int | None = None, workers: int = 1, where: Any = None) -> SimhashMatches:
        several = [int(value) for value in check_several("values", values, "a list of numbers")]
        answers = self._many({"simhashes": several, "k": k} | _given(where=where), limit)
        edges = np.cumsum([0, *map(len, answers)], dtype=np.int64)
        rows = [row for found in answers for row in found]
        ids = [row["id"] for row in rows]
        kept = np.array(ids, dtype=np.int64 if all(isinstance(id_, int) for id_ in ids) else object)
        return SimhashMatches(edges, kept, np.array([row["distance"] for row in rows], dtype=np.uint8))

    def _many(self, asked: dict[str, Any], limit: int | None) -> list[list[dict[str, Any]]]:
        found: list[list[dict[str, Any]]] = self._remote.ask("POST", "/search/batch", asked | {"limit": limit or MOST})["answers"]
        if limit is None and any(len(each) == MOST for each in found):
            raise InputError(f"limit=None: one of them has {MOST} matches or more, and a service answers no more: give a limit")
        return found

    def clusters(self, by: str = "near", *, threshold: float | None = None, where: Any = None, **options: Any) -> Clusters:
        found = self._remote.ask("GET", "/clusters", by=by, threshold=threshold, where=_condition(where))
        made = [
            Cluster(each["kept"], tuple(Member(member["id"], member["similarity"]) for member in each["removed"]), each["scale"])
            for each in found["clusters"]
        ]
        return Clusters(made, found["notes"])

    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = self._remote.ask("GET", "/stats")
        return found

    def export(self, path: Path | str, *, progress: Any = None) -> int:
        """A consistent copy of the collection, in JSON lines."""
        target = check_path("path", path)
        if target.suffix != ".jsonl":
            raise InputError(f"{str(target)!r}: a service exports JSON lines: name a .jsonl file")
        data = self._remote.raw("POST", "/snapshot", None, "application/json")
        with atomic_file(target) as file:
            file.write(data)
        return data.count(b"\n")


def _numbered(id: Id) -> dict[str, str]:
    return {"number": "1"} if isinstance(id, int) else {}


def _record_request(asked: RecordPrint) -> dict[str, Any]:
    return {"record": asked.data, "weights": dict(asked.weights), "measures": dict(asked.measures)}


def _condition(where: Any) -> str | None:
    """A filter as a query string has it; a wrong one is refused here, as every store does, since JSON would change some."""
    if where is None:
        return None
    parse_where(where)
    return where if isinstance(where, str) else json.dumps(where)


def _given(**options: Any) -> dict[str, Any]:
    """What was given of them; what JSON would change of a filter is refused here."""
    _condition(options.get("where"))
    return {name: value for name, value in options.items() if value is not None}


def _listed(documents: object) -> Iterable[Any]:
    if isinstance(documents, (Document, Mapping)):
        return [documents]
    if not isinstance(documents, Iterable):
        raise InputError(f"cannot add a {type(documents).__name__}: give an id and a text, or an iterable of documents")
    return documents


def _row(document: Any) -> dict[str, Any]:
    if isinstance(document, Document):
        document = (document.id, document.text, dict(document.meta))
    if isinstance(document, Mapping):
        document = (document.get("id"), document.get("text"), document.get("meta") or {})
    if not isinstance(document, (tuple, list)) or len(document) not in (2, 3):
        raise InputError(f"a document is (id, text) or (id, text, meta), not {document!r:.60}")
    id_, text, meta = (*document, {})[:3]
    check_id(id_)
    if isinstance(text, (Page, Mapping)):
        raise InputError("a service stores texts: add pages and records where the store is, with the path or URL of the store")
    if not isinstance(meta, Mapping):
        raise InputError(f"meta={meta!r:.60}: give a mapping")
    stored_meta(id_, meta)  # whether it can be sent
    return {"id": id_, "text": check_str("text", text), "meta": dict(meta)}


def _match(found: Mapping[str, Any]) -> Match:
    passages = [Passage(tuple(each["left"]), tuple(each["right"])) for each in found.get("passages", ())]
    fields = {name: FieldMatch(**field) for name, field in found["fields"].items()} if "fields" in found else None
    match = Match(found["id"], found["score"], found["distance"], passages, estimated=bool(found.get("estimated")), fields=fields)
    match.scale = found.get("scale", "")
    match.carry(json.dumps(found.get("meta", {})))
    match.text, match.compared, match.share = found.get("text"), found.get("compared"), found.get("share")
    return match
