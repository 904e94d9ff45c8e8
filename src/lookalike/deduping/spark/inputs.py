"""Where documents are → a frame in which every row has a number: its place in the corpus, whoever reads it, and in whatever order.

Readers of Spark cut files into blocks and take the large ones first. So rows are counted block by block, and a row's number is that of
its block's first row plus its place in the block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lookalike.corpus.batches import Columns, named_columns
from lookalike.corpus.files import Source, expand
from lookalike.corpus.formats.parquet import header
from lookalike.corpus.row import Problem, unreadable
from lookalike.deduping.problems import empty_file
from lookalike.deduping.spark.decoding import CELL, Decode, FromColumns, FromFiles, FromLines, is_decodable
from lookalike.deduping.spark.frames import column_of, frame_of
from lookalike.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from lookalike.deduping.settings import Input
    from lookalike.deduping.spark.engine import Engine
    from lookalike.deduping.spark.work import Work

# Columns beside those of the corpus: their names must be nobody else's.
NUMBER, FILE, OTHER, FIRST = "lookalike n", "lookalike file", "lookalike other", "lookalike first"
READABLE = "engine='spark' reads Parquet, JSON lines (also .gz), text and HTML files, and DataFrames of Spark"
UNSIGNED = "decimal(20,0)"  # as Spark reads whole numbers of 64 bits without a sign
IDS = ("string", "tinyint", "smallint", "int", "bigint", "float", "double", "void", UNSIGNED)
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_GLOB = re.compile(r"([\\\[\]{}*?])")


@dataclass(frozen=True, slots=True)
class Places:
    """The file and the row behind a number."""

    names: Sequence[str] = ()
    firsts: Sequence[int] = ()  # the number of each file's first row
    documents: bool = False  # whether each file is one

    def file(self, n: int) -> str:
        return self.names[bisect_right(self.firsts, n) - 1] if self.names else ""

    def row(self, n: int) -> int:
        if self.documents:
            return 0
        return n - self.firsts[bisect_right(self.firsts, n) - 1] + 1 if self.names else n + 1

    def place(self, n: int) -> str:
        if not self.names:
            return f"row {n}"
        return self.file(n) if self.documents else f"{self.file(n)}:{self.row(n)}"


@dataclass(frozen=True)
class Corpus:
    """Documents in Spark. ``rows`` has what the stages look at, ``full`` all columns and the numbers."""

    rows: DataFrame  # n, cell; where there are such columns id, rank and per
    full: DataFrame
    format: str  # parquet, jsonl, text or html; "" for a DataFrame
    columns: Columns
    places: Places
    last: int  # no number is larger
    sources: Sequence[Source] = ()
    encoding: str | None = None
    left_out: list[Problem] = field(default_factory=list)

    def decode(self, *, bare: bool = False) -> Decode:
        """What makes documents of rows; of texts alone where ids and ranks stayed behind."""
        columns = Columns(self.columns.text, self.columns.id, extract=self.columns.extract) if bare else self.columns
        if self.format == "jsonl":
            return FromLines(columns)
        if self.format in ("text", "html"):
            return FromFiles(columns, self.format, self.encoding)
        return FromColumns(columns)


def opened(session: SparkSession, given: Input, columns: Columns, engine: Engine, work: Work) -> Corpus:
    from pyspark.sql import DataFrame

    if isinstance(given.corpus, DataFrame):
        return _table(given.corpus, columns, engine, work)
    if not given.is_files:
        raise InputError(f"corpus is a {type(given.corpus).__module__.partition('.')[0]}.{type(given.corpus).__name__}: {READABLE}")
    left_out: list[Problem] = []
    sources = _sources(session, given, left_out.append)
    formats = {source.format for source in sources}
    if wrong := next((source for source in sources if not is_decodable(source)), None):
        raise InputError(f"{wrong.name!r}: {READABLE}: convert it, or use engine='local'")
    if len(formats) > 1:
        raise InputError(f"the inputs are of several formats ({', '.join(sorted(formats))}): engine='spark' reads one at a time")
    format = formats.pop()
    if format in ("text", "html") and (columns.rank or engine.per):
        raise InputError(f"{format} files have no columns: choose keep='first' or 'longest', and no per=")
    if given.encoding is not None and format in ("parquet", "jsonl") and given.encoding.lower() not in ("utf-8", "utf8"):
        raise InputError(f"encoding={given.encoding!r}: engine='spark' reads UTF-8: convert the files, or use engine='local'")
    make = {"parquet": _parquet, "jsonl": _lines}.get(format, _files)
    return make(session, sources, given, columns, engine, left_out)


def _sources(session: SparkSession, given: Input, left_out: Callable[[Problem], object]) -> list[Source]:
    """Files that this machine sees are found as everywhere; behind other URLs Spark looks itself."""
    named = [given.corpus] if isinstance(given.corpus, str | Path) else list(given.corpus)
    if not any(isinstance(each, str) and _URL.match(each) for each in named):
        return expand(named, given.format, left_out)
    found: list[Source] = []
    for each in named:
        for path in sorted(session.read.format("binaryFile").option("recursiveFileLookup", "true").load(str(each)).inputFiles()):
            name = unquote(path)
            base = Source.of(name.rpartition("/")[2], given.format)
            found.append(Source(Path(name), name, base.format, base.packing))
    if not found:
        raise InputError(f"{', '.join(map(str, named))}: no files there: check the address")
    return found


def _path(source: Source) -> str:
    """For Spark: a URL as it is, a file of this machine by its whole path. Signs of patterns are no signs of patterns."""
    if _URL.match(source.name):
        return _GLOB.sub(r"\\\1", source.name)
    if source.path is None:
        raise InputError("standard input cannot be read by several machines: name a file")
    return "file://" + _GLOB.sub(r"\\\1", str(source.path.absolute()))


def key_of(path: str) -> str:
    """What names a file, however it is written: Spark puts escapes and one slash or three."""
    plain = re.sub(r"^([a-z][a-z0-9+.-]+):/(?://)?(?=[^/])", r"\1:/", unquote(path), flags=re.IGNORECASE)
    return re.sub(r"^file:/+", "/", plain)


def _by_key(sources: Sequence[Source]) -> dict[str, int]:
    return {
        key_of(source.name) if _URL.match(source.name) else str(source.path and source.path.absolute()): i
        for i, source in enumerate(sources)
    }


def _parquet(session: SparkSession, sources: Any, given: Input, columns: Columns, engine: Engine, left_out: list[Problem]) -> Corpus:
    from pyspark.sql import functions as F

    sources = _tables(sources, columns, left_out)
    frame = _merged(session, sources)
    _check(frame, columns, engine, sources[0].name)
    counts = frame.select(F.col("_metadata.file_path").alias("f")).groupBy("f").count().withColumn("hash", F.xxhash64("f")).collect()
    by_key = _by_key(sources)
    found = {by_key[key_of(row.f)]: row for row in counts}
    rows = [found[i]["count"] if i in found else 0 for i in range(len(sources))]
    left_out += _empty(sources, rows)
    firsts, total = _firsts(rows)
    # Every row is joined, in every pass: a number costs it much less than a path. Paths that have the same hash are joined as they are.
    hashed = len({row.hash for row in counts}) == len(counts)
    known = [(row.hash if hashed else row.f, firsts[i]) for i, row in found.items()]
    table = frame_of(session, known, {OTHER: "long" if hashed else "string", FIRST: "long"})
    given_columns = [column_of(name) for name in frame.columns]
    numbered = frame.select(*given_columns, F.col("_metadata.file_path").alias(FILE), F.col("_metadata.row_index").alias(NUMBER))
    file = F.col(f"`{FILE}`")
    joined = numbered.join(F.broadcast(table), (F.xxhash64(file) if hashed else file) == F.col(f"`{OTHER}`"))
    full = joined.select(*given_columns, FILE, (F.col(f"`{NUMBER}`") + F.col(f"`{FIRST}`")).alias(NUMBER))
    places = Places([source.name for source in sources], firsts)
    return Corpus(_rows(full, columns, engine), full, "parquet", columns, places, total, sources, None, left_out)


def _tables(sources: Sequence[Source], columns: Columns, left_out: list[Problem]) -> list[Source]:
    """Those that have the columns; the others are left out, with the reason. Spark would take it for null what a file does not have.
    Only Spark sees files behind addresses, so they are not looked into here."""
    found, named = [], named_columns(columns)
    for source in sources:
        try:
            if not _URL.match(source.name):
                named.see(names := header(source))
                columns.check_header(names, source.name)
            found.append(source)
        except InputError as error:
            left_out.append(unreadable(source.name, error))
    if not found:
        named.check()
        raise InputError(f"{left_out[-1].place}: {left_out[-1].kind}: {left_out[-1].message}")
    return found


def _merged(session: SparkSession, sources: Sequence[Source]) -> DataFrame:
    """All columns of all files: by itself Spark takes those of one file, and those that only others have are lost."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return session.read.option("mergeSchema", "true").parquet(*map(_path, sources))
    except (PySparkException, Py4JError) as error:
        if "CANNOT_MERGE" not in str(error):
            raise
        kinds = " and ".join(re.findall(r'"([A-Z<>(),:a-z_0-9 ]+)"', str(error))[-2:])
        shown = f" ({kinds})" if kinds else ""
        raise InputError(f"the Parquet files have a column with different types{shown}: convert them, or use engine='local'") from error


