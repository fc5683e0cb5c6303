"""Problems without constraints: a linear system, or coordinate descent with an l1 term."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import OptionError
from choquet.lattice.lazy import linalg as sl
from choquet.lattice.lazy import sp
from choquet.learning.problem import Problem
from choquet.learning.solvers.interior import conic_form
from choquet.learning.solvers.solution import Solution, finish

MAX_UNKNOWNS = 6000


def free_handles(problem: Problem) -> bool:
    """Whether the problem has no constraint beyond known values, and a squared loss."""
    return (
        not problem.monotone
        and problem.rows is None
        and problem.absolute is None
        and problem.power is None
        and (problem.basis is None or (problem.l1 == 0 and not problem.normal))
    )


def free(
    problem: Problem,
    *,
    start: Solution | None = None,  # noqa: ARG001 - exact without one
    verbose: bool = False,
    max_iterations: int = 100_000,
) -> Solution:
    """Solve an unconstrained problem; of several optima the one of least norm.

    Subsets that no data touch get the value zero unless a penalty or prior says otherwise.

    References
    ----------
    Hoerl & Kennard (1970), "Ridge regression"; Friedman, Hastie & Tibshirani (2010),
    "Regularization paths for generalized linear models via coordinate descent".

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> X = np.array([[0.9, 0.4], [0.2, 0.6], [0.5, 0.5]])
    >>> statistics = Statistics.from_data(X, [0.6, 0.48, 0.5])
    >>> free(least_squares(statistics, monotone=False, normal=False)).values.round(6)
    array([0. , 0.4, 0.7, 1. ])
    """
    if not free_handles(problem):
        raise OptionError(
            "solver='free' needs a problem without constraints; use solver='interior'"
        )
    l1 = problem.l1
    conic = conic_form(replace(problem, l1=0.0))
    # An unknown that nothing pulls and nothing is coupled to stays at zero, ridge or not.
    matrix = sp.csr_array(conic.P)
    coupled = np.diff(matrix.indptr) > (matrix.diagonal() != 0)
    used = np.flatnonzero(coupled | (conic.q != 0))
    if len(used) > MAX_UNKNOWNS:
        raise OptionError(
            f"solver='free' factors {len(used)} unknowns densely, the limit is {MAX_UNKNOWNS}; "
            "add a constraint (monotone=True) or restrict the measure (k_additive=2)"
        )
    P, q = matrix[used][:, used].toarray(), conic.q[used]
    x = np.zeros(len(conic.q))
    iterations = 1
    if l1 > 0:
        from choquet.learning._kernels import coordinate_descent

        weight = np.full(conic.P.shape[0], l1)
        weight[int((~problem.fixed).sum()) :] = 0.0
        y = np.zeros(len(used))
        iterations = coordinate_descent(P, q, weight[used], y, max_iterations, 1e-13)
        x[used] = y
    else:
        x[used] = _least_norm(P, -q)
    if verbose:
        print(f"free: {len(used)} unknowns, {iterations} sweeps")  # noqa: T201 - asked for
    return finish(
        problem,
        conic.lift @ x + conic.offset,
        gap=0.0 if l1 == 0 else None,
        solved=iterations < max_iterations,
        message="closed form" if l1 == 0 else "coordinate descent",
        iterations=iterations,
        solver="free",
    )


def _least_norm(P: FloatArray, b: FloatArray) -> FloatArray:
    try:
        factor = sl.cho_factor(P)
        diagonal = np.abs(np.diag(factor[0]))
        if len(diagonal) and diagonal.min() > 1e-6 * diagonal.max():
            return np.asarray(sl.cho_solve(factor, b))
    except sl.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(P)
    keep = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
    basis = vectors[:, keep]
    return np.asarray(basis @ ((basis.T @ b) / values[keep]))
