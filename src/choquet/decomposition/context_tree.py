"""The default way: contexts grown as conditions, from the rows of data or from walks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.contexts.from_walks import NUMBER, Described, describe_walks
from choquet.contexts.learn import Judge, Learned, TreeOptions, collapsed, learn
from choquet.contexts.meeting import Together
from choquet.contexts.pruning import content_folds
from choquet.contexts.rows import LEAVES, Leaf, RankRows, Weights
from choquet.decomposition.cost import Cost, Trial, held_out_trials
from choquet.decomposition.methods import Method, Task
from choquet.decomposition.operators import UNKNOWN
from choquet.decomposition.result import stable_shares
from choquet.decomposition.trees import TreeDecomposition, describe, describe_measure, walk_errors
from choquet.errors import DataError, OptionError
from choquet.lattice.threads import one_blas_thread
from choquet.measures import AbstractMeasure
from choquet.walks import DataSupport, all_sorts, list_walks, random_sorts

_LISTED = 7
"""Sources up to which all walks are looked at: 5,040."""

_WALKS = 10_000
"""Walks times sources that are drawn, beyond."""

_CHECKED = 10_000
"""Walks that errors are taken over where not all can be."""

_ALSO = 6
"""Sources up to which walks are described beside the rows: up to 720, a fraction of a second."""

_AGAIN = 10
"""Sources up to which a model is learned again without held-out rows, about a second each time.
Beyond, the measure stays as it was given, and at most three parts are held out."""

_SEARCHED = 6
"""The same for a model that chooses its options by cross-validation (`cv`), which takes longer."""

_DEAR = 0.1
"""Error that conditions on values must save on held-out rows to be taken, in shares of the full
integral's; and more than one standard error."""

_BETTER = 2 / 3
"""Ratio of the error to the full integral's from which on they are tried: learned without held-out
rows, the integral errs more than the one that is described. Beyond `_ALSO` sources, where it takes
longer, they are tried where ranks alone do not save as much as values would have to."""

_CUTS = 8
"""Thresholds of each source that are tried then."""

_WORK = 4_000_000
"""Rows times cubed sources that contexts are grown from: 4,000 rows of 10 sources, a few seconds.
Of more rows so many are drawn, which tell the outputs of a model as well."""

_MANY = 2000
"""Rows from which on three parts are held out in turn, where it would be five: errors are known
well enough."""

_LEAVES = 12
"""Leaves of a tree that is grown from rows, before leaves that are alike share an operator."""


