"""`ChoquetRegressorCV`: prior and strength chosen by cross-validation on shared statistics."""

from __future__ import annotations

from functools import reduce

import numpy as np
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from choquet.arrays import check_option
from choquet.errors import OptionError
from choquet.jobs import run_jobs
from choquet.lattice import upward_maximum
from choquet.learning.bases import FAMILIES
from choquet.learning.estimators.common import MeasureRegressor, sources_of
from choquet.learning.selection import MAX_LATTICE_SOURCES, fit_candidate, fitted_values, select
from choquet.learning.sparse import SparseMeasure
from choquet.learning.statistics import Statistics
from choquet.measures import Measure, SupportedMeasure

__all__ = ["ChoquetRegressorCV"]

STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class ChoquetRegressorCV(MeasureRegressor):
    """Choquet integral shrunk towards a simple measure, as much as cross-validation says.

    All 2**N values fitted to noisy data over-fit. The candidates are: no prior; each prior's own
    fit; and for the most promising priors a path of strengths in between. Statistics are computed
    once per fold and shared.

    Parameters
    ----------
    priors : sequence of {"additive", "symmetric", "2-additive", "lambda", "l1", "l2"} or Measure
        What to shrink towards; a Measure transfers from a past model. Beyond 16 sources only
        "additive", "symmetric", "lambda" (their own fits), "l1" and "l2".
    strengths : sequence of float
        Weights of the squared distance to the prior, in the units of the squared error.
    cv : int, splitter or iterable, default 5
        As in scikit-learn; an int shuffles with `random_state`.
    n_paths : int, default 2
        Number of priors whose strengths are tried.
    combine : {"average", "best"}, default "average"
        The convex average of candidates of least error, or the one candidate of least error
        (stacking; measures average to a measure). Beyond 16 sources always "best".
    monotone, normal : bool, default True
    bias : bool, default False
    n_jobs : int, optional
        Folds at a time, through joblib.
    random_state : int, RandomState or None, default 0
        Shuffles the folds.

    Attributes
    ----------
    measure_, bias_, support_, statistics_
        As in `ChoquetRegressor`.
    prior_, strength_
        The choice; strength infinity means the prior's own fit.
    cv_results_ : dict of arrays
        "prior", "strength", "mean_squared_error" and "weight" in the average of every candidate.

    References
    ----------
    Stone (1974), "Cross-validatory choice and assessment of statistical predictions".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 4))
    >>> y = X.mean(axis=1) + 0.1 * rng.standard_normal(100)
    >>> model = ChoquetRegressorCV().fit(X, y)
    >>> bool(abs(model.measure_.values[1] - 0.25) < 0.1)
    True
    """

    def __init__(
        self,
        *,
        priors=("additive", "symmetric", "2-additive", "lambda"),
        strengths=STRENGTHS,
        cv=5,
        n_paths=2,
        combine="average",
        monotone=True,
        normal=True,
        bias=False,
        n_jobs=None,
        random_state=0,
    ):
        self.priors = priors
        self.strengths = strengths
        self.cv = cv
        self.n_paths = n_paths
        self.combine = combine
        self.monotone = monotone
        self.normal = normal
        self.bias = bias
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _relaxed(self):
        return not (self.monotone and self.normal)

    def _solve(self, statistics):
        for prior in self.priors:
            if not isinstance(prior, Measure):
                check_option("prior", prior, [*FAMILIES, "lambda", "l1", "l2"])
            elif prior.n_sources != statistics.n_sources:
                raise OptionError(
                    f"a prior has {prior.n_sources} sources, the data have {statistics.n_sources}"
                )
        shape = {"monotone": self.monotone, "normal": self.normal, "bias": self.bias}
        n_sources = statistics.n_sources
        priors = list(self.priors)
        if n_sources > MAX_LATTICE_SOURCES:
            priors = [p for p in priors if isinstance(p, str) and p != "2-additive"]
        selection = select(
            self._folds(statistics), priors, self.strengths, n_paths=self.n_paths,
            run=self._run, **shape,
        )  # fmt: skip
        best = selection.best
        check_option("combine", self.combine, ["average", "best"])
        found = fit_candidate(statistics, best, **shape)
        if self.combine == "average" and n_sources <= MAX_LATTICE_SOURCES:
            found = self._average(statistics, selection, shape)
        self.prior_, self.strength_ = best.prior, best.strength
        self.cv_results_ = {
            "prior": np.array([candidate.name for candidate in selection.candidates]),
            "strength": np.array([candidate.strength for candidate in selection.candidates]),
            "mean_squared_error": selection.errors,
            "weight": selection.weights,
        }
        self.bias_, self.solution_ = found.bias, found.solution
        self.measure_ = self._measure(statistics, found)

    def _average(self, statistics, selection, shape):
        values, bias = np.zeros(1 << statistics.n_sources), 0.0
        for candidate, weight in zip(selection.candidates, selection.weights, strict=True):
            if weight > 0:
                found = fit_candidate(statistics, candidate, **shape)
                values = values + weight * found.dense
                bias += weight * found.bias
        values = upward_maximum(values) if self.monotone else values
        if self.normal:
            values = np.minimum(values, 1.0)
            values[-1] = 1.0
        return fitted_values(values, bias)

    def _run(self, jobs):
        return run_jobs(_call, ((job,) for job in jobs), n_jobs=self.n_jobs)

    def _folds(self, statistics):
        X, y, weight = self._rows
        cv = self.cv
        if isinstance(cv, int):
            cv = KFold(cv, shuffle=True, random_state=check_random_state(self.random_state))
        splits = [test for _, test in check_cv(cv).split(X, y)]
        parts = [
            Statistics.from_data(X[test], y[test], None if weight is None else weight[test])
            for test in splits
        ]
        if len(parts) < 2:
            raise OptionError(f"cv={self.cv!r} makes {len(parts)} folds; at least 2 are needed")
        pairs = [
            (reduce(lambda a, b: a + b, parts[:k] + parts[k + 1 :]), part)
            for k, part in enumerate(parts)
        ]
        kept = [(train, test) for train, test in pairs if train.weight > 0 and test.weight > 0]
        return kept or [(statistics, statistics)]

    def _measure(self, statistics, found):
        n_sources = statistics.n_sources
        names = sources_of(self) or tuple(f"x{i + 1}" for i in range(n_sources))
        if found.dense is not None:
            values = found.dense.copy()
            values[0] = 0.0
            return Measure(values, names, monotone=self.monotone, normal=self.normal)
        full = np.bitwise_count(statistics.masks).sum(axis=1) == n_sources
        words = statistics.masks[~full]
        values = found.values(words)
        if not self.monotone:
            return SparseMeasure(statistics.masks, found.values(statistics.masks), names)
        total = 1.0 if self.normal else float(found.values(statistics.masks[full])[0])
        return SupportedMeasure(words, values, names, total=total)


def _call(job):
    return job()
