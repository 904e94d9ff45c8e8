from lookalike.drafts.judge import Bounds as Bounds
from lookalike.drafts.report import FeedbackReport as FeedbackReport

__all__: list[str]
