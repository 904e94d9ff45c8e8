"""What a model of meaning has to offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model that turns texts into vectors. Name and version stand for it in a recipe id: equal ones give equal vectors."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """One row a text; rows of length 1 where the model's own are. A text's vector does not depend on the others."""
        ...
