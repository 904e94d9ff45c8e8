"""How alike two things are, and why: ``compare(a, b)``.

A ``str`` is text, a ``Path`` is a file, a mapping is a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.comparison import files, texts
from lookalike.comparison.edits import Edits, edits
from lookalike.comparison.score import text_score
from lookalike.errors import InputError
from lookalike.fingerprints.record import Part, record
from lookalike.model import Passage
from lookalike.version import __version__

DEFAULT_THRESHOLD = 0.8


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score in 0 … 1, the measures behind it, and the reasons."""

    score: float
    threshold: float
    kind: str  # text, file or record
    measures: dict[str, float | None]  # None: not computed, see notes
    edits: Edits | None = None
    passages: list[Passage] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)  # of a record
    notes: list[str] = field(default_factory=list)
    signature: dict[str, str] = field(default_factory=dict)

    @property
    def alike(self) -> bool:
        return self.score >= self.threshold

    @property
    def verdict(self) -> str:
        return "alike" if self.alike else "not alike"

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "score": self.score,
            "alike": self.alike,
            "threshold": self.threshold,
            "kind": self.kind,
            "measures": self.measures,
            "edits": self.edits.to_dict() if self.edits else None,
            "passages": [{"left": list(passage.left), "right": list(passage.right)} for passage in self.passages],
            "notes": self.notes,
            "signature": self.signature,
        }
        if self.parts:
            out["parts"] = {
                name: {"similarity": part.similarity, "weight": part.weight, "measure": part.measure} for name, part in self.parts.items()
            }
        return out


def compare(
    left: str | Path | Mapping[str, Any],
    right: str | Path | Mapping[str, Any],
    *,
    measures: Iterable[str] | None = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> Comparison:
    """Compare two texts, two files or two records.

    ``measures`` names the ones to compute (all by default); the score does not depend on it.
    """
    _check_threshold(threshold)
    names = None if measures is None else _check_names(measures)
    if isinstance(left, str) and isinstance(right, str):
        return _compare_texts(left, right, names, threshold)
    if isinstance(left, Path) and isinstance(right, Path):
        return _compare_files(left, right, threshold)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _compare_records(left, right, threshold)
    kinds = f"{type(left).__name__} and {type(right).__name__}"
    raise InputError(f"cannot compare {kinds}: give two str (texts), two Path (files) or two mappings (records)")


def _check_threshold(threshold: float) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise InputError(f"threshold={threshold!r}: choose a number from 0 to 1")


def _check_names(measures: Iterable[str]) -> list[str]:
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r}: give a list of names, such as [{measures!r}]")
    return list(measures)


def _compare_texts(left: str, right: str, names: list[str] | None, threshold: float) -> Comparison:
    pair = texts.TextPair(left, right)
    found, notes = texts.text_measures(pair, names)
    score = text_score(left, right)
    return Comparison(
        score=score.value,
        threshold=threshold,
        kind="text",
        measures=found,
        edits=edits(left, right),
        passages=pair.winnowing[0].passages(pair.winnowing[1]),
        notes=([score.note] if score.note else []) + notes,
        signature={"lookalike": __version__, "score": score.method, "recipe": pair.recipe.id},
    )


def _compare_files(left: Path, right: Path, threshold: float) -> Comparison:
    found, notes = files.file_measures(left, right)
    return Comparison(
        score=files.file_score(found),
        threshold=threshold,
        kind="file",
        measures=found,
        notes=notes,
        signature={"lookalike": __version__, "score": files.SCORE},
    )


def _compare_records(left: Mapping[str, Any], right: Mapping[str, Any], threshold: float) -> Comparison:
    a, b = record(left), record(right)
    parts = a.parts(b)
    return Comparison(
        score=a.similarity(b),
        threshold=threshold,
        kind="record",
        measures={name: part.similarity for name, part in parts.items()},
        parts=parts,
        signature={"lookalike": __version__, "score": a.recipe},
    )
