"""What goes into a run and comes out of it: mixed folders, columns that are nowhere, damaged files, texts to the byte."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl

SCRIPT = "from lookalike.cli import main; main()"
ROWS = [{"id": 1, "text": "one two three four five six"}, {"id": 2, "text": "One two, three four five six!"}, {"id": 3, "text": "else"}]


def lookalike(*arguments: object, code: int = 0, stdin: bytes = b"") -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *map(str, arguments)], input=stdin, capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", ROWS)


class TestMixedFolders:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "data"
        folder.mkdir()
        (folder / "README.md").write_text("one two three four five six")  # sorts before the data, and looks like them
        (folder / "LICENSE").write_text("a licence")
        (folder / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(range(256)))
        write_jsonl(folder / "rows.jsonl", ROWS)
        return folder

    def test_what_is_not_data_is_named_and_left_out(self, folder: Path, tmp_path: Path) -> None:
        out, err = lookalike("dedupe", folder, "--out", tmp_path / "out.jsonl", "--html", tmp_path / "page.html", "--json")
        found = json.loads(out)
        assert (found["documents"], found["kept"], found["skipped"]) == (3, 2, 0)
        assert [Path(name).name for name in found["files_left_out"]] == ["LICENSE", "README.md", "picture.png"]
        assert err.count("not data: left out") == 1  # and the others in the next line
        assert all(err.count(name) == 1 for name in ("LICENSE", "README.md", "picture.png"))
        assert "README.md" in (tmp_path / "page.html").read_text()
        assert read_jsonl(tmp_path / "out.jsonl") == [ROWS[0], ROWS[2]]

    def test_the_same_in_other_verbs(self, folder: Path, tmp_path: Path) -> None:
        told = lookalike("add", tmp_path / "store", folder)[1]
        assert "LICENSE: not data" in told
        assert "README.md" in told
        with la.open(tmp_path / "store") as index:
            assert len(index) == 3
        assert "not data, and left out" in lookalike("plan", folder)[1]
        assert la.plan(folder).documents == 3

    def test_a_file_that_is_named_is_read(self, folder: Path, tmp_path: Path) -> None:
        report = la.dedupe([folder / "README.md", folder / "rows.jsonl"], out=f"{tmp_path}/out/")
        assert (report.documents, report.to_dict()["kept"], report.to_dict()["files_left_out"]) == (4, 2, [])
        assert (tmp_path / "out" / "README.md").exists()
        assert [row["id"] for row in read_jsonl(tmp_path / "out" / "rows.jsonl")] == [3]

    def test_all_formats_of_a_folder(self, folder: Path, tmp_path: Path) -> None:
        """Rows that have a place in their file and rows that have none, in turns."""
        (folder / "a.txt").write_text("one two three four five six")
        pq.write_table(pa.table({"text": ["else", "parquet row"], "n": [1, 2]}), folder / "b.parquet")
        (folder / "q.csv").write_text("id,text\nc1,Else\nc2,comma row\n")
        (folder / "page.html").write_text("<p>one page with quite some words in it")
        write_jsonl(folder / "z.jsonl", [{"id": "z", "text": "last"}, {"id": "y", "text": "ELSE"}])
        report = la.dedupe(folder, out=f"{tmp_path}/out/")
        assert report.documents == 3 + 1 + 2 + 2 + 1 + 2
        assert [row["id"] for row in read_jsonl(tmp_path / "out" / "z.jsonl")] == ["z"]
        assert read_jsonl(tmp_path / "out" / "rows.jsonl") == []  # a.txt and b.parquet come before
        assert pq.read_table(tmp_path / "out" / "b.parquet").to_pylist() == [{"text": "else", "n": 1}, {"text": "parquet row", "n": 2}]
        assert (tmp_path / "out" / "q.csv").read_text() == "id,text\nc2,comma row\n"
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.txt", "b.parquet", "page.html", "q.csv", "rows.jsonl", "z.jsonl"}

    def test_a_folder_of_texts_is_read_whole(self, tmp_path: Path) -> None:
        for name in ("README.md", "notes", "b.txt"):
            (tmp_path / name).write_text(f"text of {name}")
        assert la.dedupe(tmp_path).documents == 3


class TestColumns:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--keep", "best:nope"], "keep='best:nope': no row has a column 'nope'"),
            (["--keep", "newest:nope"], "keep='newest:nope': no row has a column 'nope'"),
            (["--text-column", "body", "--on-error", "skip"], "text_column='body': no row has a column 'body'"),
            (["--id-column", "key"], "id_column='key': no row has a column 'key'"),
        ],
    )
    @pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "json", "jsonl.gz"])
    def test_a_column_that_no_row_has(self, options: list[str], said: str, ending: str, tmp_path: Path) -> None:
        source = table(tmp_path / f"in.{ending}", ROWS)
        outputs = [tmp_path / "out.jsonl", tmp_path / "removed.jsonl", tmp_path / "page.html"]
        err = lookalike("dedupe", source, "--out", tmp_path / "o/", "--removed", outputs[1], "--html", outputs[2], *options, code=2)[1]
        assert f"{said}; the columns are 'id', 'text'" in err
        assert list(tmp_path.iterdir()) == [source]

    def test_in_add_and_plan(self, corpus: Path, tmp_path: Path) -> None:
        for options in (["--id-column", "key"], ["--text-column", "body"]):
            for source, stdin in ((corpus, b""), ("-", corpus.read_bytes())):
                assert "no row has a column" in lookalike("add", tmp_path / "store", source, *options, code=2, stdin=stdin)[1]
                assert not (tmp_path / "store").exists()
            assert "no row has a column" in lookalike("plan", corpus, *options, code=2)[1]

    @pytest.mark.parametrize("given", ["text_column", "id_column", "keep"])
    def test_in_tables(self, given: str) -> None:
        options: Any = {given: "best:nope" if given == "keep" else "nope"}
        frame = pa.table({"id": [1, 2], "text": ["a", "b"]})
        for corpus in (ROWS, frame):
            with pytest.raises(la.InputError, match=r"no row has a column 'nope'; the columns are 'id', 'text'"):
                la.dedupe(corpus, **options)

    def test_a_column_that_some_rows_have(self, tmp_path: Path) -> None:
        rows = [{"text": "same"}, {"text": "same", "score": 1, "key": "k"}, {"text": "same", "score": None}]
        source = write_jsonl(tmp_path / "in.jsonl", rows)
        report = la.dedupe(source, keep="best:score", id_column="key")
        assert list(report.kept) == ["k"]
        assert [document.id for document in la.documents(source, id_column="key")] == [f"{source}:1", "k", f"{source}:3"]

    def test_the_default_id_may_be_missing(self, tmp_path: Path) -> None:
        assert la.dedupe(write_jsonl(tmp_path / "in.jsonl", [{"text": "a"}])).documents == 1

    def test_a_pipe_is_not_read_twice_for_its_columns(self, tmp_path: Path) -> None:
        pipe = tmp_path / "in.jsonl"
        os.mkfifo(pipe)
        data = "".join(json.dumps(row) + "\n" for row in ROWS)
        for read in (lambda: len(list(la.documents(pipe))), lambda: la.dedupe(pipe, out=tmp_path / "out.jsonl").documents):
            writer = threading.Thread(target=pipe.write_text, args=(data,))
            writer.start()
            assert read() == 3
            writer.join()
        assert len(read_jsonl(tmp_path / "out.jsonl")) == 2


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows in the format that the name says."""
    names = list(rows[0])
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: [row[name] for row in rows] for name in names}), path)
    elif path.suffix == ".csv":
        lines = [",".join(names), *(",".join(f'"{row[name]}"' for name in names) for row in rows)]
        path.write_text("".join(line + "\n" for line in lines))
    else:
        data = json.dumps(rows) if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(data.encode()) if path.suffix == ".gz" else data.encode())
    return path


