"""The order a problem is solved on: its subsets by size, and the containments between them.

Monotone values on any family of subsets extend to the whole lattice, so a subset that nothing in
the objective touches need not be an unknown: what it would pass on, the containments between the
others say directly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from choquet.arrays import BoolArray, IntArray
from choquet.lattice import cover_pairs
from choquet.lattice.lazy import sp
from choquet.lattice.wide import WordArray
from choquet.learning.problem import Problem

MOST = 0.9
"""Share of touched subsets from which on the whole lattice is simpler than the order of them."""


@dataclass(frozen=True)
class Order:
    """A problem with ∅, subsets in an order that extends containment, and its edges.

    `place` and `origin` are positions of the same subsets here and in the problem it came from.
    Edges are ascending in their larger subset.
    """

    problem: Problem
    place: IntArray
    origin: IntArray
    low: IntArray
    high: IntArray


def hasse(masks: WordArray) -> tuple[IntArray, IntArray]:
    """Containments with nothing in between, of subsets in ascending order of size.

    Returns
    -------
    low, high : arrays of shape (E,)
        Positions of the smaller and of the larger subset, ascending in the larger.

    Examples
    --------
    >>> low, high = hasse(np.array([[0], [1], [2], [7]], dtype=np.uint64))
    >>> list(zip(low.tolist(), high.tolist()))
    [(0, 1), (0, 2), (2, 3), (1, 3)]
    """
    from choquet.learning._kernels import cover_edges

    sizes = np.bitwise_count(masks).sum(axis=1).astype(np.int64)
    low, high = cover_edges(masks, np.searchsorted(sizes, sizes))
    return low, high


def touched(problem: Problem) -> BoolArray:
    """Which values the objective depends on."""
    n = problem.n_values
    used = (problem.quadratic.diagonal()[:n] != 0) | (problem.linear[:n] != 0)
    if problem.l1 > 0 or (problem.prior is not None and problem.prior.alpha > 0):
        used[:] = True
    return np.asarray(used)


def order_of(problem: Problem) -> Order:
    """Order on which to solve a monotone problem.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4, 0.1]], [0.6]))
    >>> order_of(problem).problem.masks.ravel()          # ∅ and the chain of the only row
    array([0, 1, 3, 7], dtype=uint64)
    """
    every = np.arange(problem.n_values)
    if not problem.dense:
        return _ordered(problem, every)
    used = touched(problem)
    used[-1] = True
    if used.mean() >= MOST:
        pairs = cover_pairs(problem.n_sources)
        pairs = pairs[np.argsort(pairs[:, 1], kind="stable")]
        return Order(problem, every, every, *np.ascontiguousarray(pairs.T))
    used[0] = False
    kept = np.flatnonzero(used)
    both = np.append(kept, problem.n_values + np.arange(problem.n_intercepts))
    part = replace(
        problem,
        masks=problem.masks[kept],
        quadratic=sp.csc_array(sp.csr_array(problem.quadratic)[both][:, both]),
        linear=problem.linear[both],
        prior=None,
        samples=None if problem.samples is None else problem.samples[:, both],
    )
    return _ordered(part, kept)


def _ordered(problem: Problem, origin: IntArray) -> Order:
    """Add ∅ unless it is there, and sort by size."""
    extra = 0 if not problem.masks[0].any() else 1
    empty = np.zeros((extra, problem.masks.shape[1]), np.uint64)
    masks = np.concatenate([empty, problem.masks])
    by_size = np.argsort(np.bitwise_count(masks).sum(axis=1), kind="stable")
    both = np.append(by_size, len(masks) + np.arange(problem.n_intercepts))
    padded = sp.block_diag([sp.csc_array((extra, extra)), problem.quadratic], format="csr")
    quadratic = sp.csc_array(sp.csr_array(padded)[both][:, both])
    quadratic.sort_indices()
    samples = problem.samples
    if samples is not None:
        wider = sp.hstack([sp.csr_array((samples.shape[0], extra)), samples], format="csr")
        samples = sp.csr_array(wider[:, both])
    by_order = replace(
        problem,
        masks=np.ascontiguousarray(masks[by_size]),
        quadratic=quadratic,
        linear=np.append(np.zeros(extra), problem.linear)[both],
        samples=samples,
    )
    place = np.empty(len(masks), dtype=np.int64)
    place[by_size] = np.arange(len(masks))
    return Order(by_order, place[extra:], origin, *hasse(by_order.masks))
