"""What a kind of fingerprint is to a store: its columns, how they are made, searched, exported, and how they look in a database.

A kind of one's own derives from ``Kind`` and says what differs; its ways of searching derive from ``Way``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from lookalike.errors import InputError
from lookalike.stores.base import Additions, OnProgress, Reader, Segments, Store, StoredDocument
from lookalike.stores.kinds.columns import Column
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.markup.page import Page
    from lookalike.recipe import Recipe
    from lookalike.stores.clusters import Clusters
    from lookalike.stores.given import Given
    from lookalike.stores.matches import Matches
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader
    from lookalike.stores.stretches import Stretch

Answer = TypeVar("Answer")


K, LIMIT = 3, 10  # of ``Index.search``, unless it is told otherwise


class Options(NamedTuple):
    """How a search was asked for."""

    k: int
    threshold: float | None
    limit: int
    approximate: bool = False
    min_share: float | None = None  # by passages: how much of a document the query must hold

    nearest: bool = False  # by near: below the threshold of a collection, also what shares passages

    def least(self, default: float) -> float:
        """The threshold, or what a way takes for one where none was given."""
        return default if self.threshold is None else self.threshold


class Way(ABC):
    """A way of searching: what ``by`` names. A query is prepared before the store is read: that may take a model's time."""

    name: ClassVar[str]
    scale: ClassVar[str]  # what scores are: only numbers on one scale can be compared
    place: ClassVar[int] = 100  # in lists
    takes: ClassVar[str] = "text"  # or "bytes", "page", "record", or "thing": whatever was given
    alike_from: ClassVar[float | None] = None  # the score from which a document is not admitted, where that is not what a search takes
    approximates: ClassVar[bool] = False  # may be told to miss some for speed
    clusters_are_made: ClassVar[bool] = False
    narrows: ClassVar[bool] = True  # among some of the documents alone it finds what it finds of them among all
    # The parameter of ``search`` for a fingerprint that was made elsewhere, and which other names of ways fit it.
    parameter: ClassVar[str | None] = None
    also: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def query(self, thing: Any, settings: Settings) -> Any:
        """What is searched for, from a text, bytes or a path, a page: what the way ``takes``."""

    def given(self, fingerprint: Any, settings: Settings) -> Any:
        """The same from a fingerprint that was made elsewhere."""
        raise InputError(f"by={self.name!r}: search for a thing, not for its fingerprint")

    def is_of(self, fingerprint: object) -> bool:
        """Whether a value of its parameter is for this way; asked where several ways have the same."""
        return True

    @abstractmethod
    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        """The matches, best first."""

    def at_once(self, store: Store, text: str, options: Options, *, with_text: bool) -> Matches | None:
        """What ``find`` gives for a text, on its scale, and what is kept beside the documents, where a store has a shorter way to it."""
        return None

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        raise InputError(f"by={self.name!r}: no clusters are made by it")

    # Many documents that are about to be added, see ``index.admit``

    def queries(self, given: Given, batch: Additions, settings: Settings) -> list[Any]:
        """What ``query`` makes of each, taken from their columns where these have it."""
        if self.takes not in ("text", "bytes"):
            raise InputError(f"by={self.name!r}: documents are not admitted by it; choose near, simhash or meaning")
        return [self.query(thing, settings) for thing in (given.things() if self.takes == "bytes" else given.texts)]

    def may_find(self, reader: Reader, settings: Settings, queries: Sequence[Any], options: Options) -> Sequence[bool]:
        """For which of them ``find`` may find something, where this is cheaper than asking for each."""
        return [True] * len(queries)

    def collision_keys(self, queries: Sequence[Any], settings: Settings, options: Options) -> NDArray[np.int64] | None:
        """As many numbers for each, such that two of which ``find`` finds one for the other have one in common. None: there are none."""
        return None


