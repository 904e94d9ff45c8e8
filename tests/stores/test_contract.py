"""The contract, on every store that this package has."""

from lookalike.testing import StoreContract
from stores_under_test import InMemory, OnDisk


class TestMemory(InMemory, StoreContract):
    pass


class TestEmbedded(OnDisk, StoreContract):
    pass
