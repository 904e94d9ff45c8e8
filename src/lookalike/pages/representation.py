"""Two pages by the vectors that a language model has for their tags: ``match_representations(a, b, model=…)``.

Every tag and text is read by the model, the vectors of a pair are compared by their cosine (0 where it is negative), head and body
are the means over their pairs, where a tag without a partner counts 0, and the page is weight · head + (1 - weight) · body.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.errors import InputError
from lookalike.markup.elements import Element
from lookalike.markup.page import Page
from lookalike.pages.alignment import Numbered, Pair, Pairing, best, in_order
from lookalike.pages.matching import ALIGNMENTS, PartMatch, TagMatch, check_weight, head_weight
from lookalike.pages.tag_texts import MARKUPS, tag_texts
from lookalike.pages.tags import TagWeights
from lookalike.pages.text_vectors import Cosines, text_vectors
from lookalike.pages.vector_alignment import largest_sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.embedders.base import Embedder

MAX_CELLS = 4_000_000
