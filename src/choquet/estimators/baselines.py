"""Simple models in the same interface, so that users can compare in one table."""

from __future__ import annotations

import numpy as np

from choquet.estimators.common import IncrementalRegressor
from choquet.learning.families.fits import descend, fit_lambda, fit_weights
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import MAX_LATTICE_SOURCES, check_weight
from choquet.measures import FormulaMeasure, Measure, SupportedMeasure
from choquet.measures.formula import PATTERNS, FormulaName


class _Formula(IncrementalRegressor):
    """A measure given by a formula for any subset, so that no subset is unsupported."""

    def _keep(self, formula, material):
        """The measure: with all its values where they are few, else as the formula."""
        formula, self.intercept_ = formula.renamed(material.names), 0.0
        few = formula.n_sources <= MAX_LATTICE_SOURCES
        self.measure_ = formula.to_measure() if few else formula


class LambdaRegressor(_Formula):
    """Regression by the Sugeno λ-measure whose N densities fit best.

    Attributes
    ----------
    measure_ : Measure; beyond 16 sources a FormulaMeasure
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
        found = fit_lambda(material.statistics)
        self.densities_, self.lambda_ = found.densities, found.parameter
        self._keep(found, material)


class _Weighted(_Formula):
    """Convex weights on the columns of a pattern of subsets."""

    _family: FormulaName

    def _solve(self, material):
        statistics = material.statistics
        pattern = PATTERNS[self._family](statistics.masks, statistics.n_sources)
        self.weights_ = fit_weights(statistics, pattern)
        self._keep(FormulaMeasure(self._family, self.weights_), material)


class OWARegressor(_Weighted):
    """Ordered weighted average (one linear order statistic) of least squared error.

    Attributes
    ----------
    measure_ : Measure; beyond 16 sources a FormulaMeasure
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
    measure_ : Measure; beyond 16 sources a FormulaMeasure
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
    """Choquet regression by gradient descent; the measure is monotone by construction.

    What network papers do; it stops near, not at, the least error. Values without data are put in
    the middle of what is possible.

    Parameters
    ----------
    rate : float, default 0.02
        Step length of Adam.
    max_iter : int, default 1000

    Attributes
    ----------
    measure_ : Measure; beyond 16 sources a FormulaMeasure
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
        seen, self.errors_ = descend(statistics, rate=self.rate, n_steps=self.max_iter)
        self.n_iter_, self.intercept_ = len(self.errors_), 0.0
        n_sources = statistics.n_sources
        if n_sources > MAX_LATTICE_SOURCES:
            proper = np.bitwise_count(statistics.masks).sum(axis=1) < n_sources
            self.measure_ = SupportedMeasure(statistics.masks[proper], seen[proper], names)
            return
        values, supported = np.zeros(1 << n_sources), np.zeros(1 << n_sources, dtype=bool)
        values[statistics.positions], supported[statistics.positions] = seen, True
        values[-1] = 1.0
        self.measure_ = Measure(fill_unsupported(values, supported), names)
