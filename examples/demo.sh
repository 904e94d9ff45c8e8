#!/bin/sh
# What lookalike does, on the files beside this script. `make demo` runs it; a few seconds, no network.
set -eu
cd "$(dirname "$0")/.."

heading() {
    printf '\n== %s\n' "$1"
}

# compare answers "not alike" with exit code 1: that is a result, not a failure. 2 and up are failures.
compare() {
    lookalike compare "$@" || [ $? -eq 1 ]
}

heading "This installation"
lookalike info
lookalike selftest

heading "Fingerprints of a text"
lookalike fingerprint --kind simhash,minhash,winnowing,ssdeep,tlsh,sha256 examples/left.txt

heading "Two versions of a news item: one paragraph moved, a few words changed"
compare examples/left.txt examples/right.txt

heading "An AI draft and what its editor made of it"
compare --measure cosine,jaccard,containment,ratio examples/draft.txt examples/final.txt

heading "Two invoices as records, field by field"
compare --as record examples/invoice-a.json examples/invoice-b.json

heading "The words that a Chinese text is about"
python - <<'PYTHON'
import json
from pathlib import Path

import lookalike as la

rows = map(json.loads, Path("examples/corpus.jsonl").read_text(encoding="utf-8").splitlines())
table = la.learn_idf(row["text"] for row in rows)  # how rare words are, from our own corpus
text = la.read_text("examples/draft.txt").text
print("  ".join(f"{word} {weight:.3f}" for word, weight in la.keywords(text, 8, idf=table, min_length=2)))
PYTHON

heading "The corpus without near-duplicates, and why each was removed"
clean=$(mktemp -d)
lookalike dedupe examples/corpus.jsonl --out "$clean/corpus.jsonl" --removed "$clean/removed.jsonl"
cat "$clean/removed.jsonl"
rm -r "$clean"

heading "Near-duplicates in a corpus: MinHash estimates, verified by the exact Jaccard similarity"
python - <<'PYTHON'
import json
from itertools import combinations
from pathlib import Path

import lookalike as la

rows = [json.loads(line) for line in Path("examples/corpus.jsonl").read_text(encoding="utf-8").splitlines()]
texts = [row["text"] for row in rows]
sketches, simhashes = la.minhashes(texts), la.simhashes(texts)
print(f"{len(texts)} documents, {len(texts) * (len(texts) - 1) // 2} pairs")
for a, b in combinations(range(len(rows)), 2):
    estimate = (sketches[a] == sketches[b]).mean()
    if estimate >= 0.5:
        exact = la.measures.jaccard.similarity(texts[a], texts[b])
        bits = la.measures.hamming.distance(int(simhashes[a]), int(simhashes[b]))
        print(f"{rows[a]['id']:15} {rows[b]['id']:15} estimated {estimate:.2f}  exact {exact:.2f}  SimHash {bits} bits apart")
PYTHON

heading "A store on disk: add a corpus, then ask what looks like a text"
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
lookalike add "$store/news.lookalike" examples/corpus.jsonl
lookalike search "$store/news.lookalike" --threshold 0.5 --text "$(python -c 'import json; print(json.loads(open("examples/corpus.jsonl", encoding="utf-8").readline())["text"])')"
lookalike check "$store/news.lookalike"
