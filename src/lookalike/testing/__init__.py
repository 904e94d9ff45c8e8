"""The contract of stores, as tests that can be run on any of them.

    class TestMyStore(StoreContract):
        def location(self, tmp_path):
            return "mystore://…"        # an empty store; the same one however often it is opened in a test

Every method that starts with ``test_`` is a test; pytest finds them. Nothing here needs pytest to be imported.
"""

from __future__ import annotations

from lookalike.testing.admission import AdmissionContract
from lookalike.testing.clusters import ClusterContract
from lookalike.testing.collections import CollectionContract
from lookalike.testing.containment import ContainmentContract
from lookalike.testing.documents import DocumentContract
from lookalike.testing.filters import FilterContract
from lookalike.testing.kinds import KindContract as KindContract
from lookalike.testing.made import TinyEmbedder as TinyEmbedder
from lookalike.testing.made import corpus as corpus
from lookalike.testing.made import made_pages as made_pages
from lookalike.testing.made import tiny_model as tiny_model
from lookalike.testing.searches import SearchContract
from lookalike.testing.transfers import TransferContract
from lookalike.testing.vectors import VectorContract as VectorContract
from lookalike.testing.web_pages import PageContract


class StoreContract(
    DocumentContract,
    SearchContract,
    ClusterContract,
    PageContract,
    CollectionContract,
    TransferContract,
    VectorContract,
    AdmissionContract,
    FilterContract,
    ContainmentContract,
):
    """What every store does."""
