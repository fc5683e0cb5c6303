"""Markov chain over λ-measures.

See `choquet.learning.families.chains` for what a chain is given and gives.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.chains import CACHED, Chained
from choquet.learning.families.fits import fit_lambda
from choquet.measures.formula import members_of

CURVE_SCALE = 3.0
"""Mean size of the curve c = log(1 + λ) beforehand."""
STATES = 1000
"""Measures that the mean of a λ family is made of, about."""
SHARE_SPREAD = 0.5
"""Standard deviation of the logarithms of shares beforehand, about; data can make it larger.

The variance is unknown, which leaves Student's distribution: shares that the data do not tell apart
are drawn together, and shares that differ are let go."""
SMALL_CURVE = 1e-2
"""Curve below which 1e-15 of rounding in a product would be more than 1e-13 of a value."""
BLOCK = 200
"""Steps from one choice of their length to the next."""


def curve(
    statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
) -> Chained:
    """Chain over λ-measures: shares of the sources, and how they are bent."""
    n, at = statistics.n_sources, statistics.positions
    inside = members_of(np.arange(1 << n, dtype=np.uint64)[:, None], n)
    fit = fit_lambda(statistics)
    shares = np.maximum(fit.weights, 1e-5)
    start = np.append(np.log(shares / shares.mean()), np.clip(fit.curve, -50.0, 50.0))
    base = _bent(inside, start[None])
    slopes = ((_bent(inside, start + 1e-4 * np.eye(n + 1)) - base) / 1e-4)[:, at].T
    curvature = slopes.T @ (statistics.gram @ slopes)
    variance = (statistics.error_of(base[0, at]) + floor) / statistics.weight
    prior = np.diag(np.append(np.ones(n), 1 / CURVE_SCALE**2))
    shape = _root_of_inverse(curvature / variance + prior)
    states, energies = _steps(statistics, floor, rng, inside, start, shape)
    # Over all subsets, not only those of the data; a part of the states is enough for a mean.
    states = states[:: max(len(states) // STATES, 1)]
    kept = np.linspace(0, len(states) - 1, n_states).round().astype(np.int64)
    total, found = np.zeros(len(inside)), np.empty((n_states, len(inside)))
    count = max(CACHED // len(inside), 1)
    for first in range(0, len(states), count):
        bent = _all_bent(states[first : first + count])
        total += bent.sum(axis=0)
        here = (kept >= first) & (kept < first + len(bent))
        found[here] = bent[kept[here] - first]
    return Chained(total / len(states), float(energies.mean()), found)


def _steps(
    statistics: Statistics,
    floor: float,
    rng: np.random.Generator,
    inside: FloatArray,
    start: FloatArray,
    shape: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """States of a Metropolis chain after its first quarter, and their energies.

    It starts at the least squares fit, so it needs no tempers, and the shape of the spread there is
    that of its steps: from where it is, or anew from the start, which mixes at once where the data
    are many; or along one number, a step of that shape or a wide one.
    """
    from choquet.learning.families._kernels_chains import curve_steps

    upper = sp.csr_array(2 * sp.triu(statistics.gram) - sp.diags_array(statistics.information))
    # One step costs as much as the form has entries: about a second's worth in all.
    n_steps = int(np.clip(1.2e9 / max(upper.nnz + 20 * len(inside), 1), 2_500, 30_000))
    size, n_seen, first = len(start), len(statistics.positions), n_steps // 4
    problem = (
        upper.indptr.astype(np.int32), upper.indices.astype(np.int32), upper.data,
        statistics.targets, statistics.target_square, statistics.weight, floor,
        np.ascontiguousarray(inside[statistics.positions]), start,
        np.linalg.pinv(shape), CURVE_SCALE, SHARE_SPREAD,
    )  # fmt: skip
    # A state of energy without limit gives way to the first move, which is none: the start.
    unknown, now = start.copy(), np.array([np.inf, 0.0])
    room = np.empty(size), np.empty(size - 1), np.empty(n_seen)
    states, energies = np.empty((n_steps, size)), np.empty(n_steps)
    stride = np.log(2.4 / np.sqrt(size))
    for begin in range(0, n_steps, BLOCK):
        part = slice(begin, min(begin + BLOCK, n_steps))
        number = part.stop - part.start
        kind, width = rng.random((2, number))
        normals, place = rng.standard_normal((number, size)), rng.integers(size, size=number)
        near, anew = kind < 0.4, (kind >= 0.4) & (kind < 0.7)
        narrow = 3.0 * np.abs(shape.diagonal())[place]
        own = np.where(kind < 0.85, narrow, 2.0 * np.exp(-3.0 * width)) * normals[:, 0]
        moves = np.where(near, np.exp(stride), 1.0)[:, None] * (normals @ shape.T)
        moves[~(near | anew)] = 0.0
        moves[np.arange(number), place] += np.where(near | anew, 0.0, own)
        if begin == 0:
            moves[0], near[0], anew[0] = 0.0, False, False
        taken = np.zeros(number, dtype=bool)
        curve_steps(
            *problem, moves, anew, np.where(anew, 0.5 * (normals**2).sum(axis=1), 0.0),
            -rng.standard_exponential(number), unknown, now, *room, states[part], energies[part],
            taken,
        )  # fmt: skip
        accepted = taken[near].mean() if near.any() else 0.25
        stride += (accepted - 0.25) * 2.0 / np.sqrt(begin / BLOCK + 1.0)
    return states[first:], energies[first:]


def _bent(inside: FloatArray, unknown: FloatArray) -> FloatArray:
    """Distorted probabilities, one in a row, of logarithms of shares and curves."""
    shares, curve = np.exp(unknown[:, :-1]), unknown[:, -1:]
    t = (shares / shares.sum(axis=1, keepdims=True)) @ inside.T
    flat = np.abs(curve) < 1e-6
    bent = np.where(flat, 1.0, curve)
    curved = np.expm1(bent * t) / np.expm1(bent)
    return np.asarray(np.where(flat, t + 0.5 * curve * t * (t - 1.0), curved))


def _all_bent(unknown: FloatArray) -> FloatArray:
    """The same of all subsets by mask, to about 1e-12: powers of a sum are products of powers.

    Subsets with a source follow from those without it by one product, which takes a tenth of the
    time. Where the curve is so small that 1 must not be taken away from a product, all is as above.
    """
    curve = unknown[:, -1:]
    shares = np.exp(unknown[:, :-1])
    shares /= shares.sum(axis=1, keepdims=True)
    powers, n = np.exp(curve * shares), shares.shape[1]
    bent: FloatArray = np.ones((len(unknown), 1 << n))
    for i in range(n):
        half = 1 << i
        np.multiply(bent[:, :half], powers[:, i : i + 1], out=bent[:, half : 2 * half])
    bent -= 1.0
    small = np.abs(curve[:, 0]) < SMALL_CURVE
    bent[~small] /= np.expm1(curve[~small])
    if small.any():
        inside = members_of(np.arange(1 << n, dtype=np.uint64)[:, None], n)
        bent[small] = _bent(inside, unknown[small])
    return bent


def _root_of_inverse(matrix: FloatArray) -> FloatArray:
    """A root of the inverse of a positive matrix, also where rounding makes it singular."""
    try:
        return np.linalg.cholesky(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12 * values.max())))
