"""Every request that is answered, in one table: from it come the routing, the rights that are needed, the metrics and /openapi.json."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call

if TYPE_CHECKING:
    from lookalike.service.app import Service

Handler = Callable[["Service", Call], Awaitable[Answer]]
QuickHandler = Callable[["Service", Call, bytes], Answer | None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of a query string."""

    name: str
    type: str
    description: str


COLLECTION = Parameter("collection", "string", "the collection; 'default' if it is not named")
WHERE = Parameter("where", "string", "a filter on meta, as JSON or as site=a.com")


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str  # {id} matches one segment
    handler: Handler
    summary: str
    asks: Any = None  # the shape of the body
    answers: Any = None  # the shape of the answer; None where it is not JSON
    write: bool = False
    open: bool = False  # needs no token
    parameters: tuple[Parameter, ...] = ()
    takes: str = "application/json"
    gives: str = "application/json"
    at_once: QuickHandler | None = None  # answers what takes no time; the body has come, and None is left to the handler

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


def table() -> list[Route]:
    from lookalike.service.handlers import collections, comparing, documents, operating, pairing, searching

    return [
        Route("POST", "/compare", comparing.compare, "How alike two things are, and why", shapes.CompareRequest, shapes.Comparison),
        Route(
            "POST",
            "/fingerprint",
            comparing.fingerprint,
            "The fingerprints of a text or a record",
            shapes.FingerprintRequest,
            shapes.FingerprintAnswer,
        ),
        Route(
            "POST",
            "/read",
            comparing.read,
            "The text of a file: the body is the file",
            answers=shapes.ReadAnswer,
            parameters=(Parameter("name", "string", "the name of the file"),),
            takes="application/octet-stream",
        ),
        Route("POST", "/fetch", comparing.fetch, "A page from the web, where that is enabled", shapes.FetchRequest, shapes.ReadAnswer),
        Route("POST", "/feedback", comparing.feedback, "How usable drafts were", shapes.FeedbackRequest, dict[str, Any]),
        Route(
            "POST",
            "/search",
            searching.search,
            "What looks like it",
            shapes.SearchRequest,
            shapes.SearchAnswer,
            parameters=(COLLECTION,),
            at_once=searching.search_at_once,
        ),
        Route(
            "POST",
            "/search/batch",
            searching.batch,
            "What looks like each of many",
            shapes.SearchBatchRequest,
            shapes.SearchBatchAnswer,
            parameters=(COLLECTION,),
        ),
        Route(
            "GET",
            "/clusters",
            searching.clusters,
            "Documents that look alike",
            answers=shapes.ClustersAnswer,
            parameters=(
                COLLECTION,
                WHERE,
                Parameter("by", "string", "near, simhash, meaning, structure …"),
                Parameter("threshold", "number", "documents are alike from this similarity on"),
            ),
        ),
        Route(
            "POST",
            "/pairs",
            pairing.pairs,
            "All documents against all: which share passages",
            shapes.PairsRequest,
            shapes.PairsAnswer,
            parameters=(COLLECTION,),
        ),
        Route(
            "POST",
            "/admit",
            documents.admit,
            "Add a document unless one like it is there",
            shapes.AdmitRequest,
            shapes.Admitted,
            write=True,
            parameters=(COLLECTION,),
        ),
        Route("GET", "/documents/{id}", documents.get, "A document", answers=shapes.Stored, parameters=(COLLECTION,)),
        Route(
            "PUT",
            "/documents/{id}",
            documents.put,
            "Add or replace a document",
            shapes.DocumentBody,
            shapes.Put,
            write=True,
            parameters=(COLLECTION,),
        ),
        Route(
            "DELETE", "/documents/{id}", documents.remove, "Remove a document", answers=shapes.Removed, write=True, parameters=(COLLECTION,)
        ),
        Route(
            "POST",
            "/documents/remove",
            documents.remove_many,
            "Remove many documents, all or none",
            shapes.RemoveRequest,
            shapes.Removed,
            write=True,
            parameters=(COLLECTION,),
        ),
        Route(
            "POST",
            "/documents",
            documents.add_lines,
            "Add many: a document per line, a status per line",
            shapes.DocumentLine,
            shapes.LineStatus,
            write=True,
            parameters=(COLLECTION,),
            takes="application/x-ndjson",
            gives="application/x-ndjson",
        ),
        Route(
            "GET",
            "/documents",
            documents.page,
            "Documents, oldest first",
            answers=shapes.Page,
            parameters=(
                COLLECTION,
                WHERE,
                Parameter("after", "string", "'next' of the page before"),
                Parameter("limit", "integer", "documents per page, up to 1000"),
                Parameter("contains", "string", "only documents whose id or text contains this"),
                Parameter("excerpt", "integer", "of each text only so many characters, and how many it has"),
            ),
        ),
        Route("GET", "/collections", collections.names, "The names of all collections, and their aliases", answers=shapes.Collections),
        Route("POST", "/collections", collections.create, "Make a collection", shapes.CollectionRequest, shapes.Collections, write=True),
        Route(
            "PUT",
            "/collections/{name}",
            collections.alias,
            "Let a name lead to a collection, in one step",
            shapes.AliasRequest,
            shapes.Collections,
            write=True,
        ),
        Route(
            "DELETE",
            "/collections/{name}",
            collections.drop,
            "Drop a collection with all its documents and aliases, or an alias",
            answers=shapes.Removed,
            write=True,
        ),
        Route("GET", "/stats", operating.stats, "Counts, sizes and settings", answers=dict[str, Any], parameters=(COLLECTION,)),
        Route(
            "POST",
            "/snapshot",
            operating.snapshot,
            "A consistent copy, as 'lookalike load' reads it",
            parameters=(COLLECTION,),
            gives="application/x-ndjson",
        ),
        Route("GET", "/healthz", operating.healthz, "Whether the process answers", answers=shapes.Health, open=True),
        Route("GET", "/readyz", operating.readyz, "Whether it can search and write", answers=shapes.Ready, open=True),
        Route("GET", "/metrics", operating.metrics, "Counters for Prometheus", gives="text/plain; version=0.0.4"),
        Route("GET", "/openapi.json", operating.openapi, "This description", answers=dict[str, Any], open=True),
    ]
