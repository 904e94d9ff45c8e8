"""What is kept between rounds, as Parquet: a lost machine costs the tasks at hand and not all before them."""

from __future__ import annotations

import tempfile
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike.deduping.spark.blobs import Blob, blobs_of
from lookalike.deduping.spark.sketching import Shared
from lookalike.errors import EngineError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

# Rows of arrays (blobs.py): no two are the same, and most of their bytes are hashes, which nothing makes smaller.
PLAIN = {"compression": "none", "parquet.enable.dictionary": "false"}


@dataclass
class Work:
    """A folder that all machines reach. Whoever ends a run closes it; an error does."""

    session: SparkSession
    folder: str
    _broadcast: list[Any] = field(default_factory=list)
    _saved: int = 0

    @classmethod
    def beside(cls, session: SparkSession, work: str | None, out: str | None) -> Work:
        name = f".lookalike-spark-{uuid.uuid4().hex[:12]}"
        if work is not None:
            return cls(session, f"{work.rstrip('/')}/{name}")
        if out is not None:
            parent, _, last = out.rstrip("/").rpartition("/")
            return cls(session, f"{parent}/{name}-{last}" if parent else f"{name}-{last}")
        context = session.sparkContext
        if (checkpoints := context._jsc.sc().getCheckpointDir()).isDefined():
            return cls(session, f"{checkpoints.get()}/{name}")
        if not context.master.startswith("local"):
            raise InputError("engine='spark' without out= needs a folder that all machines reach: give Engine(work=…)")
        return cls(session, f"{tempfile.gettempdir()}/{name[1:]}")

    def __enter__(self) -> Work:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.close()

    def close(self) -> None:
        """Removes everything."""
        self.forget()
        path, files = hadoop(self.session, self.folder)
        files.delete(path, True)

    def forget(self, *kept: DataFrame) -> None:
        """Removes all but these frames."""
        for each in self._broadcast:
            each.unpersist()
        self._broadcast.clear()
        wanted = {name for frame in kept for name in (file.rpartition("/")[0].rpartition("/")[2] for file in frame.inputFiles())}
        path, files = hadoop(self.session, self.folder)
        for status in files.listStatus(path) if files.exists(path) else ():
            if status.getPath().getName() not in wanted:
                files.delete(status.getPath(), True)

    def saved(self, frame: DataFrame, name: str) -> DataFrame:
        """A frame that is computed once: it is written, and read from there."""
        self._saved += 1
        path = f"{self.folder}/{self._saved:03}-{name}"
        frame.write.options(**(PLAIN if frame.columns == [*Blob._fields] else {})).parquet(path)
        return self.session.read.schema(frame.schema).parquet(path)

    def saved_and_seen(self, frame: DataFrame, name: str, seen: Mapping[str, Column]) -> tuple[DataFrame, dict[str, Any]]:
        """The same, with aggregates over its rows, which are made while it is written: nobody reads it for them."""
        from pyspark.sql import Observation

        observed = Observation()
        saved = self.saved(frame.observe(observed, *(column.alias(key) for key, column in seen.items())), name)
        return saved, observed.get

    def saved_and_counted(self, frame: DataFrame, name: str, width: int) -> tuple[DataFrame, int]:
        """The same, with the number of entries in its rows: their column b has ``width`` bytes for each."""
        from pyspark.sql import functions as F

        saved, seen = self.saved_and_seen(frame, name, {"bytes": F.sum(F.length("b"))})
        return saved, (seen["bytes"] or 0) // width

    def given(self, value: Any) -> Shared:
        """A value that every task can look up."""
        found: Shared = self.session.sparkContext.broadcast(value)
        self._broadcast.append(found)
        return found


def placed(frame: DataFrame, partitions: int) -> DataFrame:
    """Rows in the partitions that their column p names. Before Spark 4.1 names are hashed: some partitions get two, and others none."""
    by_id = getattr(frame, "repartitionById", None)
    return by_id(partitions, "p") if by_id else frame.repartition(partitions, "p")


def named(work: Work, frame: DataFrame, width: int, most: int, documents: int) -> list[Blob]:
    """Rows for the driver, of documents that go: their column b has ``width`` bytes for each. More than so many are an error."""
    if documents > most:
        frame, count = work.saved_and_counted(frame, "names", width)
        if count > most:
            raise EngineError(
                f"{count:,} documents would go, and the driver holds {most:,}: dedupe each part of the corpus by itself first (per=),"
                " and then what stays; or raise Engine(names_on_driver=…), 24 bytes each on the driver and 8 in every worker"
            )
    return collected(frame)


def collected(frame: DataFrame) -> list[Blob]:
    """Rows for the driver."""
    return list(blobs_of(frame.select("p", "kind", "a", "b", "c").toArrow().to_batches()))


def hadoop(session: SparkSession, path: str) -> tuple[Any, Any]:
    """A path and its file system, whichever that is."""
    jvm: Any = session.sparkContext._jvm
    found = jvm.org.apache.hadoop.fs.Path(path)
    return found, found.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
