"""One measure out of many that agree: each way to choose it is a row of a table.

None of them is *the* answer: others agree as well, and may rank differently. Strict statements are
kept by a share of the largest split, because the nearest measure would otherwise turn them into
ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray, check_option
from choquet.decide.models.program import TIED, Program
from choquet.decide.models.spaces import AllSets
from choquet.errors import OptionError, SolverError
from choquet.lattice import subset_sizes
from choquet.learning.solvers.interior import Conic, run_clarabel
from choquet.measures import AbstractMeasure

DISTANCES = ("coefficients", "binary", "scores")
"""By the weights along all sorts; by the values of sets; by the scores of all rows in [0, 1]."""


@dataclass(frozen=True, eq=False, repr=False)
class OneOfMany:
    """A measure that agrees with what was said, and how it was chosen among all that do.

    Attributes
    ----------
    measure : AbstractMeasure
        The measure.
    choice : str
        How it was chosen.
    objective : float
        What was made least, or most.
    text : str
        What to say of it.
    """

    measure: AbstractMeasure
    choice: str
    objective: float
    text: str

    def __repr__(self) -> str:
        return f"<OneOfMany: {self.text}>"


def quadratic_form(n: int, distance: str) -> Any:
    """The matrix F of a squared distance of `DISTANCES`: (g - h)' F (g - h) on the 2**N values.

    References
    ----------
    Kojadinovic (2007). Minimum variance capacity identification. European Journal of Operational
    Research 177, 498-514. Kojadinovic (2007). Quadratic distances for capacity and bi-capacity
    approximation and identification. 4OR 5, 117-142.
    """
    check_option("distance", distance, DISTANCES)
    if distance == "binary":
        return sp.eye_array(1 << n, format="csr")
    if distance == "coefficients":
        order, weight = _steps(n)
        return sp.csr_array(order.T @ sp.diags_array(weight) @ order)
    size = subset_sizes(n).astype(np.float64)
    masks = np.arange(1 << n)
    union = subset_sizes(n)[masks[:, None] | masks[None, :]]
    Q = (1 / (size[:, None] + 1) + 1 / (size[None, :] + 1)) / (union + 2)
    Q[0] = Q[:, 0] = 0.0
    M: Any = sp.eye_array(1, format="csr")
    step = sp.csr_array(np.array([[1.0, 0.0], [-1.0, 1.0]]))
    for _ in range(n):
        M = sp.csr_array(sp.kron(step, M))
    return sp.csr_array(M.T @ sp.csr_array(Q) @ M)


def _steps(n: int) -> tuple[Any, FloatArray]:
    """All steps from a set to one with a criterion more, and the share of sorts that make each."""
    order = AllSets(n).order
    sizes = subset_sizes(n)[order.indices[order.data > 0]].astype(np.int64)
    return order, np.array([1 / (n * comb(n - 1, s)) for s in range(n)])[sizes - 1]


def solve_quadratic(
    program: Program,
    P: Any,
    q: FloatArray,
    *,
    gap: float = 0.0,
    further: int = 0,
    rows: tuple[Any, FloatArray] | None = None,
) -> FloatArray:
    """Minimise v'Pv/2 + q'v over the measures that agree, with `further` unknowns beside v.

    Strict rows hold by `gap`; `rows` are more rows ≥, on all unknowns.
    """
    return run_clarabel(_conic(program, P, q, gap, further, rows))[0]


def _conic(
    program: Program,
    P: Any,
    q: FloatArray,
    gap: float,
    further: int,
    rows: tuple[Any, FloatArray] | None = None,
) -> Conic:
    A, b, strict, E, e = program.bounded_system()

    def wide(matrix: Any) -> Any:
        return sp.hstack([matrix, sp.csr_array((matrix.shape[0], further))]) if further else matrix

    above, bound = [wide(A)], [b + gap * strict]
    if rows is not None:
        above.append(sp.csr_array(rows[0]))
        bound.append(rows[1])
    stacked = sp.csr_array(sp.vstack([wide(E), *[-one for one in above]]))
    right = np.concatenate([e, *[-one for one in bound]])
    size = program.space.size + further
    return Conic(sp.csc_array(P), q, stacked, right, len(e), sp.eye_array(size), np.zeros(size))


def _gap(program: Program, share: float) -> float:
    if not 0 <= share <= 1:
        raise OptionError(f"share={share!r} must lie between 0 and 1")
    split = program.split()[0]
    if split <= TIED:
        raise SolverError("no measure agrees with what was said: see check()")
    return share * split if np.isfinite(split) else 0.0


def _nearest(
    program: Program, gap: float, distance: str, reference: FloatArray | None
) -> tuple[FloatArray, float]:
    Z, F = program.space.to_values, quadratic_form(program.space.n, distance)
    g = np.zeros(1 << program.space.n) if reference is None else reference
    found = solve_quadratic(program, 2 * Z.T @ F @ Z, -2 * (Z.T @ (F @ g)), gap=gap)
    away = Z @ found - g
    return found, float(away @ (F @ away))


def _largest_split(program: Program, *_: Any) -> tuple[FloatArray, float]:
    split, point = program.split()
    if point is None:
        raise SolverError("no measure agrees with what was said: see check()")
    return point, split


def _least_variance(program: Program, share: float, *_: Any) -> tuple[FloatArray, float]:
    return _nearest(program, _gap(program, share), "coefficients", None)


def _nearest_to(
    program: Program, share: float, distance: str, reference: Any
) -> tuple[FloatArray, float]:
    if not isinstance(reference, AbstractMeasure):
        raise OptionError("give the measure to be near to: reference=choquet.Measure(…)")
    values = reference.to_measure().values
    if len(values) != 1 << program.space.n:
        raise OptionError(
            f"the reference has {reference.n_sources} criteria, the table {program.space.n}"
        )
    return _nearest(program, _gap(program, share), distance, values)


def _most_entropy(program: Program, share: float, *_: Any) -> tuple[FloatArray, float]:
    """The largest mean entropy of the weights along all sorts, by exponential cones."""
    import clarabel

    space, n = program.space, program.space.n
    Z = space.to_values
    order, weight = _steps(n)
    steps = sp.csr_array(order @ Z)
    count, d = steps.shape
    q = np.concatenate([np.zeros(d), -weight])
    conic = _conic(program, sp.csc_array((d + count, d + count)), q, _gap(program, share), count)
    # (t, Δ, 1) in the cone says t ≤ -Δ ln Δ; three rows a cone.
    cone = sp.lil_array((3 * count, d + count))
    cone[0::3, d:] = -sp.eye_array(count)
    cone[1::3, :d] = -steps
    A = sp.csr_array(sp.vstack([conic.A, sp.csr_array(cone)]))
    b = np.concatenate([conic.b, np.tile([0.0, 0.0, 1.0], count)])
    cones = [
        clarabel.ZeroConeT(conic.n_equal),
        clarabel.NonnegativeConeT(len(conic.b) - conic.n_equal),
        *[clarabel.ExponentialConeT()] * count,
    ]
    whole = Conic(conic.P, q, A, b, conic.n_equal, conic.lift, conic.offset)
    found = run_clarabel(whole, cones=cones)[0][: space.size]
    delta = np.maximum(steps @ found, 1e-300)
    return found, float(-weight @ (delta * np.log(delta)))


class Choice(NamedTuple):
    """One row of the table of choices."""

    solve: Callable[..., tuple[FloatArray, float]]
    """From a program, share, distance and reference to a point and what was optimised."""
    meaning: str
    """In words."""


CHOICES: dict[str, Choice] = {
    "maximum split": Choice(_largest_split, "keeps everything said by as much as possible"),
    "least variance": Choice(_least_variance, "treats criteria as evenly as what was said allows"),
    "maximum entropy": Choice(_most_entropy, "spreads weight as widely as what was said allows"),
    "nearest": Choice(_nearest_to, "is nearest to the measure given"),
}
"""Ways to choose one measure of many."""


def find_measure(
    program: Program,
    choice: str = "least variance",
    *,
    sources: Sequence[str],
    share: float = 0.25,
    distance: Literal["coefficients", "binary", "scores"] = "coefficients",
    reference: AbstractMeasure | None = None,
) -> OneOfMany:
    """One measure that agrees, chosen by a row of `CHOICES`.

    Parameters
    ----------
    program : Program
        The measures that agree.
    choice : str, default "least variance"
        A row of `CHOICES`.
    sources : sequence of str
        Names of the criteria.
    share : float, default 0.25
        Share of the largest split by which strict statements are kept.
    distance : {"coefficients", "binary", "scores"}, default "coefficients"
        How far two measures are apart, for "nearest".
    reference : AbstractMeasure, optional
        The measure to be near to, for "nearest".

    Examples
    --------
    >>> from choquet.decide import Importance, Setting, program, space
    >>> said = program(space(2), [Importance("a", "b", by=0.2, strict=False)], Setting(["a", "b"]))
    >>> find_measure(said, sources=["a", "b"]).measure.values.round(6)
    array([0. , 0.6, 0.4, 1. ])
    """
    check_option("choice", choice, CHOICES)
    point, objective = CHOICES[choice].solve(program, share, distance, reference)
    kept = ""
    if program.strict.any() and choice != "maximum split":
        kept = f"; strict statements hold by {share:.0%} of the largest split"
    text = (
        f"One of many models that agree with what was said: the one that "
        f"{CHOICES[choice].meaning}{kept}. Others agree as well and may rank differently."
    )
    return OneOfMany(program.space.measure(point, sources), choice, objective, text)
