"""Slow and obvious: maximum matching, keyword ranking, IDF, a SimHash of weighted words, and sentences to try them on."""

# ruff: noqa: SIM905
from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

CHINESE = (
    "我 我们 他 她 你 老师 学生 同学 朋友 孩子 妈妈 爸爸 工程师 科学家 记者 医生 北京 上海 南京市 长江大桥 "
    "图书馆 天安门 首都 公司 大学 研究所 办公室 今天 昨天 明天 早上 晚上 春天 秋天 去年 星期天 已经 正在 常常 终于 "
    "突然 非常 十分 不 没有 很 都 也 的 地 得 了 着 过 在 从 对 把 被 和 "
    "与 喜欢 研究 学习 发现 提出 修改 比较 计算 下载 打开 阅读 写 看 说 走 跑 吃 喝 买 "
    "卖 帮助 认为 希望 开始 结束 生命 起源 文本 相似度 算法 距离 向量 数据库 文章 新闻 报告 机器学习 人工智能 神经网络 "
    "指纹 关键词 汉字 分词 苹果 西瓜 咖啡 茶 米饭 面条 电影 音乐 足球 自行车 火车站 飞机 天气 下雨 美丽 快乐 "
    "认真 重要 复杂 简单 巨大 新 旧 好 坏 一个 两本 三次 第一 许多 大部分 研究生命 结婚 和尚 未结婚 的和 "
    "乒乓球 拍卖 完了 中国 人民 银行 "
).split()
MARKS = [*"，。！？、：；“”（）《》…—· \n\t\u3000", "\r\n"]
LATIN = "Python iPhone abc X 3.14 50% 2024 12 C++ AT&T B超 T恤 foo-bar foo_bar a.b e-mail v1.2.3 - _ .".split()


def sentences(seed: int, count: int, vocabulary: Sequence[str], longest: int = 25) -> list[str]:
    chooser = random.Random(seed)
    return ["".join(chooser.choices(vocabulary, k=chooser.randint(1, longest))) for _ in range(count)]


def atoms(text: str) -> list[tuple[int, int]]:
    """Runs of ASCII letters and digits, and every other character; white space is left out."""
    found: list[tuple[int, int]] = []
    for position, character in enumerate(text):
        if character.isspace():
            continue
        joins = found and found[-1][1] == position and _ascii_word(character) and _ascii_word(text[position - 1])
        if joins:
            found[-1] = (found[-1][0], position + 1)
        else:
            found.append((position, position + 1))
    return found


def _ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def forward(text: str, words: set[str]) -> list[tuple[int, int]]:
    """At every atom the longest chain of atoms that is a word, from the left."""
    spans: list[tuple[int, int]] = []
    rest = atoms(text)
    while rest:
        taken = max((n for n in range(1, len(rest) + 1) if _chain(text, rest[:n]) in words), default=1)
        spans.append((rest[0][0], rest[taken - 1][1]))
        rest = rest[taken:]
    return spans


def backward(text: str, words: set[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    rest = atoms(text)
    while rest:
        taken = max((n for n in range(1, len(rest) + 1) if _chain(text, rest[-n:]) in words), default=1)
        spans.insert(0, (rest[-taken][0], rest[-1][1]))
        rest = rest[:-taken]
    return spans


def _chain(text: str, chain: list[tuple[int, int]]) -> str:
    return text[chain[0][0] : chain[-1][1]]


def rank(words: Iterable[str], top: int, idf: Mapping[str, float] | None, default: float, stop: set[str]) -> list[tuple[str, float]]:
    kept = [word for word in words if word not in stop and any(character.isalnum() for character in word)]
    weighed = []
    for word in set(kept):
        count = kept.count(word)
        weighed.append((word, float(count) if idf is None else count * (idf.get(word, default) / len(kept))))
    weighed.sort(key=lambda pair: pair[0])
    weighed.sort(key=lambda pair: pair[1], reverse=True)  # stable: equal weights stay in the order of the words
    return weighed[:top]


def smooth_idf(documents: list[list[str]]) -> dict[str, float]:
    vocabulary = {word for document in documents for word in document}
    return {word: math.log((1 + len(documents)) / (1 + sum(word in document for document in documents))) + 1 for word in vocabulary}


def simhash(weighted: Iterable[tuple[str, float]]) -> int:
    """64 bits: each the sign of a weighted vote of the words' hashes."""
    votes = [0.0] * 64
    for word, weight in weighted:
        value = int.from_bytes(hashlib.md5(word.encode()).digest()[:8])
        for bit in range(64):
            votes[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)


def shortest_paths(text: str, frequencies: dict[str, int], paths: int) -> list[tuple[int, int]]:
    """N-shortest paths by trying all: of all ways to cut each run without white space, as ``lookalike.text.shortest_paths`` defines it."""
    total = math.log(sum(frequencies.values()) + 1)

    def cost(word: str) -> int:
        return round((1 << 20) * (total - math.log(frequencies.get(word, 0.5))))

    def ways(atoms: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        if not atoms:
            yield []
        for count in range(1, len(atoms) + 1):
            span = atoms[0][0], atoms[count - 1][1]
            if count == 1 or text[slice(*span)] in frequencies:
                for rest in ways(atoms[count:]):
                    yield [span, *rest]

    found: list[tuple[int, int]] = []
    for run in re.finditer(r"\S+", text):
        atoms = [(run.start() + atom.start(), run.start() + atom.end()) for atom in re.finditer(r"[A-Za-z0-9]+|.", run[0], re.DOTALL)]
        all_ways = list(ways(atoms))
        counts = sorted({len(way) for way in all_ways})[:paths]
        best = min(
            (way for way in all_ways if len(way) in counts),
            key=lambda way: (sum(cost(text[slice(*span)]) for span in way), len(way), [start - end for start, end in way]),
        )
        found += best
    return found


def text_rank(words: Sequence[str | None]) -> dict[str, float]:
    """TextRank with one list of edges: each pair of words that stand fewer than five places apart, in both directions."""
    edges = [(one, other) for at, one in enumerate(words) for other in words[at + 1 : at + 5] if one is not None and other is not None]
    edges += [(other, one) for one, other in edges]
    nodes = sorted({one for one, _ in edges})
    ranks = {node: 1 / len(nodes) for node in nodes}
    for _ in range(10):
        for node in nodes:
            given = sum(ranks[other] / sum(start == other for start, _ in edges) for start, other in edges if start == node)
            ranks[node] = 0.15 + 0.85 * given
    least, most = min(ranks.values(), default=0) / 10, max(ranks.values(), default=1)
    return {node: (rank - least) / (most - least) for node, rank in ranks.items()}
