"""The page of a comparison: everything on it, nothing that acts, and every limit stated."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison import html_report, side_by_side
from lookalike.comparison.explaining import about
from lookalike.figures import shown_score
from lookalike.reports.escaping import columns, escaped, printable

VOID = {"meta", "link", "br", "img", "rect"}
HOSTILE = (
    "</script><script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> & &amp; ' \" \x00 \x1b[31m \ud800 "
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b <!-- ]]> --> </div></body> javascript:alert(1) \udfff end\r\nnext\rlast"
)


class Page(HTMLParser):
    """A page as a list of elements, with the text of the left and the right cells. Every tag must be closed in its order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.cells = {"l": "", "r": ""}
        self.text = ""
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        classes = [attributes.get("class") or "" for _, attributes in self.open]
        for side in "lr":
            if side in classes and "row head" not in classes:
                self.cells[side] += data

    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]


def shown(text: str) -> str:
    """What a cell should hold for a text."""
    return Page(f"<p>{escaped(text)}</p>").text


words = st.lists(
    st.sampled_from(["the", "fox", "狐", "。", ",", "\n", "\n\n", "<b>", "&lt;", '"', "\u202e", "\x00", "\ud800"]), max_size=40
)
texts = st.one_of(words.map(" ".join), st.text(alphabet=st.characters(exclude_categories=()), max_size=40))


@given(texts, texts, st.lists(texts, max_size=1))
@settings(max_examples=150, deadline=None)
def test_the_page_shows_both_texts_whole(left: str, right: str, ignore: list[str]) -> None:
    page = Page(la.compare(left, right, measures=["jaccard"], ignore=ignore).to_html())
    assert page.cells == {"l": shown(left), "r": shown(right)}
    assert len(page.ids()) == len(set(page.ids()))


@given(texts)
@settings(max_examples=40, deadline=None)
def test_long_texts_are_whole_with_their_folds(piece: str) -> None:
    left = " ".join(f"{piece} {number}" for number in range(200))
    right = left.replace("99", f"{piece} inserted {piece}")
    page = Page(la.compare(left, right, measures=[]).to_html())
    assert page.cells == {"l": shown(left), "r": shown(right)}


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
@settings(max_examples=300, deadline=None)
def test_escaped_text_holds_no_markup_and_nothing_hidden(text: str) -> None:
    source = escaped(text)
    assert re.fullmatch(r'(?:[^<>"\']|<span class="code">U\+[0-9A-F]{4,6}</span>)*', source)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]", source)
    source.encode("utf-8")


def test_hostile_text_and_names_are_escaped() -> None:
    source = la.compare(HOSTILE, HOSTILE.replace("end", "finish")).to_html(names=("<svg onload=x>\x00", "\"'\u202e"))
    page = Page(source)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not {"img", "iframe", "object", "form"} & {tag for tag, _ in page.elements}
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.elements for name in attributes)
    assert "U+202E" in page.text
    assert "U+D800" in page.text
    source.encode("utf-8")


def test_the_page_needs_nothing_else() -> None:
    source = la.compare("one two three", "one two four").to_html()
    page = Page(source)
    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "data"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp", source)


def test_the_policy_names_style_and_script_by_their_digests() -> None:
    source = la.compare("a", "b").to_html()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', source)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'" in policy


MOVED = "a paragraph of some length that was moved to another place in the text"
BEGINNING, END = "First of all, the same beginning.", "The very end stays as it is"
REST = "jumps over the lazy dog and runs into the deep dark wood, where nobody has seen it since that day, as people say"
LEFT = f"{BEGINNING}\n\n{MOVED}.\n\nThe quick brown fox {REST}.\n\n{END}."
RIGHT = f"{BEGINNING}\n\nThe quick brown cat {REST}.\n\n{MOVED}.\n\n{END}, I think."


def test_partners_link_both_ways() -> None:
    page = Page(la.compare(LEFT, RIGHT).to_html())
    links = [attributes for tag, attributes in page.elements if tag == "a" and "data-group" in attributes]
    by_id = {attributes["id"]: attributes for attributes in links if "id" in attributes}
    assert {attributes["class"] for attributes in links} == {"moved", "reworded"}
    for attributes in links:
        partner = by_id[(attributes["href"] or "").removeprefix("#")]
        assert partner["data-group"] == attributes["data-group"]
        assert by_id[(partner["href"] or "").removeprefix("#")]["data-group"] == attributes["data-group"]
    assert {identity[0] for identity in by_id if identity} == {"l", "r"}


def test_every_passage_is_listed_and_linked() -> None:
    comparison = la.compare(LEFT, RIGHT)
    page = Page(comparison.to_html())
    jumps = [(attributes["href"] or "")[1:] for _, attributes in page.elements if attributes.get("class") == "jump"]
    assert len(jumps) == 2 * len(comparison.passages) > 0
    assert set(jumps) <= set(page.ids())


def test_more_passages_than_the_list_holds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_report, "MAX_PASSAGES", 1)
    comparison = la.compare(LEFT, RIGHT)
    assert f"… and {len(comparison.passages) - 1} more, not listed here." in Page(comparison.to_html()).text


def numbered(count: int) -> str:
    return "\n".join(f"line number {i} of the long text" for i in range(count))


