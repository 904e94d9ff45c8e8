"""From a name, a folder or a function to an embedder."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from lookalike.embedders.base import Embedder
from lookalike.embedders.functions import FunctionEmbedder, is_embedder, named_function
from lookalike.errors import InputError, UnknownName
from lookalike.registry import Registry

Loader: TypeAlias = Callable[..., Embedder]
Model: TypeAlias = "str | os.PathLike[str] | Embedder | Callable[[list[str]], Any] | None"

DEFAULT = "use-multilingual"

# An entry is an embedder, or a function that makes one of the options it is given.
embedders: Registry[Embedder | Loader] = Registry("embedder")
embedders.register("use-multilingual", "lookalike.embedders.use_multilingual:UseMultilingual", version="0.2.1-2", extra="meaning")
embedders.register("minilm", "lookalike.embedders.minilm:minilm", version="1.0.0-1")

_loading = threading.RLock()
_opened: dict[tuple[object, ...], Embedder] = {}


def embedder(model: Model = None, **options: Any) -> Embedder:
    """The model behind a name ("use-multilingual", the default), a folder, ``hub:owner/name``, ``module:function``, or a function.

    A folder holds a model of sentence-transformers, Hugging Face transformers, ONNX or model2vec. Nothing is fetched unless
    the name starts with ``hub:``. A model is loaded once and kept. Options depend on the kind: ``threads``, ``device`` …
    """
    if model is None or (isinstance(model, str) and model == "default"):
        model = DEFAULT
    if is_embedder(model):
        return _without_options(model, options)
    if isinstance(model, os.PathLike):
        return _opened_folder(os.fspath(model), options)
    if callable(model):
        return _without_options(FunctionEmbedder(model), options)
    if not isinstance(model, str):
        raise InputError(f"model={model!r}: give a name, a folder, an embedder, or a function from a list of texts to an array")
    if model in embedders:
        return _once(("name", model), options, lambda: _made(model, options))
    if model.startswith("hub:"):
        from lookalike.embedders.hub import fetched

        return _opened_folder(fetched(model), options)
    if os.path.isdir(model) or os.sep in model:
        return _opened_folder(model, options)
    if ":" in model:
        return _once(("function", model), options, lambda: _without_options(named_function(model), options))
    raise UnknownName(f"model {model!r}: neither a folder nor one of {', '.join(embedders)}; or give hub:owner/name, or module:function")


def embedder_version(name: str) -> str:
    """What stands for the model in a recipe's id: its name and version; of a folder the digest of its files, never the path."""
    if name == "default":
        name = DEFAULT
    if name in embedders:
        return f"{name}@{embedders.version(name)}"
    return embedder_id(embedder(name))


def is_registered_embedder(name: str) -> bool:
    """Whether a name is in the registry: no module, no folder, nothing to be fetched."""
    return name == "default" or name in embedders


def embedder_id(model: Embedder) -> str:
    """Name and version in one: equal ids, equal vectors."""
    return f"{model.name}@{model.version}"


def _made(name: str, options: dict[str, Any]) -> Embedder:
    found = embedders.get(name)
    if is_embedder(found):
        return _without_options(found, options)
    try:
        made: Embedder = found(**options)  # type: ignore[operator]  # what is no embedder makes one
        return made
    except TypeError as error:
        raise InputError(f"embedder {name!r}: {error}") from error


def _opened_folder(path: str, options: dict[str, Any]) -> Embedder:
    from lookalike.embedders.folders import open_folder, stamps

    folder = Path(path)
    return _once(("folder", str(folder.resolve()), stamps(folder)), options, lambda: open_folder(folder, options))


def _once(key: tuple[object, ...], options: dict[str, Any], load: Callable[[], Embedder]) -> Embedder:
    full = (*key, *sorted(options.items()))
    with _loading:
        if full not in _opened:
            _opened[full] = load()
        return _opened[full]


def _without_options(found: Embedder, options: dict[str, Any]) -> Embedder:
    if options:
        raise InputError(f"{', '.join(sorted(options))}: options are for models that are opened by name or folder; {found.name!r} is ready")
    return found
