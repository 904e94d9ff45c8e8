"""Folders with a model: which kind it is, and what it is known by."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lookalike.embedders.base import Embedder
from lookalike.embedders.pooling import checked_pooling, pooling_of
from lookalike.errors import InputError
from lookalike.io import digest_of_files, read_bytes

Stamps = tuple[tuple[str, int, int], ...]
REVISION = "1"  # of how windows are cut and pooled
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
KINDS = (
    "a model of sentence-transformers (modules.json), model2vec (config.json and model.safetensors), "
    "ONNX (*.onnx and tokenizer.json) or transformers (config.json and *.safetensors)"
)
ANSWER_OPTIONS = ("pooling", "window")  # these change vectors


def stamps(folder: Path) -> Stamps:
    """The files of a folder, and what changes when one is replaced."""
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.relative_to(folder).as_posix().startswith("."))
        found = [(path.relative_to(folder).as_posix(), path.stat()) for path in files]
    except (OSError, ValueError) as error:
        raise InputError(f"model {str(folder)!r}: {error}") from error
    if not found:
        raise InputError(f"model {str(folder)!r}: no such folder, or an empty one; give that of {KINDS}, or hub:owner/name")
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in found)


def digest(folder: Path) -> str:
    """Of the names and contents of the files, wherever the folder lies."""
    return digest_of_files(folder, (name for name, *_ in stamps(folder)))


def open_folder(folder: Path, options: dict[str, Any]) -> Embedder:
    kind, opened = _kind(folder)
    allowed = [name for name, one in inspect.signature(opened).parameters.items() if one.kind is one.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise InputError(f"{', '.join(unknown)}: not an option of {kind} models, which have {', '.join(allowed) or 'none'}")
    if "pooling" in options:
        checked_pooling(options["pooling"])
    if options.get("window") is not None and (not isinstance(options["window"], int) or options["window"] < 1):
        raise InputError(f"window={options['window']!r}: give the number of tokens that are read at a time")
    changed = [f"{name}={options[name]}" for name in ANSWER_OPTIONS if options.get(name) is not None]
    return opened(kind, "-".join([REVISION, digest(folder), *changed]), folder, **options)


def _kind(folder: Path) -> tuple[str, Callable[..., Embedder]]:
    config = _config(folder / "config.json")
    if str(config.get("model_type", "")).startswith("model2vec") or "StaticModel" in config.get("architectures", []):
        return "model2vec", _open_static
    if (folder / "modules.json").is_file():
        return "sentence-transformers", _open_sentences
    if _onnx_files(folder) and (folder / "tokenizer.json").is_file():
        return "onnx", _open_onnx
    if "model_type" in config and any(any(folder.glob(pattern)) for pattern in WEIGHTS):
        return "transformers", _open_transformer
    raise InputError(f"model {str(folder)!r} has {_some_files(folder)}: expected {KINDS}")


def _config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(f"model {str(path.parent)!r}: {path.name} is not JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _onnx_files(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])


def _some_files(folder: Path) -> str:
    names = [name for name, *_ in stamps(folder)]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more files" if len(names) > 5 else "")


def _open_static(kind: str, version: str, folder: Path) -> Embedder:
    from lookalike.embedders.static_models import StaticEmbedder

    for name in ("model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise InputError(f"model {str(folder)!r}: a model2vec model needs {name}")
    return StaticEmbedder(kind, version, folder / "model.safetensors", folder / "tokenizer.json")


def _open_sentences(kind: str, version: str, folder: Path, *, window: int | None = None, device: Any = None) -> Embedder:
    from lookalike.embedders.torch_models import sentence_embedder

    return sentence_embedder(kind, version, folder, window=window, device=device)


def _open_transformer(
    kind: str, version: str, folder: Path, *, window: int | None = None, device: Any = None, pooling: str = "mean"
) -> Embedder:
    from lookalike.embedders.torch_models import transformer_embedder

    return transformer_embedder(kind, version, folder, window=window, device=device, pooling=pooling)


def _open_onnx(
    kind: str,
    version: str,
    folder: Path,
    *,
    window: int | None = None,
    device: str | None = None,
    pooling: str | None = None,
    threads: int | None = None,
) -> Embedder:
    from lookalike.embedders.onnx_models import onnx_embedder

    files = _onnx_files(folder)
    if len(files) > 1:
        raise InputError(f"model {str(folder)!r} has {len(files)} ONNX files: leave one, the one that you want")
    limits = [_config(folder / name).get(key) for name, key in LIMITS]
    most = window or min((limit for limit in limits if isinstance(limit, int) and 0 < limit < 1 << 20), default=512)
    chosen = pooling or pooling_of(_config(folder / "1_Pooling" / "config.json")) or "mean"
    return onnx_embedder(kind, version, files[0], folder / "tokenizer.json", window=most, pooling=chosen, threads=threads, device=device)


LIMITS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)