def test_a_long_kept_stretch_is_folded_and_counted() -> None:
    left = numbered(1_000)
    right = left.replace("line number 500 of", "row number 500 of")
    source = la.compare(left, right, measures=[]).to_html()
    folds = re.findall(r"<summary>… ([\d,]+) characters kept …</summary>", source)
    assert len(folds) == 2
    folded = sum(int(fold.replace(",", "")) for fold in folds)
    assert 0.9 * len(left) < folded < len(left)
    assert Page(source).cells == {"l": left, "r": right}


def test_what_is_too_long_to_fold_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "MAX_FOLDED", 1_000)
    left = numbered(1_000)
    page = Page(la.compare(left, left, measures=[]).to_html())
    (count,) = re.findall(r"… ([\d,]+) characters kept, left out of this page …", page.text)
    assert len(page.cells["l"]) + int(count.replace(",", "")) == len(left)
    assert {"lp1", "rp1"} <= set(page.ids())


@pytest.mark.parametrize(("limit", "value"), [("MAX_SHOWN", 500), ("MAX_STRETCHES", 20)])
def test_the_view_ends_at_its_limit_and_says_so(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    monkeypatch.setattr(side_by_side, limit, value)
    left, right = (" ".join(f"{word} {i}" for i in range(300)) for word in ("old", "new"))
    page = Page(la.compare(left, right, measures=[]).to_html())
    (rest,) = re.findall(r"The view ends here: ([\d,]+) characters of the left text and ([\d,]+) of the right text follow", page.text)
    for side, text, count in zip("lr", (left, right), rest, strict=True):
        assert page.cells[side] == text[: len(page.cells[side])]
        assert len(page.cells[side]) + int(count.replace(",", "")) == len(text)


def test_a_single_long_change_is_shown_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "MAX_SHOWN", 1_000)
    page = Page(la.compare("指" * 5_000, "纹" * 4_000, measures=[]).to_html())
    assert page.cells == {"l": "指" * 1_000, "r": "纹" * 1_000}
    assert "4,000 characters of the left text and 3,000 of the right text follow" in page.text


def test_everything_that_explains_the_score_is_on_the_page() -> None:
    comparison = la.compare(LEFT, RIGHT, ignore=["The very end stays as it is."], threshold=0.3)
    text = Page(comparison.to_html(names=("draft.txt", "final.txt"))).text
    for expected in (
        "draft.txt",
        "final.txt",
        shown_score(comparison.score),
        comparison.verdict,
        "0.3",
        *comparison.measures,
        *comparison.notes,
    ):
        assert expected in text
    for kind, share in comparison.edits.to_dict().items() if comparison.edits else []:
        assert f"{kind}{share:.1%}" in text
    for name, value in comparison.signature.items():
        assert f"{name} {value}" in text


def test_ignored_text_is_marked() -> None:
    source = la.compare(LEFT, RIGHT, ignore=["The very end stays as it is."]).to_html()
    assert source.count('<span class="ignored">The very end stays as it is') == 2


def test_records_show_their_fields() -> None:
    left = {"title": "<b>Near</b> duplicates", "year": 2003, "tags": ["a", "b"], "long": "x" * 3_000}
    page = Page(la.compare(left, {"title": "Near duplicates", "year": 2004, "tags": ["a"]}).to_html())
    for expected in ("<b>Near</b> duplicates", "2003", '["a", "b"]', "missing", "2,500 more characters"):
        assert expected in page.text


def test_files_show_their_measures(tmp_path: Path) -> None:
    paths = tmp_path / "a", tmp_path / "b"
    for path in paths:
        path.write_bytes(b"the same bytes in both files")
    comparison = la.compare(*paths, kind="file")
    text = Page(comparison.to_html()).text
    assert "sha2561.0000" in text
    assert "not computed, see the notes" in text
    assert all(note in text for note in comparison.notes)


def test_terminal_escapes() -> None:
    assert printable("a\x1b[31m\ud800中\u202e") == "a\\x1b[31m\\ud800中\\u202e"
    assert columns("a中e\u0301") == 4


def test_white_space_that_nobody_sees_is_not_marked_on_pages() -> None:
    left, right = "<body><p>same text</p><p class='a'>one</p><p>old</p>", "<body><p>same  text\n </p><p class='a '>one</p><p>new</p>"
    shown = la.compare(la.page(left), la.page(right)).to_html().split('<div class="view trees">')[1]
    assert shown.count('class="reworded"') == 2  # old and new: the text, and the tag that holds it
    assert "body: " in shown
    assert "4 equal" in shown


def test_a_page_says_how_the_score_is_made() -> None:
    found = la.compare(la.page("<p class='a'>tea and cake"), la.page("<p class='b'>tea and cake"))
    views = ", ".join(f"{name} {shown_score(found.measures[name] or 0)}" for name in ("style", "forms", "text"))
    assert f"The score is the mean of three views: {views}." in found.to_html()
    assert found.score == pytest.approx(sum(found.measures[name] or 0 for name in ("style", "forms", "text")) / 3)


def test_every_measure_is_explained_and_those_of_texts_are_folded() -> None:
    text = la.compare("one cup of tea", "two cups of tea")
    page = la.compare(la.page("<p>tea"), la.page("<p>cake"))
    for found in (text, page):
        assert all(about(found.kind, name) in found.to_html() for name in found.measures)
        assert all(about(found.kind, name) for name in found.measures)
    assert "<details><summary>16 measures of similarity" in text.to_html()
    assert "<details><summary>" not in page.to_html().split("<h2>Measures</h2>")[1]
