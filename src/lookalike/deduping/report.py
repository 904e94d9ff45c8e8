"""What a run removed and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_path, check_str
from lookalike.corpus.row import NOT_DATA, Problem
from lookalike.corpus.writing import write_file
from lookalike.deduping.settings import Criteria
from lookalike.deduping.verdicts import DocumentVerdicts, Removed, Verdicts
from lookalike.figures import counted, shown_share
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.deduping.references.found import FoundReference
    from lookalike.stores.clusters import Cluster


class Figures(NamedTuple):
    """How much of the text is cut, where passages are."""

    unit: str  # what a text is counted in: tokens, characters or sentences
    units: int
    cut: int


class Sample(NamedTuple):
    """A kept and a removed text."""

    kept_id: Any
    removed_id: Any
    similarity: float
    kept: str | None  # None: it is in a store
    removed: str


class Similarities(NamedTuple):
    """Of removed documents: how many lie between each two neighbouring edges, and how many have a similarity of 1."""

    edges: list[float]
    counts: list[int]
    copies: int

    @staticmethod
    def edges_from(lowest: float, bars: int, least: float | None) -> list[float]:
        first = lowest if least is None else min(least, lowest)
        found: list[float] = np.linspace(np.floor(first * 100) / 100, 1, bars + 1).tolist()
        return found

    @classmethod
    def of(cls, similarities: NDArray[np.float64], bars: int, least: float | None) -> Similarities:
        below = similarities[similarities < 1]
        edges = cls.edges_from(float(below.min()), bars, least) if len(below) else []
        counts = np.histogram(below, edges)[0].tolist() if edges else []
        return cls(edges, counts, int((similarities == 1).sum()))


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
        self._verdicts, self._numbers = verdicts, np.flatnonzero(verdicts.kept)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, i: Any) -> Any:
        found = self._numbers[i]
        return [self._verdicts.ledger.id(int(each)) for each in found] if isinstance(i, slice) else self._verdicts.ledger.id(int(found))


@dataclass(slots=True, repr=False)
class DedupeReport:
    """The result of ``dedupe``."""

    settings: Criteria
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
    figures: Figures | None = None  # of the levels that are about passages
    references: list[FoundReference] | None = None  # with contains=: what became of each

    def __repr__(self) -> str:
        return f"DedupeReport(documents={self.documents}, removed={len(self.removed)})"

    @property
    def documents(self) -> int:
        """How many documents were read; skipped rows are none."""
        return self.verdicts.ledger.documents

    @property
    def kept(self) -> Any:
        """Of a table the same kind of table without what was removed; of files the ids of the kept documents."""
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
        leaders = self.verdicts.decisions.leaders
        removed = self.verdicts.removed_numbers()
        by_leader = removed[np.argsort(leaders[removed], kind="stable")]
        _, firsts, counts = np.unique(leaders[by_leader], return_index=True, return_counts=True)
        for place in np.argsort(-counts, kind="stable").tolist():
            yield by_leader[firsts[place] : firsts[place] + counts[place]]

    def _cluster(self, members: NDArray[np.int64]) -> Cluster:
        from lookalike.stores.clusters import Cluster, Member

        ids, decisions = self.verdicts.ledger.id, self.verdicts.decisions
        kept = int(decisions.leaders[members[0]])
        return Cluster(ids(kept), tuple(Member(ids(each), float(decisions.similarities[each])) for each in members.tolist()))

    def cluster_sizes(self) -> NDArray[np.int64]:
        """How many documents each cluster has, its kept one included, the largest first."""
        leaders = self.verdicts.decisions.leaders
        counts = np.unique(leaders[leaders >= 0], return_counts=True)[1] + 1
        return np.sort(counts)[::-1].astype(np.int64)

    def sizes(self) -> list[tuple[int, int]]:
        """How many clusters there are of each size, the smallest first."""
        found, counts = np.unique(self.cluster_sizes(), return_counts=True)
        return list(zip(found.tolist(), counts.tolist(), strict=True))

    def similarities(self, bars: int, least: float | None) -> Similarities:
        """How similar removed documents are to what they point at, in so many bars from the least similarity on, or from the lowest."""
        found = self.verdicts.decisions.similarities[self.verdicts.removed_numbers()]
        return Similarities.of(found, bars, least)

    def samples(self, largest: int, nearest: int) -> tuple[list[tuple[int, Sample]], list[Sample]]:
        """Pairs to look at, with their texts: the least similar pair of each of the largest clusters, with how many were removed there, and
        over all of them the removed documents that were nearest to staying, one per cluster. The corpus is read once for all."""
        leaders, similarities = self.verdicts.decisions.leaders, self.verdicts.decisions.similarities
        clusters = [(members, int(members[similarities[members].argmin()])) for members in islice(self._by_size(), largest)]
        close = self._nearest(nearest)
        shown = {*close, *(removed for _, removed in clusters)}
        texts = self.texts_of({number for removed in shown for number in (removed, int(leaders[removed]))})
        pairs = {removed: self._sample(removed, texts) for removed in shown}
        return [(len(members), pairs[removed]) for members, removed in clusters], [pairs[removed] for removed in close]

    def _nearest(self, limit: int) -> list[int]:
        """The removed documents with the lowest similarities below 1, the lowest first."""
        leaders, similarities = self.verdicts.decisions.leaders, self.verdicts.decisions.similarities
        removed = self.verdicts.removed_numbers()
        below = removed[similarities[removed] < 1]
        found: dict[int, int] = {}
        for number in below[similarities[below].argsort(kind="stable")].tolist():
            if len(found) == limit:
                break
            found.setdefault(int(leaders[number]), number)
        return list(found.values())

    def _sample(self, removed: int, texts: dict[int, str]) -> Sample:
        found, leader = self.verdicts.removed(removed), int(self.verdicts.decisions.leaders[removed])
        return Sample(found.kept_id, found.id, found.similarity, texts.get(leader), texts.get(removed, ""))

    def rethreshold(self, threshold: float) -> DedupeReport:
        """The report that a run with another threshold gives. Documents are read and compared again; nothing is written."""
        return self.again(threshold)

    @property
    def unit(self) -> str:
        """What ``kept``, ``removed`` and ``clusters`` count: documents, paragraphs, lines or passages."""
        return "passages" if self.settings.passages else f"{self.settings.level}s"

    def headline(self) -> str:
        """What was removed, in a line."""
        total, gone = len(self.verdicts.decisions.leaders), len(self.removed)
        if self.figures:
            unit, units, cut = self.figures
            share = f" ({shown_share(cut / units)})" if units else ""
            return f"{counted(self.documents, 'document')}: {counted(gone, 'passage')} cut, {cut:,} of {units:,} {unit}{share}"
        share = f" ({shown_share(gone / total)})" if total else ""
        if self.settings.level == "document":
            return f"{counted(total, 'document')}: {total - gone:,} kept, {gone:,} removed{share}"
        shown = counted(total, self.settings.level)
        return f"{counted(self.documents, 'document')}, {shown}: {total - gone:,} {self.unit} kept, {gone:,} removed{share}"

    def to_dict(self) -> dict[str, Any]:
        """``documents`` are the documents that were read; ``kept``, ``removed`` and ``clusters`` count what ``unit`` says."""
        ledger, decisions = self.verdicts.ledger, self.verdicts.decisions
        return {
            "documents": self.documents,
            "kept": int(self.verdicts.kept.sum()),
            "removed": len(self.removed),
            "clusters": len(self.cluster_sizes()),
            "seconds": round(self.seconds, 3),
            "stages": self.stages,
            "unit": self.unit,
            **({"text": self.figures._asdict()} if self.figures else {}),
            **({"references": self._reference_counts(self.references)} if self.references is not None else {}),
            "compared": decisions.compared,
            "spilled_bytes": decisions.spilled,
            "empty_texts": ledger.empty,
            "without_text": ledger.without_text,
            "skipped": self.skipped,
            "files_left_out": [problem.place for problem in self.problems if problem.kind == NOT_DATA],
            "added_to_store": self.added,
            "problem_counts": self.problem_counts,
            "hot_buckets": [{"band": each.band, "refused": each.refused, "id": ledger.id(each.document)} for each in decisions.hot_buckets],
            "settings": self.settings.to_dict(),
            "outputs": self.outputs,
            "signature": {"lookalike": __version__},
        }

    @staticmethod
    def _reference_counts(references: Sequence[FoundReference]) -> dict[str, int]:
        held, short = (sum(each.documents > 0 for each in references), sum(each.too_short for each in references))
        return {"count": len(references), "held": held, "too_short": short}

    def to_html(self, path: str | Path | None = None, *, title: str = "Deduplication") -> str:
        """One page that opens offline; written to ``path`` if there is one."""
        from lookalike.deduping.html_report import page

        html = page(self, check_str("title", title))
        if path is not None:
            write_file(check_path("path", path), html)
        return html
