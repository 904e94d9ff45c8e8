"""The contract of stores: the nearest without a threshold, and containment."""

from __future__ import annotations

import random
from pathlib import Path

from lookalike.errors import InputError
from lookalike.testing.contract import Contract
from lookalike.testing.made import corpus, exact_jaccard, refused
from lookalike.text.shingle import shingle_set

RUN = 8  # tokens in a row that two texts share, from which on each is compared with the other


def made(documents: int) -> list[tuple[str, str]]:
    """Texts, parts of them, and texts around them: of words that stand nowhere else, so that nothing is shared by chance."""
    chance = random.Random(documents)  # noqa: S311 - not for secrets
    texts: list[list[str]] = []
    for number in range(documents):
        own = [f"{chance.choice(['river', 'bridge', 'market'])}{number}x{place}" for place in range(chance.randrange(20, 60))]
        if number % 3 == 1:
            whole = texts[chance.randrange(len(texts))]
            at = chance.randrange(max(1, len(whole) - 12))
            own = [*own[:5], *whole[at : at + chance.randrange(9, 40)]]
        elif number % 3 == 2:
            changed = list(texts[chance.randrange(len(texts))])
            changed[chance.randrange(len(changed))] = "changed"
            own = [*own[: chance.randrange(10)], *changed, *own[:10]]
        texts.append(own)
    return [(f"doc-{number}", " ".join(words)) for number, words in enumerate(texts)]


def share_run(left: str, right: str) -> bool:
    ones, others = left.split(), right.split()
    runs = {tuple(ones[at : at + RUN]) for at in range(len(ones) - RUN + 1)}
    return any(tuple(others[at : at + RUN]) in runs for at in range(len(others) - RUN + 1))


class ContainmentContract(Contract):
    """Exact shares, and everything that shares a run of tokens is compared."""

    def test_the_nearest_without_a_threshold(self, tmp_path: Path) -> None:
        documents = made(60)
        with self.open(tmp_path) as index:
            index.add(documents)
            low = 0
            for _, text in documents[::4]:
                scores = {id_: exact_jaccard(text, other) for id_, other in documents}
                found = index.search(text, threshold=0, limit=None)
                assert {match.id for match in found} >= {id_ for id_, other in documents if share_run(text, other)}
                assert all(match.score == scores[str(match.id)] for match in found)
                order = [(-match.score, [id_ for id_, _ in documents].index(str(match.id))) for match in found]
                assert order == sorted(order)
                low += sum(0 < match.score < 0.3 for match in found)
                assert index.search(text, threshold=0, limit=3) == found[:3]
                assert index.search_texts([text], threshold=0, limit=3)[0] == found[:3]
                assert any("8 tokens" in note for note in found.notes)
            assert low > 20  # bands alone find next to none of these

    def test_containment(self, tmp_path: Path) -> None:
        documents = made(60)
        sets = {id_: shingle_set(text) for id_, text in documents}
        with self.open(tmp_path) as index:
            index.add([(id_, text, {"n": place}) for place, (id_, text) in enumerate(documents)])
            holding = held = 0
            for id_, text in documents[::3]:
                common = {other: len(sets[id_] & sets[other]) for other in sets}
                for by, size in (
                    ("contains", dict.fromkeys(sets, len(sets[id_]))),
                    ("contained", {other: len(sets[other]) for other in sets}),
                ):
                    expected = {other: common[other] / size[other] for other in sets if common[other] / size[other] >= 0.8}
                    found = index.search(text, by=by, limit=None)
                    assert {str(match.id): match.score for match in found} == expected
                    assert found.scale == ("share of query" if by == "contains" else "share of document")
                    assert index.search(text, by=by, limit=2) == found[:2]
                    chosen = [match for match in found if match.meta["n"] % 2]
                    assert index.search(text, by=by, limit=None, where={"n": {"in": list(range(1, 60, 2))}}) == chosen
                    for match in found[:1]:
                        assert match.passages
                    holding, held = holding + (by == "contains") * len(expected), held + (by == "contained") * len(expected)
            assert holding > 30
            assert held > 20
            text = documents[1][1]
            everything = {str(match.id) for match in index.search(text, by="contains", threshold=0, limit=None)}
            assert everything >= {id_ for id_, other in documents if share_run(text, other)}
            with refused(InputError):
                index.search(text, by="contains", approximate=True)

    def test_containment_without_texts_is_estimated(self, tmp_path: Path) -> None:
        documents = made(30)
        with self.open(tmp_path, keep_text=False) as index:
            index.add(documents)
            for by in ("contains", "contained"):
                found = index.search(documents[5][1], by=by)
                assert found[0].estimated
                assert found[0].score == 1.0
                assert documents[5][0] in {match.id for match in found}
        with self.open(tmp_path, collection="simhash", kinds="simhash") as index:
            index.add(corpus(3))
            with refused(InputError):
                index.search("a text", by="contains")
