"""Forms: differences of how a text is written that are no differences of what it says.

One vocabulary for recipes (``normalize="fold+script"``), ``compare``, ``feedback``, measures and the command line. A text is rewritten so
that texts which differ in these forms alone become equal, and every span of the new text has its place in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lookalike.checks import check_several, check_str
from lookalike.errors import InputError
from lookalike.recipe import FORMS as FORMS
from lookalike.text.forms import characters, markup, numerals, script
from lookalike.text.forms.rewriting import Rewritten as Rewritten
from lookalike.text.forms.rewriting import Step

Writer = Callable[[str], Step | str | None]

# Applied in the order of FORMS: markup may hide everything else, and numbers are written in any width.
WRITERS: dict[str, tuple[Writer, ...]] = {
    "markup": (
        markup.hidden,
        markup.tags,
        markup.autolinks,
        markup.links,
        markup.tables,
        markup.lines,
        markup.cells,
        markup.emphasis,
        markup.entities,
    ),
    "invisible": (characters.invisible, characters.composed),
    "hyphenation": (characters.hyphenation,),
    "quotes": (characters.quotes, characters.runs_of_marks),
    "width": (characters.voiced_kana, characters.width),
    "script": (script.one_script,),
    "accents": (characters.loose_accents, characters.accents),
    "numerals": (numerals.numerals, numerals.shares, numerals.signs),
}
ABOUT = {
    "markup": "Markdown, HTML tags and entities",
    "invisible": "zero-width characters, and letters with combining marks (NFC, NFD)",
    "hyphenation": "words broken at the end of a line",
    "quotes": "quotes, dashes and ellipses",
    "width": "full and half width",
    "script": "simplified and traditional Chinese",
    "accents": "accents of Latin and Greek letters",
    "numerals": "Chinese numerals, separators of thousands, digits of other scripts",
}
UNSEEN = ("invisible",)  # nobody sees a difference
REMEDY = f"a list of {', '.join(FORMS)}"


def check_forms(value: Iterable[str] | None, default: tuple[str, ...] = (), name: str = "ignore_form") -> tuple[str, ...]:
    """The names of forms, each once and in the order in which they are applied; ``default`` for None."""
    if value is None:
        return default
    if isinstance(value, str):
        raise InputError(f"{name}={value!r}: give {REMEDY}, such as [{value!r}]")
    wanted = {check_str(name, each, REMEDY) for each in check_several(name, value, REMEDY)}
    if unknown := sorted(wanted - set(FORMS)):
        raise InputError(f"{name}={unknown[0]!r}: choose from {', '.join(FORMS)}")
    return tuple(form for form in FORMS if form in wanted)


def rewrite(text: str, forms: tuple[str, ...]) -> Rewritten:
    """The text without these forms, and the way back to its places."""
    found = Rewritten(text)
    for form in forms:
        for write in WRITERS[form]:
            found.apply(form, write(found.text))
    return found


def for_models(text: str, forms: tuple[str, ...]) -> str:
    """The text without these forms as people would write it: traditional characters become simplified ones, and no others.

    Where any form does not count, capitals do not either: a model knows few words that are written so.
    """
    if not forms:
        return text
    read = characters.in_sentence_case(rewrite(text, tuple(form for form in forms if form != "script")).text)
    return script.simplified(read) if "script" in forms else read


def without_form(text: str, forms: Iterable[str]) -> str:
    """The text as it is compared when these forms do not count.

    >>> without_form("**“三百二十”** 元", ["markup", "quotes", "numerals"])
    '"320" 元'
    """
    return rewrite(check_str("text", text), check_forms(forms, name="forms")).text
