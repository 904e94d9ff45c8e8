"""MinHash: published values, datasketch as oracle, statistics of the estimate, merge, b-bit and weighted forms."""

from __future__ import annotations

import json
import random
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import Recipe

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))["minhash_128"]
NAMES = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))["file_names"]


def test_published_values() -> None:
    sets = {name: la.minhash(set(values), recipe="datasketch") for name, values in PUBLISHED["sets"].items()}
    for name, sketch in sets.items():
        assert list(sketch.values[:2]) == PUBLISHED["first_values"][name]
    assert sets["x"].similarity(sets["y"]) == PUBLISHED["jaccard_estimate"]["xy"]
    assert la.measures.jaccard.similarity(*map(set, PUBLISHED["sets"].values())) == PUBLISHED["jaccard_exact"]["xy"]


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
def test_published_similarities_of_single_characters(pair: str) -> None:
    left, right = (la.minhash(NAMES[name], recipe="datasketch") for name in pair)
    assert left.similarity(right) == PUBLISHED["single_characters"][pair]
    assert left == la.minhash(set(NAMES[pair[0]]), recipe="datasketch")


def test_worked_example_of_a_permuted_matrix() -> None:
    sample = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))["minhash_worked_example"]
    rows = {element: number for number, element in enumerate(sample["rows"], start=1)}
    for name, members in sample["columns"].items():
        assert min(rows[member] for member in members) == sample["first_row"][name]


@pytest.mark.parametrize("size", [1, 16, 128, 200, 1000])
@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
@pytest.mark.parametrize(("name", "scheme"), [("datasketch", "legacy"), ("datasketch-2", "affine32"), ("datasketch-2", None)])
def test_equals_datasketch(size: int, seed: int, name: str, scheme: str | None) -> None:
    from datasketch import MinHash

    recipe = la.recipes.get(name).replace(seed=seed)
    generator = random.Random(size * seed)
    words = ["apple", "相似", "x", "mixed 文本", "naïve", "0"]
    for _ in range(60):
        elements: set[str | bytes | int] = {
            generator.choice(words) + str(generator.randint(0, 99))
            for _ in range(generator.choice([0, 1, 5, 30, 3000]) if size == 16 else 20)
        }
        elements |= {generator.randint(-5, 10**12), generator.randbytes(9)} if len(elements) > 3 else set()
        oracle = MinHash(num_perm=size, seed=seed, scheme=scheme)
        for element in elements:
            oracle.update(element if isinstance(element, bytes) else str(element).encode())
        found = la.minhash(elements, size=size, recipe=recipe)
        assert list(found.values) == oracle.hashvalues.tolist()
    text = "北京增值税电子普通发票.pdf, naïve"
    bulk = MinHash.bulk([[character.encode() for character in text]], num_perm=size, seed=seed, scheme=scheme)[0]
    assert list(la.minhash(text, size=size, recipe=recipe).values) == bulk.hashvalues.tolist()
    assert la.minhashes([text], size=size, recipe=recipe).tolist() == [bulk.hashvalues.tolist()]


def test_lsh_of_the_published_sets_finds_what_is_published() -> None:
    """Banding with datasketch's own parameters for threshold 0.5 over our reproduced signatures."""
    from datasketch import MinHash, MinHashLSH

    sketches = {name: la.minhash(set(values), recipe="datasketch") for name, values in PUBLISHED["sets"].items()}
    sketches |= {name: la.minhash(text, recipe="datasketch") for name, text in NAMES.items()}
    lsh = MinHashLSH(threshold=PUBLISHED["lsh"]["threshold"], num_perm=128)
    as_datasketch = {
        name: MinHash(num_perm=128, hashvalues=np.array(sketch.values, dtype=np.uint64), scheme="legacy")
        for name, sketch in sketches.items()
    }
    for name in PUBLISHED["lsh"]["stored"]:
        lsh.insert(name, as_datasketch[name])
    assert lsh.query(as_datasketch[PUBLISHED["lsh"]["query"]]) == PUBLISHED["lsh"]["found"]


