"""How often the label of a profile is right: on generated documents, and with ``--data`` on news with labels.

    python benchmarks/labels.py [--data FOLDER] [--json OUT]

Half of the documents of each label are examples, the others are tested. Generated: DOCX files of four domains that share words.
Reuters: news with exactly one of the ten most frequent topics.
Chinese news: the ten most frequent sections of the newspaper.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine

from lookalike.files.extracting import extract
from lookalike.files.limits import Limits
from lookalike.profiles.labels import Labels

Examples = list[tuple[str, str]]
LABELS = 10
MOST = 400  # documents of one label
SURE = 0.8
SHARED = ["公司", "日期", "编号", "负责人", "说明", "项目", "部门", "the", "report", "number", "date", "company", "office"]
DOMAINS = {
    "invoice": ["发票", "金额", "税率", "购买方", "销售方", "价税合计", "开户行", "invoice", "amount", "tax", "payer"],
    "contract": ["合同", "甲方", "乙方", "违约金", "争议", "条款", "生效", "contract", "party", "clause", "liability"],
    "curriculum": ["课程", "学分", "必修", "选修", "毕业", "教师", "学期", "course", "credits", "teacher", "semester"],
    "minutes": ["会议", "纪要", "出席", "表决", "决议", "主持", "议题", "meeting", "council", "vote", "resolution"],
}


def generated(count: int = 60) -> Examples:
    import docx

    chance = random.Random(1)
    found = []
    for label, words in DOMAINS.items():
        for _ in range(count):
            document = docx.Document()
            for _ in range(6):
                document.add_paragraph(" ".join(chance.choice(SHARED if chance.random() < 0.6 else words) for _ in range(12)))
            out = io.BytesIO()
            document.save(out)
            found.append((extract(io.BytesIO(out.getvalue()), "a.docx", Limits(), len(out.getvalue()))[0].text, label))
    return found


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def reuters(data: Path) -> Examples:
    return [
        (row["text"], row["topics"][0])
        for row in rows(data / "reuters21578.docs.jsonl.gz")
        if row.get("topics") and len(row["topics"]) == 1
    ]


def news(data: Path) -> Examples:
    named = ((row["text"], re.search(r"\(([^)]+)\)", row.get("page") or "")) for row in rows(data / "news_zh.docs.jsonl.gz"))
    return [(text, section[1]) for text, section in named if section]


def measured(examples: Examples) -> dict[str, Any]:
    chance = random.Random(2)
    frequent = [label for label, _ in Counter(label for _, label in examples).most_common(LABELS)]
    train: Examples = []
    test: Examples = []
    for label in frequent:
        own = [each for each in examples if each[1] == label]
        chance.shuffle(own)
        own = own[:MOST]
        train += own[: len(own) // 2]
        test += own[len(own) // 2 :]
    labels = Labels(train)
    answers = [(labels.of(text), label) for text, label in test]
    sure = [(found, label) for found, label in answers if found.confidence >= SURE]
    return {
        "labels": len(frequent),
        "examples": len(train),
        "tested": len(test),
        "right": round(sum(found.name == label for found, label in answers) / len(test), 3),
        "sure": len(sure),
        "right_where_sure": round(sum(found.name == label for found, label in sure) / max(len(sure), 1), 3),
    }


def run(data: Path | None) -> dict[str, Any]:
    result = machine.describe() | {"generated": measured(generated())}
    if data is not None:
        result |= {"reuters21578": measured(reuters(data)), "news_zh": measured(news(data))}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = run(options.data)
    for name in ("generated", "reuters21578", "news_zh"):
        if name in result:
            print(name, result[name])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
