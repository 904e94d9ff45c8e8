"""SimHash: published values, the `simhash` package as oracle, and the promises of the class."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import Recipe

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))
NAMES = PUBLISHED["file_names"]
PIECES = ["相似", "文本", "the ", "fox", "-", "_", "ABC", "é", "。", " ", "１２", "\n", "ß", "data ", "中国", "ⅷ", "🙂", "naïve "]


def random_text(generator: random.Random, most: int = 60) -> str:
    return "".join(generator.choices(PIECES, k=generator.randint(0, most)))


@pytest.mark.parametrize("name", "abc")
def test_published_values(name: str) -> None:
    assert la.simhash(NAMES[name], recipe="simhash-py").hex == PUBLISHED["simhash_64_md5"]["values"][name]


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
def test_published_similarities(pair: str) -> None:
    left, right = (la.simhash(NAMES[name], recipe="simhash-py") for name in pair)
    assert left.similarity(right) == PUBLISHED["simhash_64_md5"]["similarity"][pair]


def test_worked_example_of_eight_bits() -> None:
    """The seed's three weighted 8-bit hashes, as features of the reference and of a weighted sum."""
    sample = PUBLISHED["simhash_8_worked_example"]
    hashes = [int(bits, 2) for bits in sample["hashes"]]
    assert f"{reference.simhash(hashes, 8, sample['weights']):08b}" == sample["fingerprint"]


def test_equals_the_simhash_package_on_random_texts() -> None:
    from simhash import Simhash

    generator = random.Random(7)
    for _ in range(3000):
        text = random_text(generator)
        assert int(la.simhash(text, recipe="simhash-py")) == Simhash(text).value, text


@pytest.mark.parametrize("bits", [32, 128])
def test_equals_the_simhash_package_at_other_widths(bits: int) -> None:
    from simhash import Simhash

    generator = random.Random(bits)
    for _ in range(200):
        text = random_text(generator)
        assert int(la.simhash(text, bits=bits, recipe="simhash-py")) == Simhash(text, f=bits).value


def test_equals_the_simhash_package_on_tokens_and_weights() -> None:
    from simhash import Simhash

    generator = random.Random(3)
    for _ in range(300):
        tokens = [random_text(generator, 2) for _ in range(generator.randint(1, 20))]
        weighted = {token: generator.randint(1, 9) for token in tokens}
        assert int(la.simhash(tokens, recipe="simhash-py")) == Simhash(tokens).value
        assert int(la.simhash(weighted, recipe="simhash-py")) == Simhash(weighted).value
        assert la.simhash(list(weighted.items()), recipe="simhash-py") == la.simhash(weighted, recipe="simhash-py")


@given(st.text(max_size=200), st.sampled_from(["auto", "words", "chars"]), st.integers(1, 7), st.sampled_from([32, 64, 128]))
@settings(max_examples=150)
def test_equals_the_reference(text: str, tokenizer: str, n: int, bits: int) -> None:
    import unicodedata

    text = "".join(c for c in text if unicodedata.category(c) != "Cn")
    recipe = Recipe(tokenizer=tokenizer, ngram=n, seed=5)
    expected = reference.simhash(reference.text_shingles(text, tokenizer, n, 5), bits)
    assert int(la.simhash(text, bits=bits, recipe=recipe)) == expected


def test_weights_one_counts_every_feature_once() -> None:
    once = Recipe(weights="one", ngram=1)
    assert la.simhash("a b c", recipe=once) == la.simhash("a b b b b b b c c", recipe=once)
    assert la.simhash("a b c", recipe=once.replace(weights="count")) != la.simhash(
        "a b b b b b b c c", recipe=once.replace(weights="count")
    )


def test_tokens_are_what_a_text_of_single_words_has() -> None:
    assert int(la.simhash(["one", "two", "two"])) == int(la.simhash("One two, TWO!", recipe=Recipe(ngram=1)))


@pytest.mark.parametrize("recipe", ["default", "chars", "simhash-py", Recipe(tokenizer="jieba", ngram=2), Recipe(ngram=1, keywords=5)])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_batches_equal_single_calls(recipe: str | Recipe, bits: int) -> None:
    generator = random.Random(1)
    texts = [random_text(generator) for _ in range(40)] + ["", " ", "\ud800 lone"]
    single = [int(la.simhash(text, bits=bits, recipe=recipe)) for text in texts]
    for workers in (1, 2):
        batch = la.simhashes(texts, bits=bits, recipe=recipe, workers=workers)
        found = [int(low) | int(high) << 64 for low, high in batch] if bits == 128 else batch.tolist()
        assert found == single


