"""Learners that search: binary and S-decomposable measures, and two baselines of the literature.

Each says in `proved_` whether its measure is the best of its kind or only the best that was found.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from choquet.arrays import check_option, generator
from choquet.errors import OptionError, TooLargeError
from choquet.estimators.common import MeasureRegressor
from choquet.lattice import cover_pairs, subset_sizes, upward_maximum
from choquet.measures import Measure, families
from choquet.measures.random import RANDOM_MEASURES

__all__ = [
    "BinaryRegressor",
    "DecomposableRegressor",
    "GeneticRegressor",
    "RewardPunishmentRegressor",
]

MAX_SEARCHED = 12
"""Sources up to which measures are searched among all values."""
MAX_LISTED = 5
"""Sources up to which all binary measures are listed: 7,579 of them."""


class _Searched(MeasureRegressor):
    """A learner that looks for a dense measure by its squared error."""

    def _solve(self, material):
        statistics = material.statistics
        n = statistics.n_sources
        if n > MAX_SEARCHED:
            raise TooLargeError(
                f"{type(self).__name__} searches among the values of all subsets, up to "
                f"{MAX_SEARCHED} sources, not {n}; ChoquetRegressor takes more"
            )
        size = 1 << n
        gram, targets = np.zeros((size, size)), np.zeros(size)
        at = statistics.positions
        gram[np.ix_(at, at)] = statistics.gram.toarray()
        targets[at] = statistics.targets
        values = self._search(gram, targets, statistics.target_square, material)
        self.measure_, self.intercept_ = Measure(values, material.names), 0.0
        self.error_ = float(_errors(values[None], gram, targets, statistics.target_square)[0])
        self.error_ /= statistics.weight

    def _search(self, gram, targets, square, material):
        raise NotImplementedError


def _errors(values, gram, targets, square):
    """Sums of squared errors of measures in rows."""
    return np.maximum(((values @ gram) * values).sum(axis=1) - 2 * values @ targets + square, 0.0)


class BinaryRegressor(_Searched):
    """Measure with values 0 and 1 only, of least squared error: a maximum of minima of the inputs.

    Up to five sources all such measures are compared, and the best is proved. Beyond, values are
    turned one at a time, from several starts, as long as the error falls.

    Attributes
    ----------
    measure_ : Measure
        With values 0 and 1.
    proved_ : bool
        Whether no other binary measure has a smaller error.
    error_ : float
        Mean squared error on the rows.
    support_ : DataSupport

    References
    ----------
    Anderson, Price, Havens et al., "Binary fuzzy measures and Choquet integration for multi-source
    fusion" (2017).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> model = BinaryRegressor().fit(X, np.median(X, axis=1))
    >>> model.measure_.values, model.proved_
    (array([0., 0., 0., 1., 0., 1., 1., 1.]), True)
    """

    def _search(self, gram, targets, square, material):
        n = material.statistics.n_sources
        self.proved_ = n <= MAX_LISTED
        if self.proved_:
            every = binary_measures(n)
            return every[_errors(every, gram, targets, square).argmin()]
        found = [_turn(start, gram, targets) for start in _order_statistics(n)]
        return found[int(_errors(np.array(found), gram, targets, square).argmin())]


def binary_measures(n_sources):
    """All measures with values 0 and 1, one in each row.

    References
    ----------
    Dedekind (1897), on how many there are: 1, 4, 18, 166 and 7,579 for 1 to 5 sources, without
    both constants.

    Examples
    --------
    >>> binary_measures(2)
    array([[0., 0., 0., 1.],
           [0., 0., 1., 1.],
           [0., 1., 0., 1.],
           [0., 1., 1., 1.]])
    """
    every = np.array([[False], [True]])
    for _ in range(n_sources):
        # A monotone function is a pair of them, without and with the new source, in order.
        low, high = np.repeat(every, len(every), axis=0), np.tile(every, (len(every), 1))
        fits = (low <= high).all(axis=1)
        every = np.column_stack([low[fits], high[fits]])
    return every[~every[:, 0] & every[:, -1]].astype(np.float64)


def _order_statistics(n):
    """The k-th largest input for every k, and every source alone."""
    sizes = subset_sizes(n)
    yield from ((sizes >= k).astype(np.float64) for k in range(1, n + 1))
    yield from ((np.arange(1 << n) >> i & 1).astype(np.float64) for i in range(n))


def _turn(values, gram, targets):
    """Turn the value whose turning helps most, until none does."""
    values = values.copy()
    n = len(values).bit_length() - 1
    lower, upper = cover_pairs(n).T
    while True:
        held = np.zeros(len(values), dtype=bool)
        held[[0, -1]] = True
        held[upper[(values[upper] == 1) & (values[lower] == 1)]] = True
        held[lower[(values[lower] == 0) & (values[upper] == 0)]] = True
        turn = 1 - 2 * values
        gain = turn * 2 * (gram @ values - targets) + np.diagonal(gram)
        gain[held] = np.inf
        best = int(gain.argmin())
        if gain[best] >= -1e-12:
            return values
        values[best] = 1 - values[best]


class DecomposableRegressor(_Searched):
    """S-decomposable measure whose N densities fit best: a t-conorm makes all other values.

    The densities are found by local searches from several starts. It is a heuristic.

    Parameters
    ----------
    conorm : {"probabilistic", "max", "bounded"}, default "probabilistic"
        The t-conorm that joins densities.

    Attributes
    ----------
    measure_ : Measure
    densities_ : array of shape (n_sources,)
    proved_ : bool
        False: another start may do better.
    error_ : float
        Mean squared error on the rows.
    support_ : DataSupport

    References
    ----------
    Weber (1984), "⊥-decomposable measures and integrals for Archimedean t-conorms ⊥".

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import Measure, choquet_integral
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> g = Measure.decomposable([0.2, 0.5, 0.3], conorm="probabilistic")
    >>> DecomposableRegressor().fit(X, choquet_integral(g, X)).densities_.round(3)
    array([0.2, 0.5, 0.3])
    """

    def __init__(self, *, conorm="probabilistic"):
        self.conorm = conorm

    def _search(self, gram, targets, square, material):
        check_option("conorm", self.conorm, families.CONORMS)
        n = material.statistics.n_sources

        def error(densities):
            values = families.decomposable(np.clip(densities, 0.0, 1.0), self.conorm)
            return _errors(values[None], gram, targets, square)[0]

        starts = [np.full(n, share) for share in (1 / n, 0.2, 0.5)]
        starts += [np.where(np.arange(n) == i, 0.8, 0.2) for i in range(n)]
        best = min(starts, key=error)
        for start in sorted(starts, key=error)[:3]:
            for method in ("L-BFGS-B", "Nelder-Mead"):
                # Steps and tolerances are of the default; the error is scaled to about 1.
                scale = max(square, 1e-300)
                found = minimize(
                    lambda d, s=scale: error(d) / s,
                    start,
                    method=method,
                    bounds=[(0.0, 1.0)] * n,
                    options=_FINE if method == "Nelder-Mead" else None,
                )
                start = np.clip(found.x, 0.0, 1.0)
                best = min(best, start, key=error)
        self.densities_, self.proved_ = best, False
        return families.decomposable(best, self.conorm)


_FINE = {"xatol": 1e-7, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}


class GeneticRegressor(_Searched):
    """Genetic search among monotone measures: a baseline, not a recommendation.

    The exact optimum is `ChoquetRegressor`, in a fraction of the time. Parents mix by averages,
    minima and maxima, which keep measures monotone; children move at random and are closed again.

    Parameters
    ----------
    population : int, default 60
    generations : int, default 150
    random_state : int, optional

    Attributes
    ----------
    measure_ : Measure
    errors_ : array
        Mean squared error of the best after each generation; it never rises.
    proved_ : bool
        False.
    error_ : float
        Mean squared error on the rows.
    support_ : DataSupport

    References
    ----------
    Wang, Wang & Klir (1998), "Determining fuzzy measures by using a genetic algorithm".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> model = GeneticRegressor(random_state=0).fit(X, X.max(axis=1))
    >>> model.error_ < 0.001
    True
    """

    def __init__(self, *, population=60, generations=150, random_state=None):
        self.population = population
        self.generations = generations
        self.random_state = random_state

    def _search(self, gram, targets, square, material):
        for name in ("population", "generations"):
            if getattr(self, name) < 4:
                raise OptionError(f"{name}={getattr(self, name)} must be at least 4")
        rng, n = generator(self.random_state), material.statistics.n_sources
        draw = RANDOM_MEASURES["increments"].draw
        people = np.array([draw(n, rng, 2) for _ in range(self.population)])
        weight, errors = material.statistics.weight, []
        for age in range(self.generations):
            scores = _errors(people, gram, targets, square)
            people = people[np.argsort(scores, kind="stable")]
            errors.append(float(scores.min()) / weight)
            parents = people[: self.population // 2]
            first, second = parents[rng.integers(len(parents), size=(2, self.population - 2))]
            share = rng.random((len(first), 1))
            mixed = share * first + (1 - share) * second
            kind = rng.integers(4, size=(len(first), 1))
            children = np.where(kind == 0, np.minimum(first, second), mixed)
            children = np.where(kind == 1, np.maximum(first, second), children)
            # Steps become smaller with age, from a tenth of the scale to a thousandth.
            step = 0.1 * 0.01 ** (age / self.generations)
            moved = children + step * rng.normal(size=children.shape) * (
                rng.random(children.shape) < max(2 / (1 << n), 0.1)
            )
            people = np.vstack([people[:2], [_close(child) for child in moved]])
        scores = _errors(people, gram, targets, square)
        self.errors_, self.proved_ = np.array(errors), False
        return people[scores.argmin()]


def _close(values):
    closed = np.clip(values, 0.0, 1.0)
    closed[0] = 0.0
    closed = upward_maximum(closed)
    closed[-1] = 1.0
    return closed


class RewardPunishmentRegressor(_Searched):
    """Densities of a Sugeno λ-measure that are rewarded and punished row by row.

    Where the output is too low, the densities of sources with a large input are raised; where it is
    too high, they are lowered. The best densities on the way are kept. It is a heuristic, and
    depends on the order of the rows; `LambdaRegressor` is its least-squares counterpart.

    Parameters
    ----------
    rate : float, default 0.1
        Share of the error by which a density moves.
    epochs : int, default 20
        Passes over the rows.

    Attributes
    ----------
    measure_ : Measure
    densities_ : array of shape (n_sources,)
    proved_ : bool
        False.
    error_ : float
        Mean squared error on the rows.
    support_ : DataSupport

    References
    ----------
    Keller & Osborn (1996), "Training the fuzzy integral", International Journal of Approximate
    Reasoning 15.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> RewardPunishmentRegressor().fit(X, X.max(axis=1)).measure_({0}) > 0.8
    True
    """

    def __init__(self, *, rate=0.1, epochs=20):
        self.rate = rate
        self.epochs = epochs

    def _search(self, gram, targets, square, material):
        if not self.rate > 0 or self.epochs < 1:
            raise OptionError(f"rate={self.rate} and epochs={self.epochs} must be above 0")
        X, y = material.batch.X, material.batch.y
        # Inputs on the scale of the densities, so that a step means the same for all data.
        size = np.ptp(X) or 1.0
        shares = (X - X.min()) / size
        n = X.shape[1]
        densities = best = np.full(n, 1 / n)
        if n == 1:  # a normal measure on one source has no free value
            self.densities_, self.proved_ = np.ones(1), True
            return np.array([0.0, 1.0])
        least = np.inf
        for _ in range(self.epochs):
            for row, share, target in zip(X, shares, y, strict=True):
                g = Measure(families.sugeno_lambda(densities))
                off = (target - g.integral(row[None])[0]) / size
                densities = np.clip(densities + self.rate * off * share, 0.001, 0.999)
            values = families.sugeno_lambda(densities)
            error = _errors(values[None], gram, targets, square)[0]
            if error < least:
                least, best = error, densities
        self.densities_, self.proved_ = best, False
        return families.sugeno_lambda(best)
