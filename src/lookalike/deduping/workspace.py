"""A folder for working files: beside the output, so that there is room where the output finds room."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


class Workspace:
    """Made when it is first asked for. It is removed at the end, unless what is in it can be of use to a later run."""

    def __init__(self, path: Path | None = None, *, keep_on_error: bool = False) -> None:
        self._path, self._keep_on_error = path, keep_on_error
        self._made: Path | None = None

    def folder(self) -> Path:
        if self._made is None:
            if self._path is None:
                self._made = Path(tempfile.mkdtemp(prefix="lookalike-"))
            else:
                self._path.mkdir(parents=True, exist_ok=True)
                self._made = self._path
        return self._made

    def discard(self) -> None:
        """Removes what an earlier run left."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        kept = kind is not None and self._keep_on_error
        if self._made is not None and not kept:
            shutil.rmtree(self._made, ignore_errors=True)
        if isinstance(error, KeyboardInterrupt) and self._path is not None:
            goes_on = "what was done is kept, and the same call with --resume (resume=True) goes on from there"
            error.add_note(goes_on if kept and self._made is not None else "nothing was written and nothing is kept, so it starts anew")