def _lines(session: SparkSession, sources: Any, given: Input, columns: Columns, engine: Engine, left_out: list[Problem]) -> Corpus:
    from pyspark.sql import functions as F

    if engine.cluster_size:
        if engine.cluster_size in (columns.text, columns.id, columns.rank):
            raise InputError(f"cluster_size={engine.cluster_size!r}: there is such a column already: choose another name")
        columns = columns._replace(reserved=(*columns.reserved, engine.cluster_size))  # lines are looked through for it
    named = named_columns(columns)
    named.read([source for source in sources if not _URL.match(source.name)])
    named.check()
    if engine.per:
        raise InputError("per= is for tables: convert the JSON lines to Parquet, or dedupe each dump by itself")
    read = session.read.option("lineSep", "\n").text([*map(_path, sources)])
    place = F.monotonically_increasing_id()  # the place in its partition, which is a run of blocks
    lines = read.select("value", F.col("_metadata.file_path").alias("f"), F.col("_metadata.file_block_start").alias("s"), place.alias("m"))
    blocks = lines.groupBy("f", "s").agg(F.count("*").alias("rows"), F.min("m").alias("begin")).collect()
    by_key = _by_key(sources)
    ordered = sorted((by_key[key_of(row.f)], row.s, row.f, row.rows, row.begin) for row in blocks)
    counts = [0] * len(sources)
    table = []
    for i, start, path, rows, begin in ordered:
        table.append((path, start, begin, counts[i], i))
        counts[i] += rows
    left_out += _empty(sources, counts)
    firsts, total = _firsts(counts)
    known = [(path, start, begin, firsts[i] + before) for path, start, begin, before, i in table]
    table_of_blocks = frame_of(session, known, {"f": "string", "s": "long", "begin": "long", "first": "long"})
    changed = F.raise_error(F.lit("the blocks of the input are cut otherwise than before: write what you need with out=")).cast("long")
    joined = lines.join(F.broadcast(table_of_blocks), ["f", "s"], "left").withColumn("first", F.coalesce("first", changed))
    first = (F.col("s") == 0) & (F.col("m") == F.col("begin"))
    text = F.when(first, F.regexp_replace("value", "^\ufeff", "")).otherwise(F.col("value"))
    full = joined.select(text.alias("value"), F.col("f").alias(FILE), (F.col("first") + F.col("m") - F.col("begin")).alias(NUMBER))
    rows = full.select(F.col(f"`{NUMBER}`").alias("n"), F.concat("value", F.lit("\n")).alias(CELL))
    places = Places([source.name for source in sources], firsts)
    return Corpus(rows, full, "jsonl", columns, places, total, sources, None, left_out)


