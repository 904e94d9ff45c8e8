"""The benchmark runs, has every row, and ours and the peers' results agree where they must. Nothing here looks at the clock."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lookalike as la

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"
LENGTHS = (1, 3, 10, 100, 1000)
MODULES = ("speed", "corpus", "peers", "report", "accuracy", "machine")


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The scripts of benchmarks/, which is no package."""
    import importlib

    sys.path.insert(0, str(FOLDER))
    yield {name: importlib.import_module(name) for name in MODULES}
    sys.path.remove(str(FOLDER))
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def result(modules: dict[str, ModuleType]) -> dict[str, Any]:
    speed = modules["speed"]
    found = speed.run_all(None, speed.Effort(documents=4, repetitions=1, least=0.0, features=5_000, lengths=LENGTHS))
    again: dict[str, Any] = json.loads(json.dumps(found))
    assert again == found
    return again


def test_every_job_and_peer_has_a_row(result: dict[str, Any], modules: dict[str, ModuleType]) -> None:
    speed, peers = modules["speed"], modules["peers"]
    wanted = {
        (job.name, job.corpus, a.peer) for job in speed.JOBS for a in peers.adapters(job.task) if not job.goals or a.peer in job.goals
    }
    assert {(row["job"], row["corpus"], row["peer"]) for row in result["rows"]} == wanted
    assert {peer for _, _, peer in wanted} == {adapter.peer for adapter in peers.ADAPTERS}


def test_rows_are_measured_or_say_why_not(result: dict[str, Any]) -> None:
    for row in result["rows"]:
        if "skipped" in row:
            assert "pip install" in row["skipped"]
        else:
            assert row["ours_mb_s"] > 0
            assert row["peer_mb_s"] > 0
            assert row["version"]


def test_results_agree_where_they_must(result: dict[str, Any]) -> None:
    checked = [row for row in result["rows"] if row.get("agree") is not None]
    assert {row["job"] for row in checked} >= {"winnowing with spans, words", "winnowing with spans, chars"}
    assert all(row["agree"] for row in checked)


def test_workers_and_quality(result: dict[str, Any], modules: dict[str, ModuleType]) -> None:
    assert [row["job"] for row in result["workers"]] == list(modules["speed"].WORKERS)
    assert all(row["same_bytes"] for row in result["workers"])
    assert {row["features"] for row in result["quality"]} == set(LENGTHS)
    assert all(row["ours"]["ok"] for row in result["quality"])


def test_the_result_names_machine_and_commit_but_no_path(result: dict[str, Any]) -> None:
    assert result["generated"] is True
    assert {"processor", "cores", "kernels", "system", "load_average"} <= set(result["machine"])
    assert {"commit", "date", "versions"} <= set(result)
    assert str(ROOT) not in json.dumps(result)
    assert str(ROOT) not in (FOLDER / "results" / "speed.json").read_text(encoding="utf-8")


def test_goals_name_peers_that_exist(modules: dict[str, ModuleType]) -> None:
    for job in modules["speed"].JOBS:
        assert set(job.goals) <= {adapter.peer for adapter in modules["peers"].adapters(job.task)}, job.name


