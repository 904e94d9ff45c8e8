"""Fuzzy hashes the slow and obvious way, and inputs of many kinds to try them on."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
WORDS = [
    "the",
    "hash",
    "of",
    "a",
    "file",
    "tells",
    "which",
    "others",
    "look",
    "like",
    "it",
    "although",
    "bytes",
    "moved",
    "相似",
    "文本",
    "检测",
    "指纹",
]


def shorten_runs(part: str) -> str:
    """Runs of more than three equal letters become three."""
    return "".join("".join(itertools.islice(run, 3)) for _, run in itertools.groupby(part))


def edit_distance(left: str, right: str) -> int:
    """Insertions and deletions cost 1, replacements 2."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above, row = row, [i]
        for j, b in enumerate(right, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (0 if a == b else 2)))
    return row[-1]


def score_parts(left: str, right: str, block_size: int) -> int:
    grams = {left[i : i + 7] for i in range(len(left) - 6)}
    if not any(right[i : i + 7] in grams for i in range(len(right) - 6)):
        return 0
    share = edit_distance(left, right) * 64 // (len(left) + len(right))
    return min(100 - share * 100 // 64, block_size // 3 * min(len(left), len(right)))


def ssdeep_score(left: str, right: str) -> int:
    """The score of two ssdeep digests, 0 to 100."""
    size, first, second = left.split(":")
    other_size, other_first, other_second = right.split(":")
    block, other = int(size), int(other_size)
    first, second, other_first, other_second = map(shorten_runs, (first, second, other_first, other_second))
    if block == other:
        if (first, second) == (other_first, other_second):
            return 100
        return max(score_parts(first, other_first, block), score_parts(second, other_second, 2 * block))
    if block == 2 * other:
        return score_parts(first, other_second, block)
    if other == 2 * block:
        return score_parts(second, other_first, other)
    return 0


def text(rng: random.Random, size: int) -> bytes:
    words = " ".join(rng.choices(WORDS, k=size // 4 + 1))
    return words.encode()[:size]


def an_input(rng: random.Random, largest: int) -> bytes:
    """Random, text, one byte, periodic, random and then zeros, zeros and then random, two letters, mixed."""
    size = int(2 ** rng.uniform(0, largest.bit_length() - 1))
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(size)
    if kind == 1:
        return text(rng, size)
    if kind == 2:
        return bytes([rng.randrange(256)]) * size
    if kind == 3:
        period = rng.randbytes(rng.randrange(1, 40))
        return (period * (size // len(period) + 1))[:size]
    if kind == 4:
        return rng.randbytes(size) + bytes(rng.randrange(20))
    if kind == 5:
        return bytes(size) + rng.randbytes(rng.randrange(300))
    if kind == 6:
        return bytes(rng.choices(b"ab", k=size)) + bytes(rng.choice((0, 9)))
    return text(rng, size // 2) + rng.randbytes(size // 2)


def inputs(seed: int, count: int, largest: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    return (an_input(rng, largest) for _ in range(count))


def edited(rng: random.Random, data: bytes) -> bytes:
    """A copy with a few insertions, deletions and replacements."""
    copy = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(copy) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            copy[at:at] = rng.randbytes(rng.randrange(1, 30))
        elif kind == 1:
            del copy[at : at + rng.randrange(1, 30)]
        else:
            copy[at : at + 1] = b"x"
    return bytes(copy)


def edited_digest(rng: random.Random, part: str, largest: int) -> str:
    letters = list(part)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(letters) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            letters[at:at] = rng.choices(ALPHABET, k=rng.randrange(1, 6))
        elif kind == 1:
            del letters[at : at + rng.randrange(1, 6)]
        elif kind == 2 and letters:
            letters[at:at] = [letters[at - 1]] * rng.randrange(1, 6)
        else:
            letters[at : at + 1] = rng.choice(ALPHABET)
    return "".join(letters)[:largest]


def ssdeep_digests(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Pairs of digests, most of them related, at equal and at neighbouring block sizes."""
    rng = random.Random(seed)
    for _ in range(count):
        alphabet = ALPHABET if rng.random() < 0.6 else ALPHABET[: rng.randrange(1, 5)]
        level = rng.randrange(9) if rng.random() < 0.9 else rng.randrange(31)
        other = max(0, min(30, level + rng.choice((0, 0, 0, -1, 1, 2))))
        first = "".join(rng.choices(alphabet, k=rng.randrange(65)))
        second = "".join(rng.choices(alphabet, k=rng.randrange(33)))
        near = (first, second) if other == level else (second, first) if other > level else (second + first, first)
        changed = edited_digest(rng, near[0], 64), edited_digest(rng, near[1], 32)
        yield f"{3 << level}:{first}:{second}", f"{3 << other}:{changed[0]}:{changed[1]}"


def nilsimsa_table() -> list[int]:
    """Each byte once, in the order in which a generator comes across them."""
    table: list[int] = []
    j = 0
    for _ in range(256):
        j = (j * 53 + 1) % 256 * 2
        j -= 255 if j > 255 else 0
        while j in table:
            j = (j + 1) % 256
        table.append(j)
    return table


def nilsimsa(data: bytes) -> str:
    table = nilsimsa_table()
    # Of the newest byte c and up to four before it (1 is the last): which three make a trigram, and its number.
    trigrams = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 4), (0, 2, 4), (0, 3, 4), (4, 1, 0), (4, 3, 0)]
    counts = [0] * 256
    for place in range(len(data)):
        for number, offsets in enumerate(trigrams):
            if place >= max(offsets):
                a, b, c = (data[place - offset] for offset in offsets)
                counts[((table[(a + number) % 256] ^ table[b] * (2 * number + 1)) + table[c ^ table[number]]) % 256] += 1
    mean = sum(counts) / 256
    return f"{sum(1 << bit for bit in range(256) if counts[bit] > mean):064x}"


def fuzzy_inputs() -> dict[str, bytes]:
    """Bytes of many sizes: noise, a repeated sentence, and a curve."""
    found = {}
    for size in (0, 1, 2, 3, 4, 5, 10, 100, 1000, 4095, 4096, 4097, 5000, 8192, 8193, 20000, 32769, 65536, 131073, 200000):
        found[f"noise of {size}"] = hashlib.shake_128(str(size).encode()).digest(size)
        found[f"words of {size}"] = ("the quick brown fox jumps, 相似的文本 " * (size // 10 + 1)).encode()[:size]
        found[f"curve of {size}"] = bytes(i * i >> 7 & 255 for i in range(size))
    return found
