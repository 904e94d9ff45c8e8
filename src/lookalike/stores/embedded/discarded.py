"""Files of segments that nothing names any more: they are deleted when the last reading that may open them has ended."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from lookalike.stores.embedded.readings import Active

_log = logging.getLogger("lookalike")


class Discarded:
    """Numbers of segments, each with the first generation that does without it."""

    def __init__(self, folder: Path | None, active: Active) -> None:
        self._folder, self._active = folder, active
        self._generations: dict[int, int] = {}

    def numbers(self) -> set[int]:
        return set(self._generations)

    def add(self, numbers: Iterable[int], generation: int) -> None:
        self._generations |= dict.fromkeys(numbers, generation)
        self.delete()

    def delete(self, every: bool = False) -> None:
        """Those that no reading sees, or all of them."""
        if not self._generations or self._folder is None:
            return
        oldest = self._active.oldest()
        for number, generation in list(self._generations.items()):
            if every or oldest is None or oldest >= generation:
                try:
                    for path in self._folder.glob(f"{number:08d}.*"):
                        path.unlink(missing_ok=True)
                except OSError as error:  # nothing names it: it costs room, and is tried again
                    _log.warning("segment %d could not be deleted (%s); the next writer deletes it", number, error.strerror)
                else:
                    self._generations.pop(number, None)
