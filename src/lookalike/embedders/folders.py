"""Folders with a model: which kind it is, and what it is known by."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from lookalike.embedders.base import Embedder
from lookalike.errors import InputError

Stamps = tuple[tuple[str, int, int], ...]


def stamps(folder: Path) -> Stamps:
    """The files of a folder, and what changes when one is replaced."""
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
    except (OSError, ValueError) as error:
        raise InputError(f"model {str(folder)!r}: {error}") from error
    if not folder.is_dir() or not files:
        raise InputError(f"model {str(folder)!r}: no folder with files; give that of a model, or one of the names in lookalike info")
    return tuple((path.relative_to(folder).as_posix(), path.stat().st_mtime_ns, path.stat().st_size) for path in files)


def open_folder(folder: Path, options: dict[str, Any]) -> Embedder:
    raise InputError(f"model {str(folder)!r}: not yet")


def digest(folder: Path) -> str:
    """Of the names and contents of the files, wherever the folder lies."""
    total = hashlib.sha256()
    for name, *_ in stamps(folder):
        with open(folder / name, "rb") as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:12]
