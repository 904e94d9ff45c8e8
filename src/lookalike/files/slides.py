"""PPTX: the slides in their order, with their notes."""

from __future__ import annotations

from lookalike.files import xml
from lookalike.files.collecting import Collected
from lookalike.files.packages import read_properties, relations
from lookalike.files.word import WordText
from lookalike.files.zips import Zip

_BESIDE = {"notesSlide": "notes", "comments": "comments", "chart": "chart", "diagramData": "diagram"}


def read_pptx(package: Zip, out: Collected) -> None:
    read_properties(package, "docProps/core.xml", out)
    main = next((each.target for each in relations(package, "").values() if each.type == "officeDocument"), "ppt/presentation.xml")
    parts = relations(package, main)
    order: list[str] = []

    def slide(attributes: dict[str, str]) -> None:
        order.extend(value for name, value in attributes.items() if name.endswith(":id") and value in parts)

    xml.parse(package.stream(main), {"sldId": slide}, {}, lambda _: None, main)
    for number, reference in enumerate(order, 1):
        _read_slide(package, parts[reference].target, number, out)


def _read_slide(package: Zip, part: str, number: int, out: Collected) -> None:
    out.budget.page()
    if part not in package:
        return
    with out.place("slide", f"slide {number}"):
        out.paragraph(_text(package, part))
        for each in sorted(relations(package, part).values()):
            if each.type in _BESIDE and each.target in package:
                with out.place(_BESIDE[each.type], _BESIDE[each.type]):
                    out.paragraph(_text(package, each.target))


def _text(package: Zip, part: str) -> str:
    runs = WordText()
    runs.parse(package, part)
    return "".join(runs.pieces).replace(" \t", "\t").replace("\t\n", "\n")
