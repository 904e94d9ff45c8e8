"""Chinese words by statistical models: THULAC, pkuseg, LTP and HanLP, each an optional dependency.

A model is loaded at the first call and kept. Calls take turns, because none of the four promises to be thread-safe.
White space separates whatever the model thinks, and lone surrogates are shown to a model as U+FFFD.

=========  ========================  ============================================  =====================================
THULAC     ``thulac``                carries its model; 3.5 s and 800 MB to load   whole lines
pkuseg     ``pkuseg``                fetches its model to ``~/.pkuseg`` at once    runs without white space
           ``pkuseg:DIRECTORY``      a model you have: ``features.msgpack`` and
                                     ``weights.npz``; a pickle is refused
LTP        ``ltp:DIRECTORY``         a model you have, with its ``config.json``    runs of at most 500 code points
HanLP      ``hanlp:DIRECTORY``       a tokenizer you have, with ``config.json``    runs of at most 500 code points
=========  ========================  ============================================  =====================================

The last column is what the model sees at a time: LTP and HanLP silently ignore what exceeds 512 subwords, and HanLP
joins words across white space. Longer input is cut after punctuation where there is any.

LTP 4.2.14 and HanLP 2.1.5 work with transformers 4 (tried: 4.54.1), not yet with 5.

LTP and HanLP compute with floating-point networks: on another processor, or with another release of torch, a close
decision may fall otherwise. Their results are not promised to be the same everywhere.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from lookalike.errors import FetchError, InputError, MissingExtra
from lookalike.io import digest_of_files
from lookalike.model import Span
from lookalike.text.segment import WHITE_SPACE, Segmenter, check_text, installed, locate
from lookalike.text.word_lists import Stamp, file_stamp

CutBatch = Callable[[Sequence[str]], Iterable[Sequence[str]]]

_LINE = re.compile("[^\n]+")
_RUN = re.compile(f"[^{WHITE_SPACE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STOPS = "。！？；，、!?;, "  # Chinese punctuation is meant
_LONGEST_LINE = 10_000  # THULAC's own buffers end at 50,000
_LONGEST_RUN = 500  # a code point is at most one subword, and 512 are seen with the two marks around them
_BATCH = 32

_DISTRIBUTIONS = {"pkuseg": "spacy-pkuseg", "ltp": "ltp", "hanlp": "hanlp"}
_MODEL_FILES = {"pkuseg": ("features.msgpack", "weights.npz"), "ltp": ("config.json",), "hanlp": ("config.json",)}
_PKUSEG_MODEL = "spacy_ontonotes"

_turn = threading.RLock()


def thulac_spans(text: str) -> list[Span]:
    return _segment(text, "thulac", _LINE, _LONGEST_LINE, _thulac)


def pkuseg_spans(text: str) -> list[Span]:
    return _segment(text, "pkuseg", _RUN, _LONGEST_LINE, _default_pkuseg)


def load(scheme: str, argument: str) -> Segmenter:
    """The segmenter ``scheme:argument``, the argument being the directory of a model."""
    longest = _LONGEST_LINE if scheme == "pkuseg" else _LONGEST_RUN

    def spans(text: str) -> list[Span]:
        return _segment(text, f"{scheme}:{argument}", _RUN, longest, lambda: _model(scheme, argument, _files(scheme, argument)))

    return spans


def version(scheme: str, argument: str) -> str:
    """Our revision, the library's version, and the digest of the files of the model."""
    return f"1-{installed(_DISTRIBUTIONS[scheme], scheme)}-{_digest(argument, _files(scheme, argument))}"


def _segment(text: str, name: str, pattern: re.Pattern[str], longest: int, model: Callable[[], CutBatch]) -> list[Span]:
    text = _SURROGATE.sub("\ufffd", check_text(text))
    pieces = list(_pieces(text, pattern, longest))
    spans: list[Span] = []
    for first in range(0, len(pieces), _BATCH):
        batch = pieces[first : first + _BATCH]
        with _turn:
            cut = model()([text[start:end] for start, end in batch])
        for (start, end), words in zip(batch, cut, strict=True):
            for left, right in locate(text[start:end], words, name):
                spans += [run.span() for run in _RUN.finditer(text, start + left, start + right)]
    return spans


def _pieces(text: str, pattern: re.Pattern[str], longest: int) -> Iterator[Span]:
    for match in pattern.finditer(text):
        start, end = match.span()
        while end - start > longest:
            limit = start + longest
            cut = 1 + max(text.rfind(stop, start, limit) for stop in _STOPS) or limit
            yield start, cut
            start = cut
        yield start, end


