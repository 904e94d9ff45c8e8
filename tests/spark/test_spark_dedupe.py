"""Dedupe on Spark says what dedupe on one machine says, row for row."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from dedupe_corpora import WORDS, near_copies, prose, read_jsonl, real_texts, rows_of, write_jsonl
from lookalike.deduping.spark import decisions, rounds
from lookalike.deduping.spark.engine import Engine
from spark_session import shared_session

pytestmark = pytest.mark.xdist_group("spark")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def session() -> Any:
    return shared_session()


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Real texts, near-copies and copies of them, texts without words, no texts at all, and values to order by, some of them missing."""
    draw = random.Random(5)
    texts: list[Any] = real_texts(2000)
    for _ in range(3000 - len(texts)):
        words = draw.choice(texts).split(" ")
        for _ in range(draw.choice([0, 1, 1, 2, 6])):
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        texts.append(" ".join(words))
    draw.shuffle(texts)
    texts[40:44] = ["", "…", None, "!!!"]
    texts[2000:2010] = [texts[7]] * 10
    made = rows_of(texts, score=[draw.choice([None, 1.5, -2.0, 7.0]) for _ in texts], day=[f"2024-01-{1 + i % 28:02}" for i in range(3000)])
    return [row | {"place": place} for place, row in enumerate(made)]


def removed_locally(rows: Sequence[Row], **options: Any) -> set[tuple[Any, ...]]:
    return {(each.id, each.kept_id, each.similarity) for each in la.dedupe(list(rows), **options).removed}


def removed_by_spark(frame: Any, engine: Engine, **options: Any) -> set[tuple[Any, ...]]:
    with la.dedupe(frame, engine=engine, **options) as report:
        found = [(row.id, row.kept_id, row.similarity) for row in report.removed.collect()]
    assert len(found) == len(set(found)) == report.removed_count
    return set(found)


def frame_of(session: Any, rows: Sequence[Row], parts: int) -> Any:
    """Of Arrow: rows of Python would go through Python workers with every pass over the frame."""
    import pyarrow as pa

    kinds = {"id": pa.string(), "text": pa.string(), "score": pa.float64(), "day": pa.string(), "place": pa.int64()}
    return session.createDataFrame(pa.table({name: pa.array([row[name] for row in rows], kinds[name]) for name in rows[0]})).repartition(
        parts
    )


@pytest.mark.parametrize(
    ("options", "parts", "partitions"),
    [
        ({}, 2, 3),
        ({"keep": "longest"}, 3, 2),
        ({"keep": "best:score", "threshold": 0.6}, 1, 2),
        ({"keep": "newest:day"}, 2, 1),
        ({"method": "simhash", "distance": 8}, 2, 3),
        ({"method": "simhash", "distance": 8, "keep": "longest"}, 1, 2),
        ({"method": "simhash", "distance": 3, "keep": "best:score"}, 3, 1),
        ({"method": "exact", "keep": "longest"}, 2, 3),
        ({"method": "exact"}, 1, 2),
        ({"method": "exact", "keep": "newest:day"}, 3, 1),
        ({"method": "bytes"}, 2, 3),
        ({"method": "bytes", "keep": "best:score"}, 3, 1),
        ({"method": "bytes", "keep": "longest"}, 1, 2),
    ],
    ids=str,
)
def test_methods_and_keep(session: Any, rows: list[Row], options: Row, parts: int, partitions: int) -> None:
    """Rows come shuffled, in so many partitions; the stages have another number of them. More of both would only take longer."""
    shuffled = random.Random(parts).sample(rows, len(rows))
    found = removed_by_spark(frame_of(session, shuffled, parts), Engine(order_column="place", partitions=partitions), **options)
    assert found == removed_locally(rows, **options)
    assert len(found) > 50


