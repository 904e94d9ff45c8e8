"""Every public function and method with a wrong thing in each place of its arguments: an error of ours, which names what to give, or an answer.

A TypeError is for a wrong number of arguments, and for nothing else.
"""

from __future__ import annotations

import inspect
import itertools
import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as la
from lookalike import measures
from lookalike.registry import Registry

PARTS = 8  # for several processes
SECONDS = 20  # on a busy machine; a call that is refused takes microseconds

WRONG: dict[str, Any] = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "10**30": 10**30,
    "10**400": 10**400,
    "nan": math.nan,
    "inf": math.inf,
    "lone surrogate": "\ud800",
    "empty str": "",
    "NUL": "a\0b",
    "bytes": b"\xff",
    "empty list": [],
    "empty dict": {},
    "object": object(),
    "nested list": [[1], [2]],
    "list of None": [None],
    "list of object": [object()],
    "dict of object": {"a": object()},
    "dict by 1": {1: 2},
    "set": {1, "a"},
    "array": np.array([[1.5, 2.5]]),
    "array of objects": np.array([object()]),
    "type": int,
}

TEXT = "the quick brown fox jumps over the lazy dog and then it sleeps for a while under the old tree"
OTHER = "the quick brown fox jumped over the lazy dog and then it slept for a while under an old tree"
HTML = "<html><head><title>t</title></head><body><p>some words in a page</p></body></html>"
ROWS = '{"id": 1, "text": "one text that is here"}\n{"id": 2, "text": "another text that is here"}\n'

