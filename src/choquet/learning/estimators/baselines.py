"""Simple models in the same interface, so that users can compare in one table."""

from __future__ import annotations

import numpy as np

from choquet.learning.bases import additive_basis, symmetric_basis
from choquet.learning.estimators.common import MeasureRegressor, sources_of
from choquet.learning.families import descend, fit_lambda
from choquet.learning.problem import least_squares, with_basis
from choquet.learning.solvers import solve
from choquet.measures import Measure
from choquet.measures.families import sugeno_lambda

__all__ = [
    "GradientDescentRegressor",
    "LambdaRegressor",
    "LinearConvexSumRegressor",
    "OWARegressor",
]


class LambdaRegressor(MeasureRegressor):
    """Sugeno λ-measure whose N densities fit best.

    Attributes
    ----------
    measure_ : Measure
    densities_ : array of shape (n_sources,)
    support_ : DataSupport

    References
    ----------
    Keller & Osborn (1996), "Training the fuzzy integral".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> LambdaRegressor().fit(X, X.mean(axis=1)).densities_.round(3)
    array([0.333, 0.333, 0.333])
    """

    def _solve(self, statistics):
        self.densities_ = fit_lambda(statistics)
        values = sugeno_lambda(self.densities_)
        self.measure_, self.bias_ = Measure(values, sources_of(self)), 0.0


class _Restricted(MeasureRegressor):
    """Least squares over a family of measures that is a column space."""

    def _solve(self, statistics):
        problem = least_squares(statistics)
        problem = with_basis(problem, self._basis(statistics.n_sources))
        self.solution_ = solve(problem)
        self.measure_, self.bias_ = Measure(self.solution_.values, sources_of(self)), 0.0
        self._finish()


class OWARegressor(_Restricted):
    """Ordered weighted average (one linear order statistic) of least squared error.

    Attributes
    ----------
    measure_ : Measure
        Symmetric.
    weights_ : array of shape (n_sources,)
        By rank, largest input first.
    support_ : DataSupport

    References
    ----------
    Yager (1988), "On ordered weighted averaging aggregation operators in multicriteria decision
    making"; Torra (2002), "Learning weights for the quasi-weighted means".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> OWARegressor().fit(X, np.median(X, axis=1)).weights_.round(6) + 0.0
    array([0., 1., 0.])
    """

    _basis = staticmethod(symmetric_basis)

    def _finish(self):
        values = self.measure_.values[(1 << np.arange(self.measure_.n_sources + 1)) - 1]
        self.weights_ = np.diff(values)


class LinearConvexSumRegressor(_Restricted):
    """Weighted mean with weights not below zero that sum to one, of least squared error.

    Attributes
    ----------
    measure_ : Measure
        Additive.
    weights_ : array of shape (n_sources,)
        By source.
    support_ : DataSupport

    References
    ----------
    Lawson & Hanson (1974), "Solving least squares problems".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> LinearConvexSumRegressor().fit(X, X @ [0.2, 0.3, 0.5]).weights_.round(6)
    array([0.2, 0.3, 0.5])
    """

    _basis = staticmethod(additive_basis)

    def _finish(self):
        self.weights_ = self.measure_.values[1 << np.arange(self.measure_.n_sources)].copy()


class GradientDescentRegressor(MeasureRegressor):
    """Gradient descent on a parametrisation that is monotone by construction.

    What network papers do; it stops near, not at, the least error, and values without data stay
    where they started.

    Parameters
    ----------
    rate : float, default 0.02
        Step length of Adam.
    max_iter : int, default 1000

    Attributes
    ----------
    measure_ : Measure
    support_ : DataSupport
    errors_ : array
        Mean squared error after each step.
    n_iter_ : int

    References
    ----------
    Islam, Anderson, Pinar, Havens, Scott & Keller (2020), "Enabling explainable fusion in deep
    learning with fuzzy integral neural networks".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> GradientDescentRegressor().fit(X, X.mean(axis=1)).measure_.values.round(2)
    array([0. , 0.5, 0.5, 1. ])
    """

    def __init__(self, *, rate=0.02, max_iter=1000):
        self.rate = rate
        self.max_iter = max_iter

    def _solve(self, statistics):
        found = descend(statistics, rate=self.rate, n_steps=self.max_iter)
        self.errors_, self.n_iter_ = found.errors, found.n_steps
        self.measure_, self.bias_ = Measure(found.values, sources_of(self)), 0.0
