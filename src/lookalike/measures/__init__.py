"""How far apart and how alike two things are: one grammar for vectors, sets, strings, arrays and texts.

>>> from lookalike.measures import cosine, measures
>>> cosine.similarity([2, 3], [4, 6])
1.0
>>> measures.get("hamming").distance("10101", "00110")
3

Every measure has ``distance(a, b)`` and ``similarity(a, b)``, and on batches ``distances`` and ``similarities`` (row by
row), ``pairwise`` and ``pairwise_similarity`` (all with all). ``about`` states its formula and range. Measures that take
options are made by a function: ``hamming_with(bits=128)``, ``smlar_tfidf(idf, tf="log")``, ``tfidf_cosine_with(idf, default=8.0)``,
``meaning_with(model)``, ``wmd_with(vectors)``; ``measures.register`` gives them a name.
"""

from typing import TYPE_CHECKING

from lookalike.measures.base import Measure
from lookalike.measures.sets import containment, dice, jaccard, overlap
from lookalike.measures.smlar import smlar_cosine, smlar_overlap, smlar_tfidf
from lookalike.measures.strings import difflib, hamming, hamming_with, indel, levenshtein, ratio
from lookalike.measures.tfidf import tfidf_cosine, tfidf_cosine_with
from lookalike.measures.vectors import chebyshev, cosine, euclidean, manhattan
from lookalike.measures.word_mover import wmd, wmd_with
from lookalike.registry import Registry

if TYPE_CHECKING:
    from lookalike.measures.by_model import hybrid, hybrid_with, meaning, meaning_with

__all__ = [
    "Measure",
    "chebyshev",
    "containment",
    "cosine",
    "dice",
    "difflib",
    "euclidean",
    "hamming",
    "hamming_with",
    "hybrid",
    "hybrid_with",
    "indel",
    "jaccard",
    "levenshtein",
    "manhattan",
    "meaning",
    "meaning_with",
    "measures",
    "overlap",
    "ratio",
    "smlar_cosine",
    "smlar_overlap",
    "smlar_tfidf",
    "tfidf_cosine",
    "tfidf_cosine_with",
    "wmd",
    "wmd_with",
]

measures: Registry[Measure] = Registry("measure")
_ALL = (
    euclidean,
    manhattan,
    chebyshev,
    cosine,
    jaccard,
    containment,
    overlap,
    dice,
    hamming,
    levenshtein,
    indel,
    ratio,
    difflib,
    smlar_cosine,
    smlar_overlap,
    tfidf_cosine,
    wmd,
)
for _measure in _ALL:
    measures.register(_measure.name, _measure)

_BY_MODEL = "lookalike.measures.by_model"  # not imported before it is used: few need it, and it brings a database along
for _name in ("meaning", "hybrid"):
    measures.register(_name, f"{_BY_MODEL}:{_name}")


def __getattr__(name: str) -> object:
    if name in ("meaning", "meaning_with", "hybrid", "hybrid_with"):
        from importlib import import_module

        return getattr(import_module(_BY_MODEL), name)
    raise AttributeError(f"module 'lookalike.measures' has no attribute {name!r}")
