"""Web pages as files: each is a document, called by its path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from lookalike.corpus.formats.base import RowsWanted
from lookalike.corpus.formats.text import OneDocument, whole
from lookalike.corpus.row import Row
from lookalike.markup.extraction import page_text
from lookalike.markup.page import page


class Html(OneDocument):
    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row]:
        found = page(whole(file, wanted), encoding=wanted.encoding, name=name)
        yield Row(name, 0, {wanted.text: page_text(found, wanted.extract)}, found)


HTML = Html()