@functools.cache
def _thulac() -> CutBatch:
    thulac = _import("thulac", "thulac")
    with _without_print(_import("thulac.character.CBTaggingDecoder", "thulac")):
        model = thulac.thulac(seg_only=True)
    # cut() of a whole text takes quadratic time; cutline() is what it calls for each line.
    return lambda lines: [list(model.cutline(line)) for line in lines]


@functools.cache
def _default_pkuseg() -> CutBatch:
    library = _import("spacy_pkuseg", "pkuseg")
    config = library.config
    directory = Path(config.pkuseg_home, _PKUSEG_MODEL)
    if not _has_files("pkuseg", directory):
        _fetch_pkuseg(config.model_urls[_PKUSEG_MODEL], config.model_hash[_PKUSEG_MODEL], Path(config.pkuseg_home))
    return _load_pkuseg(directory)


def _fetch_pkuseg(url: str, digest: str, home: Path) -> None:
    remedy = f"download {url} yourself and unzip it to {home / _PKUSEG_MODEL}, or name a model directory: 'pkuseg:DIRECTORY'"
    try:
        _import("spacy_pkuseg.download", "pkuseg").download_model(url, str(home), digest, progress=False)
    except Exception as error:  # the network, a proxy's answer, the disk, the digest, the archive
        raise FetchError(f"segmenter 'pkuseg': its model could not be fetched ({error}); {remedy}") from error
    if not _has_files("pkuseg", home / _PKUSEG_MODEL):
        raise FetchError(f"segmenter 'pkuseg': {home / _PKUSEG_MODEL} lacks {' or '.join(_MODEL_FILES['pkuseg'])}; {remedy}")


@functools.lru_cache(maxsize=4)
def _model(scheme: str, directory: str, _stamps: tuple[tuple[str, Stamp], ...]) -> CutBatch:
    try:
        model = _LOADERS[scheme](Path(directory))
        list(model(["一"]))  # a model without words, or made for another release, must fail here and not later
        return model
    except MissingExtra:
        raise
    except Exception as error:  # whatever a library makes of files it cannot read
        raise InputError(f"segmenter '{scheme}:{directory}': the model could not be loaded: {error}") from error


def _load_pkuseg(directory: Path) -> CutBatch:
    model = _import("spacy_pkuseg", "pkuseg").pkuseg(str(directory))
    return lambda runs: [model.cut(run) for run in runs]


def _load_ltp(directory: Path) -> CutBatch:
    ltp = _import("ltp", "ltp")
    with _without_print(_import("ltp.nerual", "ltp")), _without_print(_import("ltp.legacy", "ltp")):
        model = ltp.LTP(str(directory))

    def cut(runs: Sequence[str]) -> Iterable[Sequence[str]]:
        words: Iterable[Sequence[str]] = model.pipeline(list(runs), tasks=["cws"]).cws
        return words

    return cut


def _load_hanlp(directory: Path) -> CutBatch:
    model = _import("hanlp", "hanlp").load(str(directory), verbose=False)

    def cut(runs: Sequence[str]) -> Iterable[Sequence[str]]:
        words: Any = model(list(runs))
        if isinstance(words, dict):  # a model of many tasks answers with a document of them all
            words = next(found for task, found in words.items() if task.startswith("tok"))
        result: Iterable[Sequence[str]] = words
        return result

    return cut


_LOADERS: dict[str, Callable[[Path], CutBatch]] = {"pkuseg": _load_pkuseg, "ltp": _load_ltp, "hanlp": _load_hanlp}


def _import(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{MissingExtra.for_extra(f'segmenter {extra!r}', extra)} ({error})") from error


@contextlib.contextmanager
def _without_print(module: ModuleType) -> Iterator[None]:
    """A library that prints while it loads, silenced without touching the stdout of other threads."""
    module.__dict__["print"] = lambda *_args, **_keywords: None
    try:
        yield
    finally:
        del module.__dict__["print"]


def _has_files(scheme: str, directory: Path) -> bool:
    return all((directory / name).is_file() for name in _MODEL_FILES[scheme])


def _files(scheme: str, directory: str) -> tuple[tuple[str, Stamp], ...]:
    """The files of a model, and what changes when one is replaced."""
    if "\0" in directory or not _has_files(scheme, Path(directory)):
        wanted = " and ".join(_MODEL_FILES[scheme])
        raise InputError(f"segmenter '{scheme}:{directory}': expected a directory with {wanted}")
    found = (Path(folder, name) for folder, _, names in os.walk(directory) for name in names)
    return tuple(sorted((path.relative_to(directory).as_posix(), file_stamp(path)) for path in found))


@functools.lru_cache(maxsize=16)
def _digest(directory: str, stamps: tuple[tuple[str, Stamp], ...]) -> str:
    return digest_of_files(Path(directory), (name for name, _ in stamps))
