"""The contract of stores: web pages."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import InputError
from lookalike.markup.extraction import page_text
from lookalike.markup.page import page
from lookalike.measures import jaccard
from lookalike.model import Document
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, made_pages, refused, tag_paths


class PageContract(Contract):
    """What is kept of web pages."""

    def test_structure_equals_brute_force(self, tmp_path: Path) -> None:
        made = made_pages(60)
        paths = {id_: tag_paths(html) for id_, html in made}
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
                    with refused(InputError):
                        bare.search(page(made[0][1]), by="structure")

    def test_clusters_of_templates(self, tmp_path: Path) -> None:
        made = made_pages(80)
        paths: dict[str | int, set[str]] = {id_: tag_paths(html) for id_, html in made}
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
                with refused(InputError):
                    index.clusters(by=wrong)

    def test_what_is_no_page_has_no_structure(self, tmp_path: Path) -> None:
        with self.open(tmp_path) as index:
            index.add("a", page("<p>text"))
            for query in ("<p>text", b"<p>text", 7, None):
                with refused(InputError):
                    index.search(query, by="structure")  # type: ignore[arg-type]  # as somebody may who checks no types
            for by in ("fuzzy", "tlsh", "ssdeep"):
                with refused(InputError):
                    index.search(page("<p>text"), by=by)
            path = tmp_path / "query.html"
            path.write_text("<p>another text")
            assert [match.score for match in index.search(path, by="structure")] == [1.0]
