"""MinHash by permutations, as datasketch makes it: one permutation for each value, drawn by numpy's legacy generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError
from lookalike.fingerprints.minhash import EMPTY, PERMUTED_HASHES
from lookalike.recipe import Recipe
from lookalike.text.features import string_hash

_PRIME = (1 << 61) - 1


def _generator(seed: int) -> np.random.RandomState:
    if seed >= 1 << 32:
        raise InputError(f"recipe seed={seed}: numpy's legacy generator takes seeds below 2^32")
    return np.random.RandomState(seed)


@lru_cache(maxsize=16)
def _permutations(size: int, seed: int) -> NDArray[np.uint64]:
    """Pairs (a, b) drawn as datasketch draws them: a from [1, p), b from [0, p), alternately, by numpy's legacy generator."""
    generator = _generator(seed)
    pairs = [(generator.randint(1, _PRIME, dtype=np.uint64), generator.randint(0, _PRIME, dtype=np.uint64)) for _ in range(size)]
    return np.array(pairs, dtype=np.uint64).T


def _modulo_prime(hashes: NDArray[np.uint64], size: int, seed: int) -> NDArray[np.uint64]:
    """As datasketch 1.x permutes, and 2.x with ``scheme="legacy"``."""
    a, b = _permutations(size, seed)
    permuted: NDArray[np.uint64] = ((hashes * a + b) % np.uint64(_PRIME)) & np.uint64(EMPTY)
    return permuted


@lru_cache(maxsize=16)
def _odd_permutations(size: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """First all a, which are odd, then all b."""
    generator = _generator(seed)
    a = generator.randint(0, 1 << 31, size, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return a, generator.randint(0, 1 << 32, size, dtype=np.uint32)


def _modulo_word(hashes: NDArray[np.uint64], size: int, seed: int) -> NDArray[np.uint32]:
    """As datasketch 2.x permutes by default (``scheme="affine32"``): what goes beyond 32 bits is dropped."""
    a, b = _odd_permutations(size, seed)
    return hashes.astype(np.uint32) * a + b


# What each value is the minimum of, by the hash of an element.
_Permute = Callable[[NDArray[np.uint64], int, int], NDArray[np.unsignedinteger[Any]]]
_PERMUTED: dict[str, _Permute] = dict(zip(PERMUTED_HASHES, (_modulo_prime, _modulo_word), strict=True))


def permuted_sketch(strings: Iterable[bytes], size: int, recipe: Recipe) -> tuple[int, ...]:
    hash_of, permuted = string_hash(recipe.hash), _PERMUTED[recipe.hash]
    hashes = np.array([hash_of(string) for string in strings], dtype=np.uint64)
    values = np.full(size, EMPTY, dtype=np.uint64)
    for first in range(0, len(hashes), 1024):  # bounds the size of the product
        np.minimum(values, permuted(hashes[first : first + 1024, None], size, recipe.seed).min(axis=0), out=values)
    return tuple(values.tolist())
