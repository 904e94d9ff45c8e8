"""Golden vectors, recomputed on this machine: the promise that a fingerprint is the same everywhere, checked here."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from lookalike.fingerprints.karp_rabin import karp_rabin
from lookalike.fingerprints.minhash import minhash
from lookalike.fingerprints.record import record
from lookalike.fingerprints.simhash import simhash
from lookalike.fingerprints.winnowing import winnow
from lookalike.measures import cosine
from lookalike.recipe import Recipe
from lookalike.text.tokenize import tokenize


def selftest() -> list[dict[str, Any]]:
    """Every golden vector: its name, what was expected, what came out, and whether they agree."""
    golden = json.loads(resources.files("lookalike").joinpath("golden.json").read_text(encoding="utf-8"))
    checks = [check for vector in golden["vectors"] for check in _vector_checks(vector)]
    checks += [check for vector in golden["records"] for check in _record_checks(vector)]
    checks += _published_checks(golden["published"])
    return [{"name": name, "expected": expected, "found": found, "passed": expected == found} for name, expected, found in checks]


Check = tuple[str, object, object]


def _vector_checks(vector: dict[str, Any]) -> list[Check]:
    text, name = vector["text"], vector["name"]
    recipe = Recipe(tokenizer=vector["tokenizer"])
    return [
        (f"tokens of {name}", vector["tokens"], [list(token) for token in tokenize(text, vector["tokenizer"])]),
        (f"SimHash-32 of {name}", vector["simhash32"], int(simhash(text, bits=32, recipe=recipe))),
        (f"SimHash-64 of {name}", vector["simhash64"], simhash(text, recipe=recipe).hex),
        (f"SimHash-128 of {name}", vector["simhash128"], simhash(text, bits=128, recipe=recipe).hex),
        (f"MinHash-16 of {name}", vector["minhash"], list(minhash(text, size=16, recipe=recipe).values)),
        (f"winnowing of {name}", vector["winnowing"], list(winnow(text, window=4, recipe=recipe).values)),
    ]


def _record_checks(vector: dict[str, Any]) -> list[Check]:
    narrow, wide = (record(vector["data"], weights=vector["weights"], bits=bits, size=16) for bits in (64, 128))
    return [
        (f"SimHash-64 of record {vector['name']}", vector["simhash64"], narrow.simhash.hex),
        (f"SimHash-128 of record {vector['name']}", vector["simhash128"], wide.simhash.hex),
        (f"MinHash-16 of record {vector['name']}", vector["minhash"], list(narrow.minhash.values)),
    ]


def _published_checks(published: dict[str, Any]) -> list[Check]:
    names = published["file_names"]
    checks: list[Check] = []
    for key, text in names.items():
        checks += [
            (f"published SimHash of {text}", published["simhash_64_md5"]["values"][key], simhash(text, recipe="simhash-py").hex),
            (f"published Karp-Rabin of {text}", published["karp_rabin"]["joined"][key], karp_rabin(text).joined),
            (f"published winnowing of {text}", published["winnowing"]["values"][key], list(winnow(text, recipe="winnow-sha1").values)),
        ]
    sketches = {key: minhash(text, recipe="datasketch") for key, text in names.items()}
    for pair, expected in published["minhash_128"]["single_characters"].items():
        checks.append((f"published MinHash similarity {pair}", expected, sketches[pair[0]].similarity(sketches[pair[1]])))
    sample = published["cosine"]
    checks.append(("published cosine", sample["cosine"], cosine.similarity(sample["tokens1"], sample["tokens2"])))
    return checks
