"""Simple models in the same interface, so that users can compare in one table."""

from __future__ import annotations

import numpy as np

from choquet.estimators.common import IncrementalRegressor
from choquet.learning.families.fits import descend, fit_lambda, fit_weights
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import check_weight
from choquet.measures import Measure, SupportedMeasure
from choquet.measures.formula import PATTERNS

__all__ = [
    "GradientDescentRegressor",
    "LambdaRegressor",
    "LinearConvexSumRegressor",
    "OWARegressor",
]


MAX_LATTICE_SOURCES = 16
"""Up to here `measure_` holds all subsets; beyond, those that data support."""


class _Formula(IncrementalRegressor):
    """A measure given by a formula for any subset, so that no subset is unsupported."""

    def _measure(self, material):
        statistics, names = material.statistics, material.names
        n_sources = statistics.n_sources
        if n_sources <= MAX_LATTICE_SOURCES:
            values = self._values(np.arange(1 << n_sources, dtype=np.uint64)[:, None], n_sources)
            values[0], values[-1] = 0.0, 1.0
            return Measure(np.minimum(fill_unsupported(values, values >= 0), 1.0), names)
        sizes = np.bitwise_count(statistics.masks).sum(axis=1)
        words = statistics.masks[sizes < n_sources]
        return SupportedMeasure(words, np.clip(self._values(words, n_sources), 0, 1), names)

    def _formula(self):
        if isinstance(self.measure_, Measure):
            return None
        return lambda words: self._values(words, self.n_features_in_)


class LambdaRegressor(_Formula):
    """Sugeno λ-measure whose N densities fit best.

    Attributes
    ----------
    measure_ : Measure
    densities_ : array of shape (n_sources,)
    lambda_ : float
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

    def _solve(self, material):
        self.fit_ = fit_lambda(material.statistics)
        self.densities_, self.lambda_ = self.fit_.densities, self.fit_.parameter
        self.measure_, self.bias_ = self._measure(material), 0.0

    def _values(self, words, n_sources):  # noqa: ARG002 - the fit knows it
        return self.fit_.values(words)


class _Weighted(_Formula):
    """Convex weights on the columns of a pattern of subsets."""

    _family: str

    def _solve(self, material):
        statistics = material.statistics
        pattern = PATTERNS[self._family](statistics.masks, statistics.n_sources)
        self.weights_ = fit_weights(statistics, pattern)
        self.measure_, self.bias_ = self._measure(material), 0.0

    def _values(self, words, n_sources):
        return PATTERNS[self._family](words, n_sources) @ self.weights_


class OWARegressor(_Weighted):
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
    >>> OWARegressor().fit(X, np.median(X, axis=1)).weights_.round(5) + 0.0
    array([0., 1., 0.])
    """

    _family = "symmetric"


class LinearConvexSumRegressor(_Weighted):
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

    _family = "additive"


class GradientDescentRegressor(IncrementalRegressor):
    """Gradient descent on a parametrisation that is monotone by construction.

    What network papers do; it stops near, not at, the least error. Values without data are put in
    the middle of what is possible.

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

    def _solve(self, material):
        check_weight("rate", self.rate)
        statistics, names = material.statistics, material.names
        found = descend(statistics, rate=self.rate, n_steps=self.max_iter)
        self.errors_, self.n_iter_, self.bias_ = found.errors, found.n_steps, 0.0
        n_sources = statistics.n_sources
        if n_sources > MAX_LATTICE_SOURCES:
            proper = np.bitwise_count(statistics.masks).sum(axis=1) < n_sources
            self.measure_ = SupportedMeasure(statistics.masks[proper], found.values[proper], names)
            return
        values, supported = np.zeros(1 << n_sources), np.zeros(1 << n_sources, dtype=bool)
        values[statistics.positions], supported[statistics.positions] = found.values, True
        values[-1] = 1.0
        self.measure_ = Measure(fill_unsupported(values, supported), names)
