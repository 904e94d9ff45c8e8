"""Segmenters: jieba to the letter, users' functions, and the optional models."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import itertools
import json
import logging
import math
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_keywords as reference
from lookalike.errors import FetchError, InputError, MissingExtra, UnknownName
from lookalike.text import model_segmenters
from lookalike.text.segment import WHITE_SPACE, adapt, jieba_spans, locate, segmenter, segmenter_version, segmenters

Spans = list[tuple[int, int]]

GOLDEN = Path(__file__).parent.parent / "golden" / "published_cosine.json"


def words_of(text: str, spans: Spans) -> list[str]:
    return [text[start:end] for start, end in spans]


def assert_true_spans(text: str, spans: Spans) -> None:
    """In order, without overlap, and everything outside them is white space."""
    covered = [position for start, end in spans for position in range(start, end)]
    assert covered == sorted(set(covered))
    assert set(range(len(text))) - set(covered) == {position for position, character in enumerate(text) if character in WHITE_SPACE}


# jieba


@functools.cache
def jieba_oracle() -> Callable[[str], list[str]]:
    jieba = pytest.importorskip("jieba")
    jieba.setLogLevel(logging.ERROR)
    return lambda text: [word for word in jieba.cut(text) if word.strip(WHITE_SPACE)]


@pytest.mark.parametrize(
    "vocabulary",
    [
        reference.CHINESE,
        reference.CHINESE + 3 * reference.MARKS,
        reference.CHINESE + 2 * reference.MARKS + 6 * reference.LATIN,
        [*"一丁七ab12-_.+#&% ", "C++", "AT&T", "T恤"],
        [chr(code) for code in range(0x4E00, 0x9FD6, 7)],
        [*reference.CHINESE, *"㐀䶿鿖鿿豈𠀀𪜶𰀀⼀〇々あア한😀éａ１\0\ufffd"],
    ],
    ids=["chinese", "punctuated", "mixed", "ascii", "rare", "other scripts"],
)
def test_the_words_are_those_of_jieba(vocabulary: list[str]) -> None:
    for text in reference.sentences(1, 1500, vocabulary):
        assert words_of(text, jieba_spans(text)) == jieba_oracle()(text), text


@settings(max_examples=300)
@given(st.text(max_size=30))
def test_any_text_gets_the_words_of_jieba_and_true_spans(text: str) -> None:
    spans = jieba_spans(text)
    assert words_of(text, spans) == jieba_oracle()(text)
    assert_true_spans(text, spans)


def test_where_rjieba_and_jieba_differ_we_follow_jieba() -> None:
    rjieba = pytest.importorskip("rjieba")
    for text, ours, theirs in [
        ("foo-bar", ["foo", "-", "bar"], ["foo-bar"]),
        ("foo_bar", ["foo", "_", "bar"], ["foo_bar"]),
        ("a.b", ["a", ".", "b"], ["a.b"]),
        ("v1.2.3%", ["v1.2", ".", "3%"], ["v1.2.3%"]),
        ("㿊䐙", ["㿊", "䐙"], ["㿊䐙"]),
        ("\uf900\uf901", ["\uf900", "\uf901"], ["\uf900\uf901"]),
        ("\u9fd6\u9fd7", ["\u9fd6", "\u9fd7"], ["\u9fd6\u9fd7"]),
        ("\U00020000\U00020001", ["\U00020000", "\U00020001"], ["\U00020000\U00020001"]),
    ]:
        assert rjieba.cut(text) == theirs or version("rjieba") != "0.2.2"
        assert words_of(text, jieba_spans(text)) == ours == jieba_oracle()(text)
    for text in ("中国-美国", "C++", "AT&T", "3.14", "50%", "我_你"):
        assert words_of(text, jieba_spans(text)) == rjieba.cut(text) == jieba_oracle()(text)


def test_the_published_tokens_and_their_cosine() -> None:
    published = json.loads(GOLDEN.read_text(encoding="utf-8"))
    left, right = (Counter(words_of(published[name], segmenter("jieba")(published[name]))) for name in ("s1", "s2"))
    assert left == Counter(published["tokens1"])
    assert right == Counter(published["tokens2"])
    dot = sum(count * right[word] for word, count in left.items())
    assert dot / math.sqrt(sum(n * n for n in left.values()) * sum(n * n for n in right.values())) == published["cosine"]


def test_lone_surrogates_and_astral_characters_keep_their_places() -> None:
    text = "中国\ud800人民\udfff𠀀😀好"
    assert jieba_spans(text) == [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7), (7, 8), (8, 9)]


def test_white_space_alone_has_no_words() -> None:
    assert jieba_spans(WHITE_SPACE + "\r\n") == []
    assert jieba_spans("") == []
    assert words_of(" 我\u3000们\r\n", jieba_spans(" 我\u3000们\r\n")) == ["我", "们"]


def test_words_added_elsewhere_in_the_process_do_not_change_the_output() -> None:
    rjieba = pytest.importorskip("rjieba")
    before = jieba_spans("甲乙丙丁戊己")
    rjieba.add_word("甲乙丙丁戊己", 10**6, None)
    assert rjieba.cut("甲乙丙丁戊己") == ["甲乙丙丁戊己"]
    assert jieba_spans("甲乙丙丁戊己") == before != [(0, 6)]


def test_many_threads_get_the_same_words() -> None:
    texts = reference.sentences(2, 200, reference.CHINESE + reference.LATIN + reference.MARKS)
    expected = [jieba_spans(text) for text in texts]
    results: list[list[Spans]] = []
    threads = [threading.Thread(target=lambda: results.append([jieba_spans(text) for text in texts])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_nothing_is_imported_before_it_is_used() -> None:
    code = "import sys, lookalike.text.segment, lookalike.text.keywords; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"rjieba", "jieba", "thulac", "spacy_pkuseg", "numpy", "importlib.metadata"} & set(modules)


# Functions of the user


def cut_by_length(text: str) -> list[str]:
    return [text[position : position + 2] for position in range(0, len(text), 2)]


def cut_spans(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.finditer(r"\S+", text))


@pytest.fixture
def registered() -> Iterator[Callable[..., None]]:
    names: list[str] = []

    def register(name: str, function: Callable[..., object], **options: str) -> None:
        names.append(name)
        segmenters.register(name, function, **options)  # type: ignore[arg-type]

    yield register
    for name in names:
        del segmenters._entries[name]


def test_a_registered_function_may_return_words_or_spans(registered: Callable[..., None]) -> None:
    registered("pairs", cut_by_length, version="7")
    registered("runs", cut_spans)
    assert segmenter("pairs")("甲乙丙 丁") == [(0, 2), (2, 3), (4, 5)]  # "丙 " is trimmed
    assert segmenter("runs")("甲 乙丙") == [(0, 1), (2, 4)]
    assert segmenter_version("pairs") == "7"
    assert segmenter_version("runs") == "1"


def test_a_function_of_a_module_by_its_path() -> None:
    pytest.importorskip("jieba")
    assert segmenter("jieba:lcut")("我们 在图书馆") == jieba_spans("我们 在图书馆")
    assert segmenter("jieba:tokenize")("我们 在图书馆") == jieba_spans("我们 在图书馆")  # triples (word, start, end)
    assert segmenter_version("jieba:lcut") == "jieba:lcut"
    with pytest.raises(UnknownName):
        segmenter("no_such_module:cut")


@settings(max_examples=200)
@given(text=st.text("甲乙ab ", max_size=12), cuts=st.lists(st.integers(0, 12), max_size=6), dropped=st.sets(st.integers(0, 6)))
def test_words_are_found_from_left_to_right(text: str, cuts: list[int], dropped: set[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    words = [text[a:b] for n, (a, b) in enumerate(itertools.pairwise(edges)) if n not in dropped]
    spans = locate(text, words, "mine")
    assert words_of(text, spans) == [word.strip() for word in words if word.strip()]
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returned None"),
        ("甲乙", "returned '甲乙'"),
        (b"ab", "returned b'ab'"),
        (3, "returned 3"),
        (["甲", "丁"], "returned '丁', which does not occur in the text after position 1"),
        (["乙", "甲"], "returned '甲', which does not occur in the text after position 2"),
        (["甲", (1, 2)], r"returned \(1, 2\) among words"),
        ([(0, 1), "乙"], "returned '乙': expected a span"),
        ([(0, 1, 2, "x")], "expected a span"),
        ([0, 1], "returned 0: expected a span"),
        ([(0,)], r"returned \(0,\): expected a span"),
        ([(0.0, 1.0)], "expected a span"),
        ([{"start": 0}], "expected a span"),
        ([(0, 4)], r"the span \(0, 4\)"),
        ([(-1, 1)], r"the span \(-1, 1\)"),
        ([(1, 1)], r"the span \(1, 1\)"),
        ([(0, 2), (1, 3)], r"the span \(1, 3\) after position 2"),
        ([(1, 2), (0, 1)], r"the span \(0, 1\) after position 2"),
    ],
)
def test_what_a_function_may_not_return(returned: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        adapt(lambda _: returned, "mine")("甲乙丙")  # type: ignore[arg-type,return-value]


def test_long_values_are_shortened_in_messages() -> None:
    with pytest.raises(InputError) as caught:
        adapt(lambda _: ["x" * 10_000], "mine")("甲")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["fmm", "bmm", "ltp", "hanlp", "fmm:", "pkuseg:"])
def test_a_scheme_needs_its_argument(name: str) -> None:
    with pytest.raises(InputError, match=f"write '{name.rstrip(':')}:' and the"):
        segmenter(name)
    with pytest.raises(InputError, match="write "):
        segmenter_version(name)


def test_names_that_do_not_exist() -> None:
    with pytest.raises(UnknownName, match="did you mean 'jieba'"):
        segmenter("jeiba")
    with pytest.raises(InputError, match="expected a name"):
        segmenter(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, b"abc", 3, ["a"]])
def test_only_text_is_cut(text: str) -> None:
    for function in (jieba_spans, adapt(cut_by_length, "mine"), segmenter("thulac")):
        with pytest.raises(InputError, match="expected a str"):
            function(text)


def test_versions_name_the_library_that_decides() -> None:
    assert segmenter_version("jieba") == f"1-rjieba-{version('rjieba')}"
    for name, distribution in (("thulac", "thulac"), ("pkuseg", "spacy-pkuseg")):
        if importlib.util.find_spec(distribution.replace("-", "_")):
            assert segmenter_version(name) == f"1-{distribution}-{version(distribution)}"


def test_a_name_of_ours_may_be_taken_over(registered: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenters, "_entries", dict(segmenters._entries))
    segmenters.register("jieba", cut_by_length, version="mine")
    assert segmenter("jieba")("甲乙丙") == [(0, 2), (2, 3)]
    assert segmenter_version("jieba") == "mine"


# Models


@pytest.fixture(scope="module")
def thulac_words() -> Callable[[str], list[str]]:
    """What THULAC itself says, from the one model that our segmenter loads, in silence."""
    thulac = pytest.importorskip("thulac")
    models: list[Any] = []

    def record(**options: bool) -> Any:
        models.append(thulac_class(**options))
        return models[-1]

    thulac_class, thulac.thulac = thulac.thulac, record
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        model_segmenters._thulac.cache_clear()
        segmenter("thulac")("好")
    thulac.thulac = thulac_class
    assert printed.getvalue() == ""
    return lambda text: [word.strip(WHITE_SPACE) for word, _ in models[0].cut(text) if word.strip(WHITE_SPACE)]


def test_thulac_gives_its_own_words_at_their_places(thulac_words: Callable[[str], list[str]]) -> None:
    cut = segmenter("thulac")
    assert words_of("我爱北京天安门", cut("我爱北京天安门")) == ["我", "爱", "北京", "天安门"]
    for text in reference.sentences(3, 150, reference.CHINESE + reference.LATIN + [*"，。！ \n"]):
        spans = cut(text)
        assert words_of(text, spans) == thulac_words(text), text
        assert_true_spans(text, spans)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20))
def test_thulac_keeps_every_character(text: str) -> None:
    pytest.importorskip("thulac")
    assert_true_spans(text, segmenter("thulac")(text))


def test_thulac_takes_lines_longer_than_its_buffers() -> None:
    pytest.importorskip("thulac")
    text = "水" * 10_050
    assert_true_spans(text, segmenter("thulac")(text))


@pytest.mark.parametrize("longest", [1, 2, 5, 100])
def test_pieces_cover_the_text_and_end_after_punctuation(longest: int) -> None:
    text = "甲乙，丙丁戊己庚 辛。\n壬癸"
    pieces = list(model_segmenters._pieces(text, re.compile("[^\n]+"), longest))
    assert "".join(text[a:b] for a, b in pieces) == text.replace("\n", "")
    assert all(0 < b - a <= longest for a, b in pieces)
    assert longest != 5 or [text[a:b] for a, b in pieces] == ["甲乙，", "丙丁戊己庚", " 辛。", "壬癸"]


@pytest.fixture(scope="module")
def pkuseg_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained here, on four sentences."""
    pkuseg = pytest.importorskip("spacy_pkuseg")
    folder = tmp_path_factory.mktemp("pkuseg")
    corpus = folder / "corpus.txt"
    lines = ["我 爱 北京 天安门", "北京 是 中国 的 首都", "我们 在 图书馆 里 看 书", "他 喜欢 喝 茶 ， 也 喜欢 喝 咖啡 。"]
    corpus.write_text("\n".join(lines * 10) + "\n", encoding="utf-8")
    pkuseg.train(str(corpus), str(corpus), str(folder / "model"), train_iter=3)
    return folder / "model"


