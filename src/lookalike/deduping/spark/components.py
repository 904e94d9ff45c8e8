"""Connected components inside Spark: large stars and small stars in turn, until every document points at the first of its component.

Kiveris and others, Connected Components in MapReduce and Beyond, 2014. A chain of a million needs some twenty turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.deduping.spark.work import Work
from lookalike.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_TURNS = 100


def components(work: Work, links: DataFrame) -> DataFrame:
    """Links ``u, v`` → labels ``n, c``: the smallest of its component for each, but for the smallest themselves."""
    from pyspark.sql import functions as F

    edges = links.where("u != v").select(F.greatest("u", "v").alias("u"), F.least("u", "v").alias("v")).distinct()
    # What differs where edges differ, seen while they are written.
    seen = {"count": F.count("*"), "mixed": F.expr("bit_xor(xxhash64(u, v))")}
    edges, before = work.saved_and_seen(edges, "links", seen)
    for _ in range(MOST_TURNS):
        edges, after = work.saved_and_seen(_small_star(_large_star(edges)), "stars", seen)
        if after == before:
            return edges.select(F.col("u").alias("n"), F.col("v").alias("c"))
        before = after
    raise EngineError(f"components did not settle in {MOST_TURNS} turns: raise Engine(edges_on_driver=…) and the driver's memory")


def _large_star(edges: DataFrame) -> DataFrame:
    """Larger neighbours of a node point at its smallest neighbour."""
    from pyspark.sql import functions as F

    both = edges.unionAll(edges.select(F.col("v").alias("u"), F.col("u").alias("v")))
    least = both.groupBy("u").agg(F.min("v").alias("m")).select("u", F.least("u", "m").alias("m"))
    return both.join(least, "u").where("v > u").select(F.col("v").alias("u"), F.col("m").alias("v")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Smaller neighbours of a node, and the node, point at the smallest of them."""
    from pyspark.sql import functions as F

    least = edges.groupBy("u").agg(F.min("v").alias("m"))
    others = edges.join(least, "u").where("v != m").select(F.col("v").alias("u"), F.col("m").alias("v"))
    return others.unionAll(least.select("u", F.col("m").alias("v"))).distinct()
