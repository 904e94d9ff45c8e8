"""Records become features, and features sketches: the kernel against the slow version, and what the sketches promise."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_record as reference
from lookalike.fingerprints.canonical import canonical_json
from lookalike.fingerprints.record_features import record_features, sketch_records

texts = st.one_of(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")).filter(lambda char: ord(char) < 0x3000), max_size=12),
    st.sampled_from(["", " ", "发票", "Invoice", "ＩＮＶＯＩＣＥ", "2024-02-29", "2023-02-29", "2024-03-01T10:00:00Z", "a  b", "\ud800x", "é", "e\u0301"]),
)
numbers = st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0, 1e-10, -3, 0.93]))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
records = st.dictionaries(texts, values, max_size=5)
weightings = st.dictionaries(texts, st.sampled_from([0.0, 0.25, 1.0, 3.0]), max_size=3)


@settings(max_examples=150, deadline=None)
@given(records, weightings)
def test_features_are_those_of_the_reference(data: dict[str, object], weights: dict[str, float]) -> None:
    canonical = json.loads(canonical_json(data))
    expected = reference.record_features(canonical, weights)
    found = record_features(canonical, weights)
    assert list(found) == [each.hash for each in expected]
    assert list(found.values()) == [each.weight for each in expected]
    if found:
        assert math.isclose(math.fsum(found.values()), 1.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(records, min_size=1, max_size=4), st.sampled_from([32, 64, 128]), st.sampled_from([1, 16, 100]), st.integers(1, 3))
def test_sketches_are_those_of_the_reference(items: list[dict[str, object]], bits: int, size: int, workers: int) -> None:
    data = [json.loads(canonical_json(item)) for item in items]
    found = sketch_records(data, {}, bits, size, workers)
    words = np.asarray(found.simhashes).reshape(len(data), -1).tolist()
    values = np.asarray(found.minhashes).reshape(len(data), -1).tolist()
    for item, word, value in zip(data, words, values, strict=True):
        features = reference.record_features(item)
        assert sum(part << 64 * place for place, part in enumerate(word)) == reference.record_simhash(features, bits)
        assert value == reference.record_minhash(features, size)
