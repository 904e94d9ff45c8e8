"""What a run on Spark removed and why. Frames stay in Spark; counts are here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_path, check_str
from lookalike.corpus.row import NOT_DATA, Problem
from lookalike.corpus.writing import write_file
from lookalike.deduping.report import Sample, Similarities
from lookalike.deduping.settings import Criteria
from lookalike.deduping.spark import samples
from lookalike.deduping.spark.inputs import FILE, NUMBER
from lookalike.deduping.spark.outcome import Outcome, plain_ids
from lookalike.figures import counted, shown_share
from lookalike.stores.clusters import Cluster, Member
from lookalike.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class SparkReport:
    """The result of ``dedupe`` on Spark. Its frames need what the run kept: ``close`` it, or use it in a ``with``."""

    settings: Criteria
    outcome: Outcome
    documents: int
    units: int  # what kept and removed count: documents, paragraphs or lines
    removed_count: int
    cluster_count: int
    seconds: float
    stages: dict[str, float]
    compared: int
    empty: int
    without_text: int
    skipped: int
    problems: list[Problem] = field(default_factory=list)  # the first thousand
    problem_counts: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    added: int = 0

    def __repr__(self) -> str:
        return f"SparkReport(documents={self.documents}, removed={self.removed_count})"

    def __enter__(self) -> SparkReport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes what the run kept between its rounds. Frames cannot be computed any more."""
        self.outcome.work.close()

    @property
    def kept(self) -> DataFrame:
        """The rows that stay, with the columns of the input."""
        return self.outcome.kept().drop(NUMBER, FILE)

    @property
    def removed(self) -> DataFrame:
        """Each removed document: ``id, kept_id, similarity, file, row``, in the order of the input."""
        return plain_ids(self.outcome.removed(), "id", "kept_id").drop("n")

    @property
    def annotated(self) -> DataFrame:
        """All rows, with ``cluster``, ``kept``, ``kept_id`` and ``similarity``; at levels that cut with ``cut`` and ``repeats``."""
        return self.outcome.annotated().drop(NUMBER, FILE)

    def clusters(self, limit: int = 100) -> Iterator[Cluster]:
        """Kept documents for which others were removed, the largest clusters first."""
        from pyspark.sql import functions as F

        removed = plain_ids(self.outcome.removed(), "id", "kept_id")
        grouped = removed.groupBy("kept_id").agg(
            F.sort_array(F.collect_list(F.struct("n", "id", "similarity"))).alias("m"), F.min("n").alias("first")
        )
        for row in grouped.orderBy(F.size("m").desc(), "first").limit(limit).collect():
            yield Cluster(row.kept_id, tuple(Member(each.id, each.similarity) for each in row.m))

    def similarities(self, bars: int, least: float | None) -> Similarities:
        """How similar removed documents are to what they point at, in so many bars from the least similarity on, or from the lowest."""
        return samples.similarities(self.outcome.decisions, bars, least)

    def sizes(self) -> list[tuple[int, int]]:
        """How many clusters there are of each size, the smallest first."""
        return samples.sizes(self.outcome.decisions, self.outcome.cluster_keys)

    def samples(self, largest: int, nearest: int) -> tuple[list[tuple[int, Sample]], list[Sample]]:
        """Pairs to look at, with their texts: of the largest clusters, and those that were nearest to staying."""
        return samples.samples(self.outcome, self.outcome.cluster_keys, largest, nearest)

    def to_html(self, path: str | Path | None = None, *, title: str = "Deduplication") -> str:
        """One page that opens offline; written to ``path`` if there is one."""
        from lookalike.deduping.html_report import page

        html = page(self, check_str("title", title))
        if path is not None:
            write_file(check_path("path", path), html)
        return html

    @property
    def unit(self) -> str:
        return f"{self.settings.level}s"

    def headline(self) -> str:
        """What was removed, in a line."""
        share = f" ({shown_share(self.removed_count / self.units)})" if self.units else ""
        if self.settings.level == "document":
            return f"{counted(self.units, 'document')}: {self.units - self.removed_count:,} kept, {self.removed_count:,} removed{share}"
        shown = f"{counted(self.documents, 'document')}, {counted(self.units, self.settings.level)}"
        return f"{shown}: {self.units - self.removed_count:,} {self.unit} kept, {self.removed_count:,} removed{share}"

    def to_dict(self) -> dict[str, Any]:
        """The same names as those of a run on one machine."""
        return {
            "documents": self.documents,
            "kept": self.units - self.removed_count,
            "removed": self.removed_count,
            "clusters": self.cluster_count,
            "seconds": round(self.seconds, 3),
            "stages": self.stages,
            "unit": self.unit,
            "compared": self.compared,
            "spilled_bytes": 0,
            "empty_texts": self.empty,
            "without_text": self.without_text,
            "skipped": self.skipped,
            "files_left_out": [problem.place for problem in self.problems if problem.kind == NOT_DATA],
            "added_to_store": self.added,
            "problem_counts": self.problem_counts,
            "hot_buckets": [],
            "settings": self.settings.to_dict(),
            "outputs": self.outputs,
            "signature": {"lookalike": __version__, "engine": "spark"},
        }
