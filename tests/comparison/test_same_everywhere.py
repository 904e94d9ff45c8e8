"""Edits are the same in every process, though each compares tokens by hashes of its own."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import random
import lookalike as la

rng = random.Random(7)
words = ["w" * rng.randint(1, 9) + str(i) for i in range(200)]
def sentence(size):
    return [rng.choice(words) for _ in range(size)]
def text(sentences):
    return " ".join(" ".join(each).capitalize() + "." for each in sentences)
for _ in range(12):
    original = sentence(16)
    # Four sentences that have equally many pairs of words in common with one that moved.
    parts = [original[:12] + sentence(4), sentence(4) + original[4:], sentence(4) + original[:12], original[4:] + sentence(4)]
    rng.shuffle(parts)
    start, end = sentence(30), sentence(30)
    edits = la.compare(text([original, start, end]), text([start, *parts, end])).edits
    print(edits.to_dict(), edits.left, edits.right)
"""


def test_edits_are_the_same_in_every_process() -> None:
    runs = [subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout for _ in range(4)]
    assert len(runs[0].splitlines()) == 12
    assert len(set(runs)) == 1
