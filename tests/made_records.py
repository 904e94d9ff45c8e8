"""Made-up records as a document-management team has them, and changed copies of them."""

from __future__ import annotations

import random
from typing import Any

WORDS = [
    "invoice",
    "contract",
    "report",
    "payment",
    "supplier",
    "annual",
    "budget",
    "meeting",
    "minutes",
    "project",
    "proposal",
    "发票",
    "合同",
    "报告",
    "增值税",
    "普通",
    "电子",
    "培养",
    "方案",
    "学院",
    "计算机",
    "工程",
    "福建",
    "北京",
    "上海",
    "财务",
    "年度",
    "预算",
    "会议",
    "纪要",
    "项目",
]
PARTIES = [
    "Globex Corporation",
    "Initech GmbH",
    "北京某某科技有限公司",
    "上海贸易公司",
    "福建工程学院",
    "Wayne Enterprises",
    "Stark Industries",
    "张三",
    "李四",
    "Umbrella Corp",
]
DOMAINS = ("invoice", "contract", "report", "minutes", "curriculum", "发票", "合同")
KEYS = ("payer", "payee", "amount", "date")


def made_record(chance: random.Random) -> dict[str, Any]:
    return {
        "domain": chance.choice(DOMAINS),
        "confidence": round(chance.uniform(0.5, 1), 2),
        "words": set(chance.sample(WORDS, chance.randint(3, 9))),
        "schema": {key: [_value(key, chance)] for key in chance.sample(KEYS, chance.randint(2, 4))},
        "title": " ".join(chance.sample(WORDS, chance.randint(3, 8))),
        "pages": chance.randint(1, 60),
    }


def _value(key: str, chance: random.Random) -> str:
    if key == "amount":
        return f"{chance.randint(100, 9999)}.{chance.randint(0, 99):02d}"
    if key == "date":
        return f"20{chance.randint(10, 26)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
    return chance.choice(PARTIES)


def changed(record: dict[str, Any], chance: random.Random, changes: int) -> dict[str, Any]:
    """A copy with so many changes, some of which may change nothing."""
    copy = {**record, "words": set(record["words"]), "schema": dict(record["schema"])}
    for _ in range(changes):
        what = chance.randrange(7)
        if what == 0:
            copy["confidence"] = round(min(1, max(0.01, copy["confidence"] + chance.uniform(-0.1, 0.1))), 2)
        elif what == 1 and copy["words"]:
            copy["words"].discard(chance.choice(sorted(copy["words"])))
        elif what == 2:
            copy["words"].add(chance.choice(WORDS))
        elif what == 3:
            words = copy["title"].split()
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            copy["title"] = " ".join(words)
        elif what == 4:
            copy["pages"] = max(1, copy["pages"] + chance.randint(-3, 3))
        elif what == 5:
            copy["schema"][chance.choice(KEYS)] = [chance.choice(PARTIES)]
        else:
            copy["domain"] = chance.choice(DOMAINS)
    return copy


def made_pairs(count: int, seed: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Most of them a record and a changed copy, the others two records that have nothing to do with each other."""
    chance = random.Random(seed)
    pairs = []
    for _ in range(count):
        one = made_record(chance)
        other = changed(one, chance, chance.choice((0, 1, 1, 2, 3, 5, 8))) if chance.random() < 0.8 else made_record(chance)
        pairs.append((one, other))
    return pairs


def blended(one: dict[str, Any], two: dict[str, Any], share: float, chance: random.Random) -> dict[str, Any]:
    """A real record of which about so much is exchanged for what another has: fields, and elements of lists."""
    made: dict[str, Any] = {}
    for name in sorted(one.keys() | two.keys()):
        values = [each[name] for each in (one, two) if name in each]
        if len(values) == 2 and all(isinstance(value, list) for value in values):
            made[name] = [value for value in values[0] if chance.random() >= share] + [
                value for value in values[1] if chance.random() < share
            ]
        elif (value := (two if chance.random() < share else one).get(name)) is not None:
            made[name] = value
    return made
