"""The threshold of labelled pairs, against trying every one; and the doubts that a score does not see."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import lookalike as la
from lookalike.comparison.calibration import _auc, _best, _wilson
from lookalike.errors import InputError

SCORES = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0]), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


def at(rows: list[tuple[float, bool]], threshold: float) -> tuple[float, float]:
    taken = [label for value, label in rows if value >= threshold]
    return (sum(taken) / len(taken) if taken else 0.0), sum(taken) / sum(label for _, label in rows)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(SCORES)
def test_no_threshold_has_a_better_f1(rows: list[tuple[float, bool]]) -> None:
    values, labels = np.array([value for value, _ in rows]), np.array([label for _, label in rows])
    found = _best(values, labels, None)
    assert at(rows, found.threshold) == pytest.approx((found.precision, found.recall))
    assert f1(found.precision, found.recall) >= max(f1(*at(rows, value)) for value in values) - 1e-12


@given(SCORES, st.sampled_from([0.5, 0.8, 1.0]))
def test_the_lowest_threshold_of_a_precision(rows: list[tuple[float, bool]], wanted: float) -> None:
    values, labels = np.array([value for value, _ in rows]), np.array([label for _, label in rows])
    found = _best(values, labels, wanted)
    reached = [value for value in values if at(rows, value)[0] >= wanted]
    if reached:
        assert found.precision >= wanted
        assert at(rows, min(reached)) == pytest.approx((found.precision, found.recall))
    else:
        assert found.precision == pytest.approx(max(at(rows, value)[0] for value in values))


@given(SCORES)
def test_auc_is_that_of_scikit_learn(rows: list[tuple[float, bool]]) -> None:
    values, labels = np.array([value for value, _ in rows]), np.array([label for _, label in rows])
    assert _auc(values, labels) == pytest.approx(roc_auc_score(labels, values))


def test_wilson() -> None:
    assert _wilson(8, 10) == pytest.approx((0.4901624, 0.9433178), abs=1e-6)  # published: Wilson (1927), 8 of 10
    assert _wilson(0, 0) == (0.0, 1.0)
    assert _wilson(5, 5)[1] == 1.0


def made(count: int = 60) -> list[tuple[str, str, int]]:
    chance = random.Random(1)
    words = [f"w{number}" for number in range(400)]
    pairs = []
    for number in range(count):
        text = chance.sample(words, 30)
        keep = 27 if number % 2 else 12
        other = text[:keep] + chance.sample(words, 30 - keep)
        pairs.append((" ".join(text), " ".join(other), number % 2))
    return pairs


def test_a_threshold_between_light_and_heavy_edits() -> None:
    found = la.calibrate(made())
    assert (found.precision, found.recall, found.f1, found.auc) == (1.0, 1.0, 1.0, 1.0)
    assert 0.3 < found.threshold < 0.95
    assert found.threshold_interval[0] <= found.threshold <= found.threshold_interval[1]
    assert found.held_out == {"precision": 1.0, "recall": 1.0}
    assert found.precision_interval[0] < 1.0
    assert (found.pairs, found.positives, found.measure) == (60, 30, "score")
    assert la.calibrate(made()) == found


def test_measures_grades_and_columns() -> None:
    rows = [{"x": left, "y": right, "grade": 4 if label else 1} for left, right, label in made()]
    columns = {"left_column": "x", "right_column": "y", "label_column": "grade"}
    found = la.calibrate(rows, measure="jaccard", positive=3, **columns)
    assert (found.measure, found.auc) == ("jaccard", 1.0)
    with pytest.raises(InputError, match="positive="):
        la.calibrate(rows, **columns)
    with pytest.raises(InputError, match="has no 'a'"):
        la.calibrate(rows, positive=3)
    with pytest.raises(la.errors.UnknownName):
        la.calibrate(made(), measure="nothing")


@pytest.mark.parametrize(
    "wrong", [[], [("a", "b", 1)], [("a", "b")], [("a", 1, 0)], [("a", "b", "perhaps")], [("a", "b", None)], "missing.jsonl", 5]
)
def test_wrong_pairs_are_refused(wrong: object) -> None:
    with pytest.raises((InputError, OSError)):
        la.calibrate(wrong)  # type: ignore[arg-type]


def test_files_and_the_command_line(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"a": left, "b": right, "label": bool(label)}) + "\n" for left, right, label in made())
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines, encoding="utf-8")
    assert la.calibrate(path) == la.calibrate(made()) == la.calibrate(io.BytesIO(lines.encode()))
    command = [sys.executable, "-m", "lookalike", "calibrate"]
    done = subprocess.run([*command, "-", "--json"], input=lines, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == la.calibrate(path).to_dict()
    shown = subprocess.run([*command, str(path), "--precision", "0.9"], capture_output=True, text=True, check=True).stdout
    assert "from 60 pairs, 30 alike" in shown
    wrong = subprocess.run([*command, str(path), "--label-column", "x"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "'x'" in wrong.stderr
