"""Records: what they compare to, what they refuse, and that they come back the same."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from collections.abc import Callable, Iterator
from datetime import time
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_prints as reference
from lookalike.errors import InputError, RecipeMismatch, UnknownName
from lookalike.fingerprints import canonical
from lookalike.fingerprints.base import Fingerprint, pack
from lookalike.fingerprints.field_measures import field_measures
from lookalike.fingerprints.record import Part, RecordPrint, record, records

INVOICE = {
    "domain_pred_res": "增值税发票",
    "domain_pred_match_num": 0.9,
    "words": {"北京", "增值税", "发票"},
    "file_key_word": {"amount": ["100.00"], "buyer": ["甲公司", "乙公司"]},
}
OTHER = {
    "domain_pred_res": "增值税普通发票",
    "domain_pred_match_num": 0.6,
    "words": {"福建", "增值税", "发票"},
    "file_key_word": {"amount": ["100.00"], "seller": ["丙公司"]},
}

characters = st.characters(exclude_categories=[])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(characters, max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.sets(scalars, max_size=4), st.dictionaries(st.text("abC", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abC", max_size=2), values, max_size=4)


@pytest.fixture
def registered() -> Iterator[None]:
    before = dict(field_measures._entries)
    yield
    field_measures._entries.clear()
    field_measures._entries.update(before)


def test_the_four_kinds_of_field() -> None:
    parts = record(INVOICE).parts(record(OTHER))
    assert list(parts) == sorted(INVOICE)
    assert parts["domain_pred_res"] == Part(2 * 5 / (5 + 7), 1.0, "ratio")
    assert parts["domain_pred_match_num"].measure == "number"
    assert parts["domain_pred_match_num"].similarity == pytest.approx(2 / 3)
    assert parts["words"] == Part(2 / 4, 1.0, "jaccard")
    assert parts["file_key_word"] == Part(1 / 3, 1.0, "schema")  # amount 1, buyer and seller 0
    expected = (10 / 12 + 2 / 3 + 1 / 2 + 1 / 3) / 4
    assert record(INVOICE).similarity(record(OTHER)) == pytest.approx(expected)
    assert record(INVOICE).distance(record(OTHER)) == pytest.approx(1 - expected)


def test_weights() -> None:
    weights = {"words": 3, "domain_pred_match_num": 0, "file_key_word": 0.5, "unused": 7}
    left, right = record(INVOICE, weights=weights), record(OTHER, weights=weights)
    parts = left.parts(right)
    assert {name: part.weight for name, part in parts.items()} == {"domain_pred_res": 1.0, "file_key_word": 0.5, "words": 3.0}
    assert left.similarity(right) == pytest.approx((10 / 12 + 0.5 / 3 + 3 / 2) / 4.5)


def test_measures() -> None:
    measures = {"domain_pred_res": "exact", "words": "containment"}
    left, right = record(INVOICE, measures=measures), record(dict(OTHER, words={"增值税", "发票", "北京", "上海"}), measures=measures)
    assert left.parts(right)["domain_pred_res"] == Part(0.0, 1.0, "exact")
    assert left.parts(right)["words"] == Part(1.0, 1.0, "containment")
    assert right.parts(left)["words"] == Part(0.75, 1.0, "containment")


def test_a_missing_field_scores_nothing() -> None:
    left, right = record({"a": 1, "b": 2}), record({"b": 2, "c": 3})
    assert left.parts(right) == {"a": Part(0.0, 1.0, "missing"), "b": Part(1.0, 1.0, "number"), "c": Part(0.0, 1.0, "missing")}
    assert left.similarity(right) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("\uff21\uff22\uff23", "abc", 1.0),  # full width and case
        ("Straße", "STRASSE", 1.0),
        ("", "", 1.0),
        ("", "a", 0.0),
        (0, 0.0, 1.0),
        (0, 5, 0.0),
        (-1, 1, 0.0),
        (-0.0, 0, 1.0),
        (1e308, -1e308, 0.0),
        (2**1022, 1e-300, 0.0),
        (0, 5e-10, 0.5),  # below the smallest scale differences are absolute
        (True, 1, 0.0),
        (True, True, 1.0),
        (None, None, 1.0),
        (None, 0, 0.0),
        (None, "", 0.0),
        ("1", 1, 0.0),
        ([], [], 1.0),
        ([], [1], 0.0),
        ([1, True, "1", None], [1.0, "1"], 0.5),
        (["A", "a", "\uff41"], ["a"], 1.0),
        ([[1, 2], {"a": 1}], [{"a": 1}], 0.5),
        ({}, {}, 1.0),
        ({"a": None}, {"b": None}, 0.0),
        ({"a": {"b": "x"}}, {"a": {"b": "x", "c": "y"}}, 0.5),
        (["a"], "a", 0.0),
        ("\ud800", "\ud800", 1.0),
    ],
)
def test_default_measures(left: Any, right: Any, expected: float) -> None:
    one, other = record({"field": left}), record({"field": right})
    assert one.similarity(other) == other.similarity(one) == pytest.approx(expected)


@settings(deadline=None)
@given(objects, objects)
def test_reference(left: dict[str, Any], right: dict[str, Any]) -> None:
    one, other = record(left), record(right)
    score = one.similarity(other)
    assert score == pytest.approx(reference.similar(one.data, other.data), abs=1e-12)
    assert score == other.similarity(one)
    assert 0 <= score <= 1
    assert one.similarity(record(left)) == 1.0


@settings(deadline=None)
@given(objects, st.randoms(use_true_random=False))
def test_order_does_not_matter(data: dict[str, Any], random: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = [(key, shuffled(item)) for key, item in value.items()]
            random.shuffle(pairs)
            return MappingProxyType(dict(pairs))
        if isinstance(value, set):
            elements = list(value)
            random.shuffle(elements)
            return frozenset(elements)
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert record(shuffled(data)) == record(data)
    assert record(shuffled(data)).value == record(data).value


@settings(deadline=None)
@given(objects, objects)
def test_round_trips(data: dict[str, Any], other: dict[str, Any]) -> None:
    made = record(data, weights={"a": 2.5, "b": 0.25}, measures={"C": "exact"})
    assert isinstance(made, Fingerprint)
    for copy in (
        RecordPrint.from_dict(made.to_dict()),
        RecordPrint.from_dict(json.loads(json.dumps(made.to_dict()))),
        RecordPrint.from_bytes(made.to_bytes()),
        pickle.loads(pickle.dumps(made)),
        record(made.data, weights=dict(made.weights), measures=dict(made.measures)),
    ):
        assert copy == made
        assert hash(copy) == hash(made)
        assert (copy.value, copy.recipe, copy.to_bytes()) == (made.value, made.recipe, made.to_bytes())
    assert (made.value == record(other).value) == (made.canonical == record(other).canonical)


def test_value_is_the_digest_of_the_canonical_json() -> None:
    made = record({"b": {"z", "a"}, "a": 1.0, "ü": (True, None, 1.5)})
    assert made.canonical == r'{"a":1,"b":["a","z"],"\u00fc":[true,null,1.5]}'
    assert made.value == hashlib.sha256(made.canonical.encode()).hexdigest()


def test_data_is_a_copy() -> None:
    made = record({"a": [1]})
    made.data["a"].append(2)
    made.to_dict()["data"]["a"].append(2)
    assert made.data == {"a": [1]}
    assert made.similarity(record({"a": [1]})) == 1.0


def test_a_surrogate_pair_is_its_character() -> None:
    assert record({"\ud83d\ude00": "\ud83d\ude00"}) == record({"\U0001f600": "\U0001f600"})
    with pytest.raises(InputError, match="two keys are the same text"):
        record({"\ud83d\ude00": 1, "\U0001f600": 2})


def test_recipes() -> None:
    plain = record(INVOICE)
    assert plain.recipe == record({}).recipe
    digest = hashlib.sha256(b'{"measures":{},"version":1,"weights":{}}').hexdigest()
    assert plain.recipe == f"record.{digest[:12]}" == "record.c6f9db8116c0"
    assert record(INVOICE, weights={"words": 1}).recipe == plain.recipe  # the weight it has anyway
    assert record(INVOICE, weights={"words": 2, "a": 3}).recipe == record({}, weights={"a": 3.0, "words": 2.0}).recipe
    different = [record(INVOICE, weights={"words": 2}), record(INVOICE, weights={"words": 3}), record(INVOICE, measures={"words": "exact"})]
    assert len({made.recipe for made in [plain, *different]}) == 4
    for other in different:
        for compare in (plain.similarity, plain.distance, plain.parts):
            with pytest.raises(RecipeMismatch):
                compare(other)
    with pytest.raises(InputError, match="cannot compare a RecordPrint with a dict"):
        plain.similarity(INVOICE)  # type: ignore[arg-type]


def test_empty_records() -> None:
    assert record({}).similarity(record({})) == 1.0
    assert record({}).similarity(record({"a": 1})) == 0.0


def test_nothing_to_compare() -> None:
    weights = {"id": 0}
    with pytest.raises(InputError, match="every field has weight 0"):
        record({"id": 1}, weights=weights).similarity(record({"id": 2}, weights=weights))


@pytest.mark.usefixtures("registered")
def test_a_measure_of_ones_own() -> None:
    field_measures.register("same-initial", lambda left, right: float(left[:1] == right[:1]), version="3")
    measures = {"name": "same-initial"}
    left, right = record({"name": "Ada"}, measures=measures), record({"name": "Alan"}, measures=measures)
    assert left.parts(right) == {"name": Part(1.0, 1.0, "same-initial")}
    stored = left.to_dict()
    field_measures.register("same-initial", lambda left, right: 0.0, version="4")
    with pytest.raises(RecipeMismatch, match="make it anew"):
        RecordPrint.from_dict(stored)


@pytest.mark.usefixtures("registered")
def test_registering_a_default_anew_changes_no_record_without_it() -> None:
    left, right = record({"a": "x"}), record({"a": "y"})
    field_measures.register("ratio", lambda left, right: 1.0, version="2")
    assert left.similarity(right) == 0.0


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("score", [1.5, -0.1, math.nan, "1", None])
def test_a_measure_must_give_a_score(score: object) -> None:
    field_measures.register("wrong", lambda left, right: score)  # type: ignore[arg-type,return-value]
    with pytest.raises(InputError, match="'name': measure 'wrong' gave"):
        record({"name": 1}, measures={"name": "wrong"})


@pytest.mark.parametrize(
    ("measure", "value", "wanted"),
    [
        ("ratio", 1, "a string, not int"),
        ("number", "1", "a number, not str"),
        ("number", True, "a number, not bool"),
        ("jaccard", "abc", "a list or a set, not str"),
        ("containment", {"a": 1}, "a list or a set, not dict"),
        ("schema", [1], "an object, not list"),
    ],
)
def test_a_measure_that_cannot_take_the_value(measure: str, value: object, wanted: str) -> None:
    with pytest.raises(InputError, match=f"record field 'f': measure '{measure}' needs {wanted}"):
        record({"f": value}, measures={"f": measure})
    assert record({"f": None}, measures={"f": measure}).similarity(record({"f": None}, measures={"f": measure})) == 1.0


def _cycle() -> dict[str, Any]:
    data: dict[str, Any] = {"a": {"b": []}}
    data["a"]["b"].append(data["a"])
    return data


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"file_key_word": {"amount": [1, 2, 3, math.nan]}}, r"'file_key_word\.amount\[3\]': nan is not a finite number"),
        ({"a": -math.inf}, "'a': -inf is not a finite number"),
        ({1: "a"}, "record: key 1 is of type int"),
        ({"a": {None: 1}}, "'a': key None is of type NoneType"),
        ({"a": time(12, 30)}, "'a': time has no JSON form"),
        ({"a": [b"bytes"]}, r"'a\[0\]': bytes has no JSON form"),
        ({"a": {1 + 2j}}, r"'a\[\*\]': complex has no JSON form"),
        ({"a": 10**400}, "'a': an integer of 1329 bits is too large"),
        (_cycle(), r"'a\.b\[0\]': it contains itself"),
        ({"a": _nested(64)}, "nested more than 64 deep"),
        ("text", "record of type str"),
        (None, "record of type NoneType"),
        ([("a", 1)], "record of type list"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused_data(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        record(data)


def test_shared_parts_that_unfold_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MAX_VALUES", 1000)
    value: list[Any] = [1]
    for _ in range(40):
        value = [value] * 10
    with pytest.raises(InputError, match="the record has more than 1000 values"):
        record({"a": value})


def test_the_depth_that_is_allowed() -> None:
    made = record({"a": _nested(63)})
    assert RecordPrint.from_bytes(made.to_bytes()) == made
    assert made.similarity(made) == 1.0


def test_shared_parts_are_no_cycle() -> None:
    shared = [1]
    assert record({"a": shared, "b": [shared, shared]}).data == {"a": [1], "b": [[1], [1]]}


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf, 1e-10, 1e10, "1", None, True])
def test_refused_weights(weight: object) -> None:
    with pytest.raises(InputError, match="record weight of 'a'"):
        record({}, weights={"a": weight})  # type: ignore[dict-item]


def test_refused_settings() -> None:
    with pytest.raises(InputError, match=r"record weights=\['a'\]: give a mapping"):
        record({}, weights=["a"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="record measures"):
        record({}, measures={1: "exact"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="record measure of 'a' is 3: give a name, one of containment, date, exact"):
        record({}, measures={"a": 3})  # type: ignore[dict-item]
    with pytest.raises(UnknownName, match="did you mean 'jaccard'"):
        record({}, measures={"a": "jacard"})


def test_a_measure_is_never_imported_by_path() -> None:
    with pytest.raises(UnknownName):
        RecordPrint.from_dict({"data": {"a": "x"}, "measures": {"a": "os:system"}, "recipe": "record.000000000000"})


def test_long_strings() -> None:
    left, right = record({"a": "x" * 200_001}), record({"a": "y"})
    with pytest.raises(InputError, match="'a': strings of 200001 and 1 characters are too long for a ratio"):
        left.similarity(right)


def test_a_long_run_of_combining_marks_takes_no_quadratic_time() -> None:
    # 100,000 marks out of order take a minute to normalise as they are.
    text = "a" + "\u0301\u0323" * 50_000
    assert record({"a": [text]}).similarity(record({"a": [text.upper()]})) == 1.0


def test_batches() -> None:
    made = records(iter([INVOICE, OTHER]), weights={"words": 2})
    assert made == [record(INVOICE, weights={"words": 2}), record(OTHER, weights={"words": 2})]
    with pytest.raises(InputError, match="item 1: record field 'a'"):
        records([{}, {"a": math.nan}])
    for items in ({"a": 1}, "text", None):
        with pytest.raises(InputError, match="give a list of records"):
            records(items)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [{"data": None}, {"data": [1]}, {"recipe": 3}, {"value": "00"}, {"weights": [1]}, {"measures": "exact"}, {"data": {"a": math.nan}}],
)
def test_broken_dictionaries(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="record"):
        RecordPrint.from_dict({**record(INVOICE).to_dict(), **change})


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"{", b'{"data":{"a":NaN}}', b'{"data":1}', b"\xff", b'{"data":' * 100_000, b'{"data":[' + b"9" * 5000 + b"]}"],
)
def test_broken_bytes(payload: bytes) -> None:
    with pytest.raises(InputError, match="record"):
        RecordPrint.from_bytes(pack("record", record({}).recipe, payload))


@pytest.mark.parametrize("text", ["", "[]", '{"b":1,"a":2}', '{"a": 1}', '{"a":NaN}', None])
def test_direct_construction_is_checked(text: Any) -> None:
    with pytest.raises(InputError, match=r"canonical JSON|not JSON"):
        RecordPrint(text)


class _Named(str):
    def __str__(self) -> str:
        return "other"


def test_subclasses_count_as_what_they_are() -> None:
    assert canonical.canonical_json({_Named("key"): _Named("content")}) == '{"key":"content"}'


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_that_no_float_holds_are_refused_with_a_message(digits: int) -> None:
    huge = 10**digits
    calls: list[Callable[[], object]] = [
        lambda: la.record({"a": huge}),
        lambda: la.record({"a": 1}, weights={"a": huge}),
        lambda: la.record({huge: 1}),  # type: ignore[dict-item]  # what is tested
        lambda: la.simhash({"a": huge}),
        lambda: la.weighted_minhash({"a": huge}),
        lambda: la.measures.tfidf_cosine.similarity({"a": huge}, {"a": 1}),
        lambda: la.Recipe(ngram=huge),
        lambda: la.Recipe(seed=huge),
        lambda: la.Recipe(version=huge),
    ]
    for call in calls:
        with pytest.raises(la.InputError) as raised:
            call()
        assert len(str(raised.value)) < 250


@pytest.mark.parametrize("data", [[1], None, 5, "abc", {1: 2}])
def test_a_recipe_is_made_of_a_mapping(data: Any) -> None:
    with pytest.raises(la.InputError, match="give a mapping of field names to values"):
        la.Recipe.from_dict(data)
