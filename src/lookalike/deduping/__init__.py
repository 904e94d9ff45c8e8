"""A corpus without near-duplicates: on one machine, on Spark, or as a stream."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.deduping.plan": "Plan",
        "lookalike.deduping.report": "DedupeReport",
        "lookalike.deduping.streams.run": "StreamReport dedupe_stream",
    },
)
