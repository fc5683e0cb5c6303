"""From rows to a tree of contexts and its operators: grown, cut back by held-out rows, joined."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray, check_option
from choquet.contexts.grouping import Grouping, Price, group_leaves, n_numbers, own_groups
from choquet.contexts.leaves import LeafOptions
from choquet.contexts.pruning import Path, best_by_bic, content_folds, weakest_links
from choquet.contexts.rows import LEAVES, Leaf, RankRows
from choquet.contexts.splits import SplitOptions
from choquet.contexts.tree import Tree, grow
from choquet.errors import DataError, OptionError, SupportWarning
from choquet.jobs import run_jobs
from choquet.lattice.threads import one_blas_thread
from choquet.watching import each

PRUNINGS = ("cv", "bic", "none")

_DUST = 1e-10
"""Mean squared error, in units of the target's variance, below which a fit is exact."""


_LONG = 200_000
"""Rows times squared sources beyond which kind and penalty are chosen one after the other."""

_WORSE = 0.1
"""Share by which a description may be worse than another that it is shorter than, however uncertain
the difference: of few rows one standard error can be a third of the error."""

_HEARD = 0.1
"""Error of a description, in shares of what its reference leaves unexplained, that is not heard."""


@dataclass(frozen=True)
class TreeOptions:
    """How contexts are grown and cut back; see `ContextualRegressor` for what each option means.

    Where `kinds` or `l2s` hold several, held-out rows choose between them. `number` is what a
    number of an operator costs, see `Price`; the logarithm of the number of rows by default.
    """

    kinds: tuple[Leaf, ...] = ("both",)
    l2s: tuple[float, ...] = (1.0,)
    convex: bool = False
    l1: float = 0.0
    loss: str = "squared"
    max_leaves: int = 16
    max_operators: int | None = None
    min_samples_leaf: float | None = None
    above: bool = True
    n_cuts: int = 0
    screen: int = 16
    prune: str = "cv"
    merge: bool = True
    number: float | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_option("prune", self.prune, PRUNINGS)
        for kind in self.kinds:
            check_option("leaf", kind, LEAVES)
        for name, value, least in (
            ("max_leaves", self.max_leaves, 1),
            ("max_operators", self.max_operators or 1, 1),
            ("screen", self.screen, 1),
        ):
            if not isinstance(value, int | np.integer) or value < least:
                raise OptionError(f"{name}={value!r} must be a whole number from {least}")
        if self.min_samples_leaf is not None and not self.min_samples_leaf >= 1:
            raise OptionError(f"min_samples_leaf={self.min_samples_leaf} must be at least 1")
        self.leaf(self.l2s[0])

    def leaf(self, l2: float) -> LeafOptions:
        """How a leaf is fitted with this penalty."""
        return LeafOptions(convex=self.convex, l1=self.l1, l2=l2, loss=self.loss)

    def min_samples(self, n_sources: int) -> float:
        """Least weight of a leaf: by default two rows for each rank, or 20."""
        if self.min_samples_leaf is not None:
            return float(self.min_samples_leaf)
        return float(max(20, 2 * (n_sources + 1)))


