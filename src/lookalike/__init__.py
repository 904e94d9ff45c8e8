"""How alike two things are and why; what looks like this among millions; a corpus without near-duplicates.

import lookalike as la

la.compare("one text", "another text").score
la.simhash("text").hex
la.fingerprint(Path("a.pdf"), kinds="all")
"""

# Importing the package imports none of it: every name is imported on first use, so that the command line starts fast.
# Type checkers read the same list in __init__.pyi; a test holds the two together.
from importlib import import_module as _import_module

_HOMES = {
    "lookalike.about": "info",
    "lookalike.comparison.compare": "Comparison compare",
    "lookalike.corpus.documents": "documents",
    "lookalike.corpus.row": "Problem",
    "lookalike.deduping.local": "dedupe",
    "lookalike.deduping.plan": "Plan plan",
    "lookalike.deduping.report": "DedupeReport",
    "lookalike.drafts.edit_share": "edit_share",
    "lookalike.drafts.judge": "Bounds",
    "lookalike.drafts.report": "FeedbackReport feedback",
    "lookalike.embedders.base": "Embedder",
    "lookalike.embedders.causal": "CausalModel causal_model",
    "lookalike.embedders.opening": "embedder",
    "lookalike.errors": "Corrupt EngineError FetchError InputError LookalikeError MissingExtra NotFound RecipeMismatch StoreBusy StoreError"
    " TooManyRemoved UnknownName",
    "lookalike.fetching.fetched": "Fetched fetch",
    "lookalike.fingerprints.base": "Fingerprint NoFingerprint",
    "lookalike.fingerprints.digest": "Digest digest digests",
    "lookalike.fingerprints.every": "Fingerprints fingerprint parse_record",
    "lookalike.fingerprints.fuzzy": "Ssdeep Tlsh ssdeep ssdeeps tlsh tlshs",
    "lookalike.fingerprints.karp_rabin": "KarpRabin karp_rabin karp_rabins",
    "lookalike.fingerprints.minhash": "BBitMinHash MinHash WeightedMinHash minhash minhashes weighted_minhash weighted_minhashes",
    "lookalike.fingerprints.record": "RecordPrint record records",
    "lookalike.fingerprints.simhash": "SimHash simhash simhashes",
    "lookalike.fingerprints.winnowing": "Winnowing Winnowings winnow winnows",
    "lookalike.index.index": "Index SimhashMatches VectorMatches",
    "lookalike.stores.matches": "Cluster Clusters Match Matches Member",
    "lookalike.index.opening": "open",
    "lookalike.io": "TextFile decode_text read_text",
    "lookalike.markup.elements": "Element",
    "lookalike.markup.extraction": "page_text",
    "lookalike.markup.page": "Page page",
    "lookalike.model": "Document Passage Span Token",
    "lookalike.pages.matching": "TagMatch match_tags",
    "lookalike.pages.batches": "compare_pages page_prints",
    "lookalike.pages.prints": "PagePrint page_print",
    "lookalike.pages.representation": "match_representations",
    "lookalike.pages.scores": "PageScores",
    "lookalike.pages.tags": "TagWeights",
    "lookalike.recipe": "Recipe recipes",
    "lookalike.segments.hamming": "HammingIndex",
    "lookalike.golden": "selftest",
    "lookalike.stores.base": "Added CheckReport",
    "lookalike.text.idf": "Idf idfs",
    "lookalike.text.keywords": "Keyword keywords",
    "lookalike.text.learn": "learn_idf",
    "lookalike.text.maximum_matching": "register_words",
    "lookalike.text.normalize": "fold",
    "lookalike.text.segment": "segmenters",
    "lookalike.text.shingle": "shingles",
    "lookalike.text.stopwords": "register_stop_words",
    "lookalike.text.tokenize": "tokenize",
    "lookalike.word_mover.index": "WmdIndex WmdMatch",
    "lookalike.word_mover.loading": "word_vectors",
    "lookalike.word_mover.mover": "WordMover",
    "lookalike.word_mover.tables": "WordTable",
    "lookalike.version": "__version__",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_HOME, "measures"])


def __getattr__(name: str) -> object:
    if name == "measures":
        return _import_module("lookalike.measures")
    if name not in _HOME:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
