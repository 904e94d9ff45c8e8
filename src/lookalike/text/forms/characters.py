"""Forms of single characters: what nobody can see, quotes and dashes, full and half width, accents, words broken at line ends.

The tables are written out or made of ranges of Unicode in which every character was assigned long ago, so that they do not
depend on the version of Python.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from lookalike.text.forms.rewriting import Change, Step, replaced, translated

# Default-ignorable code points, the same as in the frozen tables of native/text.
_UNSEEN = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Marks that combine with what stands before them, in Latin, Greek and Cyrillic text.
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_INVISIBLE = re.compile(f"[{_UNSEEN}]+")
# What may combine with the letter before it: accents, points of Hebrew and Arabic, signs of Indic scripts, vowels and final consonants of
# Hangul, voice marks of kana.
_COMBINING = (
    f"{_ACCENTS}\u0591-\u05c7\u064b-\u065f\u093c\u09bc\u09be\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6"
    "\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1161-\u11ff\u1b35\u3099\u309a"
)
_MARK = re.compile(f"[{_COMBINING}]")
_COMBINED = re.compile(f"[^\\s{_COMBINING}][{_COMBINING}]+")

_DOUBLE, _SINGLE, _DASHES = "“”„‟«»〝〞〟「」『』＂″‹›", "‘’‚‛′＇`´", "‐‑‒–—―−－﹘﹣"
_QUOTES = str.maketrans({**dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_SINGLE, "'"), **dict.fromkeys(_DASHES, "-")})
_RUNS = re.compile(r"(?<!-)-{2,3}(?!-)|\.{3,6}|…{2,}|。{3,6}|'{2}")
_LINE_END = re.compile(r"[ \t]*\r?\n")
_BROKEN = re.compile(r"(?<=[^\W\d_])[-‐][ \t]*\r?\n[ \t]*(?=[^\W\d_A-Z])")
_WIDE = re.compile("[\u3000\uff01-\uffee]")
_HALF_KANA = re.compile("[\uff66-\uff9d][\uff9e\uff9f]")
_LETTER = re.compile(r"[^\W\d_]")
SENTENCE_WORDS = 3  # of capitals


def invisible(text: str) -> Step | str | None:
    """Without zero-width characters and the like, and with letters and their marks as one character where there is one (NFC)."""
    if text.isascii():
        return None
    return replaced(_INVISIBLE, text, _seen)


def _seen(match: re.Match[str]) -> str:
    """Nothing; but at the end of a line a soft hyphen is seen."""
    return "-" if "\xad" in match[0] and _LINE_END.match(match.string, match.end()) else ""


def composed(text: str) -> Step | str | None:
    """Letters and their marks as one character where there is one."""
    if text.isascii():
        return None
    # Most texts have no such marks, and that is seen sooner than that no letter has one.
    found = replaced(_COMBINED, text, lambda match: unicodedata.normalize("NFC", match[0])) if _MARK.search(text) else None
    if found or not any(chr(point) in text for point in _singletons()):
        return found
    return translated(_singletons(), text)


@cache
def _singletons() -> dict[int, str]:
    """Characters that are another one by canon: the sign of the Ohm, the Kelvin, the Ångström."""
    return str.maketrans({"\u2126": "Ω", "\u212a": "K", "\u212b": "Å", "\u037e": ";", "\u0387": "·", "\u1fef": "`"})


def quotes(text: str) -> Step | str | None:
    """Straight quotes, a single hyphen for every dash, and one character for an ellipsis."""
    return translated(_QUOTES, text) if "`" in text or not text.isascii() else None


def runs_of_marks(text: str) -> Step | str | None:
    """Two or three hyphens are a dash, three dots an ellipsis, two apostrophes a quote. After ``quotes``."""
    return replaced(_RUNS, text, lambda match: {"-": "-", "'": '"'}.get(match[0][0], "…"))


def width(text: str) -> Step | str | None:
    """Full-width letters, digits and marks as the usual ones, and half-width kana and Hangul as whole ones."""
    return None if text.isascii() else translated(_widths(), text)


def voiced_kana(text: str) -> Step | str | None:
    """Half-width kana with their voice marks as one. Before ``width``."""
    return None if text.isascii() else replaced(_HALF_KANA, text, lambda match: unicodedata.normalize("NFKC", match[0]))


@cache
def _widths() -> dict[int, str]:
    usual = {code: unicodedata.normalize("NFKC", chr(code)) for code in (0x3000, *range(0xFF01, 0xFFEF))}
    # Marks that were cut off stay what they are: they have no other form.
    return {code: other for code, other in usual.items() if len(other) == 1 and code not in (0xFF9E, 0xFF9F)}


def accents(text: str) -> Step | str | None:
    """Letters without accents. й stays: to its readers it is no и."""
    return None if text.isascii() else translated(_unaccented(), text)


def loose_accents(text: str) -> Step | str | None:
    """Accents that stand behind their letter as characters of their own."""
    return None if text.isascii() else replaced(_accent_runs(), text, lambda match: match[1])


@cache
def _accent_runs() -> re.Pattern[str]:
    return re.compile(f"([A-Za-z\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff])[{_ACCENTS}]+")


@cache
def _unaccented() -> dict[int, str]:
    table = {}
    for code in (*range(0xC0, 0x250), *range(0x370, 0x400), 0x401, 0x451, *range(0x1E00, 0x2000)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base != chr(code) and base.isalpha():
            table[code] = base
    return table


def hyphenation(text: str) -> Step | str | None:
    """Words that a hyphen breaks at the end of a line, in one piece."""
    if "-" not in text and "‐" not in text:
        return None
    changes = [Change(*match.span(), "") for match in _BROKEN.finditer(text)]
    return Step(text, changes) if changes else None


def in_sentence_case(text: str) -> str:
    """The text with its lines of capitals as sentences; a line of fewer than three words may be a name such as IBM, and stays."""
    return "".join(_as_sentence(line) if line.isupper() else line for line in text.splitlines(keepends=True))


def _as_sentence(line: str) -> str:
    words = [letters for word in line.split() if (letters := _LETTER.findall(word))]
    # All of them: beside Chinese characters, which have no case, capitals are names.
    if len(words) < SENTENCE_WORDS or not all(letter.isupper() for word in words for letter in word):
        return line
    return _LETTER.sub(lambda first: first[0].upper(), line.lower(), count=1)