@pytest.mark.parametrize("features", [1, 2, 5, 20, 100, 1000, 20_000])
@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.8, 0.95])
def test_the_estimate_is_unbiased_and_at_most_binomial(features: int, jaccard: float) -> None:
    """Mean and spread of the estimate over many random pairs of sets with a known Jaccard similarity."""
    size, pairs = 128, 400 if features <= 1000 else 60
    common = round(2 * features * jaccard / (1 + jaccard))
    exact = common / (2 * features - common)
    generator = np.random.default_rng(features * 100 + int(jaccard * 100))
    errors = []
    for _ in range(pairs):
        hashes = generator.integers(0, 2**64, size=2 * features - common, dtype=np.uint64)
        left, right = hashes[:features], np.concatenate([hashes[:common], hashes[features:]])
        a, b = (np.asarray(la._native.minhash_features(side, np.array([0, features]), size, 1)) for side in (left, right))
        errors.append(float((a == b).mean()) - exact)
    ideal = (exact * (1 - exact) / size) ** 0.5
    assert abs(np.mean(errors)) < 4.5 * ideal / pairs**0.5 + 1e-4
    assert np.sqrt(np.mean(np.square(errors))) < ideal * (1 + 3.5 / (2 * pairs) ** 0.5) + 1e-9


def test_merge_is_the_sketch_of_the_union() -> None:
    a, b = {f"a{i}" for i in range(50)} | {"x", "y"}, {f"b{i}" for i in range(7)} | {"x", "y"}
    for recipe in ("default", "datasketch"):
        assert la.minhash(a, recipe=recipe).merge(la.minhash(b, recipe=recipe)) == la.minhash(a | b, recipe=recipe)
    assert la.minhash(a).merge(la.minhash(set())) == la.minhash(a)


def test_empty_sets_are_alike_and_unlike_all_others() -> None:
    empty = la.minhash(set())
    assert empty.values == (2**32 - 1,) * 128
    assert empty.similarity(la.minhash("")) == 1.0
    assert empty.similarity(la.minhash({"a"})) == 0.0


@pytest.mark.parametrize("b", [1, 2, 4, 8, 16])
def test_b_bit_estimates(b: int) -> None:
    common = {f"c{i}" for i in range(600)}
    left, right = (la.minhash(common | {f"{side}{i}" for i in range(200)}, size=1024).compact(b) for side in "lr")
    assert abs(left.similarity(right) - 0.6) < 5 * (0.6 * 0.4 / 1024) ** 0.5 / (1 - 0.5**b)
    assert left.similarity(left) == 1.0
    assert la.BBitMinHash.from_bytes(left.to_bytes()) == left
    assert la.BBitMinHash.from_dict(left.to_dict()) == left
    assert len(left.to_bytes()) < 100 + 1024 * b // 8
    with pytest.raises(la.InputError, match="same b"):
        left.similarity(la.minhash("x", size=1024).compact(2 if b != 2 else 4))


def test_weighted_estimate() -> None:
    generator = random.Random(5)
    left = {f"f{i}": generator.uniform(0.01, 10) for i in range(60)}
    right = {name: weight * generator.choice([1, 1, 0.5, 2]) for name, weight in left.items() if generator.random() < 0.8}
    names = set(left) | set(right)
    exact = sum(min(left.get(n, 0), right.get(n, 0)) for n in names) / sum(max(left.get(n, 0), right.get(n, 0)) for n in names)
    a, b = la.weighted_minhash(left, size=2048), la.weighted_minhash(right, size=2048)
    assert abs(a.similarity(b) - exact) < 4 * (exact * (1 - exact) / 2048) ** 0.5
    assert la.weighted_minhash(dict(reversed(left.items())), size=2048) == a
    assert la.WeightedMinHash.from_bytes(a.to_bytes()) == a


def test_weighted_values_equal_the_reference() -> None:
    features = {"a": 0.5, "b": 3.0, "相": 1e-3}
    hashes = {name: reference.shingle_hashes([reference.token_hash(name.encode())], 1)[0] for name in features}
    ordered = sorted((hashes[name], weight) for name, weight in features.items())
    expected = reference.weighted_minhash([h for h, _ in ordered], [w for _, w in ordered], 32)
    assert list(la.weighted_minhash(features, size=32).values) == expected


