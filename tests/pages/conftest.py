"""A tiny language model, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

import language_models
from lookalike.embedders.causal import CausalModel, causal_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_models.save_codegen(tmp_path_factory.mktemp("models") / "tiny-codegen")


@pytest.fixture(scope="session")
def model(folder: Path) -> CausalModel:
    return causal_model(folder)
