"""How alike two things are and why; what looks like this among millions; a corpus without near-duplicates.

import lookalike as la

la.compare("one text", "another text").score
la.simhash("text").hex
la.fingerprint(Path("a.pdf"), kinds="all")
"""

# Importing the package imports none of it: every name is imported on first use, so that the command line starts fast.
# Type checkers read the same list in __init__.pyi; a test holds the two together.
from importlib import import_module as _import_module

from lookalike.lazy import lazy_names as _lazy_names

_HOMES = {
    "lookalike.about": "info",
    "lookalike.comparison.calibration": "Calibration calibrate",
    "lookalike.comparison.compare": "Comparison compare",
    "lookalike.corpus.documents": "documents",
    "lookalike.corpus.row": "Problem",
    "lookalike.deduping.local": "dedupe",
    "lookalike.deduping.plan": "Plan plan",
    "lookalike.deduping.report": "DedupeReport",
    "lookalike.deduping.streams.run": "StreamReport dedupe_stream",
    "lookalike.drafts.edit_share": "edit_share",
    "lookalike.drafts.judge": "Bounds",
    "lookalike.drafts.report": "FeedbackReport feedback",
    "lookalike.embedders.opening": "embedder",
    "lookalike.errors": "InputError LookalikeError",
    "lookalike.fetching.fetched": "Fetched fetch",
    "lookalike.files.reading": "read",
    "lookalike.fingerprints.base": "Fingerprint",
    "lookalike.fingerprints.digest": "digest digests",
    "lookalike.fingerprints.every": "fingerprint",
    "lookalike.fingerprints.fuzzy_ssdeep": "Ssdeep ssdeep ssdeeps",
    "lookalike.fingerprints.fuzzy_tlsh": "Tlsh tlsh tlshs",
    "lookalike.fingerprints.karp_rabin": "karp_rabin karp_rabins",
    "lookalike.fingerprints.minhash": "MinHash minhash minhashes",
    "lookalike.fingerprints.record": "RecordPrint record records",
    "lookalike.fingerprints.simhash": "SimHash simhash simhashes",
    "lookalike.fingerprints.winnowing": "Winnowing winnow winnows",
    "lookalike.golden": "selftest",
    "lookalike.index.collections": "collections",
    "lookalike.index.index": "Index",
    "lookalike.stores.matches": "Cluster Clusters Match Matches",
    "lookalike.index.opening": "open",
    "lookalike.leaders.distinct": "distinct",
    "lookalike.markup.page": "Page page",
    "lookalike.model": "Document Passage",
    "lookalike.pages.batches": "compare_pages",
    "lookalike.pairing.pairs": "pairs",
    "lookalike.pairing.report": "PairsReport",
    "lookalike.recipe": "Recipe recipes",
    "lookalike.profiles.profile": "profile",
    "lookalike.scanning.report": "ScanReport",
    "lookalike.scanning.scan": "scan",
    "lookalike.segments.hamming": "HammingIndex",
    "lookalike.text.code": "code",
    "lookalike.text.keywords": "keywords",
    "lookalike.text.normalize": "fold",
    "lookalike.text.tokenize": "tokenize",
    "lookalike.version": "__version__",
}
# The rest lives in rooms of its own: la.pages.match_tags. What stood here before keeps working here until 1.0.
_ROOMS = {
    "embedders": "CausalModel Embedder causal_model",
    "errors": "Corrupt EngineError FetchError MissingExtra NotFound RecipeMismatch StoreBusy StoreError TooManyRemoved UnknownName",
    "files": "FileText Limits Place read_many read_members",
    "fingerprints": "BBitMinHash Digest FieldPrint Fingerprints KarpRabin Mmdt Nilsimsa NoFingerprint"
    " WeightedMinHash Winnowings mmdt mmdts nilsimsa nilsimsas parse_record weighted_minhash weighted_minhashes",
    "index": "Added Admitted AsyncIndex BandIndex CheckReport Collections FieldMatch KeptModel Member SetIndex SimhashMatches"
    " TableCollection VectorMatches drop_collection index_table kept_model",
    "measures": "",
    "pages": "Element PagePrint PageScores TagMatch TagWeights match_representations match_tags"
    " page_print page_prints page_text page_vector",
    "service": "serve",
    "spark": "",  # its names are those of functions here, for frames
    "text": "Code Idf Keyword Span TextFile Token decode_text idfs learn_idf read_text register_dictionary register_stop_words"
    " register_words segmenters shingles",
    "word_mover": "WmdIndex WmdMatch WordMover WordTable word_vectors",
}
_ROOM = {name: room for room, names in _ROOMS.items() for name in names.split()}
_front, _load, _ = _lazy_names(__name__, _HOMES)

__all__ = sorted([*_front, *_ROOMS])


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return _import_module(f"{__name__}.{name}")
    found = globals()[name] = getattr(_import_module(f"{__name__}.{_ROOM[name]}"), name) if name in _ROOM else _load(name)
    return found


def __dir__() -> list[str]:
    return __all__
