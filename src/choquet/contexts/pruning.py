"""Cost-complexity pruning: which subtree to keep, by BIC or by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts.tree import Tree


@dataclass(frozen=True, eq=False)
class Path:
    """Nested subtrees, from the whole tree to the root alone.

    Each is the best from a price of a leaf on (`alphas`), ends at the nodes that `stops` marks,
    leaves of the whole tree always among them, and has a squared error on the rows it was grown
    from.
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
    >>> ends, none = np.array([-1, -1, -1]), np.full(3, np.nan)
    >>> split = np.array([0, -1, -1])
    >>> kids = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> errors = np.array([5.0, 1.0, 1.0])
    >>> tops = np.array([1, 0, 0])
    >>> tree = Tree(split, tops, ends, none, *kids, np.zeros((3, 2)), errors, np.ones(3))
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
