"""``dedupe_stream``: exact copies out of a stream, in memory that does not grow."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_choice, check_int, check_path, is_number, refuse
from lookalike.corpus.batches import MAX_ROW_BYTES, Batch, Columns, join_texts
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader
from lookalike.corpus.formats.jsonl_writing import edited_line, stretches
from lookalike.corpus.formats.lines import line_blocks
from lookalike.corpus.row import Problem
from lookalike.corpus.streams import opened, packed
from lookalike.corpus.writing import atomic_file
from lookalike.deduping.levels import LAST_BREAKS, WORDLIKE, units
from lookalike.deduping.outputs import STANDARD_OUTPUT, check_paths
from lookalike.deduping.problems import Problems
from lookalike.deduping.progress import Progress, StageTimes
from lookalike.deduping.readers import check_columns, found_sources, readers_of
from lookalike.deduping.settings import Conduct, Input
from lookalike.deduping.streams.sizes import Sizes, sizes
from lookalike.deduping.verdicts import TextCuts
from lookalike.errors import InputError
from lookalike.figures import counted, shown_share
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher
from lookalike.recipe import Recipe, resolve
from lookalike.system import usable_cores

LEVELS = ("document", "paragraph", "line")
METHODS = ("exact", "bytes")
RATE = 1e-6
CAPACITY = 10_000_000
MOST_CAPACITY = 10**12
LOWEST_RATE = 1e-15
_BREAK = b"\n"


@dataclass(slots=True)
class StreamReport:
    """What a stream had twice. The filter remembers that something was there, and not where: nothing here names an original."""

    level: str
    method: str
    stated_rate: float
    capacity: int
    filter: Sizes
    documents: int = 0
    kept: int = 0
    removed: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    skipped: int = 0

    @property
    def unit(self) -> str:
        return f"{self.level}s"

    @property
    def rate(self) -> float:
        """How probable it is by now that something new is taken for a copy."""
        return self.filter.rate(self.kept)

    def headline(self) -> str:
        total = self.kept + self.removed
        share = f" ({shown_share(self.removed / total)})" if total else ""
        read = "" if self.level == "document" else f"{counted(self.documents, 'document')}, "
        return f"{read}{counted(total, self.level)}: {self.kept:,} kept, {self.removed:,} removed{share}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "kept": self.kept,
            "removed": self.removed,
            "unit": self.unit,
            "seconds": round(self.seconds, 3),
            "method": self.method,
            "false_positive_rate": {"stated": self.stated_rate, "now": self.rate},
            "capacity": self.capacity,
            "memory_bytes": self.filter.nbytes,
            "skipped": self.skipped,
            "names_originals": False,
        }


def dedupe_stream(
    inputs: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    bloom: float = RATE,
    capacity: int = CAPACITY,
    level: str = "document",
    method: str = "exact",
    text_column: str = "text",
    id_column: str = "id",
    format: str | None = None,
    recipe: Recipe | str | None = None,
    on_error: str = "stop",
    on_problem: Callable[[Problem], object] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> StreamReport:
    """Remove exact copies of documents, paragraphs or lines from JSON lines or plain texts, as they come, in constant memory.

    Every input is read once, and standard input (``-``) is not copied first. What was seen is kept in a Bloom filter, made for ``capacity``
    different documents, paragraphs or lines: a copy is always found, and up to the capacity something new is taken for a copy with a
    probability of at most ``bloom``. The filter cannot say which original a copy has, so there is no audit trail. Methods: ``exact`` (equal
    words) and ``bytes``. ``format="text"`` reads plain text, of which lines or paragraphs are removed.
    """
    if not is_number(bloom) or not LOWEST_RATE <= bloom < 1:
        raise refuse("bloom", bloom, f"give the rate of errors that you accept, from {LOWEST_RATE} to below 1, such as 1e-6")
    check_int("capacity", capacity, 1, MOST_CAPACITY)
    given = Input(inputs, text_column, id_column, format)
    conduct = Conduct(None, on_error, on_problem, progress)
    check_choice("level", level, LEVELS)
    check_choice("method", method, METHODS)
    check_path("out", out)
    problems = conduct.problems()
    sources = found_sources(inputs, format, problems.add)
    _check_sources(sources, level)
    check_paths(sources, out=out)
    begin = time.perf_counter()
    stream = _Stream(given, level, method, resolve(recipe), bloom, capacity, problems, StageTimes(on_progress=conduct.progress))
    with _output(out) as file:
        stream.run(sources, file)
    report = stream.report
    problems.check_any(report.documents)
    report.seconds, report.problems, report.skipped = time.perf_counter() - begin, problems.named, problems.skipped
    return report


def _check_sources(sources: Sequence[Source], level: str) -> None:
    if not sources:
        raise InputError("inputs: there is none: name files, or '-' for standard input")
    for source in sources:
        if source.format not in ("jsonl", "text"):
            raise InputError(
                f"{source.name}: a stream is JSON lines or plain text; convert .{source.format}, or leave out bloom= (--bloom)"
            )
        if source.format == "text" and level == "document":
            raise InputError(f"{source.name}: a text file is one document: choose level='line' or 'paragraph' (--level)")
    if len({source.format for source in sources}) > 1:
        raise InputError("a stream is JSON lines or plain text, and not both: give them one after the other")


@contextmanager
def _output(out: str | Path) -> Iterator[IO[bytes]]:
    if out == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    if path.is_dir():
        raise InputError(f"out={str(out)!r} is a folder: a stream is written to one file, or to '-'")
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        file = stack.enter_context(atomic_file(path))
        target = packed(file, Source.of(path).packing)
        yield target
        target.close()


class _Stream:
    def __init__(
        self, given: Input, level: str, method: str, recipe: Recipe, rate: float, capacity: int, problems: Problems, times: StageTimes
    ) -> None:
        self._given, self._level, self._method, self._problems, self._times = given, level, method, problems, times
        self._columns = Columns(given.text_column, given.id_column)
        self._sketcher = Sketcher(Rule(method, recipe), usable_cores())
        made = sizes(rate, capacity)
        self._filter = _native.BloomFilter(made.blocks, made.hashes)
        self.report = StreamReport(level, method, rate, capacity, made)

    def run(self, sources: Sequence[Source], out: IO[bytes]) -> None:
        files = [source for source in sources if source.path is not None and not source.path.is_fifo()]
        if sources[0].format == "jsonl":
            check_columns(files, self._columns, None)  # a stream can be read once: there a missing column is a problem of each row
        for source in sources:
            if source.format == "jsonl":
                self._rows(readers_of([source], self._columns, None)[0], out)
            else:
                self._texts(source, out)

    def _seen(self, texts: Any) -> NDArray[np.bool_]:
        """Which of some texts were there before. Those without any word never were."""
        digests = self._sketcher.sketch(texts).digests
        empty = (digests.reshape(-1, 2) == 0).all(axis=1)
        return np.asarray(self._filter.add(np.ascontiguousarray(digests)), dtype=np.bool_) & (~empty if self._level != "document" else True)

    def _count(self, seen: int, total: int) -> None:
        self.report.removed += seen
        self.report.kept += total - seen

    def _rows(self, reader: FileReader, out: IO[bytes]) -> None:
        for part in reader.parts(self._problems.report):
            batch = part.make(self._problems.report)
            if len(batch) and batch.lines is not None and batch.extents is not None:
                self._write_rows(batch, batch.lines.data, batch.extents.reshape(-1, 2) - batch.lines.offset, out)
            if batch.lines is not None:
                batch.lines.let_go()
            self.report.documents += len(batch)
            self._times.step("read", self.report.documents, None, "documents")

    def _write_rows(self, batch: Batch, data: memoryview, extents: NDArray[np.int64], out: IO[bytes]) -> None:
        if self._level == "document":
            seen = self._seen(batch.texts)
            kept = np.ones(len(batch), np.bool_)
            kept[slice(None) if batch.has_text is None else batch.has_text] = ~seen
            self._count(int(seen.sum()), len(batch))
            for begin, end in stretches(extents, kept).tolist():
                _write(data[begin:end], out)
            return
        edits = TextCuts(self._given.text_column, self._cuts(batch))
        for place, (begin, end) in enumerate(extents.tolist()):
            line = bytes(data[begin:end])
            _write(edited_line(line, place, edits) if place in edits.cuts else line, out)

    def _cuts(self, batch: Batch) -> dict[int, list[tuple[int, int]]]:
        """By the place of a document in the batch."""
        places = np.arange(len(batch)) if batch.has_text is None else np.flatnonzero(batch.has_text)
        owners, spans, contents = list[int](), list[tuple[int, int]](), list[str]()
        for place, text in zip(places.tolist(), batch.texts.texts(), strict=True):
            for start, end in units(text, self._level):
                owners.append(place)
                spans.append((start, end))
                contents.append(text[start:end])
        cuts: dict[int, list[tuple[int, int]]] = {}
        for number in self._repeated(contents):
            cuts.setdefault(owners[number], []).append(spans[number])
        return cuts

    def _repeated(self, contents: list[str]) -> list[int]:
        compared = [LAST_BREAKS.sub("", content) for content in contents] if self._method == "bytes" else contents
        seen = self._seen(join_texts(compared))
        found = [number for number in np.flatnonzero(seen).tolist() if WORDLIKE.search(contents[number])]
        self._count(len(found), len(contents))
        return found

    def _texts(self, source: Source, out: IO[bytes]) -> None:
        """Lines or paragraphs of plain text. A paragraph is only judged when all of it was read."""
        held = ""
        self.report.documents += 1
        with opened(source) as file:
            for block in line_blocks(file, source.name, MAX_ROW_BYTES):
                if isinstance(block, Problem):
                    self._problems.report(block)
                    continue
                held = self._pieces(_decoded(held, block.data, source), out, last=False)
                self._times.step("read", block.offset + len(block.data), None, "bytes")
        self._pieces(held, out, last=True)

    def _pieces(self, text: str, out: IO[bytes], last: bool) -> str:
        """Judges and writes what is complete, and returns the rest."""
        spans = list(units(text, self._level))
        rest = ""
        if not last and self._level == "paragraph" and spans:  # more line breaks may follow, or more of it
            rest = text[spans.pop()[0] :]
            if len(rest) > MAX_ROW_BYTES:
                raise InputError(f"a paragraph of more than {MAX_ROW_BYTES:,} characters: choose level='line' (--level line)")
        contents = [text[start:end] for start, end in spans]
        gone = set(self._repeated(contents))
        kept = "".join(content for number, content in enumerate(contents) if number not in gone)
        out.write(kept.encode())
        return rest


def _decoded(held: str, data: memoryview, source: Source) -> str:
    try:
        return held + str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name}: a stream of plain text is UTF-8, and this is not: convert it first (iconv)") from error


def _write(line: memoryview | bytes, out: IO[bytes]) -> None:
    out.write(line)
    if bytes(line[-1:]) != _BREAK:  # the last row of a file
        out.write(_BREAK)