# What is not as it should be yet: the mark is taken off with the mend.
KNOWN: dict[str, str] = {}

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def function_calls(folder: Path) -> dict[str, Call]:
    """A valid call of each public function."""
    rows = folder / "rows.jsonl"
    rows.write_text(ROWS)
    pairs = folder / "pairs.jsonl"
    pairs.write_text('{"id": 1, "draft": "one text", "final": "one other text"}\n')
    labelled = folder / "labelled.jsonl"
    labelled.write_text('{"a": "one", "b": "one", "label": 1}\n{"a": "one", "b": "two", "label": 0}\n')
    vectors = folder / "vectors.txt"
    vectors.write_text("the 0.5 0.5\nfox 0.1 0.9\n")
    page = la.page(HTML)
    scanned = folder / "scanned"
    scanned.mkdir(exist_ok=True)
    (scanned / "a.txt").write_text(TEXT)
    essays = folder / "essays"
    essays.mkdir(exist_ok=True)
    for name in ("a.txt", "b.txt"):
        (essays / name).write_text(f"{TEXT} {name}")
    return {
        "calibrate": (la.calibrate, ([(TEXT, TEXT, 1), (TEXT, OTHER, 0)],), {}),
        "calibrate of a file": (la.calibrate, (labelled,), {}),
        "causal_model": (la.causal_model, (str(folder / "missing"),), {}),
        "code": (la.code, ("x = 1", "python"), {}),
        "compare": (la.compare, (TEXT, OTHER), {}),
        "compare of code": (la.compare, (la.code("x = 1", "python"), la.code("y = 2", "python")), {}),
        "compare of records": (la.compare, ({"a": 1}, {"a": 2}), {}),
        "compare of pages": (la.compare, (page, page), {}),
        "compare_pages": (la.compare_pages, ([(HTML, HTML)],), {}),
        "decode_text": (la.decode_text, (b"text", "name"), {}),
        "dedupe": (la.dedupe, (rows,), {}),
        "dedupe of rows": (la.dedupe, ([{"id": 1, "text": TEXT}, {"id": 2, "text": OTHER}],), {}),
        "dedupe of records": (la.dedupe, ([{"id": 1, "a": TEXT}, {"id": 2, "a": OTHER}],), {"method": "record", "columns": {"a": 2}}),
        "dedupe of passages": (la.dedupe, (rows,), {"level": "substring", "min_length": 2, "unit": "tokens"}),
        "dedupe of references": (la.dedupe, (rows,), {"against": rows, "contains": 0.5, "ngram": 2, "contains_by": "passages"}),
        "dedupe_stream": (la.dedupe_stream, (rows,), {"out": str(folder / "stream.jsonl"), "capacity": 10}),
        "digest": (la.digest, (b"data",), {}),
        "distinct": (la.distinct, ([TEXT, OTHER],), {}),
        "digests": (la.digests, ([b"data"],), {}),
        "documents": (la.documents, (rows,), {}),
        "documents as records": (la.documents, (rows,), {"columns": ["text"]}),
        "collections": (la.collections, (folder / "missing.lookalike",), {}),
        "drop_collection": (la.drop_collection, ("postgresql://127.0.0.1:9/none", "a"), {}),
        "edit_share": (la.edit_share, (TEXT, OTHER), {}),
        "embedder": (la.embedder, (str(folder / "missing"),), {}),
        "feedback": (la.feedback, (pairs,), {}),
        "feedback of pairs": (la.feedback, ([(TEXT, OTHER)],), {}),
        "fetch": (la.fetch, ("http://127.0.0.1:9/",), {"timeout": 1}),
        "fingerprint": (la.fingerprint, (TEXT,), {"kinds": "simhash"}),
        "fold": (la.fold, (TEXT,), {}),
        "index_table": (la.index_table, ("postgresql://127.0.0.1:9/none", "a"), {"column": "b", "key": "c"}),
        "info": (la.info, (), {}),
        "karp_rabin": (la.karp_rabin, (TEXT,), {}),
        "karp_rabins": (la.karp_rabins, ([TEXT],), {}),
        "keywords": (la.keywords, (TEXT,), {}),
        "learn_idf": (la.learn_idf, ([TEXT],), {}),
        "kept_model": (la.index.kept_model, (la.open("memory://", kinds="simhash"), str(folder / "missing")), {}),
        "page_vector": (la.pages.page_vector, (page,), {"model": str(folder / "missing")}),
        "match_representations": (la.match_representations, (page, page), {"model": str(folder / "missing")}),
        "match_tags": (la.match_tags, (page, page), {}),
        "minhash": (la.minhash, (TEXT,), {}),
        "minhashes": (la.minhashes, ([TEXT],), {}),
        "mmdt": (la.mmdt, (TEXT,), {}),
        "mmdts": (la.mmdts, ([TEXT],), {}),
        "nilsimsa": (la.nilsimsa, (TEXT,), {}),
        "nilsimsas": (la.nilsimsas, ([TEXT],), {}),
        "open": (la.open, ("memory://",), {}),
        "page": (la.page, (HTML,), {}),
        "page_print": (la.page_print, (HTML,), {}),
        "page_prints": (la.page_prints, ([HTML],), {}),
        "page_text": (la.page_text, (HTML,), {}),
        "pairs": (la.pairs, (essays,), {}),
        "parse_record": (la.parse_record, ('{"a": 1}',), {}),
        "plan": (la.plan, (rows,), {}),
        "profile": (la.profile, (rows,), {}),
        "read": (la.read, (rows,), {}),
        "read_many": (la.read_many, ([rows],), {}),
        "read_members": (la.read_members, (rows,), {}),
        "read_text": (la.read_text, (rows,), {}),
        "record": (la.record, ({"a": 1},), {}),
        "records": (la.records, ([{"a": 1}],), {}),
        "register_stop_words": (la.register_stop_words, ("sweep", ["a"]), {}),
        "register_words": (la.register_words, ("sweep", ["ab"]), {}),
        "scan": (la.scan, (scanned,), {}),
        "shingles": (la.shingles, (TEXT,), {}),
        "simhash": (la.simhash, (TEXT,), {}),
        "simhash of hashes": (la.simhash, (), {"hashes": [1, 2], "weights": [1, 2.5], "bits": 8}),
        "simhashes": (la.simhashes, ([TEXT],), {}),
        "ssdeep": (la.ssdeep, (TEXT,), {}),
        "ssdeeps": (la.ssdeeps, ([TEXT],), {}),
        "tlsh": (la.tlsh, (TEXT,), {}),
        "tlshs": (la.tlshs, ([TEXT],), {}),
        "tokenize": (la.tokenize, (TEXT,), {}),
        "weighted_minhash": (la.weighted_minhash, ({"a": 1.0},), {}),
        "weighted_minhashes": (la.weighted_minhashes, ([{"a": 1.0}],), {}),
        "winnow": (la.winnow, (TEXT,), {}),
        "winnows": (la.winnows, ([TEXT],), {}),
        "word_vectors": (la.word_vectors, (vectors,), {}),
    }


