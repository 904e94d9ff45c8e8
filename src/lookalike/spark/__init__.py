"""What there is for users of Spark: the engine of ``dedupe``, and functions on frames."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.deduping.spark.engine": "Engine",
        "lookalike.deduping.spark.joins": "hamming_join search fingerprint",
        "lookalike.deduping.spark.report": "SparkReport",
    },
)
