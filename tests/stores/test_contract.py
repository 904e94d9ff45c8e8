"""The contract, on every store that this package has."""

from pathlib import Path

from lookalike.testing import StoreContract


class TestMemory(StoreContract):
    persistent = False

    def location(self, tmp_path: Path) -> str:
        return "memory://"


class TestEmbedded(StoreContract):
    def location(self, tmp_path: Path) -> str:
        return str(tmp_path / "store.lookalike")
