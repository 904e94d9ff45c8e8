"""The contract of a store: what the index asks of it. ``lookalike.testing.StoreContract`` tests it.

A document has an id, which the caller chose, and a *row*, a number that the store gives in order of adding. An id that is
added again gets a new row, and the old one is never used again. Fingerprints are in columns, which the kinds in ``stores.kinds`` bring.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.model import Document
from lookalike.stores.fields import FieldRange
from lookalike.stores.ids import Id
from lookalike.stores.settings import Settings, Wanted

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

OnProgress = Callable[[int], object]  # is told how many documents are done
Answer_co = TypeVar("Answer_co", covariant=True)
Answer = TypeVar("Answer")


class Link(NamedTuple):
    """That a document is a member of the cluster of another one, and how alike it was to it."""

    leader: Id
    similarity: float
    elsewhere: int | None = None  # the leader is in another store: what stands for its row, below 0
    root: int | None = None  # the row that the cluster was linked to from its beginning; None: that of the leader


@dataclass(slots=True)
class Additions:
    """Documents with their fingerprints, in columns. A column that the documents do not have is not there."""

    ids: Sequence[Id]
    texts: Sequence[str | None]
    metas: Sequence[str | None]  # JSON
    columns: dict[str, Any] = field(default_factory=dict)  # an array of as many numbers for each document, or a list of one value for each
    links: dict[Id, Link] = field(default_factory=dict)  # of those that are members of a cluster
    expires: dict[Id, int] = field(default_factory=dict)  # of those that do: milliseconds since 1970

    def __len__(self) -> int:
        return len(self.ids)

    def last_of_each(self) -> Additions:
        """The batch without those documents whose id comes again later in it."""
        last = {id_: place for place, id_ in enumerate(self.ids)}
        return self if len(last) == len(self) else self.take(sorted(last.values()))

    def take(self, places: Sequence[int]) -> Additions:
        """The documents at these places."""

        def taken(column: Any) -> Any:
            if isinstance(column, np.ndarray):
                return column.reshape(len(self), -1)[places].reshape(-1)
            return [column[place] for place in places]

        columns = {name: taken(column) for name, column in self.columns.items()}
        return Additions(taken(self.ids), taken(self.texts), taken(self.metas), columns, self.links, self.expires)


class Added(NamedTuple):
    """How many documents were new, and how many replaced one with the same id."""

    added: int
    updated: int


NO_COLUMNS: Mapping[str, Any] = MappingProxyType({})


class StoredDocument(NamedTuple):
    """What a store holds of a document, as far as it was asked for."""

    row: int
    id: Id
    text: str | None = None
    meta: str | None = None
    columns: Mapping[str, Any] = NO_COLUMNS


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


class Segments(Protocol):
    """The segments of one kind in one state of a collection, and which of their rows are live."""

    settings: Settings
    documents: int

    @property
    def all(self) -> list[Any]: ...
    @property
    def removed(self) -> NDArray[np.int64]:
        """Rows that segments may hold and that are not there any more, ascending."""
        ...

    def live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these rows were not removed."""
        ...

    def through_graphs(self, queries: NDArray[np.uint16], limit: int, workers: int) -> tuple[list[Any], str]:
        """What approximate searches find: of each segment its best, and a note that says how."""
        ...


class Question(Protocol[Answer_co]):
    """Something that is asked of all documents of a collection, by one kind of fingerprint. The answer has live documents only."""

    kind: ClassVar[str]

    def in_segments(self, segments: Segments) -> Answer_co: ...
    def in_postgres(self, tables: PostgresReader) -> Answer_co: ...


class Reader(Protocol):
    """One consistent state of a collection."""

    def count(self) -> int: ...
    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]: ...
    def ids_of(self, rows: Sequence[int]) -> dict[int, Id]:
        """The ids of those of these rows that are there."""
        ...

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]: ...
    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        """All documents in order of their rows, from one on."""
        ...

    def find(self, question: Question[Answer]) -> Answer:
        """The answer to a question. A store that keeps segments asks it ``in_segments``."""
        ...

    def rows_within(self, within: FieldRange, most: int) -> NDArray[np.int64] | None:
        """Rows whose field may be in a range, ascending: all that are, and perhaps others. None: there are more than ``most``, or no index
        of the field tells. Documents that have expired or are gone may be among them."""
        ...

    @property
    def stores_all_columns(self) -> bool:
        """Whether ``records`` has the columns that segments are built from: then some documents alone can be searched."""
        ...

    def hidden(self) -> Collection[int]:
        """Rows that ``find`` may answer with though their documents have expired. Nothing else shows them."""
        ...

    def links(self, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
        """Of these documents the members of clusters: the row of the one that each was linked to, which may be gone, and the similarity."""
        ...

    def linked_to(self, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
        """The members that were linked to these rows, or to any: (row it was linked to, row, similarity), in order of both rows."""
        ...

    def expirations(self, rows: Sequence[int]) -> dict[int, int]:
        """When these documents expire, those that do: milliseconds since 1970."""
        ...


class Names(Protocol):
    """What the collections of a store are called. Names that are given were checked."""

    name: str  # what messages call the store

    def collections(self) -> list[str]: ...
    def aliases(self) -> dict[str, str]:
        """The collections that aliases lead to."""
        ...

    def rename(self, collection: str, name: str) -> None:
        """``NotFound`` where there is no such collection, ``InputError`` where the new name is taken. Aliases follow."""
        ...

    def alias(self, name: str, collection: str) -> None:
        """Make an alias, or lead it elsewhere, in one step. The collection may be named by another alias."""
        ...

    def drop(self, name: str) -> int:
        """Drop an alias, or a collection with its documents and its aliases; returns how many documents it had."""
        ...

    def open(self, collection: str, wanted: Wanted, *, create: bool) -> Store:
        """Another collection of the store, which is closed by itself."""
        ...

    def close(self) -> None: ...


class Store(Protocol):
    """A collection somewhere."""

    name: str  # what messages call it
    settings: Settings
    wanted: Wanted  # what whoever opened it asked for

    def reading(self) -> AbstractContextManager[Reader]: ...
    def write(self, batch: Additions) -> Added:
        """Add or replace, all or nothing. When it returns, the documents survive whatever happens to the process."""
        ...

    @property
    def at_once(self) -> int:
        """How many documents are decided on together, see ``decide``."""
        ...

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[Reader], tuple[Additions, Answer]]) -> Answer:
        """Let ``choose`` read the collection and say what to write, and write it, as one: all or nothing.

        Meanwhile nobody else decides who has one of these keys too; without keys, nobody at all. ``choose`` may be asked again where
        the transaction has to be tried again.
        """
        ...

    def remove(self, ids: Sequence[Id]) -> int: ...
    def adopt(self, settings: Settings) -> bool:
        """Take these settings, which are as ``wanted``, in place of its own; only an empty collection does.

        Whoever has the collection open elsewhere is told to open it again.
        """
        ...

    def names(self) -> Names:
        """What is done with collections as a whole. To be closed."""
        ...

    def stats(self) -> dict[str, Any]: ...
    def check(self, repair: bool, progress: OnProgress | None = None) -> CheckReport:
        """``progress`` is told how many documents were checked."""
        ...

    def compact(self, progress: OnProgress | None = None) -> dict[str, Any]: ...
    def close(self, progress: OnProgress | None = None) -> None:
        """``progress`` is told how many documents what is made at the end has: the indexes of a bulk load into PostgreSQL."""
        ...
