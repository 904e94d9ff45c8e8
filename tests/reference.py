"""Slow, obvious versions of the native kernels. Golden vectors are written by these, never by the kernels.

The Unicode rules are those of docs/format.md on Python's own unicodedata, so tests that use them keep to code points that
Unicode 14 (Python 3.11) has already assigned.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
BLOCK_MULTIPLIER = 0xD6E8FEB86659FD93
TOKEN_MULTIPLIER = 0xC2B2AE3D27D4EB4F
INTEGER_TAG = 0x5851F42D4C957F2D
UPPER_HALF = 0xA0761D6478BD642F
EMPTY = 2**32 - 1

IGNORABLE_RANGES = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
SINGLE_NAMES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "BOPOMOFO",
    "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "TAI LE", "NEW TAI LUE", "TAI THAM", "TAI VIET",
    "JAVANESE", "BALINESE", "YI SYLLABLE", "TANGUT", "NUSHU", "KHITAN", "CUNEIFORM", "EGYPTIAN HIEROGLYPH",
)  # fmt: skip


def is_ignorable(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in IGNORABLE_RANGES)


def character_class(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] == "Z" or category == "Cc":
        return "space"
    if category[0] == "M":
        return "mark"
    if category == "Co" or 0x20000 <= ord(char) <= 0x3FFFF:
        return "single"
    if category == "Nd":
        return "word"
    if category[0] in "LN":
        return "single" if unicodedata.name(char, "").startswith(SINGLE_NAMES) else "word"
    return "other"


def fold_character(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    if is_ignorable(char):
        return ""
    if "\uac00" <= char <= "\ud7a3":
        return char
    text = char
    for _ in range(4):
        text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in text if not is_ignorable(c))


Unit = tuple[str, int, int]  # a folded character and the span it came from


def folded_units(text: str) -> list[Unit]:
    units = [(c, i, i + 1) for i, original in enumerate(text) for c in fold_character(original)]
    return compose_hangul(order_marks(units))


def order_marks(units: list[Unit]) -> list[Unit]:
    out: list[Unit] = []
    run: list[Unit] = []
    for unit in [*units, ("", 0, 0)]:
        if unit[0] and unicodedata.combining(unit[0]):
            run.append(unit)
            continue
        ordered = sorted(run, key=lambda mark: unicodedata.combining(mark[0]))
        if ordered != run:
            ordered = [(char, run[0][1], run[-1][2]) for char, _, _ in ordered]
        out += ordered
        run = []
        if unit[0]:
            out.append(unit)
    return out


def compose_hangul(units: list[Unit]) -> list[Unit]:
    out: list[Unit] = []
    for char, start, end in units:
        if out:
            whole = unicodedata.normalize("NFC", out[-1][0] + char)
            if len(whole) == 1 and "\uac00" <= whole <= "\ud7a3":
                out[-1] = (whole, out[-1][1], end)
                continue
        out.append((char, start, end))
    return out


def fold(text: str) -> str:
    return "".join(char for char, _, _ in folded_units(text))


def tokenize(text: str, mode: str) -> list[tuple[str, int, int]]:
    tokens = _tokens(folded_units(text), mode)
    return tokens if tokens or mode in ("chars", "symbols") else _tokens(folded_units(text), "chars")


def _tokens(units: list[Unit], mode: str) -> list[tuple[str, int, int]]:
    tokens: list[list] = []
    before = "nothing"
    for char, start, end in units:
        kind = character_class(char)
        if kind == "single" and mode == "words":
            kind = "word"
        if kind == "mark":
            if before != "nothing":
                tokens[-1][0] += char
                tokens[-1][2] = end
            elif mode == "chars":
                tokens.append([char, start, end])
                before = "single"
        elif kind == "space":
            if mode == "chars" and tokens and tokens[-1][0] != " ":
                tokens.append([" ", start, end])
            before = "nothing"
        elif kind == "word" and mode != "chars" and before == "word":
            tokens[-1][0] += char
            tokens[-1][2] = end
        elif kind != "other" or mode in ("chars", "symbols"):
            tokens.append([char, start, end])
            before = "word" if kind == "word" and mode != "chars" else "single"
        else:
            before = "nothing"
    if mode == "chars" and tokens and tokens[-1][0] == " ":
        tokens.pop()
    return [(token[0], token[1], token[2]) for token in tokens]


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def token_hash(data: bytes, tag: int = 0) -> int:
    state = (len(data) * GOLDEN & MASK) ^ tag
    for start in range(0, max(len(data), 1), 8):
        word = int.from_bytes(data[start : start + 8], "little")
        state = (state ^ word) * BLOCK_MULTIPLIER & MASK
        state ^= state >> 32
    state = state * TOKEN_MULTIPLIER & MASK
    return state ^ state >> 29


def secret_word(data: bytes, key: Sequence[int]) -> int:
    """What a token is to features: a word that tells it from others, with a secret key of four words."""
    if len(data) > 64:
        return siphash(key[:2], data)
    sizes, *longs = (siphash(key[2:], number.to_bytes(8, "little")) for number in range(19))
    if len(data) <= 8:
        return token_hash(data) ^ sizes >> len(data)
    words = (int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
    return (longs[0] + len(data) * longs[1] + sum(word * factor for word, factor in zip(words, longs[2:], strict=False))) & MASK


def secret_features(tokens: Sequence[bytes], n: int, key: Sequence[int]) -> list[int]:
    """The features of a sequence of tokens with a secret key: sums of products of halves, with a word of the key for each place."""
    half = (1 << 32) - 1
    words = [secret_word(token, key) for token in tokens]
    n = min(n, len(words))
    places = [siphash(key[2:], (19 + number).to_bytes(8, "little")) for number in range(n)]
    found = []
    for first in range(len(words) - n + 1) if words else ():
        feature = 0
        for i in range(n):
            word, place = words[first + i], places[n - 1 - i]
            feature += (((word & half) + (place & half)) & half) * (((word >> 32) + (place >> 32)) & half)
        found.append(feature & MASK)
    return found


def rotate(x: int, by: int) -> int:
    by %= 64
    return (x << by | x >> (64 - by)) & MASK


def shingle_hashes(tokens: Sequence[int], n: int, seed: int = 0) -> list[int]:
    n = min(n, len(tokens))
    if n == 0:
        return []
    out = []
    for first in range(len(tokens) - n + 1):
        combined = mix(seed)
        for i in range(n):
            combined ^= rotate(tokens[first + i], 13 * (n - 1 - i))
        out.append(mix(combined))
    return out


def text_shingles(text: str, mode: str, n: int, seed: int = 0) -> list[int]:
    hashes = [token_hash(token.encode()) for token, _, _ in tokenize(text, mode)]
    return shingle_hashes(hashes, n, seed)


def siphash(key: Sequence[int], data: bytes, rounds: tuple[int, int] = (1, 3)) -> int:
    """SipHash (Aumasson, Bernstein 2012), with so many rounds for each word and at the end."""
    start = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v0, v1, v2, v3 = (key[i % 2] ^ word for i, word in enumerate(start))
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data) - len(data) % 8, 8)]
    words.append(int.from_bytes(data[8 * len(words) :], "little") | len(data) % 256 << 56)

    def turn(times: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(times):
            v0, v2 = (v0 + v1) & MASK, (v2 + v3) & MASK
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0 = rotate(v0, 32)
            v2, v0 = (v2 + v1) & MASK, (v0 + v3) & MASK
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    for word in words:
        v3 ^= word
        turn(rounds[0])
        v0 ^= word
    v2 ^= 0xFF
    turn(rounds[1])
    return v0 ^ v1 ^ v2 ^ v3


def keyed_shingles(tokens: Sequence[bytes], n: int, key: Sequence[int], seed: int = 0) -> list[int]:
    """As those of version 1, of tokens with a key of seven words, and turned by it before and after."""
    hashes = [siphash(key[:2], token) for token in tokens]
    n = min(n, len(hashes))
    found = []
    for first in range(len(hashes) - n + 1 if hashes else 0):
        joined = mix(seed) ^ key[4]
        for i in range(n):
            joined ^= rotate(hashes[first + i], 13 * (n - 1 - i))
        found.append(mix(mix(joined) ^ key[5]) ^ key[6])
    return found


def simhash(hashes: Iterable[int], bits: int, weights: Iterable[float] | None = None) -> int:
    features = list(hashes)
    sums = [0.0] * bits
    for feature, weight in zip(features, weights or [1] * len(features), strict=True):
        wide = feature | mix(feature ^ UPPER_HALF) << 64
        for bit in range(bits):
            sums[bit] += weight if wide >> bit & 1 else -weight
    return sum(1 << bit for bit in range(bits) if sums[bit] > 0)


def minhash(features: Iterable[int], size: int) -> list[int]:
    distinct = set(features)
    bins = [EMPTY] * size
    value_bits = 31 - (2 * size - 1).bit_length()
    for round_number in range(2 * size):
        if EMPTY not in bins or not distinct:
            break
        for feature in distinct:
            hashed = feature if round_number == 0 else mix((feature + round_number * GOLDEN) & MASK)
            place = round_number - size if round_number >= size else (hashed >> 32) * size >> 32
            low = hashed & 0xFFFFFFFF
            value = low >> 1 if round_number == 0 else 1 << 31 | round_number << value_bits | low >> (32 - value_bits)
            bins[place] = min(bins[place], value)
    return bins


def portable_log(x: float) -> float:
    mantissa, exponent = math.frexp(x)
    if mantissa < 0.70710678118654752440:
        mantissa *= 2
        exponent -= 1
    z = (mantissa - 1) / (mantissa + 1)
    square, series = z * z, 0.0
    for k in range(23, 0, -2):
        series = series * square + 1.0 / k
    return exponent * 0.69314718055994530942 + 2 * z * series


def weighted_minhash(features: Sequence[int], weights: Sequence[float], size: int, seed: int = 0) -> list[int]:
    out = []
    for i in range(size):
        samples = []
        for feature, weight in zip(features, weights, strict=True):
            state = mix(feature ^ mix((seed + (i + 1) * GOLDEN) & MASK))
            u = []
            for _ in range(5):
                state = (state + GOLDEN) & MASK
                u.append(((mix(state) >> 12) + 0.5) * 2.0**-52)
            r = -portable_log(u[0]) - portable_log(u[1])
            c = -portable_log(u[2]) - portable_log(u[3])
            level = math.floor(portable_log(weight) / r + u[4])
            samples.append((portable_log(c) - r * (level - u[4]) - r, feature, level))
        if not samples:
            out.append(EMPTY)
            continue
        _, feature, level = min(samples)
        out.append(mix(feature ^ mix((level + GOLDEN) & MASK)) >> 32)
    return out


def winnow(hashes: Sequence[int], window: int) -> list[int]:
    """Positions of the kept hashes: of every window the smallest, the rightmost on a tie."""
    window = min(window, len(hashes))
    kept: list[int] = []
    for first in range(len(hashes) - window + 1 if hashes else 0):
        place = min(range(first, first + window), key=lambda i: (hashes[i], -i))
        if not kept or kept[-1] != place:
            kept.append(place)
    return kept


def longest_common(left: Sequence[int], right: Sequence[int], size: Callable[[int], int]) -> tuple[int, int]:
    """How many tokens a longest common subsequence has, and how many characters the largest of the longest ones."""
    row = [(0, 0)] * (len(right) + 1)
    for a in left:
        above = row[:]
        for k, b in enumerate(right, start=1):
            tokens, characters = above[k - 1]
            row[k] = (tokens + 1, characters + size(a)) if a == b else max(above[k], row[k - 1])
    return row[-1]
