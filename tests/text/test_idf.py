"""IDF tables: jieba's, learned ones against scikit-learn, and their files."""

from __future__ import annotations

import copy
import importlib.util
import math
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_keywords as reference
from lookalike.errors import InputError, MissingExtra, UnknownName
from lookalike.text.idf import Idf, idf_table, idf_version, idfs, learn

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), min_size=1, max_size=4)
TABLES = st.builds(
    Idf,
    st.dictionaries(WORDS, st.floats(0, 1e300)),
    st.floats(0, 1e300),
    st.integers(0, 10**12),
)


def test_the_table_of_jieba_is_what_jieba_reads() -> None:
    pytest.importorskip("jieba")
    from jieba.analyse.tfidf import DEFAULT_IDF, IDFLoader  # type: ignore[import-untyped]

    values, median = IDFLoader(DEFAULT_IDF).get_idf()
    table = Idf.jieba()
    assert dict(table.values) == values
    assert table.default == table["\0 no such word"] == median
    assert table.name == "jieba"
    assert Idf.jieba() is table
    assert idf_table("jieba") is table
    assert idf_version("jieba") == table.id


def test_the_table_of_jieba_is_read_without_importing_jieba(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jieba")
    monkeypatch.delitem(sys.modules, "jieba")
    assert Idf.jieba()["中国"] > 0
    assert "jieba" not in sys.modules


def test_without_jieba_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for use in (Idf.jieba, lambda: idf_table("jieba"), lambda: idf_version("jieba")):
        with pytest.raises(MissingExtra, match=r"pip install 'lookalike\[jieba\]'"):
            use()


@given(st.lists(st.lists(st.sampled_from("甲乙丙丁戊"), max_size=6), min_size=1, max_size=8))
def test_learning_agrees_with_the_reference(documents: list[list[str]]) -> None:
    table = learn(iter(documents))
    expected = reference.smooth_idf(documents)
    assert dict(table.values) == pytest.approx(expected, rel=1e-11)
    assert table.default == pytest.approx(math.log(1 + len(documents)) + 1, rel=1e-11)
    assert table.documents == len(documents)


def test_learning_agrees_with_scikit_learn() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    documents = [sentence.split() for sentence in reference.sentences(5, 400, [f"{word} " for word in reference.CHINESE])]
    vectorizer = text.TfidfVectorizer(analyzer=lambda document: document, smooth_idf=True)
    vectorizer.fit(documents)
    theirs = dict(zip(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_.tolist(), strict=True))
    assert dict(learn(documents).values) == pytest.approx(theirs, rel=1e-11)


def test_learning_does_not_depend_on_order() -> None:
    documents = [["甲", "乙", "甲"], ["乙"], [], ["丙", "乙"]]
    table = learn(documents)
    assert learn(list(reversed([word[::-1] for word in documents]))) == table
    assert table["乙"] == 1.22314355131  # ln(5 / 4) + 1, to 12 digits
    assert repr(table) == "Idf(default=2.60943791243, documents=4, name='learned')"


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "none given"),
        (["我爱北京"], "document 0 is one str"),
        ([["好"], b"ab"], "document 1 is one bytes"),
        ([["好"], ["好", 3]], "document 1 holds 3"),
        ([["好", ""]], "document 0 holds ''"),
    ],
)
def test_documents_that_are_not_lists_of_words(documents: list[list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learn(documents)


@given(TABLES)
def test_a_table_survives_its_file(tmp_path_factory: pytest.TempPathFactory, table: Idf) -> None:
    path = tmp_path_factory.mktemp("idf") / "table.tsv"
    table.save(path)
    loaded = Idf.load(path)
    assert loaded == table
    assert hash(loaded) == hash(table)
    assert (dict(loaded.values), loaded.default, loaded.documents, loaded.name) == (
        dict(table.values),
        table.default,
        table.documents,
        "table",
    )
    assert [file.name for file in path.parent.iterdir()] == ["table.tsv"]


def test_the_file_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "small.tsv"
    Idf({"西瓜": 2.5, "ab": 1, "\r": 0.1}, 3.25, 7).save(str(path))
    assert path.read_bytes() == "lookalike-idf\t1\t7\t3.25\t3\n\r\t0.1\nab\t1.0\n西瓜\t2.5\n".encode()


def test_a_file_cannot_be_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.tsv"
    Idf({"旧": 1.0}, 2.0).save(path)

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        Idf({"新": 1.0}, 2.0).save(path)
    assert Idf.load(path)["旧"] == 1.0
    assert [file.name for file in tmp_path.iterdir()] == ["table.tsv"]


def test_words_that_no_line_can_hold(tmp_path: Path) -> None:
    for word in ("a\tb", "a\nb", "\ud800"):
        with pytest.raises(InputError, match="cannot be written to a line of UTF-8"):
            Idf({word: 1.0}, 1.0).save(tmp_path / "table.tsv")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        Idf({}, 1.0).save(tmp_path / "no" / "table.tsv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: expected lookalike-idf"),
        (b"word\t1.0\n", "line 1: expected lookalike-idf"),
        (b"lookalike-idf\t2\t0\t1.0\t0\n", "line 1: expected lookalike-idf"),
        (b"lookalike-idf\t1\t0\t1.0\n", "line 1: expected lookalike-idf"),
        (b"lookalike-idf\t1\t-1\t1.0\t0\n", "line 1: expected a count, found '-1'"),
        ("lookalike-idf\t1\t０\t1.0\t0\n".encode(), "line 1: expected a count"),
        (b"lookalike-idf\t1\t" + b"9" * 5000 + b"\t1.0\t0\n", "line 1: expected a count"),
        (b"lookalike-idf\t1\t0\tnan\t0\n", "line 1: expected a number"),
        (b"lookalike-idf\t1\t0\t1.0\t1\nab 1.0\n", "line 2: expected a word, a tab and a number: 'ab 1.0'"),
        (b"lookalike-idf\t1\t0\t1.0\t1\n\t1.0\n", "line 2: expected a word"),
        (b"lookalike-idf\t1\t0\t1.0\t2\nab\t1.0\n\n", "line 3: expected a word"),
        (b"lookalike-idf\t1\t0\t1.0\t2\nab\t1.0\nab\t1.0\n", "line 3: the word is there already"),
        (b"lookalike-idf\t1\t0\t1.0\t1\nab\t1.0\t2\n", "line 2: expected a number"),
        (b"lookalike-idf\t1\t0\t1.0\t1\nab\tinf\n", "line 2: expected a number that is finite"),
        (b"lookalike-idf\t1\t0\t1.0\t1\nab\t-1\n", "line 2: expected a number that is finite and not negative"),
        (b"lookalike-idf\t1\t0\t1.0\t2\nab\t1.0\n", "line 2: the file ends after 1 of 2 words"),
        (b"lookalike-idf\t1\t0\t1.0\t1\nab\t1.0", "line 2: the last line is cut off"),
        (b"lookalike-idf\t1\t0\t1.0\t1\n\xff\t1.0\n", "not UTF-8 at byte 24"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Idf.load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Idf.load(tmp_path / "none.tsv")
    with pytest.raises(InputError, match="is a directory"):
        Idf.load(tmp_path)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Idf({"a": math.nan}, 1.0),
        lambda: Idf({"a": math.inf}, 1.0),
        lambda: Idf({"a": -1.0}, 1.0),
        lambda: Idf({"a": "1.0"}, 1.0),  # type: ignore[dict-item]
        lambda: Idf({"a": True}, 1.0),
        lambda: Idf({"a": 1.0}, math.nan),
        lambda: Idf({"a": 1.0}, None),  # type: ignore[arg-type]
        lambda: Idf({"": 1.0}, 1.0),
        lambda: Idf({3: 1.0}, 1.0),  # type: ignore[dict-item]
        lambda: Idf([("a", 1.0)], 1.0),  # type: ignore[arg-type]
        lambda: Idf({}, 1.0, -1),
        lambda: Idf({}, 1.0, True),
        lambda: Idf({}, 1.0, 1.5),  # type: ignore[arg-type]
    ],
)
def test_tables_that_make_no_sense(make: Callable[[], Idf]) -> None:
    with pytest.raises(InputError, match="IDF table 'custom'"):
        make()


def test_the_id_covers_what_decides_a_weight_and_nothing_else() -> None:
    table = Idf({"甲": 1.0, "乙": 2.0}, 3.0)
    assert Idf({"乙": 2, "甲": 1}, 3, 99, "other").id == table.id
    assert table != "a table"
    others = [Idf({"甲": 1.0}, 3.0), Idf({"甲": 1.0, "乙": 2.5}, 3.0), Idf({"甲": 1.0, "丙": 2.0}, 3.0), Idf({"甲": 1.0, "乙": 2.0}, 4.0)]
    assert len({other.id for other in [*others, table]}) == 5


def test_a_table_cannot_be_changed() -> None:
    source = {"甲": 1.0}
    table = Idf(source, 2.0)
    source["甲"] = 9.0
    assert table["甲"] == 1.0
    with pytest.raises(TypeError):
        table.values["甲"] = 9.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        table.default = 9.0  # type: ignore[misc]


def test_a_table_can_be_sent_to_another_process() -> None:
    table = Idf({"甲": 1.0}, 2.0, 3, "mine")
    for twin in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert twin == table
        assert (twin.documents, twin.name) == (3, "mine")


def test_numbers_of_numpy_become_plain_floats(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    table = Idf({"甲": numpy.float64(1.5)}, numpy.float64(2.0))
    assert type(table["甲"]) is type(table.default) is float
    table.save(tmp_path / "table.tsv")
    assert Idf.load(tmp_path / "table.tsv") == table


def test_tables_by_name_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idfs, "_entries", dict(idfs._entries))
    table, other = Idf({"甲": 1.0}, 2.0), Idf({"乙": 1.0}, 2.0)
    idfs.register("mine", table)
    idfs.register("made", lambda: other)
    assert idf_table("mine") is idf_table(table) is table
    assert idf_table("made") is other
    assert idf_version("mine") == table.id

    path = tmp_path / "table.tsv"
    table.save(path)
    assert idf_table(str(path)) == table
    assert idf_version(str(path)) == table.id
    other.save(path)
    os.utime(path, ns=(1, 1))
    assert idf_version(str(path)) == other.id  # the file has changed: it is read again

    monkeypatch.chdir(tmp_path)
    other.save(tmp_path / "mine")
    assert idf_table("mine") is table  # a name comes before a file
    assert idf_table("./mine") == other


def test_tables_that_do_not_exist() -> None:
    with pytest.raises(UnknownName, match="did you mean 'jieba'"):
        idf_table("jeiba")
    with pytest.raises(UnknownName):
        idf_version("no/such/file.tsv")
    with pytest.raises(UnknownName):
        idf_table("nul\0nul")
    with pytest.raises(InputError, match="expected a name"):
        idf_table(None)  # type: ignore[arg-type]
