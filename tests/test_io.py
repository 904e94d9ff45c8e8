"""Text files in many encodings, files that are no text, and paths that are no files."""

# Chinese punctuation is meant here.
from __future__ import annotations

import codecs
import errno
import gzip
import io
import os
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookalike import io as module
from lookalike.errors import InputError
from lookalike.io import TextFile, decode_text, read_text

SIMPLIFIED = """　　文件指纹把一篇长文章变成一串短小的数字。两篇文章越像，它们的指纹就越接近。
系统先清洗文本，再切分词语，然后计算每个词的权重。最后得到的结果可以存进数据库，也可以直接拿来比较。
例如“北京增值税电子普通发票.pdf”与“福建增值税电子普通发票.pdf”只差两个字，共有 9 个窗口相同（1 页，2.5 MB）。
"""
TRADITIONAL = """文件指紋把一篇長文章變成一串短小的數字。兩篇文章越像，它們的指紋就越接近。
系統先清洗文本，再切分詞語，然後計算每個詞的權重。最後得到的結果可以存進資料庫，也可以直接拿來比較。
"""
JAPANESE = """文書の指紋は、長い文章を短い数字の列に変えるものです。二つの文章が似ているほど、指紋も近くなります。
まずテキストを整え、単語に分けてから、それぞれの重みを計算します。コピーした部分はすぐに見つかります。
"""
KOREAN = """문서 지문은 긴 글을 짧은 숫자로 바꾼다. 두 글이 비슷할수록 지문도 가까워진다.
먼저 글을 다듬고 낱말로 나눈 다음에 각 낱말의 무게를 계산한다.
"""
ENGLISH = """A fingerprint turns a long article into a short number. The more alike two articles are, the closer their numbers.
It’s simple – clean the text, cut it into “words”, weigh each of them… A café in Zürich pays £5 for a naïve copy.
"""
FRENCH = "Le résumé d’un élève : « Être ou ne pas être », voilà la première leçon où l’âme s’éveille, déjà prête.\r\n"
GERMAN = "Übung macht den Meister: Größe, Maß und Straße ändern sich, wenn Müller früh aufsteht. Änderungen möglich.\n"
PORTUGUESE = "INFORMAÇÕES: a ação não é só uma questão de opinião, é também de coração. Às vezes, três lições.\n"
RUSSIAN = "Отпечаток превращает длинную статью в короткое число. Чем больше похожи две статьи, тем ближе числа.\n"

WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
GUESSABLE = [
    *[(SIMPLIFIED, codec) for codec in ("gb18030", *WIDE)],
    *[(TRADITIONAL, codec) for codec in ("cp950", "gb18030", *WIDE)],
    *[(JAPANESE, codec) for codec in ("cp932", "euc_jp", *WIDE)],
    *[(KOREAN, codec) for codec in ("cp949", *WIDE)],
    *[(text, codec) for text in (ENGLISH, FRENCH, GERMAN, PORTUGUESE) for codec in ("cp1252", *WIDE)],
    *[(RUSSIAN, codec) for codec in WIDE],
]
ALL = (SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN, ENGLISH, FRENCH, GERMAN, PORTUGUESE, RUSSIAN)
BOMS = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def named(value: object) -> str:
    return value.strip()[:12] if isinstance(value, str) else str(value)


@pytest.mark.parametrize(("text", "codec"), GUESSABLE, ids=named)
@pytest.mark.parametrize("length", [None, 40, 24])
def test_guessed(text: str, codec: str, length: int | None) -> None:
    text = text[:length]
    found = decode_text(text.encode(codec), "a.txt")
    assert found.text == text
    if codec in WIDE or not text.isascii():
        assert found.encoding == codec
        assert found.note == "guessed from the bytes: name the encoding if it is wrong"


@pytest.mark.parametrize("text", ALL, ids=named)
@pytest.mark.parametrize("length", [None, 10, 1, 0])
def test_utf8(text: str, length: int | None) -> None:
    assert decode_text(text[:length].encode(), "a.txt") == TextFile(text[:length], "utf-8", None)


@pytest.mark.parametrize("text", ALL, ids=named)
@pytest.mark.parametrize("codec", BOMS)
@pytest.mark.parametrize("length", [None, 1, 0])
def test_byte_order_marks(text: str, codec: str, length: int | None) -> None:
    data = BOMS[codec] + text[:length].encode(codec.removesuffix("-sig"))
    assert decode_text(data, "a.txt") == TextFile(text[:length], codec, None)


