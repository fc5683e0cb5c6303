"""Cost-complexity pruning: which subtree to keep, by BIC or by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts.rows import RankRows
from choquet.contexts.tree import Tree

__all__ = ["Path", "best_by_bic", "best_by_folds", "content_folds", "weakest_links"]


@dataclass(frozen=True, eq=False)
class Path:
    """Nested subtrees, from the whole tree to the root alone.

    Attributes
    ----------
    alphas : array
        Price of a leaf from which on each subtree is the best.
    stops : array of bools of shape (n_subtrees, n_nodes)
        Nodes at which each subtree ends; leaves of the whole tree always do.
    n_leaves : array of ints
    errors : array
        Squared error of each subtree on the rows it was grown from.
    """

    alphas: FloatArray
    stops: BoolArray
    n_leaves: IntArray
    errors: FloatArray

    def at(self, alpha: float) -> int:
        """Number of the subtree that is best at a price of a leaf."""
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1


def _reached(tree: Tree, stops: BoolArray) -> list[int]:
    """Nodes of a subtree, parents first."""
    found, pending = [], [0]
    while pending:
        node = pending.pop()
        found.append(node)
        if not stops[node]:
            pending += [int(tree.yes[node]), int(tree.no[node])]
    return found


def weakest_links(tree: Tree) -> Path:
    """Cut, again and again, the inner node that gains least error a leaf.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet.contexts.tree import Tree
    >>> ends = np.array([-1, -1, -1])
    >>> split = np.array([0, -1, -1])
    >>> kids = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> errors = np.array([5.0, 1.0, 1.0])
    >>> tree = Tree(split, np.array([1, 0, 0]), ends, *kids, np.zeros((3, 2)), errors, np.ones(3))
    >>> weakest_links(tree).alphas, weakest_links(tree).n_leaves
    (array([0., 3.]), array([2, 1]))
    """
    stops = tree.is_leaf.copy()
    alphas, all_stops, n_leaves, errors = [0.0], [], [], []
    while True:
        nodes = _reached(tree, stops)
        below = np.where(stops, tree.error, 0.0)
        leaves = stops.astype(np.int64)
        for node in reversed(nodes):
            if not stops[node]:
                children = [tree.yes[node], tree.no[node]]
                below[node], leaves[node] = below[children].sum(), leaves[children].sum()
        all_stops.append(stops.copy())
        n_leaves.append(int(leaves[0]))
        errors.append(float(below[0]))
        inner = np.array([node for node in nodes if not stops[node]], dtype=np.int64)
        if not len(inner):
            break
        prices = (tree.error[inner] - below[inner]) / (leaves[inner] - 1)
        least = max(float(prices.min()), alphas[-1])
        stops[inner[prices <= least * (1 + 1e-12)]] = True
        alphas.append(least)
    return Path(np.array(alphas), np.array(all_stops), np.array(n_leaves), np.array(errors))


def best_by_bic(tree: Tree, path: Path, n_parameters: int) -> int:
    """Subtree of least Bayesian information criterion, each leaf having so many parameters.

    References
    ----------
    Schwarz (1978), "Estimating the dimension of a model".
    """
    weight = float(tree.weight[0])
    # Below the dust of the root's error, a fit is exact and no leaf is worth another.
    floor = max(1e-12 * float(tree.error[0]), 1e-300)
    size = path.n_leaves * (n_parameters + 1)
    criterion = weight * np.log(np.maximum(path.errors, floor) / weight) + np.log(weight) * size
    # The last of equals is the smallest.
    return int(len(criterion) - 1 - np.argmin(criterion[::-1]))


def content_folds(X: FloatArray, y: FloatArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Fold of each row, equal rows in the same one: a row of weight two is as two rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> folds = content_folds(X, np.zeros(3), 2, np.random.default_rng(0))
    >>> bool(folds[0] == folds[2] != folds[1])
    True
    """
    whole = np.ascontiguousarray(np.column_stack([X, y]) + 0.0)
    keys = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    distinct, place = np.unique(keys, return_inverse=True)
    return np.asarray((rng.permutation(len(distinct)) % n_folds)[place.ravel()])


def best_by_folds(
    rows: RankRows,
    path: Path,
    folds: IntArray,
    grown: Callable[[RankRows, IntArray], Tree],
    *,
    n_jobs: int | None = None,
) -> tuple[int, FloatArray]:
    """Subtree whose price of a leaf has the least error on held-out rows, and those errors.

    Parameters
    ----------
    rows : RankRows
    path : Path
        Of the tree grown from all rows.
    folds : array of ints
        Fold of each row; a row of fold -1 is never held out.
    grown : callable
        Grows a tree from the rows with the given numbers.
    n_jobs : int, optional
        Folds at a time, through joblib.
    """
    from joblib import Parallel, delayed

    # Between two cuts any price means the same subtree; the geometric mean stands for them.
    prices = np.sqrt(path.alphas * np.append(path.alphas[1:], np.inf))
    prices[0] = 0.0
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_fold_errors)(rows, prices, folds == fold, grown)
        for fold in range(int(folds.max()) + 1)
    )
    total = np.sum(parts, axis=0)
    # Below a ten-thousandth of a millionth of the variance, errors are rounding: the smallest wins.
    errors = np.maximum(total / float(rows.weight.sum()), 1e-10)
    return int(len(errors) - 1 - np.argmin(errors[::-1])), errors


def _fold_errors(
    rows: RankRows, prices: FloatArray, held: BoolArray, grown: Callable[[RankRows, IntArray], Tree]
) -> FloatArray:
    """Squared error at each price of a leaf, on the rows held out while a tree was grown."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    # In a process of its own as in the first: one thread of linear algebra, the same sums.
    with threadpool_limits(limits=1, user_api="blas"):
        tree = grown(rows, train)
        risks = _risks(rows, tree, test)
    own = weakest_links(tree)
    share = float(rows.weight[train].sum() / rows.weight.sum())
    by_subtree = [_sum_of_leaves(tree, own.stops[k], risks) for k in range(len(own.alphas))]
    # Errors are sums over rows, so a price shrinks with their number.
    return np.array([by_subtree[own.at(price * share)] for price in prices])


def _sum_of_leaves(tree: Tree, stops: BoolArray, risks: FloatArray) -> float:
    return float(sum(risks[node] for node in _reached(tree, stops) if stops[node]))


def _risks(rows: RankRows, tree: Tree, index: IntArray) -> FloatArray:
    """Squared error of every node's own operator on the rows that pass through it."""
    risks = np.zeros(len(tree.source))
    pending: Sequence[tuple[int, IntArray]] = [(0, index)]
    while pending:
        (node, part), *rest = pending
        residual = rows.Z[part, -1] - rows.Z[part, :-1] @ tree.coefficients[node]
        risks[node] = float(rows.weight[part] @ residual**2)
        if tree.source[node] >= 0:
            own = rows.ranks[part, tree.source[node]]
            other = tree.above[node]
            held = own < (rows.ranks[part, other] if other >= 0 else tree.top[node])
            rest += [(int(tree.yes[node]), part[held]), (int(tree.no[node]), part[~held])]
        pending = rest
    return risks
