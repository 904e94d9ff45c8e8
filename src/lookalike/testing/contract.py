"""Where the store is that a contract is tested on."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import SkipTest

from lookalike.index.index import Index
from lookalike.index.opening import open as open_index


class Contract:
    """Where the store is. ``persistent``: closing and opening again shows the same; ``one_writer``: a second one is refused."""

    persistent = True
    one_writer = True

    def location(self, tmp_path: Path) -> str:
        """Where an empty store is, or can be made."""
        raise NotImplementedError

    def open(self, tmp_path: Path, **options: Any) -> Index:
        return open_index(self.location(tmp_path), **options)

    def require_persistence(self) -> None:
        if not self.persistent:
            raise SkipTest("not applicable: this store keeps nothing when it is closed")