def class_calls(folder: Path) -> dict[str, Call]:
    """Constructors that are called by users."""
    return {
        "Recipe": (la.Recipe, (), {}),
        "Recipe.from_dict": (la.Recipe.from_dict, (la.Recipe().to_dict(),), {}),
        "AsyncIndex": (la.AsyncIndex, (la.open("memory://"),), {}),
        "HammingIndex": (la.HammingIndex, (), {}),
        "BandIndex": (la.BandIndex, ([[1, 2]], ["a"]), {"bands": 1, "rows": 2}),
        "SetIndex": (la.index.SetIndex, ({"a": {"b"}},), {}),
        "Bounds.of": (la.Bounds.of, ((0.1, 0.2, 0.3),), {}),
        "Bounds": (la.Bounds, (), {}),
        "TagWeights": (la.TagWeights, (), {}),
        "register_dictionary": (la.text.register_dictionary, ("sweep", ["ab"]), {}),
        "Document": (la.Document, ("a", "text"), {}),
        "Limits": (la.Limits, (), {}),
        "FileText": (la.FileText, ("a", "text"), {}),
        "Place": (la.Place, ("page", "page 1", 0, 1), {}),
        "Idf.load": (la.Idf.load, (folder / "missing.json",), {}),
    } | {
        f"{type(made).__name__}.{name}": (getattr(type(made), name), (getattr(made, name.replace("from", "to"))(),), {})
        for made in fingerprints()
        for name in ("from_dict", "from_bytes")
    }


def fingerprints() -> list[Any]:
    minhash = la.minhash(TEXT)
    return [
        la.simhash(TEXT),
        minhash,
        minhash.compact(2),
        la.weighted_minhash({"a": 1.0}),
        la.winnow(TEXT),
        la.karp_rabin(TEXT),
        la.digest(b"data"),
        la.ssdeep(TEXT),
        la.tlsh(TEXT * 2),
        la.nilsimsa(TEXT),
        la.mmdt(TEXT),
        la.record({"a": 1, "b": "x"}),
    ]