def test_elements_of_every_type() -> None:
    assert la.minhash({"a", "b"}) == la.minhash([b"b", b"a", "a"])
    assert la.minhash({1}) != la.minhash({"1"})
    assert la.minhash({-1, 2**200}).similarity(la.minhash({-1, 2**200})) == 1.0
    assert la.minhash({0}) != la.minhash({-1})
    for wrong in ({1.5}, {None}, {True}, {("a",)}, {"a": 1}, 7):
        with pytest.raises(la.InputError):
            la.minhash(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("recipe", ["default", "words", "datasketch", Recipe(tokenizer="jieba", ngram=2)])
def test_batches_equal_single_calls(recipe: str | Recipe) -> None:
    texts = ["one text and another", "", "相似的文本", "a", "\udc80", "x y " * 200] * 2
    single = [list(la.minhash(text, size=32, recipe=recipe).values) for text in texts]
    for workers in (1, 2):
        assert la.minhashes(texts, size=32, recipe=recipe, workers=workers).tolist() == single


@pytest.mark.parametrize("recipe", ["default", "datasketch"])
@given(sets=st.lists(st.sets(st.one_of(st.text(max_size=4), st.binary(max_size=4), st.integers()), max_size=9), min_size=1, max_size=9))
@settings(max_examples=20)
def test_batches_of_sets_equal_single_calls(recipe: str, sets: list[set[str | bytes | int]]) -> None:
    for rows in (sets, [sorted(row, key=repr) for row in sets]):
        found = la.minhashes(rows, size=16, recipe=recipe, workers=2)
        assert [tuple(row) for row in found.tolist()] == [la.minhash(row, size=16, recipe=recipe).values for row in rows]


class OwnString(str):
    """A string to those who compare, and of another class to those who look."""


def reference_feature(element: str | bytes | int) -> int:
    if isinstance(element, int):
        data, tag = element.to_bytes(8 * (element.bit_length() // 64 + 1), "little", signed=True), INTEGER
    else:
        data, tag = element if isinstance(element, bytes) else element.encode("utf-8", "surrogatepass"), 0
    return reference.shingle_hashes([reference.token_hash(data, tag)], 1)[0]


INTEGER = 0x5851F42D4C957F2D
ELEMENTS: st.SearchStrategy[str | bytes | int] = st.one_of(
    st.text(max_size=12),
    st.text("aé相\U0001f600\ud800", max_size=12),
    st.text(max_size=3).map(OwnString),
    st.binary(max_size=12),
    st.integers(-(2**63) - 1, -(2**63) + 1),
    st.integers(2**63 - 1, 2**64),
    st.integers(),
)


@given(rows=st.lists(st.lists(ELEMENTS, max_size=6), min_size=1, max_size=6), at_a_time=st.integers(1, 8))
def test_elements_equal_the_reference(rows: list[list[str | bytes | int]], at_a_time: int) -> None:
    expected = [reference.minhash([reference_feature(element) for element in row], 16) for row in rows]
    with patch("lookalike.text.features.ELEMENTS_AT_A_TIME", at_a_time):
        assert la.minhashes(rows, size=16).tolist() == expected
        assert la.minhashes([tuple(row) for row in rows], size=16).tolist() == expected
        assert la.minhashes([frozenset(row) for row in rows], size=16).tolist() == expected
    assert [list(la.minhash(row, size=16).values) for row in rows] == expected


def test_batches_of_strings_in_sets_hold_nothing_else() -> None:
    sets = [{"a", "b"}, {b"a", "c"}, [], ("b", "b", "\ud800")]
    assert la.minhashes(sets).tolist() == [list(la.minhash(row).values) for row in sets]
    with pytest.raises(la.InputError, match="row 1 is a str: expected a set"):
        la.minhashes([{"a"}, "a"])
    with pytest.raises(la.InputError, match=r"set element 1\.5 is a float"):
        la.minhashes([{"a"}, {1.5}])


def test_any_size() -> None:
    for size in (1, 3, 1000, 65536):
        assert len(la.minhash("some words here", size=size)) == size
    for size in (0, -1, 65537, 1.5, True, None):
        with pytest.raises(la.InputError, match="size="):
            la.minhash("some words", size=size)  # type: ignore[arg-type]


def test_the_grammar_of_fingerprints() -> None:
    one = la.minhash("some words")
    assert la.MinHash.from_dict(one.to_dict()) == one
    assert la.MinHash.from_bytes(one.to_bytes()) == one
    assert one.distance(one) == 0
    with pytest.raises(la.RecipeMismatch):
        one.similarity(la.minhash("some words", size=64))
    with pytest.raises(la.InputError, match="cannot compare"):
        one.similarity(la.weighted_minhash("some words"))  # type: ignore[arg-type]
    with pytest.raises(la.InputError, match="32 bits"):
        la.MinHash((2**32,), "x")
    with pytest.raises(la.InputError, match="multiple of 4"):
        la.MinHash.from_bytes(one.to_bytes()[:-1])
