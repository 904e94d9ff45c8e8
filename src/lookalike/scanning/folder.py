"""The files of a folder as documents of a store: read by several processes, each with its digest and its profile."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lookalike.corpus.file_documents import file_meta, short_id
from lookalike.corpus.files import expand, readable_name
from lookalike.errors import InputError
from lookalike.files.kinds import head_of, kind_of
from lookalike.files.limits import Limits
from lookalike.files.model import BROKEN, OK, TOO_LARGE, TOO_SLOW, FileText
from lookalike.files.reading import in_order, read_members
from lookalike.fingerprints.given_hashes import function_id
from lookalike.model import Document
from lookalike.profiles.labels import Labeller, Labels
from lookalike.profiles.profile import profile_of
from lookalike.profiles.records import PART, as_record
from lookalike.text.idf import Idf

AHEAD = 8  # files for each process that may be read before the first is taken
_KEPT: dict[str, type] = {"file": str, "file_bytes": int, "mtime": int, "kind": str, "sha256": str, "bytes": int}  # of each file


@dataclass(frozen=True, slots=True)
class Stamp:
    """What says that a file is as it was."""

    bytes: int
    mtime: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(slots=True)
class Known:
    """What a store has of a file: how it was then, what its profile was made with, and its documents."""

    stamp: Stamp
    mark: str
    limits: Mapping[str, Any] | None = None  # that it, or something in it, was beyond
    ids: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> Known:
        return cls(Stamp(meta["file_bytes"], meta["mtime"]), meta.get("profiled", ""))

    def add(self, id_: str, meta: Mapping[str, Any]) -> None:
        self.ids.append(id_)
        self.limits = meta.get("limits", self.limits)

    def is_read_again(self, stamp: Stamp, making: Making) -> bool:
        """A file that changed, that has no such labels or patterns yet, or of which other limits may let more be read."""
        beyond = self.limits is not None and self.limits != making.limits.to_dict()
        return self.stamp != stamp or beyond or making.mark not in ("", self.mark)


@dataclass(frozen=True, slots=True)
class Making:
    """How profiles are made, and whether they are also stored as records."""

    idf: Idf | None
    labeller: Labeller | None
    patterns: Mapping[str, re.Pattern[str]]
    limits: Limits
    records: bool = True

    @property
    def mark(self) -> str:
        """Changes with the labels and patterns; empty where there are none."""
        if self.labeller is None and not self.patterns:
            return ""
        own = [[name, pattern.pattern, pattern.flags] for name, pattern in self.patterns.items()]
        return hashlib.sha256(json.dumps([_mark_of(self.labeller), own]).encode()).hexdigest()[:16]


def _mark_of(labeller: Labeller | None) -> str:
    """What tells one way of labelling from another. A function is known by its name and its code."""
    if labeller is None:
        return ""
    return labeller.mark if isinstance(labeller, Labels) else function_id(labeller)


def files_in(folder: Path) -> tuple[dict[str, Path], dict[Path, str]]:
    """All files of a folder by name: hidden ones and stores are left out, and links to folders are not followed. And the folders in it
    that cannot be read, with what is wrong.
    """
    closed: list[OSError] = []
    files = {source.name: source.path for source in expand(folder, "text", closed=closed.append) if source.path is not None}
    return files, {Path(os.fsdecode(error.filename)): error.strerror or str(error) for error in closed}


def is_of_scan(meta: Mapping[str, Any]) -> bool:
    """Whether a document of a store is what a scan made of a file. Others may have a field called ``file`` too: they are left alone."""
    return all(isinstance(meta.get(name), kind) for name, kind in _KEPT.items())


def is_inside(name: str, folder: Path) -> bool:
    """Whether ``files_in`` may give a file of the folder this name."""
    prefix = _prefix(folder)
    return name.startswith(prefix) and not name.removeprefix(prefix).startswith(("/", "../"))


def where_inside(folder: Path) -> dict[str, Any]:
    """The same as a condition on ``meta``."""
    prefix = _prefix(folder)
    inside = [_beginning_with(prefix)] if prefix else []
    return {"and": inside, "not": {"or": [_beginning_with(f"{prefix}/"), _beginning_with(f"{prefix}../")]}, "file_bytes": {"exists": True}}


def _prefix(folder: Path) -> str:
    return "" if folder == Path() else f"{readable_name(folder).rstrip('/')}/"


def _beginning_with(start: str) -> dict[str, Any]:
    """Names that begin with this, which ends in a slash: the next character is 0."""
    return {"file": {">=": start, "<": f"{start[:-1]}0"}}


def file_documents(files: Sequence[tuple[str, Path]], making: Making, workers: int) -> Iterator[list[Document]]:
    """The documents of each file, in the order of the files: one, or those of an archive."""
    return in_order(lambda file: _documents(*file, making), files, workers, AHEAD * workers)


def _documents(name: str, path: Path, making: Making) -> list[Document]:
    try:
        stamp = Stamp.of(path)
        found = read_members(path, limits=making.limits)
        given = [each for each in found if each.data is not None]  # members of an archive
        if not given or any(each.data is None and not each.ok for each in found):
            given.append(_whole(path, found))
        metas = [file_meta(each, path) for each in given]
    except (InputError, OSError) as error:
        return [unreadable(name, getattr(error, "strerror", None) or str(error))]
    # What is wrong with labels and patterns is not the fault of a file.
    return [_document(each, meta, name, path, stamp, making) for each, meta in zip(given, metas, strict=True)]


def unreadable(name: str, said: str) -> Document:
    """A file of which nothing is known. No file has such a stamp: it is tried again the next time."""
    meta = {"kind": "binary", "bytes": 0, "sha256": "", "status": BROKEN, "note": said, "file": name, "file_bytes": -1, "mtime": 0}
    return Document(name, None, meta, data=b"")


def _whole(path: Path, found: list[FileText]) -> FileText:
    """A file as one: what was read of it, or of an archive that it is damaged, or holds files of which there are no bytes."""
    own = next((each for each in found if each.data is None and each.name == str(path)), None)
    lost = [each for each in found if each.data is None and not each.ok and each is not own]
    if own is None:
        with path.open("rb") as file:
            own = FileText(str(path), kind_of(head_of(file), path.name), OK)
    notes = (*own.notes, *(f"{each.name}: {note}" for each in lost for note in each.notes))
    return replace(own, status=lost[0].status if lost and own.ok else own.status, notes=notes)


def _document(found: FileText, about: Mapping[str, Any], name: str, path: Path, stamp: Stamp, making: Making) -> Document:
    is_member = found.data is not None
    id_ = short_id(f"{name}/{found.name}" if is_member else name)
    has_text = bool(found.text.strip())
    meta: dict[str, Any] = dict(about) | {"file": name, "file_bytes": stamp.bytes, "mtime": stamp.mtime}
    meta["modified"] = str(found.meta.get("modified") or datetime.fromtimestamp(stamp.mtime / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S"))[:19]
    if making.mark:
        meta["profiled"] = making.mark
    if found.status in (TOO_LARGE, TOO_SLOW):
        meta["limits"] = making.limits.to_dict()
    if found.notes:
        meta["note"] = "; ".join(found.notes)[:500]
    record: dict[str, Any] | None = None
    if has_text:
        profile = meta["profile"] = profile_of(found, making.idf, making.labeller, making.patterns, part=PART)
        record = as_record(profile) if making.records else None
    return Document(id_, found.text if has_text else None, meta, None if is_member else path, data=found.data, record=record)
