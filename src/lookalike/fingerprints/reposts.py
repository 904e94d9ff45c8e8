"""How well SimHashes find copies that were lightly edited, and when another recipe would find more.

``MEASURED`` is what ``benchmarks/reposts.py`` found on Chinese and English news (docs/choosing-parameters.md has the table by kind of
edit). ``measured_recall`` measures the same on texts of the user's own: they get another head, and a word in a hundred is replaced.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache

from lookalike.figures import shown_share
from lookalike.fingerprints.simhash import simhash
from lookalike.recipe import Recipe, recipes
from lookalike.text.features import weighs_words
from lookalike.text.tokenize import NATIVE_MODES, tokenize

RECOMMENDED = "reposts"
ENGLISH = "chars"  # better still for English alone
LENGTHS = (300, 1_000, 3_000)  # characters
CHARACTERS = ("chars", "symbols")  # tokenizers
IDEOGRAPHIC = re.compile("[\u3400-\u9fff]")  # native/text/ideographs.hpp takes the same ones
IDEOGRAPH = "\u6587"
# The share of reposts within 3 of 64 bits, by the recipe and the characters of the text: the mean of six kinds of edit.
MEASURED = {
    "Chinese": {"default": (0.26, 0.43, 0.56), "reposts": (0.55, 0.74, 0.86)},
    "English": {"default": (0.14, 0.16, 0.32), "reposts": (0.21, 0.38, 0.56), "chars": (0.32, 0.55, 0.78)},
}
EDITED = 100  # one token in so many is replaced
HEAD = 8  # tokens that stand before the text
BETTER = 0.1  # a difference that is worth another recipe
TEXTS = 100  # of a length


def is_weak(recipe: Recipe) -> bool:
    """Whether a recipe's SimHashes may move with every changed word more than those of the recommended one."""
    return recipe.tokenizer in NATIVE_MODES and recipe.ngram > recipes.get(RECOMMENDED).ngram and not weighs_words(recipe)


def is_weak_for(recipe: Recipe, text: str) -> bool:
    """The same for a text: five characters are more than two words of Chinese, and less than two of English."""
    return is_weak(recipe) and (recipe.tokenizer not in CHARACTERS or _is_ideographic(text))


def advice(recipe: Recipe, text: str, k: int) -> str | None:
    """What to say to somebody who looks for reposts of a text with a recipe that finds few of them."""
    if not 0 < k <= 6 or len(text) > LENGTHS[-1] or not is_weak_for(recipe, text):
        return None
    at = next(place for place, length in enumerate(LENGTHS) if len(text) <= length)
    return _advice(recipe.ngram, "Chinese" if _is_ideographic(text) else "English", at)


@lru_cache(maxsize=64)
def _advice(ngram: int, language: str, at: int) -> str:
    """For texts of a length: the same for many searches."""
    few, *more = (
        f"{shown_share(shares[at], 0)}{'' if name == 'default' else f' with the recipe {name!r}'}"
        for name, shares in MEASURED[language].items()
    )
    return (
        f"shingles of {ngram} tokens: of lightly edited copies of up to {LENGTHS[at]:,} characters, about {few} are within 3 bits;"
        f" {', '.join(more)} (docs/choosing-parameters.md)"
    )


def _is_ideographic(text: str) -> bool:
    return not text.isascii() and 2 * len(IDEOGRAPHIC.findall(text)) > len(text)


def measured_recall(texts: Sequence[str], recipe: Recipe, k: int, bits: int = 64) -> dict[str, float]:
    """The share of light edits that stay within ``k`` bits, by the length of the texts: ``"≤ 300"``, …, ``"> 3000"`` characters."""
    found: dict[str, float] = {}
    for low, high in zip((0, *LENGTHS), (*LENGTHS, None), strict=True):
        some = [text for text in texts if len(text) > low and (high is None or len(text) <= high)][:TEXTS]
        if some:
            near = [
                simhash(text, bits=bits, recipe=recipe).distance(simhash(edit, bits=bits, recipe=recipe)) <= k
                for text, edit in _edits(some)
            ]
            found[f"> {low}" if high is None else f"≤ {high}"] = sum(near) / len(near)
    return found


def _edits(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each text, and the same with a head and with some tokens replaced, all by those of other texts: the same ones every time."""
    chooser = random.Random(EDITED)  # noqa: S311  # no secret: the same edits every time
    tokens = [tokenize(text) for text in texts]
    words = [token.text for each in tokens for token in each[:200]] or [""]
    pairs = []
    for text, each in zip(texts, tokens, strict=True):
        pieces, at = [" ".join(chooser.choices(words, k=HEAD)), "\n"], 0
        for token in each:
            if chooser.randrange(EDITED) == 0:
                pieces += [text[at : token.start], chooser.choice(words)]
                at = token.end
        pairs.append((text, "".join([*pieces, text[at:]])))
    return pairs
