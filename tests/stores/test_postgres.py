"""The PostgreSQL store: the whole contract on a real server, and the same answers as the embedded store."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.testing import StoreContract
from postgres_server import empty_database
from stores_under_test import InPostgres


class TestPostgres(InPostgres, StoreContract):
    pass


def searches(index: la.Index, text: str, value: int) -> list[object]:
    """Everything that can be asked about a text, with totals and notes."""
    found: list[object] = []
    for by in ("near", "passages", "tlsh", "ssdeep", "fuzzy"):
        for threshold in (None, 0.3):
            try:
                matches = index.search(text, by=by, threshold=threshold, limit=25)
            except la.InputError as error:  # no digest of a text so short
                found.append((by, str(error)))
            else:
                found.append((by, threshold, [match.to_dict() for match in matches], matches.total, matches.notes))
    for k in range(9):
        near = index.search(simhash=value, k=k, limit=None)
        found.append(("simhash", k, [match.to_dict() for match in near], near.total))
    return found


def real_documents() -> list[tuple[str | int, str]]:
    """Thousands of paragraphs of this project's own documentation and sources, with copies, changes and boilerplate."""
    chance = random.Random(5)
    root = Path(__file__).parents[2]
    paths = sorted([*root.glob("docs/*.md"), *root.glob("src/**/*.py"), *root.glob("tests/**/*.py"), *root.glob("native/**/*.cpp")])
    pieces = [piece.strip() for path in paths for piece in path.read_text(encoding="utf-8").split("\n\n") if len(piece) > 40]
    chance.shuffle(pieces)
    made: list[tuple[str | int, str]] = []
    for number, piece in enumerate(pieces[:2600]):
        words = piece.split(" ")
        if number % 5 == 0:
            words[chance.randrange(len(words))] = "changed"
        if number % 3 == 0:
            words.append("All rights reserved by the authors of these few words, which every third document ends with.")
        made += [(number if number % 7 == 0 else f"{number}", piece), (f"copy {number}", " ".join(words))][: 1 + (number % 2)]
    return made


@pytest.mark.parametrize(("keep_text", "packaged", "step"), [(True, False, 61), (False, False, 200), (True, True, 200)])
def test_every_search_gives_what_the_embedded_store_gives(keep_text: bool, packaged: bool, step: int, tmp_path: Path) -> None:
    """On the server that tests use, and on the newest that there is."""
    documents = real_documents()
    assert len(documents) > 3000
    gone = [id_ for id_, _ in documents[::11]]
    values = la.simhashes([text for _, text in documents])
    with (
        la.open(tmp_path / "embedded", keep_text=keep_text) as embedded,
        la.open(empty_database(packaged=packaged), keep_text=keep_text) as postgres,
    ):
        for index in (embedded, postgres):
            index.add(documents)
            index.add([(id_, text + " and more") for id_, text in documents[5::50]])
            index.remove(gone)
        assert list(embedded.documents()) == list(postgres.documents())
        nonempty = 0
        for place in range(0, len(documents), step):
            expected = searches(embedded, documents[place][1], int(values[place]))
            assert searches(postgres, documents[place][1], int(values[place])) == expected
            nonempty += any(part[2] for part in expected if len(part) > 3)  # type: ignore[index,arg-type,misc]
        assert nonempty > 2000 // step
        for k in (3, 12):
            left, right = (index.search_simhashes(values[:300], k=k) for index in (embedded, postgres))
            assert all((a == b).all() for a, b in zip(left, right, strict=True))
        assert embedded.clusters() == postgres.clusters()
        assert embedded.clusters(by="simhash", k=3) == postgres.clusters(by="simhash", k=3)
        assert postgres.check().ok


def test_the_command_line_takes_the_url(tmp_path: Path) -> None:
    url = empty_database().replace("postgres@", "postgres:s3cr3t@") + "&collection=news"
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "some words about a harbour in the winter"}\n')

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([str(Path(sys.executable).with_name("lookalike")), *arguments], capture_output=True, text=True, check=False)
        assert "s3cr3t" not in done.stdout + done.stderr
        return done

    assert run("add", url, str(tmp_path / "a.jsonl")).returncode == 0
    found = run("search", url, "--text", "some words about a harbour in the winter", "--json")
    assert [match["id"] for match in json.loads(found.stdout)] == ["a"]
    assert run("check", url).returncode == 0
    assert run("compact", url).returncode == 0
    assert json.loads(run("stats", url, "--json").stdout)["documents"] == 1
    assert run("get", url, "b").returncode != 0
