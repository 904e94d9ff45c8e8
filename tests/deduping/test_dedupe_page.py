"""The report page, the plan, progress and the budget."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from browser import Browser
from dedupe_corpora import near_copies, rows_of, write_jsonl
from lookalike.cli.progress import stage_line
from lookalike.deduping.progress import Progress
from lookalike.deduping.settings import Criteria
from lookalike.leaders import decider
from lookalike.leaders.sketching import Sketcher
from lookalike.reports.plots import Scale
from lookalike.text.columns import joined
from lookalike.text.features import secret_features

HOSTILE = '<script>alert("x")</script> & \u202e</style> one two three four five six'


@pytest.fixture(scope="module")
def report() -> la.DedupeReport:
    texts = [HOSTILE, *[HOSTILE.upper()] * 20, *near_copies(7, 200, 160)]
    return la.dedupe([{"id": f"<b>{i}</b>", "text": text} for i, text in enumerate(texts)])


def test_the_page_shows_what_happened(report: la.DedupeReport) -> None:
    html = report.to_html(title="A <title>")
    for heading in ("Similarity", "Cluster sizes", "Nearest to the threshold", "The largest clusters", "Time"):
        assert f"<h2>{heading}</h2>" in html
    assert f"<b>{report.documents}</b>documents read" in html
    assert html.count("<svg") == 3
    assert '<a class="reworded"' in html
    assert "similarity 0." in html


def test_nothing_in_the_page_acts(report: la.DedupeReport) -> None:
    html = report.to_html(title="A <title>")
    assert "<script" not in html
    assert "<b>0</b>" not in html
    assert "&lt;script&gt;" in html
    assert "U+202E" in html
    assert not re.search(r"""src=|href=(?!"#)""", html)  # links within the page alone
    assert "<title>A &lt;title&gt;</title>" in html


def test_chinese_texts_are_marked_where_they_differ() -> None:
    """There are no spaces to split at: the whole text was one different word."""
    text = "社区图书馆将于下周一重新开放，读者可以在线预约座位，并在周末参加亲子阅读活动，新的公交线路缩短了从北站到大学城的时间。" * 3
    html = la.dedupe([{"text": text}, {"text": text.replace("周一", "周三", 1)}, {"text": text.replace("北站", "南站", 1)}]).to_html()
    marked = re.findall(r'<(?:del|ins|a class="reworded"[^>]*)>([^<]*)</', html.partition("Nearest to the threshold")[2])
    marks = [mark for mark in marked if not mark.isascii()]
    assert {"一", "三"} <= set(marks) or {"北", "南"} <= set(marks)
    assert all(len(mark) < 5 for mark in marks)


def test_the_pairs_nearest_to_the_threshold() -> None:
    report = la.dedupe(rows_of(near_copies(9, 400, 160)), threshold=0.7)
    clusters, nearest = report.samples(3, 5)
    similarities = sorted(each.similarity for each in report.removed if each.similarity < 1)
    assert [sample.similarity for sample in nearest] == sorted(sample.similarity for sample in nearest)
    assert nearest[0].similarity == similarities[0] < 0.8
    assert len({sample.kept_id for sample in nearest}) == len(nearest) == 5
    assert [removed + 1 for removed, _ in clusters] == report.cluster_sizes()[:3].tolist()
    html = report.to_html()
    assert f"similarity {similarities[0]:.4f}" in html
    assert "the similarity is at least 0.7" in html


def test_places_in_the_page_are_named_once() -> None:
    html = la.dedupe(rows_of(near_copies(9, 400, 160)), threshold=0.7).to_html()
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) > 4
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


def test_a_store_has_the_kept_text(tmp_path: Path) -> None:
    texts = near_copies(10, 20, 160)
    with la.open(tmp_path / "store") as index:
        index.add("stored", texts[0])
    html = la.dedupe([{"text": texts[0] + " more"}, {"text": texts[1]}], against=tmp_path / "store").to_html()
    assert "<i>in the store</i>" in html


@pytest.mark.parametrize(
    ("values", "ticks", "logarithmic"),
    [
        ([1], [0, 1], False),
        ([1, 2], [0, 1, 2], False),
        ([3, 17], [0, 5, 10, 15], False),
        ([200, 282], [0, 100, 200], False),
        ([1, 31], [1, 10], True),
        ([5, 564_810, 12], [1, 10, 100, 1_000, 10_000, 100_000], True),
        ([], [0, 1], False),
    ],
)
def test_scales(values: list[float], ticks: list[int], logarithmic: bool) -> None:
    scale = Scale.of(values)
    assert (list(scale.ticks), scale.logarithmic) == (ticks, logarithmic)
    heights = [scale.height(value) for value in sorted(values)]
    assert heights == sorted(heights)
    assert all(0.03 <= height <= 1 for height in heights)


