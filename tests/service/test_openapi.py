"""A foreign tool reads the description and tries what it allows, and what it does not: never an error of the service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import lookalike as la
from running_service import Running, running

schemathesis = pytest.importorskip("schemathesis")
import json  # noqa: E402

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

pytestmark = pytest.mark.xdist_group("service openapi")  # they share one service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("described")
    with la.open(folder / "store") as index:
        index.add([(f"d{i}", f"document {i} about a river and its bridges in the year {1900 + i}", {"n": i}) for i in range(20)])
    with running(folder, str(folder / "store"), "--processes", "1", "--quiet", "--max-seconds", "20") as found:
        yield found


def test_no_request_gives_an_error_of_the_service(service: Running) -> None:
    description = service.ask("GET", "/openapi.json")[1]
    schema = schemathesis.openapi.from_dict(description)
    # It has no serializer for lines of JSON; test_any_bytes sends them.
    operations = [each for result in schema.get_all_operations() if (each := result.ok()).label != "POST /documents"]
    assert len(operations) > 20
    cases = st.one_of([operation.as_strategy() for operation in operations])

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=cases)
    def tried(case: object) -> None:
        response = case.call(base_url=service.address)  # type: ignore[attr-defined]
        assert response.status_code < 500 or response.status_code in (501, 502, 503), (case, response.text)

    tried()


@settings(max_examples=60, deadline=None)
@given(body=st.binary(max_size=300), path=st.sampled_from(["/search", "/compare", "/admit", "/documents", "/feedback", "/fingerprint"]))
def test_any_bytes(service: Running, body: bytes, path: str) -> None:
    status, _, answer = service.raw("POST", path, body, {"Content-Type": "application/json"})
    assert status < 500, answer
    if status >= 400:
        assert set(json.loads(answer)) == {"code", "message", "hint", "request"}
