"""Bands and rows: the S-curve, the choice of bands, the keys, and that real sketches follow the curve."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import lookalike as la
import reference
from lookalike import _native
from lookalike.errors import InputError
from lookalike.segments.banding import MAX_BANDS, Banding, choose_banding

PAGE = Path(__file__).parent.parent.parent / "docs" / "choosing-parameters.md"
shares = st.floats(0.001, 1)


@given(st.integers(1, 300), st.integers(1, 40), st.floats(0, 1))
@example(1, 1, 0.0)
@example(65535, 65536, 1.0)
def test_recall_is_the_s_curve(bands: int, rows: int, similarity: float) -> None:
    exact = 1 - (1 - Fraction(similarity) ** rows) ** bands if similarity < 1 else 1
    assert Banding(bands, rows).recall(similarity) == pytest.approx(float(exact), abs=1e-12)


@given(st.integers(1, 300), shares, st.floats(0.01, 0.9999))
def test_the_most_rows_that_are_enough(size: int, threshold: float, recall: float) -> None:
    enough = [rows for rows in range(1, size + 1) if 1 - (1 - threshold**rows) ** (size // rows) >= recall + 1e-9]
    hardly = [rows for rows in range(1, size + 1) if 1 - (1 - threshold**rows) ** (size // rows) >= recall - 1e-9]
    chosen = choose_banding(size, threshold, recall)
    assert max(enough, default=1) <= chosen.rows <= max(hardly, default=1)
    assert chosen.bands == size // chosen.rows


def test_known_choices() -> None:
    assert choose_banding(128, 0.8) == (21, 6)
    assert choose_banding(128, 0.8, recall=0.9) == (16, 8)
    assert choose_banding(128, 1) == (1, 128)
    assert choose_banding(1, 0.5) == (1, 1)
    assert choose_banding(65536, 0.0001) == (MAX_BANDS, 1)


def test_a_sketch_that_is_too_small_says_so() -> None:
    chosen = choose_banding(4, 0.3)
    assert chosen == (4, 1)
    assert chosen.recall(0.3) == pytest.approx(1 - 0.7**4)


@pytest.mark.parametrize("size", [0, -1, 65537, 1.5, True, "128", None])
def test_absurd_sizes(size: object) -> None:
    with pytest.raises(InputError, match="size="):
        choose_banding(size, 0.8)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0, -0.1, 1.1, math.nan, math.inf, True, "0.8", None])
def test_absurd_shares(share: object) -> None:
    with pytest.raises(InputError, match="threshold="):
        choose_banding(128, share)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="recall="):
        choose_banding(128, 0.8, recall=share)  # type: ignore[arg-type]


def test_a_recall_of_one_is_not_to_be_had() -> None:
    with pytest.raises(InputError, match="recall=1"):
        choose_banding(128, 0.8, recall=1)


@pytest.mark.parametrize("similarity", [-0.1, 1.1, math.nan, True, "1", None])
def test_absurd_similarities(similarity: object) -> None:
    with pytest.raises(InputError, match="similarity="):
        Banding(21, 6).recall(similarity)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bands", "rows", "name"), [(0, 6, "bands"), (65536, 6, "bands"), (21, 0, "rows"), (2.5, 6, "bands"), (21, "6", "rows")]
)
def test_absurd_bandings(bands: object, rows: object, name: str) -> None:
    with pytest.raises(InputError, match=f"{name}="):
        Banding(bands, rows).recall(0.5)  # type: ignore[arg-type]


def test_the_table_of_the_documentation() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Bands and rows\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (0\.\d) \| (\d+) \| (\d+) \| (\d\.\d+) \| (\d\.\d+) \|$", section, re.MULTILINE)
    expected = []
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9):
        chosen = choose_banding(128, threshold)
        shown = (f"{chosen.recall(threshold):.4f}", f"{chosen.recall(threshold / 2):.4f}")
        expected.append((str(threshold), str(chosen.bands), str(chosen.rows), *shown))
    assert rows == expected


def candidate_rate(banding: Banding, pairs: int, common: int, alone: int) -> float:
    """How many pairs of made-up sets share a band: `common` features in both, `alone` on each side."""
    generator = np.random.default_rng(common)
    found = 0
    for _ in range(pairs // 500):
        features = generator.integers(0, 2**64, size=(500, common + 2 * alone), dtype=np.uint64)
        left, right = features[:, : common + alone], np.concatenate([features[:, :common], features[:, common + alone :]], axis=1)
        found += int((keys_of_sets(left, banding) == keys_of_sets(right, banding)).any(axis=1).sum())
    return found / pairs


def keys_of_sets(features: NDArray[np.uint64], banding: Banding) -> NDArray[np.uint32]:
    count, size = features.shape
    sketches = _native.minhash_features(features.reshape(-1), np.arange(count + 1, dtype=np.int64) * size, 128, 1)
    return np.asarray(_native.band_keys(sketches, 128, *banding)).reshape(count, banding.bands)


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("part", [0.5, 0.8, 0.9, 1.0])
def test_sketches_follow_the_s_curve(threshold: float, part: float) -> None:
    """On sets of 2000 features the values of a sketch are as good as independent."""
    banding, common = choose_banding(128, threshold), round(1000 * threshold * part) * 2
    expected = banding.recall(common / 2000)
    observed = candidate_rate(banding, 2000, common, (2000 - common) // 2)
    assert abs(observed - expected) <= 4 * math.sqrt(expected * (1 - expected) / 2000)


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
def test_small_sets_find_no_less_at_the_threshold(threshold: float) -> None:
    """A sketch of few features takes them in turns, so its values vary less than independent ones: the curve is steeper."""
    banding, common = choose_banding(128, threshold), round(10 * threshold) * 2
    expected = banding.recall(common / 20)
    observed = candidate_rate(banding, 10_000, common, (20 - common) // 2)
    assert observed >= expected - 4 * math.sqrt(expected * (1 - expected) / 10_000)


def reference_keys(sketch: list[int], bands: int, rows: int) -> list[int]:
    if all(value == reference.EMPTY for value in sketch):
        return [0] * bands
    keys = []
    for band in range(bands):
        state = band
        for value in sketch[band * rows : band * rows + rows]:
            state = reference.mix(((state ^ value) + reference.GOLDEN) & reference.MASK)
        keys.append(state >> 32 or 1)
    return keys


values32 = st.integers(0, 3) | st.integers(0, 2**32 - 1) | st.just(reference.EMPTY)


@given(st.data(), st.integers(1, 12), st.integers(0, 5))
def test_keys(data: st.DataObject, size: int, count: int) -> None:
    rows = data.draw(st.integers(1, size))
    bands = data.draw(st.integers(1, size // rows))
    sketches = [data.draw(st.lists(values32, min_size=size, max_size=size)) for _ in range(count)]
    found = _native.band_keys(np.array(sketches, dtype=np.uint32).reshape(-1), size, bands, rows)
    assert list(found) == [key for sketch in sketches for key in reference_keys(sketch, bands, rows)]


GOLDEN_KEYS = [146079144, 3164865270, 1466288637, 2393187995]
GOLDEN_TEXT_KEYS = [2825265956, 713569249, 4081810192, 2194543805]


def test_keys_never_change() -> None:
    """Stores keep them: these values are for ever."""
    values = np.arange(8, dtype=np.uint32)
    assert reference_keys(list(range(8)), 4, 2) == list(_native.band_keys(values, 8, 4, 2)) == GOLDEN_KEYS
    sketch = np.array(la.minhash("How alike are two texts, and why?").values, dtype=np.uint32)
    assert list(_native.band_keys(sketch, 128, 21, 6))[:4] == GOLDEN_TEXT_KEYS


def test_a_text_that_is_not_empty_never_has_key_0() -> None:
    """The one value whose hash, as the only one of band 0, has no bit in its upper half."""
    value = 2419239980
    assert reference.mix(value + reference.GOLDEN) >> 32 == 0
    assert list(_native.band_keys(np.array([value], dtype=np.uint32), 1, 1, 1)) == [1]


def test_an_empty_text_shares_keys_with_empty_texts_alone() -> None:
    empty = np.array(la.minhash("").values, dtype=np.uint32)
    assert set(_native.band_keys(empty, 128, 128, 1)) == {0}
    hardly = empty.copy()
    hardly[-1] = 7  # beyond the last band, and yet no empty sketch
    assert 0 not in list(_native.band_keys(hardly, 128, 21, 6))


@pytest.mark.parametrize(
    ("size", "bands", "rows"), [(0, 1, 1), (65537, 1, 1), (8, 0, 1), (8, 1, 0), (8, 3, 3), (8, 9, 1), (8, 2**63, 2**63), (7, 1, 1)]
)
def test_absurd_shapes(size: int, bands: int, rows: int) -> None:
    with pytest.raises(ValueError, match=r"size|bands, rows|values"):
        _native.band_keys(np.zeros(8, dtype=np.uint32), size, bands, rows)


@pytest.mark.parametrize(
    "values", [np.zeros(8, dtype=np.int32), np.zeros(8), np.zeros((2, 4), dtype=np.uint32), np.zeros(16, dtype=np.uint32)[::2], [1] * 8]
)
def test_values_of_the_wrong_type(values: object) -> None:
    with pytest.raises(TypeError):
        _native.band_keys(values, 8, 2, 2)
