"""The record of a file, as ``scan`` stores it and as ``search(by="record")`` looks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike.errors import InputError
from lookalike.files.limits import Limits
from lookalike.files.reading import read_file
from lookalike.profiles.profile import profile_of

PART = 0.03  # of what a profile looks at otherwise: the first 600 characters for keywords, 6,000 for dates and amounts
UNKNOWN = "domain"  # the label: a store may have those of its files, and whoever searches for a file has none
_NO_CONTENT = ("kind", "status", "confidence")  # the same content may have any of them


def as_record(profile: Mapping[str, Any]) -> dict[str, Any]:
    """A profile as it is stored and searched for: without what is not known of the file, and without what is no part of its content."""
    return {name: value for name, value in profile.items() if value and name not in _NO_CONTENT}


def scanned_record(path: Path, limits: Limits | None = None) -> dict[str, Any]:
    """The record that a scan would store of a file. Its label is not known here, nor words that all names of a folder have, which stay."""
    found = read_file(path, limits)
    if not found.text.strip():
        raise InputError(f"{str(path)!r} has no text, and so no profile ({found.status}): search for its bytes, by fuzzy")
    return as_record(profile_of(replace(found, name=path.name), None, None, {}, part=PART))


def is_json_object(path: Path) -> bool:
    """Whether a file is named or written as a JSON object; one that is not there is to be named as such."""
    if path.suffix.lower() == ".json" or not path.is_file():
        return True
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        return head.startswith(b"{") and not head.startswith(b"{\\rtf")
