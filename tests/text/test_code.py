"""Source code as tokens: against Python's own tokenizer, and the promise that renaming and reformatting change nothing."""

from __future__ import annotations

import ast
import bisect
import colorsys
import heapq
import io
import keyword
import re
import shlex
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InputError, UnknownName
from lookalike.text.code import MAX_CHARACTERS, check_language, code_recipe, code_tokens, language_of
from lookalike.text.languages import LANGUAGES
from lookalike.text.lines import Lines
from lookalike.text.segment import segmenters
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import stream

SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING)


def reference_tokens(source: str) -> list[tuple[str, int, int]]:
    """The tokens that Python's own tokenizer and parser find, for code without f-strings; a name may also be a built-in one."""
    starts = [0, *(place + 1 for place, char in enumerate(source) if char == "\n")]
    docs = {
        (node.body[0].value.lineno, node.body[0].value.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None
    }
    found: list[tuple[str, int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if token.type in SKIPPED or (token.type == tokenize.STRING and token.start in docs) or token.string == ";":
            continue
        if token.type == tokenize.STRING:
            if found and found[-1][0] == "string":
                found[-1] = ("string", found[-1][1], end)
            else:
                found.append(("string", start, end))
        elif token.type == tokenize.NUMBER:
            found.append(("number", start, end))
        elif token.type == tokenize.NAME:
            found.append((token.string.lower() if keyword.iskeyword(token.string) else "name", start, end))
        else:
            for at, sign in enumerate(token.string):
                if sign in ")]}" and found[-1][0] == ",":
                    found.pop()
                found.append((sign, start + at, start + at + 1))
    return found


@pytest.mark.parametrize("module", [bisect, heapq, colorsys, shlex], ids=lambda module: module.__name__)
def test_python_tokens_are_those_of_pythons_own_tokenizer(module: ModuleType) -> None:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    source = source if 'f"' not in source and "f'" not in source else "\n".join(line for line in source.split("\n") if "f'" not in line)
    mine = [(token.text, token.start, token.end) for token in code_tokens("python")(source)]
    theirs = reference_tokens(source)
    assert [token[1:] for token in mine] == [token[1:] for token in theirs]
    for (text, start, end), (wanted, _, _) in zip(mine, theirs, strict=True):
        assert text == wanted or (wanted == "name" and text == source[start:end].lower())  # a built-in name


def test_normal_forms() -> None:
    def forms(source: str, language: str) -> str:
        return " ".join(token.text for token in la.code(source, language).tokens)

    assert forms("x=1", "python") == "name = number"
    assert forms("def f(self, a=-1.5e3):\n  '''doc'''\n  return len(a) # c", "python") == (
        "def name ( name , name = - number ) : return len ( name )"
    )
    assert forms("a = 'x' \"y\"\n", "python") == forms("a = '''z'''", "python")
    assert forms("f(a,\n  b,\n)", "python") == forms("f(a, b)", "python")
    assert forms("if(a>=-b){return;}", "c") == forms("if (a >= - b)\n{\n  return\n}", "c")
    assert forms("#include <stdio.h>\n#define MAX 3", "c") == "# include <stdio.h> # define name name"
    assert forms("int a; // one\n/* two */", "java") == "int name"
    assert forms("SELECT price FROM goods", "sql") == forms("select weight\nfrom things", "sql") == "select name from name"
    assert forms("", "python") == forms("# nothing\n", "python") == ""


SOURCES = {
    "python": "import os\n\ndef f(a, b=[1, 2]):\n    '''Doc.'''\n    # why\n    for x in a:\n        print(x, 'y', f'{b} z')\n    return {a: b}\n",
    "javascript": "const f = async (a) => { /* why */ return `x${a}` + /re+/g.test(a); };\n",
    "cpp": '#include <vector>\ntemplate <class T> T f(T a) { return a >= 1 ? \'x\' : "y\\""; } // why\n',
    "bash": "for x in *.txt; do\n  cat <<EOF\n$x\nEOF\ndone\n",
    "php": '<?php function f($a) { return "x $a"; } ?>\n<p>hello</p>\n',
}


@pytest.mark.parametrize("language", SOURCES)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_are_true_to_the_source(language: str, newline: str) -> None:
    source = SOURCES[language].replace("\n", newline)
    plain = code_tokens(language)(SOURCES[language])
    found = code_tokens(language)(source)
    assert [token.text for token in found] == [token.text for token in plain]
    assert [source[token.start : token.end].replace("\r\n", "\n").replace("\r", "\n") for token in found] == [
        SOURCES[language][token.start : token.end] for token in plain
    ]


ANYTHING = st.one_of(
    st.text(max_size=60),
    st.text("\r\n\t '\"`/*#{}()[]<>=;,\\$@:fr10xa_\ud800\0é中", max_size=60),
    st.sampled_from(list(SOURCES.values())).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[:at])),
)


@settings(max_examples=150, deadline=None)
@given(source=ANYTHING, language=st.sampled_from([*SOURCES, "java", "rust", "go", "ruby", "perl", "sql", "haskell"]))
def test_any_text_has_tokens_in_order_inside_of_it(source: str, language: str) -> None:
    at = 0
    for token in code_tokens(language)(source):
        assert at <= token.start < token.end <= len(source)
        assert token.text
        assert token.text == token.text.strip()
        at = token.end


@pytest.fixture(scope="module", autouse=True)
def spaces() -> Iterator[None]:
    """A tokenizer that cuts at spaces."""
    before = dict(segmenters._entries)
    segmenters.register("spaces", lambda text: [found.span() for found in re.finditer("[^ ]+", text)], version="1")
    yield
    segmenters._entries = before


@settings(max_examples=60, deadline=None)
@given(source=ANYTHING, language=st.sampled_from(list(SOURCES)))
def test_fingerprints_and_streams_take_the_same_tokens(source: str, language: str) -> None:
    recipe = code_recipe(language)
    tokens = stream(source, recipe)
    assert list(zip(tokens.starts, tokens.ends, strict=True)) == [token[1:] for token in la.tokenize(source, recipe.tokenizer)]
    normal = " ".join(token.text for token in la.tokenize(source, recipe.tokenizer))
    values = list(la.minhash(source, recipe=recipe).values)
    assert values == la.minhashes([source], recipe=recipe)[0].tolist()
    # The same tokens, written as a text of words, have the same shingles.
    again = la.Recipe(tokenizer="spaces", ngram=recipe.ngram, normalize="none")
    assert list(shingles(source, recipe)) == list(shingles(normal, again))


def test_a_renamed_and_reformatted_copy_has_the_fingerprints_of_the_original() -> None:
    source = (
        "def area(width, height):\n    # the product\n    if width < 0:\n        raise ValueError('negative')\n    return width * height\n"
    )
    copy = 'def zz( p,q ):\n  if p<1000: raise ValueError( "no" )\n  return p*q'
    recipe = code_recipe("python")
    assert la.simhash(source, recipe=recipe) == la.simhash(copy, recipe=recipe)
    assert la.minhash(source, recipe=recipe) == la.minhash(copy, recipe=recipe)
    assert la.winnow(source, recipe=recipe).values == la.winnow(copy, recipe=recipe).values
    (passage,) = la.winnow(source, recipe=recipe).passages(la.winnow(copy, recipe=recipe))
    assert source[slice(*passage.left)] == source.strip()
    assert copy[slice(*passage.right)] == copy


def test_a_recipe_id_has_the_language_and_the_version_of_pygments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_recipe("python").id != code_recipe("java").id
    assert code_recipe("py").id == code_recipe("python").id
    before = code_recipe("python").id
    monkeypatch.setattr("lookalike.text.code.installed", lambda *_: "pygments-0.0")
    assert code_recipe("python").id != before


def test_a_recipe_of_code_may_come_from_data() -> None:
    recipe = code_recipe("python")
    assert la.Recipe.from_dict(recipe.to_dict()) == recipe


def test_languages_are_found_by_the_ending() -> None:
    assert language_of(Path("a/b.py")) == "python"
    assert language_of(Path("B.PY")) == "python"
    assert language_of(Path("x.java.gz")) == "java"
    for language in LANGUAGES:
        assert check_language(language) == language
    for name in ("a", "a.txt", ".py/x", "a.py.txt"):
        with pytest.raises(InputError, match="does not say its language"):
            language_of(Path(name))


def test_wrong_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give one, such as 'python'"):
        la.code("x = 1")
    with pytest.raises(UnknownName, match="not known"):
        la.code("x = 1", "klingon")
    with pytest.raises(InputError, match="characters of code"):
        la.code(" " * (MAX_CHARACTERS + 1), "python")
    with pytest.raises(InputError, match="a language, such as python"):
        la.tokenize("x = 1", "code:")
    with pytest.raises(InputError, match="does not exist"):
        la.code(tmp_path / "missing.py")


def test_a_file_is_code_in_the_language_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = '\xe4\xb8\xad'\r\n")
    made = la.code(path)
    assert (made.language, made.name) == ("python", str(path))
    assert [token.text for token in made.tokens] == ["name", "=", "string"]
    assert la.code(path, "ruby").language == "ruby"
    assert made.tokens == made.without(()).tokens
    assert [token.text for token in made.without(((0, 1),)).tokens] == ["=", "string"]


@given(text=st.text("ab\r\n", max_size=12), start=st.integers(0, 12), length=st.integers(1, 4))
def test_lines_are_counted_as_editors_count_them(text: str, start: int, length: int) -> None:
    plain = text.replace("\r\n", "?\n").replace("\r", "\n")

    def line_of(at: int) -> int:
        return 1 + plain[:at].count("\n")

    if start < len(text):
        end = min(start + length, len(text))
        assert Lines(text).of((start, end)) == (line_of(start), line_of(end - 1))
    assert Lines(text).starts == [0, *(at + 1 for at, character in enumerate(plain) if character == "\n")]
