"""Models in folders: each kind gives what its own library gives, whatever the batch, and says what is wrong with its files."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
import small_models
from lookalike.embedders.base import Embedder
from lookalike.embedders.opening import embedder_version

pytestmark = pytest.mark.xdist_group("transformers")  # to import them takes a worker a quarter of a minute

SHORT = ["the cat sat on the mat", "a big dog", "tea", "猫 茶", "the small house runs", "green red tea cats running"]
UNKNOWN = "xylophone"
LONG = " ".join(["the cat sat on the big mat"] * 9)
KINDS = ["transformer", "sentences", "onnx", "static"]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_every_kind_is_an_embedder(folder: Path) -> None:
    model: Embedder = la.embedder(folder)
    vectors = model.encode(SHORT)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(SHORT), model.dimensions)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert la.embedder(str(folder)) is model


def test_a_vector_does_not_depend_on_its_company(folder: Path) -> None:
    model = la.embedder(folder)
    chance = random.Random(1)
    texts = [" ".join(chance.choices(small_models.WORDS[:16], k=chance.randint(1, 30))) for _ in range(60)]
    order = chance.sample(range(len(texts)), len(texts))
    together = model.encode(texts)
    assert np.array_equal(together[order], model.encode([texts[place] for place in order]))
    assert np.array_equal(together[:4], np.concatenate([model.encode([text]) for text in texts[:4]]))


def test_texts_without_a_known_word_have_no_direction(folder: Path) -> None:
    vectors, windows = la.embedder(folder).encode_windows(["", " \n", UNKNOWN, "tea \ud800"])
    assert windows == [0, 0, 0, 1]
    assert not vectors[:3].any()
    assert vectors[3].any()


def test_transformers_pools_the_last_hidden_states(transformer: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(transformer), AutoTokenizer.from_pretrained(transformer)
    means, firsts, lasts, largest = [], [], [], []
    for text in SHORT:
        with torch.no_grad():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        means.append(hidden.mean(axis=0))
        firsts.append(hidden[0])
        lasts.append(hidden[-1])
        largest.append(hidden.max(axis=0))
    for pooling, expected in (("mean", means), ("cls", firsts), ("last", lasts), ("max", largest)):
        assert np.abs(la.embedder(transformer, pooling=pooling).encode(SHORT) - unit(np.array(expected))).max() < 1e-5
    assert la.embedder(transformer, pooling="cls").version != la.embedder(transformer).version


def test_sentence_transformers_uses_all_layers(sentences: Path) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(sentences), device="cpu").encode(SHORT)
    model = la.embedder(sentences)
    assert model.dimensions == 6
    assert np.abs(model.encode(SHORT) - expected).max() < 1e-5


def test_the_default_prompt_of_sentence_transformers_comes_first(transformer: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = small_models.save_sentence_transformer(tmp_path / "prompted", transformer, prompt="red tea ")
    expected = SentenceTransformer(str(folder), device="cpu").encode(SHORT)
    assert np.abs(la.embedder(folder).encode(SHORT) - expected).max() < 1e-5


def test_several_devices_give_the_same(transformer: Path) -> None:
    both = la.embedder(transformer, device=("cpu", "cpu"))
    assert np.array_equal(both.encode(SHORT * 5), la.embedder(transformer).encode(SHORT * 5))
    with pytest.raises(la.InputError, match="device='nowhere'"):
        la.embedder(transformer, device="nowhere")


def looked_up(table: np.ndarray, text: str) -> np.ndarray:
    numbers = [small_models.VOCABULARY.index(word) for word in ["[CLS]", *text.split(), "[SEP]"]]
    return table[numbers].mean(axis=0)


def test_onnx_is_computed_and_pooled(onnx: Path, table: np.ndarray) -> None:
    texts = ["the cat", "tea", "a big dog sat on the small mat"]
    expected = unit(np.array([looked_up(table, text) for text in texts]))
    assert np.abs(la.embedder(onnx).encode(texts) - expected).max() < 1e-6
    assert np.array_equal(la.embedder(onnx, threads=3).encode(texts * 9), la.embedder(onnx, threads=1).encode(texts * 9))
    assert np.abs(la.embedder(onnx, pooling="cls").encode(texts) - unit(table[[2, 2, 2]])).max() < 1e-6


def test_long_texts_are_read_in_windows(onnx: Path, table: np.ndarray) -> None:
    vectors, windows = la.embedder(onnx).encode_windows([LONG, "tea"])
    words = LONG.split()
    count = -(-len(words) // (small_models.WINDOW - 2))
    assert windows == [count, 1]
    total = np.zeros(small_models.DIMENSIONS)
    for number in range(count):
        part = words[len(words) * number // count : len(words) * (number + 1) // count]
        window = looked_up(table, " ".join(part))
        total += window / np.linalg.norm(window) * len(part)
    assert np.abs(vectors[0] - total / np.linalg.norm(total)).max() < 1e-6
    narrow = la.embedder(onnx, window=4)
    assert narrow.encode_windows([LONG])[1] == [-(-len(words) // 2)]
    assert narrow.version != la.embedder(onnx).version
    with pytest.raises(la.InputError, match="window of 2 tokens"):
        la.embedder(onnx, window=2)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_static_models_are_those_of_model2vec(tmp_path: Path, weighted: bool) -> None:
    from model2vec import StaticModel

    folder = small_models.save_static(tmp_path / "static", weighted=weighted)
    texts = [*SHORT, LONG, f"tea {UNKNOWN}"]
    assert np.abs(la.embedder(folder).encode(texts) - StaticModel.from_pretrained(folder, force_download=False).encode(texts)).max() < 1e-5


def test_a_folder_is_known_by_its_files_and_not_by_its_place(folder: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    assert embedder_version(str(copied)) == embedder_version(str(folder))
    assert la.Recipe(embedder=str(copied)).id == la.Recipe(embedder=str(folder)).id
    with open(copied / "tokenizer_config.json", "a", encoding="utf-8") as file:
        file.write("\n")
    assert embedder_version(str(copied)) != embedder_version(str(folder))


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    one, two = (small_models.save_static(tmp_path / str(seed), seed=seed) for seed in (1, 2))
    before = la.Recipe(embedder=str(one)).id
    assert before != la.Recipe(embedder=str(two)).id
    vectors = la.embedder(one).encode(SHORT)
    shutil.copy(two / "model.safetensors", one / "model.safetensors")
    assert la.Recipe(embedder=str(one)).id == la.Recipe(embedder=str(two)).id
    assert not np.array_equal(la.embedder(one).encode(SHORT), vectors)


WEIGHTS = {"transformer": "model.safetensors", "sentences": "model.safetensors", "onnx": "model.onnx", "static": "model.safetensors"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_damaged_weights_are_named(kind: str, damage: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(request.getfixturevalue(kind), tmp_path / "damaged"))
    weights = copied / WEIGHTS[kind]
    weights.write_bytes(weights.read_bytes()[:40] if damage == "cut" else b"\xff" * 200)
    with pytest.raises(la.InputError, match=r"could not be (loaded|read)"):
        la.embedder(copied)


def test_weights_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    folder = small_models.save_onnx(tmp_path / "nan", np.full((len(small_models.VOCABULARY), 4), np.nan, dtype=np.float32))
    with pytest.raises(la.InputError, match="NaN or infinite"):
        la.embedder(folder)


def test_an_onnx_model_that_wants_something_else_is_refused(tmp_path: Path, table: np.ndarray) -> None:
    folder = small_models.save_onnx(tmp_path / "picture", table, inputs=("input_ids", "pixels"))
    with pytest.raises(la.InputError, match="asks for input_ids, pixels"):
        la.embedder(folder)
    shutil.copy(folder / "model.onnx", folder / "other.onnx")
    with pytest.raises(la.InputError, match="has 2 ONNX files"):
        la.embedder(folder)


def test_a_vocabulary_that_is_too_large_is_named(static: Path, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    copied = Path(shutil.copytree(static, tmp_path / "short"))
    save_file({"embeddings": np.ones((5, 3), dtype=np.float32)}, copied / "model.safetensors")
    with pytest.raises(la.InputError, match="and the weights 5 tokens"):
        la.embedder(copied).encode(SHORT)
    save_file({"other": np.ones((5, 3), dtype=np.float32)}, copied / "model.safetensors")
    with pytest.raises(la.InputError, match="holds other and no table"):
        la.embedder(copied)


def test_a_wrong_folder_is_described(tmp_path: Path) -> None:
    with pytest.raises(la.InputError, match="no such folder, or an empty one"):
        la.embedder(tmp_path / "nothing")
    with pytest.raises(la.InputError, match="no such folder"):
        la.embedder(tmp_path)
    (tmp_path / "notes.txt").write_text("no model", encoding="utf-8")
    with pytest.raises(la.InputError, match=r"has notes.txt: expected .*modules.json"):
        la.embedder(tmp_path)
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(la.InputError, match=r"config.json is not JSON"):
        la.embedder(tmp_path)


def test_options_are_checked(onnx: Path, static: Path) -> None:
    with pytest.raises(la.InputError, match="colour: not an option of onnx models, which have window, device, pooling, threads"):
        la.embedder(onnx, colour="red")
    with pytest.raises(la.InputError, match="threads: not an option of model2vec models, which have none"):
        la.embedder(static, threads=2)
    with pytest.raises(la.InputError, match="pooling='sum'"):
        la.embedder(onnx, pooling="sum")
    with pytest.raises(la.InputError, match="window=0"):
        la.embedder(onnx, window=0)
    with pytest.raises(la.InputError, match="device='moon'"):
        la.embedder(onnx, device="moon")
