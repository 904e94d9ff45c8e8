"""Tiny models of every kind, made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import small_models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def transformer(models: Path) -> Path:
    return small_models.save_transformer(models / "transformer")


@pytest.fixture(scope="session")
def sentences(models: Path, transformer: Path) -> Path:
    return small_models.save_sentence_transformer(models / "sentences", transformer)


@pytest.fixture(scope="session")
def table() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(len(small_models.VOCABULARY), small_models.DIMENSIONS)).astype(np.float32)


@pytest.fixture(scope="session")
def onnx(models: Path, table: np.ndarray) -> Path:
    return small_models.save_onnx(models / "onnx", table)


@pytest.fixture(scope="session")
def static(models: Path) -> Path:
    return small_models.save_static(models / "static")