def method_calls(folder: Path) -> dict[str, Call]:
    """Methods of what the public functions return."""
    calls: dict[str, Call] = {}
    for made in fingerprints():
        for name in ("similarity", "distance"):
            calls[f"{type(made).__name__}.{name}"] = (getattr(made, name), (made,), {})
    index = la.open("memory://")
    index.add([("a", TEXT), ("b", OTHER)])
    minhash, simhash = la.minhash(TEXT), la.simhash(TEXT)
    comparison = la.compare(TEXT, OTHER)
    hamming = la.HammingIndex()
    hamming.add([1, 2], [1, 2])
    bands, record = la.BandIndex([[1, 2]], bands=1, rows=2), la.record({"a": 1, "b": "x"})
    vectors = la.word_vectors(folder / "vectors.txt")
    sets = la.index.SetIndex({"a": {"b", "c"}})
    mover = la.WordMover(vectors)
    feedback = la.feedback([(TEXT, OTHER)])
    report = la.dedupe([{"id": 1, "text": TEXT}, {"id": 2, "text": OTHER}])
    idf = la.learn_idf([TEXT])
    export = folder / "export.jsonl"
    index.export(export)
    karp = la.karp_rabin(TEXT)
    calls |= {
        "MinHash.merge": (minhash.merge, (minhash,), {}),
        "MinHash.compact": (minhash.compact, (2,), {}),
        "KarpRabin.positional_similarity": (karp.positional_similarity, (karp,), {}),
        "Recipe.replace": (la.Recipe().replace, (), {"ngram": 2}),
        "Comparison.to_html": (comparison.to_html, (), {}),
        "Comparison.to_terminal": (comparison.to_terminal, (), {}),
        "HammingIndex.add": (hamming.add, ([3], [3]), {}),
        "HammingIndex.search": (hamming.search, ([1],), {}),
        "HammingIndex.remove": (hamming.remove, ([7],), {}),
        "HammingIndex.pairs": (hamming.pairs, (), {}),
        "BandIndex.candidates": (bands.candidates, ([[1, 2]],), {}),
        "SetIndex.contains": (sets.contains, ({"b"},), {}),
        "SetIndex.contained": (sets.contained, ({"b"},), {}),
        "SetIndex.nearest": (sets.nearest, ({"b"},), {}),
        "Collections.copy": (index.collections.copy, ("default", "again"), {}),
        "Collections.rename": (index.collections.rename, ("nobody", "somebody"), {}),
        "Collections.alias": (index.collections.alias, ("further", "default"), {}),
        "Collections.drop": (index.collections.drop, ("nobody",), {}),
        "Collections.open": (index.collections.open, ("default",), {}),
        "RecordPrint.parts": (record.parts, (record,), {}),
        "RecordPrint.shared": (record.shared, (record,), {}),
        "Index.add of a record": (index.add, ("r", {"a": 1}), {}),
        "Index.search for a record": (index.search, ({"a": 1},), {}),
        "Index.add": (index.add, ("c", TEXT), {}),
        "Index.add of many": (index.add, ([("c", TEXT)],), {}),
        "Index.add_minhashes": (index.add_minhashes, (["m"], [minhash]), {}),
        "Index.add_simhashes": (index.add_simhashes, (["s"], [simhash]), {}),
        "Index.add_vectors": (index.add_vectors, (["v"], [[1.0, 2.0]]), {}),
        "Index.admit": (index.admit, ("d", TEXT), {}),
        "Index.admit of many": (index.admit, ([("d", TEXT)],), {}),
        "Index.check": (index.check, (), {}),
        "Index.cluster_of": (index.cluster_of, ("a",), {}),
        "Index.count": (index.count, ("a = 1",), {}),
        "Index.documents": (index.documents, (), {}),
        "Index.ids": (index.ids, (), {}),
        "Index.clusters": (index.clusters, (), {}),
        "Index.compact": (index.compact, (), {}),
        "Index.export": (index.export, (folder / "again.jsonl",), {}),
        "Index.metas": (index.metas, (), {}),
        "Index.load": (index.load, (export,), {}),
        "Index.get": (index.get, ("a",), {}),
        "Index.__contains__": (index.__contains__, ("a",), {}),
        "Index.remove": (index.remove, ("nobody",), {}),
        "Index.search": (index.search, (TEXT,), {}),
        "Index.search by simhash": (index.search, (), {"simhash": simhash}),
        "Index.search by minhash": (index.search, (), {"minhash": minhash}),
        "Index.search_simhashes": (index.search_simhashes, ([simhash],), {}),
        "Index.search_texts": (index.search_texts, ([TEXT],), {}),
        "Index.search_vectors": (index.search_vectors, ([[1.0, 2.0]],), {}),
        "WordMover": (la.WordMover, (vectors,), {}),
        "WordMover.distance": (mover.distance, ("the fox", "the"), {}),
        "WordMover.similarity": (mover.similarity, ("the fox", "the"), {}),
        "WmdIndex": (la.WmdIndex, (mover, ["the fox"]), {}),
        "FeedbackReport.to_html": (feedback.to_html, (), {}),
        "FeedbackReport.to_csv": (feedback.to_csv, (), {}),
        "DedupeReport.to_html": (report.to_html, (), {}),
        "DedupeReport.rethreshold": (report.rethreshold, (0.9,), {}),
        "Idf.save": (idf.save, (folder / "idf.json",), {}),
        "PagePrint.similarity": (la.page_print(HTML).similarity, (la.page_print(HTML),), {}),
    }
    for registry in (la.recipes, la.idfs, la.segmenters):
        for name in ("get", "version", "__contains__"):
            calls[f"{registry.kind}s.{name}"] = (getattr(registry, name), (registry.names()[0],), {})
    own: Registry[Any] = Registry("thing")  # what is registered stays, so not with those that others use
    calls["Registry.register"] = (own.register, ("name", "module:attribute"), {})
    for name in (
        "jaccard",
        "cosine",
        "levenshtein",
        "hamming",
        "euclidean",
        "smlar_cosine",
        "tfidf_cosine",
        "containment",
        "ratio",
        "chebyshev",
    ):
        measure = getattr(measures, name)
        things = ([1.0, 2.0], [2.0, 3.0]) if name in ("euclidean", "chebyshev") else (("abc", "abd"))
        for method in ("distance", "similarity"):
            calls[f"measures.{name}.{method}"] = (getattr(measure, method), tuple(things), {})
        for method in ("distances", "pairwise"):
            calls[f"measures.{name}.{method}"] = (getattr(measure, method), ([things[0]], [things[1]]), {})
    return calls


