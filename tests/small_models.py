"""Folders of tiny models with random weights, of every kind that can be opened: real files, read by the real libraries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "on",
    "mat",
    "big",
    "small",
    "house",
    "tea",
    "green",
    "red",
    "猫",
    "狗",
    "茶",
    "大",
    "小",
    "##s",
    "##ing",
    "run",
    "walk",
]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
WINDOW = 16  # tokens, with the two marks
DIMENSIONS = 8


def _tokenizer(*, marks: bool = True):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    numbers = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    if marks:
        ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def save_transformer(folder: Path, *, seed: int = 1) -> Path:
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=WINDOW,
    )
    BertModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", model_max_length=WINDOW
    ).save_pretrained(folder)
    return folder


def save_sentence_transformer(folder: Path, transformer: Path, *, prompt: str | None = None) -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models

    read = models.Transformer(str(transformer), max_seq_length=WINDOW)
    layers = [read, models.Pooling(DIMENSIONS, pooling_mode="cls"), models.Dense(DIMENSIONS, 6), models.Normalize()]
    prompts = {"prompts": {"default": prompt}, "default_prompt_name": "default"} if prompt else {}
    SentenceTransformer(modules=layers, device="cpu", **prompts).save(str(folder), create_model_card=False)
    return folder


def save_static(folder: Path, *, seed: int = 1, weighted: bool = False) -> Path:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(seed)
    tensors = {"embeddings": chance.normal(size=(len(VOCABULARY), DIMENSIONS)).astype(np.float32)}
    if weighted:
        tensors["weights"] = chance.uniform(0.5, 2, size=len(VOCABULARY))
        tensors["mapping"] = np.arange(len(VOCABULARY), dtype=np.int64)[::-1].copy()
    save_file(tensors, folder / "model.safetensors")
    _tokenizer(marks=False).save(str(folder / "tokenizer.json"))
    about = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": True,
        "seq_length": 1000000,
        "hidden_dim": DIMENSIONS,
    }
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def save_onnx(folder: Path, table: np.ndarray, *, inputs: Sequence[str] = ("input_ids", "attention_mask")) -> Path:
    """A network of one layer: every token's row of a table. Written to the bytes of the format, which needs no library."""
    folder.mkdir(parents=True, exist_ok=True)
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    tensor = (
        b"".join(_number(1, size) for size in table.shape) + _number(2, 1) + _text(8, "table") + _bytes(9, table.astype("<f4").tobytes())
    )
    graph = _bytes(1, node) + _text(2, "lookup") + _bytes(5, tensor)
    graph += b"".join(_bytes(11, _declared(name, 7, ["batch", "sequence"])) for name in inputs)
    graph += _bytes(12, _declared("last_hidden_state", 1, ["batch", "sequence", "features"]))
    (folder / "model.onnx").write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": WINDOW}), encoding="utf-8")
    return folder


def _declared(name: str, kind: int, axes: list[str]) -> bytes:
    shape = b"".join(_bytes(1, _text(2, axis)) for axis in axes)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
