"""The tables behind a page: read from the written tree, and from events; both are the same, whatever the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.markup.page import parse_document, read_table, table_by_events

Row = tuple[str, dict[str, str | list[str]], str | None, int, int]
MANY = 10**6


def everything(table: _native.PageTree) -> tuple[list[Row], list[int], list[int], int, bool]:
    return table.rows(), list(table.head()), list(table.body()), table.depth, table.is_cut


PIECES = st.sampled_from(
    [
        "<p>", "</p>", "<b id=a>", "</b>", "<div class='a  b\u00a0c'>", "</div>", "<br>", "<img src='a&quot;b'>", "a &amp; b", "&lt;p&gt;", "&nbsp;", "茶", "\n", " ",
        "<!-- a -->", "<!--a--->", "<!-->", "<!-- a --!>", "<!x>", "<?pi a?>", "</ x>", "<![CDATA[x]]>",
        "<script>a<b && '</p>'</script>", "<script><!-- a --></script>", "<script><!--<script></script>--></script>", "<style>a>b</style>",
        "<textarea>\n\nx</textarea>", "<pre>\n\ny</pre>", "<listing>\nz</listing>", "<xmp><b></xmp>", "<iframe><p></iframe>", "<noembed></x></noembed>",
        "<noscript><p>no</noscript>", "<template><p>t</template>", "<table>", "<tr><td headers='a b'>", "</table>", "<select><option>1",
        "<svg viewBox='0 0'>", "</svg>", "<path d=1 />", "<style>", "</style>", "<math><mi>", "</math>", "<foreignObject>", "<title>t</title>", "<link rel='a b'>",
        "<a =b c<d=1 \"x=2>", "</a>", "<q<r>", "<frameset><frame></frameset>", "<plaintext>", "<html lang=en>", "<body id=x>", "<head>", "\r\n", "\0", "&#0;", "&",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join))
def test_the_written_tree_is_the_tree(html: str) -> None:
    by_events = everything(table_by_events(html))
    assert everything(read_table(html)) == by_events
    read = _native.read_markup(parse_document(html).serialize(), MANY)
    assert read is None or everything(read) == by_events


@given(st.lists(PIECES | st.sampled_from(["<title></title>", "<title> a\n茶 </title>", "<title>", "</head>"]), max_size=25).map("".join))
def test_the_title_is_the_first_one_of_the_head_that_has_a_text(html: str) -> None:
    page = la.page(html)
    found = next((tag.string for tag in page.head if tag.name == "title" and tag.string), "")
    assert page.title == " ".join(found.split())


@pytest.mark.parametrize(
    "html",
    [
        "<plaintext></plaintext><b>",
        "<script><!--<script></script>--></script>",
        "<svg><style></style></svg>",
        "<svg><script></script></svg>",
    ],
)
def test_what_could_mean_two_trees_is_left_to_events(html: str) -> None:
    assert _native.read_markup(parse_document(html).serialize(), MANY) is None
    assert everything(read_table(html)) == everything(table_by_events(html))


def test_ordinary_pages_are_read_at_once() -> None:
    html = "<svg><path d=1 /></svg><script><!-- a() //--></script><style>a</style><pre>\n\nx</pre><p class='a b'>x &amp; y<br>z"
    assert _native.read_markup(parse_document(html).serialize(), MANY) is not None


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["<", ">", "</", "p", " ", '="', '"', "=", "<!--", "&amp", "\xff", "\0", "<br\0>", "<script>"])).map("".join)
)
def test_hostile_markup_is_read_or_refused(markup: str) -> None:
    table = _native.read_markup(markup, MANY)
    outline = _native.read_outline(markup, "nav", "")
    assert table is None or len(table) <= len(markup)
    assert (table is None) == (outline is None)
    assert outline is None or (len(outline[0]) <= len(markup) and len(outline[1]) <= 2 * len(markup.encode()))


@pytest.mark.parametrize("most", [0, 1, 2, 5, 6])
def test_no_more_than_asked_for(most: int) -> None:
    html = "<p>a<p>b<p>c"
    read = _native.read_markup(parse_document(html).serialize(), most)
    assert read is not None
    assert len(read) == most
    assert read.is_cut
    builder = _native.PageBuilder(most)
    for _ in range(most):
        builder.start_element("p", ())
    with pytest.raises(StopIteration):
        builder.start_element("p", ())
    assert len(builder.finish()) == most
    assert len(builder.finish()) == 0


def test_the_builder_checks_what_it_gets() -> None:
    builder = _native.PageBuilder(10)
    builder.end_element("nothing is open")
    for wrong in [(b"p", ()), ("p", []), ("p", (("a",),)), ("p", ((1, "a"),)), ("p", (("a", 1),)), ("p", ("ab",))]:
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            builder.start_element(*wrong)
    with pytest.raises(UnicodeEncodeError):
        builder.characters("\ud800")
    with pytest.raises(TypeError):
        _native.read_markup(b"<p>", 10)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        _native.read_markup("\ud800", 10)


@given(st.text(st.sampled_from("<hHtTmMlLbBoOdDyY> é"), max_size=40))
def test_signs_and_roots_are_counted(html: str) -> None:
    small = html.lower()
    assert _native.count_markup(html) == (html.count("<"), small.count("<html") + small.count("<body"))


def test_elements_are_made_when_they_are_asked_for() -> None:
    page = la.page("<p>a<p>b")
    assert len(page.body) == 4
    assert "elements" not in vars(page.tree)
    assert page.body[0] is page.elements[3]
    assert [element.name for element in page.body[1:3]] == ["#text", "p"]
    assert "elements" in vars(page.tree)