def shapes(links: int, rays: int, copies: int) -> list[str]:
    """A chain in which each is like the next, a star, and variants of a template that fill buckets, mixed."""
    draw = random.Random(11)
    river = prose(draw, 3 * links + 40)
    chain = [" ".join(river[3 * i : 3 * i + 40]) for i in range(links)]
    middle = prose(draw, 60)
    star = []
    for _ in range(rays):
        words = list(middle)
        words[draw.randrange(60)] = draw.choice(WORDS)
        star.append(" ".join(words))
    template = prose(draw, 50)
    variants = [" ".join([*template, *prose(draw, 8 + i % 3)]) for i in range(copies)]
    variants += [f"{each} {draw.choice(WORDS)}" for each in variants[::7]]
    mixed = chain + star + variants
    draw.shuffle(mixed)
    return mixed


@pytest.mark.parametrize(
    ("edges_on_driver", "few", "sizes"),
    [(1 << 20, 5000, (5000, 800, 1500)), (0, 5000, (40, 60, 700)), (1 << 20, 0, (40, 60, 700))],
    ids=["on the driver", "by component", "without a residue"],
)
def test_chains_stars_and_full_buckets(
    session: Any, monkeypatch: pytest.MonkeyPatch, edges_on_driver: int, few: int, sizes: tuple[int, int, int]
) -> None:
    """Long chains, a hot bucket with more kept documents than it holds; edges that are settled in Spark; rounds to the end."""
    monkeypatch.setattr(rounds, "FEW_UNDECIDED", few)
    made = [{"id": f"d{i}", "text": text, "place": i} for i, text in enumerate(shapes(*sizes))]
    engine = Engine(order_column="place", partitions=2, edges_on_driver=edges_on_driver)
    local = la.dedupe(made)
    assert local.to_dict()["hot_buckets"], "no bucket was full: the test says nothing"
    assert removed_by_spark(frame_of(session, made, 2), engine) == {(each.id, each.kept_id, each.similarity) for each in local.removed}


