"""Files that are more than text, as documents: what reading them gives, the members of archives, and files without any text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lookalike.corpus.contents import is_document
from lookalike.corpus.files import Source
from lookalike.corpus.row import UNREADABLE, Problem
from lookalike.corpus.streams import damage, opened
from lookalike.errors import InputError
from lookalike.files.kinds import HEAD, binary_kind
from lookalike.files.model import BINARY, BROKEN, FileText
from lookalike.files.reading import read_members
from lookalike.io import MAX_TEXT_BYTES, NotText, decode_text, read_blocks, refuse_known_binary
from lookalike.model import MAX_ID_BYTES, Document

Report = Callable[[Problem], object]


def file_documents(source: Source, report: Report, *, binary: bool) -> Iterator[Document] | None:
    """The documents of a file, or None for what the formats of ``corpus`` read: tables, pages and plain text."""
    path = source.path
    if path is None or source.format not in ("text", "html") or not path.is_file():
        return None
    try:
        with opened(source) as file:
            head = file.read(HEAD)
            if is_document(head, source.name):
                return _read(path, source.name, report, binary)
            if not binary:
                return None  # said by whoever reads it as text
            if source.format == "html":
                refuse_known_binary(head, source.name)
                while source.packing and file.read(1 << 20):
                    pass  # whether all of it can be unpacked
                return None
            refuse_known_binary(head, source.name)
            decode_text(head + file.read(MAX_TEXT_BYTES + 1 - len(head)), source.name)
    except NotText as error:
        status = BINARY if error.is_binary else BROKEN
        return _given([FileText(source.name, binary_kind(head), status, notes=(error.reason,))], path, source.name, report, binary)
    except InputError:
        return None  # said by whoever reads it as text
    except damage():
        # Of what cannot be unpacked there are the bytes.
        return _read(path, source.name, report, binary) if binary else None
    return None


def _read(path: Path, name: str, report: Report, binary: bool) -> Iterator[Document]:
    try:
        found = read_members(path)
    except InputError as error:
        report(Problem(UNREADABLE, name, str(error)))
        return
    yield from _given(found, path, name, report, binary)


def _given(found: list[FileText], path: Path, name: str, report: Report, binary: bool) -> Iterator[Document]:
    for each in found:
        is_member = each.data is not None
        place = f"{name}/{each.name}" if is_member else name
        is_archive = each.ok and not is_member and not each.text.strip()  # its members have the text
        if each.text.strip() or is_archive:
            for note in each.notes:
                report(Problem("not all was read", place, note, skipped=False))
            if is_archive:
                continue
        else:
            said = f"{each.status}: {'; '.join(each.notes)}" if each.notes else each.status
            if not binary:
                report(Problem(UNREADABLE, place, said, skipped=not each.ok))
                continue
            report(Problem("no text", place, f"{said}; its digests are kept", skipped=False))
        text = each.text if each.text.strip() else None
        yield Document(short_id(place), text, file_meta(each, path), None if is_member else path, data=each.data)


def short_id(name: str) -> str:
    """A path as an id. Of one that is too long for it the end, behind what tells it from others with that end."""
    written = name.encode()
    if len(written) <= MAX_ID_BYTES:
        return name
    mark = f"{hashlib.sha256(written).hexdigest()[:16]}…"
    return mark + written[len(mark.encode()) - MAX_ID_BYTES :].decode("utf-8", "ignore")


def file_meta(found: FileText, path: Path) -> dict[str, Any]:
    """What is kept of a file beside its text."""
    digest = hashlib.sha256(found.data) if found.data is not None else hashlib.sha256()
    size = len(found.data) if found.data is not None else 0
    for block in read_blocks(path) if found.data is None else ():
        digest.update(block)
        size += len(block)
    meta: dict[str, Any] = {"kind": found.kind, "bytes": size, "sha256": digest.hexdigest()}
    if not found.ok:
        meta["status"] = found.status
    if found.title:
        meta["title"] = found.title
    if found.places:
        meta["places"] = [place.to_list() for place in found.places]
    return meta
