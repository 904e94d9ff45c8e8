"""``profile``: the record of a file. What it is about, in a few fields that can be compared and searched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lookalike.checks import check_int, check_path
from lookalike.errors import InputError
from lookalike.files.limits import Limits
from lookalike.files.model import FileText
from lookalike.files.reading import read_file
from lookalike.profiles.labels import Labeller, label_of, read_labels
from lookalike.profiles.patterns import LONGEST, extracted, read_patterns
from lookalike.profiles.words import LONGEST as LONGEST_WORDS
from lookalike.profiles.words import content_words, name_words, telling
from lookalike.text.idf import Idf

KEYWORDS = 10
_SAMPLE = 2000  # characters from which the language is told
_MAX_TITLE = 200
# By the script; languages that share one are told by their commonest words.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u3096\u30a1-\u30fa]"), 0.05),
    ("ko", re.compile("[\uac00-\ud7a3]"), 0.2),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"), 0.2),
    ("ru", re.compile("[\u0400-\u04ff]"), 0.3),
    ("ar", re.compile("[\u0600-\u06ff]"), 0.3),
    ("hi", re.compile("[\u0900-\u097f]"), 0.3),
    ("th", re.compile("[\u0e00-\u0e7f]"), 0.3),
    ("el", re.compile("[\u0370-\u03ff]"), 0.3),
    ("he", re.compile("[\u0590-\u05ff]"), 0.3),
)
_LATIN = {
    "en": frozenset(
        {"the", "of", "and", "to", "in", "is", "that", "for", "with", "as", "was", "on", "are", "by", "this", "be", "from", "or"}
    ),
    "de": frozenset(
        {"der", "die", "und", "das", "den", "von", "zu", "mit", "ist", "des", "im", "für", "auf", "ein", "eine", "dem", "nicht"}
    ),
    "fr": frozenset(
        {"de", "la", "le", "et", "les", "des", "en", "du", "une", "est", "que", "dans", "pour", "par", "sur", "qui", "au", "avec"}
    ),
    "es": frozenset(
        {"de", "la", "que", "el", "en", "los", "del", "las", "por", "con", "una", "para", "es", "al", "se", "como", "más", "su"}
    ),
}


def profile(
    path: str | Path,
    *,
    idf: Idf | None = None,
    labels: str | Path | Labeller | Mapping[str, Iterable[str]] | None = None,
    patterns: str | Path | Mapping[str, Any] | None = None,
    keywords: int = KEYWORDS,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """The record of a file: ``la.record`` makes a fingerprint of it, and ``la.compare`` compares two.

    ``domain`` and ``confidence`` come from ``labels``: a folder with a folder of examples for each label, JSON lines with ``text`` and
    ``label``, or a function of the ``FileText`` that gives a label, or a label and its confidence. ``words`` are those of the file name;
    with an ``idf`` of the names in a folder, words that most of them have are left out. ``schema`` holds dates, amounts and
    identifiers, and what ``patterns`` of one's own find (a TOML file, or a mapping of names to regular expressions).
    """
    check_int("keywords", keywords, 0, 1000)
    if idf is not None and not isinstance(idf, Idf):
        raise InputError(f"idf is a {type(idf).__name__}: give an Idf, such as la.learn_idf makes")
    labeller, own = read_labels(labels), read_patterns(patterns)
    return profile_of(read_file(check_path("path", path), limits), idf, labeller, own, keywords)


def profile_of(
    found: FileText,
    idf: Idf | None,
    labeller: Labeller | None,
    own: Mapping[str, re.Pattern[str]],
    keywords: int = KEYWORDS,
    part: float = 1.0,
) -> dict[str, Any]:
    """The same of a file that was read; ``part`` says how much of what is looked at otherwise."""
    label = label_of(labeller, found) if labeller is not None else None
    counts = Counter(word for word in content_words(found.text, int(part * LONGEST_WORDS)) if len(word) > 1)
    title = found.title or next((line.strip() for line in found.text[:2000].splitlines() if line.strip()), "")
    return {
        "domain": label.name if label else "",
        "confidence": label.confidence if label else 0.0,
        "words": telling(name_words(found.name), idf),
        "title": title[:_MAX_TITLE],
        "language": language(found.text),
        "kind": found.kind,
        "status": found.status,
        "characters": len(found.text),
        "keywords": [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:keywords]],
        "schema": extracted(found.text, own, int(part * LONGEST)),
    }


def language(text: str) -> str:
    """The code of the language of a text, by its letters and its commonest words; empty where neither tells."""
    sample = text[:_SAMPLE]
    counts = Counter(sample)
    letters = sum(count for character, count in counts.items() if character.isalpha())
    if not letters:
        return ""
    different = "".join(counts)
    for code, script, share in () if different.isascii() else _SCRIPTS:
        if sum([counts[character] for character in script.findall(different)]) >= share * letters:
            return code
    words = Counter(re.findall(r"[^\W\d_]+", sample.lower()))
    common = {code: sum([words.get(word, 0) for word in known]) for code, known in _LATIN.items()}
    best = max(common, key=lambda code: common[code])
    return best if common[best] * 20 >= sum(words.values()) else ""
