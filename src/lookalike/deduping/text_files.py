"""Folders of text and HTML files: every file is a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem, damaged
from lookalike.corpus.streams import damage, opened
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.lines import MAX_ROW_BYTES
from lookalike.errors import InputError
from lookalike.io import TextFile, decode_text
from lookalike.text.columns import Packed

FILES = 256
CHARACTERS = 1 << 20
_UNSEEN = frozenset(("script", "style", "template", "noscript", "head"))


class TextFiles:
    """Files of which each is a document, in order."""

    size = None

    def __init__(self, sources: Sequence[Source], columns: Columns, encoding: str | None = None) -> None:
        if columns.rank:
            raise InputError(f"keep={columns.rank_kind}:{columns.rank}: text files have no columns: choose first or longest")
        self.sources, self.encoding = sources, encoding

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
            text = self.decoded(source).text
        except InputError as error:
            report(Problem("unreadable file", source.name, str(error)))
            return None
        except damage() as error:
            report(damaged(source.name, error))
            return None
        return visible_text(text) if source.format == "html" else text

    def decoded(self, source: Source) -> TextFile:
        """What is in a file, and the encoding it has."""
        with opened(source) as file:
            data = file.read(MAX_ROW_BYTES + 1)
        if len(data) > MAX_ROW_BYTES:
            raise InputError(f"the file has more than {MAX_ROW_BYTES:,} bytes: split it")
        return decode_text(data, source.name, self.encoding)


def _batch(names: list[str], texts: list[str]) -> Batch:
    import numpy as np

    return Batch(rows=np.zeros(len(texts), np.int64), texts=Packed(*map(np.asarray, _native.pack_strings(texts))), names=names)


class _Visible(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNSEEN and not (tag == "head" and self._unseen):
            self._unseen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag == "body":
            self._unseen.clear()

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


def visible_text(html: str) -> str:
    """The text of a page, without markup, scripts and styles."""
    parser = _Visible()
    parser.feed(html)
    parser.close()
    return " ".join(parser.parts)
