"""A model whose vectors are kept in an index, by the contents of the texts: what it has read once it never reads again."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lookalike.embedders.opening import Model, embedder_id
from lookalike.errors import InputError
from lookalike.index.index import Index
from lookalike.pages.representation import opened
from lookalike.pages.text_vectors import Windowed

if TYPE_CHECKING:
    from lookalike.embedders.base import Embedder

AT_A_TIME = 1000  # texts that are looked up, and kept, together


def kept_model(index: Index, model: Model = None) -> KeptModel:
    """The same model, which keeps the vectors of all texts in an index, and takes from there what it can.

    ``model`` is what ``la.match_representations`` takes. The index may be in any store; its documents are texts by a digest of their
    contents and the model, with the vectors in their meta. Vectors are kept to the bit.
    """
    if not isinstance(index, Index):
        raise InputError(f"index is a {type(index).__name__}: give an index, such as la.open('tags.lookalike', kinds='simhash')")
    chosen = opened(model)
    return _KeptWindows(index, chosen, chosen.window) if isinstance(chosen, Windowed) else KeptModel(index, chosen)


class KeptModel:
    """An embedder. ``read`` is how many texts the model has read itself."""

    def __init__(self, index: Index, model: Embedder) -> None:
        self._index, self._model = index, model
        self.name, self.version, self.read = model.name, model.version, 0

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        rows = self._rows(texts)
        return np.concatenate(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def _fresh(self, texts: list[str]) -> list[NDArray[np.float32]]:
        made: NDArray[np.float32] = np.asarray(self._model.encode(texts), dtype=np.float32)
        return [row[None] for row in made]

    def _rows(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The windows of each text."""
        found: dict[str, NDArray[np.float32]] = {}
        distinct = list(dict.fromkeys(texts))
        for first in range(0, len(distinct), AT_A_TIME):
            part = distinct[first : first + AT_A_TIME]
            found |= self._kept(part)
            missing = [text for text in part if text not in found]
            if missing:
                fresh = dict(zip(missing, self._fresh(missing), strict=True))
                self.read += len(missing)
                self._keep(fresh.items())
                found |= fresh
        return [found[text] for text in texts]

    def _kept(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        by_key = {self._key(text): text for text in texts}
        found: dict[str, NDArray[np.float32]] = {}
        for document in self._index.documents(by_key):
            try:
                data = base64.b64decode(document.meta["vectors"], validate=True)
                rows = np.frombuffer(data, dtype="<f4").reshape(int(document.meta["windows"]), -1)
            except (KeyError, TypeError, ValueError, binascii.Error):
                continue  # of somebody else: it is made again, and replaces this one
            found[by_key[str(document.id)]] = rows.astype(np.float32)
        return found

    def _keep(self, made: Iterable[tuple[str, NDArray[np.float32]]]) -> None:
        documents = []
        for text, rows in made:
            written = base64.b64encode(rows.astype("<f4").tobytes()).decode("ascii")
            documents.append((self._key(text), text, {"vectors": written, "windows": len(rows)}))
        self._index.add(documents, workers=1)

    def _key(self, text: str) -> str:
        digest = hashlib.sha256(f"{embedder_id(self._model)}\0".encode("utf-8", "surrogateescape"))
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


class _KeptWindows(KeptModel):
    """Of a model that gives the windows of a text one by one."""

    def __init__(self, index: Index, model: Embedder, window: int) -> None:
        super().__init__(index, model)
        self.window = window

    def window_vectors(self, texts: Sequence[str], /) -> list[NDArray[np.float32]]:
        return self._rows(texts)

    def _fresh(self, texts: list[str]) -> list[NDArray[np.float32]]:
        assert isinstance(self._model, Windowed)  # noqa: S101 - ``kept_model`` has looked
        return list(self._model.window_vectors(texts))

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return self._model.encode(texts)
