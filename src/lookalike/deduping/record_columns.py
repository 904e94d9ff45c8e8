"""Which columns of a row make a record, with their weights and measures: ``name:0.4,address:0.6,day:1:date``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lookalike.checks import check_several
from lookalike.errors import InputError

WANTED = "give NAME:WEIGHT with commas between them, a mapping of names to weights, or a list of names"


class RecordColumns(NamedTuple):
    """Empty ``names``: all columns but the id."""

    names: tuple[str, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()
    measures: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> dict[str, Any]:
        weights, measures = dict(self.weights), dict(self.measures)
        return {name: [weights.get(name, 1.0), *([measures[name]] if name in measures else [])] for name in self.names}

    def check(self, data: Mapping[str, Any]) -> None:
        """An ``InputError`` for a row with a value that cannot be compared."""
        from lookalike.fingerprints.record import comparable_data  # most runs are about texts

        comparable_data(data, dict(self.weights), dict(self.measures))


def parse_columns(columns: object) -> RecordColumns:
    if columns is None:
        return RecordColumns()
    rules = _rules(columns)
    if not rules:
        raise InputError(f"columns: there are none; {WANTED}")
    weights = {name: weight for name, (weight, _) in rules.items()}
    measures = {name: measure for name, (_, measure) in rules.items() if measure is not None}
    if not any(weights.values()):
        raise InputError("columns: every weight is 0, so there is nothing to compare: give one column a weight")
    from lookalike.fingerprints.record import record  # most runs are about texts

    checked = record({}, weights=weights, measures=measures)
    return RecordColumns(tuple(rules), checked.weights, checked.measures)


def _rules(columns: object) -> dict[str, tuple[Any, Any]]:
    if isinstance(columns, str):
        found = [_written(part) for part in columns.split(",")]
    elif isinstance(columns, Mapping):
        found = [(name, *(rule if isinstance(rule, tuple) and len(rule) == 2 else (rule, None))) for name, rule in columns.items()]
    else:
        found = [(name, 1.0, None) for name in check_several("columns", columns, WANTED.removeprefix("give "))]
    for name, _, _ in found:
        if not isinstance(name, str) or not name:
            raise InputError(f"columns: {name!r:.60} is no name of a column; {WANTED}")
    if len({name for name, _, _ in found}) < len(found):
        raise InputError(f"columns={columns!r:.120}: a column is there twice; name each once")
    return {name: (weight, measure) for name, weight, measure in found}


def _written(part: str) -> tuple[str, Any, str | None]:
    name, _, rest = part.strip().partition(":")
    weight, _, measure = rest.partition(":")
    try:
        return name, float(weight) if weight else 1.0, measure or None
    except ValueError:
        raise InputError(f"columns: {part.strip()!r:.60} has the weight {weight!r:.40}, which is no number; {WANTED}") from None
