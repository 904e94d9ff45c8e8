"""``scan``: a folder of files, read once, and what belongs together in it."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike.checks import check_callback, check_path, check_share, check_workers
from lookalike.comparison.compare import compare
from lookalike.comparison.side_by_side import SideBySide
from lookalike.corpus.files import readable_name
from lookalike.errors import InputError
from lookalike.files.limits import Limits
from lookalike.files.model import BROKEN
from lookalike.files.reading import checked
from lookalike.index.index import Index
from lookalike.index.opening import open as open_index
from lookalike.profiles.labels import Labeller, read_labels
from lookalike.profiles.patterns import read_patterns
from lookalike.profiles.words import names_idf
from lookalike.reports.escaping import escaped
from lookalike.reports.marks import view
from lookalike.scanning.folder import Known, Making, Stamp, file_documents, files_in, is_inside, is_of_scan, where_inside
from lookalike.scanning.nearest import nearest_older
from lookalike.scanning.relations import Family, FileEntry, copies_of, families_of
from lookalike.scanning.report import ScanReport
from lookalike.scanning.storing import Storing, merge_in_little_memory
from lookalike.stores.clusters import Clusters
from lookalike.system import usable_cores

THRESHOLD = 0.8
BYTES_THRESHOLD = 0.9  # of TLSH and ssdeep: a TLSH distance of 30
MOST_BYTES = 2000  # files without text that are compared with all others
SHOWN_PAIRS = 40  # of near-copies, side by side
SHOWN_CHARACTERS = 30_000
_STATE_VERSION = 3
_STATE = "scan.json"  # in the folder of a store: what the last scan found, and of which files


def scan(
    folder: str | Path,
    *,
    store: str | Path | Index | None = None,
    threshold: float = THRESHOLD,
    labels: str | Path | Labeller | Mapping[str, Iterable[str]] | None = None,
    patterns: str | Path | Mapping[str, Any] | None = None,
    workers: int | None = None,
    limits: Limits | None = None,
    model: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> ScanReport:
    """Read and fingerprint all files of a folder, and say which are copies, other formats, near-copies or versions of each other.

    With a ``store`` (a path, a URL or an open Index) the next scan reads only what changed, and the store can be searched. ``progress``
    gets how many files are done, of how many. ``labels`` and ``patterns``: as in ``profile``; the profiles are kept in ``meta``, and as
    records, which ``search(…, by="record")`` compares. A new store with a ``model`` can also be searched by meaning.
    """
    begun = time.monotonic()
    root = check_path("folder", folder)
    if not root.is_dir():
        raise InputError(f"folder {str(root)!r} is no folder: give one with files in it")
    check_share("threshold", threshold)
    check_callback("progress", progress)
    count = check_workers(workers if workers is not None else usable_cores(), 256)
    files, closed = files_in(root)
    making = Making(None, read_labels(labels), read_patterns(patterns), checked(limits))
    if store is not None and not isinstance(store, (str, Path, Index)):
        raise InputError(f"store is a {type(store).__name__}: give a path, a URL, or an Index")
    if model is not None and (store is None or isinstance(store, Index)):
        raise InputError("model= is that of a new store: give store=, a path or a URL")
    index = store if isinstance(store, Index) else open_index("memory://" if store is None else store, model=model)
    if not isinstance(store, Index):
        merge_in_little_memory(index)
    making = replace(making, records="record" in index.settings["kinds"])
    try:
        report = _Scan(index, root, files, closed, making, count, threshold, progress).run(_state_file(store))
    finally:
        if not isinstance(store, Index):
            index.close()
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def _state_file(store: object) -> Path | None:
    return Path(store) / _STATE if isinstance(store, (str, Path)) and Path(store).is_dir() else None


class _Scan:
    def __init__(
        self,
        index: Index,
        root: Path,
        files: dict[str, Path],
        closed: dict[Path, str],
        making: Making,
        workers: int,
        threshold: float,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self._index, self._root, self._files, self._closed, self._making = index, root, files, closed, making
        self._workers, self._threshold, self._progress = workers, threshold, progress

    def run(self, state: Path | None) -> ScanReport:
        report = ScanReport(str(self._root))
        known = self._known()
        stamps = {name: found for name, path in self._files.items() if (found := _stamp(path)) is not None}
        wanted = [
            (name, path)
            for name, path in self._files.items()
            if name not in stamps or name not in known or known[name].is_read_again(stamps[name], self._making)
        ]
        changed = {name for name, _ in wanted}
        gone = [id_ for name, each in known.items() if name not in self._files or name in changed for id_ in each.ids]
        report.removed = sum(1 for name in known if name not in self._files)
        report.read, report.unchanged = len(wanted), len(self._files) - len(wanted)
        if gone:
            self._index.remove(gone)
        clusters: Clusters | None = None
        if wanted:
            self._making = replace(self._making, idf=names_idf(self._files))
            clusters = self._read(wanted)
        entries = {entry.id: entry for entry in self._entries()}
        report.files = len(entries)
        report.kinds = dict(Counter(entry.kind for entry in entries.values()).most_common())
        report.copies = copies_of(entries.values())
        report.skipped = [
            {"id": entry.id, "kind": entry.kind, "status": entry.status, "note": entry.note}
            for entry in entries.values()
            if not entry.has_text
        ]
        report.skipped += [
            {"id": readable_name(folder), "kind": "folder", "status": BROKEN, "note": said} for folder, said in self._closed.items()
        ]
        stamp = [_STATE_VERSION, self._threshold, sorted((entry.id, entry.sha256) for entry in entries.values())]
        near, by_bytes = _remembered(state, stamp) or self._related(entries, clusters)
        _remember(state, stamp, near, by_bytes)
        report.families = families_of(entries, near, by_bytes)
        report.comparisons = self._comparisons(report.families)
        return report

    def _metas(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Of the files of this folder: the text of none of them is read."""
        for id_, meta in self._index.metas():
            if isinstance(id_, str) and is_of_scan(meta):
                yield id_, meta

    def _known(self) -> dict[str, Known]:
        """The files that the store has of this folder. What cannot be looked at is not gone."""
        found: dict[str, Known] = {}
        for id_, meta in self._metas():
            if is_inside(meta["file"], self._root) and not any(is_inside(meta["file"], folder) for folder in self._closed):
                found.setdefault(meta["file"], Known.of(meta)).add(id_, meta)
        return found

    def _read(self, wanted: list[tuple[str, Path]]) -> Clusters | None:
        """Near-copies too, where all documents of the store came by here."""
        with Storing(self._index, self._threshold) as storing:
            for done, documents in enumerate(file_documents(wanted, self._making, self._workers), 1):
                storing.take(documents)
                if self._progress:
                    self._progress(done, len(wanted))
            return storing.finish()

    def _entries(self) -> Iterator[FileEntry]:
        for id_, meta in self._metas():
            if meta["file"] in self._files:
                has_text = "profile" in meta
                status = meta.get("status", "ok")
                modified, mtime, note = meta.get("modified", ""), meta["mtime"], meta.get("note", "")
                yield FileEntry(id_, meta["kind"], meta["sha256"], meta["bytes"], modified, mtime, status, has_text, note)

    def _related(self, entries: Mapping[str, FileEntry], clusters: Clusters | None) -> tuple[list[Any], list[Any]]:
        # Files that are like another document of the store would be compared with that one, and not with each other.
        where = where_inside(self._root) if len(self._index) > len(entries) else None
        if clusters is None:
            clusters = self._index.clusters("near", threshold=self._threshold, where=where)
        near: list[Any] = [
            (cluster.kept, member.id, member.similarity)
            for cluster in clusters
            for member in cluster.removed
            if cluster.kept in entries and member.id in entries
        ]
        near = [*nearest_older(self._index, near, entries, self._threshold), *near]  # what comes first is said of a file
        by_bytes: list[Any] = []
        seen: set[tuple[str, str]] = set()
        bare = [entry for entry in entries.values() if not entry.has_text and entry.bytes]
        for entry in bare[:MOST_BYTES]:
            path = self._files.get(entry.id)
            if path is None:
                continue  # a member of an archive: its bytes are not here any more
            try:
                matches = self._index.search(path, by="fuzzy", threshold=BYTES_THRESHOLD, limit=50, where=where)
            except InputError:
                continue  # too small or too uniform for a digest
            for match in matches:
                pair = tuple(sorted((entry.id, str(match.id))))
                if match.id != entry.id and match.id in entries and pair not in seen:
                    seen.add(pair)  # type: ignore[arg-type]  # two of them
                    by_bytes.append((*pair, match.score))
        return near, by_bytes

    def _comparisons(self, families: list[Family]) -> dict[tuple[str, str], str]:
        """Pairs side by side, with the marks of ``compare``."""
        pairs = [(other, id_) for family in families for id_, (_, other, similarity) in family.relations.items() if similarity < 1][
            :SHOWN_PAIRS
        ]
        texts = {document.id: document.text for document in self._index.documents({id_ for pair in pairs for id_ in pair})}
        shown = {}
        for left, right in pairs:
            first, second = (texts.get(id_) for id_ in (left, right))
            if first and second and max(len(first), len(second)) <= SHOWN_CHARACTERS:
                found = compare(first, second, measures=["cosine"])
                if found.edits is not None:
                    rows = SideBySide(first, second, found.edits, found.passages, ((), ())).html()
                    shown[left, right] = view((f"<bdi>{escaped(left)}</bdi>", f"<bdi>{escaped(right)}</bdi>"), rows)
        return shown


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path)
    except OSError:
        return None


def _remembered(state: Path | None, stamp: Any) -> tuple[list[Any], list[Any]] | None:
    """What the last scan found, if nothing has changed since. What cannot be read is found again."""
    if state is None or not state.exists():
        return None
    try:
        found = json.loads(state.read_bytes())
        return (found["near"], found["bytes"]) if found["stamp"] == json.loads(json.dumps(stamp)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(state: Path | None, stamp: Any, near: list[Any], by_bytes: list[Any]) -> None:
    """What cannot be kept, on a full disk, is found again the next time: the report is not lost for it."""
    if state is not None:
        content = json.dumps({"stamp": stamp, "near": near, "bytes": by_bytes})
        waiting = state.with_suffix(".tmp")
        with suppress(OSError):
            waiting.write_text(content)
            waiting.replace(state)
