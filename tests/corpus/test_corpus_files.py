"""Which files a corpus is made of, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lookalike as la
from lookalike.corpus.files import Source, expand


def tree(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def names(inputs: object, folder: Path) -> list[str]:
    return [Path(source.name).relative_to(folder).as_posix() for source in expand(inputs)]  # type: ignore[arg-type]


class TestExpand:
    def test_a_folder_is_read_to_any_depth_without_hidden_files(self, tmp_path: Path) -> None:
        tree(tmp_path, "b.txt", "a/z.txt", "a/b/c.txt", "a.txt", ".hidden", ".git/config", "a/.DS_Store", "B.txt")
        assert names([tmp_path], tmp_path) == ["B.txt", "a/b/c.txt", "a/z.txt", "a.txt", "b.txt"]

    def test_the_order_does_not_depend_on_that_of_the_folder(self, tmp_path: Path) -> None:
        made = [f"{number % 7}/{number * 37 % 101}.txt" for number in range(101)]
        tree(tmp_path, *made)
        assert names(str(tmp_path), tmp_path) == sorted(made, key=lambda name: Path(name).parts)

    def test_inputs_keep_their_order_and_a_file_comes_once(self, tmp_path: Path) -> None:
        tree(tmp_path, "b/1.txt", "b/2.txt", "a.txt")
        inputs = [tmp_path / "b" / "2.txt", tmp_path / "b", tmp_path / "a.txt", tmp_path / "b" / ".." / "a.txt"]
        found = expand(inputs)
        assert [source.path for source in found] == [tmp_path / "b/2.txt", tmp_path / "b/1.txt", tmp_path / "a.txt"]

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("*.jsonl", ["a.jsonl"]),
            ("**/*.jsonl", ["a.jsonl", "x/b.jsonl", "x/y/c.jsonl"]),
            ("x/**", ["x/b.jsonl", "x/d.txt", "x/y/c.jsonl"]),
            ("?", ["x/b.jsonl", "x/d.txt", "x/y/c.jsonl"]),
            ("x/[bd].*", ["x/b.jsonl", "x/d.txt"]),
            (".h/*.txt", [".h/e.txt"]),
            ("*/.*.txt", []),
        ],
    )
    def test_patterns(self, tmp_path: Path, pattern: str, expected: list[str]) -> None:
        tree(tmp_path, "a.jsonl", "x/b.jsonl", "x/y/c.jsonl", "x/d.txt", ".h/e.txt", ".h/f.jsonl", "x/.g.jsonl")
        if expected:
            assert names(f"{tmp_path}/{pattern}", tmp_path) == expected
        else:
            with pytest.raises(la.InputError, match="no file matches"):
                expand(f"{tmp_path}/{pattern}")

    def test_relative_patterns(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tree(tmp_path, "a.txt", "x/b.txt"))
        assert [source.name for source in expand("**/*.txt")] == ["a.txt", "x/b.txt"]
        assert [source.name for source in expand(["."])] == ["a.txt", "x/b.txt"]

    def test_a_file_whose_name_looks_like_a_pattern(self, tmp_path: Path) -> None:
        tree(tmp_path, "a[1].txt", "a1.txt", "-")
        assert names([tmp_path / "a[1].txt"], tmp_path) == ["a[1].txt"]
        assert expand([tmp_path])[0].path == tmp_path / "-"

    def test_a_dash_in_the_current_folder_is_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tree(tmp_path, "-"))
        assert [source.path for source in expand(["-", "."])] == [None, Path("-")]

    def test_standard_input(self) -> None:
        assert expand(["-", "-"]) == [Source(None, "-", "jsonl")]
        assert expand(["-"], "csv") == [Source(None, "-", "csv")]

    @pytest.mark.parametrize("given", ["missing.txt", "missing/*.txt", "a\x00b", "**a/[", 7, None, b"bytes"])
    def test_nothing_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: object) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(la.InputError):
            expand([given])  # type: ignore[list-item]

    def test_the_message_names_what_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match=r"no file matches .*nothing-\*.*: check the pattern"):
            expand(f"{tmp_path}/nothing-*")
        with pytest.raises(la.InputError, match="'missing' does not exist"):
            expand("missing")
        with pytest.raises(la.InputError, match="holds no files"):
            expand(tmp_path)


class TestLinks:
    def test_loops_end(self, tmp_path: Path) -> None:
        tree(tmp_path, "a/b.txt", "a/c/d.txt")
        for name in ("one", "two"):  # two loops in a folder: following them would take for ever
            os.symlink(tmp_path, tmp_path / "a" / name)
            os.symlink(tmp_path / "a", tmp_path / "a" / "c" / name)
        os.symlink("self", tmp_path / "self")
        assert names([tmp_path], tmp_path) == ["a/b.txt", "a/c/d.txt", "self"]
        assert names([f"{tmp_path}/**/*.txt"], tmp_path) == ["a/b.txt", "a/c/d.txt"]

    def test_a_link_to_a_file_is_a_file_and_one_to_nothing_is_named_later(self, tmp_path: Path) -> None:
        tree(tmp_path, "a.txt")
        os.symlink(tmp_path / "a.txt", tmp_path / "b.txt")
        os.symlink(tmp_path / "gone", tmp_path / "c.txt")
        assert names([tmp_path], tmp_path) == ["a.txt", "b.txt", "c.txt"]
        problems: list[la.Problem] = []
        found = list(la.documents(tmp_path, on_problem=problems.append))
        assert [document.text for document in found] == ["a.txt", "a.txt"]
        assert [(problem.kind, problem.place) for problem in problems] == [("unreadable file", f"{tmp_path}/c.txt")]

    def test_pipes_in_a_folder_are_left_out(self, tmp_path: Path) -> None:
        tree(tmp_path, "a.txt")
        os.mkfifo(tmp_path / "pipe")
        assert names([tmp_path], tmp_path) == names([f"{tmp_path}/*"], tmp_path) == ["a.txt"]

    def test_a_linked_folder_that_is_named_is_read(self, tmp_path: Path) -> None:
        tree(tmp_path, "real/a.txt")
        os.symlink(tmp_path / "real", tmp_path / "link")
        assert names([tmp_path / "link", tmp_path / "real"], tmp_path) == ["link/a.txt"]


@pytest.mark.parametrize(
    ("name", "format", "packing"),
    [
        ("a.jsonl", "jsonl", None), ("a.NDJSON", "jsonl", None), ("a.json.gz", "json", "gz"), ("a.b.csv.zst", "csv", "zst"), ("a.tsv", "tsv", None),
        ("a.parquet", "parquet", None), ("a.txt", "text", None), ("a.md", "text", None), ("README", "text", None), ("a.gz", "text", "gz"),
        ("a.HTM", "html", None), ("a.warc.gz", "warc", "gz"), (".jsonl", "text", None),
    ],
)  # fmt: skip
def test_formats(name: str, format: str, packing: str | None) -> None:
    source = Source.of(Path("folder") / name)
    assert (source.format, source.packing, source.name) == (format, packing, f"folder/{name}")
    assert Source.of(name, "csv").format == "csv"


def test_names_that_are_no_utf8_can_be_stored(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(path, "wb") as file:
        file.write(b"some text")
    (document,) = la.documents(tmp_path)
    assert document.id == f"{tmp_path}/\\xff.txt"
    assert document.path is not None
    assert os.fsencode(document.path) == path


def test_unknown_formats() -> None:
    with pytest.raises(la.InputError, match="format='xml': choose one of jsonl"):
        expand(["-"], "xml")