def misuses(call: Call) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """The call with a wrong thing in one place after the other, also where the valid call leaves it out."""
    function, arguments, named = call
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    names = {*named, *(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)}
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    names |= {each.name for each in positional[len(arguments) :] if each.kind is each.POSITIONAL_OR_KEYWORD}
    for (label, value), place in itertools.product(WRONG.items(), range(len(arguments))):
        yield str(place), label, lambda value=value, place=place: function(*arguments[:place], value, *arguments[place + 1 :], **named)
    for (label, value), name in itertools.product(WRONG.items(), sorted(names)):
        if (name in ("hash", "key") or name.startswith(("on_", "progress", "model"))) and callable(value):
            continue  # it is called, and what it raises is its own
        yield name, label, lambda value=value, name=name: function(*arguments, **{**named, name: value})


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def findings(label: str, call: Call) -> list[str]:
    """What came out that is neither an answer nor an error of ours."""
    found = []
    for place, wrong, misuse in misuses(call):
        try:
            with alarm(SECONDS):
                result = misuse()
                if inspect.isgenerator(result):
                    list(itertools.islice(result, 10))
        except la.LookalikeError as error:
            message = str(error)
            if not message or not message.replace("\n", "").isprintable() or len(message) > 4000:
                found.append(f"{label}({place}={wrong}): a message that cannot be read: {message[:80]!r}")
        except Exception as error:
            found.append(f"{label}({place}={wrong}): {type(error).__name__}: {str(error)[:120]}")
    return found


def all_calls(folder: Path) -> dict[str, Call]:
    return function_calls(folder) | class_calls(folder) | method_calls(folder)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return all_calls(tmp_path_factory.mktemp("misused"))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_misused_call_is_an_error_of_ours(part, calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a wrong path may be a right one
    found = {label: findings(label, calls[label]) for label in list(calls)[part::PARTS]}
    assert [finding for label, wrong in found.items() if label not in KNOWN for finding in wrong] == []
    assert [label for label, wrong in found.items() if label in KNOWN and not wrong] == [], "these are mended: take them off KNOWN"


def test_every_public_function_is_misused(calls):
    functions = {name for name in {*la.__all__, *la._ROOM} if inspect.isfunction(getattr(la, name))}
    # A service runs until it is stopped: tests/service misuses it.
    assert functions - {label.partition(" ")[0] for label in calls} == {"selftest", "serve"}
