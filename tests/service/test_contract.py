"""The contract of stores over HTTP, as far as it can hold there; what cannot is named, with the reason."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import lookalike as la
from lookalike.service.app import Service, ServiceSetup
from lookalike.service.limits import ServiceLimits
from lookalike.service.operations import Compact
from lookalike.service.writer_process import LocalWriter
from lookalike.service.writing import GroupWriter
from lookalike.testing import StoreContract
from running_service import free_port

MODELS = "not applicable: a service makes no collection with a model, since it would run code that a request names"
PAGES = "not applicable: pages are added where the store is"
MADE = "not applicable: fingerprints that were made elsewhere are added where the store is"
LOADED = "not applicable: a store is loaded where it is"
LINKS = "not applicable: clusters that are kept as documents come are asked for where the store is"
EXPIRY = "not applicable: documents that expire are added where the store is"
INDEXED = "not applicable: which fields are indexed is said where the store is; filters find the same with and without"
NAMES = (
    "not applicable: collections are copied and renamed where the store is; test_remote has those that are made, dropped and given aliases"
)
REASONS = {
    "test_searches_find_the_same_by_indexed_fields": INDEXED,
    "test_indexed_fields_follow_their_documents": INDEXED,
    "test_many_queries_at_once_find_what_fits": MODELS,
    "test_tags_that_were_read_once_are_not_read_again": MODELS,
    "test_copies_aliases_and_names": NAMES,
    "test_names_that_are_taken_or_lead_nowhere": NAMES,
    "test_a_dropped_collection_is_gone_for_those_who_have_it_open": NAMES,
    "test_names_without_an_index": NAMES,
    "test_searches_find_what_fits_and_all_of_it": MODELS,
    "test_admitting_by_other_ways": MODELS,
    "test_meaning_equals_brute_force": MODELS,
    "test_vectors_of_changed_and_removed_documents_are_gone": MODELS,
    "test_texts_without_meaning_are_kept_and_not_found": MODELS,
    "test_vectors_in_and_out": MODELS,
    "test_vectors_of_two_models_are_never_mixed": MODELS,
    "test_forms_of_the_recipe_do_not_count_for_its_vectors": MODELS,
    "test_vectors_are_exported_and_read_back": MODELS,
    "test_clusters_by_meaning_keep_the_oldest": MODELS,
    "test_structure_equals_brute_force": PAGES,
    "test_structures_follow_their_documents": PAGES,
    "test_structures_survive_export_and_import": PAGES,
    "test_clusters_of_templates": PAGES,
    "test_what_is_no_page_has_no_structure": PAGES,
    "test_simhashes_in_and_out": MADE,
    "test_minhashes_of_sets": MADE,
    "test_clusters_are_those_of_dedupe": MADE,
    "test_fuzzy_digests_equal_brute_force": "not applicable: a search by a digest is asked where the store is",
    "test_without_text_scores_are_estimates": "not applicable: a search by a MinHash is asked where the store is",
    "test_files_are_searched_for_by_path": "not applicable: a service reads no files of its clients",
    "test_export_and_import_give_the_same_store": LOADED,
    "test_an_export_is_refused_where_it_would_be_changed": LOADED,
    "test_an_export_carries_what_the_collection_was_made_with": LOADED,
    "test_who_has_a_collection_open_is_told_when_its_settings_change": LOADED,
    "test_clusters_without_texts_are_estimated_for_any_threshold": MADE,
    "test_wrong_arguments_are_refused": "not applicable: a search by a MinHash is asked where the store is",
    "test_links_and_expiry_are_exported": EXPIRY,
    "test_expired_documents_are_found_by_nothing": EXPIRY,
    "test_the_oldest_that_is_left_leads_a_cluster": LINKS,
    "test_what_looks_alike_is_linked_or_added_where_that_is_asked_for": LINKS,
    "test_whoever_is_linked_to_an_heir_is_in_the_cluster": LINKS,
    "test_no_document_is_a_member_of_itself": LINKS,
    "test_lists_come_to_the_clusters_of_single_documents": LINKS,
    "test_what_has_expired_keeps_nothing_out_of_its_batch": EXPIRY,
    "test_of_editions_in_a_batch_each_expires_at_its_own_time": EXPIRY,
    "test_a_keyed_collection_has_a_secret_of_its_own": "not applicable: the secret of a keyed collection never leaves the store",
    "test_a_second_writer_is_told": "not applicable: any number of clients write",
    "test_hostile_texts_survive": "not applicable: JSON cannot carry lone surrogates; the message says so",
}


class Served:
    """The application in a thread of this process, over a real socket: a service per test would take seconds each."""

    def __init__(self, store: Path) -> None:
        self.port, self._ready = free_port(), threading.Event()
        self._store = store
        la.open(store, collection="passing").close()
        la.drop_collection(str(store), "passing")  # a store without a collection, so that each test makes its own
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        settings = ServiceSetup(str(self._store), limits=ServiceLimits(seconds=60.0))
        self._writer = GroupWriter(str(self._store))
        config = uvicorn.Config(Service(settings, LocalWriter(self._writer)), port=self.port, log_level="error", lifespan="on")
        self._server = uvicorn.Server(config)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.005)
        self._ready.set()
        await serving

    def check(self, collection: str) -> Any:
        with la.open(self._store, collection=collection, read_only=True) as index:
            return index.check()

    def compact(self) -> Any:
        return self._writer.submit(Compact("default")).result().result

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)


class TestOverHttp(StoreContract):
    @pytest.fixture(autouse=True)
    def _served(self, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
        reason = REASONS.get(request.node.originalname)
        if reason:
            pytest.skip(reason)
        self._service = Served(tmp_path / "served")
        yield
        self._service.stop()

    def open(self, tmp_path: Path, **options: Any) -> la.Index:
        """What is done where the store is, ``check`` and ``compact``, is done there."""
        index = super().open(tmp_path, **options)
        index.check = lambda: self._service.check(options.get("collection", "default"))  # type: ignore[method-assign]
        index.compact = self._service.compact  # type: ignore[method-assign]
        return index

    def location(self, tmp_path: Path) -> str:
        return f"http://127.0.0.1:{self._service.port}"
