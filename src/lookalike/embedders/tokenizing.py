"""A model's tokenizer: the numbers of a text's tokens, and the marks that a window needs around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lookalike.embedders.texts import plain
from lookalike.errors import InputError, MissingExtra

Numbers = Callable[[str, bool], list[int]]  # of a text, with the marks or without them


class ModelTokenizer:
    """Tokens without marks by ``tokens``; ``marked`` puts the model's own marks (such as [CLS] and [SEP]) around a window."""

    def __init__(self, numbers: Numbers, *, unknown: int | None, padding: int) -> None:
        self._numbers = numbers
        self.unknown = unknown
        self.padding = padding
        bare, full = numbers("a", False), numbers("a", True)
        starts = [at for at in range(len(full) - len(bare) + 1) if full[at : at + len(bare)] == bare]
        if not bare or not starts:
            raise InputError(f"the tokenizer turns 'a' into {full} with marks and {bare} without: it is not one for sentences")
        self._before, self._after = full[: starts[0]], full[starts[0] + len(bare) :]

    @property
    def marks(self) -> int:
        return len(self._before) + len(self._after)

    def tokens(self, text: str) -> list[int]:
        """Nothing for a text in which the model knows no token: it says nothing, and must not be like every other such text."""
        found = self._numbers(plain(text), False)
        return [] if all(number == self.unknown for number in found) else found

    def marked(self, window: Sequence[int]) -> list[int]:
        return [*self._before, *window, *self._after]


def tokenizer_of_file(path: Path, feature: str) -> ModelTokenizer:
    """A ``tokenizer.json``, read by the library ``tokenizers``."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra.for_extra(feature, "models") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library's errors have no class of their own
        raise InputError(f"{feature}: {path.name} could not be read: {error}") from error
    padding = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    unknown = getattr(tokenizer.model, "unk_token", None)

    def numbers(text: str, with_marks: bool) -> list[int]:
        found: list[int] = tokenizer.encode(text, add_special_tokens=with_marks).ids
        return found

    return ModelTokenizer(numbers, unknown=tokenizer.token_to_id(unknown) if unknown else None, padding=padding)
