"""Write src/lookalike/golden.json: what `lookalike selftest` recomputes. Values come from tests/reference.py, the slow
definition of every kernel, and from the published values in tests/golden/published.json; never from the kernels.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import reference  # noqa: E402
import reference_record  # noqa: E402

TEXTS = {
    "english": "The quick brown fox jumps over the lazy dog; the dog does not mind, and the fox does it again.",
    "chinese": "相似的文本会得到相近的指纹。改动一个字，只会影响少数几位；换了顺序，关键词仍然相同。",
    "mixed": "Ｌｏｏｋａｌｉｋｅ 1.0 發布了！Straße, ﬁne, İstanbul, 한국어, カタカナ, สวัสดี, cafe\u0301 — 50% off 😀",
    "one word": "hello",
    "no words": "!?… 😀😀",
}

RECORDS = {
    "file": {
        "domain": "发票",
        "confidence": 0.93,
        "words": ["北京", "增值税", "发票"],
        "schema": {"payer": ["北京某某科技有限公司"], "amount": ["1280.00"], "date": ["2023-12-14"]},
    },
    "types": {"text": "Straße 1", "day": "2024-02-29", "number": -1.5e-7, "zero": 0, "true": True, "null": None, "empty": [], "blank": " "},
    "nested": {"a": {"b": {"c": {"d": {"e": 1}}}}, "items": [{"sku": "x", "count": 2}, [1, 2], 3, "X", "x"]},
    "nothing": {},
}
RECORD_WEIGHTS = {"confidence": 0.5, "schema": 2.0, "zero": 0.0}


def record_vectors() -> list[dict[str, object]]:
    vectors = []
    for name, data in RECORDS.items():
        for weights in ({}, RECORD_WEIGHTS):
            features = reference_record.record_features(data, weights)
            vectors.append(
                {
                    "name": f"{name}, {'weighted' if weights else 'plain'}",
                    "data": data,
                    "weights": weights,
                    "simhash64": f"0x{reference_record.record_simhash(features, 64):016x}",
                    "simhash128": f"0x{reference_record.record_simhash(features, 128):032x}",
                    "minhash": reference_record.record_minhash(features, 16),
                }
            )
    return vectors


def main(out: Path) -> None:
    vectors = []
    for name, text in TEXTS.items():
        for tokenizer in ("auto", "words", "chars", "symbols"):
            shingles = reference.text_shingles(text, tokenizer, 5)
            vectors.append(
                {
                    "name": f"{name}, {tokenizer}",
                    "text": text,
                    "tokenizer": tokenizer,
                    "tokens": [list(token) for token in reference.tokenize(text, tokenizer)],
                    "simhash32": reference.simhash(shingles, 32),
                    "simhash64": f"0x{reference.simhash(shingles, 64):016x}",
                    "simhash128": f"0x{reference.simhash(shingles, 128):032x}",
                    "minhash": reference.minhash(shingles, 16),
                    "winnowing": [shingles[at] for at in reference.winnow(shingles, 4)],
                }
            )
    published = json.loads((ROOT / "tests" / "golden" / "published.json").read_text(encoding="utf-8"))
    keep = ("file_names", "simhash_64_md5", "minhash_128", "karp_rabin", "winnowing", "cosine")
    golden = {"vectors": vectors, "records": record_vectors(), "published": {key: published[key] for key in keep}}
    out.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{out}: {len(vectors)} vectors")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "lookalike" / "golden.json")
