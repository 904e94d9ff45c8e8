"""How alike two things are, and why: ``compare(a, b)``.

A ``str`` is text, a mapping is a record, ``page()`` makes a page, ``code()`` source code, and a ``Path`` is read as what it is: a text, a
document (PDF, DOCX …), a page, or bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_several, check_share, check_str
from lookalike.comparison import files, texts
from lookalike.comparison.doubts import are_short, doubts
from lookalike.comparison.edits import edits
from lookalike.comparison.forms import IGNORED_FORMS, FormedPair
from lookalike.comparison.ignoring import Ignored, Templates, blanked, removed, share
from lookalike.comparison.outcome import Comparison
from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.reading import read_pair
from lookalike.comparison.score import score_of
from lookalike.errors import InputError
from lookalike.figures import shown_share
from lookalike.files.model import FileText
from lookalike.fingerprints.record import record
from lookalike.markup.page import Page
from lookalike.model import Span
from lookalike.recipe import DEFAULT
from lookalike.text.forms import check_forms, rewrite
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.embedders.opening import Model
    from lookalike.pages.representation import Centre
    from lookalike.pages.strings import StringSimilarity
    from lookalike.text.code import Code

DEFAULT_THRESHOLD = 0.8


def compare(
    left: str | Path | Page | FileText | Code | Mapping[str, Any],
    right: str | Path | Page | FileText | Code | Mapping[str, Any],
    *,
    kind: str | None = None,
    encoding: str | None = None,
    measures: Iterable[str] | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    ignore: Iterable[str | Path] | None = None,
    ignore_form: Iterable[str] | None = None,
    method: str | None = None,
    align: str | None = None,
    weight: str | float | None = None,
    strings: str | StringSimilarity | None = None,
    model: Model = None,
    centre: Centre = None,
) -> Comparison:
    """Compare two texts, two files, two records, two pages or two pieces of source code.

    Files are read as what they are: text in whatever encoding, PDF, DOCX and what else ``la.read`` reads, web pages (``.html``), and of
    files without text the bytes. ``kind`` overrules that: "text", "page", "file" (bytes), "record" (a JSON object) or "code" (in the
    language that the name says). A web page beside a text is compared by its main text.

    ``measures`` names the ones to compute (by default all that need no model); the score does not depend on it. "meaning" and
    "hybrid" need one: ``model`` is what ``embedder`` takes, or the default. ``ignore`` holds texts or files, such as templates and
    boilerplate, whose runs of tokens do not count. ``ignore_form`` names forms that do not count (``lookalike.text.forms``): by default
    what nobody sees and simplified or traditional script; ``[]`` for none.

    Of pages, ``method`` says what the score is of: "all" (by default), "tags", "structure", "style", "links", "forms", "text",
    "content" or "representation". For tags, ``align`` is "best" or "order", ``weight`` that of the head ("equal", "tags" or a number), and
    ``strings`` how strings are compared: "lexical", the name of a measure, or a function. By "representation", ``model`` reads the
    tags, and ``centre`` is what is subtracted from its vectors: see ``match_representations``.
    """
    check_share("threshold", threshold)
    names = None if measures is None else _check_names(measures)
    forms = None if ignore_form is None else check_forms(ignore_form)
    options: dict[str, Any] = {"method": method, "align": align, "weight": weight, "strings": strings, "model": model, "centre": centre}
    given = {name: value for name, value in options.items() if value is not None}
    left, right, read_notes, places = read_pair(left, right, kind, encoding)
    if forms is not None and not (isinstance(left, str) and isinstance(right, str)):
        raise InputError("ignore_form: only texts have forms that can be ignored; give two texts")
    if isinstance(left, str) and isinstance(right, str):
        given["forms"] = IGNORED_FORMS if forms is None else forms
    found = _compare_things(left, right, names, threshold, ignore, given)
    if not read_notes and not any(places):
        return found
    return replace(found, notes=[*read_notes, *found.notes], left_places=places[0], right_places=places[1])


def _compare_things(
    left: Any, right: Any, names: list[str] | None, threshold: float, ignore: Iterable[str | Path] | None, given: dict[str, Any]
) -> Comparison:
    if isinstance(left, Page) and isinstance(right, Page):
        if names is not None or ignore is not None:
            raise InputError("measures and ignore are for texts, and these are web pages: choose a method=, or compare their page_text()")
        return _compare_pages(left, right, threshold, given)
    forms = given.pop("forms", ())
    if _is_code(left) or _is_code(right):
        return _compare_code(left, right, names, threshold, ignore, given)
    model = given.pop("model", None) if isinstance(left, str) else None
    if model is not None and not texts.needs_model(names):
        raise InputError(f"model={model!r} has nothing to compute: name a measure that needs it, such as measures=['meaning']")
    if given:
        raise InputError(f"{', '.join(given)}: for pages only; make them with page()")
    if isinstance(left, str) and isinstance(right, str):
        return _compare_texts(FormedPair(left, right, forms), (left, right), names, threshold, ignore, model)
    if ignore is not None:
        raise InputError("ignore: only texts can be compared without a part of them; give two texts")
    if isinstance(left, Path) and isinstance(right, Path):
        return _compare_files(left, right, threshold)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _compare_records(left, right, threshold)
    kinds = f"{type(left).__name__} and {type(right).__name__}"
    raise InputError(
        f"cannot compare {kinds}: give two texts (str), two files (Path), two records (mappings), two pages (la.page) or code (la.code)"
    )


def _check_names(measures: Iterable[str]) -> list[str]:
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r}: give a list of names, such as [{measures!r}]")
    return [check_str("measures", name, "a list of names") for name in check_several("measures", measures, "a list of names")]


def _compare_texts(
    formed: FormedPair,
    originals: tuple[str, str],
    names: list[str] | None,
    threshold: float,
    ignore: Iterable[str | Path] | None,
    model: Model,
) -> Comparison:
    left, right = formed.left, formed.right
    templates = None if ignore is None else Templates(ignore, DEFAULT, rewritten=lambda text: rewrite(text, formed.forms).text)
    ignored, notes = _find_ignored(left, right, templates) if templates else (None, [])
    spans: tuple[tuple[Span, ...], tuple[Span, ...]] = (ignored.left_spans, ignored.right_spans) if ignored else ((), ())
    # Measures see the text without what is ignored; what has places sees spaces there, so that the places are true.
    placed = texts.TextPair(blanked(left, spans[0]), blanked(right, spans[1]), for_model=formed.for_models)
    rest = texts.TextPair(removed(left, spans[0]), removed(right, spans[1])) if any(spans) else placed
    found, left_out = texts.text_measures(rest, names, model)
    score = score_of(*rest.sides)
    passages = shared_passages(placed, spans)
    differing = formed.differing()
    doubted = doubts(*rest.sides, score.value)
    notes = ([score.note] if score.note else []) + doubted + ([f"form does not count: {', '.join(differing)}"] if differing else []) + notes
    return Comparison(
        score=score.value,
        threshold=threshold,
        kind="text",
        measures=found,
        edits=formed.edits(edits(placed.left, placed.right)),
        passages=formed.passages(passages),
        notes=notes + left_out,
        signature={"lookalike": __version__, "score": score.method, "recipe": placed.recipe.id}
        | ({"form": "+".join(formed.forms)} if formed.forms else {})
        | ({"ignored": templates.digest} if templates else {})
        | ({"model": _model_id(model)} if texts.needs_model(names) else {}),
        containment=containment(placed, passages),
        ignored=formed.ignored(ignored) if ignored else None,
        doubts=doubted if are_short(*rest.sides) else [],
        form=differing,
        left=originals[0],
        right=originals[1],
    )


def _model_id(model: Model) -> str:
    from lookalike.embedders.opening import embedder, embedder_id

    return embedder_id(embedder(model))


def _is_code(thing: object) -> bool:
    """Whether it is a ``Code``, without importing what makes one."""
    return type(thing).__name__ == "Code" and type(thing).__module__ == "lookalike.text.code"


def _compare_code(
    left: Any, right: Any, names: list[str] | None, threshold: float, ignore: Iterable[str | Path] | None, given: dict[str, Any]
) -> Comparison:
    from lookalike.comparison.code import SCORE, CodePair, code_edits, code_passages, code_score

    if not (_is_code(left) and _is_code(right)):
        kinds = f"{type(left).__name__} and {type(right).__name__}"
        raise InputError(f"cannot compare {kinds}: code is compared with code; make both with la.code")
    if given or texts.needs_model(names):
        raise InputError(f"{', '.join(given) or 'a measure by a model'}: not for code; compare the source as text instead")
    templates = None if ignore is None else Templates(ignore, left.recipe)
    ignored, notes = _find_ignored(left.text, right.text, templates) if templates else (None, [])
    spans: tuple[tuple[Span, ...], tuple[Span, ...]] = (ignored.left_spans, ignored.right_spans) if ignored else ((), ())
    rest = left.without(spans[0]), right.without(spans[1])
    pair = CodePair(*rest)
    found, left_out = texts.text_measures(pair, names)
    score, said = code_score(*pair.sides)
    passages = code_passages(pair, spans)
    return Comparison(
        score=score,
        threshold=threshold,
        kind="code",
        measures=found,
        edits=code_edits(*rest),
        passages=passages,
        notes=([said] if said else []) + notes + left_out,
        signature={"lookalike": __version__, "score": SCORE, "recipe": pair.recipe.id}
        | ({"ignored": templates.digest} if templates else {}),
        containment=containment(pair, passages),
        ignored=ignored,
        language=left.language,
        left=left.text,
        right=right.text,
    )


def _find_ignored(left: str, right: str, templates: Templates) -> tuple[Ignored, list[str]]:
    spans = templates.spans_in(left), templates.spans_in(right)
    found = Ignored(share(left, spans[0]), share(right, spans[1]), *spans)
    notes = [*templates.notes, f"ignored: {shown_share(found.left)} of the left text, {shown_share(found.right)} of the right text"]
    if found.left == found.right == 1:
        notes.append("nothing but ignored text on both sides: the score says nothing")
    return found, notes


def _compare_files(left: Path, right: Path, threshold: float) -> Comparison:
    found, notes = files.file_measures(left, right)
    return Comparison(
        score=files.file_score(found),
        threshold=threshold,
        kind="file",
        measures=found,
        notes=notes,
        signature={"lookalike": __version__, "score": files.SCORE},
        left=left,
        right=right,
    )


def _compare_records(left: Mapping[str, Any], right: Mapping[str, Any], threshold: float) -> Comparison:
    a, b = record(left), record(right)
    parts = a.parts(b)
    return Comparison(
        score=a.similarity(b),
        threshold=threshold,
        kind="record",
        measures={name: part.similarity for name, part in parts.items()},
        parts=parts,
        signature={"lookalike": __version__, "score": a.recipe},
        left=left,
        right=right,
    )


def _compare_pages(left: Page, right: Page, threshold: float, options: dict[str, Any]) -> Comparison:
    from lookalike.pages.scores import page_scores

    found = page_scores(left, right, **options)
    return Comparison(
        score=found.score,
        threshold=threshold,
        kind="page",
        measures=dict(found.measures),
        notes=found.notes,
        signature={"lookalike": __version__} | found.signature,
        tags=found.tags,
        left=left,
        right=right,
    )
