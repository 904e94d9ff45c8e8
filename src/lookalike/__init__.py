"""How alike two things are and why; what looks like this among millions; a corpus without near-duplicates.

import lookalike as la

la.compare("one text", "another text").score
la.simhash("text").hex
la.fingerprint(Path("a.pdf"), kinds="all")
"""

# Importing the package imports none of it: every name is imported on first use, so that the command line starts fast.
# Type checkers read the same list in __init__.pyi; a test holds the two together.
from lookalike.lazy import imported as _imported
from lookalike.lazy import lazy_names as _lazy_names

_HOMES = {
    "lookalike.about": "info",
    "lookalike.comparison.calibration": "Calibration calibrate",
    "lookalike.comparison.compare": "compare",
    "lookalike.comparison.outcome": "Comparison",
    "lookalike.corpus.documents": "documents",
    "lookalike.corpus.row": "Problem",
    "lookalike.deduping.local": "dedupe",
    "lookalike.deduping.plan": "plan",
    "lookalike.drafts.edit_share": "edit_share",
    "lookalike.drafts.report": "feedback",
    "lookalike.embedders.opening": "embedder",
    "lookalike.errors": "InputError LookalikeError",
    "lookalike.fetching.fetched": "fetch",
    "lookalike.files.reading": "read",
    "lookalike.fingerprints.digest": "digest",
    "lookalike.fingerprints.every": "fingerprint",
    "lookalike.fingerprints.fuzzy_ssdeep": "ssdeep",
    "lookalike.fingerprints.fuzzy_tlsh": "tlsh",
    "lookalike.fingerprints.karp_rabin": "karp_rabin",
    "lookalike.fingerprints.minhash": "MinHash minhash minhashes",
    "lookalike.fingerprints.record": "record",
    "lookalike.fingerprints.simhash": "SimHash simhash simhashes",
    "lookalike.fingerprints.winnowing": "winnow",
    "lookalike.golden": "selftest",
    "lookalike.index.collections": "collections",
    "lookalike.index.index": "Index",
    "lookalike.index.opening": "open",
    "lookalike.leaders.distinct": "distinct",
    "lookalike.markup.page": "page",
    "lookalike.model": "Document",
    "lookalike.pairing.pairs": "pairs",
    "lookalike.pairing.report": "PairsReport",
    "lookalike.recipe": "Recipe recipes",
    "lookalike.profiles.profile": "profile",
    "lookalike.scanning.report": "ScanReport",
    "lookalike.scanning.scan": "scan",
    "lookalike.segments.hamming": "HammingIndex",
    "lookalike.text.code": "code",
    "lookalike.text.keywords": "keywords",
    "lookalike.text.tokenize": "tokenize",
    "lookalike.version": "__version__",
}
# The rest lives in rooms of its own: la.pages.match_tags. What stood here before keeps working here until 1.0.
_ROOMS = {
    "deduping": "DedupeReport Plan StreamReport dedupe_stream",
    "drafts": "Bounds FeedbackReport",
    "embedders": "CausalModel Embedder causal_model",
    "errors": "Corrupt EngineError FetchError MissingExtra NotFound RecipeMismatch StoreBusy StoreError TooManyRemoved UnknownName",
    "files": "FileText Limits Place read_many read_members",
    "fingerprints": "BBitMinHash Digest FieldPrint Fingerprint Fingerprints KarpRabin Mmdt Nilsimsa NoFingerprint RecordPrint"
    " Ssdeep Tlsh WeightedMinHash Winnowing Winnowings digests karp_rabins mmdt mmdts nilsimsa nilsimsas"
    " parse_record records ssdeeps tlshs weighted_minhash weighted_minhashes winnows",
    "index": "Added Admitted AsyncIndex BandIndex CheckReport Cluster Clusters Collections FieldMatch KeptModel Match"
    " Matches Member SetIndex SimhashMatches TableCollection VectorMatches drop_collection index_table"
    " kept_model",
    "measures": "",
    "pages": "Element Fetched Page PagePrint PageScores TagMatch TagWeights compare_pages match_representations"
    " match_tags page_print page_prints page_text page_vector",
    "service": "serve",
    "spark": "",  # its names are those of functions here, for frames
    "text": "Code Idf Keyword Passage Span TextFile Token decode_text fold idfs learn_idf read_text register_dictionary"
    " register_stop_words register_words segmenters shingles",
    "word_mover": "WmdIndex WmdMatch WordMover WordTable word_vectors",
}
_ROOM = {name: room for room, names in _ROOMS.items() for name in names.split()}
_front, _load, _ = _lazy_names(__name__, _HOMES)

__all__ = sorted([*_front, *_ROOMS])


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return _imported(f"{__name__}.{name}")
    found = globals()[name] = getattr(_imported(f"{__name__}.{_ROOM[name]}"), name) if name in _ROOM else _load(name)
    return found


def __dir__() -> list[str]:
    return __all__
