"""Every route, asked over a real connection."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zstandard

import lookalike as la
from lookalike.service import shapes
from lookalike.service.routes import table
from lookalike.testing import TinyEmbedder, tiny_model
from postgres_server import empty_database
from running_service import Running, running

ESSAYS = Path(__file__).parents[2] / "examples" / "class"
TEXT = "The council decided to repair the old bridge over the river before the winter, and to close the road."
WIDTH = TinyEmbedder().dimensions
pytestmark = pytest.mark.xdist_group("service api")  # they share one service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("service")
    with la.open(folder / "store") as index:
        index.add([(f"d{i}", f"{TEXT} Report {i} of {i * 7}.", {"site": f"s{i % 3}", "n": i}) for i in range(30)])
        index.add("zh", "台风过境后，沿海三个县的供电正在逐步恢复。", {"site": "zh"})
    with la.open(folder / "store", collection="vectors", model=tiny_model()) as index:
        index.add_vectors(["v0", "v1"], np.array([[1, 0], [0.8, 0.6]], dtype=np.float32) @ np.eye(2, WIDTH, dtype=np.float32))
    with running(folder, str(folder / "store"), "--processes", "2") as found:
        yield found


def test_the_page_and_its_files_come_with_a_policy(service: Running) -> None:
    for path in ("/", "/docs", "/app.js", "/style.css"):
        status, headers, body = service.raw("GET", path)
        assert status == 200
        assert body
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert service.raw("GET", path, headers={"If-None-Match": headers["etag"]})[0] == 304


def test_search(service: Running) -> None:
    status, found = service.ask("POST", "/search", {"text": f"{TEXT} Report 4 of 28.", "with_text": True, "limit": 3, "threshold": 0.4})
    assert status == 200
    assert found["matches"][0]["id"] == "d4"
    assert found["matches"][0]["score"] == 1.0
    assert found["matches"][0]["meta"] == {"site": "s1", "n": 4}
    assert found["matches"][0]["text"].startswith(TEXT)
    assert found["total"] > 3
    assert found["next"] == 3
    rest = service.ask("POST", "/search", {"text": f"{TEXT} Report 4 of 28.", "limit": 3, "offset": 3, "threshold": 0.4})[1]
    assert not {each["id"] for each in rest["matches"]} & {each["id"] for each in found["matches"]}
    msgspec.convert(found, shapes.SearchAnswer)


def test_search_by_the_share_of_a_document_that_a_query_holds(service: Running) -> None:
    whole, half = f"{TEXT} Report 4 of 28.", TEXT[: len(TEXT) // 2]
    asked = {"text": f"A preface to it all. {half} and so on, by somebody else.", "by": "passages", "limit": 50}
    for text, share, found_by in ((asked["text"], 0.3, True), (asked["text"], 0.9, False), (f"A preface. {whole} An end.", 0.9, True)):
        status, found = service.ask("POST", "/search", asked | {"text": text, "min_share": share})
        assert status == 200
        assert bool(found["matches"]) == found_by
        assert all(each["share"] >= share for each in found["matches"])
        msgspec.convert(found, shapes.SearchAnswer)
    for wrong in ({"min_share": 0.5}, {"by": "passages", "min_share": 1.5}, {"by": "passages", "min_share": "much"}):
        assert service.ask("POST", "/search", {"text": TEXT} | wrong)[0] == 422


def test_search_that_may_miss_one(service: Running) -> None:
    for approximate in (False, True):
        body = {"vector": [1.0] + [0.0] * (WIDTH - 1), "approximate": approximate, "limit": 2}
        status, found = service.ask("POST", "/search?collection=vectors", body)
        assert status == 200
        assert [(each["id"], round(each["score"], 3)) for each in found["matches"]] == [("v0", 1.0), ("v1", 0.8)]
    status, problem = service.ask("POST", "/search", {"text": TEXT, "approximate": True})
    assert status == 422
    assert "by meaning" in problem["message"]
    assert service.ask("POST", "/search?collection=vectors", {"vector": [1.0] * WIDTH, "approximate": "yes"})[0] == 422


def test_search_with_a_filter(service: Running) -> None:
    found = service.ask("POST", "/search", {"text": f"{TEXT} Report 4 of 28.", "where": {"site": "s2"}, "limit": 50, "threshold": 0.4})[1]
    assert found["matches"]
    assert {each["meta"]["site"] for each in found["matches"]} == {"s2"}


def test_search_by_simhash(service: Running) -> None:
    value = la.simhash(f"{TEXT} Report 4 of 28.")
    for given in (int(value), value.signed, value.hex if value.hex.startswith("0x") else f"0x{value.hex}"):
        found = service.ask("POST", "/search", {"simhash": given, "k": 0})[1]
        assert [each["id"] for each in found["matches"]] == ["d4"]


def test_many_searches_in_one_request(service: Running) -> None:
    found = service.ask("POST", "/search/batch", {"texts": [f"{TEXT} Report {i} of {i * 7}." for i in range(5)], "limit": 1})[1]
    assert [answer[0]["id"] for answer in found["answers"]] == [f"d{i}" for i in range(5)]
    values = [int(la.simhash(f"{TEXT} Report {i} of {i * 7}.")) for i in range(5)]
    found = service.ask("POST", "/search/batch", {"simhashes": values, "k": 0})[1]
    assert [answer[0]["id"] for answer in found["answers"]] == [f"d{i}" for i in range(5)]


def test_many_searches_go_every_way(service: Running) -> None:
    texts = [f"{TEXT} Report {i} of {i * 7}." for i in range(3)]
    for by in ("near", "simhash", "passages", "fuzzy"):
        asked = {"by": by, "limit": 2, "where": {"site": "s1"}} | ({"k": 16} if by == "simhash" else {"threshold": 0.2})
        found = service.ask("POST", "/search/batch", {"texts": texts} | asked)[1]
        for text, answer, following in zip(texts, found["answers"], found["next"], strict=True):
            single = service.ask("POST", "/search", {"text": text, "passages": False} | asked)[1]
            assert (answer, following) == (single["matches"], single["next"])
            assert {each["meta"]["site"] for each in answer} <= {"s1"}
        assert any(found["answers"])
    asked = {"texts": texts, "threshold": 0.4, "limit": 4}
    first = service.ask("POST", "/search/batch", asked)[1]
    assert first["next"] == [4, 4, 4]
    rest = service.ask("POST", "/search/batch", asked | {"offset": 4})[1]
    whole = service.ask("POST", "/search/batch", asked | {"limit": 8})[1]
    assert [[*one, *two] for one, two in zip(first["answers"], rest["answers"], strict=True)] == whole["answers"]
    values = [int(la.simhash(text)) for text in texts]
    some = service.ask("POST", "/search/batch", {"simhashes": values, "k": 16, "limit": 1, "where": "site=s2"})[1]
    more = service.ask("POST", "/search/batch", {"simhashes": values, "k": 16, "limit": 1, "offset": 1, "where": "site=s2"})[1]
    assert some["next"] == [1, 1, 1]
    assert all(one[0]["id"] != two[0]["id"] for one, two in zip(some["answers"], more["answers"], strict=True))
    assert service.ask("POST", "/search/batch", {"records": [{"a": "b"}]})[1] == {"answers": [[]], "next": [None]}


def test_a_document_is_put_read_and_removed(service: Running) -> None:
    path = "/documents/a%2Fb%20%E7%94%B2"
    assert service.ask("PUT", path, {"text": "one two three four five six", "meta": {"k": [1]}})[0] == 201
    assert service.ask("PUT", path, {"text": "one two three four five six", "meta": {"k": [1]}})[0] == 200
    _status, headers, body = service.raw("GET", path)
    assert json.loads(body) == {"id": "a/b 甲", "text": "one two three four five six", "meta": {"k": [1]}}
    assert service.raw("GET", path, headers={"If-None-Match": headers["etag"]})[0] == 304
    assert service.ask("PUT", path, {"text": "other"}, {"If-Match": '"no"'})[0] == 412
    assert service.ask("PUT", path, {"text": "other words here now"}, {"If-Match": headers["etag"]})[0] == 200
    assert service.ask("DELETE", path)[0] == 200
    assert service.ask("DELETE", path)[0] == 404
    assert service.ask("GET", path)[0] == 404


def test_numbers_of_any_size_are_kept(service: Running) -> None:
    meta = {"least": -(2**63) - 1, "most": 2**70, "listed": [10**30, 1.5, 0.0]}
    assert service.ask("PUT", "/documents/numbers", {"text": "A number of any size.", "meta": meta})[0] == 201
    try:
        assert service.ask("GET", "/documents/numbers")[1]["meta"] == meta
        answer = service.ask("POST", "/admit", {"id": "again", "text": "A number of any size.", "meta": meta})[1]
        assert not answer["admitted"]
        assert answer["match"]["meta"] == meta
    finally:
        service.ask("DELETE", "/documents/numbers")


def test_many_are_removed_at_once(service: Running) -> None:
    for id_ in ("r1", "r2"):
        assert service.ask("PUT", f"/documents/{id_}", {"text": "to be removed"})[0] == 201
    assert service.ask("POST", "/documents/remove", {"ids": ["r1", "r2", "never", 7]})[1]["removed"] == 2
    assert service.ask("GET", "/documents/r1")[0] == 404
    assert service.ask("POST", "/documents/remove", {"ids": [1.5]})[0] == 422
    assert service.ask("POST", "/documents/remove", {"ids": [], "typo": 1})[0] == 422


def test_ids_that_are_numbers_are_not_texts(service: Running) -> None:
    assert service.ask("PUT", "/documents/7?number=1", {"text": "the number seven is an id"})[0] == 201
    assert service.ask("GET", "/documents/7")[0] == 404
    assert service.ask("GET", "/documents/7?number=1")[1]["id"] == 7
    assert service.ask("DELETE", "/documents/7?number=1")[0] == 200


def test_what_was_written_is_found_by_every_process(service: Running) -> None:
    for i in range(20):
        text = f"a text about the lighthouse keeper number {i} and his dog"
        assert service.ask("PUT", f"/documents/seen{i}", {"text": text})[0] == 201
        assert service.ask("POST", "/search", {"text": text})[1]["matches"][0]["id"] == f"seen{i}"
    for i in range(20):
        assert service.ask("DELETE", f"/documents/seen{i}")[0] == 200


def test_lines_get_a_status_each(service: Running) -> None:
    lines = [
        b'{"id": "l1", "text": "first line with words"}',
        b"",
        b"not json",
        b'{"id": "l2"}',
        b'{"id": "l3", "text": "third", "meta": {"a": 1}}',
        b'{"id": "", "text": "x"}',
    ]
    for packed in (
        lambda data: (data, {}),
        lambda data: (gzip.compress(data), {"Content-Encoding": "gzip"}),
        lambda data: (zstandard.compress(data), {"Content-Encoding": "zstd"}),
    ):
        body, headers = packed(b"\n".join(lines))
        status, _, found = service.raw("POST", "/documents", body, {"Content-Type": "application/x-ndjson"} | headers)
        rows = {row["line"]: row for row in map(json.loads, found.splitlines())}
        assert status == 200
        assert sorted(rows) == [1, 3, 4, 5, 6]
        assert [rows[n]["status"] for n in (3, 4, 6)] == ["skipped"] * 3
        assert all(rows[n]["message"] for n in (3, 4, 6))
        assert {rows[1]["status"], rows[5]["status"]} <= {"added", "updated"}
    assert service.ask("GET", "/documents/l3")[1]["meta"] == {"a": 1}
    for name in ("l1", "l3"):
        service.ask("DELETE", f"/documents/{name}")


def test_documents_in_pages(service: Running) -> None:
    seen, after = [], ""
    while True:
        page = service.ask("GET", f"/documents?limit=7&after={after}")[1]
        seen += [each["id"] for each in page["documents"]]
        assert page["total"] == 31
        if page["next"] is None:
            break
        after = page["next"]
    assert seen == [*(f"d{i}" for i in range(30)), "zh"]
    assert {each["meta"]["site"] for each in service.ask("GET", '/documents?where={"site":"s1"}')[1]["documents"]} == {"s1"}
    assert [each["id"] for each in service.ask("GET", "/documents?contains=%E4%BE%9B%E7%94%B5")[1]["documents"]] == ["zh"]


def test_ask_and_add_as_one(service: Running) -> None:
    text = "A gardener found an old coin under the apple tree and gave it to the museum of the town."
    first = service.ask("POST", "/admit", {"id": "coin", "text": text})[1]
    again = service.ask("POST", "/admit", {"id": "coin2", "text": text})[1]
    assert first["admitted"] is True
    assert first["match"] is None
    assert again["admitted"] is False
    assert again["match"]["id"] == "coin"
    service.ask("DELETE", "/documents/coin")


def test_compare(service: Running) -> None:
    found = service.ask("POST", "/compare", {"left": TEXT, "right": TEXT.replace("winter", "summer"), "measures": ["cosine"]})[1]
    ours = la.compare(TEXT, TEXT.replace("winter", "summer"), measures=["cosine"])
    assert found["score"] == ours.score
    assert found["measures"]["cosine"] == ours.measures["cosine"]
    msgspec.convert(found, shapes.Comparison)
    page = service.ask("POST", "/compare", {"left": "<p>a b c", "right": "<p>a b d", "as": "page"})[1]
    assert page["kind"] == "page"
    assert [part["part"] for part in page["tag_rows"]] == ["head", "body"]
    record = service.ask("POST", "/compare", {"left": {"a": "x"}, "right": {"a": "x"}, "as": "record"})[1]
    assert record["score"] == 1.0
    status, headers, body = service.raw(
        "POST", "/compare", json.dumps({"left": "a", "right": "b", "format": "html"}).encode(), {"Content-Type": "application/json"}
    )
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert b"<html" in body


def test_fingerprints(service: Running) -> None:
    found = service.ask("POST", "/fingerprint", {"text": TEXT, "kinds": ["simhash", "minhash"]})[1]["fingerprints"]
    assert found["simhash"] == la.simhash(TEXT).to_dict()
    assert found["minhash"] == la.minhash(TEXT).to_dict()


def test_feedback(service: Running) -> None:
    found = service.ask("POST", "/feedback", {"pairs": [{"draft": TEXT, "final": TEXT, "model": "m"}, {"draft": TEXT, "final": "x"}]})[1]
    assert next(row["verdict"] for row in found["rows"]) == "used as is"
    assert found["pairs"] == 2


def test_clusters_and_stats(service: Running) -> None:
    found = service.ask("GET", "/clusters?threshold=0.6")[1]
    assert found["clusters"][0]["kept"] == "d0"
    assert len(found["clusters"][0]["removed"]) > 5
    stats = service.ask("GET", "/stats")[1]
    assert stats["documents"] == 31
    assert stats["service"]["writes"] is True


def test_collections(service: Running) -> None:
    assert service.ask("POST", "/collections", {"name": "other", "threshold": 0.5})[0] == 201
    assert "other" in service.ask("GET", "/collections")[1]["collections"]
    assert service.ask("POST", "/collections", {"name": "other"})[0] == 422
    assert service.ask("PUT", "/documents/x?collection=other", {"text": "in the other collection"})[0] == 201
    assert service.ask("GET", "/documents/x")[0] == 404
    assert service.ask("GET", "/documents/x?collection=other")[0] == 200
    assert service.ask("GET", "/documents/x?collection=none")[0] == 404
    assert service.ask("PUT", "/documents/x?collection=none", {"text": "nowhere"})[0] == 404


def test_a_dropped_collection_is_gone_in_every_process(service: Running) -> None:
    for threshold in (0.5, 0.9, 0.9):  # made anew with other settings, and with the same ones
        assert service.ask("POST", "/collections", {"name": "passing", "threshold": threshold})[0] == 201
        for number in range(4):
            assert service.ask("PUT", f"/documents/p{number}?collection=passing", {"text": f"{TEXT} {threshold} {number}"})[0] == 201
        for _ in range(8):  # each process is asked
            status, found = service.ask("POST", "/search?collection=passing", {"text": f"{TEXT} {threshold} 1", "threshold": 0.9})
            assert status == 200
            assert found["matches"][0]["id"] == "p1"
            assert service.ask("GET", "/stats?collection=passing")[1]["settings"]["threshold"] == threshold
        assert service.ask("DELETE", "/collections/passing")[1]["removed"] == 4
        for _ in range(8):
            assert service.ask("POST", "/search?collection=passing", {"text": TEXT})[0] == 404
            assert service.ask("GET", "/documents/p1?collection=passing")[0] == 404
        assert "passing" not in service.ask("GET", "/collections")[1]["collections"]


def test_an_alias_leads_every_process_to_its_collection(service: Running) -> None:
    follow_aliases(service)


def test_an_alias_of_a_collection_in_postgresql(tmp_path: Path) -> None:
    with running(tmp_path, empty_database(), "--processes", "2") as found:
        follow_aliases(found)


def follow_aliases(service: Running) -> None:
    for name in ("may", "june"):
        assert service.ask("POST", "/collections", {"name": name, "kinds": ["simhash", "minhash"]})[0] == 201
        assert service.ask("PUT", f"/documents/d?collection={name}", {"text": f"{TEXT} In {name}.", "meta": {"month": name}})[0] == 201
    for name in ("may", "june", "may"):
        status, found = service.ask("PUT", "/collections/current", {"alias_of": name})
        assert status == 200
        assert found["aliases"] == {"current": name}
        assert "current" not in found["collections"]
        for _ in range(8):  # each process is asked
            assert service.ask("GET", "/documents/d?collection=current")[1]["meta"] == {"month": name}
            asked = {"text": f"{TEXT} In {name}.", "threshold": 0.9}
            assert service.ask("POST", "/search?collection=current", asked)[1]["matches"][0]["meta"] == {"month": name}
        assert service.ask("PUT", f"/documents/w-{name}?collection=current", {"text": "written by the alias"})[0] in (200, 201)
        assert service.ask("GET", f"/documents/w-{name}?collection={name}")[0] == 200
    assert service.ask("PUT", "/collections/latest", {"alias_of": "current"})[1]["aliases"] == {"current": "may", "latest": "may"}
    assert service.ask("PUT", "/collections/june", {"alias_of": "may"})[0] == 422  # a collection is called so
    assert service.ask("POST", "/collections", {"name": "current"})[0] == 422
    assert service.ask("PUT", "/collections/other-one", {"alias_of": "nowhere"})[0] == 404
    assert service.ask("PUT", "/collections/other-one", {"alias_of": 1})[0] == 422
    assert service.ask("DELETE", "/collections/current")[1]["removed"] == 0
    for _ in range(8):
        assert service.ask("GET", "/documents/d?collection=current")[0] == 404
    assert service.ask("DELETE", "/collections/may")[1]["removed"] == 2  # with what leads to it
    assert service.ask("GET", "/collections")[1]["aliases"] == {}
    assert service.ask("GET", "/documents/d?collection=latest")[0] == 404
    assert service.ask("DELETE", "/collections/june")[1]["removed"] == 2


def test_all_against_all(service: Running, tmp_path: Path) -> None:
    assert service.ask("POST", "/collections", {"name": "class", "kinds": ["simhash"]})[0] == 201
    essays = sorted(ESSAYS.glob("*.txt"))
    for essay in essays:
        body = {"text": essay.read_text(encoding="utf-8"), "meta": {"year": 1 if essay.stem < "d" else 2}}
        assert service.ask("PUT", f"/documents/{essay.stem}?collection=class", body)[0] == 201
    task = "Task: Should our city plant more trees along its streets?"
    found = service.ask("POST", "/pairs?collection=class", {"ignore": [task]})[1]
    ours = la.pairs(ESSAYS, ignore=[task])
    assert found["documents"] == [essay.stem for essay in essays]
    assert [(each["left"], each["right"], each["score"]) for each in found["pairs"]] == [
        (Path(each.left).stem, Path(each.right).stem, each.score) for each in ours.pairs
    ]
    assert [tuple(each["left"]) for each in found["pairs"][0]["passages"]] == [each.left for each in ours.pairs[0].passages]
    assert found["total"] == ours.total
    msgspec.convert(found, shapes.PairsAnswer)
    assert service.ask("POST", "/pairs?collection=class", {"ignore": [task], "limit": 1, "passages": False})[1]["pairs"] == [
        found["pairs"][0] | {"passages": []}
    ]
    some = service.ask("POST", "/pairs?collection=class", {"where": {"year": 1}})[1]
    assert some["documents"] == [essay.stem for essay in essays if essay.stem < "d"]
    body = json.dumps({"format": "html", "anonymous": True}).encode()
    status, headers, page = service.raw("POST", "/pairs?collection=class", body, {"Content-Type": "application/json"})
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"#1" in page
    assert b"anna" not in page
    assert service.ask("PUT", "/documents/7?collection=class&number=1", {"text": essays[0].read_text(encoding="utf-8")})[0] == 201
    assert service.ask("PUT", "/documents/7?collection=class", {"text": essays[0].read_text(encoding="utf-8")})[0] == 201
    assert [each for each in service.ask("POST", "/pairs?collection=class", {})[1]["documents"] if each in (7, "7")] == [7, "7"]
    assert service.ask("DELETE", "/collections/class")[0] == 200


def test_a_snapshot_can_be_loaded(service: Running, tmp_path: Path) -> None:
    status, _, body = service.raw("POST", "/snapshot")
    assert status == 200
    (tmp_path / "copy.jsonl").write_bytes(body)
    with la.open(tmp_path / "loaded") as index:
        assert index.load(tmp_path / "copy.jsonl") == 31
        assert index.get("zh").text is not None


def test_counters(service: Running) -> None:
    for _ in range(5):
        service.ask("GET", "/documents/d1")
    status, _headers, body = service.raw("GET", "/metrics")
    lines = body.decode().splitlines()
    assert status == 200
    assert "lookalike_documents 31" in lines
    count = next(line for line in lines if line.startswith('lookalike_requests_total{route="GET /documents/{id}",status="2xx"}'))
    assert float(count.split()[-1]) >= 5
    assert any(line.startswith("lookalike_request_seconds_bucket") for line in lines)


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/search", b"{", {}, 400),
        ("POST", "/search", b"\xff\xfe", {}, 400),
        ("POST", "/search", b"[1]", {}, 422),
        ("POST", "/search", b"{}", {}, 422),
        ("POST", "/search", b'{"text": 1}', {}, 422),
        ("POST", "/search", b'{"text": "a", "by": "nonsense"}', {}, 422),
        ("POST", "/search", b'{"text": "a", "limit": 0}', {}, 422),
        ("POST", "/search", b'{"text": "a", "threshold": 1e999}', {}, 422),
        ("POST", "/search", b'{"simhash": "zz"}', {}, 422),
        ("POST", "/search", b'{"simhash": 340282366920938463463374607431768211456}', {}, 422),
        ("POST", "/search", b'{"text": "a"}', {"Content-Type": "text/plain"}, 415),
        ("POST", "/search", b"x", {"Content-Encoding": "gzip"}, 400),
        ("POST", "/search", b"x", {"Content-Encoding": "zstd"}, 400),
        ("POST", "/search", b"x", {"Content-Encoding": "br"}, 415),
        ("POST", "/search", b'{"record": ' + b'{"a":' * 100_000, {}, 400),
        ("POST", "/compare", b'{"left": {"a": 1}, "right": "b"}', {}, 422),
        ("POST", "/compare", b'{"left": "?", "right": "b", "as": "file"}', {}, 422),
        ("POST", "/fetch", b'{"url": "http://localhost/"}', {}, 403),
        ("POST", "/pairs", b'{"threshold": 2}', {}, 422),
        ("POST", "/pairs", b'{"where": {"site": "zh"}}', {}, 422),
        ("POST", "/pairs", b'{"as": "code", "ignore": ["x"]}', {}, 422),
        ("POST", "/pairs", b'{"leave_out": ["words"]}', {}, 422),
        ("POST", "/search", b'{"vector": [1.0]}', {}, 422),
        ("POST", "/search/batch", b'{"texts": ["a"], "simhashes": [1]}', {}, 422),
        ("POST", "/search/batch", b'{"simhashes": [1], "by": "near"}', {}, 422),
        ("POST", "/search/batch", b'{"texts": ["a"], "by": "nonsense"}', {}, 422),
        ("PUT", "/collections/default", b'{"alias_of": "default"}', {}, 422),
        ("GET", "/documents?limit=x", None, {}, 422),
        ("GET", "/documents?limit=100000", None, {}, 422),
        ("GET", "/documents?where=%7B", None, {}, 422),
        ("GET", "/clusters?threshold=nan", None, {}, 422),
        ("GET", "/clusters?by=nonsense", None, {}, 422),
        ("DELETE", "/search", None, {}, 405),
        ("GET", "/nothing", None, {}, 404),
        ("GET", "/../../etc/passwd", None, {}, 404),
        ("PUT", "/documents/" + "x" * 3000, b'{"text": "a"}', {}, 422),
        ("PUT", "/documents/x", b'{"text": "a", "meta": []}', {}, 422),
        ("POST", "/admit", b'{"id": null, "text": "a"}', {}, 422),
        ("POST", "/collections", b'{"name": ""}', {}, 422),
        ("DELETE", "/collections/default", None, {}, 422),
        ("DELETE", "/collections/nowhere", None, {}, 404),
        ("GET", "/collections/default", None, {}, 405),
        ("POST", "/feedback", b'{"pairs": []}', {}, 422),
        ("POST", "/feedback", b'{"pairs": [{"draft": 1}]}', {}, 422),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    service: Running, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    found, back, answer = service.raw(method, path, body, {"Content-Type": "application/json"} | headers)
    problem = msgspec.json.decode(answer, type=shapes.Problem)
    assert found == status, answer
    assert problem.code
    assert problem.message
    assert problem.request == back["x-request-id"]
    assert "Traceback" not in problem.message
    assert "/store" not in problem.message


def test_answers_are_packed_and_named(service: Running) -> None:
    asked = json.dumps({"text": TEXT, "limit": 50, "with_text": True, "threshold": 0.3}).encode()
    for way, unpack in (("gzip", gzip.decompress), ("zstd", zstandard.decompress)):
        _, headers, body = service.raw(
            "POST", "/search", asked, {"Content-Type": "application/json", "Accept-Encoding": way, "X-Request-Id": "mine-1"}
        )
        assert headers["content-encoding"] == way
        assert headers["x-request-id"] == "mine-1"
        assert json.loads(unpack(body))["matches"]


def test_the_description_names_every_route(service: Running) -> None:
    found = service.ask("GET", "/openapi.json")[1]
    assert {(method.upper(), path) for path, each in found["paths"].items() for method in each} == {(r.method, r.path) for r in table()}
    text = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    assert [route.name for route in table() if f"`{route.method} {route.path}`" not in text] == []
