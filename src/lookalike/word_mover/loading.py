"""Word vectors from wherever they are: files of word2vec, fastText, GloVe and gensim, objects in memory, models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lookalike.checks import check_int, refuse
from lookalike.errors import InputError, MissingExtra
from lookalike.word_mover.building import Broken
from lookalike.word_mover.files import Format, read_vectors
from lookalike.word_mover.tables import SAVED_VECTORS, EmbeddedWords, WordTable, WordVectors, open_saved, table_of

# Any, because gensim's KeyedVectors, which have no types, are told by what they have.
Source: TypeAlias = Any  # str | PathLike | Mapping[str, …] | WordVectors | Embedder | KeyedVectors | None


def word_vectors(source: Source = None, *, limit: int | None = None, form: Format = "auto", broken: Broken = "error") -> WordVectors:
    """The vectors of words, from a file, a saved table, a dict, gensim's KeyedVectors, or a model.

    A file is of word2vec (text or binary), fastText (``.vec``), GloVe, also packed with gzip, or of gensim (``.kv``, which needs
    gensim; such a file can run code when it is opened, so open your own only). ``limit`` takes the first words alone: such files
    are ordered by frequency. ``broken="skip"`` leaves out entries that are broken instead of raising an error. Without a source,
    or with the name or folder of a model, words are encoded by that model, and none is unknown.
    """
    _check(limit, form, broken)
    if isinstance(source, WordTable | EmbeddedWords):
        return source
    if isinstance(source, Mapping):
        return table_of(source if limit is None else dict(list(source.items())[:limit]))
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _gensim_table(source, limit, "KeyedVectors")
    if isinstance(source, (str, os.PathLike)) and os.path.isfile(source):
        path = Path(source)
        return _saved_by_gensim(path, limit) if path.suffix == ".kv" else read_vectors(path, form=form, limit=limit, broken=broken)
    if isinstance(source, (str, os.PathLike)) and (Path(source) / SAVED_VECTORS).is_file():
        return open_saved(Path(source))
    if isinstance(source, os.PathLike) and not os.path.isdir(source):
        raise InputError(f"vectors={str(source)!r}: there is no such file")
    if hasattr(source, "__contains__") and callable(getattr(source, "vectors", None)) and hasattr(source, "dimensions"):
        vectors: WordVectors = source
        return vectors
    from lookalike.embedders.opening import embedder

    return EmbeddedWords(embedder(source))


def _check(limit: int | None, form: str, broken: str) -> None:
    if limit is not None:
        check_int("limit", limit, 1, remedy="give the largest number of words, 1 or more")
    if not isinstance(form, str) or form not in ("auto", "text", "binary"):
        raise refuse("form", form, "choose 'auto', 'text' or 'binary'")
    if not isinstance(broken, str) or broken not in ("error", "skip"):
        raise refuse("broken", broken, "choose 'error' or 'skip'")


def _gensim_table(vectors: Any, limit: int | None, name: str) -> WordTable:
    rows: Mapping[str, int] = vectors.key_to_index  # shared, not copied: so is the matrix
    if limit is not None:
        rows = {word: row for word, row in rows.items() if row < limit}
    return WordTable(rows, vectors.vectors, name=name)


def _saved_by_gensim(path: Path, limit: int | None) -> WordTable:
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise MissingExtra(f"{str(path)!r}: reading files of gensim needs gensim: pip install gensim") from error
    try:
        loaded = KeyedVectors.load(str(path), mmap="r")
    except Exception as error:  # a pickle raises whatever its content makes it raise
        raise InputError(f"{str(path)!r}: gensim cannot read it ({error}); save it with KeyedVectors.save") from error
    found = getattr(loaded, "wv", loaded)
    if not hasattr(found, "key_to_index"):
        raise InputError(f"{str(path)!r} holds a {type(loaded).__name__}, not KeyedVectors")
    return _gensim_table(found, limit, path.name)
