"""The contract of stores, as tests that can be run on any of them.

    class TestMyStore(StoreContract):
        def location(self, tmp_path):
            return "mystore://…"        # an empty store; the same one however often it is opened in a test

Every method that starts with ``test_`` is a test; pytest finds them. Nothing here needs pytest to be imported.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import SkipTest

from lookalike.errors import InputError, LookalikeError, NotFound, RecipeMismatch, StoreBusy, StoreError
from lookalike.fingerprints.fuzzy import ssdeep, tlsh
from lookalike.fingerprints.minhash import minhash
from lookalike.fingerprints.simhash import simhash, simhashes
from lookalike.index.index import Index
from lookalike.index.matches import Cluster
from lookalike.index.opening import open as open_index
from lookalike.markup.extraction import page_text
from lookalike.markup.page import page
from lookalike.measures import jaccard
from lookalike.model import Document
from lookalike.text.shingle import shingle_set

_WORDS = [
    "river",
    "bridge",
    "council",
    "market",
    "winter",
    "lantern",
    "harbour",
    "engine",
    "letter",
    "garden",
    "station",
    "window",
    "copper",
    "thunder",
    "valley",
    "meadow",
    "merchant",
    "signal",
    "orchard",
    "compass",
    "quarry",
    "lighthouse",
    "ferry",
    "archive",
    "blanket",
    "mirror",
    "temple",
    "kettle",
    "saddle",
    "candle",
]
_IDEOGRAPHS = "春江潮水连海平海上明月共潮生滟滟随波千万里何处春江无月明江流宛转绕芳甸月照花林皆似霰空里流霜不觉飞汀上白沙看不见"


def corpus(documents: int, seed: int = 0) -> list[tuple[str, str]]:
    """Made-up documents, English and Chinese, of which every fourth is a changed copy of an earlier one."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    made: list[tuple[str, str]] = []
    for number in range(documents):
        if number % 4 == 3:
            made.append((f"doc-{number}", _changed(made[chance.randrange(len(made))][1], chance)))
        elif number % 4 == 2:
            made.append((f"doc-{number}", "".join(chance.choices(_IDEOGRAPHS, k=chance.randrange(40, 160)))))
        else:
            made.append((f"doc-{number}", " ".join(chance.choices(_WORDS, k=chance.randrange(30, 120)))))
    return made


