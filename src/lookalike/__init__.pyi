from lookalike import (
    deduping as deduping,
    drafts as drafts,
    embedders as embedders,
    errors as errors,
    files as files,
    fingerprints as fingerprints,
    index as index,
    measures as measures,
    pages as pages,
    service as service,
    spark as spark,
    text as text,
    word_mover as word_mover,
)
from lookalike.about import info as info
from lookalike.comparison.calibration import Calibration as Calibration, calibrate as calibrate
from lookalike.comparison.compare import compare as compare
from lookalike.comparison.outcome import Comparison as Comparison
from lookalike.corpus.documents import documents as documents
from lookalike.corpus.row import Problem as Problem
from lookalike.deduping.local import dedupe as dedupe
from lookalike.deduping.plan import Plan as Plan, plan as plan
from lookalike.deduping.report import DedupeReport as DedupeReport
from lookalike.deduping.streams.run import StreamReport as StreamReport, dedupe_stream as dedupe_stream
from lookalike.drafts.edit_share import edit_share as edit_share
from lookalike.drafts.judge import Bounds as Bounds
from lookalike.drafts.report import FeedbackReport as FeedbackReport, feedback as feedback
from lookalike.embedders.base import Embedder as Embedder
from lookalike.embedders.causal import CausalModel as CausalModel, causal_model as causal_model
from lookalike.embedders.opening import embedder as embedder
from lookalike.errors import (
    Corrupt as Corrupt,
    EngineError as EngineError,
    FetchError as FetchError,
    InputError as InputError,
    LookalikeError as LookalikeError,
    MissingExtra as MissingExtra,
    NotFound as NotFound,
    RecipeMismatch as RecipeMismatch,
    StoreBusy as StoreBusy,
    StoreError as StoreError,
    TooManyRemoved as TooManyRemoved,
    UnknownName as UnknownName,
)
from lookalike.fetching.fetched import Fetched as Fetched, fetch as fetch
from lookalike.files.limits import Limits as Limits
from lookalike.files.model import FileText as FileText, Place as Place
from lookalike.files.reading import read as read, read_many as read_many, read_members as read_members
from lookalike.fingerprints.base import Fingerprint as Fingerprint, NoFingerprint as NoFingerprint
from lookalike.fingerprints.digest import Digest as Digest, digest as digest, digests as digests
from lookalike.fingerprints.every import Fingerprints as Fingerprints, fingerprint as fingerprint, parse_record as parse_record
from lookalike.fingerprints.fuzzy_mmdt import Mmdt as Mmdt, mmdt as mmdt, mmdts as mmdts
from lookalike.fingerprints.fuzzy_nilsimsa import Nilsimsa as Nilsimsa, nilsimsa as nilsimsa, nilsimsas as nilsimsas
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep as Ssdeep, ssdeep as ssdeep, ssdeeps as ssdeeps
from lookalike.fingerprints.fuzzy_tlsh import Tlsh as Tlsh, tlsh as tlsh, tlshs as tlshs
from lookalike.fingerprints.karp_rabin import KarpRabin as KarpRabin, karp_rabin as karp_rabin, karp_rabins as karp_rabins
from lookalike.fingerprints.minhash import (
    BBitMinHash as BBitMinHash,
    MinHash as MinHash,
    WeightedMinHash as WeightedMinHash,
    minhash as minhash,
    minhashes as minhashes,
    weighted_minhash as weighted_minhash,
    weighted_minhashes as weighted_minhashes,
)
from lookalike.fingerprints.record import FieldPrint as FieldPrint, RecordPrint as RecordPrint, record as record, records as records
from lookalike.fingerprints.simhash import SimHash as SimHash, simhash as simhash, simhashes as simhashes
from lookalike.fingerprints.winnowing import Winnowing as Winnowing, Winnowings as Winnowings, winnow as winnow, winnows as winnows
from lookalike.golden import selftest as selftest
from lookalike.index.collections import Collections as Collections, collections as collections
from lookalike.index.index import Index as Index, SimhashMatches as SimhashMatches, VectorMatches as VectorMatches
from lookalike.stores.clusters import Cluster as Cluster, Clusters as Clusters, Member as Member
from lookalike.stores.matches import FieldMatch as FieldMatch, Match as Match, Matches as Matches
from lookalike.index.opening import open as open
from lookalike.io import TextFile as TextFile, decode_text as decode_text, read_text as read_text
from lookalike.markup.elements import Element as Element
from lookalike.markup.extraction import page_text as page_text
from lookalike.leaders.distinct import distinct as distinct
from lookalike.markup.page import Page as Page, page as page
from lookalike.model import Document as Document, Passage as Passage, Span as Span, Token as Token
from lookalike.pages.batches import compare_pages as compare_pages, page_prints as page_prints
from lookalike.pages.matching import TagMatch as TagMatch, match_tags as match_tags
from lookalike.pages.prints import PagePrint as PagePrint, page_print as page_print
from lookalike.pages.representation import match_representations as match_representations, page_vector as page_vector
from lookalike.pages.scores import PageScores as PageScores
from lookalike.pages.tags import TagWeights as TagWeights
from lookalike.pairing.pairs import pairs as pairs
from lookalike.pairing.report import PairsReport as PairsReport
from lookalike.recipe import Recipe as Recipe, recipes as recipes
from lookalike.profiles.profile import profile as profile
from lookalike.scanning.report import ScanReport as ScanReport
from lookalike.scanning.scan import scan as scan
from lookalike.index.set_index import SetIndex as SetIndex
from lookalike.segments.band_index import BandIndex as BandIndex
from lookalike.segments.hamming import HammingIndex as HammingIndex
from lookalike.index.admit import Admitted as Admitted
from lookalike.index.asynchronous import AsyncIndex as AsyncIndex
from lookalike.index.kept_vectors import KeptModel as KeptModel, kept_model as kept_model
from lookalike.index.own_tables import TableCollection as TableCollection, drop_collection as drop_collection, index_table as index_table
from lookalike.service.starting import serve as serve
from lookalike.stores.base import Added as Added, CheckReport as CheckReport
from lookalike.text.dictionaries import register_dictionary as register_dictionary
from lookalike.text.idf import Idf as Idf, idfs as idfs
from lookalike.text.code import Code as Code, code as code
from lookalike.text.keywords import Keyword as Keyword, keywords as keywords
from lookalike.text.learn import learn_idf as learn_idf
from lookalike.text.maximum_matching import register_words as register_words
from lookalike.text.normalize import fold as fold
from lookalike.text.segment import segmenters as segmenters
from lookalike.text.shingle import shingles as shingles
from lookalike.text.stopwords import register_stop_words as register_stop_words
from lookalike.text.tokenize import tokenize as tokenize
from lookalike.version import __version__ as __version__
from lookalike.word_mover.index import WmdIndex as WmdIndex, WmdMatch as WmdMatch
from lookalike.word_mover.loading import word_vectors as word_vectors
from lookalike.word_mover.mover import WordMover as WordMover
from lookalike.word_mover.tables import WordTable as WordTable

__all__: list[str]
