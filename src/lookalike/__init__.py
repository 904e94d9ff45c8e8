"""How alike two things are and why; what looks like this among millions; a corpus without near-duplicates.

    import lookalike as la

    la.compare("one text", "another text").score
    la.simhash("text").hex
    la.fingerprint(Path("a.pdf"), kinds="all")
"""

from lookalike import measures
from lookalike.about import info
from lookalike.comparison.compare import Comparison, compare
from lookalike.errors import (
    Corrupt,
    EngineError,
    FetchError,
    InputError,
    LookalikeError,
    MissingExtra,
    NotFound,
    RecipeMismatch,
    StoreBusy,
    StoreError,
    UnknownName,
)
from lookalike.fingerprints.base import Fingerprint, NoFingerprint
from lookalike.fingerprints.digest import Digest, digest, digests
from lookalike.fingerprints.every import Fingerprints, fingerprint
from lookalike.fingerprints.fuzzy import Ssdeep, Tlsh, ssdeep, ssdeeps, tlsh, tlshs
from lookalike.fingerprints.karp_rabin import KarpRabin, karp_rabin, karp_rabins
from lookalike.fingerprints.minhash import BBitMinHash, MinHash, WeightedMinHash, minhash, minhashes, weighted_minhash, weighted_minhashes
from lookalike.fingerprints.record import RecordPrint, record, records
from lookalike.fingerprints.simhash import SimHash, simhash, simhashes
from lookalike.fingerprints.winnowing import Winnowing, winnow, winnows
from lookalike.io import TextFile, read_text
from lookalike.model import Passage, Span, Token
from lookalike.recipe import Recipe, recipes
from lookalike.selftest import selftest
from lookalike.text.idf import Idf, idfs
from lookalike.text.keywords import Keyword, keywords
from lookalike.text.learn import learn_idf
from lookalike.text.normalize import fold
from lookalike.text.segment import segmenters
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import tokenize

__all__ = [
    "BBitMinHash",
    "Comparison",
    "Corrupt",
    "Digest",
    "EngineError",
    "FetchError",
    "Fingerprint",
    "Fingerprints",
    "Idf",
    "InputError",
    "KarpRabin",
    "Keyword",
    "LookalikeError",
    "MinHash",
    "MissingExtra",
    "NoFingerprint",
    "NotFound",
    "Passage",
    "Recipe",
    "RecipeMismatch",
    "RecordPrint",
    "SimHash",
    "Span",
    "Ssdeep",
    "StoreBusy",
    "StoreError",
    "TextFile",
    "Tlsh",
    "Token",
    "UnknownName",
    "WeightedMinHash",
    "Winnowing",
    "compare",
    "digest",
    "digests",
    "fingerprint",
    "fold",
    "idfs",
    "info",
    "karp_rabin",
    "karp_rabins",
    "keywords",
    "learn_idf",
    "measures",
    "minhash",
    "minhashes",
    "read_text",
    "recipes",
    "record",
    "records",
    "segmenters",
    "selftest",
    "shingles",
    "simhash",
    "simhashes",
    "ssdeep",
    "ssdeeps",
    "tlsh",
    "tlshs",
    "tokenize",
    "weighted_minhash",
    "weighted_minhashes",
    "winnow",
    "winnows",
]
