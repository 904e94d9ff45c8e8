"""What goes over the wire. Requests are read into these structs, and /openapi.json describes them; spans count code points."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Id = str | int
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
Bits = Annotated[int, Meta(ge=0, le=128)]
Between = Annotated[list[int], Meta(min_length=2, max_length=2)]  # from, to; not a tuple: generators of clients know no "items: false"
What = Literal["text", "page", "record", "code", "file"]


class Request(Struct, forbid_unknown_fields=True, rename={"as_": "as"}):
    """A mistyped field is an error, not a default."""


class Problem(Struct):
    """What every error looks like. ``code`` never changes; ``message`` and ``hint`` are for people."""

    code: str
    message: str
    hint: str = ""
    request: str = ""


class CompareRequest(Request):
    """Two things of one kind. A file is its bytes in base64; a record is an object."""

    left: str | dict[str, Any]
    right: str | dict[str, Any]
    as_: What = "text"
    names: Annotated[list[str], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    measures: list[str] | UnsetType = UNSET
    ignore_form: list[str] | UnsetType = UNSET
    threshold: Share | UnsetType = UNSET
    language: str | UnsetType = UNSET
    format: Literal["json", "html"] = "json"


class Span(Struct):
    left: Between
    right: Between


class Comparison(Struct):
    score: float
    alike: bool
    threshold: float
    kind: str
    scale: str
    measures: dict[str, float | None]
    passages: list[Span]
    notes: list[str]
    edits: dict[str, float] | None = None
    segments: dict[str, list[dict[str, Any]]] | None = None
    containment: dict[str, float] | None = None
    tag_rows: list[dict[str, Any]] | UnsetType = UNSET  # of pages


class FingerprintRequest(Request):
    text: str | UnsetType = UNSET
    record: dict[str, Any] | UnsetType = UNSET
    kinds: list[str] | Literal["all"] = "all"
    recipe: str | UnsetType = UNSET


class FingerprintAnswer(Struct):
    fingerprints: dict[str, dict[str, Any]]


class SearchRequest(Request):
    """What to look for: a text, a page (its HTML), a record, a vector of the model, or a SimHash (a number, signed or not, or "0x…").

    ``weights`` and ``measures``: those of the fields of this record, in the place of the collection's.
    """

    text: str | UnsetType = UNSET
    simhash: int | str | UnsetType = UNSET
    record: dict[str, Any] | UnsetType = UNSET
    weights: dict[str, float] | UnsetType = UNSET
    measures: dict[str, str] | UnsetType = UNSET
    vector: Annotated[list[float], Meta(max_length=10_000)] | UnsetType = UNSET
    as_: What = "text"
    by: str | UnsetType = UNSET
    k: Bits = 3
    threshold: Share | UnsetType = UNSET
    limit: Limit = 10
    offset: Annotated[int, Meta(ge=0, le=10_000)] = 0
    where: dict[str, Any] | str | UnsetType = UNSET
    min_share: Share | UnsetType = UNSET
    approximate: bool = False
    compare: bool = False
    with_text: bool = False
    passages: bool = True


class Match(Struct):
    id: Id
    score: float
    scale: str
    distance: float
    passages: list[Span]
    meta: dict[str, Any]
    text: str | None = None


class SearchAnswer(Struct):
    matches: list[Match]
    total: int
    scale: str
    notes: list[str]
    next: int | None = None


class SearchBatchRequest(Request):
    """Many texts (or pages), records or SimHashes in one request; the rest is said once for all of them."""

    texts: Annotated[list[str], Meta(max_length=10_000)] | UnsetType = UNSET
    simhashes: Annotated[list[int | str], Meta(max_length=100_000)] | UnsetType = UNSET
    records: Annotated[list[dict[str, Any]], Meta(max_length=10_000)] | UnsetType = UNSET
    as_: Literal["text", "page"] = "text"
    by: str | UnsetType = UNSET
    k: Bits = 3
    threshold: Share | UnsetType = UNSET
    limit: Limit = 10
    offset: Annotated[int, Meta(ge=0, le=10_000)] = 0
    where: dict[str, Any] | str | UnsetType = UNSET
    passages: bool = False


class SearchBatchAnswer(Struct):
    """``next``: of each, the offset that goes on behind its answers; null where there are no more."""

    answers: list[list[dict[str, Any]]]
    next: list[int | None]


class DocumentBody(Request):
    text: str
    meta: dict[str, Any] = {}


class DocumentLine(Struct):
    """A line of ``POST /documents``."""

    id: Id
    text: str
    meta: dict[str, Any] = {}


class Stored(Struct):
    """``characters``: of the whole text, where ``?excerpt=`` asked for its beginning."""

    id: Id
    text: str | None
    meta: dict[str, Any]
    characters: int | UnsetType = UNSET


class Put(Struct):
    id: Id
    status: Literal["added", "updated"]
    version: int


class LineStatus(Struct):
    line: int
    status: Literal["added", "updated", "skipped"]
    id: Id | None = None
    message: str = ""


class Removed(Struct):
    removed: int
    version: int


class RemoveRequest(Request):
    ids: Annotated[list[Id], Meta(max_length=10_000)]


class Page(Struct):
    documents: list[Stored]
    next: str | None
    total: int


class AdmitRequest(Request):
    id: Id
    text: str
    meta: dict[str, Any] = {}
    by: str | UnsetType = UNSET
    k: Bits = 3
    threshold: Share | UnsetType = UNSET
    mode: Literal["refuse", "link", "add"] = "refuse"


class Admitted(Struct):
    id: Id
    admitted: bool
    match: Match | None
    version: int


class ClusterMember(Struct):
    id: Id
    similarity: float


class ClusterShape(Struct):
    kept: Id
    scale: str
    removed: list[ClusterMember]


class ClustersAnswer(Struct):
    clusters: list[ClusterShape]
    notes: list[str]


class PairsRequest(Request):
    """All documents of a collection against all: which of them share passages. See docs/pairs.md for what the fields mean."""

    as_: Literal["text", "code"] = "text"
    language: str | UnsetType = UNSET
    where: dict[str, Any] | str | UnsetType = UNSET
    threshold: Share = 0.0
    min_length: Annotated[int, Meta(ge=2, le=1000)] | UnsetType = UNSET
    min_surprise: Annotated[float, Meta(ge=-10_000, le=10_000)] = 20.0
    common: Annotated[int, Meta(ge=1, le=1_000_000)] | UnsetType = UNSET
    ignore: Annotated[list[str], Meta(max_length=100)] = []
    leave_out: list[Literal["quotes", "references"]] = []
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000
    passages: bool = True
    format: Literal["json", "html"] = "json"
    anonymous: bool = False


class PairPassage(Struct):
    left: Between
    right: Between
    tokens: int
    surprise: float


class PairShape(Struct):
    left: Id
    right: Id
    score: float
    shared: int
    containment: dict[str, float]
    passages: list[PairPassage]


class CommonShape(Struct):
    """What so many documents have that it does not count."""

    text: str
    documents: int


class PairsAnswer(Struct):
    """``total``: of all pairs that were found, those beyond the limit too."""

    documents: list[Id]
    pairs: list[PairShape]
    total: int
    common: list[CommonShape]
    notes: list[str]


class FeedbackRequest(Request):
    """Pairs of a draft and what became of it; other fields of a pair (model, time, author …) are kept beside it."""

    pairs: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=100_000)]
    by: str | UnsetType = UNSET


class CollectionRequest(Request):
    name: Name
    kinds: list[str] | UnsetType = UNSET
    recipe: str | dict[str, Any] | UnsetType = UNSET  # a name, or what Recipe.to_dict() makes
    threshold: Share | UnsetType = UNSET
    recall: Share | UnsetType = UNSET
    bits: Literal[32, 64, 128] | UnsetType = UNSET
    size: Annotated[int, Meta(ge=1, le=4096)] | UnsetType = UNSET
    keep_text: bool | UnsetType = UNSET
    keyed: bool | UnsetType = UNSET


class AliasRequest(Request):
    alias_of: Name


class Collections(Struct):
    """The names of collections, and the further names that lead to one."""

    collections: list[str]
    aliases: dict[str, str] = {}


class FetchRequest(Request):
    url: Annotated[str, Meta(min_length=1, max_length=4000)]


class ReadAnswer(Struct):
    """The text of a file or of a page from the web."""

    text: str
    name: str
    kind: str
    notes: list[str]
    html: str | None = None


class Health(Struct):
    status: Literal["ok"]


class Ready(Struct):
    status: Literal["ready", "starting"]
    documents: int
    writer: bool