def _files(session: SparkSession, sources: Any, given: Input, columns: Columns, engine: Engine, left_out: list[Problem]) -> Corpus:
    from pyspark.sql import functions as F

    paths = [*map(_path, sources)]
    read = session.read.format("binaryFile").load(paths)
    by_key = _by_key(sources)
    found = [(row.path, by_key[key_of(row.path)]) for row in read.select("path").collect()]
    table = frame_of(session, found, {"path": "string", "number": "long"})
    joined = read.select("path", "content").join(F.broadcast(table), "path")
    full = joined.select("content", F.col("path").alias(FILE), F.col("number").alias(NUMBER))
    rows = full.select(F.col(f"`{NUMBER}`").alias("n"), F.col("content").alias(CELL))
    places = Places([source.name for source in sources], list(range(len(sources))), documents=True)
    return Corpus(rows, full, sources[0].format, columns, places, len(sources), sources, given.encoding, left_out)


def _empty(sources: Sequence[Source], rows: Sequence[int]) -> list[Problem]:
    return [empty_file(source.name) for source, count in zip(sources, rows, strict=True) if not count]


def _firsts(counts: Sequence[int]) -> tuple[list[int], int]:
    firsts, total = [], 0
    for count in counts:
        firsts.append(total)
        total += count
    return firsts, total


