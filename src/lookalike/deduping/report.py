"""What a run removed and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from lookalike.checks import check_path, check_str
from lookalike.corpus.row import Problem
from lookalike.corpus.writing import write_file
from lookalike.deduping.settings import Settings
from lookalike.deduping.verdicts import DocumentVerdicts, Removed, Verdicts
from lookalike.indexing.matches import Cluster, Member
from lookalike.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Sample(NamedTuple):
    """How two texts of a cluster begin."""

    kept_id: Any
    removed_id: Any
    similarity: float
    kept: str
    removed: str


class RemovedDocuments(Sequence[Removed]):
    """The removed documents in the order of the input. Each is looked up when it is asked for."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts, self._numbers = verdicts, verdicts.removed_numbers()

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, i: int) -> Removed: ...
    @overload
    def __getitem__(self, i: slice) -> list[Removed]: ...
    def __getitem__(self, i: int | slice) -> Removed | list[Removed]:
        found = self._numbers[i]
        return [self._verdicts.removed(int(each)) for each in found] if isinstance(i, slice) else self._verdicts.removed(int(found))


class KeptIds(Sequence[Any]):
    """The ids of the kept documents in the order of the input."""

    def __init__(self, verdicts: DocumentVerdicts) -> None:
        import numpy as np

        self._verdicts, self._numbers = verdicts, np.flatnonzero(verdicts.kept)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, i: Any) -> Any:
        found = self._numbers[i]
        return [self._verdicts.ledger.id(int(each)) for each in found] if isinstance(i, slice) else self._verdicts.ledger.id(int(found))


@dataclass(slots=True, repr=False)
class DedupeReport:
    """The result of ``dedupe``."""

    settings: Settings
    verdicts: Verdicts  # on what the level says
    whole: DocumentVerdicts  # on the documents
    seconds: float
    stages: dict[str, float]
    problems: list[Problem]  # the first thousand
    problem_counts: dict[str, int]
    skipped: int
    again: Callable[[float], DedupeReport]  # the same run with another threshold, without output
    unreadable: set[str] = field(default_factory=set)  # files of which nothing could be used
    kept_rows: Callable[[NDArray[np.int64]], Any] | None = None  # of a table: makes the kept part
    texts_of: Callable[[set[int]], dict[int, str]] = lambda numbers: {}  # reads some documents again, for the page
    outputs: dict[str, str] = field(default_factory=dict)
    added: int = 0  # documents that were added to a store

    def __repr__(self) -> str:
        return f"DedupeReport(documents={self.documents}, removed={len(self.removed)})"

    @property
    def documents(self) -> int:
        """How many documents were read; skipped rows are none."""
        return self.verdicts.ledger.documents

    @property
    def kept(self) -> Any:
        """Of a table the same kind of table without what was removed; of files the ids of the kept documents."""
        import numpy as np

        if self.kept_rows is None:
            return KeptIds(self.whole)
        return self.kept_rows(self.whole.ledger.rows()[np.flatnonzero(self.whole.kept)] - 1)

    @property
    def removed(self) -> RemovedDocuments:
        """Each removed document with the kept one it points at and their similarity."""
        return RemovedDocuments(self.verdicts)

    def clusters(self) -> Iterator[Cluster]:
        """Kept documents for which others were removed, the largest clusters first."""
        return map(self._cluster, self._by_size())

    def _by_size(self) -> Iterator[NDArray[np.int64]]:
        """The numbers of the removed ones of each cluster, the largest first."""
        import numpy as np

        leaders = self.verdicts.decisions.leaders
        removed = self.verdicts.removed_numbers()
        by_leader = removed[np.argsort(leaders[removed], kind="stable")]
        _, firsts, counts = np.unique(leaders[by_leader], return_index=True, return_counts=True)
        for place in np.argsort(-counts, kind="stable").tolist():
            yield by_leader[firsts[place] : firsts[place] + counts[place]]

    def _cluster(self, members: NDArray[np.int64]) -> Cluster:
        kept = int(self.verdicts.decisions.leaders[members[0]])
        return Cluster(self.verdicts.ledger.id(kept), tuple(self._member(int(each)) for each in members))

    def _member(self, number: int) -> Member:
        return Member(self.verdicts.ledger.id(number), float(self.verdicts.decisions.similarities[number]))

    def cluster_sizes(self) -> NDArray[np.int64]:
        """How many documents each cluster has, its kept one included, the largest first."""
        import numpy as np

        leaders = self.verdicts.decisions.leaders
        counts = np.unique(leaders[leaders >= 0], return_counts=True)[1] + 1
        return np.sort(counts)[::-1].astype(np.int64)

    def samples(self, limit: int) -> list[tuple[Cluster, Sample]]:
        """The largest clusters, each with the texts of its kept document and of the least similar one that was removed."""
        leaders, similarities = self.verdicts.decisions.leaders, self.verdicts.decisions.similarities
        pairs = []
        for members in islice(self._by_size(), limit):
            removed = int(members[similarities[members].argmin()])
            pairs.append((members, int(leaders[removed]), removed))
        texts = self.texts_of({number for _, *pair in pairs for number in pair})
        found = []
        for members, kept, removed in pairs:
            each = self.verdicts.removed(removed)
            sample = Sample(each.kept_id, each.id, each.similarity, texts.get(kept, ""), texts.get(removed, ""))
            found.append((self._cluster(members), sample))
        return found

    def rethreshold(self, threshold: float) -> DedupeReport:
        """The report that a run with another threshold gives. Documents are read and compared again; nothing is written."""
        return self.again(threshold)

    def to_dict(self) -> dict[str, Any]:
        ledger, decisions = self.verdicts.ledger, self.verdicts.decisions
        return {
            "documents": self.documents,
            "kept": int(self.verdicts.kept.sum()),
            "removed": len(self.removed),
            "clusters": len(self.cluster_sizes()),
            "seconds": round(self.seconds, 3),
            "stages": self.stages,
            "compared": decisions.compared,
            "spilled_bytes": decisions.spilled,
            "empty_texts": ledger.empty,
            "without_text": ledger.without_text,
            "skipped": self.skipped,
            "added_to_store": self.added,
            "problem_counts": self.problem_counts,
            "hot_buckets": [{"band": each.band, "refused": each.refused, "id": ledger.id(each.document)} for each in decisions.hot_buckets],
            "settings": self.settings.to_dict(),
            "outputs": self.outputs,
            "signature": {"lookalike": __version__},
        }

    def to_html(self, path: str | Path | None = None, *, title: str = "Deduplication") -> str:
        """One page that opens offline; written to ``path`` if there is one."""
        from lookalike.deduping.page import page

        html = page(self, check_str("title", title))
        if path is not None:
            write_file(check_path("path", path), html)
        return html