@pytest.mark.parametrize("recipe", ["default", "simhash-py", Recipe(weights="one")])
@pytest.mark.parametrize("bits", [32, 64, 128])
@given(rows=st.lists(st.lists(st.one_of(st.text(max_size=9), st.tuples(st.text(max_size=2), st.integers(-3, 3))), max_size=6), min_size=1))
def test_batches_of_tokens_equal_single_calls(recipe: str | Recipe, bits: int, rows: list[Any]) -> None:
    for given_rows in (rows, [tuple(row) for row in rows], [frozenset(row) for row in rows]):
        batch = la.simhashes(given_rows, bits=bits, recipe=recipe, workers=2)
        found = [int(low) | int(high) << 64 for low, high in batch] if bits == 128 else batch.tolist()
        assert found == [int(la.simhash(row, bits=bits, recipe=recipe)) for row in given_rows]


def test_batches_of_tokens_equal_the_reference() -> None:
    rows = [["a", "b", "b"], ["相似", "的", "é"], [], ["a" * 30]]
    features = [[reference.shingle_hashes([reference.token_hash(token.encode())], 1)[0] for token in row] for row in rows]
    assert la.simhashes(rows).tolist() == [reference.simhash(each, 64) for each in features]


def test_batches_of_tokens_name_what_is_none() -> None:
    with pytest.raises(la.InputError, match="row 1 is a str: expected a set, or a list, of str, as the first row is"):
        la.simhashes([["a"], "a"])
    for wrong in (b"a", 1, None):
        with pytest.raises(la.InputError, match="expected str"):
            la.simhashes([["a"], [wrong]])


def test_every_kind_of_column() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    texts = ["one text", "另一个文本", "", "x" * 300, "last"] * 3
    expected = la.simhashes(texts)
    assert expected.dtype == np.uint64
    arrow = pa.array(texts)
    columns = [
        arrow,
        pa.array(texts, pa.large_string()),
        pa.chunked_array([texts[:4], texts[4:], []], type=pa.string()),
        pl.Series(texts),
        pd.Series(texts),
        np.array(texts, dtype=object),
        tuple(texts),
    ]
    for column in columns:
        np.testing.assert_array_equal(la.simhashes(column), expected)
    np.testing.assert_array_equal(la.simhashes(arrow[3:8]), expected[3:8])
    assert la.simhashes(pa.array([], pa.string())).shape == (0,)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("one text", "texts is a str"),
        (["fine", None], "row 1 is None"),
        (["fine", 3], "row 1 is 3"),
        (7, "texts is a int"),
        ({"a"}, "texts is a set"),
    ],
)
def test_columns_that_are_none(column: object, message: str) -> None:
    with pytest.raises(la.InputError, match=message):
        la.simhashes(column)


def test_arrow_columns_that_are_no_texts() -> None:
    import pyarrow as pa

    with pytest.raises(la.InputError, match="row 1 of the Arrow array is null"):
        la.simhashes(pa.array(["a", None]))
    with pytest.raises(la.InputError, match="holds int64"):
        la.simhashes(pa.array([1, 2]))


def test_the_grammar_of_fingerprints() -> None:
    one, other = la.simhash("a b c d e f g"), la.simhash("a b c d e f h")
    assert la.SimHash.from_dict(one.to_dict()) == one
    assert la.SimHash.from_bytes(one.to_bytes()) == one
    assert one.distance(one) == 0
    assert one.similarity(other) == 1 - one.distance(other) / 64
    assert one.to_dict() == {"value": one.hex, "bits": 64, "recipe": one.recipe}
    assert isinstance(one, la.Fingerprint)


def test_recipes_do_not_mix() -> None:
    with pytest.raises(la.RecipeMismatch, match="different recipes"):
        la.simhash("a").similarity(la.simhash("a", recipe="chars"))
    with pytest.raises(la.RecipeMismatch):
        la.simhash("a").distance(la.simhash("a", bits=32))
    with pytest.raises(la.InputError, match="SimHash with a MinHash"):
        la.simhash("a").distance(la.minhash("a"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: la.simhash("a", bits=63),
        lambda: la.simhash(3),  # type: ignore[arg-type]
        lambda: la.simhash([("a", float("nan"))]),
        lambda: la.simhash([("a", "b", "c")]),  # type: ignore[list-item]
        lambda: la.simhash("a", recipe="nonsense"),
        lambda: la.simhashes(["a"], workers=0),
        lambda: la.SimHash(1 << 64, 64, "x"),
        lambda: la.SimHash.from_dict({"value": "zz", "bits": 64, "recipe": "x"}),
        lambda: la.SimHash.from_dict({"value": "0x1"}),
        lambda: la.SimHash.from_bytes(b"nonsense"),
        lambda: la.SimHash.from_bytes(la.simhash("a").to_bytes()[:-3]),
        lambda: la.SimHash.from_bytes(la.minhash("a").to_bytes()),
    ],
)
def test_bad_input_is_refused(make: object) -> None:
    with pytest.raises(la.LookalikeError):
        make()  # type: ignore[operator]


def test_blank_texts_have_the_value_zero() -> None:
    assert [int(la.simhash(text)) for text in ("", " \n\t", "\u200b")] == [0, 0, 0]
    assert int(la.simhash("!!!")) != 0
    assert la.simhash("!!!") != la.simhash("???")