class Asked(ABC, Generic[Answer]):
    """A question, see ``stores.base.Question``. Where a kind has no search of its own in PostgreSQL, its values are read from there and
    become a segment."""

    kind: ClassVar[str]

    @abstractmethod
    def in_segments(self, segments: Segments) -> Answer: ...

    def in_postgres(self, tables: PostgresReader) -> Answer:
        return self.in_segments(tables.as_segments(self.kind))


class Kind(ABC):
    """One kind of fingerprint."""

    name: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]
    segment: ClassVar[Any]  # its class: ``merge``, ``open``, ``sections``, see lookalike.segments
    built_from: ClassVar[tuple[str, ...]]  # columns, or "text"
    ways: ClassVar[tuple[Way, ...]] = ()
    by_default: ClassVar[bool] = False  # whether a new collection has it without being asked
    of_pages: ClassVar[bool] = False  # whether something is kept of web pages, see ``of_page``
    of_bytes: ClassVar[bool] = False  # whether a file without text has it too
    of_records: ClassVar[bool] = False  # whether something is kept of records: ``made`` finds them in ``given.records``
    made_from_text: ClassVar[bool] = True  # from nothing else: where there is a text, nothing is exported
    # It does not depend on the settings of a collection: what was exported stays as it is where all else is made anew.
    lasting: ClassVar[bool] = False
    all_or_none: ClassVar[bool] = False  # its columns are there for all documents of a batch, or for none

    # Settings

    def fits(self, recipe: Recipe) -> bool:
        """Whether it can be made and searched under a recipe."""
        return True

    def check(self, settings: Settings) -> None:
        """Raise unless a collection with these settings can have it."""
        if not self.fits(settings.recipe):
            raise InputError(f"kinds: a recipe with hash={settings.recipe.hash!r} has no {self.name} that a store can search; leave it out")

    def completed(self, settings: Settings) -> Settings:
        """The settings of a new collection with what this kind adds to them."""
        return settings

    @abstractmethod
    def recipe(self, settings: Settings) -> str:
        """The id of what its fingerprints are made with, which segments carry too."""

    # From documents to columns

    def of_page(self, page: Page) -> Any:
        """What is kept of a web page, at once: a page is many times larger. ``made`` finds it in ``given.of_pages``."""
        return None

    @abstractmethod
    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        """The columns of documents that were just given."""

    def remade(self, texts: Sequence[str], settings: Settings) -> dict[str, list[Any]]:
        """Values of columns that must be those of documents with these texts, as a ``StoredDocument`` has them: what ``check`` compares."""
        return {}

    batch_elsewhere: ClassVar[int] = 8192  # documents that are written at a time

    def made_elsewhere(self, fingerprints: Any, settings: Settings) -> tuple[int, dict[str, Any]]:
        """Fingerprints that somebody made elsewhere, checked: how many, and as arrays of columns."""
        raise InputError(f"{self.name} fingerprints cannot be added without their documents")

    # Segments, and columns in SQLite

    def stored(self, batch: Additions) -> dict[str, Sequence[Any]]:
        """The columns of a batch as SQLite takes them."""
        return {each.name: each.stored(batch.columns[each.name], len(batch)) for each in self._kept(batch)}

    def packed(self, batch: Additions) -> dict[str, Any]:
        """The same as native code takes them."""
        return {each.name: each.packed(batch.columns[each.name], len(batch)) for each in self._kept(batch)}

    def _kept(self, batch: Additions) -> Iterator[Column]:
        return (each for each in self.kept_columns(batch) if batch.columns.get(each.name) is not None)

    def kept_columns(self, batch: Additions) -> Iterable[Column]:
        """Those that SQLite keeps of a batch."""
        return self.columns

    @abstractmethod
    def build(self, stretch: Stretch, settings: Settings) -> Any:
        """A segment."""

    def build_all(self, parts: Iterable[Stretch], settings: Settings) -> Any:
        """One segment from stretches that follow each other; at least one, which may be empty."""
        from lookalike.stores.stretches import Stretch

        built = [self.build(stretch, settings) for stretch in parts]
        if not built:
            built = [self.build(Stretch.stored([], {column: [] for column in self.built_from}), settings)]
        return built[0] if len(built) == 1 else self.segment.merge(built, np.zeros(0, dtype=np.int64))

    # Export and load

    @property
    def exported_columns(self) -> tuple[str, ...]:
        """What ``exported`` looks at."""
        return tuple(column.name for column in self.columns)

    def exported(self, record: StoredDocument, settings: Settings) -> dict[str, Any]:
        """What an export says of a document, by name."""
        value = record.columns.get(self.name)
        return {} if value is None else {self.name: self.print_of(value, settings)}

    @abstractmethod
    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        """A value as an export has it."""

    def parsed(self, prints: Mapping[str, Any], settings: Settings) -> Any:
        """What ``exported`` wrote, checked; None where there is nothing of this kind."""
        return self.read_print(prints[self.name], settings) if self.name in prints else None

    @abstractmethod
    def read_print(self, data: Any, settings: Settings) -> Any:
        """What ``print_of`` wrote, checked: its recipe too."""

    def loaded(self, parsed: Sequence[Any], texts: Sequence[str | None], settings: Settings) -> dict[str, Any]:
        """The columns of documents from what was ``parsed`` of each. Where ``all_or_none``, there is something of each."""
        return {self.name: list(parsed)} if any(each is not None for each in parsed) else {}

    # PostgreSQL

    in_schema: ClassVar[bool] = False  # whether every database has what it needs from the start
    # The table into which ``add_rows`` writes what nobody sees before a document has it: a bulk load commits that before the documents.
    early_table: ClassVar[str | None] = None
    side_tables: ClassVar[tuple[str, ...]] = ()  # of the schema, from whose (collection, ordinal) a removed document is deleted too
    checked_columns: ClassVar[tuple[str, ...]] = ()  # what ``wrong_rows`` looks at

    def make_columns(self, connection: Connection) -> None:
        """Whatever is missing in the database for the first collection with this kind."""
        from lookalike.stores.postgres.schema import add_column

        for column in () if self.in_schema else self.columns:
            add_column(connection, column.name, column.postgres)

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        """What takes time, before a transaction begins."""
        return None

    def numbers(self, batch: Additions, settings: Settings) -> dict[str, Any] | None:
        """The columns of the table as arrays of whole numbers, where this is all that a batch has of this kind."""
        return None if any(column.name in batch.columns for column in self.columns) else {}

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        """The columns of the table, as COPY reads them."""
        columns = batch.columns
        return {each.name: each.copied(columns[each.name], len(batch)) for each in self.columns if columns.get(each.name) is not None}

    def add_rows(self, connection: Connection, collection: int, ordinals: Sequence[int], batch: Additions, prepared: Any) -> None:  # noqa: B027 - most kinds have nothing to do
        """Rows of further tables."""

    def copy_rows(self, connection: Connection, prepared: Any) -> None:  # noqa: B027 - those with an ``early_table``
        """As ``add_rows`` into the ``early_table``, in less time, where nothing of it is there yet. If something is, the server says so."""

    def drop_unused(self, connection: Connection, collection: int) -> None:  # noqa: B027 - most kinds have nothing to do
        """What no document has any more."""

    def compacted(self, connection: Connection, collection: int, settings: Settings) -> None:  # noqa: B027 - most kinds have nothing to do
        """What else ``compact`` does, outside of transactions."""

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[StoredDocument], settings: Settings) -> dict[int, Any]:
        """What is not as these documents say, and what it should be."""
        return {}

    def wrong_tables(self, connection: Connection, collection: int, settings: Settings) -> dict[int, Any]:
        """The same of tables that have no documents."""
        return {}

    def problem(self, wrong: int) -> str:
        """That so many are wrong."""
        return f"{self.name}: {wrong} values are not as they should be"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:  # noqa: B027 - most kinds have nothing to do
        """What was found wrong, made as it should be."""


def in_parts(records: Iterator[StoredDocument], size: int) -> Iterator[list[StoredDocument]]:
    while part := list(islice(records, size)):
        yield part
