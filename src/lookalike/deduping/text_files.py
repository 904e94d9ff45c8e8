"""Folders of text and HTML files: every file is a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem, damaged
from lookalike.corpus.streams import damage, opened
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.lines import MAX_ROW_BYTES
from lookalike.errors import InputError
from lookalike.io import TextFile, decode_text
from lookalike.markup.extraction import page_text
from lookalike.markup.page import page
from lookalike.text.columns import Packed

FILES = 256
CHARACTERS = 1 << 20


class TextFiles:
    """Files of which each is a document, in order."""

    size = None

    def __init__(self, sources: Sequence[Source], columns: Columns, encoding: str | None = None) -> None:
        if columns.rank:
            raise InputError(f"keep={columns.rank_kind}:{columns.rank}: text files have no columns: choose first or longest")
        self.sources, self.encoding, self.extract = sources, encoding, columns.extract

    @property
    def name(self) -> str:
        return self.sources[0].name

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        names: list[str] = []
        texts: list[str] = []
        for source in self.sources:
            text = self._read(source, report)
            if text is None:
                continue
            names.append(source.name)
            texts.append(text)
            if len(texts) == FILES or sum(map(len, texts)) > CHARACTERS:
                yield _batch(names, texts)
                names, texts = [], []
        if texts:
            yield _batch(names, texts)

    def _read(self, source: Source, report: Report) -> str | None:
        try:
            if source.format != "html":
                return self.decoded(source).text
            return page_text(page(self._data(source), encoding=self.encoding, name=source.name), self.extract)
        except InputError as error:
            report(Problem("unreadable file", source.name, str(error)))
            return None
        except damage() as error:
            report(damaged(source.name, error))
        return None

    def first_damaged(self) -> Problem | None:
        """The first packed file that cannot be unpacked, among the first hundred files."""
        found: list[Problem] = []
        for source in self.sources[:100]:
            if source.packing and self._read(source, found.append) is None:
                return found[0]
        return None

    def decoded(self, source: Source) -> TextFile:
        """What is in a file, and the encoding it has."""
        return decode_text(self._data(source), source.name, self.encoding)

    def _data(self, source: Source) -> bytes:
        with opened(source) as file:
            data = file.read(MAX_ROW_BYTES + 1)
        if len(data) > MAX_ROW_BYTES:
            raise InputError(f"the file has more than {MAX_ROW_BYTES:,} bytes: split it")
        return data


def _batch(names: list[str], texts: list[str]) -> Batch:
    import numpy as np

    return Batch(rows=np.zeros(len(texts), np.int64), texts=Packed(*map(np.asarray, _native.pack_strings(texts))), names=names)
