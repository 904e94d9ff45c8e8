"""Functions on frames of Spark: near codes of two frames, searches in a store, and fingerprints of a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_int, check_str
from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark.engine import MOST_PARTITIONS, spark
from lookalike.deduping.spark.frames import column_of
from lookalike.deduping.spark.hamming import blocks, near_others, near_pairs
from lookalike.deduping.spark.shipping import Shipped, shipped
from lookalike.errors import EngineError, InputError
from lookalike.leaders.rule import MAX_DISTANCE
from lookalike.recipe import Recipe, resolve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LEFT, RIGHT = 0, 1
ROWS = 1 << 16


def hamming_join(
    left: DataFrame, right: DataFrame | None = None, k: int = 3, *, code: str = "code", id: str = "id", partitions: int | None = None
) -> DataFrame:
    """All pairs of rows whose 64-bit codes differ in at most ``k`` bits, exactly: ``left_id, right_id, distance``.

    Without ``right`` the frame is joined with itself, and each pair of rows is there once. ``code`` is the column of the codes (whole
    numbers, as ``fingerprint`` makes them), ``id`` a column that names rows.
    """
    from pyspark.sql import functions as F

    frames = [_coded(left, "left", code, id)] + ([_coded(right, "right", code, id)] if right is not None else [])
    check_int("k", k, 0, MAX_DISTANCE, f"choose a number of bits from 0 to {MAX_DISTANCE}")
    count = partitions or left.sparkSession.sparkContext.defaultParallelism
    check_int("partitions", count, 1, MOST_PARTITIONS, f"choose from 1 to {MOST_PARTITIONS:,}")
    # Equal codes travel once; the rows behind them come back by a join.
    distinct = [frame.select("code").distinct().withColumn("side", F.lit(side)) for side, frame in enumerate(frames)]
    codes = distinct[0] if right is None else distinct[0].unionAll(distinct[1])
    block = F.explode(F.array([F.lit(place) for place in range(k + 1)])).alias("block")
    values = F.lit(0)
    for place, (shift, mask) in enumerate(blocks(k)):
        bits = F.shiftrightunsigned("code", int(shift)).bitwiseAND(F.lit(int(mask) - (1 << 64) if int(mask) >> 63 else int(mask)))
        values = F.when(F.col("block") == place, bits).otherwise(values)
    routed = codes.select("code", "side", block).withColumn("value", values).repartition(count, "block", "value")
    near = routed.mapInArrow(Joining(k, right is None), "left_code long, right_code long, distance int")
    first, second = (frames[0], frames[-1])
    joined = near.join(first.select(F.col("id").alias("left_id"), F.col("code").alias("left_code")), "left_code")
    joined = joined.join(second.select(F.col("id").alias("right_id"), F.col("code").alias("right_code")), "right_code")
    if right is None:  # equal codes came with themselves, and others in one direction
        joined = joined.where("distance > 0 or left_id < right_id")
        pair = F.when(F.col("left_id") < F.col("right_id"), F.struct("left_id", "right_id")).otherwise(
            F.struct(F.col("right_id").alias("left_id"), F.col("left_id").alias("right_id"))
        )
        return joined.select(pair.alias("p"), "distance").select("p.left_id", "p.right_id", "distance")
    return joined.select("left_id", "right_id", "distance")


def _coded(frame: Any, name: str, code: str, id: str) -> DataFrame:
    from pyspark.sql import DataFrame

    spark()
    if not isinstance(frame, DataFrame):
        raise InputError(f"{name} is a {type(frame).__name__}: give a DataFrame of Spark")
    kinds = dict(frame.dtypes)
    for wanted in (check_str("code", code), check_str("id", id)):
        if wanted not in kinds:
            raise InputError(f"{name}: no column {wanted!r}; the columns are {', '.join(map(repr, frame.columns[:20]))}")
    if kinds[code] not in ("bigint", "int", "smallint", "tinyint"):
        raise InputError(f"{name}: column {code!r} holds {kinds[code]}: codes are whole numbers of 64 bits")
    return frame.select(column_of(id).alias("id"), column_of(code).cast("long").alias("code")).where("code is not null")


@dataclass(frozen=True)
class Joining:
    """Codes by block → the pairs within k whose first common block it is."""

    k: int
    itself: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        held = list(batches)
        if not held:
            return
        codes, sides, places = (np.concatenate([np.asarray(batch.column(name)) for batch in held]) for name in ("code", "side", "block"))
        words = codes.view(np.uint64)
        for place in np.unique(places).tolist():
            of_left, of_right = ((places == place) & (sides == side) for side in (LEFT, RIGHT))
            own = np.ascontiguousarray(words[of_left])
            if self.itself:
                left, right, distances = near_pairs(own, place, self.k)
                same = np.arange(len(own)) if place == 0 else np.zeros(0, np.int64)
                found = (own[np.concatenate((left, same))], own[np.concatenate((right, same))], np.concatenate((distances, 0 * same)))
            else:
                others = np.ascontiguousarray(words[of_right])
                left, right, distances = near_others(own, others, place, self.k)
                found = (own[left], others[right], distances)
            columns = (found[0].view(np.int64), found[1].view(np.int64), found[2].astype(np.int32))
            for first in range(0, len(columns[0]), ROWS):
                arrays = [pa.array(column[first : first + ROWS]) for column in columns]
                yield pa.RecordBatch.from_arrays(arrays, ["left_code", "right_code", "distance"])


def search(
    frame: DataFrame, store: str | Path, *, text: str = "text", id: str = "id", limit: int = 10, threshold: float | None = None
) -> DataFrame:
    """What of a store looks like each text of a frame: ``id, match_id, score``, the best ``limit`` of each.

    The store, a folder, travels to every machine, which maps it into memory and only reads it.
    """
    from lookalike.index.opening import open as open_index

    spark()
    check_int("limit", limit, 1, remedy="give a number of matches from 1 on")
    for wanted in (check_str("text", text), check_str("id", id)):
        if wanted not in frame.columns:
            raise InputError(f"no column {wanted!r}; the columns are {', '.join(map(repr, frame.columns[:20]))}")
    open_index(store, read_only=True, create=False).close()  # what is wrong with it is said here

    kind = dict(frame.dtypes)[id]
    chosen = frame.select(column_of(id).alias("id"), column_of(text).alias("text")).where("text is not null")
    return chosen.mapInArrow(Searching(shipped(frame.sparkSession, store), limit, threshold), f"id {kind}, match_id string, score double")


@dataclass(frozen=True)
class Searching:
    """Texts → matches."""

    store: Shipped
    limit: int
    threshold: float | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        index = _index(self.store)
        for batch in batches:
            found = index.search_texts(batch.column("text").to_pylist(), threshold=self.threshold, limit=self.limit, workers=1)
            places = [place for place, matches in enumerate(found) for _ in matches]
            ids = [str(match.id) for matches in found for match in matches]
            scores = [float(match.score) for matches in found for match in matches]
            arrays = [batch.column("id").take(pa.array(places, pa.int64())), pa.array(ids, pa.string()), pa.array(scores, pa.float64())]
            yield pa.RecordBatch.from_arrays(arrays, ["id", "match_id", "score"])


@cache
def _index(store: Shipped) -> Any:
    from lookalike.index.opening import open as open_index

    return open_index(store.place(), read_only=True, create=False)


def fingerprint(column: Any, kind: str = "simhash", *, recipe: Recipe | str | None = None) -> Any:
    """The fingerprint of a column of texts, as a column: ``simhash`` gives codes of 64 bits (as bigint), ``digest`` the SHA-256
    of the text in hex digits, ``minhash`` an array of numbers. Null stays null."""
    from pyspark.sql import functions as F

    spark()
    if not hasattr(F, "arrow_udf"):
        raise EngineError("fingerprint needs pyspark 4.1 or later, which has functions over Arrow: upgrade it")
    makers = {"simhash": (_simhashes, "long"), "digest": (_digests, "string"), "minhash": (_minhashes, "array<long>")}
    if kind not in makers:
        raise InputError(f"kind={kind!r}: choose simhash, digest or minhash")
    make, returned = makers[kind]
    chosen = resolve(recipe)

    def of_column(texts: Any) -> Any:
        return make(texts, chosen)

    array = arrow("Spark").Array
    of_column.__annotations__ = {"texts": array, "return": array}  # by which Spark knows what to give
    return F.arrow_udf(of_column, returned)(column)


def _simhashes(texts: Any, recipe: Recipe) -> Any:
    from lookalike.fingerprints.simhash import simhashes

    values = np.asarray(simhashes([text or "" for text in texts.to_pylist()], bits=64, recipe=recipe)).view(np.int64)
    return arrow("Spark").array(values, mask=_missing(texts))


def _digests(texts: Any, recipe: Recipe) -> Any:
    from lookalike.fingerprints.digest import digests

    found = [each.value for each in digests([text or "" for text in texts.to_pylist()])]
    return arrow("Spark").array(found, mask=_missing(texts))


def _minhashes(texts: Any, recipe: Recipe) -> Any:
    from lookalike.fingerprints.minhash import minhashes

    found = np.asarray(minhashes([text or "" for text in texts.to_pylist()], recipe=recipe)).astype(np.int64)
    return arrow("Spark").array(list(found), mask=_missing(texts))


def _missing(texts: Any) -> NDArray[np.bool_]:
    return np.asarray(texts.is_null())
