"""Text files: each is a document, called by its path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

from lookalike.corpus.contents import read_contents
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import Cuts, Format, Kept, RowsWanted
from lookalike.corpus.row import Row
from lookalike.corpus.streams import opened, packed
from lookalike.errors import InputError
from lookalike.io import MAX_TEXT_BYTES, decode_text


class OneDocument(Format):
    """A format whose files are documents. Files of several such formats are read, and copied, in one go."""

    named_by = "its path"
    plural = "text files"

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        raise InputError(f"{part.source.name} and others are files of their own: write them to a folder")


class PlainText(OneDocument):
    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row]:
        yield Row(name, 0, {wanted.text: read_contents(whole(file, wanted), name, "text", wanted.encoding).text()})


TEXT = PlainText()


def whole(file: IO[bytes], wanted: RowsWanted) -> bytes:
    """All of a file. Without a limit it is that of texts, which whoever decodes it looks after."""
    data = file.read((wanted.most_bytes or MAX_TEXT_BYTES) + 1)
    if wanted.most_bytes and len(data) > wanted.most_bytes:
        raise InputError(f"the file has more than {wanted.most_bytes:,} bytes: split it")
    return data


def copy_files(part: Kept, folder: Path, names: dict[str, str]) -> None:
    """The files that stay, under their new names."""
    edits = part.edits
    sources = {source.name: source for source in part.reader.sources}
    for document, kept in zip(part.documents, part.kept.tolist(), strict=True):
        source = sources[part.file(document)]
        if not kept or source.path is None:
            continue
        target = folder / names[source.name]
        target.parent.mkdir(parents=True, exist_ok=True)
        if edits and document in edits.cuts:
            _write_edited(part, document, edits, source, target)
        else:
            shutil.copyfile(source.path, target)


def _write_edited(part: Kept, document: int, edits: Cuts, source: Source, target: Path) -> None:
    with opened(source) as file:
        found = decode_text(file.read(), source.name, part.reader.encoding)
    with open(target, "wb") as plain, closing(packed(plain, source.packing)) as out:
        out.write(edits.edited(document, found.text).encode(found.encoding, "surrogatepass"))
