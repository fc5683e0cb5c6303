"""What would change the winner: one score, or the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray
from choquet.decide.models.capacities import solve_quadratic
from choquet.decide.models.functionals import Integral
from choquet.decide.models.program import Program, highs
from choquet.decide.models.spaces import AllSets, KAdditive
from choquet.measures import AbstractMeasure


@dataclass(frozen=True)
class ScoreChange:
    """By how much one score must change, others being as they are.

    Attributes
    ----------
    alternative, criterion : str
        Whose score.
    change : float or None
        In the units of the table; None if this criterion alone cannot do it.
    to : float or None
        What the score would then be.
    on_scale : float or None
        The same change on the common scale.
    """

    alternative: str
    criterion: str
    change: float | None
    to: float | None
    on_scale: float | None


@dataclass(frozen=True)
class Flip:
    """What would put one alternative before another, in the middle model.

    Attributes
    ----------
    challenger, leader : str
        Who would have to overtake whom.
    behind : float
        By how much the challenger is behind; 0 or less if it is ahead already.
    rises, falls : tuples of ScoreChange
        Rises of the challenger's scores, falls of the leader's; each alone is enough.
    model : float or None
        The largest change of a set's value that is needed to change the order, if no score does.
    """

    challenger: str
    leader: str
    behind: float
    rises: tuple[ScoreChange, ...]
    falls: tuple[ScoreChange, ...]
    model: float | None


def score_change(
    measure: AbstractMeasure, row: FloatArray, criterion: int, target: float, limit: float
) -> float | None:
    """The score on one criterion at which a row reaches a target; None if not up to a limit.

    The integral is piecewise linear in one score, with breaks where it meets the others.

    Parameters
    ----------
    measure : AbstractMeasure
        The model.
    row : array
        Scores.
    criterion : int
        Which one may change.
    target : float
        What the integral must reach, from below or from above.
    limit : float
        The last score to try; on the side that leads to the target.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import Measure
    >>> score_change(Measure.additive([0.5, 0.5]), np.array([0.2, 0.4]), 0, 0.5, 1.0)
    0.6
    """
    here = float(row[criterion])
    others = np.delete(row, criterion)
    between = others[(others > min(here, limit)) & (others < max(here, limit))]
    ends = np.unique(np.concatenate([[here, limit], between]))
    rows = np.tile(row, (len(ends), 1))
    rows[:, criterion] = ends
    values = np.asarray(measure.integral(rows))
    if here > limit:
        ends, values = ends[::-1], values[::-1]
    passed = values >= target - 1e-12 if target > values[0] else values <= target + 1e-12
    if not passed.any():
        return None
    at = int(np.argmax(passed))
    if at == 0:
        return here
    rise = values[at] - values[at - 1]
    return float(ends[at - 1] + (ends[at] - ends[at - 1]) * (target - values[at - 1]) / rise)


def model_change(
    program: Program,
    measure: AbstractMeasure,
    better: FloatArray,
    worse: FloatArray,
    *,
    largest: bool = True,
) -> tuple[float, AbstractMeasure] | None:
    """The nearest model that agrees and puts one row at least level with another.

    Parameters
    ----------
    program : Program
        The measures that agree, by values or by Möbius coefficients.
    measure : AbstractMeasure
        Where to start from.
    better, worse : arrays
        The row that is to catch up, and the one ahead.
    largest : bool, default True
        Measure distance by the largest change of a value, else by the root of the sum of squares.

    Returns
    -------
    distance and measure, or None
        None if no measure that agrees does it.
    """
    space = program.space
    if not isinstance(space, AllSets | KAdditive):
        return None
    to_values = space.to_values
    start = measure.to_measure().values
    row = sp.csr_array((space.row(Integral(better)) - space.row(Integral(worse)))[None, :])
    if program.minimise(np.zeros(space.size), extra=(row, np.zeros(1))) is None:
        return None
    if not largest:
        P, q = 2 * to_values.T @ to_values, -2 * (to_values.T @ start)
        point = solve_quadratic(program, P, q, rows=(row, np.zeros(1)))
        away = float(np.linalg.norm(to_values @ point - start))
        return away, space.measure(point, measure.sources)
    A, b, _, E, e = program.system(extra=(row, np.zeros(1)))
    one = sp.csr_array(np.ones((len(start), 1)))
    wide = sp.vstack(
        [
            sp.hstack([-A, sp.csr_array((A.shape[0], 1))]),
            sp.hstack([to_values, -one]),
            sp.hstack([-to_values, -one]),
        ]
    )
    right = np.concatenate([-b, start, -start])
    equal = sp.hstack([E, sp.csr_array((E.shape[0], 1))])
    bounds = np.column_stack([np.append(space.lower, 0.0), np.append(space.upper, np.inf)])
    cost = np.append(np.zeros(space.size), 1.0)
    found = highs(cost, wide, right, equal, e, bounds)
    return float(found.fun), space.measure(np.asarray(found.x[:-1]), measure.sources)
