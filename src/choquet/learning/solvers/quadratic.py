"""The quadratic form of a problem in the shape the compiled loops take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.lattice.lazy import sp
from choquet.learning.problem import Problem
from choquet.learning.solvers.elimination import Parts


@dataclass(frozen=True)
class Form:
    """½x'(matrix + strength (I - frame' frame))x - right'x over the unknowns that are free.

    Known values are moved to the right-hand side; `known` holds them, with zeros elsewhere.
    `parts` are the matrix and the right-hand side again, in the shape that is solved for.
    """

    matrix: Any
    parts: Parts
    diagonal: FloatArray
    right: FloatArray
    frame: FloatArray
    strength: float
    free: BoolArray
    known: FloatArray


def form_of(problem: Problem) -> Form:
    """Quadratic form of a problem over its values and intercepts."""
    extra = problem.n_intercepts
    free = np.append(~problem.fixed, np.ones(extra, dtype=bool))
    at = np.append(problem.start, np.zeros(extra))
    quadratic = sp.csr_array(problem.quadratic)
    inner = np.append((~problem.fixed).astype(np.float64), np.zeros(extra))
    linear = problem.linear + problem.l1 * inner
    right = -(linear + quadratic @ at)
    diagonal = quadratic.diagonal()
    frame, strength = np.zeros((0, problem.n_values)), 0.0
    if problem.prior is not None and problem.prior.alpha > 0:
        strength = 2 * problem.prior.alpha
        frame = np.ascontiguousarray(np.linalg.qr(problem.prior.basis.toarray())[0].T)
        top = problem.start
        right[: problem.n_values] -= strength * (top - projected(frame, top))
        diagonal = diagonal + np.append(strength * (1 - (frame**2).sum(axis=0)), np.zeros(extra))
    pick = sp.diags_array(free.astype(np.float64))
    matrix = sp.csr_array(pick @ quadratic @ pick)
    matrix.eliminate_zeros()
    samples = None if strength or problem.samples is None else problem.samples @ pick
    right = np.where(free, right, 0.0)
    parts = Parts.of(matrix, samples, right)
    return Form(matrix, parts, diagonal, right, frame, strength, free, at)


def gradient_of(form: Form, v: FloatArray) -> FloatArray:
    """Gradient of the form at v; zero at known values."""
    inner = np.where(form.free, v, 0.0)
    gradient = form.matrix @ inner - form.right
    if form.strength:
        m = form.frame.shape[1]
        gradient[:m] += form.strength * (inner[:m] - projected(form.frame, inner[:m]))
    return np.where(form.free, gradient, 0.0)


def projected(frame: FloatArray, x: FloatArray) -> FloatArray:
    """Projection of x to the span of the rows of `frame`, which are orthonormal."""
    from choquet.learning._kernels import project

    out = np.empty(len(x))
    project(frame, x, out)
    return out
