"""Real files of each kind with some of their bytes changed, given to their readers for so long.

    python tests/fuzzed_files.py [--seconds 60] [--kinds pdf,docx] [--found FOLDER] [--json OUT] [--more FOLDER]

A finding is a reader that crashes, takes longer than it may, takes more memory than it may, or answers something that is not so. A reader
that ends itself because it was refused memory beyond the limit (libraries in Rust do, and say so) is counted as ``capped``: that is what the
limit is for. Any other end is a finding.
The file is kept in FOLDER. Mutants that are read in another way than those before them are mutated further. ``--more`` gives real files to
begin with, beside those that are made here.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import random
import re
import resource
import signal
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import made_files
from lookalike.files.limits import Limits
from lookalike.files.model import TOO_SLOW, FileText
from lookalike.files.processes import Process, stop_idle

KINDS = (
    "docx", "pptx", "xlsx", "xls", "odt", "ods", "odp", "epub", "pdf", "rtf", "eml", "html", "zip", "tar", "tar.gz", "bz2", "xz", "zst",
)  # fmt: skip
LIMITS = Limits(seconds=20, memory=512 << 20)
STATUSES = {"ok", "empty", "broken", "binary", "encrypted", "too large", "unsupported", "scanned"}
POOL = 300  # mutants that are mutated further
LOOK = 32  # executions after which the memory of a reader is asked for: the system keeps the most that it took
LARGEST = 200_000  # bytes of a mutant: larger ones take time and show nothing else
ENDED = "the process that read it ended"
REFUSED = "and was refused"  # what is said of a reader that asked for more memory than it may have
_NUMBERS = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"9999", b"\x80\0\0\0", b"\0\0\0\x80")
_NUMBER, _LEAF = re.compile(rb"\d+"), re.compile(rb"<([\w:-]{1,40})(?:\s[^<>]*)?(?:/>|>[^<]*</\1>)")
_COUNTS = (b"0", b"1", b"-1", b"7", b"65536", b"1048576", b"2147483647", b"4294967295", b"99999999999999999999", b"1e308")
_PIECES = (
    b"<a>", b"</a>", b"&#x0;", b"{", b"}", b"\\u-99999?", b"]]>", b"\x1f\x8b\x08", b"PK\x03\x04", b"<!DOCTYPE a [", b"<![CDATA[", b"-1",
    b"/Kids [1 0 R]", b"endobj", b"stream\r\n", b"\\bin99999 ", b"\r\n\r\n--", b"=?utf-8?b?", b"base64", b"\xfe\xff", b"99999999999999999999",
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut, doubled or put in; of what is packed mostly inside, packed again: otherwise only unpacking would be tried."""
    if not data:
        return chance.choice(_PIECES)
    if data.startswith(b"PK") and chance.random() < 0.7 and (inside := _members(data)):
        name = chance.choice(sorted(inside))
        inside[name] = mutated(inside[name], chance)
        return made_files.zipped(inside, packed=chance.random() < 0.1)  # packing would take most of the time
    for start, unpack, pack in _PACKINGS:
        if data.startswith(start) and chance.random() < 0.7:
            with suppress(Exception):  # a mutant that cannot be unpacked is mutated as it is
                return pack(mutated(unpack(data), chance))
    return _gently_changed(data, chance) if chance.random() < 0.4 else _changed(data, chance)


def _gently_changed(data: bytes, chance: random.Random) -> bytes:
    """A number that counts something else, or an element twice, elsewhere or not at all: still whole to a parser, and read to the end."""
    for _ in range(chance.randint(1, 4)):
        pattern = chance.choice((_NUMBER, _LEAF))
        if found := pattern.search(data, chance.randrange(len(data) + 1)) or pattern.search(data):
            other = chance.choice(_COUNTS) if pattern is _NUMBER else chance.choice((b"", 2 * found[0], found[0] * 50))
            data = data[: found.start()] + other + data[found.end() :]
    return data


