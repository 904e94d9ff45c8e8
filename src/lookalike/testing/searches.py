"""The contract of stores: searches."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import InputError, RecipeMismatch
from lookalike.fingerprints.fuzzy_ssdeep import ssdeep
from lookalike.fingerprints.fuzzy_tlsh import tlsh
from lookalike.fingerprints.minhash import minhash
from lookalike.fingerprints.simhash import simhash, simhashes
from lookalike.model import Document
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, exact_jaccard, refused


class SearchContract(Contract):
    """What is found equals what comparing with every document finds."""

    def test_near_equals_brute_force(self, tmp_path: Path) -> None:
        documents = corpus(120)
        with self.open(tmp_path, threshold=0.5, recall=0.999) as index:
            index.add(documents)
            found_pairs = expected_pairs = 0
            for _, text in documents[::5]:
                expected: dict[str | int, float] = {id_: exact_jaccard(text, other) for id_, other in documents}
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
            with refused(InputError):
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
            with refused(RecipeMismatch):
                index.add_minhashes(["a"], [minhash({"a"}, size=64)])
            with refused(InputError):
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
                with refused(InputError):
                    index.search(**arguments)
            with refused(RecipeMismatch):
                index.search(simhash=simhash("a", recipe="words"))
            with refused(RecipeMismatch):
                index.search(minhash=minhash("a", size=64))
