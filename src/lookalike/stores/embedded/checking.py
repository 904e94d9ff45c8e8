"""``check``: is everything that the store says true? And ``--repair``: everything but the documents can be made anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.errors import Corrupt, StoreError
from lookalike.model import Document
from lookalike.stores.base import CheckReport, OnProgress
from lookalike.stores.embedded import rows
from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.fields import rebuild_fields, wrong_entries
from lookalike.stores.embedded.graph_files import KIND as GRAPHED
from lookalike.stores.embedded.graph_files import check_graph
from lookalike.stores.embedded.readings import Reads
from lookalike.stores.embedded.snapshots import build_segment, open_segment
from lookalike.stores.embedded.states import Sealed, State, read_sealed, segment_number, segment_path
from lookalike.stores.kinds import kind_named
from lookalike.stores.settings import Settings

MOST_SHOWN = 100  # damaged documents

if TYPE_CHECKING:
    from lookalike.stores.embedded.store import EmbeddedStore


def check_collection(
    store: EmbeddedStore, folder: Path | None, settings: Settings, repair: bool, progress: OnProgress | None = None
) -> CheckReport:
    """The database, then the numbers it keeps, then every segment against the documents it stands for."""
    report = CheckReport()
    if behind := store.place.record_problem():
        report.problems.append(behind)
    damaged: list[Sealed] = []
    graphs: list[Sealed] = []  # whose graph is damaged
    try:
        with store.reading(on_record=False) as snapshot:
            connection, state = snapshot._connection, snapshot.state
            for (line,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
                if line != "ok":
                    report.problems.append(f"database: {line}")
            sealed = read_sealed(connection, state.number)
            counted = _check_numbers(connection, state, sealed, report)
            whole = _check_rows(connection, state, report)
            fields = wrong_entries(connection, state, settings.indexed) if whole and settings.indexed else 0
            if fields:
                report.problems.append(f"fields: {fields:,} entries of the index of {', '.join(settings.indexed)} are missing or too many")
            steps = _Steps(progress, len(settings.kinds))
            # A segment is compared with what its documents have: where they are damaged, there is nothing to compare it with.
            for each in sealed if folder and whole else ():
                wrong: list[str] = []
                for kind in settings.kinds:
                    wrong += _check_segment(connection, state, each, kind, folder, settings, steps.read)
                    steps.finished(each.documents)
                if wrong:
                    damaged.append(each)
                    report.problems += wrong
                elif folder and GRAPHED in settings.kinds:
                    segment = open_segment(segment_path(folder, each.number, GRAPHED), GRAPHED, settings, each.origin(state.store))
                    if wrong := check_graph(folder, each.number, state.store, segment, settings):
                        graphs.append(each)
                        report.problems += wrong
            known = {number for (number,) in connection.execute("SELECT number FROM segments")}
            if progress:
                progress(counted)
    except Corrupt as error:
        report.problems.append(str(error))
        return report
    orphans = _orphans(folder, known | store.place.discarded()) if folder else []
    report.problems += [f"segment {path}: nothing names it" for path in orphans]
    report.checked = {"documents": counted, "segments": len(sealed), "files": len(sealed) * len(settings.kinds) if folder else 0}
    if repair and report.problems:
        _repair(store, report, damaged, graphs, orphans, counted, behind is not None, fields > 0)
    return report


class _Steps:
    """How far a check is: every document is read once for each kind."""

    def __init__(self, progress: OnProgress | None, kinds: int) -> None:
        self._progress, self._kinds = progress, kinds
        self._finished = self._read = 0

    def read(self, documents: int) -> None:
        self._read += documents
        if self._progress:
            self._progress((self._finished + self._read) // self._kinds)

    def finished(self, documents: int) -> None:
        """A segment, however much of it could be read."""
        self._finished, self._read = self._finished + documents, 0
        self.read(0)


def _check_rows(connection: Reads, state: State, report: CheckReport) -> bool:
    """Every value of every document against its check."""
    count = 0
    for row, values, wrong in rows.damaged(connection, state.number):
        count += 1
        known = not wrong & {"id", "checks"}
        which = f"document {_text(values['id'])!r:.80}" if known else f"row {row}"
        lost = sorted(wrong & {"id", "text", "meta", "checks"}) or ([] if values["text"] is not None else sorted(wrong))
        if count <= MOST_SHOWN:
            remedy = "add it again, or remove it" if lost else "--repair makes them from the text again"
            report.problems.append(f"{which}: {', '.join(sorted(wrong))} not as stored; {remedy}")
        if not lost:
            report.again.append(Document(_text(values["id"]), _text(values["text"]), json.loads(_text(values["meta"]) or "{}")))
    if count > MOST_SHOWN:
        report.problems.append(f"and {count - MOST_SHOWN:,} more documents that are not as stored")
    return count == 0


def _text(value: Any) -> Any:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def _check_numbers(connection: Reads, state: State, sealed: list[Sealed], report: CheckReport) -> int:
    base = state.number * ROWS
    found = connection.execute(
        "SELECT count(*), coalesce(max(row) + 1, ?) FROM documents WHERE row >= ? AND row < ?", (base, base, base + ROWS)
    ).fetchone()
    count, end = found[0], found[1] - base
    if count != state.documents:
        report.problems.append(f"documents: {count}, but {state.documents} are on record")
    if end > state.next_row:
        report.problems.append(f"documents: row {end - 1} is beyond the last row {state.next_row - 1}")
    half = connection.execute(
        "SELECT count(*) FROM removed JOIN documents ON documents.row = removed.row + ? WHERE removed.collection = ?", (base, state.number)
    ).fetchone()[0]
    if half:
        report.problems.append(f"documents: {half} are there and removed at once")
    at = 0
    for each in sealed:
        if each.first_row != at or each.end_row < each.first_row:
            report.problems.append(f"segment {each.number}: begins at row {each.first_row}, expected {at}")
        at = each.end_row
    if at != state.sealed_row:
        report.problems.append(f"segments: they end at row {at}, expected {state.sealed_row}")
    return int(count)


def _check_segment(
    connection: Reads, state: State, sealed: Sealed, kind: str, folder: Path | None, settings: Settings, told: Callable[[int], None]
) -> list[str]:
    """A segment without its removed rows must be what would be built from the documents now, to the byte."""
    assert folder is not None  # noqa: S101
    path = segment_path(folder, sealed.number, kind)
    try:
        segment = open_segment(path, kind, settings, sealed.origin(state.store))
    except Corrupt as error:
        return [str(error)]
    except OSError as error:
        return [f"segment {path}: {error.strerror}"]
    gone = connection.execute(
        "SELECT row FROM removed WHERE collection = ? AND row >= ? AND row < ? ORDER BY row",
        (state.number, sealed.first_row, sealed.end_row),
    ).fetchall()
    removed = np.array([row for (row,) in gone], dtype=np.int64)
    expected = build_segment(kind, sealed, connection, state, settings, told).sections()
    found = kind_named(kind).segment.merge([segment], removed).sections()
    if not _same(expected, found):
        return [f"segment {path}: it does not hold what the documents have"]
    return []


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


def _orphans(folder: Path, known: set[int]) -> list[Path]:
    return [path for path in sorted(folder.glob("*")) if segment_number(path) not in known]


def _repair(
    store: EmbeddedStore,
    report: CheckReport,
    damaged: list[Sealed],
    graphs: list[Sealed],
    orphans: list[Path],
    counted: int,
    behind: bool,
    fields: bool,
) -> None:
    try:
        if behind:
            store.place.accept_state()
        with store._writing() as connection:
            connection.execute("UPDATE collections SET documents = ?, version = version + 1 WHERE number = ?", (counted, store._number))
            if fields:
                rebuild_fields(connection, store._state(connection), store.settings.indexed)
        for each in damaged:
            store._sealer().rebuild(each)
        for each in graphs:
            store._sealer().remake_graph(each)
        for path in orphans:
            path.unlink(missing_ok=True)
    except (StoreError, OSError) as error:
        report.problems.append(f"repair: {error}")
        return
    after = check_collection(store, store._segments, store.settings, repair=False)
    report.repaired = [problem for problem in report.problems if problem not in after.problems]
    report.problems, report.again = after.problems, after.again
