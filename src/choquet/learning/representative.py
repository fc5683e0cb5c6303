"""One measure out of many optimal ones: least variance or largest entropy.

Measures that fit equally well predict the same on every sample (squared error is strictly convex
in the predictions), so the optimal set is {g feasible : G g = G g*}. Where it is more than one
point, the increments g(A ∪ i) - g(A) can be made as even as possible.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray, check_option
from choquet.errors import OptionError, SolverError
from choquet.lattice import cover_pairs, subset_sizes
from choquet.lattice.lazy import sp
from choquet.learning.problem import Problem, Rows, reached
from choquet.learning.solvers.interior import conic_form, interior, order_rows
from choquet.learning.solvers.solution import Solution, finish

ChoiceName = Literal["variance", "entropy"]


def choose(problem: Problem, solution: Solution, *, by: ChoiceName) -> Solution:
    """Among the measures as good as a solution, the one of least variance or largest entropy.

    Parameters
    ----------
    problem : Problem
        Dense, monotone, squared loss.
    solution : Solution
        Its optimum.
    by : {"variance", "entropy"}
        Both are means over all walks of a function of the increments: of their squares, or of
        their logarithms.

    References
    ----------
    Kojadinovic (2007), "Minimum variance capacity identification"; Marichal (2002), "Entropy of
    discrete Choquet capacities".

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.solvers import solve
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4, 0.4]], [0.6]))
    >>> choose(problem, solve(problem), by="variance").values.round(3)
    array([0.   , 0.4  , 0.338, 0.685, 0.338, 0.685, 0.669, 1.   ])
    """
    check_option("by", by, ["variance", "entropy"])
    if not problem.dense or not problem.monotone or problem.absolute is not None:
        raise OptionError(f"choice={by!r} needs a dense monotone problem with squared loss")
    plain = replace(
        problem,
        quadratic=sp.csc_array((problem.n_values,) * 2),
        linear=np.zeros(problem.n_values),
        constant=0.0,
        l1=0.0,
        prior=None,
        n_intercepts=0,
        rows=_same_predictions(problem, solution),
    )
    increments = order_rows(plain, None)
    n, sizes = problem.n_sources, subset_sizes(problem.n_sources).astype(np.int64)
    shares = np.array([1 / (n * comb(n - 1, k)) for k in range(n)])
    weights = shares[sizes[cover_pairs(n)[:, 0]]]
    if by == "variance":
        quadratic = sp.csc_array(2 * increments.T @ sp.diags_array(weights) @ increments)
        values = interior(replace(plain, quadratic=quadratic)).values
    else:
        values = _largest_entropy(plain, increments, weights)
    return finish(
        problem,
        np.append(values, solution.intercepts),
        gap=None if np.isnan(solution.gap) else solution.gap,
        solved=solution.status == "solved",
        message=f"{solution.message}; then chosen by {by}",
        iterations=solution.iterations,
        solver=solution.solver,
    )


def _same_predictions(problem: Problem, solution: Solution) -> Rows:
    """The same predictions as a solution, and what experts said."""
    inner = sp.csr_array(problem.quadratic)[: problem.n_values, : problem.n_values]
    used = np.flatnonzero(inner.diagonal() > 0)
    values, vectors = np.linalg.eigh(inner[used][:, used].toarray())
    kept = vectors[:, values > 1e-10 * values.max(initial=0.0)].T
    at = kept @ solution.values[used]
    matrix = sp.lil_array((len(kept), problem.n_values))
    matrix[:, used] = kept
    # A little room keeps an interior for the interior point.
    rows = Rows(sp.csr_array(matrix), at - 1e-9, at + 1e-9)
    return rows if problem.rows is None else rows + reached(problem.rows, solution.values)


def _largest_entropy(plain: Problem, increments: Any, weights: FloatArray) -> FloatArray:
    """Minimise Σ weight · w log w over the increments w, with one exponential cone for each."""
    import clarabel

    conic = conic_form(plain)
    n, k = conic.A.shape[1], len(weights)
    inside = sp.csr_array(increments @ conic.lift)
    at = increments @ conic.offset
    # (-t, w, 1) in the cone says w exp(-t/w) ≤ 1, that is t ≥ w log w.
    blocks, bounds = [], []
    for e in range(k):
        block = sp.lil_array((3, n + k))
        block[0, n + e] = 1.0
        block[[1], :n] = -inside[[e]]
        blocks.append(block)
        bounds += [0.0, at[e], 1.0]
    first = sp.hstack([conic.A, sp.csr_array((len(conic.b), k))])
    A = sp.csc_matrix(sp.vstack([first, *blocks]))
    A.sum_duplicates()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [
        clarabel.ZeroConeT(conic.n_equal),
        clarabel.NonnegativeConeT(len(conic.b) - conic.n_equal),
        *[clarabel.ExponentialConeT()] * k,
    ]
    q = np.concatenate([np.zeros(n), weights])
    b = np.concatenate([conic.b, bounds])
    answer = clarabel.DefaultSolver(sp.csc_matrix((n + k, n + k)), q, A, b, cones, settings).solve()
    x = np.array(answer.x)
    if str(answer.status) not in ("Solved", "AlmostSolved") or not np.isfinite(x).all():
        raise SolverError(
            f"no measure of largest entropy was found (status {answer.status}); "
            "choose choice='variance' instead"
        )
    return np.asarray(conic.lift @ x[:n] + conic.offset)
