"""The kind ``minhash``: sketches of texts and the keys of their bands. ``near`` searches them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_several
from lookalike.errors import InputError
from lookalike.fingerprints.minhash import PERMUTED_HASHES, MinHash, fingerprint_recipe, minhashes
from lookalike.recipe import Recipe, require_same
from lookalike.segments.bands import BandSegment
from lookalike.stores.base import Additions, StoredDocument
from lookalike.stores.given import Given
from lookalike.stores.kinds.bands import band_entries, band_keys
from lookalike.stores.kinds.base import Kind
from lookalike.stores.kinds.columns import Column, Number, Numbers
from lookalike.stores.kinds.near import NEAR, TABLES, stored_minhash
from lookalike.stores.kinds.sketching import sketches_of
from lookalike.stores.kinds.verifying import content_digests
from lookalike.stores.postgres.copying import rows_of_arrays
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

STORED = "SELECT digest, bands FROM lookalike.sketches WHERE collection = %s AND digest = ANY (%s)"
REPLACE = "INSERT INTO lookalike.sketches VALUES (%s, %s, %s) ON CONFLICT (collection, digest) DO UPDATE SET bands = excluded.bands"


class _Minhash(Kind):
    """Columns: ``minhash``, ``size`` values each, and ``digest`` of the contents; documents with equal ones have equal features."""

    name = "minhash"
    columns = (Number("digest"), Numbers("bands", np.uint32), Numbers("minhash", np.uint32))
    segment = BandSegment
    built_from = ("digest", "bands")
    ways = (NEAR,)
    by_default = in_schema = True
    all_or_none = True
    checked_columns = ("digest", "minhash", "text")
    early_table = "sketches"

    def fits(self, recipe: Recipe) -> bool:
        return recipe.hash == "lookalike64" or recipe.hash in PERMUTED_HASHES

    def recipe(self, settings: Settings) -> str:
        return fingerprint_recipe(settings.lexical, settings.size)

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        shared = sketches_of(given, settings, workers)
        if shared is not None:
            values, keys, digests = shared.values, shared.keys, shared.digests
        else:
            values = minhashes(given.texts, size=settings.size, recipe=settings.recipe, workers=workers).reshape(-1)
            keys, digests = band_keys(values, settings), content_digests(given.texts, settings.recipe, workers)
        return {"bands": keys, "digest": digests} | ({} if settings.keep_text else {"minhash": values})

    def made_elsewhere(self, fingerprints: Any, settings: Settings) -> tuple[int, dict[str, Any]]:
        sketches = list(check_several("sketches", fingerprints, "a list of MinHashes, as la.minhash makes them"))
        for place, sketch in enumerate(sketches):
            if not isinstance(sketch, MinHash):
                raise InputError(f"sketches[{place}] is a {type(sketch).__name__}: give MinHashes, as la.minhash makes them")
            require_same(sketch.recipe, self.recipe(settings))
            if len(sketch.values) != settings.size:
                wanted = f"the collection keeps {settings.size}: make it with size={settings.size}"
                raise InputError(f"sketches[{place}] has {len(sketch.values)} values, and {wanted}")
        values = np.array([sketch.values for sketch in sketches], dtype=np.uint32).reshape(len(sketches), settings.size)
        # Equal sketches stand for equal contents here: there is nothing else to tell them apart by.
        digests = np.array([_native.checksum(row.view(np.uint8)) for row in values], dtype=np.uint64)
        return len(sketches), {"minhash": values.reshape(-1), "bands": band_keys(values, settings), "digest": digests}

    def remade(self, texts: Sequence[str], settings: Settings) -> dict[str, list[Any]]:
        return {"digest": content_digests(texts, settings.lexical).tolist()}

    def kept_columns(self, batch: Additions) -> Iterable[Column]:
        """Half a kilobyte of each document is left out where it can be made from the text again."""
        from_texts = None not in batch.texts
        return [each for each in self.columns if not (from_texts and each.name == "minhash")]

    def build(self, stretch: Stretch, settings: Settings) -> BandSegment:
        (_, digests), (rows, keys) = stretch.columns["digest"], stretch.columns["bands"]
        return BandSegment.build(rows, digests, keys, settings.banding.bands)

    @property
    def exported_columns(self) -> tuple[str, ...]:
        return ("digest", "minhash")

    def exported(self, record: StoredDocument, settings: Settings) -> dict[str, Any]:
        found = super().exported(record, settings)
        if found:
            found["contents"] = {"value": f"0x{record.columns['digest']:016x}", "recipe": settings.lexical.id}
        return found

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return MinHash(tuple(np.frombuffer(value, dtype=np.uint32).tolist()), self.recipe(settings)).to_dict()

    def read_print(self, data: Any, settings: Settings) -> Any:
        found = MinHash.from_dict(data)
        require_same(found.recipe, self.recipe(settings))
        if len(found.values) != settings.size:
            raise InputError(f"its MinHash has {len(found.values)} values, expected {settings.size}")
        return found.values

    def parsed(self, prints: Mapping[str, Any], settings: Settings) -> Any:
        digest = 0
        if "contents" in prints:
            require_same(prints["contents"]["recipe"], settings.lexical.id)
            digest = int(prints["contents"]["value"], 16)
        values = super().parsed(prints, settings)
        return None if values is None else (values, digest)

    def loaded(self, parsed: Sequence[Any], texts: Sequence[str | None], settings: Settings) -> dict[str, Any]:
        values = np.array([values for values, _ in parsed], dtype=np.uint32).reshape(-1)
        return {
            "minhash": values,
            "bands": band_keys(values, settings),
            "digest": np.array([digest for _, digest in parsed], dtype=np.uint64),
        }

    # PostgreSQL: a row of lookalike.sketches for each digest, with the entries of its bands

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        if "bands" not in batch.columns:
            return None
        digests, places = np.unique(batch.columns["digest"].view(np.int64), return_index=True)
        keys = band_entries(batch.columns["bands"].reshape(len(batch), -1)[places], collection)
        return {"collection": collection, "bands": keys.shape[1], "digests": digests, "keys": keys.reshape(-1)}

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        found = super().copied(batch, prepared, collection, settings)
        found.pop("bands", None)  # they are in sketches
        if None not in batch.texts:
            found.pop("minhash", None)  # as in ``kept_columns``
        return found

    def add_rows(self, connection: Connection, collection: int, ordinals: Sequence[int], batch: Additions, prepared: Any) -> None:
        if prepared is not None:
            connection.execute(TABLES.add(), prepared)

    def copy_rows(self, connection: Connection, prepared: Any) -> None:
        if prepared is None:
            return
        rows = rows_of_arrays(prepared["collection"], prepared["digests"], prepared["keys"].reshape(-1, prepared["bands"]))
        with connection.cursor().copy("COPY lookalike.sketches (collection, digest, bands) FROM STDIN (FORMAT binary)") as copy:
            copy.write(rows)

    def drop_unused(self, connection: Connection, collection: int) -> None:
        # A writer who finds a sketch does not add it again: while it is being removed there must be no writer.
        connection.execute("LOCK TABLE lookalike.sketches IN SHARE ROW EXCLUSIVE MODE")
        connection.execute(TABLES.drop(), (collection,))

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[StoredDocument], settings: Settings) -> dict[int, Any]:
        having = [each for each in records if each.columns["digest"] is not None and (each.columns["minhash"] or each.text is not None)]
        sketched = {each.columns["digest"]: stored_minhash(each, settings) for each in having}
        if not sketched:
            return {}
        values = np.frombuffer(b"".join(sketched.values()), dtype=np.uint32)
        digests = np.array(list(sketched), dtype=np.uint64).view(np.int64).tolist()
        made = dict(zip(digests, _entries(values, collection, settings).tolist(), strict=True))
        stored: dict[int, list[int]] = dict(connection.execute(STORED, (collection, digests), binary=True).fetchall())
        return {digest: bands for digest, bands in made.items() if stored.get(digest) != bands}

    def problem(self, wrong: int) -> str:
        return f"bands: {wrong} MinHashes have no sketch, or another one"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        connection.execute("LOCK TABLE lookalike.sketches IN SHARE ROW EXCLUSIVE MODE")
        for digest, bands in wrong.items():
            connection.execute(REPLACE, (collection, digest, bands))


def _entries(values: NDArray[np.uint32], collection: int, settings: Settings) -> NDArray[np.int64]:
    """The band keys of MinHashes as the index has them, a row each."""
    return band_entries(band_keys(values, settings).reshape(-1, settings.banding.bands), collection)


MINHASH = _Minhash()