def test_files_of_parquet(session: Any, rows: list[Row], tmp_path: Path) -> None:
    """Files of very different sizes, a limit, an audit trail, every row with its verdict, sizes of clusters, and a folder per file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "in").mkdir()
    # Columns may be called as ours are.
    others = {"n": -1, "leader": "x", "first": 2, "size": 3, "cell": "y", "o": 4, "outside": None, "p": 5, "TEXT": 6, "a.b": 7, "b`t": 8}
    named = [row | others for row in rows]
    for name, part in (("b one", named[:30]), ("a", named[30:2900]), ("c", named[2900:])):
        pq.write_table(
            pa.Table.from_pylist(part, schema=pa.Table.from_pylist(named).schema), tmp_path / "in" / f"{name}.parquet", row_group_size=700
        )
    given = str(tmp_path / "in" / "*.parquet")
    local = la.dedupe(given, out=tmp_path / "local/", removed=tmp_path / "local.jsonl", annotate=True)
    engine = Engine(session, partitions=2, per_file=True, cluster_size="copies")
    with pytest.raises(la.errors.TooManyRemoved, match="nothing was written"):
        la.dedupe(given, out=tmp_path / "spark", method="exact", engine=engine, max_removed=3)
    assert not (tmp_path / "spark").exists()
    to = {"out": tmp_path / "spark", "removed": tmp_path / "spark.jsonl", "html": tmp_path / "spark.html"}
    with la.dedupe(given, annotate=True, engine=engine, **to) as report:
        assert {**report.to_dict(), **dict.fromkeys(VARYING)} == {**local.to_dict(), **dict.fromkeys(VARYING)}
    shown = what_was_found((tmp_path / "spark.html").read_text(encoding="utf-8"))
    assert shown.count('<section class="samples">') == 2, "the nearest to the threshold, and the largest clusters"
    assert shown == what_was_found(local.to_html())
    assert (tmp_path / "spark.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
    wanted = [row for path in sorted((tmp_path / "local").iterdir()) for row in pq.read_table(path).to_pylist()]
    found = read_parts(tmp_path / "spark")
    sizes = {row["id"]: row.pop("copies") for row in found}
    assert sorted(found, key=lambda row: row["place"]) == sorted(wanted, key=lambda row: row["place"])
    count: dict[int, int] = {}
    for row in wanted:
        count[row["cluster"]] = count.get(row["cluster"], 0) + 1
    assert sizes == {row["id"]: count[row["cluster"]] for row in wanted}
    assert {path.parent.name for path in (tmp_path / "spark").rglob("part-*.parquet")} == {
        "file=a.parquet",
        "file=b one.parquet",
        "file=c.parquet",
    }
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".lookalike")]


def test_paths_with_the_same_hash_and_more_decisions_than_a_plan_holds(
    session: Any, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    for first in range(0, 900, 300):
        pq.write_table(pa.Table.from_pylist([{"text": row["text"]} for row in rows[first : first + 300]]), tmp_path / f"{first}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    local = la.dedupe(files, method="exact")
    monkeypatch.setattr(F, "xxhash64", lambda *columns: F.lit(5).cast("long"))
    monkeypatch.setattr(decisions, "FEW", 2)
    with la.dedupe(files, method="exact", engine=Engine(session)) as report:
        found = [(row.id, row.kept_id, row.similarity) for row in report.removed.collect()]
    assert found == [(each.id, each.kept_id, each.similarity) for each in local.removed]
    assert (report.removed_count, report.cluster_count) == (len(found), local.to_dict()["clusters"])
    assert len(found) > 2


def test_tables_that_differ(session: Any, tmp_path: Path) -> None:
    """Columns that only some files have stay, in whichever file they are; what is no table, or has no text or no rows, is told or left
    out; of what Spark cannot read the file is named. Ids without a sign stay numbers, and times keep their zone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = near_copies(3, 20)
    (tmp_path / "in").mkdir()
    when = datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    kinds = {"id": pa.uint64(), "text": pa.string(), "body": pa.string(), "more": pa.string(), "when": pa.timestamp("us", "UTC")}
    tables: dict[str, Row] = {
        "a": {"id": [1 << 63, 2, 3], "text": texts[:3], "when": [when] * 3},
        "b": {"id": [4, 5], "text": [texts[0], texts[9]], "more": ["x", "y"]},
        "c": {"id": [6], "body": [texts[0]]},
        "e": {"id": [], "text": []},
    }
    for name, columns in tables.items():
        table = pa.table({column: pa.array(values, kinds[column]) for column, values in columns.items()})
        pq.write_table(table, tmp_path / "in" / f"{name}.parquet")
    (tmp_path / "in" / "d.parquet").write_bytes(b"no table")
    engine, options = Engine(session, partitions=2), {"method": "exact", "on_error": "skip"}
    with pytest.raises(la.InputError, match=r"c\.parquet: unreadable file: no column 'text'"):
        la.dedupe(tmp_path / "in", engine=engine)
    local = la.dedupe(tmp_path / "in", removed=tmp_path / "local.jsonl", **options)
    with la.dedupe(tmp_path / "in", out=tmp_path / "out", removed=tmp_path / "spark.jsonl", engine=engine, **options) as report:
        assert report.problems == local.problems
        assert len(local.problems) == 3
    assert (tmp_path / "spark.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
    assert [(each.id, each.kept_id) for each in local.removed] == [(4, 1 << 63)]
    wanted = [{"id": n, "text": text, "when": when, "more": None} for n, text in zip([1 << 63, 2, 3], texts, strict=False)]
    wanted += [{"id": 5, "text": texts[9], "when": None, "more": "y"}]
    assert sorted((row | {"id": int(row["id"])} for row in read_parts(tmp_path / "out")), key=str) == sorted(wanted, key=str)
    with pytest.raises(la.InputError, match=r"d\.parquet: unreadable file"):
        la.dedupe(tmp_path / "in" / "d.parquet", engine=engine)
    pq.write_table(pa.table({"id": ["7"], "text": texts[:1]}), tmp_path / "in" / "c.parquet")
    with pytest.raises(la.InputError, match=r"a column with different types .*STRING"):
        la.dedupe([tmp_path / "in" / f"{name}.parquet" for name in "ac"], engine=engine)
    pq.write_table(pa.table({"id": [when], "text": texts[:1]}), tmp_path / "in" / "c.parquet")
    with pytest.raises(la.InputError, match=r"c\.parquet: column 'id' holds timestamp: ids are text or numbers"):
        la.dedupe(tmp_path / "in" / "c.parquet", engine=engine)
    whole = (tmp_path / "in" / "a.parquet").read_bytes()
    (tmp_path / "in" / "a.parquet").write_bytes(whole[:4] + bytes(200) + whole[204:])
    with pytest.raises(la.InputError, match=r"in/a\.parquet: Spark cannot read this file \(.{10,}\): repair it"):
        la.dedupe(tmp_path / "in" / "a.parquet", engine=engine)


def what_was_found(page: str) -> str:
    """Similarities, sizes and samples, of a page about a run: all but figures above them and times below."""
    return page.partition(">Similarity<")[2].rpartition(">Time<")[0]


def assert_same_page(local: la.DedupeReport, report: Any) -> None:
    """All that the page about a run shows, but for times."""
    for least in (None, 0.8):
        assert report.similarities(10, least) == local.similarities(10, least)
    assert report.sizes() == local.sizes()
    assert report.samples(10, 10) == local.samples(10, 10)
    assert len(local.samples(10, 10)[0]) == 10


VARYING = ("seconds", "stages", "compared", "outputs", "signature", "settings")


def read_parts(folder: Path) -> list[Row]:
    import pyarrow.parquet as pq

    return [row for path in folder.rglob("part-*.parquet") for row in pq.ParquetFile(path).read().to_pylist()]


def test_json_lines(session: Any, rows: list[Row], tmp_path: Path) -> None:
    """Lines stay as they are, made ids name file and line, and lines that are no rows are told and left out."""
    import gzip

    lines = [json.dumps({name: row[name] for name in ("text", "day") if row[name] is not None or name == "text"}) for row in rows[:600]]
    lines[5:5] = ["", "{broken", '["no object"]', '{"day": 1}']
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.jsonl").write_text("\ufeff" + "\r\n".join(lines[:400]), encoding="utf-8")
    (tmp_path / "in" / "c.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[400:]).encode()))
    options: Row = {"on_error": "skip", "threshold": 0.7}
    local = la.dedupe(tmp_path / "in", out=tmp_path / "local/", removed=tmp_path / "local.csv", annotate=True, **options)
    engine = Engine(session, partitions=2)
    with pytest.raises(la.InputError, match=r"b.jsonl:7: invalid JSON"):
        la.dedupe(tmp_path / "in", engine=engine)
    with pytest.raises(la.InputError, match=r"removed=.*b\.jsonl.* too: give every output a file of its own"):
        la.dedupe(tmp_path / "in", removed=tmp_path / "in" / "b.jsonl", engine=engine, **options)
    assert (tmp_path / "in" / "b.jsonl").stat().st_size > 1000
    with pytest.raises(la.InputError, match=r"\.jsonl(\.gz)?:1: there is a column 'day' already"):
        la.dedupe(tmp_path / "in", engine=Engine(session, partitions=2, cluster_size="day"))
    with la.dedupe(
        tmp_path / "in", out=tmp_path / "spark", removed=tmp_path / "spark.csv", annotate=True, engine=engine, **options
    ) as report:
        assert [each._replace(place="") for each in report.problems] == [each._replace(place="") for each in local.problems]
        assert [each.place for each in report.problems] == [each.place for each in local.problems]
        assert {**report.to_dict(), **dict.fromkeys(VARYING)} == {**local.to_dict(), **dict.fromkeys(VARYING)}
    assert (tmp_path / "spark.csv").read_text() == (tmp_path / "local.csv").read_text()
    written = [json.loads(line) for path in (tmp_path / "spark").glob("part-*") for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = read_jsonl(tmp_path / "local" / "b.jsonl")
    wanted += [json.loads(line) for line in gzip.decompress((tmp_path / "local" / "c.jsonl.gz").read_bytes()).splitlines()]
    assert sorted(written, key=lambda row: json.dumps(row)) == sorted(wanted, key=lambda row: json.dumps(row))


@pytest.mark.parametrize(("level", "annotate"), [("paragraph", True), ("line", False)])
def test_levels(session: Any, level: str, annotate: bool, tmp_path: Path) -> None:
    """What is cut, or marked with annotate; the audit trail; and what the page shows."""
    draw = random.Random(2)
    pieces = [" ".join(prose(draw, 6)) for _ in range(60)] + ["---", "  "]
    made = [
        {"id": i, "text": "".join(draw.choice(pieces) + draw.choice(["\n", "\n\n"]) for _ in range(draw.randrange(8)))} for i in range(300)
    ]
    given = write_jsonl(tmp_path / "in.jsonl", made)
    options: Row = {"level": level, "keep": "longest", "annotate": annotate}
    local = la.dedupe(given, out=tmp_path / "local.jsonl", removed=tmp_path / "local-removed.jsonl", **options)
    engine = Engine(session, partitions=2)
    with la.dedupe(given, out=tmp_path / "spark", removed=tmp_path / "removed.jsonl", engine=engine, **options) as report:
        assert {**report.to_dict(), **dict.fromkeys(VARYING)} == {**local.to_dict(), **dict.fromkeys(VARYING)}
        if annotate:
            assert_same_page(local, report)
            assert report.annotated.columns[-2:] == ["cut", "repeats"]
    key = lambda row: json.dumps(row, sort_keys=True)  # noqa: E731
    assert sorted(read_jsonl(tmp_path / "removed.jsonl"), key=key) == sorted(read_jsonl(tmp_path / "local-removed.jsonl"), key=key)
    written = [json.loads(line) for path in (tmp_path / "spark").glob("part-*") for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(written, key=key) == sorted(read_jsonl(tmp_path / "local.jsonl"), key=key)


def test_lines_of_tables(session: Any, tmp_path: Path) -> None:
    """Columns may be called anything, that of the text too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    given = pa.table({"id": [1, 2], "a.b`c": ["one line\nanother\n", "a third\none line\n"], "d.e": [3, None]})
    pq.write_table(given, tmp_path / "in.parquet")
    options: Row = {"level": "line", "text_column": "a.b`c"}
    la.dedupe(tmp_path / "in.parquet", out=tmp_path / "local.parquet", **options)
    with la.dedupe(tmp_path / "in.parquet", out=tmp_path / "spark", engine=Engine(session, partitions=1), **options) as report:
        assert report.removed_count == 1
    assert sorted(read_parts(tmp_path / "spark"), key=str) == pq.read_table(tmp_path / "local.parquet").to_pylist()


def test_addresses(session: Any, rows: list[Row], tmp_path: Path) -> None:
    """Input, output, audit trail, working folder and what is compared with first, behind addresses that Spark alone can read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A file system of Hadoop's own, as s3a:// and hdfs:// are: paths of this machine mean nothing there.
    session.sparkContext._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.default.link./far", f"file://{tmp_path}")
    chosen = [{"id": f"r{i}", "text": row["text"]} for i, row in enumerate(rows[:300])]
    for folder, parts in (("in", {"a b": chosen[:40], "ü": chosen[40:]}), ("known", {"k": chosen[100:120]})):
        (tmp_path / folder).mkdir()
        for name, part in parts.items():
            pq.write_table(pa.Table.from_pylist(part), tmp_path / folder / f"{name}.parquet")
    local = la.dedupe(tmp_path / "in", against=tmp_path / "known", method="simhash", removed=tmp_path / "local.jsonl")
    to = {"out": "viewfs:///far/out", "removed": "viewfs:///far/removed.jsonl"}
    engine = Engine(session, partitions=2, work="viewfs:///far", per_file=True)
    with la.dedupe("viewfs:///far/in", against="viewfs:///far/known", method="simhash", engine=engine, **to) as report:
        assert report.removed_count == len(local.removed) > 20
    removed = [line for path in (tmp_path / "removed.jsonl").glob("part-*") for line in read_jsonl(path)]
    assert [(row["id"], row["kept_id"], row["row"]) for row in sorted(removed, key=lambda row: (row["file"], row["row"]))] == [
        (row["id"], row["kept_id"], row["row"]) for row in read_jsonl(tmp_path / "local.jsonl")
    ]
    gone = {each.id for each in local.removed}
    assert sorted(row["id"] for row in read_parts(tmp_path / "out")) == sorted(row["id"] for row in chosen if row["id"] not in gone)
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {"file=a b.parquet", "file=ü.parquet"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".lookalike")]


def test_text_files(session: Any, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for i, text in enumerate(near_copies(8, 40)):
        (tmp_path / "in" / ("deep" if i % 3 else ".") / f"t {i}.txt").write_text(text)
    (tmp_path / "in" / "binary.txt").write_bytes(bytes(range(256)) * 8)
    local = la.dedupe(tmp_path / "in", out=tmp_path / "local/", method="minhash", on_error="skip")
    with la.dedupe(tmp_path / "in", out=tmp_path / "spark/", engine=Engine(session, partitions=2), on_error="skip") as report:
        assert report.problems == local.problems, "a problem names its file"
        assert {(row.id, row.kept_id, row.row) for row in report.removed.collect()} == {
            (each.id, each.kept_id, each.row) for each in local.removed
        }
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*.txt")) for folder in (tmp_path / "local", tmp_path / "spark")]
    assert names[0] == names[1]
    (tmp_path / "page.html").write_text("<p>a page</p>")
    with pytest.raises(la.InputError, match="pages cannot be cut"):
        la.dedupe(tmp_path / "page.html", out=tmp_path / "cut", level="line", engine=Engine(session))


def test_against_a_store_and_against_another_corpus(session: Any, rows: list[Row], tmp_path: Path) -> None:
    """A store; a frame; and files, by SimHash. What either has goes, and points at the document there."""
    chosen = [{"id": row["id"], "text": row["text"], "place": row["place"]} for row in rows[:300]]
    # A frame has no order but that of its ids, which decides between documents that are equally near: here it is that of the file.
    others = [{"id": f"k{i:03}", "text": row["text"]} for i, row in enumerate(rows[500:900]) if row["text"]]
    with la.open(tmp_path / "known", threshold=0.8) as index:
        index.add([(row["id"], row["text"]) for row in others])
    given = write_jsonl(tmp_path / "known.jsonl", [*others, others[0]])  # an id that comes again
    frame, engine = frame_of(session, chosen, 2), Engine(order_column="place", partitions=2)
    for against, local, options in (
        (tmp_path / "known", tmp_path / "known", {}),
        (frame_of(session, others, 3), given, {"keep": "longest"}),
        (given, given, {"method": "simhash", "distance": 6}),
    ):
        found = removed_by_spark(frame, engine, against=against, **options)
        wanted = la.dedupe(chosen, against=local, **options)
        assert found == {(str(each.id), str(each.kept_id), each.similarity) for each in wanted.removed}
        assert any(kept.startswith("k") for _, kept, _ in found)
    with pytest.raises(la.InputError, match="files were given"):
        la.dedupe(frame, against=given, add=True, engine=engine)
    with pytest.raises(la.InputError, match="DataFrame of Spark: use engine='spark'"):
        la.dedupe(chosen, against=frame)


def test_within_a_dump(session: Any, rows: list[Row]) -> None:
    """Per value of a column, as if each were a corpus of its own."""
    chosen = [{"id": row["id"], "text": row["text"], "day": row["day"][-1], "place": row["place"]} for row in rows[:1200]]
    found = removed_by_spark(frame_of(session, chosen, 3), Engine(order_column="place", per="day", partitions=2))
    days = sorted({row["day"] for row in chosen})
    assert found == set().union(*(removed_locally([row for row in chosen if row["day"] == day]) for day in days))


def test_order_by_ids_of_any_kind(session: Any, rows: list[Row]) -> None:
    """Without a column of numbers the ids say who is first, by their order."""
    chosen = [{"id": row["id"], "text": row["text"]} for row in rows[:500]]
    found = removed_by_spark(frame_of(session, chosen, 2), Engine(partitions=2), method="exact")
    assert found == removed_locally(sorted(chosen, key=lambda row: row["id"]), method="exact")
    with pytest.raises(la.InputError, match="of its 501 values 1 come again"):
        la.dedupe(frame_of(session, [*chosen, chosen[0]], 2), engine=Engine())


def test_values_that_the_driver_does_not_hold(session: Any) -> None:
    """Of whole numbers it holds none: newest by days, above."""
    rows = [{"id": "a", "text": "b", "score": 0.5, "place": 0}, {"id": "c", "text": "b", "score": 0.25, "place": 1}]
    frame = frame_of(session, [*rows, {"id": "d", "text": "e", "score": 3.0, "place": 2}], 1)
    with pytest.raises(la.errors.EngineError, match="of 3 different values the driver holds 2: round them to whole numbers"):
        la.dedupe(frame, keep="best:score", method="exact", engine=Engine(order_column="place", names_on_driver=2))


@pytest.mark.parametrize("options", [{"against": "nothere"}, {"removed": "nothere/removed.jsonl"}, {"html": "nothere/page.html"}], ids=str)
def test_wrong_paths_are_told_before_anything_is_read(session: Any, options: Row) -> None:
    """Reading takes long where documents are many: they are counted, and may be sorted."""
    frame = session.createDataFrame([], "id string, text string")
    told: list[Any] = []
    with pytest.raises(la.LookalikeError, match="nothere"):
        la.dedupe(frame, engine="spark", progress=told.append, **options)
    assert not told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "meaning"}, "engine='spark' has minhash, simhash, exact, bytes"),
        ({"resume": True}, "resume is for engine='local'"),
        ({"against": "nothere"}, "against='nothere': there is no such store, file or folder: check the path"),
        ({"against": "x", "contains": 0.5}, "contains and references are for engine='local'"),
        ({"level": "substring"}, "engine='spark' has document, paragraph and line"),
        ({"out": "nosuch://x/y"}, 'Spark has no file system for such addresses .No FileSystem for scheme "nosuch".: add its jars'),
        ({"text_column": "body"}, "no row has a column 'body'"),
        ({"removed": "nothere/removed.jsonl"}, "removed='nothere/removed.jsonl': the folder does not exist"),
        ({"removed": "removed.txt"}, "removed='removed.txt': the list is written as .jsonl, .csv or .parquet"),
        ({"html": "nothere/page.html"}, "html='nothere/page.html': the folder does not exist"),
        ({"engine": Engine(order_column="nothing")}, "order_column"),
        ({"engine": "dask"}, "engine='dask'"),
        ({"engine": 3}, "engine=3"),
        ({"engine": Engine(per="dump")}, "per='dump'"),
        ({"engine": Engine(cluster_size="kept"), "annotate": True, "out": "x"}, "cluster_size='kept': annotate adds a column of this name"),
        ({"engine": Engine(names_on_driver=1), "method": "exact"}, "2 documents would go, and the driver holds 1: dedupe each part"),
    ],
    ids=str,
)
def test_what_spark_refuses(session: Any, options: Row, message: str) -> None:
    frame = frame_of(session, [{"id": each, "text": "b"} for each in "acd"], 1)
    with pytest.raises(la.LookalikeError, match=message):
        la.dedupe(frame, **({"engine": "spark"} | options))
