"""TextRank (Mihalcea and Tarau 2004): words that stand near many words that matter themselves.

Every word that may be a keyword is a node. Two of them that stand fewer than ``SPAN`` words apart are joined by an edge, whose weight is
how often they do. A word's rank is what its neighbours' ranks give it, each in the proportion of its edges: ten rounds, in the order
of the words, with a damping of .85. In the end all ranks are stretched, so that the highest is 1. These are the numbers of
``jieba.analyse.textrank``; ``docs/python.md`` says with which settings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum

SPAN = 5
DAMPING = 0.85
ROUNDS = 10


def text_rank(words: Sequence[str | None]) -> dict[str, float]:
    """The rank of each word. None stands for a word that may be no keyword: it takes up a place. A word that stands alone has no rank."""
    together: Counter[tuple[str, str]] = Counter()
    for at, word in enumerate(words):
        if word is not None:
            together.update((word, other) for other in words[at + 1 : at + SPAN] if other is not None)
    edges: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (one, other), weight in together.items():
        edges[one][other] += weight
        edges[other][one] += weight
    totals = {word: sum(neighbours.values()) for word, neighbours in edges.items()}
    ranks = dict.fromkeys(edges, 1.0 / max(len(edges), 1))
    for _ in range(ROUNDS):
        for word in sorted(edges):
            given = fsum(weight / totals[other] * ranks[other] for other, weight in edges[word].items())
            ranks[word] = (1 - DAMPING) + DAMPING * given
    if not ranks:
        return {}
    least, most = min(ranks.values()) / 10.0, max(ranks.values())
    return {word: (rank - least) / (most - least) for word, rank in ranks.items()}
