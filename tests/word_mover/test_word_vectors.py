"""Word vectors from files and objects: every format, limits, and whatever can be wrong with a file."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.word_mover.tables import WordTable

TABLE = {"red": [1.0, 0.5, -2.0], "绿色": [0.0, 1.0, 1e-3], "New York": [3.0, 2.0, 1.0], "école": [-1.0, -1.0, 0.25]}


def as_text(table: dict[str, list[float]], *, header: bool) -> bytes:
    lines = [f"{len(table)} 3"] if header else []
    lines += [" ".join([word, *map(str, vector)]) for word, vector in table.items()]
    return ("\n".join(lines) + "\n").encode()


def as_binary(table: dict[str, list[float]], *, newlines: bool = True) -> bytes:
    entries = (word.encode() + b" " + struct.pack("<3f", *vector) + (b"\n" if newlines else b"") for word, vector in table.items())
    return f"{len(table)} 3\n".encode() + b"".join(entries)


SINGLE = {word: vector for word, vector in TABLE.items() if " " not in word}  # binary words hold no spaces
FILES: dict[str, tuple[bytes, dict[str, list[float]]]] = {
    "word2vec.txt": (as_text(TABLE, header=True), TABLE),
    "fasttext.vec": (as_text(TABLE, header=True).replace(b"\n", b" \n").replace(b"4 3 ", b"4 3"), TABLE),
    "glove.txt": (as_text(TABLE, header=False), TABLE),
    "windows.txt": (as_text(TABLE, header=True).replace(b"\n", b"\r\n"), TABLE),
    "word2vec.bin": (as_binary(SINGLE), SINGLE),
    "plain.bin": (as_binary(SINGLE, newlines=False), SINGLE),
    "packed.txt.gz": (gzip.compress(as_text(TABLE, header=True)), TABLE),
    "packed.bin.gz": (gzip.compress(as_binary(SINGLE)), SINGLE),
}


def load(path: Path, content: bytes, **options: Any) -> WordTable:
    path.write_bytes(content)
    found = la.word_vectors(path, **options)
    assert isinstance(found, WordTable)
    return found


def table_or_none(path: Path, content: bytes, **options: Any) -> WordTable | None:
    """The table, or None after an error that names the file."""
    try:
        return load(path, content, **options)
    except la.InputError as error:
        if str(path) not in str(error):
            raise AssertionError(f"{error} does not name the file") from error
        return None


def check(table: WordTable, wanted: dict[str, list[float]]) -> None:
    assert sorted(table.words()) == sorted(wanted)
    assert len(table) == len(wanted)
    assert table.dimensions == 3
    words = list(wanted)
    found = table.vectors(words)
    assert found.dtype == np.float32
    assert np.array_equal(found, np.array([wanted[word] for word in words], dtype=np.float32))


@pytest.mark.parametrize("name", FILES)
class TestFormats:
    def test_read(self, name: str, tmp_path: Path) -> None:
        content, wanted = FILES[name]
        check(load(tmp_path / name, content), wanted)
        check(la.word_vectors(str(tmp_path / name)), wanted)  # type: ignore[arg-type]

    def test_the_name_says_nothing(self, name: str, tmp_path: Path) -> None:
        content, wanted = FILES[name]
        check(load(tmp_path / "vectors", content), wanted)

    def test_the_first_words_alone(self, name: str, tmp_path: Path) -> None:
        content, wanted = FILES[name]
        assert load(tmp_path / name, content, limit=2).words() == list(wanted)[:2]
        check(load(tmp_path / name, content, limit=100), wanted)

    def test_cut_short_anywhere(self, name: str, tmp_path: Path) -> None:
        content, wanted = FILES[name]
        for size in range(len(content)):
            table = table_or_none(tmp_path / name, content[:size])
            if table is not None:  # text without a header may end anywhere, and any file before its last line break
                assert set(table.words()) <= set(wanted)
                assert name == "glove.txt" or len(table) == len(wanted)


class TestBrokenFiles:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "the file is empty"),
            (b"3 2\na 1 2\nb 1\nc 1 2\n", "line 3: 1 numbers where there should be 2"),
            (b"3 2\na 1 2\nb 1 2 3\nc 1 2\n", "line 3: 3 numbers where there should be 2"),
            (b"a 1 2\nb 1 x\n", "line 2: something that is not a number"),
            (b"a 1 2\nb 1 nan\n", "line 2: the vector of 'b' holds numbers that are not finite"),
            (b"a 1 2\nb 1 1e60\n", "line 2: the vector of 'b' holds numbers that are not finite"),
            (b"a 1 2\nb 1 2\na 3 4\n", "line 3: the word 'a' is there already, at row 1"),
            (b"a 1 2\n\xff\xfe 1 2\n", "line 2: the word .* is not UTF-8"),
            (b"5 2\na 1 2\nb 1 2\n", "line 1: the file says that it has 5 words, but has 2; it may be cut short"),
            (b"1 2\na 1 2\nb 1 2\n", "line 1: the file says that it has 1 words, but has 2"),
            (b"1000000000000 300\n", "byte 18: the file ends inside of word 1 of 1,000,000,000,000"),
            (b"10 99999999999\na 1 2\n", "line 1: 99,999,999,999 dimensions"),
            (b"10 0\na 1 2\n", "line 1: 0 dimensions"),
            (b"0 5\n", "line 1: the file says that it has no words"),
            (b"just some words\nand more\n", "line 1: neither 'words dimensions' nor a word and its numbers"),
            (b"\x80\x04\x95 pickled", "line 1: neither"),
            (b"\xba\x16\x4f\x2f\x0c\x00", "is a fastText model"),
            (b"1 2\n" + b"x" * 5000, "byte 4: no word ends within 4,096 bytes"),
            (b"1 2\n  12345678", "byte 4: an entry without a word"),
            (b"2 1\nab \x00\x00\xc0\x7f", "byte 4: the vector of 'ab' holds numbers that are not finite"),
            (b"2 1\n\xff\xff \x00\x00\x80\x3fb \x00\x00\x80\x3f", "byte 4: the word .* is not UTF-8"),
            (b"2 1\nb \x00\x00\x80\x3fb \x00\x00\x80\x3f", "byte 10: the word 'b' is there already"),
            (gzip.compress(as_text(TABLE, header=True))[:60], "gzip"),
        ],
        ids=[
            "empty", "few", "many", "word", "nan", "overflow", "twice", "utf8", "missing", "surplus", "huge", "wide", "zero", "none", "prose", "pickle",
            "fasttext", "endless", "blank", "binary-nan", "binary-utf8", "binary-twice", "gzip",
        ],
    )  # fmt: skip
    def test_the_error_names_file_and_place(self, content: bytes, message: str, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match=message) as caught:
            load(tmp_path / "broken.file", content)
        assert "broken.file" in str(caught.value)

    @pytest.mark.parametrize(
        "content",
        [
            b"9 2\na 1 2\nb 1\na 3 4\n\xff 1 2\nc 1 nan\nd x 2\ne 5 6\n",
            b"4 1\na \x00\x00\x80\x3fa \x00\x00\x80\x3f\xff \x00\x00\x80\x3fe \x00\x00\x80\x3f",
        ],
        ids=["text", "binary"],
    )
    def test_broken_entries_can_be_skipped(self, content: bytes, tmp_path: Path) -> None:
        table = load(tmp_path / "broken", content, broken="skip")
        assert table.words() == ["a", "e"]
        assert table.skipped == (6 if content.startswith(b"9") else 2)

    @given(st.binary(max_size=80), st.sampled_from([b"", b"2 1\n", b"3 2\nab ", b"1 1\n"]), st.sampled_from(["auto", "text", "binary"]))
    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @example(b" 1", b"2 1\n", "auto")
    @example(b"\n" * 9, b"1 1\n", "binary")
    def test_anything_is_a_table_or_a_clear_error(self, tmp_path: Path, content: bytes, start: bytes, form: str) -> None:
        table = table_or_none(tmp_path / "any", start + content, form=form)
        assert table is None or np.isfinite(table.vectors(table.words())).all()

    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match=r"nothing.bin': there is no such file"):
            la.word_vectors(tmp_path / "nothing.bin")

    @pytest.mark.parametrize(
        "option", [{"limit": 0}, {"limit": True}, {"form": "csv"}, {"broken": "ignore"}], ids=["zero", "bool", "form", "broken"]
    )
    def test_options(self, option: dict[str, Any], tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match=f"{next(iter(option))}="):
            load(tmp_path / "a", as_text(TABLE, header=True), **option)

    def test_a_wrong_form(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="byte 0: a binary file begins with"):
            load(tmp_path / "a", as_text(TABLE, header=False), form="binary")


class TestTables:
    def test_from_a_dict(self) -> None:
        check(la.word_vectors(TABLE), TABLE)  # type: ignore[arg-type]
        assert la.word_vectors(TABLE, limit=1).words() == ["red"]  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ({}, "no words"),
            ({"a": [1, 2], "b": [1]}, r"vectors\['b'\] has shape \(1,\)"),
            ({"a": 5}, r"vectors\['a'\] has shape \(\)"),
            ({"a": ["x"]}, r"vectors\['a'\]: could not convert"),
            ({1: [2]}, "1 is not a str"),
            ({"a": []}, r"vectors of shape \(1, 0\)"),
        ],
        ids=["empty", "lengths", "scalar", "text", "key", "zero"],
    )
    def test_bad_dicts(self, table: Any, message: str) -> None:
        with pytest.raises(la.InputError, match=message):
            la.word_vectors(table)

    def test_numbers_that_are_not_finite(self) -> None:
        table = la.word_vectors({"a": [1.0], "b": [float("nan")]})
        assert table.vectors(["a"]).tolist() == [[1.0]]
        with pytest.raises(la.InputError, match="the vector of 'b' holds numbers that are not finite"):
            table.vectors(["a", "b"])

    def test_a_word_that_is_not_there(self) -> None:
        with pytest.raises(la.InputError, match="vectors has no vector for 'blue'"):
            la.word_vectors(TABLE).vectors(["red", "blue"])

    def test_saved_and_mapped(self, tmp_path: Path) -> None:
        table = la.word_vectors(TABLE)
        assert isinstance(table, WordTable)
        table.save(tmp_path / "saved")
        found = la.word_vectors(tmp_path / "saved")
        assert isinstance(found, WordTable)
        check(found, TABLE)
        assert isinstance(found._matrix, np.memmap)

    @pytest.mark.parametrize("damage", ["words", "rows", "vectors", "dtype"])
    def test_damaged_tables(self, damage: str, tmp_path: Path) -> None:
        la.word_vectors(TABLE).save(tmp_path)  # type: ignore[attr-defined]
        if damage == "words":
            (tmp_path / "words.json").write_text("{", encoding="utf-8")
        elif damage == "rows":
            (tmp_path / "words.json").write_text(json.dumps({"red": 99}), encoding="utf-8")
        elif damage == "vectors":
            (tmp_path / "vectors.npy").write_bytes((tmp_path / "vectors.npy").read_bytes()[:140])
        else:
            np.save(tmp_path / "vectors.npy", np.zeros((4, 3)))
        with pytest.raises(la.InputError, match=r"save it again|save the table again"):
            la.word_vectors(tmp_path)

    def test_what_is_loaded_already(self) -> None:
        table = la.word_vectors(TABLE)
        assert la.word_vectors(table) is table
        assert repr(table) == "<WordTable vectors: 4 words, 3 dimensions>"

    def test_vectors_of_one_s_own(self) -> None:
        class Hot:
            name, dimensions = "hot", 26

            def __contains__(self, word: str) -> bool:
                return word.isascii() and word.isalpha() and word.islower()

            def vectors(self, words: list[str]) -> np.ndarray:
                return np.array([[word.count(letter) for letter in map(chr, range(97, 123))] for word in words], dtype=np.float32)

        mover = la.WordMover(Hot(), unit=False)
        assert mover.distance("abc Ä", "cab abd") == pytest.approx(np.sqrt(2) / 2)


class TestGensim:
    @pytest.fixture
    def keyed(self) -> Any:
        models = pytest.importorskip("gensim.models", reason="gensim is not installed")
        found = models.KeyedVectors(3)
        found.add_vectors(list(SINGLE), np.array(list(SINGLE.values()), dtype=np.float32))
        return found

    def test_objects_are_used_where_they_are(self, keyed: Any) -> None:
        table = la.word_vectors(keyed)
        check(table, SINGLE)  # type: ignore[arg-type]
        assert table._matrix is keyed.vectors  # type: ignore[attr-defined]
        assert la.word_vectors(keyed, limit=2).words() == list(SINGLE)[:2]  # type: ignore[attr-defined]

    @pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
    def test_files_that_gensim_writes(self, keyed: Any, binary: bool, tmp_path: Path) -> None:
        keyed.save_word2vec_format(str(tmp_path / "vectors"), binary=binary)
        check(la.word_vectors(tmp_path / "vectors"), SINGLE)  # type: ignore[arg-type]

    def test_saved_files(self, keyed: Any, tmp_path: Path) -> None:
        keyed.save(str(tmp_path / "vectors.kv"))
        check(la.word_vectors(tmp_path / "vectors.kv"), SINGLE)  # type: ignore[arg-type]

    def test_a_file_that_gensim_cannot_read(self, keyed: Any, tmp_path: Path) -> None:
        (tmp_path / "broken.kv").write_bytes(b"no pickle")
        with pytest.raises(la.InputError, match=r"broken.kv': gensim cannot read it"):
            la.word_vectors(tmp_path / "broken.kv")

    def test_gensim_is_named_where_it_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
        (tmp_path / "vectors.kv").write_bytes(b"")
        with pytest.raises(la.MissingExtra, match="pip install gensim"):
            la.word_vectors(tmp_path / "vectors.kv")
