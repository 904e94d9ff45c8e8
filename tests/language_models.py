"""Tiny models, saved as real ones are: random weights, real architectures, a tokenizer that was trained on a few words."""

from __future__ import annotations

from pathlib import Path

WORDS = ['<div class="row">', '<p class="big red">Green tea from the hills</p>', "<title>Tea</title>", '<a href="/tea">tea</a>', "绿茶"] * 3
CONTEXT = 32  # tokens


def byte_level_tokenizer() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The vocabulary and the merges of a byte-level BPE tokenizer."""
    import json

    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(WORDS, vocab_size=320, min_frequency=2, special_tokens=["<|endoftext|>"], show_progress=False)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in model["merges"]]


def save_codegen(folder: Path, *, seed: int = 7) -> Path:
    from transformers import CodeGenConfig, CodeGenForCausalLM, CodeGenTokenizer

    vocabulary, merges = byte_level_tokenizer()
    CodeGenTokenizer(vocab=vocabulary, merges=merges).save_pretrained(folder)
    config = CodeGenConfig(
        vocab_size=len(vocabulary), n_positions=CONTEXT, n_ctx=CONTEXT, n_embd=32, n_layer=2, n_head=4, rotary_dim=8,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return _save(CodeGenForCausalLM, config, folder, seed)


def save_bert(folder: Path) -> Path:
    """An encoder, with a tokenizer written in Python."""
    from transformers import BertConfig, BertModel, ByT5Tokenizer

    tokenizer = ByT5Tokenizer(extra_ids=0, model_max_length=CONTEXT)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    return _save(BertModel, config, folder, 3)


def save_t5(folder: Path) -> Path:
    from transformers import ByT5Tokenizer, T5Config, T5Model

    ByT5Tokenizer(extra_ids=0).save_pretrained(folder)
    return _save(T5Model, T5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2), folder, 3)


def _save(kind: type, config: object, folder: Path, seed: int) -> Path:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    return folder
