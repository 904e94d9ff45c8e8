"""A tiny language model, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

import language_models
from lookalike.embedders.causal import CausalModel, causal_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    torch.set_num_threads(1)  # tests run side by side, and waiting for one another would take longer than computing
    return language_models.save_codegen(tmp_path_factory.mktemp("models") / "tiny-codegen")


@pytest.fixture(scope="session")
def model(folder: Path) -> CausalModel:
    return causal_model(folder)
