"""What became of a reference text."""

from __future__ import annotations

from typing import Any, NamedTuple


class FoundReference(NamedTuple):
    """What became of a reference."""

    id: Any
    file: str
    documents: int  # that hold enough of it
    largest: float  # the largest share of it that any document holds
    tokens: int
    too_short: bool  # it was not looked for

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()
