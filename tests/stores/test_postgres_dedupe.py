"""Dedupe against a store in PostgreSQL: what it does against an embedded one, from the library and from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl
from postgres_server import empty_database

TEXTS = near_copies(22, 90, 160)
STORED = [(f"s{i}", text) for i, text in enumerate(TEXTS[:40])]
PASSWORD = "s3cr3t"


@pytest.fixture
def url() -> str:
    """A store with the first forty documents. The server asks for no password, and nobody may show the one that is given."""
    url = empty_database().replace("postgres@", f"postgres:{PASSWORD}@") + "&collection=news"
    with la.open(url) as index:
        index.add(STORED)
    return url


def removed_of(report: Any) -> list[tuple[object, object, float]]:
    return [(each.id, each.kept_id, each.similarity) for each in report.removed]


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_the_same_goes_as_against_an_embedded_store(url: str, tmp_path: Path, method: str) -> None:
    with la.open(tmp_path / "embedded") as index:
        index.add(STORED)
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(TEXTS[20:]))
    found = []
    for store in (url, tmp_path / "embedded"):
        report = la.dedupe(source, out=tmp_path / "out.jsonl", method=method, against=store)
        assert PASSWORD not in report.to_html() + json.dumps(report.to_dict(), default=str)
        found.append((removed_of(report), read_jsonl(tmp_path / "out.jsonl")))
    assert found[0] == found[1]
    assert sum(str(kept_id).startswith("s") for _, kept_id, _ in found[0][0]) >= 20
    with la.open(url, read_only=True) as index:
        assert len(index) == 40


def test_what_stays_is_added(url: str, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(TEXTS[40:]))
    report = la.dedupe(source, out=tmp_path / "out.jsonl", against=url, add=True)
    kept = [row["id"] for row in read_jsonl(tmp_path / "out.jsonl")]
    assert report.added == len(kept) > 0
    with la.open(url) as index:
        assert list(index.ids()) == [id_ for id_, _ in STORED] + kept
        assert index.check().ok
    assert len(la.dedupe(source, out=tmp_path / "again.jsonl", against=url).kept) == 0


def test_from_the_command_line(url: str, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(TEXTS[20:]))

    def run(*options: str, against: str = url) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("lookalike")), "dedupe", str(source), "--against", against, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert PASSWORD not in done.stdout + done.stderr
        return done

    report = tmp_path / "report.html"
    first = run(
        "--out", str(tmp_path / "out.jsonl"), "--removed", str(tmp_path / "removed.jsonl"), "--html", str(report), "--add", "--json"
    )
    assert first.returncode == 0, first.stderr
    kept = {row["id"] for row in read_jsonl(tmp_path / "out.jsonl")}
    removed = read_jsonl(tmp_path / "removed.jsonl")
    assert len(kept) + len(removed) == len(TEXTS) - 20
    assert all(row["kept_id"] in kept or row["kept_id"].startswith("s") for row in removed)
    assert PASSWORD not in report.read_text(encoding="utf-8")
    with la.open(url, read_only=True) as index:
        assert len(index) == 40 + len(kept)
    second = run("--out", str(tmp_path / "again.jsonl"), "--quiet")
    assert second.returncode == 0, second.stderr
    assert read_jsonl(tmp_path / "again.jsonl") == []
    refused = run("--out", str(tmp_path / "other.jsonl"), "--recipe", "chars")
    assert refused.returncode == 2
    assert "made with recipe" in refused.stderr
    several = run("--out", str(tmp_path / "other.jsonl"), "--against", url)
    assert several.returncode == 2
    assert "give one store" in several.stderr
    gone = run("--out", str(tmp_path / "other.jsonl"), against=url.replace("news", "nothing"))
    assert gone.returncode == 3
    assert "has no collection 'nothing'" in gone.stderr
