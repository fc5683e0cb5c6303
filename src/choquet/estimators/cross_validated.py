"""`ChoquetRegressorCV`: families averaged, or a prior and its weight chosen by cross-validation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from choquet.arrays import check_option
from choquet.certainty.posterior import believed, posterior_weights
from choquet.errors import OptionError
from choquet.estimators.certain import warn_of_weights
from choquet.estimators.common import MeasureRegressor
from choquet.estimators.foundation import later
from choquet.estimators.results import LazyResults
from choquet.jobs import run_jobs
from choquet.lattice import upward_maximum
from choquet.lattice.threads import one_blas_thread
from choquet.learning.data.folds import fold_numbers, leave_one_out
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import FAMILIES, PRIORS
from choquet.learning.families.candidates import (
    candidates_of,
    closed,
    fit_candidate,
    fitted_values,
    select,
)
from choquet.learning.problem import MAX_LATTICE_SOURCES, check_weight
from choquet.measures import Measure

check_cv = later("sklearn.model_selection", "check_cv")
check_random_state = later("sklearn.utils", "check_random_state")

ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class ChoquetRegressorCV(MeasureRegressor):
    """Regression by a Choquet integral, averaged over simple families and all measures.

    All 2**N values fitted to noisy data over-fit. By default every family of `priors`, and all
    monotone measures (under a uniform prior, and under one by which values are likely to be alike),
    are averaged: within a family each measure with its probability given the data, then these means
    and the families' least squares fits by how well they may be expected to predict (see
    `choquet.certainty.posterior`). Or candidates are chosen by cross-validation: no
    prior; each prior's own fit; and for the most promising priors a path of weights in between.
    Statistics are computed once per fold and shared.

    Parameters
    ----------
    priors : sequence of str or Measure
        What to average over or to shrink towards: names of `choquet.learning.FAMILIES` (by default
        all of them), "l1", "l2", or a Measure, which transfers from a past model. Beyond 16 sources
        only "additive", "symmetric", "lambda" (their own fits), "l1" and "l2".
    alphas : sequence of float
        Weights of the squared distance to the prior, in the units of the squared error.
    cv : int, splitter or iterable, default 5
        As in scikit-learn; the folds of an int follow from the numbers of the rows and
        `random_state`.
    n_paths : int, default 2
        Number of priors for which `alphas` are tried.
    combine : {"posterior", "average", "best"}, default "posterior"
        The average over families by probability, where cross-validation only reports the errors of
        the families' own fits; the convex average of candidates of least cross-validated error
        (stacking); or the one candidate of least error. Measures average to a measure.
        "posterior" needs a monotone normal measure without an intercept and families as priors,
        and is "average" elsewhere; beyond 16 sources it is always "best".
    monotone, normal : bool, default True
    fit_intercept : bool, default False
    n_jobs : int, optional
        Folds or families at a time, through joblib.
    random_state : int, RandomState or None, default None
        Shuffles the folds and drives the average over families; a number gives the same answer
        every time.

    Attributes
    ----------
    measure_, intercept_, support_, statistics_, noise_
        As in `ChoquetRegressor`.
    prior_, alpha_
        The choice: the family of largest weight, or the candidate of least error; alpha
        infinity means the prior's own fit.
    cv_results_ : dict of arrays
        "prior", "alpha", "mean_squared_error" and "weight" in the average of every candidate. With
        "posterior" the errors decide nothing: they are computed when they are first looked at.
    fold_statistics_ : tuple of Statistics
        What `partial_fit` adds to; empty if `cv` is no number.

    References
    ----------
    Stone (1974), "Cross-validatory choice and assessment of statistical predictions"; Hoeting,
    Madigan, Raftery & Volinsky (1999), "Bayesian model averaging: a tutorial".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 4))
    >>> y = X.mean(axis=1) + 0.1 * rng.standard_normal(100)
    >>> model = ChoquetRegressorCV(random_state=0).fit(X, y)
    >>> bool(abs(model.measure_.values[1] - 0.25) < 0.1)
    True
    """

    def __init__(
        self,
        *,
        priors=PRIORS,
        alphas=ALPHAS,
        cv=5,
        n_paths=2,
        combine="posterior",
        monotone=True,
        normal=True,
        fit_intercept=False,
        n_jobs=None,
        random_state=None,
    ):
        self.priors = priors
        self.alphas = alphas
        self.cv = cv
        self.n_paths = n_paths
        self.combine = combine
        self.monotone = monotone
        self.normal = normal
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state

    def partial_fit(self, X, y, sample_weight=None):
        """Learn from one more batch; the result equals one `fit` on all batches in this order.

        `cv` and `random_state` must be numbers. Only statistics are kept, one for each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not isinstance(self.cv, int):
            raise OptionError(f"partial_fit needs cv as a number of folds, got {self.cv!r}")
        return self._learn(X, y, sample_weight, more=True)

    def _solve(self, material):
        statistics = material.statistics
        for prior in self.priors:
            if not isinstance(prior, Measure):
                check_option("prior", prior, [*PRIORS, "l1", "l2"])
            elif prior.n_sources != statistics.n_sources:
                raise OptionError(
                    f"a prior has {prior.n_sources} sources, the data have {statistics.n_sources}"
                )
        for alpha in self.alphas:
            check_weight("each of alphas", alpha)
        check_option("combine", self.combine, ["posterior", "average", "best"])
        shape, n_sources = self._shape(), statistics.n_sources
        priors = list(self.priors)
        if n_sources > MAX_LATTICE_SOURCES:
            priors = [p for p in priors if p in ("l1", "l2") or (p in PRIORS and FAMILIES[p].wide)]
        by_posterior = self.combine == "posterior" and self._has_posterior(n_sources)
        if material.batch is None:
            raise OptionError(
                "ChoquetRegressorCV needs rows for its folds, not sums: use fit or partial_fit"
            )
        parts, folds = self._folds(material, least=1 if by_posterior else self.cv)
        if by_posterior:
            # Folds decide nothing here: their errors are found when somebody looks.
            warn_of_weights(statistics)
            tried: Any = candidates_of(priors)
            errors: Any = partial(_fold_errors, folds, tuple(priors), self.n_jobs)
            weights, found = self._posterior(statistics, tried)
            best = tried[int(np.argmax(weights))]
        else:
            selection = select(
                folds, priors, self.alphas, n_paths=self.n_paths, run=self._run, **shape
            )
            tried, errors, weights = selection.candidates, selection.errors, selection.weights
            best = selection.best
            if self.combine != "best" and n_sources <= MAX_LATTICE_SOURCES:
                found = self._average(statistics, selection, shape)
            else:
                found = fit_candidate(statistics, best, **shape)
        self.fold_statistics_ = parts
        self.prior_, self.alpha_ = best.prior, best.alpha
        self.cv_results_ = LazyResults(
            prior=np.array([candidate.name for candidate in tried]),
            alpha=np.array([candidate.alpha for candidate in tried]),
            mean_squared_error=errors,
            weight=weights,
        )
        self.intercept_, self.solution_ = found.intercept, found.solution
        self.measure_ = self._measure(material, found)

    def restored(self) -> None:
        """Errors of the folds that a file does not hold are found when somebody looks."""
        if not isinstance(self.cv_results_, dict):
            raise ValueError("cv_results_ is not a table by name")
        self.cv_results_ = LazyResults(self.cv_results_)
        parts = getattr(self, "fold_statistics_", ())
        if "mean_squared_error" not in self.cv_results_ and len(parts) > 1:
            whole: Any = self.statistics_
            folds = leave_one_out(parts) or [(whole, whole)]
            errors = partial(_fold_errors, folds, tuple(self.priors), self.n_jobs)
            self.cv_results_["mean_squared_error"] = errors

    def _family_shares(self):
        """Families in their proportions; what has no chain counts as all measures."""
        known = self.cv_results_
        shares: dict[str, float] = {}
        for name, weight in zip(known["prior"], known["weight"], strict=True):
            drawn = str(name) in FAMILIES and FAMILIES[str(name)].chain is not None
            family = str(name) if drawn else "none"
            shares[family] = shares.get(family, 0.0) + float(weight)
        return shares

    def _has_posterior(self, n_sources):
        return (
            not self._relaxed() and not self.fit_intercept
            and 2 <= n_sources <= MAX_LATTICE_SOURCES
            and all(isinstance(prior, str) and prior in PRIORS for prior in self.priors)
        )  # fmt: skip

    def _posterior(self, statistics, candidates):
        seed = self._seed()
        names = [candidate.name for candidate in candidates]
        jobs = [partial(believed, statistics, name, rng=[seed, k]) for k, name in enumerate(names)]
        found = [(k, one) for k, those in enumerate(self._run(jobs)) for one in those]
        own = posterior_weights(statistics, [names[k] for k, _ in found], [one for _, one in found])
        values = sum(w * one.values for w, (_, one) in zip(own, found, strict=True))
        # Mean and fit of a family count as one.
        weights = np.bincount([k for k, _ in found], own, minlength=len(names))
        return weights, fitted_values(closed(values), 0.0)

    def _average(self, statistics, selection, shape):
        values, intercept = np.zeros(1 << statistics.n_sources), 0.0
        for candidate, weight in zip(selection.candidates, selection.weights, strict=True):
            if weight > 0:
                found = fit_candidate(statistics, candidate, **shape)
                values = values + weight * found.dense
                intercept += weight * found.intercept
        if not self._relaxed():
            values = closed(values)
        elif self.monotone:
            values = upward_maximum(values)
        elif self.normal:
            values[-1] = 1.0
        return fitted_values(values, intercept)

    def _run(self, jobs):
        return _run_jobs(self.n_jobs, jobs)

    def _seed(self):
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _folds(self, material, least):
        """Statistics of the folds for later batches, and pairs to train and to test on.

        Where folds choose, each needs a row: `least` is the number of rows there must be.
        """
        batch, whole = material.batch, [(material.statistics, material.statistics)]
        if not isinstance(self.cv, int):
            splits = [test for _, test in check_cv(self.cv).split(batch.X, batch.y)]
            parts = tuple(_part(batch, test) for test in splits)
            if len(parts) < 2:
                raise OptionError(f"cv={self.cv!r} makes {len(parts)} folds; at least 2 are needed")
            return (), leave_one_out(parts) or whole
        # Rows of no weight do not exist, so they have no number.
        rows = np.arange(len(batch.X)) if batch.weight is None else np.flatnonzero(batch.weight)
        if self.cv < 2 or (not batch.more and len(rows) < least):
            raise OptionError(
                f"cv={self.cv} must be at least 2 and at most the number of rows (n_samples = "
                f"{len(rows)})"
            )
        known = getattr(self, "fold_statistics_", ()) if batch.more else ()
        if batch.more and hasattr(self, "statistics_") and len(known) != self.cv:
            raise OptionError(
                f"the model was fitted with {len(known)} folds that can be added to, and cv="
                f"{self.cv}; call fit, or keep cv"
            )
        if not known:
            self.fold_seed_ = self._seed()
        number = sum(part.n_samples for part in known)
        fold = fold_numbers(number, len(rows), self.cv, self.fold_seed_)
        parts = tuple(_part(batch, rows[fold == k]) for k in range(self.cv))
        if known:
            parts = tuple(old + new for old, new in zip(known, parts, strict=True))
        return parts, leave_one_out(parts) or whole

    def _measure(self, material, found):
        if found.dense is not None:
            values = found.dense.copy()
            values[0] = 0.0
            return Measure(values, material.names, monotone=self.monotone, normal=self.normal)
        return found.measure.renamed(material.names)


def _fold_errors(folds, priors, n_jobs):
    """Cross-validated errors of the families' own fits, and of all measures."""
    run = partial(_run_jobs, n_jobs)
    return select(folds, priors, (), n_paths=0, run=run).errors


def _run_jobs(n_jobs, jobs):
    return run_jobs(_call, [(job,) for job in jobs], n_jobs=n_jobs)


@one_blas_thread()  # sums have one order, whatever the number of processors
def _call(job):
    return job()


def _part(batch, rows):
    """Statistics of some rows of a batch."""
    weight = None if batch.weight is None else batch.weight[rows]
    return Statistics.from_data(batch.X[rows], batch.y[rows], weight)
