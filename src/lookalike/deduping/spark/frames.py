"""A few rows of the driver as a frame of Spark, and columns of somebody else's frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.corpus.arrow_values import arrow

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def column_of(name: str) -> Column:
    """A column by its name, whatever signs are in it: to Spark dots and backticks say something."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def frame_of(session: SparkSession, rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, str]) -> DataFrame:
    """Columns are string, long or int. They go as Arrow, and so into the plan: of rows of Python every pass over the frame would be a job
    of its own, with Python workers."""
    pa = arrow("Spark")
    types = {"string": pa.string(), "long": pa.int64(), "int": pa.int32()}
    columns = list(zip(*rows, strict=True)) or [() for _ in kinds]
    table = pa.table({name: pa.array(column, types[kind]) for (name, kind), column in zip(kinds.items(), columns, strict=True)})
    made: Any = session.createDataFrame(table, ", ".join(f"`{name}` {kind}" for name, kind in kinds.items()))
    return made
