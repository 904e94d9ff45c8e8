"""Fingerprints of records: how fast, and how closely they follow the exact similarity of fields.

The peer is datasketch's weighted MinHash of the same features, which it needs as vectors.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe

import lookalike as la
from lookalike.fingerprints.record import sketched
from lookalike.fingerprints.record_features import record_features

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT.parent / "tests"))

from made_records import made_pairs, made_record  # noqa: E402


def seconds(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ranks(values: list[float]) -> Any:
    _, places, counts = np.unique(np.array(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[places]


def correlation(left: list[float], right: list[float]) -> float:
    return round(float(np.corrcoef(ranks(left), ranks(right))[0, 1]), 4)


def peer_seconds(features: list[dict[int, float]], size: int) -> float | None:
    try:
        from datasketch import WeightedMinHashGenerator
    except ImportError:
        return None
    places = {feature: place for place, feature in enumerate(sorted({feature for each in features for feature in each}))}
    generator = WeightedMinHashGenerator(len(places), size)
    vectors = np.zeros((len(features), len(places)))
    for row, each in enumerate(features):
        vectors[row, [places[feature] for feature in each]] = list(each.values())
    return seconds(lambda: [generator.minhash(vector) for vector in vectors])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "records.json")
    options = parser.parse_args()
    chance = random.Random(1)
    data = [made_record(chance) for _ in range(options.records)]
    own = seconds(lambda: la.records(data))
    prints = la.records(data[:300])
    features = [record_features(each.data, {}) for each in prints]
    sketches = seconds(lambda: sketched([each.data for each in prints], {}, 64, 128))
    peer = peer_seconds(features, 128)
    pairs = made_pairs(3000, 2)
    left, right = (la.records([pair[side] for pair in pairs]) for side in (0, 1))
    exact = [one.similarity(two) for one, two in zip(left, right, strict=True)]
    found: dict[str, Any] = {
        "machine": describe(),
        "records": options.records,
        "microseconds_per_record": round(own / options.records * 1e6, 1),
        "sketch_microseconds_per_record": round(sketches / 300 * 1e6, 1),
        "datasketch_microseconds_per_record": None if peer is None else round(peer / 300 * 1e6, 1),
        "ratio_of_sketching": None if peer is None else round(peer / sketches, 1),
        "rank_correlation": {
            "minhash": correlation(exact, [one.minhash.similarity(two.minhash) for one, two in zip(left, right, strict=True)]),
            "simhash64": correlation(exact, [-float(one.simhash.distance(two.simhash)) for one, two in zip(left, right, strict=True)]),
        },
    }
    print(json.dumps(found, indent=1))
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
