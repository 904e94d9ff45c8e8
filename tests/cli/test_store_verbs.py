"""The verbs of a store, from an empty folder to an export, as a program."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from terminal import shown_on_a_terminal

ROOT = Path(__file__).parents[2]
CORPUS = str(ROOT / "examples" / "corpus.jsonl")
ROWS = {row["id"]: row["text"] for row in map(json.loads, Path(CORPUS).read_text(encoding="utf-8").splitlines())}
FIRST = next(iter(ROWS))

Run = Callable[..., Any]


@pytest.fixture
def store(tmp_path: Path, run: Run) -> Path:
    path = tmp_path / "news.lookalike"
    assert run("add", path, CORPUS, "--quiet").returncode == 0
    return path


class TestAdd:
    @pytest.mark.parametrize("verb", ["add", "admit"])
    def test_documents_expire(self, tmp_path: Path, run: Run, verb: str) -> None:
        store, rows = tmp_path / "store", tmp_path / "rows.jsonl"
        rows.write_text('{"id": "old", "text": "rain", "until": "2020-01-01"}\n{"id": "new", "text": "sun", "until": 4102444800}\n')
        for options, there in (
            (("--expires", "until"), ["new"]),
            (("--expires", "1577836800"), []),
            (("--expires", "2020-01-01"), []),
            (("--ttl", "600"), ["old", "new"]),
        ):
            done = run(verb, store, rows, "--collection", options[1], *options, "--quiet")
            assert (done.returncode, done.stderr) == (0, ""), options
            with la.open(store, collection=options[1]) as index:
                assert list(index.ids()) == there
        done = run(verb, store, rows, "--expires", "31.12.2026", "--quiet")
        assert done.returncode == 2
        assert "expires='31.12.2026': give" in done.stderr

    def test_counts(self, tmp_path: Path, run: Run) -> None:
        store = tmp_path / "store"
        done = run("add", store, CORPUS, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == {"documents": 30, "added": 30, "updated": 0, "skipped": 0}
        assert json.loads(run("add", store, CORPUS, "--json").stdout) == {"documents": 30, "added": 0, "updated": 30, "skipped": 0}
        assert run("add", store, CORPUS).stdout == "30 documents: 0 added, 30 updated\n"
        with la.open(store, read_only=True) as index:
            assert len(index) == 30
            assert index.get(FIRST).text == ROWS[FIRST]

    def test_columns_formats_and_meta(self, tmp_path: Path, run: Run) -> None:
        table = tmp_path / "t.csv.gz"
        table.write_bytes(gzip.compress("key;no,body,lang\nk1,相似的文本,zh\n".encode()))
        done = run("add", tmp_path / "s", table, "--text-column", "body", "--id-column", "key;no", "--json")
        assert json.loads(done.stdout)["added"] == 1
        assert json.loads(run("get", tmp_path / "s", "k1", "--json").stdout) == {"id": "k1", "text": "相似的文本", "meta": {"lang": "zh"}}

    def test_a_folder_of_texts(self, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts" / "a.txt").write_bytes("我们对这片土地爱得深沉，因为这里有我们的家。".encode("gb18030"))
        (tmp_path / "texts" / "b.pdf").write_bytes(b"%PDF-1.7 ")
        done = run("add", "s", "texts", "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout) == {"documents": 2, "added": 2, "updated": 0, "skipped": 0}
        assert "texts/b.pdf: no text: broken: " in done.stderr
        assert run("get", "s", "texts/a.txt").stdout.endswith("我们对这片土地爱得深沉，因为这里有我们的家。\n")

    def test_a_store_beside_its_texts_is_not_added_to_itself(self, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.txt").write_text("some text")
        for counts in ({"added": 1, "updated": 0}, {"added": 0, "updated": 1}):
            done = run("add", "store", ".", "--json")
            assert json.loads(done.stdout) == {"documents": 1, **counts, "skipped": 0}
            assert run("compact", "store").returncode == 0

    def test_standard_input(self, tmp_path: Path, run: Run) -> None:
        done = run("add", tmp_path / "s", "-", "--json", stdin=b'{"id": 7, "text": "seven"}\n{"id": 8, "text": "eight"}\n')
        assert json.loads(done.stdout)["added"] == 2
        assert json.loads(run("get", tmp_path / "s", "7", "--json").stdout)["id"] == 7

    def test_problems_are_named_and_counted(self, tmp_path: Path, run: Run) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"id": "a", "text": "some text"}\n{oops\n' + '{"id": "b"}\n' * 30)
        done = run("add", tmp_path / "s", path)
        assert (done.returncode, done.stdout) == (0, "1 document: 1 added, 0 updated\n")
        assert f"{path}:2: invalid JSON" in done.stderr
        assert "… and 11 more problems" in done.stderr
        assert "31 skipped" in done.stderr
        assert run("add", tmp_path / "s", path, "--quiet").stderr == ""

    def test_nothing_to_add(self, tmp_path: Path, run: Run) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"body": "x"}\n')
        done = run("add", tmp_path / "s", path, "--json")
        assert done.returncode == 2
        assert "'text'" in done.stderr
        assert "'body'" in done.stderr
        assert not (tmp_path / "s").exists()
        path.write_text("")
        assert run("add", tmp_path / "s", path).returncode == 0

    def test_settings_of_a_new_collection(self, tmp_path: Path, run: Run) -> None:
        store = tmp_path / "s"
        options = [
            "--no-text",
            "--recipe",
            "chars",
            "--kinds",
            "simhash,minhash",
            "--threshold",
            "0.7",
            "--recall",
            "0.9",
            "--collection",
            "c",
        ]
        assert run("add", store, CORPUS, *options).returncode == 0
        with la.open(store, collection="c", read_only=True) as index:
            assert index.get(FIRST).text is None
            assert len(index) == 30
        assert run("get", store, FIRST, "--collection", "c").stdout == f"{FIRST}\n(the text is not kept here)\n"
        done = run("add", store, CORPUS, "--recipe", "default", "--collection", "c")
        assert done.returncode == 2
        assert "recipe" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["missing.jsonl"], "does not exist"),
            (["nothing-*.txt"], "no file matches"),
            ([CORPUS, "--format", "xml"], "'xml' is not one of"),
            ([CORPUS, "--encoding", "utf-16"], "encoding='utf-16'"),
            ([CORPUS, "--recipe", "nonsense"], "unknown recipe"),
            ([], "Missing argument"),
        ],
    )
    def test_wrong_usage_leaves_no_store(self, tmp_path: Path, run: Run, arguments: list[str], message: str) -> None:
        done = run("add", tmp_path / "s", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (tmp_path / "s").exists()

    @pytest.mark.parametrize(("arguments", "message"), [(["--kinds", "nonsense"], "nonsense"), (["--threshold", "7"], "threshold=7")])
    def test_settings_that_make_no_sense(self, tmp_path: Path, run: Run, arguments: list[str], message: str) -> None:
        done = run("add", tmp_path / "s", CORPUS, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


class TestGetAndRemove:
    def test_get_json(self, store: Path, run: Run) -> None:
        done = run("get", store, *list(ROWS)[:3], "--json")
        assert [json.loads(line) for line in done.stdout.splitlines()] == [
            {"id": name, "text": ROWS[name], "meta": {}} for name in list(ROWS)[:3]
        ]

    def test_missing_ids_do_not_hide_the_others(self, store: Path, run: Run) -> None:
        done = run("get", store, "no-such", FIRST, "--json")
        assert done.returncode == 3
        assert json.loads(done.stdout)["id"] == FIRST
        assert "no-such" in done.stderr

    def test_readable(self, tmp_path: Path, run: Run) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps({"id": "a", "text": "one\x1b[31m\n\ttwo", "lang": "en", "n": 3}))
        run("add", tmp_path / "s", path)
        assert run("get", tmp_path / "s", "a", "a").stdout == "a\nlang: en\nn: 3\none\\x1b[31m\n        two\n"

    def test_remove(self, store: Path, run: Run) -> None:
        done = run("remove", store, FIRST, "no-such", FIRST, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout) == {"removed": 1, "missing": 1}
        assert run("get", store, FIRST).returncode == 3
        done = run("remove", store, FIRST)
        assert (done.stdout, done.stderr) == ("0 removed\n", "lookalike: not there: 1\n")

    def test_ids_on_standard_input(self, store: Path, run: Run) -> None:
        names = list(ROWS)[:5]
        listed = "\r\n".join(names).encode()
        assert len(run("get", store, "-", "--json", stdin=listed).stdout.splitlines()) == 5
        assert json.loads(run("remove", store, "-", "--json", stdin=b"\xef\xbb\xbf" + listed).stdout) == {"removed": 5, "missing": 0}
        assert "not UTF-8" in run("remove", store, "-", stdin=b"\xff").stderr

    def test_ids_that_are_numbers(self, tmp_path: Path, run: Run) -> None:
        run("add", tmp_path / "s", "-", stdin=b'{"id": 1, "text": "one"}\n{"id": -2, "text": "two"}\n')
        assert json.loads(run("get", tmp_path / "s", "--json", "--", "-2").stdout)["text"] == "two"
        for name in ("007", "9" * 40, "3"):
            assert run("get", tmp_path / "s", name).returncode == 3
        assert json.loads(run("remove", tmp_path / "s", "1", "3", "--json").stdout) == {"removed": 1, "missing": 1}
        run("add", tmp_path / "s", "-", stdin=b'{"id": "-2", "text": "as text"}\n')
        assert json.loads(run("get", tmp_path / "s", "--json", "--", "-2").stdout)["text"] == "as text"


class TestSearch:
    def test_json(self, store: Path, run: Run) -> None:
        done = run("search", store, "--text", ROWS[FIRST], "--json")
        found = json.loads(done.stdout)
        assert done.returncode == 0
        assert found[0]["id"] == FIRST
        assert found[0]["score"] == 1.0
        for match in found:
            assert set(match) == {"id", "score", "scale", "distance", "passages", "meta"}
            for passage in match["passages"]:
                left, right = (la.fold(text[slice(*passage[side])]) for text, side in ((ROWS[FIRST], "left"), (ROWS[match["id"]], "right")))
                assert left == right

    @pytest.mark.parametrize("by", ["near", "simhash", "passages"])
    def test_the_same_as_the_index(self, store: Path, run: Run, by: str) -> None:
        found = json.loads(run("search", store, "--text", ROWS[FIRST], "--by", by, "--limit", "3", "--json").stdout)
        with la.open(store, read_only=True) as index:
            assert found == [match.to_dict() for match in index.search(ROWS[FIRST], by=by, limit=3)]
        assert found

    def test_files_and_standard_input(self, tmp_path: Path, store: Path, run: Run) -> None:
        path = tmp_path / "query.txt"
        path.write_bytes(ROWS[FIRST].encode("gb18030"))
        from_file = run("search", store, path, "--json")
        assert "read as gb18030" in from_file.stderr
        from_stdin = run("search", store, "-", "--json", stdin=ROWS[FIRST].encode())
        assert from_file.stdout == from_stdin.stdout == run("search", store, "--text", ROWS[FIRST], "--json").stdout

    def test_simhash(self, store: Path, run: Run) -> None:
        value = la.simhash(ROWS[FIRST]).hex
        found = json.loads(run("search", store, "--simhash", value, "--json").stdout)
        assert (found[0]["id"], found[0]["distance"]) == (FIRST, 0)
        assert json.loads(run("search", store, "--simhash", value, "--k", "0", "--json").stdout)[0]["id"] == FIRST

    def test_fuzzy(self, tmp_path: Path, run: Run) -> None:
        text = " ".join(f"line {number} of a file that is long enough, {number * number}" for number in range(200))
        (tmp_path / "a.txt").write_text(text)
        (tmp_path / "b.txt").write_text(text.replace("line 77 ", "row 77 "))
        run("add", tmp_path / "s", tmp_path / "a.txt")
        found = json.loads(run("search", tmp_path / "s", tmp_path / "b.txt", "--by", "fuzzy", "--json").stdout)
        assert [match["id"] for match in found] == [str(tmp_path / "a.txt")]
        for by in ("fuzzy", "tlsh", "ssdeep"):
            from_stdin = run("search", tmp_path / "s", "-", "--by", by, "--json", stdin=(tmp_path / "b.txt").read_bytes())
            assert [match["id"] for match in json.loads(from_stdin.stdout)] == [str(tmp_path / "a.txt")]

    def test_readable(self, store: Path, run: Run) -> None:
        lines = run("search", store, "--text", ROWS[FIRST]).stdout.splitlines()
        assert lines[0].split() == ["id", "score", "(jaccard)", "distance"]
        assert lines[1].startswith(f"{FIRST}  ")
        assert "1.0000" in lines[1]
        assert ROWS[FIRST][:10] in lines[1]

    def test_nothing_looks_like_it(self, store: Path, run: Run) -> None:
        done = run("search", store, "--text", "completely different words about nothing in particular, none of them there")
        assert (done.returncode, done.stdout) == (0, "nothing looks like it\n")
        assert run("search", store, "--text", "completely different words about nothing at all", "--json").stdout == "[]\n"

    def test_more_than_the_limit(self, store: Path, run: Run) -> None:
        with la.open(store) as index:
            index.add((f"copy-{number}", ROWS[FIRST]) for number in range(5))
        done = run("search", store, "--text", ROWS[FIRST], "--limit", "2", "--json")
        assert len(json.loads(done.stdout)) == 2
        assert "the best 2 are shown" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "one thing to look for"),
            (["--text", "a", "--simhash", "0x1"], "one thing to look for"),
            ([CORPUS, "--text", "a"], "one thing to look for"),
            (["--simhash", "nonsense"], "hexadecimal"),
            (["--simhash", "0x1", "--by", "near"], "leave out --by near"),
            (["--simhash", "0x1" + "0" * 16], "simhash"),
            (["--text", "a", "--by", "meaning"], "meaning"),
            (["--text", "a", "--limit", "0"], "limit=0"),
            (["--text", "a", "--threshold", "2"], "threshold=2"),
            (["--text", "a", "--by", "simhash", "--k", "-1"], "k=-1"),
            (["missing.txt"], "does not exist"),
        ],
    )
    def test_wrong_usage(self, store: Path, run: Run, arguments: list[str], message: str) -> None:
        done = run("search", store, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr

    def test_a_reader_changes_nothing(self, store: Path, run: Run) -> None:
        before = {path: path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}
        for verb in (["search", store, "--text", ROWS[FIRST]], ["get", store, FIRST], ["stats", store], ["check", store]):
            assert run(*verb).returncode == 0
        assert {path: path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()} == before


class TestUpkeep:
    def test_stats(self, store: Path, run: Run) -> None:
        assert json.loads(run("stats", store, "--json").stdout)["documents"] == 30
        assert re.search(r"^documents +30$", run("stats", store).stdout, re.MULTILINE)

    def test_check_and_compact(self, store: Path, run: Run) -> None:
        done = run("check", store)
        assert (done.returncode, done.stdout) == (0, "everything is as it should be\n")
        run("remove", store, FIRST)
        assert run("compact", store).returncode == 0
        assert isinstance(json.loads(run("compact", store, "--json").stdout), dict)
        found = json.loads(run("check", store, "--json").stdout)
        assert (found["ok"], found["problems"]) == (True, [])

    def test_damage_is_found_and_repaired(self, store: Path, run: Run) -> None:
        run("compact", store)
        victim = max(
            (path for path in store.rglob("*") if path.is_file() and "sqlite" not in path.name), key=lambda path: path.stat().st_size
        )
        data = bytearray(victim.read_bytes())
        data[len(data) // 2] ^= 0xFF
        victim.write_bytes(data)
        done = run("check", store)
        assert done.returncode == 5
        assert "wrong: " in done.stdout
        done = run("check", store, "--repair")
        assert done.returncode == 0
        assert "repaired: " in done.stdout
        assert run("check", store).returncode == 0

    @pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out.parquet"])
    def test_export_and_load(self, tmp_path: Path, store: Path, run: Run, name: str) -> None:
        out = tmp_path / name
        assert json.loads(run("export", store, out, "--json").stdout) == {"documents": 30, "out": str(out)}
        assert json.loads(run("load", tmp_path / "other", out, "--json").stdout) == {"documents": 30}
        for query in (["--text", ROWS[FIRST]], ["--text", ROWS[FIRST], "--by", "passages"]):
            assert run("search", tmp_path / "other", *query, "--json").stdout == run("search", store, *query, "--json").stdout
        assert run("load", tmp_path / "other", out).stdout == "30 documents loaded\n"

    def test_export_where_it_cannot_be(self, tmp_path: Path, store: Path, run: Run) -> None:
        for out in (tmp_path / "out.txt", tmp_path / "missing" / "out.jsonl"):
            assert run("export", store, out).returncode == 2
        assert run("load", tmp_path / "other", tmp_path / "missing.jsonl").returncode == 2
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "verb",
    [
        ["get", "a"],
        ["remove", "a"],
        ["search", "--text", "a"],
        ["stats"],
        ["check"],
        ["check", "--repair"],
        ["compact"],
        ["export", "o.jsonl"],
    ],
)
def test_a_store_that_is_not_there(tmp_path: Path, run: Run, verb: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(verb[0], "no-such-store", *verb[1:])
    assert (done.returncode, done.stdout) == (3, "")
    assert "no-such-store" in done.stderr
    assert os.listdir(tmp_path) == []


def test_on_a_terminal(store: Path) -> None:
    shown = shown_on_a_terminal(f"from lookalike.cli import main; main(['search', {str(store)!r}, '--text', {ROWS[FIRST]!r}])")
    assert f"\x1b[1m{FIRST}" in shown
    assert "lookalike:" not in shown


def test_the_table_of_matches_is_read_in_one_go(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: one reading searches, one gets the texts."""
    from lookalike.stores.embedded.store import EmbeddedStore

    began: list[str] = []
    reading = EmbeddedStore.reading
    monkeypatch.setattr(EmbeddedStore, "reading", lambda self, **how: began.append("reading") or reading(self, **how))
    done = run("search", store, "--text", ROWS[FIRST], "--by", "simhash", "--k", "16", "--limit", "20", "--quiet")
    assert done.stdout.count("\n") > 2
    assert len(began) == 2


