"""What a run on Spark may be told beside what every run is told, and the session that it uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_bool, check_int
from lookalike.errors import EngineError, InputError, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES_ON_DRIVER = 1_000_000_000  # documents that go: 24 bytes each there, and 8 in every worker
EDGES_ON_DRIVER = 20_000_000  # pairs above the threshold: 24 bytes each, some copies of them, and a second or two
MOST_PARTITIONS = 1 << 16  # partitions are named by 16 bits: they sort in linear time
# What the stages rely on: files are cut alike in every pass, rows of bytes come in small batches, partitions are as many as asked for.
CONFIGURATION = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.caseSensitive": "true",  # columns may differ in nothing else
    "spark.sql.ansi.enabled": "false",  # numbers as bytes are no cast there
    # Texts are copied several times on their way to Python: some megabytes at a time stay in the processor's cache.
    "spark.sql.parquet.columnarReaderBatchSize": "512",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # as they were; by itself Spark writes what no longer has a time zone
}


@dataclass(frozen=True, slots=True)
class Engine:
    """``dedupe(…, engine=Engine(…))``: Spark, with more to say than ``engine="spark"`` does.

    ``session``: the Spark session, by default the active one, or a new one. ``order_column``: of a DataFrame the column, unique, that
    says which row is first, by default the id. ``work``: the folder for what is kept between rounds, which all machines reach; by
    default beside the output, or in Spark's checkpoint folder. ``per``: a column; documents are compared with those of the same value
    alone, such as of one dump. ``per_file``: the output has a folder for each file of the input. ``cluster_size``: the name of a column
    that says of each row how many documents its cluster has. ``partitions``: of the stages, by default by the number of documents.
    ``edges_on_driver``: with more similar pairs than this, components of documents are settled side by side. ``names_on_driver``: a run
    that would remove more documents than this stops and says what to do, before the driver takes 24 bytes for each.
    """

    session: Any = None
    order_column: str | None = None
    work: str | None = None
    per: str | None = None
    per_file: bool = False
    cluster_size: str | None = None
    partitions: int | None = None
    edges_on_driver: int = EDGES_ON_DRIVER
    names_on_driver: int = NAMES_ON_DRIVER

    def __post_init__(self) -> None:
        check_bool("per_file", self.per_file)
        for name in ("order_column", "work", "per", "cluster_size"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise InputError(f"{name}={value!r}: give a name, or leave it out")
        if self.partitions is not None:
            check_int("partitions", self.partitions, 1, MOST_PARTITIONS, f"choose from 1 to {MOST_PARTITIONS:,}")
        check_int("edges_on_driver", self.edges_on_driver, 0, remedy="give a number of pairs from 0 on")
        check_int("names_on_driver", self.names_on_driver, 1, remedy="give a number of documents from 1 on")

    def opened(self) -> SparkSession:
        """The session. Its workers run this interpreter unless somebody said otherwise."""
        spark()
        from pyspark.sql import SparkSession

        found = self.session or SparkSession.getActiveSession()
        if found is not None:
            if not isinstance(found, SparkSession):
                raise InputError(f"session={found!r:.60}: give a SparkSession of pyspark.sql (Spark Connect is not supported)")
            return found
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            made: SparkSession = SparkSession.builder.appName("lookalike").getOrCreate()
            return made
        except Exception as error:
            raise EngineError(f"Spark does not start: {str(error)[:300]}; it needs Java 17, found by JAVA_HOME or in the path") from error


def spark() -> Any:
    try:
        import pyarrow as pa
        import pyspark
    except ImportError as error:
        raise MissingExtra.for_extra("engine='spark'", "spark") from error
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise EngineError(f"pyspark {pyspark.__version__} is too old: install version 4 or later")
    return pyspark, pa


@contextmanager
def configured(session: SparkSession, splits: int) -> Iterator[None]:
    """The session as the stages need it; afterwards it is as it was."""
    wanted = CONFIGURATION | {"spark.sql.files.minPartitionNum": str(splits)}
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)
