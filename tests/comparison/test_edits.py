"""Edits: shares that add up, spans that cover both texts, and what the words kept, moved and reworded promise."""

from __future__ import annotations

import gc
import random
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.edits import Edits, Segment, edits

WORDS = [
    "the",
    "a",
    ",",
    ".",
    "指",
    "纹",
    "ﬁne",
    "FINE",
    "straße",
    "x\u00ady",
    "😀",
    "é",
    "e\u0301",
    "漢",
    "\ud800",
    "of",
    "near-duplicate",
    "42",
]
PHRASE = "every shared run of tokens stands in both texts"
pieces = st.lists(st.sampled_from([*WORDS, PHRASE]), max_size=40)
any_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@st.composite
def edited_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same text after a few cuts, moves and insertions."""
    before = draw(pieces)
    after = list(before)
    for _ in range(draw(st.integers(0, 4))):
        start, length, to = (draw(st.integers(0, 40)) for _ in range(3))
        cut = after[start : start + length]
        after[start : start + length] = draw(st.lists(st.sampled_from(WORDS), max_size=4))
        if draw(st.booleans()):
            after[to:to] = cut
    space = draw(st.sampled_from([" ", "\n", "\u3000", "  "]))
    return " ".join(before), space.join(after)


pairs = st.one_of(edited_pairs(), st.tuples(any_text, any_text))


def is_counted(char: str) -> bool:
    """Letters, digits, punctuation and symbols; not what folds to nothing or to a space with a mark, such as a lone accent."""
    folded = la.fold(char)
    return unicodedata.category(char)[0] in "LNPS" and bool(folded) and not any(part.isspace() for part in folded)


def covered(text: str, segments: Sequence[Segment]) -> list[int]:
    times = [0] * len(text)
    for segment in segments:
        for place in range(*segment.span):
            times[place] += 1
    return times


def bare(text: str) -> str:
    return "".join(la.fold(text).split())


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_shares_add_up(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    assert found.kept + found.moved + found.reworded + found.deleted == pytest.approx(1.0 if found.left or not found.right else 0.0)
    assert all(0 <= share <= 1 for share in found.to_dict().values())
    assert (found.inserted > 0) == any(segment.kind == "inserted" for segment in found.right)


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_spans_cover_every_counted_character_once(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    for text, segments in zip(pair, (found.left, found.right), strict=True):
        times = covered(text, segments)
        assert set(times) <= {0, 1}
        assert all(times[place] or not is_counted(char) for place, char in enumerate(text) if not char.isspace())
        assert [segment.span for segment in segments] == sorted(segment.span for segment in segments)


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_kept_and_moved_spans_slice_to_equal_text(pair: tuple[str, str]) -> None:
    left, right = pair
    found = edits(left, right)
    for mine, theirs, segments in ((left, right, found.left), (right, left, found.right)):
        for segment in segments:
            if segment.kind in ("kept", "moved"):
                assert segment.partner is not None
                assert bare(mine[slice(*segment.span)]) == bare(theirs[slice(*segment.partner)])


@given(pairs)
@settings(max_examples=300, deadline=None)
def test_partners_point_at_each_other(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    for kind in ("kept", "moved"):
        there = {(segment.partner, segment.span) for segment in found.right if segment.kind == kind}
        assert {(segment.span, segment.partner) for segment in found.left if segment.kind == kind} == there
    starts = {segment.span[0] for segment in found.right if segment.kind == "reworded"}
    assert {segment.partner[0] for segment in found.left if segment.kind == "reworded" and segment.partner} == starts & {
        segment.partner[0] for segment in found.left if segment.kind == "reworded" and segment.partner
    }
    assert all(segment.partner is None for segment in (*found.left, *found.right) if segment.kind in ("deleted", "inserted"))


@given(pairs)
@settings(max_examples=200, deadline=None)
def test_kept_runs_stand_in_the_same_order(pair: tuple[str, str]) -> None:
    found = edits(*pair)
    partners = [segment.partner for segment in found.left if segment.kind == "kept"]
    assert partners == [segment.span for segment in found.right if segment.kind == "kept"]


@given(pairs.map(lambda pair: pair[0]))
@settings(max_examples=150, deadline=None)
def test_a_text_keeps_itself(text: str) -> None:
    found = edits(text, text)
    assert (found.kept, found.deleted, found.inserted, found.moved, found.reworded) == (1.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", {"kept": 1.0}),
        ("  \n", "\u3000", {"kept": 1.0}),
        ("", "new text", {"inserted": 1.0}),
        ("old text", "", {"deleted": 1.0}),
        ("\x00\u200b", "", {"kept": 1.0}),
        ("ＦＵＬＬ　width", "full width", {"kept": 1.0}),
        ("one two", "three four", {"deleted": 1.0, "inserted": 1.0}),
        ("one two", "one too", {"kept": 0.5, "reworded": 0.5}),
    ],
)
def test_edges(left: str, right: str, expected: dict[str, float]) -> None:
    assert {name: share for name, share in edits(left, right).to_dict().items() if share} == expected


def chinese(length: int, seed: int = 1) -> str:
    generator = random.Random(seed)
    return "".join(chr(generator.randint(0x4E00, 0x9FA5)) for _ in range(length))


@pytest.mark.parametrize("place", [0, 1, 149, 298, 299])
def test_one_changed_character_in_300_leaves_99_percent(place: int) -> None:
    text = chinese(300)
    changed = text[:place] + "〇" + text[place + 1 :]
    found = edits(text, changed)
    assert found.kept >= 0.99
    assert found.reworded == pytest.approx(1 / 300)


def paragraphs() -> list[str]:
    generator = random.Random(7)
    words = [f"{a}{b}" for a in ("read", "write", "print", "match", "text") for b in ("er", "s", "ing", "able", "")] + ["the", "of", "and"]
    return [" ".join(generator.choices(words, k=40)).capitalize() + "." for _ in range(6)]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("source", "target"), [(0, 5), (5, 0), (1, 3), (4, 2)])
def test_a_moved_paragraph_is_moved(language: str, source: int, target: int) -> None:
    before = paragraphs() if language == "en" else [chinese(80, seed) for seed in range(6)]
    after = list(before)
    after.insert(target, after.pop(source))
    left, right = "\n\n".join(before), "\n\n".join(after)
    found = edits(left, right)
    assert found.deleted == found.inserted == found.reworded == 0
    moved = [left[slice(*segment.span)] for segment in found.left if segment.kind == "moved"]
    assert moved == [before[source]]


def test_a_move_is_whole_although_chance_words_agree_on_its_way() -> None:
    one, moved, two, replaced, three = paragraphs()[:5]
    left, right = "\n".join((one, moved, two, replaced, three)), "\n".join((one, two, f"{chinese(30)} {replaced[:60]}", moved, three))
    found = edits(left, right)
    spans = [segment.span for segment in found.left if segment.kind == "moved"]
    assert any(moved.rstrip(".") in left[slice(*span)] for span in spans)


def summary(found: Edits) -> dict[str, float]:
    return {name: round(share, 2) for name, share in found.to_dict().items() if round(share, 2)}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("ab" * 500_000, "ba" * 500_000, {"deleted": 1.0, "inserted": 1.0}),  # one word each
        ("ab " * 300_000, "ba " * 300_000, {"deleted": 1.0, "inserted": 1.0}),
        ("a b " * 250_000, "b a " * 250_000, {"kept": 1.0}),
        ("你好" * 250_000, "好你" * 250_000, {"kept": 1.0}),
        ("a" * 1_000_000, "a" * 999_999, {"deleted": 1.0, "inserted": 1.0}),
        ("的" * 1_000_000, "的" * 900_000, {"kept": 0.9, "deleted": 0.1}),
        ("的" * 300_000 + "人" + "的" * 300_000, "的" * 600_000 + "大" + "的" * 1_000, {"kept": 1.0}),
    ],
)
def test_repetitive_texts(left: str, right: str, expected: dict[str, float]) -> None:
    assert summary(edits(left, right)) == expected


def test_ten_megabytes_a_side() -> None:
    generator = random.Random(5)
    vocabulary = [f"{word}{number}" for word in ("alpha", "beta", "gamma", "delta") for number in range(5_000)]
    before = generator.choices(vocabulary, k=1_100_000)
    after = list(before)
    for place in range(500, len(after), 1_000):
        after[place] = "changed"
    after = after[:200_000] + after[300_000:] + after[200_000:300_000]
    left, right = " ".join(before), " ".join(after)
    assert min(len(left), len(right)) > 10_000_000
    found = edits(left, right)
    assert found.reworded == pytest.approx(0.001, rel=0.2)
    assert found.moved == pytest.approx(1 / 11, rel=0.05)
    assert found.kept == pytest.approx(10 / 11, rel=0.01)


def test_many_moves_take_no_quadratic_time() -> None:
    generator = random.Random(6)
    lines = [" ".join(f"{generator.getrandbits(40):x}" for _ in range(6)) for _ in range(40_000)]
    shuffled = generator.sample(lines, len(lines))
    found = edits("\n".join(lines), "\n".join(shuffled))
    assert found.kept + found.moved > 0.99
    assert found.moved > 0.9


def test_segments_for_json() -> None:
    left, right = "one two three four five", "one two tree four five six"
    found = la.compare(left, right).to_dict()["segments"]
    assert [(each["kind"], left[slice(*each["span"])]) for each in found["left"]] == [
        ("kept", "one two"),
        ("reworded", "three"),
        ("kept", "four five"),
    ]
    assert [(each["kind"], right[slice(*each["span"])], each["partner"]) for each in found["right"]][-1] == ("inserted", "six", None)
    assert right[slice(*found["left"][1]["partner"])] == "tree"


PACKING = ["tent", "sleeping bag", "stove", "water filter", "map", "first aid kit", "rope", "head lamp"]
PACKING_ZH = ["帐篷", "睡袋", "手电筒", "水壶", "雨衣", "地图", "急救包", "米"]
ORDERS = [[1, 0, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [2, 6, 0, 7, 4, 1, 5, 3], [4, 5, 6, 7, 0, 1, 2, 3]]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("items", "before", "between", "last", "after"),
    [
        (PACKING, "Packing list\n", "\n", "\n", ""),
        (PACKING, "Packing list:\n- ", "\n- ", "\n- ", "\n"),
        (PACKING, "You need: ", ", ", " and ", "."),
        ([f"a {item}" for item in PACKING], "Please pack ", ", ", " and ", "."),
        (PACKING_ZH, "请带上：", "、", "、", "。"),
        (PACKING_ZH, "请带上：", "、", "和", "。"),
        (PACKING_ZH, "", "\n", "\n", ""),
    ],
)
def test_a_reordered_list_is_moved(order: list[int], items: list[str], before: str, between: str, last: str, after: str) -> None:
    left, right = (f"{before}{between.join(shown[:-1])}{last}{shown[-1]}{after}" for shown in (items, [items[place] for place in order]))
    found = edits(left, right)
    assert found.deleted == found.inserted == found.reworded == 0
    assert found.moved > 0


@given(st.permutations(range(12)), st.sampled_from(["\n", ", ", "；", "、", ". "]), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_nothing_of_a_shuffled_list_is_deleted(order: list[int], between: str, words: int) -> None:
    items = [" ".join(f"{chr(97 + place)}{word}x" for word in range(words)) for place in range(12)]
    found = edits(between.join(items), between.join(items[place] for place in order))
    assert found.deleted == found.inserted == 0
    assert found.kept + found.moved == pytest.approx(1)


@pytest.mark.parametrize(
    ("left", "right", "moved"),
    [
        ("1. Open the lid.\n2. Pour the water in.\n3. Wait.", "1. Pour the water in.\n2. Open the lid.\n3. Wait.", "Open the lid."),
        ("如果天气允许，我们下周去爬山，并且在山顶野餐。", "我们下周去爬山，并且在山顶野餐，如果天气允许。", "如果天气允许"),
        ("If it is dry, we climb the hill next week.", "We climb the hill next week if it is dry.", "If it is dry"),
        ("甲方应当在三日内向乙方付款。", "乙方应当在三日内向甲方付款。", "甲"),
        ("Version 12 costs 34", "Version 34 costs 12", "12"),
    ],
)
def test_clauses_and_swapped_words_are_moved(left: str, right: str, moved: str) -> None:
    found = edits(left, right)
    assert found.reworded == 0
    assert moved in [left[slice(*segment.span)] for segment in found.left if segment.kind == "moved"]


EDITED_MOVES = [
    (
        "The committee will meet on Tuesday in the large hall.",
        "The committee will meet on Thursday in the small hall.",
        "All members bring their badges. Coffee is served at ten. The treasurer reads the annual report.",
        {("Tuesday", "Thursday"), ("large", "small")},
    ),
    (
        "委员会将于周二在大礼堂召开会议。",
        "委员会将于周四在小礼堂召开会议。",
        "全体成员请携带证件。上午十点供应咖啡。财务主管宣读年度报告。",
        {("二", "四"), ("大", "小")},
    ),
]


@pytest.mark.parametrize(("before", "after", "rest", "words"), EDITED_MOVES)
@pytest.mark.parametrize("up", [False, True])
def test_an_edited_sentence_that_was_moved_is_moved(before: str, after: str, rest: str, words: set[tuple[str, str]], up: bool) -> None:
    left, right = (f"{rest} {before}", f"{after} {rest}") if up else (f"{before} {rest}", f"{rest} {after}")
    found = edits(left, right)
    assert found.deleted == found.inserted == 0
    reworded = [segment for segment in found.left if segment.kind == "reworded"]
    assert {(left[slice(*segment.span)], right[slice(*segment.partner)]) for segment in reworded if segment.partner} == words
    assert found.kept * sum(not char.isspace() for char in left) == pytest.approx(sum(not char.isspace() for char in rest))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            "Our bakery uses flour from three local mills. The bread is baked twice a day, early.",
            "The market hall closes at six on Saturdays until the roof has been repaired by then.",
        ),
        ("面包房使用本地三家磨坊的面粉，每天烘焙两次。", "周六市场大厅六点关门，直到屋顶修好为止，谢谢。"),
        ("short words", "other terms"),
    ],
)
def test_other_text_in_the_same_place_is_not_reworded(left: str, right: str) -> None:
    found = edits(left, right)
    assert found.reworded == 0
    assert found.deleted > 0.9
    assert found.inserted > 0.9


def test_all_that_was_replaced_in_a_sentence_is_treated_alike() -> None:
    left = "The big house near the river was sold in May to a young family from the city."
    right = "The extraordinarily large house near the lake was sold in May to an old man from the city."
    found = edits(left, right)
    assert [left[slice(*segment.span)] for segment in found.left if segment.kind == "reworded"] == ["big", "river", "a young family"]
    assert found.deleted == found.inserted == 0


def test_what_was_added() -> None:
    assert edits("one two three", "one two three four five").added == pytest.approx(8 / 11)
    assert edits("one two three", "one two").added == 0
    longer = edits("We met at the big house by the river.", "We met at the extraordinarily large house by the river.")
    assert longer.inserted == 0
    assert longer.added == pytest.approx((len("extraordinarilylarge") - len("big")) / len("Wemetatthebighousebytheriver."))


def shuffled(items: Sequence[str], between: str) -> tuple[str, str]:
    return between.join(items), between.join(random.Random(9).sample(items, len(items)))


@pytest.mark.parametrize(
    ("left", "right", "least"),
    [
        (*shuffled([f"item{number}" for number in range(10_000)], "\n"), {"moved": 0.99}),
        (*shuffled([f"no {number}" for number in range(10_000)], ", "), {"moved": 0.9}),
        ("the same line again and again\n" * 35_000, "the same line again and again\n" * 30_000, {"kept": 0.85}),
        ("the same line again and again\n" * 35_000, "again line and same the again\n" * 35_000, {"deleted": 0.9}),
        (", ".join("x" * 20_000), "; ".join("x" * 20_000), {"kept": 0.4}),
    ],
)
def test_long_lists_and_repeated_lines(left: str, right: str, least: dict[str, float]) -> None:
    found = edits(left, right).to_dict()
    assert all(found[kind] >= share for kind, share in least.items())


@pytest.mark.parametrize("collecting", [True, False])
def test_segments_are_made_while_nobody_looks_for_garbage(collecting: bool) -> None:
    left = " ".join(f"w{i} x{i} y{i}" for i in range(4_000))
    right = " ".join(f"w{i} z{i} y{i}" for i in range(4_000))
    collections: list[str] = []

    def count(phase: str, _: dict[str, int]) -> None:
        collections.append(phase)

    gc.callbacks.append(count)
    (gc.enable if collecting else gc.disable)()
    try:
        found = edits(left, right)
        assert gc.isenabled() == collecting
    finally:
        gc.callbacks.remove(count)
        gc.enable()
    assert len(found.left) == 8_001  # one for each changed word, and what lies between
    assert collections.count("start") < 10
