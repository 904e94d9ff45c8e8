"""Where a language model lies, and the loading of it: a folder, a GGUF file, or, if the user says so, the hub.

What can be wrong with a model is said here, before anything is computed: a folder that is none, weights that are damaged or
of another model, a tokenizer that is missing or knows tokens that the model does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.errors import FetchError, InputError, MissingExtra
from lookalike.lazy import cached_property

HUB = "hub:"
EXTRA = "language-model"
# What of a folder decides about vectors; its other files are documentation and other formats.
_DECISIVE = frozenset({".json", ".txt", ".model", ".safetensors", ".bin", ".gguf", ".jinja"})
_NOT_USED = ("pooler.",)  # layers behind the last hidden state, which checkpoints often leave out


@dataclass(frozen=True)
class Location:
    """What ``from_pretrained`` is given."""

    source: str  # as the user wrote it
    place: str  # a folder, or a name on the hub
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_hub(self) -> bool:
        return not self.options.get("local_files_only", False)

    @cached_property
    def files(self) -> list[Path]:
        if self.is_hub:
            return []
        if "gguf_file" in self.options:
            return [Path(self.place) / self.options["gguf_file"]]
        return sorted(file for file in Path(self.place).iterdir() if file.suffix in _DECISIVE and file.is_file())

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Changes when the files do."""
        found = ((str(file.resolve()), file.stat()) for file in self.files)
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)

    def digest(self) -> str:
        """Of the contents of all files that decide about vectors: the same model in another folder has the same."""
        total = hashlib.sha256()
        for file in self.files:
            with file.open("rb") as opened:
                total.update(file.name.encode() + b"\0" + hashlib.file_digest(opened, "sha256").digest())
        return total.hexdigest()[:12]


def locate(source: str | Path) -> Location:
    """Where the model lies: checked before the libraries are imported, which takes seconds."""
    if isinstance(source, str) and source.startswith(HUB):
        name, _, revision = source.removeprefix(HUB).partition("@")
        if not name.strip("/"):
            raise InputError(f"model={source!r}: name a model, such as 'hub:organisation/name' or 'hub:organisation/name@revision'")
        return Location(source, name, {"revision": revision} if revision else {})
    if not isinstance(source, (str, Path)):
        raise InputError(f"model={source!r}: give the folder of a model, a GGUF file, or 'hub:organisation/name'")
    path, shown = Path(source), str(source)
    if path.is_file() and path.suffix == ".gguf":
        return Location(shown, str(path.parent), {"gguf_file": path.name, "local_files_only": True})
    if path.is_file():
        raise InputError(f"model={shown!r}: is a file; give the folder it lies in, or a GGUF file")
    if not path.is_dir():
        raise InputError(f"model={shown!r}: there is no such folder; to fetch a model from the hub, say so: {HUB + shown!r}")
    if not (path / "config.json").is_file():
        raise InputError(f"model={shown!r}: the folder has no config.json; give one that save_pretrained() wrote, or a GGUF file")
    return Location(shown, str(path), {"local_files_only": True})


@dataclass(frozen=True)
class Loaded:
    tokenizer: Any
    model: Any
    context: int | None  # tokens that the model can take at once; None: it does not say
    dimensions: int
    revision: str | None  # of a model of the hub


def load(location: Location) -> Loaded:
    """The tokenizer and the model, in 32-bit floating point."""
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise MissingExtra.for_extra("a language model", EXTRA) from error
    with _quietly():
        with _blamed(location, "the tokenizer"):
            tokenizer = AutoTokenizer.from_pretrained(location.place, **location.options)
        with _blamed(location, "the model"):
            model, report = AutoModel.from_pretrained(location.place, dtype=torch.float32, output_loading_info=True, **location.options)
    _check(location, tokenizer, model, report)
    model.eval()
    model.config.use_cache = False  # the memory of a model that goes on writing; nothing is written here
    revision = getattr(model.config, "_commit_hash", None) if location.is_hub else None
    return Loaded(tokenizer, model, _context(tokenizer, model.config), int(model.config.hidden_size), revision)


def _check(location: Location, tokenizer: Any, model: Any, report: dict[str, Any]) -> None:
    shown = f"model={location.source!r}"
    if getattr(model.config, "is_encoder_decoder", False):
        raise InputError(f"{shown}: is an encoder with a decoder ({model.config.model_type}); give a causal model or an encoder alone")
    if not isinstance(getattr(model.config, "hidden_size", None), int):
        raise InputError(f"{shown} is not a model of text ({model.config.model_type}); give a causal language model or an encoder of text")
    # The library fills what is missing with random numbers and goes on.
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(_NOT_USED))
    if missing:
        raise InputError(f"{shown}: the weights lack {len(missing)} parts ({missing[0]} …): they are incomplete or of another model")
    vocabulary = tokenizer.get_vocab()
    if not vocabulary.keys() - {*tokenizer.all_special_tokens}:  # what the library makes of a folder without a tokenizer
        raise InputError(f"{shown}: the tokenizer knows no tokens; is tokenizer.json missing?")
    known = model.get_input_embeddings().num_embeddings
    if max(vocabulary.values()) >= known:
        raise InputError(f"{shown}: the tokenizer has {len(tokenizer):,} tokens and the model {known:,}: they are not of one model")


def _context(tokenizer: Any, config: Any) -> int | None:
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
    limits.append(tokenizer.model_max_length)  # a huge number, where it was not stated
    stated = [limit for limit in limits if isinstance(limit, int) and 0 < limit < 1 << 24]
    return min(stated) if stated else None


@contextmanager
def _blamed(location: Location, what: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        if "gguf_file" in location.options:
            raise MissingExtra("reading GGUF files needs two more packages: pip install gguf accelerate") from error
        raise MissingExtra(f"model={location.source!r}: {what} needs a package that is not installed: {_first_line(error)}") from error
    # Damaged files make the libraries raise almost anything.
    except Exception as error:
        message = f"model={location.source!r}: {what} cannot be loaded: {_first_line(error)}"
        if location.is_hub:
            raise FetchError(f"{message}; without a network, fetch it elsewhere and give its folder") from error
        raise InputError(f"{message}; is the folder complete?") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the library's bars and reports: what matters in them is checked."""
    from transformers.utils import logging as library_logging

    logging: Any = library_logging  # its types are incomplete
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
