"""Mutated real inputs: a valid file of each format with bytes flipped, cut, doubled or put in, and only errors of ours come out.

A fixed set of examples in every run of the tests; LOOKALIKE_EXAMPLES=2000 tries as many others.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import random
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.fetching.urls import parse_url, redirected
from lookalike.keys import Key
from lookalike.stores.settings import Settings, Wanted

EXAMPLES = int(os.environ.get("LOOKALIKE_EXAMPLES", "0"))
TEXT = "the quick brown fox jumps over the lazy dog and then it sleeps for a while under the old tree"
PAIRS = [{"id": str(n), "draft": f"{TEXT} {n}", "final": f"{TEXT} and more {n}", "time": "2026-01-02"} for n in range(3)]
ROWS = [{"id": f"d{n}", "text": f"{TEXT} {n}", "n": n} for n in range(4)]
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>some words in a page</p></body></html>"


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def separated(rows: list[dict[str, Any]], mark: str) -> bytes:
    lines = [mark.join(rows[0]), *(mark.join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode() + b"\n"


def parquet(rows: list[dict[str, Any]], **options: Any) -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return bytes(out.getvalue())


def warc() -> bytes:
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%d>\r\nWARC-Target-URI: http://a.example/%d\r\nContent-Length: %d\r\n\r\n"
    return b"".join(head % (n, n, len(RESPONSE)) + RESPONSE + b"\r\n\r\n" for n in range(2))


HTML = b"<html><head><meta charset='gb2312'><title>t</title></head><body class='a b'><p>some words</p><svg><g/></svg></body></html>"
DOCUMENTS: dict[str, bytes] = {
    "a.jsonl": jsonl(ROWS),
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "a.csv": separated(ROWS, ","),
    "a.tsv": separated(ROWS, "\t"),
    "a.parquet": parquet(ROWS),
    "plain.parquet": parquet(ROWS, compression="none", use_dictionary=False),
    "a.jsonl.gz": gzip.compress(jsonl(ROWS), mtime=0),
    "a.jsonl.zst": zstandard.compress(jsonl(ROWS)),
    "a.warc": warc(),
    "a.warc.gz": b"".join(gzip.compress(part, mtime=0) for part in (warc(), warc())),
    "a.html": HTML,
    "a.txt": TEXT.encode() + "\n快速的棕色狐狸".encode("gb18030"),
    "utf16.txt": TEXT.encode("utf-16"),
}
PAIR_FILES = {
    "p.jsonl": jsonl(PAIRS),
    "p.csv": separated(PAIRS, ","),
    "p.parquet": parquet(PAIRS),
    "p.jsonl.gz": gzip.compress(jsonl(PAIRS), mtime=0),
}
VECTORS = {
    "v.txt": b"3 2\nthe 0.5 0.25\nfox -1.0 0.5\ndog 0.125 2.0\n",
    "v.bin": b"2 2\n" + b"the " + struct.pack("<2f", 0.5, 0.25) + b"\nfox " + struct.pack("<2f", 1, 2) + b"\n",
}

mutations = st.lists(
    st.tuples(
        st.sampled_from(["flip", "set", "cut", "double", "insert", "truncate", "number"]),
        st.integers(0, 1 << 20),
        st.integers(0, 1 << 20),
        st.binary(min_size=1, max_size=8)
        | st.sampled_from([b"\0", b"\xff\xff\xff\xff", b"\r\n", b'"', b"9" * 30, b"\xef\xbb\xbf", b"{", b"\x1f\x8b"]),
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, steps: list[tuple[str, int, int, bytes]]) -> bytes:
    changed = bytearray(data)
    for kind, first, second, piece in steps:
        at = first % (len(changed) + 1)
        length = 1 + second % 40
        if kind == "flip" and at < len(changed):
            changed[at] ^= 1 << second % 8
        elif kind == "set":
            changed[at : at + len(piece)] = piece
        elif kind == "cut":
            del changed[at : at + length]
        elif kind == "double":
            changed[at:at] = changed[at : at + length]
        elif kind == "insert":
            changed[at:at] = piece
        elif kind == "truncate":
            del changed[at:]
        elif kind == "number":  # lengths and offsets of binary formats
            changed[at : at + 4] = struct.pack("<I", first * 4099 + second & 0xFFFFFFFF)
    return bytes(changed)


def examples(count: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=EXAMPLES or count, derandomize=not EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


def ours(act: Callable[[], object]) -> None:
    """Runs it; an error of ours is as good as an answer."""
    try:
        act()
    except la.LookalikeError as error:
        if not str(error):
            raise


def with_file(name: str, data: bytes, act: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        ours(lambda: act(path))


@pytest.mark.parametrize("name", DOCUMENTS)
@examples(40)
@given(steps=mutations)
def test_documents(name, steps):
    data = mutated(DOCUMENTS[name], steps)
    with_file(name, data, lambda path: list(la.documents(path)))
    with_file(name, data, lambda path: list(la.documents(path, on_problem=lambda problem: None, extract="all")))


@pytest.mark.parametrize("name", DOCUMENTS)
@examples(10)
@given(steps=mutations)
def test_dedupe_and_plan(name, steps):
    data = mutated(DOCUMENTS[name], steps)
    with_file(name, data, lambda path: la.dedupe(path))
    with_file(name, data, lambda path: la.plan(path))


@pytest.mark.parametrize("name", PAIR_FILES)
@examples(25)
@given(steps=mutations)
def test_feedback(name, steps):
    with_file(name, mutated(PAIR_FILES[name], steps), lambda path: la.feedback(path).to_html())


@functools.cache
def exported(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, la.open("memory://", keep_text="text" in name) as index:
        index.add([("a", TEXT, {"n": 1}), ("b" if "parquet" in name else 7, TEXT + " again")])
        index.export(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


@pytest.mark.parametrize("name", ["text.jsonl", "prints.jsonl", "text.parquet", "prints.parquet"])
@examples(30)
@given(steps=mutations)
def test_load(name, steps):
    def load(path: Path) -> None:
        with la.open("memory://", keep_text="text" in name) as index:
            index.load(path)
            assert index.check().ok

    with_file(name, mutated(exported(name), steps), load)


@pytest.mark.parametrize("name", VECTORS)
@examples(40)
@given(steps=mutations)
def test_word_vectors(name, steps):
    with_file(name, mutated(VECTORS[name], steps), lambda path: la.WordMover(la.word_vectors(path)).distance("the fox", "the dog"))


@functools.cache
def idf_table() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        la.learn_idf([TEXT, TEXT[:40]], tokenizer="auto").save(Path(folder) / "idf")
        return (Path(folder) / "idf").read_bytes()


@examples(60)
@given(steps=mutations)
def test_idf_table(steps):
    with_file("idf", mutated(idf_table(), steps), la.Idf.load)


@examples(60)
@given(steps=mutations)
def test_stop_words_and_words(steps):
    data = mutated("# words\nthe\nand\n快速\n".encode(), steps)
    with_file("stop", data, lambda path: la.keywords(TEXT, tokenizer="auto", weights="count", idf=None, stop_words=str(path)))
    with_file("words", data, lambda path: la.tokenize(TEXT, tokenizer=f"fmm:{path}"))


def json_of(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


@examples(150)
@given(steps=mutations)
def test_recipes(steps):
    given_ = json_of(mutated(json.dumps(la.Recipe().to_dict()).encode(), steps))
    if isinstance(given_, dict):
        ours(lambda: la.Recipe.from_dict(given_).id)


@examples(150)
@given(steps=mutations)
def test_settings(steps):
    text = mutated(Settings().to_json().encode(), steps).decode("utf-8", "replace")
    ours(lambda: Settings.from_json(text, "the store", Wanted(), lambda check: Key.without_secret(check, "the store has no secret")))


@functools.cache
def prints() -> dict[str, Any]:
    minhash = la.minhash(TEXT)
    made = [
        la.simhash(TEXT),
        minhash,
        minhash.compact(2),
        la.weighted_minhash({"a": 1.0, "b": 2.0}),
        la.winnow(TEXT),
        la.karp_rabin(TEXT),
        la.digest(b"data"),
        la.ssdeep(TEXT),
        la.tlsh(TEXT * 2),
        la.record({"a": 1, "b": ["x", None], "c": {"d": 2.5}}),
    ]
    return {each.kind: each for each in made}


KINDS = ("simhash", "minhash", "minhash-bbit", "weighted-minhash", "winnowing", "karp-rabin", "digest", "ssdeep", "tlsh", "record")


@pytest.mark.parametrize("kind", KINDS)
@examples(60)
@given(steps=mutations)
def test_fingerprints(kind, steps):
    made = prints()[kind]

    def use(found: Any) -> None:
        assert type(found).from_bytes(found.to_bytes()) == found
        found.similarity(made)

    data = mutated(made.to_bytes(), steps)
    ours(lambda: use(type(made).from_bytes(data)))
    values = json_of(mutated(json.dumps(made.to_dict()).encode(), steps))
    if values is not None:
        ours(lambda: use(type(made).from_dict(values)))


URLS = ["http://user@a.example:8080/p/q?x=1#f", "https://[2001:db8::1]/", "http://例え.jp/%E3%81%82", "http://1.2.3.4"]


@examples(200)
@given(steps=mutations, base=st.sampled_from(URLS))
def test_urls(steps, base):
    text = mutated(base.encode(), steps).decode("utf-8", "surrogateescape")
    ours(lambda: parse_url(text))


@examples(200)
@given(steps=mutations, base=st.sampled_from(URLS))
def test_redirects(steps, base):
    text = mutated(base.encode(), steps).decode("utf-8", "surrogateescape")
    ours(lambda: redirected(parse_url("http://a.example/b"), text))


@functools.cache
def stored() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lookalike-mutated"))
    with la.open(folder / "store") as index:
        index.add([(f"d{n}", f"{TEXT} {n}") for n in range(30)])
        index.compact()
    return folder / "store"


@examples(25)
@given(steps=mutations, chosen=st.integers(0, 1 << 20))
def test_stores(steps, chosen):
    """Any file of a store."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        shutil.copytree(stored(), path)
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.stat().st_size)
        file = files[chosen % len(files)]
        file.write_bytes(mutated(file.read_bytes(), steps))

        def use(read_only: bool) -> None:
            with la.open(path, read_only=read_only) as index:
                for by in ("near", "simhash", "passages", "fuzzy"):
                    index.search(TEXT * 2, by=by)
                list(index.documents())
                index.check(repair=not read_only)

        ours(lambda: use(True))
        ours(lambda: use(False))


def test_a_mutation_changes_something():
    chance = random.Random(1)
    data = bytes(chance.randrange(256) for _ in range(200))
    changed = [
        mutated(data, [(kind, 50, 60, b"\0\0\0")]) != data for kind in ("flip", "set", "cut", "double", "insert", "truncate", "number")
    ]
    assert np.all(changed)
