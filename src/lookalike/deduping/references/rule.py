"""When a document holds a reference text."""

from __future__ import annotations

from typing import Any, NamedTuple

from lookalike.checks import check_choice, check_int, is_number, refuse
from lookalike.errors import InputError
from lookalike.recipe import Recipe
from lookalike.text.native_form import is_native, native_form

BY = ("ngrams", "passages")
NGRAM = 13  # as GPT-3 was checked; PaLM and Llama 3 took 8
LEAST_TOKENS = 8  # of a reference: shorter ones stand in many documents by chance
LONGEST = 1000


class ContainsRule(NamedTuple):
    """At least this share of a reference's n-grams, or of its tokens that lie in passages of n tokens, stands in the document."""

    share: float
    ngram: int = NGRAM
    by: str = "ngrams"

    @property
    def least(self) -> int:
        """How many tokens a reference must have; one of fewer than n is looked for as a whole."""
        return min(LEAST_TOKENS, self.ngram)

    def form(self, recipe: Recipe) -> tuple[int, bool, bool]:
        """How the kernels take a text apart: into tokens."""
        if not is_native(recipe):
            raise InputError(
                f"recipe={recipe.id!r}: references are found by the tokens of auto, words, chars and symbols: choose such a recipe"
            )
        mode, fold, *_ = native_form(recipe)
        return mode, fold, False

    def to_dict(self) -> dict[str, Any]:
        return {"contains": self.share, "ngram": self.ngram, "by": self.by}


def contains_rule(contains: float | None, ngram: int | None, by: str | None) -> ContainsRule | None:
    if contains is None:
        if wrong := next((name for name, value in (("ngram", ngram), ("contains_by", by)) if value is not None), None):
            raise InputError(f"{wrong}= belongs to contains=: give the share of a reference that a document must hold")
        return None
    if not is_number(contains) or not 0 < contains <= 1:
        raise refuse("contains", contains, "give a share above 0, up to 1, such as 0.7")
    n = NGRAM if ngram is None else check_int("ngram", ngram, 1, LONGEST)
    return ContainsRule(float(contains), n, check_choice("contains_by", BY[0] if by is None else by, BY))
