"""Writing the frames of a run where Spark writes: folders of part files, on any file system that it knows."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.corpus.files import Source
from lookalike.corpus.formats import format_named
from lookalike.corpus.streams import packed
from lookalike.corpus.writing import atomic_file
from lookalike.deduping.outputs import check_paths
from lookalike.deduping.spark.frames import frame_of
from lookalike.deduping.spark.inputs import FILE, NUMBER, key_of
from lookalike.deduping.spark.outcome import VALUE, Adding, Outcome, plain_ids
from lookalike.deduping.spark.work import hadoop
from lookalike.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lookalike.deduping.spark.engine import Engine

FILE_COLUMN = "file"  # with per_file the folders are called file=NAME
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def check_output(session: SparkSession, out: str) -> None:
    """An ``InputError`` unless the output can be written without destroying anything."""
    if out == "-":
        raise InputError("out='-': several machines cannot write to standard output: name a folder")
    path, files = hadoop(session, spark_path(out))
    if files.exists(path) and (not files.getFileStatus(path).isDirectory() or len(files.listStatus(path))):
        raise InputError(f"out={out!r} is there already, and not empty: name a new folder")


def check_list(path: str) -> str:
    """The format of the list of what was removed; an ``InputError``, before the work, if it cannot be written there."""
    format = Source.of(path.rpartition("/")[2]).format
    if format not in ("jsonl", "csv", "parquet"):
        raise InputError(f"removed={path!r}: the list is written as .jsonl, .csv or .parquet: choose one of these endings")
    return format


def check_reports(sources: Sequence[Source], **reports: str | Path | None) -> None:
    """An ``InputError`` if a list or a page would destroy an input, or has no folder. What is behind addresses is not looked at."""
    here = {name: path for name, path in reports.items() if path is not None and not _URL.match(str(path))}
    check_paths([source for source in sources if not _URL.match(source.name)], **here)


def spark_path(path: str | Path) -> str:
    return str(path) if _URL.match(str(path)) else "file://" + os.path.abspath(path)


def write_documents(outcome: Outcome, frame: DataFrame, out: str, engine: Engine, *, annotate: bool) -> None:
    """The rows of a frame with numbers, in the format of the input."""
    from pyspark.sql import functions as F

    format = outcome.corpus.format
    if format in ("text", "html"):
        _copy_files(outcome, frame, out)
        return
    added = [*(outcome.annotations if annotate else ()), *([engine.cluster_size] if engine.cluster_size else [])]
    if engine.cluster_size:
        frame = outcome.with_sizes(frame, engine.cluster_size)
    if format == "jsonl" and added:
        frame = frame.select(VALUE, FILE, *added).mapInArrow(Adding(tuple(added)), f"{VALUE} string, `{FILE}` string")
    frame = frame.drop(NUMBER)
    if engine.per_file:
        names = {row[0]: row[0] for row in frame.select(FILE).distinct().collect()}
        shown = _relative(names)
        table = frame_of(outcome.work.session, list(shown.items()), {FILE: "string", FILE_COLUMN: "string"})
        frame = frame.join(F.broadcast(table), FILE)
    writer = frame.drop(FILE).write.partitionBy(*([FILE_COLUMN] if engine.per_file else []))
    if format == "jsonl":
        writer.option("lineSep", "\n").text(spark_path(out))
    else:
        writer.parquet(spark_path(out))


def _relative(names: dict[str, str]) -> dict[str, str]:
    """The name of each file below the folder that all share."""
    paths = {name: key_of(name) for name in names}
    shared = os.path.commonpath([os.path.dirname(path) for path in paths.values()]) if paths else ""
    return {name: os.path.relpath(path, shared) for name, path in paths.items()}


def _copy_files(outcome: Outcome, frame: DataFrame, out: str) -> None:
    """Files that are documents are copied, one by one, as they are; a text that got shorter is written."""
    session = outcome.work.session
    names = [row[0] for row in frame.select(FILE).collect()]
    everyone = [row[0] for row in outcome.corpus.full.select(FILE).collect()]
    relative = _relative(dict.fromkeys(everyone, ""))
    jvm: Any = session.sparkContext._jvm
    conf = session.sparkContext._jsc.hadoopConfiguration()
    edited = {row[FILE]: row["edited"] for row in frame.where("edited is not null").collect()} if "edited" in frame.columns else {}
    for name in names:
        source, files = hadoop(session, name)
        target, elsewhere = hadoop(session, f"{spark_path(out)}/{relative[name]}")
        if name in edited:
            stream = elsewhere.create(target)
            stream.write(bytearray(edited[name]))
            stream.close()
        else:
            jvm.org.apache.hadoop.fs.FileUtil.copy(files, source, elsewhere, target, False, conf)


def write_removed(removed: DataFrame, path: str) -> None:
    """The audit trail: on this machine one file, in the order of the input; behind a URL a folder that Spark writes."""
    spans = [name for name in ("span", "kept_span") if name in removed.columns]
    names = ["id", "kept_id", "similarity", "file", "row", *spans]
    format = check_list(path)
    if _URL.match(path):
        plain = plain_ids(removed, "id", "kept_id").select(*names)
        getattr(plain.write, {"jsonl": "json"}.get(format, format))(path)
        return
    rows = removed.select(*names).toLocalIterator(prefetchPartitions=True)
    if format == "jsonl":
        with atomic_file(path) as file:
            out = packed(file, Source.of(path).packing)
            for row in rows:
                file_name = json.dumps(row.file, ensure_ascii=False)
                more = "".join(f', "{name}": {json.dumps(list(row[name]))}' for name in spans)
                head = f'{{"id": {row.id}, "kept_id": {row.kept_id}, "similarity": {row.similarity!r}'
                out.write(f'{head}, "file": {file_name}, "row": {row.row}{more}}}\n'.encode("utf-8", "backslashreplace"))
            out.close()
        return
    writer = format_named(format).row_writer(Path(path), names[:5])
    if writer is None:
        raise InputError(f"removed={path!r}: this ending cannot be written: choose .jsonl, .csv or .parquet")
    with writer as table:
        for row in rows:
            ids = {name: str(json.loads(row[name])) for name in ("id", "kept_id")}
            table.write(row.asDict() | ids | {name: list(row[name]) for name in spans})