@pytest.mark.parametrize("word", ["中文", "发票", "增值税", "北京市", "计算机", "T恤", "卡拉OK", "我", "的", "《红楼梦》", "３月"])
def test_one_chinese_word_is_gb18030(word: str) -> None:
    found = decode_text(word.encode("gb18030"), "a.txt")
    assert (found.text, found.encoding) == (word, "gb18030")


@pytest.mark.parametrize("word", ["你好", "電腦", "發票", "資料庫", "台北市"])
def test_one_traditional_word_is_big5(word: str) -> None:
    assert decode_text(word.encode("cp950"), "a.txt").text == word


@pytest.mark.parametrize("word", ["café", "naïve", "Müller", "Übung", "Änderung", "it’s", "“quoted”", "£5", "AÇÃO", "Žižek", "10 €"])
def test_one_western_word_is_windows_1252(word: str) -> None:
    found = decode_text(word.encode("cp1252"), "a.txt")
    assert (found.text, found.encoding) == (word, "cp1252")


def test_a_word_that_is_valid_utf8_is_read_as_utf8() -> None:
    # A documented limit: these four bytes are both.
    assert decode_text("只要".encode("gb18030"), "a.txt").encoding == "utf-8"


def test_gb18030_holds_all_of_unicode() -> None:
    text = SIMPLIFIED + "𠮷野家 😀 ༄ "
    assert decode_text(text.encode("gb18030"), "a.txt").text == text


@pytest.mark.parametrize("codec", ["gb18030", "utf-8"])
def test_a_few_damaged_bytes_are_replaced_and_counted(codec: str) -> None:
    damaged = SIMPLIFIED[:50].encode(codec) + b"\xff" + SIMPLIFIED[50:].encode(codec)
    found = decode_text(damaged, "a.txt")
    assert found.encoding == codec
    assert found.note is not None
    assert "1 invalid byte sequence replaced by U+FFFD" in found.note
    assert found.text.count("\ufffd") == 1
    assert found.text.replace("\ufffd", "") == SIMPLIFIED


@pytest.mark.parametrize("codec", ["utf-8", "gb18030", "cp950", "cp932"])
def test_a_file_cut_off_in_a_character(codec: str) -> None:
    text = {"cp950": TRADITIONAL, "cp932": JAPANESE}.get(codec, SIMPLIFIED).strip().rstrip("。")
    found = decode_text(text.encode(codec)[:-1], "a.txt")
    assert found.encoding == codec
    assert found.text[:-1] == text[:-1]
    assert found.note is not None
    assert "1 invalid byte sequence" in found.note


def test_damage_after_a_mark_is_noted_without_a_guess() -> None:
    found = decode_text(codecs.BOM_UTF16_LE + SIMPLIFIED.encode("utf-16-le") + b"x", "a.txt")
    assert found == TextFile(SIMPLIFIED + "\ufffd", "utf-16-le", "1 invalid byte sequence replaced by U+FFFD")


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r"])
def test_an_encoding_that_is_not_recognised_is_an_error(codec: str) -> None:
    with pytest.raises(InputError, match=r"the encoding of 'a\.txt' was not recognised: name it"):
        decode_text(RUSSIAN.encode(codec), "a.txt")
    assert decode_text(RUSSIAN.encode(codec), "a.txt", codec).text == RUSSIAN


@pytest.mark.parametrize("text", ALL, ids=named)
def test_a_named_encoding_is_used(text: str) -> None:
    for codec in ("utf-8", "gb18030", "utf-16", "utf-32-be"):
        assert decode_text(text.encode(codec), "a.txt", codec) == TextFile(text, codec, None)


@pytest.mark.parametrize("codec", BOMS)
def test_the_reported_encoding_reads_the_file_again(codec: str) -> None:
    data = BOMS[codec] + ENGLISH.encode(codec.removesuffix("-sig"))
    assert decode_text(data, "a.txt", decode_text(data, "a.txt").encoding).text == ENGLISH


@pytest.mark.parametrize("codec", ["klingon", "base64", "rot13", "", "a\x00b", "\ud800", "undefined"])
def test_a_name_that_is_no_encoding(codec: str) -> None:
    with pytest.raises(InputError, match="encoding="):
        decode_text(b"text", "a.txt", codec)