@dataclass(frozen=True, eq=False)
class Judge:
    """Targets that held-out outputs are compared with, where these are not what they are fitted to.

    The outputs of the `reference`, the full integral, need not be beaten, only met.
    """

    targets: FloatArray
    reference: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Squared errors of the reference."""
        return np.asarray((self.reference - self.targets) ** 2)


@dataclass(frozen=True, eq=False)
class Learned:
    """A tree with its operators, the rows it was learned from, and how it was cut back.

    Of the nested subtrees of the `path`, `chosen` was kept; `fold_errors` are mean squared errors
    of each on held-out rows, in units of the target's variance.
    """

    rows: RankRows
    tree: Tree
    grouping: Grouping
    l2: float
    path: Path
    chosen: int
    fold_errors: FloatArray | None


@dataclass(frozen=True, eq=False)
class _Grown:
    """One kind of leaf and one penalty: the tree, its subtrees, their errors on held-out rows."""

    rows: RankRows
    options: LeafOptions
    tree: Tree
    path: Path
    held_out: FloatArray | None
    """By row and subtree."""


def learn(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    options: TreeOptions,
    folds: IntArray | None = None,
    *,
    total: float | None = None,
    judge: Judge | None = None,
    floor: float = _DUST,
) -> Learned:
    """Grow, cut back and (where asked for) join.

    A row of fold -1 is never held out; without folds five are drawn for pruning by
    cross-validation. The weights of every operator sum to `total`, without a bias, where that is
    given. Held-out outputs are compared with what the `judge` knows, by default with `y`; below the
    `floor`, a mean squared error in units of the target's variance, all are equally good.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> found = learn(X, X.max(axis=1), None, TreeOptions(kinds=("rank",), convex=True))
    >>> found.grouping.coefficients.round(6) + 0.0
    array([[1., 0., 0., 0.]])
    """
    if not len(X):
        raise DataError("nothing to learn from: no row has a positive weight")
    widest = options.kinds[0] if len(set(options.kinds)) == 1 else "both"
    first = RankRows.from_data(
        X, y, weight, leaf=widest, convex=options.convex, total=total, n_cuts=options.n_cuts
    )
    _check_rows(X, first, options)
    if folds is None and options.prune == "cv":
        folds = content_folds(X, y, 5, np.random.default_rng(0))
    with one_blas_thread():
        targets = y if judge is None else judge.targets
        pairs = list(product(options.kinds, options.l2s))
        wide = first.n_sources > options.screen or len(X) * first.n_sources**2 > _LONG
        if wide:
            # Trees of so much take long: the kind is chosen first, then the penalty.
            pairs = [(kind, options.l2s[0]) for kind in options.kinds]
        grown = [
            _grown(first.with_leaf(kind), options, l2, folds, targets)
            for kind, l2 in each("growing contexts", pairs)
        ]
        if wide:
            rows = _choice(grown, options, judge, floor)[0].rows
            grown += [
                _grown(rows, options, l2, folds, targets)
                for l2 in each("trying penalties", options.l2s[1:])
            ]
        best, chosen = _choice(grown, options, judge, floor)
        tree = best.tree.cut(best.path.stops[chosen])
        grouping = _grouping(best, tree, options, judge, floor)
    tree, grouping = collapsed(tree, grouping)
    errors = None
    if best.held_out is not None:
        known = np.isfinite(best.held_out[:, 0])
        shares = best.rows.weight[known]
        means = shares @ best.held_out[known] / shares.sum()
        errors = np.maximum(means / best.rows.target_scale**2, _DUST)
    return Learned(best.rows, tree, grouping, best.options.l2, best.path, chosen, errors)


def _grown(
    rows: RankRows, options: TreeOptions, l2: float, folds: IntArray | None, targets: FloatArray
) -> _Grown:
    leaf = options.leaf(l2)
    splits = SplitOptions(options.min_samples(rows.n_sources), options.above, options.screen)
    tree = grow(rows, rows.everything(), leaf, splits, max_leaves=options.max_leaves)
    path = weakest_links(tree)
    several = len(path.alphas) > 1 or len(options.kinds) * len(options.l2s) > 1
    if options.prune != "cv" or folds is None or folds.max() < 1 or not several:
        return _Grown(rows, leaf, tree, path, None)
    # Between two cuts any price means the same subtree; the geometric mean stands for them.
    prices = np.zeros(len(path.alphas))
    prices[1:] = np.sqrt(path.alphas[1:] * np.append(path.alphas[2:], np.inf))
    held_out = np.full((len(rows.Z), len(prices)), np.nan)
    jobs = [
        (rows, leaf, splits, options.max_leaves, prices, folds == fold)
        for fold in range(int(folds.max()) + 1)
    ]
    parts = run_jobs(_held_out, jobs, n_jobs=options.n_jobs, title="folds")
    for fold, part in enumerate(parts):
        held_out[folds == fold] = (part - targets[folds == fold, None]) ** 2
    return _Grown(rows, leaf, tree, path, held_out)


def _held_out(
    rows: RankRows,
    leaf: LeafOptions,
    splits: SplitOptions,
    max_leaves: int,
    prices: FloatArray,
    held: BoolArray,
) -> FloatArray:
    """Outputs at each price of a leaf, for the rows held out while a tree was grown."""
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    # In a process of its own as in the first: one thread of linear algebra, the same sums.
    with one_blas_thread():
        tree = grow(rows, train, leaf, splits, max_leaves=max_leaves)
    own = weakest_links(tree)
    share = float(rows.weight[train].sum() / rows.weight.sum())
    # Errors are sums over rows, so a price shrinks with their number.
    wanted = [own.at(price * share) for price in prices]
    known = {k: outputs(rows, tree.cut(own.stops[k]), test) for k in set(wanted)}
    return np.column_stack([known[k] for k in wanted])


def outputs(rows: RankRows, tree: Tree, index: IntArray) -> FloatArray:
    """What the leaves of a tree give for some rows, in the units of the target."""
    values = None if rows.values is None else rows.values[index]
    place = tree.leaf_of(rows.ranks[index], values)
    fitted = np.einsum("ij,ij->i", rows.Z[index, :-1], tree.coefficients[place])
    return rows.output(fitted, index)


def _choice(
    grown: list[_Grown], options: TreeOptions, judge: Judge | None, floor: float
) -> tuple[_Grown, int]:
    """The smallest description within one standard error of the best, or of the reference.

    And not worse by more than `_WORSE`, so that uncertainty alone makes no description good.
    """
    first = grown[0]
    if first.held_out is None:
        numbers = n_numbers(first.rows, first.rows.leaf)
        return first, best_by_bic(first.tree, first.path, numbers) if options.prune == "bic" else 0
    whole = np.concatenate([one.held_out for one in grown], axis=1)
    known = np.isfinite(whole[:, 0])
    whole, weight = whole[known], first.rows.weight[known]
    share = weight / weight.sum()
    means = share @ whole
    best = int(means.argmin())
    bars = [whole[:, best]]
    if judge is not None:
        bars.append(judge.errors[known])
    good = means <= floor * first.rows.target_scale**2
    for bar in bars:
        away = whole - bar[:, None]
        rise = share @ away
        spread = np.sqrt((share**2) @ (away - rise) ** 2)
        good |= rise <= np.minimum(spread, _WORSE * (share @ bar))
    good[best] = True
    places = [(one, k) for one in grown for k in range(len(one.path.alphas))]
    sizes = [int(one.path.n_leaves[k]) * n_numbers(one.rows, one.rows.leaf) for one, k in places]
    order = [options.kinds.index(one.rows.leaf) for one, _ in places]
    return places[min(np.flatnonzero(good), key=lambda at: (sizes[at], order[at], means[at]))]


def _grouping(
    best: _Grown, tree: Tree, options: TreeOptions, judge: Judge | None, floor: float
) -> Grouping:
    most = options.max_operators or len(tree.leaves)
    if not options.merge and most >= len(tree.leaves):
        return own_groups(best.rows, tree)
    rows, count, noise = best.rows, float(best.rows.weight.sum()), floor
    if judge is not None:
        left = float(rows.weight @ judge.errors / rows.weight.sum()) / rows.target_scale**2
        noise = max(_HEARD * left, noise)
    price = Price(count, noise, options.number or float(np.log(max(count, 2.0))))
    return group_leaves(rows, tree, best.options, price, max_operators=most, kinds=LEAVES)


def collapsed(tree: Tree, grouping: Grouping) -> tuple[Tree, Grouping]:
    """The tree without conditions that lead to one operator whatever they find.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> found = learn(X, X.max(axis=1), None, TreeOptions(prune="none", l2s=(1e-3,)))
    >>> len(collapsed(found.tree, found.grouping)[0].leaves)
    1
    """
    labels = grouping.labels.copy()
    # Children come after their parents, so from the last node to the root all below is known.
    for node in range(len(labels) - 1, -1, -1):
        if tree.source[node] >= 0:
            below = labels[tree.yes[node]], labels[tree.no[node]]
            labels[node] = below[0] if below[0] == below[1] else -1
    small, kept = tree.cut_with(labels >= 0)
    return small, replace(grouping, labels=np.where(small.is_leaf, labels[kept], -1))


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
            f"operator is learned; give at least {2 * least:g} rows, or allow smaller contexts"
        )
    else:
        return
    warnings.warn(message, SupportWarning, stacklevel=5)
