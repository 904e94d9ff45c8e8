"""Any Python function as an embedder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from lookalike.embedders.base import Embedder
from lookalike.embedders.texts import checked_texts
from lookalike.embedders.vectors import checked
from lookalike.errors import InputError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEMBERS = ("name", "version", "dimensions", "encode")


def is_embedder(thing: object) -> TypeGuard[Embedder]:
    return not isinstance(thing, (str, type)) and all(hasattr(thing, member) for member in MEMBERS)


class FunctionEmbedder:
    """A function from a list of texts to an array with a row each.

    It is known by its name, and by its attribute ``version`` if it has one: raise that when the vectors change.
    """

    def __init__(self, function: Callable[[list[str]], Any], name: str | None = None, version: str | None = None) -> None:
        self._function = function
        self.name = name or f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', type(function).__qualname__)}"
        self.version = version or str(getattr(function, "version", "1"))
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            self.encode(["a"])  # only its answer tells
        return self._dimensions or 0

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        asked = checked_texts(texts)
        if not asked:
            import numpy as np

            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = checked(self._function(asked), len(asked), self._dimensions, self.name)
        self._dimensions = vectors.shape[1]
        return vectors


def named_function(name: str) -> Embedder:
    """What ``module:attribute`` names: a function or an embedder."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownName(f"embedder {name!r}: {error}; give module:function of something that can be imported") from error
    if is_embedder(found):
        return found
    if not callable(found):
        raise InputError(f"embedder {name!r} is a {type(found).__name__}: give a function from a list of texts to an array")
    return FunctionEmbedder(found, name)
