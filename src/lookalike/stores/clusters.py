"""Groups of documents that look alike. A deduplication gives them too, and needs no more of a store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a cluster, and how alike it is to the one that is kept."""

    id: str | int
    similarity: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents that look alike: the oldest, and those that were verified against it. ``scale`` says what their similarities are."""

    kept: str | int
    removed: tuple[Member, ...]
    scale: str = ""

    @property
    def size(self) -> int:
        return 1 + len(self.removed)

    def to_dict(self) -> dict[str, Any]:
        removed = [{"id": each.id, "similarity": each.similarity} for each in self.removed]
        return {"kept": self.kept, "scale": self.scale, "removed": removed}


class Clusters(list[Cluster]):
    """Clusters, in the order of their oldest documents. ``notes`` say what a reader should know."""

    def __init__(self, clusters: Iterable[Cluster] = (), notes: Iterable[str] = ()) -> None:
        super().__init__(clusters)
        self.notes = list(notes)
