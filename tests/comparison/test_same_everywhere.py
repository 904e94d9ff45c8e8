"""Edits are the same in every process, though each compares tokens by hashes of its own."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import random
import lookalike as la

def text(sentences):
    return " ".join(" ".join(words).capitalize() + "." for words in sentences)

for seed in range(100):
    rng = random.Random(seed)
    words = ["w" * rng.randint(1, 9) + str(i) for i in range(rng.choice((30, 80, 200)))]
    sentences = [[rng.choice(words) for _ in range(rng.randint(8, 20))] for _ in range(6)]
    # Each sentence again, up to four times, with other words here and there: several are equally like it.
    again = [[word if rng.random() > 0.3 else rng.choice(words) for word in each] for each in sentences for _ in range(rng.randint(1, 4))]
    rng.shuffle(again)
    edits = la.compare(text(sentences), text(again), measures=[]).edits
    print(edits.to_dict(), edits.left, edits.right)
"""


def test_edits_are_the_same_in_every_process() -> None:
    runs = [subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout for _ in range(3)]
    assert len(runs[0].splitlines()) == 100
    assert len(set(runs)) == 1
