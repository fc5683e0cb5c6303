"""The best rank predicate to split a node by.

While rows are few their products and answers are kept (`sums`), and all predicates of several nodes
are priced together. Beyond, for source i the statistics of all thresholds t are cumulative sums
over its ranks: one pass over the rows of a node prices N - 1 predicates. Beyond `screen` sources a
score test goes first. With the node's own residuals e, a side A of a split gains exactly sᵀ G⁻¹ s
with s = Zᵀ e and G = Zᵀ Z over its rows; taking for G the node's own, times the side's share, costs
N numbers a row in place of N², and tells which sources and pairs deserve the exact gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts.leaves import LeafFit, LeafOptions, above_sums, fit_statistics, rank_sums
from choquet.contexts.rows import RankRows
from choquet.contexts.sums import Sums

_EQUAL = 1e-9
"""Relative difference of gains that is rounding: the first of equals wins."""


@dataclass(frozen=True)
class SplitOptions:
    """Which predicates are tried.

    Parameters
    ----------
    min_samples : float
        Least weight of the rows on either side.
    above : bool, default True
        Try "source i above source j" beside "source i among the top t".
    screen : int, default 16
        Up to so many sources every predicate is tried. Beyond, the thresholds of the `screen`
        sources and the `screen` pairs of these that a score test puts first.
    asked : tuple of ints, optional
        Try "source i above source j" for these sources alone, so that nothing is said of others.

    Examples
    --------
    >>> SplitOptions(20).screen
    16
    """

    min_samples: float
    above: bool = True
    screen: int = 16
    asked: tuple[int, ...] | None = None


class Side(NamedTuple):
    """One side of a split: its operator drawn to that of the node, its error, its statistics."""

    coefficients: FloatArray
    error: float
    statistics: FloatArray


@dataclass(frozen=True)
class Split:
    """A predicate with what it gains: a rank below `top`, or above another, or at least a value.

    `sides` are the rows for which it holds and the others, where they were priced together.
    """

    gain: float
    source: int
    top: int = -1
    above: int = -1
    value: float = np.nan
    sides: tuple[Side, ...] = field(default=(), compare=False, repr=False)

    def holds(self, rows: RankRows, index: IntArray) -> BoolArray:
        """Whether it holds in each of some rows."""
        if np.isfinite(self.value):
            assert rows.values is not None
            return np.asarray(rows.values[index, self.source] >= self.value)
        own = rows.asked[index, self.source]
        bound = rows.asked[index, self.above] if self.above >= 0 else self.top
        return np.asarray(own < bound)


def best_splits(
    nodes: Sequence[tuple[RankRows, IntArray, LeafFit]], options: LeafOptions, splits: SplitOptions
) -> list[Split | None]:
    """The predicate that lowers the squared error of each node most, or None if none may be used.

    A node is the rows of its tree, the numbers of its own among them, and its own fit, whose
    weights the children are drawn to. Nodes may be of several trees, whose rows have equally many
    columns.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet.contexts.leaves import fit_leaf
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 1] == X.max(axis=1), X.min(axis=1), X.max(axis=1))
    >>> rows, options = RankRows.from_data(X, y), LeafOptions()
    >>> fit = fit_leaf(rows, np.arange(300), options, np.zeros(3))
    >>> (split,) = best_splits([(rows, np.arange(300), fit)], options, SplitOptions(20))
    >>> split.source, split.top
    (1, 1)
    """
    if any(rows.sums is None or rows.n_sources > splits.screen for rows, _, _ in nodes):
        return [_one_by_one(*node, options, splits) for node in nodes]
    tried = [_priced_together(*node, splits) for node in nodes]
    yes = np.concatenate([one for one, _ in tried])
    lengths = [len(one) for one, _ in tried]
    if not len(yes):
        return [None] * len(nodes)
    whole = np.repeat([fit.statistics for _, _, fit in nodes], lengths, axis=0)
    centres = np.repeat([fit.coefficients[:-1] for _, _, fit in nodes], lengths, axis=0)
    packed = np.concatenate([yes, whole - yes])
    found, errors = fit_statistics(packed, options, np.concatenate([centres, centres]))
    best: list[Split | None] = []
    start, half = 0, len(yes)
    for (rows, _, fit), (_, kept), length in zip(nodes, tried, lengths, strict=True):
        both = np.arange(start, start + length)
        start += length
        gains = fit.error - errors[both] - errors[both + half]
        if not length:
            best.append(None)
            continue
        k = int(np.flatnonzero(gains >= gains.max() - _EQUAL * abs(gains.max()))[0])
        sides = tuple(
            Side(found[at], float(errors[at]), packed[at]) for at in (both[k], both[k] + half)
        )
        q, sums = int(kept[k]), rows.sums
        assert sums is not None
        best.append(
            Split(
                float(gains[k]), int(sums.source[q]), int(sums.top[q]), int(sums.above[q]),
                float(sums.value[q]), sides,
            )
        )  # fmt: skip
    return best


def _questions(sums: Sums, splits: SplitOptions, n_sources: int) -> BoolArray:
    """Which questions may be asked."""
    pairs = sums.above >= 0
    # Of two sources, "above" and "the largest" are the same.
    allowed = ~pairs | (splits.above and n_sources > 2)
    if splits.asked is not None:
        heard = np.isin(sums.source, splits.asked) & np.isin(sums.above, splits.asked)
        allowed &= pairs & heard  # a rank is a place among all sources
    return np.asarray(allowed)


def _priced_together(
    rows: RankRows, index: IntArray, fit: LeafFit, splits: SplitOptions
) -> tuple[FloatArray, IntArray]:
    """Statistics of the rows on the yes side of each question that may be asked of a node."""
    sums = rows.sums
    assert sums is not None
    total = float(rows.weight[index].sum())
    if total < 2 * splits.min_samples:
        return np.empty((0, sums.products.shape[1])), np.empty(0, dtype=np.int64)
    weight = np.zeros(len(rows.Z))
    weight[index] = fit.weight
    yes, inside = sums.questions(index, weight, rows.weight)
    enough = (inside >= splits.min_samples) & (total - inside >= splits.min_samples)
    kept = np.flatnonzero(_questions(sums, splits, rows.n_sources) & enough)
    return yes[kept], kept


def _one_by_one(
    rows: RankRows, index: IntArray, fit: LeafFit, options: LeafOptions, splits: SplitOptions
) -> Split | None:
    """The best split of rows that are too many to be kept with their products."""
    if (rows.n_sources < 2 and not rows.cuts) or rows.weight[index].sum() < 2 * splits.min_samples:
        return None
    weight = np.zeros(len(rows.Z))
    weight[index] = fit.weight
    sources, pairs = _candidates(rows, index, weight, fit, options, splits)
    columns = [*sources, *(sources + rows.n_sources if rows.cuts else ())]
    if splits.asked is not None:
        columns = []  # a rank is a place among all sources
    tried = [
        *(_thresholds(rows, index, weight, fit, options, splits, int(one)) for one in columns),
        _pair_splits(rows, index, weight, splits, pairs),
    ]
    sums = np.concatenate([yes for yes, _ in tried])
    if not len(sums):
        return None
    gains = np.split(_gains(sums, fit, options), np.cumsum([len(yes) for yes, _ in tried])[:-1])
    best: Split | None = None
    # Of equals the first wins, and so a threshold, which is the shorter sentence.
    for own, (_, found) in zip(gains, tried, strict=True):
        if len(own) and (best is None or own.max() > best.gain * (1 + 1e-9)):
            best = replace(found[int(own.argmax())], gain=float(own.max()))
    return best


def _gains(yes: FloatArray, fit: LeafFit, options: LeafOptions) -> FloatArray:
    centre = fit.coefficients[:-1].copy()
    errors = fit_statistics(np.concatenate([yes, fit.statistics - yes]), options, centre)[1]
    return np.asarray(fit.error - errors[: len(yes)] - errors[len(yes) :])


def _thresholds(
    rows: RankRows,
    index: IntArray,
    weight: FloatArray,
    fit: LeafFit,
    options: LeafOptions,
    splits: SplitOptions,
    column: int,
) -> tuple[FloatArray, list[Split]]:
    """Statistics of the rows where each predicate on one column holds, and the predicates."""
    out, counts = rank_sums(rows, index, weight, column)
    inside = np.cumsum(counts)
    allowed = (inside >= splits.min_samples) & (inside[-1] - inside >= splits.min_samples)
    # A threshold at a rank that the source never has is the one before it.
    tops = np.flatnonzero(allowed & (counts > 0))
    sums = np.cumsum(out, axis=0)
    if len(tops) > 2 * splits.screen:
        # Of very many thresholds first a few, then all around the best of them.
        step = len(tops) // 8
        near = int(_gains(sums[tops[::step]], fit, options).argmax()) * step
        tops = tops[max(near - step + 1, 0) : near + step]
    source = column % rows.n_sources
    if column == source:
        return sums[tops], [Split(0.0, source, top=int(top) + 1) for top in tops]
    return sums[tops], [Split(0.0, source, value=float(rows.cuts[source][top])) for top in tops]


def _pair_splits(
    rows: RankRows, index: IntArray, weight: FloatArray, splits: SplitOptions, pairs: IntArray
) -> tuple[FloatArray, list[Split]]:
    """Statistics of the rows where one source is above another, and those predicates."""
    yes, inside = above_sums(rows, index, weight, pairs)
    total = float(rows.weight[index].sum())
    allowed = (inside >= splits.min_samples) & (total - inside >= splits.min_samples)
    kept = np.flatnonzero(allowed)
    return yes[kept], [Split(0.0, int(i), above=int(j)) for i, j in pairs[kept]]


def _candidates(
    rows: RankRows,
    index: IntArray,
    weight: FloatArray,
    fit: LeafFit,
    options: LeafOptions,
    splits: SplitOptions,
) -> tuple[IntArray, IntArray]:
    """Sources whose thresholds are tried, and pairs of sources, one row each."""
    n_sources = rows.n_sources
    sources = np.arange(n_sources) if splits.asked is None else np.array(splits.asked)
    # Of two sources, "above" and "the largest" are the same.
    wanted = splits.above and n_sources > 2
    if len(sources) <= splits.screen:
        return sources, _pairs(sources) if wanted else _pairs(sources[:1])
    from choquet.contexts._kernels import pair_scores, rank_scores

    residual = rows.Z[:, -1] - rows.Z[:, :-1] @ fit.coefficients
    scores = np.zeros((n_sources, n_sources, rows.n_columns + 1))
    weights = np.zeros((n_sources, n_sources))
    rank_scores(rows.Z, residual, weight, rows.asked, index, scores, weights)
    total = scores[0].sum(axis=0)
    whiten = _whitening(fit.statistics, rows.n_columns, options.l2)
    inside = np.cumsum(weights, axis=1)[:, :-1]
    gains = _score_gains(np.cumsum(scores, axis=1)[:, :-1], inside, total, whiten, weights[0].sum())
    order = np.argsort(-gains[sources].max(axis=1), kind="stable")
    sources = np.sort(sources[order[: splits.screen]])
    if not wanted:
        return sources, _pairs(sources[:1])
    pairs = _pairs(sources)
    scores, above = np.zeros((len(pairs), rows.n_columns + 1)), np.zeros(len(pairs))
    pair_scores(rows.Z, residual, weight, rows.asked, index, pairs, scores, above)
    gains = _score_gains(scores, above, total, whiten, weights[0].sum())
    return sources, pairs[np.sort(np.argsort(-gains, kind="stable")[: splits.screen])]


def _pairs(sources: IntArray) -> IntArray:
    first, second = np.triu_indices(len(sources), 1)
    return np.column_stack([sources[first], sources[second]])


def _whitening(packed: FloatArray, n_columns: int, l2: float) -> FloatArray:
    """Matrix R with R Rᵀ the inverse of the node's products of (inputs, 1), dust aside."""
    width = n_columns + 2
    full = np.zeros((width, width))
    full[np.triu_indices(width)] = packed
    full += np.triu(full, 1).T
    values, vectors = np.linalg.eigh(full[:-1, :-1] + l2 * np.eye(width - 1))
    kept = values > 1e-10 * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _score_gains(
    scores: FloatArray, inside: FloatArray, total: FloatArray, whiten: FloatArray, whole: float
) -> FloatArray:
    yes = ((scores @ whiten) ** 2).sum(axis=-1)
    no = (((total - scores) @ whiten) ** 2).sum(axis=-1)
    outside = whole - inside
    possible = (inside > 1e-9 * whole) & (outside > 1e-9 * whole)
    share = np.where(possible, inside / whole, 0.5)
    return np.asarray(np.where(possible, yes / share + no / (1 - share), 0.0))