def _changed(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed) + 1)
        step = chance.randrange(7)
        if step == 0:
            changed[at : at + 1] = chance.randbytes(1)
        elif step == 1:
            changed[at : at + 4] = chance.choice(_NUMBERS)
        elif step == 2:
            del changed[at : at + chance.randint(1, 60)]
        elif step == 3:
            changed[at:at] = changed[at : at + chance.randint(1, 400)]
        elif step == 4:
            changed[at:at] = chance.choice(_PIECES)
        elif step == 5 and changed:
            source = chance.randrange(len(changed))
            piece = changed[source : source + chance.randint(1, 200)]
            changed[at : at + len(piece)] = piece
        elif chance.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def _unpacked_zst(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST)


# How what is packed begins, how it is unpacked, and how it is packed again: as fast as can be.
_PACKINGS: tuple[tuple[bytes, Callable[[bytes], bytes], Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", lambda data: zlib.decompressobj(31).decompress(data, LARGEST), lambda data: gzip.compress(data, 1, mtime=0)),
    (b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data, LARGEST), lambda data: bz2.compress(data, 1)),
    (b"\xfd7zXZ", lambda data: lzma.LZMADecompressor().decompress(data, LARGEST), lambda data: lzma.compress(data, preset=0)),
    (b"\x28\xb5\x2f\xfd", _unpacked_zst, made_files.zstandard),
)


def _members(data: bytes) -> dict[str, bytes]:
    """Of a ZIP file that is whole; of a mutant whatever can be had."""
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                if not info.is_dir() and info.file_size <= LARGEST:
                    found[info.filename] = archive.read(info)
    except Exception:  # a mutant: what was read so far
        return found
    return found


def wrong(found: FileText) -> str | None:
    """What an answer must not be."""
    if found.status not in STATUSES:
        return f"status {found.status}"
    if found.status not in ("ok", "empty") and not found.notes:
        return f"status {found.status} without a reason"
    if any(ENDED in note for note in found.notes):
        return ENDED
    if not all(0 <= place.start < place.end <= len(found.text) for place in found.places):
        return "places outside of the text"
    return None


@dataclass
class Run:
    """What became of the mutants of one kind."""

    kind: str
    executions: int = 0
    seconds: float = 0.0
    restarts: int = 0
    capped: int = 0
    asked_again: int = 0  # for longer than allowed at first
    peak_kb: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "statuses": dict(self.statuses)}


class Fuzzer:
    """One kind of file, its reader, and the mutants that are worth going on with."""

    def __init__(
        self, kind: str, bases: Sequence[bytes], chance: random.Random, limits: Limits = LIMITS, found: Path | None = None
    ) -> None:
        self.run = Run(kind)
        self._bases, self._chance, self._limits, self._found = bases, chance, limits, found
        self._patient = replace(limits, seconds=6 * limits.seconds)
        self._pool: list[bytes] = []
        self._seen: set[tuple[Any, ...]] = set()
        self._process: Process | None = None

    def once(self) -> None:
        chosen = self._chance.choice(self._pool if self._pool and self._chance.random() < 0.5 else self._bases)
        data = mutated(chosen, self._chance)
        process = self._reader()
        answer = process.read(f"a.{self.run.kind}", None, data, self._limits, False)[0]
        if answer.status == TOO_SLOW:  # on a machine that does other things too, only much more time tells
            answer = Process(self._limits.memory).read(f"a.{self.run.kind}", None, data, self._patient, False)[0]
            self.run.asked_again += 1
        self.run.executions += 1
        self.run.statuses[answer.status] += 1
        code = process._process.poll()
        problem = wrong(answer)
        if code == -signal.SIGABRT and any(REFUSED in note for note in answer.notes):
            self.run.capped += 1
        elif code is not None and code != -signal.SIGKILL:  # a later process may have read it
            problem = f"{ENDED}: {code}"
        if self.run.executions % LOOK == 0 or problem:
            self._look(process)
        if problem:
            self._keep(problem, data)
        seen = (
            answer.kind,
            answer.status,
            re.sub(r"\d+", "", " ".join(answer.notes))[:80],
            len(answer.places),
            len(answer.text).bit_length(),
        )
        if seen not in self._seen and len(data) <= LARGEST:
            self._seen.add(seen)
            self._pool.append(data)
            if len(self._pool) > POOL:
                self._pool.pop(self._chance.randrange(POOL))

    def _reader(self) -> Process:
        if self._process is None or not self._process.alive:
            self.stop()
            self.run.restarts += 1
            self._process = Process(self._limits.memory)
        return self._process

    def _look(self, process: Process) -> None:
        self.run.peak_kb = max(self.run.peak_kb, memory_of(process))

    def _keep(self, problem: str, data: bytes) -> None:
        said = f"{problem} (execution {self.run.executions})"
        if self._found is not None:
            self._found.mkdir(parents=True, exist_ok=True)
            path = self._found / f"{self.run.executions}-{time.time_ns() % 10**9}.{self.run.kind}"
            path.write_bytes(data)
            said += f": {path}"
        self.run.findings.append(said)

    def stop(self) -> None:
        if self._process is not None:
            self._look(self._process)
            self._process.stop()
            self._process = None


