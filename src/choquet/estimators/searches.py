"""Learners that search: binary and S-decomposable measures, and two baselines of the literature.

Each says in `proved_` whether its measure is the best of its kind or only the best that was found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from choquet.arrays import BoolArray, FloatArray, IntArray, check_option, generator
from choquet.errors import OptionError, TooLargeError
from choquet.estimators.common import MeasureRegressor
from choquet.lattice import upward_maximum
from choquet.lattice.wide import membership
from choquet.learning.fill import fill_unsupported
from choquet.measures import Measure, SupportedMeasure, families

MAX_DENSE = 12
"""Sources up to which `measure_` holds all subsets; beyond, those that data support."""
MAX_SUBSETS = 1 << MAX_DENSE
"""Most subsets with data that are searched."""
MAX_LISTED = 5
"""Sources up to which all binary measures are listed: 7,579 of them."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """Squared error as a function of the values of the subsets that data support.

    Attributes
    ----------
    inside : array of shape (n_subsets, n_sources)
        Which sources are in each subset.
    positions : array of shape (n_subsets,), or None
        Where each stands in a dense measure; None beyond `MAX_DENSE` sources.
    """

    inside: BoolArray
    positions: IntArray | None
    gram: FloatArray
    targets: FloatArray
    square: float

    @classmethod
    def of(cls, statistics, name):
        """The problem of an estimator of that name."""
        n = statistics.n_sources
        if len(statistics.masks) > MAX_SUBSETS:
            raise TooLargeError(
                f"{name} searches among the values of the subsets that rows touch, at most "
                f"{MAX_SUBSETS:,}, not {len(statistics.masks):,}; ChoquetRegressor takes more"
            )
        return cls(
            membership(statistics.masks, n),
            statistics.positions if n <= MAX_DENSE else None,
            statistics.gram.toarray(),
            statistics.targets,
            statistics.target_square,
        )

    @property
    def whole(self) -> BoolArray:
        """Which of the subsets is the whole set, whose value is 1."""
        return np.asarray(self.inside.all(axis=1))

    def errors(self, values):
        """Sums of squared errors of measures in rows."""
        quadratic = ((values @ self.gram) * values).sum(axis=1)
        return np.maximum(quadratic - 2 * values @ self.targets + self.square, 0.0)

    def contained(self):
        """Whether the subset of the row is a part of that of the column, or the same."""
        members = self.inside.astype(np.float32)
        return members @ (1 - members).T == 0

    def closed(self, values):
        """The smallest monotone values, between 0 and 1, that are not below those given."""
        values = np.where(self.whole, 1.0, np.clip(values, 0.0, 1.0))
        if self.positions is not None:
            dense = np.zeros(1 << self.inside.shape[1])
            dense[self.positions] = values
            return upward_maximum(dense)[self.positions]
        return np.where(self.contained(), values[:, None], 0.0).max(axis=0)


class _Searched(MeasureRegressor):
    """A learner that looks for the values of the supported subsets by their squared error."""

    def _solve(self, material):
        statistics = material.statistics
        problem = _Problem.of(statistics, type(self).__name__)
        values = self._search(problem, material)
        self.measure_, self.intercept_ = self._measure(values, problem, material), 0.0
        self.error_ = float(problem.errors(values[None])[0]) / statistics.weight

    def _measure(self, values, problem, material):
        """The measure with these values; others are put in the middle of what is possible."""
        if problem.positions is None:
            proper = ~problem.whole
            masks = material.statistics.masks[proper]
            return SupportedMeasure(masks, values[proper], material.names)
        dense, known = (np.zeros(1 << problem.inside.shape[1], dtype=t) for t in (float, bool))
        dense[problem.positions], known[problem.positions] = values, True
        dense[-1], known[[0, -1]] = 1.0, True
        return Measure(self._filled(dense, known), material.names)

    def _filled(self, values, known):
        """Values of all subsets from those that are known."""
        return fill_unsupported(values, known)

    def _search(self, problem, material):
        raise NotImplementedError


class BinaryRegressor(_Searched):
    """Measure with values 0 and 1 only, of least squared error: a maximum of minima of the inputs.

    Up to five sources all such measures are compared, and the best is proved. Beyond, values are
    turned one at a time, from several starts, as long as the error falls. A subset without data has
    the value 1 only if a part of it has.

    Attributes
    ----------
    measure_ : Measure; beyond 12 sources a SupportedMeasure
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

    def _search(self, problem, material):
        n = material.statistics.n_sources
        self.proved_ = n <= MAX_LISTED
        if self.proved_:
            every = binary_measures(n)[:, problem.positions]
            return every[problem.errors(every).argmin()]
        contained = problem.contained()
        found = [_turn(start, problem, contained) for start in _order_statistics(problem.inside)]
        return found[int(problem.errors(np.array(found)).argmin())]

    def _filled(self, values, known):
        del known  # what is not known is 0, and rises with its parts
        return upward_maximum(values)


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


def _order_statistics(inside):
    """The k-th largest input for every k, and every source alone, as values of subsets."""
    sizes, n = inside.sum(axis=1), inside.shape[1]
    yield from ((sizes >= k).astype(np.float64) for k in range(1, n + 1))
    yield from (inside[:, i].astype(np.float64) for i in range(n))


