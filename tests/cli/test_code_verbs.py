"""What the verbs do with source code, and what they say to bad input; and what is said about SimHashes for reposts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples" / "code"
ORIGINAL, COPY = EXAMPLES / "prices.py", EXAMPLES / "copied.py"


def test_compare(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = run("compare", "--as", "code", ORIGINAL, COPY, "--html", page)
    assert done.returncode == 0
    assert "shared: A lines 3–10, B lines 6–9" in done.stdout
    assert 'class="line"' in page.read_text(encoding="utf-8")
    found = json.loads(run("compare", "--as", "code", "--json", ORIGINAL, COPY).stdout)
    assert found["kind"] == "code"
    assert found["language"] == "python"
    assert found["passages"][0]["lines"] == {"left": [3, 10], "right": [6, 9]}
    ignored = run("compare", "--as", "code", "--ignore", ORIGINAL, ORIGINAL, ORIGINAL, "--json")
    assert json.loads(ignored.stdout)["ignored"]["left"] > 0.7


def test_a_language_is_named_where_no_name_says_it(run: Run) -> None:
    source = ORIGINAL.read_bytes()
    assert run("compare", "--as", "code", "-", ORIGINAL, stdin=source).returncode == 2
    assert run("compare", "--as", "code", "--language", "python", "-", ORIGINAL, stdin=source).returncode == 0
    assert run("fingerprint", "--as", "code", "--language", "py", "--text", "x = 1", "--kind", "simhash").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", ORIGINAL, COPY, "--language", "python"), "add --as code"),
        (("compare", "--as", "code", "--language", "klingon", ORIGINAL, COPY), "not known"),
        (("fingerprint", "--as", "code", "--text", "x = 1"), "--language python"),
        (("fingerprint", "--as", "code", "--recipe", "words", ORIGINAL), "leave out --recipe"),
        (("add", "STORE", ORIGINAL, "--as", "code", "--recipe", "words"), "leave out --recipe"),
        (("add", "STORE", EXAMPLES, "--as", "code"), "--language python"),
    ],
)
def test_bad_input(run: Run, tmp_path: Path, arguments: tuple[object, ...], said: str) -> None:
    done = run(*(tmp_path / "store" if argument == "STORE" else argument for argument in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "store").exists()


def test_a_collection_of_code(run: Run, tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "files"
    folder.mkdir()
    (folder / "a.py").write_bytes(ORIGINAL.read_bytes())
    (folder / "note.txt").write_text("a note", encoding="utf-8")
    done = run("add", store, folder, "--as", "code", "--language", "python", "--json")
    assert json.loads(done.stdout)["added"] == 1
    assert "another language" in done.stderr
    found = json.loads(run("search", store, COPY, "--as", "code", "--by", "passages", "--json").stdout)
    assert [Path(match["id"]).name for match in found] == ["a.py"]
    other = tmp_path / "x.java"
    other.write_text("class X {}", encoding="utf-8")
    assert "is java" in run("search", store, other, "--as", "code").stderr
    plain = tmp_path / "plain"
    assert run("add", plain, folder).returncode == 0
    assert "needs a collection of code" in run("search", plain, COPY, "--as", "code").stderr


def test_fingerprints_of_disguised_copies(run: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("def area(w, h):\n    return w * h  # product\n", encoding="utf-8")
    two.write_text("def f( x,y ): return x*y", encoding="utf-8")
    lines = run("fingerprint", "--as", "code", "--kind", "minhash", "--json", one, two).stdout.splitlines()
    assert len({json.dumps(json.loads(line)["fingerprints"]) for line in lines}) == 1


def test_dedupe_recommends_the_recipe_for_reposts(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": 1, "text": "one text that is here"}\n', encoding="utf-8")
    arguments = ("dedupe", rows, "--out", tmp_path / "out.jsonl", "--method", "simhash")
    assert "--recipe reposts" in run(*arguments).stderr
    assert "reposts" not in run(*arguments, "--recipe", "reposts").stderr
    assert "recall, ≤ 300 characters" in run("plan", rows, "--method", "simhash").stdout
