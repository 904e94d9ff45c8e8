"""Which passages a query and a stored text share, worked out when somebody asks."""

from __future__ import annotations

from lookalike.comparison.passages import shared_passages
from lookalike.comparison.texts import TextPair
from lookalike.model import Passage
from lookalike.stores.settings import Settings


def passages_of(query: str, text: str, settings: Settings) -> list[Passage]:
    if settings.recipe.hash != "lookalike64":
        return []
    return shared_passages(TextPair(query, text, settings.recipe))


def passages_of_stored(query: str, utf8: bytes, settings: Settings) -> list[Passage]:
    return passages_of(query, utf8.decode(), settings)