class TestCollections:
    def test_from_a_copy_to_its_end(self, store: Path, run: Run) -> None:
        assert json.loads(run("collections", store, "copy", "default", "october", "--json").stdout) == {
            "collection": "october",
            "documents": 30,
        }
        assert json.loads(run("collections", store, "alias", "current", "october", "--json").stdout) == {
            "alias": "current",
            "collection": "october",
        }
        assert json.loads(run("stats", store, "--collection", "current", "--json").stdout)["documents"] == 30
        assert run("collections", store, "rename", "october", "autumn").stdout == "october is called autumn now\n"
        assert json.loads(run("collections", store, "--json").stdout) == {
            "collections": ["autumn", "default"],
            "aliases": {"current": "autumn"},
        }
        assert run("collections", store, "drop", "current").stdout == "the alias current is gone\n"
        assert json.loads(run("collections", store, "drop", "autumn", "--json").stdout) == {"name": "autumn", "documents": 30}

    def test_what_is_wrong_is_said(self, store: Path, tmp_path: Path, run: Run) -> None:
        assert run("collections", store, "copy", "default").returncode == 2
        taken = run("collections", store, "copy", "default", "default")
        assert taken.returncode == 2
        assert "has a collection 'default' already" in taken.stderr
        missing = run("collections", store, "rename", "nobody", "somebody")
        assert missing.returncode == 3
        assert "no collection 'nobody'; it has default" in missing.stderr
        assert "does not exist" in run("collections", tmp_path / "nowhere", "list").stderr
        assert not (tmp_path / "nowhere").exists()


class TestContainmentAndFields:
    def test_searches(self, store: Path, run: Run) -> None:
        part = ROWS[FIRST][: len(ROWS[FIRST]) // 2]
        assert json.loads(run("search", store, "--text", part, "--by", "contains", "--json").stdout)[0]["scale"] == "share of query"
        found = json.loads(run("search", store, "--text", ROWS[FIRST] * 2, "--by", "contained", "--json").stdout)
        assert found[0]["id"] == FIRST
        assert found[0]["score"] == 1.0
        nearest = json.loads(run("search", store, "--text", part, "--threshold", "0", "--limit", "3", "--json").stdout)
        assert nearest[0]["id"].rpartition("-")[0] == FIRST.rpartition("-")[0]

    def test_fields_are_indexed(self, tmp_path: Path, run: Run) -> None:
        assert run("add", tmp_path / "s", CORPUS, "--indexed", "lang, site", "--quiet").returncode == 0
        facts = json.loads(run("stats", tmp_path / "s", "--json").stdout)
        assert facts["settings"]["indexed"] == ["lang", "site"]
        assert run("add", tmp_path / "s", CORPUS, "--indexed", "other").returncode == 2
