"""Records become features, and features sketches: the kernel against the slow version, and what the sketches promise."""

from __future__ import annotations

import datetime
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_record as reference
from lookalike.files.model import FileText
from lookalike.fingerprints.canonical import canonical_json
from lookalike.fingerprints.record_features import record_features, sketch_records
from lookalike.profiles.profile import profile_of
from lookalike.profiles.records import as_record
from made_records import blended, made_pairs, made_record

texts = st.one_of(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")).filter(lambda char: ord(char) < 0x3000), max_size=12),
    st.sampled_from(
        [
            "",
            " ",
            "发票",
            "Invoice",
            "ＩＮＶＯＩＣＥ",
            "2024-02-29",
            "2023-02-29",
            "2024-03-01T10:00:00Z",
            "a  b",
            "\ud800x",
            "é",
            "e\u0301",
        ]
    ),
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


def ranks(values: list[float]) -> np.ndarray:
    _, places, counts = np.unique(np.array(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[places]


def rank_correlation(left: list[float], right: list[float]) -> float:
    return float(np.corrcoef(ranks(left), ranks(right))[0, 1])


@pytest.mark.parametrize("seed", [1, 2])
def test_nearer_records_have_nearer_fingerprints(seed: int) -> None:
    pairs = made_pairs(1500, seed)
    left, right = (la.records([pair[side] for pair in pairs], bits=128) for side in (0, 1))
    exact = [one.similarity(two) for one, two in zip(left, right, strict=True)]
    estimated = [one.minhash.similarity(two.minhash) for one, two in zip(left, right, strict=True)]
    assert rank_correlation(exact, estimated) >= 0.97
    for bits, least in ((128, 0.95), (64, 0.92)):
        mask = 2**bits - 1
        near = [-((int(one.simhash) ^ int(two.simhash)) & mask).bit_count() for one, two in zip(left, right, strict=True)]
        assert rank_correlation(exact, [float(each) for each in near]) >= least


def test_nearer_real_records_have_nearer_fingerprints() -> None:
    """Profiles of the documentation, each with one of which more or less was exchanged for what another has: as many of each similarity."""
    pages = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
    real = [as_record(profile_of(FileText(page.name, "markdown", text=page.read_text("utf-8")[:20_000]), None, None, {})) for page in pages]
    chance = random.Random(4)
    pairs: dict[int, list[tuple[la.RecordPrint, la.RecordPrint]]] = {}
    for _ in range(1200):
        one, two = chance.sample(real, 2)
        left, right = la.records([one, blended(one, two, chance.random(), chance)], bits=128)
        inside = pairs.setdefault(int(left.similarity(right) * 12), [])
        if len(inside) < 25:
            inside.append((left, right))
    chosen = [pair for found in pairs.values() if len(found) == 25 for pair in found]
    exact = [left.similarity(right) for left, right in chosen]
    assert min(exact) < 0.3
    assert max(exact) > 0.9
    assert len(chosen) >= 200
    assert rank_correlation(exact, [left.minhash.similarity(right.minhash) for left, right in chosen]) >= 0.95
    assert rank_correlation(exact, [-float(left.simhash.distance(right.simhash)) for left, right in chosen]) >= 0.9


def test_a_little_more_confidence_moves_few_bits() -> None:
    chance = random.Random(3)
    data = [{key: value for key, value in made_record(chance).items() if key not in ("title", "pages")} for _ in range(300)]
    before, after = (la.records([each | {"confidence": confidence} for each in data]) for confidence in (0.93, 0.94))
    moved = [one.simhash.distance(two.simhash) for one, two in zip(before, after, strict=True)]
    assert max(moved) <= 2
    assert sum(moved) / len(moved) < 0.5


def test_a_minhash_estimates_the_weight_in_common() -> None:
    """Without bias: over many pairs, estimates differ from sum(min) / sum(max) of the features no more than chance allows."""
    pairs = made_pairs(400, 5)
    differences = []
    for number, pair in enumerate(pairs):  # names of their own: what is equal in two pairs would not be chosen independently
        prints = [la.record({f"{name} {number}": value for name, value in each.items()}, size=256) for each in pair]
        mine, yours = (record_features(each.data, {}) for each in prints)
        common = math.fsum(min(weight, yours.get(feature, 0.0)) for feature, weight in mine.items())
        differences.append(prints[0].minhash.similarity(prints[1].minhash) - common / (2 - common))
    assert abs(float(np.mean(differences))) < 0.005
    assert float(np.std(differences)) < 0.5 / math.sqrt(256)


def test_the_three_published_file_names_rank_as_they_should() -> None:
    names = ["北京增值税电子普通发票.pdf", "福建增值税电子普通发票.pdf", "福建工程学院计算机学院培养方案.pdf"]
    one, two, three = (la.record({"name": name}) for name in names)
    assert one.minhash.similarity(two.minhash) > 3 * one.minhash.similarity(three.minhash)
    assert one.simhash.distance(two.simhash) < min(one.simhash.distance(three.simhash), two.simhash.distance(three.simhash))


def test_numbers_dates_and_labels_are_near_where_they_should_be() -> None:
    def alike(one: object, two: object) -> float:
        mine, yours = (record_features(json.loads(canonical_json({"x": value})), {}) for value in (one, two))
        return math.fsum(min(weight, yours.get(feature, 0.0)) for feature, weight in mine.items())

    assert 1 > alike(100, 101) > alike(100, 110) > alike(100, 150) > alike(100, 400) > alike(100, -100) == 0
    assert alike(0, 1e-12) == alike(7, 7.0) == 1
    assert alike("2024-02-29", "2024-03-01") > alike("2024-02-29", "2024-09-09") > alike("2024-02-29", "1999-09-09")
    assert alike(datetime.date(2024, 2, 29), "2024-02-29") == 1
    assert alike("Invoice", "ＩＮＶＯＩＣＥ") == 1
    assert alike("invoice", "invoices") > alike("invoice", "contract")
    assert alike({"a": 1, "b": 2}, {"a": 1, "b": [3]}) > alike({"a": 1, "b": 2}, {"c": 1, "d": 2}) == 0
    assert alike(True, 1) == alike(None, False) == alike("", None) == 0
    assert alike([{"sku": "x", "n": 1}], [{"sku": "x", "n": 2}]) > 0


def test_the_fingerprints_of_a_field_are_those_of_a_record_of_that_field() -> None:
    whole = la.record({"name": "Ann", "age": 41, "note": "x"}, weights={"name": 3, "note": 0})
    assert list(whole.fields) == ["age", "name"]
    assert whole.fields["name"].simhash == la.record({"name": "Ann"}).simhash
    assert whole.fields["age"].minhash == la.record({"age": 41}).minhash
    assert la.record({"name": "Ann", "age": 41}, weights={"name": 3}).simhash.value == whole.simhash.value
    with pytest.raises(la.RecipeMismatch):
        whole.simhash.distance(la.record({"name": "Ann"}).simhash)


def test_forms_of_a_fingerprint() -> None:
    one = la.record({"name": "Ann", "words": {"b", "a"}}, weights={"name": 2}, measures={"words": "containment"}, bits=128, size=16)
    assert list(one.to_dict())[:3] == ["simhash", "minhash", "fields"]
    assert one.to_dict()["simhash"] == la.SimHash.from_dict(one.to_dict()["simhash"]).to_dict()
    for again in (la.RecordPrint.from_dict(json.loads(json.dumps(one.to_dict()))), la.RecordPrint.from_bytes(one.to_bytes())):
        assert again == one
        assert again.minhash == one.minhash
        assert len(again.minhash) == 16
        assert again.simhash.bits == 128
    with pytest.raises(la.InputError, match="its simhash is not that of its data"):
        la.RecordPrint.from_dict(one.to_dict() | {"simhash": la.record({"name": "Bob"}, bits=128).simhash.to_dict()})


def test_what_two_records_share() -> None:
    one = la.record({"a": "Über", "words": ["x", "Y", 3], "schema": {"payer": ["Ann"], "sum": ["1"]}, "n": 1, "left": 0, "e": []})
    two = la.record({"a": "ÜBER", "words": ["y", 3, "z"], "schema": {"payer": ["Ann", "Bob"], "sum": ["2"]}, "n": 2, "right": 0, "e": []})
    assert one.shared(two) == {"a": "Über", "e": [], "schema": {"payer": ["Ann"]}, "words": ["Y", 3]}


def test_batches_are_the_same_with_any_number_of_workers() -> None:
    data = [one for one, _ in made_pairs(50, 9)]
    alone = [la.record(each, weights={"title": 2.5}) for each in data]
    for workers in (1, 3):
        assert [each.simhash for each in la.records(data, weights={"title": 2.5}, workers=workers)] == [each.simhash for each in alone]


def test_the_measure_of_dates() -> None:
    one, two = (la.record({"day": day}, measures={"day": "date"}) for day in ("2024-02-29", "2024-03-01T10:00:00Z"))
    assert one.similarity(two) == 1 - 1 / 366
    with pytest.raises(la.InputError, match="is not a date such as"):
        la.record({"day": "2023-02-29"}, measures={"day": "date"})
