"""Pages by the vectors of their tags: against the design written down slowly, on a tiny model that is loaded as a real one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import lookalike as la
from language_models import CONTEXT
from lookalike.cli import main
from lookalike.embedders.causal import CausalModel, causal_model
from lookalike.pages import representation, text_vectors
from lookalike.pages.representation import match_representations
from lookalike.pages.tag_texts import tag_texts
from lookalike.pages.text_vectors import Cosines
from lookalike.pages.vector_alignment import largest_sum
from reference_representation import Reference

pytestmark = pytest.mark.xdist_group("transformers")  # to import them takes a worker a quarter of a minute

LEFT = (
    "<html><head><title>Tea</title><meta name=a></head><body><h1>Tea</h1><p class='big red'>Green tea from the hills.</p>"
    f"<div><p>{'Long leaves of tea, rolled by hand. ' * 9}</p></div></body></html>"
)
RIGHT = (
    "<html><head><title>Tea 绿茶</title></head><body><h1>Tea</h1><img src=a.png><p class=big>Green tea from the coast.</p>"
    f"<div><p>{'Long leaves of tea, rolled by a machine. ' * 4}</p></div></body></html>"
)


def texts(html: str, part: str, markup: str = "own") -> list[str]:
    return tag_texts(getattr(la.page(html), part), markup)


def at_random(texts: Sequence[str]) -> NDArray[np.float64]:
    """Different texts have nothing in common."""
    return np.array([np.random.default_rng([*text.encode()]).normal(size=50) for text in texts])


@pytest.fixture(scope="module")
def reference(folder: Path) -> Reference:
    return Reference(folder, CONTEXT)


class TestAgainstTheDesign:
    @pytest.mark.parametrize("markup", ["own", "whole"])
    def test_in_order(self, reference: Reference, model: CausalModel, markup: str) -> None:
        head, body = (reference.part(texts(LEFT, part, markup), texts(RIGHT, part, markup)) for part in ("head", "body"))
        found = match_representations(la.page(LEFT), la.page(RIGHT), model=model, align="order", weight=0.25, markup=markup)
        assert found.head.score == pytest.approx(head, abs=1e-5)
        assert found.body.score == pytest.approx(body, abs=1e-5)
        assert found.score == pytest.approx(0.25 * head + 0.75 * body, abs=1e-5)

    def test_every_pair(self, reference: Reference, model: CausalModel) -> None:
        found = match_representations(la.page(LEFT), la.page(RIGHT), model=model)
        left, right = texts(LEFT, "body"), texts(RIGHT, "body")
        wanted = [reference.cosine(left[i], right[k]) for i, k in found.body.pairs]
        assert found.body.similarities == pytest.approx(wanted, abs=1e-5)
        assert len(wanted) > 5

    def test_windows_of_unequal_number(self, folder: Path) -> None:
        short = causal_model(folder, window=5)
        found = match_representations(la.page(LEFT), la.page(RIGHT), model=short, align="order")
        reference = Reference(folder, 5)
        assert found.body.score == pytest.approx(reference.part(texts(LEFT, "body"), texts(RIGHT, "body")), abs=1e-5)
        assert any("longer than 5 tokens" in note for note in found.notes)

    def test_weights(self, model: CausalModel) -> None:
        def score(weight: str | float) -> float:
            return match_representations(la.page(LEFT), la.page(RIGHT), model=model, weight=weight).score

        head, body = score(1.0), score(0.0)
        assert score("equal") == pytest.approx((head + body) / 2)
        counts = [len(la.page(html).head) / len([*la.page(html).head, *la.page(html).body]) for html in (LEFT, RIGHT)]
        assert min(counts) <= (score("tags") - body) / (head - body) <= max(counts)


class TestPairs:
    def test_best_is_never_lower(self, model: CausalModel) -> None:
        for left, right in ((LEFT, RIGHT), (RIGHT, LEFT), ("<p>a<p>b<p>c", "<i>x</i><p>a<p>b<p>c"), ("<p>a", "")):
            pages = la.page(left), la.page(right)
            scores = [match_representations(*pages, model=model, align=align).score for align in ("order", "best")]
            assert scores[0] <= scores[1]

    def test_an_inserted_tag_shifts_nothing(self, model: CausalModel) -> None:
        html = "".join(f"<p id={name}>{name}</p>" for name in ("green", "black", "white", "red"))
        found = match_representations(la.page(html), la.page("<img src=x.png>" + html), model=model)
        assert found.body.new == [0]
        assert found.body.similarities == [1.0] * 8

    def test_both_ways(self, model: CausalModel) -> None:
        there = match_representations(la.page(LEFT), la.page(RIGHT), model=model)
        back = match_representations(la.page(RIGHT), la.page(LEFT), model=model)
        assert there.score == pytest.approx(back.score, abs=1e-6)

    def test_pages_too_large_for_all_pairs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(representation, "MAX_CELLS", 3)
        html = "".join(f"<p id={name}>{name}</p>" for name in ("green", "black", "white", "red"))
        found = match_representations(la.page(html), la.page("<b>new</b>" + html.replace("red", "blue")), model=at_random)
        assert found.body.new[:2] == [0, 1]
        assert any("paired as by method='tags'" in note for note in found.notes)

    @given(st.integers(0, 5), st.integers(0, 5), st.data())
    def test_largest_sum(self, rows: int, columns: int, data: st.DataObject) -> None:
        cells = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
        table = data.draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=rows, max_size=rows))

        @cache
        def best(row: int, column: int) -> float:
            if row == rows or column == columns:
                return 0.0
            return max(best(row + 1, column), best(row, column + 1), table[row][column] + best(row + 1, column + 1))

        pairs = largest_sum(np.array(table, dtype=np.float32).reshape(rows, columns))
        assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
        assert sum(table[row][column] for row, column in pairs) == best(0, 0)


@st.composite
def window_rows(draw: st.DrawFn) -> list[NDArray[np.float32]]:
    seeds = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2**32 - 1)), min_size=1, max_size=5))
    return [np.random.default_rng(seed).normal(size=(windows, 4)).astype(np.float32) for windows, seed in seeds]


class TestCosines:
    @given(window_rows())
    def test_of_padded_rows(self, rows: list[NDArray[np.float32]]) -> None:
        cosines = Cosines(rows)
        size = max(len(each) for each in rows) * 4
        padded = [np.pad(each.ravel().astype(np.float64), (0, size - each.size)) for each in rows]
        every = range(len(rows))
        table = cosines.table(every, every)
        for i in every:
            for k in every:
                wanted = padded[i] @ padded[k] / np.sqrt((padded[i] @ padded[i]) * (padded[k] @ padded[k]))
                assert cosines.of_pair(i, k) == pytest.approx(max(0.0, wanted), abs=1e-9)
                assert table[i, k] == pytest.approx(cosines.of_pair(i, k), abs=1e-5)

    def test_centred_windows(self) -> None:
        rows = [np.array([[3, 1]], dtype=np.float32), np.array([[1, 3]], dtype=np.float32), np.array([[2, 2], [4, 2]], dtype=np.float32)]
        assert Cosines(rows, np.array([2.0, 2.0])).of_pair(0, 1) == 0.0  # opposite, and not below 0
        assert Cosines(rows, np.array([2.0, 2.0])).of_pair(0, 2) == 0.0  # its first window is the centre
        assert Cosines(rows).of_pair(0, 1) == pytest.approx(0.6)

    def test_zeros_are_alike_only_to_themselves(self) -> None:
        cosines = Cosines([np.zeros((1, 3), dtype=np.float32), np.ones((1, 3), dtype=np.float32)])
        assert (cosines.of_pair(0, 0), cosines.of_pair(0, 1)) == (1.0, 0.0)
        assert cosines.table([], [0]).shape == (0, 1)


class Counting:
    """An embedder that says what it was asked."""

    name, version, dimensions = "counting", "1", 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[len(text), text.count("a"), 1] for text in texts], dtype=np.float32)


class TestEmbedders:
    def test_every_text_is_read_once(self) -> None:
        model = Counting()
        page, other = la.page("<p>tea</p>" * 50), la.page("<p>tea</p>" * 20 + "<p>cake</p>")
        match_representations(page, other, model=model)
        assert sorted(model.asked) == ["<p>cake</p>", "<p>tea</p>", "cake", "tea"]
        match_representations(other, page, model=model, align="order")
        assert len(model.asked) == 4

    def test_what_is_remembered_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(text_vectors, "REMEMBERED", 100)
        model = Counting()
        page = la.page("".join(f"<p>{number}</p>" for number in range(40)))
        assert match_representations(page, page, model=model).score == 1.0
        memory = text_vectors._memories[model]
        assert memory._bytes == sum(rows.nbytes + len(text) for text, rows in memory._rows.items()) <= 100

    def test_functions_with_one_name_are_not_confused(self) -> None:
        pages = la.page("<p>tea"), la.page("<p>cake")
        scores = [match_representations(*pages, model=lambda texts, x=x: [[1, x * len(text)] for text in texts]).score for x in (0, 1)]
        assert scores[0] == pytest.approx(1.0)
        assert scores[1] < 1.0

    def test_a_model_that_cannot_be_a_key(self) -> None:
        class Unhashable(Counting):
            __hash__ = None  # type: ignore[assignment]

        assert match_representations(la.page(LEFT), la.page(LEFT), model=Unhashable()).score == 1.0

    def test_the_default_model(self) -> None:
        found = la.compare(la.page(LEFT), la.page(RIGHT), method="representation")
        assert 0.5 < found.score < 1
        assert found.signature["model"].startswith("use-multilingual@")

    def test_a_folder_of_sentence_transformers_has_its_own_pooling(self, folder: Path, tmp_path: Path) -> None:
        import shutil

        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        assert isinstance(representation.opened(tmp_path), CausalModel)
        (tmp_path / "modules.json").write_text("[]")
        with pytest.raises(la.InputError, match="sentence-transformers"):
            representation.opened(tmp_path)

    def test_wrong_vectors(self) -> None:
        with pytest.raises(la.InputError, match="2 texts"):
            match_representations(la.page("<p>a"), la.page("<p>a"), model=lambda texts: [[1.0]])


class TestCentre:
    def test_of_both_pages(self, model: CausalModel) -> None:
        pages = la.page(LEFT), la.page(RIGHT)
        found = match_representations(*pages, model=model, centre="pages", align="order")
        every = sorted({text for html in (LEFT, RIGHT) for part in ("head", "body") for text in texts(html, part)})
        rows = model.window_vectors(every)
        centred = dict(zip(every, (row - np.concatenate(rows).mean(axis=0) for row in rows), strict=True))
        wanted = []
        for a, b in zip(texts(LEFT, "body"), texts(RIGHT, "body"), strict=False):
            size = max(centred[a].size, centred[b].size)
            x, y = (np.pad(centred[text].ravel(), (0, size - centred[text].size)) for text in (a, b))
            wanted.append(max(0.0, x @ y / np.sqrt((x @ x) * (y @ y))))
        assert found.body.similarities == pytest.approx(wanted, abs=1e-4)

    def test_of_other_pages(self, model: CausalModel) -> None:
        pages = la.page(LEFT), la.page(RIGHT)
        given_pages = match_representations(*pages, model=model, centre=list(pages))
        assert given_pages.score == match_representations(*pages, model=model, centre="pages").score
        assert match_representations(*pages, model=model, centre=[la.page("<b>x")]).score != given_pages.score

    def test_nothing_to_take_the_mean_of(self, model: CausalModel) -> None:
        empty = la.page("")
        assert match_representations(empty, empty, model=model, centre="pages").score == 1.0
        plain = match_representations(la.page(LEFT), la.page(RIGHT), model=model)
        assert match_representations(la.page(LEFT), la.page(RIGHT), model=model, centre=[empty]).score == plain.score

    @pytest.mark.parametrize("centre", ["both", 3, ["<p>html"]], ids=str)
    def test_wrong(self, model: CausalModel, centre: Any) -> None:
        with pytest.raises(la.InputError, match="centre"):
            match_representations(la.page(LEFT), la.page(RIGHT), model=model, centre=centre)


class TestTexts:
    def test_own(self) -> None:
        html = "<div id='a&quot;b' class='x  y'>one &amp;\n two<p>three &lt; four</p><img src=a.png></div><p><b>inner</b></p>"
        assert texts(html, "body") == [
            '<div id="a&quot;b" class="x y">', "one & two", "<p>three &lt; four</p>", "three < four", '<img src="a.png">',
            "<p>inner</p>", "<b>inner</b>", "inner",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "html",
        [
            "<div class='x y' id='a'>one &amp; two<p>three &lt; four</p><img src='a.png'></div><p><b>inner</b></p>",
            "<ul><li>a</li><li><i>b</i>c</li></ul><br><table><tbody><tr><td>d</td></tr></tbody></table>",
        ],
        ids=["inline", "nested"],
    )
    def test_whole_is_what_beautiful_soup_writes(self, html: str) -> None:
        soup = BeautifulSoup(f"<html><head></head><body>{html}</body></html>", "html.parser")
        assert soup.body is not None
        wanted = [
            node.decode(formatter="minimal") if hasattr(node, "decode") else node.output_ready("minimal") for node in soup.body.descendants
        ]
        assert texts(html, "body", "whole") == [text.replace("/>", ">") for text in wanted]

    def test_whole_is_bounded(self) -> None:
        with pytest.raises(la.InputError, match="markup='own'"):
            texts("<div>" * 400 + "x" * 100_000, "body", "whole")


class TestCompare:
    def test_empty_pages(self, model: CausalModel) -> None:
        empty, page = la.page(""), la.page("<p>tea")
        assert la.compare(empty, empty, method="representation", model=model).score == 1.0
        assert la.compare(empty, page, method="representation", model=model).tags.body.score == 0.0

    def test_result(self, folder: Path, model: CausalModel) -> None:
        found = la.compare(la.page(LEFT), la.page(RIGHT), method="representation", model=folder, centre="pages")
        assert found.signature["score"] == "representation-1"
        assert found.signature["model"] == f"codegen@{model.version}"
        assert found.signature["centre"] == "pages"
        assert found.measures == {"representation": found.score}
        assert json.loads(json.dumps(found.to_dict()))["tags"]["body"]["score"] == found.tags.body.score
        page = found.to_html(names=("left", "right"))
        assert "Green tea from the coast." in page
        assert 'title="similarity 0.' in page
        assert any("longer than 32 tokens" in note for note in found.notes)

    def test_a_folder_is_loaded_once_and_again_when_it_changes(self, folder: Path, tmp_path: Path) -> None:
        import shutil

        import language_models

        mine = Path(shutil.copytree(folder, tmp_path / "model"))
        pages = la.page(LEFT), la.page(RIGHT)
        first = la.compare(*pages, method="representation", model=str(mine))
        assert representation.opened(mine) is representation.opened(str(mine))
        language_models.save_codegen(mine, seed=8)
        second = la.compare(*pages, method="representation", model=str(mine))
        assert first.score != second.score
        assert first.signature != second.signature

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "tags", "model": "x"}, "model: belongs to method='representation'"),
            ({"method": "all", "centre": "pages"}, "centre: belongs to method='representation'"),
            ({"method": "representation", "strings": "lexical"}, "strings: belongs to method='tags'"),
            ({"method": "representation", "align": "x"}, "align='x'"),
            ({"method": "representation", "weight": 2}, "weight=2"),
            ({"method": "representation", "model": "org/codegen"}, "'hub:org/codegen'"),
            ({"method": "representation", "model": 5}, "model=5"),
        ],
        ids=["model", "centre", "strings", "align", "weight", "hub", "number"],
    )
    def test_wrong_arguments(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(la.InputError, match=message):
            la.compare(la.page("<p>x"), la.page("<p>x"), **options)

    def test_wrong_markup(self) -> None:
        with pytest.raises(la.InputError, match="markup='text'"):
            match_representations(la.page(""), la.page(""), markup="text")

    def test_unknown_name(self) -> None:
        with pytest.raises(la.UnknownName, match="use-multilingual"):
            la.compare(la.page("<p>x"), la.page("<p>x"), method="representation", model="nothing-of-that-name")


class TestCommandLine:
    @pytest.fixture
    def pages(self, tmp_path: Path) -> list[str]:
        for name, html in (("a.html", LEFT), ("b.html", RIGHT)):
            (tmp_path / name).write_text(html, encoding="utf-8")
        return [str(tmp_path / "a.html"), str(tmp_path / "b.html"), "--as", "page", "--method", "representation"]

    def test_json(self, pages: list[str], folder: Path, model: CausalModel, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *pages, "--model", str(folder), "--centre", "--align", "order", "--json"])
        assert ended.value.code == 1
        wanted = match_representations(la.page(LEFT), la.page(RIGHT), model=model, centre="pages", align="order")
        shown = capsys.readouterr()
        assert json.loads(shown.out)["score"] == pytest.approx(wanted.score, abs=1e-4)
        assert shown.err == ""  # no bars and no reports of the library

    def test_errors_are_one_line(self, pages: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *pages, "--model", str(tmp_path)])
        assert ended.value.code == 2
        shown = capsys.readouterr()
        assert "config.json" in shown.err
        assert shown.err.count("\n") == 1
