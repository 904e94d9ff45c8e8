"""Fingerprints of records: how fast, and how closely they follow the exact similarity of fields.

The peer is datasketch's weighted MinHash of the same features, which it needs as vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe

import lookalike as la
from lookalike.files.model import FileText
from lookalike.fingerprints.record import sketched
from lookalike.fingerprints.record_features import record_features
from lookalike.profiles.profile import profile_of
from lookalike.profiles.records import as_record

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT.parent / "tests"))

from made_records import blended, made_pairs, made_record  # noqa: E402

MOST_BLENDS = 8000  # that are made to have enough of each similarity


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


def news_records(folder: Path, name: str, count: int) -> list[dict[str, Any]]:
    """Articles as records: the profile of the text, and the fields that the collection has."""
    found = []
    with gzip.open(folder / f"{name}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            profile = profile_of(FileText(f"{row['title']}.txt", "text", text=row["text"]), None, None, {})
            fields = {field: row[field] for field in ("title", "date", "topics", "author", "page") if row.get(field)}
            found.append(as_record(profile) | fields)
            if len(found) == count:
                break
    return found


def file_records(folder: Path, count: int) -> list[dict[str, Any]]:
    """Profiles of real files, such as the copyright files of installed packages."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())[:: max(1, count // 200)]
    return [as_record(profile_of(read, None, None, {})) for read in la.read_many(files[:count]) if read.text.strip()]


def fingerprint_columns(left: list[la.RecordPrint], right: list[la.RecordPrint]) -> dict[str, list[float]]:
    """How near the fingerprints of pairs are."""
    wide = {id(each): la.record(each.data, bits=128).simhash for each in {id(each): each for each in (*left, *right)}.values()}
    pairs = list(zip(left, right, strict=True))
    return {
        "minhash": [a.minhash.similarity(b.minhash) for a, b in pairs],
        "simhash64": [-float(a.simhash.distance(b.simhash)) for a, b in pairs],
        "simhash128": [-float(wide[id(a)].distance(wide[id(b)])) for a, b in pairs],
    }


def in_common(one: la.RecordPrint, two: la.RecordPrint) -> float:
    """The weight of the features that two records share: what their MinHashes estimate, without the error of an estimate."""
    left, right = (record_features(each.data, dict(each.weights)) for each in (one, two))
    return sum(min(weight, right.get(feature, 0.0)) for feature, weight in left.items())


def flawless(exact: Any, chance: np.random.Generator) -> dict[str, float]:
    """What fingerprints would reach whose expectation is exactly the similarity s: 128 values that agree with probability s / (2 - s), and
    64 or 128 bits that differ with probability arccos(s) / pi. No fingerprint made of as many such values or bits is better."""
    angles = np.arccos(np.clip(exact, 0, 1)) / np.pi
    drawn = {
        "minhash": chance.binomial(128, np.clip(exact / (2 - exact), 0, 1)),
        "simhash64": -chance.binomial(64, angles),
        "simhash128": -chance.binomial(128, angles),
    }
    return {kind: correlation(exact.tolist(), values.tolist()) for kind, values in drawn.items()}


def blended_correlation(records: list[dict[str, Any]], strata: int = 20, each: int = 100) -> dict[str, Any]:
    """The same for pairs of a real record and one that is blended with another: as many of each twentieth from .1 to 1."""
    chance, drawing = random.Random(1), np.random.default_rng(1)
    pairs: dict[int, list[tuple[la.RecordPrint, la.RecordPrint]]] = {}
    for _ in range(MOST_BLENDS):
        one, two = chance.sample(records, 2)
        left, right = la.records([one, blended(one, two, chance.random(), chance)])
        inside = pairs.setdefault(min(int(left.similarity(right) * strata), strata - 1), [])
        if len(inside) < each:
            inside.append((left, right))
    full = [pair for stratum, found in pairs.items() if stratum >= strata // 10 and len(found) == each for pair in found]
    exact = np.array([left.similarity(right) for left, right in full])
    near = fingerprint_columns([left for left, _ in full], [right for _, right in full])
    return {
        "pairs": len(full),
        "from": round(float(exact.min()), 2),
        **{kind: correlation(exact.tolist(), values) for kind, values in near.items()},
        "features": correlation(exact.tolist(), [in_common(*pair) for pair in full]),
        "flawless": flawless(exact, drawing),
    }


def real_correlation(records: list[dict[str, Any]], strata: int = 20, most: int = 200, fewest: int = 5) -> dict[str, Any]:
    """Pairs at random, and as many pairs of each twentieth of the similarities: most pairs of real records have next to nothing in common.

    *Means* is the rank correlation of the twentieths themselves: has a record that is nearer a nearer fingerprint on average?
    """
    prints = la.records(records)
    left, right = np.triu_indices(len(prints), 1)
    exact = np.array([prints[a].similarity(prints[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)])
    chance = np.random.default_rng(1)
    of_strata = np.minimum((exact * strata).astype(np.int64), strata - 1)
    chosen = np.concatenate([chance.permutation(np.flatnonzero(of_strata == stratum))[:most] for stratum in range(strata)])

    def columns(pairs: Any) -> dict[str, list[float]]:
        one, two = ([prints[number] for number in side[pairs].tolist()] for side in (left, right))
        return fingerprint_columns(one, two)

    sample = chance.permutation(len(exact))[:4000]
    found: dict[str, Any] = {"records": len(records)}
    for name, pairs in (("at_random", sample), ("of_all_similarities", chosen)):
        near = columns(pairs)
        found[name] = {"pairs": len(pairs)} | {kind: correlation(exact[pairs].tolist(), values) for kind, values in near.items()}
        found[name]["features"] = correlation(exact[pairs].tolist(), [in_common(prints[left[pair]], prints[right[pair]]) for pair in pairs])
        found[name]["flawless"] = flawless(exact[pairs], chance)
    inside = [np.flatnonzero(of_strata[chosen] == stratum) for stratum in range(strata)]
    inside = [each for each in inside if len(each) >= fewest]
    middles = [float(exact[chosen][each].mean()) for each in inside]
    found["means"] = {"twentieths": len(inside)} | {
        kind: correlation(middles, [float(np.array(values)[each].mean()) for each in inside]) for kind, values in near.items()
    }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=4000)
    parser.add_argument(
        "--data", type=Path, help="folder of news_zh and reuters21578 (gzipped JSON lines), whose articles are real records"
    )
    parser.add_argument("--files", type=Path, help="folder of real files, whose profiles are real records")
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
    real = {name: news_records(options.data, name, 400) for name in ("reuters21578", "news_zh") if options.data}
    if options.files:
        real["files"] = file_records(options.files, 400)
    found["rank_correlation_of_real_records"] = {
        name: real_correlation(records) | {"blended": blended_correlation(records)} for name, records in real.items()
    }
    print(json.dumps(found, indent=1))
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
