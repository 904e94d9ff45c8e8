"""What reading one file may cost. The limits hold while it is read: nothing is unpacked first and measured afterwards."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any

from lookalike.checks import is_number, is_whole, refuse

MOST_SECONDS = 1e9  # what the system can wait for
RATIO_FROM = 16 << 20  # bytes unpacked: below, a small file may well be a hundred times larger unpacked


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one file, with everything inside it."""

    seconds: float = 60.0
    memory: int = 1 << 30  # bytes of the process that reads
    document: int = 256 << 20  # bytes of one document; archives on disk are read as streams and may be larger
    inflated: int = 512 << 20  # bytes unpacked in all
    ratio: int = 200  # bytes unpacked for each byte of the file, beyond the first 16 MiB
    entries: int = 20_000  # members of archives, in all
    nesting: int = 4  # archives in archives in mail …
    pages: int = 10_000  # pages, sheets or slides
    characters: int = 64_000_000  # of text

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            in_seconds = each.name == "seconds"
            usable = is_number(value) if in_seconds else is_whole(value)
            if not usable or not 0 < value < (MOST_SECONDS if in_seconds else 2**62):
                wanted = "a number above 0 and below 1e9" if in_seconds else "a whole number above 0 and below 2**62"
                raise refuse(f"limits: {each.name}", value, f"give {wanted}")

    def to_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


class OverLimit(Exception):
    """A file that would cost more than allowed; what was read of it so far is not used."""


class Budget:
    """What is left of the limits for one file. Members of archives and attachments share it."""

    def __init__(self, limits: Limits, size: int) -> None:
        self.limits = limits
        self._most = min(limits.inflated, max(RATIO_FROM, limits.ratio * size))
        self._inflated = self._entries = self._pages = self._characters = 0
        self._until = time.monotonic() + limits.seconds

    def inflate(self, count: int) -> None:
        self._inflated += count
        if self._inflated > self._most:
            raise OverLimit(f"it unpacks to more than {self._most:,} bytes")
        self.check_time()

    def entry(self) -> None:
        self._entries += 1
        if self._entries > self.limits.entries:
            raise OverLimit(f"it holds more than {self.limits.entries:,} files")

    def page(self) -> None:
        self._pages += 1
        if self._pages > self.limits.pages:
            raise OverLimit(f"it has more than {self.limits.pages:,} pages")
        self.check_time()

    def write(self, count: int) -> None:
        self._characters += count
        if self._characters > self.limits.characters:
            raise OverLimit(f"it has more than {self.limits.characters:,} characters of text")

    def check_time(self) -> None:
        """The process is stopped from outside as well; this is the gentle way."""
        if time.monotonic() > self._until:
            raise TooSlow(f"reading it takes longer than {self.limits.seconds:g} seconds")


class TooSlow(Exception):
    """A file that takes longer than allowed."""
