"""Two types of one name in one namespace are undefined behaviour that no compiler reports: each of them may get the other's functions."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

NATIVE = Path(__file__).parents[2] / "native"
_DEFINED = re.compile(r"^(?:template <[^\n]*>\n)?(?:struct|class|enum class) (\w+(?:::\w+)*)[^;{\n]*\{", re.MULTILINE)
_ANONYMOUS = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)


def defined(text: str) -> list[str]:
    named = _ANONYMOUS.sub("", text)
    namespace = re.search(r"^namespace ([\w:]+) \{$", named, re.MULTILINE)
    return [f"{namespace[1] if namespace else ''}::{name}" for name in _DEFINED.findall(named)]


def test_every_type_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(NATIVE.glob("*/*.?pp")):
        for name in defined(path.read_text(encoding="utf-8")):
            places[name].append(str(path.relative_to(NATIVE)))
    assert len(places) > 50
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_types_are_found() -> None:
    anonymous = "namespace {\nstruct Hidden {\n};\n}  // namespace\n"
    named = (
        "namespace some {\nstruct Seen {\n};\ntemplate <class T>\nclass Also : Base {\n};\nstruct Announced;\nstruct Seen::Inner {\n};\n"
    )
    assert defined(anonymous + named) == ["some::Seen", "some::Also", "some::Seen::Inner"]
