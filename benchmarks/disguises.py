"""Copies of source code that somebody tried to hide: renamed, reformatted, with dead code, with functions in another order.

Python is rewritten by its own syntax tree. Other languages are rewritten line by line, with regular expressions. Neither knows how
Lookalike reads code.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import random
import re
from collections.abc import Callable

KEPT = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"__init__", "__name__", "__file__", "__all__", "__doc__"}
C_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    alignas alignof auto bool break case catch char class const constexpr continue default define defined delete do double elif else endif
    enum explicit export extern false float for foreach friend goto if ifdef ifndef import include inline int last local long mutable my
    namespace next new noexcept nullptr operator our override package pragma private protected public redo register require return short
    signed sizeof static static_assert static_cast reinterpret_cast struct sub switch template this throw true try typedef typename
    undef union unless unsigned until use using virtual void volatile while std size_t uint64_t uint32_t int64_t function let var async
    await of in instanceof typeof yield extends super from as null undefined elsif and or not eq ne lt gt le ge cmp x qw print die
    shift push pop keys values each exists ref bless scalar
""",
    )
)
WORD = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]*\b")
NEW_NAMES = ("value", "item", "data", "result", "entry", "helper", "work", "state", "node", "index")


def new_name(name: str, seed: int) -> str:
    """Another name for a name: the same one every time."""
    generator = random.Random(f"{name}/{seed}")
    return f"{generator.choice(NEW_NAMES)}_{generator.randrange(10**4)}"


class _Renamer(ast.NodeTransformer):
    """Names that the file itself makes: of functions, classes, parameters, variables and attributes."""

    def __init__(self, tree: ast.AST, seed: int) -> None:
        made = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                made.add(node.name)
            elif isinstance(node, ast.arg):
                made.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                made.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                made.add(node.attr)
        self.names = {name: new_name(name, seed) for name in made - KEPT if not name.startswith("__")}

    def visit(self, node: ast.AST) -> ast.AST:
        for field in ("name", "arg", "id", "attr"):
            value = getattr(node, field, None)
            if isinstance(value, str) and value in self.names and not isinstance(node, ast.alias):
                setattr(node, field, self.names[value])
        return self.generic_visit(node)


class _Literals(ast.NodeTransformer):
    """Other numbers and other strings."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or node.value is None:
            return node
        if isinstance(node.value, int | float):
            return ast.Constant(value=node.value + 1)
        return ast.Constant(value=node.value[::-1]) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


class _Docless(ast.NodeTransformer):
    """Without doc strings."""

    def visit(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
        return self.generic_visit(node)


def renamed_python(source: str, other: str, seed: int) -> str:
    tree = ast.parse(source)
    return ast.unparse(_Renamer(tree, seed).visit(tree))


def reformatted_python(source: str, other: str, seed: int) -> str:
    """Without comments and doc strings, with two spaces, and laid out anew."""
    text = ast.unparse(ast.fix_missing_locations(_Docless().visit(ast.parse(source))))
    return "\n".join(re.sub(r"^ +", lambda found: found[0][::2], line) for line in text.split("\n")) if '"""' not in text else text


def literals_python(source: str, other: str, seed: int) -> str:
    return ast.unparse(ast.fix_missing_locations(_Literals().visit(ast.parse(source))))


def dead_code_python(source: str, other: str, seed: int) -> str:
    """Statements that do nothing in every function, and some functions of another file."""
    generator = random.Random(seed)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            dead = ast.parse(
                f"if {generator.random() < 0.5}:\n    unused_{generator.randrange(99)} = [{generator.randrange(99)}] * 3"
            ).body[0]
            node.body.insert(generator.randrange(len(node.body) + 1), dead)
    strange = [node for node in ast.walk(ast.parse(other)) if isinstance(node, ast.FunctionDef)]
    wanted = len(list(ast.walk(tree))) // 5
    generator.shuffle(strange)
    while strange and wanted > 0:
        found = strange.pop()
        wanted -= len(list(ast.walk(found)))
        tree.body.insert(generator.randrange(len(tree.body) + 1), found)
    return ast.unparse(ast.fix_missing_locations(tree))


