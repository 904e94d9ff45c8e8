"""An IDF table from texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lookalike.checks import check_bool, check_several, check_str
from lookalike.corpus.contents import readable
from lookalike.errors import InputError
from lookalike.text.idf import Idf, learn
from lookalike.text.tokenize import token_texts

_SEVERAL = "a list of documents, each a str or a Path"


def learn_idf(texts: Iterable[str | Path], *, tokenizer: str = "jieba", lines: bool = False, name: str = "learned") -> Idf:
    """The IDF table of a corpus. A ``str`` is a document, a ``Path`` is a file that holds one, or with ``lines`` one per line."""
    if isinstance(texts, (str, Path)):
        raise InputError("texts: give a list of documents, even for one document")
    check_several("texts", texts, _SEVERAL)
    check_bool("lines", lines)
    check_str("tokenizer", tokenizer, "the name of a tokenizer")
    check_str("name", name)
    return learn((token_texts(text, tokenizer) for text in _documents(texts, lines)), name=name)


def _documents(texts: Iterable[str | Path], lines: bool) -> Iterator[str]:
    for text in texts:
        content = readable(text).text() if isinstance(text, Path) else check_str("texts", text, _SEVERAL)
        if lines:
            yield from (line for line in content.splitlines() if line.strip())
        else:
            yield content
