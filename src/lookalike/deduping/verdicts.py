"""The decisions in words: who stays, who points at whom, and the clusters that makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.deduping.ledger import Ledger
from lookalike.deduping.parts import Parts
from lookalike.deduping.run import Decisions


class Removed(NamedTuple):
    """A document that was removed, and the kept one it was compared with; of a paragraph or line also where both stand."""

    id: Any
    kept_id: Any
    similarity: float
    file: str
    row: int
    span: tuple[int, int] | None = None  # code points of the text
    kept_span: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class Subjects(Protocol):
    """What verdicts need to know of the things they are about."""

    @property
    def documents(self) -> int: ...

    @property
    def empty(self) -> int: ...

    @property
    def without_text(self) -> int: ...

    def id(self, number: int, /) -> Any: ...

    def id_json(self, number: int, /) -> bytes: ...

    def file(self, number: int, /) -> str: ...

    def row(self, number: int, /) -> int: ...

    def part(self, number: int, /) -> tuple[int, int] | None: ...


@dataclass(frozen=True, slots=True)
class TextCuts:
    """Stretches to cut out of the texts of some documents."""

    column: str
    cuts: dict[int, list[tuple[int, int]]]

    def of_all(self, texts: Sequence[Any], first: int = 0) -> list[Any]:
        """The texts of consecutive documents; what is no text stays."""
        return [self.edited(document, text) if isinstance(text, str) else text for document, text in enumerate(texts, first)]

    def edited(self, document: int, text: str) -> str:
        spans = self.cuts.get(document)
        if not spans:
            return text
        at, kept = 0, []
        for start, end in spans:
            kept.append(text[at:start])
            at = end
        kept.append(text[at:])
        # Where the end was cut, the line breaks in front of it separate nothing any more.
        return "".join(kept) if at < len(text) else "".join(kept).rstrip()


@dataclass(slots=True)
class Verdicts:
    ledger: Subjects
    decisions: Decisions
    _clusters: NDArray[np.int64] | None = field(default=None, init=False)

    @property
    def kept(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.decisions.leaders < 0
        return found

    @property
    def removed_count(self) -> int:
        return int((self.decisions.leaders >= 0).sum())

    def removed_numbers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.decisions.leaders >= 0)

    def removed(self, document: int) -> Removed:
        leader = int(self.decisions.leaders[document])
        ledger, similarity = self.ledger, float(self.decisions.similarities[document])
        where = ledger.file(document), ledger.row(document)
        return Removed(ledger.id(document), ledger.id(leader), similarity, *where, ledger.part(document), ledger.part(leader))

    def removed_lines(self) -> Iterator[bytes]:
        """The audit trail as JSON lines. Ids are written as they were found."""
        import json

        ledger, leaders, similarities = self.ledger, self.decisions.leaders, self.decisions.similarities
        file, shown = None, b""
        for document in self.removed_numbers().tolist():
            if ledger.file(document) != file:
                file = ledger.file(document)
                shown = json.dumps(file, ensure_ascii=False).encode("utf-8", "backslashreplace")
            leader = int(leaders[document])
            part, kept_part = ledger.part(document), ledger.part(leader)
            spans = b', "span": [%d, %d], "kept_span": [%d, %d]' % (*part, *kept_part) if part and kept_part else b""
            yield b'{"id": %b, "kept_id": %b, "similarity": %b, "file": %b, "row": %d%b}\n' % (
                ledger.id_json(document),
                ledger.id_json(leader),
                repr(float(similarities[document])).encode(),
                shown,
                ledger.row(document),
                spans,
            )

    def clusters(self) -> NDArray[np.int64]:
        """The number of each document's cluster: kept documents are counted in order, the others go with theirs."""
        if self._clusters is None:
            kept, leaders = self.kept, self.decisions.leaders
            outside = np.arange(max(int(leaders.max(initial=0)) + 1 - len(kept), 0)) + int(kept.sum())  # documents of a store
            numbers = np.concatenate((np.cumsum(kept) - 1, outside))
            self._clusters = np.where(kept, numbers[: len(kept)], numbers[np.maximum(leaders, 0)])
        return self._clusters

    def annotation(self, document: int) -> dict[str, Any]:
        """What --annotate adds to a row. A kept document is its own leader."""
        leader = int(self.decisions.leaders[document])
        if leader < 0:
            return {"cluster": int(self.clusters()[document]), "kept": True, "kept_id": self.ledger.id(document), "similarity": 1.0}
        similarity = float(self.decisions.similarities[document])
        return {"cluster": int(self.clusters()[document]), "kept": False, "kept_id": self.ledger.id(leader), "similarity": similarity}


@dataclass(slots=True)
class DocumentVerdicts(Verdicts):
    """Verdicts on whole documents, which can be written."""

    ledger: Ledger
    edits: TextCuts | None = None
    parts: Verdicts | None = None  # what the edits cut, where they do
    _cut: dict[int, list[int]] | None = field(default=None, init=False)

    def annotation(self, document: int) -> dict[str, Any]:
        """Where texts are cut: the stretches to cut, and what is repeated in them, with the place that stays."""
        if self.edits is None or self.parts is None:
            return Verdicts.annotation(self, document)
        repeats = [self.parts.removed(number) for number in self._cut_parts().get(document, ())]
        return {
            "cut": [list(span) for span in self.edits.cuts.get(document, ())],
            "repeats": [
                {"span": list(each.span or ()), "kept_id": each.kept_id, "kept_span": list(each.kept_span or ())} for each in repeats
            ],
        }

    def _cut_parts(self) -> dict[int, list[int]]:
        """The parts that are cut, by their documents."""
        if self._cut is None:
            self._cut = {}
            if self.parts is not None and isinstance(self.parts.ledger, Parts):
                for number in self.parts.removed_numbers().tolist():
                    self._cut.setdefault(self.parts.ledger.owner(number), []).append(number)
        return self._cut

    def kept_of(self, reader: int) -> NDArray[np.bool_]:
        return self.kept[self.ledger.span(reader)]
