"""Two texts without the forms that do not count, and what was found there in the places of the originals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lookalike.comparison.edits import Edits, Segment
from lookalike.comparison.ignoring import Ignored
from lookalike.model import Passage, Span
from lookalike.text.forms import UNSEEN, Rewritten, for_models, rewrite
from lookalike.text.forms.script import simplified

# What compare ignores unless it is told otherwise: what nobody sees, and in which script Chinese is written.
IGNORED_FORMS = (*UNSEEN, "script")


class FormedPair:
    """Both texts as they are compared."""

    def __init__(self, left: str, right: str, forms: tuple[str, ...]) -> None:
        self.forms = forms
        self.sides = rewrite(left, forms), rewrite(right, forms)
        self._originals = left, right

    @property
    def left(self) -> str:
        return self.sides[0].text

    @property
    def right(self) -> str:
        return self.sides[1].text

    @property
    def _keep_places(self) -> bool:
        return all(side.keeps_places for side in self.sides)

    def for_models(self) -> tuple[str, str]:
        """Both texts as a model reads them."""
        left, right = (for_models(text, self.forms) for text in self._originals)
        return left, right

    def differing(self) -> list[str]:
        """The forms that one text has more of than the other, or in which the two write the same in different ways."""
        left, right = self.sides
        found = [form for form in self.forms if left.forms[form] != right.forms[form] or _written_otherwise(form, left, right)]
        if "script" in found:
            # Simplified text has characters too that stand for others: that alone is no other script.
            traditional = [simplified(text) != text for text in self._originals]
            if traditional[0] == traditional[1]:
                found.remove("script")
        return found

    def edits(self, found: Edits) -> Edits:
        if self._keep_places:
            return found
        left, right = self.sides
        return replace(found, left=tuple(_placed(found.left, left, right)), right=tuple(_placed(found.right, right, left)))

    def passages(self, found: list[Passage]) -> list[Passage]:
        if self._keep_places:
            return found
        left, right = self.sides
        return [Passage(left.span(*passage.left), right.span(*passage.right)) for passage in found]

    def ignored(self, found: Ignored) -> Ignored:
        sides = zip(self.sides, (found.left_spans, found.right_spans), strict=True)
        left, right = (tuple(side.span(*span) for span in spans) for side, spans in sides)
        return replace(found, left_spans=left, right_spans=right)


def _written_otherwise(form: str, left: Rewritten, right: Rewritten) -> bool:
    """Whether one text has ``……`` where the other has ``...``: both were changed, and to the same."""
    if form == "script" or not left.forms[form]:
        return False  # a script has a rule of its own
    here, there = left.written(form), right.written(form)
    return any(here[new] != there[new] for new in here.keys() & there.keys() if new.strip())


def _placed(segments: tuple[Segment, ...], here: Rewritten, there: Rewritten) -> Iterable[Segment]:
    for kind, span, partner in segments:
        there_span: Span | None = None if partner is None else there.span(*partner)
        yield Segment(kind, here.span(*span), there_span)