def archive(pages: list[str]) -> bytes:
    """A web archive; each record is a gzip member of its own."""
    records = []
    for number, text in enumerate(pages):
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{text}".encode()
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/{number}\r\nWARC-Record-ID: <{number}>\r\n"
        records.append(gzip.compress(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n"))
    return b"".join(records)


class TestSecondReading:
    """What the first reading skipped, the second one skips too."""

    @pytest.mark.parametrize(
        ("ending", "options"),
        [
            *(
                (ending, options)
                for ending in ("jsonl.gz", "csv.gz", "json.gz", "parquet")
                for options in ({}, {"annotate": True}, {"level": "line"})
            ),
            ("warc.gz", {}),  # pages have no columns and no lines
        ],
    )
    def test_a_truncated_file_beside_good_ones(self, ending: str, options: dict[str, Any], tmp_path: Path) -> None:
        folder = tmp_path / "in"
        folder.mkdir()
        rows = rows_of(near_copies(5, 3000))
        for name, part in (("a", rows[:1000]), ("m", rows[1000:2000]), ("z", rows[2000:])):
            path = folder / f"{name}.{ending}"
            if ending == "warc.gz":
                path.write_bytes(archive([row["text"] for row in part]))
            elif ending == "parquet":
                pq.write_table(pa.Table.from_pylist(part), path, row_group_size=100)
            else:
                plain = table(folder / f"{name}.{ending.removesuffix('.gz')}", part)
                path.write_bytes(gzip.compress(plain.read_bytes()))
                plain.unlink()
        broken = folder / f"m.{ending}"
        broken.write_bytes(broken.read_bytes()[: broken.stat().st_size * 2 // 3])
        problems: list[la.Problem] = []
        report = la.dedupe(folder, out=f"{tmp_path}/out/", on_error="skip", on_problem=problems.append, **options)
        named = [problem for problem in problems if problem.kind != "repeated id"]
        assert len(named) == 1
        assert f"m.{ending}" in named[0].place
        assert report.documents >= 2000
        if ending in ("jsonl.gz", "csv.gz", "warc.gz"):
            assert report.documents > 2100  # what came before the damage
        stays = report.documents if options else report.to_dict()["kept"]
        assert la.dedupe(tmp_path / "out", method="bytes", on_error="skip", format=None).documents == stays

    def test_damage_behind_some_row_groups(self, tmp_path: Path) -> None:
        """A Parquet file whose table of contents is whole, and one of whose row groups is not."""
        rows = rows_of(near_copies(6, 20_000))
        path = tmp_path / "in.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=5000, compression="none", use_dictionary=False)
        start = pq.ParquetFile(path).metadata.row_group(2).column(1).data_page_offset
        data = bytearray(path.read_bytes())
        data[start : start + 64] = b"\xff" * 64
        path.write_bytes(data)
        report = la.dedupe(path, out=tmp_path / "out.parquet", on_error="skip")
        assert report.problem_counts.get("damaged file") == 1
        assert 0 < report.documents < 20_000
        assert pq.read_table(tmp_path / "out.parquet").num_rows == report.to_dict()["kept"]

    def test_the_command_says_so_and_ends_well(self, tmp_path: Path) -> None:
        path = tmp_path / "in.jsonl.gz"
        table(path, rows_of(near_copies(7, 2000)))
        path.write_bytes(path.read_bytes()[:-1000])
        out, err = lookalike("dedupe", path, "--out", tmp_path / "out.jsonl", "--on-error", "skip", "--json")
        assert "damaged file" in err
        assert json.loads(out)["kept"] == len(read_jsonl(tmp_path / "out.jsonl")) > 0

    def test_nothing_readable_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "in.parquet").write_bytes(b"PAR1 is not enough")
        err = lookalike("dedupe", tmp_path / "in.parquet", "--out", tmp_path / "out.parquet", "--on-error", "skip", code=2)[1]
        assert "no document could be read" in err
        assert not (tmp_path / "out.parquet").exists()

    def test_json_lines_in_another_encoding(self, tmp_path: Path) -> None:
        lines = ['{"id": 1, "text": "相似的文字"}', "{oops", '{"id":2,"text":"相似的文字。"}', '{"id": 3,  "text": "别的\\n别的"}']
        path = tmp_path / "in.jsonl"
        path.write_bytes("\n".join(lines).encode("gb18030"))
        out = tmp_path / "out.jsonl"
        la.dedupe(path, out=out, encoding="gb18030", on_error="skip")
        assert out.read_bytes().decode("gb18030") == f"{lines[0]}\n{lines[3]}\n"
        la.dedupe(path, out=out, encoding="gb18030", on_error="skip", level="line")
        assert [json.loads(line)["text"] for line in out.read_bytes().decode("gb18030").splitlines()] == ["相似的文字", "", "别的"]
        la.dedupe(path, out=out, encoding="gb18030", on_error="skip", annotate=True)
        assert [json.loads(line)["kept"] for line in out.read_bytes().decode("gb18030").splitlines()] == [True, False, True]


class TestBytes:
    CODE = ("x = -1", "x = 1", "x != 1", "X = 1", "x  = 1", "x = 1")

    @pytest.mark.parametrize(
        ("options", "kept"),
        [
            ({"method": "exact"}, [0]),  # the words alone: x and 1
            ({"method": "bytes"}, [0, 1, 2, 3, 4]),
            ({"method": "exact", "recipe": "symbols"}, [0, 1, 2]),
            ({"method": "exact", "recipe": la.Recipe(tokenizer="symbols", normalize="none")}, [0, 1, 2, 3]),
            ({"method": "minhash", "recipe": "symbols"}, [0, 1, 2]),
        ],
    )
    def test_what_is_equal(self, options: dict[str, Any], kept: list[int]) -> None:
        report = la.dedupe([{"id": i, "text": text} for i, text in enumerate(self.CODE)], **options)
        assert [row["id"] for row in report.kept] == kept

    def test_against_a_set(self) -> None:
        texts = [*near_copies(8, 300), "", "", "\ud800", "\ud800", "é", "e\u0301", *near_copies(8, 300)]
        report = la.dedupe([{"text": text} for text in texts], method="bytes")
        assert [row["text"] for row in report.kept] == list(dict.fromkeys(texts))
        for member in report.removed:
            assert texts[member.id] == texts[member.kept_id]

    def test_lines(self) -> None:
        texts = ["a = 1\nsame line\n", "same line", "Same line\nsame line \nsame line\nend"]
        report = la.dedupe([{"text": text} for text in texts], method="bytes", level="line")
        assert [row["text"] for row in report.kept] == ["a = 1\nsame line\n", "", "Same line\nsame line \nend"]

    def test_it_is_said_what_equal_means(self, corpus: Path, tmp_path: Path) -> None:
        out = lookalike("dedupe", corpus, "--out", tmp_path / "o.jsonl", "--method", "exact", "--html", tmp_path / "p.html")[0]
        assert "equal words, whatever their case and punctuation" in out
        assert "case, width, punctuation and white space do not count" in (tmp_path / "p.html").read_text()
        assert "equal to the byte" in lookalike("dedupe", corpus, "--out", tmp_path / "o.jsonl", "--method", "bytes")[0]
        assert la.dedupe(corpus, method="bytes").to_dict()["settings"]["method"] == "bytes"

    def test_a_store_is_no_place_for_it(self, corpus: Path, tmp_path: Path) -> None:
        with la.open(tmp_path / "store") as index:
            index.add("a", "text")
        with pytest.raises(la.InputError, match="against= is for documents"):
            la.dedupe(corpus, method="bytes", against=tmp_path / "store")


class TestLevelsInWords:
    ROWS = ({"text": "a line\nanother\na line"}, {"text": "A line"})

    def test_the_headline_and_the_counts(self, tmp_path: Path) -> None:
        source = write_jsonl(tmp_path / "in.jsonl", list(self.ROWS))
        out = lookalike("dedupe", source, "--out", tmp_path / "o.jsonl", "--level", "line", "--html", tmp_path / "p.html")[0]
        assert out.startswith("2 documents, 4 lines: 2 lines kept, 2 removed (50.0%)\n1 cluster ·")
        page = (tmp_path / "p.html").read_text()
        assert "<b>2</b>lines kept" in page
        assert "<b>50.0%</b>removed" in page
        found = la.dedupe(list(self.ROWS), level="line").to_dict()
        assert [found[key] for key in ("documents", "kept", "removed", "clusters", "unit")] == [2, 2, 2, 1, "lines"]

    def test_one_document(self) -> None:
        assert la.dedupe([{"text": "x"}]).headline() == "1 document: 1 kept, 0 removed (0.0%)"
        assert la.dedupe([{"text": "x"}], level="paragraph").headline() == "1 document, 1 paragraph: 1 paragraphs kept, 0 removed (0.0%)"


class TestTextsInPlaceOfPaths:
    @pytest.mark.parametrize("texts", [["text one", "text two"], "a text of some words", ["相似的文字"], ["x" * 5000]])
    def test_the_message_says_how_texts_are_given(self, texts: Any) -> None:
        for call in (la.dedupe, la.plan):
            with pytest.raises(la.InputError, match=r"a str is a path here: give texts as mappings, such as \[\{'text': 'one text'\}\]"):
                call(texts)

    def test_a_name_that_is_too_long(self) -> None:
        with pytest.raises(la.InputError, match="File name too long"):
            la.documents("x" * 5000)

    def test_a_missing_file_is_a_missing_file(self) -> None:
        with pytest.raises(la.InputError, match=r"^'missing.jsonl' does not exist: check the path$"):
            la.dedupe("missing.jsonl")


class TestOddTables:
    def test_two_columns_of_one_name(self, tmp_path: Path) -> None:
        two = pa.table([["a", "b"], ["c", "d"]], names=["text", "text"])
        pq.write_table(two, tmp_path / "in.parquet")
        (tmp_path / "in.csv").write_text("text,text\na,b\n")
        for corpus in (two, tmp_path / "in.parquet", tmp_path / "in.csv"):
            with pytest.raises(la.InputError, match="2 columns are called 'text': rename all but one"):
                la.dedupe(corpus)
        for name in ("in.parquet", "in.csv"):
            with pytest.raises(la.InputError, match="2 columns are called 'text': rename all but one"):
                list(la.documents(tmp_path / name))
        draft = pa.table([["a"], ["b"], ["c"]], names=["draft", "draft", "final"])
        with pytest.raises(la.InputError, match="2 columns are called 'draft'"):
            la.feedback(draft)

    def test_nanoseconds(self, tmp_path: Path) -> None:
        when = pa.array([1_700_000_000_123_456_789, 1_700_000_001_123_456_789], pa.timestamp("ns"))
        nested = pa.array([[{"at": 1_001}], []], pa.list_(pa.struct([("at", pa.duration("ns"))])))
        frame = pa.table({"text": ["same words", "same words"], "when": when, "nested": nested})
        pq.write_table(frame, tmp_path / "in.parquet")
        problems: list[la.Problem] = []
        found = list(la.documents(tmp_path / "in.parquet", on_problem=problems.append))
        assert [document.meta["when"] for document in found] == ["2023-11-14T22:13:20.123456", "2023-11-14T22:13:21.123456"]
        assert found[0].meta["nested"] == [{"at": 1e-06}]
        assert not problems
        for corpus in (frame, tmp_path / "in.parquet"):
            report = la.dedupe(corpus, keep="newest:when")
            assert [row.row for row in report.removed] == [1]
        la.dedupe(tmp_path / "in.parquet", out=tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet").equals(frame.slice(0, 1))
        pairs = frame.select(["text", "when"]).rename_columns(["draft", "time"]).append_column("final", frame.column("text"))
        assert la.feedback(pairs).trend()[0]["from"] == "2023-11-14"

    def test_ids_that_are_no_text(self, tmp_path: Path) -> None:
        offsets = pa.array([0, 2, 4], pa.int32()).buffers()[1]
        ids = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfeab")])
        pq.write_table(pa.table({"text": ["one", "two"], "id": ids}), tmp_path / "in.parquet")
        with pytest.raises(la.InputError, match=r"in.parquet:1: unusable id: 'id' is unreadable"):
            la.dedupe(tmp_path / "in.parquet")
        assert list(la.dedupe(tmp_path / "in.parquet", on_error="skip").kept) == ["ab"]

    def test_a_file_of_another_type_among_good_ones(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"text": ["one", "two"]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "b.parquet")
        with pytest.raises(la.InputError, match=r"b.parquet: unreadable file: column 'text' holds int64"):
            la.dedupe(tmp_path)
        report = la.dedupe(tmp_path, on_error="skip", out=f"{tmp_path}/out/")
        assert (report.documents, [path.name for path in (tmp_path / "out").iterdir()]) == (2, ["a.parquet"])


def test_outputs_that_are_inputs(corpus: Path, tmp_path: Path) -> None:
    before = corpus.read_bytes()
    os.link(corpus, tmp_path / "hard.jsonl")
    os.symlink(corpus, tmp_path / "soft.jsonl")
    for name in ("in.jsonl", "hard.jsonl", "soft.jsonl"):
        for option in ("out", "removed"):
            with pytest.raises(la.InputError, match=f"{option}=.*{name}' is the input"):
                la.dedupe(corpus, **{option: tmp_path / name})
    assert corpus.read_bytes() == before
    assert len(list(islice(tmp_path.iterdir(), 9))) == 3