def _turn(values, problem, contained):
    """Turn the value whose turning helps most and keeps the order, until none does."""
    values = values.copy()
    parts = contained & ~np.eye(len(values), dtype=bool)
    while True:
        ones = values == 1
        # A 1 may fall if no part of the subset has 1, a 0 may rise if all that hold it have 1.
        held = np.where(ones, parts[ones].any(axis=0), parts[:, ~ones].any(axis=1)) | problem.whole
        turn = 1 - 2 * values
        gain = turn * 2 * (problem.gram @ values - problem.targets) + np.diagonal(problem.gram)
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
    measure_ : Measure; beyond 12 sources a SupportedMeasure
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

    def _search(self, problem, material):
        join = _JOINED[check_option("conorm", self.conorm, families.CONORMS)]
        n = material.statistics.n_sources

        def values_of(densities):
            joined = join(np.where(problem.inside, np.clip(densities, 0.0, 1.0), 0.0))
            return np.where(problem.whole, 1.0, joined)

        def error(densities):
            return problem.errors(values_of(densities)[None])[0]

        starts = [np.full(n, share) for share in (1 / n, 0.2, 0.5)]
        starts += [np.where(np.arange(n) == i, 0.8, 0.2) for i in range(n)]
        best = min(starts, key=error)
        scale = max(problem.square, 1e-300)  # the error is scaled to about 1, as tolerances expect
        for start in sorted(starts, key=error)[:3]:
            for method in ("L-BFGS-B", "Nelder-Mead"):
                found = minimize(
                    lambda d: error(d) / scale,
                    start,
                    method=method,
                    bounds=[(0.0, 1.0)] * n,
                    options=_FINE if method == "Nelder-Mead" else None,
                )
                start = np.clip(found.x, 0.0, 1.0)
                best = min(best, start, key=error)
        self.densities_, self.proved_ = best, False
        return problem.closed(values_of(best))

    def _measure(self, values, problem, material):
        if problem.positions is None:
            return super()._measure(values, problem, material)
        return Measure(families.decomposable(self.densities_, self.conorm), material.names)


_JOINED = {
    "probabilistic": lambda shares: 1 - np.prod(1 - shares, axis=1),
    "max": lambda shares: shares.max(axis=1),
    "bounded": lambda shares: np.minimum(shares.sum(axis=1), 1.0),
}
"""The t-conorms of all members of each subset at once."""
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
    measure_ : Measure; beyond 12 sources a SupportedMeasure
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

    def _search(self, problem, material):
        for name in ("population", "generations"):
            if getattr(self, name) < 4:
                raise OptionError(f"{name}={getattr(self, name)} must be at least 4")
        rng, size = generator(self.random_state), len(problem.inside)
        people = self._first(problem, rng)
        weight, errors = material.statistics.weight, []
        for age in range(self.generations):
            scores = problem.errors(people)
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
                rng.random(children.shape) < max(2 / size, 0.1)
            )
            people = np.vstack([people[:2], [problem.closed(child) for child in moved]])
        self.errors_, self.proved_ = np.array(errors), False
        return people[problem.errors(people).argmin()]

    def _first(self, problem, rng):
        """Powers of additive measures, which exist for any number of sources."""
        shares = rng.dirichlet(np.ones(problem.inside.shape[1]), size=self.population)
        powers = np.exp(rng.normal(size=(self.population, 1)))
        return np.array([problem.closed(row) for row in (shares @ problem.inside.T) ** powers])


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

    def fit(self, X, y):  # type: ignore[override]  # weights have no meaning row by row
        """Learn row by row, so that rows have no weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._learn(X, y, None)

    def _search(self, problem, material):
        if not self.rate > 0 or self.epochs < 1:
            raise OptionError(f"rate={self.rate} and epochs={self.epochs} must be above 0")
        X, y = material.batch.X, material.batch.y
        n = X.shape[1]
        if n > MAX_DENSE:
            raise TooLargeError(
                f"RewardPunishmentRegressor takes up to {MAX_DENSE} sources, not {n}; "
                "LambdaRegressor takes more"
            )
        # Inputs on the scale of the densities, so that a step means the same for all data.
        size = np.ptp(X) or 1.0
        shares = (X - X.min()) / size
        densities = best = np.full(n, 1 / n)
        if n == 1:  # a normal measure on one source has no free value
            self.densities_, self.proved_ = np.ones(1), True
            return np.ones(1)
        least = np.inf
        for _ in range(self.epochs):
            for row, share, target in zip(X, shares, y, strict=True):
                g = Measure(families.sugeno_lambda(densities))
                off = (target - g.integral(row[None])[0]) / size
                densities = np.clip(densities + self.rate * off * share, 0.001, 0.999)
            error = problem.errors(families.sugeno_lambda(densities)[problem.positions][None])[0]
            if error < least:
                least, best = error, densities
        self.densities_, self.proved_ = best, False
        return families.sugeno_lambda(best)[problem.positions]

    def _measure(self, values, problem, material):
        del values, problem
        return Measure(families.sugeno_lambda(self.densities_), material.names)
