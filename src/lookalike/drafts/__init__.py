"""What becomes of drafts: how much of each is kept, by whom it was written, and what was removed."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.drafts.judge": "Bounds",
        "lookalike.drafts.report": "FeedbackReport",
    },
)