def test_a_named_encoding_that_does_not_fit() -> None:
    with pytest.raises(InputError, match=r"'a\.txt' is not ascii: byte 3 is invalid"):
        decode_text("abcé".encode(), "a.txt", "ascii")
    with pytest.raises(InputError, match="encoding=3"):
        decode_text(b"abc", "a.txt", 3)  # type: ignore[arg-type]


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", SIMPLIFIED)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n1 0 obj\n", "PDF"),
        (_zip(), "ZIP"),
        (gzip.compress(ENGLISH.encode()), "gzip"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG"),
        (b"\x7fELF\x02\x01\x01", "ELF"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"name".ljust(257, b"\x00") + b"ustar  ", "tar"),
        (bytes(range(256)) * 4, "control characters"),
        (b"\x00" * 64, "control characters"),
        (b"text\x00text\xff\x00", "control characters"),
        (b"\x01\x02\x03", "control characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives have the time in their bytes
)
def test_binary_files_are_refused(data: bytes, kind: str) -> None:
    with pytest.raises(InputError, match=rf"'a\.bin' is a binary file \(.*{kind}.*give a text file"):
        decode_text(data, "a.bin")


def test_a_few_controls_are_text() -> None:
    text = "\x1b[1mbold\x1b[0m\tand one NUL\x00 in a line that is long enough\x0c\n"
    assert decode_text(text.encode(), "a.txt") == TextFile(text, "utf-8", None)


def test_line_ends_stay() -> None:
    assert decode_text(b"a\r\nb\rc\n", "a.txt").text == "a\r\nb\rc\n"


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=50).map(lambda text: text.encode("gb18030", "replace"))))
def test_hostile_bytes(data: bytes) -> None:
    try:
        found = decode_text(data, "hostile")
    except InputError:
        return
    assert len(found.text) <= len(data)
    if "\ufffd" not in found.text and not data.startswith(tuple(BOMS.values())):
        assert found.text == data.decode(found.encoding)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=100))
def test_utf8_always_comes_back(text: str) -> None:
    assume(not text.startswith(("\ufeff", "%PDF-")))
    assert decode_text(text.encode(), "a.txt") == TextFile(text, "utf-8", None)


@settings(deadline=None)
@given(st.binary(max_size=100), st.sampled_from(["utf-8", "gb18030", "utf-16", "cp932", "idna", "punycode", "raw_unicode_escape", "utf-7"]))
def test_hostile_bytes_in_a_named_encoding(data: bytes, codec: str) -> None:
    try:
        found = decode_text(data, "hostile", codec)
    except InputError:
        return
    assert found.encoding == codec
    assert found.text == data.decode(codec).removeprefix("\ufeff")


def test_read_text(tmp_path: Path) -> None:
    path = tmp_path / "发票.txt"
    path.write_bytes(SIMPLIFIED.encode("gb18030"))
    assert read_text(path) == read_text(str(path)) == decode_text(path.read_bytes(), str(path))
    assert read_text(path, "gbk").encoding == "gbk"


def test_a_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"from a pipe",))
    writer.start()
    assert read_text(path).text == "from a pipe"
    writer.join()


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt' does not exist: check the path"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(InputError, match="is a directory: name a file in it"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="'/dev/zero' is a device"):
        read_text("/dev/zero")
    for path in ("a\x00b", "\ud800"):
        with pytest.raises(InputError, match="is not a path"):
            read_text(path)
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_text("x" * 5000)
    with pytest.raises(InputError, match="path of type int"):
        read_text(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "message"), [(errno.EACCES, "cannot be read: check its permissions"), (errno.EIO, "cannot be read: Input/output error")]
)
def test_what_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x")

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("builtins.open", refuse)  # root may read any file, so a mode of 000 would not do
    with pytest.raises(InputError, match=rf"a\.txt' {message}"):
        read_text(path)


def test_texts_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEXT_BYTES", 1 << 20)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * (1 << 20))
    assert len(read_text(path).text) == 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="holds more than 1 MiB"):
        read_text(path)


def test_decode_wants_bytes() -> None:
    with pytest.raises(InputError, match="'stdin': data of type str: give bytes"):
        decode_text("text", "stdin")  # type: ignore[arg-type]


def test_letters_beyond_the_sample_decide_nothing_but_are_read() -> None:
    text = "plain ASCII line\n" * 10_000 + SIMPLIFIED * 2_000
    found = decode_text(text.encode("gb18030"), "a.txt")
    assert (found.text, found.encoding) == (text, "gb18030")
