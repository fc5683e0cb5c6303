"""A scale from judged steps: how large the step between two levels is, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray, check_option
from choquet.decide.models.conflicts import shrunk
from choquet.errors import OptionError

STEPS = ("very weak", "weak", "moderate", "strong", "very strong", "extreme")
"""Words for steps, from the smallest to the largest."""

_LEAST = 1e-6
"""A gap between steps up to this is none."""


def judged_points(
    fixed: Mapping[float, float], steps: Sequence[tuple[float, float, str]]
) -> tuple[tuple[float, float], ...]:
    """Levels and where they stand, so that a step of a larger word is a larger step.

    Of all scales that keep what was judged, by half of the largest gap that can be kept, it is the
    one nearest to the straight line between the levels that are fixed.

    Parameters
    ----------
    fixed : dict of float to float
        Where some levels stand: one at 0 (poor), one at 1 (good), others between.
    steps : sequence of (level, level, word)
        Two levels in the units of the data, and a word of `STEPS` for the step between them.

    References
    ----------
    Bana e Costa, Vansnick (1994). MACBETH: an interactive path towards the construction of cardinal
    value functions. International Transactions in Operational Research 1, 489-500.

    Examples
    --------
    >>> found = judged_points({34000: 0.0, 14000: 1.0}, [(34000, 24000, "strong"),
    ...                                                  (24000, 14000, "weak")])
    >>> [(level, round(at, 6)) for level, at in found]
    [(14000.0, 1.0), (24000.0, 0.583333), (34000.0, 0.0)]
    """
    for *_, word in steps:
        check_option("step", word, STEPS)
    fixed = {float(level): float(value) for level, value in fixed.items()}
    poor, good = (min(fixed, key=lambda x: sign * fixed[x]) for sign in (1.0, -1.0))
    known = {*fixed, *(end for one in steps for end in one[:2])}
    levels = np.array(sorted(map(float, known), reverse=good < poor))
    outside = [level for level in levels if not min(poor, good) <= level <= max(poor, good)]
    if outside:
        raise OptionError(f"{outside[0]:g} is not between poor and good, {poor:g} and {good:g}")
    at = {level: k for k, level in enumerate(levels.tolist())}
    ends = [sorted((at[float(one)], at[float(two)])) for one, two, _ in steps]
    same = next((one for one, (low, high) in zip(steps, ends, strict=True) if low == high), None)
    if same is not None:
        raise OptionError(f"{same[0]:g} to {same[1]:g} is no step: name two levels")
    rank = [STEPS.index(word) for *_, word in steps]
    equal = np.eye(len(levels))[[at[level] for level in fixed]]
    stand = np.array(list(fixed.values()), dtype=np.float64)

    def gap(keep: Collection[int]) -> float:
        return _largest_gap(_rows(len(levels), ends, rank, sorted(keep)), equal, stand)

    everything = range(len(steps))
    largest = gap(everything)
    if largest <= _LEAST:
        few = sorted(shrunk(everything, lambda keep: gap(keep) > _LEAST)) if steps else []
        text = ", ".join(f"{steps[k][0]:g} to {steps[k][1]:g} is {steps[k][2]}" for k in few)
        raise OptionError(f"these steps cannot hold together: {text or 'the levels are too near'}")
    straight = np.array(sorted(fixed.items()))
    line = np.interp(levels, straight[:, 0], straight[:, 1])
    rows = _rows(len(levels), ends, rank, list(everything))
    values = np.clip(_nearest(line, rows, largest / 2, equal, stand), 0.0, 1.0)
    found = {level: float(values[k]) for level, k in at.items()}
    return tuple(sorted((found | fixed).items()))


def _rows(
    count: int, ends: Sequence[Sequence[int]], rank: Sequence[int], keep: Sequence[int]
) -> FloatArray:
    """Differences that must be positive: each rise, and a larger step less a smaller one."""
    rows = list(np.diff(np.eye(count), axis=0))
    eye = np.eye(count)
    step = {k: eye[ends[k][1]] - eye[ends[k][0]] for k in keep}
    rows += [step[j] - step[k] for j in keep for k in keep if rank[j] > rank[k]]
    return np.array(rows)


def _largest_gap(rows: FloatArray, equal: FloatArray, stand: FloatArray) -> float:
    from scipy.optimize import linprog

    wide = np.column_stack([-rows, np.ones(len(rows))])
    fixed = np.column_stack([equal, np.zeros(len(equal))])
    cost = np.append(np.zeros(rows.shape[1]), -1.0)
    bounds = [(None, None)] * rows.shape[1] + [(-1.0, 1.0)]
    found = linprog(cost, wide, np.zeros(len(rows)), fixed, stand, bounds, method="highs")
    return float(found.x[-1]) if found.status == 0 else -1.0


def _nearest(
    line: FloatArray, rows: FloatArray, gap: float, equal: FloatArray, stand: FloatArray
) -> FloatArray:
    from choquet.learning.solvers.interior import Conic, run_clarabel

    eye: Any = sp.eye_array(len(line), format="csc")
    A = sp.csc_array(np.vstack([equal, -rows]))
    b = np.concatenate([stand, np.full(len(rows), -gap)])
    conic = Conic(2.0 * eye, -2.0 * line, A, b, len(equal), eye, np.zeros(len(line)))
    return run_clarabel(conic)[0]
