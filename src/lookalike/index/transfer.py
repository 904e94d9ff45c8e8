"""Export and import: a collection as a JSONL or Parquet file, and back.

A row has ``id``, ``text``, ``meta`` and ``fingerprints``: those that cannot be made from the text again, each with its recipe.
Of a document with text these are the fuzzy digests, which may be of a file, the structure of a web page, and the vector, which
takes a model and time; of one without, all of them. The first row has ``settings`` too: what the collection was made with. The export
of an empty collection is a row with nothing else.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.formats.parquet import ParquetWriter
from lookalike.corpus.rows import Problem, Row, rows
from lookalike.corpus.writing import row_writer
from lookalike.errors import InputError, RecipeMismatch
from lookalike.fingerprints.fuzzy import Ssdeep, Tlsh
from lookalike.fingerprints.minhash import MinHash
from lookalike.fingerprints.simhash import SimHash
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.index.fingerprinting import Given, check_id, fingerprinted, stored_meta
from lookalike.keys import Key
from lookalike.model import Document
from lookalike.pages.prints import STRUCTURE as PAGE_STRUCTURE
from lookalike.recipe import require_same
from lookalike.stores.base import Batch, Record, Store
from lookalike.stores.page_structures import unpack_structure
from lookalike.stores.settings import Settings
from lookalike.stores.structures import pack_winnowing, unpack_winnowing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_A_TIME = 4096
COLUMNS = ["digest", "simhash", "ssdeep", "tlsh", "minhash", "winnowing", "meta", "text"]
_KINDS: dict[str, Any] = {"simhash": SimHash, "minhash": MinHash, "winnowing": Winnowing, "ssdeep": Ssdeep, "tlsh": Tlsh}
Progress = Callable[[int], object] | None
_log = logging.getLogger("lookalike")
_ANEW = "or let all fingerprints be made anew with refingerprint=True (--refingerprint)"


def export_documents(store: Store, path: Path, progress: Progress) -> int:
    count = 0
    # Older collections have no such columns.
    columns = [*COLUMNS, *(kind for kind in ("vector", "structure") if kind in store.settings.kinds)]
    settings: dict[str, Any] = {"settings": json.loads(store.settings.to_json())}
    with row_writer(path) as writer, store.reading() as reader:
        for record in reader.scan(columns):
            row = _exported(record, store.settings) | (settings if count == 0 else {})
            writer.write(_flat(row) if isinstance(writer, ParquetWriter) else row)
            count += 1
            if progress and count % AT_A_TIME == 0:
                progress(count)
        if count == 0:
            nothing = dict.fromkeys(("id", "text", "meta", "fingerprints"))
            writer.write(nothing | _flat(settings) if isinstance(writer, ParquetWriter) else settings)
    return count


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """As Parquet has it, where a column has one type."""
    return {name: json.dumps(value) if name in ("meta", "fingerprints", "settings") else value for name, value in row.items()}


def _exported(record: Record, settings: Settings) -> dict[str, Any]:
    import numpy as np

    prints: dict[str, Any] = {}
    if record.ssdeep is not None:
        prints["ssdeep"] = Ssdeep(record.ssdeep).to_dict()
    if record.tlsh is not None:
        prints["tlsh"] = Tlsh(record.tlsh).to_dict()
    if record.vector is not None:
        prints["vector"] = {"value": base64.b64encode(record.vector).decode(), "recipe": settings.recipe_of("vector")}
    if record.structure is not None:
        prints["structure"] = {"values": unpack_structure(record.structure).tolist(), "recipe": PAGE_STRUCTURE}
    if record.text is None:
        if record.simhash is not None:
            prints["simhash"] = SimHash(record.simhash, settings.bits, settings.recipe_of("simhash")).to_dict()
        if record.minhash is not None:
            values = tuple(np.frombuffer(record.minhash, dtype=np.uint32).tolist())
            prints["minhash"] = MinHash(values, settings.recipe_of("minhash")).to_dict()
            prints["contents"] = {"value": f"0x{record.digest:016x}", "recipe": settings.lexical.id}
        if record.winnowing is not None:
            hashes, starts, ends = (part.tolist() for part in unpack_winnowing(record.winnowing))
            spans = tuple(zip(starts, ends, strict=True))
            prints["winnowing"] = Winnowing(tuple(hashes), spans, settings.recipe.ngram, settings.recipe_of("winnowing")).to_dict()
    meta = json.loads(record.meta) if record.meta else {}
    return {"id": record.id, "text": record.text, "meta": meta, "fingerprints": prints}


@dataclass(frozen=True, slots=True)
class _Loaded:
    document: Document
    prints: Mapping[str, Any]
    contents: int | None
    structure: bytes | None = None
    vector: bytes | None = None


def load_documents(store: Store, path: Path, progress: Progress, *, refingerprint: bool = False) -> int:
    given = _rows(path)
    first = next(given, None)
    if first is not None:
        _agree(store, _settings_of(first), path, refingerprint)
        given = chain([first] if "id" in first.values and first.values["id"] is not None else [], given)
    loaded = (_parsed(row, store.settings, refingerprint) for row in given)
    count = 0
    while part := list(islice(loaded, AT_A_TIME)):
        for batch in _batches(part, store.settings):
            store.write(batch)
        count += len(part)
        if progress:
            progress(count)
    return count


def _settings_of(first: Row) -> str | None:
    """What an export says its collection was made with, as JSON."""
    given = first.values.get("settings")
    if given is None and first.values.get("id") is not None:
        return None
    return given if isinstance(given, str) else json.dumps(given)


def _agree(store: Store, given: str | None, path: Path, refingerprint: bool) -> None:
    """A collection takes what was exported from one with the same settings. An empty one gets them."""
    if given is None:
        _log.warning(
            "%s does not say what its collection was made with (an older release wrote it): its documents get the fingerprints that %s has",
            path,
            store.name,
        )
    if given is None or refingerprint:
        return
    try:
        name = f"export {str(path)!r}"
        exported = Settings.from_json(given, name, store.wanted, lambda check: Key.without_secret(check, f"{name} has no secret"))
    except (InputError, RecipeMismatch) as error:
        raise type(error)(f"{error}; {_ANEW}") from error
    if store.settings.keyed and not exported.keyed:
        raise RecipeMismatch(f"{str(path)!r} was exported from a collection that is not keyed, and this one is: {_ANEW[3:]}")
    if exported.keyed:
        # Secrets are not exported, and texts get the fingerprints of the collection that they come to anyway.
        exported = exported.with_key(store.settings.recipe.key or Key.new())
    if exported.to_json() != store.settings.to_json() and not store.adopt(exported):
        differing = _differences(exported, store.settings)
        raise RecipeMismatch(f"{str(path)!r} was exported from a collection with {differing}: load it into a new collection; {_ANEW}")


def _differences(exported: Settings, own: Settings) -> str:
    names = [
        name
        for name in ("kinds", "bits", "size", "keep_text", "threshold", "recall", "dimensions")
        if getattr(exported, name) != getattr(own, name)
    ]
    found = [f"{name}={getattr(exported, name)!r}, not {getattr(own, name)!r}" for name in names]
    if exported.recipe != own.recipe:
        found.insert(0, f"recipe {exported.recipe.id}, not {own.recipe.id}")
    return "; ".join(found)


def _rows(path: Path) -> Iterator[Row]:
    source = Source.of(path)
    if source.format not in ("jsonl", "parquet"):
        raise InputError(f"{str(path)!r}: an export is a .jsonl or .parquet file; add other files as documents")
    for row in rows(source):
        if isinstance(row, Problem):
            raise InputError(f"{row.place}: {row.kind}: {row.message}")
        yield row


def _parsed(row: Row, settings: Settings, refingerprint: bool) -> _Loaded:
    values = row.values
    try:
        meta, prints = (
            json.loads(part) if isinstance(part, str) else part or {} for part in (values.get("meta"), values.get("fingerprints"))
        )
        if not isinstance(values.get("text"), str | None) or not isinstance(meta, dict) or not isinstance(prints, dict):
            raise InputError("expected a text, and objects in 'meta' and 'fingerprints'")
        check_id(values.get("id"))
        if refingerprint and values.get("text") is not None:  # what does not depend on settings stays
            prints = {kind: prints[kind] for kind in ("ssdeep", "tlsh", "structure") if kind in prints}
        found = {kind: _KINDS[kind].from_dict(prints[kind]) for kind in settings.kinds if kind in prints and kind in _KINDS}
        for kind, each in found.items():
            require_same(each.recipe, settings.recipe_of(kind))
        contents = prints.get("contents")
        if contents is not None:
            require_same(contents["recipe"], settings.lexical.id)
        number = None if contents is None else int(contents["value"], 16)
        vector = _vector(prints["vector"], settings) if "vector" in settings.kinds and "vector" in prints else None
        structure = _parsed_structure(prints["structure"]) if "structure" in prints and "structure" in settings.kinds else None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise InputError(f"{row.place}: this is not a row of an export: {error}") from error
    return _Loaded(Document(values["id"], values["text"], meta), found, number, structure, vector)


def _vector(given: Mapping[str, Any], settings: Settings) -> bytes:
    import numpy as np

    require_same(given["recipe"], settings.recipe_of("vector"))
    vector = base64.b64decode(given["value"], validate=True)
    dimensions = settings.dimensions or 0
    if len(vector) != 2 * dimensions:
        raise InputError(f"its vector has {len(vector)} bytes, expected {2 * dimensions}")
    _native.vector_squares(np.frombuffer(vector, dtype=np.uint16), dimensions)  # checks the numbers
    return vector


def _vectors(loaded: list[_Loaded], settings: Settings) -> NDArray[np.uint16]:
    """Those that came along; the others are made from the texts."""
    import numpy as np

    from lookalike.index.meaning import text_vectors

    halves = np.zeros((len(loaded), settings.dimensions or 0), dtype=np.uint16)
    missing = [place for place, each in enumerate(loaded) if each.vector is None and each.document.text is not None]
    if missing:
        halves[missing] = text_vectors([loaded[place].document.text or "" for place in missing], settings).reshape(len(missing), -1)
    for place, each in enumerate(loaded):
        if each.vector is not None:
            halves[place] = np.frombuffer(each.vector, dtype=np.uint16)
    return halves.reshape(-1)


def _parsed_structure(data: Mapping[str, Any]) -> bytes:
    import numpy as np

    require_same(data["recipe"], PAGE_STRUCTURE)
    if not all(type(value) is int for value in data["values"]):
        raise InputError("the values of a structure are whole numbers")
    return np.unique(np.array(data["values"], dtype="<u8")).tobytes()


def _batches(loaded: list[_Loaded], settings: Settings) -> Iterable[Batch]:
    """Documents with text and documents without, apart: the first are fingerprinted."""
    with_text = [each for each in loaded if each.document.text is not None]
    if with_text:
        given = Given()
        for each in with_text:
            given.append(each.document)
        batch = fingerprinted(given, settings, 1, vectors=False)
        if "vector" in settings.kinds:
            batch.vector = _vectors(with_text, settings)
        for kind in ("ssdeep", "tlsh"):
            if kind in settings.kinds:
                setattr(batch, kind, [_digest(each, kind) for each in with_text])
        batch.structure = _structures(with_text)
        yield batch
    # A column of a batch is there for all of its documents or for none.
    without: dict[tuple[bool, bool], list[_Loaded]] = {}
    for each in loaded:
        if each.document.text is None:
            without.setdefault(("simhash" in each.prints, "minhash" in each.prints), []).append(each)
    for (has_simhash, has_minhash), group in without.items():
        yield _without_text(group, settings, has_simhash, has_minhash)


def _structures(loaded: list[_Loaded]) -> list[bytes | None] | None:
    return [each.structure for each in loaded] if any(each.structure for each in loaded) else None


def _digest(loaded: _Loaded, kind: str) -> str | None:
    value: str | None = loaded.prints[kind].value if kind in loaded.prints else None
    return value


def _without_text(group: list[_Loaded], settings: Settings, has_simhash: bool, has_minhash: bool) -> Batch:
    import numpy as np

    nothing = [None] * len(group)
    batch = Batch([each.document.id for each in group], nothing, [stored_meta(each.document.id, each.document.meta) for each in group])
    if has_simhash:
        width = max(settings.bits // 8, 8)
        data = b"".join(each.prints["simhash"].value.to_bytes(width, "little") for each in group)
        batch.simhash = np.frombuffer(data, dtype=np.uint64)
    if has_minhash:
        batch.minhash = np.array([each.prints["minhash"].values for each in group], dtype=np.uint32).reshape(-1)
        batch.digests = np.array([each.contents or 0 for each in group], dtype=np.uint64)
    batch.winnowing = [_packed(each.prints.get("winnowing")) for each in group]
    batch.ssdeep = [_digest(each, "ssdeep") for each in group]
    batch.tlsh = [_digest(each, "tlsh") for each in group]
    if "vector" in settings.kinds:
        batch.vector = _vectors(group, settings)
    batch.structure = _structures(group)
    return batch


def _packed(winnowing: Winnowing | None) -> bytes | None:
    import numpy as np

    if winnowing is None:
        return None
    spans: NDArray[np.uint32] = np.array(winnowing.spans, dtype=np.uint32).reshape(-1, 2)
    return pack_winnowing(np.array(winnowing.values, dtype=np.uint64), spans[:, 0], spans[:, 1])
