"""Words of file names and of texts: segmented, in normal form, without those that say nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import PurePath

from lookalike.text.idf import Idf, learn
from lookalike.text.keywords import is_word
from lookalike.text.stopwords import normal_stop_words
from lookalike.text.tokenize import token_texts

LONGEST = 20_000  # characters of a text whose words are counted: what a text is about, its beginning says
COMMON = 0.5  # a word in the names of more than this share of the files tells none of them apart
_ENOUGH = 5  # files, from which on that is said of a word
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_JOINED = re.compile(r"[_\-+.()\[\]{}（）【】]+|(?<=[a-z])(?=[A-Z])")


def content_words(text: str, most: int = LONGEST) -> list[str]:
    stop = normal_stop_words("default")
    return [word for word in token_texts(text[:most], "jieba") if word not in stop and is_word(word)]


def name_words(name: str) -> list[str]:
    """The words of a file name, without its ending: of those written together, as in ``AnnualReport_2026``, each."""
    stem = PurePath(name).stem
    if PurePath(name).suffix.lower() in _PACKED:
        stem = PurePath(stem).stem
    words = token_texts(_JOINED.sub(" ", stem), "jieba")
    stop = normal_stop_words("default")
    return list(dict.fromkeys(word for word in words if word not in stop and is_word(word)))


def names_idf(names: Iterable[str]) -> Idf | None:
    """How many of the files of a folder have a word in their names; None of too few."""
    listed = [name_words(name) for name in names]
    return learn(listed, name="file names") if len(listed) >= _ENOUGH else None


def telling(words: Iterable[str], idf: Idf | None) -> list[str]:
    """The words that not most of the files have."""
    if idf is None or idf.documents < _ENOUGH:
        return list(words)
    return [word for word in words if idf[word] >= idf_bound(idf.documents)]


def idf_bound(documents: int) -> float:
    """The value of a word that just as many files have as is too many."""
    return math.log((1 + documents) / (1 + COMMON * documents)) + 1
