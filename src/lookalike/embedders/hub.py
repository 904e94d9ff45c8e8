"""Models from the Hugging Face hub: the one place that uses the network, and only when asked by ``hub:owner/name``."""

from __future__ import annotations

from lookalike.errors import FetchError, InputError, MissingExtra

PREFIX = "hub:"
# Weights once, in the format without code; not the copies for other frameworks.
PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors", "*/config.json", "*/*.safetensors", "onnx/model.onnx", "model.onnx"]


def fetched(name: str) -> str:
    """The folder that ``hub:owner/name`` or ``hub:owner/name@revision`` was fetched to, now or before."""
    repository, _, revision = name.removeprefix(PREFIX).partition("@")
    if repository.count("/") != 1 or not all(repository.split("/")):
        raise InputError(f"model {name!r}: give hub:owner/name, or hub:owner/name@revision")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtra.for_extra(f"model {name!r}", "models") from error
    try:
        return str(snapshot_download(repository, revision=revision or None, allow_patterns=PATTERNS))
    except Exception as error:  # the network, a name that is not there, a full disk
        raise FetchError(f"model {name!r} could not be fetched ({error}); give the folder of a model you have") from error
