"""The design of page similarity by representation, to the letter and slow: one tag at a time, nothing batched, nothing remembered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Reference:
    def __init__(self, folder: Path, window: int) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()
        self.window = window

    def vector(self, text: str) -> Any:
        """The means of the windows, one behind the other."""
        import torch

        inputs = self.tokenizer(text, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        if inputs["input_ids"].numel() == 0:
            return torch.zeros(self.model.config.hidden_size)
        means = []
        with torch.no_grad():
            for ids in inputs["input_ids"].split(self.window, dim=1):
                means.append(self.model(input_ids=ids).last_hidden_state[0].mean(dim=0))
        return torch.cat(means)

    def cosine(self, left: str, right: str) -> float:
        import torch

        a, b = self.vector(left), self.vector(right)
        size = max(len(a), len(b))
        a, b = (torch.nn.functional.pad(each, (0, size - len(each))) for each in (a, b))
        return max(0.0, float(torch.nn.functional.cosine_similarity(a, b, dim=0)))

    def part(self, left: Sequence[str], right: Sequence[str]) -> float:
        """Tags paired in order; what has no partner counts 0."""
        if not left and not right:
            return 1.0
        return sum(map(self.cosine, left, right)) / max(len(left), len(right))
