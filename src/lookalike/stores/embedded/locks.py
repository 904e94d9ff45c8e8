"""Locks between processes. The system releases them when a process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

from lookalike.system import lock_file


class FileLock:
    """A lock on a small file, shared or exclusive; it never waits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def acquire(self, *, shared: bool = False) -> bool:
        """Whether the lock was to be had. A missing file is made, except for a shared lock, where there is nothing to guard."""
        if self._descriptor is not None:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            if not shared:
                raise
            return False
        try:
            found = lock_file(descriptor, shared=shared)
        except OSError:
            os.close(descriptor)
            if shared:
                return False  # a reader does without
            raise
        if not found:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def acquire_if_possible(self) -> bool:
        """The same where nothing depends on it: a system without locks is as good as somebody else who has it."""
        try:
            return self.acquire()
        except OSError:
            return False

    def sign(self) -> None:
        """Write down who holds it, for the message that another process gets."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def holder(self) -> str:
        try:
            return self.path.read_text("ascii", "replace")[:20].strip() or "unknown"
        except OSError:
            return "unknown"

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
