"""The process that Python workers of Spark are forked from in tests: what tasks load is loaded here, once, and not by every worker.

Spark looks through all objects of a worker after each task. Those that were there before the first one are left out of that.
"""

from __future__ import annotations

import gc

from pyspark import daemon

import lookalike.deduping.spark.job
import lookalike.deduping.spark.joins  # noqa: F401 - with the other one, all that tasks need

if __name__ == "__main__":
    gc.freeze()
    daemon.manager()