def test_the_page_needs_nothing_else(report: la.DedupeReport, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report.to_html(path)
    with Browser() as browser:
        browser.open(path)
        assert browser.run("document.querySelectorAll('svg rect').length") > 5
        assert browser.run("document.querySelectorAll('script').length") == 0
        assert all(address.startswith("file:") for address in browser.requests)


def test_empty_reports_have_a_page() -> None:
    assert "documents read" in la.dedupe([]).to_html()
    assert "<h2>Similarity</h2>" not in la.dedupe([{"text": "a"}]).to_html()


def test_problems_and_hot_buckets_are_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decider, "BUCKET_LIMIT", 2)
    words = [f"w{i}" for i in range(100)]
    texts = [" ".join([*words, *(f"x{i}-{j}" for j in range(60))]) for i in range(30)]
    source = tmp_path / "in.jsonl"
    write_jsonl(source, rows_of(texts))
    source.write_text(source.read_text() + "broken\n")
    found = la.dedupe(source, on_error="skip", html=tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert "Hot buckets" in html
    assert "in.jsonl:31" in html
    assert found.to_dict()["hot_buckets"][0]["refused"] > 0
    assert found.outputs == {"html": str(tmp_path / "report.html")}


class TestPlan:
    def test_a_small_corpus_is_counted(self, tmp_path: Path) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(1, 300, 200)))
        found = la.plan(source)
        assert (found.documents, found.sampled, found.bytes) == (300, 300, source.stat().st_size)
        assert found.recall[0.8] >= 0.995
        assert found.warnings == []
        assert found.pairs[0] == found.pairs[1] > 0
        assert 0.2 < found.removed_share < 0.5

    @pytest.mark.parametrize("packing", [False, True])
    def test_a_large_one_is_estimated(self, tmp_path: Path, packing: bool) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(1, 8000, 200)))
        if packing:
            (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
            source = tmp_path / "in.jsonl.gz"
        found = la.plan(source, sample=500)
        assert found.sampled < 2500
        assert 8000 * 0.6 < found.documents < 8000 * 1.6
        assert found.pairs[1] > found.pairs[0] > 0

    def test_short_texts_are_warned_of(self, tmp_path: Path) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", rows_of([f"only a few words {i}" for i in range(50)]))
        assert "100% of the texts have fewer than 20 shingles" in la.plan(source).warnings[0]

    def test_a_budget_that_cannot_be_met_is_warned_of(self, tmp_path: Path) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(1, 100, 200)))
        assert "cannot go to disk" in la.plan(source, memory="1M").warnings[0]

    def test_bad_rows_are_warned_of(self, tmp_path: Path) -> None:
        source = tmp_path / "in.jsonl"
        source.write_text('{"text": "a"}\nbroken\n')
        assert any("in.jsonl:2: invalid JSON" in warning for warning in la.plan(source).warnings)
        source.write_text("broken\n")
        with pytest.raises(la.InputError, match="no document could be read"):
            la.plan(source)
        with pytest.raises(la.InputError, match="sample=0"):
            la.plan(source, sample=0)

    @pytest.mark.parametrize("method", ["simhash", "exact"])
    def test_other_methods_have_no_bands(self, tmp_path: Path, method: str) -> None:
        found = la.plan(write_jsonl(tmp_path / "in.jsonl", rows_of(["a", "b"])), method=method).to_dict()
        assert (found["recall"], found["bands"]) == ({}, 0)

    def test_folders(self, tmp_path: Path) -> None:
        for i in range(20):
            (tmp_path / f"{i}.txt").write_text(f"text {i}")
        assert la.plan(tmp_path).documents == 20
        assert la.plan(tmp_path, sample=1).documents == 20


def test_progress(tmp_path: Path) -> None:
    steps: list[Progress] = []
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(1, 300)))
    la.dedupe(source, keep="longest", progress=steps.append)
    assert {step.stage for step in steps} == {"read", "compare"}
    reading = [step for step in steps if step.stage == "read"]
    assert reading[-1].done == reading[-1].total == source.stat().st_size
    assert stage_line(Progress("read", 50_000_000, 100_000_000, "bytes", 2.0)) == "read, 50 MB (50%), 25 MB/s, 2 s left"
    assert stage_line(Progress("compare", 10, None, "documents", 0.0)) == "compare, 10 documents, 0 per second"


@pytest.mark.parametrize("packed", [True, False])
def test_features_go_to_files_beyond_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    """All that are kept, and of a plain file those that were needed twice."""
    monkeypatch.setattr(decider, "LEAST_FEATURES", 1 << 12)
    monkeypatch.setattr("lookalike.corpus.formats.lines.BLOCK", 20_000)
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(13, 600, 200)))
    if packed:
        source = source.with_suffix(".jsonl.gz")
        source.write_bytes(gzip.compress((tmp_path / "in.jsonl").read_bytes()))
    whole = la.dedupe(source)
    spilled = la.dedupe(source, memory="1M")
    assert spilled.to_dict()["spilled_bytes"] > (100_000 if packed else 50_000)
    assert whole.to_dict()["spilled_bytes"] == 0
    assert [tuple(each) for each in spilled.removed] == [tuple(each) for each in whole.removed]
    assert len(whole.removed) > 100


def test_sketches_follow_the_recipe() -> None:
    recipe = la.Recipe(ngram=2, normalize="none")
    (texts,) = joined(["a b c", "A b c"])
    found = Sketcher(Criteria(recipe=recipe).rule, 1).sketch(texts)
    first, second = found.features[: found.offsets[1]], found.features[found.offsets[1] :]
    assert sorted(first.tolist()) == list(secret_features("a b c", recipe))
    assert sorted(second.tolist()) == list(secret_features("A b c", recipe))
    assert len(found) == 2


def test_settings_are_in_the_report(report: la.DedupeReport) -> None:
    found: dict[str, Any] = json.loads(json.dumps(report.to_dict()))
    assert found["settings"] == {
        "method": "minhash", "level": "document", "keep": "first", "recipe": la.Recipe().id, "threshold": 0.8, "size": 70, "bands": 14, "rows": 5,
    }  # fmt: skip
