from lookalike.deduping.plan import Plan as Plan
from lookalike.deduping.report import DedupeReport as DedupeReport
from lookalike.deduping.streams.run import StreamReport as StreamReport, dedupe_stream as dedupe_stream

__all__: list[str]
