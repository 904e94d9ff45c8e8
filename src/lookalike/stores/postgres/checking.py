"""``check``: is everything in the database that a search relies on, and does it fit the documents? ``--repair`` makes it anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.stores.base import CheckReport, OnProgress
from lookalike.stores.kinds import kind_named
from lookalike.stores.kinds.base import in_parts
from lookalike.stores.postgres import fields, schema
from lookalike.stores.postgres.connections import Connection
from lookalike.stores.postgres.reading import PostgresReader

if TYPE_CHECKING:
    from lookalike.stores.postgres.store import PostgresStore

AT_A_TIME = 1000


class Wrong(NamedTuple):
    """What is to be put right."""

    kinds: Mapping[str, dict[int, Any]]  # by kind, what each finds wrong
    indexes: list[str]
    unindexed: dict[int, str | None]  # documents, and their meta


def check_collection(store: PostgresStore, repair: bool, progress: OnProgress | None = None) -> CheckReport:
    report, wrong = _checked(store, progress)
    if repair and report.problems:
        store._connections.transaction(lambda connection: _repair(connection, store._number, wrong, store.settings.indexed))
        after, _ = _checked(store, progress)
        after.repaired = [problem for problem in report.problems if problem not in after.problems]
        return after
    return report


def _checked(store: PostgresStore, progress: OnProgress | None) -> tuple[CheckReport, Wrong]:
    report, collection, settings = CheckReport(), store._number, store.settings
    wrong: dict[str, dict[int, Any]] = {name: {} for name in settings.kinds}
    with store._connections.snapshot() as connection:
        recorded = connection.execute("SELECT documents FROM lookalike.collections WHERE number = %s", (collection,)).fetchone()
        if recorded is None:
            store._require_counted(0)
        reader = PostgresReader(connection, collection, (0, 0, ()), settings, store._connections.require_open, store.kept)
        documents = 0
        columns = list(dict.fromkeys(column for kind in settings.stored for column in kind.checked_columns))
        columns += ["meta"] if settings.indexed else []
        unindexed: dict[int, str | None] = {}
        for records in in_parts(reader.scan(columns), AT_A_TIME):
            documents += len(records)
            for kind in settings.stored:
                wrong[kind.name] |= kind.wrong_rows(connection, collection, records, settings)
            if settings.indexed:
                unindexed |= fields.lacking(connection, collection, settings.indexed, {each.row: each.meta for each in records})
            if progress:
                progress(documents)
        for kind in settings.stored:
            wrong[kind.name] |= kind.wrong_tables(connection, collection, settings)
        indexes = schema.missing_indexes(connection)
    if recorded is None or recorded[0] != documents:
        report.problems.append(f"documents: {documents}, but {recorded[0] if recorded else 'none'} are on record")
    report.problems += [kind_named(name).problem(len(found)) for name, found in wrong.items() if found]
    if unindexed:
        report.problems.append(f"fields: {len(unindexed)} documents are not indexed as they are")
    report.problems += [f"index {name}: it is missing or not valid" for name in indexes]
    report.checked = {"documents": documents, "indexes": len(schema.index_names())}
    return report, Wrong(wrong, indexes, unindexed)


def _repair(connection: Connection, collection: int, wrong: Wrong, indexed: Sequence[str]) -> None:
    run: Any = connection.execute
    # No writer may change what was counted and compared.
    run("LOCK TABLE lookalike.documents IN SHARE ROW EXCLUSIVE MODE")
    for name, found in wrong.kinds.items():
        if found:
            kind_named(name).put_right(connection, collection, found)
    if wrong.unindexed:
        fields.put_right(connection, collection, indexed, wrong.unindexed)
    for name in wrong.indexes:
        run(f"DROP INDEX IF EXISTS lookalike.{name}")
    schema.make_indexes(connection)
    counted = "SELECT count(*) FROM lookalike.documents WHERE collection = number"
    run(f"UPDATE lookalike.collections SET documents = ({counted}) WHERE number = %s", (collection,))  # noqa: S608
