"""From rows to a pruned tree and its operators."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.contexts.leaves import LeafOptions
from choquet.contexts.merging import Operators, own_operators, shared_operators
from choquet.contexts.pruning import (
    Path,
    best_by_bic,
    best_by_folds,
    content_folds,
    weakest_links,
)
from choquet.contexts.rows import RankRows
from choquet.contexts.splits import SplitOptions
from choquet.contexts.tree import Tree, grow
from choquet.errors import DataError, OptionError, SupportWarning

__all__ = ["PRUNINGS", "Learned", "TreeOptions", "learn"]

PRUNINGS = ("cv", "bic", "none")


@dataclass(frozen=True)
class TreeOptions:
    """How a tree is grown and cut back; see `ContextualRegressor` for what each option means."""

    leaf: LeafOptions
    max_leaves: int = 16
    min_samples_leaf: float | None = None
    above: bool = True
    screen: int = 16
    prune: str = "cv"
    merge: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_option("prune", self.prune, PRUNINGS)
        for name, value, least in (
            ("max_leaves", self.max_leaves, 1),
            ("screen", self.screen, 1),
        ):
            if not isinstance(value, int | np.integer) or value < least:
                raise OptionError(f"{name}={value!r} must be a whole number from {least}")
        if self.min_samples_leaf is not None and not self.min_samples_leaf >= 1:
            raise OptionError(f"min_samples_leaf={self.min_samples_leaf} must be at least 1")

    def min_samples(self, n_sources: int) -> float:
        """Least weight of a leaf: by default two rows for each number learned there, or 20."""
        if self.min_samples_leaf is not None:
            return float(self.min_samples_leaf)
        return float(max(20, 2 * (n_sources + 1)))


@dataclass(frozen=True, eq=False)
class Learned:
    """A tree with its operators, the rows it was learned from, and how it was cut back.

    Attributes
    ----------
    rows : RankRows
    tree : Tree
    operators : Operators
    path : Path
        Nested subtrees of the grown tree.
    chosen : int
        Which of them was kept.
    fold_errors : array or None
        Mean squared error of each on held-out rows, in units of the target's variance.
    """

    rows: RankRows
    tree: Tree
    operators: Operators
    path: Path
    chosen: int
    fold_errors: FloatArray | None


def learn(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    options: TreeOptions,
    folds: IntArray | None = None,
) -> Learned:
    """Grow, prune and (where asked for) merge.

    Parameters
    ----------
    X : array of shape (n_samples, N)
    y : array of shape (n_samples,)
    weight : array of shape (n_samples,), optional
        All positive.
    options : TreeOptions
    folds : array of ints of shape (n_samples,), optional
        Fold of each row, for pruning by cross-validation; five drawn ones by default.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> found = learn(X, X.max(axis=1), None, TreeOptions(LeafOptions(convex=True)))
    >>> found.operators.coefficients.round(6) + 0.0
    array([[1., 0., 0., 0.]])
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if not len(X):
        raise DataError("nothing to learn from: no row has a positive weight")
    # Products of blocks are small: threads would wait for each other more than they work.
    with threadpool_limits(limits=1, user_api="blas"):
        return _learn(X, y, weight, options, folds)


def _learn(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    options: TreeOptions,
    folds: IntArray | None,
) -> Learned:
    rows = RankRows.from_data(X, y, weight, convex=options.leaf.convex)
    _check_rows(X, rows, options)
    splits = SplitOptions(options.min_samples(rows.n_sources), options.above, options.screen)

    # Rows are handed over, not closed over: processes that grow trees can share them in memory.
    grown = partial(_grown, options=options, splits=splits)
    tree = grown(rows, rows.everything())
    path = weakest_links(tree)
    chosen, errors = 0, None
    if options.prune == "bic":
        chosen = best_by_bic(tree, path, rows.n_sources + (not options.leaf.convex))
    elif options.prune == "cv" and len(path.alphas) > 1:
        if folds is None:
            folds = content_folds(X, y, 5, np.random.default_rng(0))
        if folds.max() > 0:
            chosen, errors = best_by_folds(rows, path, folds, grown, n_jobs=options.n_jobs)
    tree = tree.cut(path.stops[chosen])
    found = shared_operators(rows, tree, options.leaf) if options.merge else own_operators(tree)
    return Learned(rows, tree, found, path, chosen, errors)


def _grown(rows: RankRows, index: IntArray, *, options: TreeOptions, splits: SplitOptions) -> Tree:
    return grow(rows, index, options.leaf, splits, max_leaves=options.max_leaves)


def _check_rows(X: FloatArray, rows: RankRows, options: TreeOptions) -> None:
    """Warn where the data cannot tell contexts or weights apart."""
    least = options.min_samples(rows.n_sources)
    weight = float(rows.weight.sum())
    if np.ptp(X, axis=0).max(initial=0.0) == 0:
        message = "every source is constant, so the inputs say nothing of the target"
    elif rows.n_sources > 1 and np.ptp(X, axis=1).max(initial=0.0) == 0:
        message = "every row is tied in all sources, so there are no contexts to tell apart"
    elif rows.n_sources > 1 and options.max_leaves > 1 and weight < 2 * least:
        message = (
            f"{weight:g} rows are too few for a rule that leaves {least:g} on either side: one "
            "operator is learned; give more rows, or a smaller min_samples_leaf"
        )
    else:
        return
    warnings.warn(message, SupportWarning, stacklevel=6)
