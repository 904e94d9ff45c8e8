"""What not every system has, and what does the same where it is missing: Linux, macOS and musl differ here and nowhere else.

``LOOKALIKE_PORTABLE=1`` takes the way that works everywhere, so that it can be tested on any system.
"""

from __future__ import annotations

import errno
import mmap
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # no POSIX system
    fcntl = None  # type: ignore[assignment]

PORTABLE = os.environ.get("LOOKALIKE_PORTABLE") == "1"
_AT_ONCE = 1 << 20
_SYNC_FILE_RANGE_WRITE = 2


def sha256(data: bytes) -> Any:
    """``hashlib.sha256``, of the interpreter's own module where it has one: for a few hundred bytes loading OpenSSL takes the longest."""
    for module in ("_sha2", "_sha256", "hashlib"):  # since 3.12, before, anywhere
        with suppress(ImportError):
            return import_module(module).sha256(data)
    raise ImportError("hashlib")


def remove_tree(folder: Path) -> None:
    """A folder and all that is in it, as far as it can be removed. Most often it was never made."""
    if os.path.exists(folder):  # False, too, where nobody may look
        import shutil  # which imports every way to pack a file

        shutil.rmtree(folder, ignore_errors=True)


def usable_cores() -> int:
    """Those that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def large_memory(size: int) -> bytearray | mmap.mmap:
    """Memory of which only what is written takes any, where the system does that."""
    if PORTABLE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return bytearray(size)
    try:
        return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:  # there is no more
        return bytearray(size)


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


def widen_pipe(descriptor: int, size: int) -> None:
    """So many bytes fit into a pipe before whoever writes waits for whoever reads, where the system can be told so, and allows it."""
    resize = None if PORTABLE else getattr(fcntl, "F_SETPIPE_SZ", None)
    if resize is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, resize, size)


def begin_writing_out(descriptor: int) -> None:
    """What was written to a file begins its way to the disk, where the system can be told so: who syncs it later waits for the rest."""
    if (write_out := _from_c_library("sync_file_range", "c_int", "c_int64", "c_int64", "c_uint")) is not None:
        write_out(descriptor, 0, 0, _SYNC_FILE_RANGE_WRITE)


def give_back_memory() -> None:
    """Memory that was freed goes back to the system, where the C library keeps it otherwise: glibc does, for each thread."""
    if (trim := _from_c_library("malloc_trim", "c_size_t")) is not None:
        trim(0)


@cache
def _from_c_library(name: str, *types: str) -> Callable[..., int] | None:
    """A function of Linux's C libraries that Python does not have; musl lacks malloc_trim, and needs none."""
    if sys.platform != "linux" or PORTABLE:
        return None
    import ctypes

    try:
        found = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
    found.argtypes = [getattr(ctypes, each) for each in types]
    called: Callable[..., int] = found
    return called


def forget_pages(mapped: mmap.mmap) -> None:
    """Gives back the memory of a mapped file's pages, where the system can; they are read again when they are needed."""
    advice = None if PORTABLE else getattr(mmap, "MADV_DONTNEED", None)
    if advice is not None and hasattr(mapped, "madvise"):
        mapped.madvise(advice)


def read_here_and_there(mapped: mmap.mmap) -> None:
    """Of a mapped file a page at a time is wanted: the system need not read on beyond it, where it can be told so."""
    advice = None if PORTABLE else getattr(mmap, "MADV_RANDOM", None)
    if advice is not None and hasattr(mapped, "madvise"):
        mapped.madvise(advice)
