"""Web archives: every page is a document, called by its address; what stays is an archive again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import IO

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.row import Problem, damaged
from lookalike.corpus.streams import damage, opened, opened_again, packed
from lookalike.corpus.warc import Capture, captures, records
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.ledger import packed_ids
from lookalike.deduping.problems import UNREADABLE
from lookalike.deduping.verdicts import DocumentVerdicts
from lookalike.errors import InputError
from lookalike.io import decode_text
from lookalike.markup.extraction import page_text
from lookalike.markup.reading import served_page
from lookalike.text.columns import Packed

PAGES = 256
CHARACTERS = 1 << 20


class WebArchive:
    """The pages of one archive, in order."""

    size = None

    def __init__(self, source: Source, columns: Columns, encoding: str | None = None) -> None:
        if columns.rank:
            raise InputError(f"keep={columns.rank_kind}:{columns.rank}: web archives have no columns: choose first or longest")
        self.source, self.encoding, self.extract = source, encoding, columns.extract

    @property
    def name(self) -> str:
        return self.source.name

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        rows: list[int] = []
        ids: list[bytes] = []
        texts: list[str] = []
        for capture in self._captures(report):
            text = self._text(capture, report)
            if text is None:
                continue
            rows.append(capture.number)
            ids.append(json.dumps(capture.url).encode() if capture.url else b"")
            texts.append(text)
            if len(texts) == PAGES or sum(map(len, texts)) > CHARACTERS:
                yield _batch(rows, ids, texts)
                rows, ids, texts = [], [], []
        if texts:
            yield _batch(rows, ids, texts)

    def _captures(self, report: Report) -> Iterator[Capture]:
        try:
            with opened(self.source) as file:
                yield from captures(file, self.name)
        except InputError as error:
            report(Problem(UNREADABLE, self.name, str(error)))
        except damage() as error:
            report(damaged(self.name, error))

    def _text(self, capture: Capture, report: Report) -> str | None:
        place = f"{self.name}:{capture.number}"
        try:
            if capture.data is None:
                raise InputError(str(capture.problem))
            if not capture.is_html:
                return decode_text(capture.data, place, self.encoding).text
            return page_text(served_page(capture.data, capture.charset, place, self.encoding), self.extract)
        except InputError as error:
            report(Problem("unreadable page", place, str(error)))
            return None


def _batch(rows: list[int], ids: list[bytes], texts: list[str]) -> Batch:
    import numpy as np

    packed_texts = Packed(*map(np.asarray, _native.pack_strings(texts)))
    # A crawl may have a page several times: that is what it is deduped for.
    return Batch(rows=np.array(rows, np.int64), texts=packed_texts, ids=packed_ids(ids)._replace(may_repeat=True))


def write_archive(source: Source, file: IO[bytes], packing: str | None, number: int, verdicts: DocumentVerdicts) -> None:
    """The records of an archive as they are, without the pages that were removed and without what belongs to these."""
    span = verdicts.ledger.span(number)
    kept = verdicts.kept_of(number).tolist()
    gone = {row for row, stays in zip(verdicts.ledger.rows()[span].tolist(), kept, strict=True) if not stays}
    ids, whole = _surveyed(source, gone)
    with opened_again(source) as archive:
        for record in itertools.islice(records(archive, source.name), whole):
            if record.number not in gone and not record.belongs_to & ids:
                out = packed(file, packing)  # a member of its own, as readers of archives expect
                record.write(out)
                out.close()


def _surveyed(source: Source, gone: set[int]) -> tuple[set[str], int]:
    """The ids of some records, and how many records come before damage: of one that is cut off nothing is written."""
    ids: set[str] = set()
    whole = 0
    try:
        with opened_again(source) as archive:
            for record in records(archive, source.name):
                record.pass_over()
                whole = record.number
                ids |= {record.id} if record.number in gone else set()
    except (InputError, EOFError):
        pass  # reported by the first reading, which took as many
    return ids - {""}, whole
