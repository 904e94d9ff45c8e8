"""Every measure of a pair of files: equal bytes, and fuzzy hashes."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import InputError
from lookalike.fingerprints.digest import digest
from lookalike.fingerprints.fuzzy_ssdeep import ssdeep
from lookalike.fingerprints.fuzzy_tlsh import tlsh

SCORE = "file-1"


def file_measures(left: Path, right: Path) -> tuple[dict[str, float | None], list[str]]:
    """sha256 (1 for equal bytes, else 0) and the fuzzy hashes; None, with a note, where a file is too short for one."""
    found: dict[str, float | None] = {"sha256": digest(left).similarity(digest(right))}
    notes: list[str] = []
    for name, fuzzy in (("ssdeep", ssdeep), ("tlsh", tlsh)):
        try:
            found[name] = fuzzy(left).similarity(fuzzy(right))  # type: ignore[arg-type]  # both by the same function
        except InputError as error:
            found[name] = None
            notes.append(f"{name}: {error}")
    return found, notes


def file_score(found: dict[str, float | None]) -> float:
    """1 for equal bytes; otherwise the higher of the two fuzzy similarities, which miss different edits."""
    return max(value for value in found.values() if value is not None)
