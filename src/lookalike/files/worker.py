"""The process that reads files: it may take so much memory, writes no file, and is stopped and started again when something goes wrong.

``python -P -m lookalike.files.worker MEMORY``
"""

from __future__ import annotations

import io
import os
import re
import resource
import sys
from itertools import islice
from typing import IO, Any

from lookalike.files import messages
from lookalike.files.extracting import extract
from lookalike.files.limits import Limits
from lookalike.files.model import BROKEN, TOO_LARGE, FileText

MOST_VALUES, MOST_CHARACTERS = 10_000, 500  # of a pattern, and of a value
MOST_FILES = 64  # that it may have open


def main() -> None:
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):  # what libraries print must not get between the messages
        os.dup2(quiet, number)
    os.set_blocking(2, False)  # their last words are read if the process dies; until then nobody reads, and nothing may wait for that
    memory = int(sys.argv[1])
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, MOST_FILES),
    ):
        limit = resource.getrlimit(what)[1]
        least = most if limit == resource.RLIM_INFINITY else min(most, limit)
        resource.setrlimit(what, (least, least))

    def receive(size: int) -> bytes:
        data = given.read(size)
        if len(data) < size:
            raise EOFError
        return data

    while True:
        try:
            header, data = messages.received(receive)
        except EOFError:
            return
        for piece in messages.message(_found(header, data)) if "pattern" in header else messages.answer(_answered(header, data)):
            answers.write(piece)
        answers.flush()


def _found(header: dict[str, Any], data: bytes) -> dict[str, Any]:
    pattern = re.compile(header["pattern"], header["flags"])
    group = 1 if pattern.groups else 0
    matches = islice(filter(None, (match[group] for match in pattern.finditer(data.decode("utf-8", "surrogatepass")))), MOST_VALUES)
    return {"values": [value[:MOST_CHARACTERS] for value in matches]}


def _answered(header: dict[str, object], data: bytes) -> list[FileText]:
    name, path = str(header["name"]), header["path"]
    limits = Limits(**header["limits"])  # type: ignore[arg-type]  # as to_dict made it
    try:
        file: IO[bytes] = io.BytesIO(data) if path is None else open(str(path), "rb")  # noqa: SIM115 (closed below)
        with file:
            size = len(data) if path is None else os.fstat(file.fileno()).st_size
            return extract(file, name, limits, size, members=bool(header["members"]))
    except OSError as error:
        return [FileText(name, "binary", BROKEN, notes=(f"it cannot be read: {error.strerror or error}",))]
    except MemoryError:
        return [FileText(name, "binary", TOO_LARGE, notes=("reading it takes more memory than is allowed",))]


if __name__ == "__main__":
    main()
