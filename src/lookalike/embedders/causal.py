"""Vectors from a language model that reads from left to right: the mean of its last hidden states.

    model = causal_model("folder/of/codegen_350m_html")      # or a GGUF file, or "hub:alecsharpie/codegen_350m_html"
    model.window_vectors(["<p class='a'>Hello</p>"])[0]       # one row a window of the text

Nothing is fetched unless the name begins with ``hub:``. Encoders such as BERT work too: they have hidden states as well.

Texts are cut into windows of as many tokens as the model can take at once, windows of like length are computed together, and on
several devices if there are several. A vector depends on the windows that it was computed with by rounding alone: ``TOLERANCE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_int
from lookalike.embedders.causal_loading import Loaded, Location, load, locate
from lookalike.embedders.causal_tokens import TokenMaker
from lookalike.embedders.devices import every_device, placed
from lookalike.embedders.texts import checked_texts, plain
from lookalike.errors import InputError
from lookalike.lazy import cached_property

BATCH = 2_048  # tokens, padding included
LARGEST_WINDOW = 2_048  # tokens, where the model does not say what it can take
TOLERANCE = 1e-4  # how far cosines move with the batch, at most; 32-bit floating point

Window = Sequence[int]


def causal_model(
    source: str | Path,
    *,
    window: int | None = None,
    batch: int = BATCH,
    devices: Sequence[str] | None = None,
    workers: int | None = None,
) -> CausalModel:
    """The model in a folder, in a GGUF file, or on the hub (``hub:organisation/name``).

    ``window``: tokens that are read at once, by default as many as the model can take. ``batch``: tokens that are computed
    together. ``devices``: by default all graphics cards, or the processor. ``workers``: processes for a tokenizer that is
    written in Python, by default one per core where it pays.
    """
    for name, value in (("window", window), ("batch", batch), ("workers", workers)):
        if value is not None:
            check_int(name, value, 1, remedy="give a number of 1 or more")
    location = locate(source)
    loaded = load(location)
    most = window or loaded.context or LARGEST_WINDOW
    if loaded.context is not None and most > loaded.context:
        raise InputError(f"window={window}: the model takes at most {loaded.context:,} tokens at once")
    return CausalModel(location, loaded, window=most, batch=batch, devices=devices, workers=workers)


class CausalModel:
    """An embedder that can also give the windows of a text one by one."""

    def __init__(
        self, location: Location, loaded: Loaded, *, window: int, batch: int, devices: Sequence[str] | None, workers: int | None
    ) -> None:
        self._location, self._loaded, self._batch = location, loaded, batch
        self.window = window
        self._tokens = TokenMaker(loaded.tokenizer, location, workers)
        self._replicas = _replicas(loaded.model, devices)

    def __repr__(self) -> str:
        return f"CausalModel({self.name!r}, window={self.window})"

    @property
    def name(self) -> str:
        """Its name on the hub, or the kind of model: a folder may be called anything."""
        return self._location.place if self._location.is_hub else str(self._loaded.model.config.model_type)

    @cached_property
    def version(self) -> str:
        return f"{self._loaded.revision or self._location.digest()}-{self.window}"

    @property
    def dimensions(self) -> int:
        return self._loaded.dimensions

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """One row a text: the mean over all its tokens, whichever windows they were read in. Not of length 1."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        windows = self._windows(texts)
        for row, found, parts in zip(rows, self._encoded(windows), windows, strict=True):
            sizes = np.array([len(part) for part in parts], dtype=np.float32)
            row[:] = sizes @ found / max(1.0, float(sizes.sum()))
        return rows

    def window_vectors(self, texts: Sequence[str], /) -> list[NDArray[np.float32]]:
        """For every text one row a window; a text without tokens has one row of zeros."""
        return self._encoded(self._windows(texts))

    def tokens(self, texts: Sequence[str], /) -> list[list[int]]:
        """The numbers of the tokens of every text, as the model's tokenizer has them."""
        return self._tokens.of([plain(text) for text in checked_texts(texts)])

    def _windows(self, texts: Sequence[str]) -> list[list[Window]]:
        return [[ids[start : start + self.window] for start in range(0, len(ids), self.window)] or [()] for ids in self.tokens(texts)]

    def _encoded(self, windows: Sequence[Sequence[Window]]) -> list[NDArray[np.float32]]:
        every = list(chain.from_iterable(windows))
        pooled = np.zeros((len(every), self.dimensions), dtype=np.float32)
        # Sorted by contents too, so that the batches do not depend on the order of the texts.
        order = sorted((place for place, window in enumerate(every) if window), key=lambda place: (len(every[place]), every[place]))
        batches = list(_batches(order, every, self._batch))
        for places, rows in zip(batches, self._run([[every[place] for place in places] for places in batches]), strict=True):
            pooled[places] = rows
        if not np.isfinite(pooled).all():
            raise InputError(f"model={self._location.source!r}: gives values that are not numbers: the weights are damaged")
        ends = np.cumsum([len(parts) for parts in windows], dtype=np.int64)
        return np.split(pooled, ends[:-1]) if len(windows) else []

    def _run(self, batches: list[list[Window]]) -> list[NDArray[np.float32]]:
        """The batches dealt out to the devices, each of which has a thread: neighbours are of like size."""
        count = len(self._replicas)
        if count == 1:
            return [self._replicas[0](batch) for batch in batches]
        with ThreadPoolExecutor(count) as pool:
            shares = pool.map(lambda number: [self._replicas[number](batch) for batch in batches[number::count]], range(count))
            found = list(shares)
        return [found[place % count][place // count] for place in range(len(batches))]


def _batches(order: Sequence[int], windows: Sequence[Window], most: int) -> Iterator[list[int]]:
    """Places of windows, ascending in length; a batch has at most ``most`` tokens when filled up to the longest, or one window."""
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * len(windows[place]) > most:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


Replica = Callable[[list[Window]], "NDArray[np.float32]"]


def _replicas(model: Any, devices: Sequence[str] | None) -> list[Replica]:
    """The model on every device; a device that is named twice has it once."""
    if devices is None:
        devices = every_device()
    if isinstance(devices, str) or not devices:
        raise InputError(f"devices={devices!r}: give a list of devices, such as ['cuda:0', 'cuda:1'] or ['cpu']")
    models = placed(model, devices, f"devices={list(devices)!r}")
    return [_replica(models[device], device) for device in devices]


def _replica(model: Any, device: str) -> Replica:
    import torch

    def pooled(windows: list[Window]) -> NDArray[np.float32]:
        # Filled up on the right, where a causal model does not look; the mask is for encoders, which look everywhere.
        ids = torch.zeros((len(windows), max(map(len, windows))), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = torch.tensor(window)
            mask[row, : len(window)] = 1
        mask = mask.to(device)
        with torch.inference_mode():
            states = model(input_ids=ids.to(device), attention_mask=mask).last_hidden_state
            states = states.masked_fill(mask.unsqueeze(-1) == 0, 0.0)
            found: NDArray[np.float32] = (states.sum(1) / mask.sum(1, keepdim=True)).float().cpu().numpy()
        return found

    return pooled
