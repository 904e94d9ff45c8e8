"""The threshold of one's own job, from pairs that somebody labelled: ``calibrate(pairs)``.

The threshold is the one with the best F1, or the lowest with a precision that is asked for. Precision and recall have Wilson intervals, and
the threshold the interval of what resampled pairs would have chosen. What was chosen on pairs looks better on them than on others: so
``held_out`` has both for a threshold that was chosen on one half of the pairs and measured on the other, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.checks import check_path, check_share, check_str
from lookalike.comparison.forms import IGNORED_FORMS, FormedPair
from lookalike.comparison.labelled import LabelledPair, labelled_pairs
from lookalike.comparison.read_text import ReadText
from lookalike.comparison.score import score_of
from lookalike.comparison.texts import BY_MODEL, TEXT_MEASURES, TextPair, text_measures
from lookalike.errors import InputError
from lookalike.measures import measures as registered
from lookalike.text.forms import check_forms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.embedders.opening import Model

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

RESAMPLES = 500
Z = 1.959964  # of 95 %
Interval = tuple[float, float]


class _At(NamedTuple):
    """What a threshold gives on some pairs."""

    threshold: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, and what it gives. Intervals are of 95 %."""

    measure: str
    threshold: float
    threshold_interval: Interval
    precision: float
    precision_interval: Interval
    recall: float
    recall_interval: Interval
    f1: float
    auc: float
    held_out: dict[str, float]
    pairs: int
    positives: int
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        found = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def calibrate(
    pairs: str | Path | Iterable[Any],
    *,
    measure: str = "score",
    precision: float | None = None,
    positive: float | None = None,
    left_column: str = "a",
    right_column: str = "b",
    label_column: str = "label",
    ignore_form: Iterable[str] | None = None,
    model: Model = None,
    encoding: str = "utf-8",
) -> Calibration:
    """The threshold that fits labelled pairs best.

    ``pairs`` is a file (JSON lines, CSV or Parquet with the columns ``a``, ``b`` and ``label``), an open binary file, or an iterable of
    such mappings or of (left, right, label). A label is true or false, 1 or 0; of graded labels, ``positive`` is the lowest that counts
    as alike. ``measure`` is "score", the one of ``compare``, or the name of a measure. With ``precision`` the threshold is the lowest that
    reaches it.
    """
    check_str("measure", measure, "the name of a measure, or 'score'")
    if precision is not None:
        check_share("precision", precision)
    forms = check_forms(ignore_form, IGNORED_FORMS)
    columns = tuple(check_str(name, value, "the name of a column") for name, value in _columns(left_column, right_column, label_column))
    source = check_path("pairs", pairs) if isinstance(pairs, str | Path) else pairs
    given = labelled_pairs(source, columns, positive, check_str("encoding", encoding, "the name of an encoding"))
    return _calibrated(_values(given, measure, forms, model), [pair.label for pair in given], measure, precision)


def _columns(left: str, right: str, label: str) -> tuple[tuple[str, str], ...]:
    return ("left_column", left), ("right_column", right), ("label_column", label)


def _values(pairs: list[LabelledPair], measure: str, forms: tuple[str, ...], model: Model) -> list[float]:
    if model is not None and measure not in BY_MODEL:
        raise InputError(f"model={model!r} has nothing to compute: measure={measure!r} needs none")
    if measure != "score" and measure not in TEXT_MEASURES and measure not in BY_MODEL:
        registered.get(measure)  # an unknown name is an error before anything is computed
    found = []
    for number, pair in enumerate(pairs, 1):
        formed = FormedPair(pair.left, pair.right, forms)
        if measure == "score":
            found.append(score_of(ReadText(formed.left), ReadText(formed.right)).value)
            continue
        values, notes = text_measures(TextPair(formed.left, formed.right, for_model=formed.for_models), [measure], model)
        value = values[measure]
        if value is None:
            raise InputError(f"pair {number}: {'; '.join(notes)}")
        found.append(value)
    return found


