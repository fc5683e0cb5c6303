"""Subsets of any number of sources: bit masks of several 64-bit words.

A list of subsets is a (K, W) array of uint64, W = ⌈N / 64⌉, word 0 holding sources 0 to 63.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.errors import DataError
from choquet.lattice.masks import check_dense

WordArray = npt.NDArray[np.uint64]


def n_words(n_sources: int) -> int:
    """Words for a subset of that many sources.

    Examples
    --------
    >>> n_words(64), n_words(65)
    (1, 2)
    """
    return (n_sources + 63) // 64


def pack(membership: npt.ArrayLike) -> WordArray:
    """Words from a boolean array (K, N) of memberships.

    Examples
    --------
    >>> pack([[True, False, True]])
    array([[5]], dtype=uint64)
    """
    inside = np.asarray(membership, dtype=np.bool_)
    padded = np.zeros((len(inside), 64 * n_words(inside.shape[1])), dtype=np.bool_)
    padded[:, : inside.shape[1]] = inside
    packed = np.packbits(padded, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


def membership(words: WordArray, n_sources: int) -> BoolArray:
    """Boolean array (K, N) of memberships from words.

    Examples
    --------
    >>> membership(np.array([[5]], dtype=np.uint64), 3)
    array([[ True, False,  True]])
    """
    raw = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :n_sources].astype(np.bool_)


def as_sorts(sorts: npt.ArrayLike, n_sources: int | None = None) -> IntArray:
    """Check that each row is a permutation of the source numbers.

    Examples
    --------
    >>> as_sorts([2, 0, 1])
    array([[2, 0, 1]])
    """
    rows = np.atleast_2d(np.asarray(sorts))
    if rows.ndim != 2 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise DataError(f"sorts must be rows of source numbers, not shape {np.shape(sorts)}")
    n = rows.shape[1] if n_sources is None else n_sources
    if rows.shape[1] != n:
        raise DataError(f"a sort of {n} sources has {n} entries, not {rows.shape[1]}")
    wrong = (np.sort(rows, axis=1) != np.arange(n)).any(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"row {row} is no sort: {rows[row].tolist()} does not hold 0..{n - 1} once each"
        )
    return np.ascontiguousarray(rows, dtype=np.int64)


def chains_of(sorts: IntArray) -> WordArray:
    """Words of the chain A_1 ⊂ … ⊂ A_N of each sort: an array (n, N, W).

    Examples
    --------
    >>> chains_of(np.array([[2, 0, 1]]))[0, :, 0].tolist()
    [4, 5, 7]
    """
    n, n_sources = sorts.shape
    chains = np.zeros((n, n_sources, n_words(n_sources)), dtype=np.uint64)
    bits = np.uint64(1) << (sorts % 64).astype(np.uint64)
    for word in range(chains.shape[2]):
        in_word = np.where(sorts // 64 == word, bits, np.uint64(0))
        np.bitwise_or.accumulate(in_word, axis=1, out=chains[:, :, word])
    return chains


def chains(X: FloatArray) -> tuple[WordArray, FloatArray]:
    """Chain of each row as words (n_samples, n_sources, W), and its gaps (n_samples, n_sources).

    Examples
    --------
    >>> words, gaps = chains(np.array([[0.2, 0.6]]))
    >>> words[0, :, 0], gaps[0]
    (array([2, 3], dtype=uint64), array([0.4, 0.2]))
    """
    order = np.argsort(-X, axis=1, kind="stable")
    ordered = np.take_along_axis(X, order, axis=1)
    gaps = ordered.copy()
    gaps[:, :-1] -= ordered[:, 1:]
    return chains_of(order), gaps


def _keys(words: WordArray) -> npt.NDArray[Any]:
    """One sortable key for each row: the word itself, or the bytes of several."""
    if words.shape[1] == 1:
        return np.ascontiguousarray(words)[:, 0]
    # Big-endian bytes, last word first, sort like the number they spell.
    big = np.ascontiguousarray(words[:, ::-1].astype(">u8"))
    return big.view(np.dtype((np.void, 8 * words.shape[1])))[:, 0]


def unique_rows(words: WordArray) -> tuple[WordArray, IntArray]:
    """Distinct subsets, ascending as numbers, and for each row the position of its subset.

    Examples
    --------
    >>> rows, inverse = unique_rows(np.array([[6], [1], [6]], dtype=np.uint64))
    >>> rows[:, 0].tolist(), inverse.tolist()
    ([1, 6], [1, 0, 1])
    """
    _, first, inverse = np.unique(_keys(words), return_index=True, return_inverse=True)
    return words[first], inverse.reshape(-1)


def find_rows(table: WordArray, words: WordArray) -> IntArray:
    """Position of each subset in a table made by `unique_rows`, or -1.

    Examples
    --------
    >>> table = np.array([[1], [6]], dtype=np.uint64)
    >>> find_rows(table, np.array([[6], [7]], dtype=np.uint64)).tolist()
    [1, -1]
    """
    if not len(table):
        return np.full(len(words), -1, dtype=np.int64)
    keys, wanted = _keys(table), _keys(words)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


def steps_outside(table: WordArray, sorts: IntArray) -> BoolArray:
    """Which of the sets A_1, …, A_{N-1} along each walk are not in a table: (n, N - 1).

    Examples
    --------
    >>> steps_outside(np.array([[1]], dtype=np.uint64), np.array([[0, 1], [1, 0]])).tolist()
    [[False], [True]]
    """
    steps = chains_of(sorts)[:, :-1]
    return (find_rows(table, steps.reshape(-1, steps.shape[2])) < 0).reshape(steps.shape[:2])


def to_dense_masks(words: WordArray, n_sources: int) -> IntArray:
    """Subsets as plain masks, for arrays of 2**N values.

    Examples
    --------
    >>> to_dense_masks(np.array([[6]], dtype=np.uint64), 3)
    array([6])
    """
    check_dense(n_sources)
    return words[:, 0].astype(np.int64)
