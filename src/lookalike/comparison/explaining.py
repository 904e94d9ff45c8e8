"""What the numbers of a comparison mean, in a few words each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.figures import shown_score
from lookalike.pages.scores import COMBINED, COMBINED_ID

if TYPE_CHECKING:
    from lookalike.comparison.outcome import Comparison

_TEXT = {
    "cosine": "how often each word occurs",
    "tfidf": "the same, where rare words count more",
    "jaccard": "runs of five words: shared ones among all",
    "dice": "runs of five words: shared ones among the mean of both",
    "overlap": "runs of five words: shared ones among those of the shorter text",
    "containment": "runs of five words: how many of the left text are in the right one",
    "containment-reverse": "runs of five words: how many of the right text are in the left one",
    "levenshtein": "characters to insert, delete or replace",
    "ratio": "characters to insert or delete",
    "difflib": "longest common blocks of characters, as Python's difflib finds them",
    "simhash": "equal bits of the SimHashes",
    "minhash": "equal values of the MinHashes: an estimate of jaccard",
    "winnowing": "shared fingerprints of passages",
    "euclidean": "1 / (1 + distance) of the word counts: small for long texts",
    "manhattan": "1 / (1 + distance) of the word counts: small for long texts",
    "chebyshev": "1 / (1 + distance) of the word counts: the word that differs most",
    "meaning": "cosine of the vectors of a model",
    "hybrid": "meaning and words, blended by length",
    "wmd": "how far the words of one text must travel to become the other's (Word Mover's Distance)",
}
_PAGE = {
    "tags": "tags and texts, paired one by one",
    "structure": "where tags stand in the tree",
    "style": "how tags look: classes and styles",
    "links": "where links lead",
    "forms": "forms and controls",
    "text": "all text that can be read",
    "content": "the main text, without navigation",
    "representation": "tags as a language model reads them",
}
_FILE = {"sha256": "1 for equal bytes, else 0", "ssdeep": "shared pieces of the bytes", "tlsh": "distribution of the bytes"}
_CODE = {name: meaning.replace("five words", "eight tokens").replace("word", "token") for name, meaning in _TEXT.items()}
_ABOUT = {"text": _TEXT, "page": _PAGE, "file": _FILE, "code": _CODE}


def about(kind: str, measure: str) -> str:
    """What a measure looks at; nothing for one that somebody else registered."""
    return _ABOUT.get(kind, {}).get(measure, "")


def formula(comparison: Comparison) -> str:
    """How the score is made, in one sentence."""
    if comparison.kind == "page":
        if comparison.signature.get("score") != COMBINED_ID:
            return f"The score is that of one method: {', '.join(comparison.measures)}."
        values = ", ".join(f"{name} {shown_score(comparison.measures[name] or 0.0)}" for name in COMBINED)
        return f"The score is the mean of three views: {values}."
    if comparison.kind == "file":
        return "The score is 1 for equal bytes, otherwise the higher of the fuzzy similarities."
    if comparison.kind == "code":
        return "The score is the share of common runs of eight tokens. Names, literals, comments and layout do not count."
    if comparison.kind == "record":
        return "The score is the weighted mean of the fields."
    return "The score blends the words and the phrases that both texts share. It does not depend on the measures below."