def reordered_python(source: str, other: str, seed: int) -> str:
    """The functions and classes of the file, and the methods of each class, in another order."""
    generator = random.Random(seed)
    tree = ast.parse(source)
    for node in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        generator.shuffle(node.body)
    return ast.unparse(tree)


def half_python(source: str, other: str, seed: int) -> str:
    """Every second definition, among those of another file."""
    mine, theirs = ast.parse(source).body, ast.parse(other).body
    body = [*theirs[::2], *mine[seed % 2 :: 2]]
    return ast.unparse(ast.Module(body=body, type_ignores=[]))


def renamed_lines(source: str, other: str, seed: int) -> str:
    return WORD.sub(lambda found: found[0] if found[0] in C_WORDS or len(found[0]) < 2 else new_name(found[0], seed), source)


def reformatted_lines(source: str, other: str, seed: int) -> str:
    """Without comments that have a line of their own, braces on lines of their own, and other spaces."""
    lines = [line for line in source.split("\n") if not re.match(r"\s*(//|#(?!\s*(include|define|if|el|endif|pragma|undef))|/?\*)", line)]
    text = re.sub(r"[ \t]*\{\n", "\n{\n", "\n".join(lines))
    text = re.sub(r"^[ \t]+", lambda found: " " * (len(found[0].expandtabs(8)) // 2 * 3), text, flags=re.MULTILINE)
    return re.sub(r" ?([=+<>]=?|,) ?", lambda found: f"{found[1]} ", text)


def _functions(source: str) -> list[str]:
    """Pieces of a file that begin at the margin behind a blank line."""
    return [piece for piece in re.split(r"\n\n+(?=\S)", source) if piece.strip()]


def dead_code_lines(source: str, other: str, seed: int) -> str:
    generator = random.Random(seed)
    pieces, strange = _functions(source), _functions(other)
    generator.shuffle(strange)
    wanted = len(source) // 5
    while strange and wanted > 0:
        found = strange.pop()
        wanted -= len(found)
        pieces.insert(generator.randrange(len(pieces) + 1), found)
    return "\n\n".join(pieces)


def reordered_lines(source: str, other: str, seed: int) -> str:
    pieces = _functions(source)
    random.Random(seed).shuffle(pieces)
    return "\n\n".join(pieces)


def half_lines(source: str, other: str, seed: int) -> str:
    return "\n\n".join([*_functions(other)[::2], *_functions(source)[seed % 2 :: 2]])


Rewrite = Callable[[str, str, int], str]


def chain(*steps: Rewrite) -> Rewrite:
    def rewrite(source: str, other: str, seed: int) -> str:
        for step in steps:
            source = step(source, other, seed)
        return source

    return rewrite


PYTHON: dict[str, Rewrite] = {
    "renamed": renamed_python,
    "reformatted": reformatted_python,
    "renamed, reformatted": chain(renamed_python, reformatted_python),
    "… other literals": chain(literals_python, renamed_python, reformatted_python),
    "… dead code": chain(dead_code_python, renamed_python, reformatted_python),
    "… reordered": chain(reordered_python, renamed_python, reformatted_python),
    "… dead code, reordered": chain(dead_code_python, reordered_python, renamed_python, reformatted_python),
    "… half of it copied": chain(half_python, renamed_python, reformatted_python),
}
LINES: dict[str, Rewrite] = {
    "renamed": renamed_lines,
    "reformatted": reformatted_lines,
    "renamed, reformatted": chain(renamed_lines, reformatted_lines),
    "… dead code": chain(dead_code_lines, renamed_lines, reformatted_lines),
    "… reordered": chain(reordered_lines, renamed_lines, reformatted_lines),
    "… dead code, reordered": chain(dead_code_lines, reordered_lines, renamed_lines, reformatted_lines),
    "… half of it copied": chain(half_lines, renamed_lines, reformatted_lines),
}