def _calibrated(scores: list[float], truth: list[bool], measure: str, precision: float | None) -> Calibration:
    import numpy as np

    values, labels = np.array(scores), np.array(truth, dtype=bool)
    chosen = _best(values, labels, precision)
    chance = np.random.default_rng(0)
    rows = (chance.integers(0, len(values), len(values)) for _ in range(RESAMPLES))
    resampled = [_best(values[some], labels[some], precision).threshold for some in rows if 0 < labels[some].sum() < len(some)]
    low, high = np.quantile(resampled, (0.025, 0.975)) if resampled else (chosen.threshold, chosen.threshold)
    above = values >= chosen.threshold
    hits = int((above & labels).sum())
    notes = []
    if precision is not None and chosen.precision < precision:
        notes.append(f"no threshold reaches a precision of {precision:g}: this one comes closest")
    if min(labels.sum(), len(labels) - labels.sum()) < 30:
        notes.append("fewer than 30 pairs on one side: the intervals say how little that proves")
    return Calibration(
        measure=measure,
        threshold=chosen.threshold,
        threshold_interval=(float(low), float(high)),
        precision=chosen.precision,
        precision_interval=_wilson(hits, int(above.sum())),
        recall=chosen.recall,
        recall_interval=_wilson(hits, int(labels.sum())),
        f1=_f1(chosen),
        auc=_auc(values, labels),
        held_out=_held_out(values, labels, precision),
        pairs=len(values),
        positives=int(labels.sum()),
        notes=notes,
    )


def _best(values: Floats, labels: Bools, precision: float | None) -> _At:
    """The threshold with the best F1, or the lowest with the precision; it lies in the middle between two values."""
    import numpy as np

    order = np.argsort(-values, kind="stable")
    ranked, hits = values[order], np.cumsum(labels[order])
    ends = np.flatnonzero(np.append(ranked[:-1] != ranked[1:], True))  # only between different values can a threshold lie
    taken, hits = ends + 1, hits[ends]
    precisions, recalls = hits / taken, hits / max(int(labels.sum()), 1)
    if precision is None:
        at = int(np.argmax(2 * precisions * recalls / np.maximum(precisions + recalls, 1e-12)))
    else:
        enough = np.flatnonzero(precisions >= precision)
        at = int(enough[-1]) if len(enough) else int(np.argmax(precisions))
    lower = ranked[ends[at] + 1] if ends[at] + 1 < len(ranked) else None
    threshold = float(ranked[ends[at]] if lower is None else (ranked[ends[at]] + lower) / 2)
    return _At(threshold, float(precisions[at]), float(recalls[at]))


def _held_out(values: Floats, labels: Bools, precision: float | None) -> dict[str, float]:
    """Chosen on one half, measured on the other, and the other way round."""
    import numpy as np

    half = np.zeros(len(values), dtype=bool)
    for side in (True, False):  # each half has as many of both labels
        half[np.flatnonzero(labels == side)[::2]] = True
    found = []
    for here in (half, ~half):
        if not 0 < labels[here].sum() < here.sum() or not labels[~here].any():
            return {}
        above = values[~here] >= _best(values[here], labels[here], precision).threshold
        hits = (above & labels[~here]).sum()
        found.append((hits / max(above.sum(), 1), hits / labels[~here].sum()))
    return {name: float(np.mean([pair[at] for pair in found])) for at, name in enumerate(("precision", "recall"))}


def _wilson(hits: int, of: int) -> Interval:
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, Z * math.sqrt(hits / of * (1 - hits / of) / of + Z * Z / (4 * of * of))
    middle, scale = share + Z * Z / (2 * of), 1 + Z * Z / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def _f1(at: _At) -> float:
    return 2 * at.precision * at.recall / (at.precision + at.recall) if at.precision + at.recall else 0.0


def _auc(values: Floats, labels: Bools) -> float:
    """The chance that a pair that is alike has a higher value than one that is not; half for equal ones."""
    import numpy as np

    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = ((last - counts + 1 + last) / 2)[inverse]
    hits = int(labels.sum())
    return float((ranks[labels].sum() - hits * (hits + 1) / 2) / (hits * (len(values) - hits)))