def test_the_page_shows_the_committed_result(modules: dict[str, ModuleType]) -> None:
    committed = json.loads((FOLDER / "results" / "speed.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert committed["generated"] is False
    assert modules["report"].replace_measured(page, committed) == page


def test_the_script_shows_a_result_and_fills_a_page(result: dict[str, Any], modules: dict[str, ModuleType], tmp_path: Path) -> None:
    kept, page = tmp_path / "kept.json", tmp_path / "page.md"
    kept.write_text(json.dumps(result), encoding="utf-8")
    page.write_text(f"# Before\n{modules['report'].BEGIN}STALE{modules['report'].END}\nafter\n", encoding="utf-8")
    command = [sys.executable, str(FOLDER / "speed.py"), "--show", str(kept), "--docs", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "Generated text, not real text" in done.stdout
    assert all(row["job"] in done.stdout for row in result["rows"])
    filled = page.read_text(encoding="utf-8")
    assert done.stdout.strip() in filled
    assert "STALE" not in filled
    assert filled.startswith("# Before\n")
    assert filled.endswith("\nafter\n")


def test_a_missing_peer_is_a_visible_row(modules: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    speed, peers = modules["speed"], modules["peers"]

    def missing() -> Any:
        raise ImportError("No module named 'nowhere'")

    adapter = peers.Adapter("nowhere", "minhash-char5", "nowhere", "nothing", missing)
    row = speed.compare(speed.JOBS[0], adapter, ["a text"], speed.QUICK)
    assert row["skipped"] == "not installed: pip install nowhere"
    assert row["version"] is None
    assert "nowhere" in capsys.readouterr().err
    assert "pip install nowhere" in modules["report"].table(["job"] * 8, [modules["report"]._speed_row(row)])


@pytest.mark.parametrize("window", [1, 2, 4, 9])
def test_plain_selection_keeps_the_last_minimum_of_every_window(modules: dict[str, ModuleType], window: int) -> None:
    draw = random.Random(window)
    for length in range(40):
        hashes = [draw.randrange(8) for _ in range(length)]
        size = min(window, length)
        windows = [range(start, start + size) for start in range(length - size + 1)] if length else []
        expected = sorted({max(places, key=lambda place: (-hashes[place], place)) for places in windows})
        assert modules["peers"].select(hashes, window) == expected


@pytest.mark.parametrize("text", ["", "one", "one two three", "The quick brown fox jumps over the lazy dog. " * 5])
def test_plain_winnowing_has_true_spans(modules: dict[str, ModuleType], text: str) -> None:
    peers = modules["peers"]
    words = [text[start:end].lower() for _, start, end in peers.winnow_words(text)]
    ours = [text[start:end].lower() for start, end in la.winnow(text, recipe="words").spans]
    assert all(len(la.tokenize(found, "words")) in (5, len(la.tokenize(text, "words"))) for found in words)
    assert bool(words) == bool(ours)
    assert all(end - start == min(5, len(text)) for _, start, end in peers.winnow_chars(text))


@pytest.mark.parametrize("text", ["one", "fünf wörter sind genug für alle", "北京增值税电子普通发票.pdf", "the quick brown fox " * 9])
def test_plain_winnowing_is_ours_under_the_same_recipe(modules: dict[str, ModuleType], text: str) -> None:
    ours = la.winnow(text, k=5, window=4, recipe="winnow-sha1")
    plain = modules["peers"].winnow_chars(text, modules["peers"].sha1_last2)
    assert plain == [(value, *span) for value, span in zip(ours.values, ours.spans, strict=True)]


def test_generated_corpora_are_the_same_every_time_and_look_like_text(modules: dict[str, ModuleType]) -> None:
    corpus = modules["corpus"]
    first, again = corpus.load(None, 5), corpus.load(None, 5)
    assert first == again
    assert {name: len(found.texts) for name, found in first.items()} == dict.fromkeys(
        ("english", "news", "chinese", "verses", "questions"), 5
    )
    assert all("generated" in found.source for found in first.values())
    words = " ".join(first["english"].texts).lower().split()
    assert words.count("the") > 10 * max(words.count("captain"), 1)
    assert max(first["chinese"].texts[0]) > "一"


def test_real_corpora_are_read_from_a_folder(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    import gzip

    rows = {
        "bible_en": [{"ver": version, "text": f"{version}{verse}"} for version in "ab" for verse in range(16)],
        "lcqmc_zh.dev": [{"a": "问", "b": "答"}],
        "reuters21578": [{"id": "1", "text": "news"}, {"id": "2", "text": ""}],
        "news_zh": [{"id": "1", "text": "新闻"}],
    }
    for name, found in rows.items():
        with gzip.open(tmp_path / f"{name}.{'pairs' if name == 'lcqmc_zh.dev' else 'docs'}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in found)
    corpora = modules["corpus"].load(tmp_path)
    first, second = (" ".join(f"{version}{verse}" for verse in range(15)) for version in "ab")
    assert corpora["english"].texts == [first, "a15", second, "b15"]
    assert corpora["news"].texts == ["news"]
    assert corpora["verses"].texts[:2] == ["a0", "a1"]
    assert corpora["questions"].texts == ["问", "答"]
    assert corpora["chinese"].megabytes == pytest.approx(6e-6)


def test_pairs_have_the_stated_similarity(modules: dict[str, ModuleType]) -> None:
    accuracy = modules["accuracy"]
    assert accuracy.shape(1, 0.8) is None
    for length in accuracy.LENGTHS[:6]:
        for form in filter(None, (accuracy.shape(length, target) for target in accuracy.TARGETS)):
            left, right = map(set, accuracy.pair(random.Random(1), form))
            assert len(left & right) / len(left | right) == pytest.approx(form.jaccard)
            assert len(left) == length


@pytest.mark.skipif(find_spec("datasketch") is None, reason="datasketch is not installed")
def test_ours_and_datasketch_estimate_the_same(modules: dict[str, ModuleType]) -> None:
    accuracy = modules["accuracy"]
    left, right = accuracy.pair(random.Random(7), accuracy.shape(1000, 0.8))
    assert accuracy.ours(left, right) == pytest.approx(0.8, abs=0.15)
    assert accuracy.datasketch()(left, right) == pytest.approx(0.8, abs=0.15)
    assert accuracy.ours(left, left) == accuracy.datasketch()(left, left) == 1


@pytest.mark.parametrize("script", ["search.py", "store.py"])
def test_the_benchmarks_of_search_run(script: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ["--no-peer"] if script == "search.py" else []
    done = subprocess.run(
        [sys.executable, FOLDER / script, "--quick", *options, "--json", out], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text(encoding="utf-8"))
    assert result["machine"]["cores"] >= 1
    assert str(tmp_path) not in out.read_text(encoding="utf-8")