@dataclass(frozen=True, kw_only=True)
class ContextTree(Method[TreeDecomposition]):
    """Contexts grown as conditions, with an operator by source and by rank fitted in each.

    With rows, operators are fitted to the model's output on them, and the number of contexts is the
    smallest whose error on held-out rows is within one standard error of the full integral's or of
    the best. Without rows, walks are described under independent uniform inputs, and what a number
    more must save is an information criterion over the values of the measure. Contexts that can
    share an operator do.

    Parameters
    ----------
    max_operators : int, default 8
    leaf : {"auto", "both", "rank", "source"}, default "auto"
        What operators may weigh: inputs by source, by rank, or both; "auto" takes the shortest that
        does.
    floor : float, default 0.01
        Root mean square error, in shares of the output's standard deviation, below which
        descriptions count as equally good: operators that differ by less are one.
    l2 : float, default 1.0
        With rows: ridge of each operator towards that of the wider context, in rows.
    min_samples : float, optional
        With rows: least number of them in a context; 20, or 2 (N + 1) if that is more.
    n_cuts : int, optional
        With rows: let conditions ask for a source's own value as well, at so many thresholds. By
        default they ask for ranks alone, unless targets show that this costs much: eight thresholds
        a source lower the error on held-out rows by more than a tenth of that of the full integral,
        learned again without them, and by more than one standard error. They are tried where ranks
        alone do not predict far better than the integral.
    folds : int, default 5
        With rows and targets: parts that are held out in turn to find what the description costs; 0
        leaves that out.
    epsilon : float, default 0
        Take walks with Φ < epsilon as supported; 0 those with Φ = 0.

    Examples
    --------
    >>> from choquet import ContextTree, Measure, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> print(decompose(g, method=ContextTree(max_operators=2)))
    2 operators describe the integral of 3 sources exactly.
      1. max, 66.7 % of walks: gpr is not the largest
      2. median, 33.3 % of walks: gpr is the largest
    """

    max_operators: int = 8
    leaf: Leaf | Literal["auto"] = "auto"
    floor: float = 0.01
    l2: float = 1.0
    min_samples: float | None = None
    n_cuts: int | None = None
    folds: int = 5
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_option("leaf", self.leaf, ("auto", *LEAVES))
        for name, value, least in (
            ("max_operators", self.max_operators, 1),
            ("n_cuts", self.n_cuts or 0, 0),
            ("folds", self.folds, 0),
        ):
            if not isinstance(value, int | np.integer) or value < least:
                raise OptionError(f"{name}={value!r} must be a whole number from {least}")
        if self.min_samples is not None and not self.min_samples >= 1:
            raise OptionError(f"min_samples={self.min_samples!r} must be at least 1")
        if not 0 <= self.floor < 1:
            raise OptionError(f"floor={self.floor} must be a share, from 0 to below 1")

    @one_blas_thread()
    def decompose(self, task: Task) -> TreeDecomposition:
        """Describe the rows, or the walks of the measure."""
        return self._from_walks(task) if task.X is None else self._from_rows(task)

    # -- walks -------------------------------------------------------------------------------------

    def _from_walks(self, task: Task) -> TreeDecomposition:
        if self.n_cuts:
            raise OptionError("n_cuts asks for values, which walks do not have: give rows, X")
        measure, n = task.measure, task.measure.n_sources
        sorts, counts, complete = self._walks(task, _WALKS // n)
        weights = measure.weights_of_sorts(sorts)
        found = self._of_walks(sorts, weights, counts)
        if not complete:
            sorts, counts, complete = self._walks(task, _CHECKED)
            weights = measure.weights_of_sorts(sorts)
        return describe_measure(
            found.applied(sorts, weights, counts),
            measure,
            sorts,
            counts,
            complete=complete,
            bias=task.bias,
            support=task.support,
            n_walks=len(sorts),
            **task.known,
        )

    def _of_walks(self, sorts: IntArray, weights: FloatArray, counts: FloatArray) -> Described:
        return describe_walks(
            sorts,
            weights,
            counts,
            # Independent values that walks tell of: those of the measure, but no more than walks.
            n_values=max(int(min(2.0 ** sorts.shape[1] - 2, len(sorts))), 2),
            max_operators=self.max_operators,
            kinds=LEAVES if self.leaf == "auto" else (self.leaf,),
            floor=self.floor,
        )

    def _walks(self, task: Task, most: int) -> tuple[IntArray, FloatArray, bool]:
        """Walks to describe, how much each counts, and whether these are all there are."""
        measure, support, n = task.measure, task.support, task.measure.n_sources
        restricted = support is not None or measure.known_words is not None
        if n <= _LISTED and not restricted:
            return all_sorts(n), np.ones(factorial(n)), True
        if not restricted:
            drawn = np.unique(random_sorts(n, most, task.rng), axis=0)
            return drawn, np.ones(len(drawn)), False
        if n <= _LISTED and support is not None:
            kept = support.supported_sorts(self.epsilon)
            if not len(kept):
                raise DataError(
                    f"the data ({support!r}) support no walk with Φ = 0; allow unsupported subsets "
                    "with a larger epsilon=, take all walks with support=None, or give the rows, X"
                )
            return kept, np.ones(len(kept)), True
        walks = list_walks(measure, support, epsilon=self.epsilon, most=most, rng=task.rng)
        return walks.sorts, walks.counts.astype(np.float64), walks.complete

    # -- rows --------------------------------------------------------------------------------------

    def _from_rows(self, task: Task) -> TreeDecomposition:
        assert task.X is not None
        X, measure = task.X, task.measure
        output = measure.integral(X) + task.bias
        some = _drawn(task)
        made, cost = self._best(some)
        everything = replace(task, support=None, X=None)
        sorts, counts, complete = self._walks(everything, _CHECKED)
        error, by_operator = UNKNOWN, [UNKNOWN] * made.n_operators
        stable = np.full(made.n_operators, np.nan)
        if not made.tree.has_thresholds:
            weights = Weights(made.rank_weights, made.source_weights, made.biases - task.bias)
            labels = made.operator_of_sorts(sorts)
            error, by_operator = walk_errors(
                measure.bounds_of_sorts(sorts), sorts, counts, labels, weights
            )
            stable = stable_shares(task.identification, sorts, labels, made.n_operators)
        operators = tuple(
            replace(operator, error=one, data_share=operator.share, stable_share=float(pinned))
            for operator, one, pinned in zip(made.operators, by_operator, stable, strict=True)
        )
        # Operators refer to the contexts, not the other way round: they stay as they are.
        return replace(
            made,
            operators=operators,
            measure=measure,
            support=DataSupport.from_data(X) if task.support is None else task.support,
            error=error,
            exact=complete,
            n_walks=len(sorts),
            spread=float(output.std()),
            row_error=float(np.sqrt(np.mean((made.predict(X) - output) ** 2))),
            cost=cost,
            intercept=task.bias,
            n_drawn=0 if some is task or some.X is None else len(some.X),
            **task.known,
        )

    def _best(self, task: Task) -> tuple[TreeDecomposition, Cost | None]:
        """Contexts from the rows, or those of the measure's walks if fewer of these do as well.

        Rows are few, and greedy conditions follow their chance; walks know all of the measure. So
        where fewer operators of the walks predict held-out targets as well as the contexts from
        rows do, within one standard error, these are taken; as many if they predict better.
        """
        X, y, measure = task.X, task.y, task.measure
        assert X is not None
        made = self._candidates(measure, task.bias, X, y, also=False)
        folds = None if y is None else self._parts(X, y)
        if y is None or folds is None:
            return made[0], None
        also = made[0].n_operators > 1 and not self.n_cuts
        if also and measure.n_sources <= _ALSO and measure.is_dense:
            other = self._candidates(measure, task.bias, X, y, also=True)[1:]
            few = other[0].n_operators <= made[0].n_operators
            made += other if few and all(one.share > 0 for one in other[0].operators) else []
        again = _Again(task)
        trials = self._trials(again, made, X, y, folds)
        taken = 0
        if len(made) > 1:
            away = trials[1].errors - trials[0].errors
            fewer = made[1].n_operators < made[0].n_operators
            taken = int(away.mean() <= fewer * away.std() / np.sqrt(len(away)))
        best, cost = made[taken], trials[taken].cost
        limit = _BETTER if measure.n_sources <= _ALSO else 1 - _DEAR
        dear = cost.ratio > limit and not cost.negligible
        if self.n_cuts is None and again.model is not None and dear:
            by_value = replace(self, n_cuts=_CUTS)
            with _quiet():
                other = by_value._candidates(measure, task.bias, X, y, also=False)
            (trial,) = by_value._trials(again, other, X, y, folds)
            saved = trials[taken].errors - trial.errors
            if saved.mean() > max(_DEAR * cost.integral, saved.std() / np.sqrt(len(saved))):
                best, cost = other[0], trial.cost
        return best, cost

    def _trials(
        self,
        again: _Again,
        made: list[TreeDecomposition],
        X: FloatArray,
        y: FloatArray,
        folds: IntArray,
    ) -> list[Trial]:
        """What descriptions cost, from those made in the same way without each fold."""

        def described(train: IntArray) -> tuple[Any, list[TreeDecomposition]]:
            with _quiet():
                own, bias = again.without(train, X, y)
                parts = self._candidates(own, bias, X[train], y[train], also=len(made) > 1)
            return lambda Z: own.integral(Z) + bias, parts

        labels = [(one.operator_of(X), one.n_operators) for one in made]
        return held_out_trials(X, y, folds, labels, described, refitted=again.model is not None)

    def _parts(self, X: FloatArray, y: FloatArray) -> IntArray | None:
        """Fold of each row; None where nothing is to be held out."""
        if self.folds < 2 or len(X) < 2 * self.folds:
            return None
        folds = content_folds(X, y, _n_parts(X, self.folds), np.random.default_rng(1))
        return folds if folds.max() > 0 else None

    def _candidates(
        self,
        measure: AbstractMeasure,
        bias: float,
        X: FloatArray,
        y: FloatArray | None,
        *,
        also: bool,
    ) -> list[TreeDecomposition]:
        """Contexts from the rows and, where asked for, those of the measure's walks."""
        output = measure.integral(X) + bias
        found = [self._learned(measure, bias, X, output, y)]
        if also:
            sorts = all_sorts(measure.n_sources)
            walks = self._of_walks(sorts, measure.weights_of_sorts(sorts), np.ones(len(sorts)))
            tree, grouping = collapsed(walks.tree, walks.grouping)
            weights = grouping.in_units(walks.rows)
            weights = weights._replace(bias=weights.bias + bias)
            rows = RankRows.from_data(X, output, leaf="both", total=found[0].rows.total)
            grouping = replace(grouping, coefficients=rows.from_units(weights))
            if walks.meets and rows.total is not None:
                again = Together(rows, tree, grouping, sorts, l2=self.l2).fitted()
                grouping = grouping if again is None else again
            tree = tree.weighed(tree.leaf_of(rows.ranks), rows.weight)
            found.append(replace(found[0], rows=rows, tree=tree, grouping=grouping))
        return [describe(one, measure.sources) for one in found]

    def _learned(
        self,
        measure: AbstractMeasure,
        bias: float,
        X: FloatArray,
        output: FloatArray,
        y: FloatArray | None,
    ) -> Learned:
        options = TreeOptions(
            kinds=LEAVES if self.leaf == "auto" else (self.leaf,),
            l2s=(self.l2,),
            max_leaves=max(_LEAVES, self.max_operators),
            max_operators=self.max_operators,
            min_samples_leaf=self.min_samples,
            n_cuts=self.n_cuts or 0,
            number=NUMBER,
        )
        # A fusion of inputs gives back what all of them agree on, and so do its operators.
        fuses = measure.monotone and measure.normal and not bias
        return learn(
            X,
            output,
            None,
            options,
            total=float(measure.total) if fuses else None,
            folds=content_folds(X, output, _n_parts(X, 5), np.random.default_rng(0)),
            judge=None if y is None else Judge(y, output),
            floor=self.floor**2,
        )


def _n_parts(X: FloatArray, most: int) -> int:
    """Parts that are held out in turn: three of many rows or sources, which take longer."""
    return most if X.shape[1] <= _AGAIN and len(X) < _MANY else min(most, 3)


def _drawn(task: Task) -> Task:
    """The task, with some of its rows where they are very many."""
    assert task.X is not None
    most = max(_WORK // task.X.shape[1] ** 3, 500)
    if len(task.X) <= most:
        return task
    kept = np.sort(np.random.default_rng(0).choice(len(task.X), most, replace=False))
    return replace(task, X=task.X[kept], y=None if task.y is None else task.y[kept])


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings: what there is to say was said of all rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Again:
    """The measure of a task, learned again from some rows where its model can be."""

    def __init__(self, task: Task) -> None:
        self.given = task.measure, task.bias
        self.model = task.model
        if task.model is not None:
            searches = "cv" in task.model.get_params(deep=False)
            most = _SEARCHED if searches else _AGAIN
            self.model = task.model if task.measure.n_sources <= most else None
        self._known: dict[bytes, tuple[AbstractMeasure, float]] = {}

    def without(
        self, train: IntArray, X: FloatArray, y: FloatArray
    ) -> tuple[AbstractMeasure, float]:
        """Measure and bias that were learned from some rows only; as given if there is no model."""
        if self.model is None:
            return self.given
        key = train.tobytes()
        if key not in self._known:
            made = type(self.model)(**self.model.get_params(deep=False)).fit(X[train], y[train])
            self._known[key] = made.measure_, float(getattr(made, "intercept_", 0.0))
        return self._known[key]