def _table(frame: DataFrame, columns: Columns, engine: Engine, work: Work) -> Corpus:
    """A DataFrame of somebody else. It must give the same rows each time it is asked."""
    from pyspark.sql import functions as F

    order = engine.order_column or columns.id
    if order not in frame.columns:
        raise InputError(
            f"a DataFrame needs a column that says which row is first: give Engine(order_column=…); there is no column {order!r}"
        )
    _check(frame, columns, engine, "the DataFrame")
    place = column_of(order)
    kind = dict(frame.dtypes)[order]
    least, most, rows, given, different = frame.select(
        F.min(place), F.max(place), F.count("*"), F.count(place), F.count_distinct(place)
    ).collect()[0]
    if given < rows or different < rows:
        what = f"{rows - given:,} rows have none" if given < rows else f"{rows - different:,} come again"
        raise InputError(f"order_column={order!r}: of its {rows:,} values {what}: name a column that is unique, Engine(order_column=…)")
    if kind in ("tinyint", "smallint", "int", "bigint") and (not rows or most - least < 4 * rows + 1000):
        full = frame.withColumn(NUMBER, (place - F.lit(least or 0)).cast("long"))
        last = (most - least if rows else 0) + 1
    else:
        full, last = work.saved(_by_rank(frame, order, work), "corpus"), rows
    return Corpus(_rows(full, columns, engine), full, "", columns, Places(), last)


def _by_rank(frame: DataFrame, order: str, work: Work) -> DataFrame:
    from pyspark.sql import functions as F

    numbers = numbers_by(frame.select(column_of(order).alias("o")), work).withColumnRenamed("o", OTHER)
    return frame.join(numbers, column_of(order) == F.col(f"`{OTHER}`")).drop(OTHER)


def numbers_by(frame: DataFrame, work: Work) -> DataFrame:
    """The column ``o`` and numbers by sorting: the place within a sorted partition, behind all partitions before it."""
    from pyspark.sql import functions as F

    ordered = frame.repartitionByRange("o").sortWithinPartitions("o")
    placed = work.saved(ordered.select("o", F.spark_partition_id().alias("p"), F.monotonically_increasing_id().alias("m")), "order")
    parts = placed.groupBy("p").agg(F.min("m").alias("begin"), F.count("*").alias("rows")).orderBy("p").collect()
    firsts, _ = _firsts([row.rows for row in parts])
    table = [(row.p, row.begin, first) for row, first in zip(parts, firsts, strict=True)]
    known = placed.join(F.broadcast(frame_of(frame.sparkSession, table, {"p": "int", "begin": "long", "first": "long"})), "p")
    return known.select("o", (F.col("first") + F.col("m") - F.col("begin")).alias(NUMBER))


def _check(frame: DataFrame, columns: Columns, engine: Engine, name: str) -> None:
    """The columns there must be, and those there must not be."""
    named = named_columns(columns)
    named.see(frame.columns)
    named.check()
    columns.check_header(frame.columns, name)
    kind = dict(frame.dtypes)[columns.text]
    if kind not in ("string", "void") and not kind.startswith(("varchar", "char")):
        raise InputError(f"{name}: column {columns.text!r} holds {kind}: name the column of the text, or cast it to string")
    named_by = dict(frame.dtypes).get(columns.id, "string")
    if named_by not in IDS and not named_by.startswith(("varchar", "char")):
        raise InputError(
            f"{name}: column {columns.id!r} holds {named_by}: ids are text or numbers: name another column, or cast it to string"
        )
    if engine.per and engine.per not in frame.columns:
        raise InputError(f"per={engine.per!r}: {name} has no such column; the columns are {', '.join(map(repr, frame.columns[:20]))}")
    if engine.cluster_size and engine.cluster_size in frame.columns:
        raise InputError(f"cluster_size={engine.cluster_size!r}: there is such a column already: choose another name")


def _rows(full: DataFrame, columns: Columns, engine: Engine) -> DataFrame:
    """What the stages look at."""
    from pyspark.sql import functions as F

    wanted = [F.col(f"`{NUMBER}`").alias("n"), column_of(columns.text).cast("string").alias(CELL)]
    wanted += [column_of(columns.id).alias("id")] if columns.id in full.columns else []
    wanted += [column_of(columns.rank).alias("rank")] if columns.rank else []
    # Of ten thousand dumps no two have the same 64 bits, but for one case in 10^11.
    wanted += [F.xxhash64(column_of(engine.per).cast("string")).alias("per")] if engine.per else []
    return full.select(*wanted)
