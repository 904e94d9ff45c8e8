"""How alike two pages are: by their tags, their structure, their style, their links and forms, and what they say."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.fetching.fetched": "Fetched",
        "lookalike.markup.elements": "Element",
        "lookalike.markup.extraction": "page_text",
        "lookalike.markup.page": "Page",
        "lookalike.pages.batches": "compare_pages page_prints",
        "lookalike.pages.matching": "TagMatch match_tags",
        "lookalike.pages.prints": "PagePrint page_print",
        "lookalike.pages.representation": "match_representations page_vector",
        "lookalike.pages.scores": "PageScores",
        "lookalike.pages.tags": "TagWeights",
    },
)
