"""What not every system has, and what does the same where it is missing: Linux, macOS and musl differ here and nowhere else.

``LOOKALIKE_PORTABLE=1`` takes the way that works everywhere, so that it can be tested on any system.
"""

from __future__ import annotations

import errno
import mmap
import os
import sys
from collections.abc import Callable
from functools import cache

try:
    import fcntl
except ImportError:  # no POSIX system
    fcntl = None  # type: ignore[assignment]

PORTABLE = os.environ.get("LOOKALIKE_PORTABLE") == "1"
_AT_ONCE = 1 << 20


def copy_range(target: int, source: int, begin: int, size: int) -> int:
    """Copies up to ``size`` bytes from a place in one file to where the other stands, and returns how many; 0 is the end of the file."""
    if sys.platform == "linux" and not PORTABLE:  # elsewhere sendfile writes to sockets only
        return os.sendfile(target, source, begin, size)
    data = memoryview(os.pread(source, min(size, _AT_ONCE), begin))
    written = 0
    while written < len(data):
        written += os.write(target, data[written:])
    return written


def lock_file(descriptor: int, *, shared: bool) -> bool:
    """Whether the lock was to be had, without waiting; the system releases it when the process ends. OSError where there are no locks."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, "this system has no file locks")
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):  # somebody else has it
            return False
        raise
    return True


def give_back_memory() -> None:
    """Memory that was freed goes back to the system, where the C library keeps it otherwise: glibc does, for each thread."""
    if (trim := _malloc_trim()) is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    if sys.platform != "linux" or PORTABLE:
        return None
    from ctypes import CDLL

    try:
        found: Callable[[int], int] = CDLL(None).malloc_trim
    except (AttributeError, OSError):  # musl has none, and needs none
        return None
    return found


def forget_pages(mapped: mmap.mmap) -> None:
    """Gives back the memory of a mapped file's pages, where the system can; they are read again when they are needed."""
    advice = None if PORTABLE else getattr(mmap, "MADV_DONTNEED", None)
    if advice is not None and hasattr(mapped, "madvise"):
        mapped.madvise(advice)
