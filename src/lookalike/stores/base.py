"""The contract of a store: what the index asks of it. ``lookalike.testing.StoreContract`` tests it.

A document has an id, which the caller chose, and a *row*, a number that the store gives in order of adding. An id that is
added again gets a new row, and the old one is never used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lookalike.fingerprints.winnowing import Winnowing
from lookalike.model import Document
from lookalike.segments.hamming import Found
from lookalike.stores.settings import Settings, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.segments.shared import SharedResult
    from lookalike.segments.vectors import NearVectors

Id = str | int
Progress = Callable[[int], object] | None


@dataclass(slots=True)
class Batch:
    """Documents with their fingerprints, in columns. A column of a kind that the collection does not keep is None."""

    ids: Sequence[Id]
    texts: Sequence[str | None]
    metas: Sequence[str | None]  # JSON
    digests: NDArray[np.uint64] | None = None  # of the contents: equal ones have equal features
    simhash: NDArray[np.uint64] | None = None  # one word each, or for 128 bits two, the low half first
    minhash: NDArray[np.uint32] | None = None  # `size` values each
    winnowing: Sequence[bytes | None] | None = None  # packed, where texts are not kept
    ssdeep: Sequence[str | None] | None = None
    tlsh: Sequence[str | None] | None = None
    vector: NDArray[np.uint16] | None = None  # halves, as many as the collection has dimensions; zeros where there is none
    structure: Sequence[bytes | None] | None = None  # of web pages, see stores.page_structures

    def __len__(self) -> int:
        return len(self.ids)

    def last_of_each(self) -> Batch:
        """The batch without those documents whose id comes again later in it."""
        last = {id_: place for place, id_ in enumerate(self.ids)}
        return self if len(last) == len(self) else self.take(sorted(last.values()))

    def take(self, places: Sequence[int]) -> Batch:
        """The documents at these places."""

        def lines(column: Sequence[Any] | None) -> list[Any] | None:
            return None if column is None else [column[place] for place in places]

        def numbers(column: Any) -> Any:
            return None if column is None else column.reshape(len(self), -1)[places].reshape(-1)

        return Batch(
            [self.ids[place] for place in places],
            [self.texts[place] for place in places],
            [self.metas[place] for place in places],
            numbers(self.digests),
            numbers(self.simhash),
            numbers(self.minhash),
            lines(self.winnowing),
            lines(self.ssdeep),
            lines(self.tlsh),
            numbers(self.vector),
            lines(self.structure),
        )


class Added(NamedTuple):
    """How many documents were new, and how many replaced one with the same id."""

    added: int
    updated: int


class Record(NamedTuple):
    """What a store holds of a document."""

    row: int
    id: Id
    text: str | None = None
    meta: str | None = None
    digest: int | None = None
    simhash: int | None = None
    minhash: bytes | None = None
    winnowing: bytes | None = None
    ssdeep: str | None = None
    tlsh: str | None = None
    vector: bytes | None = None
    structure: bytes | None = None


class Group(NamedTuple):
    """Documents of equal contents that share bands with a query."""

    digest: int
    rows: Sequence[int]  # ascending; the oldest of them, where there are more than were asked for
    size: int
    shared: int  # bands


class Groups(NamedTuple):
    groups: list[Group]
    total: int  # how many groups there were before the limit


class FuzzyFound(NamedTuple):
    """Rows by their fuzzy digests, best first, then by row; ``total`` is how many there were before the limit."""

    rows: NDArray[np.int64]
    values: NDArray[np.int64]  # TLSH distances, or ssdeep scores
    total: int


@dataclass(slots=True)
class CheckReport:
    """What ``check`` found wrong, and what it put right."""

    problems: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    again: list[Document] = field(default_factory=list, repr=False)  # their texts are whole, their fingerprints not: to be added again

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "problems": self.problems, "repaired": self.repaired, "checked": self.checked}


class Reader(Protocol):
    """One consistent state of a collection. Searches report live documents only, by row."""

    def count(self) -> int: ...
    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]: ...
    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]: ...
    def scan(self, columns: Sequence[str]) -> Iterator[Record]:
        """All documents in order of their rows."""
        ...

    def near_simhashes(self, words: NDArray[np.uint64], k: int, limit: int, workers: int) -> Found:
        """All rows within ``k`` bits of each query, nearest first, then by row."""
        ...

    def sharing_bands(self, keys: NDArray[np.uint32], limit: int, rows: int, kind: str = "minhash") -> Groups:
        """Groups that share a band key with the query, at most ``limit`` of them with at most ``rows`` rows each.

        ``kind``: minhash, the contents of documents, or structure, that of web pages.
        """
        ...

    def may_share_bands(self, keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Of many queries, those for which ``sharing_bands`` may find something: where this is cheaper than asking for each."""
        ...

    def sharing_passages(self, query: Winnowing, limit: int) -> SharedResult: ...
    def near_tlsh(self, digest: str, max_distance: int, limit: int) -> FuzzyFound: ...
    def near_ssdeep(self, digest: str, min_score: int, limit: int) -> FuzzyFound: ...
    def near_vectors(self, halves: NDArray[np.uint16], least: float, limit: int, workers: int, approximate: bool = False) -> NearVectors:
        """All rows with a cosine of at least ``least``, best first, then by row. Queries are halves, one after the other.

        ``approximate``: some of the nearest may be missed, if that is faster; ``notes`` say whether they may have been.
        """
        ...


class Store(Protocol):
    """A collection somewhere."""

    name: str  # what messages call it
    settings: Settings
    wanted: Wanted  # what whoever opened it asked for

    def reading(self) -> AbstractContextManager[Reader]: ...
    def write(self, batch: Batch) -> Added:
        """Add or replace, all or nothing. When it returns, the documents survive whatever happens to the process."""
        ...

    def remove(self, ids: Sequence[Id]) -> int: ...
    def adopt(self, settings: Settings) -> bool:
        """Take these settings, which are as ``wanted``, in place of its own; only an empty collection does.

        Whoever has the collection open elsewhere is told to open it again.
        """
        ...

    def stats(self) -> dict[str, Any]: ...
    def check(self, repair: bool, progress: Progress = None) -> CheckReport:
        """``progress`` is told how many documents were checked."""
        ...

    def compact(self, progress: Progress = None) -> dict[str, Any]: ...
    def close(self) -> None: ...
