"""Words that were made to have the token hash of other words (recipe version 1), and how they are made.

    python tests/crafted_collisions.py

prints the table below anew, half a second for each word. The hash is a chain of bijections of 64-bit words, so whoever wants a word of 16
bytes with a given hash chooses the first eight bytes and computes the other eight. Of seven million tries one gives letters and digits.
"""

from __future__ import annotations

import numpy as np

import reference

ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", dtype=np.uint8)
TRIES_AT_A_TIME = 1 << 20

COLLIDING = {
    "the": "e4mam96ac351kldc",
    "council": "d3qz320hoyyv283n",
    "voted": "tw4bmf1w2z3fz3qt",
    "to": "atyvw2s2jmkkeqmk",
    "rebuild": "nmpiuyyl1qx01el0",
    "old": "e4mam96ax741kldc",
    "market": "0085uclld8zwje98",
    "hall": "rdpxc9qbkm9c4vyx",
    "beside": "l3jbhtkybn2k680s",
    "river": "t23vp44e12rnkf3o",
    "before": "pd11h2k12v04d5uk",
    "end": "e4mam96ar541kldc",
    "of": "atyvw2s2qdkkeqmk",
    "next": "d32wxcqks37hp702",
    "winter": "wr5lrtzaev5d45p7",
    "相": "ih4manvkx4ng76wh",
    "似": "bjon7w65wz1d6h8a",
    "文": "1ruyh49b23hytajs",
    "本": "k5b89lphpz6kdson",
}


def crafted(word: str, seed: int = 1) -> str:
    """A word of 16 letters and digits with the token hash of ``word``."""
    wanted = _before_the_last_word(reference.token_hash(word.encode()))
    draw = np.random.default_rng(seed)
    allowed = np.zeros(256, dtype=np.bool_)
    allowed[ALPHABET] = True
    start = np.uint64(16 * reference.GOLDEN & reference.MASK)
    while True:
        first = draw.choice(ALPHABET, (TRIES_AT_A_TIME, 8)).view(np.uint64).reshape(-1)
        state = (start ^ first) * np.uint64(reference.BLOCK_MULTIPLIER)
        last = np.uint64(wanted) ^ state ^ (state >> np.uint64(32))
        found = np.flatnonzero(allowed[last.view(np.uint8).reshape(-1, 8)].all(axis=1))
        if len(found):
            return (first[found[:1]].tobytes() + last[found[:1]].tobytes()).decode()


def _before_the_last_word(digest: int) -> int:
    """The state XOR the last word, from which absorbing and finishing give this hash."""
    state = digest ^ digest >> 29 ^ digest >> 58
    state = state * pow(reference.TOKEN_MULTIPLIER, -1, 2**64) & reference.MASK
    state ^= state >> 32
    return state * pow(reference.BLOCK_MULTIPLIER, -1, 2**64) & reference.MASK


def forged(text: str) -> str:
    """The text with every word that the table has replaced by the one of the same hash."""
    return " ".join(COLLIDING.get(word, word) for word in text.split())


if __name__ == "__main__":
    for each in COLLIDING:
        print(f"    {each!r}: {crafted(each)!r},".replace("'", '"'))