def memory_of(process: Process) -> int:
    """The most that a process took, in KB; 0 of one that has ended."""
    try:
        status = Path(f"/proc/{process._process.pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) if found else 0


def fuzz(kind: str, seconds: float, bases: Sequence[bytes], found: Path | None, seed: int | None = None) -> Run:
    fuzzer = Fuzzer(kind, bases, random.Random(seed), found=found)
    begun = time.monotonic()
    try:
        while time.monotonic() - begun < seconds:
            fuzzer.once()
    finally:
        fuzzer.stop()
        stop_idle()
        fuzzer.run.seconds = round(time.monotonic() - begun, 1)
    return fuzzer.run


def bases_of(kind: str, more: Iterable[Path]) -> list[bytes]:
    """The files that are made here, and real ones of the same kind."""
    real = [path.read_bytes() for path in more if path.name.lower().endswith(f".{kind}") and 0 < path.stat().st_size <= LARGEST]
    return [made_files.made(kind), *_others(kind), *real]


def _others(kind: str) -> list[bytes]:
    """What the usual file of a kind does not have."""
    if kind == "pdf":  # streams that are not packed, pictures, and encryption
        return [made_files.pdf(packed=False), made_files.pdf(image=True), made_files.pdf(password="")]
    if kind == "eml":
        return [made_files.eml(attachments={f"合同.{inner}": made_files.made(inner) for inner in ("zip", "html", "rtf")})]
    if kind == "docx":
        return [made_files.docx(header="")]
    return [made_files.zipped({"a.zip": made_files.made("zip"), "a.tgz": made_files.made("tar.gz")})] if kind == "zip" else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for each kind")
    parser.add_argument("--kinds", default=",".join(KINDS), help="separated by commas")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz/files"), help="where findings are kept")
    parser.add_argument("--more", type=Path, help="a folder with real files to begin with")
    parser.add_argument("--json", type=Path, help="one line for each kind is put at the end of this file")
    options = parser.parse_args()
    more = sorted(path for path in options.more.rglob("*") if path.is_file()) if options.more else []
    total = 0
    for kind in options.kinds.split(","):
        if kind not in KINDS:
            parser.error(f"--kinds {kind}: choose from {', '.join(KINDS)}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = fuzz(kind, options.seconds, bases_of(kind, more), options.found)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        total += len(run.findings)
        said = ", ".join(f"{status} {count}" for status, count in run.statuses.most_common())
        print(
            f"{kind}: {run.executions} executions in {run.seconds:.0f} s ({cpu:.0f} s of the readers), {run.peak_kb >> 10} MB; {said}; capped {run.capped}"
        )
        for finding in run.findings[:10]:
            print(f"  FOUND {finding}")
        sys.stdout.flush()
        if options.json:
            with options.json.open("a", encoding="utf-8") as out:
                out.write(json.dumps(run.to_dict() | {"reader_cpu_s": round(cpu, 1)}) + "\n")
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
