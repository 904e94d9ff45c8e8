"""A client that a foreign tool makes from /openapi.json, used as its makers would: put, search, admit, compare, remove."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from running_service import Running, running

pytest.importorskip("openapi_python_client")
TEXT = "The council decided to repair the old bridge over the river before the winter."
NEEDED = ("delete_collections_name", "get_documents", "post_admit", "post_compare", "post_search", "post_search_batch", "put_documents_id")
pytestmark = pytest.mark.xdist_group("service foreign_client")  # they share one service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("foreign")
    with running(folder, str(folder / "store"), "--processes", "1", "--quiet") as found:
        yield found


@pytest.fixture(scope="module")
def client(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("made")
    (folder / "openapi.json").write_bytes(service.raw("GET", "/openapi.json")[2])
    tool = shutil.which("openapi-python-client", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert tool
    command = [tool, "generate", "--path", "openapi.json", "--output-path", "foreign_lookalike", "--meta", "none"]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    }  # it formats with ruff, if there is one
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("foreign_lookalike")
    finally:
        sys.path.remove(str(folder))


def called(client: Any, service: Running, name: str, *given: Any, **options: Any) -> Any:
    module = importlib.import_module(f"{client.__name__}.api.default.{name}")
    return module.sync_detailed(*given, client=client.Client(base_url=service.address), **options)


def test_the_verbs_that_programs_use_are_there(client: Any) -> None:
    folder = Path(client.__file__).parent / "api" / "default"
    assert [name for name in NEEDED if not (folder / f"{name}.py").exists()] == []


def test_it_works(client: Any, service: Running) -> None:
    models = importlib.import_module(f"{client.__name__}.models")
    put = called(client, service, "put_documents_id", "bridge", body=models.DocumentBody(text=TEXT))
    assert put.status_code == 201
    assert put.parsed.status == "added"
    found = called(client, service, "post_search", body=models.SearchRequest(text=TEXT.replace("winter", "summer"), threshold=0.5))
    assert [match.id for match in found.parsed.matches] == ["bridge"]
    assert found.parsed.matches[0].passages[0].left[0] == 0
    admitted = called(client, service, "post_admit", body=models.AdmitRequest(id="copy", text=TEXT))
    assert admitted.parsed.admitted is False
    assert admitted.parsed.match.id == "bridge"
    compared = called(client, service, "post_compare", body=models.CompareRequest(left=TEXT, right=TEXT.replace("old", "new")))
    assert 0.5 < compared.parsed.score < 1
    page = called(client, service, "get_documents", excerpt=11)
    assert [(each.id, each.text, each.characters) for each in page.parsed.documents] == [("bridge", "The council", len(TEXT))]
    refused = called(client, service, "post_search", body=models.SearchRequest(text=TEXT, by="nonsense"))
    assert refused.status_code == 422
    assert refused.parsed.code == "input-error"
    removed = called(client, service, "delete_documents_id", "bridge")
    assert removed.parsed.removed == 1
