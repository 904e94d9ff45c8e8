from lookalike.fetching.fetched import Fetched as Fetched
from lookalike.markup.elements import Element as Element
from lookalike.markup.extraction import page_text as page_text
from lookalike.markup.page import Page as Page
from lookalike.pages.batches import compare_pages as compare_pages, page_prints as page_prints
from lookalike.pages.matching import TagMatch as TagMatch, match_tags as match_tags
from lookalike.pages.prints import PagePrint as PagePrint, page_print as page_print
from lookalike.pages.representation import match_representations as match_representations, page_vector as page_vector
from lookalike.pages.scores import PageScores as PageScores
from lookalike.pages.tags import TagWeights as TagWeights

__all__: list[str]
