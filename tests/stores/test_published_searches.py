"""The searches of the documents that the package grew from, and of the packages they were made with."""

import json
from pathlib import Path

import numpy as np
import pytest
from simhash import Simhash, SimhashIndex

import lookalike as la
from lookalike import _native
from lookalike.segments.bands import BandSegment

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))


def test_minhash_lsh() -> None:
    published = PUBLISHED["minhash_128"]
    names = PUBLISHED["file_names"]
    things = {name: set(names[name]) if name in names else set(published["sets"][name]) for name in "xyabc"}
    sketches = {name: la.minhash(elements, recipe="datasketch") for name, elements in things.items()}
    search = published["lsh"]
    with la.open("memory://", recipe="datasketch", kinds="minhash", threshold=search["threshold"]) as index:
        index.add_minhashes(search["stored"], [sketches[name] for name in search["stored"]])
        found = index.search(minhash=sketches[search["query"]])
        assert [match.id for match in found] == search["found"]
        assert found[0].score == published["single_characters"]["ab"]


def test_banding_worked_by_hand() -> None:
    example = PUBLISHED["lsh_worked_example"]
    names = list(example["signatures"])
    values = np.array(list(example["signatures"].values()), dtype=np.uint32)
    keys = np.asarray(_native.band_keys(values.reshape(-1), values.shape[1], example["bands"], example["rows"]))
    digests = np.arange(len(names), dtype=np.uint64)
    segment = BandSegment.build(np.arange(len(names), dtype=np.int64), digests, keys, example["bands"])
    found = segment.candidates(keys, 10)
    pairs = set()
    for query in range(len(names)):
        rows = segment.rows(found.groups[found.offsets[query] : found.offsets[query + 1]], 10)[1]
        pairs |= {(names[query], names[row]) for row in rows.tolist() if row > query}
    assert [list(pair) for pair in sorted(pairs)] == example["candidates"]


@pytest.mark.parametrize("k", [1, 2, 3, 6, 10, 16])
def test_what_simhash_index_finds(k: int) -> None:
    """Everything that the package finds is found here, at the same distances; it may miss some, we may not."""
    names = [f"{place}增值税电子普通发票{number}.pdf" for place in ("北京", "福建", "上海") for number in ("", 1, 2)]
    names += ["福建工程学院计算机学院培养方案.pdf", "北京电子普通发票.pdf"]
    peer = SimhashIndex([(name, Simhash(name)) for name in names], k=k)
    with la.open("memory://", recipe="simhash-py", kinds="simhash") as index:
        index.add((name, name) for name in names)
        for query in [*names, "北京电子普通发票"]:
            ours = {match.id: match.distance for match in index.search(query, by="simhash", k=k, limit=None)}
            theirs = set(peer.get_near_dups(Simhash(query)))
            assert theirs <= set(ours)
            assert ours == {name: d for name in names if (d := Simhash(name).distance(Simhash(query))) <= k}
