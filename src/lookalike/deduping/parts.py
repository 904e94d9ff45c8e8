"""Parts of documents (paragraphs, lines, passages), numbered over the whole corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from lookalike.deduping.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Parts(ABC):
    """What verdicts on parts need to know: most of it is what there is to know of their documents."""

    ledger: Ledger

    @abstractmethod
    def owner(self, number: int) -> int:
        """The document of a part."""

    @abstractmethod
    def part(self, number: int) -> tuple[int, int] | None:
        """Where it stands there, in code points."""

    @property
    def documents(self) -> int:
        return self.ledger.documents

    @property
    def empty(self) -> int:
        return self.ledger.empty

    @property
    def without_text(self) -> int:
        return self.ledger.without_text

    def id(self, number: int) -> Any:
        return self.ledger.id(self.owner(number))

    def id_json(self, number: int) -> bytes:
        return self.ledger.id_json(self.owner(number))

    def file(self, number: int) -> str:
        return self.ledger.file(self.owner(number))

    def row(self, number: int) -> int:
        return self.ledger.row(self.owner(number))
