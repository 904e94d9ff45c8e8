"""In which encoding bytes were written that do not say so: what they would be as text tells. ``io`` asks, and says that it is a guess."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import NamedTuple

_SAMPLE_BYTES = 1 << 16  # a multiple of four, so that no UTF-32 character is cut


class _Legacy(NamedTuple):
    """An encoding of two-byte characters, and the part of a character set that holds the common letters of its language."""

    codec: str
    table: str  # the codec of the lead and trail bytes below
    leads: bytes
    trails: range
    at_least: int = 1  # letters: below it, another encoding is the better guess
    kana: float = 0.0  # the share that tells Japanese from Chinese, where both use the same bytes


# The frequent ideographs (level 1 of each national standard), kana and Hangul have rows of their own. The order decides ties.
_HIGH, _ANY = range(0xA1, 0xFF), range(0x40, 0xFF)
_LEGACIES = (
    _Legacy("cp949", "cp949", bytes([0xA3, *range(0xB0, 0xC9)]), _HIGH, at_least=12),
    _Legacy("euc_jp", "euc_jp", bytes([0xA1, *range(0xA3, 0xA6), *range(0xB0, 0xD0)]), _HIGH, kana=0.15),
    _Legacy("gb18030", "gb18030", bytes([0xA3, *range(0xB0, 0xD8)]), _HIGH),
    _Legacy("cp950", "cp950", bytes(range(0xA2, 0xC7)), _ANY),
    _Legacy("cp932", "cp932", bytes([*range(0x81, 0x84), *range(0x88, 0x99)]), _ANY),
    _Legacy("gb18030", "cp950", bytes(range(0xA2, 0xC7)), _ANY),  # traditional characters
)
# Measured on news, software messages and single words in twelve languages: from ten letters on the right encoding scores above
# .88; a wrong one mostly stays below .6, and where it does not, the order above and the margin below decide.
_PLAUSIBLE = 0.7
_CLEARLY = 0.1  # how much better a later encoding of the list must be
_ORDINARY_ASIAN = re.compile("[\u2010-\u2027\u3000-\u30ff\uff01-\uff5e]")
_ORDINARY = re.compile("[ -~\\s\u00a0-\u024f\u0370-\u06ff\u2010-\u2027\u3000-\u30ff\uac00-\ud7a3\uff01-\uff5e]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# A lone letter among ASCII letters is an accented one of a Western word, read wrongly: between two of them in any encoding,
# beside one in an encoding that takes an ASCII byte for the second half of a character.
_NOT_BETWEEN = re.compile(r"(?<![A-Za-z])[^\x00-\x7f]|[^\x00-\x7f](?![A-Za-z])")
_NOT_BESIDE = re.compile(r"(?<![A-Za-z])[^\x00-\x7f](?![A-Za-z])|[^\x00-\x7f](?=[^\x00-\x7f])|(?<=[^\x00-\x7f])[^\x00-\x7f]")


def strictly(data: bytes, codec: str) -> str | None:
    """The text, or None where some bytes are not of this encoding."""
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def wide_codec(data: bytes, has_controls: bool) -> str | None:
    """UTF-16 or UTF-32 without a mark: the byte order in which nearly everything is ordinary text."""
    # A NUL or a control byte is half of a letter here. Without them only East Asian text is possible, and needs some length
    # to be told from the letters of Western words, taken two by two.
    ordinary, enough, shortest = (_ORDINARY, 0.8, 4) if has_controls else (_ORDINARY_ASIAN, 0.9, 8)
    best, found = enough, None
    for codec, unit in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % unit or (len(data) < shortest * unit and b"\x00" not in data):
            continue
        text = data[:_SAMPLE_BYTES].decode(codec, "replace")
        share = sum(n for char, n in Counter(text).items() if ordinary.match(char) or char in _all_common()) / len(text)
        if share > best or (share == best and found is None):
            best, found = share, codec
    return found


def asian_codec(data: bytes) -> str | None:
    first = re.search(rb"[\x80-\xff]", data)
    start = first.start() if first else 0  # the first byte beyond ASCII begins a character in all of these encodings
    sample = data[max(start - 1, 0) : start + _SAMPLE_BYTES]
    best, found = _plausibility(sample.decode("utf-8", "replace"), None), "utf-8"
    for legacy in _LEGACIES:
        score = _plausibility(sample.decode(legacy.codec, "replace"), legacy)
        if score > best + _CLEARLY:
            best, found = score, legacy.codec
    return found if best >= _PLAUSIBLE else None


def western_codec(data: bytes) -> str | None:
    ascii_bytes = len(data.translate(None, bytes(range(128, 256))))
    return "cp1252" if 2 * ascii_bytes >= len(data) and strictly(data, "cp1252") is not None else None


def _plausibility(text: str, legacy: _Legacy | None) -> float:
    """The share of common letters among all letters beyond ASCII, where a broken or unassigned character counts five times.

    Without ``legacy`` every letter is common.
    """
    believable = _NOT_BESIDE if legacy and legacy.trails is _ANY else _NOT_BETWEEN
    believed = Counter(believable.findall(text))
    good = bad = total = kana = 0
    for char, count in Counter(_NOT_ASCII.findall(text)).items():
        category = unicodedata.category(char)
        if category[0] not in "LNMC" and char != "\ufffd":
            continue
        total += count
        kana += count * ("\u3041" <= char <= "\u3096" or "\u30a1" <= char <= "\u30fa")
        if category[0] == "C" or char == "\ufffd":
            bad += count
        elif legacy is None or char in _common(legacy):
            good += believed[char]
    if not total or (legacy and (total < legacy.at_least or kana < legacy.kana * total)):
        return 0.0
    return good / (total + 4 * bad)


@cache
def _common(legacy: _Legacy) -> frozenset[str]:
    pairs = (bytes((lead, trail)) for lead in legacy.leads for trail in legacy.trails)
    return frozenset(filter(None, (strictly(pair, legacy.table) for pair in pairs)))


@cache
def _all_common() -> frozenset[str]:
    return frozenset().union(*map(_common, _LEGACIES))
