"""``check``, the part above stores: do documents have the fingerprints of their texts?"""

from __future__ import annotations

from collections.abc import Iterator

from lookalike.stores.base import Reader, StoredDocument
from lookalike.stores.kinds.base import in_parts
from lookalike.stores.settings import Settings

AT_A_TIME = 1024


def other_fingerprints(reader: Reader, settings: Settings) -> Iterator[StoredDocument]:
    """Documents with something that is not as a kind would make it from their texts again, where that is quick."""
    columns = {name for kind in settings.stored for name in kind.remade([], settings)}
    records = (record for record in reader.scan(("text", "meta", *columns)) if record.text is not None)
    for part in in_parts(records, AT_A_TIME):
        texts = [record.text or "" for record in part]
        wrong: set[int] = set()
        for kind in settings.stored:
            for name, values in kind.remade(texts, settings).items():
                wrong |= {place for place, record in enumerate(part) if record.columns[name] != values[place]}
        yield from (part[place] for place in sorted(wrong))