def test_pkuseg_with_a_model_directory(pkuseg_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    cut = segmenter(f"pkuseg:{pkuseg_model}")
    text = "我们在图书馆喝茶，𠀀 \ud800ＡＢ\n他 喜欢\u3000北京"
    spans = cut(text)
    assert capfd.readouterr() == ("", "")
    assert_true_spans(text, spans)
    oracle = pytest.importorskip("spacy_pkuseg").pkuseg(str(pkuseg_model))
    assert words_of(text, spans) == oracle.cut(text)
    assert words_of(text, spans)[:3] == ["我们", "在", "图书馆"]


def test_the_version_of_a_model_is_that_of_its_files(pkuseg_model: Path) -> None:
    name = f"pkuseg:{pkuseg_model}"
    before = segmenter_version(name)
    assert re.fullmatch(r"1-spacy-pkuseg-[\d.]+-[0-9a-f]{12}", before)
    assert segmenter_version(name) == before
    (pkuseg_model / "notes.txt").write_text("another model", encoding="utf-8")
    assert segmenter_version(name) != before
    (pkuseg_model / "notes.txt").unlink()
    assert segmenter_version(name) == before


def test_pkuseg_without_a_network_says_where_the_model_belongs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pkuseg = pytest.importorskip("spacy_pkuseg")
    monkeypatch.setattr(pkuseg.config, "pkuseg_home", str(tmp_path))
    monkeypatch.setitem(pkuseg.config.model_urls, "spacy_ontonotes", "http://127.0.0.1:9/spacy_ontonotes.zip")
    model_segmenters._default_pkuseg.cache_clear()
    with pytest.raises(FetchError, match=rf"download http\S+ yourself and unzip it to {tmp_path}/spacy_ontonotes, or name a model"):
        segmenter("pkuseg")("我爱北京")


def test_pkuseg_uses_a_default_model_that_was_placed_by_hand(tmp_path: Path, pkuseg_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pkuseg = pytest.importorskip("spacy_pkuseg")
    monkeypatch.setattr(pkuseg.config, "pkuseg_home", str(tmp_path))
    (tmp_path / "spacy_ontonotes").symlink_to(pkuseg_model)
    model_segmenters._default_pkuseg.cache_clear()
    assert words_of("我爱北京", segmenter("pkuseg")("我爱北京")) == ["我", "爱", "北京"]
    model_segmenters._default_pkuseg.cache_clear()


@pytest.mark.parametrize(
    ("scheme", "files"), [("pkuseg", "features.msgpack and weights.npz"), ("ltp", "config.json"), ("hanlp", "config.json")]
)
def test_a_directory_without_a_model(tmp_path: Path, scheme: str, files: str) -> None:
    (tmp_path / "features.pkl").write_bytes(b"a pickle is not loaded")
    for directory in (str(tmp_path), "/no/such/directory", "nul\0nul"):
        with pytest.raises(InputError, match=f"expected a directory with {files}"):
            segmenter(f"{scheme}:{directory}")("我爱北京")


@pytest.mark.parametrize(
    ("scheme", "files"), [("pkuseg", ["features.msgpack", "weights.npz"]), ("ltp", ["config.json"]), ("hanlp", ["config.json"])]
)
def test_a_model_that_cannot_be_read(tmp_path: Path, scheme: str, files: list[str]) -> None:
    for file in files:
        (tmp_path / file).write_bytes(b"\x00nonsense")
    package = "spacy_pkuseg" if scheme == "pkuseg" else scheme
    installed = importlib.util.find_spec(package) is not None
    expected = (InputError, "could not be loaded") if installed else (MissingExtra, rf"pip install 'lookalike\[{scheme}\]'")
    with pytest.raises(expected[0], match=expected[1]):
        segmenter(f"{scheme}:{tmp_path}")("我爱北京")


@pytest.mark.parametrize("name", ["thulac", "pkuseg", "pkuseg:{}", "ltp:{}", "hanlp:{}"])
def test_a_missing_library_is_named_with_its_command(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("config.json", "features.msgpack", "weights.npz"):
        (tmp_path / file).write_bytes(b"")
    for package in ("thulac", "spacy_pkuseg", "ltp", "hanlp"):
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    for loader in (model_segmenters._thulac, model_segmenters._default_pkuseg):
        monkeypatch.setattr(model_segmenters, loader.__name__, loader.__wrapped__)
    extra = name.partition(":")[0]
    with pytest.raises(MissingExtra, match=rf"segmenter '{extra}' needs an optional dependency: pip install 'lookalike\[{extra}\]'"):
        segmenter(name.format(tmp_path))("我爱北京")


def test_the_version_of_a_missing_library(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"{}")
    for scheme in ("ltp", "hanlp"):
        if importlib.util.find_spec(scheme):
            assert segmenter_version(f"{scheme}:{tmp_path}").startswith(f"1-{scheme}-")
        else:
            with pytest.raises(MissingExtra, match=rf"pip install 'lookalike\[{scheme}\]'"):
                segmenter_version(f"{scheme}:{tmp_path}")


def test_ltp_with_a_model_trained_here(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ltp", reason="pip install 'lookalike[ltp]' to run LTP")
    from ltp_extension.perceptron import CWSTrainer  # type: ignore[import-not-found,unused-ignore]

    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(["我们 在 图书馆 里 看 书", "他 喜欢 喝 茶 ， 也 喜欢 喝 咖啡 。"] * 20) + "\n", encoding="utf-8")
    trainer = CWSTrainer()
    trainer.load_train_data(str(corpus))
    trainer.load_eval_data(str(corpus))
    (tmp_path / "model").mkdir()
    trainer.train().save(str(tmp_path / "model" / "cws_model.bin"))
    (tmp_path / "model" / "config.json").write_text('{"nerual": false, "tasks": {"cws": "cws_model.bin"}}', encoding="utf-8")
    capfd.readouterr()
    text = "他喜欢 图书馆\t\ud800𠀀" + "茶" * 1200
    spans = segmenter(f"ltp:{tmp_path / 'model'}")(text)
    assert words_of(text, spans)[:3] == ["他", "喜欢", "图书馆"]
    assert_true_spans(text, spans)
    assert capfd.readouterr().out == ""
