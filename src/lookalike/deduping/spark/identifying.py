"""The ids of rows, as the local engine writes them: JSON as it was found, or made of the file and the row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.corpus.arrow_values import arrow, values_of
from lookalike.corpus.value_batches import id_json
from lookalike.deduping.spark.decoding import FromColumns, FromLines
from lookalike.deduping.spark.inputs import Corpus, Places
from lookalike.deduping.spark.texts import BROADCAST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "n long, id string"


@dataclass(frozen=True)
class Identifying:
    """Rows → their numbers and ids."""

    decode: Any
    places: Places

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for piece in batches:
            if isinstance(self.decode, FromLines):
                found = self.decode(piece)
                numbers, ids = found.numbers, found.batch.ids
                tokens = [bytes(ids.data[a:b]) for a, b in zip(ids.offsets, ids.offsets[1:], strict=False)] if ids else [b""] * len(numbers)
            else:
                numbers = np.asarray(piece.column("n"))
                given = isinstance(self.decode, FromColumns) and "id" in piece.schema.names
                tokens = [id_json(value) or b"" for value in _ids(piece.column("id"))] if given else [b""] * len(numbers)
            shown = [token.decode() if token else self._made(n) for token, n in zip(tokens, numbers.tolist(), strict=True)]
            yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(shown, pa.string())], ["n", "id"])

    def _made(self, n: int) -> str:
        name, row = self.places.file(n), self.places.row(n)
        if not name:
            return str(row - 1)
        return json.dumps(name if row == 0 else f"{name}:{row}")


def _ids(column: Any) -> list[Any]:
    """Spark has no unsigned numbers of 64 bits: they come as decimals, without a fraction."""
    values = values_of(column)
    return [None if value is None else int(value) for value in values] if str(column.type).startswith("decimal") else values


def ids_of(corpus: Corpus, wanted: DataFrame, count: int) -> DataFrame:
    """The ids (``n, id``) of some rows. ``wanted`` has a column n; of these there are ``count``."""
    from pyspark.sql import functions as F

    rows = corpus.rows
    needed = ["n", "cell"] if corpus.format == "jsonl" else [name for name in ("n", "id") if name in rows.columns]
    chosen = F.broadcast(wanted) if count <= BROADCAST else wanted
    return rows.select(*needed).join(chosen, "n", "left_semi").mapInArrow(Identifying(corpus.decode(), corpus.places), SCHEMA)