def made_pages(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Made-up web pages, in HTML, of four templates: what is on them differs, and a little of how it is laid out."""
    chance = random.Random(seed)  # noqa: S311
    frames = [
        "<nav><ul><li><a href=/>home</a></ul></nav><main><h1>{0}</h1><p>{1}</p>{2}</main>",
        "<table><tr><td><b>{0}</b><td><p>{1}</p>{2}</table><footer><address>us</address></footer>",
        "<section><article><header><h2>{0}</h2></header><div><div><p>{1}</p></div>{2}</div></article></section>",
        "<form><fieldset><legend>{0}</legend><label>{1}<input></label><select><option>a</select></fieldset></form>{2}",
    ]
    extras = ["", "", "<blockquote><em>{0}</em></blockquote>", "<pre><code>{0}</code></pre>", "<ol><li>{0}<li>{0}</ol>"]
    made = []
    for number in range(count):
        words = [" ".join(chance.choices(_WORDS, k=k)) for k in (3, chance.randrange(20, 60), 8)]
        extra = chance.choice(extras).format(words[2])
        made.append((f"page-{number}", f"<title>{words[0]}</title><body>{chance.choice(frames).format(words[0], words[1], extra)}"))
    return made


def _paths(html: str) -> set[str]:
    return {element.path for element in page(html).elements if not element.is_text}


def _changed(text: str, chance: random.Random) -> str:
    units = text.split(" ") if " " in text else list(text)
    for _ in range(chance.randrange(4)):
        units[chance.randrange(len(units))] = chance.choice(_WORDS) if " " in text else chance.choice(_IDEOGRAPHS)
    return (" " if " " in text else "").join(units)


def _joined(clusters: Iterable[Cluster]) -> dict[str | int, tuple[str | int, float]]:
    return {member.id: (cluster.kept, member.similarity) for cluster in clusters for member in cluster.removed}


def _removed(rows: Sequence[dict[str, Any]], **options: Any) -> dict[str | int, tuple[str | int, float]]:
    from lookalike.deduping.local import dedupe

    return {each.id: (each.kept_id, each.similarity) for each in dedupe(rows, **options).removed}


@contextmanager
def _refused(*errors: type[Exception]) -> Iterator[None]:
    message = None
    try:
        yield
    except errors as error:
        message = str(error)
    assert message, f"nothing was raised, or without a message; expected {errors}"


def _jaccard(left: str, right: str) -> float:
    return jaccard.similarity(shingle_set(left), shingle_set(right))


class TinyEmbedder:
    """A model for tests: how often each hashed pair of letters occurs. Small, quick, and the same everywhere."""

    name, version, dimensions = "lookalike-tiny", "1", 32

    def encode(self, texts: Sequence[str], /) -> Any:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                if pair[0].isalpha() and pair[1].isalpha():  # it knows nothing else
                    vectors[row, zlib.crc32("".join(pair).encode("utf-8", "replace")) % self.dimensions] += 1
        return vectors


def tiny_model(name: str = "lookalike-tiny") -> str:
    """The name of the tiny model, registered."""
    from lookalike.embedders.opening import embedders

    if name not in embedders:
        embedders.register(name, TinyEmbedder(), version=TinyEmbedder.version)
    return name


def _cosines(query: str, texts: Sequence[str]) -> list[float]:
    """Of the vectors as stores keep them: halves of length 1. These sums are exact in any order."""
    import numpy as np

    vectors = TinyEmbedder().encode([query, *texts]).astype(np.float64)
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    halves = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(np.float16).astype(np.float64)
    dots, squares = halves[1:] @ halves[0], (halves**2).sum(axis=1)
    return [float(dot / np.sqrt(square * squares[0])) if square else -4.0 for dot, square in zip(dots, squares[1:], strict=True)]


class VectorContract:
    """What a store does with vectors. ``persistent``: closing and opening again shows the same; ``one_writer``: a second one is refused."""

    persistent = True
    one_writer = True

    def location(self, tmp_path: Path) -> str:
        """Where an empty store is, or can be made."""
        raise NotImplementedError

    def open(self, tmp_path: Path, **options: Any) -> Index:
        return open_index(self.location(tmp_path), **options)

    def _require_persistence(self) -> None:
        if not self.persistent:
            raise SkipTest("not applicable: this store keeps nothing when it is closed")

    def test_meaning_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts = [text for _, text in documents]
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add(documents)
            assert index.settings["kinds"][-1] == "vector"
            assert index.settings["dimensions"] == 32
            for _, text in documents[::9]:
                cosines = _cosines(text, texts)
                for threshold in (None, 0.5, 0.9, 1.0):
                    expected = sorted((-cosine, n) for n, cosine in enumerate(cosines) if cosine >= (threshold or 0.0))
                    for limit in (1, 7, None):
                        found = index.search(text, by="meaning", threshold=threshold, limit=limit)
                        assert [(-match.score, match.id) for match in found] == [(c, documents[n][0]) for c, n in expected[:limit]]
                        assert [match.distance for match in found] == [1 + c for c, _ in expected[:limit]]
                        assert found.total == (len(found) if threshold is None else len(expected))
                        assert not any(match.estimated for match in found)
                assert index.search(text, by="meaning")[0].score == 1.0
            assert index.search(texts[0])[0].score == 1.0  # and by everything else too
            assert index.search(simhash=simhash(texts[0]))[0].id == documents[0][0]
            assert index.check().ok

    def test_vectors_of_changed_and_removed_documents_are_gone(self, tmp_path: Path) -> None:
        documents = corpus(60)
        with self.open(tmp_path, model=tiny_model(), kinds="vector") as index:
            index.add(documents)
            gone = [id_ for id_, _ in documents[::3]]
            assert index.remove(gone) == 20
            index.add([(documents[1][0], "qqqq zzzz")])
            live = {id_: text for id_, text in documents if id_ not in gone} | {documents[1][0]: "qqqq zzzz"}
            for _ in range(2):
                for _, text in documents[:12]:
                    found = index.search(text, by="meaning", threshold=0.3, limit=None)
                    scores = dict(zip(live, _cosines(text, list(live.values())), strict=True))
                    assert {match.id: match.score for match in found} == {id_: each for id_, each in scores.items() if each >= 0.3}
                    assert found.total == len(found)
                    assert index.search(text, by="meaning", threshold=0.3, limit=3).total == len(found)
                index.compact()
            assert index.search("qqqq zzzz", by="meaning")[0].id == documents[1][0]
            assert index.check().ok

    def test_texts_without_meaning_are_kept_and_not_found(self, tmp_path: Path) -> None:
        texts = {"empty": "", "white": " \n\t", "unknown": "12345 67890 !!", "known": "a river and a bridge", "odd": "\ud800 river \0"}
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add(texts.items())
            assert [index.get(id_).text for id_ in texts] == list(texts.values())
            assert {match.id for match in index.search("river", by="meaning", limit=None)} == {"known", "odd"}
            for query in ("", "  ", "42"):
                found = index.search(query, by="meaning")
                assert list(found) == []
                assert "no meaning" in found.notes[0]
            assert index.check().ok

    def test_vectors_in_and_out(self, tmp_path: Path) -> None:
        import numpy as np

        vectors = np.random.default_rng(5).standard_normal((300, 32)).astype(np.float32)
        vectors[150:200] = vectors[:50] * 3  # the length of a vector says nothing
        with self.open(tmp_path, model=tiny_model(), kinds="vector", keep_text=False) as index:
            assert index.add_vectors(np.arange(300), vectors) == (300, 0)
            assert [match.id for match in index.search(vector=vectors[7], threshold=1.0)] == [7, 157]
            found = index.search_vectors(vectors[:20], limit=5, threshold=0.1)
            assert found.ids.dtype == np.int64
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            for q in range(20):
                here = slice(found.offsets[q], found.offsets[q + 1])
                assert found.ids[here].tolist()[:2] == [q, q + 150]
                assert np.abs(found.scores[here] - (units @ units[q])[found.ids[here]]).max() < 1e-3
                assert found.scores[here].tolist() == sorted(found.scores[here], reverse=True)
            index.add([("text", "a river and a bridge")])
            assert index.get("text").text is None
            assert index.search("a river and a bridge", by="meaning")[0].id == "text"
            wrong: Sequence[Any] = (
                vectors[:, :31],
                vectors[0],
                [["a"] * 32],
                np.full((1, 32), np.nan),
                np.full((1, 32), np.inf),
                "ab",
                None,
            )
            for each in wrong:
                with _refused(InputError):
                    index.add_vectors([1], each)
            with _refused(InputError):
                index.add_vectors([1, 2], vectors[:1])
            queries: Sequence[dict[str, Any]] = (
                {"vector": vectors[0], "by": "near"},
                {"vector": vectors[0, :5]},
                {"vector": vectors[0], "query": "a"},
            )
            for arguments in queries:
                with _refused(InputError):
                    index.search(**arguments)
            assert len(index) == 301
            assert index.check().ok

    def test_vectors_of_two_models_are_never_mixed(self, tmp_path: Path) -> None:
        self._require_persistence()
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add("a", "a river")
        with self.open(tmp_path, model=tiny_model()) as index:
            index.add("b", "a bridge")
            assert len(index.search("river bridge", by="meaning")) == 2
        others: Sequence[dict[str, Any]] = (
            {"model": tiny_model("lookalike-tiny-2")},
            {"recipe": "default"},
            {"recipe": "words", "model": tiny_model()},
        )
        for options in others:
            with _refused(RecipeMismatch):
                self.open(tmp_path, **options)
        with self.open(tmp_path, collection="without") as index:
            index.add("a", "a river")
            with _refused(InputError):
                index.search("river", by="meaning")
            with _refused(InputError):
                index.add_vectors(["a"], [[1.0] * 32])
        with _refused(RecipeMismatch):
            self.open(tmp_path, collection="without", model=tiny_model())
        with _refused(InputError):
            self.open(tmp_path, collection="new", kinds="vector")

    def test_vectors_are_exported_and_read_back(self, tmp_path: Path) -> None:
        documents = corpus(40)
        for keep_text in (True, False):
            with self.open(tmp_path, collection=f"from {keep_text}", keep_text=keep_text, model=tiny_model()) as index:
                index.add([*documents, ("empty", "")])
                index.add_vectors(["vector"], [[1.0] * 32])
                assert index.export(tmp_path / "all.jsonl") == 42
                wanted = [index.search(text, by="meaning", limit=None) for _, text in documents[:9]]
            with self.open(tmp_path, collection=f"to {keep_text}", keep_text=keep_text, model=tiny_model()) as copy:
                assert copy.load(tmp_path / "all.jsonl") == 42
                assert [copy.search(text, by="meaning", limit=None) for _, text in documents[:9]] == wanted
                assert copy.check().ok

    def test_clusters_by_meaning_keep_the_oldest(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts: dict[Any, str] = dict(documents)
        with self.open(tmp_path, model=tiny_model(), kinds="vector") as index:
            index.add(documents)
            clusters = index.clusters(by="meaning", threshold=0.95)
            joined = {member.id for cluster in clusters for member in cluster.removed}
            kept = [id_ for id_, _ in documents if id_ not in joined]
            assert clusters
            for cluster in clusters:
                for member in cluster.removed:
                    assert member.similarity == _cosines(texts[cluster.kept], [texts[member.id]])[0] >= 0.95
            for place, id_ in enumerate(kept):
                assert max(_cosines(texts[id_], [texts[other] for other in kept[:place]]), default=0) < 0.95


class StoreContract(VectorContract):
    """What every store does."""

    # Documents

    def test_a_new_store_is_empty(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            assert len(index) == 0
            assert "a" not in index
            assert list(index.documents()) == []
            assert index.search("a text") == []
            assert index.search(simhash=7) == []
            assert index.remove(["a"]) == 0
            assert index.check().ok

    def test_what_is_added_can_be_read(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            assert index.add([("a", "one text"), ("b", "另一个文本", {"lang": "zh", "n": [1, None]})]) == (2, 0)
            assert index.add("c", "a third text", meta={"x": 1}) == (1, 0)
            assert index.add(Document("d", "fourth")) == (1, 0)
            assert index.add({"id": 5, "text": "fifth"}) == (1, 0)
            assert len(index) == 5
            assert index.get("b") == Document("b", "另一个文本", {"lang": "zh", "n": [1, None]})
            assert index.get("c").meta == {"x": 1}
            assert [document.id for document in index.documents()] == ["a", "b", "c", "d", 5]
            assert list(index.ids()) == ["a", "b", "c", "d", 5]
            assert "a" in index
            assert 5 in index
            assert "5" not in index
            with _refused(NotFound, KeyError):
                index.get("e")

    def test_adding_an_id_again_replaces_the_document(self, tmp_path: Path) -> None:
        old, new = corpus(40)[:2]
        with self.open(tmp_path) as index:
            index.add(corpus(40))
            assert index.add([(old[0], "something entirely different from what was there before now")]) == (0, 1)
            assert len(index) == 40
            assert index.get(old[0]).text == "something entirely different from what was there before now"
            assert old[0] not in [match.id for match in index.search(old[1], threshold=0.9)]
            assert index.search("something entirely different from what was there before now")[0].id == old[0]
            assert index.add([("x", "first"), ("x", "second"), (new[0], "third")]) == (1, 1)
            assert index.get("x").text == "second"
            assert index.check().ok

    def test_what_is_removed_is_gone_everywhere(self, tmp_path: Path) -> None:
        documents = corpus(60)
        gone = [id_ for id_, _ in documents[::3]]
        with self.open(tmp_path) as index:
            index.add(documents)
            assert index.remove([*gone, "nobody", gone[0]]) == len(gone)
            assert len(index) == 60 - len(gone)
            for id_, text in documents:
                assert (id_ in index) == (id_ not in gone)
                for by in ("near", "simhash", "passages", "fuzzy"):
                    found = [match.id for match in index.search(text, by=by, limit=None)]
                    assert not set(found) & set(gone), by
                    assert by == "fuzzy" or (id_ in found) == (id_ not in gone), by
            assert index.check().ok

    def test_searching_and_changing_while_going_through_all(self, tmp_path: Path) -> None:
        documents = corpus(30)
        with self.open(tmp_path) as index:
            index.add(documents)
            seen = []
            for document in index.documents():
                seen.append(document.id)
                assert index.search(document.text or "", limit=None)[0].score == 1.0
                assert document.id in index
                if len(seen) == 10:
                    index.add("another", "added while others are read, and found afterwards by whoever looks for it")
                    index.remove([documents[0][0]])
            assert seen[:30] == [id_ for id_, _ in documents]
            assert index.search("added while others are read, and found afterwards by whoever looks for it")[0].id == "another"
            assert len(index) == 30
            assert index.check().ok
        self._require_persistence()
        with self.open(tmp_path) as index:  # which reads before it writes
            for number, document in enumerate(index.documents()):
                index.add(f"copy {number}", document.text or "")
                assert index.get(document.id).text == document.text
            assert len(index) == 60
            index.compact()
            assert index.check().ok

    def test_threads_share_an_index(self, tmp_path: Path) -> None:
        """Who goes through all documents neither makes others wait nor sees what they change, and may be stopped by any thread."""
        documents = corpus(30)
        with self.open(tmp_path) as index, ThreadPoolExecutor(4) as threads:
            index.add(documents)
            going, ids = index.documents(), index.ids()
            next(going)
            next(ids)
            found = [threads.submit(index.search, text, limit=None) for _, text in documents * 3]
            assert all(each.result(timeout=60)[0].score == 1.0 for each in found)
            assert threads.submit(index.add, "another", "added while somebody reads all the others").result(timeout=60) == (1, 0)
            assert threads.submit(index.add, documents[5][0], "other contents than before").result(timeout=60) == (0, 1)
            assert threads.submit(index.remove, [documents[20][0]]).result(timeout=60) == 1
            threads.submit(ids.close).result(timeout=60)  # type: ignore[attr-defined]  # it is a generator
            rest = list(going)
            assert [document.id for document in rest] == [id_ for id_, _ in documents[1:]]
            assert rest[4].text == documents[5][1]
            assert len(index) == 30
            unfinished = index.documents()
            next(unfinished)
            threads.submit(index.close).result(timeout=60)
            with _refused(StoreError):
                list(unfinished)

    def test_generators_are_read_batch_by_batch(self, tmp_path: Path) -> None:
        told: list[int] = []
        with self.open(tmp_path, kinds="simhash") as index:
            added = index.add(((n, f"document number {n} of many") for n in range(9000)), progress=told.append)
            assert added == (9000, 0)
            assert told[-1] == 9000
            assert told == sorted(told)
            assert len(told) > 1

    def test_hostile_texts_survive(self, tmp_path: Path) -> None:
        texts = [
            "",
            " ",
            "\0\0",
            "a\0b" * 20,
            "\ud800 lone surrogate \udfff in the text",
            "\U0001f600" * 50,
            "x" * 200_000,
            "'; DROP TABLE documents; --",
        ]
        with self.open(tmp_path) as index:
            index.add(enumerate(texts))
            for number, text in enumerate(texts):
                assert index.get(number).text == text
                for by in ("near", "simhash", "passages", "fuzzy"):
                    index.search(text, by=by)
            assert index.search("x" * 200_000)[0].id == 6
            assert index.check().ok

    def test_hostile_ids_are_refused_or_kept(self, tmp_path: Path) -> None:
        good: list[str | int] = ["'; --", "a b\n", "文件/一", "%s", "x" * 2048, "7", 7, -1, 2**63 - 1, -(2**63)]
        with self.open(tmp_path) as index:
            index.add([(id_, f"text {n}") for n, id_ in enumerate(good)])
            assert [index.get(id_).text for id_ in good] == [f"text {n}" for n in range(len(good))]
            for bad in ("", "a\0b", "\ud800", "x" * 2049, 2**63, 1.5, None, True, b"a"):
                with _refused(InputError):
                    index.add([("fine", "a"), (bad, "b")])
            assert len(index) == len(good)
            for wrong in (7.5, [("a",)], [("a", 5)], [{"id": "a"}], ["ab"], [("a", "b", "c")], [None]):
                with _refused(InputError):
                    index.add(wrong)

    # Searches

    def test_near_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(120)
        with self.open(tmp_path, threshold=0.5, recall=0.999) as index:
            index.add(documents)
            found_pairs = expected_pairs = 0
            for _, text in documents[::5]:
                expected: dict[str | int, float] = {id_: _jaccard(text, other) for id_, other in documents}
                matches = index.search(text, threshold=0.5, limit=None)
                for match in matches:
                    assert match.score == expected[match.id] >= 0.5
                    assert match.distance == 1 - match.score
                    assert not match.estimated
                assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
                found_pairs += len(matches)
                expected_pairs += sum(score >= 0.5 for score in expected.values())
            assert found_pairs >= 0.98 * expected_pairs
            assert expected_pairs > 30

    def test_simhash_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(120)
        values = [int(value) for value in simhashes([text for _, text in documents])]
        with self.open(tmp_path) as index:
            index.add(documents)
            for k in (0, 1, 3, 8, 16):
                for value in values[::17]:
                    distances = [(other ^ value).bit_count() for other in values]
                    expected = sorted((d, n) for n, d in enumerate(distances) if d <= k)
                    found = index.search(simhash=value, k=k, limit=None)
                    assert [(match.distance, match.id) for match in found] == [(d, documents[n][0]) for d, n in expected]
                    assert [match.score for match in found] == [1 - d / 64 for d, _ in expected]
            assert index.search(documents[0][1], by="simhash")[0].id == documents[0][0]
            assert index.search(simhash=simhash(documents[0][1]))[0].id == documents[0][0]

    def test_simhashes_in_and_out(self, tmp_path: Path) -> None:
        import numpy as np

        chance = np.random.default_rng(3)
        for bits in (32, 64, 128):
            shape = (500, 2) if bits == 128 else 500
            values = chance.integers(0, 2**32 if bits == 32 else 2**64, shape, dtype=np.uint64)
            values[250:] = values[:250]
            values[250:300] ^= np.uint64(5)
            with self.open(tmp_path, collection=f"of {bits}", bits=bits, kinds="simhash") as index:
                index.add_simhashes(np.arange(500) * 10, values)
                found = index.search_simhashes(values[:60], k=2)
                whole = [int(v) if bits < 128 else int(v[0]) | int(v[1]) << 64 for v in values]
                for q in range(60):
                    here = slice(found.offsets[q], found.offsets[q + 1])
                    expected = sorted(((w ^ whole[q]).bit_count(), n * 10) for n, w in enumerate(whole) if (w ^ whole[q]).bit_count() <= 2)
                    assert list(zip(found.distances[here].tolist(), found.ids[here].tolist(), strict=True)) == expected
                assert found.ids.dtype == np.int64
                index.remove([0])
                assert 0 not in index.search_simhashes(values[:60], k=2).ids
                index.add_simhashes(["text id"], values[:1])
                assert index.search_simhashes(values[300:301], k=0).ids.tolist() == [500, 3000]
                assert index.search_simhashes(values[:1], k=0).ids.tolist() == ["text id"]

    def test_many_texts_at_once_are_found_as_one_by_one(self, tmp_path: Path) -> None:
        documents = corpus(120)
        with self.open(tmp_path) as index:
            index.add(documents)
            index.remove([documents[3][0]])
            queries = [text for _, text in documents[:40]] + ["something that nobody ever wrote down", ""]
            for workers in (1, 2):
                found = index.search_texts(queries, limit=5, workers=workers)
                assert [list(each) for each in found] == [list(index.search(query, limit=5)) for query in queries]
                assert [each.total for each in found] == [index.search(query, limit=5).total for query in queries]
            assert index.search_texts([]) == []
            with _refused(InputError):
                index.search_texts("one text")

    def test_passages_are_found_and_placed(self, tmp_path: Path) -> None:
        quoted = (
            "the lighthouse keeper wrote in his letter that the winter ferry would never cross the harbour again before the thunder ended"
        )
        with self.open(tmp_path) as index:
            index.add(corpus(80))
            index.add("quoting", f"It began on a cold day. {quoted}. And nobody believed it then.")
            query = f"Somebody else says: {quoted}, which is not true at all."
            best = index.search(query, by="passages")[0]
            assert best.id == "quoting"
            stored = index.get("quoting").text or ""
            left, right = best.passages[0]
            assert query[slice(*left)] == stored[slice(*right)] == quoted
            assert 0.5 < best.score < 1

    def test_fuzzy_digests_equal_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(80)
        with self.open(tmp_path) as index:
            index.add(documents)
            for _, text in documents[::7]:
                own = tlsh(text)
                if own.value is not None:
                    expected = [
                        (own.distance(other), n) for n, other in enumerate(map(tlsh, (t for _, t in documents))) if other.value is not None
                    ]
                    wanted = sorted(pair for pair in expected if pair[0] <= 150)
                    found = index.search(digest=own, threshold=0.5, limit=None)
                    assert [(match.distance, match.id) for match in found] == [(d, documents[n][0]) for d, n in wanted]
                pieces = ssdeep(text)
                scores = [(pieces.distance(ssdeep(other)), n) for n, (_, other) in enumerate(documents)]
                wanted = sorted(pair for pair in scores if pair[0] <= 50)
                found = index.search(text, by="ssdeep", threshold=0.5, limit=None)
                assert [(match.distance, match.id) for match in found] == [(d, documents[n][0]) for d, n in wanted]

    def test_limits_cut_and_say_so(self, tmp_path: Path) -> None:
        text = corpus(4)[0][1]
        with self.open(tmp_path) as index:
            index.add([(n, text) for n in range(50)])
            for by in ("near", "simhash"):
                found = index.search(text, by=by, limit=7)
                assert [match.id for match in found] == list(range(7))
                assert found.total == 50
                assert found.cut
            assert len(index.search(text, limit=None)) == 50

    def test_without_text_scores_are_estimates(self, tmp_path: Path) -> None:
        documents = corpus(60)
        with self.open(tmp_path, keep_text=False) as index:
            index.add(documents)
            assert index.get(documents[0][0]).text is None
            best = index.search(documents[0][1])[0]
            assert best.id == documents[0][0]
            assert best.estimated
            assert index.search(documents[0][1], by="passages")[0].id == documents[0][0]
            assert index.search(minhash=minhash(documents[0][1]))[0].score == 1.0
            assert index.check().ok

    def test_minhashes_of_sets(self, tmp_path: Path) -> None:
        sets = {n: {f"element {i}" for i in range(n, n + 40)} for n in range(0, 200, 4)}
        with self.open(tmp_path, threshold=0.5) as index:
            assert index.add_minhashes(list(sets), [minhash(each) for each in sets.values()]) == (50, 0)
            found = index.search(minhash=minhash(sets[80]), threshold=0.5)
            assert found[0].id == 80
            assert {match.id for match in found} <= {68, 72, 76, 80, 84, 88, 92}
            assert all(match.estimated for match in found)
            index.add("text", corpus(4)[0][1])
            assert [match.estimated for match in index.search(corpus(4)[0][1])] == [False]
            with _refused(RecipeMismatch):
                index.add_minhashes(["a"], [minhash({"a"}, size=64)])
            with _refused(InputError):
                index.add_minhashes(["a", "b"], [minhash({"a"})])
            assert index.check().ok

    def test_files_are_searched_for_by_path(self, tmp_path: Path) -> None:
        documents = corpus(20)
        path = tmp_path / "query.txt"
        path.write_text(documents[4][1], encoding="utf-16")
        with self.open(tmp_path) as index:
            index.add(documents)
            assert index.search(path)[0].id == documents[4][0]
            raw = tmp_path / "raw.bin"
            raw.write_bytes(random.Random(1).randbytes(5000))  # noqa: S311
            index.add(Document("file", "a text", {}, raw))
            assert index.search(raw, by="fuzzy")[0].id == "file"

    def test_wrong_arguments_are_refused(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            wrong: Sequence[dict[str, Any]] = (
                {}, {"simhash": -(2**63) - 1}, {"simhash": 2**64}, {"simhash": 7, "by": "near"}, {"simhash": 7, "k": 17}, {"simhash": 7, "k": -1},
                {"query": "a", "by": "nothing"}, {"query": "a", "threshold": 1.5}, {"query": "a", "threshold": float("nan")},
                {"query": "a", "limit": 0}, {"query": 7}, {"query": "a", "simhash": 7}, {"digest": "T1"}, {"minhash": [1]},
            )  # fmt: skip
            for arguments in wrong:
                with _refused(InputError):
                    index.search(**arguments)
            with _refused(RecipeMismatch):
                index.search(simhash=simhash("a", recipe="words"))
            with _refused(RecipeMismatch):
                index.search(minhash=minhash("a", size=64))

    def test_clusters_keep_the_oldest(self, tmp_path: Path) -> None:
        documents = corpus(120)
        texts = dict(documents)
        with self.open(tmp_path, recall=0.9999) as index:
            index.add(documents)
            clusters = index.clusters(threshold=0.8)
            kept = {cluster.kept for cluster in clusters}
            removed = {member.id for cluster in clusters for member in cluster.removed}
            assert clusters
            assert not kept & removed
            for cluster in clusters:
                for member in cluster.removed:
                    assert member.similarity == _jaccard(texts[cluster.kept], texts[member.id]) >= 0.8  # type: ignore[index]  # ids are texts here
            for cluster in index.clusters(by="simhash", k=3):
                for member in cluster.removed:
                    pair = simhash(texts[cluster.kept]), simhash(texts[member.id])  # type: ignore[index]  # ids are texts here
                    assert pair[0].distance(pair[1]) <= 3

    def test_clusters_are_those_of_dedupe(self, tmp_path: Path) -> None:
        """Whatever threshold the collection was made for."""
        documents = [*corpus(150), ("empty", ""), ("copy", dict(corpus(150))["doc-7"]), ("also empty", " … ")]
        rows = [{"id": id_, "text": text} for id_, text in documents]
        with self.open(tmp_path, threshold=0.9) as index:
            index.add(documents[:100])
            index.add(documents[100:])
            for threshold in (0.2, 0.3, 0.6, 0.9):
                found = index.clusters(threshold=threshold)
                assert _joined(found) == _removed(rows, threshold=threshold)
                assert found.notes == []
            for k in (0, 3, 10):
                assert _joined(index.clusters(by="simhash", k=k)) == _removed(rows, method="simhash", distance=k)
            with _refused(InputError):
                index.clusters(threshold=0.01)  # no bands find so little

    def test_clusters_without_texts_are_estimated_for_any_threshold(self, tmp_path: Path) -> None:
        documents = corpus(150)
        sketches = [minhash(text) for _, text in documents]
        for keep_text in (False, True):
            with self.open(tmp_path, collection=f"estimates {keep_text}", threshold=0.9, keep_text=keep_text) as index:
                index.add(documents[:100])
                index.add_minhashes([id_ for id_, _ in documents[100:]], sketches[100:])
                found = index.clusters(threshold=0.3)
                kept: list[int] = []
                expected: dict[str | int, tuple[str | int, float]] = {}
                for number, (id_, _) in enumerate(
                    documents
                ):  # the definition: join the most similar leader, the oldest of equal ones, or lead
                    best = max(((sketches[number].similarity(sketches[leader]), -leader) for leader in kept), default=(0.0, 0))
                    if best[0] >= 0.3:
                        expected[id_] = documents[-best[1]][0], best[0]
                    else:
                        kept.append(number)
                assert _joined(found) == expected
                assert "estimated" in found.notes[0]

    # Web pages

    def test_structure_equals_brute_force(self, tmp_path: Path) -> None:
        made = made_pages(60)
        paths = {id_: _paths(html) for id_, html in made}
        with self.open(tmp_path, threshold=0.6, recall=0.9999) as index:
            index.add([(id_, page(html)) for id_, html in made[:40]])
            index.add(corpus(20))  # which have no structure
            index.add([Document(id_, page_text(html), page=page(html)) for id_, html in made[40:]])
            for id_, html in made[::7]:
                expected = {other: jaccard.similarity(paths[id_], paths[other]) for other in paths}
                wanted = sorted(((-score, n, other) for n, (other, score) in enumerate(expected.items()) if score >= 0.6))
                found = index.search(page(html), by="structure", limit=None)
                assert [(match.id, match.score) for match in found] == [(other, -score) for score, _, other in wanted]
                assert 1 < len(found) < 60
                assert not any(match.estimated or match.passages for match in found)
                assert index.search(page(html))[0].id == id_  # by its content
            assert index.check().ok

    def test_structures_follow_their_documents(self, tmp_path: Path) -> None:
        made = made_pages(30)
        query = page(made[0][1])
        with self.open(tmp_path) as index:
            index.add([(id_, page(html)) for id_, html in made])
            alike = [match.id for match in index.search(query, by="structure", limit=None)]
            assert alike[0] == "page-0"
            assert len(alike) > 4
            index.remove([alike[1]])
            index.add(alike[2], "a text that is no page and replaces one")
            index.add(alike[3], page("<dl><dt><dfn>another<dd><ruby>page<rt>altogether</ruby></dl>"))
            wanted = [id_ for id_ in alike if id_ not in alike[1:4]]
            assert [match.id for match in index.search(query, by="structure", limit=None)] == wanted
            assert index.check().ok
            index.compact()
            assert [match.id for match in index.search(query, by="structure", limit=None)] == wanted
            assert index.check().ok

    def test_structures_survive_export_and_import(self, tmp_path: Path) -> None:
        made = made_pages(30)
        for keep_text in (True, False):
            for name in ("pages.jsonl", "pages.parquet"):
                with self.open(tmp_path, collection=f"from {keep_text}", keep_text=keep_text) as index:
                    index.add([(id_, page(html)) for id_, html in made])
                    index.add("text", "one that is no page")
                    assert index.export(tmp_path / name) == 31
                    wanted = [index.search(page(html), by="structure", limit=None) for _, html in made[:9]]
                with self.open(tmp_path, collection=f"to {keep_text} {name}", keep_text=keep_text) as copy:
                    assert copy.load(tmp_path / name) == 31
                    assert [copy.search(page(html), by="structure", limit=None) for _, html in made[:9]] == wanted
                    assert copy.check().ok
                with self.open(tmp_path, collection=f"without {keep_text} {name}", kinds="simhash,minhash", keep_text=keep_text) as bare:
                    assert bare.load(tmp_path / name, refingerprint=True) == 31
                    with _refused(InputError):
                        bare.search(page(made[0][1]), by="structure")

    def test_clusters_of_templates(self, tmp_path: Path) -> None:
        made = made_pages(80)
        paths: dict[str | int, set[str]] = {id_: _paths(html) for id_, html in made}
        with self.open(tmp_path, threshold=0.6, recall=0.9999) as index:
            assert index.clusters(by="structure") == []
            index.add([(id_, page(html)) for id_, html in made])
            index.add(corpus(10))
            told: list[int] = []
            clusters = index.clusters(by="structure", threshold=0.6, progress=told.append)
            assert told[-1] == 80
            leaders: list[str | int] = []
            for id_ in paths:  # the definition: join the most similar leader, the oldest of equal ones, or lead
                scores = [jaccard.similarity(paths[id_], paths[leader]) for leader in leaders]
                if not scores or max(scores) < 0.6:
                    leaders.append(id_)
            assert [cluster.kept for cluster in clusters] == leaders
            for cluster in clusters:
                for member in cluster.removed:
                    best = max(jaccard.similarity(paths[member.id], paths[leader]) for leader in leaders)
                    assert member.similarity == jaccard.similarity(paths[member.id], paths[cluster.kept]) == best >= 0.6
            assert sum(1 + len(cluster.removed) for cluster in clusters) == 80
            for wrong in ("content", "fuzzy", ""):
                with _refused(InputError):
                    index.clusters(by=wrong)

    def test_what_is_no_page_has_no_structure(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            index.add("a", page("<p>text"))
            for query in ("<p>text", b"<p>text", 7, None):
                with _refused(InputError):
                    index.search(query, by="structure")  # type: ignore[arg-type]  # as somebody may who checks no types
            for by in ("fuzzy", "tlsh", "ssdeep"):
                with _refused(InputError):
                    index.search(page("<p>text"), by=by)
            path = tmp_path / "query.html"
            path.write_text("<p>another text")
            assert [match.score for match in index.search(path, by="structure")] == [1.0]

    # Collections, settings, several users

    def test_collections_are_apart(self, tmp_path: Path) -> None:
        self._require_persistence()
        with self.open(tmp_path, collection="one") as one:
            one.add("a", "a text in the first collection of this store")
        with self.open(tmp_path, collection='two\'s "name"', keep_text=False, bits=128) as two:
            assert len(two) == 0
            two.add("a", "a text in the second collection of this store")
            assert two.search("a text in the first collection of this store", by="simhash", k=0) == []
        with self.open(tmp_path, collection="one") as one:
            assert one.get("a").text == "a text in the first collection of this store"
            assert set(one.stats()["collections"]) == {"one", 'two\'s "name"'}
            assert one.check().ok

    def test_another_recipe_is_refused(self, tmp_path: Path) -> None:
        self._require_persistence()
        with self.open(tmp_path, recipe="words") as index:
            index.add("a", "a text")
        with _refused(RecipeMismatch):
            self.open(tmp_path, recipe="chars")
        for options in ({"bits": 32}, {"size": 64}, {"keep_text": False}, {"kinds": "simhash"}, {"threshold": 0.5}):
            with _refused(InputError):
                self.open(tmp_path, **options)
        with self.open(tmp_path) as index:
            assert index.settings["recipe_id"].startswith("words.")

    def test_a_keyed_collection_has_a_secret_of_its_own(self, tmp_path: Path) -> None:
        documents = corpus(40)
        made = []
        for name in ("one", "two"):
            with self.open(tmp_path, collection=name, keyed=True) as index:
                index.add(documents)
                made.append(simhash(documents[0][1], recipe=index.recipe))
                assert index.settings["keyed"]
                for by in ("near", "simhash", "passages"):
                    assert index.search(documents[0][1], by=by)[0].id == documents[0][0]
                assert index.search(simhash=made[-1])[0].id == documents[0][0]
                with _refused(RecipeMismatch):
                    index.search(simhash=simhash(documents[0][1]))
                with _refused(InputError):
                    index.search(simhash=int(made[-1]))
                assert index.check().ok
        assert made[0].value != made[1].value
        assert made[0].recipe != made[1].recipe
        if not self.persistent:
            return
        for name, kept in zip(("one", "two"), made, strict=True):
            with self.open(tmp_path, collection=name, read_only=True) as index:
                assert simhash(documents[0][1], recipe=index.recipe) == kept
                assert index.search(documents[0][1], by="simhash")[0].id == documents[0][0]

    def test_everything_is_there_after_opening_again(self, tmp_path: Path) -> None:
        self._require_persistence()
        documents = corpus(100)
        with self.open(tmp_path) as index:
            index.add(documents)
            index.remove([documents[3][0]])
            before = [index.search(text, limit=None) for _, text in documents[:20]]
        with self.open(tmp_path, read_only=True) as index:
            assert [index.search(text, limit=None) for _, text in documents[:20]] == before
            assert len(index) == 99
            with _refused(StoreError):
                index.add("a", "b")
            with _refused(StoreError):
                index.remove(["a"])

    def test_readers_see_what_a_writer_did(self, tmp_path: Path) -> None:
        self._require_persistence()
        documents = corpus(60)
        with self.open(tmp_path) as writer, self.open(tmp_path, read_only=True) as reader:
            assert len(reader) == 0
            writer.add(documents[:30])
            assert len(reader) == 30
            assert reader.search(documents[0][1])[0].id == documents[0][0]
            writer.add(documents[30:])
            writer.remove([documents[0][0]])
            assert reader.search(documents[59][1])[0].score == 1.0
            assert documents[0][0] not in [match.id for match in reader.search(documents[0][1], limit=None)]
            writer.compact()
            assert len(reader) == 59
            assert documents[0][0] not in [match.id for match in reader.search(documents[0][1], limit=None)]

    def test_a_second_writer_is_told(self, tmp_path: Path) -> None:
        self._require_persistence()
        if not self.one_writer:
            raise SkipTest("not applicable: this store takes any number of writers")
        with self.open(tmp_path) as first, self.open(tmp_path) as second:
            first.add("a", "a text")
            with _refused(StoreBusy):
                second.add("b", "another text")
            assert "a" in second
            first.close()
            second.add("b", "another text")
            assert len(second) == 2

    def test_a_closed_index_says_so(self, tmp_path: Path) -> None:
        index = self.open(tmp_path)
        index.close()
        index.close()
        for call in (lambda: index.search("a"), lambda: index.add("a", "b"), lambda: len(index)):
            with _refused(StoreError):
                call()

    def test_a_store_that_is_not_there(self, tmp_path: Path) -> None:
        self._require_persistence()
        with _refused(LookalikeError):
            self.open(tmp_path, read_only=True)
        with _refused(LookalikeError):
            self.open(tmp_path, create=False)

    def test_export_and_import_give_the_same_store(self, tmp_path: Path) -> None:
        documents = corpus(50)
        for keep_text in (True, False):
            for name in ("all.jsonl", "all.parquet", "all.jsonl.gz"):
                with self.open(tmp_path, collection=f"from {keep_text}", keep_text=keep_text) as index:
                    index.add([(id_, text, {"n": n}) for n, (id_, text) in enumerate(documents)])
                    assert index.export(tmp_path / name) == 50
                    wanted = [
                        (by, index.search(text, by=by, limit=None))
                        for by in ("near", "simhash", "passages", "fuzzy")
                        for _, text in documents[:9]
                    ]
                    metas = [document.meta for document in index.documents()]
                with self.open(tmp_path, collection=f"to {keep_text} {name}", keep_text=keep_text) as copy:
                    assert copy.load(tmp_path / name) == 50
                    found = [
                        (by, copy.search(text, by=by, limit=None))
                        for by in ("near", "simhash", "passages", "fuzzy")
                        for _, text in documents[:9]
                    ]
                    assert found == wanted
                    assert [document.meta for document in copy.documents()] == metas
                    assert copy.check().ok

    def test_an_export_carries_what_the_collection_was_made_with(self, tmp_path: Path) -> None:
        documents = corpus(20)
        made: dict[str, Any] = {"recipe": "simhash-py", "threshold": 0.6, "kinds": "simhash,tlsh"}
        for name, some in (("full.jsonl", documents), ("full.parquet", documents), ("empty.jsonl", []), ("empty.parquet", [])):
            out = tmp_path / name
            with self.open(tmp_path, collection=f"from {name}", **made) as index:
                index.add(some)
                assert index.export(out) == len(some)
                settings, wanted = index.settings, [index.search(text, by="simhash", limit=None) for _, text in some]
            for copy in (self.open(tmp_path, collection=f"to {name}"), open_index("memory://")):
                with copy:
                    assert copy.load(out) == len(some)
                    assert copy.settings == settings
                    assert [copy.search(text, by="simhash", limit=None) for _, text in some] == wanted
                    assert copy.check().ok
            with open_index("memory://", **made) as there:
                there.load(out)
                there.export(tmp_path / f"back {name}")
            with self.open(tmp_path, collection=f"back {name}") as back:
                back.load(tmp_path / f"back {name}")
                assert back.settings == settings
                assert [document.id for document in back.documents()] == [id_ for id_, _ in some]

    def test_an_export_is_refused_where_it_would_be_changed(self, tmp_path: Path) -> None:
        documents = corpus(10)
        out = tmp_path / "all.jsonl"
        with self.open(tmp_path, collection="from", threshold=0.6) as index:
            index.add(documents)
            index.export(out)
        with self.open(tmp_path, collection="used") as other:
            other.add("a", "a text that is there already")
            with _refused(RecipeMismatch):
                other.load(out)
            assert len(other) == 1
            assert other.load(out, refingerprint=True) == 10
            assert other.settings["threshold"] == 0.8
            assert other.search(documents[3][1])[0].score == 1.0
        with self.open(tmp_path, collection="asked", threshold=0.7) as asked:
            with _refused(InputError):
                asked.load(out)
            assert len(asked) == 0
        # What an older release wrote says nothing about settings.
        lines = out.read_text("utf-8").splitlines()
        older = tmp_path / "older.jsonl"
        first = json.loads(lines[0])
        del first["settings"]
        older.write_text("\n".join([json.dumps(first), *lines[1:]]), "utf-8")
        with self.open(tmp_path, collection="older") as copy:
            assert copy.load(older) == 10
            assert copy.settings["threshold"] == 0.8

    def test_who_has_a_collection_open_is_told_when_its_settings_change(self, tmp_path: Path) -> None:
        self._require_persistence()
        with self.open(tmp_path, collection="from", threshold=0.6) as index:
            index.add(corpus(5))
            index.export(tmp_path / "all.jsonl")
        with self.open(tmp_path, collection="to") as copy, self.open(tmp_path, collection="to") as other:
            assert len(other) == 0
            assert copy.load(tmp_path / "all.jsonl") == 5
            with _refused(StoreError):
                len(other)

    def test_compacting_changes_no_answer(self, tmp_path: Path) -> None:
        documents = corpus(80)
        with self.open(tmp_path) as index:
            for first in range(0, 80, 20):
                index.add(documents[first : first + 20])
            index.remove([id_ for id_, _ in documents[::5]])
            before = [
                index.search(text, by=by, limit=None) for by in ("near", "simhash", "passages", "fuzzy") for _, text in documents[:20]
            ]
            index.compact()
            after = [index.search(text, by=by, limit=None) for by in ("near", "simhash", "passages", "fuzzy") for _, text in documents[:20]]
            assert after == before
            assert index.check().ok
            assert index.stats()["documents"] == 64
