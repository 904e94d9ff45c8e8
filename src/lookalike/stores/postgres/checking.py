"""``check``: is everything in the database that a search relies on, and does it fit the documents? ``--repair`` makes it anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.stores.base import Batch, CheckReport, Progress, Record
from lookalike.stores.postgres import schema
from lookalike.stores.postgres.connections import Connection
from lookalike.stores.postgres.reading import PostgresReader, bands_of
from lookalike.stores.postgres.rows import mixed, winnowing_hashes
from lookalike.stores.postgres.structures import REPLACE, wrong_structures
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.store import PostgresStore

AT_A_TIME = 1000
COLUMNS = ("digest", "minhash", "winnowing", "text")
STORED = "SELECT ordinal, hashes FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"
SKETCHES = "SELECT digest, bands FROM lookalike.sketches WHERE collection = %s AND digest = ANY (%s)"


class Wrong(NamedTuple):
    """What is to be put right."""

    documents: int  # how many there are
    hashes: dict[int, list[int] | None]  # by row
    bands: dict[int, list[int]]  # by digest
    structures: dict[int, list[int]]  # the same of web pages
    indexes: list[str]


def check_collection(store: PostgresStore, repair: bool, progress: Progress = None) -> CheckReport:
    report, wrong = _checked(store, progress)
    if repair and report.problems:
        store._connections.transaction(lambda connection: _repair(connection, store._number, wrong))
        after, _ = _checked(store, progress)
        after.repaired = [problem for problem in report.problems if problem not in after.problems]
        return after
    return report


def _checked(store: PostgresStore, progress: Progress) -> tuple[CheckReport, Wrong]:
    report = CheckReport()
    wrong = Wrong(0, {}, {}, {}, [])
    with store._connections.snapshot() as connection:
        collection = store._number
        recorded = connection.execute("SELECT documents FROM lookalike.collections WHERE number = %s", (collection,)).fetchone()
        reader = PostgresReader(connection, collection, 0, store.settings, store._connections.require_open)
        documents = 0
        for records in _parts(reader.scan(COLUMNS)):
            documents += len(records)
            wrong.hashes.update(_wrong_hashes(connection, collection, records, store.settings))
            wrong.bands.update(_wrong_bands(connection, collection, records, store.settings))
            if progress:
                progress(documents)
        wrong.structures.update(wrong_structures(connection, collection, store.settings))
        wrong.indexes.extend(schema.missing_indexes(connection))
    if recorded is None or recorded[0] != documents:
        report.problems.append(f"documents: {documents}, but {recorded[0] if recorded else 'none'} are on record")
    if wrong.hashes:
        report.problems.append(f"passages: the hashes of {len(wrong.hashes)} documents do not fit their texts")
    if wrong.bands:
        report.problems.append(f"bands: {len(wrong.bands)} MinHashes have no sketch, or another one")
    if wrong.structures:
        report.problems.append(f"structures: the bands of {len(wrong.structures)} do not fit their tag paths")
    report.problems += [f"index {name}: it is missing or not valid" for name in wrong.indexes]
    report.checked = {"documents": documents, "indexes": len(schema.index_names())}
    return report, wrong._replace(documents=documents)


def _parts(records: Iterator[Record]) -> Iterator[list[Record]]:
    while part := list(islice(records, AT_A_TIME)):
        yield part


def _wrong_hashes(connection: Connection, collection: int, records: Sequence[Record], settings: Settings) -> dict[int, list[int] | None]:
    texts, packed = [each.text for each in records], [each.winnowing for each in records]
    rows = [each.row for each in records]
    made = winnowing_hashes(Batch(rows, texts, texts, winnowing=packed), settings)
    expected = {row: None if one is None else mixed(one, collection).tolist() for row, one in zip(rows, made, strict=True)}
    stored: dict[int, list[int] | None] = dict(connection.execute(STORED, (collection, rows), binary=True).fetchall())
    return {row: hashes for row, hashes in expected.items() if stored[row] != hashes}


def _wrong_bands(connection: Connection, collection: int, records: Sequence[Record], settings: Settings) -> dict[int, list[int]]:
    import numpy as np

    sketched = {each.digest: each.minhash for each in records if each.digest is not None and each.minhash is not None}
    if not sketched:
        return {}
    values = np.frombuffer(b"".join(sketched.values()), dtype=np.uint32)
    digests = np.array(list(sketched), dtype=np.uint64).view(np.int64).tolist()
    made = dict(zip(digests, bands_of(values, settings, collection).tolist(), strict=True))
    stored: dict[int, list[int]] = dict(connection.execute(SKETCHES, (collection, digests), binary=True).fetchall())
    return {digest: bands for digest, bands in made.items() if stored.get(digest) != bands}


def _repair(connection: Connection, collection: int, wrong: Wrong) -> None:
    run: Any = connection.execute
    # No writer may change what was counted and compared.
    run("LOCK TABLE lookalike.documents, lookalike.sketches IN SHARE ROW EXCLUSIVE MODE")
    for row, hashes in wrong.hashes.items():
        run("UPDATE lookalike.documents SET hashes = %s WHERE collection = %s AND ordinal = %s", (hashes, collection, row))
    for digest, bands in wrong.bands.items():
        run(
            "INSERT INTO lookalike.sketches VALUES (%s, %s, %s) ON CONFLICT (collection, digest) DO UPDATE SET bands = excluded.bands",
            (collection, digest, bands),
        )
    for digest, bands in wrong.structures.items():
        run(REPLACE, (bands, collection, digest))
    for name in wrong.indexes:
        run(f"DROP INDEX IF EXISTS lookalike.{name}")
    schema.make_indexes(connection)
    counted = "SELECT count(*) FROM lookalike.documents WHERE collection = number"
    run(f"UPDATE lookalike.collections SET documents = ({counted}) WHERE number = %s", (collection,))  # noqa: S608
