"""Language models: the vectors, whatever they are computed together with, and everything that can be wrong with a folder."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import language_models
import lookalike as la
from language_models import CONTEXT
from lookalike.embedders.causal import TOLERANCE, CausalModel, causal_model
from lookalike.embedders.causal_tokens import TokenMaker, token_numbers
from reference_representation import Reference

pytestmark = pytest.mark.xdist_group("transformers")  # to import them takes a worker a quarter of a minute

TEXTS = ["", "a", '<p class="big red">', "<title>Tea</title>", "绿茶 🍵", "Green tea from the hills. " * 20, "x" * 300, " "]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    x, y = a.ravel().astype(float), b.ravel().astype(float)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


class TestVectors:
    @pytest.mark.parametrize("window", [CONTEXT, 7])
    def test_against_the_design(self, folder: Path, window: int) -> None:
        reference = Reference(folder, window)
        for text, rows in zip(TEXTS, causal_model(folder, window=window).window_vectors(TEXTS), strict=True):
            assert rows.dtype == np.float32
            np.testing.assert_allclose(rows.ravel(), reference.vector(text).numpy(), atol=1e-5)

    def test_of_whole_texts(self, folder: Path, model: CausalModel) -> None:
        from transformers import AutoModel, AutoTokenizer

        assert (model.name, model.dimensions, model.window) == ("codegen", 32, CONTEXT)
        rows = model.encode(["<title>Tea</title>", TEXTS[5], ""])
        assert rows.shape == (3, 32)
        assert not rows[2].any()
        tokenizer, inner = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
        ids = tokenizer(TEXTS[5], return_tensors="pt")["input_ids"]
        states = [inner(input_ids=part).last_hidden_state[0].detach().numpy() for part in ids.split(CONTEXT, dim=1)]
        np.testing.assert_allclose(rows[1], np.concatenate(states).mean(axis=0), atol=1e-5)

    @settings(max_examples=12)
    @given(
        st.lists(st.sampled_from(TEXTS[1:7]) | st.text("<>/ ab茶", min_size=1, max_size=60), min_size=1, max_size=8), st.integers(1, 200)
    )
    def test_hardly_depend_on_the_batch(self, folder: Path, model: CausalModel, texts: list[str], batch: int) -> None:
        alone = [model.window_vectors([text])[0] for text in texts]
        small = CausalModel(model._location, model._loaded, window=CONTEXT, batch=batch, devices=None, workers=None)
        for others in (model, small):
            for a, b in zip(alone, others.window_vectors(texts), strict=True):
                assert a.shape == b.shape
                assert cosine(a, b) == pytest.approx(1.0, abs=TOLERANCE)
                np.testing.assert_allclose(a, b, atol=1e-5)

    def test_do_not_depend_on_the_order(self, model: CausalModel) -> None:
        shuffled = random.Random(1).sample(TEXTS, len(TEXTS))
        there = dict(zip(TEXTS, model.window_vectors(TEXTS), strict=True))
        back = dict(zip(shuffled, model.window_vectors(shuffled), strict=True))
        assert all(np.array_equal(there[text], back[text]) for text in TEXTS)

    def test_several_devices(self, folder: Path, model: CausalModel) -> None:
        several = causal_model(folder, devices=["cpu", "cpu", "cpu"], batch=40)
        one = causal_model(folder, batch=40)
        for a, b in zip(several.window_vectors(TEXTS), one.window_vectors(TEXTS), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_types_of_tokens_are_dropped(self, folder: Path, model: CausalModel, tmp_path: Path) -> None:
        mine = Path(shutil.copytree(folder, tmp_path / "model"))
        settings_file = mine / "tokenizer_config.json"
        names = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
        settings_file.write_text(json.dumps(json.loads(settings_file.read_text()) | names))
        other = causal_model(mine)
        assert "token_type_ids" in other._loaded.tokenizer("tea")
        np.testing.assert_array_equal(other.encode(TEXTS), model.encode(TEXTS))

    def test_nothing(self, model: CausalModel) -> None:
        assert model.window_vectors([]) == []
        assert model.encode([]).shape == (0, 32)

    def test_lone_surrogates(self, model: CausalModel) -> None:
        np.testing.assert_array_equal(model.encode(["a\ud800b"]), model.encode(["a\ufffdb"]))

    def test_version(self, folder: Path, model: CausalModel, tmp_path: Path) -> None:
        copy = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
        (copy / "README.md").write_text("about")
        assert causal_model(copy).version == model.version
        assert causal_model(copy, window=8).version != model.version
        language_models.save_codegen(copy, seed=9)
        assert causal_model(copy).version != model.version


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_models.save_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


class TestEncoder:
    """A model that looks both ways, with a tokenizer written in Python."""

    def test_padding_is_not_seen(self, bert: Path) -> None:
        reference, texts = Reference(bert, CONTEXT), ["tea", "a longer text about tea", "t"]
        for text, rows in zip(texts, causal_model(bert).window_vectors(texts), strict=True):
            np.testing.assert_allclose(rows.ravel(), reference.vector(text).numpy(), atol=1e-5)

    def test_tokenizing_in_processes(self, bert: Path) -> None:
        model = causal_model(bert, workers=2)
        assert not model._loaded.tokenizer.is_fast
        assert model._tokens.of(TEXTS) == token_numbers(model._loaded.tokenizer, TEXTS)

    def test_a_compiled_tokenizer_needs_no_processes(self, folder: Path, model: CausalModel) -> None:
        assert model._loaded.tokenizer.is_fast
        maker = TokenMaker(model._loaded.tokenizer, model._location, workers=2)
        assert maker.of(TEXTS) == token_numbers(model._loaded.tokenizer, TEXTS)


def damage(change: Callable[[Path], None]) -> Callable[[Path, Path], Path]:
    def changed(folder: Path, tmp_path: Path) -> Path:
        mine = Path(shutil.copytree(folder, tmp_path / "model"))
        change(mine)
        return mine

    return changed


def cut_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def lose_a_layer(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items() if "h.1.mlp" not in name}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def lose_the_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


def lose_the_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def lose_the_configuration(folder: Path) -> None:
    (folder / "config.json").unlink()


def scribble_in_the_configuration(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def put_nan_into_the_weights(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = {name: torch.full_like(tensor, float("nan")) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def add_tokens(folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f"<new{number}>" for number in range(400)])
    tokenizer.save_pretrained(folder)


class TestWrongFolders:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (cut_weights, "the model cannot be loaded"),
            (lose_a_layer, "the weights lack"),
            (lose_the_tokenizer, "the tokenizer knows no tokens"),
            (lose_the_weights, "the model cannot be loaded"),
            (lose_the_configuration, "no config.json"),
            (scribble_in_the_configuration, "cannot be loaded"),
            (put_nan_into_the_weights, "not numbers"),
            (add_tokens, "not of one model"),
        ],
    )
    def test_damaged(self, folder: Path, tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
        mine = damage(change)(folder, tmp_path)
        with pytest.raises(la.InputError, match=message) as caught:
            causal_model(mine).encode(["<p>tea"])
        assert str(mine) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_encoder_with_decoder(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="encoder with a decoder"):
            causal_model(language_models.save_t5(tmp_path))

    def test_gguf_that_is_none(self, tmp_path: Path) -> None:
        file = tmp_path / "model.gguf"
        file.write_bytes(b"GGUF but not really")
        with pytest.raises((la.InputError, la.MissingExtra), match="gguf"):
            causal_model(file)

    @pytest.mark.parametrize(
        ("source", "message"),
        [("nowhere/at-all", "'hub:nowhere/at-all'"), ("hub:", "name a model"), (3, "model=3"), (__file__, "is a file")],
        ids=["no folder", "hub without a name", "number", "file"],
    )
    def test_no_folder(self, source: str, message: str) -> None:
        with pytest.raises(la.InputError, match=message):
            causal_model(source)

    def test_the_hub_without_a_network(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        import huggingface_hub.constants

        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(la.FetchError, match="'hub:nobody/has-this-model'"):
            causal_model("hub:nobody/has-this-model")

    @pytest.mark.parametrize("missing", ["torch", "transformers"])
    def test_without_the_extra(self, folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(la.MissingExtra, match=r"lookalike\[language-model\]"):
            causal_model(folder)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"window": 0}, "window=0"),
            ({"window": CONTEXT + 1}, f"at most {CONTEXT} tokens"),
            ({"batch": 0}, "batch=0"),
            ({"workers": True}, "workers=True"),
            ({"devices": "cpu"}, "devices='cpu'"),
            ({"devices": []}, "devices"),
            ({"devices": ["nonsense"]}, "nonsense"),
        ],
        ids=["no window", "large window", "batch", "workers", "one device", "no device", "unknown device"],
    )
    def test_options(self, folder: Path, options: dict[str, object], message: str) -> None:
        with pytest.raises(la.InputError, match=message):
            causal_model(folder, **options)

    @pytest.mark.parametrize("texts", ["one text", [b"bytes"], [None]], ids=["str", "bytes", "None"])
    def test_texts(self, model: CausalModel, texts: object) -> None:
        with pytest.raises(la.InputError, match="texts"):
            model.encode(texts)
