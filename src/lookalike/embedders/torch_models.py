"""Folders of Hugging Face transformers and of sentence-transformers, computed by torch on the CPU or on GPUs."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lookalike.embedders.base import Embedder
from lookalike.embedders.devices import every_device, placed
from lookalike.embedders.functions import FunctionEmbedder
from lookalike.embedders.pooling import array_pooling
from lookalike.embedders.token_models import BATCH, Compute, TokenEmbedder
from lookalike.embedders.tokenizing import ModelTokenizer
from lookalike.errors import InputError, MissingExtra
from lookalike.system import usable_cores

WINDOW = 512  # tokens, where neither the model nor its tokenizer says
GPU_BATCH = 1 << 14  # tokens
UNLIMITED = 1 << 20  # tokenizers without a limit state a huge one

Devices = str | Sequence[str] | None


def transformer_embedder(
    name: str, version: str, folder: Path, *, pooling: str, window: int | None = None, device: Devices = None
) -> TokenEmbedder:
    """Any encoder of ``transformers``: the last hidden states of its tokens, pooled."""
    transformers, torch = _libraries("transformers", name)
    try:
        with _without_bar(transformers):
            model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # whatever the library makes of files it cannot read
        raise InputError(f"model {str(folder)!r} could not be loaded by transformers: {error}") from error
    pool = array_pooling(pooling)

    def run(model: Any, numbers: Any, mask: Any) -> Any:
        hidden = model(input_ids=numbers, attention_mask=mask).last_hidden_state
        return pool(hidden.float().cpu().numpy(), mask.cpu().numpy())

    most = window or min(_limits(tokenizer, getattr(model, "config", None)), default=WINDOW)
    return _embedder(name, version, tokenizer, _on_devices(torch, model, device, run), most, device=device)


def sentence_embedder(name: str, version: str, folder: Path, *, window: int | None = None, device: Devices = None) -> Embedder:
    """Any model of sentence-transformers, with all its layers and its prompt."""
    library, torch = _libraries("sentence_transformers", name)
    try:
        with _without_bar(importlib.import_module("transformers")):
            model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True).eval()
        tokenizer = model.tokenizer
    except Exception as error:
        raise InputError(f"model {str(folder)!r} could not be loaded by sentence-transformers: {error}") from error
    if not hasattr(model[0], "auto_model") or not callable(tokenizer):
        # No tokens of our own to cut: such models (word vectors, bags of words) have no limit either.
        return FunctionEmbedder(lambda texts: model.encode(texts, batch_size=1, show_progress_bar=False), name, version)

    def run(model: Any, numbers: Any, mask: Any) -> Any:
        return model({"input_ids": numbers, "attention_mask": mask})["sentence_embedding"].float().cpu().numpy()

    most = window or min([model.max_seq_length] if model.max_seq_length else _limits(tokenizer, model[0].auto_model.config), default=WINDOW)
    prompt = (model.prompts or {}).get(model.default_prompt_name or "", "") if hasattr(model, "prompts") else ""
    return _embedder(name, version, tokenizer, _on_devices(torch, model, device, run), most, device=device, prompt=prompt)


def _libraries(module: str, name: str) -> tuple[Any, Any]:
    try:
        return importlib.import_module(module), importlib.import_module("torch")
    except ImportError as error:
        package = module.replace("_", "-")
        raise MissingExtra(f"embedder {name!r} needs torch and {package}: pip install torch {package} ({error})") from error


@contextlib.contextmanager
def _without_bar(transformers: Any) -> Iterator[None]:
    """A library does not draw on the caller's terminal while it loads."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _limits(tokenizer: Any, config: Any) -> list[int]:
    """How many tokens a window may have, by the tokenizer and by the model's positions."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions and "roberta" in getattr(config, "model_type", ""):
        positions -= 2  # its first positions are not used
    stated = [getattr(tokenizer, "model_max_length", None), positions]
    return [limit for limit in stated if isinstance(limit, int) and 0 < limit < UNLIMITED]


def _embedder(
    name: str, version: str, tokenizer: Any, compute: Sequence[Compute], window: int, *, device: Devices, prompt: str = ""
) -> TokenEmbedder:
    def numbers(text: str, with_marks: bool) -> list[int]:
        found: list[int] = tokenizer(text, add_special_tokens=with_marks, verbose=False)["input_ids"]
        return found

    unknown, padding = tokenizer.unk_token_id, tokenizer.pad_token_id
    read = ModelTokenizer(numbers, unknown=unknown, padding=padding if padding is not None else 0)
    on_gpu = any(not one.startswith("cpu") for one in _devices(device))
    return TokenEmbedder(name, version, read, compute, window=window, batch=GPU_BATCH if on_gpu else BATCH, prompt=prompt)


def _devices(device: Devices) -> list[str]:
    """Those that were asked for, or all."""
    return every_device() if device is None else [device] if isinstance(device, str) else list(device)


def _on_devices(torch: Any, model: Any, device: Devices, run: Callable[[Any, Any, Any], Any]) -> list[Compute]:
    """The model once on each device, as a function from arrays to an array; on the CPU as often as there are cores."""

    def computing(model: Any, place: str) -> Compute:
        guard = _one_thread if place.startswith("cpu") else contextlib.nullcontext

        def compute(numbers: Any, mask: Any) -> Any:
            with guard(), torch.inference_mode():
                return run(model, torch.from_numpy(numbers).to(place), torch.from_numpy(mask).to(place))

        return compute

    places = _devices(device)
    models = placed(model, places, f"device={device!r}")
    found = [computing(models[place], place) for place in places]
    return found * usable_cores() if places == ["cpu"] else found


class _OneThread:
    """Torch computes a batch by one thread while anybody is inside: the threads are ours, one per batch, and nobody waits for the others.

    Torch keeps the number by thread, and one for threads to come; the last one out restores the latter.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        import torch

        with self._lock:
            mine = torch.get_num_threads()
            if not self._inside:
                self._before = mine
            self._inside += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                torch.set_num_threads(mine if self._inside else self._before)


_one_thread = _OneThread()
