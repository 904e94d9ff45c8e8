"""The contract of stores: filters on what is kept beside texts, and going through documents in parts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from lookalike.errors import InputError, NotFound
from lookalike.fingerprints.simhash import simhashes
from lookalike.testing.contract import Contract
from lookalike.testing.made import TinyEmbedder, corpus, joined_to, refused, tiny_model

# A filter, the same as an expression, and what it means.
FILTERS: list[tuple[dict[str, Any], str, Any]] = [
    ({"site": "a.com"}, "site = a.com", lambda m: m.get("site") == "a.com"),
    ({"site": "b.com", "day": {">=": "2026-10-16"}}, 'site == "b.com" and day >= 2026-10-16', lambda m: m.get("site") == "b.com" and m["day"] >= "2026-10-16"),
    ({"n": {">": 3, "<=": 20}}, "n > 3 and n <= 20", lambda m: 3 < m["n"] <= 20),
    ({"site": {"in": ["a.com", None]}}, "site in (a.com, null)", lambda m: m.get("site") == "a.com"),
    ({"site": {"exists": False}}, "not exists site", lambda m: "site" not in m),
    ({"site": {"!=": "a.com"}}, "site != 'a.com'", lambda m: m.get("site") != "a.com"),
    ({"or": [{"n": 2}, {"tags": {"has": "even"}}]}, "n = 2.0 or tags has even", lambda m: m["n"] == 2 or "even" in m["tags"]),
    ({"not": {"author.name": "Ada"}}, "not author.name = Ada", lambda m: m["author"]["name"] != "Ada"),
    ({"and": [{"n": {"<": "9"}}]}, 'n < "9"', lambda m: False),
    ({"day": {">": "2026-10-01"}, "or": [{"site": "a.com"}, {"site": "b.com"}]}, "day > 2026-10-01 and (site = a.com or site = b.com)",
     lambda m: m["day"] > "2026-10-01" and m.get("site") in ("a.com", "b.com")),
]  # fmt: skip


INDEXED = ("author.name", "day", "n", "site", "tags")


def meta_of(number: int) -> dict[str, Any]:
    """What the number-th document has beside it."""
    made: dict[str, Any] = {
        "n": number,
        "day": f"2026-10-{1 + number % 28:02}",
        "tags": ["even"] if number % 2 == 0 else ["odd", None],
        "author": {"name": "Ada" if number % 5 else "Lin"},
    }
    return made | ({"site": "ab"[number % 3] + ".com"} if number % 3 < 2 else {})


class FilterContract(Contract):
    """A filter never makes a search miss a match."""

    def test_searches_find_what_fits_and_all_of_it(self, tmp_path: Path) -> None:
        self._searches_find_what_fits(tmp_path, ())

    def test_searches_find_the_same_by_indexed_fields(self, tmp_path: Path) -> None:
        self._searches_find_what_fits(tmp_path, INDEXED)

    def _searches_find_what_fits(self, tmp_path: Path, indexed: tuple[str, ...]) -> None:
        copied = corpus(1)[0][1]
        documents = [(f"copy {number}", copied) for number in range(60)] + corpus(40)
        with self.open(tmp_path, model=tiny_model(), indexed=indexed) as index:
            index.add([(id_, text, meta_of(number)) for number, (id_, text) in enumerate(documents)])
            metas: dict[str | int, dict[str, Any]] = {id_: meta_of(number) for number, (id_, _) in enumerate(documents)}
            for by in ("near", "simhash", "passages", "meaning", "fuzzy"):
                everything = index.search(copied, by=by, limit=None)
                assert len(everything) >= 60
                for where, expression, fits in FILTERS:
                    expected = [match.to_dict() for match in everything if fits(metas[match.id])]
                    for limit in (1, 7, None):
                        found = index.search(copied, by=by, where=where, limit=limit)
                        assert [match.to_dict() for match in found] == expected[:limit], (by, where, limit)
                        assert len(found) <= found.total <= len(expected)
                        assert found.cut is (len(found) < len(expected))
                    assert index.search(copied, by=by, where=expression) == index.search(copied, by=by, where=where)
            where, _, fits = FILTERS[1]
            assert [match.id for match in index.search_texts([copied], where=where, limit=3)[0]] == [
                match.id for match in index.search(copied, where=where, limit=3)
            ]

    def test_many_queries_at_once_find_what_fits(self, tmp_path: Path) -> None:
        texts = [text for number, (_, text) in enumerate(corpus(16)) if number % 4 < 2]
        for indexed in ((), INDEXED):
            with self.open(tmp_path, collection=f"by {len(indexed)}", model=tiny_model(), indexed=indexed) as index:
                index.add([(number, texts[number % 8], meta_of(number)) for number in range(80)])
                index.add([(number, texts[number % 8], meta_of(number)) for number in range(80, 120)], expires=0)
                values, vectors = simhashes(texts), TinyEmbedder().encode(texts)
                for where, expression, fits in [({"n": {">=": 0}}, "n >= 0", lambda _: True), *FILTERS]:
                    for limit in (1, 3, None):
                        near = index.search_simhashes(values, k=2, limit=limit, where=where)
                        same = index.search_simhashes(values, k=2, limit=limit, where=expression)
                        meant = index.search_vectors(vectors, threshold=0.9999, limit=limit, where=where)
                        assert near.ids.tolist() == same.ids.tolist()
                        assert near.offsets.tolist() == same.offsets.tolist()
                        for query in range(8):
                            expected = [number for number in range(query, 80, 8) if fits(meta_of(number))][:limit]
                            for found in (near, meant):
                                assert found.ids[found.offsets[query] : found.offsets[query + 1]].tolist() == expected, (where, limit)
                assert not set(index.search_simhashes(values, k=0).ids.tolist()) & set(range(80, 120))
                assert not set(index.search_vectors(vectors, limit=None).ids.tolist()) & set(range(80, 120))

    def test_indexed_fields_follow_their_documents(self, tmp_path: Path) -> None:
        documents = [(number, text, meta_of(number)) for number, (_, text) in enumerate(corpus(60))]
        with self.open(tmp_path, indexed="n, day,site") as index:
            assert index.settings["indexed"] == ["day", "n", "site"]
            index.add(documents)
            index.remove(range(0, 60, 7))
            index.add([(number, text, meta | {"n": number + 1000}) for number, text, meta in documents[1::7]])
            index.add([(number, text, meta) for number, text, meta in documents[2::7]], expires=0)
            left = {document.id: document.meta["n"] for document in index.documents()}
            assert index.count({"n": {">=": 1000}}) == sum(n >= 1000 for n in left.values()) > 0
            assert index.count({"n": {"<": 20}}) == sum(n < 20 for n in left.values())
            assert set(index.ids(where={"n": {"in": list(range(10))}})) == {id_ for id_, n in left.items() if n < 10}
            assert index.check().ok
            index.compact()
            assert set(index.ids(where="n < 30 or n >= 1040")) == {id_ for id_, n in left.items() if n < 30 or n >= 1040}
            assert index.collections.copy("default", "copy", indexed=["site"]) == len(left)
            with index.collections.open("copy") as copy:
                assert copy.settings["indexed"] == ["site"]
                assert set(copy.ids(where={"site": "a.com"})) == set(index.ids(where={"site": "a.com"}))
                assert copy.check().ok
            path = tmp_path / "export.jsonl"
            index.export(path)
        for name, options in {"as it was": {}, "others": {"indexed": ["n"]}}.items():
            with self.open(tmp_path, collection=name, **options) as index:
                assert index.load(path) == len(left)
                assert index.settings["indexed"] == options.get("indexed", ["day", "n", "site"])
                assert set(index.ids(where={"n": {"<": 30}})) == {id_ for id_, n in left.items() if n < 30}
        with refused(InputError):
            self.open(tmp_path, collection="wrong", indexed=["a", ""])

    def test_counts_ids_documents_and_clusters(self, tmp_path: Path) -> None:
        self._counts_what_fits(tmp_path, ())

    def test_counts_the_same_by_indexed_fields(self, tmp_path: Path) -> None:
        self._counts_what_fits(tmp_path, INDEXED)

    def _counts_what_fits(self, tmp_path: Path, indexed: tuple[str, ...]) -> None:
        documents = corpus(80)
        with self.open(tmp_path, indexed=indexed) as index:
            index.add([(id_, text, meta_of(number)) for number, (id_, text) in enumerate(documents)])
            assert index.count() == 80
            for where, expression, fits in FILTERS:
                expected = [id_ for number, (id_, _) in enumerate(documents) if fits(meta_of(number))]
                assert list(index.ids(where=where)) == list(index.ids(where=expression)) == expected
                assert index.count(where) == len(expected)
                assert [document.id for document in index.documents(where=where)] == expected
            where, _, fits = FILTERS[5]
            chosen = [(id_, text) for number, (id_, text) in enumerate(documents) if fits(meta_of(number))]
            found = joined_to(index.clusters(where=where))
        with self.open(tmp_path, collection="chosen") as other:
            other.add(chosen)
            assert found == joined_to(other.clusters())
            assert found

    def test_going_through_in_parts(self, tmp_path: Path) -> None:
        documents = corpus(25)
        with self.open(tmp_path) as index:
            index.add(documents)
            index.remove(documents[7][0])
            seen: list[Any] = []
            while part := list(islice(index.ids(after=seen[-1] if seen else None), 6)):
                seen += part
            assert seen == [id_ for id_, _ in documents if id_ != documents[7][0]]
            assert [document.id for document in index.documents(after=documents[22][0])] == [documents[23][0], documents[24][0]]
            with refused(NotFound):
                list(index.ids(after=documents[7][0]))

    def test_filters_that_are_none_are_refused(self, tmp_path: Path) -> None:
        deep: dict[str, Any] = {"a": 1}
        for _ in range(100):
            deep = {"not": deep}
        wrong: list[Any] = [
            {"a": {"like": "b"}}, {"a": {}}, {1: 2}, {"a": {">": None}}, {"a": {"in": "text"}}, {"a": {"exists": 1}}, {"a": object()},
            {"a": float("nan")}, deep, [], 7, "", "a", "a =", "a = 1 b", "(a = 1", "a in 1", "a in (1", "and", "{", "a = 'x", "a ! b",
            "(" * 100 + "a = 1" + ")" * 100, "a = " + "1" * 5000, '{"a": ' + "1" * 5000 + "}",
        ]  # fmt: skip
        with self.open(tmp_path) as index:
            index.add("id", "some text", {"a": 1})
            for where in wrong:
                with refused(InputError):
                    index.search("some text", where=where)
                with refused(InputError):
                    index.count(where)

    def test_links_and_expiry_are_exported(self, tmp_path: Path) -> None:
        text = corpus(1)[0][1]
        for name in ("out.jsonl", "out.parquet"):
            with self.open(tmp_path, collection=f"from {name}") as index:
                index.admit([(number, text) for number in range(4)], alike="link")
                index.remove(0)
                index.add(99, "some words for an hour", ttl=3600)
                index.export(tmp_path / name)
                expected = index.kept_clusters()
            with self.open(tmp_path, collection=f"to {name}") as index:
                index.load(tmp_path / name)
                assert index.kept_clusters() == expected
                assert [index.cluster_of(3).kept, *(member.id for member in index.cluster_of(3).removed)] == [1, 2, 3]
                with index._store.reading() as reader:
                    row = reader.rows_of([99])[99]
                    assert reader.expirations([row])[row] > 0
